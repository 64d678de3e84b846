"""Samplers that come with the package."""

import os
from pathlib import Path

__all__ = ["find_sampler", "pretrained_names"]

FOLDER = Path(__file__).parent / "pretrained"


def pretrained_names() -> list[str]:
    """Names of the samplers that come with the package.

    Returns
    -------
    names : list of str

    Examples
    --------
    >>> from metasampler.meta import pretrained_names
    >>> isinstance(pretrained_names(), list)
    True
    """
    return sorted(path.stem for path in FOLDER.glob("*.npz"))


def find_sampler(path_or_name) -> Path:
    """The file of a sampler, by its path or by its name in the package."""
    names = pretrained_names()
    # A string that is a name means that sampler, whatever files lie around; "./name" is a file.
    if path_or_name in names:
        return FOLDER / f"{path_or_name}.npz"
    path = Path(path_or_name)
    if path.is_file():
        return path
    known = f"the names are {', '.join(names)}" if names else "none comes with this version"
    raise FileNotFoundError(
        f"There is no sampler file {os.fspath(path_or_name)!r}, and no pretrained sampler of that "
        f"name; {known}. As meta_sampler of a MesaClassifier, 'adapt', 'random', 'fit' or a "
        "number in [0, 1] need no file."
    )
