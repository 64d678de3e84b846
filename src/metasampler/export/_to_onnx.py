"""An ensemble as a file of ONNX: the columns' codes, all trees, the blend and the calibration."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from metasampler._pipelines import unwrap
from metasampler._writing import written_beside
from metasampler.ensemble.fitted_ensembles import (
    BaseUnderSamplingEnsemble,
    FittedTeam,
    PriorCalibration,
    SigmoidCalibration,
    SoftmaxCalibration,
)
from metasampler.export._graph import DOMAIN, Graph
from metasampler.growth import BoostedMember, Recoding, trees_of, why_not_trees
from metasampler.tables import TableCleaner

__all__ = ["export_onnx", "to_onnx"]

# TreeEnsembleRegressor takes double thresholds from 3 on; onnxruntime has both since 1.11.
_OPSET, _OPSET_OF_TREES, _IR_VERSION = 15, 3, 8

# As in the ensembles: the least probability of a team that has a logarithm.
_LEAST_OF_TEAM = 1e-12

_LARGEST = float(np.finfo(np.float32).max)


def to_onnx(model) -> Any:
    """Return a fitted ensemble as a model of ONNX, which other languages can run.

    It gives the probabilities of `predict_proba`, within 1e-5. If the ensemble was fitted to a data
    frame, the model has one input of shape (n, 1) for each column that it uses: a double for a
    number or a boolean, a text for a category. A missing value is NaN or the empty text. A category
    that is a whole number may be written as 2 or 2.0. If the ensemble was fitted to an array, the
    input ``X`` is a double array of shape (n, n_features). Numbers are compared in double
    precision, as in Python. The output is ``probabilities``. The metadata have in JSON the
    ``classes`` in its order, and the ``columns``: name, kind and, for a category, the ``levels``
    that the fit knows. For two classes they also have the ``threshold`` and the ``positive`` class.

    Parameters
    ----------
    model : classifier
        A fitted ensemble of this package, alone or behind a
        :class:`~metasampler.tables.TableCleaner`. Its members are LightGBM's, or scikit-learn's
        trees or forests.

    Returns
    -------
    onnx_model : onnx.ModelProto

    See Also
    --------
    export_onnx : Writes it to a file.
    metasampler.save_model : The file for Python, which has everything.

    Notes
    -----
    Dates, durations and free text are refused with a ValueError, as is everything that does not
    come as numbers or categories.
    """
    try:
        from onnx import checker, helper
    except ImportError as error:
        raise ImportError('This needs onnx: pip install "metasampler[onnx]"') from error
    cleaner, classifier = _parts_of(model)
    inputs = _inputs_of(classifier)
    names = [each.name for each in inputs]
    if not all(names) or "probabilities" in names or len(set(names)) < len(names):
        raise ValueError(
            "Columns must have different names in ONNX. None may be empty, or 'probabilities', as "
            f"the output is called; they are {names[:10]}."
        )
    graph = Graph(taken=names)
    table = _encoded(graph, inputs, classifier, cleaner)
    graph("Identity", _probabilities(graph, classifier, table))
    graph.nodes[-1].output[0] = "probabilities"
    made = helper.make_graph(
        graph.nodes,
        "metasampler",
        [each.described(helper) for each in inputs],
        [_Input("probabilities", "number", len(classifier.classes_)).described(helper)],
        graph.constants,
    )
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(DOMAIN, _OPSET_OF_TREES)]
    whole = helper.make_model(
        made, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="metasampler"
    )
    helper.set_model_props(whole, _facts(classifier, inputs))
    checker.check_model(whole)
    return whole


def export_onnx(model, path) -> None:
    """Write a fitted ensemble to a file of ONNX.

    Parameters
    ----------
    model : classifier
        As in `to_onnx`.
    path : str or path-like
        The file.

    See Also
    --------
    to_onnx : What the file holds.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from metasampler import MesaClassifier
    >>> from metasampler.export import export_onnx
    >>> X, y = make_classification(1000, weights=[0.9], random_state=0)
    >>> clf = MesaClassifier(recipe="fast", random_state=0).fit(X, y)
    >>> export_onnx(clf, "model.onnx")  # doctest: +SKIP
    >>> import onnxruntime  # doctest: +SKIP
    >>> session = onnxruntime.InferenceSession("model.onnx")  # doctest: +SKIP
    >>> session.run(["probabilities"], {"X": X})[0].shape  # doctest: +SKIP
    (1000, 2)
    """
    made = to_onnx(model)
    with written_beside(os.fspath(path)) as file:
        file.write(made.SerializeToString())


@dataclass(frozen=True)
class _Input:
    """An input of the model: a column, or a table of numbers."""

    name: str
    kind: str
    n_columns: int = 1
    #: The levels of a category.
    levels: list[str] = field(default_factory=list)

    @property
    def is_text(self) -> bool:
        return self.kind == "category"

    def described(self, helper) -> Any:
        """Return what ONNX knows of it."""
        # onnx takes the type of Python's objects for that of texts.
        dtype = np.dtype(object if self.is_text else np.float64)
        kind = helper.np_dtype_to_tensor_dtype(dtype)
        return helper.make_tensor_value_info(self.name, kind, [None, self.n_columns])

    def facts(self) -> dict[str, Any]:
        """Return what a service must know of it."""
        facts = {"name": self.name, "kind": self.kind}
        return facts | {"levels": self.levels} if self.is_text else facts


def _facts(classifier, inputs: list[_Input]) -> dict[str, str]:
    """Return what a service must know beside the probabilities."""
    facts = {
        "classes": json.dumps(classifier.classes_.tolist(), default=str),
        "columns": json.dumps([each.facts() for each in inputs]),
    }
    threshold = getattr(classifier, "threshold_", None)
    if len(classifier.classes_) == 2 and threshold is not None:
        facts["threshold"] = repr(float(threshold))
        facts["positive"] = json.dumps(np.asarray(classifier.minority_class_).tolist(), default=str)
    return facts


def _parts_of(model) -> tuple[TableCleaner | None, BaseUnderSamplingEnsemble]:
    """Return the cleaner and the ensemble of a model, or refuse it."""
    steps, classifier = unwrap(model)
    cleaner = steps[0] if len(steps) == 1 and isinstance(steps[0], TableCleaner) else None
    if steps and cleaner is None:
        names = ", ".join(type(step).__name__ for step in steps)
        raise ValueError(
            f"The pipeline has the steps {names}. to_onnx knows TableCleaner only; export the "
            "ensemble alone, and do these steps before it."
        )
    if not isinstance(classifier, BaseUnderSamplingEnsemble):
        raise ValueError(
            f"model is a {type(classifier).__name__}; to_onnx takes MesaClassifier and the "
            "ensembles of metasampler.ensemble."
        )
    check_is_fitted(classifier)
    if refusal := why_not_trees(classifier.estimators_):
        raise ValueError(refusal)
    if cleaner is not None and cleaner.derived_:
        raise ValueError(
            f"The columns {list(cleaner.derived_.values())[:10]} hold amounts in several "
            "currencies, which have no form in ONNX. Convert them to one before the fit."
        )
    return cleaner, classifier


# ---------------------------------------------------------------------- columns


def _inputs_of(classifier) -> list[_Input]:
    """Return the columns that the ensemble reads, or refuse their kinds."""
    encoder, names = classifier._form.encoder, classifier._form.names
    if encoder is None:
        if names is None:
            return [_Input("X", "number", classifier.n_features_in_)]
        return [_Input(str(name), "number") for name in names]
    refused = [name for name, kind in encoder.kinds_.items() if kind not in _KINDS]
    if refused:
        kinds = sorted({encoder.kinds_[name] for name in refused})
        raise ValueError(
            f"The columns {refused[:10]} hold {' and '.join(_SAID[kind] for kind in kinds)}, which "
            "have no form in ONNX. Fit without them, or turn them into numbers before the fit."
        )
    levels = encoder.levels_
    return [
        _Input(str(name), kind, levels=levels.get(name, []))
        for name, kind in encoder.kinds_.items()
    ]


_KINDS = ("number", "category", "empty")
_SAID = {"date": "dates", "duration": "durations", "text": "free text"}


def _encoded(graph: Graph, inputs: list[_Input], classifier, cleaner) -> str:
    """Return the table of numbers that members take."""
    if classifier._form.names is None and classifier._form.encoder is None:
        return inputs[0].name
    columns = []
    for column in inputs:
        if column.is_text:
            columns.append(_codes(graph, column))
            continue
        values = _without_infinity(graph, column.name, cleaner)
        if column.kind == "empty":
            values = graph("Mul", values, graph.constant(np.nan))
        columns.append(values)
    table = graph("Concat", *columns, axis=1) if len(columns) > 1 else columns[0]
    fill = classifier._form._fill
    if fill is not None:
        table = graph("Where", graph("IsNaN", table), graph.constant(fill[np.newaxis]), table)
    return table


def _codes(graph: Graph, column: _Input) -> str:
    """Return the codes of a category."""
    if "" in column.levels:
        raise ValueError(
            f"Column {column.name!r} has the empty text as a level. In ONNX it is a missing value: "
            "give it another name before the fit."
        )
    code_of = {level: float(code) for code, level in enumerate(column.levels, start=1)}
    # In Python 2 and 2.0 are the same level. Here they come as texts, written in either way.
    as_floats = {f"{level}.0": code for level, code in code_of.items() if _is_whole(level)}
    code_of = {**as_floats, **code_of, "": float("nan")}
    codes = graph(
        "LabelEncoder",
        column.name,
        domain=DOMAIN,
        keys_strings=list(code_of),
        values_floats=list(code_of.values()),
        default_float=0.0,
    )
    return graph.cast(codes, np.float64)


def _is_whole(level: str) -> bool:
    """Return whether a level is how Python writes a whole number: 7, and not 007."""
    digits = level.removeprefix("-")
    return digits.isascii() and digits.isdecimal() and level == str(int(level))


def _without_infinity(graph: Graph, name: str, cleaner) -> str:
    if cleaner is None:
        return name
    return graph("Where", graph("IsInf", name), graph.constant(np.nan), name)


# ---------------------------------------------------------------------- members


def _probabilities(graph: Graph, classifier, table: str) -> str:
    """Return the probabilities of the whole ensemble."""
    answers, start = [], 0
    for team in classifier._members_of:
        members = classifier.estimators_[start : start + team.n_members]
        start += team.n_members
        answers.append(_answer(graph, classifier, team, members, table))
    if len(classifier.classes_) == 2:
        return _of_two_classes(graph, classifier, answers)
    return _of_many_classes(graph, classifier, answers)


def _answer(graph: Graph, classifier, team: FittedTeam, members: list, table: str) -> str:
    """Return the mean probability of a team, of class 1 only if there are two classes."""
    n_classes = len(classifier.classes_)
    n_values = 1 if n_classes == 2 else n_classes
    parts, trees = [], []
    for member in members:
        its = trees_of(member, n_classes, team.leaf_smoothing)
        if any(tree.zero_is_missing.any() for tree in its):
            raise ValueError(
                "A member was fitted with LightGBM's zero_as_missing, which has no form in ONNX."
            )
        if not isinstance(member, BoostedMember):
            trees += its
            continue
        read = table
        if member.recoding is not None:
            read = _recoded(graph, member.recoding, table, member.booster_.num_feature())
        raw = graph.trees(read, its, [(of.value, of.output or 0) for of in its], n_values)
        parts.append(graph("Sigmoid", raw) if n_values == 1 else graph("Softmax", raw, axis=1))
    if trees:
        values = [(tree.value[:, -n_values:], 0) for tree in trees]
        parts.append(graph.trees(_float32(graph, team, table), trees, values, n_values))
    total = graph("Sum", *parts)
    return graph("Div", total, graph.constant(float(len(members))))


def _recoded(graph: Graph, recoding: Recoding, table: str, n_columns: int) -> str:
    """Return a table with numbers in the place of some codes."""
    for column, shares in recoding.shares.items():
        codes = graph("Gather", table, graph.constant([column], np.int64), axis=1)
        last = graph.constant(float(len(shares) - 1))
        codes = graph("Where", graph("IsNaN", codes), last, codes)
        codes = graph("Clip", codes, graph.constant(0.0), last)
        values = graph("Gather", graph.constant(shares), graph.cast(codes, np.int64), axis=0)
        own = graph.constant(np.arange(n_columns)[np.newaxis] == column, bool)
        table = graph("Where", own, values, table)
    return table


def _float32(graph: Graph, team: FittedTeam, table: str) -> str:
    """Return a table as scikit-learn's trees see it: rounded, and with numbers for missing ones."""
    limits = graph.constant(-_LARGEST), graph.constant(_LARGEST)
    rounded = graph.cast(graph.cast(graph("Clip", table, *limits), np.float32), np.float64)
    if team.table is None:
        return rounded
    fill = graph.constant(team.table.fill[np.newaxis])
    return graph("Where", graph("IsNaN", table), fill, rounded)


# ---------------------------------------------------------------------- blend and calibration


def _log(graph: Graph, value: str, least: float) -> str:
    return graph("Log", graph("Max", value, graph.constant(least)))


def _of_two_classes(graph: Graph, classifier, answers: list[str]) -> str:
    """Return the probabilities of both classes."""
    blend, calibration = classifier._blend, classifier.calibration_
    if blend is None:
        odds, positive = None, answers[0]
    else:
        terms, n_votes = [], 0
        of_teams = zip(answers, blend.centres, blend.scales, blend.votes, strict=True)
        for answer, centre, scale, votes in of_teams:
            rest = graph("Sub", graph.constant(1.0), answer)
            own = graph(
                "Sub",
                _log(graph, answer, _LEAST_OF_TEAM),
                _log(graph, rest, _LEAST_OF_TEAM),
            )
            centred = graph("Sub", own, graph.constant(centre))
            terms.append(graph("Mul", centred, graph.constant(votes * scale)))
            n_votes += votes * (scale > 0)
        odds = graph("Div", graph("Sum", *terms), graph.constant(float(max(1, n_votes))))
        positive = graph("Sigmoid", odds)
    if isinstance(calibration, SigmoidCalibration):
        (function,) = calibration.functions
        # Log-odds are those of the blend.
        score = odds if calibration.of_log_odds and odds is not None else positive
        scaled = graph("Mul", score, graph.constant(function.slope))
        positive = graph("Sigmoid", graph("Add", scaled, graph.constant(function.intercept)))
    rest = graph("Sub", graph.constant(1.0), positive)
    proba = graph("Concat", rest, positive, axis=1)
    if isinstance(calibration, PriorCalibration):
        return _weighed(graph, proba, calibration)
    return proba


def _weighed(graph: Graph, proba: str, calibration) -> str:
    ratios = (calibration.prior / calibration.drawn)[np.newaxis]
    return _normalised(graph, graph("Mul", proba, graph.constant(ratios)))


def _normalised(graph: Graph, proba: str) -> str:
    total = graph("ReduceSum", proba, graph.constant([1], np.int64), keepdims=1)
    return graph("Div", proba, total)


def _of_many_classes(graph: Graph, classifier, answers: list[str]) -> str:
    """Return the probability of each class."""
    pool, calibration = classifier._blend, classifier.calibration_
    proba = answers[0]
    if pool is not None:
        logits = graph.constant(np.log(pool.prior)[np.newaxis])
        for answer, weight, share in zip(answers, pool.weights, pool.shares, strict=True):
            odds = _smoothed_odds(graph, answer, share, pool.floor)
            logits = graph("Add", logits, graph("Mul", odds, graph.constant(float(weight))))
        proba = graph("Softmax", logits, axis=1)
    if isinstance(calibration, PriorCalibration):
        return _weighed(graph, proba, calibration)
    if isinstance(calibration, SigmoidCalibration):
        slopes, intercepts = (np.array([each]) for each in zip(*calibration.functions, strict=True))
        scaled = graph("Mul", proba, graph.constant(slopes))
        return _normalised(
            graph, graph("Sigmoid", graph("Add", scaled, graph.constant(intercepts)))
        )
    if isinstance(calibration, SoftmaxCalibration):
        odds = _smoothed_odds(graph, proba, calibration.drawn, calibration.floor)
        scaled = graph("Mul", odds, graph.constant(calibration.slope))
        intercepts = (np.log(calibration.prior) + calibration.intercepts)[np.newaxis]
        return graph("Softmax", graph("Add", scaled, graph.constant(intercepts)), axis=1)
    return proba


def _smoothed_odds(graph: Graph, proba: str, share: np.ndarray, floor: float) -> str:
    """Return the logarithms of probabilities with a small share of the world's, relative to it."""
    mixed = graph("Mul", proba, graph.constant(1 - floor))
    mixed = graph("Add", mixed, graph.constant(floor * share[np.newaxis]))
    return graph("Sub", graph("Log", mixed), graph.constant(np.log(share)[np.newaxis]))
