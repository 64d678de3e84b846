"""One function for all data sets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import Bunch

from metasampler.datasets import TableFile, near_matches, read_table, split_target
from metasampler.tables import is_frame
from metasampler_bench.datasets._bunch import is_bunch, split_bunch
from metasampler_bench.datasets._bundled import BUNDLED, load_bundled
from metasampler_bench.datasets._catalogue import AUTHORS_SPLIT, SYNTHETIC, list_datasets
from metasampler_bench.datasets._labels import encode_labels
from metasampler_bench.datasets._local import (
    ENVIRONMENT_VARIABLE,
    find_extra,
    known_data_home,
    load_mesa_mammography,
    read_npz,
)
from metasampler_bench.datasets._real import REAL, find_real, load_real
from metasampler_bench.datasets._synthetic import make_arch
from metasampler_bench.datasets._zenodo import ZENODO, load_zenodo

__all__ = ["load"]

SUFFIXES = (*TableFile.suffixes, ".npz")


def load(
    name: Any,
    *,
    data_home: str | os.PathLike[str] | None = None,
    target: Any = None,
    positive: Any = None,
    return_X_y: bool = False,
    download: bool = True,
) -> Any:
    """Load a data set by name, from a file or from a table.

    Parameters
    ----------
    name : str, path, DataFrame or Bunch
        One of

        - a name that :func:`list_datasets` lists: the 27 sets of
          ``imblearn.datasets.fetch_datasets`` (``"mammography"``, ``"protein_homo"``, ...), what
          scikit-learn ships (``"digits-8"``, ``"digits"``, ``"breast-cancer"``, ``"wine"``), the
          paper's synthetic sets with a fixed seed (``"arch-low"``, ``"arch-mid"``,
          ``"arch-high"``), the fixed split of the paper's authors (``"mammography-authors"``), or
          a file in ``<data_home>/extra`` without its ``.npz`` or in ``<data_home>/real`` (a table
          with its own types and a column ``target``) without its ``.parquet``;
        - a file that ends in ``.csv``, ``.tsv``, ``.gz`` (either of the two), ``.parquet``,
          ``.pq``, or ``.npz`` with the arrays ``data`` and ``label``;
        - a DataFrame of pandas or polars;
        - what ``sklearn.datasets.fetch_openml`` returns.

    data_home : str or path, default=None
        Folder with ``zenodo/x{1..27}data.npz`` (the layout of imbalanced-learn), ``extra``
        and ``real``.
        None means the environment variable ``METASAMPLER_DATA_HOME``, and if that is not set
        imbalanced-learn's own folder.

    target : column name, default=None
        The column to predict; needed for a file or a DataFrame. A Bunch brings its own.

    positive : label, default=None
        The class to find, as it is labelled in the data; all others become one class. None means
        label 1 of the named sets and of ``.npz`` files, or else the smaller one of two classes;
        more than two classes are kept apart.

    return_X_y : bool, default=False
        Whether to return ``(data, target)`` only.

    download : bool, default=True
        Whether a missing set of imbalanced-learn may be downloaded.

    Returns
    -------
    dataset : Bunch
        ``data``
            The rows: an array, or the other columns of a table as they are.
        ``target``
            1 for the class to find and 0 for the other. With more than two classes, integer labels
            as they are, other labels as their position in sorted order.
        ``target_names``
            The label behind each distinct value of ``target``, in ascending order.
        ``name``, ``source``
            What was loaded, and the kind of place that it came from.
        ``part``
            ``"train"``, ``"valid"`` or ``"test"`` for each row of ``"mammography-authors"``; None
            for all other sets.

    Raises
    ------
    FileNotFoundError
        If the data is neither there nor can be downloaded; the message says what to do.

    ValueError
        If there is no such set, column or class; the message names those that are close.

    Examples
    --------
    >>> from metasampler_bench.datasets import load
    >>> dataset = load("digits-8")
    >>> dataset.data.shape, int(dataset.target.sum()), dataset.source
    ((1677, 64), 54, 'scikit-learn')
    >>> X, y = load("digits", positive=3, return_X_y=True)
    >>> int(y.sum())
    183
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"amount": [3.0, 9.5, 4.1], "fraud": ["no", "yes", "no"]})
    >>> dataset = load(frame, target="fraud")
    >>> dataset.target.tolist(), dataset.target_names
    ([0, 1, 0], ['no', 'yes'])
    """
    if is_frame(name):
        raw = _Raw(*split_target(name, target, "The table"), "DataFrame", "table", False)
    elif is_bunch(name):
        raw = _Raw(*split_bunch(name, target), "bunch", False)
    elif isinstance(name, os.PathLike) or (
        isinstance(name, str) and name.lower().endswith(SUFFIXES)
    ):
        raw = _from_file(Path(name).expanduser(), target)
    elif isinstance(name, str):
        if target is not None:
            raise ValueError(
                f"target={target!r} names a column of a table; {name!r} is not a table."
            )
        raw = _by_name(name, data_home, download)
    else:
        raise TypeError(
            "name must be a string, a path, a DataFrame of pandas or polars, or a Bunch, got "
            f"{type(name).__name__}."
        )
    y, target_names = encode_labels(
        raw.labels,
        positive,
        what=f"The target of {raw.name!r}",
        one_is_positive=raw.one_is_positive,
    )
    if return_X_y:
        return raw.data, y
    return Bunch(
        data=raw.data,
        target=y,
        target_names=target_names,
        name=raw.name,
        source=raw.source,
        part=raw.part,
    )


class _Raw(NamedTuple):
    """A data set before its labels become numbers."""

    data: Any
    labels: Any
    name: str
    source: str
    one_is_positive: bool = True
    part: Any = None


def _from_file(path: Path, target: Any) -> _Raw:
    if not path.name.lower().endswith(".npz"):
        return _Raw(*split_target(read_table(path), target, path.name), path.name, "file", False)
    if target is not None:
        raise ValueError(f"target={target!r} names a column of a table; {path.name} has none.")
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {os.fspath(path)!r}.")
    return _Raw(*read_npz(path), path.name, "file")


def _by_name(name: str, data_home: str | os.PathLike[str] | None, download: bool) -> _Raw:
    if name in BUNDLED:
        return _Raw(*load_bundled(name), name, "scikit-learn")
    if name in SYNTHETIC:
        return _Raw(*make_arch(SYNTHETIC[name], random_state=0), name, "synthetic")
    if name in ZENODO:
        return _Raw(*load_zenodo(name, data_home, download=download), name, "imbalanced-learn")
    if name == AUTHORS_SPLIT:
        parts = load_mesa_mammography(data_home)
        data, labels = (np.concatenate(arrays) for arrays in zip(*parts.values(), strict=True))
        part = np.repeat(list(parts), [len(rows) for rows, _ in parts.values()])
        return _Raw(data, labels, name, "authors", part=part)
    folder = known_data_home(data_home)
    if name in REAL or (folder is not None and name in find_real(folder)):
        return _Raw(*load_real(name, data_home), name, "real")
    extra = {} if folder is None else find_extra(folder)
    if name in extra:
        return _Raw(*read_npz(extra[name]), name, "extra")
    known = [info.name for info in list_datasets(data_home)] + [AUTHORS_SPLIT]
    more = (
        f" Further sets need a folder: pass data_home or set {ENVIRONMENT_VARIABLE}."
        if folder is None
        else ""
    )
    raise ValueError(
        f"There is no data set {name!r}.{near_matches(name, known)} "
        f"metasampler_bench.datasets.list_datasets() lists the names; files end in "
        f"{', '.join(SUFFIXES)}.{more}"
    )
