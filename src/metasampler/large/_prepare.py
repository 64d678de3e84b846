"""From blocks of a source to the rows an ensemble grows on, in partitions."""

from dataclasses import replace

import numpy as np

from metasampler._sklearn_compat import take_rows
from metasampler.growth import (
    RandomStreams,
    Stream,
    can_hold_out,
    check_labels,
    check_spread,
    check_validation_rows,
    drop_weightless_rows,
    encode_labels,
    find_minority,
    hold_out_size,
    join_arrays,
    ratios_to,
    refuse_lone_groups,
    unfitted_form,
    warn_of_unweighted_members,
)
from metasampler.large._file_tables import FrameTable, has_missing, slices, write_table
from metasampler.large._parquet import open_block
from metasampler.large._partitioned import (
    PartitionedRows,
    assign_folds_by_group,
    assign_folds_to_partitions,
    count_groups_of,
    find_smallest,
    positions_of,
    total_weight,
)
from metasampler.large._partitions import Partition, WhichRows, holding_out_fold, with_folds
from metasampler.large._source import OpenedSource
from metasampler.large._stacked import join_blocks
from metasampler.tables import is_frame

__all__ = ["make_partitioned_rows"]


def _make_partition(
    blocks, start, passed, sizes, path, label, weight, group, positive, form, classes, least
) -> Partition:
    """Return blocks as one partition: its table as members take it, classes, weights and groups.

    ``sizes`` are the rows that each block had when its labels were read.
    """
    known: list[tuple] = []

    def tables():
        # One after the other: where they are written to a file, only one is in memory.
        first = passed
        for block, size in zip(blocks, sizes, strict=True):
            X, y, weights, groups = open_block(block, label, weight, group, positive)
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
                groups = None if groups is None else groups[keep]
            codes = np.searchsorted(classes, y).astype(np.min_scalar_type(len(classes) - 1))
            known.append((codes, weights, rows, groups))
            # A block without rows says nothing of the type of the numbers.
            if len(y):
                yield from (form(take_rows(X, some)) for some in slices(len(y)))
            elif block is blocks[-1] and not sum(len(each) for each, *_ in known):
                as_it_is = form.wants == "as it is" and is_frame(X)
                yield X if as_it_is else np.empty((0, X.shape[1]), np.float32)

    table = join_blocks(list(tables())) if path is None else write_table(path, tables())
    codes, weights, rows, groups = map(join_arrays, zip(*known, strict=True))
    original = None if weights is None else rows
    return Partition(table, codes, start, weights=weights, original=original, groups=groups)


def _validation_partition(start, path, table, codes, weights, passed) -> Partition:
    """Return validation rows of their own as a partition.

    ``passed`` are the numbers of the rows among all that the user passed, if they are others.
    """
    table = table if path is None else write_table(path, [table])
    roles = {"valid": slice(None)}
    return Partition(table, codes, start, roles=roles, weights=weights, original=passed)


def _counting_one(partition: Partition) -> Partition:
    """Return rows that count one each."""
    rows = np.arange(partition.start, partition.start + partition.n_rows)
    return replace(partition, weights=np.ones(partition.n_rows), original=rows)


def _as_type(partition: Partition, path, dtype) -> Partition:
    if partition.table.dtype == dtype:
        return partition
    table = partition.table[:].astype(dtype)
    return replace(partition, table=table if path is None else write_table(path, [table]))


def _table_facts(partition: Partition) -> tuple:
    """Return what has to be known of a table: type, number of columns, whether values are missing.

    A frame has no type of its own; members say what they make of its missing values.
    """
    table = partition.table
    if is_frame(table) or isinstance(table, FrameTable):
        return None, table.shape[1], False
    if table.dtype.kind not in "biuf":
        raise ValueError(
            f"The rows are of type {table.dtype}, but must be numbers; texts and categories "
            "are columns of a data frame."
        )
    return table.dtype if partition.n_rows else None, table.shape[1], has_missing(table)


def _of_mean_one(partition: Partition, mean: float) -> Partition:
    assert partition.weights is not None
    if "train" not in partition.roles:
        return partition
    return replace(partition, weights=partition.weights / mean)


def make_partitioned_rows(
    opened: OpenedSource,
    X_val=None,
    y_val=None,
    sample_weight_val=None,
    *,
    groups=None,
    estimator,
    validation_fraction: float | None,
    streams,
    must_hold_out: bool,
    rotate: bool,
    max_rows: int | None,
    owner=None,
    **settings,
) -> PartitionedRows:
    """Bring the rows of a source into the form the growth loop takes, as `make_growth_data` does.

    Labels and weights are columns of the source. Validation rows that are a table of their own are
    in memory, and become the last partition.
    """
    streams = RandomStreams.from_random_state(streams)
    check_validation_rows(opened, X_val, y_val, sample_weight_val)
    if groups is not None:
        raise ValueError(
            "groups cannot be passed for rows outside of memory; name their column, as in "
            "ParquetRows(path, label, group=...)."
        )
    if opened.source.group is not None and X_val is not None:
        raise ValueError(
            f"group={opened.source.group!r} keeps rows together when some are held out. With X_val "
            "none are: choose the validation rows by group, and leave group out."
        )
    source, backend = opened.source, opened.backend
    classes, counts = opened.classes, opened.class_counts
    minority, weighted = find_minority(classes, counts), source.weight is not None
    _check_memory(opened, max_rows)
    if weighted:
        warn_of_unweighted_members(estimator)
    form = unfitted_form(estimator)
    if is_frame(opened.example):
        form.learn_names(opened.example)
        form.fit_blocks(opened.ask, opened.ask_labelled, source.plain_names())
    form = form.settled()
    partitions, n_train, n_passed = _make_partitions(opened, form)
    if X_val is not None:
        X_val = form(form.ordered(X_val), name="X_val", owner=owner)
        n_columns = form(opened.example).shape[1]
        if X_val.shape[1] != n_columns:
            raise ValueError(f"X_val has {X_val.shape[1]} columns, but X has {n_columns}.")
        y_val = check_labels(y_val, X_val, owner=owner, name="y_val")
        weights, kept = np.ones(len(y_val)) if weighted else None, np.arange(len(y_val))
        if sample_weight_val is not None:
            X_val, y_val, weights, some = drop_weightless_rows(
                X_val, y_val, sample_weight_val, "sample_weight_val"
            )
            kept = kept if some is None else some
            if not weighted:
                partitions = backend.make(_counting_one, partitions)
        codes = encode_labels(y_val, classes, "y_val").astype(np.min_scalar_type(len(classes) - 1))
        arguments = (X_val, codes, weights, None if weights is None else n_passed + kept)
        paths = backend.new_paths(1)
        partitions += backend.make(_validation_partition, [n_train], paths, args=arguments)
    partitions, example = _of_one_type(backend, partitions, form, opened.example)
    # They may take as much memory as the partitions.
    opened.drop_blocks()
    if weighted:
        mean = total_weight(backend, partitions, None, n_train) / n_train
        partitions = backend.make(_of_mean_one, partitions, args=(mean,))
    fraction = validation_fraction if X_val is None else None
    if fraction is not None and can_hold_out(classes, counts, must_hold_out, rotate=rotate):
        key = streams.row_key(Stream.SPLIT)
        n_folds = max(2, round(min(1 / fraction, n_train)))
        by_group = source.group is not None
        if by_group:
            counted = count_groups_of(backend, partitions, len(classes))
            refuse_lone_groups(counted, classes)
            folds = assign_folds_by_group(backend, partitions, counted, n_folds, key)
        elif rotate:
            folds = assign_folds_to_partitions(backend, partitions, counts, n_folds, key)
        if rotate:
            partitions = backend.make(with_folds, partitions, folds, args=(n_folds,))
        elif by_group:
            partitions = backend.make(holding_out_fold, partitions, folds, args=(0,))
        else:
            held_out = []
            for k, count in enumerate(counts.tolist()):
                which = WhichRows(k, None, "train", key, 0, weighted=False)
                size = hold_out_size(count, fraction)
                held_out.append(find_smallest(backend, partitions, which, size, count))
            positions = positions_of(backend, partitions, held_out)
            partitions = backend.make(Partition.holding_out, partitions, positions)
    rows = PartitionedRows(
        backend=backend,
        partitions=partitions,
        # Members that stop by validation rows find them among the rows they are trained on.
        n_drawn_from=len(partitions) if rotate or X_val is None else len(partitions) - 1,
        example=example,
        by_group=source.group is not None,
        classes=classes,
        minority=minority,
        streams=streams,
        form=form,
        max_rows=max_rows,
        **settings,
    )
    if backend.journal is not None:
        backend.journal.check_rows(rows.fingerprint)
    return rows


def _check_memory(opened: OpenedSource, max_rows: int | None) -> None:
    """Refuse rows, or members, that do not fit in the memory there is."""
    counts, bytes_per_row = opened.class_counts, opened.bytes_per_row
    most = counts if max_rows is None else np.minimum(counts, max_rows)
    # The rows of a member are there twice while it is fitted, and once more in bins.
    n_bytes = 2.5 * int(most.max()) * bytes_per_row
    opened.source.check_fits(n_bytes, int(counts.sum()) * bytes_per_row)


def _make_partitions(opened: OpenedSource, form) -> tuple[list, int, int]:
    """Return the partitions, how many rows they have, and how many the user passed."""
    facts, blocks = opened.facts, opened.blocks
    least, most = min(each["least"] for each in facts), max(each["most"] for each in facts)
    if opened.source.weight is not None:
        check_spread(least, most)
    groups = opened.grouped()
    starts = _starts_of(groups, [each["n_rows"] for each in facts])
    passed = _starts_of(groups, [each["n_passed"] for each in facts])
    cells = [[blocks[number] for number in group] for group in groups]
    sizes = [tuple(facts[number]["n_passed"] for number in group) for group in groups]
    paths = opened.backend.new_paths(len(groups))
    partitions = opened.backend.make(
        _make_partition,
        *(cells, starts[:-1], passed[:-1], sizes, paths),
        args=(*opened.columns, form, opened.classes, least),
    )
    return partitions, starts[-1], passed[-1]


def _starts_of(groups: list[list[int]], sizes: list[int]) -> list[int]:
    """Return how many rows there are before each group of blocks, and in all."""
    of_groups = [sum(sizes[number] for number in group) for group in groups]
    return np.cumsum([0, *of_groups]).tolist()


def _of_one_type(backend, partitions: list, form, example) -> tuple[list, np.ndarray]:
    """Return the partitions with tables of one type, and a row like all others."""
    types, widths, lacks = zip(*backend.ask(_table_facts, partitions), strict=True)
    known = {dtype for dtype in types if dtype is not None}
    if not known:
        return partitions, form(example)
    dtype = np.result_type(*known)
    if any(each != dtype for each in types):
        paths = backend.new_paths(len(partitions))
        partitions = backend.make(_as_type, partitions, paths, args=(dtype,))
    return partitions, np.full((1, widths[0]), np.nan if any(lacks) else 0, dtype)
