"""Rivals: constants that the meta-sampler has to beat on the validation rows."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier, MetaSampler


def grown(X, y, meta_sampler, n_estimators=10, **options):
    options = {"calibration": None, "random_state": 0, **options}
    return MesaClassifier(
        DecisionTreeClassifier(), n_estimators, meta_sampler=meta_sampler, **options
    ).fit(X, y)


def assert_same_growth(one, other):
    for mine, theirs in zip(one.estimators_samples_, other.estimators_samples_, strict=True):
        assert_array_equal(mine, theirs)
    assert_array_equal(one.scores_, other.scores_)
    assert_array_equal(one.actions_, other.actions_)


@pytest.fixture(scope="module")
def overlapping():
    """Rows on which gentle and hard draws differ, with enough positives to tell."""
    return make_classification(
        2000, 8, n_informative=4, weights=[0.9], class_sep=0.6, flip_y=0.1, random_state=3
    )


@pytest.mark.parametrize(
    "options",
    [
        {"refit": False},
        {"refit": True},
        {"refit": True, "n_candidates": 3},
        {"refit": False, "leaf_smoothing": 0.0, "n_candidates": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("sampler", [0.2, 0.9, "universal"])
@pytest.mark.parametrize("minority", [0, 1])
def test_what_is_grown_on_after_ten_members(overlapping, sampler, options, minority):
    X, y = overlapping
    y = y if minority == 1 else 1 - y
    rivals = (0.0, 0.5, 1.0)
    alone = grown(X, y, sampler, 13, rivals=None, **options)
    constants = [grown(X, y, mu, 13, **options) for mu in rivals]
    own = alone.scores_[9]
    # A fifth of the positives is held out.
    margin = 0.5 * np.sqrt(own * (1 - own) / round(np.sum(y == minority) / 5))
    scores = [own + margin, *(clf.scores_[9] for clf in constants)]
    best = int(np.argmax(scores))
    met = grown(X, y, sampler, 13, rivals=rivals, **options)
    assert met.rivals_ == rivals
    assert met.rival_ == (None if best == 0 else rivals[best - 1])
    winner = [alone, *constants][best]
    assert_same_growth(met, winner)
    assert_array_equal(met.predict_proba(X), winner.predict_proba(X))
    if met.rival_ is not None:
        assert set(met.actions_) == {met.rival_}


def test_weights_count(overlapping):
    X, y = overlapping
    weights = np.where(np.arange(len(y)) % 3, 1.0, 0.0)
    fits = [
        MesaClassifier(
            DecisionTreeClassifier(), 11, meta_sampler=mu, rivals=rivals, random_state=0
        ).fit(X, y, sample_weight=weights)
        for mu, rivals in ((0.0, [0.9]), (0.9, None))
    ]
    assert fits[0].rival_ == 0.9
    assert_same_growth(*fits)


def test_both_ends_of_the_choice_occur(overlapping):
    """Else the test above would hold for a fit that never looks at a rival."""
    X, y = overlapping
    assert grown(X, y, 0.0, rivals=(0.9,)).rival_ == 0.9
    assert grown(X, y, 0.9, rivals=(0.0,)).rival_ is None


def test_the_summary_tells(overlapping):
    X, y = overlapping
    met = "The meta-sampler met the constant mu"
    assert f"{met} 0.9; 0.9 was clearly" in str(grown(X, y, 0.0, rivals=(0.9,)).summary())
    assert f"{met} 0, 0.1; none was clearly" in str(grown(X, y, 0.9, rivals=(0, 0.1)).summary())
    assert met not in str(grown(X, y, 0.9).summary())


def test_a_rival_has_to_be_ahead_by_more_than_chance(overlapping):
    """All mu of which two differ by less than half a standard error keep the sampler."""
    X, y = overlapping
    kept, replaced = 0, 0
    mus = (0.1, 0.5, 0.7, 0.8)
    scores = {mu: grown(X, y, mu).scores_[9] for mu in mus}
    for own in mus:
        for rival in mus:
            clf = grown(X, y, own, rivals=[rival])
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
    clf = grown(X, y, worse, rivals=[better], scoring="neg_log_loss")
    assert clf.rival_ == better


@pytest.mark.parametrize(("n_positives", "met"), [(29, ()), (30, (0.5, 1.0))])
def test_auto_asks_for_thirty_validation_rows_of_a_class(overlapping, n_positives, met):
    X, y = overlapping
    valid = np.r_[np.flatnonzero(y == 1)[:n_positives], np.flatnonzero(y == 0)[:500]]
    clf = MesaClassifier(n_estimators=6, random_state=0).fit(X, y, X[valid], y[valid])
    assert clf.rivals_ == met


@pytest.mark.parametrize("sampler", [0.9, "random", "mammography", "adapt", "loaded"])
def test_auto_leaves_all_but_the_universal_sampler_alone(overlapping, sampler):
    X, y = overlapping
    clf = grown(X, y, MetaSampler.load("universal") if sampler == "loaded" else sampler)
    assert clf.rivals_ == ()
    assert clf.rival_ is None


def test_no_rivals_in_the_paper(overlapping):
    X, y = overlapping
    sampler = MetaSampler(n_estimators=3, n_random_steps=4, n_updates=2)
    clf = MesaClassifier.from_preset("paper", meta_sampler=sampler, n_estimators=3).fit(X, y)
    assert clf.rivals_ == ()
    assert MesaClassifier.from_preset("paper").rivals is None


def test_fewer_members_than_it_takes_to_choose(overlapping):
    X, y = overlapping
    rivals = (0.3, 1.0)
    short, long = (grown(X, y, 0.9, n, rivals=rivals, refit=False) for n in (3, 12))
    assert short.rival_ == long.rival_
    assert len(short.estimators_) == 3
    assert_array_equal(short.scores_, long.scores_[:3])


def test_warm_start_gives_what_one_fit_gives(overlapping):
    X, y = overlapping
    options = {"rivals": (0.3, 1.0), "refit": False}
    whole = grown(X, y, 0.2, 14, **options)
    assert whole.rival_ is not None
    for start in (2, 11):
        warm = grown(X, y, 0.2, start, warm_start=True, **options)
        assert_same_growth(whole, warm.set_params(n_estimators=14).fit(X, y))
        assert warm.rival_ == whole.rival_
    # The same constants in another form are the same.
    warm.set_params(rivals=np.array(options["rivals"]), n_estimators=15).fit(X, y)
    warm.set_params(rivals=list(options["rivals"]), n_estimators=16).fit(X, y)
    with pytest.raises(ValueError, match=r"rivals was .* and is now None"):
        warm.set_params(rivals=None).fit(X, y)


def test_early_stopping_and_look_ahead(overlapping):
    X, y = overlapping
    options = {"rivals": (0.3, 1.0), "n_candidates": 2, "n_iter_no_change": 3, "tol": 0.0}
    clf = grown(X, y, 0.9, 40, refit=False, **options)
    assert len(clf.estimators_) < 40
    assert_same_growth(clf, grown(X, y, 0.9, 40, refit=False, n_jobs=2, **options))


def test_three_classes_and_members_without_leaves(three_classes):
    X, y = three_classes
    met, alone, constant = (
        MesaClassifier(
            LogisticRegression(), 12, meta_sampler=mu, rivals=rivals, random_state=0
        ).fit(X, y, X, y)
        for mu, rivals in ((0.0, [0.9]), (0.0, None), (0.9, None))
    )
    own, score = alone.scores_[9], constant.scores_[9]
    ahead = score > own + 0.5 * np.sqrt(own * (1 - own) / np.unique(y, return_counts=True)[1].min())
    assert met.rival_ == (0.9 if ahead else None)
    assert_same_growth(met, constant if ahead else alone)


@pytest.mark.parametrize("bad", [[0.5, 1.5], [-0.1], ["a"], [True]])
def test_rivals_that_are_no_mu(overlapping, bad, monkeypatch):
    X, y = overlapping
    sampler = MetaSampler()
    # Nothing is learned before the mistake is seen.
    monkeypatch.setattr(MetaSampler, "_fit_data", None)
    with pytest.raises(ValueError, match=r"rivals must be numbers in \[0, 1\]"):
        MesaClassifier(meta_sampler=sampler, rivals=bad).fit(X, y)


def test_rivals_need_validation_rows(overlapping):
    X, y = overlapping
    with pytest.raises(ValueError, match=r"rivals=.* needs validation rows"):
        MesaClassifier(meta_sampler=0.9, rivals=[0.5], validation_fraction=None).fit(X, y)
    clf = MesaClassifier(n_estimators=2, validation_fraction=None).fit(X, y)
    assert clf.rivals_ == ()
