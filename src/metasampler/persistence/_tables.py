"""Loaders of what turns tables into numbers: encoders, forms and cleaners."""

from typing import Any

import numpy as np

from metasampler._sklearn_compat import check_parameters
from metasampler.persistence._estimators import build_parameters, export_estimator, take_columns
from metasampler.persistence._values import Kind, State, attributes, is_plain, is_whole
from metasampler.tables import (
    ColumnFacts,
    ColumnReport,
    TableCleaner,
    TableEncoder,
    TableForm,
    TreeTable,
)

__all__ = ["TABLES", "width_of"]

_KINDS = ("number", "date", "category", "empty")


def width_of(form: TableForm, n_columns: int) -> int:
    """Return how many columns members get."""
    return n_columns if form.encoder is None else len(form.encoder.kinds_)


def _kinds(state: State, name: str = "kinds_") -> dict:
    return state.where_true(
        name, lambda of: type(of) is dict and len(of) > 0 and all(k in _KINDS for k in of.values())
    )


def _by_column(state: State, name: str, known: Any) -> dict:
    """Return a dict of texts whose keys are columns."""
    return state.where_true(
        name,
        lambda of: type(of) is dict and of.keys() <= set(known) and all(map(_is_text, of.values())),
    )


def _is_text(value: Any) -> bool:
    return type(value) is str


def _build_encoder(state: State) -> TableEncoder:
    encoder = build_parameters(state, TableEncoder)
    check_parameters(encoder)
    if "kinds_" not in state:
        return encoder
    encoder.kinds_ = kinds = _kinds(state)
    categories = [name for name, kind in kinds.items() if kind == "category"]
    encoder.levels_ = levels = state.where_true(
        "levels_", lambda of: type(of) is dict and list(of) == categories
    )
    for of_column in levels.values():
        if type(of_column) is not list or not all(map(_is_text, of_column)):
            raise state.refuse("levels_", of_column)
    state.sizes["p"] = len(kinds)
    # An encoder of plain numbers has seen no table.
    if "n_features_in_" in state:
        vars(encoder).update(take_columns(state))
        places = [place for place, kind in enumerate(kinds.values()) if kind == "category"]
        encoder.categorical_features_ = state.where_true(
            "categorical_features_", lambda of: of == places
        )
    return encoder


def _build_form(state: State) -> TableForm:
    form = TableForm(
        state.text("wants", "float32", "numbers", "as it is"),
        allow_nan=state.flag("allow_nan"),
        fill_missing=state.flag("fill_missing"),
    )
    form.encoder = encoder = state.made("encoder", TableEncoder, none=True)
    form._of_numbers = numbers = state.made("_of_numbers", TableEncoder, none=True)
    for each in (encoder, numbers):
        if each is not None and not hasattr(each, "kinds_"):
            raise state.refuse("encoder", each)
    places = [] if encoder is None else getattr(encoder, "categorical_features_", None)
    form.categorical_features = state.where_true("categorical_features", lambda of: of == places)
    n_columns = 0 if encoder is None else len(encoder.kinds_)
    form._fill = state.array("_fill", "f", n_columns, none=True, low=-1e308)
    if encoder is None and form._fill is not None:
        raise state.refuse("_fill", form._fill)
    return form


def _build_tree_table(state: State) -> TreeTable:
    table = TreeTable.__new__(TreeTable)
    fill = state.any("fill")
    # That of a sparse table is one number.
    if not isinstance(fill, (np.ndarray, np.float32)) or fill.dtype != np.float32 or fill.ndim > 1:
        raise state.refuse("fill", fill)
    if not np.all(np.isfinite(fill)):
        raise state.refuse("fill", fill)
    table.fill = fill
    return table


def _build_cleaner(state: State) -> TableCleaner:
    cleaner = build_parameters(state, TableCleaner)
    for name in ("keep", "drop"):
        given = getattr(cleaner, name)
        if not isinstance(given, (list, tuple)) or not is_plain(given):
            raise state.refuse(name, given)
    if "kinds_" not in state:
        return cleaner
    vars(cleaner).update(take_columns(state))
    cleaner.report_ = state.made("report_", ColumnReport)
    cleaner.kinds_ = kinds = _kinds(state)
    cleaner.left_out_ = state.where_true("left_out_", lambda of: type(of) is dict and is_plain(of))
    cleaner._date_formats = _by_column(state, "_date_formats", kinds)
    cleaner._number_formats = _by_column(state, "_number_formats", kinds)
    return cleaner


def _build_report(state: State) -> ColumnReport:
    columns = state.list("columns", lambda each: isinstance(each, ColumnFacts))
    return ColumnReport(columns, state.whole("n_rows", 0, 2**53))


def _build_facts(state: State) -> ColumnFacts:
    return ColumnFacts(
        state.where_true("name", is_plain),
        state.text("kind", *_KINDS, "other"),
        state.where_true("distinct", lambda value: is_whole(value, 0, 2**53)),
        state.number("missing", 0, 1),
        state.text("finding"),
        state.text("action"),
        state.text("why"),
        state.text("date_format", none=True),
        state.text("number_format", none=True),
    )


#: The kinds of this module.
TABLES = [
    Kind("TableEncoder", TableEncoder, export_estimator, _build_encoder),
    Kind("TableForm", TableForm, attributes, _build_form),
    Kind("TreeTable", TreeTable, attributes, _build_tree_table),
    Kind("TableCleaner", TableCleaner, export_estimator, _build_cleaner),
    Kind("ColumnReport", ColumnReport, attributes, _build_report),
    Kind("ColumnFacts", ColumnFacts, attributes, _build_facts),
]
