"""Ask what holding rows out costs."""

from __future__ import annotations

from collections.abc import Iterator

from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import train_test_split

from metasampler_bench._statistics import (
    measure_probabilities,
    paired,
    set_means,
    with_error,
)
from metasampler_bench._tables import ResultTable
from metasampler_bench.studies._data import LEFT_OUT, each_split, small_sets
from metasampler_bench.studies._decisions import (
    SIZES,
    count_sets,
    few_positives,
    make_mesa,
    values_of,
)
from metasampler_bench.studies._study import Options, Row, Study

__all__ = ["HOLD_OUT"]

_FEW_POSITIVES = 60
_METHODS = (
    "hold-out, auto",
    "no hold-out, prior",
    "refitted, auto of the hold-out fit",
    "no hold-out, cross-fitted sigmoid",
)


def _measure_hold_out(options: Options) -> Iterator[Row]:
    """Hold rows out for calibration, do without, refit on all, or take turns (five more fits)."""
    held_out, by_prior, refitted, crossed = _METHODS
    for name, number, X, y, seed in each_split(options, small_sets(), "hold-out"):
        X_rest, X_test, y_rest, y_test = train_test_split(
            X, y, test_size=0.2, stratify=y, random_state=seed
        )
        with few_positives():
            for k in SIZES:
                held = make_mesa(seed, k, validation_fraction=0.2).fit(X_rest, y_rest)
                whole = make_mesa(seed, k, validation_fraction=None, calibration="prior")
                raw = make_mesa(seed, k, validation_fraction=None, calibration=None)
                probas = {
                    held_out: held.predict_proba(X_test),
                    by_prior: whole.fit(X_rest, y_rest).predict_proba(X_test),
                    refitted: held.calibration_(raw.fit(X_rest, y_rest).predict_proba(X_test)),
                }
                if k == min(SIZES):
                    wrapped = CalibratedClassifierCV(raw, cv=5, ensemble=False)
                    probas[crossed] = wrapped.fit(X_rest, y_rest).predict_proba(X_test)
                for method, proba in probas.items():
                    yield {
                        "set": name,
                        "split": number,
                        "positives": int(y.sum()),
                        "k": k,
                        "method": method,
                    } | measure_probabilities(y_test, proba[:, 1])


def _hold_out_tables(rows: list[Row]) -> list[ResultTable]:
    """Make tables of all sets, and of those with few positives, for each number of members."""
    few = [row for row in rows if row["positives"] < _FEW_POSITIVES]
    groups = {"all sets": rows, f"sets with fewer than {_FEW_POSITIVES} positives": few}
    return [
        _hold_out_table(chosen, k, title)
        for k in values_of(rows, "k")
        for title, chosen in groups.items()
        if count_sets(chosen) > 1
    ]


def _hold_out_table(rows: list[Row], k: int, title: str) -> ResultTable:
    measures = ("average precision", "Brier score", "log-loss")
    reference, prior, refitted, crossed = _METHODS
    lines, differences = [], {}
    for method in _METHODS:
        if not any(row["k"] == k and row["method"] == method for row in rows):
            continue  # cross-fitting is done for the smaller size only
        line = [method]
        for value in measures:
            own, others = (set_means(rows, value, k=k, method=m) for m in (method, reference))
            differences[method, value] = paired(own, others)
            line.append(f"{own.mean():.4f}")
            line.append("" if method == reference else with_error(*differences[method, value]))
        lines.append(line)
    header = ["rows and calibration"]
    for value in measures:
        header += [value, "less hold-out's"]
    note = (
        f"{count_sets(rows)} sets. If members train on the held-out rows too, average precision "
        f"changes by {with_error(*differences[prior, 'average precision'])}. The Brier score "
        "changes as follows:\n\n"
        f"- {with_error(*differences[prior, 'Brier score'])} with the prior, which needs no "
        "held-out rows\n"
        f"- {with_error(*differences[refitted, 'Brier score'])} with a sigmoid that was fitted on "
        "held-out rows, before the members were refitted on all rows"
    )
    if (crossed, "Brier score") in differences:
        note += (
            f"\n- {with_error(*differences[crossed, 'Brier score'])} with a sigmoid that was "
            "fitted on cross-validated probabilities, which costs five more fits"
        )
    return ResultTable.from_texts(f"Hold-out, k = {k}, {title}", header, lines, note)


HOLD_OUT = Study(
    name="hold-out",
    title="Hold-out",
    about=LEFT_OUT,
    measure=_measure_hold_out,
    tables=_hold_out_tables,
    runs=5,
    file="decisions-hold-out",
    page="decisions",
)
