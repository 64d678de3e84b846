"""Data sets that lie in a folder on this machine."""

import os
from pathlib import Path

import numpy as np

__all__ = ["load_mesa_mammography", "resolve_data_home"]

ENVIRONMENT_VARIABLE = "METASAMPLER_DATA_HOME"


def resolve_data_home(data_home=None) -> Path:
    """Folder of the real data sets.

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
    >>> from metasampler.datasets import resolve_data_home
    >>> resolve_data_home(".").is_dir()
    True
    """
    given = data_home or os.environ.get(ENVIRONMENT_VARIABLE)
    if not given:
        raise FileNotFoundError(
            "No folder with the real data sets is known; pass data_home or set the environment "
            f"variable {ENVIRONMENT_VARIABLE}."
        )
    folder = Path(given)
    if not folder.is_dir():
        raise FileNotFoundError(
            f"There is no folder {os.fspath(given)!r} (from data_home or {ENVIRONMENT_VARIABLE})."
        )
    return folder


def load_mesa_mammography(data_home=None) -> dict[str, tuple[np.ndarray, np.ndarray]]:
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
    """
    folder = resolve_data_home(data_home) / "extra"
    parts = {}
    for part in ("train", "valid", "test"):
        path = folder / f"mesa_Mammo_{part}.npz"
        if not path.is_file():
            raise FileNotFoundError(
                f"There is no file {os.fspath(path)!r}. It holds the arrays `data` and `label` of "
                f"Mammo_{part}.csv in the authors' repository, github.com/ZhiningLiu1998/mesa."
            )
        with np.load(path, allow_pickle=False) as archive:
            parts[part] = archive["data"], archive["label"]
    return parts
