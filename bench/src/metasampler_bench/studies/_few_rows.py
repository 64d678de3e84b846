"""Try forms of calibration where few rows are held out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit

from metasampler_bench._progress import tracked
from metasampler_bench._statistics import (
    measure_probabilities,
    paired,
    set_means,
    with_error,
)
from metasampler_bench._tables import ResultTable
from metasampler_bench.studies._data import join, split_in_three
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
from metasampler_bench.studies._few_rows_tasks import TASKS, load_task, title_of_task
from metasampler_bench.studies._study import Options, Row, Study, mark_retired

__all__ = ["FEW_ROWS"]

#: From where on "auto" leaves the training rows alone.
_ENOUGH_HELD_OUT = 30

_Form = Callable[[NDArray[Any]], NDArray[Any]]


def _measure(options: Options) -> Iterator[Row]:
    """Measure members on all rows, with calibrations by the validation rows or by all in turn."""
    chosen = [task for task in TASKS if not options.datasets or task[0] in options.datasets]
    cases = ((task, number) for task in chosen for number in range(options.runs))
    for task, number in tracked(cases, "few rows"):
        name, label, n_positives = task
        X, y = load_task(name, label, n_positives, options.data_home)
        seed = options.seed + number
        train, valid, (X_test, y_test) = split_in_three(X, y, seed)
        rows = join(train, valid)
        with few_positives():
            held = make_mesa(seed, max(SIZES), calibration=None).fit(
                *train, X_val=valid[0], y_val=valid[1]
            )
            whole = make_mesa(seed, max(SIZES), calibration=None, validation_fraction=None)
            valid_proba = stages(held, valid[0])
            test_proba = stages(whole.fit(*rows), X_test)
            prior = np.bincount(train[1]) / len(train[1])
            # As in a fit: held-out rows count so that classes are as frequent as in training.
            weights = (prior * len(valid[1]) / np.bincount(valid[1]))[valid[1]]
            for k in SIZES:
                forms: dict[str, _Form] = {}
                for method in ("sigmoid", "prior"):
                    fitted = make_mesa(seed, k, calibration=method).fit(
                        *train, X_val=valid[0], y_val=valid[1]
                    )
                    forms[method] = _of_positives(fitted.calibration_)
                forms |= _other_forms(k, valid_proba[k][:, 1], valid[1], weights)
                scores = test_proba[k][:, 1]
                probas = {method: form(scores) for method, form in forms.items()}
                refitted = make_mesa(seed, k, refit=True).fit(
                    *train, X_val=valid[0], y_val=valid[1]
                )
                probas["auto, refitted"] = refitted.predict_proba(X_test)[:, 1]
                for method, proba in probas.items():
                    yield {
                        "set": title_of_task(name, label, n_positives),
                        "split": number,
                        "held-out positives": int(valid[1].sum()),
                        "k": k,
                        "method": method,
                    } | measure_probabilities(y_test, proba)


def _of_positives(calibration: Callable[[NDArray[Any]], NDArray[Any]]) -> _Form:
    """Return a calibration of both classes as a function of the positives' probability."""
    return lambda p: calibration(np.column_stack([1 - p, p]))[:, 1]


def _other_forms(
    k: int, scores: NDArray[Any], codes: NDArray[Any], weights: NDArray[Any]
) -> dict[str, _Form]:
    """Fit functions of the mean probability of k members that the package does not have."""

    def logistic(features: _Form, **options: float) -> _Form:
        fitted = _logistic(features(scores), codes, weights, **options)
        return lambda p: fitted(features(p))

    def smooth(p: NDArray[Any]) -> NDArray[Any]:
        # One more vote for each class, so that there are no zeros.
        return (k * p + 1) / (k + 2)

    return {
        "sigmoid of the log-odds": logistic(lambda p: logit(smooth(p))[:, np.newaxis]),
        "beta calibration": logistic(
            lambda p: np.column_stack([np.log(smooth(p)), -np.log1p(-smooth(p))])
        ),
        "sigmoid, slope drawn to 8": logistic(lambda p: p[:, np.newaxis], pull=0.1, usual=8.0),
    }


def _logistic(
    features: NDArray[Any],
    codes: NDArray[Any],
    weights: NDArray[Any],
    pull: float = 0.0,
    usual: float = 0.0,
) -> _Form:
    """Fit an increasing logistic regression to Platt's targets; slopes are drawn to a usual one."""
    n_in, n_out = weights[codes == 1].sum(), weights[codes == 0].sum()
    targets = np.where(codes == 1, (n_in + 1) / (n_in + 2), 1 / (n_out + 2))

    def loss(parameters: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        slopes = parameters[:-1]
        logits = features @ slopes + parameters[-1]
        residuals = weights * (expit(logits) - targets)
        value = weights @ (np.logaddexp(0, logits) - targets * logits)
        value += pull / 2 * ((slopes - usual) ** 2).sum()
        slope = features.T @ residuals + pull * (slopes - usual)
        return value, np.append(slope, residuals.sum())

    n_slopes = features.shape[1]
    start = np.append(np.ones(n_slopes), np.log((n_in + 1) / (n_out + 1)))
    bounds = [(1e-3, 60.0)] * n_slopes + [(None, None)]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return lambda given: expit(given @ found[:-1] + found[-1])


def _tables(rows: list[Row]) -> list[ResultTable]:
    """Make a table for tasks with few held-out positives and for tasks with more."""
    groups: dict[str, Callable[[int], bool]] = {
        "fewer than 5": lambda n: n < 5,
        f"5 to {_ENOUGH_HELD_OUT - 1}": lambda n: 5 <= n < _ENOUGH_HELD_OUT,
        f"{_ENOUGH_HELD_OUT} or more": lambda n: n >= _ENOUGH_HELD_OUT,
    }
    tables = []
    for title, belongs in groups.items():
        chosen = [row for row in rows if belongs(row["held-out positives"])]
        if count_sets(chosen) > 1:
            tables.append(_table(chosen, title))
    return tables


def _table(rows: list[Row], title: str) -> ResultTable:
    sizes = values_of(rows, "k")
    methods = list(dict.fromkeys(row["method"] for row in rows))
    lines, ahead = [], []
    for method in methods:
        name = mark_retired(method, RETIRED_CALIBRATIONS)
        line, wins = [name], []
        for k in sizes:
            own, reference = (
                set_means(rows, "Brier score", k=k, method=m) for m in (method, methods[0])
            )
            difference, error = paired(own, reference)
            wins.append(difference < -error)
            line.append(f"{own.mean():.4f}")
            line.append("" if method == methods[0] else with_error(difference, error))
        lines.append(line)
        if all(wins):
            ahead.append(name)
    header = ["calibration"]
    for k in sizes:
        header += [f"Brier score, k = {k}", f"less the {methods[0]}'s"]
    note = (
        f"{count_sets(rows)} tasks. Better than the {methods[0]} by more than a standard error, "
        f"with every number of members: {as_words(ahead) if ahead else 'nothing'}."
    )
    return ResultTable.from_texts(f"Few rows: {title} held-out positives", header, lines, note)


FEW_ROWS = Study(
    name="few-rows",
    title="Few held-out rows",
    about="""
The tasks are not among the 27 sets, and do not come from their sources. All calibrations have the
same members. These members were trained on the training and validation rows. The calibrations were
fitted on the validation rows, with one exception: "sigmoid, all rows in turn". "auto" does the same
if there is a refit and a class has fewer than 30 validation rows.
""",
    measure=_measure,
    tables=_tables,
    runs=5,
    file="decisions-few-rows",
    page="decisions",
)
