"""Precision and recall at every threshold."""

import numpy as np
from sklearn.metrics import precision_recall_curve

from metasampler._docs import shared_docs
from metasampler.ensemble.fitted_ensembles import is_positive
from metasampler.plotting.style import COLORS, fitted_with, make_axes, tidy


@shared_docs()
class ThresholdDisplay:
    """Precision and recall at every threshold; the threshold in use is marked.

    It is recommended to use `from_estimator` to create it.

    Parameters
    ----------
    precision, recall, thresholds : ndarray of shape (n_thresholds,)
        Precision and recall if all rows with at least this probability are called.
    threshold : float, default=None
        The threshold in use.
    pos_label : object, default=1
        The class that is called, for the labels.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    precision_line_, recall_line_ : matplotlib Line2D

    See Also
    --------
    sklearn.metrics.PrecisionRecallDisplay : Precision against recall.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_classification
    >>> from metasampler import MesaClassifier
    >>> from metasampler.plotting import ThresholdDisplay
    >>> X, y = make_classification(1000, weights=[0.95], random_state=0)
    >>> clf = MesaClassifier(threshold="f1", random_state=0).fit(X[:500], y[:500])
    >>> display = ThresholdDisplay.from_estimator(clf, X[500:], y[500:])
    >>> display.threshold == clf.threshold_
    True
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, precision, recall, thresholds, threshold=None, pos_label=1):
        self.precision = precision
        self.recall = recall
        self.thresholds = thresholds
        self.threshold = threshold
        self.pos_label = pos_label

    @classmethod
    def from_estimator(cls, estimator, X, y, *, ax=None):
        """Draw the curves of a fitted ensemble on rows it has not seen.

        Parameters
        ----------
        estimator : classifier, pipeline or search
            A fitted ensemble with `threshold_`, of two classes.
        {test_rows}
        {ax}
        """
        whose = "it belongs to ensembles of this package that were fitted on two classes."
        final = fitted_with("threshold_", estimator, whose)
        rare = final.minority_class_
        score = estimator.predict_proba(X)[:, list(final.classes_).index(rare)]
        if getattr(final, "positive", None) is not None:
            y = is_positive(y, final.positive)
        precision, recall, thresholds = precision_recall_curve(y, score, pos_label=rare)
        display = cls(
            # The last point, recall 0, belongs to no threshold.
            precision=precision[:-1],
            recall=recall[:-1],
            thresholds=thresholds,
            threshold=final.threshold_,
            pos_label=rare,
        )
        return display.plot(ax=ax)

    def plot(self, *, ax=None):
        """Draw the curves in ``ax``, or in a new figure, and return the display."""
        ax = make_axes(self, ax, size=(7, 4))
        # Thresholds of a rare class are small: the scale is logarithmic, and has no place for 0.
        shown = self.thresholds > 0
        called = None
        if self.threshold is not None:
            called = int(np.searchsorted(self.thresholds, self.threshold))
        lines = []
        for name, values, color, dashes, marker in (
            ("precision", self.precision, COLORS[0], "-", "o"),
            ("recall", self.recall, COLORS[1], "--", "s"),
        ):
            # Between two thresholds everything is as at the higher one.
            look = {"color": color, "linestyle": dashes, "drawstyle": "steps-pre"}
            (line,) = ax.plot(self.thresholds[shown], values[shown], label=name, **look)
            lines.append(line)
            # Above the highest probability no row is called, and there is no precision.
            if called is not None and called < len(values):
                ax.plot(self.threshold, values[called], marker, color=color)
                line.set_label(f"{name} ({values[called]:.0%})")
        self.precision_line_, self.recall_line_ = lines
        if self.threshold is not None:
            label = f"threshold {self.threshold:.3g}"
            ax.axvline(self.threshold, color="#777777", linestyle=":", zorder=1, label=label)
        xlabel = f"threshold on the probability of {self.pos_label}"
        ax.set(xscale="log", ylim=(-0.02, 1.05), xlabel=xlabel)
        tidy(ax)
        # Below the axes, where it covers no line.
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3, frameon=False)
        return self
