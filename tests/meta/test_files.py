"""Sampler files: the same sampler comes back, and nothing else is taken for one."""

import json
import os
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from metasampler import MetaSampler
from metasampler.meta import GaussianPolicy, _files, _pretrained, pretrained_names


@pytest.fixture(scope="module")
def sampler(imbalanced):
    options = {"n_estimators": 4, "n_random_steps": 6, "n_updates": 6}
    return MetaSampler(
        **options, state="majority", n_bins=4, hidden_layer_sizes=(9, 8), random_state=0
    ).fit(*imbalanced)


@pytest.fixture
def path(sampler, tmp_path):
    path = tmp_path / "sampler.npz"
    sampler.save(path)
    return path


def test_everything_comes_back(sampler, path):
    loaded = MetaSampler.load(path)
    np.testing.assert_array_equal(loaded.policy_.parameters, sampler.policy_.parameters)
    assert loaded.policy_.parameters.dtype == sampler.policy_.parameters.dtype
    assert loaded.get_params() == sampler.get_params()
    assert loaded.encoder_ == sampler.encoder_
    assert loaded.history_ == sampler.history_
    assert loaded.summary_ == sampler.summary_
    assert loaded.n_updates_ == sampler.n_updates_
    state = np.full(8, 0.25)
    assert loaded.predict(state) == sampler.predict(state)
    assert loaded.sample(state, np.random.default_rng(1)) == sampler.sample(
        state, np.random.default_rng(1)
    )


def test_what_cannot_be_stored_is_left_out(sampler, tmp_path):
    odd = MetaSampler(scoring=lambda clf, X, y: 0.0, random_state=np.random.RandomState(0))
    odd = MetaSampler.from_policy(sampler.policy_, **{**odd.get_params(), "n_bins": 4})
    odd.save(tmp_path / "odd.npz")
    loaded = MetaSampler.load(tmp_path / "odd.npz")
    assert loaded.scoring == "average_precision"
    assert loaded.random_state is None


def test_numpy_numbers_are_stored(sampler, tmp_path):
    odd = MetaSampler.from_policy(sampler.policy_, n_bins=np.int64(4), sigma=np.float32(0.25))
    odd.save(tmp_path / "odd.npz")
    loaded = MetaSampler.load(tmp_path / "odd.npz")
    assert loaded.sigma == 0.25
    assert loaded.n_bins == 4


def test_the_kind_of_state_is_that_of_the_policy(sampler, tmp_path):
    changed = clone(sampler).set_params(state="all", n_bins=9)
    changed.save(tmp_path / "changed.npz")
    loaded = MetaSampler.load(tmp_path / "changed.npz")
    assert loaded.encoder_ == sampler.encoder_
    assert loaded.state == "majority"


def test_a_folder_that_is_not_there(sampler, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no folder .*nowhere"):
        sampler.save(tmp_path / "nowhere" / "sampler.npz")


def test_no_pickle_inside(path):
    with np.load(path, allow_pickle=False) as archive:
        assert all(archive[name].dtype != object for name in archive.files)
        header = json.loads(str(archive["header"]))
    assert header == {"format": "metasampler.MetaSampler", "version": 1, "n_layers": 3}


def test_a_failed_write_leaves_the_old_file(path, monkeypatch):
    before = path.read_bytes()

    def full_disk(*args, **kwargs):
        args[0].write(b"half")
        raise OSError("no space left")

    monkeypatch.setattr(_files.np, "savez", full_disk)
    with pytest.raises(OSError, match="no space"):
        MetaSampler.load(path).save(path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no sampler file .*gone"):
        MetaSampler.load(tmp_path / "gone.npz")


def test_a_sampler_that_reads_summaries(imbalanced, tmp_path):
    options = {"n_estimators": 4, "n_random_steps": 6, "n_updates": 6, "random_state": 0}
    sampler = MetaSampler(**options, state="summary", hidden_layer_sizes=()).fit(*imbalanced)
    sampler.save(tmp_path / "summary.npz")
    loaded = MetaSampler.load(tmp_path / "summary.npz")
    assert loaded.encoder_ == sampler.encoder_
    state = np.linspace(-1, 1, 15)
    assert loaded.predict(state) == sampler.predict(state)
    with pytest.raises(ValueError, match=r"reads states of kind 'summary', vectors of length 15"):
        loaded.predict(np.zeros(10))


def test_samplers_that_come_with_the_package(sampler, tmp_path, monkeypatch):
    monkeypatch.setattr(_pretrained, "FOLDER", tmp_path / "nothing")
    assert pretrained_names() == []
    with pytest.raises(FileNotFoundError, match="none comes with this version"):
        MetaSampler.load("general")
    monkeypatch.setattr(_pretrained, "FOLDER", tmp_path)
    for name in ("trees", "general"):
        sampler.save(tmp_path / f"{name}.npz")
    assert pretrained_names() == ["general", "trees"]
    loaded = MetaSampler.load("general")
    np.testing.assert_array_equal(loaded.policy_.parameters, sampler.policy_.parameters)
    with pytest.raises(FileNotFoundError, match=r"'special'.* the names are general, trees"):
        MetaSampler.load("special")


@pytest.mark.parametrize("kept", [0, 10, 200, 0.5, 0.98])
def test_truncated_files(path, kept):
    content = path.read_bytes()
    path.write_bytes(content[: kept if kept > 1 or kept == 0 else int(len(content) * kept)])
    with pytest.raises(ValueError, match="not a usable sampler file"):
        MetaSampler.load(path)


def test_damaged_files(tmp_path):
    # Every byte, one at a time: either it is found out or it did no harm.
    path = tmp_path / "small.npz"
    policy = GaussianPolicy(2, hidden=(1,), rng=np.random.default_rng(0))
    MetaSampler.from_policy(policy, n_bins=1).save(path)
    content = bytearray(path.read_bytes())
    parameters = MetaSampler.load(path).policy_.parameters
    messages = []
    for position in range(len(content)):
        damaged = content.copy()
        damaged[position] ^= (0xFF, 0x01, 0x10)[position % 3]
        path.write_bytes(damaged)
        try:
            loaded = MetaSampler.load(path)
        except ValueError as error:
            messages.append(str(error))
        else:
            np.testing.assert_array_equal(loaded.policy_.parameters, parameters)
    assert len(messages) > 20
    assert all("not a usable sampler file" in message for message in messages)


def write(path, header=None, content=None, **changes):
    policy = GaussianPolicy(10, rng=np.random.default_rng(0))
    arrays = {}
    for number, (weights, biases) in enumerate(policy.layers):
        arrays |= {f"weights_{number}": weights, f"biases_{number}": biases}
    arrays |= changes
    header = {"format": _files.FORMAT, "version": 1, "n_layers": 2} | (header or {})
    settings = MetaSampler().get_params()
    del settings["estimator"]
    default = {"settings": settings, "history": [], "summary": {}, "n_updates": 0}
    content = default if content is None else content
    arrays = {name: array for name, array in arrays.items() if array is not None}
    np.savez(path, header=json.dumps(header), content=json.dumps(content), **arrays)


def test_the_writer_above_writes_good_files(tmp_path):
    path = tmp_path / "sampler.npz"
    write(path)
    assert MetaSampler.load(path).encoder_.size == 10


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"header": {"format": "another"}}, "its format is 'another'"),
        ({"header": {"version": 2}}, "its version is 2; this release reads version 1"),
        ({"header": {"n_layers": 3}}, "weights_2"),
        ({"weights_1": None}, "weights_1"),
        ({"weights_1": np.zeros((50, 3), np.float32)}, "Biases of layer 1"),
        ({"weights_0": np.full((10, 50), np.nan, np.float32)}, "not finite"),
        ({"weights_0": np.array([["code"]], dtype=object)}, "pickle"),
        ({"content": ["no", "table"]}, "its settings are not a table"),
        ({"content": {}}, "settings"),
        (
            {
                "content": {
                    "settings": {
                        "n_bins": 7,
                        "hidden_layer_sizes": [50],
                        "critic_hidden_layer_sizes": [50],
                    },
                    "history": [],
                    "summary": {},
                    "n_updates": 0,
                }
            },
            "states of length 10, but states of kind 'all' with 7 bins have length 14",
        ),
        (
            {
                "content": {
                    "settings": {
                        "colour": "red",
                        "hidden_layer_sizes": [50],
                        "critic_hidden_layer_sizes": [50],
                    },
                    "history": [],
                    "summary": {},
                    "n_updates": 0,
                }
            },
            "colour",
        ),
    ],
)
def test_files_that_are_no_sampler_of_ours(tmp_path, options, words):
    path = tmp_path / "foreign.npz"
    write(path, **options)
    with pytest.raises(ValueError, match=f"not a usable sampler file: .*{words}"):
        MetaSampler.load(path)


@pytest.mark.parametrize("kind", ["text", "npy", "pickle", "other npz"])
def test_foreign_files(tmp_path, kind):
    path = tmp_path / "foreign"
    if kind == "text":
        path.write_text("hello")
    elif kind == "npy":
        with open(path, "wb") as file:
            np.save(file, np.zeros(3))
    elif kind == "pickle":
        path.write_bytes(pickle.dumps({"weights": 1}))
    else:
        with open(path, "wb") as file:
            np.savez(file, a=np.zeros(3))
    with pytest.raises(ValueError, match="not a usable sampler file"):
        MetaSampler.load(path)
