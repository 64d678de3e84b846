"""Rows that are not in memory: the same task in parts, in files or on other machines."""

from dataclasses import replace

import numpy as np

from metasampler._sklearn_compat import take_rows
from metasampler.growth._check import (
    check_labels,
    encode_labels,
    find_minority,
    hold_out,
    part_apart,
)
from metasampler.growth._data import GrowthData, Part, sum_of_parts
from metasampler.growth._draw import join_arrays
from metasampler.growth._kinds import unfitted_form
from metasampler.growth._looked import LookedAt
from metasampler.growth._places import FrameTable, has_missing, slices, write_table
from metasampler.growth._sources import open_block
from metasampler.growth._stacked import join_parts
from metasampler.growth._streams import RandomStreams
from metasampler.growth._weights import check_spread, ratios_to
from metasampler.tables import is_frame

__all__ = ["make_parted_data"]


def _make_part(blocks, start, passed, sizes, path, label, weight, form, classes, least) -> Part:
    """Return blocks as one part: its table as members take it, classes and ratios of weights.

    ``sizes`` are the rows that each block had when its labels were read.
    """
    known: list[tuple] = []

    def tables():
        # One after the other: where they are written to a file, only one is in memory.
        first = passed
        for block, size in zip(blocks, sizes, strict=True):
            X, y, weights = open_block(block, label, weight)
            assert y is not None
            if len(y) != size:
                raise ValueError(
                    f"A block of rows had {size} rows when its labels were read, and has {len(y)} "
                    "now; partitions must be the same whenever they are computed."
                )
            rows = np.arange(first, first + len(y))
            first += len(y)
            if weights is not None:
                keep = weights > 0
                X, y, weights, rows = X[keep], y[keep], ratios_to(weights[keep], least), rows[keep]
            codes = np.searchsorted(classes, y).astype(np.min_scalar_type(len(classes) - 1))
            known.append((codes, weights, rows))
            # A block without rows says nothing of the type of the numbers.
            if len(y):
                yield from (form(take_rows(X, some)) for some in slices(len(y)))
            elif block is blocks[-1] and not sum(len(each) for each, *_ in known):
                as_it_is = form.wants == "as it is" and is_frame(X)
                yield X if as_it_is else np.empty((0, X.shape[1]), np.float32)

    table = join_parts(list(tables())) if path is None else write_table(path, tables())
    codes, weights, rows = map(join_arrays, zip(*known, strict=True))
    original = None if weights is None else rows
    return Part(table, codes, start, weights=weights, original=original)


def _make_part_apart(start: int, path, table, codes, weighted: bool, passed) -> Part:
    """Return validation rows of their own as a part."""
    table = table if path is None else write_table(path, [table])
    return part_apart(table, codes, start, "valid", weighted, passed)


def _as_type(part: Part, path, dtype) -> Part:
    if part.table.dtype == dtype:
        return part
    table = part.table[:].astype(dtype)
    return replace(part, table=table if path is None else write_table(path, [table]))


def _table_facts(part: Part) -> tuple:
    """Return what has to be known of a table: type, number of columns, whether values lack.

    A frame has no type of its own; what it lacks is for members to say.
    """
    if is_frame(part.table) or isinstance(part.table, FrameTable):
        return None, part.table.shape[1], False
    if part.table.dtype.kind not in "biuf":
        raise ValueError(
            f"The rows are of type {part.table.dtype}, but must be numbers; texts and categories "
            "are columns of a data frame."
        )
    return part.table.dtype if part.n_rows else None, part.table.shape[1], has_missing(part.table)


def _ratios_of(part: Part, k=None) -> np.ndarray:
    assert part.weights is not None
    return part.weights if "train" in part.roles else np.empty(0)


def _of_mean_one(part: Part, mean: float) -> Part:
    assert part.weights is not None
    return replace(part, weights=part.weights / mean) if "train" in part.roles else part


def make_parted_data(
    looked: LookedAt,
    y=None,
    X_val=None,
    y_val=None,
    *,
    estimator,
    validation_fraction: float | None,
    streams,
    must_hold_out: bool,
    rotate: bool,
    max_rows: int | None,
    sample_weight=None,
    owner=None,
    **settings,
) -> GrowthData:
    """Bring the rows of a source into the form the growth loop takes, as `make_growth_data` does.

    Labels and weights are columns of the source. Validation rows that are a table of their own are
    in memory, and become the last part.
    """
    streams = RandomStreams.from_random_state(streams)
    if (X_val is None) != (y_val is None):
        raise ValueError("X_val and y_val must be passed together.")
    form = unfitted_form(estimator)
    source, place, blocks, facts = looked.source, looked.place, looked.blocks, looked.facts
    classes, counts, columns = looked.classes, looked.counts, looked.columns
    minority = find_minority(classes, counts)
    limit = counts if max_rows is None else np.minimum(counts, max_rows)
    # The rows of a member are there twice while it is fitted, and once more in bins.
    source.check_fits(
        2.5 * int(limit.max()) * looked.bytes_a_row, int(counts.sum()) * looked.bytes_a_row
    )

    if is_frame(looked.example):
        form.fit_blocks(looked.ask, source.plain_names())
    form = form.settled()
    least, most = min(each["least"] for each in facts), max(each["most"] for each in facts)
    if source.weight is not None:
        check_spread(least, most)
    groups = looked.grouped()
    starts = _starts_of(groups, [each["n_rows"] for each in facts])
    passed = _starts_of(groups, [each["n_passed"] for each in facts])
    cells = [[blocks[number] for number in group] for group in groups]
    found = [tuple(facts[number]["n_passed"] for number in group) for group in groups]
    parts = place.make(
        _make_part,
        *(cells, starts[:-1], passed[:-1], found, place.new_paths(len(groups))),
        args=(*columns, form, classes, least),
    )
    n_train, weighted = starts[-1], source.weight is not None
    if X_val is not None:
        X_val = form(form.ordered(X_val), name="X_val", owner=owner)
        if X_val.shape[1] != looked.example.shape[1]:
            raise ValueError(
                f"X_val has {X_val.shape[1]} columns, but X has {looked.example.shape[1]}."
            )
        y_val = check_labels(y_val, X_val, owner=owner, name="y_val")
        codes = encode_labels(y_val, classes, "y_val").astype(np.min_scalar_type(len(classes) - 1))
        arguments = (X_val, codes, weighted, passed[-1] if weighted else None)
        paths = place.new_paths(1)
        parts = [*parts, *place.make(_make_part_apart, [n_train], paths, args=arguments)]
    types, widths, lacks = zip(*place.ask(_table_facts, parts), strict=True)
    kinds = {dtype for dtype in types if dtype is not None}
    if not kinds:
        table = form(looked.example)
    else:
        dtype = np.result_type(*kinds)
        if any(kind != dtype for kind in types):
            parts = place.make(_as_type, parts, place.new_paths(len(parts)), args=(dtype,))
        table = np.full((1, widths[0]), np.nan if any(lacks) else 0, dtype)
    # Nobody needs the blocks any more: they may take as much memory as the parts.
    looked.blocks, looked.kept = [], []
    del blocks, cells
    if weighted:
        total = sum_of_parts(place, _ratios_of, parts, None, n_train)
        parts = place.make(_of_mean_one, parts, args=(total / n_train,))
    if X_val is None and validation_fraction is not None:
        options = {"rotate": rotate, "must_hold_out": must_hold_out}
        parts = hold_out(place, parts, classes, counts, validation_fraction, streams, **options)
    data = GrowthData(
        place,
        parts,
        classes,
        # Members that stop by validation rows find them among the rows they are trained on.
        n_drawn_parts=len(parts) if rotate or X_val is None else len(parts) - 1,
        minority=minority,
        streams=streams,
        form=form,
        max_rows=max_rows,
        example=table,
        **settings,
    )
    if place.journal is not None:
        place.journal.check_rows(data.fingerprint)
    return data


def _starts_of(groups: list[list[int]], sizes: list[int]) -> list[int]:
    """Return how many rows there are before each group of blocks, and in all."""
    of_groups = [sum(sizes[number] for number in group) for group in groups]
    return np.cumsum([0, *of_groups]).tolist()
