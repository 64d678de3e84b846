"""Pictures that compare classifiers, tasks and data sets."""

import sys

import numpy as np
import pytest
from matplotlib import colors
from matplotlib import pyplot as plt
from scipy.stats import friedmanchisquare
from sklearn.datasets import make_moons
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import average_precision_score
from sklearn.tree import DecisionTreeClassifier

from metasampler.ensemble import UnderBaggingClassifier
from metasampler_bench import METHODS
from metasampler_bench.plotting import (
    CriticalDifferenceDisplay,
    DecisionBoundaryComparisonDisplay,
    ScoreCurveDisplay,
    TransferHeatmapDisplay,
    method_style,
)

LONG_NAMES = [f"SMOTE-boosted bagging no. {i} (cost $c_{i}$)" for i in range(45)]


# ------------------------------------------------------------------- heat maps


def brightness(color):
    return np.dot(colors.to_rgb(color), [0.299, 0.587, 0.114])


def test_heat_map_of_losses(covered):
    values = np.array([[0.0, -0.012, np.nan], [0.034, -0.00001, 0.1]])
    display = TransferHeatmapDisplay(
        values=values,
        row_labels=["a", "b"],
        column_labels=["a", "b", "c"],
        loss=True,
        title="change",
    ).plot()
    texts = [[text.get_text() for text in row] for row in display.text_]
    assert texts == [["0.0%", "\u22121.2%", "\u2013"], ["+3.4%", "0.0%", "+10.0%"]]
    low, high = display.im_.get_clim()
    assert -low == high == 0.1
    assert display.ax_.get_xlabel() == "used on"
    assert display.ax_.get_ylabel() == "meta-trained on"
    assert covered(display.figure_) == []


def test_heat_map_of_many_scores_is_readable(covered):
    values = np.random.default_rng(0).random((20, 12))
    display = TransferHeatmapDisplay(
        values=values, row_labels=LONG_NAMES[:20], column_labels=LONG_NAMES[:12]
    ).plot()
    assert covered(display.figure_) == []
    assert display.text_[3, 4].get_text() == f"{values[3, 4]:.3f}"
    for value, text in zip(values.flat, display.text_.flat, strict=True):
        cell = display.im_.cmap(display.im_.norm(value))
        assert abs(brightness(cell[:3]) - brightness(text.get_color())) >= 0.45


@pytest.mark.parametrize("loss", [False, True])
def test_heat_map_without_values(loss):
    display = TransferHeatmapDisplay(
        values=[[np.nan]], row_labels=["a"], column_labels=["b"], loss=loss
    ).plot()
    display.figure_.canvas.draw()
    with pytest.raises(ValueError, match=r"labels need \(2, 1\)"):
        TransferHeatmapDisplay(values=[[1.0]], row_labels="ab", column_labels="c").plot()


# ------------------------------------------------------------------ boundaries


def test_boundaries_of_several_data_sets(covered):
    sets = [make_moons((150, 15), noise=0.3, random_state=i) for i in range(2)]
    fits = [
        {
            "tree": DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y),
            "under-bagging, which has a long name": UnderBaggingClassifier(random_state=0).fit(
                X, y
            ),
        }
        for X, y in sets
    ]
    tables, labels = zip(*sets, strict=True)
    display = DecisionBoundaryComparisonDisplay.from_estimators(
        fits, tables, labels, resolution=20, row_names=["first", "second"], title="moons"
    )
    assert display.axes_.shape == (2, 3)
    assert [ax.get_ylabel() for ax in display.axes_[:, 0]] == ["first", "second"]
    assert [ax.get_title() for ax in display.axes_[0, :2]] == ["data", "tree"]
    X, y = sets[1]
    score = average_precision_score(y, fits[1]["tree"].predict_proba(X)[:, 1])
    ax = display.axes_[1, 1]
    assert [text.get_text() for text in ax.texts] == [f"{score:.3f}"]
    surface, *_, many, few = ax.collections
    panel = display.panels[2]
    grid = np.column_stack([panel["xx"].ravel(), panel["yy"].ravel()])
    expected = fits[1]["tree"].predict_proba(grid)[:, 1]
    np.testing.assert_allclose(np.ravel(surface.get_array()), expected)
    # The rare class is drawn last.
    np.testing.assert_array_equal(few.get_offsets(), X[y == 1])
    np.testing.assert_array_equal(many.get_offsets(), X[y == 0])
    assert len(display.axes_[1, 0].collections) == 2
    assert display.panels[3]["threshold"] == fits[1][display.panels[3]["column"]].threshold_
    assert covered(display.figure_) == []


def test_boundaries_of_one_data_set(covered):
    X, y = make_moons((100, 10), noise=0.2, random_state=0)
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    display = DecisionBoundaryComparisonDisplay.from_estimators({"tree": tree}, X, y, resolution=9)
    assert display.axes_.shape == (1, 2)
    assert display.panels[0]["proba"].shape == (9, 9)
    assert covered(display.figure_) == []


def test_boundaries_from_numbers(covered):
    xx, yy = np.meshgrid(np.linspace(0, 1, 5), np.linspace(0, 1, 4))
    X, y = np.random.default_rng(0).random((20, 2)), np.repeat([0, 1], [15, 5])
    panel = {"X": X, "y": y, "xx": xx, "yy": yy, "proba": xx, "score": 0.5}
    panels = [
        {**panel, "row": f"set {row}", "column": f"method {column}"}
        for row in range(3)
        for column in range(4)
        if (row, column) != (0, 0)
    ]
    panels[0] |= {"proba": None, "score": None}
    panels[1] |= {"proba": np.zeros_like(xx)}
    display = DecisionBoundaryComparisonDisplay(panels=panels).plot()
    assert display.axes_.shape == (3, 5)
    shown = [ax.get_title() for ax in display.axes_[0]]
    assert shown == ["data", "method 1", "method 2", "method 3", "method 0"]
    assert len(display.axes_[0, 1].collections) == 2
    assert len(display.axes_[0, 1].texts) == 0
    # Probabilities that never reach the threshold have no line.
    assert len(display.axes_[0, 2].collections) == 3
    assert len(display.axes_[0, 3].collections) == 4
    assert covered(display.figure_) == []


def test_boundaries_check_what_they_get(imbalanced, three_classes):
    tree = DecisionTreeClassifier(random_state=0)
    X, y = imbalanced
    with pytest.raises(ValueError, match="Only two columns"):
        DecisionBoundaryComparisonDisplay.from_estimators({"tree": tree.fit(X, y)}, X, y)
    X, y = three_classes[0][:, [10, 20]], three_classes[1]
    with pytest.raises(ValueError, match="Only two classes"):
        DecisionBoundaryComparisonDisplay.from_estimators({"tree": tree.fit(X, y)}, X, y)
    X, y = imbalanced[0][:, :2], imbalanced[1]
    with pytest.raises(ValueError, match="RidgeClassifier has no predict_proba"):
        DecisionBoundaryComparisonDisplay.from_estimators({"r": RidgeClassifier().fit(X, y)}, X, y)
    with pytest.raises(ValueError, match="panels is empty"):
        DecisionBoundaryComparisonDisplay(panels=[]).plot()


# -------------------------------------------------------- critical differences


# Table 5 of Demsar (2006), the two-tailed Nemenyi test.
@pytest.mark.parametrize(
    ("alpha", "n_methods", "q"),
    [(0.05, 3, 2.343), (0.05, 5, 2.728), (0.05, 10, 3.164), (0.1, 5, 2.459), (0.1, 10, 2.920)],
)
@pytest.mark.parametrize("n_sets", [14, 30])
def test_critical_difference_as_published(alpha, n_methods, q, n_sets):
    scores = np.random.default_rng(0).random((n_sets, n_methods))
    display = CriticalDifferenceDisplay(scores=scores, names=LONG_NAMES[:n_methods], alpha=alpha)
    expected = q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets))
    assert display.critical_difference_ == pytest.approx(expected, abs=1e-3)


def test_the_example_of_demsar(covered):
    # Table 6 of the paper: AUC of C4.5 and three variants of it on 14 data sets. One number has
    # a digit more, because the ranks there are those before rounding.
    scores = np.array(
        [
            [0.763, 0.768, 0.771, 0.798],
            [0.599, 0.591, 0.590, 0.569],
            [0.954, 0.971, 0.968, 0.967],
            [0.628, 0.661, 0.654, 0.657],
            [0.882, 0.888, 0.886, 0.898],
            [0.936, 0.931, 0.916, 0.931],
            [0.661, 0.668, 0.609, 0.685],
            [0.583, 0.583, 0.563, 0.625],
            [0.775, 0.838, 0.866, 0.875],
            [1.000, 1.000, 1.000, 1.000],
            [0.940, 0.962, 0.965, 0.962],
            [0.619, 0.666, 0.614, 0.669],
            [0.972, 0.981, 0.9751, 0.975],
            [0.957, 0.978, 0.946, 0.970],
        ]
    )
    names = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
    display = CriticalDifferenceDisplay(scores=scores, names=names, alpha=0.1).plot()
    np.testing.assert_allclose(display.mean_ranks_, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    assert display.critical_difference_ == pytest.approx(1.12, abs=0.005)
    assert display.p_value_ == pytest.approx(friedmanchisquare(*scores.T).pvalue)
    # At this level C4.5 differs from both others, and nothing else does.
    assert display.groups_ == [(3, 1, 2), (2, 0)]
    texts = [text.get_text() for text in display.texts_]
    assert texts == ["C4.5+m+cf  1.96", "C4.5+m  2.00", "2.89  C4.5+cf", "3.14  C4.5"]
    bars = [line.get_xdata() for line in display.ax_.lines if line.get_linewidth() > 3]
    for bar, group in zip(bars, display.groups_, strict=True):
        ranks = display.mean_ranks_[list(group)]
        np.testing.assert_allclose(bar, [ranks.min(), ranks.max()], atol=0.1)
    assert covered(display.figure_) == []


def test_ranks_of_losses():
    scores = [[1.0, 2.0, 3.0], [1.0, 1.0, 3.0]]
    ranks = CriticalDifferenceDisplay(
        scores=scores, names="abc", higher_is_better=False
    ).mean_ranks_
    np.testing.assert_array_equal(ranks, [1.25, 1.75, 3])
    ranks = CriticalDifferenceDisplay(scores=scores, names="abc").mean_ranks_
    np.testing.assert_array_equal(ranks, [2.75, 2.25, 1])


def test_methods_that_do_not_differ_are_joined():
    ties = CriticalDifferenceDisplay(scores=np.ones((5, 4)), names="abcd", title="ties").plot()
    assert ties.p_value_ == 1
    assert ties.groups_ == [(0, 1, 2, 3)]
    np.testing.assert_array_equal(ties.mean_ranks_, [2.5] * 4)


def test_groups_are_not_within_each_other():
    rng = np.random.default_rng(0)
    scores = rng.random((100, 20)) + 0.06 * np.arange(20)
    display = CriticalDifferenceDisplay(scores=scores, names=LONG_NAMES[:20])
    joined = {frozenset(pair) for g in display.groups_ for pair in ((a, b) for a in g for b in g)}
    ranks, difference = display.mean_ranks_, display.critical_difference_
    for a in range(20):
        for b in range(a):
            assert (frozenset((a, b)) in joined) == (abs(ranks[a] - ranks[b]) < difference)
    for group in display.groups_:
        assert not any(set(group) < set(other) for other in display.groups_)


@pytest.mark.parametrize("n_methods", [3, 4, 12, 45])
@pytest.mark.parametrize("names", [LONG_NAMES, [f"m{i}" for i in range(45)]])
def test_diagrams_of_all_sizes(n_methods, names, covered):
    rng = np.random.default_rng(0)
    scores = rng.random((27, n_methods)) + 0.02 * np.arange(n_methods)
    display = CriticalDifferenceDisplay(scores=scores, names=names[:n_methods], title="27 sets")
    display.plot()
    assert len(display.texts_) == n_methods
    assert covered(display.figure_) == []
    bars = [line for line in display.ax_.lines if line.get_linewidth() > 3]
    boxes = [bar.get_window_extent() for bar in bars]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_diagrams_check_what_they_get():
    with pytest.raises(ValueError, match="at least two data sets and three methods, got 5 and 2"):
        CriticalDifferenceDisplay(scores=np.ones((5, 2)), names="ab").plot()
    with pytest.raises(ValueError, match="there are 2 names"):
        CriticalDifferenceDisplay(scores=np.ones((5, 3)), names="ab").plot()
    gaps = np.ones((5, 3))
    gaps[0, 0] = np.nan
    with pytest.raises(ValueError, match="has gaps"):
        CriticalDifferenceDisplay(scores=gaps, names="abc").plot()


# ---------------------------------------------------------------- score curves


def test_score_curves_share_a_legend(covered):
    x = [10, 100, 1000]
    mean, spread = np.array([0.1, 0.2, 0.4]), np.array([0.01, 0.02, 0.1])
    curves = {
        "ecoli": {"MESA": (x, mean, spread), "tree": (x, mean / 2, None)},
        "yeast": {"tree": (x, mean / 3, None), "forest": (x, mean, spread)},
    }
    display = ScoreCurveDisplay(curves=curves, xlabel="rows", logx=True, title="two sets").plot()
    ecoli, yeast = display.axes_
    np.testing.assert_array_equal(ecoli.lines[0].get_ydata(), mean)
    np.testing.assert_array_equal(ecoli.lines[0].get_xdata(), x)
    (band,) = ecoli.collections
    assert band.get_datalim(ecoli.transData).y1 == pytest.approx(0.5)
    assert ecoli.lines[1].get_color() == yeast.lines[0].get_color()
    assert {ecoli.get_xscale(), yeast.get_xscale()} == {"log"}
    (legend,) = display.figure_.legends
    assert [text.get_text() for text in legend.get_texts()] == ["MESA", "tree", "forest"]
    assert covered(display.figure_) == []


def test_many_score_curves(covered):
    rng = np.random.default_rng(0)
    curves = {
        f"set {i}": {name: (range(5), rng.random(5), None) for name in LONG_NAMES[:20]}
        for i in range(10)
    }
    display = ScoreCurveDisplay(curves=curves, xlabel="noise", ylabel="F1").plot()
    assert len(display.axes_) == 10
    assert display.axes_[0].get_ylabel() == "F1"
    assert covered(display.figure_) == []


def test_score_curves_in_a_figure_without_layout(covered):
    figure = plt.figure(figsize=(6, 4))
    curves = {"a": {"MESA": ([1, 2], [0.5, 0.6], None)}}
    display = ScoreCurveDisplay(curves=curves, xlabel="rows").plot(figure=figure)
    assert display.figure_ is figure
    assert covered(figure) == []


def test_a_short_logarithmic_axis_has_names_that_do_not_overlap():
    lines = {"MESA": ([4000, 40_000], [0.4, 0.9], None)}
    long = {"MESA": ([10, 100_000], [0.4, 0.9], None)}
    display = ScoreCurveDisplay(curves={"a": lines, "b": long}, xlabel="rows", logx=True).plot()
    display.figure_.canvas.draw()
    short, wide = display.axes_
    named = [label.get_text() for label in short.get_xticklabels(which="both")]
    assert {"5,000", "10,000", "20,000"} <= set(named)
    assert sum(map(bool, named)) < 9
    assert not any(label.get_text() for label in wide.get_xticklabels(minor=True))


@pytest.mark.parametrize(
    ("scores", "limits"),
    [([0.5, 0.52], (0.46, 0.56)), ([0.98, 1.0], (0.9, 1.0)), ([0.1, 0.9], None)],
)
def test_axes_are_not_tighter_than_they_may_be(scores, limits):
    curves = {"a": {"MESA": ([1, 2], scores, [0.001, float("nan")])}}
    plain = ScoreCurveDisplay(curves=curves, xlabel="rows").plot().axes_[0].get_ylim()
    wide = ScoreCurveDisplay(curves=curves, xlabel="rows", least_span=0.1).plot()
    low, high = wide.axes_[0].get_ylim()
    if limits is None:
        assert (low, high) == plain
    else:
        assert high - low == pytest.approx(0.1)
        assert low == pytest.approx(limits[0], abs=0.002)
        assert high == pytest.approx(limits[1], abs=0.002)


def test_a_single_point(covered):
    display = ScoreCurveDisplay(curves={"a": {"MESA": ([10], [0.5], [0.1])}}, xlabel="rows").plot()
    assert covered(display.figure_) == []
    with pytest.raises(ValueError, match="nothing to draw"):
        ScoreCurveDisplay(curves={}, xlabel="rows").plot()


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    panel = {"row": "a", "column": "b", "X": [[0, 0], [1, 1]], "y": [0, 1], "proba": None}
    for display in (
        TransferHeatmapDisplay(values=[[1.0]], row_labels="a", column_labels="b"),
        DecisionBoundaryComparisonDisplay(panels=[panel]),
        CriticalDifferenceDisplay(scores=np.eye(3), names="abc"),
        ScoreCurveDisplay(curves={"a": {"b": ([1], [1], None)}}, xlabel="c"),
    ):
        with pytest.raises(ImportError, match=rf"{type(display).__name__}\.plot needs matplotlib"):
            display.plot()


def test_no_two_methods_share_colour_and_marker():
    styles = {name: method_style(name) for name in METHODS if method_style(name)}
    looks = [(style["color"], style["marker"]) for style in styles.values()]
    assert len(set(looks)) == len(looks) > 20
    # In one picture the four baselines and MESA differ in colour alone, and from all constants.
    shown = ("mesa-fit", "rusboost-paper", "under-bagging", "spe-paper", "cascade", "constant-0.9")
    assert len({styles[name]["color"] for name in shown}) == len(shown)


def test_long_headings_stay_above_their_panel():
    heading = "mammography-authors, as many of each class"
    display = ScoreCurveDisplay(curves={heading: {"a": ([1, 2], [0, 1], None)}}, xlabel="x").plot()
    assert display.axes_[0].get_title().splitlines() == [
        "mammography-authors, as many of each",
        "class",
    ]
