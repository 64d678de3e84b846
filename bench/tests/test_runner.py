import dataclasses
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import average_precision_score
from threadpoolctl import threadpool_info

from metasampler import MetaSampler
from metasampler.meta import SoftActorCritic
from metasampler_bench import METHODS, Runner, _runner, _samplers
from metasampler_bench._measures import MEASURES
from metasampler_bench._protocol import fit_seed, take_parts
from metasampler_bench._runner import TimeLimitError, _time_limit
from metasampler_bench._samplers import SamplerCache
from metasampler_bench._spec import Job, parse_spec
from metasampler_bench._store import cell_key

# One method of each way of being sized, with and without validation rows and meta-training.
SPEC = """
title = "Small"
runs = 1
folds = 2
[[cells]]
dataset = ["digits-8"]
method = ["under-bagging", "spe", "tree", "mesa-fit", "constant-0.5"]
k = [2, 4]
"""
N_CELLS = 18
# What a repetition of the same fit may change.
TIMES = ("cpu", "wall", "meta_cpu", "meta_wall", "resampling_cpu", "date", "commit")

# Runs SPEC with a short meta-training, and waits for its end before the sampler is saved.
SCRIPT = """
import sys
from metasampler_bench import Runner, _samplers
from metasampler_bench._spec import Job, parse_spec
from metasampler.meta import MetaSampler

full = _samplers.make_meta_sampler
_samplers.make_meta_sampler = lambda cell, seed: full({**cell, "quick": True}, seed)
fit = MetaSampler.fit

def waiting(self, *arguments, **options):
    fit(self, *arguments, **options)
    print("training", flush=True)
    sys.stdin.read()

MetaSampler.fit = waiting
Runner(sys.argv[1]).run(parse_spec("small", sys.argv[2]))
"""


@pytest.fixture
def short(monkeypatch):
    """Meta-training as short as that of a quick look, for all cells."""
    full = _samplers.make_meta_sampler
    monkeypatch.setattr(
        _samplers, "make_meta_sampler", lambda cell, seed: full({**cell, "quick": True}, seed)
    )


@pytest.fixture
def spec():
    return parse_spec("small", SPEC)


def make_spec(methods, name="small", datasets=("digits-8",), more="", top=""):
    listed = [f'"{method}"' for method in methods]
    sets = [f'"{dataset}"' for dataset in datasets]
    return parse_spec(
        name,
        f'title = "Small"\nruns = 1\nfolds = 1\n{top}\n[[cells]]\ndataset = [{", ".join(sets)}]\n'
        f"method = [{', '.join(listed)}]\n{more}",
    )


def results(runner, spec):
    """What the rows say about each cell, without what a clock says; no cell may be twice."""
    rows = runner.store(spec).rows()
    counts = Counter(cell_key(row["cell"]) for row in rows)
    assert set(counts.values()) <= {1}
    return {
        cell_key(row["cell"]): {name: row[name] for name in row if name not in TIMES}
        for row in rows
    }


class Recorder(ClassifierMixin, BaseEstimator):
    """A classifier that keeps what its fits got, and can fail or take its time."""

    seen: list = []

    def __init__(self, seconds=0.0, error=None):
        self.seconds = seconds
        self.error = error

    def fit(self, X, y, *, X_val=None, y_val=None):
        Recorder.seen.append((X, y) if X_val is None else (X, y, X_val, y_val))
        time.sleep(self.seconds)
        if self.error is not None:
            raise RuntimeError(self.error)
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X):
        return np.tile([0.5, 0.5], (len(X), 1))


@pytest.fixture
def replace_method(monkeypatch):
    """Put a Recorder in the place of a method."""
    monkeypatch.setattr(Recorder, "seen", [])

    def put(name, **options):
        method = dataclasses.replace(
            METHODS[name], make=lambda *_: Recorder(**options), count_rows=lambda *_: 0
        )
        monkeypatch.setitem(METHODS, name, method)

    return put


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_killed_and_resumed_is_as_if_never_stopped(tmp_path, spec, short):
    whole, killed = Runner(tmp_path / "whole"), Runner(tmp_path / "killed")
    assert whole.run(spec) == N_CELLS
    store = killed.store(spec)
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(killed.folder), SPEC],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout.readline() == "training\n"
        process.kill()
    assert process.returncode == -signal.SIGKILL
    rows = store.rows()
    # All that needs no sampler was done first, and nothing of the rest.
    assert {row["cell"]["method"] for row in rows} == {
        *("under-bagging", "spe", "tree", "constant-0.5")
    }
    assert len(rows) == 14 < N_CELLS
    # As if it had been hit in the middle of a write, which took some more rows with it.
    lines = store.path.read_bytes().splitlines(keepends=True)
    store.path.write_bytes(b"".join(lines[:5]) + lines[5][:60])
    assert killed.run(spec) == N_CELLS - 5
    assert results(killed, spec) == results(whole, spec)
    assert killed.run(spec) == 0


def test_a_job_of_which_only_some_rows_were_written(tmp_path, short):
    spec = make_spec(["constant-0.5"], more="k = [2, 3, 4]")
    runner = Runner(tmp_path)
    assert runner.run(spec) == 3
    before = results(runner, spec)
    path = runner.store(spec).path
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1][:40])
    assert runner.run(spec) == 2
    assert results(runner, spec) == before


def test_two_jobs_give_the_scores_of_one(tmp_path):
    # Quick cells, since workers know nothing of what a test has changed in this process.
    spec = make_spec(["under-bagging", "mesa-fit"], datasets=("digits-8", "arch-low"), more="k=[3]")
    one, two = Runner(tmp_path / "one", jobs=1), Runner(tmp_path / "two", jobs=2)
    seen = []
    assert one.run(spec, quick=True, progress=lambda *what: seen.append(what)) == 4
    assert two.run(spec, quick=True) == 4
    assert results(one, spec) == results(two, spec)
    # Four fits and two meta-trainings, counted one by one.
    assert [(done, total) for done, total, _ in seen] == [(n, 6) for n in range(1, 7)]
    assert {what for *_, what in seen} >= {
        "arch-low under-bagging run 0 fold 0",
        "digits-8 meta-training run 0 fold 0",
    }


def test_rows_say_how_they_came_about(tmp_path):
    spec = make_spec(["tree"])
    runner = Runner(tmp_path, seed=3)
    runner.run(spec, command="metasampler bench small --seed 3")
    (row,) = runner.store(spec).rows()
    assert row["spec"] == "small"
    assert row["cell"] == {"dataset": "digits-8", "method": "tree", "run": 0, "fold": 0}
    assert row["seed"] == 3
    assert row["command"] == "metasampler bench small --seed 3"
    assert {"python", "metasampler", "scikit-learn", "numpy"} <= set(row["versions"])
    kernels = {library.get("architecture") for library in threadpool_info()} - {None}
    assert set(row["versions"].get("kernels", "").split("+")) == (kernels or {""})
    assert row["cpu"] >= 0
    assert len(row["date"]) == 10
    parts = take_parts("digits-8", 0, 0, seed=3)
    model = METHODS["tree"].build(random_state=fit_seed(0, 0, 3)).fit(parts.X_train, parts.y_train)
    score = average_precision_score(parts.y_test, model.predict_proba(parts.X_test)[:, 1])
    assert row["score"] == round(score, 6)
    assert row["rows"] == len(parts.y_train)


def test_seeds_are_kept_apart(tmp_path):
    spec = make_spec(["tree"])
    assert Runner(tmp_path, seed=0).run(spec) == 1
    assert Runner(tmp_path, seed=1).run(spec) == 1
    assert Runner(tmp_path, seed=0).run(spec) == 0
    first, second = Runner(tmp_path).store(spec).rows()
    assert first["cell"] == second["cell"]
    assert first["score"] != second["score"]


def test_a_failing_method_loses_its_own_cells_only(tmp_path, replace_method, monkeypatch):
    spec = make_spec(["tree", "constant-0.5", "spe"], more="k = [2, 3]")
    plain = Runner(tmp_path / "plain")
    plain.run(spec)
    runner = Runner(tmp_path / "failing")
    with monkeypatch.context():
        replace_method("spe", error="no luck today")
        assert runner.run(spec) == 5
    found, wanted = results(runner, spec), results(plain, spec)
    failed = {key for key, row in found.items() if "error" in row}
    assert failed == {key for key, row in wanted.items() if row["cell"]["method"] == "spe"}
    assert len(failed) == 2
    assert {found[key]["error"] for key in failed} == {"RuntimeError: no luck today"}
    assert not any("score" in found[key] for key in failed)
    for key in set(wanted) - failed:
        assert found[key] == wanted[key]


def test_failed_cells_are_computed_again_only_if_asked(tmp_path, replace_method, monkeypatch):
    spec = make_spec(["tree", "random-forest"])
    method = METHODS["tree"]
    replace_method("tree", error="no luck today")
    runner = Runner(tmp_path)
    assert runner.run(spec) == 2
    assert runner.run(spec) == 0
    # A second failure is one more row, and no end of trying.
    again = Runner(tmp_path, retry=True)
    assert again.run(spec) == 1
    monkeypatch.setitem(METHODS, "tree", method)
    monkeypatch.setitem(METHODS, "random-forest", None)  # would fail if it were built
    assert runner.run(spec) == 0
    assert again.run(spec) == 1
    rows = [row for row in runner.store(spec).rows() if row["cell"]["method"] == "tree"]
    assert ["error" in row for row in rows] == [True, True, False]
    assert again.run(spec) == runner.run(spec) == 0


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs alarms")
@pytest.mark.parametrize("where", ["spec", "runner"])
def test_a_fit_that_takes_too_long_is_given_up(tmp_path, replace_method, where):
    spec = make_spec(["spe", "tree"], top="limit = 0.2" if where == "spec" else "limit = 100")
    replace_method("spe", seconds=30)
    runner = Runner(tmp_path, limit=None if where == "spec" else 0.2)
    before = signal.getsignal(signal.SIGALRM)
    start = time.monotonic()
    assert runner.run(spec) == 2
    assert time.monotonic() - start < 15
    errors = {row["cell"]["method"]: row.get("error") for row in runner.store(spec).rows()}
    assert errors == {"spe": "TimeLimitError: more than 0.2 s", "tree": None}
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert signal.getsignal(signal.SIGALRM) is before


def test_no_limit_outside_of_the_main_thread():
    """Alarms belong to the main thread; elsewhere a fit goes on."""
    done = []

    def work():
        with _time_limit(0.01):
            time.sleep(0.1)
        done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]
    if hasattr(signal, "setitimer"):
        with pytest.raises(TimeLimitError, match=r"more than 0\.01 s"), _time_limit(0.01):
            time.sleep(5)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no alarms")
def test_the_limit_is_no_interrupt():
    """CatBoost answers an alarm with a KeyboardInterrupt; one of the user goes through."""

    def interrupted():
        try:
            time.sleep(5)
        except TimeLimitError:
            raise KeyboardInterrupt from None

    with pytest.raises(TimeLimitError, match=r"more than 0\.01 s"), _time_limit(0.01):
        interrupted()
    with pytest.raises(KeyboardInterrupt), _time_limit(5):
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("kind", "cell"),
    [
        ("history", {"dataset": "digits-8"}),
        ("joint", {"tasks": "digits-8+arch-low", "watch": "arch-mid"}),
    ],
)
def test_an_interrupted_meta_training_leaves_no_row(kind, cell, tmp_path, monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(SoftActorCritic, "learn", interrupt)
    job = Job(kind, {**cell, "run": 0, "fold": 0, "quick": True})
    with pytest.warns(UserWarning, match="interrupted"), pytest.raises(KeyboardInterrupt):
        MEASURES[kind](job, SamplerCache(tmp_path))


@pytest.fixture
def trainings(monkeypatch):
    """What every meta-training got."""
    seen = []
    fit = MetaSampler.fit

    def recorded(self, *arguments, **options):
        assert list(options) == ["X_val", "y_val"]
        seen.append((*arguments, *options.values()))
        return fit(self, *arguments, **options)

    monkeypatch.setattr(MetaSampler, "fit", recorded)
    return seen


def test_a_sampler_is_trained_once_and_never_on_test_rows(tmp_path, short, trainings):
    first = parse_spec("first", SPEC.replace('"under-bagging", "spe", "tree", ', ""))
    second = make_spec(
        ["mesa-fit"],
        "second",
        datasets=("digits-8", "arch-low"),
        more='k = [3]\nmeta_task = ["digits-8"]',
    )
    assert Runner(tmp_path).run(first) == 8
    assert len(trainings) == 2  # two folds
    assert Runner(tmp_path).run(second) == 2
    # The sampler of digits-8 in the same fold serves the other spec and the other task.
    assert len(trainings) == 2
    for fold, (X, y, X_val, y_val) in enumerate(trainings):
        parts = take_parts("digits-8", 0, fold)
        np.testing.assert_array_equal(X, parts.X_train)
        np.testing.assert_array_equal(y, parts.y_train)
        np.testing.assert_array_equal(X_val, parts.X_valid)
        np.testing.assert_array_equal(y_val, parts.y_valid)
        known = {row.tobytes() for row in np.concatenate([X, X_val])}
        assert not known & {row.tobytes() for row in parts.X_test}
    assert len(list((tmp_path / "samplers").glob("*.npz"))) == 2
    row = Runner(tmp_path).store(second).rows()[0]
    assert row["meta_cpu"] > 0


def test_other_kinds_of_training_are_other_samplers(tmp_path):
    cache = SamplerCache(tmp_path)
    base = {"dataset": "digits-8", "method": "mesa-fit", "run": 0, "fold": 0, "k": 5}
    own = cache.key(base)
    # What the sampler does not depend on.
    for same in ({"k": 9}, {"meta_task": "digits-8"}, {"rows": "train+valid"}, {"base": "KNN"}):
        assert cache.key(base | same) == own
    others = [
        {"noise": 0.1},
        {"fraction": 0.5},
        {"meta_fraction": 0.5},
        {"hidden": [10]},
        {"quick": True},
        {"run": 1},
        {"fold": 1},
        {"meta_task": "arch-low"},
    ]
    keys = [cell_key(cache.key(base | other)) for other in others]
    assert len({*keys, cell_key(own)}) == len(others) + 1
    # Wrong labels and missing rows of a task are no matter of another task.
    foreign = base | {"meta_task": "arch-low"}
    assert cache.key(foreign | {"noise": 0.1, "fraction": 0.5}) == cache.key(foreign)
    # One fold of a fixed split serves all folds of another task.
    fixed = base | {"meta_task": "mammography-authors", "fold": 3}
    assert cache.key(fixed)["fold"] == 0


def test_a_sampler_without_its_facts_was_never_finished(tmp_path, trainings):
    cell = {"dataset": "arch-low", "run": 0, "fold": 0, "quick": True}
    cache = SamplerCache(tmp_path)
    assert not cache.has(cell)
    first, facts = cache.get(cell)
    assert cache.has(cell)
    assert facts["n_episodes"] == len(first.history_)
    cache.get(cell)
    assert len(trainings) == 1
    next(tmp_path.glob("*.json")).unlink()
    assert not cache.has(cell)
    second, _ = cache.get(cell)
    assert len(trainings) == 2
    state = np.full(first.encoder_.size, 0.1)
    assert first.choose(state) == second.choose(state)


def test_settings_of_a_cell_reach_the_sampler():
    cell = {"run": 1, "fold": 2, "hidden": [10, 10], "meta_fraction": 0.5}
    sampler = _samplers.make_meta_sampler(cell, seed=0)
    assert sampler.hidden_layer_sizes == (10, 10)
    assert sampler.train_ratio == 0.5
    assert sampler.random_state == fit_seed(1, 2)
    # The paper's lengths unless the look is quick.
    assert sampler.trainer.n_random_steps == SoftActorCritic().n_random_steps
    assert _samplers.make_meta_sampler({**cell, "quick": True}, 0).trainer.n_random_steps == 36


@pytest.mark.parametrize("method", ["constant-0.9", "under-bagging"])
def test_a_prefix_is_the_smaller_fit(tmp_path, method):
    several = make_spec([method], "several", more="k = [5, 20]")
    single = make_spec([method], "single", more="k = [5]")
    for spec in (several, single):
        # Apart, or the second would copy the row of the first.
        Runner(tmp_path / spec.name).run(spec)
    first, last = Runner(tmp_path / "several").store(several).rows()
    (alone,) = Runner(tmp_path / "single").store(single).rows()
    assert first["cell"] == alone["cell"]
    for name in ("score", "rows", "valid_score"):
        assert first.get(name) == alone.get(name)
    assert last["rows"] == 4 * first["rows"]
    assert last["score"] != first["score"]


def test_cells_of_other_specs_are_copied_and_say_so(tmp_path, monkeypatch):
    first = make_spec(["tree", "constant-0.5"], "first", more="k = [2, 4]")
    second = make_spec(["constant-0.5", "tree", "constant-1"], "second", more="k = [2]")
    runner = Runner(tmp_path)
    runner.run(first)
    measured = []
    measure = _runner._measure

    def recorded(job, *rest):
        measured.append(job.cell["method"])
        return measure(job, *rest)

    monkeypatch.setattr(_runner, "_measure", recorded)
    assert runner.run(second) == 3
    assert measured == ["constant-1"]
    copied = {}
    for row in runner.store(second).rows():
        assert row["spec"] == "second"
        assert row.get("copied_from") == (
            None if row["cell"]["method"] == "constant-1" else "first"
        )
        copied[cell_key(row["cell"])] = row
    for row in runner.store(first).rows():
        key = cell_key(row["cell"])
        if key in copied:
            assert {**row, "spec": "second", "copied_from": "first"} == copied[key]
    assert runner.run(second) == 0


def test_rows_that_are_no_cells_may_lie_beside(tmp_path):
    (tmp_path / "fuzz.jsonl").write_text('{"fuzzer": "columns", "counts": {"fine": 3}}\n')
    assert Runner(tmp_path).run(make_spec(["tree"])) == 1


def test_what_is_not_copied(tmp_path, replace_method):
    first = make_spec(["spe", "tree"], "first", more="k = [2]")
    replace_method("spe", error="no luck today")
    Runner(tmp_path).run(first)
    # Errors, other seeds and quick cells.
    second = make_spec(["spe"], "second", more="k = [2]")
    Runner(tmp_path).run(second)
    assert "copied_from" not in Runner(tmp_path).store(second).rows()[0]
    third = make_spec(["tree"], "third")
    Runner(tmp_path, seed=1).run(third)
    Runner(tmp_path).run(third, quick=True)
    assert [row.get("copied_from") for row in Runner(tmp_path).store(third).rows()] == [None, None]
    # A spec that keeps more than scores needs fits of its own; from it scores can be taken.
    keeping = make_spec(["tree"], "keeping", top='keep = ["surface"]', datasets=("arch-low",))
    plain = make_spec(["tree"], "plain", datasets=("arch-low",))
    Runner(tmp_path / "more").run(keeping)
    Runner(tmp_path / "more").run(plain)
    (row,) = Runner(tmp_path / "more").store(plain).rows()
    assert row["copied_from"] == "keeping"
    assert not {"surface", "points", "extent"} & set(row)
    other = dataclasses.replace(keeping, name="other")
    Runner(tmp_path / "more").run(other)
    assert "surface" in Runner(tmp_path / "more").store(other).rows()[0]


@pytest.mark.parametrize("method", ["tree", "constant-0.5"])
def test_fair_rows_are_those_of_both_parts(tmp_path, replace_method, method):
    replace_method(method)
    spec = make_spec([method], more='rows = ["train", "train+valid"]\nk = [2]')
    Runner(tmp_path).run(spec)
    assert not any("error" in row for row in Runner(tmp_path).store(spec).rows())
    parts = take_parts("digits-8", 0, 0)
    plain, fair = Recorder.seen
    wanted = parts[:4] if METHODS[method].uses_validation else parts[:2]
    for got, part in zip(plain, wanted, strict=True):
        np.testing.assert_array_equal(got, part)
    X, y = fair
    np.testing.assert_array_equal(X, np.concatenate([parts.X_train, parts.X_valid]))
    np.testing.assert_array_equal(y, np.concatenate([parts.y_train, parts.y_valid]))
    assert not {row.tobytes() for row in X} & {row.tobytes() for row in parts.X_test}


def test_kinds_of_cells_and_what_they_keep(tmp_path, short):
    resampling = make_spec(
        ["none", "smote"], "resampling", more='base = ["GNB", "DT"]\nkind = "resampling"'
    )
    Runner(tmp_path).run(resampling)
    rows = Runner(tmp_path).store(resampling).rows()
    n = len(take_parts("digits-8", 0, 0).y_train)
    assert [(row["cell"]["base"], row["rows"] > n) for row in rows] == [
        ("GNB", False),
        ("DT", False),
        ("GNB", True),
        ("DT", True),
    ]
    facts = parse_spec(
        "facts", 'title="F"\nkind="facts"\nruns=1\nfolds=1\n[[cells]]\ndataset=["digits-8"]'
    )
    Runner(tmp_path).run(facts)
    (row,) = Runner(tmp_path).store(facts).rows()
    assert (row["n_rows"], row["n_features"], row["n_positive"]) == (1677, 64, 54)
    assert row["imbalance_ratio"] == round(1623 / 54, 2)
    keeping = make_spec(
        ["constant-0.5", "tree"],
        "keeping",
        top='keep = ["actions", "resampling"]',
        more="k = [2, 4]",
    )
    Runner(tmp_path).run(keeping)
    two, four, tree = Runner(tmp_path).store(keeping).rows()
    # The first member has no action; trees take no part in the cost of resampling.
    assert two["actions"] == [0.5]
    assert four["actions"] == [0.5] * 3
    assert "actions" not in tree
    assert 0 < four["resampling_cpu"] < four["cpu"]
    assert tree["resampling_cpu"] == 0


def test_curves_of_a_meta_training(tmp_path):
    spec = parse_spec(
        "history", 'title="H"\nkind="history"\nruns=1\n[[cells]]\ndataset=["arch-low"]'
    )
    Runner(tmp_path).run(spec, quick=True)
    (row,) = Runner(tmp_path).store(spec).rows()
    assert set(row["curves"]) == {"train", "valid", "test"}
    assert len({len(curve) for curve in row["curves"].values()} | {len(row["mu"])}) == 1


def test_nothing_to_do_is_an_error_that_writes_nothing(tmp_path, spec):
    runner = Runner(tmp_path)
    with pytest.raises(ValueError, match=r"has no dataset 'oil'; it has"):
        runner.run(spec, datasets=("oil",))
    assert not list(tmp_path.iterdir())


def test_a_name_that_a_spec_lacks_is_an_error_even_if_another_is_there(tmp_path):
    spec = make_spec(["tree", "random-forest"])
    with pytest.raises(ValueError, match=r"has no method 'extra-trees'; it has random-forest, tr"):
        Runner(tmp_path).run(spec, methods=("tree", "extra-trees"))
    assert not list(tmp_path.iterdir())


def test_outside_a_checkout_the_commit_is_unknown(tmp_path, spec, monkeypatch):
    def no_git(*arguments, **options):
        raise FileNotFoundError("git")

    monkeypatch.setattr(subprocess, "run", no_git)
    Runner(tmp_path).run(spec)
    assert {row["commit"] for row in Runner(tmp_path).store(spec).rows()} == {"unknown"}


def test_one_runner_at_a_time(tmp_path, spec):
    runner = Runner(tmp_path)
    with runner.store(spec).open_for_writing(), pytest.raises(BlockingIOError, match="Another"):
        runner.run(spec)
    assert runner.store(spec).rows() == []


def test_an_interrupt_keeps_what_is_done(tmp_path):
    spec = make_spec(["tree", "random-forest", "extra-trees"])

    def stop(done, total, what):
        raise KeyboardInterrupt

    runner = Runner(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        runner.run(spec, progress=stop)
    assert len(runner.store(spec).rows()) == 1
    assert runner.run(spec) == 2


def test_tables_with_many_classes_are_data_enough(tmp_path):
    # A run that is resumed may have none but these left.
    jobs = [Job("classes", {"dataset": "yeast_site", "method": "mesa"})]
    with pytest.raises(FileNotFoundError, match="yeast_site"):
        _runner._check_some_data(jobs, str(tmp_path))
    (tmp_path / "classes").mkdir()
    pd.DataFrame({"a": [1.0, 2.0], "target": ["x", "y"]}).to_parquet(
        tmp_path / "classes" / "yeast_site.parquet"
    )
    _runner._check_some_data(jobs, str(tmp_path))
