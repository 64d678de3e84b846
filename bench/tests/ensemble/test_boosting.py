"""The boosting loop and the ensembles on it."""

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from imblearn.ensemble import RUSBoostClassifier as ImblearnRUSBoost
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from metasampler.datasets import make_imbalanced_digits
from metasampler_bench.ensemble import (
    AdaC2Classifier,
    AdaCostClassifier,
    RAMOBoostClassifier,
    RUSBoostClassifier,
    SMOTEBoostClassifier,
)
from metasampler_bench.ensemble._boosting import BaseBoosting, TrainingRows
from metasampler_bench.ensemble._smote import Smote

STUMP = DecisionTreeClassifier(max_depth=1)
BOOSTERS = [AdaCostClassifier, RAMOBoostClassifier, RUSBoostClassifier, SMOTEBoostClassifier]


class PlainBoosting(BaseBoosting):
    """The loop alone: every member is trained on all rows. It keeps the weights of each round."""

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        algorithm="SAMME",
        learning_rate=1.0,
        min_probability=0.1,
        stop_when_perfect=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.algorithm = algorithm
        self.learning_rate = learning_rate
        self.min_probability = min_probability
        self.stop_when_perfect = stop_when_perfect
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _start_rounds(self, data, streams):
        self.weights_ = []

        def make_rows(number, weights):
            self.weights_.append(weights)
            return TrainingRows(data.tables[0], data.codes, None, weights)

        return make_rows


@pytest.fixture(scope="module")
def many_classes():
    """Four overlapping classes of very different sizes."""
    return make_classification(
        500,
        n_features=8,
        n_informative=6,
        n_classes=4,
        n_clusters_per_class=1,
        weights=[0.6, 0.2, 0.12, 0.08],
        flip_y=0.05,
        random_state=0,
    )


@pytest.fixture(scope="module", params=["two classes", "many classes"])
def task(request, imbalanced, many_classes):
    return imbalanced if request.param == "two classes" else many_classes


# --- the loop ---------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["SAMME", "SAMME.R"])
def test_weights_stay_a_distribution(task, algorithm):
    clf = PlainBoosting(STUMP, 8, algorithm=algorithm, learning_rate=5.0).fit(*task)
    for weights in clf.weights_:
        assert np.all(weights >= 0)
        assert weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("learning_rate", [0.5, 1.0])
@pytest.mark.parametrize("depth", [1, 3])
def test_samme_is_that_of_scikit_learn(task, depth, learning_rate, weighted):
    X, y = task
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else None
    # The seed of a tree decides between equal splits only.
    tree = DecisionTreeClassifier(max_depth=depth)
    ours = PlainBoosting(tree, 10, learning_rate=learning_rate, random_state=0)
    ours.fit(X, y, sample_weight=weights)
    theirs = AdaBoostClassifier(tree, n_estimators=10, learning_rate=learning_rate, random_state=0)
    theirs.fit(X.astype(np.float32), y, sample_weight=weights)
    assert len(ours.estimators_) == len(theirs.estimators_)
    np.testing.assert_allclose(
        ours.estimator_weights_, theirs.estimator_weights_[: len(ours.estimators_)]
    )
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_[:10])
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    if depth == 1:
        np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_)


def test_samme_of_two_classes_is_discrete_adaboost(imbalanced):
    X, y = imbalanced
    n_rounds = 6
    clf = PlainBoosting(STUMP, n_rounds, random_state=0).fit(X, y)
    # Freund and Schapire: weights times exp(-a y h), with a = log((1 - e) / e) / 2.
    signs = np.where(y == 1, 1, -1)
    weights, score = np.full(len(y), 1 / len(y)), np.zeros(len(y))
    for round_weights, member in zip(clf.weights_, clf.estimators_, strict=True):
        np.testing.assert_allclose(weights, round_weights, rtol=1e-9)
        vote = np.where(member.predict(X) == 1, 1, -1)
        error = weights[vote != signs].sum()
        a = 0.5 * np.log((1 - error) / error)
        weights = weights * np.exp(-a * signs * vote)
        weights /= weights.sum()
        score += a * vote
    np.testing.assert_array_equal(clf.predict(X), (score > 0).astype(int))


def samme_r(X, codes, n_classes, estimators, floor, learning_rate):
    """Algorithm 4 of Zhu et al., one row and one class at a time."""
    n_rows = len(X)
    weights = [1 / n_rows] * n_rows
    scores = np.zeros((n_rows, n_classes))
    history = []
    for estimator in estimators:
        history.append(np.array(weights))
        scaled = np.array(weights) * n_rows
        proba = estimator.fit(X, codes, sample_weight=scaled).predict_proba(X)
        for i in range(n_rows):
            logs = [np.log(max(p, floor)) for p in proba[i]]
            for k in range(n_classes):
                scores[i, k] += (n_classes - 1) * (logs[k] - sum(logs) / n_classes)
            coding = [1 if k == codes[i] else -1 / (n_classes - 1) for k in range(n_classes)]
            product = sum(y_k * log for y_k, log in zip(coding, logs, strict=True))
            weights[i] *= np.exp(-learning_rate * (n_classes - 1) / n_classes * product)
        total = sum(weights)
        weights = [weight / total for weight in weights]
    return scores / len(estimators), history


@pytest.mark.parametrize("learning_rate", [0.7, 1.0])
def test_samme_r_is_the_published_one(task, learning_rate):
    X, y = task
    X = X.astype(np.float32)
    tree = DecisionTreeClassifier(max_depth=3)
    floor = 0.01
    ours = PlainBoosting(
        tree,
        5,
        algorithm="SAMME.R",
        min_probability=floor,
        learning_rate=learning_rate,
        random_state=0,
    ).fit(X, y)
    copies = [clone(tree).set_params(random_state=m.random_state) for m in ours.estimators_]
    # The floor speaks of two classes.
    n_classes = len(np.unique(y))
    scores, history = samme_r(X, y, n_classes, copies, floor * 2 / n_classes, learning_rate)
    np.testing.assert_allclose(ours.weights_, history, rtol=1e-6)
    n_classes = scores.shape[1]
    expected = scores[:, 1] - scores[:, 0] if n_classes == 2 else scores
    np.testing.assert_allclose(ours.decision_function(X), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), softmax(scores / (n_classes - 1), axis=1))
    assert np.all(ours.estimator_weights_ == 1)


def test_one_real_member_predicts_its_own_probabilities(imbalanced):
    X, y = imbalanced
    clf = PlainBoosting(LogisticRegression(), 1, algorithm="SAMME.R", min_probability=1e-9)
    clf.fit(X, y)
    np.testing.assert_allclose(clf.predict_proba(X), clf.estimators_[0].predict_proba(X))


@pytest.mark.parametrize("algorithm", ["SAMME", "SAMME.R"])
def test_a_perfect_member_stops_boosting(algorithm):
    X = np.arange(20.0).reshape(-1, 1)
    y = (X[:, 0] > 14).astype(int)
    settings = {"algorithm": algorithm, "random_state": 0}
    stopped = PlainBoosting(STUMP, 5, stop_when_perfect=True, **settings).fit(X, y)
    assert len(stopped.estimators_) == len(stopped.estimator_weights_) == 1
    assert stopped.estimator_errors_.tolist() == [0]
    assert np.isfinite(stopped.estimator_weights_).all()
    np.testing.assert_array_equal(stopped.predict(X), y)
    went_on = PlainBoosting(STUMP, 5, **settings).fit(X, y)
    assert len(went_on.estimators_) == 5
    assert np.isfinite(went_on.decision_function(X)).all()
    np.testing.assert_array_equal(went_on.predict(X), y)
    np.testing.assert_allclose(went_on.weights_[-1], 1 / 20)


class WorseThanChance(DecisionTreeClassifier):
    """Tells the wrong class on purpose."""

    def predict_proba(self, X, check_input=True):
        return super().predict_proba(X, check_input)[:, ::-1]


def test_samme_refuses_a_first_member_no_better_than_guessing(imbalanced):
    with pytest.raises(ValueError, match=r"no better than guessing one of 2 classes.*SAMME\.R"):
        PlainBoosting(WorseThanChance(max_depth=1)).fit(*imbalanced)


def test_samme_stops_before_a_member_no_better_than_guessing(imbalanced):
    # A balanced subset tells little of the few rows that have most of the weight.
    clf = RUSBoostClassifier(STUMP, 200, algorithm="SAMME", random_state=0).fit(*imbalanced)
    assert 1 <= len(clf.estimators_) < 200
    assert np.all(clf.estimator_weights_ > 0)
    assert np.all(clf.estimator_errors_ < 0.5)
    assert len(clf.estimators_samples_) == len(clf.n_training_rows_) == len(clf.estimators_)


# --- all of them ------------------------------------------------------------------------------


@pytest.mark.parametrize("Booster", BOOSTERS)
def test_predictions_are_consistent(Booster, three_classes):
    X, y = three_classes
    clf = Booster(DecisionTreeClassifier(max_depth=3), 6, random_state=0).fit(X, y)
    proba = clf.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    scores = clf.decision_function(X)
    assert scores.shape == proba.shape == (len(y), 3)
    np.testing.assert_array_equal(clf.predict(X), clf.classes_[scores.argmax(axis=1)])
    # Scores that differ by rounding only may have equal probabilities.
    most_probable = np.take_along_axis(scores, proba.argmax(axis=1)[:, np.newaxis], axis=1)[:, 0]
    np.testing.assert_allclose(most_probable, scores.max(axis=1), rtol=1e-12)
    *_, last = clf.staged_predict_proba(X)
    np.testing.assert_array_equal(last, proba)
    assert clf.minority_class_ == "one"
    assert clf.score(X, y) > 0.9
    assert clf.feature_importances_.sum() == pytest.approx(1)
    assert len(clf.n_training_rows_) == len(clf.estimators_) == len(clf.estimator_errors_)


@pytest.mark.parametrize("Booster", BOOSTERS)
def test_stages_are_shorter_ensembles(Booster, imbalanced):
    X, y = imbalanced
    stages = list(Booster(STUMP, 5, random_state=3).fit(X, y).staged_predict_proba(X))
    for n_members in (1, 3):
        shorter = Booster(STUMP, n_members, random_state=3).fit(X, y)
        np.testing.assert_allclose(shorter.predict_proba(X), stages[n_members - 1])


@pytest.mark.parametrize("Booster", BOOSTERS)
def test_the_seed_decides(Booster, imbalanced):
    X, y = imbalanced
    tree = DecisionTreeClassifier(max_depth=4, max_features=2)
    first, again, other = (Booster(tree, 4, random_state=seed).fit(X, y) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.predict_proba(X), again.predict_proba(X))
    assert not np.array_equal(first.predict_proba(X), other.predict_proba(X))
    threads = Booster(tree, 4, random_state=0, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(first.predict_proba(X), threads.predict_proba(X))


@pytest.mark.parametrize("Booster", BOOSTERS)
def test_a_base_estimator_without_weights_is_refused(Booster, imbalanced):
    with pytest.raises(ValueError, match="takes no sample_weight"):
        Booster(KNeighborsClassifier()).fit(*imbalanced)


@pytest.mark.parametrize("Booster", BOOSTERS)
def test_the_last_step_of_a_pipeline_gets_the_weights(Booster, imbalanced):
    X, y = imbalanced
    X = StandardScaler().fit_transform(X)
    bare, piped = (
        Booster(base, 3, random_state=0).fit(X, y).predict_proba(X)
        for base in (
            LogisticRegression(),
            make_pipeline(FunctionTransformer(), LogisticRegression()),
        )
    )
    np.testing.assert_array_equal(bare, piped)
    with pytest.raises(ValueError, match="takes no sample_weight"):
        Booster(make_pipeline(StandardScaler(), KNeighborsClassifier())).fit(X, y)


@pytest.mark.parametrize("Booster", BOOSTERS)
def test_members_without_importances_say_so(Booster, imbalanced):
    clf = Booster(LogisticRegression(), 2).fit(*imbalanced)
    with pytest.raises(AttributeError, match="have no feature_importances_"):
        _ = clf.feature_importances_


# --- weights of rows --------------------------------------------------------------------------


@pytest.mark.parametrize("Booster", BOOSTERS)
@settings(max_examples=15)
@given(
    seed=st.integers(0, 2**32 - 1),
    share_of_zeros=st.floats(0, 0.6),
    base=st.sampled_from([DecisionTreeClassifier(max_depth=3), GaussianNB()]),
    replacement=st.booleans(),
)
def test_a_weight_of_zero_leaves_the_row_out(
    task, Booster, seed, share_of_zeros, base, replacement
):
    X, y = task
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.1, 3, len(y)) * (rng.random(len(y)) >= share_of_zeros)
    options = {"replacement": replacement} if Booster is RUSBoostClassifier else {}
    with_zeros, without = (Booster(base, 3, random_state=seed, **options) for _ in range(2))
    keep = weights > 0
    with_zeros.fit(X, y, sample_weight=weights)
    without.fit(X[keep], y[keep], sample_weight=weights[keep])
    np.testing.assert_array_equal(with_zeros.predict_proba(X), without.predict_proba(X))
    np.testing.assert_array_equal(with_zeros.predict(X), without.predict(X))
    np.testing.assert_array_equal(with_zeros.estimator_errors_, without.estimator_errors_)
    assert with_zeros.n_training_rows_ == without.n_training_rows_
    # The rows are named by their numbers in what the user passed.
    subsets = [getattr(clf, "estimators_samples_", []) for clf in (with_zeros, without)]
    for mine, other in zip(*subsets, strict=True):
        np.testing.assert_array_equal(mine, np.flatnonzero(keep)[other])


@pytest.mark.parametrize("Booster", BOOSTERS)
@pytest.mark.parametrize("scale", [2.0**-27, 1.0, 2.0**20])
def test_equal_weights_change_nothing(task, Booster, scale):
    X, y = task
    plain = Booster(STUMP, 4, random_state=0).fit(X, y)
    weighted = Booster(STUMP, 4, random_state=0).fit(X, y, sample_weight=np.full(len(y), scale))
    np.testing.assert_allclose(weighted.predict_proba(X), plain.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("cost", ["balanced", {0: 1.0, 1: 3.0}])
@pytest.mark.parametrize("depth", [1, 2])
def test_without_draws_a_weight_is_a_number_of_rows(imbalanced, cost, depth):
    X, y = imbalanced
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    weighted, repeated = (
        AdaCostClassifier(DecisionTreeClassifier(max_depth=depth), 8, class_cost=cost)
        for _ in range(2)
    )
    weighted.fit(X, y, sample_weight=weights)
    repeated.fit(X.repeat(weights, axis=0), y.repeat(weights))
    np.testing.assert_allclose(weighted.class_cost_, repeated.class_cost_)
    np.testing.assert_allclose(weighted.estimator_errors_, repeated.estimator_errors_)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X))


@pytest.mark.parametrize("replacement", [False, True])
def test_rus_boost_draws_heavy_rows_more_often(imbalanced, replacement):
    X, y = imbalanced
    weights = np.where(np.arange(len(y)) % 2 == 0, 5.0, 1.0)
    seen = []

    class Spy(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            seen.append((y, sample_weight))
            return super().fit(X, y, sample_weight)

    clf = RUSBoostClassifier(Spy(max_depth=1), 50, replacement=replacement, random_state=0)
    clf.fit(X, y, sample_weight=weights)
    drawn = np.concatenate(clf.estimators_samples_)
    drawn = drawn[y[drawn] == 0]
    even, odd = np.sum(drawn % 2 == 0), np.sum(drawn % 2 == 1)
    # Without replacement a bit less than five times.
    assert 3.5 < even / odd < 6
    # The draw has used the weights of the larger class; boosting has not changed any yet.
    codes, given_weights = seen[0]
    rows = clf.estimators_samples_[0]
    expected = np.where(y[rows] == 1, weights[rows], weights[y == 0].mean())
    np.testing.assert_array_equal(codes, y[rows])
    np.testing.assert_allclose(given_weights / given_weights.sum(), expected / expected.sum())


@pytest.mark.parametrize("Booster", [SMOTEBoostClassifier, RAMOBoostClassifier])
def test_synthetic_rows_start_from_heavy_rows(Booster, imbalanced, monkeypatch):
    X, y = imbalanced
    weights = np.random.default_rng(0).uniform(0.1, 10, len(y))
    shares = []
    draw = Smote.draw

    def spy(self, k, size, rng, weights=None):
        shares.append(weights)
        return draw(self, k, size, rng, weights)

    monkeypatch.setattr(Smote, "draw", spy)
    factors = []
    for given_weights in (None, weights):
        Booster(STUMP, 1, random_state=0).fit(X, y, sample_weight=given_weights)
        factors.append(shares[-1] / shares[-1].sum())
    expected = factors[0] * weights[y == 1]
    np.testing.assert_allclose(factors[1], expected / expected.sum())


@pytest.mark.parametrize("Booster", BOOSTERS)
def test_weights_are_routed(Booster, imbalanced):
    X, y = imbalanced
    weights = np.where(np.arange(len(y)) % 2 == 0, 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        clf = Booster(STUMP, 3, random_state=0)
        clf.set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        folds = StratifiedKFold(3)
        fitted = cross_validate(
            clf, X, y, params={"sample_weight": weights}, cv=folds, return_estimator=True
        )["estimator"][0]
    train, _ = next(folds.split(X, y))
    by_hand = Booster(STUMP, 3, random_state=0)
    by_hand.fit(X[train], y[train], sample_weight=weights[train])
    np.testing.assert_array_equal(fitted.predict_proba(X), by_hand.predict_proba(X))
    unweighted = Booster(STUMP, 3, random_state=0).fit(X[train], y[train])
    assert not np.array_equal(fitted.predict_proba(X), unweighted.predict_proba(X))


@pytest.mark.parametrize(
    ("weights", "words"),
    [(np.zeros(600), "zero"), (np.full(600, -1.0), "Negative values"), (np.ones(599), "shape")],
)
@pytest.mark.parametrize("Booster", BOOSTERS)
def test_bad_weights(Booster, imbalanced, weights, words):
    with pytest.raises(ValueError, match=words):
        Booster().fit(*imbalanced, sample_weight=weights)


# --- RUSBoost ---------------------------------------------------------------------------------


@pytest.mark.parametrize("replacement", [False, True])
@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_rus_boost_draws_balanced_rows(three_classes, replacement, ratio):
    X, y = three_classes
    clf = RUSBoostClassifier(
        n_estimators=4, sampling_ratio=ratio, replacement=replacement, random_state=0
    ).fit(X, y)
    small = np.sum(y == "one")
    for rows in clf.estimators_samples_:
        counts = dict(zip(*np.unique(y[rows], return_counts=True), strict=True))
        assert counts == {"one": small, "two": ratio * small, "zero": ratio * small}
        assert set(np.flatnonzero(y == "one")) <= set(rows)
        assert (len(np.unique(rows)) < len(rows)) == replacement
    assert clf.n_training_rows_ == [len(rows) for rows in clf.estimators_samples_]
    assert not np.array_equal(clf.estimators_samples_[0], clf.estimators_samples_[1])


def test_rus_boost_takes_data_frames(imbalanced):
    pd = pytest.importorskip("pandas")
    X, y = imbalanced
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    for base in (STUMP, LogisticRegression()):
        clf = RUSBoostClassifier(base, 3, random_state=0).fit(frame, y)
        assert list(clf.feature_names_in_) == list(frame.columns)
        array = RUSBoostClassifier(base, 3, random_state=0).fit(X, y)
        np.testing.assert_allclose(clf.predict_proba(frame), array.predict_proba(X))


def test_rus_boost_is_as_good_as_that_of_imbalanced_learn():
    X, y = make_imbalanced_digits()
    base = DecisionTreeClassifier(max_depth=3)
    scores: dict = {"ours": [], "theirs": []}
    for seed in range(3):
        for train, test in StratifiedKFold(4, shuffle=True, random_state=seed).split(X, y):
            models = {
                "ours": RUSBoostClassifier(
                    base, 10, algorithm="SAMME", learning_rate=0.3, random_state=seed
                ),
                "theirs": ImblearnRUSBoost(
                    base, n_estimators=10, learning_rate=0.3, random_state=seed
                ),
            }
            for name, model in models.items():
                found = model.fit(X[train], y[train]).decision_function(X[test])
                scores[name].append(average_precision_score(y[test], found))
    difference = np.subtract(scores["ours"], scores["theirs"])
    standard_error = difference.std(ddof=1) / np.sqrt(len(difference))
    assert abs(difference.mean()) < 2.5 * standard_error + 0.01


def test_rus_boost_scores_what_the_mesa_paper_says(mammography):
    X, y = mammography["train"]
    X_test, y_test = mammography["test"]
    scores = []
    for seed in range(20):
        # As in the authors' code, where the weights change by probabilities, not their logarithms.
        clf = RUSBoostClassifier(
            n_estimators=20, replacement=True, min_probability=np.exp(-1), random_state=seed
        ).fit(X, y)
        stages = [proba[:, 1] for proba in clf.staged_predict_proba(X_test)]
        scores.append([average_precision_score(y_test == 1, stages[k - 1]) for k in (5, 10, 20)])
    standard_errors = np.std(scores, axis=0, ddof=1) / np.sqrt(20)
    # The paper averages fewer runs than these, and has an error of its own.
    assert np.all(np.mean(scores, axis=0) > np.array([0.348, 0.511, 0.588]) - 3 * standard_errors)


# --- AdaCost ----------------------------------------------------------------------------------


def test_equal_costs_are_plain_boosting(task):
    X, y = task
    costs = dict.fromkeys(np.unique(y).tolist(), 3.0)
    ours = AdaCostClassifier(STUMP, 6, class_cost=costs, random_state=0).fit(X, y)
    plain = PlainBoosting(STUMP, 6, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), plain.predict_proba(X))


def test_costly_rows_gain_more_and_lose_less():
    X = np.array([[0.0], [0], [0], [0], [1], [1], [1], [1]])
    y = np.array([0, 0, 0, 1, 0, 1, 1, 1])  # a stump gets rows 3 and 4 wrong
    weights = {}
    for costs in ({0: 1.0, 1: 1.0}, {0: 1.0, 1: 2.0}):
        spy = AdaCostClassifier(STUMP, 2, class_cost=costs, random_state=0)
        make = spy._start_rounds
        seen: list = []

        def start(data, streams, make=make, seen=seen):
            rounds = make(data, streams)

            def make_rows(number, round_weights):
                seen.append(round_weights)
                return rounds(number, round_weights)

            return make_rows

        spy._start_rounds = start
        spy.fit(X, y)
        weights[costs[1]] = seen
    before, after = weights[2.0]
    np.testing.assert_allclose(before, np.where(y == 1, 2, 1) / 12)
    change = after / before
    # c = 0 for class 0 and 1/2 for class 1: exponents 1 and 1, and 1.5 and 0.5.
    half = 0.5 * np.log((1 - 3 / 12) / (3 / 12))
    expected = np.exp(half * np.array([-1, -1, -1, 1.5, 1, -0.5, -0.5, -0.5]))
    np.testing.assert_allclose(change / change[0], expected / expected[0])


def test_costs_default_to_class_frequencies(three_classes):
    X, y = three_classes
    clf = AdaCostClassifier(STUMP, 2).fit(X, y)
    np.testing.assert_allclose(clf.class_cost_, [1, 20 / 170, 20 / 60])
    assert clf.n_training_rows_ == [len(y)] * len(clf.estimators_)
    assert not hasattr(clf, "estimators_samples_")


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({0: 1.0}, r"lacks \[1\]"),
        ({0: 1.0, 1: 2.0, 7: 1.0}, r"has \[7\] besides"),
        ({0: 1.0, 1: -2.0}, "greater than 0"),
        ({0: 1.0, 1: np.inf}, "greater than 0"),
    ],
)
def test_wrong_costs_are_refused(imbalanced, costs, message):
    with pytest.raises(ValueError, match=message):
        AdaCostClassifier(class_cost=costs).fit(*imbalanced)


# --- SMOTEBoost and RAMOBoost -----------------------------------------------------------------


@pytest.mark.parametrize("Booster", [SMOTEBoostClassifier, RAMOBoostClassifier])
def test_synthetic_rows_are_counted(Booster, three_classes):
    X, y = three_classes
    clf = Booster(STUMP, 2, n_samples=120, random_state=0).fit(X, y)
    assert clf.n_synthetic_ == {"one": 120, "zero": 110}
    assert clf.n_training_rows_[0] == len(y) + 230
    balanced = Booster(STUMP, 2, n_samples="balance", random_state=0).fit(X, y)
    assert balanced.n_training_rows_[0] == 3 * 170


def test_balanced_classes_need_no_synthetic_rows(imbalanced):
    X, y = imbalanced
    rows = np.concatenate([np.flatnonzero(y == 1)[:40], np.flatnonzero(y == 0)[:40]])
    ours = SMOTEBoostClassifier(STUMP, 5, algorithm="SAMME", random_state=0).fit(X[rows], y[rows])
    assert ours.n_synthetic_ == {}
    plain = PlainBoosting(STUMP, 5, random_state=0).fit(X[rows], y[rows])
    np.testing.assert_allclose(ours.predict_proba(X), plain.predict_proba(X))


def test_two_class_probabilities_follow_the_decision(imbalanced):
    X, y = imbalanced
    clf = SMOTEBoostClassifier(STUMP, 5, random_state=0).fit(X, y)
    np.testing.assert_allclose(clf.predict_proba(X)[:, 1], expit(clf.decision_function(X)))
    np.testing.assert_array_equal(clf.predict(X), (clf.decision_function(X) > 0).astype(int))


def test_weights_that_underflow_do_not_end_in_nan():
    # One row of the larger class that lies on a row of the smaller gains a factor every round.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 3)), (np.arange(500) < 40).astype(int)
    X[y == 1] += 8
    X, y = np.vstack([X, X[:1]]), np.append(y, 0)
    clf = RUSBoostClassifier(n_estimators=700, random_state=0).fit(X, y)
    assert np.isfinite(clf.predict_proba(X)).all()


def test_many_classes_keep_their_votes():
    X, y = load_digits(return_X_y=True)
    stumps = RUSBoostClassifier(DecisionTreeClassifier(max_depth=1), 20, random_state=0)
    assert np.mean(stumps.fit(X[:1000], y[:1000]).predict(X[1000:]) == y[1000:]) > 0.6


# --- AdaC2 ------------------------------------------------------------------------------------


def test_adac2_is_the_algorithm_of_its_paper():
    X, y = make_classification(400, weights=[0.8], flip_y=0.1, random_state=0)
    costs = {0: 0.6, 1: 1.0}
    ours = AdaC2Classifier(STUMP, 5, class_cost=costs, random_state=0).fit(X, y)
    # By hand (Sun et al. 2007): D_1 = 1/m; alpha = 1/2 log(sum of C D right / wrong);
    # D_{t+1} is proportional to C D exp(-alpha y h).
    cost, sign = np.where(y == 1, 1.0, 0.6), np.where(y == 1, 1, -1)
    weights = np.full(len(y), 1 / len(y))
    for member, alpha in zip(ours.estimators_, ours.estimator_weights_, strict=True):
        expected = STUMP.fit(X, y, weights * len(y))
        np.testing.assert_array_equal(member.predict(X), expected.predict(X))
        votes = np.where(expected.predict(X) == 1, 1, -1)
        right = votes == sign
        half = 0.5 * np.log((cost * weights)[right].sum() / (cost * weights)[~right].sum())
        assert alpha == pytest.approx(2 * half)
        weights = cost * weights * np.exp(-half * sign * votes)
        weights /= weights.sum()


def test_adac2_with_equal_costs_is_plain_boosting(task):
    X, y = task
    costs = dict.fromkeys(np.unique(y).tolist(), 3.0)
    ours = AdaC2Classifier(STUMP, 6, class_cost=costs, random_state=0).fit(X, y)
    plain = PlainBoosting(STUMP, 6, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), plain.predict_proba(X))
