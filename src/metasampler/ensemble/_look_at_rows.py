"""What a fit finds in its rows: signs that they are not independent, see `tables`."""

import numpy as np
from scipy.sparse import issparse

from metasampler._sklearn_compat import take_rows
from metasampler.growth import GrowthData
from metasampler.tables import TableEncoder, find_dependence, is_frame

__all__ = ["find_in_rows"]

# Rows of tables that have to be encoded first.
_MOST_ENCODED = 10_000


def find_in_rows(data: GrowthData, names: list | None) -> list[str]:
    """Return a sentence for each sign that rows depend on each other, if no option deals with it.

    ``names`` are those of the columns in the form that members take. Only rows in memory are looked
    at; a fit that holds no row out promises nothing.
    """
    rows = data.labelled_rows()
    if rows is None or data.by_group or not data.has_validation or data.validation_is_apart:
        return []
    table, codes = rows
    encoder: TableEncoder | None = data.form.encoder
    if is_frame(table) or issparse(table):
        n_rows = len(codes)
        # Neighbours: rows of one entity often follow each other.
        start = (n_rows - min(n_rows, _MOST_ENCODED)) // 2
        some = np.arange(start, start + min(n_rows, _MOST_ENCODED))
        table, codes = take_rows(table, some), codes[some]
        if issparse(table):
            table = table[:, :100].toarray()
        else:
            encoder = TableEncoder(min_count=1).fit(table)
            table, names = encoder.transform(table), encoder.get_feature_names_out().tolist()
    if np.asarray(table).dtype.kind not in "biuf":
        return []
    categories = () if encoder is None else encoder.categorical_features_
    dates = () if encoder is None else encoder.positions_of_days()
    found = find_dependence(list(table.T), codes, categories, dates)
    if names is None:
        names = [f"column {j}" for j in range(table.shape[1])]
    return [
        each.why if each.column is None else f"Column {names[each.column]!r}: {each.why}"
        for each in found
    ]
