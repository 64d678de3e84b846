"""The fits whose results are recorded: every preset, every ensemble, every kind of input.

The file is run twice: once with the code whose results are to be kept, to record them
(``python tests/golden/cases.py``, followed by names to record only these cases), and by
`test_golden.py` ever after.
"""

import sys
import tempfile
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import lightgbm
import numpy as np
from parted import make_frame, make_hist, make_towns, write_parquet
from rounding import GOLDEN, rounding
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from metasampler import MesaClassifier, MetaSampler, ensemble
from metasampler.datasets import ParquetRows
from metasampler.ensemble.teams import Boosters
from metasampler.meta import FitToConstants, SoftActorCritic
from metasampler.policy import ConstantPolicy
from metasampler_bench import ensemble as bench


def split(X, y, seed=0):
    """Return training rows, test rows and labels of both."""
    return train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)


def many():
    """Return two classes with enough positives for rivals."""
    return split(*make_classification(4000, 12, weights=[0.92], flip_y=0.02, random_state=0))


def few():
    """Return two classes with so few positives that training rows are held out in turn."""
    return split(*make_classification(900, 8, weights=[0.95], flip_y=0.01, random_state=1))


def three():
    """Return three classes."""
    X, y = make_classification(
        1500, 10, n_informative=5, n_classes=3, weights=[0.75, 0.18], random_state=2
    )
    return split(X, np.array(["a", "b", "c"])[y])


def digits():
    """Return real data: the eights among the digits, labelled so that they sort first."""
    X, y = load_digits(return_X_y=True)
    return split(X, np.where(y == 8, "eight", "other"))


def weights_for(y):
    """Return weights of the rows, some of them zero."""
    return np.random.default_rng(3).integers(0, 4, len(y)) * 0.5


def result(clf, X_test) -> dict[str, np.ndarray]:
    """Return all numbers of a fitted classifier that are compared."""
    numbers = {"proba": clf.predict_proba(X_test)[:250]}
    labels = clf.predict(X_test)
    numbers["labels"] = np.searchsorted(clf.classes_, labels)
    for name in ("actions_", "scores_", "states_", "threshold_"):
        if hasattr(clf, name):
            numbers[name] = np.asarray(getattr(clf, name))
    return numbers


def fit(data, clf, weights=False):
    """Return the numbers of one classifier on one table."""
    X, X_test, y, _ = data
    options = {"sample_weight": weights_for(y)} if weights else {}
    return result(clf.fit(X, y, **options), X_test)


def first_release(preset):
    """Return what the presets of the first release set, when all members were trees."""
    if preset == "paper":
        return MesaClassifier.from_preset("paper").get_params(deep=False)
    trees = [
        DecisionTreeClassifier(criterion="entropy", max_features="sqrt", min_samples_leaf=2),
        ExtraTreeClassifier(criterion="entropy", max_features=0.5),
    ]
    if preset == "fast":
        fast = {"n_estimators": 12, "validation_fraction": None, "meta_sampler": 0.9}
        return {"estimator": trees, **fast}
    return {"estimator": trees, "n_estimators": 50, "validation_fraction": 0.2}


def mesa(preset="default", **settings):
    """Return a classifier with a fixed seed."""
    return MesaClassifier(**{**first_release(preset), "random_state": 0, **settings})


def small_sac(**settings):
    """Return a sampler that is meta-trained in a moment."""
    trainer = SoftActorCritic(n_random_steps=45, n_updates=90)
    return MetaSampler(trainer=trainer, random_state=0, **settings)


def frame(library):
    """Return the numeric table as a data frame."""
    X, X_test, y, _ = many()
    names = [f"column {number}" for number in range(X.shape[1])]
    if library == "pandas":
        import pandas

        return pandas.DataFrame(X, columns=names), pandas.DataFrame(X_test, columns=names), y, None
    import polars

    return polars.DataFrame(X, names), polars.DataFrame(X_test, names), y, None


def with_validation_rows():
    X, X_test, y, _ = many()
    X, X_val, y, y_val = split(X, y, seed=1)
    return result(mesa().fit(X, y, X_val=X_val, y_val=y_val), X_test)


def warm_start():
    X, X_test, y, _ = many()
    clf = mesa(n_estimators=12, refit=False, warm_start=True).fit(X, y)
    return result(clf.set_params(n_estimators=17).fit(X, y), X_test)


def meta_trained(**settings):
    X, X_test, y, _ = many()
    sampler = small_sac(**settings).fit(X, y)
    numbers = result(mesa("paper", meta_sampler=sampler).fit(X, y), X_test)
    return {**numbers, "policy": sampler.policy_.parameters}


def meta_trained_on_tasks(trainer):
    X, X_test, y, _ = many()
    sampler = MetaSampler(trainer=trainer, state="summary", mu_min=0.3, random_state=0)
    sampler.fit_tasks([(X, y), (three()[0], three()[2]), (few()[0], few()[2])])
    numbers = result(mesa(meta_sampler=sampler, n_estimators=12).fit(X, y), X_test)
    return {**numbers, "policy": sampler.policy_.parameters}


# ---------------------------------------------------------------------- teams


class Rows(NamedTuple):
    """Mixed columns, labels and weights, of which the last rows are those to predict."""

    n_rows: int = 2000
    n_classes: int = 2
    rare: float = 0.12
    weighted: bool = False
    n_towns: int = 0

    def frames(self):
        """Return the frame of training rows, and the columns of the rows to predict."""
        frame = make_frame(self.n_rows + 250, self.n_classes, self.rare)
        if self.n_towns:
            frame["x5"] = make_towns(frame["label"], self.n_towns)
        test = frame.iloc[self.n_rows :].drop(columns=["label", "weight"])
        return frame.iloc[: self.n_rows].reset_index(drop=True), test


class TeamCase(NamedTuple):
    """A fit of rows that may be in memory, in files or on a cluster."""

    clf: Callable
    rows: Rows

    def in_memory(self):
        """Return the numbers of the fit in memory."""
        frame, test = self.rows.frames()
        X = frame.drop(columns=["label", "weight"])
        options = {"sample_weight": frame["weight"]} if self.rows.weighted else {}
        return team_result(self.clf().fit(X, frame["label"], **options), test)

    @property
    def columns(self):
        """The names of the columns of labels and weights, for rows that are not in memory."""
        return {"label": "label", "weight": "weight" if self.rows.weighted else None}

    def kept(self, frame):
        """Return a frame without the weights that are not asked for."""
        return frame if self.rows.weighted else frame.drop(columns="weight")

    def in_files(self, n_files=4):
        """Return the numbers of the fit on Parquet files."""
        frame, test = self.rows.frames()
        with tempfile.TemporaryDirectory() as folder:
            write_parquet(self.kept(frame), Path(folder), n_files)
            clf = self.clf().fit(ParquetRows(folder, **self.columns))
        return team_result(clf, test)

    def on_cluster(self, client, n_partitions=3):
        """Return the numbers of the fit on a Dask cluster, but for rows that stay there."""
        import dask.dataframe as dd

        from metasampler.distributed import DaskMesaClassifier

        frame, test = self.rows.frames()
        rows = dd.from_pandas(self.kept(frame), npartitions=n_partitions)
        clf = DaskMesaClassifier(self.clf(), client=client, **self.columns).fit(rows)
        return team_result(clf.to_local(), test)


def team_result(clf, X_test):
    """Return all numbers that are compared of an ensemble that may have teams."""
    numbers = result(clf, X_test)
    if getattr(clf, "signal_", None) is not None:
        numbers["signal_"] = np.float64(clf.signal_)
    numbers["held_out_scores_"] = np.array(list(clf.held_out_scores_.values()))
    # What each member was trained on, in a few bytes.
    samples = clf.estimators_samples_
    if samples[0] is not None:
        codes = [zlib.crc32(np.asarray(rows, dtype=np.int64)) for rows in samples]
        numbers["samples"] = np.array(codes, dtype=np.uint32)
    return numbers


def preset(name="default", **settings):
    """Return a preset with a fixed seed."""
    return MesaClassifier.from_preset(name, **{"random_state": 0, **settings})


def boosters_sampler():
    """Return a sampler for boosters, meta-trained in a moment."""
    return MetaSampler(
        Boosters("fast"),
        n_estimators=3,
        state="signal",
        hidden_layer_sizes=(),
        trainer=FitToConstants(n_sweeps=1, n_constants=3),
        random_state=0,
    ).fit(*many()[::2])


trees = first_release("default")["estimator"]

#: Presets, members of the user's own and samplers, on rows with columns of any kind.
TEAMS: dict[str, TeamCase] = {
    "teams": TeamCase(preset, Rows()),
    "teams, weights": TeamCase(preset, Rows(weighted=True)),
    "teams, sharp trees": TeamCase(lambda: preset(n_estimators=21), Rows(1500, rare=0.06)),
    "teams, many levels": TeamCase(preset, Rows(n_towns=120)),
    "teams, fast, many levels": TeamCase(lambda: preset("fast"), Rows(n_towns=120, weighted=True)),
    "teams, few positives": TeamCase(lambda: preset(n_estimators=6), Rows(600, rare=0.03)),
    "teams, three classes": TeamCase(lambda: preset(n_estimators=16), Rows(n_classes=3)),
    "teams, three classes, weights": TeamCase(
        lambda: preset("fast", n_estimators=4), Rows(n_classes=3, weighted=True)
    ),
    "teams, fast": TeamCase(lambda: preset("fast"), Rows()),
    "teams, fast, few positives": TeamCase(lambda: preset("fast"), Rows(600, rare=0.03)),
    "teams, best": TeamCase(lambda: preset("best", n_estimators=79), Rows(weighted=True)),
    "teams, rows a member": TeamCase(lambda: preset("fast", max_rows=90), Rows(weighted=True)),
    "teams, two samples": TeamCase(
        lambda: preset("fast", sampling_ratio=0.7, n_jobs=2, threshold=("recall", 0.8)), Rows()
    ),
    "teams, constant": TeamCase(lambda: preset(n_estimators=9, meta_sampler=0.7), Rows()),
    "teams, no hold-out": TeamCase(
        lambda: preset(n_estimators=9, validation_fraction=None), Rows()
    ),
    "teams, sampler": TeamCase(
        lambda: preset(n_estimators=9, meta_sampler=boosters_sampler()), Rows()
    ),
    "teams, meta-trained": TeamCase(
        lambda: preset(n_estimators=21, meta_sampler=small_sac()), Rows(1200)
    ),
    "own members, boosters": TeamCase(
        lambda: preset(
            estimator=lightgbm.LGBMClassifier(n_estimators=9, verbose=-1), n_estimators=5
        ),
        Rows(1500, weighted=True),
    ),
    "own members, histograms": TeamCase(
        lambda: preset(estimator=make_hist(), n_estimators=3, meta_sampler=0.9), Rows(1500)
    ),
    "own members, sampler": TeamCase(
        lambda: preset(estimator=trees, n_estimators=6, meta_sampler=small_sac()), Rows(1500)
    ),
    "own members, three classes": TeamCase(
        lambda: preset(estimator=trees, n_estimators=4), Rows(n_classes=3, weighted=True)
    ),
    "self-paced, mixed columns": TeamCase(
        lambda: ensemble.SelfPacedEnsembleClassifier(n_estimators=5, random_state=0),
        Rows(1500, weighted=True),
    ),
    "cascade, mixed columns": TeamCase(
        lambda: ensemble.BalanceCascadeClassifier(n_estimators=5, random_state=0), Rows(1500)
    ),
}

#: What is compared with fits on files and on a cluster besides; the others take longer there.
IN_FILES = [
    "teams, weights",
    "teams, sharp trees",
    "teams, three classes",
    "teams, three classes, weights",
    "teams, fast",
    "teams, many levels",
    "teams, fast, many levels",
    "teams, fast, few positives",
    "teams, rows a member",
    "teams, no hold-out",
    "own members, boosters",
    "own members, three classes",
    "self-paced, mixed columns",
    "cascade, mixed columns",
]
ON_CLUSTER = [
    "teams, fast",
    "teams, many levels",
    "teams, three classes, weights",
    "self-paced, mixed columns",
]


def nine():
    """Return nine classes of different sizes."""
    shares = 0.75 ** np.arange(9)
    X, y = make_classification(
        2500,
        12,
        n_informative=8,
        n_classes=9,
        n_clusters_per_class=1,
        weights=list(shares / shares.sum()),
        random_state=4,
    )
    return split(X, y)


CASES: dict[str, Callable[[], dict[str, np.ndarray]]] = {
    "default": lambda: fit(many(), mesa()),
    "default, few positives": lambda: fit(few(), mesa()),
    "default, three classes": lambda: fit(three(), mesa()),
    "default, digits": lambda: fit(digits(), mesa()),
    "default, weights": lambda: fit(many(), mesa(), weights=True),
    "default, weights, three classes": lambda: fit(three(), mesa(), weights=True),
    "default, pandas": lambda: fit(frame("pandas"), mesa()),
    "default, polars": lambda: fit(frame("polars"), mesa()),
    "default, validation rows": with_validation_rows,
    "default, five members": lambda: fit(many(), mesa(n_estimators=5)),
    "default, warm start": warm_start,
    "default, threads": lambda: fit(many(), mesa(n_jobs=2)),
    "fast": lambda: fit(many(), mesa("fast")),
    "fast, three classes": lambda: fit(three(), mesa("fast")),
    "fast, weights": lambda: fit(few(), mesa("fast"), weights=True),
    "paper": lambda: fit(many(), mesa("paper", meta_sampler=small_sac())),
    "paper, three classes": lambda: fit(
        three(), mesa("paper", meta_sampler=small_sac(), threshold=None)
    ),
    "paper, thinned": lambda: meta_trained(train_ratio=0.4, state="class-wise"),
    "sampler, tasks": lambda: meta_trained_on_tasks(
        SoftActorCritic(n_random_steps=30, n_updates=60, scale_tasks=True)
    ),
    "sampler, constants": lambda: meta_trained_on_tasks(FitToConstants(n_sweeps=2)),
    "sampler alone": lambda: fit(many(), mesa(meta_sampler=MetaSampler.load("universal"))),
    "constant": lambda: fit(many(), mesa(meta_sampler=ConstantPolicy(0.7, sigma=0.3))),
    "random": lambda: fit(many(), mesa(meta_sampler="random")),
    "threshold": lambda: fit(many(), mesa(threshold=("recall", 0.9), calibration="sigmoid")),
    "roc_auc": lambda: fit(digits(), mesa(scoring="roc_auc", sampling_ratio=2.0)),
    "logistic": lambda: fit(
        few(), mesa(estimator=LogisticRegression(), n_estimators=12, meta_sampler=0.6)
    ),
    "forest": lambda: fit(
        few(),
        mesa(estimator=RandomForestClassifier(5), n_estimators=8, meta_sampler=0.6),
    ),
    "kinds": lambda: fit(
        few(),
        mesa(estimator=[LogisticRegression(), DecisionTreeClassifier()], n_estimators=8),
    ),
    **{
        f"{name}, {data.__name__}": lambda package=package, name=name, data=data: fit(
            data(), getattr(package, name)(random_state=0)
        )
        for package in (ensemble, bench)
        for name in package.__all__
        # AdaC2 came after the record; its test computes the algorithm by hand.
        if name not in ("MesaClassifier", "AdaC2Classifier")
        for data in (few, three)
    },
    "self-paced, refitted": lambda: fit(
        many(),
        ensemble.SelfPacedEnsembleClassifier(
            validation_fraction=0.2, refit=True, leaf_smoothing=1.0, random_state=0
        ),
    ),
    "cascade, refitted": lambda: fit(
        few(),
        ensemble.BalanceCascadeClassifier(validation_fraction=0.2, refit=True, random_state=0),
        weights=True,
    ),
    **{name: case.in_memory for name, case in TEAMS.items()},
    "nine classes": lambda: fit(nine(), mesa(n_estimators=12)),
    "nine classes, weights": lambda: fit(nine(), mesa(n_estimators=8), weights=True),
    "nine classes, constant": lambda: fit(nine(), mesa(n_estimators=8, meta_sampler=0.6)),
    "under-bagging, validated, threads": lambda: fit(
        few(),
        ensemble.UnderBaggingClassifier(
            validation_fraction=0.2, refit=True, n_jobs=2, random_state=0
        ),
    ),
}


def run(name: str) -> dict[str, np.ndarray]:
    """Return the numbers of one case."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CASES[name]()


def versions() -> list[str]:
    """Return the versions of the packages that results depend on."""
    import scipy
    import sklearn

    return [np.__version__, scipy.__version__, sklearn.__version__, lightgbm.__version__]


def record(names) -> None:
    """Write the numbers of some cases; what is recorded of the others stays."""
    arrays = {}
    if GOLDEN.exists():
        with np.load(GOLDEN, allow_pickle=False) as known:
            arrays = {key: value for key, value in known.items() if key.split("/")[0] in CASES}
    arrays = {key: value for key, value in arrays.items() if key.split("/")[0] not in names}
    arrays |= {"versions": np.array(versions()), "rounding": rounding()}
    for name in names:
        print(name, file=sys.stderr)
        arrays |= {f"{name}/{part}": value for part, value in run(name).items()}
    np.savez_compressed(GOLDEN, **arrays)


if __name__ == "__main__":
    record(sys.argv[1:] or list(CASES))
