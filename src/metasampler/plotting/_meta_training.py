"""The course of a meta-training."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from sklearn.utils.validation import check_is_fitted

from metasampler._docs import shared_docs
from metasampler.plotting.style import legend_below, line_style, make_panels, tidy

_PARTS = ("train", "valid", "test")
_COLUMNS = 4


@shared_docs()
class MetaTrainingDisplay:
    """Sliding means of the scores of meta-training's episodes, one panel for each task.

    It is recommended to use `from_sampler` to create it.

    Parameters
    ----------
    curves : dict of str to dict of str to array-like of shape (n_episodes,)
        By task, and then by part of its rows (``"train"``, ``"valid"``, ``"test"``), the score of
        each episode.
    window : int, default=50
        Episodes in a mean. With fewer than two windows of episodes, half of them.
    {title}

    Attributes
    ----------
    {panels}

    See Also
    --------
    PolicyTraceDisplay : What a sampler does once it is trained.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_classification
    >>> from metasampler import MetaSampler
    >>> from metasampler.meta import SoftActorCritic
    >>> from metasampler.plotting import MetaTrainingDisplay
    >>> X, y = make_classification(600, weights=[0.9], random_state=0)
    >>> trainer = SoftActorCritic(n_random_steps=30, n_updates=60)
    >>> sampler = MetaSampler(trainer=trainer, random_state=0).fit(X, y)
    >>> display = MetaTrainingDisplay.from_sampler(sampler, window=5)
    >>> [line.get_label() for line in display.axes_[0].lines]
    ['train', 'valid']
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, curves, window=50, title=""):
        self.curves = curves
        self.window = window
        self.title = title

    @classmethod
    def from_sampler(cls, sampler, *, window=50, title="", figure=None):
        """Draw the history of a meta-trained sampler.

        Parameters
        ----------
        sampler : MetaSampler
            A meta-trained sampler.
        window : int, default=50
            Episodes in a mean.
        {title}
        {figure}
        """
        check_is_fitted(sampler)
        if not sampler.history_:
            raise ValueError(
                "There is nothing to draw: this sampler has no history, its policy was trained "
                "elsewhere."
            )
        curves: dict = {}
        for entry in sampler.history_:
            parts = curves.setdefault(entry["task"], {})
            for part in _PARTS:
                score = entry[f"{part}_score"]
                if score is not None:
                    parts.setdefault(part, []).append(score)
        return cls(curves=curves, window=window, title=title).plot(figure=figure)

    def plot(self, *, figure=None):
        """Draw the panels in a ``figure``, or in a new one, and return the display."""
        if self.window < 1:
            raise ValueError(f"window must be at least 1, got {self.window!r}.")
        if not any(self.curves.values()):
            raise ValueError("There is nothing to draw: curves is empty.")
        n_panels, size, labels = len(self.curves), (2.9, 2.4), ("episode", "score")
        axes = make_panels(
            self, n_panels, figure, size=size, columns=_COLUMNS, labels=labels, legend=_PARTS
        )
        windows = set()
        for panel, (task, parts) in zip(axes, self.curves.items(), strict=True):
            for part, scores in parts.items():
                window = min(self.window, max(1, len(scores) // 2))
                windows.add(window)
                means = sliding_window_view(np.asarray(scores, float), window).mean(axis=1)
                episodes, every = np.arange(window, len(scores) + 1), max(1, len(means) // 8)
                look = line_style(_PARTS.index(part))
                panel.plot(episodes, means, **look, markevery=every, label=part)
            panel.set_title(task, fontsize=10, parse_math=False)
            panel.xaxis.get_major_locator().set_params(integer=True, nbins=5)
            tidy(panel)
        low, high = min(windows), max(windows)
        several = f"{low}" if low == high else f"{low} to {high}"
        means = f"mean of the last {several} episodes" if high > 1 else None
        return legend_below(self, title=means)
