"""Draw how well what was learned on one task serves on others."""

import numpy as np

from metasampler.plotting.style import make_axes

__all__ = ["TransferHeatmapDisplay"]

_MISSING = "\N{EN DASH}"
_MINUS = "\N{MINUS SIGN}"


class TransferHeatmapDisplay:
    """A heat map with the number written in each cell: rows trained on, columns used on.

    Parameters
    ----------
    values : array-like of shape (n_rows, n_columns)
        Scores, or with `loss` relative changes as fractions (0.01 is shown as +1.0%). NaN cells
        are left empty, with a dash.
    row_labels, column_labels : sequence of str
        Names of the rows and columns.
    loss : bool, default=False
        Whether the values are differences, with a meaning of zero: their colours lie around it,
        and numbers are shown in percent and with their sign.
    row_title, column_title : str, default="meta-trained on", "used on"
        What rows and columns are.
    title : str, default=""
        Written above the axes.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    im_ : matplotlib AxesImage
    text_ : ndarray of matplotlib Text, of shape (n_rows, n_columns)

    See Also
    --------
    sklearn.metrics.ConfusionMatrixDisplay : The same look, for the errors of a classifier.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from metasampler_bench.plotting import TransferHeatmapDisplay
    >>> display = TransferHeatmapDisplay(
    ...     values=[[0.0, -0.012], [0.034, 0.0]],
    ...     row_labels=["optical digits", "mammography"],
    ...     column_labels=["optical digits", "mammography"],
    ...     loss=True,
    ... ).plot()
    >>> display.text_[1, 0].get_text()
    '+3.4%'
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        *,
        values,
        row_labels,
        column_labels,
        loss=False,
        row_title="meta-trained on",
        column_title="used on",
        title="",
    ):
        self.values = values
        self.row_labels = row_labels
        self.column_labels = column_labels
        self.loss = loss
        self.row_title = row_title
        self.column_title = column_title
        self.title = title

    def plot(self, *, ax=None, digits=None):
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        digits : int, default=None
            Digits behind the point; None means 3, and 1 of a percentage.

        Returns
        -------
        display : TransferHeatmapDisplay
        """
        values = np.asarray(self.values, dtype=float)
        expected = (len(self.row_labels), len(self.column_labels))
        if values.shape != expected:
            raise ValueError(f"values has the shape {values.shape}, the labels need {expected}.")
        n_rows, n_columns = values.shape
        names = [str(label) for label in self.row_labels]
        margin = 1.8 + 0.07 * max(len(name) for name in names)
        # The title lies above the cells, and needs their width.
        width = max(margin + 0.66 * n_columns, 1 + 0.085 * len(self.title))
        heads = [str(label) for label in self.column_labels]
        longest = max(len(head) for head in heads)
        upright = longest > 8
        height = 1.3 + 0.42 * n_rows + (0.07 * longest if upright else 0)
        ax = make_axes(self, ax, size=(width, height))

        options: dict = {"cmap": "cividis"}
        if self.loss:
            # Without values, or with zeros only, any reach will do.
            reach = np.nanmax(np.abs(values), initial=0) if np.isfinite(values).any() else 0
            reach = reach or 0.01
            options = {"cmap": "PuOr", "vmin": -reach, "vmax": reach}
        elif not np.isfinite(values).any():
            options |= {"vmin": 0, "vmax": 1}
        self.im_ = ax.imshow(np.ma.masked_invalid(values), aspect="auto", **options)
        self.text_ = self._annotate(ax, values, digits)
        for spine in ax.spines.values():
            spine.set_visible(False)
        turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if upright else {}
        ax.set_xticks(range(n_columns), heads, parse_math=False, **turned)
        ax.set_yticks(range(n_rows), names, parse_math=False)
        # Light lines between the cells, which colours alone may not show.
        ax.set_xticks(np.arange(n_columns + 1) - 0.5, minor=True)
        ax.set_yticks(np.arange(n_rows + 1) - 0.5, minor=True)
        ax.grid(which="minor", color="white", linewidth=1.5)
        ax.tick_params(which="both", length=0)
        ax.set_facecolor("#E8E8E8")
        ax.set_xlabel(self.column_title, parse_math=False)
        ax.set_ylabel(self.row_title, parse_math=False)
        ax.set_title(self.title, loc="left", fontsize=11, parse_math=False)
        ax.figure.colorbar(self.im_, ax=ax, format=self._tick, pad=0.03)
        return self

    def _annotate(self, ax, values, digits):
        if digits is None:
            digits = 1 if self.loss else 3
        text = np.empty(values.shape, dtype=object)
        for (row, column), value in np.ndenumerate(values):
            if np.isnan(value):
                shown, color = _MISSING, "#555555"
            else:
                shown = self._number(value, digits)
                red, green, blue, _ = self.im_.cmap(self.im_.norm(value))
                # Dark on light cells and light on dark ones, by the brightness of their colour.
                bright = 0.299 * red + 0.587 * green + 0.114 * blue > 0.5
                color = "black" if bright else "white"
            text[row, column] = ax.text(
                column, row, shown, ha="center", va="center", color=color, fontsize=9
            )
        return text

    def _number(self, value, digits):
        if not self.loss:
            return f"{value:.{digits}f}".replace("-", _MINUS)
        shown = f"{value:+.{digits}%}"
        if float(shown[:-1]) == 0:
            # A zero has no sign, whatever was rounded away.
            return shown[1:]
        return shown.replace("-", _MINUS)

    def _tick(self, value, _place):
        if not self.loss:
            return f"{value:.4g}".replace("-", _MINUS)
        value = round(100 * value, 6)
        sign = "+" if value > 0 else ""
        return f"{sign}{value:.4g}%".replace("-", _MINUS) if value else "0%"
