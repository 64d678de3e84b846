"""Precision and recall of several classifiers in one picture."""

import numpy as np
from sklearn.metrics import average_precision_score, precision_recall_curve
from sklearn.utils.validation import check_is_fitted

from metasampler._docs import shared_docs
from metasampler.plotting.style import beside_size, finish, line_style, make_axes


@shared_docs()
class PrecisionRecallComparisonDisplay:
    """Precision-recall curves of several classifiers, from best to worst.

    It is recommended to use `from_estimators` or `from_predictions` to create it.

    Parameters
    ----------
    curves : dict of str to tuple
        By name, precision and recall (arrays as :func:`~sklearn.metrics.precision_recall_curve`
        gives them) and the average precision.
    chance : float, default=None
        The precision of chance, which is the share of the class to find; None draws no line.
    {title}

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : dict of str to matplotlib Line2D
        The curves, from the highest average precision to the lowest.
    chance_line_ : matplotlib Line2D or None

    See Also
    --------
    sklearn.metrics.PrecisionRecallDisplay : The curve of one classifier.
    ThresholdDisplay : Precision and recall at every threshold.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from metasampler import MesaClassifier
    >>> from metasampler.plotting import PrecisionRecallComparisonDisplay
    >>> X, y = make_classification(1000, weights=[0.95], random_state=0)
    >>> fits = {
    ...     "tree": DecisionTreeClassifier(random_state=0).fit(X[:500], y[:500]),
    ...     "MESA": MesaClassifier(random_state=0).fit(X[:500], y[:500]),
    ... }
    >>> display = PrecisionRecallComparisonDisplay.from_estimators(fits, X[500:], y[500:])
    >>> list(display.lines_)
    ['MESA', 'tree']
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, curves, chance=None, title=""):
        self.curves = curves
        self.chance = chance
        self.title = title

    @classmethod
    def from_estimators(
        cls, estimators, X, y, *, pos_label=None, sample_weight=None, title="", ax=None
    ):
        """Draw the curves of fitted classifiers on the same rows.

        Parameters
        ----------
        estimators : dict of str to classifier
            Fitted classifiers by name, with `predict_proba` or, for two classes,
            `decision_function`.
        {test_rows}
        pos_label : object, default=None
            The class to find, against all others; None means the rarest in y.
        {row_weights}
        {title}
        {ax}
        """
        y = np.asarray(y)
        if pos_label is None:
            # Of equally rare ones the last.
            labels, counts = np.unique(y, return_counts=True)
            pos_label = labels[np.flatnonzero(counts == counts.min())[-1]]
        found = y == pos_label
        if not found.any():
            raise ValueError(f"No row of y has the label {pos_label!r}.")
        scores = {name: class_scores(fitted, X, pos_label) for name, fitted in estimators.items()}
        return cls.from_predictions(scores, found, sample_weight=sample_weight, title=title, ax=ax)

    @classmethod
    def from_predictions(cls, scores, found, *, sample_weight=None, title="", ax=None):
        """Draw the curves of several scores on the same rows.

        Parameters
        ----------
        scores : dict of str to array-like of shape (n_samples,)
            By name, a score for each row. A high score stands for the class to find.
        found : array-like of bool of shape (n_samples,)
            Which rows are of this class.
        {row_weights}
        {title}
        {ax}
        """
        curves = {}
        weights = {"sample_weight": sample_weight}
        for name, values in scores.items():
            precision, recall, _ = precision_recall_curve(found, values, **weights)
            average = average_precision_score(found, values, **weights)
            curves[name] = (precision, recall, float(average))
        chance = float(np.average(found, weights=sample_weight))
        return cls(curves=curves, chance=chance, title=title).plot(ax=ax)

    def plot(self, *, ax=None):
        """Draw the curves in ``ax``, or in a new figure, and return the display."""
        labels = {name: f"{name}: {curve[2]:.3f}" for name, curve in self.curves.items()}
        size = beside_size([*labels.values(), "chance: 0.000"], 5.8, 4.5)
        ax = make_axes("PrecisionRecallComparisonDisplay.plot", ax, size=size)
        self.lines_ = {}
        # The style goes by the place in `curves`: it stays when a score changes the order.
        places = {name: number for number, name in enumerate(self.curves)}
        for name in sorted(self.curves, key=lambda name: -self.curves[name][2]):
            precision, recall, _ = self.curves[name]
            look = {**line_style(places[name]), "drawstyle": "steps-post"}
            # Every curve has its markers elsewhere, at equal distances in the picture.
            look["markevery"] = (0.02 * (places[name] % 6), 0.12)
            (self.lines_[name],) = ax.plot(recall, precision, label=labels[name], **look)
        self.chance_line_ = None
        if self.chance is not None:
            look = {"color": "#999999", "linestyle": (0, (1, 3)), "linewidth": 1, "zorder": 1}
            self.chance_line_ = ax.axhline(self.chance, label=f"chance: {self.chance:.3f}", **look)
        ax.set(xlabel="recall", ylabel="precision", xlim=(0, 1.01), ylim=(0, 1.02))
        return finish(self, ax, legend_title="average precision")


def class_scores(estimator, X, label):
    """Return how strongly a fitted classifier believes in a class, row by row."""
    check_is_fitted(estimator)
    places = np.flatnonzero(estimator.classes_ == label)
    if not len(places):
        raise ValueError(
            f"{type(estimator).__name__} has not seen the class {label}: its classes are "
            f"{estimator.classes_.tolist()}."
        )
    column = int(places[0])
    if hasattr(estimator, "predict_proba"):
        return estimator.predict_proba(X)[:, column]
    scores = np.asarray(estimator.decision_function(X))
    if scores.ndim == 2:
        return scores[:, column]
    return scores if column == 1 else -scores
