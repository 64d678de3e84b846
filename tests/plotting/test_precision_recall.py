"""Precision and recall of several classifiers in one picture."""

import sys

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import average_precision_score, precision_recall_curve
from sklearn.tree import DecisionTreeClassifier
from tree_mesa import tree_mesa

from metasampler.plotting import PrecisionRecallComparisonDisplay

LONG_NAMES = [f"SMOTE-boosted bagging no. {i} (cost $c_{i}$)" for i in range(45)]


@pytest.fixture(scope="module")
def halves(imbalanced):
    X, y = imbalanced
    return X[:300], y[:300], X[300:], y[300:]


@pytest.fixture(scope="module")
def classifiers(halves):
    X, y, _, _ = halves
    return {
        "tree": DecisionTreeClassifier(random_state=0).fit(X, y),
        "MESA": tree_mesa(n_estimators=10, random_state=0).fit(X, y),
        "ridge": RidgeClassifier().fit(X, y),
    }


def test_curves_are_sorted_by_average_precision(classifiers, halves, covered):
    _, _, X, y = halves
    display = PrecisionRecallComparisonDisplay.from_estimators(classifiers, X, y, title="all of $1")
    scores = {
        "tree": classifiers["tree"].predict_proba(X)[:, 1],
        "MESA": classifiers["MESA"].predict_proba(X)[:, 1],
        "ridge": classifiers["ridge"].decision_function(X),
    }
    averages = {name: average_precision_score(y, score) for name, score in scores.items()}
    expected = sorted(averages, key=lambda name: -averages[name])
    assert list(display.lines_) == expected
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == [
        *(f"{name}: {averages[name]:.3f}" for name in expected),
        f"chance: {y.mean():.3f}",
    ]
    assert display.ax_.get_legend().get_title().get_text() == "average precision"
    precision, recall, _ = precision_recall_curve(y, scores["ridge"])
    np.testing.assert_array_equal(display.lines_["ridge"].get_xdata(), recall)
    np.testing.assert_array_equal(display.lines_["ridge"].get_ydata(), precision)
    assert display.chance_line_.get_ydata()[0] == pytest.approx(y.mean())
    assert covered(display.figure_) == []


def test_curves_of_one_class_against_the_rest(three_classes):
    X, y = three_classes
    fits = {
        "tree": DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y),
        "ridge": RidgeClassifier().fit(X, y),
    }
    rare = PrecisionRecallComparisonDisplay.from_estimators(fits, X, y)
    assert rare.chance == pytest.approx(np.mean(y == "one"))
    other = PrecisionRecallComparisonDisplay.from_estimators(fits, X, y, pos_label="zero")
    assert other.chance == pytest.approx(np.mean(y == "zero"))
    column = fits["tree"].predict_proba(X)[:, 2]
    assert other.curves["tree"][2] == average_precision_score(y == "zero", column)
    with pytest.raises(ValueError, match="No row of y has the label 'four'"):
        PrecisionRecallComparisonDisplay.from_estimators(fits, X, y, pos_label="four")
    with pytest.raises(ValueError, match="has not seen the class three:"):
        PrecisionRecallComparisonDisplay.from_estimators(fits, X, np.where(y == "one", "three", y))


def test_the_first_of_two_classes_can_be_called(classifiers, halves):
    _, _, X, y = halves
    display = PrecisionRecallComparisonDisplay.from_estimators(classifiers, X, y, pos_label=0)
    score = -classifiers["ridge"].decision_function(X)
    assert display.curves["ridge"][2] == average_precision_score(y == 0, score)


def test_curves_from_numbers(covered):
    recall = np.linspace(1, 0, 50)
    curves = {name: (1 - recall, recall, i / 50) for i, name in enumerate(LONG_NAMES)}
    display = PrecisionRecallComparisonDisplay(curves=curves).plot()
    assert list(display.lines_) == LONG_NAMES[::-1]
    assert display.chance_line_ is None
    assert covered(display.figure_) == []
    _, ax = plt.subplots()
    assert PrecisionRecallComparisonDisplay(curves=curves, chance=0.1).plot(ax=ax).ax_ is ax


def test_curves_from_predictions(classifiers, halves):
    _, _, X, y = halves
    scores = {name: classifiers[name].predict_proba(X)[:, 1] for name in ("tree", "MESA")}
    display = PrecisionRecallComparisonDisplay.from_predictions(scores, y == 1)
    same = PrecisionRecallComparisonDisplay.from_estimators(
        {name: classifiers[name] for name in scores}, X, y
    )
    assert list(display.lines_) == list(same.lines_)
    for name, (precision, recall, average) in display.curves.items():
        np.testing.assert_array_equal(precision, same.curves[name][0])
        np.testing.assert_array_equal(recall, same.curves[name][1])
        assert average == same.curves[name][2]


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"Display\.plot needs matplotlib"):
        PrecisionRecallComparisonDisplay(curves={"a": ([1], [1], 1.0)}).plot()
