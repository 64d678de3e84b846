"""How the errors of an ensemble move while it grows."""

import numpy as np
from sklearn.preprocessing import LabelEncoder
from sklearn.utils.validation import check_is_fitted

from metasampler._docs import shared_docs
from metasampler._pipelines import unwrap
from metasampler.plotting.style import COLORS, HATCHES, legend_below, make_panels, tidy
from metasampler.policy import error_histogram

_SHOWN = 5


@shared_docs()
class ErrorHistogramDisplay:
    """Histograms of the errors of each class, as the ensemble grows.

    It is recommended to use `from_estimator` to create it.

    Parameters
    ----------
    histograms : array-like of shape (n_shown, n_classes, n_bins)
        Fractions of the rows of a class in equal bins on [0, 1].
    members : sequence of int
        The number of members of each panel.
    class_names : sequence
        Names of the classes.
    {title}

    Attributes
    ----------
    {panels}

    See Also
    --------
    FitSummaryDisplay : Mean errors by class.
    metasampler.policy.StateEncoder : What a meta-sampler reads.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_classification
    >>> from metasampler import MesaClassifier
    >>> from metasampler.plotting import ErrorHistogramDisplay
    >>> X, y = make_classification(600, weights=[0.9], random_state=0)
    >>> clf = MesaClassifier(random_state=0).fit(X, y)
    >>> display = ErrorHistogramDisplay.from_estimator(clf, X, y, members=[1, 3, 10])
    >>> display.histograms.shape
    (3, 2, 10)
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, histograms, members, class_names, title=""):
        self.histograms = histograms
        self.members = members
        self.class_names = class_names
        self.title = title

    @classmethod
    def from_estimator(cls, estimator, X, y, *, members=None, n_bins=10, title="", figure=None):
        """Draw the errors of a fitted ensemble, 1 - p(true class).

        These are errors of the members' joint answer, before calibration.

        Parameters
        ----------
        estimator : classifier, pipeline or search
            A fitted ensemble of this package, or any classifier with `staged_predict_proba`.
        {test_rows}
        members : sequence of int, default=None
            Numbers of members, one for each panel; None means up to five, from the first member to
            the last.
        n_bins : int, default=10
            Bins of each histogram.
        {title}
        {figure}
        """
        check_is_fitted(estimator)
        before, estimator = unwrap(estimator)
        for step in before:
            X = step.transform(X)
        n_members = len(estimator.estimators_)
        if members is None:
            members = np.unique(np.linspace(1, n_members, _SHOWN).round().astype(int))
        members = [int(number) for number in members]
        if not members or not all(1 <= number <= n_members for number in members):
            raise ValueError(
                f"members must be numbers from 1 to {n_members}, the size of the ensemble; got "
                f"{members}."
            )
        classes = estimator.classes_
        codes = LabelEncoder().fit(classes).transform(y)
        staged = getattr(estimator, "staged_mean_proba", None) or estimator.staged_predict_proba
        found = {}
        for number, proba in enumerate(staged(X), start=1):
            if number in members:
                errors = 1 - proba[np.arange(len(codes)), codes]
                by_class = (errors[codes == code] for code in range(len(classes)))
                with np.errstate(invalid="ignore"):  # a class without rows has no fractions
                    found[number] = [error_histogram(part, n_bins) for part in by_class]
        display = cls(
            histograms=np.array([found[number] for number in members]),
            members=members,
            class_names=[str(label) for label in classes],
            title=title,
        )
        return display.plot(figure=figure)

    def plot(self, *, figure=None):
        """Draw the panels in a ``figure``, or in a new one, and return the display."""
        histograms = np.asarray(self.histograms, dtype=float)
        n_shown, n_classes, n_bins = histograms.shape
        axes = make_panels(
            self,
            n_shown,
            figure,
            size=(2.4, 2.4),
            columns=_SHOWN,
            labels=("error", "share of the class"),
            legend=self.class_names,
            sharex=True,
            sharey=True,
        )
        width = 0.9 / n_bins / n_classes
        left_edges = np.arange(n_bins) / n_bins + 0.05 / n_bins
        for place, (panel, number) in enumerate(zip(axes, self.members, strict=True)):
            for code, name in enumerate(self.class_names):
                look = {"align": "edge", "edgecolor": "white", "linewidth": 0, "label": name}
                look |= {"color": COLORS[code % len(COLORS)], "hatch": HATCHES[code % len(HATCHES)]}
                panel.bar(left_edges + code * width, histograms[place, code], width, **look)
            panel.set_title(f"{number} member{'s' if number != 1 else ''}", fontsize=10)
            tidy(panel)
            panel.set_xlim(0, 1)
            panel.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        return legend_below(self, title="class")
