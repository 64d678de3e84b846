"""Rows that are not in memory: the same task in parts, in files or on other machines."""

from dataclasses import replace

import numpy as np

from metasampler._sklearn_compat import take_rows
from metasampler.growth._check import (
    check_labels,
    check_validation_rows,
    drop_weightless_rows,
    encode_labels,
    warn_of_unweighted_members,
)
from metasampler.growth._data import GrowthData, Part, join_arrays, part_apart, sum_of_parts
from metasampler.growth._draw import (
    MAX_DEALT,
    Candidates,
    RandomStreams,
    Request,
    Stream,
    can_hold_out,
    deal,
    deal_alone,
    find_minority,
    hold_out_size,
    join_choices,
    race_keys_of,
)
from metasampler.growth._kinds import unfitted_form
from metasampler.growth._looked import LookedAt
from metasampler.growth._pieces import find_rows
from metasampler.growth._places import FrameTable, has_missing, slices, write_table
from metasampler.growth._sources import open_block
from metasampler.growth._stacked import join_parts
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


def _make_part_apart(start: int, path, table, codes, weights, passed) -> Part:
    """Return validation rows of their own as a part."""
    table = table if path is None else write_table(path, [table])
    return part_apart(table, codes, start, "valid", weights, passed)


def _counting_one(part: Part) -> Part:
    rows = np.arange(part.start, part.start + part.n_rows)
    return replace(part, weights=np.ones(part.n_rows), original=rows)


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
    sample_weight_val=None,
    owner=None,
    **settings,
) -> GrowthData:
    """Bring the rows of a source into the form the growth loop takes, as `make_growth_data` does.

    Labels and weights are columns of the source. Validation rows that are a table of their own are
    in memory, and become the last part.
    """
    streams = RandomStreams.from_random_state(streams)
    check_validation_rows(looked, X_val, y_val, sample_weight_val)
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
        warn_of_unweighted_members(estimator)
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
        n_columns = form(looked.example).shape[1]
        if X_val.shape[1] != n_columns:
            raise ValueError(f"X_val has {X_val.shape[1]} columns, but X has {n_columns}.")
        y_val = check_labels(y_val, X_val, owner=owner, name="y_val")
        weights, rows = np.ones(len(y_val)) if weighted else None, np.arange(len(y_val))
        if sample_weight_val is not None:
            X_val, y_val, weights, kept = drop_weightless_rows(
                X_val, y_val, sample_weight_val, "sample_weight_val"
            )
            rows = rows if kept is None else kept
            if not weighted:
                parts = place.make(_counting_one, parts)
        codes = encode_labels(y_val, classes, "y_val").astype(np.min_scalar_type(len(classes) - 1))
        arguments = (X_val, codes, weights, None if weights is None else passed[-1] + rows)
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
    if (
        X_val is None
        and validation_fraction is not None
        and can_hold_out(classes, counts, must_hold_out)
    ):
        key = streams.row_key(Stream.SPLIT)
        if rotate:
            n_folds = max(2, round(min(1 / validation_fraction, n_train)))
            folds = deal_parts(place, parts, counts, key, 0, n_folds)
            parts = place.make(_with_folds, parts, folds)
        else:
            held = []
            for k, count in enumerate(counts.tolist()):
                size = hold_out_size(count, validation_fraction)
                request = Request(k, None, "train", key, 0, weighted=False, n_rows=count)
                held.append(Candidates(place, parts, request).smallest(size))
            held_out = find_rows(place, parts, join_choices(held))
            parts = place.make(Part.holding_out, parts, held_out)
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


def _with_folds(part: Part, folds: np.ndarray) -> Part:
    valid = part.roles["train"]
    return replace(part, folds=folds, roles={"train": valid, "valid": valid})


# ---------------------------------------------------------------------- folds


def deal_parts(place, parts: list, counts, key: np.ndarray, number: int, n_folds: int) -> list:
    """Return the fold of every row of every part, as `deal` deals them in memory."""
    dealt: list = []
    for k, count in enumerate(counts):
        if count > MAX_DEALT:
            dealt.append(None)
            continue
        found = place.ask(_keys_of_training, parts, args=(k, key, number))
        rows, keys = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        dealt.append((rows, deal(keys, n_folds).astype(np.min_scalar_type(n_folds))))
    return place.make(_deal_part, parts, args=(dealt, key, number, n_folds))


def _keys_of_training(part: Part, k: int, key, number: int) -> tuple:
    rows = part.rows_of(k)
    return rows + part.start, race_keys_of(key, number, rows + part.start)


def _deal_part(part: Part, dealt: list, key, number: int, n_folds: int) -> np.ndarray:
    # Rows that are dealt to nobody get a number that no fold has.
    folds = np.full(part.n_rows, n_folds, dtype=np.min_scalar_type(n_folds))
    for k, of_class in enumerate(dealt):
        rows = part.rows_of(k)
        if of_class is None:
            folds[rows] = deal_alone(race_keys_of(key, number, rows + part.start), n_folds)
        elif len(rows):
            numbers, found = of_class
            folds[rows] = found[np.searchsorted(numbers, rows + part.start)]
    return folds
