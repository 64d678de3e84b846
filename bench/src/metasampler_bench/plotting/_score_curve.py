"""Draw scores against something that was varied."""

from textwrap import wrap

import numpy as np

from metasampler.plotting.style import legend_below, line_style, make_panels, tidy

__all__ = ["ScoreCurveDisplay"]

_COLUMNS = 3
#: Powers of ten that a logarithmic axis must span for these alone to be named.
_DECADES = 1.6
#: Letters above a panel, as many as it is wide.
_TITLE_LETTERS = 36


class ScoreCurveDisplay:
    """Scores against training rows, noise, members or the like, one panel a data set.

    Parameters
    ----------
    curves : dict of str to dict of str to tuple
        By panel, and then by name, the places on the x axis, the mean scores there and their
        standard errors, or None, which draws no band.
    xlabel : str
        What was varied.
    ylabel : str, default="average precision"
        What was measured.
    logx : bool, default=False
        Whether the x axis is logarithmic.
    title : str, default=""
        Written above the panels.
    styles : dict of str to dict, default=None
        Colour, dashes and marker by name, so that a method looks the same in all pictures; None
        goes by the order of the names.
    least_span : float, default=0.0
        Range that the y axis of a panel shows at least, around its curves; scores end at 1.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : ndarray of matplotlib Axes
        The panels.

    See Also
    --------
    sklearn.model_selection.LearningCurveDisplay : The learning curve of one estimator.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from metasampler_bench.plotting import ScoreCurveDisplay
    >>> members = [5, 10, 20]
    >>> display = ScoreCurveDisplay(
    ...     curves={
    ...         "ecoli": {
    ...             "MESA": (members, [0.6, 0.7, 0.72], [0.02, 0.01, 0.01]),
    ...             "bagging": (members, [0.55, 0.6, 0.61], None),
    ...         }
    ...     },
    ...     xlabel="members",
    ... ).plot()
    >>> [line.get_label() for line in display.axes_[0].lines]
    ['MESA', 'bagging']
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        *,
        curves,
        xlabel,
        ylabel="average precision",
        logx=False,
        title="",
        styles=None,
        least_span=0.0,
    ):
        self.curves = curves
        self.xlabel = xlabel
        self.ylabel = ylabel
        self.logx = logx
        self.title = title
        self.styles = styles
        self.least_span = least_span

    def plot(self, *, figure=None):
        """Draw the panels.

        Parameters
        ----------
        figure : matplotlib Figure or SubFigure, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : ScoreCurveDisplay
        """
        names = list(dict.fromkeys(name for lines in self.curves.values() for name in lines))
        n_panels = len(self.curves)
        # Four panels make a square.
        columns = 2 if n_panels == 4 else max(1, min(n_panels, _COLUMNS))
        axes = make_panels(
            self,
            n_panels,
            figure,
            size=(max(3.2, 7 / columns), 2.6),
            columns=columns,
            labels=(self.xlabel, self.ylabel),
            legend=names,
        )
        for panel, (task, curves) in zip(axes, self.curves.items(), strict=True):
            for name, (x, mean, spread) in curves.items():
                style = (self.styles or {}).get(name) or line_style(names.index(name))
                self._draw(panel, style, name, x, mean, spread)
            if self.logx:
                panel.set_xscale("log")
                _name_ticks(panel.xaxis)
            self._widen(panel)
            heading = "\n".join(wrap(task, _TITLE_LETTERS))
            panel.set_title(heading, fontsize=10, parse_math=False)
            tidy(panel)
        return legend_below(self)

    def _widen(self, panel):
        """Show at least so much of the y axis, and nothing above 1 for it."""
        low, high = panel.get_ylim()
        missing = self.least_span - (high - low)
        if missing > 0:
            above = min(missing / 2, max(1.0 - high, 0.0))
            panel.set_ylim(low - (missing - above), high + above)

    @staticmethod
    def _draw(panel, style, name, x, mean, spread):
        x, mean = np.asarray(x, dtype=float), np.asarray(mean, dtype=float)
        panel.plot(x, mean, **style, markevery=max(1, len(x) // 20), label=name)
        if spread is not None:
            spread = np.asarray(spread, dtype=float)
            panel.fill_between(
                x, mean - spread, mean + spread, color=style["color"], alpha=0.15, linewidth=0
            )


def _name_ticks(axis):
    """Name the powers of ten, and twice and five times them where few of these are in sight."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_minor_formatter(NullFormatter())
    low, high = axis.get_view_interval()
    if np.log10(high / low) < _DECADES:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda place, _: f"{place:,g}"))
