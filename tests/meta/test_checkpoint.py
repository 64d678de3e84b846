"""Checkpoints: what is resumed comes out as if nothing had happened."""

import errno
import json
import os
import runpy
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from metasampler import MetaSampler
from metasampler.meta import FitToConstants, SoftActorCritic
from metasampler.policy import _archive


def sac(**options):
    return SoftActorCritic(**{"n_random_steps": 12, "n_updates": 30, **options})


SHORT = {"n_estimators": 4, "trainer": sac(), "random_state": 0}


@pytest.fixture(scope="module")
def tasks(imbalanced):
    X, y = imbalanced
    return {"whole": (X, y), "half": (X[::2], y[::2]), "end": (X[300:], y[300:])}


def assert_same(a, b):
    np.testing.assert_array_equal(a.policy_.parameters, b.policy_.parameters)
    assert a.history_ == b.history_
    assert a.n_updates_ == b.n_updates_


def stop_at(number):
    def callback(progress):
        progress.notes["seen"] = [*progress.notes.get("seen", []), progress.n_rounds_done]
        if progress.n_rounds_done == number:
            progress.stop()

    return callback


@pytest.mark.parametrize(
    "options",
    [
        {},
        # Stopped while episodes wait for the scale of their rewards.
        {"trainer": sac(scale_tasks=True, n_random_steps=30)},
        {"trainer": sac(tasks_per_round=2, memory_size=20)},
        {"state": "summary", "hidden_layer_sizes": ()},
        {"trainer": FitToConstants(5, 3), "hidden_layer_sizes": ()},
        {"trainer": FitToConstants(3, 3, tasks_per_round=1), "hidden_layer_sizes": (2,)},
    ],
    ids=str,
)
def test_resumed_as_if_never_stopped(tasks, tmp_path, options):
    settings = {**SHORT, **options}
    whole = MetaSampler(**settings).fit_tasks(tasks)
    path = tmp_path / "state.npz"
    for number, n_jobs in ((2, 1), (3, 2), (100, 1)):
        sampler = MetaSampler(**settings, n_jobs=n_jobs).fit_tasks(
            tasks, callback=stop_at(number), checkpoint=path
        )
    assert_same(whole, sampler)
    n_rounds = len(sampler.summary_["notes"]["seen"])
    assert sampler.summary_["notes"]["seen"] == list(range(1, n_rounds + 1))
    # A finished training is not played again.
    finished = MetaSampler(**settings).fit_tasks(tasks, callback=stop_at(1), checkpoint=path)
    assert_same(whole, finished)
    assert os.listdir(tmp_path) == ["state.npz"]


SCRIPT = """
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(sys.argv[1]).parent))
from killed_training import train

def tell(progress):
    print(progress.n_rounds_done, flush=True)
    if progress.n_rounds_done == 9:
        # However late the signal comes.
        time.sleep(300)

train(sys.argv[2], sys.argv[3], tell)
"""

TRAINING = """
import time
from sklearn.datasets import make_classification
from metasampler.meta import FitToConstants, MetaSampler, SoftActorCritic

TRAINERS = {
    "sac": SoftActorCritic(n_random_steps=12, n_updates=60),
    "constants": FitToConstants(n_sweeps=12, n_constants=4),
}

def train(path, trainer, callback):
    X, y = make_classification(400, n_features=8, weights=[0.9], random_state=0)
    def slowly(progress):
        callback(progress)
        time.sleep(0.03)
    return MetaSampler(
        n_estimators=4, random_state=0, trainer=TRAINERS[trainer], hidden_layer_sizes=(),
    ).fit_tasks([(X, y), (X[::2], y[::2])], callback=slowly, checkpoint=path, checkpoint_every=2)
"""


@pytest.mark.parametrize("trainer", ["sac", "constants"])
def test_a_killed_training_goes_on(tmp_path, trainer):
    module = tmp_path / "killed_training.py"
    module.write_text(TRAINING)
    train = runpy.run_path(str(module))["train"]
    path = tmp_path / "state.npz"
    command = [sys.executable, "-c", SCRIPT, str(module), str(path), trainer]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as killed:
        for line in killed.stdout:
            if int(line) == 5:
                break
        killed.kill()
    assert killed.returncode == -signal.SIGKILL
    rounds = []
    resumed = train(path, trainer, lambda progress: rounds.append(progress.n_rounds_done))
    # From the checkpoint of round 4, or of a later one if the signal was slow.
    assert rounds[0] in (5, 7, 9)
    assert rounds == list(range(rounds[0], 13))
    assert_same(resumed, train(tmp_path / "whole.npz", trainer, rounds.append))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"trainer": sac(n_updates=60)}, "trainer__n_updates was 30 and is 60"),
        ({"trainer": FitToConstants()}, "trainer was 'SoftActorCritic' and is 'FitToConstants'"),
        ({"random_state": 1}, "random_state was 0 and is 1"),
        ({"estimator": GaussianNB()}, r"estimator was 'DecisionTreeClassifier\(\)'"),
        ({"hidden_layer_sizes": (3,)}, r"hidden_layer_sizes was \[50\] and is \[3\]"),
        ({"scoring": "roc_auc"}, "scoring was 'average_precision' and is 'roc_auc'"),
    ],
)
def test_a_checkpoint_of_other_settings(tasks, tmp_path, options, words):
    path = tmp_path / "state.npz"
    MetaSampler(**SHORT).fit_tasks(tasks, callback=stop_at(2), checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=f"of another meta-training: .*{words}"):
        MetaSampler(**{**SHORT, **options}).fit_tasks(tasks, checkpoint=path)
    assert path.read_bytes() == before


def test_a_checkpoint_of_other_tasks(tasks, tmp_path, imbalanced):
    path = tmp_path / "state.npz"
    MetaSampler(**SHORT).fit_tasks(tasks, callback=stop_at(2), checkpoint=path)
    X, y = imbalanced
    changed = X.copy()
    changed[7, 3] += 1
    for other in (
        {**tasks, "whole": (changed, y)},
        {"another name": tasks["whole"], "half": tasks["half"], "end": tasks["end"]},
        dict(list(tasks.items())[:2]),
    ):
        with pytest.raises(ValueError, match="another meta-training: its tasks are not these"):
            MetaSampler(**SHORT).fit_tasks(other, checkpoint=path)


def test_files_that_are_no_checkpoint(imbalanced, tmp_path):
    path = tmp_path / "sampler.npz"
    MetaSampler(**SHORT).fit(*imbalanced).save(path)
    with pytest.raises(ValueError, match=r"not a usable checkpoint: its format is .*MetaSampler"):
        MetaSampler(**SHORT).fit(*imbalanced, checkpoint=path)
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(ValueError, match="not a usable checkpoint"):
        MetaSampler(**SHORT).fit(*imbalanced, checkpoint=path)


def test_no_pickle_inside(imbalanced, tmp_path):
    path = tmp_path / "state.npz"
    MetaSampler(**SHORT).fit(*imbalanced, callback=stop_at(2), checkpoint=path)
    with np.load(path, allow_pickle=False) as archive:
        assert all(archive[name].dtype != object for name in archive.files)
        header = json.loads(str(archive["header"]))
    assert header == {"format": "metasampler.MetaTraining", "version": 1}


def test_a_full_disk_does_not_end_the_training(imbalanced, tmp_path, monkeypatch):
    path = tmp_path / "state.npz"
    whole = MetaSampler(**SHORT).fit(*imbalanced)
    MetaSampler(**SHORT).fit(*imbalanced, callback=stop_at(2), checkpoint=path)
    before = path.read_bytes()

    def full_disk(file, **arrays):
        file.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_archive.np, "savez", full_disk)
    words = r"checkpoint is not up to date: .*state.npz' could not be written: No space left"
    with pytest.warns(RuntimeWarning, match=words):
        sampler = MetaSampler(**SHORT).fit(*imbalanced, checkpoint=path)
    assert_same(sampler, whole)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize(
    "damage",
    [
        {"memory": np.zeros((3, 3))},
        {"policy": np.zeros(7)},
        {"policy": None},
        {"critics": np.array(["a"])},
        {"critics": np.zeros(5, complex)},
        {"surprise": np.zeros(3)},
    ],
    ids=str,
)
def test_damaged_content(imbalanced, tmp_path, damage):
    path = tmp_path / "state.npz"
    MetaSampler(**SHORT).fit(*imbalanced, callback=stop_at(6), checkpoint=path)
    with np.load(path) as archive:
        arrays = {**archive, **damage}
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    with pytest.raises(ValueError, match=r"state.npz' is not a usable checkpoint: .*Remove it"):
        MetaSampler(**SHORT).fit(*imbalanced, checkpoint=path)


def test_written_every_so_many_rounds(imbalanced, tmp_path):
    path = tmp_path / "state.npz"
    times = []

    def look(progress):
        times.append(path.stat().st_mtime_ns if path.exists() else None)
        time.sleep(0.002)

    MetaSampler(**SHORT).fit(*imbalanced, callback=look, checkpoint=path, checkpoint_every=5)
    # The callback comes before the write: files of round 5 and 10 are first seen in 6 and 11.
    assert times[:5] == [None] * 5
    assert len(set(times[5:10])) == 1
    assert len(set(times[5:])) == 2


@pytest.mark.parametrize(
    ("options", "arguments", "error", "words"),
    [
        ({"random_state": None}, {}, ValueError, "an int as random_state"),
        ({}, {"checkpoint_every": 0}, ValueError, "checkpoint_every must be an int"),
        ({}, {"checkpoint": "nowhere/state.npz"}, FileNotFoundError, "no folder 'nowhere'"),
    ],
)
def test_found_before_work_starts(imbalanced, tmp_path, options, arguments, error, words):
    arguments = {"checkpoint": tmp_path / "state.npz", **arguments}
    with pytest.raises(error, match=words):
        MetaSampler(**{**SHORT, **options}).fit(*imbalanced, callback=pytest.fail, **arguments)
