"""Comparison of new rows with those of the fit, some rows at a time."""

from typing import Any

import numpy as np
from scipy.stats import binomtest, chi2
from sklearn.utils.validation import check_is_fitted

from metasampler._docs import shared_docs
from metasampler.drift._baseline import Baseline, ColumnBins
from metasampler.drift._drift_report import ColumnDrift, DriftReport
from metasampler.tables import as_table, is_frame, quiet_cells, unseen_levels

# The probability of any finding on rows that come as those of the fit did.
_FALSE_ALARMS = 0.01

# Population stability indices from which a column has moved, and has moved a lot; scores are
# described by rows that members were trained on, which alone moves them a little.
_MOVED, _MOVED_A_LOT = 0.1, 0.25

# A smaller share of new levels, or of values outside all that was seen, changes little.
_WORTH_NAMING = 0.01

# From this share on they are what is named first, also in a column that has moved a lot.
_MUCH = 0.05

# Bins with fewer expected rows are joined before a test.
_FEWEST_EXPECTED = 5.0

# New levels that are named.
_MOST_NAMED = 3


@shared_docs()
class DriftMonitor:
    """Compare new rows with those of the fit, some rows at a time.

    :meth:`MesaClassifier.drift` does it for rows in one table.

    Parameters
    ----------
    classifier : MesaClassifier or another under-sampling ensemble
        A fitted ensemble of this package.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from metasampler import MesaClassifier
    >>> from metasampler.drift import DriftMonitor
    >>> X, y = make_classification(2000, n_features=6, weights=[0.9], random_state=0)
    >>> clf = MesaClassifier(recipe="fast", random_state=0).fit(X, y)
    >>> monitor = DriftMonitor(clf)
    >>> for week in np.array_split(X + [0, 0, 0, 0, 0, 5], 4):
    ...     monitor.add(week)
    >>> [column.name for column in monitor.report().moved]
    ['column 5']
    """

    def __init__(self, classifier):
        check_is_fitted(classifier)
        baseline = getattr(classifier, "_baseline", None)
        if not isinstance(baseline, Baseline):
            raise TypeError(
                f"classifier must be a fitted ensemble of metasampler that describes the rows of "
                f"its fit; got {type(classifier).__name__}."
            )
        self._classifier, self._baseline = classifier, baseline
        n_columns = baseline.columns.n_columns
        self._n_rows = self._n_unlike = self._n_called = 0
        self._counts = np.zeros(len(baseline.columns.counts), dtype=np.int64)
        self._score_counts = np.zeros(len(baseline.scores.counts), dtype=np.int64)
        self._outside = np.zeros(n_columns, dtype=np.int64)
        self._low, self._high = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
        self._levels: dict[str, dict[str, None]] = {}

    def add(self, X, proba=None) -> None:
        """Add rows to the comparison.

        Parameters
        ----------
        {rows}
        proba : ndarray of shape (n_samples, n_classes), default=None
            Their `predict_proba`, if it is known already.
        """
        classifier, baseline = self._classifier, self._baseline
        columns = baseline.columns
        if proba is None:
            proba = classifier.predict_proba(X)
        form = classifier._form
        X = as_table(X)
        with quiet_cells():
            numbers = baseline.numbers(form(form.ordered(X), owner=classifier), form)
        self._n_rows += len(numbers)
        self._counts += columns.count(numbers)
        score = np.asarray(proba)[:, [classifier._minority]]
        self._score_counts += baseline.scores.count(score)
        if len(classifier.classes_) == 2:
            self._n_called += int(np.count_nonzero(score >= classifier.threshold_))
        self._low = np.fmin(self._low, np.fmin.reduce(numbers, axis=0, initial=np.inf))
        self._high = np.fmax(self._high, np.fmax.reduce(numbers, axis=0, initial=-np.inf))
        # Comparisons with NaN, for a category or a missing value, are false.
        unlike = (numbers < columns.low) | (numbers > columns.high)
        unlike[:, columns.is_category] = numbers[:, columns.is_category] == 0
        self._outside += unlike.sum(axis=0)
        self._n_unlike += int(np.count_nonzero(unlike.any(axis=1)))
        encoder = baseline.encoder or form.encoder
        if encoder is not None and is_frame(X):
            seen = {name: self._levels.setdefault(name, {}) for name in baseline.names}
            for name, levels in unseen_levels(encoder, X).items():
                if str(name) in seen and len(seen[str(name)]) < _MOST_NAMED:
                    seen[str(name)] |= dict.fromkeys(levels[:_MOST_NAMED])

    def report(self) -> DriftReport:
        """Return what has moved.

        Returns
        -------
        report : DriftReport
        """
        if not self._n_rows:
            raise ValueError("No rows were added.")
        baseline, columns = self._baseline, self._baseline.columns
        n_tests = columns.n_columns + 1
        level = _FALSE_ALARMS / (2 * n_tests)
        found = [self._column(j, level) for j in range(columns.n_columns)]
        scores = _compare(baseline.scores, 0, baseline.scores.counts, self._score_counts)
        moved = scores.p_value < level and scores.psi >= _MOVED_A_LOT
        return DriftReport(
            n_rows=self._n_rows,
            columns=found,
            score_psi=scores.psi,
            scores_moved=moved,
            alarms=self._n_called / self._n_rows if self._has_threshold else None,
            expected_alarms=self._expected_alarms(),
            unlike=self._n_unlike / self._n_rows,
            expected_unlike=self._expected_unlike(),
        )

    @property
    def _has_threshold(self) -> bool:
        return len(self._classifier.classes_) == 2

    def _expected_alarms(self) -> float | None:
        """Return the share of held-out rows that the threshold calls."""
        cuts = getattr(self._classifier, "_cuts", None)
        if cuts is None or not self._has_threshold:
            return None
        return cuts.share_called(self._classifier.threshold_)

    def _expected_unlike(self) -> float:
        """Return the share of rows like those of the fit that have a new value in some column."""
        baseline, columns = self._baseline, self._baseline.columns
        shares = np.where(columns.is_category, 0.0, 2 / (baseline.n_rows + 1))
        for j in np.flatnonzero(columns.is_category).tolist():
            shares[j] = _rare(columns, j, columns.counts) / baseline.n_rows
        # A column with few distinct values has no new ones.
        sizes = np.diff(columns.edge_starts)
        shares[~columns.is_category & (sizes < 9)] = 0.0
        return float(min(1.0, shares.sum()))

    def _column(self, j: int, level: float) -> ColumnDrift:
        """Return what has become of a column."""
        baseline, columns = self._baseline, self._baseline.columns
        name, n_rows, n_before = baseline.names[j], self._n_rows, baseline.n_rows
        compared = _compare(columns, j, columns.counts, self._counts)
        before, now = compared.before, compared.now
        sure = compared.p_value < level

        def drift(finding: str, why: str, p_value: float = compared.p_value) -> ColumnDrift:
            return ColumnDrift(
                name,
                "category" if columns.is_category[j] else "number",
                finding,
                why,
                compared.psi,
                p_value,
                float(before[-1]),
                float(now[-1]),
                self._outside[j] / n_rows,
            )

        if now[-1] == 1 and (p_value := _all_alike(before[-1:], n_before, n_rows)) < level:
            why = f"It has no values; at the fit {1 - before[-1]:.0%} had one."
            return drift("empty", why, p_value)
        # Levels that the fit did not know all have one code: they may differ.
        is_one = now[-1] == 0 and self._low[j] == self._high[j]
        is_one = is_one and not (columns.is_category[j] and self._low[j] == 0)
        if is_one and np.count_nonzero(before[:-1]) > 1:
            p_value = _all_alike(before[:-1], n_before, n_rows)
            if p_value < level:
                why = "It has the same value in every row"
                if self._outside[j]:
                    span = f"{columns.low[j]:.4g} to {columns.high[j]:.4g}"
                    why += f", {self._low[j]:.4g}, which is outside {span}"
                return drift("constant", f"{why}.", p_value)
        outside = self._outside[j] / n_rows
        usual = 2 / (n_before + 1)
        if columns.is_category[j]:
            usual = max(usual, (_rare(columns, j, columns.counts) + 1) / (n_before + 1))
        moved = sure and compared.psi >= _MOVED_A_LOT
        if outside >= (_MUCH if moved else _WORTH_NAMING) and outside > 2 * usual:
            test = binomtest(int(self._outside[j]), n_rows, min(1.0, 2 * usual), "greater")
            if test.pvalue < level:
                if columns.is_category[j]:
                    names = ", ".join(map(repr, list(self._levels.get(name, {}))[:_MOST_NAMED]))
                    example = f", for instance {names}" if names else ""
                    why = f"{outside:.1%} of the rows have levels that fit did not know{example}."
                    return drift("new levels", why)
                span = f"{columns.low[j]:.4g} to {columns.high[j]:.4g}"
                return drift("outside", f"{outside:.1%} of the rows are outside {span}.")
        if sure and compared.psi >= _MOVED:
            finding = "moved a lot" if compared.psi >= _MOVED_A_LOT else "moved"
            return drift(finding, self._largest_change(j, before, now))
        return drift("", "")

    def _largest_change(self, j: int, before: np.ndarray, now: np.ndarray) -> str:
        """Return in words which bin has changed most."""
        columns = self._baseline.columns
        edges, place = columns.edges_of(j), int(np.argmax(np.abs(now - before)))
        if place == len(edges) + 1:
            where = "without a value"
        elif columns.is_category[j]:
            where = (
                f"with {self._level(j, edges[place])!r}" if place < len(edges) else "with others"
            )
        elif place == 0:
            where = f"up to {edges[0]:.4g}" if len(edges) else "with a value"
        elif place == len(edges):
            where = f"above {edges[-1]:.4g}"
        else:
            where = f"above {edges[place - 1]:.4g} up to {edges[place]:.4g}"
        return f"{now[place]:.0%} of the rows {where}; at the fit {before[place]:.0%}."

    def _level(self, j: int, code: float) -> str:
        baseline: Any = self._baseline
        encoder = baseline.encoder or self._classifier._form.encoder
        if code == 0:
            return "rare levels"
        by_name = {str(name): levels for name, levels in encoder.levels_.items()}
        return by_name[baseline.names[j]][int(code) - 1]


class _Compared:
    """Shares of the bins of a column before and now, and how far apart they are."""

    def __init__(self, before: np.ndarray, now: np.ndarray):
        self.before, self.now = before / before.sum(), now / now.sum()
        # Half a row in each bin: a bin that was empty has no logarithm.
        p, q = ((each + 0.5) / (each.sum() + 0.5 * len(each)) for each in (before, now))
        # What chance alone adds is taken off.
        by_chance = (np.count_nonzero(before + now) - 1) * (1 / before.sum() + 1 / now.sum())
        self.psi = float(max(0.0, np.sum((q - p) * np.log(q / p)) - by_chance))
        self.p_value = _p_value(before, now)


def _all_alike(shares: np.ndarray, n_before: int, n_rows: int) -> float:
    """Return how probable it is that all rows are in one and the same of some bins.

    Exact, so that few rows are enough.
    """
    return float(min(1.0, np.sum(((shares * n_before + 1) / (n_before + 2)) ** n_rows)))


def _compare(columns: ColumnBins, j: int, before: np.ndarray, now: np.ndarray) -> _Compared:
    own = slice(columns.starts[j], columns.starts[j + 1])
    return _Compared(before[own], now[own])


def _p_value(before: np.ndarray, now: np.ndarray) -> float:
    """Return the p-value of the chi-squared test that both samples are of one distribution."""
    table = np.array([before, now], dtype=float)
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    few = expected.min(axis=0) < _FEWEST_EXPECTED
    joined = np.column_stack([table[:, ~few], table[:, few].sum(axis=1)])
    joined = joined[:, joined.sum(axis=0) > 0]
    if joined.shape[1] < 2:
        return 1.0
    expected = joined.sum(axis=1, keepdims=True) * joined.sum(axis=0) / joined.sum()
    return float(chi2.sf(((joined - expected) ** 2 / expected).sum(), joined.shape[1] - 1))


def _rare(columns: ColumnBins, j: int, counts: np.ndarray) -> int:
    """Return how many rows have a rare or unknown level of a category."""
    edges = columns.edges_of(j)
    return int(counts[columns.starts[j] + int(np.searchsorted(edges, 0.0))])
