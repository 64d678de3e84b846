"""Fuzz fits: any table, labels, weights and parameters give an ensemble or a clear error."""

import warnings

import numpy as np
from hypothesis import strategies as st
from lightgbm import LGBMClassifier
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from fuzzing.outcomes import FINE, Finding, judge_error
from fuzzing.tables import LABEL_KINDS, WEIGHT_KINDS, codes_of, tables
from metasampler import MesaClassifier, MetaSampler
from metasampler.ensemble import (
    BalanceCascadeClassifier,
    EasyEnsembleClassifier,
    SelfPacedEnsembleClassifier,
    UnderBaggingClassifier,
)
from metasampler.meta import FitToConstants, SoftActorCritic
from metasampler.policy import ConstantPolicy

ENSEMBLES = [
    *(MesaClassifier, MesaClassifier, MesaClassifier, UnderBaggingClassifier),
    *(SelfPacedEnsembleClassifier, BalanceCascadeClassifier, EasyEnsembleClassifier),
]

ESTIMATORS = {
    "tree": DecisionTreeClassifier(max_depth=3),
    "extra tree": ExtraTreeClassifier(),
    "mix": [DecisionTreeClassifier(max_depth=2), ExtraTreeClassifier()],
    "LightGBM": LGBMClassifier(n_estimators=2, min_child_samples=2, verbose=-1),
    "LightGBM, balanced": LGBMClassifier(n_estimators=2, class_weight="balanced", verbose=-1),
    "naive Bayes": GaussianNB(),
    "logistic": LogisticRegression(),
    "dummy": DummyClassifier(),
    "nothing": [],
    "a class": DecisionTreeClassifier,
    "a text": "slow",
    "fast": "fast",
}

#: Members that say themselves which tables they take.
OWN_RULES = ("naive Bayes", "logistic", "dummy", "LightGBM, balanced")

PARAMETERS = {
    "n_estimators": [1, 2, 3, 0, -1, 1.5, "two", True, None],
    "sampling_ratio": [1.0, 0.1, 3, 1e-300, 1e12, 0, -1, np.nan, np.inf, 10**400, "one"],
    "validation_fraction": [None, 0.2, 0.5, 0.999, 1e-300, 0, 1, -0.1, np.nan, "auto", "half"],
    "threshold": [
        *(None, "balanced", 0.5, 1e-9, "f1", "mcc", ("recall", 0.9), ("precision", 0.5)),
        *(
            ("cost", 10, 1),
            ("cost", 1e308, 1e308),
            ("cost", 10**400, 1),
            ("cost", 1),
            ("recall", 2),
        ),
        *(0, 1, -1, np.nan, "f2", (), [], ["recall", 0.5], True, ("recall", np.nan), object()),
    ],
    "calibration": [None, "auto", "prior", "sigmoid", "isotonic", 3, True],
    "leaf_smoothing": ["auto", 0, 1, 1e308, -1, np.nan, np.inf, "soft", True],
    "refit": ["auto", True, False, "yes", 1, None],
    "scoring": ["average_precision", "roc_auc", "balanced_accuracy", "r2", "no scorer", 3, None],
    "n_jobs": [None, 1, 2, -1, 0, 1.5, "all"],
    "random_state": [None, 0, 2**32 - 1, 2**32, -1, 1.5, "seed", np.random.RandomState(0)],
    "verbose": [0, False, -1, "loud"],
    "meta_sampler": [
        *("universal", 0.9, 0.0, 1, "random", ConstantPolicy(0.3), -0.1, 1.5, np.nan, "nowhere"),
        *(None, object(), [0.9], True),
    ],
    "warm_start": [False, True, "yes"],
}


_seldom = st.integers(0, 3).map(lambda number: number == 3)


@st.composite
def cases(draw, least_rare=1, n_rows=None, estimators=tuple(ESTIMATORS), odd=True):
    """Draw the arguments of a fit: most of it is usual, some of it is not."""
    size = draw(st.integers(2, 60)) if n_rows is None else n_rows
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    n_classes = draw(st.sampled_from([2, 2, 2, 2, 3, 4, 1]))
    share = draw(st.sampled_from([0.05, 0.2, 0.4]))
    codes = codes_of(size, n_classes, max(share, least_rare / size), rng)
    label_kind, weight_kind, validation = "whole", None, None
    if odd and draw(_seldom):
        label_kind = draw(st.sampled_from(list(LABEL_KINDS)))
    if draw(_seldom):
        weight_kind = draw(st.sampled_from(list(WEIGHT_KINDS) if odd else ["random", "wide"]))
    if odd and draw(_seldom):
        validation = draw(st.sampled_from(["same", "other"]))
    X, table_kind = draw(tables(size, odd=draw(_seldom)))
    if odd and hasattr(X, "shape") and size > 4 and draw(st.integers(0, 30)) == 30:
        X = X[: size - 1]
    # Only MESA has teams, for which there are so many rows.
    Ensemble = draw(st.sampled_from(ENSEMBLES)) if n_rows is None else MesaClassifier
    known = [name for name in PARAMETERS if name in Ensemble().get_params()]
    chosen = draw(st.lists(st.sampled_from(known), max_size=3, unique=True))
    settings = {name: draw(st.sampled_from(PARAMETERS[name])) for name in chosen}
    settings.setdefault("n_estimators", 2)
    member = draw(st.sampled_from(list(estimators)))
    return {
        "class": Ensemble,
        "member": member,
        "settings": settings,
        "table": table_kind,
        "labels": label_kind,
        "weights": weight_kind,
        "validation": validation,
        "X": X,
        "y": LABEL_KINDS[label_kind](codes, rng),
        "sample_weight": None if weight_kind is None else WEIGHT_KINDS[weight_kind](size, rng),
    }


#: With enough rows of the smallest class for teams, few or more; most of it is usual.
team_cases = st.one_of(
    *(
        cases(least_rare=rare, n_rows=size, estimators=("fast", "fast", "none"), odd=odd)
        for rare, size in ((25, 160), (80, 300), (210, 700))
        for odd in (False, True)
    )
)


def attempt(case):
    """Fit and predict; return how it ended, or raise a `Finding`."""
    estimator = {**ESTIMATORS, "none": None}[case["member"]]
    X, y, settings = case["X"], case["y"], dict(case["settings"])
    if case["member"] == "none":
        settings.setdefault("n_estimators", 3)
    options = {"sample_weight": case["sample_weight"]}
    if case["validation"] == "same":
        options |= {"X_val": X, "y_val": y}
    elif case["validation"] == "other":
        options |= {"X_val": [[1.0], [2.0]], "y_val": [0, 1]}
    clf = case["class"](estimator, **settings)
    own_rules = case["member"] in OWN_RULES
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # What is documented, and what members say of their own.
        for kind in (UserWarning, DataConversionWarning, ConvergenceWarning, FutureWarning):
            warnings.simplefilter("ignore", kind)
        if own_rules:
            warnings.simplefilter("ignore", RuntimeWarning)
        try:
            clf.fit(X, y, **options)
        except Exception as error:
            kinds = (ValueError, TypeError, FileNotFoundError)
            return judge_error(error, kinds=kinds, at_once=not own_rules, foreign=own_rules)
        try:
            proba, labels = clf.predict_proba(X), clf.predict(X)
        except Exception as error:
            if own_rules and case["table"][0] == "texts":  # which some take in a fit alone
                return judge_error(error, kinds=(ValueError,), foreign=True)
            if own_rules:  # naive Bayes may say NaN of rows it was not trained on
                return judge_error(error, kinds=(ValueError,), words="The member")
            raise Finding(f"fitted, but cannot predict: {error!r}") from error
    _check_answers(clf, X, y, proba, labels, finite=not own_rules)
    return FINE


def _check_answers(clf, X, y, proba, labels, finite):
    if proba.shape != (_n_rows(X), len(clf.classes_)):
        raise Finding(f"probabilities of shape {proba.shape}")
    if finite and not np.isfinite(proba).all():
        raise Finding("probabilities that are not finite")
    if finite and np.abs(proba.sum(axis=1) - 1).max() > 1e-6:
        raise Finding("probabilities that do not sum to 1")
    if not np.isin(labels, clf.classes_).all():
        raise Finding("labels that are none of the classes")
    scores = getattr(clf, "scores_", np.zeros(1))
    if finite and not np.isfinite(scores).all():
        raise Finding(f"scores that are not finite: {scores}")


def _n_rows(X):
    return X.shape[0] if sparse.issparse(X) or hasattr(X, "shape") else len(X)


# ---------------------------------------------------------------------- meta-training

META_PARAMETERS = {
    "n_estimators": [2, 3, 1, 0, 1.5, "two", True],
    "sigma": [0.2, 1e-6, 1e6, 0, -1, np.nan, np.inf, "wide"],
    "mu_min": [0.0, 0.5, 1.0, -0.1, 1.1, np.nan, None],
    "sampling_ratio": PARAMETERS["sampling_ratio"],
    "state": ["all", "majority", "class-wise", "summary", "signal", "none", None, 3],
    "n_bins": [1, 2, 5, 100, 0, -1, 2.5, "five"],
    "hidden_layer_sizes": [(), (3,), (2, 2), [4], (0,), (-1,), (1.5,), "abc", None, 3],
    "trainer": [None, FitToConstants(n_sweeps=1, n_constants=3), "sac", SoftActorCritic, 3],
    "validation_fraction": [0.2, 0.5, 0.999, 1e-300, 0, 1, np.nan, "half", None],
    "train_ratio": [1.0, 0.5, 1e-3, 0, 1.5, np.nan, "all"],
    "scoring": PARAMETERS["scoring"],
    "n_jobs": [None, 1, 0, 1.5, "all"],
    "random_state": PARAMETERS["random_state"],
}


@st.composite
def meta_cases(draw):
    """Draw the arguments of a meta-training."""
    case = draw(cases(estimators=("tree", "extra tree", "mix", "LightGBM", "nothing", "a text")))
    chosen = draw(st.lists(st.sampled_from(list(META_PARAMETERS)), max_size=3, unique=True))
    settings = {name: draw(st.sampled_from(META_PARAMETERS[name])) for name in chosen}
    return {**case, "class": MetaSampler, "settings": settings}


def attempt_meta(case):
    """Meta-train, and choose by what was learned."""
    settings = {"n_estimators": 2, **case["settings"]}
    # The default trainer would take a minute.
    if settings.get("trainer") is None:
        settings["trainer"] = SoftActorCritic(n_random_steps=2, n_updates=2)
    options = {}
    if case["validation"] == "same":
        options = {"X_val": case["X"], "y_val": case["y"]}
    elif case["validation"] == "other":
        options = {"X_val": [[1.0], [2.0]], "y_val": [0, 1]}
    sampler = MetaSampler(ESTIMATORS[case["member"]], **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in (UserWarning, DataConversionWarning, FutureWarning):
            warnings.simplefilter("ignore", kind)
        try:
            sampler.fit(case["X"], case["y"], **options)
        except Exception as error:
            if hasattr(sampler, "policy_"):
                raise Finding(f"half fitted after {error!r}") from error
            return judge_error(error, kinds=(ValueError, TypeError), at_once=True)
    state = np.full(sampler.encoder_.size, 0.1)
    chosen = sampler.choose(state), sampler.sample(state, np.random.default_rng(0))
    if not np.isfinite(chosen).all():
        raise Finding(f"chooses {chosen}")
    if not np.isfinite([entry["valid_score"] for entry in sampler.history_]).all():
        raise Finding("scores that are not finite")
    return FINE


__all__ = ["attempt", "attempt_meta", "cases", "meta_cases", "team_cases"]
