"""Weights of rows, fits without held-out rows, and the summary."""

import warnings

import numpy as np
import pytest
import sklearn
from sklearn.inspection import permutation_importance
from sklearn.metrics import average_precision_score
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier
from tree_mesa import tree_mesa

from metasampler import MesaClassifier
from metasampler.ensemble import (
    BalanceCascadeClassifier,
    EasyEnsembleClassifier,
    SelfPacedEnsembleClassifier,
    UnderBaggingClassifier,
)
from metasampler.growth._scores import average_precision
from metasampler.policy import load_policy

ENSEMBLES = [
    tree_mesa,
    UnderBaggingClassifier,
    SelfPacedEnsembleClassifier,
    BalanceCascadeClassifier,
    EasyEnsembleClassifier,
]


@pytest.mark.parametrize("Ensemble", ENSEMBLES)
@pytest.mark.parametrize("estimator", [DecisionTreeClassifier(), GaussianNB()], ids=["tree", "NB"])
def test_a_weight_of_zero_leaves_the_row_out(imbalanced, Ensemble, estimator):
    X, y = imbalanced
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 3, len(y)).astype(float)
    options = {"n_estimators": 3, "validation_fraction": 0.2, "random_state": 0}
    with_zeros = Ensemble(estimator, **options).fit(X, y, sample_weight=weights)
    keep = weights > 0
    without = Ensemble(estimator, **options).fit(X[keep], y[keep], sample_weight=weights[keep])
    np.testing.assert_array_equal(with_zeros.predict_proba(X), without.predict_proba(X))
    np.testing.assert_array_equal(with_zeros.predict(X), without.predict(X))
    # The rows are named by their numbers in what the user passed.
    for mine, other in zip(
        with_zeros.estimators_samples_, without.estimators_samples_, strict=True
    ):
        np.testing.assert_array_equal(mine, np.flatnonzero(keep)[other])


def test_equal_weights_change_nothing(imbalanced):
    X, y = imbalanced
    plain = tree_mesa(n_estimators=10, random_state=0).fit(X, y)
    weighted = tree_mesa(n_estimators=10, random_state=0).fit(
        X, y, sample_weight=np.full(len(y), 3.0)
    )
    for a, b in zip(plain.estimators_samples_, weighted.estimators_samples_, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(plain.scores_, weighted.scores_, atol=1e-12)
    np.testing.assert_allclose(plain.states_, weighted.states_, atol=1e-12)


@pytest.mark.parametrize(
    "scale", [2.0**-27, 0.25, 4.0, 2.0**20]
)  # exact, so that trees break ties the same
@pytest.mark.parametrize("calibration", ["auto", "prior", "sigmoid"])
def test_the_unit_of_the_weights_does_not_matter(imbalanced, scale, calibration):
    X, y = imbalanced
    options = {"calibration": calibration, "validation_fraction": 0.3, "random_state": 0}
    plain = UnderBaggingClassifier(**options).fit(X, y)
    weighted = UnderBaggingClassifier(**options).fit(X, y, sample_weight=np.full(len(y), scale))
    np.testing.assert_allclose(plain.predict_proba(X), weighted.predict_proba(X), atol=1e-5)
    assert plain.threshold_ == pytest.approx(weighted.threshold_)


def test_heavy_rows_are_drawn_more_often(imbalanced):
    X, y = imbalanced
    weights = np.where(np.arange(len(y)) % 2 == 0, 5.0, 1.0)
    clf = UnderBaggingClassifier(n_estimators=50, random_state=0)
    clf.fit(X, y, sample_weight=weights)
    drawn = np.concatenate(clf.estimators_samples_)
    drawn = drawn[y[drawn] == 0]
    even, odd = np.sum(drawn % 2 == 0), np.sum(drawn % 2 == 1)
    # Without replacement and with a ninth of the rows drawn, a bit less than five times.
    assert 3.5 < even / odd < 5


def test_members_get_the_weights_that_the_draw_has_not_used(imbalanced):
    X, y = imbalanced
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    seen = []

    class Spy(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            seen.append((y, sample_weight))
            return super().fit(X, y, sample_weight)

    clf = UnderBaggingClassifier(Spy(), n_estimators=2, random_state=0)
    clf.fit(X, y, sample_weight=weights)
    for (codes, given), rows in zip(seen, clf.estimators_samples_, strict=True):
        # Their unit does not matter, so they come with mean 1.
        unit = weights.mean()
        np.testing.assert_allclose(given[codes == 1], weights[rows][y[rows] == 1] / unit)
        np.testing.assert_allclose(given[codes == 0], weights[y == 0].mean() / unit)


def test_a_base_estimator_that_takes_no_weights(imbalanced):
    X, y = imbalanced
    weights = np.where(y == 1, 10.0, 1.0)
    clf = UnderBaggingClassifier(KNeighborsClassifier(), calibration="prior", random_state=0)
    with pytest.warns(UserWarning, match="takes no sample_weight"):
        clf.fit(X, y, sample_weight=weights)
    # Its members saw as many rows of each class, whatever they weigh.
    np.testing.assert_array_equal(clf.calibration_.drawn, [0.5, 0.5])
    assert clf.threshold_ == pytest.approx(np.average(y, weights=weights))


def test_weights_reach_the_last_step_of_a_pipeline(imbalanced):
    X, y = imbalanced
    weights = np.where(y == 1, 10.0, 1.0)
    bare, piped = (
        UnderBaggingClassifier(estimator, random_state=0).fit(X, y, sample_weight=weights)
        for estimator in (GaussianNB(), make_pipeline(FunctionTransformer(), GaussianNB()))
    )
    np.testing.assert_array_equal(bare.predict_proba(X), piped.predict_proba(X))


def test_weighted_scores_are_those_of_repeated_rows():
    rng = np.random.default_rng(0)
    positive, negative = rng.random(10).round(1), rng.random(30).round(1)
    w_pos, w_neg = rng.integers(1, 4, 10), rng.integers(1, 4, 30)
    assert average_precision(positive, negative, w_pos, w_neg) == pytest.approx(
        average_precision(np.repeat(positive, w_pos), np.repeat(negative, w_neg))
    )


@pytest.mark.parametrize(
    ("weights", "words"),
    [(np.zeros(600), "zero"), (np.full(600, -1.0), "Negative values")],
)
def test_bad_weights(imbalanced, weights, words):
    X, y = imbalanced
    with pytest.raises(ValueError, match=words):
        tree_mesa().fit(X, y, sample_weight=weights)


def test_metadata_routing(imbalanced):
    X, y = imbalanced
    weights = np.where(y == 1, 3.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        clf = tree_mesa(n_estimators=3, random_state=0)
        clf.set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        result = cross_validate(
            clf, X, y, params={"sample_weight": weights}, cv=3, return_estimator=True
        )
        plain = cross_validate(
            tree_mesa(n_estimators=3, random_state=0), X, y, cv=3, return_estimator=True
        )
    routed, usual = (r["estimator"][0].predict_proba(X) for r in (result, plain))
    assert not np.array_equal(routed, usual)


def test_parallel_members_and_validation_rows(imbalanced):
    X, y = imbalanced
    one, two = (
        UnderBaggingClassifier(validation_fraction=0.2, n_jobs=n, random_state=0).fit(X, y)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one.scores_, two.scores_)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


@pytest.mark.parametrize("meta_sampler", ["universal", "random", 0.5])
def test_no_hold_out(imbalanced, meta_sampler):
    X, y = imbalanced
    clf = tree_mesa(
        meta_sampler=meta_sampler, validation_fraction=None, n_estimators=4, random_state=0
    ).fit(X, y)
    assert np.sum(y[clf.estimators_samples_[0]] == 1) == np.sum(y == 1)
    assert clf.actions_.shape == (3,)
    assert clf.scores_.shape == (0,)
    assert clf.states_.shape == (0, 10)
    assert clf.calibration_.name == "prior"


def test_learned_policies_need_validation_rows(imbalanced, short_sampler):
    X, y = imbalanced
    for given in (short_sampler().fit(X, y), short_sampler(), load_policy("universal"), "fit"):
        with pytest.raises(ValueError, match="reads errors of validation rows"):
            tree_mesa(meta_sampler=given, validation_fraction=None).fit(X, y)


def test_summary(imbalanced):
    X, y = imbalanced
    clf = tree_mesa(n_estimators=4, meta_sampler=0.9, refit=False, random_state=0)
    clf.fit(X, np.where(y, "fraud", "fair"))
    summary = clf.summary()
    assert [row["member"] for row in summary.rows] == [1, 2, 3, 4]
    assert [row["mu"] for row in summary.rows] == [None, 0.9, 0.9, 0.9]
    np.testing.assert_array_equal([row["score"] for row in summary.rows], clf.scores_)
    assert all(row["rows"] == len(clf.estimators_samples_[0]) for row in summary.rows)
    held_out = clf.predict_proba(X)
    assert held_out.shape == (600, 2)
    text = str(summary)
    assert "error of fraud" in text
    assert "Calibration: sigmoid" in text
    assert f"predict returns 'fraud' if its probability is {clf.threshold_:.4f} or more" in text


def test_labels_with_brackets(imbalanced):
    X, y = imbalanced
    clf = tree_mesa(n_estimators=2, random_state=0).fit(X, np.where(y, "[/x]", "[bold]"))
    assert "error of [/x]" in str(clf.summary())


def test_summary_of_an_ensemble_without_mu(imbalanced):
    summary = UnderBaggingClassifier(n_estimators=2, random_state=0).fit(*imbalanced).summary()
    assert list(summary.rows[0]) == ["member", "rows"]
    warm = tree_mesa(n_estimators=2, warm_start=True, random_state=0).fit(*imbalanced)
    warm.set_params(n_estimators=4).fit(*imbalanced)
    assert len(warm.summary().rows) == 4


def test_permutation_importance(imbalanced):
    X, y = imbalanced
    clf = tree_mesa(n_estimators=10, random_state=0).fit(X, y)
    found = permutation_importance(clf, X, y, scoring="average_precision", random_state=0)
    assert np.argmax(found.importances_mean) in np.argsort(clf.feature_importances_)[-3:]


def test_a_summary_is_at_most_a_screen(for_teams):
    clf = MesaClassifier(random_state=0).fit(*for_teams)
    summary = clf.summary()
    assert len(summary.rows) == 30
    assert len(str(summary).splitlines()) <= 24
    whole = summary.to_text(all_members=True)
    assert len(whole.splitlines()) > 30
    assert summary.promise in str(summary)
    assert "held-out average precision" in str(summary)
    # Without teams some of the first and the last members are shown.
    summary = tree_mesa(n_estimators=30, random_state=0).fit(*for_teams).summary()
    assert len(str(summary).splitlines()) <= 24
    for member in (1, 5, 26, 30):
        assert f"│ {member:6} │" in str(summary)
    assert "│      6 │" not in str(summary)
    assert "│    ... │" in str(summary)
    assert summary.teams == []


def test_a_summary_of_teams_scores_each_team_and_all_together(for_teams):
    X, y = for_teams
    clf = MesaClassifier(random_state=0).fit(X, np.where(y, "[/x]", "fair"))
    teams = clf.summary().teams
    assert [row["team"] for row in teams] == ["scouts", "boosters", "trees", "together"]
    assert [row["members"] for row in teams] == [2, 4, 24, 30]
    scores = [row["held-out average precision"] for row in teams]
    assert scores == list(clf.held_out_scores_.values())
    # A row that one scout has not seen is scored by that scout alone.
    answers = np.full(len(y), np.nan)
    for scout, rows in zip(clf.estimators_[:2], clf.estimators_samples_[:2], strict=True):
        unseen = np.setdiff1d(np.arange(len(y)), rows)
        answers[unseen] = scout.predict_proba(X[unseen])[:, 0]
    judged = ~np.isnan(answers)
    expected = average_precision_score(y[judged], answers[judged])
    assert clf.held_out_scores_["scouts"] == pytest.approx(expected)
    # Member by member a score is that of the team alone, and is called so.
    assert "score" not in clf.summary().rows[0]
    assert clf.summary().rows[-1]["team score"] == clf.scores_[-1]


def test_a_summary_of_teams_without_held_out_rows(for_teams):
    clf = MesaClassifier(recipe="fast", validation_fraction=None, random_state=0).fit(*for_teams)
    assert clf.held_out_scores_ == {}
    assert list(clf.summary().teams[0]) == ["team", "members", "rows each", "drawn"]
    assert "without held-out rows it cannot be measured" in str(clf.summary())


def test_one_team_has_one_held_out_score(imbalanced):
    clf = tree_mesa(n_estimators=4, random_state=0).fit(*imbalanced)
    assert clf.held_out_scores_ == {"together": clf.scores_[-1]}


def test_few_rows_of_a_class_are_warned_of(imbalanced):
    X, y = imbalanced
    rows = np.append(np.flatnonzero(y == 0)[:80], np.flatnonzero(y == 1)[:10])
    clf = UnderBaggingClassifier(n_estimators=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf.fit(X[rows], y[rows])
    assert clf.class_counts_.tolist() == [80, 10]
    with pytest.warns(UserWarning, match="The smallest class, 1, has 9 rows. With fewer than 10"):
        clf.fit(X[rows[:-1]], y[rows[:-1]])
