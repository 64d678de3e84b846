"""Pictures of a fit and of its decisions."""

import sys

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.exceptions import NotFittedError
from sklearn.metrics import precision_recall_curve, precision_score, recall_score
from sklearn.tree import DecisionTreeClassifier
from tree_mesa import tree_mesa

from metasampler import MesaClassifier
from metasampler.ensemble import EasyEnsembleClassifier, UnderBaggingClassifier
from metasampler.plotting import FitSummaryDisplay, ThresholdDisplay


@pytest.fixture(scope="module")
def fitted(imbalanced):
    X, y = imbalanced
    return tree_mesa(threshold="f1", random_state=0).fit(X, np.where(y, "fraud", "fair"))


def test_summary_has_a_panel_for_each_figure(fitted, covered):
    display = FitSummaryDisplay.from_estimator(fitted)
    assert [ax.get_ylabel() for ax in display.axes_] == ["mu", "validation score", "mean error"]
    mu, score = (ax.lines[0].get_ydata() for ax in display.axes_[:2])
    np.testing.assert_array_equal(mu[1:], fitted.actions_)
    assert np.isnan(mu[0])
    np.testing.assert_array_equal(score, fitted.scores_)
    errors = {line.get_label(): line.get_ydata() for line in display.axes_[2].lines}
    assert set(errors) == {"fraud", "fair"}
    assert errors["fair"][3] == fitted.summary().rows[3]["error of fair"]
    assert covered(display.figure_) == []


def test_summary_without_mu_or_scores(imbalanced):
    X, y = imbalanced
    rule = UnderBaggingClassifier(validation_fraction=0.2, random_state=0).fit(X, y)
    labels = [ax.get_ylabel() for ax in FitSummaryDisplay.from_estimator(rule).axes_]
    assert labels == ["validation score", "mean error"]
    blind = tree_mesa(validation_fraction=None, random_state=0).fit(X, y)
    assert [ax.get_ylabel() for ax in FitSummaryDisplay.from_estimator(blind).axes_] == ["mu"]
    with pytest.raises(ValueError, match="nothing to draw"):
        FitSummaryDisplay.from_estimator(UnderBaggingClassifier(random_state=0).fit(X, y))
    with pytest.raises(NotFittedError):
        FitSummaryDisplay.from_estimator(tree_mesa())


def test_summary_of_many_classes_in_a_figure_of_ones_own(three_classes):
    clf = tree_mesa(n_estimators=60, random_state=0).fit(*three_classes)
    figure = plt.figure(figsize=(12, 6), layout="constrained")
    left, _ = figure.subfigures(1, 2)
    display = FitSummaryDisplay.from_estimator(clf, figure=left)
    assert display.figure_ is left
    assert len(display.axes_[-1].lines) == 3


def test_threshold_is_marked_where_predict_puts_it(fitted, imbalanced, covered):
    X, y = imbalanced
    labels = np.where(y, "fraud", "fair")
    display = ThresholdDisplay.from_estimator(fitted, X, labels)
    said = fitted.predict(X)
    _, precise, _, found, line = display.ax_.lines
    assert set(line.get_xdata()) == {fitted.threshold_}
    precision, recall = (mark.get_ydata()[0] for mark in (precise, found))
    assert precision == pytest.approx(precision_score(labels, said, pos_label="fraud"))
    assert recall == pytest.approx(recall_score(labels, said, pos_label="fraud"))
    assert display.ax_.get_xscale() == "log"
    assert "fraud" in display.ax_.get_xlabel()
    assert covered(display.figure_) == []


def of_scores(y, scores, **options):
    precision, recall, thresholds = precision_recall_curve(y, scores)
    return ThresholdDisplay(
        precision=precision[:-1], recall=recall[:-1], thresholds=thresholds, **options
    )


def test_threshold_of_plain_scores():
    _, ax = plt.subplots()
    scores = np.array([0.0, 0.2, 0.3, 0.9])
    display = of_scores([0, 0, 1, 1], scores).plot(ax=ax)
    assert display.ax_ is ax
    # A threshold of 0 has no place on a logarithmic scale.
    np.testing.assert_array_equal(display.precision_line_.get_xdata(), scores[1:])
    np.testing.assert_allclose(display.recall_line_.get_ydata(), [1, 1, 0.5])


def test_a_threshold_that_calls_nobody():
    display = of_scores([0, 1], [0.1, 0.2], threshold=0.5).plot()
    assert len(display.ax_.lines) == 3
    display.figure_.canvas.draw()


def test_threshold_needs_two_classes(three_classes, imbalanced):
    clf = tree_mesa(n_estimators=10, random_state=0).fit(*three_classes)
    with pytest.raises(ValueError, match="MesaClassifier has no threshold_"):
        ThresholdDisplay.from_estimator(clf, *three_classes)
    tree = DecisionTreeClassifier().fit(*imbalanced)
    with pytest.raises(ValueError, match="DecisionTreeClassifier has no threshold_"):
        ThresholdDisplay.from_estimator(tree, *imbalanced)


def test_every_ensemble_can_be_drawn(imbalanced):
    clf = EasyEnsembleClassifier(n_estimators=2, validation_fraction=0.2, random_state=0)
    clf.fit(*imbalanced)
    assert len(FitSummaryDisplay.from_estimator(clf).axes_) == 2
    assert ThresholdDisplay.from_estimator(clf, *imbalanced).threshold == clf.threshold_


def test_without_matplotlib(fitted, imbalanced, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "metasampler\[plot\]"'):
        FitSummaryDisplay.from_estimator(fitted)
    with pytest.raises(ImportError, match=r"ThresholdDisplay\.plot needs"):
        of_scores([0, 1], [0.1, 0.2]).plot()


def test_fit_summary_of_teams_draws_each_team_alone(for_teams):
    clf = MesaClassifier(random_state=0).fit(*for_teams)
    display = FitSummaryDisplay.from_estimator(clf)
    (panel,) = (ax for ax in display.axes_ if ax.get_ylabel() == "score of a team")
    (line,) = panel.lines
    assert line.get_label() == "trees"
    np.testing.assert_array_equal(line.get_ydata()[np.isfinite(line.get_ydata())], clf.scores_)
