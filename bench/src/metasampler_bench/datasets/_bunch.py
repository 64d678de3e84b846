"""What ``fetch_openml`` and its like return."""

from __future__ import annotations

from typing import Any

from metasampler.datasets import split_target
from metasampler.tables import is_frame

__all__ = ["is_bunch", "split_bunch"]


def is_bunch(data: Any) -> bool:
    """Return whether it is like what scikit-learn's loaders return."""
    return hasattr(data, "data") and (hasattr(data, "target") or hasattr(data, "frame"))


def split_bunch(bunch: Any, target: Any) -> tuple[Any, Any, str]:
    """Return columns, target and name of what ``fetch_openml`` and its like return."""
    details = getattr(bunch, "details", None) or {}
    name = str(details.get("name", "bunch"))
    X, y = bunch.data, getattr(bunch, "target", None)
    if target is None and y is not None:
        if getattr(y, "ndim", 1) == 1:
            return X, y, name
        raise ValueError(f"{name!r} has several targets: {', '.join(map(str, y))}. Give target.")
    frame = getattr(bunch, "frame", None)
    if frame is None:
        frame = X
    if not is_frame(frame):
        raise ValueError(
            f"{name!r} holds no table to take a target from: fetch it with as_frame=True."
        )
    X, y = split_target(frame, target, repr(name))
    return X, y, name
