"""The fits whose results are recorded: every preset, every ensemble, every kind of input.

The file is run twice: once with the code whose results are to be kept, to record them
(``python tests/golden/cases.py``), and by `test_golden.py` ever after.
"""

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from metasampler import MesaClassifier, MetaSampler, ensemble
from metasampler.meta import FitToConstants, SoftActorCritic
from metasampler.policy import ConstantPolicy
from metasampler_bench import ensemble as bench

RECORD = Path(__file__).with_name("golden.npz")


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
    learner = SoftActorCritic(n_random_steps=45, n_updates=90)
    return MetaSampler(learner=learner, random_state=0, **settings)


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


def meta_trained_on_tasks(learner):
    X, X_test, y, _ = many()
    sampler = MetaSampler(learner=learner, state="summary", mu_min=0.3, random_state=0)
    sampler.fit_tasks([(X, y), (three()[0], three()[2]), (few()[0], few()[2])])
    numbers = result(mesa(meta_sampler=sampler, n_estimators=12).fit(X, y), X_test)
    return {**numbers, "policy": sampler.policy_.parameters}


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
    "under-bagging, validated, threads": lambda: fit(
        few(),
        ensemble.UnderBaggingClassifier(
            validation_fraction=0.2, refit=True, n_jobs=2, random_state=0
        ),
    ),
}


def rounding() -> np.ndarray:
    """Return numbers whose last bits depend on the processor and on NumPy's version."""
    grid = np.linspace(1e-3, 20, 1 << 9)
    return np.concatenate([np.log(grid), np.exp(-grid), np.tanh(grid)])


def run(name: str) -> dict[str, np.ndarray]:
    """Return the numbers of one case."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CASES[name]()


def record() -> None:
    """Write the numbers of all cases."""
    import scipy
    import sklearn

    arrays = {
        "versions": np.array([np.__version__, scipy.__version__, sklearn.__version__]),
        "rounding": rounding(),
    }
    for name in CASES:
        print(name, file=sys.stderr)
        arrays |= {f"{name}/{part}": value for part, value in run(name).items()}
    np.savez_compressed(RECORD, **arrays)


if __name__ == "__main__":
    record()
