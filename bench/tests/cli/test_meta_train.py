"""``metasampler meta-train``."""

import inspect
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from metasampler import MesaClassifier, MetaSampler
from metasampler.cli import app
from metasampler.meta import FitToConstants, SoftActorCritic
from metasampler_bench import datasets
from metasampler_bench._unseen import UnseenTasks
from metasampler_bench.cli import meta_train
from metasampler_bench.cli._meta_train import _parse_value
from metasampler_bench.cli._meta_watch import Watch

REAL_LOAD = datasets.load


def options(*texts):
    return [part for text in texts for part in ("--option", text)]


SHORT = [*options("n_estimators=3", "n_updates=8", "n_random_steps=4"), "--output", "sampler.npz"]


def load(name, *, data_home=None, target=None, positive=None, return_X_y=False, download=True):
    """Stand-in for the loader: files that hold X and y, by path or by name."""
    path = Path(name) if Path(name).suffix else Path(data_home or ".") / "extra" / f"{name}.npz"
    if not path.is_file():
        raise ValueError(f"there is no data set {name!r}")
    with np.load(path) as archive:
        return archive["data"], archive["label"]


def read_log(name):
    return [json.loads(line) for line in Path(name).read_text().splitlines()]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the command line in a directory with three data sets; give its output."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(datasets, "load", load, raising=False)
    for seed, name in enumerate(["first", "second", "third"]):
        X, y = make_classification(300, n_features=6, weights=[0.85], random_state=seed)
        np.savez(tmp_path / f"{name}.npz", data=X, label=y)

    def invoke(*arguments, code=0):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), (
            result.exception
        )
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        return re.sub(r"[│╭╮╰╯─\s]+", " ", result.output)

    return invoke


def test_a_sampler_comes_out(run):
    text = run("meta-train", "first.npz", "second.npz", *SHORT, "--log", "log.jsonl")
    assert "Sampler: sampler.npz" in text
    sampler = MetaSampler.load("sampler.npz")
    assert [task["name"] for task in sampler.summary_["tasks"]] == ["first", "second"]
    assert sampler.summary_["command"].startswith("metasampler")
    assert sampler.summary_["seed"] == 0
    assert sampler.n_updates_ == 8
    X, y = load("third.npz")
    MesaClassifier(DecisionTreeClassifier(), 3, meta_sampler="sampler.npz").fit(X, y)
    lines = read_log("log.jsonl")
    assert [line["round"] for line in lines] == [1, 2, 3]
    assert [line["episodes"] for line in lines] == [2, 4, 6]
    for line in lines:
        assert line["tasks"] == ["first", "second"]
        assert 0 <= line["mean_mu"] <= 1
        assert 0 <= line["mean_valid_score"] <= 1
        assert line["seconds"] >= 0


def test_it_is_what_the_class_does(run):
    run(
        "meta-train",
        "first.npz",
        "second.npz",
        *SHORT,
        "--seed",
        "3",
        *options("tasks_per_round=1"),
    )
    trainer = SoftActorCritic(n_updates=8, n_random_steps=4, tasks_per_round=1)
    tasks = {name: load(f"{name}.npz") for name in ("first", "second")}
    sampler = MetaSampler(n_estimators=3, trainer=trainer, random_state=3).fit_tasks(tasks)
    written = MetaSampler.load("sampler.npz")
    np.testing.assert_array_equal(written.policy_.parameters, sampler.policy_.parameters)
    assert written.history_ == sampler.history_


@pytest.mark.parametrize("estimator", ["extra-tree", "forest", "boosting", "logistic"])
def test_kinds_of_members(run, estimator):
    steps = [*options("n_estimators=2", "n_updates=1", "n_random_steps=1"), *SHORT[-2:]]
    run("meta-train", "first.npz", "--estimator", estimator, *steps)
    names = {"extra-tree": "ExtraTree", "forest": "RandomForest", "boosting": "HistGradient"}
    assert names.get(estimator, "Logistic") in MetaSampler.load("sampler.npz").summary_["estimator"]


def test_the_best_policy_on_validation_tasks_is_written(run):
    arguments = ["first.npz", "second.npz", "--validation-task", "third.npz", *SHORT]
    arguments += ["--every", "1", "--validation-seeds", "2", "--log", "log.jsonl"]
    arguments += options(
        "state=summary", "hidden_layer_sizes=()", "n_updates=12", "tasks_per_round=2"
    )
    text = run("meta-train", *arguments)
    sampler = MetaSampler.load("sampler.npz")
    assert (sampler.state, sampler.policy_.hidden) == ("summary", ())
    results = sampler.summary_["validation"]
    assert [r["round"] for r in results["rounds"]] == [1, 2, 3, 4]
    best = max(results["rounds"], key=lambda r: r["mean"])
    assert results["chosen_round"] == best["round"]
    assert sorted(results["constants"]) == ["0.9", "1.0"]
    assert f"policy of round {best['round']}" in text
    assert f"mean {best['mean']:.3f}" in text
    # What was written is what was scored.
    unseen = UnseenTasks({"third": load("third.npz")}, seeds=(0, 1), n_estimators=3)
    assert unseen.score(sampler)["third"] == pytest.approx(best["mean"])
    lines = read_log("log.jsonl")
    assert [line["validation"]["policy"] for line in lines] == [
        r["mean"] for r in results["rounds"]
    ]
    assert "mu=0.9" in lines[0]["validation"]
    assert "notes" not in sampler.summary_


def test_resumed_with_log_and_validation(run, monkeypatch):
    arguments = ["meta-train", "first.npz", "second.npz", "--validation-task", "third.npz", *SHORT]
    arguments += ["--every", "2", "--validation-seeds", "1", *options("tasks_per_round=1")]
    run(*arguments, "--log", "whole.jsonl")
    whole = MetaSampler.load("sampler.npz")
    arguments += ["--checkpoint", "state.npz", "--log", "log.jsonl"]
    call = Watch.__call__

    def dies(watch, progress):
        call(watch, progress)
        if progress.n_rounds_done == 3:
            raise MemoryError

    # Dies after the log line of round 3; the checkpoint is that of round 2.
    with monkeypatch.context() as patch:
        patch.setattr(Watch, "__call__", dies)
        assert isinstance(CliRunner().invoke(app, arguments).exception, MemoryError)
    with open("log.jsonl", "a") as file:
        file.write('{"round": 4, "epi')
    # A finished training is not played again, and chooses the same policy.
    for _ in range(2):
        run(*arguments)
        resumed = MetaSampler.load("sampler.npz")
        np.testing.assert_array_equal(resumed.policy_.parameters, whole.policy_.parameters)
        assert resumed.summary_["validation"] == whole.summary_["validation"]
        logs = [read_log(name) for name in ("whole.jsonl", "log.jsonl")]
        for line in (*logs[0], *logs[1]):
            del line["seconds"]
        assert logs[0] == logs[1]
    text = run(*arguments, "--seed", "1", code=1)
    assert "random_state was 0 and is 1" in text


def test_bad_names_are_listed_at_once(run):
    names = ["first.npz", "second.npz", "nothing", "gone.npz", "--validation-task", "first.npz"]
    text = run("meta-train", *names, *SHORT, "--log", "log.jsonl", code=2)
    assert "3 tasks cannot be used" in text
    assert "nothing: there is no data set 'nothing'" in text
    assert "gone: there is no data set 'gone.npz'" in text
    assert "first: named more than once" in text


def test_rows_that_are_trained_on_do_not_validate(run):
    names = ["digits-8@0.2", "--validation-task", "digits-8%0.5"]
    text = run("meta-train", *names, *SHORT, code=2)
    assert "digits-8%0.5: a task to train on has the same rows" in text


def test_variants_of_a_data_set(run, monkeypatch):
    monkeypatch.setattr(datasets, "load", REAL_LOAD)
    run("meta-train", "digits-8%0.5", "wine:1", "digits-8@0.2", *SHORT)
    tasks = {task["name"]: task for task in MetaSampler.load("sampler.npz").summary_["tasks"]}
    whole, thinned = tasks["digits-8@0.2"]["train_rows"], tasks["digits-8%0.5"]["train_rows"]
    assert min(thinned) == pytest.approx(min(whole) / 2, abs=1)
    assert len(tasks["wine:1"]["train_rows"]) == 2


def test_tasks_are_cut_for_constants(run, monkeypatch):
    cut = {}
    real_fit = MetaSampler.fit_tasks

    def spy(self, tasks, **options):
        cut.update(tasks)
        return real_fit(self, tasks, **options)

    monkeypatch.setattr(datasets, "load", REAL_LOAD)
    monkeypatch.setattr(MetaSampler, "fit_tasks", spy)
    names = ["digits-8", "digits-8%0.5@0.2", "digits-8@@0.2"]
    given = ["--trainer", "constants", "--splits", "2", *SHORT[-2:]]
    given += options("n_sweeps=1", "penalty=0.01", "n_estimators=3")
    run("meta-train", *names, *given)
    assert list(cut) == [f"{name} ({number})" for name in names for number in (1, 2)]
    X, y = REAL_LOAD("digits-8", return_X_y=True)
    for title, (X_train, y_train, X_val, y_val, X_test, y_test) in cut.items():
        assert len(y_train) == pytest.approx(3 * len(y_val), abs=5)
        assert len(y_val) == pytest.approx(len(y_test), abs=2)
        for rows, labels in ((X_train, y_train), (X_val, y_val), (X_test, y_test)):
            # Every row is known by its pixels.
            true = {row.tobytes(): label for row, label in zip(X, y, strict=True)}
            wrong = sum(
                true[row.tobytes()] != label for row, label in zip(rows, labels, strict=True)
            )
            flipped = ("@" in title and rows is X_train) or ("@@" in title and rows is X_val)
            assert (wrong > 0) == flipped, title
    sampler = MetaSampler.load("sampler.npz")
    assert [task["name"] for task in sampler.summary_["tasks"]] == names
    assert (sampler.n_jobs, sampler.verbose) == (None, 0)
    trainer = sampler.trainer
    assert isinstance(trainer, FitToConstants)
    assert (trainer.score_on, trainer.n_sweeps, trainer.penalty) == ("test", 1, 0.01)
    assert sampler.n_updates_ == 1


def test_names_folders_and_columns_reach_the_loader(run, monkeypatch, tmp_path):
    calls = {}

    def spy(name, **options):
        calls[name] = options
        return load("first.npz")

    monkeypatch.setattr(datasets, "load", spy)
    names = ["mammography", "some/table.csv", "other.tsv.gz", "rows.npz"]
    run("meta-train", *names, *SHORT, "--data-home", tmp_path, "--target", "fraud")
    assert list(calls) == names
    for name, options in calls.items():
        assert options["data_home"] == tmp_path
        assert options.get("target") == ("fraud" if ".csv" in name or ".tsv" in name else None)
    tasks = MetaSampler.load("sampler.npz").summary_["tasks"]
    assert [task["name"] for task in tasks] == ["mammography", "table", "other", "rows"]


def test_a_task_of_one_class(run, tmp_path):
    np.savez(tmp_path / "bad.npz", data=np.zeros((9, 2)), label=np.zeros(9))
    text = run("meta-train", "first.npz", "bad.npz", *SHORT, code=2)
    assert "a task cannot be used" in text
    assert "bad: y has only one class" in text


def test_values_that_the_sampler_refuses(run):
    for value in (
        "n_estimators=many",
        "hidden_layer_sizes=5,0",
        "hidden_layer_sizes=1000000000000",
        "n_bins=1000000000000",
        "memory_size=1000000000000",
        "n_updates=-1",
    ):
        text = run("meta-train", "first.npz", *SHORT, *options(value), code=1)
        assert value.partition("=")[0] in text


@pytest.mark.parametrize(
    ("text", "value"),
    [("50", (50,)), ("25,25", (25, 25)), ("()", ()), ("some", "some")],
)
def test_values_of_layers(text, value):
    assert _parse_value("hidden_layer_sizes", text) == value
    assert _parse_value("n_updates", "7") == 7


def test_few_options():
    parameters = inspect.signature(meta_train).parameters
    assert len(parameters) <= 17  # with the tasks


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--output", "nowhere/sampler.npz"], "There is no folder 'nowhere'"),
        (["--log", "nowhere/log.jsonl"], "There is no folder 'nowhere'"),
        (["--checkpoint", "nowhere/state.npz"], "There is no folder 'nowhere'"),
        (["--jobs", "0"], "must not be 0"),
        (["--option", "n_updates"], "'n_updates' must be NAME=VALUE"),
        (["--option", "penalty=1"], "sac has no option 'penalty'; the names are alpha"),
        (["--option", "n_jobs=1"], "no option 'n_jobs'"),
        (["--trainer", "ppo"], "'ppo' is not one of"),
        (["--splits", "2"], "only constants scores rows"),
        (["first.npz@1.5"], "first.npz@1.5: "),
        (["first.npz@0.2%0.1"], "write NAME%0.1@0.25, in this order"),
    ],
)
def test_bad_options(run, arguments, words):
    assert words in run("meta-train", "first.npz", *SHORT, *arguments, code=2)


SCRIPT = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from test_meta_train import load
from metasampler_bench import datasets
from metasampler.cli import main
datasets.load = load
main()
"""


def test_an_interrupt_saves_what_there_is(run, tmp_path, request):
    arguments = ["meta-train", "first.npz", *SHORT, *options("n_updates=100000")]
    arguments += ["--log", "log.jsonl"]
    folder = str(request.path.parent)
    log = tmp_path / "log.jsonl"
    command = [sys.executable, "-c", SCRIPT, folder, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while process.poll() is None and not (log.exists() and log.read_text().count("\n") > 5):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert b"interrupted after" in errors
    assert b"Traceback" not in errors
    sampler = MetaSampler.load("sampler.npz")
    assert sampler.summary_["interrupted"]
    assert sampler.n_updates_ > 0


def test_a_full_disk_is_found_before_the_training(run, monkeypatch):
    from full_disk import full_disk  # here: a child process below imports this file

    def fit_tasks(*arguments, **options):
        raise AssertionError("the training has begun")

    monkeypatch.setattr(MetaSampler, "fit_tasks", fit_tasks)
    with full_disk(1000):
        text = run("meta-train", "first.npz", *SHORT, code=2)
    assert "'sampler.npz' could not be written: File too large" in text
    assert not list(Path().glob("sampler.npz*"))


def test_a_disk_that_fills_up_meanwhile_is_said_without_a_traceback(run, monkeypatch):
    def save(*arguments, **options):
        raise OSError(28, "'sampler.npz' could not be written: No space left on device.")

    with monkeypatch.context() as patch:
        patch.setattr(MetaSampler, "save", save)
        assert "No space left" in run("meta-train", "first.npz", *SHORT, code=1)


@pytest.mark.parametrize("half", ['{"round": 2, "tasks": {}', '{"a": {"round": 1}', "[[", "{}", ""])
def test_any_half_line_of_a_log_is_dropped(tmp_path, half):
    log = tmp_path / "log.jsonl"
    log.write_text('{"round": 1}\n' + half)
    Watch(log, None, 1)._trim_log(3)
    assert log.read_text() == '{"round": 1}\n'


def test_boosters_learn_powers_from_the_signal(run, tmp_path):
    for seed in range(2):
        X, y = make_classification(1500, n_features=6, weights=[0.8], random_state=seed)
        np.savez(tmp_path / f"large{seed}.npz", data=X, label=y)
    settings = options(
        *("n_estimators=2", "state=signal", "hidden_layer_sizes=()"),
        *("n_sweeps=1", "n_constants=3", "relative=True"),
    )
    tasks = ("large0.npz", "large1.npz")
    kind = ("--trainer", "constants", "--estimator", "boosters", "--splits", "1")
    run("meta-train", *tasks, *kind, *settings, "--output", "sampler.npz")
    sampler = MetaSampler.load("sampler.npz")
    assert sampler.state == "signal"
    assert "Boosters" in sampler.summary_["estimator"]
    assert 0 <= sampler.choose([0.1]) <= 6
    refused = run(
        *("meta-train", *tasks, *kind, *settings, "--output", "sampler.npz"),
        *("--validation-task", "large0.npz"),
        code=2,
    )
    assert "boosters are judged by" in " ".join(refused.split())
