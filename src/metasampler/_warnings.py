"""Warnings that point at the user's own line, however deep in this package they arise."""

import os
import sys
import warnings

__all__ = ["warn_user"]

_PACKAGE = os.path.join(os.path.dirname(__file__), "")


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn of the innermost line that is not part of this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
