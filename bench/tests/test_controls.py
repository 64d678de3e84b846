"""The constant that does best on validation rows."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from metasampler import MesaClassifier
from metasampler_bench import SelectedMuClassifier

#: Rows are held out by number: a row of weight 2 is one row, and two rows are not. Rows of weight 0
#: are left out first, and one class of the check then has a single row, which cannot be held out.
WAIVED = {
    f"check_sample_weight_equivalence_on_{kind}_data": "validation rows are held out by number"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [SelectedMuClassifier(n_estimators=2, mus=(0.2, 0.9))],
    expected_failed_checks=lambda estimator: WAIVED,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_selected_mu_is_the_best_constant(imbalanced):
    X, y = imbalanced
    mus = (0.1, 0.5, 0.9)
    clf = SelectedMuClassifier(n_estimators=4, mus=mus, random_state=0).fit(X, y)
    plain = {"estimator": DecisionTreeClassifier(), "leaf_smoothing": 0, "refit": False}
    plain |= {"n_estimators": 4, "random_state": 0, "validation_fraction": 0.2}
    fits = [MesaClassifier(meta_sampler=mu, **plain).fit(X, y) for mu in mus]
    scores = [fitted.scores_[-1] for fitted in fits]
    np.testing.assert_array_equal(clf.validation_scores_, scores)
    best = int(np.argmax(scores))
    assert clf.mu_ == mus[best]
    np.testing.assert_array_equal(clf.predict_proba(X), fits[best].predict_proba(X))
    np.testing.assert_array_equal(clf.actions_, [mus[best]] * 3)
    assert len(list(clf.staged_predict_proba(X))) == 4


def test_selected_mu_with_validation_rows(imbalanced):
    X, y = imbalanced
    clf = SelectedMuClassifier(n_estimators=3, random_state=np.random.RandomState(0))
    clf.fit(X[::2], y[::2], X_val=X[1::2], y_val=y[1::2])
    assert clf.validation_scores_.shape == (11,)
    assert sum(map(len, clf.estimators_samples_)) == 3 * 2 * np.sum(y[::2] == 1)
    with pytest.raises(ValueError, match="at least one number"):
        SelectedMuClassifier(mus=()).fit(X, y)
    with pytest.raises(ValueError, match="no validation rows to select mu by"):
        SelectedMuClassifier(validation_fraction=None).fit(X, y)


def test_plain_trees_and_leaves_by_default(imbalanced):
    clf = SelectedMuClassifier(mus=(0.9,), random_state=0).fit(*imbalanced)
    assert len(clf.estimators_) == 10
    assert clf.estimator_.leaf_smoothing_ == 0
    assert (clf.estimators_[0].criterion, clf.estimators_[0].max_features) == ("gini", None)


def test_members_that_take_turns(imbalanced):
    kinds = [DecisionTreeClassifier(), GaussianNB()]
    clf = SelectedMuClassifier(kinds, 3, mus=(0.1, 0.9), random_state=0).fit(*imbalanced)
    assert [type(member) for member in clf.estimators_] == [
        DecisionTreeClassifier,
        GaussianNB,
        DecisionTreeClassifier,
    ]


def test_only_the_selected_mu_is_refitted(imbalanced):
    X, y = imbalanced
    options = {"n_estimators": 3, "random_state": 0}
    selected = SelectedMuClassifier(mus=(0.2, 0.9), refit=True, **options).fit(X, y)
    without = SelectedMuClassifier(mus=(0.2, 0.9), **options).fit(X, y)
    assert selected.mu_ == without.mu_
    np.testing.assert_array_equal(selected.validation_scores_, without.validation_scores_)
    plain = {"estimator": DecisionTreeClassifier(), "leaf_smoothing": 0}
    plain["validation_fraction"] = 0.2
    own = MesaClassifier(meta_sampler=selected.mu_, refit=True, **plain, **options).fit(X, y)
    np.testing.assert_array_equal(selected.predict_proba(X), own.predict_proba(X))
    auto = SelectedMuClassifier(mus=(0.9,), refit="auto", **options)
    assert auto.fit(X, y).estimator_.refit_
    assert not auto.fit(X, y, X_val=X[::3], y_val=y[::3]).estimator_.refit_
