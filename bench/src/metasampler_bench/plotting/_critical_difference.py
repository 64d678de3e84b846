"""Draw Demsar's diagram: which methods differ over many data sets."""

from functools import cached_property
from math import inf, sqrt

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from metasampler.plotting.style import COLORS, make_axes

__all__ = ["CriticalDifferenceDisplay"]

# Inches: of a line of names, of a bar, and of what stands above the bars.
_LINE, _BAR, _HEAD = 0.25, 0.14, 0.85
# Width of the axis, in inches.
_SPAN = 5.5


class CriticalDifferenceDisplay:
    """Mean ranks of methods over data sets, with bars that join those that do not differ.

    The Friedman test says whether the methods differ at all, and the Nemenyi test which of them:
    those whose mean ranks are at least the critical difference apart [1]_. Where the Friedman
    test finds no difference, one bar joins all methods.

    Parameters
    ----------
    scores : array-like of shape (n_sets, n_methods)
        Score of each method on each data set, without gaps: one number a data set, such as the
        mean over runs. Two data sets and three methods are the least.
    names : sequence of str
        Names of the methods.
    alpha : float, default=0.05
        Level of both tests.
    higher_is_better : bool, default=True
        Whether the highest score has rank 1.
    title : str, default=""
        Written above the diagram.

    Attributes
    ----------
    mean_ranks_ : ndarray of shape (n_methods,)
        Ranks averaged over the data sets, 1 being the best; ties share the mean of their ranks.
    critical_difference_ : float
        Of the Nemenyi test.
    p_value_ : float
        Of the Friedman test.
    groups_ : list of tuple of int
        The methods that each bar joins, by their places in `names`, the best first.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    texts_ : list of matplotlib Text
        The names with their ranks, from the best to the worst.

    See Also
    --------
    ScoreCurveDisplay : Scores on single data sets.

    References
    ----------
    .. [1] J. Demsar, "Statistical Comparisons of Classifiers over Multiple Data Sets", Journal of
       Machine Learning Research 7, 2006.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from metasampler_bench.plotting import CriticalDifferenceDisplay
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random((30, 3)) + [0.0, 0.1, 1.0]
    >>> display = CriticalDifferenceDisplay(scores=scores, names=["tree", "bag", "MESA"]).plot()
    >>> round(display.critical_difference_, 3)
    0.605
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, scores, names, alpha=0.05, higher_is_better=True, title=""):
        self.scores = scores
        self.names = names
        self.alpha = alpha
        self.higher_is_better = higher_is_better
        self.title = title

    # The numbers need no picture, and so no matplotlib.

    @cached_property
    def mean_ranks_(self):
        """Ranks averaged over the data sets."""
        scores = self._checked_scores()
        return rankdata(-scores if self.higher_is_better else scores, axis=1).mean(axis=0)

    @cached_property
    def critical_difference_(self):
        """Critical difference of the Nemenyi test."""
        n_sets, n_methods = self._checked_scores().shape
        q = studentized_range.ppf(1 - self.alpha, n_methods, inf) / sqrt(2)
        return float(q * sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))

    @cached_property
    def p_value_(self):
        """p-value of the Friedman test."""
        scores = self._checked_scores()
        if (scores == scores[:, :1]).all():
            # The statistic is 0 / 0.
            return 1.0
        return float(friedmanchisquare(*scores.T).pvalue)

    @cached_property
    def groups_(self):
        """The methods that each bar joins."""
        order = np.argsort(self.mean_ranks_, kind="stable")
        if self.p_value_ >= self.alpha:
            return [tuple(order.tolist())]
        ranks = self.mean_ranks_[order]
        groups, reached = [], 0
        for first in range(len(ranks)):
            last = int(np.flatnonzero(ranks - ranks[first] < self.critical_difference_)[-1])
            # A group within the one before it says nothing new.
            if last > first and last > reached:
                groups.append(tuple(order[first : last + 1].tolist()))
                reached = last
        return groups

    def _checked_scores(self):
        scores = np.asarray(self.scores, dtype=float)
        if scores.ndim != 2 or scores.shape[1] != len(self.names):
            raise ValueError(
                f"scores has the shape {scores.shape}, but there are {len(self.names)} names: it "
                "must have a row for each data set and a column for each name."
            )
        if scores.shape[0] < 2 or scores.shape[1] < 3:
            raise ValueError(
                "The Friedman test needs at least two data sets and three methods, got "
                f"{scores.shape[0]} and {scores.shape[1]}."
            )
        if not np.isfinite(scores).all():
            raise ValueError("scores has gaps: leave out the data sets or methods that have them.")
        return scores

    def plot(self, *, ax=None):
        """Draw the diagram.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure that has room for all methods.

        Returns
        -------
        display : CriticalDifferenceDisplay
        """
        ranks = self.mean_ranks_
        n_methods = len(ranks)
        order = np.argsort(ranks, kind="stable")
        # Ranks in an inch.
        scale = (n_methods - 1) / _SPAN
        levels = _levels([ranks[list(group)] for group in self.groups_], gap=0.35 * scale)
        n_left = (n_methods + 1) // 2
        # Everything below the axis is measured downwards in inches of the figure made here.
        top_of_names = 0.25 + _BAR * (max(levels, default=-1) + 1) + 0.15
        depth = top_of_names + _LINE * n_left
        names = [str(self.names[method]) for method in order]
        left_side, right_side = (
            0.5 + 0.072 * (max(len(name) for name in part) + 6)
            for part in (names[:n_left], names[n_left:])
        )
        size = (
            _SPAN + left_side + right_side,
            _HEAD + depth + (0.3 if self.title else 0),
        )
        ax = make_axes(self, ax, size=size)
        ax.set_axis_off()
        ax.set(
            xlim=(1 - left_side * scale, n_methods + right_side * scale),
            ylim=(depth, -_HEAD),
        )
        self._draw_scale(ax, n_methods)
        for group, level in zip(self.groups_, levels, strict=True):
            ends = ranks[list(group)]
            overhang = 0.05 * scale
            y = 0.25 + _BAR * level
            ax.plot(
                [ends.min() - overhang, ends.max() + overhang],
                [y, y],
                color="black",
                linewidth=3.5,
                solid_capstyle="butt",
                zorder=3,
            )
        self.texts_ = []
        for place, method in enumerate(order):
            left = place < n_left
            # The outermost names are the highest: no line crosses a name.
            line = place if left else n_methods - 1 - place
            y = top_of_names + _LINE * line
            edge = 1 - 0.25 * scale if left else n_methods + 0.25 * scale
            ax.plot(
                [ranks[method], ranks[method], edge],
                [0, y, y],
                # Neighbours are easier to follow in two colours.
                color=("#555555", COLORS[0])[line % 2],
                linewidth=0.9,
                zorder=2,
            )
            shown = f"{ranks[method]:.2f}"
            name = names[place]
            self.texts_.append(
                ax.text(
                    edge - 0.06 * scale if left else edge + 0.06 * scale,
                    y,
                    f"{name}  {shown}" if left else f"{shown}  {name}",
                    ha="right" if left else "left",
                    va="center",
                    fontsize=9,
                    parse_math=False,
                )
            )
        ax.set_title(self.title, fontsize=11, parse_math=False)
        return self

    def _draw_scale(self, ax, n_methods):
        """Draw the axis of ranks, the critical difference above it, and what the tests say."""
        ax.plot([1, n_methods], [0, 0], color="black", linewidth=1.2, zorder=2)
        step = next(step for step in (1, 2, 5, 10, n_methods) if n_methods <= 11 * step)
        for rank in range(1, n_methods + 1):
            numbered = rank == 1 or rank % step == 0
            ax.plot([rank, rank], [0, -0.09 if numbered else -0.05], color="black", linewidth=0.9)
            if numbered:
                ax.text(rank, -0.13, f"{rank}", ha="center", va="bottom", fontsize=8)
        y = -0.5
        end = 1 + self.critical_difference_
        ax.plot([1, end], [y, y], color="black", linewidth=1.2)
        for x in (1, end):
            ax.plot([x, x], [y - 0.05, y + 0.05], color="black", linewidth=1.2)
        n_sets = len(self._checked_scores())
        p_value = f"= {self.p_value_:.2g}" if self.p_value_ >= 0.001 else "< 0.001"
        ax.text(
            1,
            y - 0.1,
            f"critical difference {self.critical_difference_:.2f} (Nemenyi, level {self.alpha:g}), "
            f"{n_sets} data sets, Friedman p {p_value}",
            ha="left",
            va="bottom",
            fontsize=8,
        )


def _levels(groups, gap):
    """Return for each bar the highest free line below the axis, with a gap to the next bar."""
    taken: list[float] = []
    levels = []
    for ranks in groups:
        free = [number for number, end in enumerate(taken) if end < ranks.min() - gap]
        level = free[0] if free else len(taken)
        if level == len(taken):
            taken.append(0.0)
        taken[level] = ranks.max()
        levels.append(level)
    return levels
