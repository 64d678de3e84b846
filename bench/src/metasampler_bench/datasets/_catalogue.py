"""What can be loaded by name."""

from __future__ import annotations

import os
from dataclasses import dataclass

from metasampler_bench.datasets._bundled import BUNDLED
from metasampler_bench.datasets._local import find_extra, has_mesa_mammography, known_data_home
from metasampler_bench.datasets._synthetic import ARCH_NOISE
from metasampler_bench.datasets._zenodo import ZENODO

__all__ = ["AUTHORS_SPLIT", "SYNTHETIC", "DatasetInfo", "list_datasets"]

AUTHORS_SPLIT = "mammography-authors"
#: Names of the synthetic sets and their overlap.
SYNTHETIC = {f"arch-{overlap}": overlap for overlap in ARCH_NOISE}


@dataclass(frozen=True, order=True)
class DatasetInfo:
    """What is known about a data set before it is loaded.

    Attributes
    ----------
    name : str
        What to give to ``load``.

    source : str
        ``"authors"``, ``"extra"``, ``"imbalanced-learn"``, ``"scikit-learn"`` or
        ``"synthetic"``.

    rows, columns, classes : int or None
        Size of the data and number of classes; None for files that are not opened.

    imbalance_ratio : float or None
        Rows of the largest class for each row of the smallest.

    Examples
    --------
    >>> from metasampler_bench.datasets import list_datasets
    >>> info = {info.name: info for info in list_datasets()}["protein_homo"]
    >>> info.rows, info.columns, round(info.imbalance_ratio)
    (145751, 74, 111)
    """

    name: str
    source: str
    rows: int | None = None
    columns: int | None = None
    classes: int | None = None
    imbalance_ratio: float | None = None


def list_datasets(data_home: str | os.PathLike[str] | None = None) -> list[DatasetInfo]:
    """List the data sets that ``load`` knows by name.

    Nothing is loaded for it. The sets of imbalanced-learn are listed whether or not they have
    been downloaded; the files in ``<data_home>/extra`` are listed if there is such a folder.

    Parameters
    ----------
    data_home : str or path, default=None
        Folder of the real data sets; None means the environment variable
        ``METASAMPLER_DATA_HOME``, and no folder if that is not set either.

    Returns
    -------
    rows : list of DatasetInfo
        Sorted by name.

    Examples
    --------
    >>> from metasampler_bench.datasets import list_datasets
    >>> [info.name for info in list_datasets() if info.source == "synthetic"]
    ['arch-high', 'arch-low', 'arch-mid']
    """
    rows = {
        name: DatasetInfo(name, "scikit-learn", n_rows, n_columns, n_classes, largest / smallest)
        for name, (n_rows, n_columns, n_classes, largest, smallest) in BUNDLED.items()
    }
    rows |= {name: DatasetInfo(name, "synthetic", 2200, 2, 2, 10.0) for name in SYNTHETIC}
    rows |= {
        name: DatasetInfo(name, "imbalanced-learn", n_rows, n_columns, 2, n_rows / n_positive - 1)
        for name, (n_rows, n_columns, n_positive) in ZENODO.items()
    }
    folder = known_data_home(data_home)
    if folder is not None:
        if has_mesa_mammography(folder):
            rows[AUTHORS_SPLIT] = DatasetInfo(AUTHORS_SPLIT, "authors", 11183, 6, 2, 10923 / 260)
        for name in find_extra(folder):
            # A name that is taken loads what is built in, so that one name means one thing.
            rows.setdefault(name, DatasetInfo(name, "extra"))
    return [rows[name] for name in sorted(rows)]
