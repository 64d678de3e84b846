"""What holds for every fit: when it is refused, when it is interrupted, when it is stored."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from tree_mesa import tree_mesa

from metasampler import MesaClassifier, ensemble
from metasampler.ensemble import UnderBaggingClassifier
from metasampler.policy import ConstantPolicy, WithRivals, load_policy


class Recording(GaussianNB):
    """Counts the fits of all its copies, and is interrupted in the fit with a given number."""

    fits = 0
    interrupted_in = None

    def fit(self, X, y, sample_weight=None):
        if type(self).fits == self.interrupted_in:
            raise KeyboardInterrupt
        type(self).fits += 1
        return super().fit(X, y, sample_weight)


@pytest.fixture
def recording(monkeypatch):
    """A base estimator that has not been fitted yet."""
    monkeypatch.setattr(Recording, "fits", 0)
    monkeypatch.setattr(Recording, "interrupted_in", None)
    return Recording()


# --------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"threshold": "f1"}, "threshold='f1' is tuned on validation rows: pass X_val and y_val"),
        ({"threshold": ("recall", 0.9)}, r"threshold=\('recall', 0.9\) is tuned on validation"),
        ({"calibration": "sigmoid"}, "calibration='sigmoid' is fitted on validation rows"),
        ({"refit": True}, "refit=True gives back validation rows"),
    ],
    ids=str,
)
def test_what_needs_held_out_rows_is_refused_before_any_fit(
    imbalanced, Ensemble, recording, options, words
):
    clf = Ensemble(recording, 3, validation_fraction=None, **options)
    with pytest.raises(ValueError, match=words):
        clf.fit(*imbalanced)
    assert Recording.fits == 0
    # Rows of their own are as good as those held out.
    X, y = imbalanced
    clf.fit(X[:400], y[:400], X_val=X[400:], y_val=y[400:])
    assert Recording.fits >= 3


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"threshold": "f2"}, ValueError),
        ({"threshold": 1.5}, ValueError),
        ({"calibration": "isotonic"}, ValueError),
        ({"scoring": "no_such_score"}, ValueError),
        ({"leaf_smoothing": 1.0}, ValueError),
        ({"sampling_ratio": -1.0}, ValueError),
        ({"refit": "always"}, ValueError),
    ],
    ids=str,
)
def test_bad_settings_are_refused_before_any_fit(imbalanced, Ensemble, recording, options, error):
    with pytest.raises(error):
        Ensemble(recording, 3, **{"validation_fraction": 0.3, **options}).fit(*imbalanced)
    assert Recording.fits == 0


@pytest.mark.parametrize(
    "sampler",
    [
        "fit",
        "mammography",
        load_policy("universal"),
        WithRivals(ConstantPolicy(0.9), rivals=(0.3,)),
        WithRivals(load_policy("universal")),
    ],
    ids=repr,
)
def test_policies_that_read_validation_rows_are_refused_before_any_fit(
    imbalanced, recording, sampler
):
    clf = tree_mesa(recording, 3, meta_sampler=sampler, validation_fraction=None)
    with pytest.raises(ValueError, match="reads errors of validation rows: pass X_val and y_val"):
        clf.fit(*imbalanced)
    assert Recording.fits == 0


@pytest.mark.parametrize("sampler", [1.5, "no-such-sampler", np.ones(3), True], ids=repr)
def test_samplers_that_are_none_are_refused_before_any_fit(imbalanced, recording, sampler):
    with pytest.raises((ValueError, TypeError, FileNotFoundError)):
        tree_mesa(recording, 3, meta_sampler=sampler).fit(*imbalanced)
    assert Recording.fits == 0


def test_a_fitted_sampler_that_cannot_be_used_is_refused_before_any_fit(
    imbalanced, short_sampler, recording
):
    X, y = imbalanced
    sampler = short_sampler().fit(X, y)
    clf = tree_mesa(recording, 3, meta_sampler=sampler, validation_fraction=None)
    with pytest.raises(ValueError, match="reads errors of validation rows"):
        clf.fit(X, y)
    # One that would have to be meta-trained first cannot be either.
    with pytest.raises(ValueError, match="reads errors of validation rows"):
        clf.set_params(meta_sampler=short_sampler()).fit(X, y)
    assert Recording.fits == 0


@pytest.mark.parametrize("Ensemble", [tree_mesa, UnderBaggingClassifier])
def test_a_warm_start_that_cannot_go_on_is_refused_before_any_fit(imbalanced, Ensemble, recording):
    X, y = imbalanced
    options = {"validation_fraction": 0.3, "random_state": 0}
    with pytest.raises(ValueError, match="refit=True replaces the members"):
        Ensemble(recording, 3, refit=True, warm_start=True, **options).fit(X, y)
    assert Recording.fits == 0
    clf = Ensemble(recording, 3, warm_start=True, **options).fit(X, y)
    for change in ({"n_estimators": 2}, {"scoring": "roc_auc"}, {"validation_fraction": 0.2}):
        with pytest.raises(ValueError, match="warm_start=True"):
            clone_of(clf).set_params(**change).fit(X, y)
    with pytest.raises(ValueError, match="the number of rows"):
        clone_of(clf).fit(X[:500], y[:500])
    assert Recording.fits == 3


def clone_of(fitted):
    return pickle.loads(pickle.dumps(fitted))


# --------------------------------------------------------------------------- interrupts


def state_of(clf):
    """Everything a fitted ensemble has, in a form that compares."""
    return {
        name: pickle.dumps(value) for name, value in vars(clf).items() if name != "n_estimators"
    }


def assert_same_fit(a, b, X):
    assert len(a.estimators_) == len(b.estimators_)
    for mine, other in zip(a.estimators_samples_, b.estimators_samples_, strict=True):
        assert_array_equal(mine, other)
    for name in ("scores_", "actions_", "states_"):
        if hasattr(a, name):
            assert_array_equal(getattr(a, name), getattr(b, name))
    assert str(a.summary()) == str(b.summary())
    assert_array_equal(a.predict_proba(X), b.predict_proba(X))
    assert_array_equal(a.predict(X), b.predict(X))


@pytest.mark.parametrize("first", [1, 4])
@pytest.mark.parametrize("after", [0, 1, 9])
@pytest.mark.parametrize(
    "sampler",
    [0.8, "random", "universal", WithRivals(ConstantPolicy(0.1), rivals=(0.5, 0.9)), None],
    ids=repr,
)
def test_an_interrupted_warm_start_changes_nothing(imbalanced, recording, sampler, first, after):
    X, y = imbalanced
    options = {"validation_fraction": 0.3, "random_state": 0}
    Ensemble = UnderBaggingClassifier if sampler is None else tree_mesa
    if sampler is not None:
        options |= {"meta_sampler": sampler, "refit": False}
    longer = Ensemble(recording, 14, **options).fit(X, y)
    clf = Ensemble(recording, first, warm_start=True, **options).fit(X, y)
    before, proba = state_of(clf), clf.predict_proba(X)

    clf.set_params(n_estimators=14)
    Recording.interrupted_in = Recording.fits + after
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    assert state_of(clf) == before
    assert len(clf.estimators_) == len(clf.estimators_samples_) == len(clf.scores_) == first
    assert len(clf.summary().rows) == first
    if sampler is not None:
        assert len(clf.actions_) == first - 1
    assert_array_equal(clf.predict_proba(X), proba)

    Recording.interrupted_in = None
    clf.fit(X, y)
    assert len(clf.estimators_) == len(clf.scores_) == 14
    if sampler is not None:
        assert len(clf.actions_) == len(clf.states_) == 13
        assert (clf.rival_, clf.rivals_) == (longer.rival_, longer.rivals_)
    assert_same_fit(clf, longer, X)


def test_an_interrupted_first_fit_leaves_no_half_ensemble(imbalanced, Ensemble, recording):
    clf = Ensemble(recording, 6, random_state=0)
    Recording.interrupted_in = 3
    with pytest.raises(KeyboardInterrupt):
        clf.fit(*imbalanced)
    assert not any(hasattr(clf, name) for name in ("estimators_", "classes_", "calibration_"))
    Recording.interrupted_in = None
    again = clf.fit(*imbalanced).predict_proba(imbalanced[0])
    fresh = clone(clf).fit(*imbalanced).predict_proba(imbalanced[0])
    assert_array_equal(again, fresh)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_columns_of_a_fit_that_failed_are_forgotten(imbalanced, Ensemble, recording, error):
    X, y = imbalanced
    frame = pd.DataFrame(X, columns=[f"x{number}" for number in range(X.shape[1])])
    clf = Ensemble(recording, 3, random_state=0).fit(frame, y)
    proba = clf.predict_proba(frame)
    labels = y if error is KeyboardInterrupt else np.zeros(len(y))
    Recording.interrupted_in = Recording.fits
    with pytest.raises(error):
        clf.fit(frame[["x1", "x0"]].rename(columns={"x1": "other"}), labels)
    assert list(clf.feature_names_in_) == list(frame)
    assert_array_equal(clf.predict_proba(frame), proba)


@pytest.mark.parametrize("moment", [6, 13], ids=["held out in turn", "refit"])
def test_an_interrupt_after_the_growth_leaves_the_ensemble_of_before(imbalanced, recording, moment):
    X, y = imbalanced
    clf = tree_mesa(recording, 3, refit=True, random_state=0).fit(X, y)
    before = state_of(clf)
    assert Recording.fits == 3 * 6  # with validation rows, four parts, all rows
    Recording.interrupted_in = Recording.fits + moment
    with pytest.raises(KeyboardInterrupt):
        clf.set_params(random_state=1).fit(X, y)
    clf.set_params(random_state=0)
    assert state_of(clf) == before


# --------------------------------------------------------------------------- stored


FITTED = {
    "EasyEnsembleClassifier": {"estimator": AdaBoostClassifier(n_estimators=3)},
}


@pytest.mark.parametrize("name", ensemble.__all__)
@pytest.mark.parametrize("data", ["imbalanced", "three_classes"])
def test_fitted_ensembles_of_every_kind_can_be_stored(name, data, request):
    X, y = request.getfixturevalue(data)
    clf = getattr(ensemble, name)(n_estimators=6, random_state=0, **FITTED.get(name, {})).fit(X, y)
    again = pickle.loads(pickle.dumps(clf))
    assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert_array_equal(again.predict(X), clf.predict(X))


@pytest.mark.parametrize("refit", [False, True])
def test_under_sampling_ensembles_can_be_stored_with_all_they_learned(imbalanced, Ensemble, refit):
    X, y = imbalanced
    clf = Ensemble(
        [DecisionTreeClassifier(), GaussianNB()],
        3,
        validation_fraction=0.3,
        refit=refit,
        threshold="f1",
        random_state=0,
    ).fit(X, y, sample_weight=np.arange(len(y)) % 3)
    again = pickle.loads(pickle.dumps(clf))
    assert_same_fit(again, clf, X)
    assert again.threshold_ == clf.threshold_


@pytest.mark.parametrize("sampler", ["universal", "random", 0.7, "fit", "policy", "rivals"])
def test_a_stored_ensemble_can_be_grown_on(imbalanced, short_sampler, sampler):
    X, y = imbalanced
    given = {
        "fit": short_sampler(),
        "policy": ConstantPolicy(0.4, sigma=0.3),
        "rivals": WithRivals(load_policy("universal"), rivals=(0.2,)),
    }.get(sampler, sampler)
    options = {"meta_sampler": given, "refit": False, "random_state": 0}
    clf = tree_mesa(n_estimators=2, warm_start=True, **options).fit(X, y)
    again = clone_of(clf).set_params(n_estimators=5).fit(X, y)
    assert_same_fit(again, tree_mesa(n_estimators=5, **options).fit(X, y), X)


class Counted(DecisionTreeClassifier):
    """A tree that counts the fits of all of its kind."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        Counted.fits += 1
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize(
    ("positives", "options", "n_fits"),
    [
        (0.1, {}, 10 + 2 * 9 + 10),  # the growth, two rivals, the refit
        (0.02, {}, 10 + 10 + 4 * 10),  # no rivals; the parts that are held out in turn
        (0.1, {"meta_sampler": 0.9, "refit": False}, 10),
    ],
)
def test_what_members_of_your_own_cost(positives, options, n_fits):
    X, y = make_classification(2000, weights=[1 - positives], flip_y=0, random_state=0)
    Counted.fits = 0
    MesaClassifier(Counted(max_depth=2), 10, random_state=0, **options).fit(X, y)
    assert Counted.fits == n_fits
