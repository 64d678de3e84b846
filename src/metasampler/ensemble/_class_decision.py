"""From probabilities of many classes to one class per row, and what to expect of each class."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from metasampler._warnings import warn_user
from metasampler.ensemble._cut_points import effect_of_groups
from metasampler.ensemble._pool import thin_out
from metasampler.ensemble._threshold import interval_of_share

# Numbers that are kept of held-out rows, four bytes each; of more rows the large classes are
# thinned out.
_MOST_NUMBERS = 1 << 20

# The powers of the class frequencies among which "macro_f1" chooses: 0 decides as None does, 1 as
# "balanced".
_POWERS = np.linspace(0, 1, 21)

#: What a threshold may be for more than two classes.
ALLOWED = (
    "None, 'balanced', 'macro_f1', ('recall', {class: r}), ('cost', {class: price}) or "
    "('cost', matrix) with costs[true, predicted]"
)


class ClassDecision(NamedTuple):
    """How a class is chosen for each row, and what to expect of it on new rows.

    The class wins whose probability is largest compared with its threshold or, with ``costs``, the
    class with the lowest expected cost. ``precision`` and ``recall`` have a number per class: NaN
    if no held-out row is called it, or none is in the class. Their intervals have two.
    """

    thresholds: np.ndarray
    costs: np.ndarray | None = None
    precision: np.ndarray | None = None
    recall: np.ndarray | None = None
    precision_interval: np.ndarray | None = None
    recall_interval: np.ndarray | None = None

    def __call__(self, proba: np.ndarray) -> np.ndarray:
        """Return the position of each row's class."""
        return np.argmax(self.scores(proba), axis=1)

    def scores(self, proba: np.ndarray) -> np.ndarray:
        """Return what decides: the class with the largest score wins."""
        if self.costs is None:
            return proba / self.thresholds
        # Not by BLAS, which rounds otherwise with another number of threads.
        return -np.einsum("ij,jk->ik", proba, self.costs)


@dataclass(eq=False)
class ClassEvidence:
    """Calibrated probabilities of held-out rows, by which a decision can be chosen again."""

    proba: np.ndarray
    codes: np.ndarray
    weights: np.ndarray
    #: A number for the group of each row, if rows of a group are alike.
    groups: np.ndarray | None = None
    #: How many times larger the variance on new rows is than that of these rows.
    doubt: float = 1.0

    @classmethod
    def of(
        cls, proba: np.ndarray, codes: np.ndarray, weights=None, groups=None, doubt: float = 1.0
    ) -> "ClassEvidence":
        """Return what is kept of held-out rows: all, or a sample of the large classes."""
        n_classes = proba.shape[1]
        weights = np.ones(len(codes)) if weights is None else weights
        rows, scales = thin_out(codes, n_classes, _MOST_NUMBERS)
        kept = proba[rows].astype(np.float32), codes[rows].astype(np.intp)
        if groups is not None:
            groups = np.unique(groups[rows], return_inverse=True)[1].astype(np.int32)
        return cls(*kept, weights[rows] * scales, groups, doubt)

    def confusion(self, called: np.ndarray) -> np.ndarray:
        """Return the weight of the rows of each class (rows) that are called each class."""
        n_classes = self.proba.shape[1]
        pairs = self.codes * n_classes + called
        return np.bincount(pairs, self.weights, n_classes**2).reshape(n_classes, n_classes)

    def intervals(self, ours: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return for each class the interval of the share of ``others`` among its rows in ``ours``.

        Both hold a class for each row.
        """
        found = np.full((self.proba.shape[1], 2), np.nan)
        order = np.argsort(ours, kind="stable")
        borders = np.searchsorted(ours[order], np.arange(len(found) + 1))
        for k, (start, stop) in enumerate(pairwise(borders)):
            rows = order[start:stop]
            weights = self.weights[rows]
            if not weights.sum() > 0:
                continue
            marked, doubt = others[rows] == k, self.doubt
            if self.groups is not None:
                effect, more = effect_of_groups([marked], weights, self.groups[rows])
                doubt *= effect * more
            n_rows = weights.sum() ** 2 / np.sum(weights**2) / doubt
            found[k] = interval_of_share(float(np.average(marked, weights=weights)), 0.0, n_rows)
            if marked.all() or not marked.any():
                found[k, int(marked.all())] = float(marked.all())
        return found


def choose_class_decision(
    goal: Any, evidence: ClassEvidence | None, classes: np.ndarray, prior: np.ndarray
) -> ClassDecision:
    """Return how classes are chosen for a goal.

    ``prior`` is the frequency of each class. A goal that is tuned needs the evidence.
    """
    costs = None
    if goal is None:
        thresholds = np.ones(len(prior))
    elif isinstance(goal, str) and goal == "balanced":
        thresholds = prior
    elif isinstance(goal, str):
        assert evidence is not None
        thresholds = _best_for_f1(evidence, prior)
    elif goal[0] == "recall":
        assert evidence is not None
        wanted = {_position(classes, label): share for label, share in goal[1].items()}
        thresholds = _with_recall(evidence, prior, wanted, classes)
    elif isinstance(goal[1], Mapping):
        thresholds = np.ones(len(prior))
        for label, price in goal[1].items():
            thresholds[_position(classes, label)] = 1 / price
    else:
        thresholds, costs = np.ones(len(prior)), np.asarray(goal[1], dtype=float)
    decision = ClassDecision(thresholds, costs)
    if evidence is None:
        return decision
    decided = decision(evidence.proba)
    confusion = evidence.confusion(decided)
    right, called, there = confusion.diagonal(), confusion.sum(axis=0), confusion.sum(axis=1)
    return decision._replace(
        precision=_share(right, called),
        recall=_share(right, there),
        precision_interval=evidence.intervals(decided, evidence.codes),
        recall_interval=evidence.intervals(evidence.codes, decided),
    )


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)


def macro_f1(confusion: np.ndarray) -> float:
    """Return the mean F1 of the classes that have rows."""
    there, called = confusion.sum(axis=1), confusion.sum(axis=0)
    present = there > 0
    return float(np.mean(2 * confusion.diagonal()[present] / (there + called)[present]))


def _best_for_f1(evidence: ClassEvidence, prior: np.ndarray) -> np.ndarray:
    """Return the thresholds with the best macro F1: one number is chosen for all classes.

    Thresholds that are tuned one by one fit a small class to the few rows that it has.
    """
    scores = []
    for power in _POWERS:
        called = ClassDecision(prior**power)(evidence.proba)
        scores.append(macro_f1(evidence.confusion(called)))
    return prior ** _POWERS[int(np.argmax(scores))]


def _with_recall(
    evidence: ClassEvidence, thresholds: np.ndarray, wanted: dict[int, float], classes: np.ndarray
) -> np.ndarray:
    """Return the largest thresholds of some classes that keep their recall on new rows."""
    thresholds = thresholds.copy()
    # One class takes rows from another: twice is enough for them to settle.
    for _ in range(2 if len(wanted) > 1 else 1):
        for k, recall in wanted.items():
            of_class = evidence.codes == k
            proba, weights = evidence.proba[of_class].astype(float), evidence.weights[of_class]
            rivals = proba / thresholds
            rivals[:, k] = 0
            # The threshold up to which each row is called this class.
            reached = proba[:, k] / rivals.max(axis=1)
            order = np.argsort(reached, kind="stable")
            # A new row reaches less than the j-th smallest of m with probability j / (m + 1).
            missed = np.cumsum(weights[order]) / weights.mean() if len(order) else np.empty(0)
            allowed = (1 - recall) * (len(order) + 1) + 1e-9
            j = int(np.searchsorted(missed, allowed, side="right"))
            if j == 0:
                warn_user(
                    f"{len(order)} held-out rows of class {classes[[k]].tolist()[0]!r} are too few "
                    f"to expect a recall of {recall} on new rows; predict finds all of them."
                )
            if len(order):
                lowest = reached[order[max(j - 1, 0)]] * (1 - 1e-6)
                thresholds[k] = max(lowest, np.finfo(np.float32).tiny)
    return thresholds


def _position(classes: np.ndarray, label) -> int:
    return int(np.flatnonzero(classes == label)[0])


# ---------------------------------------------------------------------- checks


def check_class_goal(goal: Any, classes: np.ndarray) -> None:
    """Refuse a threshold that means nothing for more than two classes."""
    n_classes = len(classes)
    if goal is None or (isinstance(goal, str) and goal in ("balanced", "macro_f1")):
        return
    known = isinstance(goal, (tuple, list)) and len(goal) == 2
    name, value = goal if known else (None, None)
    if name not in ("recall", "cost") or (name == "recall" and not isinstance(value, Mapping)):
        raise ValueError(
            f"threshold={goal!r:.200}: for {n_classes} classes it must be {ALLOWED}. A threshold "
            "for two classes needs one class against the rest: name it by positive=."
        )
    if isinstance(value, Mapping):
        _check_prices(goal, name, value, classes)
        return
    try:
        costs = np.asarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"threshold={goal!r:.200}: the costs must be numbers: {error}") from error
    if costs.shape != (n_classes, n_classes):
        raise ValueError(
            f"threshold=('cost', matrix): the matrix must have {n_classes} rows and columns, one "
            f"per class; its shape is {costs.shape}."
        )
    if not np.isfinite(costs).all():
        raise ValueError("threshold=('cost', matrix): the costs must be finite numbers.")
    if (costs == costs[:, :1]).all():
        raise ValueError(
            "threshold=('cost', matrix): every class costs the same in each row, so the costs "
            "cannot tell which class to predict. Off the diagonal give what a mistake costs."
        )


def _check_prices(goal: Any, name: str, value: Mapping, classes: np.ndarray) -> None:
    labels = classes.tolist()
    unknown = [label for label in value if label not in labels]
    if unknown or not value:
        raise ValueError(
            f"threshold={goal!r:.200} must name classes of y: "
            f"{unknown[0]!r:.80} is not one of {labels[:20]}."
            if unknown
            else f"threshold={goal!r:.200} must name at least one class of y."
        )
    for label, number in value.items():
        plain = isinstance(number, Real) and not isinstance(number, bool)
        if not plain or not 0 < number < np.inf or (name == "recall" and number > 1):
            limit = "a number in (0, 1]" if name == "recall" else "a positive number"
            raise ValueError(
                f"threshold={goal!r:.200}: the {name} of class {label!r:.80} must be {limit}."
            )
