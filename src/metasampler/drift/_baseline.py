"""What a model keeps of the rows of its fit: counts in bins, per column and of the scores."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from metasampler._sklearn_compat import take_rows
from metasampler.tables import TableEncoder, TableForm, is_frame

# Rows that are described: enough to see a shift of a tenth, and quick to sort.
MOST_ROWS = 4000

# Scores are described by fewer rows, because every member has to score them.
_MOST_SCORED = 500

# Columns that are described, those with the highest importance first: a model file stays small.
_MOST_COLUMNS = 200

# Bins of a number; a number with no more values has a bin for each.
_N_BINS = 10

# Levels of a category with a bin of their own; the others share one.
_MOST_LEVELS = 20


@dataclass(eq=False)
class ColumnBins:
    """Counts of columns in bins, in flat arrays.

    Column j has the entries from ``starts[j]`` to ``starts[j + 1]``. A number has a bin up to each
    edge, and one above the last. A category has a bin for each code among its edges, and one for
    all others. The last bin of each column counts missing values.
    """

    edges: np.ndarray
    edge_starts: np.ndarray
    counts: np.ndarray
    starts: np.ndarray
    #: The lowest and the highest value; NaN for a category and for a column without values.
    low: np.ndarray
    high: np.ndarray
    is_category: np.ndarray

    @classmethod
    def of(cls, numbers: np.ndarray, is_category: np.ndarray) -> "ColumnBins":
        """Return the bins of the columns of some rows, and their counts."""
        # NaN is sorted to the end.
        ordered = np.sort(numbers, axis=0)
        n_known = len(numbers) - np.isnan(numbers).sum(axis=0)
        edges = []
        for column, known, codes in zip(ordered.T, n_known, is_category, strict=True):
            edges.append(_codes(column[:known]) if codes else _edges(column[:known]))
        low, high = np.full((2, numbers.shape[1]), np.nan)
        for j in np.flatnonzero(~is_category & (n_known > 0)):
            low[j], high[j] = ordered[0, j], ordered[n_known[j] - 1, j]
        sizes = np.array([len(each) for each in edges], dtype=np.intp)
        made = cls(
            np.concatenate([*edges, np.empty(0)]),
            np.append(0, np.cumsum(sizes)),
            np.empty(0),
            np.append(0, np.cumsum(sizes + 2)),
            low,
            high,
            is_category,
        )
        made.counts = made.count(numbers)
        return made

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return len(self.low)

    def edges_of(self, j: int) -> np.ndarray:
        """Return the edges of a column, or the codes of a category."""
        return self.edges[self.edge_starts[j] : self.edge_starts[j + 1]]

    def count(self, numbers: np.ndarray) -> np.ndarray:
        """Return how many rows are in each bin of each column."""
        found = []
        for j, column in enumerate(numbers.T):
            edges, missing = self.edges_of(j), np.isnan(column)
            places = np.searchsorted(edges, column)
            if self.is_category[j]:
                # A code that is not among the edges belongs to the bin for all others.
                inside = np.minimum(places, len(edges) - 1)
                known = edges[inside] == column if len(edges) else np.zeros(len(column), bool)
                places = np.where(known, places, len(edges))
            places[missing] = len(edges) + 1
            found.append(np.bincount(places, minlength=len(edges) + 2))
        return np.concatenate(found)


def _edges(values: np.ndarray) -> np.ndarray:
    """Return the upper ends of all bins but the last, given sorted values."""
    if not len(values):
        return np.empty(0)
    places = np.arange(1, _N_BINS) * len(values) // _N_BINS
    distinct = np.append(True, np.diff(values) > 0)
    few = np.count_nonzero(distinct) <= _N_BINS
    edges = values[distinct] if few else np.unique(values[places])
    # The highest value needs no bin above it.
    return edges[edges < values[-1]].astype(float)


def _codes(codes: np.ndarray) -> np.ndarray:
    """Return the most frequent codes, and 0 for rare levels, in ascending order."""
    found, counts = np.unique(codes, return_counts=True)
    most = found[np.argsort(-counts, kind="stable")[:_MOST_LEVELS]]
    return np.union1d(most, 0.0).astype(float)


@dataclass(eq=False)
class Baseline:
    """What a model keeps of the rows of its fit, for comparison with new rows.

    ``scores`` are the probabilities of the class to find. ``encoder`` turns frames into numbers
    where members take them as they are.
    """

    names: list
    #: The described columns, by their positions.
    positions: np.ndarray
    columns: ColumnBins
    scores: ColumnBins
    n_rows: int
    n_scored: int
    encoder: TableEncoder | None = None

    @classmethod
    def of(cls, sample: Any, form: TableForm, names, importances, score) -> "Baseline | None":
        """Describe a sample of rows in the form that members take.

        ``score`` returns the probability of the class to find, given rows. ``importances`` returns
        those of the columns or None, and is called only if there are too many columns. Tables whose
        values are neither numbers nor columns of a frame cannot be described.
        """
        encoder = TableEncoder(min_count=1).fit(sample) if is_frame(sample) else None
        n_columns = sample.shape[1]
        positions = np.arange(n_columns)
        if n_columns > _MOST_COLUMNS:
            known = importances()
            order = positions if known is None else np.argsort(-known, kind="stable")
            positions = np.sort(order[:_MOST_COLUMNS])
        used: Any = encoder or form.encoder
        codes = set(used.categorical_features_) if used is not None else set()
        numbers = _numbers(sample, form, encoder, positions)
        if numbers is None:
            return None
        if names is None:
            names = [f"column {j}" for j in range(n_columns)]
        is_category = np.array([j in codes for j in positions.tolist()], dtype=bool)
        scored = take_rows(sample, some_rows(len(numbers)))
        scores = np.asarray(score(scored), dtype=float)[:, np.newaxis]
        return cls(
            [str(names[j]) for j in positions.tolist()],
            positions,
            ColumnBins.of(numbers, is_category),
            ColumnBins.of(scores, np.zeros(1, dtype=bool)),
            len(numbers),
            len(scores),
            encoder,
        )

    def with_scores(self, scores: np.ndarray) -> "Baseline":
        """Return the same with the scores of other rows."""
        scores = scores[some_rows(len(scores), MOST_ROWS), np.newaxis]
        return replace(
            self, scores=ColumnBins.of(scores, np.zeros(1, dtype=bool)), n_scored=len(scores)
        )

    def numbers(self, table: Any, form: TableForm) -> np.ndarray:
        """Return the described columns of rows in the form that members take."""
        found = _numbers(table, form, self.encoder, self.positions)
        assert found is not None
        return found


def some_rows(n_rows: int, most: int = _MOST_SCORED) -> np.ndarray:
    """Return the positions of some rows, evenly spread."""
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, most)).astype(np.intp))


def _numbers(table, form: TableForm, encoder, positions: np.ndarray) -> np.ndarray | None:
    """Return some columns as numbers with NaN for missing; None if they are something else."""
    if encoder is not None:
        return encoder.transform(table)[:, positions]
    if issparse(table):
        return table.tocsc()[:, positions].toarray().astype(float)
    table = np.asarray(table)
    if table.dtype.kind not in "biuf":
        return None
    return form.with_missing(table)[:, positions].astype(float)
