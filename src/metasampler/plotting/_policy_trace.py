"""What a meta-sampler chose, over the members of an ensemble."""

import numpy as np

from metasampler._docs import shared_docs
from metasampler.plotting.style import finish, fitted_with, line_style, make_axes


@shared_docs()
class PolicyTraceDisplay:
    """The mu of each member: mean and standard deviation over fits.

    The band is one standard deviation (with n - 1) on each side of the mean; a single fit has none.
    `from_estimator` draws one fit.

    Parameters
    ----------
    traces : dict of str to array-like of shape (n_fits, n_actions) or (n_actions,)
        By name, the mu of each fit from the second member on. NaN stands for members that a fit
        does not have.
    {title}

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : dict of str to matplotlib Line2D
        The means.

    See Also
    --------
    FitSummaryDisplay : Mu, score and errors of one fit.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from metasampler import MesaClassifier
    >>> from metasampler.plotting import PolicyTraceDisplay
    >>> X, y = make_classification(600, weights=[0.9], random_state=0)
    >>> options = {"n_estimators": 10, "meta_sampler": "random"}
    >>> tree = DecisionTreeClassifier()
    >>> fits = [MesaClassifier(tree, random_state=i, **options).fit(X, y) for i in range(3)]
    >>> display = PolicyTraceDisplay(traces={"random": [fit.actions_ for fit in fits]}).plot()
    >>> display.lines_["random"].get_xdata().tolist()
    [2, 3, 4, 5, 6, 7, 8, 9, 10]
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, traces, title=""):
        self.traces = traces
        self.title = title

    @classmethod
    def from_estimator(cls, estimator, *, name=None, title="", ax=None):
        """Draw the mu of one fit.

        Parameters
        ----------
        estimator : MesaClassifier, pipeline or search
            A fitted ensemble.
        name : str, default=None
            Name of the line; None means that of the class.
        {title}
        {ax}
        """
        fit = fitted_with("actions_", estimator, "mu is chosen by a MesaClassifier only.")
        traces = {type(fit).__name__ if name is None else name: fit.actions_}
        return cls(traces=traces, title=title).plot(ax=ax)

    def plot(self, *, ax=None):
        """Draw the traces in ``ax``, or in a new figure, and return the display."""
        ax = make_axes(self, ax, size=(6.3, 3.6), names=self.traces)
        self.lines_ = {}
        for number, (name, values) in enumerate(self.traces.items()):
            known = np.ma.masked_invalid(np.atleast_2d(np.asarray(values, dtype=float)))
            # NaN where there are too few fits to say.
            mean = known.mean(axis=0).filled(np.nan)
            spread = known.std(axis=0, ddof=1).filled(np.nan)
            members = np.arange(2, len(mean) + 2)
            style = line_style(number)
            # Many members would be a band of markers.
            every = max(1, len(members) // 20)
            (self.lines_[name],) = ax.plot(members, mean, **style, markevery=every, label=name)
            if not np.isnan(spread).all():
                # mu lies in [0, 1], and so should what is drawn of it.
                band = np.clip([mean - spread, mean + spread], 0, 1)
                look = {"color": style["color"], "alpha": 0.15, "linewidth": 0}
                ax.fill_between(members, *band, where=~np.isnan(spread), **look)
        ax.set(xlabel="member", ylabel="mu", ylim=(-0.05, 1.05))
        ax.xaxis.get_major_locator().set_params(integer=True)
        return finish(self)
