"""What a meta-sampler chose, over the members of an ensemble."""

import warnings
from itertools import zip_longest

import numpy as np

from metasampler._docs import shared_docs
from metasampler._pipelines import unwrap
from metasampler.plotting.style import finish, fitted_with, line_style, make_axes


@shared_docs()
class PolicyTraceDisplay:
    """The mu of each member: mean and standard deviation over fits.

    The band is one standard deviation (with n - 1) on each side of the mean; a single fit has none.
    It is recommended to use `from_estimators` or `from_estimator` to create it.

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
    >>> display = PolicyTraceDisplay.from_estimators({"random": fits})
    >>> display.lines_["random"].get_xdata().tolist()
    [2, 3, 4, 5, 6, 7, 8, 9, 10]
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, traces, title=""):
        self.traces = traces
        self.title = title

    @classmethod
    def from_estimators(cls, estimators, *, title="", ax=None):
        """Draw the mu of several fits.

        Parameters
        ----------
        estimators : dict of str to MesaClassifier or list of MesaClassifier
            Fitted ensembles by name, or pipelines and searches around them. A list is shown by its
            mean.
        {title}
        {ax}
        """
        traces = {}
        for name, fits in estimators.items():
            fits = fits if isinstance(fits, (list, tuple)) else [fits]
            whose = "mu is chosen by a MesaClassifier only."
            actions = [fitted_with("actions_", fit, whose).actions_ for fit in fits]
            # One row a fit; shorter ones are filled up with NaN.
            traces[name] = np.array(list(zip_longest(*actions, fillvalue=np.nan))).T
        return cls(traces=traces, title=title).plot(ax=ax)

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
        name = type(unwrap(estimator)[1]).__name__ if name is None else name
        return cls.from_estimators({name: estimator}, title=title, ax=ax)

    def plot(self, *, ax=None):
        """Draw the traces in ``ax``, or in a new figure, and return the display."""
        ax = make_axes(self, ax, size=(6.3, 3.6), names=self.traces)
        self.lines_ = {}
        for number, (name, values) in enumerate(self.traces.items()):
            values = np.atleast_2d(np.asarray(values, dtype=float))
            with warnings.catch_warnings():
                # NaN where there are too few fits to say.
                warnings.simplefilter("ignore", RuntimeWarning)
                mean, spread = np.nanmean(values, axis=0), np.nanstd(values, axis=0, ddof=1)
            members = np.arange(2, len(mean) + 2)
            style = line_style(number)
            # Many members would be a band of markers.
            every = max(1, len(members) // 20)
            (self.lines_[name],) = ax.plot(members, mean, **style, markevery=every, label=name)
            known = ~np.isnan(spread)
            if known.any():
                # mu lies in [0, 1], and so should what is drawn of it.
                band = np.clip([mean - spread, mean + spread], 0, 1)
                look = {"color": style["color"], "alpha": 0.15, "linewidth": 0}
                ax.fill_between(members, *band, where=known, **look)
        ax.set(xlabel="member", ylabel="mu", ylim=(-0.05, 1.05))
        ax.xaxis.get_major_locator().set_params(integer=True)
        return finish(self)
