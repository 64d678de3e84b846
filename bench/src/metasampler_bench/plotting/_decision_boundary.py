"""Draw what several classifiers make of the plane, side by side."""

from textwrap import wrap

import numpy as np
from sklearn.metrics import average_precision_score
from sklearn.utils.validation import check_is_fitted

from metasampler.plotting.style import COLORS, import_pyplot, width_of

__all__ = ["DecisionBoundaryComparisonDisplay"]

_MARGIN = 0.08


class DecisionBoundaryComparisonDisplay:
    """Probabilities of the rare class over the plane: rows are data sets, columns classifiers.

    It is recommended to use `from_estimators` to create it. The first column shows the rows
    alone. The black line is where `predict` changes its mind.

    Parameters
    ----------
    panels : list of dict
        One entry a panel, in any order, with the keys

        - ``row``, ``column``: names of the data set and of the classifier;
        - ``X``, ``y``: the rows to draw, of two columns, and their labels;
        - ``xx``, ``yy``, ``proba``: arrays of one shape, as :func:`numpy.meshgrid` gives them,
          with the probability of the rare class; a ``proba`` of None draws the rows only;
        - ``score``: number to write in the corner, or None;
        - ``threshold`` (optional): probability of the black line, 0.5 if it is missing, no line
          if it is None.
    title : str, default=""
        Written above the panels.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : ndarray of matplotlib Axes, of shape (n_rows, n_columns + 1)

    See Also
    --------
    sklearn.inspection.DecisionBoundaryDisplay : The surface of one classifier.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from metasampler import MesaClassifier
    >>> from metasampler_bench.plotting import DecisionBoundaryComparisonDisplay
    >>> X, y = make_moons((300, 30), noise=0.3, random_state=0)
    >>> fits = {
    ...     "tree": DecisionTreeClassifier(random_state=0).fit(X, y),
    ...     "MESA": MesaClassifier(random_state=0).fit(X, y),
    ... }
    >>> display = DecisionBoundaryComparisonDisplay.from_estimators(fits, X, y)
    >>> display.axes_.shape
    (1, 3)
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, panels, title=""):
        self.panels = panels
        self.title = title

    @classmethod
    def from_estimators(
        cls, estimators, X, y, *, resolution=80, row_names=None, title="", figure=None
    ):
        """Draw fitted classifiers on one data set or on several.

        Parameters
        ----------
        estimators : dict of str to classifier, or list of such dicts
            Fitted classifiers by name; with a list, one dict a data set.
        X : array-like of shape (n_samples, 2), or list of these
            The rows to draw and to score.
        y : array-like of shape (n_samples,), or list of these
            Their labels.
        resolution : int, default=80
            Points of the grid in each direction.
        row_names : list of str, default=None
            Names of the data sets.
        title : str, default=""
            Written above the panels.
        figure : matplotlib Figure or SubFigure, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : DecisionBoundaryComparisonDisplay
            With the average precision of the rare class as scores.
        """
        if isinstance(estimators, dict):
            estimators, X, y = [estimators], [X], [y]
        if row_names is None:
            # Distinct, and nothing to be seen.
            row_names = [" " * number for number in range(len(estimators))]
        panels = [
            _panel(row, column, estimator, rows, labels, resolution)
            for row, fits, rows, labels in zip(row_names, estimators, X, y, strict=True)
            for column, estimator in fits.items()
        ]
        return cls(panels=panels, title=title).plot(figure=figure)

    def plot(self, *, figure=None):
        """Draw the panels.

        Parameters
        ----------
        figure : matplotlib Figure or SubFigure, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : DecisionBoundaryComparisonDisplay
        """
        if not self.panels:
            raise ValueError("There is nothing to draw: panels is empty.")
        rows = list(dict.fromkeys(panel["row"] for panel in self.panels))
        columns = list(dict.fromkeys(panel["column"] for panel in self.panels))
        if figure is None:
            pyplot = import_pyplot("DecisionBoundaryComparisonDisplay.plot")
            lines = max(_fold(name).count("\n") for name in columns) + 1
            head = 0.17 * lines + (0.3 if self.title else 0)
            size = (1.7 * (len(columns) + 1) + 0.9, 1.7 * len(rows) + head)
            figure = pyplot.figure(figsize=size, layout="constrained")
        axes = figure.subplots(len(rows), len(columns) + 1, squeeze=False)
        for ax in axes.flat:
            ax.tick_params(labelsize=6, length=2, pad=1)
            ax.locator_params(nbins=4, prune="both")
            ax.set(visible=False)
        surface = None
        for panel in self.panels:
            row, column = rows.index(panel["row"]), columns.index(panel["column"])
            if not axes[row, 0].get_visible():
                self._draw(axes[row, 0], {**panel, "proba": None, "score": None})
            drawn = self._draw(axes[row, column + 1], panel)
            surface = surface if drawn is None else drawn
        for ax, name in zip(axes[0], ["data", *columns], strict=True):
            # Also above a gap in the first row.
            ax.set_title(_fold(name), fontsize=9, parse_math=False)
            if not ax.get_visible():
                ax.set(visible=True, xticks=[], yticks=[])
                ax.set_frame_on(False)
        # The panels of a row share their coordinates.
        for ax in axes[:, 1:].flat:
            ax.tick_params(labelleft=False)
        for ax, name in zip(axes[:, 0], rows, strict=True):
            if name.strip():
                ax.set_ylabel(_fold(name), fontsize=9, parse_math=False)
        if surface is not None:
            width = width_of(figure)
            bar = figure.colorbar(
                surface, ax=axes, ticks=[0, 0.5, 1], fraction=0.25 / width, pad=0.1 / width
            )
            bar.set_label("p(rare class)")
        if self.title:
            figure.suptitle(self.title, fontsize=11, parse_math=False)
        self.figure_ = figure
        self.axes_ = axes
        return self

    @staticmethod
    def _draw(ax, panel):
        """Draw surface, line, rows and score, and return the surface for its colours."""
        ax.set_visible(True)
        surface = None
        xx, yy = panel.get("xx"), panel.get("yy")
        if panel.get("proba") is not None:
            proba = np.asarray(panel["proba"], dtype=float)
            surface = ax.pcolormesh(
                xx, yy, proba, cmap=_orange(), vmin=0, vmax=1, shading="nearest", rasterized=True
            )
            threshold = panel.get("threshold", 0.5)
            if threshold is not None and proba.min() < threshold <= proba.max():
                line = ax.contour(xx, yy, proba, levels=[threshold], colors="black", linewidths=0.8)
                line.set_rasterized(True)
        X, y = np.asarray(panel["X"], dtype=float), np.asarray(panel["y"])
        rare = y == _rarest(y)
        # The rare class last, so that it lies on top. The other has points without edges and
        # half-tones, which would be most of the file.
        looks = ((~rare, COLORS[0], "o", 1.5, 0.0), (rare, "#000000", "^", 12, 0.25))
        for chosen, color, marker, size, edge in looks:
            ax.scatter(
                X[chosen, 0],
                X[chosen, 1],
                s=size,
                c=color,
                marker=marker,
                edgecolors="white" if edge else "none",
                linewidths=edge,
                antialiased=bool(edge),
                rasterized=True,
            )
        if xx is not None:
            ax.set(xlim=(np.min(xx), np.max(xx)), ylim=(np.min(yy), np.max(yy)))
        if panel.get("score") is not None:
            ax.text(
                0.97,
                0.03,
                f"{panel['score']:.3f}",
                transform=ax.transAxes,
                ha="right",
                va="bottom",
                fontsize=8,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.5},
            )
        return surface


def _orange():
    """Return colours from white to orange: the darker the likelier, also in grey print."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("white-orange", ["#FFFFFF", "#FBD9A0", COLORS[1]])


def _panel(row, column, estimator, X, y, resolution):
    check_is_fitted(estimator)
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    if X.ndim != 2 or X.shape[1] != 2:
        raise ValueError(f"Only two columns can be drawn, X has the shape {X.shape}.")
    if len(np.unique(y)) != 2:
        raise ValueError("Only two classes can be drawn.")
    low, high = X.min(axis=0), X.max(axis=0)
    border = _MARGIN * (high - low)
    sides = np.linspace(low - border, high + border, resolution)
    xx, yy = np.meshgrid(sides[:, 0], sides[:, 1])
    label = _rarest(y)
    if not hasattr(estimator, "predict_proba"):
        raise ValueError(f"{type(estimator).__name__} has no predict_proba to draw.")
    if label not in estimator.classes_:
        raise ValueError(
            f"{type(estimator).__name__} has not seen the class {label}: its classes are "
            f"{estimator.classes_.tolist()}."
        )
    code = int(np.flatnonzero(estimator.classes_ == label)[0])
    proba = estimator.predict_proba(np.column_stack([xx.ravel(), yy.ravel()]))[:, code]
    # The ensembles of this package have a threshold of their own, on the class they call rare.
    threshold = 0.5
    if getattr(estimator, "minority_class_", None) == label:
        threshold = getattr(estimator, "threshold_", 0.5)
    score = average_precision_score(y == label, estimator.predict_proba(X)[:, code])
    return {
        "row": row,
        "column": column,
        "X": X,
        "y": y,
        "xx": xx,
        "yy": yy,
        "proba": proba.reshape(xx.shape),
        "score": float(score),
        "threshold": threshold,
    }


def _rarest(y):
    """Return the label with the fewest rows; of equal ones the last, as scikit-learn does."""
    labels, counts = np.unique(y, return_counts=True)
    return labels[np.flatnonzero(counts == counts.min())[-1]]


def _fold(name, width=18):
    """Break a long name into lines, so that it does not reach into the next panel."""
    return "\n".join(wrap(str(name), width))
