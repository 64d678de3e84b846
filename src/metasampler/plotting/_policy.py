"""What a policy does over the states it can meet."""

import numpy as np

from metasampler._docs import shared_docs
from metasampler.plotting.style import finish, line_style, make_axes

# The signals that real tables have.
_SIGNALS = np.geomspace(5, 320, 100)


@shared_docs()
class PolicyDisplay:
    """The mu or the power that samplers choose, over the state.

    It is recommended to use `from_samplers` or `from_sampler` to create it.

    Parameters
    ----------
    values : array-like of shape (n_points,)
        The number of the state that varies.
    choices : dict of str to array-like of shape (n_points,)
        By name, the mu or power that is chosen there.
    xlabel : str, default="signal"
        What varies.
    ylabel : str, default="power"
        What is chosen.
    log : bool, default=True
        Whether the horizontal axis is logarithmic.
    {title}

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : dict of str to matplotlib Line2D

    See Also
    --------
    PolicyTraceDisplay : What was chosen in a fit, member by member.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from metasampler.plotting import PolicyDisplay
    >>> from metasampler.policy import load_policy
    >>> display = PolicyDisplay.from_sampler(load_policy("boosters"))
    >>> power = display.lines_["LearnedPolicy"].get_ydata()
    >>> bool(power[0] < 1 < power[-1])
    True
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, values, choices, xlabel="signal", ylabel="power", log=True, title=""):
        self.values = values
        self.choices = choices
        self.xlabel = xlabel
        self.ylabel = ylabel
        self.log = log
        self.title = title

    @classmethod
    def from_samplers(cls, samplers, *, states=None, varies=None, title="", ax=None):
        """Draw what several samplers choose.

        Parameters
        ----------
        samplers : dict of str to MetaSampler or LearnedPolicy
            Samplers by name. All must read the same kind of state, and choose the same kind of
            number.
        states : array-like of shape (n_states, state_size), default=None
            The states to show, in this order. None means signals from 5 to 320, for samplers that
            read the signal.
        varies : str, default=None
            What tells the states apart, for the axis; None counts them.
        {title}
        {ax}
        """
        kinds = {(policy.encoder.kind, policy.encoder.action) for policy in samplers.values()}
        if len(kinds) != 1:
            raise ValueError(
                "samplers must read states of one kind and choose numbers of one kind, got "
                f"{sorted(kinds)}."
            )
        ((kind, action),) = kinds
        log = states is None
        if states is None:
            if kind != "signal":
                raise ValueError(
                    f"states must be passed for samplers that read states of kind {kind!r}: only "
                    "the signal has a range that is known beforehand."
                )
            from metasampler.policy import signal_state

            values, varies = _SIGNALS, "signal"
            states = [signal_state(signal) for signal in values]
        else:
            values = np.arange(1.0, len(states) + 1)
        choices = {
            name: np.array([policy.choose(state) for state in states])
            for name, policy in samplers.items()
        }
        xlabel = "state" if varies is None else varies
        display = cls(
            values=values, choices=choices, xlabel=xlabel, ylabel=action, log=log, title=title
        )
        return display.plot(ax=ax)

    @classmethod
    def from_sampler(
        cls, sampler, *, states=None, varies=None, name="LearnedPolicy", title="", ax=None
    ):
        """Draw what a sampler chooses.

        Parameters
        ----------
        sampler : MetaSampler or LearnedPolicy
            What chooses.
        states : array-like of shape (n_states, state_size), default=None
            See `from_samplers`.
        varies : str, default=None
            What tells the states apart, for the axis; None counts them.
        name : str, default="LearnedPolicy"
            Name of the line.
        {title}
        {ax}
        """
        return cls.from_samplers({name: sampler}, states=states, varies=varies, title=title, ax=ax)

    def plot(self, *, ax=None):
        """Draw the choices in ``ax``, or in a new figure, and return the display."""
        ax = make_axes(self, ax, size=(6.3, 3.6), names=self.choices)
        values = np.asarray(self.values, dtype=float)
        self.lines_ = {}
        for number, (name, chosen) in enumerate(self.choices.items()):
            look = {**line_style(number), "markevery": max(1, len(values) // 10)}
            (self.lines_[name],) = ax.plot(values, chosen, label=name, **look)
        if self.log:
            ax.set_xscale("log", base=2)
            ax.xaxis.set_major_formatter("{x:g}")
        ax.set(xlabel=self.xlabel, ylabel=self.ylabel)
        ax.set_ylim(bottom=0)
        return finish(self)
