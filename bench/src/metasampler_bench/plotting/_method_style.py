"""One look a method, in all pictures."""

from metasampler.plotting.style import COLORS, DASHES, MARKERS

__all__ = ["method_style"]

#: Methods in the order in which looks were given out: add to the end.
_METHODS = (
    *("mesa-fit", "rusboost-paper", "under-bagging", "spe-paper", "cascade", "mesa-universal"),
    *("smoteboost", "smotebagging", "ramoboost", "mesa-refit", "random-policy", "selected-mu"),
    *("mesa-alone", "mesa-sampled", "mesa-soft"),
)
#: Methods that learn nothing are grey: they stand beside all others.
_GREY = "#7F7F7F"
_UNLEARNED = (
    *("constant-0.5", "constant-0.8", "constant-0.9", "constant-1"),
    *("uniform-draws", "random-mu"),
)


def method_style(name):
    """Return colour, dashes and marker of a method; None for one that has none of its own.

    No two methods share colour and marker.

    Parameters
    ----------
    name : str
        As in the registry.

    Returns
    -------
    style : dict or None

    Examples
    --------
    >>> from metasampler_bench.plotting import method_style
    >>> method_style("mesa-fit")["marker"], method_style("constant-0.9")["marker"]
    ('o', '^')
    """
    if name in _UNLEARNED:
        number = _UNLEARNED.index(name)
        return {
            "color": _GREY,
            "linestyle": DASHES[(number + 1) % len(DASHES)],
            "marker": MARKERS[number],
            "markersize": 4.5,
        }
    if name not in _METHODS:
        return None
    number = _METHODS.index(name)
    turn = number // len(COLORS)
    return {
        "color": COLORS[number % len(COLORS)],
        "linestyle": DASHES[turn % len(DASHES)],
        "marker": MARKERS[(number + turn) % len(MARKERS)],
        "markersize": 4.5,
    }
