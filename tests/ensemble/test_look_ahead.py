"""Look-ahead: `n_candidates`."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lightgbm import LGBMClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier, MetaSampler
from metasampler.ensemble import (
    EasyEnsembleClassifier,
    UnderBaggingClassifier,
)
from metasampler.growth import Growth, RandomStreams
from metasampler.growth._learner import make_learner
from metasampler.growth._validation import make_growth_data


def assert_same(a, b, X):
    for mine, other in zip(a.estimators_samples_, b.estimators_samples_, strict=True):
        np.testing.assert_array_equal(mine, other)
    np.testing.assert_array_equal(a.scores_, b.scores_)
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))


def macro_precision(codes, proba):
    if proba.shape[1] == 2:
        return average_precision_score(codes, proba[:, 1])
    columns = enumerate(proba.T)
    return np.mean([average_precision_score(codes == k, column) for k, column in columns])


def mean_smoothed(trees, X):
    """Mean over trees of what the leaves that rows end in say, by Laplace's rule."""
    total = 0
    for tree in trees:
        nodes = tree.tree_
        counts = (nodes.value[:, 0] * nodes.weighted_n_node_samples[:, np.newaxis])[tree.apply(X)]
        total += (counts + 1) / (counts + 1).sum(axis=1, keepdims=True)
    return (total / len(trees)).round(12)


@pytest.mark.parametrize("data", ["imbalanced", "three_classes"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_each_step_takes_the_best_of_its_candidates(data, weighted, by_hand, request):
    """The whole fit by brute force: every candidate is scored on its own."""
    X, y = request.getfixturevalue(data)
    classes, codes = np.unique(y, return_inverse=True)
    X = X.astype(np.float32)
    valid = np.arange(0, len(y), 2) if len(classes) == 2 else np.arange(len(y))
    train = np.arange(len(y))
    # Powers of two of mean 1, so that nothing is rounded on the way.
    weights = np.tile([0.5, 1.5], len(y))[: len(y)] if weighted else None
    clf = MesaClassifier(
        DecisionTreeClassifier(),
        n_estimators=5,
        meta_sampler=0.8,
        n_candidates=4,
        calibration=None,
        leaf_smoothing=0,
        random_state=3,
    )
    clf.fit(X, y, X[valid], y[valid], sample_weight=weights)
    assert clf.n_candidates_ == 4
    # The brute force draws from the training rows alone, as the numbers of X_val follow theirs.
    members, taken = [], []
    for step in range(5):
        mu = None if step == 0 else 0.8
        options = {"seed": 3, "weights": weights}
        fitted = [
            by_hand.fit_member(X, codes, train, members, mu, candidate=j, **options)
            for j in range(4)
        ]
        # Candidates are compared by smoothed leaves, though the ensemble answers by plain ones.
        scores = [
            macro_precision(
                codes[valid],
                mean_smoothed([*members, member], X[valid]),
            )
            for member, _ in fitted
        ]
        best = int(np.argmax(scores))
        plain = [m.predict_proba(X[valid]) for m in [*members, fitted[best][0]]]
        expected = macro_precision(codes[valid], np.mean(plain, axis=0))
        assert clf.scores_[step] == pytest.approx(expected, abs=1e-12)
        np.testing.assert_array_equal(clf.estimators_samples_[step], fitted[best][1])
        members.append(fitted[best][0])
        taken.append(best)
    assert len(set(taken)) > 1


def test_one_candidate_is_the_fit_without_look_ahead(imbalanced, by_hand):
    """What the paper's fit with a constant mu is, by hand: it must stay this to the last bit."""
    X, y = imbalanced
    X = X.astype(np.float32)
    for options in ({}, {"n_candidates": 1, "validate_members": False}):
        clf = MesaClassifier.from_preset("paper", meta_sampler=0.9, random_state=5, **options)
        clf.fit(X, y)
        held_out = np.setdiff1d(np.arange(len(y)), clf.estimators_samples_[0])
        data = make_growth_data(
            X,
            y,
            estimator=DecisionTreeClassifier(),
            validation_fraction=0.2,
            sampling_ratio=1.0,
            scoring="average_precision",
            streams=RandomStreams(5),
        )
        train, valid = np.flatnonzero(data.rows["train"]), data.rows["valid"]
        assert np.isin(valid, held_out).all()
        members, subsets = by_hand.grow(X, y, train, [None] + [0.9] * 9, seed=5)
        for mine, other in zip(clf.estimators_samples_, subsets, strict=True):
            np.testing.assert_array_equal(mine, other)
        total = sum(member.predict_proba(X)[:, 1] for member in members)
        np.testing.assert_array_equal(clf.predict_proba(X)[:, 1], total / 10)
        assert clf.scores_[-1] == average_precision_score(y[valid], total[valid])


def test_the_new_parameters_by_default(imbalanced, Ensemble):
    X, y = imbalanced
    options = {"n_estimators": 3, "validation_fraction": 0.3, "random_state": 0}
    plain = Ensemble(**options).fit(X, y)
    usual = {"leaf_smoothing": 0.0, "n_candidates": 1, "refit": False}
    if Ensemble is MesaClassifier:
        usual |= {"leaf_smoothing": 1.0, "refit": True}
    assert_same(plain, Ensemble(**usual, **options).fit(X, y), X)
    assert plain.n_candidates_ == 1


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    n_candidates=st.integers(1, 5),
    mu=st.floats(0, 1),
    smoothing=st.sampled_from([0.0, 2.0]),
)
def test_a_step_scores_what_its_best_candidate_does(imbalanced, seed, n_candidates, mu, smoothing):
    X, y = imbalanced
    tree = DecisionTreeClassifier()
    data = make_growth_data(
        X,
        y,
        estimator=tree,
        validation_fraction=0.3,
        sampling_ratio=1.0,
        scoring="average_precision",
        streams=RandomStreams(0),
    )

    def start(smoothing, **options):
        learner = make_learner(tree, data.tables, 2, leaf_smoothing=smoothing)
        growth = Growth(data, learner, RandomStreams(seed), **options)
        growth.grow(candidate=0)
        return growth

    ahead = start(smoothing, n_candidates=n_candidates)
    ahead.grow_at(mu, 0.2)
    scores = []
    for candidate in range(n_candidates):
        one = start(smoothing or 1.0)
        one.grow_at(mu, 0.2, candidate)
        scores.append(one.score())
    assert ahead.candidate == np.argmax(scores)
    taken = start(smoothing)
    taken.grow_at(mu, 0.2, ahead.candidate)
    assert ahead.score() == taken.score()


@pytest.mark.parametrize("learner", [None, LogisticRegression(), RandomForestClassifier(3)])
def test_same_result_for_any_n_jobs(imbalanced, Ensemble, learner):
    X, y = imbalanced
    if Ensemble is EasyEnsembleClassifier and learner is None:
        learner = DecisionTreeClassifier(max_depth=2)
    options = {
        "n_estimators": 3,
        "validation_fraction": 0.3,
        "n_candidates": 3,
        "random_state": 0,
    }
    one, two = (Ensemble(learner, n_jobs=n, **options).fit(X, y) for n in (1, 2))
    assert one.n_candidates_ == 3
    assert_same(one, two, X)
    options["leaf_smoothing"] = "auto"
    ahead, without = (Ensemble(learner, **{**options, "n_candidates": n}).fit(X, y) for n in (3, 1))
    assert ahead.scores_[0] >= without.scores_[0]


def test_candidates_with_everything_else(three_classes, Ensemble):
    X, y = three_classes
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    options = {
        "estimator": DecisionTreeClassifier(max_depth=3),
        "n_estimators": 15,
        "n_candidates": 3,
        "leaf_smoothing": 1.0,
        "n_iter_no_change": 2,
        "tol": 0.01,
        "random_state": 0,
    }
    # The validation rows are the training rows, because a part of them has too few of one class.
    one, two = (
        Ensemble(n_jobs=n, **options).fit(X, y, X, y, sample_weight=weights) for n in (1, 2)
    )
    assert_same(one, two, X)
    assert one.n_candidates_ == 3
    assert len(one.estimators_) < 15
    for rows in one.estimators_samples_:
        assert set(np.unique(y[rows], return_counts=True)[1]) == {20}


@pytest.mark.parametrize(("n_rows", "used"), [(11, 1), (12, 4)])
def test_few_validation_rows_of_a_class(imbalanced, n_rows, used):
    X, y = imbalanced
    rows = np.concatenate([np.flatnonzero(y == 1)[:n_rows], np.flatnonzero(y == 0)[:100]])
    options = {"n_estimators": 3, "random_state": 0}
    clf = MesaClassifier(n_candidates=4, **options).fit(X, y, X[rows], y[rows])
    assert clf.n_candidates_ == used
    plain = MesaClassifier(**options).fit(X, y, X[rows], y[rows])
    assert plain.n_candidates_ == 1
    same = all(
        np.array_equal(a, b)
        for a, b in zip(clf.estimators_samples_, plain.estimators_samples_, strict=True)
    )
    assert same == (used == 1)


def test_candidates_need_validation_rows(imbalanced, Ensemble):
    with pytest.raises(ValueError, match="n_candidates=2 needs validation rows"):
        Ensemble(GaussianNB(), n_candidates=2, validation_fraction=None).fit(*imbalanced)


@pytest.mark.parametrize("bad", [0, 1.5, "2"])
def test_bad_values(imbalanced, bad):
    with pytest.raises(ValueError, match="n_candidates"):
        MesaClassifier(n_candidates=bad).fit(*imbalanced)


def test_candidates_are_scored_on_the_validation_rows_only(imbalanced):
    X, y = imbalanced
    asked = []

    class Spy(DecisionTreeClassifier):
        def predict_proba(self, X):
            asked.append(len(X))
            return super().predict_proba(X)

    rows = np.flatnonzero(np.arange(len(y)) % 3 == 0)
    clf = MesaClassifier(Spy(), n_estimators=2, n_candidates=3, random_state=0)
    clf.fit(X, y, X[rows], y[rows])
    # Three candidates, then the winner on the training and on the validation rows.
    assert asked == [200, 200, 200, 600, 200] * 2


@pytest.mark.parametrize("Ensemble", [MesaClassifier, UnderBaggingClassifier])
def test_warm_start(imbalanced, Ensemble):
    X, y = imbalanced
    options = {"n_candidates": 3, "validation_fraction": 0.3, "refit": False, "random_state": 0}
    whole = Ensemble(n_estimators=6, **options).fit(X, y)
    warm = Ensemble(n_estimators=3, warm_start=True, **options).fit(X, y)
    assert_same(whole, warm.set_params(n_estimators=6).fit(X, y), X)
    with pytest.raises(ValueError, match="n_candidates was 3 and is now 2"):
        warm.set_params(n_candidates=2).fit(X, y)


def test_a_learned_policy_and_a_selected_mu(imbalanced):
    X, y = imbalanced
    sampler = MetaSampler(n_estimators=3, n_random_steps=4, n_updates=2)
    options = {"n_estimators": 3, "n_candidates": 3, "validation_fraction": 0.3, "random_state": 0}
    clf = MesaClassifier(meta_sampler=sampler, **options).fit(X, y)
    assert clf.n_candidates_ == 3
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(clf)).predict_proba(X), clf.predict_proba(X)
    )


def test_candidates_can_stop_early_on_the_validation_rows(imbalanced):
    X, y = imbalanced
    learner = LGBMClassifier(n_estimators=50, early_stopping_round=3, verbose=-1, n_jobs=1)
    options = {"n_estimators": 2, "n_candidates": 2, "validate_members": True, "random_state": 0}
    clf = MesaClassifier(learner, **options).fit(X, y, X[::3], y[::3])
    assert 0 < clf.estimators_[1].best_iteration_ < 50


def test_look_ahead_helps_on_mammography(mammography):
    (X, y), (X_val, y_val), (X_test, y_test) = (mammography[p] for p in ("train", "valid", "test"))
    means = []
    for n_candidates in (1, 8):
        scores = []
        for seed in range(4):
            clf = MesaClassifier(n_candidates=n_candidates, calibration=None, random_state=seed)
            proba = clf.fit(X, y, X_val, y_val).predict_proba(X_test)[
                :, list(clf.classes_).index(1)
            ]
            scores.append(average_precision_score(y_test == 1, proba))
        means.append(np.mean(scores))
    assert means[1] > means[0] + 0.01
