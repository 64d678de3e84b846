"""Put stored scores of draws together, table by table and split by split.

Nothing is grown here. Rows hold how every draw did on the same split, so that what a policy would
have scored is read off; between two powers that were grown it is interpolated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metasampler.policy import signal_state
from metasampler_bench._draw_measure import CHOICES
from metasampler_bench.datasets import REAL_FAMILIES

__all__ = [
    "ACTIONS",
    "MORE_NUMBERS",
    "Cases",
    "Chooser",
    "Floats",
    "cross_validated",
    "mean_by_table",
]

Floats = NDArray[np.float64]
#: Chooses by cases it has not learned from: returns what each of them scores.
Chooser = Callable[["Cases"], Floats]

#: Numbers that a state could hold beside the signal, and how they are brought to [-1, 1].
MORE_NUMBERS: dict[str, Callable[[Floats], Floats]] = {
    "scout_information": lambda values: values,
    "ratio": lambda values: np.log10(values) / 3,
    "n_minority": lambda values: np.log10(values) / 5,
    "hard_auc": lambda values: values,
    "gap_minority": lambda values: values,
    "error_valid_majority": lambda values: values,
    "spread_train_minority": lambda values: values,
    "booster_ap_gain": lambda values: values,
    "agreement": lambda values: values,
}

#: The draws along the action, from uniform on, in equal steps.
ACTIONS = ("uniform", *CHOICES["power"])


@dataclass(frozen=True)
class Cases:
    """Scores of all draws, one entry a table and split.

    Attributes
    ----------
    tables, families : ndarray of str
    numbers : dict of ndarray
        What is known before rows are drawn.
    test : dict of ndarray
        Average precision of the test rows by draw, as a part of the table's own best.
    held, valid : dict of ndarray
        The same of ensembles that leave one fold out from all members, and the score of this fold.
    """

    tables: NDArray[Any]
    families: NDArray[Any]
    numbers: dict[str, Floats]
    test: dict[str, Floats]
    held: dict[str, Floats]
    valid: dict[str, Floats]

    @classmethod
    def of(cls, rows: Iterable[dict[str, Any]], *, group: str = "power") -> Cases:
        """Put the rows of each table and split together; those that lack a draw are left out.

        All splits have the draws by mu and by powers. With a further `group` of `CHOICES` only
        those are kept that have it too.
        """
        splits: dict[tuple[str, int], dict[str, Any]] = {}
        for row in rows:
            key = row["cell"]["dataset"], row["cell"]["run"]
            split = splits.setdefault(key, {"test": {}, "held": {}, "valid": {}})
            split["test"] |= row["test"]
            split["held"] |= row.get("held_test", {})
            split["valid"] |= row.get("valid", {})
            split["state"] = row["state"]
        whole = [*CHOICES["mu"], *CHOICES["power"]]
        needed = {*whole, *CHOICES[group]}
        kept = {key: split for key, split in splits.items() if split["test"].keys() >= needed}
        if not kept:
            none = np.array([], dtype=object)
            return cls(none, none, {}, {}, {}, {})
        tables = np.array([name for name, _ in kept], dtype=object)
        test = _columns(kept.values(), "test")
        means = [mean_by_table(tables, test[draw]) for draw in whole]
        best = {name: max(mean[name] for mean in means) for name in set(tables.tolist())}
        scale = np.array([best[name] for name in tables])
        return cls(
            tables,
            np.array([REAL_FAMILIES.get(name, name) for name in tables], dtype=object),
            _columns(kept.values(), "state"),
            {draw: scores / scale for draw, scores in test.items()},
            {draw: scores / scale for draw, scores in _columns(kept.values(), "held").items()},
            _columns(kept.values(), "valid"),
        )

    @classmethod
    def together(cls, parts: dict[str, Cases]) -> Cases:
        """Return all cases of several varieties of the tables, each a table of its own.

        The keys of `parts` tell the varieties apart. Families stay: all varieties of a table are
        held apart together. Only what all of them were tested with is kept.
        """
        parts = {name: part for name, part in parts.items() if len(part)}
        tables = [
            [f"{table}{name}" for table in part.tables.tolist()] for name, part in parts.items()
        ]
        families = [part.families for part in parts.values()]
        return cls(
            np.array([name for names in tables for name in names], dtype=object),
            np.concatenate(families),
            _joined([part.numbers for part in parts.values()]),
            _joined([part.test for part in parts.values()]),
            {},
            {},
        )

    def __len__(self) -> int:
        return len(self.tables)

    def where(self, mask: NDArray[Any]) -> Cases:
        """Return some of the cases."""
        parts = (self.numbers, self.test, self.held, self.valid)
        chosen = ({name: values[mask] for name, values in part.items()} for part in parts)
        return Cases(self.tables[mask], self.families[mask], *chosen)

    def averaged(self) -> Cases:
        """Return one case a table: the means over its splits."""
        names, first = np.unique(self.tables.astype(str), return_index=True)
        parts = (self.numbers, self.test, self.held, self.valid)
        means = (
            {
                key: np.array([values[self.tables == name].mean() for name in names])
                for key, values in part.items()
            }
            for part in parts
        )
        return Cases(names.astype(object), self.families[first], *means)

    def states(self, more: Sequence[str] = ()) -> Floats:
        """Return the states of kind "signal", with more numbers beside it if need be."""
        signal = np.array([signal_state(value) for value in self.numbers["signal"]])
        others = [MORE_NUMBERS[name](self.numbers[name]) for name in more]
        return np.clip(np.column_stack([signal, *others]), -1.0, 1.0)

    @property
    def weights(self) -> Floats:
        """Weights by which every table counts the same."""
        _, place, counts = np.unique(self.tables, return_inverse=True, return_counts=True)
        return 1 / counts[place] / len(counts)

    def scores_of(self, actions: Floats) -> Floats:
        """Return what actions score, between the powers that were grown by a straight line."""
        curves = np.stack([self.test[draw] for draw in ACTIONS], axis=1)
        steps = np.linspace(0, 1, len(ACTIONS))
        pairs = zip(actions, curves, strict=True)
        return np.array([np.interp(action, steps, curve) for action, curve in pairs])


def _joined(parts: Sequence[dict[str, Floats]]) -> dict[str, Floats]:
    common = [name for name in parts[0] if all(name in part for part in parts)]
    return {name: np.concatenate([part[name] for part in parts]) for name in common}


def _columns(splits: Iterable[dict[str, Any]], part: str) -> dict[str, Floats]:
    parts = [split[part] for split in splits]
    common = set.intersection(*(set(each) for each in parts)) if parts else set()
    names = [name for name in (parts[0] if parts else {}) if name in common]
    return {name: np.array([each[name] for each in parts], dtype=float) for name in names}


def mean_by_table(tables: NDArray[Any], values: Floats) -> dict[str, float]:
    """Return the mean over the splits of each table."""
    return {name: float(values[tables == name].mean()) for name in sorted(set(tables.tolist()))}


def cross_validated(
    cases: Cases,
    fit: Callable[[Cases], Chooser],
    known: Cases | None = None,
    *,
    n_groups: int | None = None,
) -> Floats:
    """Return what a policy scores on each family, fitted to the others.

    Parameters
    ----------
    cases : Cases
        Where it is tested.
    fit : callable
        What fits it.
    known : Cases, default=None
        What it is fitted to, if that is not `cases`.
    n_groups : int, default=None
        How many groups of families are held apart, where fits are slow; None holds each apart.
    """
    known = cases if known is None else known
    scores = np.empty(len(cases))
    families = sorted(set(cases.families.tolist()))
    for number in range(n_groups or len(families)):
        held = families[number :: n_groups or len(families)]
        tested = np.isin(cases.families, held)
        if tested.any():
            others = known.where(~np.isin(known.families, held))
            scores[tested] = fit(others)(cases.where(tested))
    return scores
