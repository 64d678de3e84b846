"""Cut tables for the study of teams: to a number of rows and of positives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from metasampler_bench.datasets import load

__all__ = ["EXTRA", "FEW", "MOST_ROWS", "cut"]

#: The most rows of a table, training and test rows together.
MOST_ROWS = 10_000

#: The most rows where positives are thinned: most of them would be majority rows.
_MOST_ROWS_THINNED = 8_000

#: Positives that training rows are left with.
FEW = (25, 50, 100, 150, 300)

_TEST_PART = 0.25

#: Further sets, with 25 to 1,600 positives; none comes from a source of imbalanced-learn's 27.
EXTRA = (
    "adbench_12_fault",
    "adbench_17_InternetAds",
    "adbench_1_ALOI",
    "adbench_27_PageBlocks",
    "adbench_34_smtp",
    "adbench_37_Stamps",
    "adbench_41_Waveform",
    "adbench_4_breastw",
    "adbench_7_Cardiotocography",
    "keel_glass1",
    "keel_haberman",
    "keel_kddcup-buffer_overflow_vs_back",
    "keel_kr-vs-k-one_vs_fifteen",
    "keel_kr-vs-k-three_vs_eleven",
    "keel_kr-vs-k-zero-one_vs_draw",
    "keel_page-blocks0",
    "keel_pima",
    "keel_poker-8-9_vs_5",
    "keel_segment0",
    "keel_shuttle-2_vs_5",
    "keel_shuttle-c0-vs-c4",
    "keel_vehicle0",
    "keel_vehicle1",
    "keel_vehicle2",
    "keel_vehicle3",
    "keel_vowel0",
)

Parts = tuple[Any, NDArray[np.int64], Any, NDArray[np.int64]]


def cut(name: str, seed: int, data_home: str | None, positives: int | None = None) -> Parts:
    """Return training and test rows of a table, cut class-wise 75 : 25.

    Parameters
    ----------
    name : str
        A data set.
    seed : int
        Of the split, and of what is left out.
    data_home : str or None
        Folder of the data.
    positives : int, default=None
        How many positives the training rows are to keep at the most; test rows keep all.

    Returns
    -------
    X_train, y_train, X_test, y_test : DataFrame and ndarray
    """
    X, y = load(name, data_home=data_home, return_X_y=True)
    y = (y == 1).astype(int)
    if not hasattr(X, "iloc"):
        X = pd.DataFrame(X, columns=[f"x{number}" for number in range(X.shape[1])])
    most = MOST_ROWS if positives is None else _MOST_ROWS_THINNED
    rows = np.arange(len(y))
    if len(rows) > most:
        rows, _ = train_test_split(rows, train_size=most, stratify=y, random_state=seed)
    train, test = train_test_split(
        np.sort(rows), test_size=_TEST_PART, stratify=y[np.sort(rows)], random_state=seed
    )
    found = np.flatnonzero(y[train] == 1)
    if positives is not None and len(found) > positives:
        dropped = np.random.default_rng(seed).permutation(found)[positives:]
        train = np.delete(train, dropped)
    first, second = (X.iloc[np.sort(part)].reset_index(drop=True) for part in (train, test))
    return first, y[np.sort(train)], second, y[np.sort(test)]
