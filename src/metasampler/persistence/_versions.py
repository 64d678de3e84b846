"""The versions that a model was made with, and how they differ from those here."""

import platform

import numpy
import scipy
import sklearn

__all__ = ["differences", "versions_here"]


def versions_here() -> dict[str, str]:
    """Return the versions of Python and of the packages that a model depends on."""
    # Here, because LightGBM takes long to import, and the package imports this module.
    import lightgbm

    import metasampler

    return {
        "python": platform.python_version(),
        "metasampler": metasampler.__version__,
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "lightgbm": lightgbm.__version__,
    }


def differences(stored: dict[str, str]) -> list[str]:
    """Return how stored versions differ from those here, one sentence part per package."""
    here = versions_here()
    # A patch release of Python changes nothing that a model depends on.
    minor = {"python": 2}
    return [
        f"{name:.40} {then:.40} (here {here.get(name, 'not installed')})"
        for name, then in stored.items()
        if _start(then, minor.get(name)) != _start(here.get(name, ""), minor.get(name))
    ]


def _start(text: str, n_parts: int | None) -> list[str]:
    return text.split(".")[:n_parts]
