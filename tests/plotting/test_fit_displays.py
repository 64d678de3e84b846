"""Pictures of what was chosen, of errors and of meta-training."""

import sys

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tree_mesa import tree_mesa

from metasampler import MetaSampler
from metasampler.ensemble import UnderBaggingClassifier
from metasampler.meta import SoftActorCritic
from metasampler.plotting import (
    ErrorHistogramDisplay,
    FitSummaryDisplay,
    MetaTrainingDisplay,
    PolicyTraceDisplay,
    ThresholdDisplay,
)
from metasampler.policy import GaussianPolicy


@pytest.fixture(scope="module")
def fits(imbalanced):
    return [
        tree_mesa(n_estimators=10, meta_sampler="random", random_state=i).fit(*imbalanced)
        for i in range(3)
    ]


# ---------------------------------------------------------------------- traces


def test_traces_are_means_over_fits(fits, imbalanced, covered):
    constant = tree_mesa(meta_sampler=0.3, n_estimators=5, random_state=0).fit(*imbalanced)
    actions = np.array([fit.actions_ for fit in fits])
    traces = {"random": actions, "0.3": constant.actions_}
    display = PolicyTraceDisplay(traces=traces, title="mu of $5 and $6").plot()
    line = display.lines_["random"]
    np.testing.assert_array_equal(line.get_xdata(), np.arange(2, 11))
    np.testing.assert_allclose(line.get_ydata(), actions.mean(axis=0))
    np.testing.assert_array_equal(display.lines_["0.3"].get_xdata(), [2, 3, 4, 5])
    np.testing.assert_array_equal(display.lines_["0.3"].get_ydata(), [0.3] * 4)
    # One band: a single fit has no spread.
    (band,) = display.ax_.collections
    upper = np.minimum(actions.mean(axis=0) + actions.std(axis=0, ddof=1), 1)
    assert band.get_datalim(display.ax_.transData).y1 == pytest.approx(upper.max())
    assert covered(display.figure_) == []


def test_traces_of_fits_of_different_lengths():
    traces = {"both": [[0.2] * 3 + [np.nan] * 2, [0.8] * 5]}
    display = PolicyTraceDisplay(traces=traces).plot()
    np.testing.assert_allclose(display.lines_["both"].get_ydata(), [0.5, 0.5, 0.5, 0.8, 0.8])


def test_traces_from_numbers_and_from_one_fit(fits, covered):
    names = [f"a method with a long name, number {i}" for i in range(30)]
    many = PolicyTraceDisplay(traces={name: np.full(9, i / 30) for i, name in enumerate(names)})
    many.plot()
    assert list(many.lines_) == names
    assert covered(many.figure_) == []
    looks = {(line.get_color(), line.get_linestyle(), line.get_marker()) for line in many.ax_.lines}
    assert len(looks) == 30
    _, ax = plt.subplots()
    one = PolicyTraceDisplay.from_estimator(fits[0], ax=ax)
    assert one.ax_ is ax
    assert list(one.lines_) == ["MesaClassifier"]
    assert list(PolicyTraceDisplay.from_estimator(fits[0], name="mine").lines_) == ["mine"]


def test_traces_need_actions(imbalanced):
    with pytest.raises(ValueError, match="UnderBaggingClassifier has no actions_"):
        PolicyTraceDisplay.from_estimator(UnderBaggingClassifier(random_state=0).fit(*imbalanced))
    with pytest.raises(NotFittedError):
        PolicyTraceDisplay.from_estimator(tree_mesa())


# ------------------------------------------------------------------ histograms


def test_histograms_are_of_errors_before_calibration(imbalanced, covered):
    X, y = imbalanced
    clf = tree_mesa(n_estimators=10, leaf_smoothing=0, random_state=0).fit(X, y)
    display = ErrorHistogramDisplay.from_estimator(clf, X, y, members=[1, 4, 10], n_bins=5)
    assert display.histograms.shape == (3, 2, 5)
    for place, n_members in enumerate(display.members):
        mean = np.mean([tree.predict_proba(X) for tree in clf.estimators_[:n_members]], axis=0)
        for code in (0, 1):
            errors = 1 - mean[y == code, code]
            expected = np.bincount(np.minimum(errors * 5 + 1e-9, 4).astype(int), minlength=5)
            np.testing.assert_allclose(display.histograms[place, code], expected / len(errors))
    bars = [bar.get_height() for bar in display.axes_[1].containers[1]]
    np.testing.assert_allclose(bars, display.histograms[1, 1])
    assert [ax.get_title() for ax in display.axes_] == ["1 member", "4 members", "10 members"]
    assert covered(display.figure_) == []


def test_histograms_by_default(fits, imbalanced, covered):
    display = ErrorHistogramDisplay.from_estimator(fits[0], *imbalanced)
    assert display.members == [1, 3, 6, 8, 10]
    assert covered(display.figure_) == []


def test_histograms_of_boosting_are_those_of_its_stages(imbalanced):
    X, y = imbalanced
    clf = AdaBoostClassifier(n_estimators=3, random_state=0).fit(X, y)
    display = ErrorHistogramDisplay.from_estimator(clf, X, y, members=[3], n_bins=2)
    wrong = np.mean(1 - clf.predict_proba(X)[y == 1, 1] >= 0.5)
    assert display.histograms[0, 1, 1] == pytest.approx(wrong)


def test_histograms_of_many_classes_and_panels(three_classes, covered):
    X, y = three_classes
    clf = tree_mesa(n_estimators=7, random_state=0).fit(X, y)
    display = ErrorHistogramDisplay.from_estimator(clf, X, y, members=range(1, 8), title="seven")
    assert len(display.axes_) == 7
    (legend,) = display.figure_.legends
    assert [text.get_text() for text in legend.get_texts()] == ["one", "two", "zero"]
    assert covered(display.figure_) == []
    # Rows of one class only: the others have no fractions.
    part = ErrorHistogramDisplay.from_estimator(clf, X[y == "two"], y[y == "two"], members=[7])
    assert np.isnan(part.histograms[0, 0]).all()
    assert part.histograms[0, 1].sum() == pytest.approx(1)


def test_histograms_from_numbers(covered):
    rng = np.random.default_rng(0)
    names = [f"a class with a long name, {i}" for i in range(8)]
    display = ErrorHistogramDisplay(
        histograms=rng.random((2, 8, 4)), members=[1, 5], class_names=names
    ).plot()
    assert covered(display.figure_) == []
    with pytest.raises(ValueError, match="nothing to draw"):
        ErrorHistogramDisplay(histograms=np.zeros((0, 2, 4)), members=[], class_names="ab").plot()


def test_histograms_check_what_they_get(fits, imbalanced):
    X, y = imbalanced
    with pytest.raises(ValueError, match="numbers from 1 to 10"):
        ErrorHistogramDisplay.from_estimator(fits[0], X, y, members=[11])
    with pytest.raises(ValueError, match=r"unseen labels: \[.*2"):
        ErrorHistogramDisplay.from_estimator(fits[0], X, y + 1)


# --------------------------------------------------------------- meta-training


def test_training_of_several_tasks(imbalanced, covered):
    X, y = imbalanced
    tasks = {
        "first": (X, y),
        "second": (X[:300], y[:300], X[300:450], y[300:450], X[450:], y[450:]),
    }
    sampler = MetaSampler(
        n_estimators=4, trainer=SoftActorCritic(n_random_steps=20, n_updates=20), random_state=0
    )
    sampler.fit_tasks(tasks)
    display = MetaTrainingDisplay.from_sampler(sampler, window=3)
    first, second = display.axes_
    assert [line.get_label() for line in first.lines] == ["train", "valid"]
    assert [line.get_label() for line in second.lines] == ["train", "valid", "test"]
    scores = [entry["test_score"] for entry in sampler.history_ if entry["task"] == "second"]
    line = second.lines[2]
    np.testing.assert_array_equal(line.get_xdata(), np.arange(3, len(scores) + 1))
    np.testing.assert_allclose(line.get_ydata(), np.convolve(scores, np.ones(3) / 3, "valid"))
    (legend,) = display.figure_.legends
    assert legend.get_title().get_text() == "mean of the last 3 episodes"
    assert covered(display.figure_) == []


def test_training_from_numbers(covered):
    rng = np.random.default_rng(0)
    curves = {
        f"task {i}": {part: rng.random(120 - i) for part in ("train", "valid", "test")}
        for i in range(10)
    }
    display = MetaTrainingDisplay(curves=curves, title="ten").plot()
    assert covered(display.figure_) == []
    assert [len(ax.lines) for ax in display.axes_] == [3] * 10
    dashes = {str(line._unscaled_dash_pattern) for line in display.axes_[0].lines}
    assert len(dashes) == 3


def test_training_with_fewer_episodes_than_a_window():
    display = MetaTrainingDisplay(curves={"a": {"valid": [0, 2, 4, 6, 8]}, "b": {"valid": [1]}})
    display.plot()
    np.testing.assert_allclose(display.axes_[0].lines[0].get_ydata(), [1, 3, 5, 7])
    np.testing.assert_allclose(display.axes_[1].lines[0].get_ydata(), [1])
    (legend,) = display.figure_.legends
    assert legend.get_title().get_text() == "mean of the last 1 to 2 episodes"


def test_training_checks_what_it_gets():
    policy = GaussianPolicy(10, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="no history"):
        MetaTrainingDisplay.from_sampler(MetaSampler.from_policy(policy))
    with pytest.raises(NotFittedError):
        MetaTrainingDisplay.from_sampler(MetaSampler())
    with pytest.raises(ValueError, match="at least 1"):
        MetaTrainingDisplay(curves={"a": {"valid": [1]}}, window=0).plot()
    with pytest.raises(ValueError, match="nothing to draw"):
        MetaTrainingDisplay(curves={}).plot()


def test_a_figure_of_ones_own(fits, imbalanced):
    figure = plt.figure(figsize=(12, 6), layout="constrained")
    left, right = figure.subfigures(1, 2)
    shown = ErrorHistogramDisplay.from_estimator(fits[0], *imbalanced, figure=left)
    assert shown.figure_ is left
    trained = MetaTrainingDisplay(curves={"a": {"valid": np.arange(9)}}).plot(figure=right)
    assert trained.figure_ is right
    figure.canvas.draw()


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for display in (
        PolicyTraceDisplay(traces={"a": [0.5]}),
        MetaTrainingDisplay(curves={"a": {"valid": [1]}}),
        ErrorHistogramDisplay(histograms=np.ones((1, 2, 3)), members=[1], class_names="ab"),
    ):
        with pytest.raises(ImportError, match=rf"{type(display).__name__}\.plot needs matplotlib"):
            display.plot()


# ---------------------------------------------------------------------- pipelines and searches


def test_every_display_takes_a_pipeline_or_a_search(imbalanced):
    X, y = imbalanced
    pipe = make_pipeline(StandardScaler(), tree_mesa(n_estimators=3, random_state=0))
    search = GridSearchCV(pipe, {"mesaclassifier__meta_sampler": [0.5]}, cv=2).fit(X, y)
    pipe = search.best_estimator_
    inner, scaled = pipe[-1], pipe[:-1].transform(X)
    expected = ErrorHistogramDisplay.from_estimator(inner, scaled, y).histograms
    for wrapped in (pipe, search):
        display = ErrorHistogramDisplay.from_estimator(wrapped, X, y)
        np.testing.assert_array_equal(display.histograms, expected)
        rows = FitSummaryDisplay.from_estimator(wrapped).rows
        assert rows == inner.summary().rows
        assert ThresholdDisplay.from_estimator(wrapped, X, y).threshold == inner.threshold_
        assert list(PolicyTraceDisplay.from_estimator(wrapped).traces) == ["MesaClassifier"]
        plt.close("all")
    with pytest.raises(ValueError, match="AdaBoostClassifier has no summary"):
        FitSummaryDisplay.from_estimator(AdaBoostClassifier(n_estimators=2).fit(X, y))
