"""Load the data that studies share, and cut it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from metasampler_bench._progress import tracked
from metasampler_bench.datasets import ZENODO_NAMES, load
from metasampler_bench.studies._study import Options

__all__ = ["LARGE_SETS", "LEFT_OUT", "Table", "each_split", "join", "small_sets", "split_in_three"]

Table = tuple[Any, Any]

#: The sets of imbalanced-learn's collection that take most of the time.
LARGE_SETS = ("isolet", "protein_homo", "webpage")

#: What a page says where they are not measured.
LEFT_OUT = f"To save time, we left out {', '.join(LARGE_SETS)} of imbalanced-learn's 27 sets."


def small_sets() -> tuple[str, ...]:
    """Return the names of imbalanced-learn's 27 sets without the large ones."""
    return tuple(name for name in ZENODO_NAMES if name not in LARGE_SETS)


def each_split(
    options: Options, names: Iterable[str], title: str
) -> Iterator[tuple[str, int, Any, Any, int]]:
    """Yield every set and split: name, number, X, y with 0 and 1, and the seed of the split."""
    chosen = options.datasets or tuple(names)
    X = y = loaded = None
    for name, number in tracked(((n, i) for n in chosen for i in range(options.runs)), title):
        if name != loaded:
            data = load(name, data_home=options.data_home)
            X, y, loaded = data.data, (data.target == 1).astype(int), name
        yield name, number, X, y, options.seed + number


def split_in_three(X: Any, y: Any, seed: int) -> tuple[Table, Table, Table]:
    """Cut rows into training, validation and test rows, 60 : 20 : 20."""
    X_rest, X_test, y_rest, y_test = train_test_split(
        X, y, test_size=0.2, stratify=y, random_state=seed
    )
    X_train, X_val, y_train, y_val = train_test_split(
        X_rest, y_rest, test_size=0.25, stratify=y_rest, random_state=seed
    )
    return (X_train, y_train), (X_val, y_val), (X_test, y_test)


def join(first: Table, second: Table) -> Table:
    """Put two parts of the rows together again."""
    return np.concatenate([first[0], second[0]]), np.concatenate([first[1], second[1]])
