"""Parameters that other packages have and these ensembles do without: what to use instead."""

from collections.abc import Iterable
from functools import wraps
from typing import Any

__all__ = ["explain_other_names", "refuse_other_names"]

_WEIGHTS = (
    "members learn from balanced samples, so no class needs a weight. If errors have different "
    "costs, pass threshold=('cost', fn_cost, fp_cost); to weight single rows, pass sample_weight "
    "to fit."
)
_INSTEAD = {"class_weight": _WEIGHTS, "scale_pos_weight": _WEIGHTS, "is_unbalance": _WEIGHTS}


def refuse_other_names(owner: str, names: Iterable[str]) -> None:
    """Raise a TypeError that says what to use instead of a parameter of other packages."""
    for name in names:
        if name in _INSTEAD:
            raise TypeError(f"{owner} has no parameter {name!r}: {_INSTEAD[name]}")


def explain_other_names(cls):
    """Let the constructor of a class say what to use instead of a parameter that it lacks."""
    construct: Any = cls.__init__

    # `wraps` keeps the signature, by which scikit-learn finds the parameters.
    @wraps(construct)
    def __init__(self, *args, **kwargs):
        refuse_other_names(type(self).__name__, kwargs)
        construct(self, *args, **kwargs)

    cls.__init__ = __init__
    return cls
