"""Loaders of what turns tables into numbers: encoders, forms and cleaners."""

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from metasampler._sklearn_compat import check_parameters
from metasampler.persistence._estimators import (
    LONGEST_NAME,
    build_parameters,
    export_estimator,
    take_columns,
)
from metasampler.persistence._trees import MOST_COLUMNS
from metasampler.persistence._values import (
    Kind,
    State,
    are_different,
    are_spread,
    attributes,
    is_plain,
    is_whole,
)
from metasampler.tables import (
    ColumnFacts,
    ColumnReport,
    TableCleaner,
    TableEncoder,
    TableForm,
    TreeTable,
)
from metasampler.tables.fitted_encoders import (
    DATE_FORMATS,
    N_TEXT_FOLDS,
    NUMBER_FORMATS,
    PARTS,
    CategoryColumn,
    Column,
    DateColumn,
    DateDifference,
    DurationColumn,
    EmptyColumn,
    IgnoredColumn,
    NumberColumn,
    TextColumn,
    TextModel,
)

__all__ = ["TABLES", "width_of"]

_KINDS = ("number", "category", "date", "duration", "text", "empty", "other")

# An encoder makes at most these of a text: a small file must not ask for a wide table.
_MOST_WORDS, _MOST_TOPICS = 100_000, 256


def width_of(form: TableForm, n_columns: int) -> int:
    """Return how many columns members get."""
    return n_columns if form.encoder is None else len(form.encoder.sources())


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_name(value: Any) -> bool:
    """Return whether this can be the name of a column."""
    return isinstance(value, Hashable) and is_plain(value) and len(str(value)) <= LONGEST_NAME


def _are_names(value: Any) -> bool:
    """Return whether these can be the names of all columns, or None, as those of an array."""
    if value is None:
        return True
    return (
        type(value) is list and bool(value) and all(map(_is_name, value)) and are_different(value)
    )


def _different_texts(state: State, name: str, most: int) -> list[str]:
    texts = state.list(name, _is_text, most)
    if len(set(texts)) != len(texts):
        raise state.refuse(name, texts)
    return texts


# ---------------------------------------------------------------------- columns of an encoder


def _build_plain(kind: Callable[[Any], Column]) -> Callable[[State], Column]:
    return lambda state: kind(state.where_true("name", _is_name))


def _build_category(state: State) -> CategoryColumn:
    name = state.where_true("name", _is_name)
    return CategoryColumn(name, _different_texts(state, "levels", 10**6))


def _build_date(state: State) -> DateColumn:
    name = state.where_true("name", _is_name)
    parts = _different_texts(state, "parts", len(PARTS))
    if not parts or not set(parts) <= set(PARTS):
        raise state.refuse("parts", parts)
    state.reader.count("columns that steps make", len(parts))
    return DateColumn(name, parts)


def _build_text(state: State) -> TextColumn:
    return TextColumn(state.where_true("name", _is_name), state.made("model", TextModel))


def _build_text_model(state: State) -> TextModel:
    words = _different_texts(state, "words", _MOST_WORDS)
    classes = state.list("classes", _is_text, _MOST_TOPICS)
    n_words, n_classes = len(words), len(classes)
    limits: Any = {"low": -1e30, "high": 1e30}
    topics = state.array("topics", "f", n_words, "topics", **limits)
    if not words or topics.shape[1] > _MOST_TOPICS:
        raise state.refuse("topics", topics.shape)
    state.reader.count("columns that steps make", topics.shape[1] + n_classes)
    # Without classes no word has a score.
    shape = (n_words if classes else 0, n_classes, N_TEXT_FOLDS)
    return TextModel(
        words,
        state.array("weights", "f", n_words, **limits),
        topics,
        classes,
        state.array("scores", "f", *shape, **limits),
        state.array("offsets", "f", *shape[1:], **limits),
    )


def _build_difference(state: State) -> DateDifference:
    return DateDifference(*(state.where_true(name, _is_name) for name in ("first", "second")))


_COLUMNS: dict[Any, Callable[[State], Column]] = {
    CategoryColumn: _build_category,
    DateColumn: _build_date,
    TextColumn: _build_text,
    **{
        kind: _build_plain(kind)
        for kind in (DurationColumn, EmptyColumn, IgnoredColumn, NumberColumn)
    },
}


# ---------------------------------------------------------------------- encoders


def _export_encoder(encoder: TableEncoder) -> dict[str, Any]:
    state = encoder.get_params(deep=False)
    if hasattr(encoder, "columns_"):
        # All else that a fit sets follows from these.
        state |= {"columns": list(encoder.columns_.values()), "differences": encoder.differences_}
    return state


def _build_encoder(state: State) -> TableEncoder:
    encoder = build_parameters(state, TableEncoder)
    check_parameters(encoder)
    if "columns" not in state:
        return encoder
    columns = state.list("columns", lambda each: type(each) in _COLUMNS, MOST_COLUMNS)
    differences = state.list("differences", lambda each: isinstance(each, DateDifference))
    names = [each.name for each in columns]
    if not are_spread(names):
        raise ValueError(
            f"{state.where}.columns has {len(names):,} names, too many of which are numbers with "
            f"many digits, or hold such; use texts, as frame.columns.map(str) makes of them"
        )
    if not are_different(names):
        raise state.refuse("columns", len(columns))
    of_name = {each.name: each for each in columns}
    dates = {name for name, each in of_name.items() if isinstance(each, DateColumn)}
    compared = {name for each in differences for name in (each.first, each.second)}
    if not columns or not compared <= dates or len(differences) > 2 * len(dates):
        raise state.refuse("columns", len(columns))
    encoder._become(of_name, differences)
    return encoder


def _build_form(state: State) -> TableForm:
    form = TableForm(
        state.text("wants", "float32", "numbers", "as it is"),
        allow_nan=state.flag("allow_nan"),
        fill_missing=state.flag("fill_missing"),
    )
    form.encoder = encoder = state.made("encoder", TableEncoder, none=True)
    form._of_numbers = state.made("_of_numbers", TableEncoder, none=True)
    for each in (encoder, form._of_numbers):
        if each is not None and not hasattr(each, "columns_"):
            raise state.refuse("encoder", each)
    form.names = names = state.where_true("names", _are_names)
    # Columns that are read by name are those of the training frame.
    for each in (encoder, form._of_numbers):
        if each is not None and (names is None or set(each.columns_) != set(names)):
            raise state.refuse("names", names)
    places = [] if encoder is None else encoder.categorical_features_
    form.categorical_features = state.where_true("categorical_features", lambda of: of == places)
    form._fill = state.array("_fill", "f", width_of(form, 0), none=True, low=-1e308)
    if encoder is None and form._fill is not None:
        raise state.refuse("_fill", form._fill)
    return form


def _build_tree_table(state: State) -> TreeTable:
    table = TreeTable.__new__(TreeTable)
    fill = state.any("fill")
    # That of a sparse table is one number.
    if type(fill) not in (np.ndarray, np.float32) or fill.dtype != np.float32 or fill.ndim > 1:
        raise state.refuse("fill", fill)
    if not np.all(np.isfinite(fill)):
        raise state.refuse("fill", fill)
    table.fill = fill
    return table


# ---------------------------------------------------------------------- cleaners


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
    cleaner.kinds_ = kinds = _by_column(state, "kinds_", _KINDS)
    cleaner.left_out_ = state.where_true("left_out_", lambda of: type(of) is dict and is_plain(of))
    cleaner.date_formats_ = _by_column(state, "date_formats_", DATE_FORMATS, kinds)
    cleaner.number_formats_ = _by_column(state, "number_formats_", NUMBER_FORMATS, kinds)
    cleaner.derived_ = state.where_true(
        "derived_",
        lambda of: type(of) is dict and all(map(_is_text, of)) and set(of.values()) <= kinds.keys(),
    )
    return cleaner


def _by_column(state: State, name: str, choices: tuple, known: dict | None = None) -> dict:
    """Return a dict of texts whose keys are columns."""
    found = state.where_true(
        name, lambda of: type(of) is dict and all(_is_text(v) and v in choices for v in of.values())
    )
    if not (found.keys() <= known.keys() if known is not None else found):
        raise state.refuse(name, found)
    return found


def _build_report(state: State) -> ColumnReport:
    columns = state.list("columns", lambda each: isinstance(each, ColumnFacts))
    return ColumnReport(columns, state.whole("n_rows", 0, 2**53), state.text("repeats"))


def _build_facts(state: State) -> ColumnFacts:
    return ColumnFacts(
        name=state.where_true("name", _is_name),
        kind=state.text("kind", *_KINDS),
        distinct=state.where_true("distinct", lambda value: is_whole(value, 0, 2**53)),
        missing=state.number("missing", 0, 1),
        finding=state.text("finding"),
        action=state.text("action"),
        why=state.text("why"),
        date_format=state.text("date_format", *DATE_FORMATS, none=True),
        number_format=state.text("number_format", *NUMBER_FORMATS, none=True),
        currencies=state.where_true(
            "currencies", lambda of: isinstance(of, tuple) and all(map(_is_text, of))
        ),
    )


#: The kinds of this module.
TABLES = [
    *(Kind(kind.__name__, kind, attributes, build) for kind, build in _COLUMNS.items()),
    Kind("TextModel", TextModel, attributes, _build_text_model),
    Kind("DateDifference", DateDifference, attributes, _build_difference),
    Kind("TableEncoder", TableEncoder, _export_encoder, _build_encoder),
    Kind("TableForm", TableForm, attributes, _build_form),
    Kind("TreeTable", TreeTable, attributes, _build_tree_table),
    Kind("TableCleaner", TableCleaner, export_estimator, _build_cleaner),
    Kind("ColumnReport", ColumnReport, attributes, _build_report),
    Kind("ColumnFacts", ColumnFacts, attributes, _build_facts),
]
