from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from imblearn.ensemble import BalancedBaggingClassifier
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from tree_mesa import tree_mesa

from metasampler.datasets import make_imbalanced_digits
from metasampler.ensemble import (
    BalanceCascadeClassifier,
    EasyEnsembleClassifier,
    SelfPacedEnsembleClassifier,
    UnderBaggingClassifier,
)
from metasampler.ensemble._balance_cascade import _Cascade, pool_sizes
from metasampler.ensemble._self_paced import draw_self_paced, self_paced_factor, share_out
from metasampler.growth import Candidates, RandomStreams, Stream, race_keys


def quick_easy_ensemble(estimator=None, **parameters):
    """An EasyEnsemble that boosts for a few rounds only."""
    members = AdaBoostClassifier(n_estimators=5) if estimator is None else estimator
    return EasyEnsembleClassifier(members, **parameters)


ALL = [
    BalanceCascadeClassifier,
    quick_easy_ensemble,
    SelfPacedEnsembleClassifier,
    UnderBaggingClassifier,
]
INDEPENDENT = [quick_easy_ensemble, UnderBaggingClassifier]
HARDNESSES = ["absolute", "squared", "cross-entropy"]

every_ensemble = pytest.mark.parametrize("Ensemble", ALL)
independent_ensembles = pytest.mark.parametrize("Ensemble", INDEPENDENT)


@pytest.fixture(scope="module")
def two_classes():
    return make_classification(600, 6, weights=[0.9], flip_y=0.05, random_state=0)


@pytest.fixture(scope="module")
def three_classes():
    return make_classification(
        900, 6, n_informative=4, n_classes=3, weights=[0.7, 0.22], flip_y=0.05, random_state=0
    )


def counts(y, rows):
    return dict(zip(*np.unique(y[rows], return_counts=True), strict=True))


def assert_same_ensemble(a, b, X):
    for one, other in zip(a.estimators_samples_, b.estimators_samples_, strict=True):
        assert_array_equal(one, other)
    assert_array_equal(a.predict_proba(X), b.predict_proba(X))


# Behaviour that all of them share


@every_ensemble
def test_every_subset_is_balanced_and_holds_the_whole_minority(Ensemble, two_classes):
    X, y = two_classes
    minority = np.flatnonzero(y == 1)
    ensemble = Ensemble(n_estimators=6, random_state=0).fit(X, y)
    assert len(ensemble.estimators_) == len(ensemble.estimators_samples_) == 6
    for rows in ensemble.estimators_samples_:
        assert len(np.unique(rows)) == len(rows)
        assert counts(y, rows) == {0: len(minority), 1: len(minority)}
        assert np.isin(minority, rows).all()


@every_ensemble
def test_every_larger_class_is_drawn_down(Ensemble, three_classes):
    X, y = three_classes
    least = np.bincount(y).min()
    ensemble = Ensemble(n_estimators=4, random_state=0).fit(X, y)
    assert ensemble.minority_class_ == np.argmin(np.bincount(y))
    for rows in ensemble.estimators_samples_:
        assert counts(y, rows) == dict.fromkeys(range(3), least)
    proba = ensemble.predict_proba(X)
    assert proba.shape == (len(X), 3)
    np.testing.assert_allclose(proba.sum(axis=1), 1)


@every_ensemble
@pytest.mark.parametrize("ratio", [0.5, 2.0])
def test_sampling_ratio(Ensemble, ratio, two_classes):
    X, y = two_classes
    ensemble = Ensemble(n_estimators=4, sampling_ratio=ratio, random_state=0).fit(X, y)
    for rows in ensemble.estimators_samples_:
        assert counts(y, rows) == {0: round(ratio * y.sum()), 1: y.sum()}


@every_ensemble
def test_more_rows_asked_for_than_there_are(Ensemble, two_classes):
    X, y = two_classes
    ensemble = Ensemble(n_estimators=2, sampling_ratio=100.0, random_state=0)
    with pytest.warns(UserWarning, match="all of its rows are taken"):
        ensemble.fit(X, y)
    assert_array_equal(ensemble.estimators_samples_[1], np.arange(len(X)))


@every_ensemble
def test_string_labels(Ensemble, three_classes):
    X, y = three_classes
    names = np.array(["common", "rarer", "rarest"])
    by_number = Ensemble(n_estimators=3, random_state=0).fit(X, y)
    by_name = Ensemble(n_estimators=3, random_state=0).fit(X, names[y])
    assert by_name.minority_class_ == names[by_number.minority_class_]
    assert_array_equal(by_name.classes_, names)
    assert_array_equal(by_name.predict(X), names[by_number.predict(X)])
    assert_same_ensemble(by_name, by_number, X)


@every_ensemble
def test_minority_may_be_the_first_class(Ensemble, two_classes):
    X, y = two_classes
    ensemble = Ensemble(n_estimators=5, random_state=0).fit(X, y)
    swapped = Ensemble(n_estimators=5, random_state=0).fit(X, 1 - y)
    assert swapped.minority_class_ == 0
    for rows in swapped.estimators_samples_:
        assert counts(y, rows) == {0: y.sum(), 1: y.sum()}
    # The first draw does not look at errors, so that it cannot know about the labels.
    assert_array_equal(swapped.estimators_samples_[0], ensemble.estimators_samples_[0])


@every_ensemble
def test_same_seed_same_ensemble(Ensemble, two_classes):
    X, y = two_classes
    a, b, c = (Ensemble(n_estimators=4, random_state=seed).fit(X, y) for seed in (0, 0, 1))
    assert_same_ensemble(a, b, X)
    assert not np.array_equal(a.predict_proba(X), c.predict_proba(X))


@every_ensemble
def test_same_ensemble_for_any_n_jobs(Ensemble, three_classes):
    X, y = three_classes
    one = Ensemble(n_estimators=5, n_jobs=1, random_state=0).fit(X, y)
    two = Ensemble(n_estimators=5, n_jobs=2, random_state=0).fit(X, y)
    assert_same_ensemble(one, two, X)


def test_members_that_are_no_trees_are_fitted_in_processes(two_classes):
    X, y = two_classes
    ensemble = UnderBaggingClassifier(LogisticRegression(), n_estimators=3, random_state=0)
    one = clone(ensemble).fit(X, y)
    assert_same_ensemble(one, clone(ensemble).set_params(n_jobs=2).fit(X, y), X)


@every_ensemble
def test_staged_probabilities_end_where_the_ensemble_does(Ensemble, two_classes):
    X, y = two_classes
    ensemble = Ensemble(n_estimators=4, calibration=None, random_state=0).fit(X, y)
    *_, last = stages = list(ensemble.staged_predict_proba(X))
    assert len(stages) == 4
    assert_array_equal(last, ensemble.predict_proba(X))
    np.testing.assert_allclose(stages[0], ensemble.estimators_[0].predict_proba(X))


@every_ensemble
def test_feature_importances(Ensemble, two_classes):
    X, y = two_classes
    importances = Ensemble(n_estimators=3, random_state=0).fit(X, y).feature_importances_
    assert importances.shape == (6,)
    assert importances.sum() == pytest.approx(1)


@every_ensemble
def test_one_member_and_two(Ensemble, two_classes):
    X, y = two_classes
    one = Ensemble(n_estimators=1, random_state=0).fit(X, y)
    two = Ensemble(n_estimators=2, random_state=0).fit(X, y)
    assert_array_equal(one.estimators_samples_[0], two.estimators_samples_[0])
    assert len(two.estimators_) == 2


@every_ensemble
def test_sparse_rows(Ensemble, two_classes):
    X, y = two_classes
    dense = Ensemble(n_estimators=3, random_state=0).fit(X, y)
    rows = sparse.csr_matrix(X)
    assert_same_ensemble(dense, Ensemble(n_estimators=3, random_state=0).fit(rows, y), rows)


@every_ensemble
def test_verbose_shows_a_bar_and_changes_nothing(Ensemble, two_classes, capsys):
    X, y = two_classes
    quiet = Ensemble(n_estimators=3, random_state=0).fit(X, y)
    assert capsys.readouterr().out == ""
    loud = Ensemble(n_estimators=3, random_state=0, verbose=1).fit(X, y)
    assert "3/3" in capsys.readouterr().out
    assert_same_ensemble(quiet, loud, X)


# Data frames


@pytest.fixture(params=[pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def frame_of(request):
    return request.param


@every_ensemble
def test_frames_give_what_arrays_give(Ensemble, frame_of, two_classes):
    X, y = two_classes
    frame = frame_of({f"x{j}": X[:, j] for j in range(X.shape[1])})
    ensemble = Ensemble(n_estimators=3, random_state=0).fit(frame, y)
    assert_array_equal(ensemble.feature_names_in_, [f"x{j}" for j in range(X.shape[1])])
    array = Ensemble(n_estimators=3, random_state=0).fit(X, y)
    assert_array_equal(ensemble.predict_proba(frame), array.predict_proba(X))


class ColumnByName(DecisionTreeClassifier):
    """Needs a data frame: takes the columns by their names."""

    def fit(self, X, y):
        return super().fit(X[["a", "b"]].to_numpy(), y)

    def predict_proba(self, X):
        return super().predict_proba(X[["a", "b"]].to_numpy())


@every_ensemble
def test_frames_reach_members_that_take_them(Ensemble, frame_of, two_classes):
    X, y = two_classes
    frame = frame_of({"text": ["?"] * len(X), "a": X[:, 0], "b": X[:, 1]})
    ensemble = Ensemble(ColumnByName(), n_estimators=3, random_state=0).fit(frame, y)
    assert ensemble.predict_proba(frame).shape == (len(X), 2)


@pytest.mark.parametrize("Ensemble", [SelfPacedEnsembleClassifier, UnderBaggingClassifier])
def test_categories_and_missing_values_in_a_frame(Ensemble, two_classes):
    X, y = two_classes
    frame = pd.DataFrame(
        {"x": np.where(X[:, 0] > 1, np.nan, X[:, 0]), "c": pd.Categorical(np.sign(X[:, 1]))}
    )
    estimator = HistGradientBoostingClassifier(max_iter=3, categorical_features="from_dtype")
    ensemble = Ensemble(estimator, n_estimators=2, random_state=0).fit(frame, y)
    assert ensemble.predict(frame).shape == (len(X),)


@every_ensemble
def test_pipelines_as_members(Ensemble, two_classes):
    X, y = two_classes
    estimator = make_pipeline(StandardScaler(), LogisticRegression())
    ensemble = Ensemble(estimator, n_estimators=3, random_state=0).fit(X, y)
    assert average_precision_score(y, ensemble.predict_proba(X)[:, 1]) > 0.3


# Errors


@every_ensemble
@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_estimators": 0}, ValueError, "n_estimators"),
        ({"sampling_ratio": 0.0}, ValueError, "sampling_ratio"),
        ({"n_jobs": "all"}, ValueError, "n_jobs"),
        ({"estimator": DecisionTreeClassifier}, TypeError, "write DecisionTreeClassifier()"),
        ({"estimator": SVC()}, TypeError, "must have fit and predict_proba"),
    ],
)
def test_parameters_are_checked(Ensemble, parameters, error, message, two_classes):
    with pytest.raises(error, match=message):
        Ensemble(**parameters).fit(*two_classes)


@pytest.mark.parametrize(
    ("parameters", "message"), [({"hardness": "log"}, "hardness"), ({"k_bins": 0}, "k_bins")]
)
def test_self_paced_parameters_are_checked(parameters, message, two_classes):
    with pytest.raises(ValueError, match=message):
        SelfPacedEnsembleClassifier(**parameters).fit(*two_classes)


@every_ensemble
def test_one_class_is_refused(Ensemble):
    with pytest.raises(ValueError, match="only one class"):
        Ensemble().fit(np.zeros((5, 2)), np.zeros(5))


@every_ensemble
def test_a_minority_of_one_row_is_enough(Ensemble):
    X = np.arange(10.0).reshape(-1, 1)
    y = (X[:, 0] == 9).astype(int)
    ensemble = Ensemble(n_estimators=4, random_state=0).fit(X, y)
    assert all(len(rows) == 2 and 9 in rows for rows in ensemble.estimators_samples_)
    assert ensemble.predict(X)[9] == 1


# Members that do not depend on each other


@independent_ensembles
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_warm_start_is_one_longer_fit(Ensemble, n_jobs, two_classes):
    X, y = two_classes
    whole = Ensemble(n_estimators=7, random_state=0).fit(X, y)
    steps = Ensemble(n_estimators=3, n_jobs=n_jobs, random_state=0, warm_start=True).fit(X, y)
    first = list(steps.estimators_)
    steps.set_params(n_estimators=7).fit(X, y)
    assert all(a is b for a, b in zip(first, steps.estimators_, strict=False))
    assert_same_ensemble(whole, steps, X)
    steps.fit(X, y)
    assert_same_ensemble(whole, steps, X)


@independent_ensembles
def test_warm_start_that_cannot_continue(Ensemble, two_classes):
    X, y = two_classes
    ensemble = Ensemble(n_estimators=3, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="must be at least 3"):
        ensemble.set_params(n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="needs the classes of the first fit"):
        ensemble.set_params(n_estimators=4).fit(X, y + 1)


@independent_ensembles
def test_shorter_ensembles_are_prefixes_of_longer_ones(Ensemble, two_classes):
    X, y = two_classes
    short = Ensemble(n_estimators=2, random_state=0).fit(X, y)
    long = Ensemble(n_estimators=4, random_state=0).fit(X, y)
    assert_array_equal(list(long.staged_predict_proba(X))[1], short.predict_proba(X))


def test_uniform_draws_favour_no_row():
    X, y = np.zeros((60, 1)), np.repeat([0, 1], [50, 10])
    ensemble = UnderBaggingClassifier(n_estimators=1000, random_state=0).fit(X, y)
    drawn = np.bincount(np.concatenate(ensemble.estimators_samples_))[:50]
    # Binomial(1000, 1/5): five standard deviations.
    assert np.abs(drawn - 200).max() < 5 * np.sqrt(160)


def test_easy_ensemble_boosts(two_classes):
    X, y = two_classes
    easy = EasyEnsembleClassifier(n_estimators=3, random_state=0).fit(X, y)
    assert all(isinstance(member, AdaBoostClassifier) for member in easy.estimators_)
    bagging = UnderBaggingClassifier(AdaBoostClassifier(), n_estimators=3, random_state=0)
    assert_same_ensemble(easy, bagging.fit(X, y), X)


# The self-paced ensemble


@given(n_members=st.integers(2, 60))
def test_the_self_paced_factor_grows_to_infinity(n_members):
    factors = [self_paced_factor(i, n_members) for i in range(1, n_members)]
    assert factors[0] > 0
    assert factors == sorted(factors)
    assert factors[-1] > 1e15


def test_the_self_paced_factor_of_the_paper():
    # Five members: one uniform draw and n = 4 steps of tan(i pi / 2n).
    expected = [np.tan(i * np.pi / 8) for i in (1, 2, 3)]
    np.testing.assert_allclose([self_paced_factor(i, 5) for i in (1, 2, 3)], expected)


@st.composite
def bins_to_share(draw):
    n_bins = draw(st.integers(1, 12))
    populations = draw(hnp.arrays(np.intp, n_bins, elements=st.integers(0, 50)))
    weights = draw(hnp.arrays(float, n_bins, elements=st.floats(1e-16, 1e4)))
    assume(populations.sum() > 0)
    return weights, populations, draw(st.integers(1, int(populations.sum())))


@settings(deadline=None, max_examples=300)
@given(bins_to_share())
def test_shares_sum_to_the_size(case):
    weights, populations, size = case
    quotas = share_out(weights, populations, size)
    assert quotas.sum() == size
    assert (quotas >= 0).all()
    assert (quotas <= populations).all()
    # Bins that are not exhausted keep their proportions, up to rounding to whole rows.
    open_bins = quotas < populations - 1
    rate = quotas[open_bins] / weights[open_bins]
    slack = 1 / weights[open_bins]
    if open_bins.any():
        assert (rate - slack).max() <= (rate + slack).min() * (1 + 1e-9)


def test_shares_by_hand():
    weights, populations = np.array([1.0, 1.0, 2.0, 5.0]), np.array([100, 100, 100, 0])
    assert share_out(weights, populations, 40).tolist() == [10, 10, 20, 0]
    # The third bin has 8 rows instead of 20; the others fill the gap alike.
    assert share_out(weights, np.array([100, 100, 8, 0]), 40).tolist() == [16, 16, 8, 0]
    assert share_out(weights, np.array([3, 100, 8, 0]), 40).tolist() == [3, 29, 8, 0]


@settings(deadline=None, max_examples=200)
@given(
    hardness=hnp.arrays(float, st.integers(1, 80), elements=st.floats(0, 1)),
    alpha=st.floats(1e-3, 1e16),
    k_bins=st.integers(1, 15),
    data=st.data(),
)
def test_self_paced_draws_have_the_size_asked_for(hardness, alpha, k_bins, data):
    size = data.draw(st.integers(1, len(hardness)))
    keys = race_keys(np.array([1, 2], dtype=np.uint64), 0, 0, len(hardness))
    drawn = draw_self_paced(hardness, keys, size, alpha, k_bins)
    assert len(drawn) == len(np.unique(drawn)) == size


def test_self_paced_draws_turn_from_equal_hardness_to_equal_numbers():
    hardness = np.repeat([0.1, 0.3, 0.9], 1000)
    keys = race_keys(np.array([1, 2], dtype=np.uint64), 0, 0, 3000)

    def drawn_of_each(alpha):
        return np.bincount(draw_self_paced(hardness, keys, 390, alpha, 10) // 1000).tolist()

    assert drawn_of_each(1e-9) == [270, 90, 30]
    assert drawn_of_each(1e16) == [130, 130, 130]


def test_equally_hard_rows_are_drawn_uniformly():
    keys = np.array([0.4, 0.1, 0.3, 0.2])
    assert draw_self_paced(np.full(4, 0.7), keys, 2, 1.0, 10).tolist() == [1, 3]


@pytest.mark.parametrize("hardness", HARDNESSES)
def test_self_paced_members_meet_harder_rows_than_uniform_ones(hardness, two_classes):
    X, y = two_classes
    paced = SelfPacedEnsembleClassifier(hardness=hardness, random_state=0).fit(X, y)
    errors = paced.predict_proba(X)[:, 1]
    majority = [rows[y[rows] == 0] for rows in paced.estimators_samples_]
    assert errors[majority[-1]].mean() > 1.5 * errors[majority[0]].mean()


# The cascade


@given(draw_size=st.integers(1, 50), n_rows=st.integers(1, 10_000), n_members=st.integers(2, 30))
def test_pools_shrink_by_the_same_fraction(draw_size, n_rows, n_members):
    sizes = pool_sizes(n_rows, draw_size, n_members)
    assert len(sizes) == n_members
    assert sizes[0] == n_rows
    assert sizes[-1] == min(n_rows, draw_size)
    kept = min(1, draw_size / n_rows) ** (1 / (n_members - 1))
    assert (np.abs(sizes[1:] - kept * sizes[:-1]) <= 1).all()


def test_the_pools_of_a_cascade(three_classes):
    X, y = three_classes
    sizes = np.bincount(y)
    least = sizes.min()
    cascade = BalanceCascadeClassifier(n_estimators=5, random_state=0).fit(X, y)
    for k in range(3):
        assert_array_equal(cascade.pool_sizes_[:, k], pool_sizes(sizes[k], least, 5))
    assert_array_equal(cascade.pool_sizes_[-1], [least] * 3)


def test_a_cascade_drops_the_easiest_rows_of_the_ensemble_so_far(two_classes):
    X, y = two_classes
    # No two rows have the same error, so that it is known which ones stay.
    cascade = BalanceCascadeClassifier(LogisticRegression(), n_estimators=5, random_state=0)
    stages = [proba[:, 1] for proba in cascade.fit(X, y).staged_predict_proba(X)]
    pool = majority = np.flatnonzero(y == 0)
    for step, errors in enumerate(stages[:-1], start=1):
        pool = pool[np.argsort(errors[pool])[-cascade.pool_sizes_[step, 0] :]]
        drawn = np.intersect1d(cascade.estimators_samples_[step], majority)
        assert np.isin(drawn, pool).all()
    assert_array_equal(drawn, np.sort(pool))


def test_rows_kept_for_their_errors_are_drawn_as_often_as_rows_kept_at_random():
    errors = np.repeat([1.0, 0.0], [10, 90])
    rows = np.arange(100)
    data = SimpleNamespace(draw_size=10, counts=np.array([100, 3]), minority=1)
    growth = SimpleNamespace(n_members=1, class_errors=lambda k: (rows, errors))
    hard = []
    for seed in range(500):
        streams = RandomStreams(seed)
        keys = race_keys(streams.row_key(Stream.DRAW), 1, 0, 100)
        drawn = _Cascade(data, streams, 3)(growth)(Candidates(0, rows, keys, errors), 10)
        hard.append(np.count_nonzero(drawn < 10))
    # A pool of 32 rows has the 10 hard ones in it, and 10 rows are drawn.
    expected = 10 * 10 / 32
    assert abs(np.mean(hard) - expected) < 5 * np.std(hard) / np.sqrt(500)


# Agreement with an independent implementation


def test_under_bagging_scores_as_balanced_bagging():
    X, y = make_imbalanced_digits()
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    options = {"scoring": "average_precision", "cv": folds}
    ours = [
        cross_val_score(UnderBaggingClassifier(random_state=seed), X, y, **options)
        for seed in range(6)
    ]
    # Without the bootstrap theirs is the same algorithm.
    theirs = [
        cross_val_score(
            BalancedBaggingClassifier(bootstrap=False, random_state=seed), X, y, **options
        )
        for seed in range(6)
    ]
    difference = np.mean(ours, axis=1) - np.mean(theirs, axis=1)
    assert abs(difference.mean()) < 3 * difference.std(ddof=1) / np.sqrt(len(difference))


@pytest.mark.parametrize("Ensemble", [SelfPacedEnsembleClassifier, BalanceCascadeClassifier])
def test_looking_at_errors_helps(Ensemble):
    X, y = make_imbalanced_digits()
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    options = {"scoring": "average_precision", "cv": folds}
    score = cross_val_score(Ensemble(random_state=0), X, y, **options).mean()
    uniform = cross_val_score(UnderBaggingClassifier(random_state=0), X, y, **options).mean()
    assert score > uniform


def test_an_answer_that_is_overridden_is_asked_once_on_files(tmp_path, imbalanced):
    class Turned(UnderBaggingClassifier):
        def predict_proba(self, X):
            return super().predict_proba(X)[:, ::-1]

    X, y = imbalanced
    frame = pd.DataFrame(X, columns=[f"c{n}" for n in range(X.shape[1])])
    clf = Turned(n_estimators=3, random_state=0).fit(frame, y)
    frame.to_parquet(tmp_path / "rows.parquet")
    from_file = clf.predict_proba(tmp_path / "rows.parquet")
    np.testing.assert_array_equal(from_file, clf.predict_proba(frame))


def test_a_parameter_that_is_nan_is_the_same_in_a_warm_start(imbalanced):
    members = make_pipeline(SimpleImputer(), DecisionTreeClassifier())
    clf = tree_mesa(estimator=members, n_estimators=2, warm_start=True, refit=False, random_state=0)
    clf.fit(*imbalanced).set_params(n_estimators=3).fit(*imbalanced)
    assert len(clf.estimators_) == 3
