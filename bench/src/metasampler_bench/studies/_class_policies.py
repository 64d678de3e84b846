"""Policies that read a table with many classes and choose how samples are drawn.

A policy learns from tables of other families, and is judged on splits that it has not learned from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import RidgeCV
from sklearn.metrics import average_precision_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

__all__ = ["FAMILIES", "LEARNED", "STATE", "choices", "macro_ap", "state_of"]

#: What a policy reads, from training rows alone. Errors are those of trees that left a row out.
STATE = (
    *("log classes", "log rows", "log smallest", "log imbalance"),
    *("signal", "head error", "middle error", "tail error"),
)

#: Tables that are of one family; any other table is a family of its own.
FAMILIES = {
    "medicine": (
        *("arrhythmia_class", "ctg_fhr_pattern", "diabetes130_discharge"),
        *("nhanes_general_health", "thyroid0387_diagnosis"),
    ),
    "biology": ("abalone_rings", "frog_call_species", "yeast_site"),
    "weather": ("storm_status", "tornado_magnitude"),
    "metal": ("anneal_steel_class", "steel_plate_fault"),
    "flights": ("bird_strike_phase", "shuttle_state"),
}
_FAMILY = {table: family for family, tables in FAMILIES.items() for table in tables}

# Strengths of the ridge; the one with the lowest leave-one-out error is taken.
_ALPHAS = np.logspace(-1, 4, 11)

# With fewer states than this a learned policy is the best constant.
_LEAST_KNOWN = 5

#: What learns the scores of all draws from the state.
LEARNED: dict[str, Callable[[], Any]] = {
    "learned, ridge": lambda: make_pipeline(StandardScaler(), RidgeCV(_ALPHAS)),
    "learned, trees": lambda: ExtraTreesRegressor(50, min_samples_leaf=3, random_state=0),
}


def macro_ap(y: np.ndarray, proba: np.ndarray) -> float:
    """Return the mean average precision of the classes that have rows."""
    each = [average_precision_score(y == k, proba[:, k]) for k in np.unique(y)]
    return float(np.mean(each))


def state_of(y: np.ndarray, left_out: np.ndarray) -> dict[str, float]:
    """Return what a policy reads of a table.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Training labels, from 0.
    left_out : ndarray of shape (n_samples, n_classes)
        Probabilities of the training rows, by trees that left them out.
    """
    counts = np.bincount(y)
    counts = counts[counts > 0]
    error = 1 - left_out[np.arange(len(y)), y]
    by_class = np.array([error[y == k].mean() for k in np.unique(y)])
    head, middle, tail = (
        by_class[part].mean() for part in np.array_split(np.argsort(-counts, kind="stable"), 3)
    )
    facts = [len(counts), len(y), counts.min(), counts.max() / counts.min()]
    values = [*np.log(facts), macro_ap(y, left_out), head, middle, tail]
    return dict(zip(STATE, map(float, values), strict=True))


def choices(
    tables: list[str], states: np.ndarray, scores: np.ndarray, left_out: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the scores of the draws that each way to choose takes.

    Parameters
    ----------
    tables : list of str
    states : ndarray of shape (n_tables, n_splits, n_facts)
    scores : ndarray of shape (n_tables, n_splits, n_draws)
        Scores of the test rows.
    left_out : ndarray of shape (n_tables, n_splits, n_draws)
        Scores of the training rows, by trees that left them out.

    Returns
    -------
    chosen : dict of str to ndarray of shape (n_tables,)
        Means over the splits. Whatever is learned comes from other families and other splits than
        the one that it is judged on; with a single split, from other families.
    """
    families = np.array([_FAMILY.get(name, name) for name in tables])
    n_splits, n_draws = scores.shape[1:]
    chosen = {name: np.zeros(scores.shape[:2]) for name in _ways(n_splits)}
    for split in range(n_splits):
        others = [k for k in range(n_splits) if k != split] or [split]
        own = scores[:, others].mean(axis=1)
        for family in np.unique(families):
            judged, apart = families == family, families != family
            takes = {
                "best on other families": np.tile(own[apart].sum(axis=0), (judged.sum(), 1)),
                "best on rows left out": left_out[judged, split],
                "best on the table's other splits": own[judged],
                "best on the same test rows": scores[judged, split],
            }
            # What counts is how far a draw is ahead of the others on the same table.
            gains = scores[apart][:, others]
            gains = (gains - gains.mean(axis=2, keepdims=True)).reshape(-1, n_draws)
            known = states[apart][:, others].reshape(-1, states.shape[2])
            for name, make in LEARNED.items():
                takes[name] = takes["best on other families"]
                if len(known) >= _LEAST_KNOWN:
                    takes[name] = make().fit(known, gains).predict(states[judged, split])
            for name, values in chosen.items():
                best = takes[name].argmax(axis=1)[:, np.newaxis]
                values[judged, split] = np.take_along_axis(scores[judged, split], best, axis=1)[
                    :, 0
                ]
    return {name: values.mean(axis=1) for name, values in chosen.items()}


def _ways(n_splits: int) -> list[str]:
    """Return what chooses, in the order in which it is shown."""
    first = ["best on other families", *LEARNED, "best on rows left out"]
    hindsight = ["best on the table's other splits"] if n_splits > 1 else []
    return [*first, *hindsight, "best on the same test rows"]
