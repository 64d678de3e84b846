"""Fits on a real cluster of processes: the same ensembles, to the last bit, whatever happens."""

import os
import signal
import struct
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from copy import deepcopy
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from parted import assert_same_fit, make_frame, make_hist, make_linear, uneven
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

pytest.importorskip("distributed", reason="the extra dask is not installed")

import dask
import dask.array as da
import dask.dataframe as dd
from dask import delayed
from dask.base import tokenize
from distributed import Client, LocalCluster

from metasampler import MesaClassifier, ensemble
from metasampler.distributed import DaskMesaClassifier
from metasampler.growth import Growth
from metasampler.large import Journal, _cluster, _dask_rows
from metasampler.meta import MetaSampler
from metasampler.persistence.values import from_bytes, to_bytes

pytestmark = [
    # A worker that is killed leaves sockets and processes to the collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:Sending large graph"),
    pytest.mark.filterwarnings("ignore:Creating scratch directories"),
]


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit="2GB"
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


def partitioned(frame, n_parts, *, empty=False):
    """Return a frame as a Dask frame of uneven partitions, with one that has no rows if need be."""
    parts = [frame.iloc[rows] for rows in uneven(len(frame), n_parts)]
    if empty:
        parts.insert(1, frame.iloc[:0])
    return dd.from_delayed([dask.delayed(part) for part in parts], meta=frame.iloc[:0])


def fit_both(frame, clf, client, ddf, weight=None, **options):
    """Return a fit in memory and one on the cluster."""
    X = frame.drop(columns=["label", "weight"], errors="ignore")
    given = {} if weight is None else {"sample_weight": frame["weight"]}
    in_memory = type(clf)(**clf.get_params(deep=False)).fit(X, frame["label"], **given)
    on_cluster = DaskMesaClassifier(clf, client=client, label="label", weight=weight, **options)
    return in_memory, on_cluster.fit(ddf), X


def assert_same(in_memory, on_cluster, X, ddf):
    assert_same_fit(in_memory, on_cluster.to_local(), X)
    proba = on_cluster.predict_proba(ddf)
    assert isinstance(proba, da.Array)
    np.testing.assert_array_equal(proba.compute(), in_memory.predict_proba(X))
    np.testing.assert_array_equal(on_cluster.predict(ddf).compute(), in_memory.predict(X))


# ---------------------------------------------------------------------- the same ensemble


@pytest.mark.parametrize("n_parts", [1, 4, 17])
def test_partitions_do_not_matter(client, n_parts, monkeypatch):
    # As many parts as there are partitions: else so few rows would be joined to two.
    monkeypatch.setattr(_dask_rows, "_PARTITIONS_PER_THREAD", n_parts)
    frame = make_frame().drop(columns="weight")
    ddf = partitioned(frame, n_parts, empty=n_parts == 4)
    # All defaults; with many partitions fewer members, which take less long.
    clf = MesaClassifier(n_estimators=None if n_parts == 4 else 6, random_state=0)
    in_memory, on_cluster, X = fit_both(frame, clf, client, ddf)
    assert_same(in_memory, on_cluster, X, ddf)


CASES = {
    "weights": (MesaClassifier(None, 4, recipe="fast", random_state=0), {}, "weight"),
    "three classes": (
        MesaClassifier(None, 4, recipe="fast", random_state=0),
        {"n_classes": 3},
        None,
    ),
    "few rows": (MesaClassifier(n_estimators=3, random_state=0), {"rare": 0.03}, None),
    "rows a member": (
        MesaClassifier(None, 4, recipe="fast", max_rows=90, random_state=0),
        {},
        "weight",
    ),
    "monotonic": (
        MesaClassifier(None, 8, monotonic_cst={"x0": 1, "x3": -1}, random_state=0),
        {},
        None,
    ),
    "uniform draws": (ensemble.UnderBaggingClassifier(n_estimators=3, random_state=0), {}, None),
    "self-paced": (ensemble.SelfPacedEnsembleClassifier(n_estimators=3, random_state=0), {}, None),
}


KINDS = {
    "cascade": ensemble.BalanceCascadeClassifier(n_estimators=3),
    "easy ensemble": ensemble.EasyEnsembleClassifier(AdaBoostClassifier(n_estimators=8), 3),
    "scikit-learn's boosting": ensemble.SelfPacedEnsembleClassifier(make_hist(), 3),
    "forests": MesaClassifier(RandomForestClassifier(5), 3),
    "boosting, encoded": MesaClassifier(HistGradientBoostingClassifier(max_iter=5), 2),
}


@pytest.mark.parametrize("n_parts", [1, 4, 17])
@pytest.mark.parametrize("name", KINDS)
def test_members_of_any_kind(client, name, n_parts, tmp_path):
    frame = make_frame(1300).drop(columns="weight")
    ddf = partitioned(frame, n_parts)
    clf = KINDS[name].set_params(random_state=0)
    folder = tmp_path if n_parts == 4 else None
    in_memory, on_cluster, X = fit_both(frame, clf, client, ddf, folder=folder)
    np.testing.assert_array_equal(
        on_cluster.predict_proba(ddf).compute(), in_memory.predict_proba(X)
    )
    np.testing.assert_array_equal(in_memory.scores_, on_cluster.to_local().scores_)


def test_members_that_multiply_matrices(client):
    """The last bits depend on how many rows are multiplied at once: that is all that differs."""
    frame = make_frame(1300).drop(columns="weight")
    ddf = partitioned(frame, 4)
    clf = MesaClassifier(make_linear(), 3, random_state=0)
    in_memory, on_cluster, X = fit_both(frame, clf, client, ddf)
    proba = on_cluster.predict_proba(ddf).compute()
    np.testing.assert_allclose(proba, in_memory.predict_proba(X), rtol=1e-12)


def test_labels_belong_to_their_rows(client, tmp_path):
    """Of few columns Dask reads several files as one block, but not of many."""
    frame = make_frame(1200).drop(columns=["weight", "city", "kind"])
    frame = frame.assign(**{f"more{k}": frame["x0"] * k for k in range(60)})
    for number, rows in enumerate(uneven(len(frame), 12)):
        frame.iloc[rows].reset_index(drop=True).to_parquet(tmp_path / f"{number:02}.parquet")
    ddf = dd.read_parquet(tmp_path)
    ddf = ddf.assign(label=ddf["label"].str.upper())
    frame["label"] = frame["label"].str.upper()
    assert len(ddf[["label"]].to_delayed()) < len(ddf.to_delayed())
    clf = MesaClassifier(recipe="fast", random_state=0)
    in_memory, on_cluster, X = fit_both(frame, clf, client, ddf)
    assert_same_fit(in_memory, on_cluster.to_local(), X)


def some_rows(part):
    return part.iloc[: np.random.default_rng().integers(10, len(part))]


def test_partitions_that_change_are_refused(client):
    frame = make_frame(1300).drop(columns="weight")
    ddf = partitioned(frame, 2).map_partitions(some_rows, meta=frame.iloc[:0])
    with pytest.raises(ValueError, match="partitions must be the same whenever they are computed"):
        DaskMesaClassifier(client=client, label="label").fit(ddf)


@pytest.mark.parametrize("name", CASES)
def test_all_that_a_fit_can_be(client, name, tmp_path):
    clf, options, weight = CASES[name]
    frame = make_frame(**options)
    if weight is None:
        frame = frame.drop(columns="weight")
    ddf = partitioned(frame, 4)
    # The tables of one case are in files that the workers share.
    folder = tmp_path if name == "weights" else None
    in_memory, on_cluster, X = fit_both(frame, clf, client, ddf, weight, folder=folder)
    np.testing.assert_array_equal(
        on_cluster.predict_proba(ddf).compute(), in_memory.predict_proba(X)
    )
    assert list(tmp_path.iterdir()) == []


def test_arrays(client):
    frame = make_frame()
    X, y = frame[[f"x{k}" for k in range(6)]].to_numpy(), (frame["label"] == "yes").to_numpy()
    weights = frame["weight"].to_numpy()
    arrays = [da.from_array(X, chunks=(700, 3)), da.from_array(y, chunks=1000)]
    clf = MesaClassifier(recipe="fast", random_state=0)
    in_memory = MesaClassifier(recipe="fast", random_state=0).fit(X, y, sample_weight=weights)
    on_cluster = DaskMesaClassifier(clf, client=client)
    on_cluster.fit(*arrays, sample_weight=da.from_array(weights, chunks=800))
    proba = on_cluster.predict_proba(arrays[0])
    assert proba.chunks[0] == arrays[0].chunks[0]
    np.testing.assert_array_equal(proba.compute(), in_memory.predict_proba(X))


def test_one_class_against_the_rest(client):
    frame = make_frame(n_classes=3)
    rare = frame["label"].value_counts().index[-1]
    clf = MesaClassifier(recipe="fast", positive=rare, random_state=0)
    ddf = partitioned(frame.drop(columns="weight"), 5, empty=True)
    in_memory, on_cluster, X = fit_both(frame, clf, client, ddf)
    assert on_cluster.classes_.tolist() == [False, True]
    assert_same(in_memory, on_cluster, X, ddf)
    clf.set_params(positive="nobody")
    with pytest.raises(ValueError, match="no row of class positive='nobody'"):
        DaskMesaClassifier(clf, client=client, label="label").fit(ddf)


def test_arrays_of_whole_numbers(client):
    """Members that take tables as they are get them; LightGBM has its own way with them."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 50, (1500, 5)).astype(np.int16)
    y = X[:, 0] + rng.integers(0, 20, 1500) > 60
    kinds = [RandomForestClassifier(5), LGBMClassifier(n_estimators=5, verbose=-1)]
    in_memory = MesaClassifier(kinds, 4, random_state=0).fit(X, y)
    arrays = [da.from_array(array, chunks=400) for array in (X, y)]
    clf = MesaClassifier(kinds, 4, random_state=0)
    proba = DaskMesaClassifier(clf, client=client).fit(*arrays).predict_proba(arrays[0])
    np.testing.assert_array_equal(proba.compute(), in_memory.predict_proba(X))


# ---------------------------------------------------------------------- what may go wrong


def kill_worker(client):
    """End a worker as the system does that has no memory left."""
    address, pid = next(iter(client.run(os.getpid).items()))
    assert address
    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(("n_kills", "in_files"), [(1, False), (2, False), (2, True)])
def test_a_lost_worker_changes_nothing(client, monkeypatch, tmp_path, n_kills, in_files):
    monkeypatch.setattr(_cluster, "_LARGE", 0)
    monkeypatch.setattr(_dask_rows, "_PARTITIONS_PER_THREAD", 2)
    frame = make_frame().drop(columns="weight")
    ddf = partitioned(frame, 4)
    clf = MesaClassifier(n_estimators=5, random_state=0)
    X = frame.drop(columns="label")
    in_memory = MesaClassifier(n_estimators=5, random_state=0).fit(X, frame["label"])
    added, add = [], Growth.add

    def add_and_kill(self, *args):
        add(self, *args)
        added.append(self)
        if len(added) in (3, 5)[:n_kills]:
            kill_worker(client)

    monkeypatch.setattr(Growth, "add", add_and_kill)
    options = {"timeout": 120, "folder": tmp_path if in_files else None}
    on_cluster = DaskMesaClassifier(clf, client=client, label="label", **options).fit(ddf)
    assert len(added) == len(in_memory.estimators_)
    assert_same_fit(in_memory, on_cluster.to_local(), X)
    assert not list(tmp_path.iterdir())


def test_files_that_nobody_needs_are_removed(client, monkeypatch, tmp_path):
    monkeypatch.setattr(_cluster, "_LARGE", 0)
    frame = make_frame().drop(columns="weight")
    clf = MesaClassifier(n_estimators=12, random_state=0)
    n_files, add = [], Growth.add

    def add_and_count(self, *args):
        add(self, *args)
        if hasattr(getattr(self.data, "backend", None), "folder"):
            n_files.append(len(list(self.data.backend.folder.iterdir())))

    monkeypatch.setattr(Growth, "add", add_and_count)
    in_memory, on_cluster, X = fit_both(frame, clf, client, partitioned(frame, 4), folder=tmp_path)
    assert_same_fit(in_memory, on_cluster.to_local(), X)
    # A member needs ten files or more, and leaves none of them behind.
    assert max(n_files[-6:]) <= max(n_files[:6]) + 6


def test_a_folder_goes_while_a_task_still_writes(client, tmp_path):
    place = _cluster.Cluster(client, 60, tmp_path)
    place.new_paths(1)

    def write(folder):
        end = time.monotonic() + 1
        for number in count():
            if time.monotonic() > end or not folder.exists():
                return number
            with suppress(FileNotFoundError):
                (folder / str(number)).write_bytes(b"0")

    writing = client.submit(write, place.folder)
    while not list(place.folder.iterdir()):
        time.sleep(0.01)
    place.close()
    assert writing.result() > 0
    assert not list(tmp_path.iterdir())


DRIVER = """
import os, sys
sys.path[:0] = [{tests!r}]
import dask.dataframe as dd
from distributed import Client
from metasampler import MesaClassifier
from metasampler.distributed import DaskMesaClassifier
from metasampler.growth import Growth
add, added = Growth.add, []
def add_and_end(self, *args):
    add(self, *args)
    added.append(self)
    if len(added) == 4:
        os._exit(3)
Growth.add = add_and_end
client = Client({address!r})
clf = MesaClassifier(n_estimators=5, random_state=0)
frame = dd.read_parquet({rows!r})
DaskMesaClassifier(clf, client=client, label="label", checkpoint={checkpoint!r}).fit(frame)
"""


def test_a_driver_that_ends_can_go_on(client, cluster, tmp_path, monkeypatch):
    frame = make_frame().drop(columns="weight")
    for number, rows in enumerate(uneven(len(frame), 4)):
        frame.iloc[rows].reset_index(drop=True).to_parquet(tmp_path / f"{number}.parquet")
    checkpoint = tmp_path / "members.checkpoint"
    about = {
        "tests": str(Path(__file__).parent.parent / "helpers"),
        "address": cluster.scheduler_address,
        "rows": str(tmp_path / "*.parquet"),
        "checkpoint": str(checkpoint),
    }
    script = textwrap.dedent(DRIVER.format(**about))
    ended = subprocess.run([sys.executable, "-c", script], timeout=300, capture_output=True)
    assert ended.returncode == 3, ended.stderr.decode()[-2000:]
    # As if it had ended while it wrote the next one.
    with open(checkpoint, "ab") as file:
        file.write(struct.pack("<QI", 1000, 0) + bytes(500))
    X = frame.drop(columns="label")
    in_memory = MesaClassifier(n_estimators=5, random_state=0).fit(X, frame["label"])
    fitted, add = [], Journal.add

    def count_and_add(self, key, member):
        fitted.append(key)
        add(self, key, member)

    monkeypatch.setattr(Journal, "add", count_and_add)
    clf = MesaClassifier(n_estimators=5, random_state=0)
    options = {"client": client, "label": "label", "checkpoint": checkpoint}
    ddf = dd.read_parquet(str(tmp_path / "*.parquet"))
    on_cluster = DaskMesaClassifier(clf, **options).fit(ddf)
    assert_same_fit(in_memory, on_cluster.to_local(), X)
    # Of five members four were there already.
    assert len(fitted) == len(in_memory.estimators_) - 4 == 1
    other = MesaClassifier(n_estimators=6, random_state=0)
    with pytest.raises(ValueError, match="is one of another fit"):
        DaskMesaClassifier(other, **options).fit(ddf)
    with pytest.raises(ValueError, match="needs a classifier whose random_state is a number"):
        DaskMesaClassifier(**options).fit(ddf)


def test_a_cascade_that_goes_on_has_its_pools(client, tmp_path, monkeypatch):
    frame = make_frame(1300).drop(columns="weight")
    ddf, X = partitioned(frame, 3), frame.drop(columns="label")
    clf = ensemble.BalanceCascadeClassifier(n_estimators=5, random_state=0)
    in_memory = ensemble.BalanceCascadeClassifier(n_estimators=5, random_state=0)
    in_memory.fit(X, frame["label"])
    fit = DaskMesaClassifier(clf, client=client, label="label", checkpoint=tmp_path / "members")
    add = Growth.add

    def add_and_fail(self, *args):
        add(self, *args)
        if self.n_members == 3:
            raise RuntimeError("the power is cut")

    with monkeypatch.context() as patched:
        patched.setattr(Growth, "add", add_and_fail)
        with pytest.raises(RuntimeError, match="the power is cut"):
            fit.fit(ddf)
    proba = fit.fit(ddf).predict_proba(ddf).compute()
    np.testing.assert_array_equal(proba, in_memory.predict_proba(X))


def test_a_checkpoint_of_other_rows_is_refused(client, tmp_path):
    frame = make_frame(800).drop(columns="weight")
    clf = MesaClassifier(recipe="fast", random_state=0)
    fit = DaskMesaClassifier(clf, client=client, label="label", checkpoint=tmp_path / "members")
    proba = fit.fit(partitioned(frame, 3)).predict_proba(partitioned(frame, 3)).compute()
    # The same rows in other partitions are the same rows.
    again = fit.fit(partitioned(frame, 5)).predict_proba(partitioned(frame, 3)).compute()
    np.testing.assert_array_equal(proba, again)
    frame.loc[5, "x1"] += 1
    with pytest.raises(ValueError, match="is one of other rows"):
        fit.fit(partitioned(frame, 3))


@pytest.mark.parametrize("kind", ["tree", "booster"])
def test_a_checkpoint_of_a_stranger_is_refused(kind, client, tmp_path):
    frame = make_frame(800).drop(columns="weight")
    booster = LGBMClassifier(n_estimators=2, verbose=-1)
    estimator = DecisionTreeClassifier(max_depth=2) if kind == "tree" else booster
    clf = MesaClassifier(estimator, 2, meta_sampler=0.9, refit=False, random_state=0)
    path = tmp_path / "members"
    fit = DaskMesaClassifier(clf, client=client, label="label", checkpoint=path)
    width = fit.fit(partitioned(frame, 3)).to_local().estimators_[0]
    about = f"{clf.get_params()} label None None {list(frame.columns)}"
    honest = Journal(path, about, to_bytes, from_bytes)._entries
    names = [name for name in honest if name != ("rows",)]
    assert names
    _, facts = honest[names[0]]

    def tree_of(n_columns, n_classes):
        rows = np.eye(n_classes, n_columns, dtype=np.float32)
        return DecisionTreeClassifier(max_depth=1).fit(rows, range(n_classes))

    # A tree of many columns would read what is behind the rows.
    for wrong in (
        "not a member",
        (1, 2),
        (width, 2),
        (tree_of(100_000, 2), facts),
        (tree_of(4, 3), facts),
        (LogisticRegression(), facts),
        (width, facts._replace(totals=(np.ones(3), np.ones(3)))),
    ):
        path.unlink()
        journal = Journal(path, about, to_bytes, from_bytes)
        journal.add(("rows",), honest["rows",])
        for name in names:
            journal.add(name, wrong)
        with pytest.raises(ValueError, match="holds what is not a member of this fit"):
            fit.fit(partitioned(frame, 3))


def test_validation_rows_of_their_own(client):
    frame, other = (make_frame(900, seed=seed).drop(columns="weight") for seed in (0, 1))
    X = frame.drop(columns="label")
    apart = {"X_val": other.drop(columns="label"), "y_val": other["label"]}
    in_memory = MesaClassifier(recipe="fast", random_state=0).fit(X, frame["label"], **apart)
    fit = DaskMesaClassifier(
        MesaClassifier(recipe="fast", random_state=0), client=client, label="label"
    )
    fit.fit(partitioned(frame, 3), **apart)
    assert_same_fit(in_memory, fit.to_local(), X)


def test_too_little_memory_is_an_error(tmp_path):
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", memory_limit="400MB"
        ) as small,
        Client(small) as client,
    ):
        X = da.random.default_rng(0).normal(size=(300_000, 60), chunks=(20_000, 60))
        clf = DaskMesaClassifier(MesaClassifier(max_rows=None), client=client)
        with pytest.raises(MemoryError, match=r"rows of one member take about 3\d\d MB"):
            clf.fit(X, X[:, 0] > 1.3)
        clf = DaskMesaClassifier(MesaClassifier(max_rows=2000), client=client)
        X = da.random.default_rng(0).normal(size=(600_000, 60), chunks=(20_000, 60))
        with pytest.raises(MemoryError, match=r"Name a folder that the workers share"):
            clf.fit(X, X[:, 0] > 1.3)


def test_a_cluster_without_workers_is_an_error():
    with (
        LocalCluster(n_workers=0, dashboard_address=":0") as none,
        Client(none) as client,
    ):
        frame = partitioned(make_frame(600).drop(columns="weight"), 2)
        clf = DaskMesaClassifier(client=client, label="label", timeout=3)
        with pytest.raises(TimeoutError, match="Nothing has gone on for 3 seconds"):
            clf.fit(frame)


def end_worker(frame):
    os._exit(1)


def test_a_task_that_ends_its_workers_is_an_error(client):
    frame = make_frame(600).drop(columns="weight")
    parts = [dask.delayed(frame), dask.delayed(end_worker)(frame)]
    ddf = dd.from_delayed(parts, meta=frame.iloc[:0], verify_meta=False)
    clf = DaskMesaClassifier(client=client, label="label", timeout=300)
    with pytest.raises(MemoryError, match="A task ended its worker several times"):
        clf.fit(ddf)


def test_errors_are_clear(client):
    frame = make_frame(600).drop(columns="weight")
    ddf = partitioned(frame, 3)
    with pytest.raises(TypeError, match="must be a Dask data frame or a Dask array, got DataFrame"):
        DaskMesaClassifier(client=client, label="label").fit(frame)
    with pytest.raises(ValueError, match="name the column of the labels"):
        DaskMesaClassifier(client=client).fit(ddf)
    with pytest.raises(ValueError, match="label='target' is not a column"):
        DaskMesaClassifier(client=client, label="target").fit(ddf)
    with pytest.raises(ValueError, match="pass neither y, sample_weight, groups nor time"):
        DaskMesaClassifier(client=client, label="label").fit(ddf, ddf["label"])
    only = partitioned(frame[frame["label"] == "no"], 2)
    with pytest.raises(ValueError, match="only one class, 'no'"):
        DaskMesaClassifier(client=client, label="label").fit(only)
    none = partitioned(frame.iloc[:2], 2).map_partitions(lambda part: part.iloc[:0])
    with pytest.raises(ValueError, match="has no rows"):
        DaskMesaClassifier(client=client, label="label").fit(none)
    X = da.from_array(np.zeros((60, 2)), chunks=(20, 2))
    y = da.from_array(np.arange(60) % 2, chunks=20)
    with pytest.raises(ValueError, match="Call compute_chunk_sizes"):
        DaskMesaClassifier(client=client).fit(X[y == 1], y[y == 1])
    with pytest.raises(ValueError, match="X has 60 rows, but y"):
        DaskMesaClassifier(client=client).fit(X, y[:40])
    with pytest.raises(TypeError, match="y, sample_weight, groups and time must be Dask"):
        DaskMesaClassifier(client=client).fit(X, np.zeros(60))
    broken = dd.from_pandas(pd.DataFrame({"x": [1.0, 2.0], "label": ["a", None]}), npartitions=1)
    with pytest.raises(ValueError, match="Labels are missing in 'label'"):
        DaskMesaClassifier(client=client, label="label").fit(broken)


def test_fits_with_the_same_parameters_are_told_apart(client):
    X, y = make_classification(900, weights=[0.8], random_state=0)
    clf = MesaClassifier.from_preset("fast", random_state=0)
    one, other = clone(clf).fit(X, y), clone(clf).fit(X[300:], y[300:])
    assert tokenize(one) == tokenize(deepcopy(one)) != tokenize(other)
    assert tokenize(clf) != tokenize(one)
    decided = deepcopy(one).set_threshold(0.9)
    assert tokenize(decided) != tokenize(one)
    sampler = MetaSampler(n_estimators=3)
    assert tokenize(sampler) == tokenize(clone(sampler)) != tokenize(MetaSampler(n_estimators=4))
    # Both are asked while the answer of the first is still there.
    rows = da.from_array(X, chunks=(300, 20))
    asked = [client.compute(delayed(each.predict_proba)(rows)) for each in (one, other)]
    for fitted, answer in zip((one, other), client.gather(asked), strict=True):
        np.testing.assert_array_equal(answer, fitted.predict_proba(X))


def test_groups_of_rows_stay_together_as_in_memory(client):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(150), 8)
    X = rng.normal(size=(150, 5))[groups] + 0.3 * rng.normal(size=(1200, 5))
    y = (X[:, 0] + rng.normal(size=150)[groups] > 1.5).astype(int)
    clf = MesaClassifier.from_preset("fast", random_state=0)
    in_memory = clone(clf).fit(X, y, groups=groups)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(label=y, patient=groups)
    settings = {"client": client, "label": "label", "group": "patient"}
    in_frame = DaskMesaClassifier(clf, **settings).fit(partitioned(frame, 5)).to_local()
    table = frame[list("abcde")]
    np.testing.assert_array_equal(in_frame.predict_proba(table), in_memory.predict_proba(X))
    assert in_frame.expected_recall_interval_ == in_memory.expected_recall_interval_
    arrays = [da.from_array(each, chunks=(400, *each.shape[1:])) for each in (X, y, groups)]
    in_arrays = DaskMesaClassifier(clf, client=client)
    in_arrays.fit(*arrays[:2], groups=arrays[2])
    np.testing.assert_array_equal(in_arrays.to_local().predict_proba(X), in_memory.predict_proba(X))
    with pytest.raises(ValueError, match="set label, weight, group and time"):
        DaskMesaClassifier(clf, **settings).fit(partitioned(frame, 5), groups=arrays[2])


@pytest.mark.parametrize("by_group", [False, True], ids=["time", "groups and time"])
def test_newer_rows_judge_as_in_memory(client, by_group):
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(240), 6)
    X = rng.normal(size=(240, 4))[groups] + 0.5 * rng.normal(size=(1440, 4))
    y = np.where(X[:, 0] + rng.normal(size=1440) > 1.5, "yes", "no")
    weight, days = rng.choice([0.0, 1.0, 2.0], 1440), rng.permutation(1440)
    when = pd.Timestamp("2026-01-01") + pd.to_timedelta(days, "h")
    clf = MesaClassifier.from_preset("fast", random_state=0)
    given = {"groups": groups} if by_group else {}
    in_memory = clone(clf).fit(X, y, sample_weight=weight, time=when, **given)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=y, weight=weight, when=when)
    frame = frame.assign(patient=groups) if by_group else frame
    columns = {"label": "label", "weight": "weight", "time": "when"}
    columns |= {"group": "patient"} if by_group else {}
    ddf = partitioned(frame, 4, empty=True)
    on_cluster = DaskMesaClassifier(clf, client=client, **columns).fit(ddf)
    arrays = [da.from_array(each, chunks=(500, *each.shape[1:])) for each in (X, y)]
    options = {"sample_weight": weight, "time": days, **given}
    options = {name: da.from_array(each, chunks=450) for name, each in options.items()}
    in_arrays = DaskMesaClassifier(clf, client=client).fit(*arrays, **options)
    for fitted in (on_cluster.to_local(), in_arrays.to_local()):
        table = frame[list("abcd")] if fitted is on_cluster.to_local() else X
        np.testing.assert_array_equal(fitted.predict_proba(table), in_memory.predict_proba(X))
        assert fitted.threshold_ == in_memory.threshold_
        assert fitted.expected_recall_interval_ == in_memory.expected_recall_interval_
    np.testing.assert_array_equal(on_cluster.to_local().feature_names_in_, list("abcd"))


def test_times_that_a_cluster_cannot_take_are_named(client, tmp_path):
    frame = make_frame().drop(columns="weight").assign(when=1)
    ddf = partitioned(frame, 2)
    settings = {"client": client, "label": "label"}
    with pytest.raises(ValueError, match="time='whenever' is not a column"):
        DaskMesaClassifier(**settings, time="whenever").fit(ddf)
    with pytest.raises(ValueError, match="time cannot split the rows"):
        DaskMesaClassifier(**settings, time="when").fit(ddf)
    clf = MesaClassifier(recipe="fast", random_state=0)
    with pytest.raises(ValueError, match="checkpoint does not go with time"):
        DaskMesaClassifier(clf, **settings, time="when", checkpoint=tmp_path / "c").fit(ddf)
    assert list(tmp_path.iterdir()) == []


def test_cells_are_judged_over_all_partitions(client):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=1000).round(3), "b": rng.normal(size=1000)})
    y = np.where(frame["a"] + rng.normal(size=1000) > 1.5, "yes", "no")
    ddf = partitioned(frame.assign(label=y), 4)
    clf = MesaClassifier(recipe="fast", random_state=0)
    on_cluster = DaskMesaClassifier(clf, client=client, label="label").fit(ddf)
    local = on_cluster.to_local()
    # A twentieth of all, but a fifth of one partition.
    texts = frame.assign(a=[f"{a:.3f}".replace(".", ",") for a in frame["a"]])
    texts.loc[:49, "a"] = "x1"
    with pytest.warns(UserWarning, match="50 of 1,000 cells are not numbers, .* 'x1' in row 1"):
        in_memory = local.predict_proba(texts)
    ddf = dd.from_pandas(texts, npartitions=8)
    np.testing.assert_array_equal(on_cluster.predict_proba(ddf).compute(), in_memory)
    assert on_cluster.predict(ddf).compute().shape == (1000,)
    texts.loc[:150, "a"] = "x1"
    with pytest.raises(ValueError, match="151 of 1,000 cells are not numbers"):
        on_cluster.predict(dd.from_pandas(texts, npartitions=8)).compute()
