"""Compare calibrations of the same members."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import average_precision_score

from metasampler_bench._statistics import (
    measure_probabilities,
    paired,
    set_means,
    with_error,
)
from metasampler_bench._tables import ResultTable
from metasampler_bench.studies._data import (
    LARGE_SETS,
    LEFT_OUT,
    Table,
    each_split,
    join,
    small_sets,
    split_in_three,
)
from metasampler_bench.studies._decisions import (
    RETIRED_CALIBRATIONS,
    SIZES,
    as_words,
    count_sets,
    few_positives,
    make_mesa,
    stages,
    values_of,
)
from metasampler_bench.studies._study import Options, Row, Study, mark_retired

__all__ = ["CALIBRATION", "CALIBRATION_LARGE"]

_MEASURES = ("Brier score", "log-loss", "calibration error", "average precision")
_COMPARED = ("Brier score", "average precision")
#: What makes use of members that have not seen the validation rows.
_HELD_OUT = ("raw", "prior", "sigmoid", "isotonic", "auto", "wrapped, same members")
#: What trains on the training and the validation rows together.
_REFITTED, _FIVE = "auto, refitted", "wrapped, five ensembles"
_ALL_ROWS = ("sigmoid, refitted", _REFITTED, "cross-fitted", "wrapped, one ensemble", _FIVE)

_ABOUT = """
All methods get the same splits: 60% of the rows train, 20% validate and 20% test. Members are
trained on the training rows, and the validation rows calibrate them. A refit then trains them on
both. It takes two fits. If a class has fewer than 30 validation rows it takes six, because "auto"
then also holds out the training rows in turn.

"Cross-fitted" held out fifths of both in turn (six fits). "Wrapped" is scikit-learn's
CalibratedClassifierCV with a sigmoid. There are three kinds of it: around the same fitted members,
with the validation rows; one ensemble with five folds of training and validation rows (six fits);
and the five ensembles of these folds (five fits).

Below each table the number in brackets is the Brier score of the other method minus that of auto.
"Level" means a difference of less than a standard error. A method with a commit in brackets is no
longer part of the package. This commit is the last one that can run it.
"""


def _measure(options: Options, names: tuple[str, ...]) -> Iterator[Row]:
    """Measure all calibrations of the same members, and scikit-learn's, which fits its own."""
    for name, number, X, y, seed in each_split(options, names, "calibration"):
        train, valid, (X_test, y_test) = split_in_three(X, y, seed)
        with few_positives():
            whole = make_mesa(seed, max(SIZES), calibration=None).fit(
                *train, X_val=valid[0], y_val=valid[1]
            )
            raw = stages(whole, X_test)
            for k in SIZES:
                # Sums of the same terms in another order differ by 1e-17. Such pairs have no
                # order that a calibration could keep, so it is also looked at without them.
                rounded = raw[k].round(12)
                for method in ("raw", "prior", "sigmoid", "auto"):
                    proba, without_noise = raw[k], rounded
                    if method != "raw":
                        fitted = make_mesa(seed, k, calibration=method).fit(
                            *train, X_val=valid[0], y_val=valid[1]
                        )
                        proba, without_noise = map(fitted.calibration_, (raw[k], rounded))
                    change = _change(y_test, without_noise, rounded)
                    start = {"set": name, "split": number, "k": k, "method": method, "members": k}
                    yield start | _measured(y_test, proba, raw[k], change)
                first = copy(whole)
                first.estimators_ = whole.estimators_[:k]
                others = _on_all_rows(train, valid, k, seed)
                others |= _by_scikit_learn(first, train, valid, k, seed)
                for method, other in others.items():
                    start = {"set": name, "split": number, "k": k, "method": method}
                    yield (
                        start
                        | {"members": _n_members(other)}
                        | _measured(y_test, other.predict_proba(X_test), raw[k], None)
                    )


def _on_all_rows(train: Table, valid: Table, k: int, seed: int) -> dict[str, Any]:
    """Fit our own ways to use the validation rows for training too."""
    return {
        "sigmoid, refitted": make_mesa(seed, k, refit=True, calibration="sigmoid").fit(
            *train, X_val=valid[0], y_val=valid[1]
        ),
        _REFITTED: make_mesa(seed, k, refit=True).fit(*train, X_val=valid[0], y_val=valid[1]),
    }


def _by_scikit_learn(fitted: Any, train: Table, valid: Table, k: int, seed: int) -> dict[str, Any]:
    """Fit CalibratedClassifierCV around the members, and around classifiers it fits itself."""
    X, y = join(train, valid)
    raw = make_mesa(seed, k, calibration=None, validation_fraction=None)
    return {
        "wrapped, same members": CalibratedClassifierCV(FrozenEstimator(fitted)).fit(*valid),
        "wrapped, one ensemble": CalibratedClassifierCV(raw, cv=5, ensemble=False).fit(X, y),
        _FIVE: CalibratedClassifierCV(raw, cv=5).fit(X, y),
    }


def _n_members(fitted: Any) -> int:
    """Count the members that are asked for a prediction."""
    if isinstance(fitted, CalibratedClassifierCV):
        return sum(len(part.estimator.estimators_) for part in fitted.calibrated_classifiers_)
    return len(fitted.estimators_)


def _change(y: Any, proba: Any, raw: Any) -> float:
    after, before = (float(average_precision_score(y, p[:, 1])) for p in (proba, raw))
    return after - before


def _measured(y: Any, proba: Any, raw: Any, change_without_noise: float | None) -> Row:
    return measure_probabilities(y, proba[:, 1]) | {
        "change of average precision": _change(y, proba, raw),
        "change without rounding noise": change_without_noise,
    }


def _tables(rows: list[Row], title: str = "Calibration") -> list[ResultTable]:
    """Make one table for each number of members."""
    return [_table(rows, k, title) for k in values_of(rows, "k")]


def _table(rows: list[Row], k: int, title: str) -> ResultTable:
    def means(method: str, value: str) -> Any:
        return set_means(rows, value, k=k, method=method)

    found = {row["method"] for row in rows}
    methods = [method for method in (*_HELD_OUT, *_ALL_ROWS) if method in found]
    lines = []
    for method in methods:
        line = [
            mark_retired(method, RETIRED_CALIBRATIONS),
            f"{means(method, 'members').mean():.0f}",
        ]
        for value in _MEASURES:
            line.append(f"{means(method, value).mean():.4f}")
            if value in _COMPARED:
                difference = paired(means(method, value), means("auto", value))
                line.append("" if method == "auto" else with_error(*difference))
        lines.append(line)
    header = ["method", "members"]
    for value in _MEASURES:
        header += [value, "less auto's"] if value in _COMPARED else [value]
    return ResultTable.from_texts(f"{title}, k = {k}", header, lines, _note(rows, k, methods))


def _note(rows: list[Row], k: int, methods: list[str]) -> str:
    """Say in words where "auto" stands, with and without a refit."""
    brier = {method: set_means(rows, "Brier score", k=k, method=method) for method in methods}
    kept = [r for r in rows if r["k"] == k and r["method"] in ("prior", "sigmoid", "auto")]
    change, noise = (
        max(abs(row[column]) for row in kept)
        for column in ("change without rounding noise", "change of average precision")
    )
    same = {name: brier[name] for name in methods if name in _HELD_OUT and name != "auto"}
    more = {n: brier[n] for n in methods if n in _ALL_ROWS and n not in (_REFITTED, _FIVE)}
    n_members = set_means(rows, "members", k=k, method=_FIVE).mean()
    more[f"{_FIVE} with {n_members:.0f} members"] = brier[_FIVE]
    # As many members as five smaller ensembles have.
    smaller = set_means(rows, "Brier score", k=k // 5, method=_FIVE) if k % 5 == 0 else ()
    equal = ""
    if len(smaller):
        equal = (
            f" If both sides have {k} members at prediction, it is "
            f"{_standing(brier[_REFITTED], {f'five ensembles of {k // 5}': smaller})}."
        )
    return (
        f"{count_sets(rows)} data sets. The mean Brier score of the raw mean is "
        f"{brier['raw'].mean() / brier['auto'].mean():.1f} times that of auto.\n\n"
        f"- Methods that keep the same members: auto is {_standing(brier['auto'], same)}.\n"
        f"- Prior, sigmoid and auto change average precision by at most {change:.1g}. Some raw "
        "scores differ only in the last bits of a sum, and become ties. If such scores count as "
        f"ordered, the change is {noise:.1g}.\n"
        "- Methods that train on the validation rows too: auto with a refit is "
        f"{_standing(brier[_REFITTED], more)}.{equal}"
    )


def _standing(own: Any, others: dict[str, Any]) -> str:
    """Say in words where a method stands among others by its losses."""
    words: dict[str, list[str]] = {"ahead of": [], "level with": [], "behind": []}
    for method, losses in others.items():
        difference, error = paired(losses, own)
        word = "ahead of" if difference > 0 else "behind"
        # What the four digits shown do not tell apart is level, too.
        if abs(difference) < max(error, 5e-5):
            word = "level with"
        name = mark_retired(method, RETIRED_CALIBRATIONS)
        words[word].append(f"{name} ({with_error(difference, error)})")
    return ". It is ".join(f"{word} {as_words(names)}" for word, names in words.items() if names)


CALIBRATION = Study(
    name="calibration",
    title="Calibration",
    about=f"{_ABOUT}\n{LEFT_OUT}",
    measure=lambda options: _measure(options, small_sets()),
    tables=_tables,
    runs=5,
    file="decisions-calibration",
    page="decisions",
)

_TITLE_OF_LARGE = "Calibration of large sets"

CALIBRATION_LARGE = Study(
    name="calibration-large",
    title=_TITLE_OF_LARGE,
    about="",
    measure=lambda options: _measure(options, LARGE_SETS),
    # Tables of one study in two sections differ by their titles.
    tables=lambda rows: _tables(rows, _TITLE_OF_LARGE),
    runs=1,
    file="decisions-calibration-large",
    page="decisions",
)
