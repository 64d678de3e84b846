"""What scikit-learn, frames and files ask of every ensemble."""

import pickle

import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from metasampler_bench import ensemble

DRAWN = (
    "a row of weight 2 is twice as likely to be drawn, which two rows are as well, but by other "
    "random numbers; that a weight of 0 leaves the row out is tested with the boosting ensembles"
)
NEIGHBOURS = (
    "a row that is there twice is its own nearest neighbour, and counts twice among the rows of "
    "its class; a row of weight 2 is not and does not; that a weight of 0 leaves the row out is "
    "tested with the boosting ensembles"
)
FRACTIONS = (
    "boosting weighs rows by fractions, and by their rounding a tree breaks ties differently for "
    "one row of weight 2 and for two rows; a perfect member is also taken to err on half a row, "
    "which is less of more rows; that one row and two are equal otherwise, and that a weight of 0 "
    "leaves the row out, is tested with the boosting ensembles"
)
WEIGHTS = {
    ensemble.AdaC2Classifier: FRACTIONS,
    ensemble.AdaCostClassifier: FRACTIONS,
    ensemble.RAMOBoostClassifier: NEIGHBOURS,
    ensemble.RUSBoostClassifier: DRAWN,
    ensemble.SMOTEBoostClassifier: NEIGHBOURS,
}


def expected_failed_checks(estimator):
    """Checks that do not apply, each with the reason."""
    reason = WEIGHTS.get(type(estimator))
    if reason is None:
        return {}
    # With the milder costs of AdaC2 the rounding breaks ties on the sparse rows only.
    is_mild = isinstance(estimator, ensemble.AdaC2Classifier)
    kinds = ("sparse",) if is_mild else ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in kinds}


# Some checks feed data on which the base estimator warns; the warning is theirs.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:.*too few for k_neighbors:UserWarning")
@parametrize_with_checks(
    [
        *(getattr(ensemble, name)(n_estimators=5) for name in ensemble.__all__),
        ensemble.AdaCostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=3),
        ensemble.RUSBoostClassifier(n_estimators=3, algorithm="SAMME", replacement=True),
        ensemble.RUSBoostClassifier(LogisticRegression(), n_estimators=3),
        ensemble.SMOTEBoostClassifier(n_estimators=3, n_samples="balance"),
    ],
    expected_failed_checks=expected_failed_checks,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", ensemble.__all__)
@pytest.mark.parametrize("data", ["imbalanced", "three_classes"])
def test_fitted_ensembles_can_be_stored(name, data, request):
    X, y = request.getfixturevalue(data)
    options = {"k_neighbors_1": 3, "k_neighbors_2": 3} if "RAMO" in name else {}
    clf = getattr(ensemble, name)(n_estimators=4, random_state=0, **options).fit(X, y)
    again = pickle.loads(pickle.dumps(clf))
    assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert_array_equal(again.predict(X), clf.predict(X))


@pytest.mark.parametrize("name", ensemble.__all__)
def test_one_base_estimator_is_all_they_take(imbalanced, name):
    with pytest.raises(TypeError, match=r"estimator=\[Decision.*must be one classifier"):
        getattr(ensemble, name)([DecisionTreeClassifier(), GaussianNB()]).fit(*imbalanced)


def table(library):
    """Columns of several kinds, and labels."""
    n_rows = 200
    y = ["churn" if number % 7 == 0 else "stay" for number in range(n_rows)]
    columns = {
        "number": [None if number % 11 == 0 else number % 13 for number in range(n_rows)],
        "text": [
            "gone" if number % 7 == 0 and number % 5 else f"level {number % 3}"
            for number in range(n_rows)
        ],
    }
    return library.DataFrame(columns), y


def test_boosting_takes_frames():
    of_pandas, y = table(pd)
    of_polars, _ = table(pl)
    clf = ensemble.RUSBoostClassifier(n_estimators=3, random_state=0).fit(of_pandas, y)
    proba = clf.predict_proba(of_pandas)
    twin = ensemble.RUSBoostClassifier(n_estimators=3, random_state=0).fit(of_polars, y)
    assert_array_equal(twin.predict_proba(of_polars), proba)
    assert_array_equal(clf.predict_proba(of_polars.select("text", "number")), proba)
    with pytest.raises(ValueError, match=r"Column 'pairs' holds values that are neither.*drop it"):
        clf.fit(of_pandas.assign(pairs=[(1, 2)] * len(y)), y)


def test_levels_of_frames_come_from_rows_that_count():
    frame, y = table(pd)
    # A level that only rows without weight have is an unknown one.
    text = frame["text"].where(frame.index < 150, "new")
    results = [
        ensemble.RUSBoostClassifier(n_estimators=3, random_state=0)
        .fit(frame.assign(text=text)[:n_rows], y[:n_rows], sample_weight=weights)
        .predict_proba(frame.assign(text=text))
        for n_rows, weights in ((150, None), (200, [1.0] * 150 + [0.0] * 50))
    ]
    assert_allclose(*results)
