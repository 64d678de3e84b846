"""Rows that are not in memory: the same task in parts, in files or on other machines."""

import warnings
from collections.abc import Callable
from functools import cached_property

import numpy as np

from metasampler._sklearn_compat import take_rows
from metasampler.growth._check import check_labels, encode_labels
from metasampler.growth._data import GrowthData, Part, count_classes, join_arrays, sum_of_parts
from metasampler.growth._draw import (
    MAX_DEALT,
    Candidates,
    RandomStreams,
    Request,
    Stream,
    deal,
    deal_alone,
    hold_out_size,
    join_choices,
    race_keys_of,
)
from metasampler.growth._fingerprint import fingerprint_rows
from metasampler.growth._kinds import unfitted_form
from metasampler.growth._looked import LookedAt
from metasampler.growth._pieces import find_rows
from metasampler.growth._places import FrameTable, write_table
from metasampler.growth._sources import open_block
from metasampler.growth._stacked import join_parts
from metasampler.growth._weights import check_spread, ratios_to
from metasampler.tables import TreeTable, is_frame, lowest_values

__all__ = ["PartedData", "make_parted_data"]


class PartedData(GrowthData):
    """The rows an ensemble grows on, in parts that are not in memory.

    ``table`` is one row like the others, by which learners are chosen; it is NaN if values are
    missing. ``n_apart`` are the rows of the last part, if it holds validation rows that are a table
    of their own. The rest are the parameters of `GrowthData`.
    """

    def __init__(
        self, place, parts, n_rows, table, classes, *, n_apart=0, same_rows_as=None, **settings
    ):
        self._arguments = {
            "place": place,
            "parts": parts,
            "n_rows": n_rows,
            "table": table,
            "classes": classes,
            "n_apart": n_apart,
            **settings,
        }
        self.table = table
        super().__init__(
            place,
            parts,
            [table, table] if n_apart else [table],
            classes,
            n_rows=n_rows,
            n_train_table=n_rows - n_apart,
            n_drawn_parts=len(parts) - (n_apart > 0),
            validation_is_apart=n_apart > 0,
            same_rows_as=same_rows_as,
            **settings,
        )

    def fingerprints(self) -> dict:
        """Return what tells these rows from others, however they are cut into parts."""
        return {"X": self.fingerprint}

    @cached_property
    def fingerprint(self) -> str:
        """A short text that other rows, labels and weights hardly ever have."""
        total = sum(self.place.ask(_fingerprint_of, self.parts)) % (1 << 64)
        return f"{total:016x}"

    def _with(self, **changes) -> "PartedData":
        """Return the same task with some of the constructor's arguments changed."""
        return PartedData(**{**self._arguments, **changes})

    def thinned(self, ratio, streams):
        """Refuse: meta-training goes over its rows thousands of times."""
        raise ValueError(
            "Meta-training needs rows in memory: pass a fitted MetaSampler, or take a sample of "
            "the rows to train one."
        )

    def whole(self) -> GrowthData:
        """Return the same task with the validation rows among the training rows."""
        parts = self.place.make(_with_roles, self.parts, args=(None,))
        counts = self.role_counts("train")
        if self.has_validation and not self.n_folds:
            counts = counts + self.role_counts("valid")
        return self._with(parts=parts, roles=("train",), counts=counts, n_folds=0, n_apart=0)

    def holding_out(self, rows) -> GrowthData:
        """Return the same task with these rows of each part as its validation rows."""
        parts = self.place.make(_holding_out, self.parts, rows)
        arguments = (self.n_classes, "train")
        counts = np.sum(self.place.ask(count_classes, parts, args=arguments), axis=0)
        changes = {"roles": ("train", "valid"), "counts": counts, "n_folds": 0, "n_apart": 0}
        return self._with(parts=parts, **changes)

    def holding_out_a_fold(self) -> GrowthData:
        """Return the same task with one fold held out from all members, instead of rotation."""
        if not self.n_folds:
            return self
        return self.holding_out(self.place.make(_rows_of_fold, self.parts, args=(0,)))

    def parts_of_training(self, n_parts, streams) -> list:
        """Return the training rows in parts, each with its share of every class."""
        key = streams.row_key(Stream.SPLIT)
        # Number 0 was the split into training and validation rows.
        folds = deal_parts(self.place, self.parts, self.counts, key, 1, n_parts)
        # Rows are dealt like cards: with fewer rows the last parts get none.
        n_parts = min(n_parts, int(self.counts.max()))
        return [self.place.make(_equal_to, folds, args=(number,)) for number in range(n_parts)]

    def for_team(self, sampling_ratio: float, *, trees: bool = False) -> GrowthData:
        """Return the same rows with other draws and, for trees, in the form they take fastest."""
        parts, table, maker = self.parts, self.table, None
        if trees:
            lowest = np.min(self.place.ask(_lowest_values, self.drawn_parts), axis=0)
            maker = TreeTable(lowest)
            arguments = (maker, self.place.new_paths(len(parts)))
            parts = self.place.make(_with_table, parts, _numbered(parts), args=arguments)
            table = maker(table)
        changes = {"sampling_ratio": sampling_ratio, "table_maker": maker}
        return self._with(parts=parts, table=table, same_rows_as=self, **changes)


def _fingerprint_of(part: Part) -> int:
    return fingerprint_rows(part.table, part.codes, part.weights, part.start)


def _numbered(cells: list) -> list[int]:
    return list(range(len(cells)))


def _with_roles(part: Part, roles) -> Part:
    return part.with_(roles=roles, folds=None)


def _holding_out(part: Part, rows: np.ndarray) -> Part:
    train = np.ones(part.n_rows, dtype=bool)
    train[rows] = False
    return part.with_(roles={"train": train, "valid": ~train}, folds=None)


def _rows_of_fold(part: Part, fold: int) -> np.ndarray:
    assert part.folds is not None
    return np.flatnonzero(part.folds == fold)


def _equal_to(folds: np.ndarray, number: int) -> np.ndarray:
    return np.flatnonzero(folds == number)


def _with_table(part: Part, number: int, table_maker: Callable, paths) -> Part:
    if paths is None:
        return part.with_(table=table_maker(part.table[:]))
    if part.table.dtype == np.float32 and not has_missing(part):
        return part
    made = (table_maker(part.table[rows]) for rows in _slices(part.n_rows))
    return part.with_(table=write_table(paths[number], made))


def _slices(n_rows: int):
    return [slice(start, start + (1 << 16)) for start in range(0, max(n_rows, 1), 1 << 16)]


def _lowest_values(part: Part) -> np.ndarray:
    return np.min([lowest_values(part.table[rows]) for rows in _slices(part.n_rows)], axis=0)


def has_missing(part: Part) -> bool:
    """Return whether numbers are missing."""
    found = (np.isnan(np.min(part.table[rows], initial=0)) for rows in _slices(part.n_rows))
    return bool(any(found))


# ---------------------------------------------------------------------- from blocks to parts


def _make_part(
    blocks, start, passed, number, sizes, label, weight, form, classes, least, paths
) -> Part:
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
                yield from (form(take_rows(X, some)) for some in _slices(len(y)))
            elif block is blocks[-1] and not sum(len(each) for each, *_ in known):
                as_it_is = form.wants == "as it is" and is_frame(X)
                yield X if as_it_is else np.empty((0, X.shape[1]), np.float32)

    table = join_parts(list(tables())) if paths is None else write_table(paths[number], tables())
    codes, weights, rows = map(join_arrays, zip(*known, strict=True))
    original = None if weights is None else rows
    return Part(table, codes, start, weights=weights, original=original)


def _make_validation_part(start: int, table, codes, passed: int, weighted: bool, paths) -> Part:
    """Return validation rows of their own as a part; each counts one."""
    codes = codes.astype(np.min_scalar_type(int(codes.max())))
    extra: dict = {}
    if weighted:
        extra = {"weights": np.ones(len(codes)), "original": passed + np.arange(len(codes))}
    table = table if paths is None else write_table(paths[0], [table])
    return Part(table, codes, start, roles={"valid": slice(None)}, **extra)


def _as_type(part: Part, number: int, dtype, paths) -> Part:
    if part.table.dtype == dtype:
        return part
    table = part.table[:].astype(dtype)
    return part.with_(table=table if paths is None else write_table(paths[number], [table]))


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
    return part.table.dtype if part.n_rows else None, part.table.shape[1], has_missing(part)


def _ratios_of(part: Part, k=None) -> np.ndarray:
    assert part.weights is not None
    return part.weights if "train" in part.roles else np.empty(0)


def _of_mean_one(part: Part, mean: float) -> Part:
    assert part.weights is not None
    return part.with_(weights=part.weights / mean) if "train" in part.roles else part


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
) -> PartedData:
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
    if len(classes) < 2:
        raise ValueError(
            f"y has only one class, {classes.tolist()[0]!r}; a classifier needs rows of at least "
            "2 classes."
        )
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
    numbers, paths = _numbered(groups), place.new_paths(len(groups))
    arguments: tuple = (*columns, form, classes, least, paths)
    cells = [[blocks[number] for number in group] for group in groups]
    found = [tuple(facts[number]["n_passed"] for number in group) for group in groups]
    parts = place.make(_make_part, cells, starts[:-1], passed[:-1], numbers, found, args=arguments)
    n_train = n_rows = starts[-1]
    if X_val is not None:
        X_val = form(form.ordered(X_val), name="X_val", owner=owner)
        if X_val.shape[1] != looked.example.shape[1]:
            raise ValueError(
                f"X_val has {X_val.shape[1]} columns, but X has {looked.example.shape[1]}."
            )
        y_val = check_labels(y_val, X_val, owner=owner, name="y_val")
        codes = encode_labels(y_val, classes, "y_val")
        weighted = source.weight is not None
        arguments = (X_val, codes, passed[-1], weighted, place.new_paths(1))
        parts = [*parts, *place.make(_make_validation_part, [n_train], args=arguments)]
        numbers, n_rows = _numbered(parts), n_train + len(codes)
    types, widths, lacks = zip(*place.ask(_table_facts, parts), strict=True)
    kinds = {dtype for dtype in types if dtype is not None}
    if not kinds:
        table = form(looked.example)
    else:
        dtype = np.result_type(*kinds)
        if any(kind != dtype for kind in types):
            parts = place.make(_as_type, parts, numbers, args=(dtype, place.new_paths(len(parts))))
        table = np.full((1, widths[0]), np.nan if any(lacks) else 0, dtype)
    # Nobody needs the blocks any more: they may take as much memory as the parts.
    looked.blocks, looked.kept = [], []
    del blocks, cells
    if source.weight is not None:
        total = sum_of_parts(place, _ratios_of, parts, None, n_train)
        parts = place.make(_of_mean_one, parts, args=(total / n_train,))
    minority = len(classes) - 1 - int(np.argmin(counts[::-1]))
    roles: tuple[str, ...] = ("train",)
    train_counts, n_folds = counts, 0
    if X_val is not None:
        roles = ("train", "valid")
    elif validation_fraction is not None and counts.min() < 2:
        rare = classes.tolist()[int(np.argmin(counts))]
        lone = f"Class {rare!r} has n_samples = 1 row; at least 2 are needed to hold out "
        if must_hold_out:
            raise ValueError(f"{lone}validation rows.")
        warnings.warn(f"{lone}validation rows: there are none.", UserWarning, stacklevel=3)
    elif validation_fraction is not None:
        roles, key = ("train", "valid"), streams.row_key(Stream.SPLIT)
        if rotate:
            n_folds = max(2, round(min(1 / validation_fraction, n_train)))
            folds = deal_parts(place, parts, counts, key, 0, n_folds)
            parts = place.make(_with_folds, parts, folds)
        else:
            held = []
            sizes = [hold_out_size(int(count), validation_fraction) for count in counts]
            for k, size in enumerate(sizes):
                request = Request(k, None, "train", key, 0, weighted=False, n_rows=int(counts[k]))
                held.append(Candidates(place, parts, request).smallest(size))
            rows = find_rows(place, parts, join_choices(held))
            parts = place.make(_holding_out, parts, rows)
            train_counts = counts - sizes
    data = PartedData(
        place,
        parts,
        n_rows,
        table,
        classes,
        # Members that stop by validation rows find them in the table they are trained on.
        n_apart=0 if rotate else n_rows - n_train,
        roles=roles,
        has_weights=source.weight is not None,
        counts=train_counts,
        n_folds=n_folds,
        minority=minority,
        streams=streams,
        form=form,
        max_rows=max_rows,
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
    return part.with_(folds=folds, roles={"train": valid, "valid": valid})


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
