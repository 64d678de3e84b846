"""What a fit did, member by member, as a picture."""

import numpy as np

from metasampler._docs import shared_docs
from metasampler.plotting.style import fitted_with, legend_beside, line_style, make_panels, tidy

_ERROR_OF = "error of "


@shared_docs()
class FitSummaryDisplay:
    """Mu, validation score and errors by class of each member, in up to three panels.

    Create it with `from_estimator`. A panel is left out if the fit has no numbers for it. For
    instance, a uniform draw has no mu, and a fit without validation rows has no score. With teams
    the scores are those of each team alone; `held_out_scores_` has the score of all teams together.

    Parameters
    ----------
    rows : list of dict
        One entry a member, see :class:`FitSummary`'s ``rows``.
    {title}

    Attributes
    ----------
    {panels}

    See Also
    --------
    ThresholdDisplay : Precision and recall at every threshold.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_classification
    >>> from metasampler import MesaClassifier
    >>> from metasampler.plotting import FitSummaryDisplay
    >>> X, y = make_classification(1000, weights=[0.95], random_state=0)
    >>> clf = MesaClassifier(random_state=0).fit(X, y)
    >>> display = FitSummaryDisplay.from_estimator(clf)
    >>> len(display.axes_)
    3
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, rows, title=""):
        self.rows = rows
        self.title = title

    @classmethod
    def from_estimator(cls, estimator, *, figure=None):
        """Draw the `summary` of a fitted ensemble.

        Parameters
        ----------
        estimator : classifier, pipeline or search
            A fitted ensemble with `summary`, such as :class:`~metasampler.MesaClassifier`.
        {figure}
        """
        whose = "it belongs to ensembles of this package."
        summary = fitted_with("summary", estimator, whose).summary()
        return cls(rows=summary.rows, title=summary.title).plot(figure=figure)

    def plot(self, *, figure=None):
        """Draw the panels in a ``figure``, or in a new one, and return the display."""
        panels = self._panels()
        if not panels:
            raise ValueError(
                "There is nothing to draw: the members were drawn by a rule without mu, and "
                "without validation rows there are no scores; set validation_fraction."
            )
        size, labels = (7, 2.1), ("members", "")
        axes = make_panels(
            self, len(panels), figure, size=size, columns=1, labels=labels, sharex=True
        )
        members = [row["member"] for row in self.rows]
        # Many members would be a band of markers.
        every = max(1, len(members) // 25)
        for panel, (label, lines) in zip(axes, panels, strict=True):
            for number, (name, values) in enumerate(lines.items()):
                panel.plot(members, values, **line_style(number), markevery=every, label=name)
            panel.set_ylabel(label)
            if label == "mu":
                panel.set_ylim(-0.05, 1.05)
            if label == "score of a team":
                legend_beside(panel, title="team alone")
            elif len(lines) > 1:
                highest = np.nanmax([np.nanmax(values) for values in lines.values()])
                # Room above, so that no marker is cut.
                panel.set_ylim(0, 1.08 * highest or 1)
                legend_beside(panel, title="class")
            tidy(panel)
        axes[-1].xaxis.get_major_locator().set_params(integer=True)
        return self

    def _panels(self):
        """Return the label of each panel, and the lines in it by name."""
        labels = ("mu", "validation score", "score of a team", "mean error")
        panels: dict[str, dict] = {label: {} for label in labels}
        for name in self.rows[0]:
            # NumPy makes NaN of None.
            column = np.array([row[name] for row in self.rows], dtype=object)
            if name in ("mu", "score"):
                label = "mu" if name == "mu" else "validation score"
                panels[label][""] = column.astype(float)
            elif name == "team score":
                teams = np.array([row["team"] for row in self.rows])
                for team in dict.fromkeys(teams):
                    line = np.where(teams == team, column.astype(float), np.nan)
                    if np.isfinite(line).any():
                        panels["score of a team"][team] = line
            elif name.startswith(_ERROR_OF):
                panels["mean error"][name.removeprefix(_ERROR_OF)] = column.astype(float)
        return [(label, lines) for label, lines in panels.items() if lines]
