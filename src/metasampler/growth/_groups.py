"""Folds that never cut a group: rows of one customer, patient or machine stay together.

A group is known by a key of 64 bits, made of its value alone. So partitions can count their own
groups, counts are added up, and the folds do not depend on how rows are split into partitions.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from sklearn.utils import column_or_1d

from metasampler.growth._draw import race_keys_of
from metasampler.tables import is_missing

__all__ = [
    "GroupCounts",
    "assign_folds_by_group",
    "check_groups",
    "count_groups",
    "folds_of_groups",
    "folds_of_rows",
    "group_keys",
    "refuse_lone_groups",
]

# A group with more than this share of what a fold gets of a class is placed on its own.
_LARGE = 0.02


class GroupCounts(NamedTuple):
    """How many rows of each class each group has; groups are in the order of their keys."""

    keys: np.ndarray
    counts: np.ndarray

    @classmethod
    def joined(cls, several: Sequence["GroupCounts"]) -> "GroupCounts":
        """Return the counts of several sets of rows together."""
        keys, places = np.unique(
            np.concatenate([each.keys for each in several]), return_inverse=True
        )
        counts = np.zeros((len(keys), several[0].counts.shape[1]), dtype=np.int64)
        np.add.at(counts, places, np.concatenate([each.counts for each in several]))
        return cls(keys, counts)


def group_keys(groups) -> np.ndarray:
    """Return a key of 64 bits for the group of each row; the same value always has the same key."""
    values, places = _distinct(np.asarray(groups))
    digests = [blake2b(str(value).encode(), digest_size=8).digest() for value in values]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)[places]


def _distinct(groups: np.ndarray) -> tuple[list, np.ndarray]:
    """Return the distinct values as Python has them, and which one each row has."""
    if groups.dtype.kind == "f":
        # A column of whole numbers is one of floats if a value is missing elsewhere.
        values, places = np.unique(groups, return_inverse=True)
        return [int(value) if value == int(value) else value for value in values.tolist()], places
    if groups.dtype.kind == "O":
        numbers: dict = {}
        places = np.array([numbers.setdefault(_plain(value), len(numbers)) for value in groups])
        return list(numbers), places
    values, places = np.unique(groups, return_inverse=True)
    return values.tolist(), places


def _plain(value):
    return int(value) if isinstance(value, float) and value.is_integer() else value


def check_groups(groups, n_rows: int, X_val=None) -> np.ndarray:
    """Return a key for the group of each row."""
    if X_val is not None:
        raise ValueError(
            "groups keeps the rows of a group together when rows are held out from X. With X_val "
            "none are: choose the validation rows by group, and leave groups out."
        )
    if np.ndim(groups) != 1:
        raise ValueError(
            f"groups must have one value for each row, got an array of shape {np.shape(groups)}."
        )
    values = column_or_1d(groups)
    if len(values) != n_rows:
        raise ValueError(f"groups has {len(values)} values, and X has {n_rows} rows.")
    refuse_missing(values)
    return group_keys(values)


def refuse_missing(groups: np.ndarray, name: str = "groups") -> None:
    """Refuse rows that belong to no group."""
    n_missing = sum(map(is_missing, groups.tolist())) if groups.dtype.kind in "fOM" else 0
    if n_missing:
        raise ValueError(
            f"{name} has no value in {n_missing} of {len(groups)} rows; give rows that belong to "
            "no group a group of their own."
        )


def refuse_lone_groups(groups: GroupCounts, classes: np.ndarray) -> None:
    """Refuse a class that is in one group only: leaving the group out would leave out the class."""
    n_groups = (groups.counts > 0).sum(axis=0)
    if n_groups.min() < 2:
        label = classes.tolist()[int(np.argmin(n_groups))]
        raise ValueError(
            f"All rows of class {label!r} are in one group: with the group, the class would be "
            "left out. Two groups of each class are needed; without groups rows are split alone."
        )


def assign_folds_by_group(
    keys: np.ndarray, codes: np.ndarray, n_classes: int, n_folds: int, key: np.ndarray, number=0
) -> np.ndarray:
    """Return the fold of every row; rows of one group are in one fold."""
    groups = count_groups(keys, codes, n_classes)
    return folds_of_rows(groups, folds_of_groups(groups, n_folds, key, number), keys)


def count_groups(keys: np.ndarray, codes: np.ndarray, n_classes: int) -> GroupCounts:
    """Return how many rows of each class each group has."""
    distinct, places = np.unique(keys, return_inverse=True)
    pairs = places * n_classes + codes
    counts = np.bincount(pairs, minlength=len(distinct) * n_classes)
    return GroupCounts(distinct, counts.reshape(-1, n_classes))


def folds_of_rows(groups: GroupCounts, folds: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Return the fold of each row, given its group's key."""
    return folds[np.searchsorted(groups.keys, keys)]


def folds_of_groups(
    groups: GroupCounts, n_folds: int, key: np.ndarray, number: int = 0
) -> np.ndarray:
    """Return the fold of each group, so that folds have nearly equal shares of every class.

    There may be fewer folds than asked for: no more than the groups that the class in the fewest
    groups has, so that every fold has rows of each class where groups allow it.

    Large groups are placed one by one, those that are hardest to place first, where they even the
    shares out most. Small groups with equal counts are assigned in turn, in a random order.
    """
    counts = groups.counts.astype(float)
    n_folds = min(n_folds, int((counts > 0).sum(axis=0).min()))
    totals = counts.sum(axis=0)
    shares = counts / totals
    chance = race_keys_of(key, number, np.arange(len(counts)))
    folds = np.full(len(counts), -1, dtype=np.intp)
    loads = np.zeros((n_folds, counts.shape[1]))
    large = shares.max(axis=1) > _LARGE / n_folds
    # Keys decide among equals: the order of groups is that of their keys in any case.
    for group in np.flatnonzero(large)[np.lexsort((chance[large], -shares[large].max(axis=1)))]:
        fold = int(np.argmin(_unevenness(loads, shares[group])))
        folds[group] = fold
        loads[fold] += shares[group]
    small = np.flatnonzero(~large)
    patterns, places = np.unique(counts[small], axis=0, return_inverse=True)
    places = places.ravel()
    # Patterns with the largest share of a class first: later ones fill what they leave uneven.
    for pattern in np.argsort(-(patterns / totals).max(axis=1), kind="stable"):
        members = small[places == pattern]
        members = members[np.argsort(chance[members])]
        share = patterns[pattern] / totals
        for start in range(0, len(members), n_folds):
            some = members[start : start + n_folds]
            order = np.argsort(_unevenness(loads, share), kind="stable")[: len(some)]
            folds[some] = order
            loads[order] += share
            if start == 0 and len(members) >= 2 * n_folds:
                # All further rounds that are full add the same to every fold.
                n_rounds = len(members) // n_folds - 1
                rest = members[n_folds : n_folds * (n_rounds + 1)]
                folds[rest] = np.arange(len(rest)) % n_folds
                loads += n_rounds * share
                last = members[n_folds * (n_rounds + 1) :]
                order = np.argsort(_unevenness(loads, share), kind="stable")[: len(last)]
                folds[last] = order
                loads[order] += share
                break
    return folds.astype(np.min_scalar_type(n_folds))


def _unevenness(loads: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return for each fold how uneven the folds would be if it got one more group."""
    # The sum of squares grows by this much, and their mean stays what it is.
    return (2 * loads * share + share**2).sum(axis=1)
