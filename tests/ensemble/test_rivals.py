"""Rivals: constants that a policy has to beat on the validation rows."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from tree_mesa import tree_mesa

from metasampler import MesaClassifier, MetaSampler
from metasampler.policy import ConstantPolicy, UniformPolicy, WithRivals, load_policy


def grown(X, y, meta_sampler, n_estimators=10, **options):
    options = {"calibration": None, "random_state": 0, **options}
    return tree_mesa(
        DecisionTreeClassifier(), n_estimators, meta_sampler=meta_sampler, **options
    ).fit(X, y)


def facing(mu, *rivals):
    """A constant and its rivals."""
    return WithRivals(ConstantPolicy(mu), rivals=rivals)


def assert_same_growth(one, other):
    for mine, theirs in zip(one.estimators_samples_, other.estimators_samples_, strict=True):
        assert_array_equal(mine, theirs)
    assert_array_equal(one.scores_, other.scores_)
    assert_array_equal(one.actions_, other.actions_)
    assert_array_equal(one.states_, other.states_)


@pytest.fixture(scope="module")
def overlapping():
    """Rows on which gentle and hard draws differ, with enough positives to tell."""
    return make_classification(
        2000, 8, n_informative=4, weights=[0.9], class_sep=0.6, flip_y=0.1, random_state=3
    )


@pytest.mark.parametrize(
    "options", [{"refit": False}, {"refit": True}, {"refit": False, "leaf_smoothing": 0.0}], ids=str
)
@pytest.mark.parametrize("sampler", [0.2, 0.9, "random", "universal"])
@pytest.mark.parametrize("minority", [0, 1])
def test_what_is_grown_on_after_ten_members(overlapping, sampler, options, minority):
    X, y = overlapping
    y = y if minority == 1 else 1 - y
    rivals = (0.0, 0.5, 1.0)
    if sampler == "universal":
        policy = load_policy(sampler)
    else:
        policy = UniformPolicy() if sampler == "random" else ConstantPolicy(sampler)
    encoder = policy.encoder
    alone = grown(X, y, policy, 13, **options)
    constants = [grown(X, y, ConstantPolicy(mu, encoder=encoder), 13, **options) for mu in rivals]
    own = alone.scores_[9]
    # A fifth of the positives is held out.
    margin = 0.5 * np.sqrt(own * (1 - own) / round(np.sum(y == minority) / 5))
    scores = [own + margin, *(clf.scores_[9] for clf in constants)]
    best = int(np.argmax(scores))
    met = grown(X, y, WithRivals(policy, rivals=rivals), 13, **options)
    assert met.rivals_ == rivals
    assert met.rival_ == (None if best == 0 else rivals[best - 1])
    winner = [alone, *constants][best]
    assert_same_growth(met, winner)
    assert_array_equal(met.predict_proba(X), winner.predict_proba(X))
    if met.rival_ is not None:
        assert set(met.actions_) == {met.rival_}


def test_the_default_meets_two_rivals(overlapping):
    X, y = overlapping
    clf = grown(X, y, "universal", 12)
    assert clf.rivals_ == WithRivals.DEFAULT == (0.5, 1.0)
    spelled = grown(X, y, WithRivals(load_policy("universal")), 12)
    assert_same_growth(clf, spelled)
    assert clf.rival_ == spelled.rival_
    # What chose mu is the policy itself, not what compared it.
    assert repr(clf.meta_sampler_) == repr(load_policy("universal"))


def test_weights_count(overlapping):
    X, y = overlapping
    weights = np.where(np.arange(len(y)) % 3, 1.0, 0.0)
    fits = [
        tree_mesa(DecisionTreeClassifier(), 11, meta_sampler=policy, random_state=0).fit(
            X, y, sample_weight=weights
        )
        for policy in (facing(0.0, 0.9), ConstantPolicy(0.9))
    ]
    assert fits[0].rival_ == 0.9
    assert_same_growth(*fits)


def test_both_ends_of_the_choice_occur(overlapping):
    """Else the test above would hold for a fit that never looks at a rival."""
    X, y = overlapping
    assert grown(X, y, facing(0.0, 0.9)).rival_ == 0.9
    assert grown(X, y, facing(0.9, 0.0)).rival_ is None


def test_the_summary_tells(overlapping):
    X, y = overlapping
    replaced = str(grown(X, y, facing(0.0, 0.9)).summary())
    assert "Rivals: constant mu 0.9. mu = 0.9 was clearly better on the validation" in replaced
    kept = str(grown(X, y, facing(0.9, 0.0, 0.1)).summary())
    assert "Rivals: constant mu 0 and 0.1. Neither was clearly better, so the meta-s" in kept
    kept = str(grown(X, y, facing(0.9, 0.0)).summary())
    assert "Rivals: constant mu 0. It was not better" in kept
    assert "Rivals" not in str(grown(X, y, 0.9).summary())


def test_a_rival_has_to_be_ahead_by_more_than_chance(overlapping):
    """All mu of which two differ by less than half a standard error keep the policy."""
    X, y = overlapping
    kept, replaced = 0, 0
    mus = (0.1, 0.5, 0.7, 0.8)
    scores = {mu: grown(X, y, mu).scores_[9] for mu in mus}
    for own in mus:
        for rival in mus:
            clf = grown(X, y, facing(own, rival))
            margin = 0.5 * np.sqrt(scores[own] * (1 - scores[own]) / round(np.sum(y) / 5))
            ahead = scores[rival] > scores[own] + margin
            assert clf.rival_ == (rival if ahead else None)
            kept += scores[rival] > scores[own] and not ahead
            replaced += ahead
    # Else the loop would have shown nothing.
    assert kept
    assert replaced


def test_scores_that_are_no_shares_have_no_margin(overlapping):
    X, y = overlapping
    scores = {mu: grown(X, y, mu, scoring="neg_log_loss").scores_[9] for mu in (0.5, 0.9)}
    worse, better = sorted(scores, key=scores.get)
    clf = grown(X, y, facing(worse, better), scoring="neg_log_loss")
    assert clf.rival_ == better


@pytest.mark.parametrize(("n_positives", "met"), [(29, ()), (30, (0.5, 1.0))])
def test_the_default_asks_for_thirty_validation_rows_of_a_class(overlapping, n_positives, met):
    X, y = overlapping
    valid = np.r_[np.flatnonzero(y == 1)[:n_positives], np.flatnonzero(y == 0)[:500]]
    clf = tree_mesa(n_estimators=6, random_state=0).fit(X, y, X_val=X[valid], y_val=y[valid])
    assert clf.rivals_ == met


@pytest.mark.parametrize("sampler", [0.9, "random", "mammography", "loaded", "policy"])
def test_only_the_default_has_rivals_unasked(overlapping, sampler):
    X, y = overlapping
    given = {"loaded": MetaSampler.load("universal"), "policy": load_policy("universal")}
    clf = grown(X, y, given.get(sampler, sampler))
    assert clf.rivals_ == ()
    assert clf.rival_ is None


def test_no_rivals_in_the_paper(overlapping, short_sampler):
    X, y = overlapping
    clf = MesaClassifier.from_preset("paper", meta_sampler=short_sampler(), n_estimators=3)
    assert clf.fit(X, y).rivals_ == ()


def test_fewer_members_than_it_takes_to_choose(overlapping):
    X, y = overlapping
    short, long = (grown(X, y, facing(0.9, 0.3, 1.0), n, refit=False) for n in (3, 12))
    assert short.rival_ == long.rival_
    assert len(short.estimators_) == 3
    assert_array_equal(short.scores_, long.scores_[:3])


def test_warm_start_gives_what_one_fit_gives(overlapping):
    X, y = overlapping
    policy = facing(0.2, 0.3, 1.0)
    whole = grown(X, y, policy, 14, refit=False)
    assert whole.rival_ is not None
    for start in (1, 2, 11):
        warm = grown(X, y, policy, start, refit=False, warm_start=True)
        assert_same_growth(whole, warm.set_params(n_estimators=14).fit(X, y))
        assert (warm.rival_, warm.rivals_) == (whole.rival_, whole.rivals_)
    for other in (facing(0.2, 0.3), 0.2):
        with pytest.raises(ValueError, match=r"meta_sampler was WithRivals\(.* and is now .*0\.2"):
            warm.set_params(meta_sampler=other, n_estimators=15).fit(X, y)


def test_a_policy_serves_many_fits(overlapping):
    """What one fit has chosen is no choice for the next."""
    X, y = overlapping
    policy = facing(0.9, 0.0)
    assert grown(X, y, policy).rival_ is None
    assert (policy.rival_, policy.rivals_) == (None, ())
    # Another score may prefer another.
    first, again = (grown(X, y, policy, scoring="neg_log_loss") for _ in range(2))
    assert_same_growth(first, again)
    fresh = grown(X, y, facing(0.9, 0.0), scoring="neg_log_loss")
    assert first.rival_ == fresh.rival_


def test_any_n_jobs_and_a_pickle(overlapping):
    X, y = overlapping
    one, two = (grown(X, y, facing(0.2, 0.3, 1.0), 12, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert_same_growth(one, two)
    again = pickle.loads(pickle.dumps(one))
    assert again.rival_ == one.rival_
    assert_array_equal(again.predict_proba(X), two.predict_proba(X))


def test_three_classes_and_members_without_leaves(three_classes):
    X, y = three_classes
    met, alone, constant = (
        tree_mesa(LogisticRegression(), 12, meta_sampler=policy, random_state=0).fit(
            X, y, X_val=X.copy(), y_val=y
        )
        for policy in (facing(0.0, 0.9), 0.0, 0.9)
    )
    own, score = alone.scores_[9], constant.scores_[9]
    ahead = score > own + 0.5 * np.sqrt(own * (1 - own) / np.unique(y, return_counts=True)[1].min())
    assert met.rival_ == (0.9 if ahead else None)
    assert_same_growth(met, constant if ahead else alone)


@pytest.mark.parametrize("bad", [[0.5, 1.5], [-0.1], ["a"], [True]])
def test_rivals_that_are_no_mu(bad):
    with pytest.raises(ValueError, match=r"rivals must be numbers in \[0, 1\]"):
        WithRivals(ConstantPolicy(0.9), rivals=bad)


def test_rivals_need_validation_rows(overlapping):
    X, y = overlapping
    fits = []

    class Spy(DecisionTreeClassifier):
        def fit(self, X, y):
            fits.append(len(X))
            return super().fit(X, y)

    with pytest.raises(ValueError, match="reads errors of validation rows"):
        tree_mesa(Spy(), meta_sampler=facing(0.9, 0.5), validation_fraction=None).fit(X, y)
    # Nothing is fitted before the mistake is seen.
    assert fits == []
    clf = tree_mesa(n_estimators=2, validation_fraction=None).fit(X, y)
    assert clf.rivals_ == ()
