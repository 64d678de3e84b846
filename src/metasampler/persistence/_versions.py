"""The versions that a model was made with, and how they differ from those here."""

import platform
from importlib.metadata import PackageNotFoundError, version

_PACKAGES = ("metasampler", "numpy", "scipy", "scikit-learn", "lightgbm", "skops")


def versions_here() -> dict[str, str]:
    """Return the versions of Python and of the packages that a model depends on."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def differences(stored: dict[str, str]) -> list[str]:
    """Return how stored versions differ from those here, one sentence part a package."""
    here = versions_here()
    # A patch release of Python changes nothing that a model depends on.
    minor = {"python": 2}
    return [
        f"{name} {then} (here {here.get(name, 'not installed')})"
        for name, then in stored.items()
        if _start(then, minor.get(name)) != _start(here.get(name, ""), minor.get(name))
    ]


def _start(text: str, n_parts: int | None) -> list[str]:
    return text.split(".")[:n_parts]
