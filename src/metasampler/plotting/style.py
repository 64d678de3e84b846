"""What displays share: the classifier they draw, and the look of matplotlib's axes and legends.

matplotlib is asked for only when something is drawn.
"""

from math import ceil

from sklearn.utils.validation import check_is_fitted

from metasampler._pipelines import unwrap

# Colours of Okabe and Ito, which colour-blind readers can tell apart; the markers say it again.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":")
HATCHES = ("", "////", "....", "xxxx", "----", "++++", "oo")

# Inches of all panels side by side.
_LEAST_WIDTH = 6.5

# Inches in a legend: of a line, of what stands before a name, and of a letter of it.
_LEGEND_LINE, _LEGEND_HANDLE, _LEGEND_LETTER = 0.2, 0.75, 0.077
_LEGEND = {"frameon": False, "handlelength": 3, "fontsize": 9, "title_fontsize": 9}


def fitted_with(attribute: str, estimator, whose: str):
    """Return the fitted classifier inside pipelines and searches; it must have an attribute."""
    check_is_fitted(estimator)
    _, classifier = unwrap(estimator)
    if not hasattr(classifier, attribute):
        raise ValueError(f"{type(classifier).__name__} has no {attribute}: {whose}")
    return classifier


def import_pyplot(what: str):
    """Return pyplot, or an error that says how to get it."""
    try:
        import matplotlib.pyplot
    except ImportError as error:
        raise ImportError(f'{what} needs matplotlib: pip install "metasampler[plot]".') from error
    return matplotlib.pyplot


def tidy(axes) -> None:
    """Set the look that all pictures share."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#EEEEEE", zorder=0)
    axes.set_axisbelow(True)


def line_style(number: int) -> dict:
    """Return colour, dashes and marker of a line by its number; the first 196 all differ."""
    repeat = number // (len(COLORS) * len(DASHES))
    return {
        "color": COLORS[number % len(COLORS)],
        "linestyle": DASHES[number % len(DASHES)],
        "marker": MARKERS[(number + repeat) % len(MARKERS)],
        "markersize": 4.5,
    }


def make_axes(display, ax, *, size: tuple[float, float], names=()):
    """Give a display the axes passed or a new figure, with room for names beside axes of a size."""
    if ax is None:
        width, height = size
        if names:
            width += _LEGEND_HANDLE + _LEGEND_LETTER * max(len(str(name)) for name in names)
            height = max(height, 0.5 + _LEGEND_LINE * len(names))
        pyplot = import_pyplot(f"{type(display).__name__}.plot")
        _, ax = pyplot.subplots(figsize=(width, height), layout="constrained")
    display.ax_, display.figure_ = ax, ax.figure
    return ax


def make_panels(
    display,
    n_panels: int,
    figure,
    *,
    size: tuple[float, float],
    columns: int,
    labels: tuple[str, str] = ("", ""),
    legend=(),
    sharex=False,
    sharey=False,
):
    """Give a display panels row by row, in the figure passed or in a new one; return their axes.

    ``size`` are the least width and the height of a panel of a new figure, in inches. ``labels``
    are those of the last row and of the first column. ``legend`` holds the names that will stand
    below the panels.
    """
    what = f"{type(display).__name__}.plot"
    if n_panels == 0:
        raise ValueError(f"There is nothing to draw: {what} was given no panels.")
    columns = min(columns, n_panels)
    rows = ceil(n_panels / columns)
    if figure is None:
        width, height = max(columns * size[0], _LEAST_WIDTH), rows * size[1]
        if legend:
            lines = ceil(len(legend) / _legend_columns(legend, width))
            height += _LEGEND_LINE * (lines + 1)
        height += 0.3 if display.title else 0
        figure = import_pyplot(what).figure(figsize=(width, height), layout="constrained")
    elif figure.get_layout_engine() is None and hasattr(figure, "set_layout_engine"):
        # Without it nothing keeps the panels away from the legend.
        figure.set_layout_engine("constrained")
    axes = figure.subplots(rows, columns, sharex=sharex, sharey=sharey, squeeze=False).ravel()
    for ax in axes[n_panels:]:
        ax.remove()
    for ax in axes[n_panels - columns : n_panels]:
        # A shared axis hides the numbers of all rows but the last, which may have gaps.
        ax.tick_params(labelbottom=True)
        ax.set_xlabel(labels[0], parse_math=False)
    for ax in axes[:n_panels:columns]:
        ax.set_ylabel(labels[1], parse_math=False)
    if display.title:
        figure.suptitle(display.title, fontsize=11, parse_math=False)
    display.figure_, display.axes_ = figure, axes[:n_panels]
    return display.axes_


def plain_legend(legend) -> None:
    """Show names as they are: a dollar sign in them starts no formula."""
    for text in (*legend.get_texts(), legend.get_title()):
        text.set_parse_math(False)


def width_of(figure) -> float:
    """Return the width of a figure or of a part of one, in inches."""
    return figure.bbox.width / figure.dpi


def legend_beside(ax, *, title=None) -> None:
    """Put a legend to the right of the axes, where it covers no line."""
    place = {"loc": "center left", "bbox_to_anchor": (1, 0.5), "alignment": "left"}
    plain_legend(ax.legend(title=title, **place, **_LEGEND))


def finish(display):
    """Return a display of lines by name, with its title and a legend beside them."""
    display.ax_.set_title(display.title, loc="left", fontsize=11, parse_math=False)
    tidy(display.ax_)
    if display.lines_:
        legend_beside(display.ax_)
    return display


def legend_below(display, *, title=None):
    """Return a display of panels with one legend for all below them, each name once."""
    entries: dict = {}
    for ax in display.axes_:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    if entries:
        figure = display.figure_
        columns = _legend_columns(list(entries), width_of(figure))
        place = {"loc": "outside lower center", "ncols": columns, "title": title}
        plain_legend(figure.legend(list(entries.values()), list(entries), **place, **_LEGEND))
    return display


def _legend_columns(names, width: float) -> int:
    """Return how many names have room side by side, with lines of about equal length."""
    longest = max(len(str(name)) for name in names)
    room = max(1, int(width / (_LEGEND_HANDLE + 0.15 + _LEGEND_LETTER * longest)))
    return ceil(len(names) / ceil(len(names) / room))
