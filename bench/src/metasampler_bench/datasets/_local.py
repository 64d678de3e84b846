"""Data sets that lie in a folder on this machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metasampler.policy import naming_the_input, read_arrays

__all__ = [
    "ENVIRONMENT_VARIABLE",
    "find_extra",
    "has_mesa_mammography",
    "known_data_home",
    "load_mesa_mammography",
    "load_mesa_noise",
    "read_npz",
    "resolve_data_home",
]

ENVIRONMENT_VARIABLE = "METASAMPLER_DATA_HOME"
PARTS = ("train", "valid", "test")

# Bytes of a data set in memory, and how many times its file it may have beyond that.
_ALWAYS_ALLOWED = 256 << 20
_MOST_COMPRESSED = 100


def resolve_data_home(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of the real data sets.

    Parameters
    ----------
    data_home : str or path, default=None
        The folder; None means the environment variable ``METASAMPLER_DATA_HOME``.

    Returns
    -------
    folder : Path

    Raises
    ------
    FileNotFoundError
        If nothing is given or there is no such folder; the message says what to set.

    Examples
    --------
    >>> from metasampler_bench.datasets import resolve_data_home
    >>> resolve_data_home(".").is_dir()
    True
    """
    given = data_home or os.environ.get(ENVIRONMENT_VARIABLE)
    if not given:
        raise FileNotFoundError(
            "No folder with the real data sets is known; pass data_home or set the environment "
            f"variable {ENVIRONMENT_VARIABLE}."
        )
    folder = Path(given).expanduser()
    if not folder.is_dir():
        raise FileNotFoundError(
            f"There is no folder {os.fspath(given)!r} (from data_home or {ENVIRONMENT_VARIABLE})."
        )
    return folder


def known_data_home(data_home: str | os.PathLike[str] | None) -> Path | None:
    """Return the folder of ``resolve_data_home``; None if no folder is named anywhere."""
    if not data_home and not os.environ.get(ENVIRONMENT_VARIABLE):
        return None
    return resolve_data_home(data_home)


def load_mesa_mammography(
    data_home: str | os.PathLike[str] | None = None,
) -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    """Load the fixed split of Mammography that the authors of MESA used.

    The paper's Mammography figures match this split: 6,709 training, 2,237 validation and 2,237
    test rows, one positive in 43.

    Parameters
    ----------
    data_home : str or path, default=None
        A folder that has ``extra/mesa_Mammo_{train,valid,test}.npz`` with the arrays ``data`` and
        ``label`` (-1 or 1); None means the environment variable ``METASAMPLER_DATA_HOME``.

    Returns
    -------
    parts : dict
        ``{"train": (X, y), "valid": (X, y), "test": (X, y)}``.

    Examples
    --------
    >>> from metasampler_bench.datasets import list_datasets, load_mesa_mammography
    >>> if "mammography-authors" in [info.name for info in list_datasets()]:
    ...     X, y = load_mesa_mammography()["train"]
    ...     assert X.shape == (6709, 6)
    """
    folder = resolve_data_home(data_home) / "extra"
    parts = {}
    for part in PARTS:
        path = folder / f"mesa_Mammo_{part}.npz"
        if not path.is_file():
            raise FileNotFoundError(
                f"There is no file {os.fspath(path)!r}. It holds the arrays `data` and `label` of "
                f"Mammo_{part}.csv in the authors' repository, github.com/ZhiningLiu1998/mesa."
            )
        parts[part] = read_npz(path)
    return parts


def load_mesa_noise(
    noise: float, data_home: str | os.PathLike[str] | None = None
) -> NDArray[np.int64]:
    """Load the training labels of that split as the authors flipped them.

    Parameters
    ----------
    noise : {0.1, 0.25, 0.4}
        Part of the minority that is flipped, with as many rows of the majority.
    data_home : str or path, default=None
        A folder that has ``extra/mesa_Mammo_noise{10,25,40}_train.npz`` too; see
        :func:`load_mesa_mammography`.

    Returns
    -------
    y : ndarray of shape (6709,)
        0 or 1, in the order of the training rows of the split.

    Examples
    --------
    >>> from metasampler_bench.datasets import list_datasets, load_mesa_noise
    >>> if "mammography-authors" in [info.name for info in list_datasets()]:
    ...     assert load_mesa_noise(0.4).sum() == 156
    """
    folder = resolve_data_home(data_home) / "extra"
    path = folder / f"mesa_Mammo_noise{round(100 * noise)}_train.npz"
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no file {os.fspath(path)!r}: the authors flipped 10, 25 and 40 percent."
        )
    X, labels = read_npz(path)
    # The files were written with different numbers of digits.
    if not np.allclose(X, load_mesa_mammography(data_home)["train"][0]):
        raise ValueError(f"{path.name} does not hold the training rows of the authors' split.")
    return (labels == 1).astype(np.int64)


def has_mesa_mammography(folder: Path) -> bool:
    """Return whether all parts of the authors' split are there."""
    return all((folder / "extra" / f"mesa_Mammo_{part}.npz").is_file() for part in PARTS)


def find_extra(folder: Path) -> dict[str, Path]:
    """Return the files of the folder's ``extra`` by the name of the set; none is opened."""
    return {path.stem: path for path in sorted((folder / "extra").glob("*.npz"))}


def read_npz(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return rows and labels of a file with the arrays ``data`` and ``label``."""
    # What a file unpacks to is bounded by its size: a small one cannot fill the memory.
    largest = max(_ALWAYS_ALLOWED, _MOST_COMPRESSED * path.stat().st_size)
    with naming_the_input(path, "data set with the arrays `data` and `label`"):
        X, labels = read_arrays(path, ["data", "label"], largest).values()
    if X.ndim != 2 or labels.shape != (len(X),):
        raise ValueError(
            f"{path.name} must hold a table `data` and a `label` for each row; their shapes are "
            f"{X.shape} and {labels.shape}."
        )
    return X, labels
