"""What the loop knows of the rows it grows on, and the few verbs it has for them.

`MemoryRows` has the verbs on plain arrays, `metasampler.large` has them on partitions. Both give
the same members, bit for bit.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import joblib
import numpy as np
from scipy import sparse

from metasampler.growth._draw import Rule, sample_sizes, size_of_larger
from metasampler.growth._scores import bind_scorer
from metasampler.growth._streams import RandomStreams

__all__ = [
    "MAX_EVALUATION_ROWS",
    "ROLES",
    "EvaluationRows",
    "GrowthData",
    "SampleFacts",
    "evaluation_scales",
    "fingerprint",
    "join_arrays",
]

#: Rows of each class, in each role, that are looked at one by one: for scores, states, calibration
#: and early stopping. Larger classes are sampled by key; each row of the sample stands for several.
MAX_EVALUATION_ROWS = 300_000

ROLES = ("train", "valid", "test")


class EvaluationRows(NamedTuple):
    """The rows of one role that are looked at one by one."""

    #: Their numbers, in ascending order.
    rows: np.ndarray
    codes: np.ndarray
    #: The weights that the user gave them.
    own_weights: np.ndarray | None
    folds: np.ndarray | None
    #: How many rows each row of a class stands for; None if all are here.
    scales: np.ndarray | None

    @property
    def weights(self) -> np.ndarray | None:
        """What each row counts; None if all count the same."""
        if self.scales is None:
            return self.own_weights
        factors = self.scales[self.codes]
        return factors if self.own_weights is None else self.own_weights * factors


class SampleFacts(NamedTuple):
    """What is known of the rows that a member was fitted on."""

    #: Their numbers among the rows the user passed; None where they are too many to be collected.
    rows: np.ndarray | None
    #: How many there are of each class, and their total weights.
    totals: tuple[np.ndarray, np.ndarray]


@dataclass(eq=False, repr=False, kw_only=True)
class GrowthData(ABC):
    """The rows an ensemble grows on: fixed, and shared by all episodes on one task."""

    classes: np.ndarray
    #: The smallest class, as a position in the classes.
    minority: int
    sampling_ratio: float
    scoring: Any
    streams: RandomStreams
    #: How tables were brought into the form that members take, and if need be into yet another.
    form: Any = None
    table_maker: Any = None
    #: The most rows of a class that a member gets; None sets no limit.
    max_rows: int | None = None
    #: What the weights of the rows of each class are multiplied by in a member.
    class_factors: Any = None
    #: With more than two classes, how fast samples grow with their class, see `sample_sizes`.
    sample_growth: float = 0.0

    # ------------------------------------------------------------------ facts, set by subclasses

    #: Whether rows are arrays of this process; if not, others compute.
    in_memory = True
    #: The tables. For rows outside of memory each is one row like all others, by which adapters
    #: are chosen.
    tables: list = field(init=False)
    #: Rows of all tables.
    n_rows: int = field(init=False)
    #: Training rows of each class, and their total weights.
    counts: np.ndarray = field(init=False)
    class_weights: np.ndarray = field(init=False)
    has_weights: bool = field(init=False)
    #: "train" and, where there are any such rows, "valid" and "test".
    roles: list[str] = field(init=False)
    #: Whether validation rows are a table of their own, which the user passed.
    validation_is_apart: bool = field(init=False)
    #: Whether no fold cuts a group.
    by_group: bool = field(init=False)
    #: Folds that members leave out in rotation, or 0; then the rows of each class and fold.
    n_folds: int = field(init=False)
    fold_counts: Any = field(init=False)

    def _set_sizes(self) -> None:
        """Set what follows from the facts and the settings."""
        self.n_classes = len(self.classes)
        self.has_validation = "valid" in self.roles
        #: Rows of each larger class that a member gets, if it may see all rows.
        self.draw_size = size_of_larger(self.counts, self.minority, self.sampling_ratio)
        sizes = self._sample_sizes(self.counts)
        #: The share of the training rows that a member gets.
        self.sampled_share = float(sizes.sum() / self.counts.sum())
        #: The mean weight of each class that is drawn from, see `member_weights`.
        self.mean_weights: dict[int, float] = {}
        if self.has_weights:
            drawn_from = np.flatnonzero(self.counts > sizes).tolist()
            self.mean_weights = {k: self.class_weights[k] / self.counts[k] for k in drawn_from}
        self._positions: dict = {}
        self._scorers: dict = {}
        # An unknown scorer is found before any member is fitted.
        for role in self.roles:
            if role != "train":
                self.scorer(role)

    def _set_draw(self, sampling_ratio: float, max_rows: int | None, class_factors) -> None:
        """Set how the members of another team draw rows; these are in the form of the first."""
        self.sampling_ratio, self.class_factors, self.table_maker = (
            sampling_ratio,
            class_factors,
            None,
        )
        if max_rows is not None:
            self.max_rows = max_rows if self.max_rows is None else min(max_rows, self.max_rows)

    def _sample_sizes(self, counts: np.ndarray) -> np.ndarray:
        growth = self.sample_growth if self.n_classes > 2 else 0.0
        return sample_sizes(counts, self.minority, self.sampling_ratio, self.max_rows, growth)

    def _left_out(self, number: int) -> int | None:
        """Return the fold that the member with this number leaves out."""
        return number % self.n_folds if self.n_folds else None

    def _visible_counts(self, fold: int | None) -> np.ndarray:
        """Return how many rows of each class a member sees that leaves out a fold."""
        return self.counts if fold is None else self.counts - self.fold_counts[:, fold]

    # ------------------------------------------------------------------ verbs: members

    @abstractmethod
    def draw(self, key: np.ndarray, number: int, rule: Rule | None = None, sums=None) -> Any:
        """Return the sample of the member with this number (Algorithm 1).

        ``key`` and ``number`` are those of the random numbers. ``sums()`` returns the sums of the
        members so far, for the errors that a rule looks at.
        """

    @abstractmethod
    def fit_member(self, sample, number: int, adapter, seed: int) -> tuple[Any, SampleFacts]:
        """Return the member with this number, fitted on a sample."""

    @abstractmethod
    def bin_edges(self, n_rows: int, make_edges: Callable[[list], bytes]) -> bytes | None:
        """Return what ``make_edges(tables)`` makes of a sample of the rows; None if they are few.

        Adapters cut columns into bins by it. Few rows in memory are that sample themselves.
        """

    @abstractmethod
    def groups_of(self, rows: np.ndarray) -> np.ndarray | None:
        """Return a key for the group of some rows of the first table; None if there are none."""

    @abstractmethod
    def sample(self, n_rows: int) -> Any:
        """Return some rows that a fit may learn from, in the form that members take."""

    def labelled_rows(self) -> tuple[Any, np.ndarray] | None:
        """Return the rows that may be sampled, and their classes; None if they are elsewhere."""
        return None

    # ------------------------------------------------------------------ verbs: scores

    @abstractmethod
    def start_sums(self, soft_roles: Sequence[str]) -> Any:
        """Return the sums over no members.

        They have a number of members, ``n_members``, and a ``copy()``.
        """

    @abstractmethod
    def add_scores(self, sums, adapter, member) -> None:
        """Add the probabilities of all rows by one more member to sums."""

    @abstractmethod
    def evaluation_sums(self, sums, role: str, *, soft: bool) -> np.ndarray:
        """Return the sums of the evaluation rows in a role, by soft leaves if asked for."""

    @abstractmethod
    def class_errors(self, sums, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of all training rows of a class, and their errors."""

    @abstractmethod
    def fold_scores(self, adapter, member, fold: int) -> np.ndarray:
        """Return a member's probabilities, by soft leaves, of the validation rows of a fold."""

    # ------------------------------------------------------------------ verbs: evaluation rows

    @abstractmethod
    def evaluation_rows(self, role: str) -> EvaluationRows:
        """Return the rows of a role that are looked at one by one."""

    @abstractmethod
    def role_counts(self, role: str) -> np.ndarray:
        """Return the number of rows of each class in a role, or of ``"all"`` rows."""

    def positions(self, role: str, group: str) -> np.ndarray:
        """Return which evaluation rows are of a group of classes ("minority" or "majority")."""
        if (role, group) not in self._positions:
            is_minority = self.evaluation_rows(role).codes == self.minority
            self._positions[role, group] = np.flatnonzero(is_minority == (group == "minority"))
        return self._positions[role, group]

    def scorer(self, role: str) -> Callable[[np.ndarray], float]:
        """Return the function that scores the probabilities of the evaluation rows in a role."""
        if role not in self._scorers:
            rows = self.evaluation_rows(role)
            self._scorers[role] = self.score_function(rows.codes, rows.weights)
        return self._scorers[role]

    def score_function(self, codes: np.ndarray, weights: np.ndarray | None):
        """Return what scores the probabilities of rows with these classes and weights."""
        return bind_scorer(self.scoring, codes, self.classes, self.minority, weights)

    # ------------------------------------------------------------------ verbs: other rows

    @abstractmethod
    def whole(self) -> "GrowthData":
        """Return the same task with the validation rows among the training rows."""

    @abstractmethod
    def held_out_in_turn(self, n_turns: int, streams: RandomStreams) -> Iterator["GrowthData"]:
        """Yield the same task with another share of the training rows held out, one by one.

        Each is a share of every class. All other rows are training rows.
        """

    @abstractmethod
    def holding_out_a_fold(self) -> "GrowthData":
        """Return the same task with one fold held out from all members, instead of rotation."""

    @abstractmethod
    def for_team(
        self,
        sampling_ratio: float,
        *,
        trees: bool = False,
        max_rows: int | None = None,
        class_factors: np.ndarray | None = None,
    ) -> "GrowthData":
        """Return the same rows with other draws and, for trees, in the form they take fastest.

        ``max_rows`` is another limit on the rows of a class, and ``class_factors`` are what the
        weights of the rows of each class are multiplied by in a member.
        """

    def thinned(self, ratio: float, streams: RandomStreams) -> "GrowthData":
        """Return the same task with a fraction of the training rows of each class.

        The rows left out are not even scored, which makes meta-training on them cheap.
        """
        raise ValueError(
            "Meta-training needs rows in memory: pass a fitted MetaSampler, or take a sample "
            "of the rows to train one."
        )

    @abstractmethod
    def fingerprints(self) -> dict[str, Any]:
        """Return short texts that tell these rows, labels, weights and groups from others."""


def evaluation_scales(counts: np.ndarray) -> np.ndarray | None:
    """Return how many rows each evaluation row of a class stands for; None if all rows are."""
    if counts.max() <= MAX_EVALUATION_ROWS:
        return None
    return np.maximum(counts, 1) / np.clip(counts, 1, MAX_EVALUATION_ROWS)


def fingerprint(table) -> str:
    """Return a short text that tables with other values do not have."""
    if hasattr(table, "columns"):
        # By column: how a frame keeps its columns together does not count.
        table = [(str(name), np.asarray(table[name])) for name in table.columns]
    elif sparse.issparse(table):
        table = table.tocsr()
    else:
        # Nor does the order of values in memory.
        table = np.ascontiguousarray(table)
    return joblib.hash(table)


def join_arrays(arrays: Sequence) -> Any:
    """Return arrays as one, without those that are None; None if all are."""
    arrays = [each for each in arrays if each is not None]
    if len(arrays) < 2:
        return arrays[0] if arrays else None
    return np.concatenate(arrays)
