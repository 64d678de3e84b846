"""From what a user passes to the rows an ensemble grows on, or a clear error."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite

from metasampler._sklearn_compat import Interval, check_sample_weight, take_rows
from metasampler._warnings import warn_user
from metasampler.growth._adapters import weight_argument
from metasampler.growth._base_estimators import estimators_of, unfitted_form
from metasampler.growth._data import join_arrays
from metasampler.growth._groups import (
    assign_folds_by_group,
    check_groups,
    count_groups,
    refuse_lone_groups,
)
from metasampler.growth._hold_out import assign_folds, can_hold_out, find_minority, hold_out
from metasampler.growth._join import join_tables
from metasampler.growth._lightgbm_frames import refuse_polars_texts
from metasampler.growth._memory import MemoryRows
from metasampler.growth._streams import RandomStreams, Stream
from metasampler.growth._weights import check_spread, ratios_to, total_of
from metasampler.tables import is_frame

#: Zero is not valid for joblib, which raises only once there is work.
N_JOBS: list = [
    None,
    Interval(Integral, 1, None, closed="left"),
    Interval(Integral, None, -1, closed="right"),
]

#: More members than fit in memory, but no endless fit.
N_ESTIMATORS: list = [Interval(Integral, 1, 1_000_000, closed="both")]

#: More rows than any table has. Beyond it, products with numbers of rows may overflow.
SAMPLING_RATIO: list = [Interval(Real, 0, 1e12, closed="right")]


@contextmanager
def unchanged_on_error(estimator) -> Iterator[None]:
    """Let an estimator be what it was before if its fit fails or is interrupted."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        # In one step: there may be a second interrupt.
        estimator.__dict__ = before
        raise


def check_labels(y, X, *, owner=None, name: str = "y") -> np.ndarray:
    """Return the labels as a vector with one entry for every row of X."""
    if y is None:
        # The wording is scikit-learn's.
        raise ValueError(
            f"This {type(owner).__name__} estimator requires {name} to be passed, but the target "
            f"{name} is None."
        )
    y = column_or_1d(_as_numpy(y), warn=True)
    # scikit-learn's own checks fail on None and NA with unclear messages.
    if y.dtype.kind == "f":
        n_missing = int(np.isnan(y).sum())
    else:
        n_missing = sum(map(_is_missing, y if y.dtype.kind == "O" else ()))
    if n_missing:
        raise ValueError(
            f"Input {name} contains NaN: {n_missing} of {len(y)} labels are missing. Fill them, or "
            "leave these rows out."
        )
    assert_all_finite(y, input_name=name, estimator_name=type(owner).__name__)
    if any(isinstance(label, bytes) for label in y[:1]):
        raise TypeError(
            f"{name} holds bytes, for instance {bytes(y[0])!r:.100}; labels are numbers or texts: "
            "decode them."
        )
    try:
        check_classification_targets(y)
    except TypeError as error:
        types = sorted({type(label).__name__ for label in y})
        raise ValueError(f"{name} must hold labels of one type, got {', '.join(types)}.") from error
    check_consistent_length(X, y)
    return y


def _is_missing(label) -> bool:
    is_nan = isinstance(label, float) and label != label
    return is_nan or label is None or type(label).__name__ in ("NAType", "NaTType")


def _as_numpy(y):
    """Return labels of a nullable type as NumPy has them: scikit-learn would make them floats."""
    dtype: Any = getattr(y, "dtype", None)
    is_whole = hasattr(dtype, "numpy_dtype") and getattr(dtype, "kind", "O") in "biu"
    # Missing labels are an error, which is found with all others.
    if not is_whole or y.isna().any():
        return y
    return y.to_numpy(dtype=dtype.numpy_dtype)


def encode_labels(y, classes, name: str) -> np.ndarray:
    """Return the positions of labels in ``classes``; each class must be there, and no other."""
    try:
        found = np.unique(y)
        unknown = np.setdiff1d(found, classes)
    except TypeError:  # labels of another type, which do not even compare
        found, unknown = y, np.unique(y)
    if len(unknown):
        raise ValueError(
            f"{name} has classes that y does not have: {unknown[:10].tolist()}; y has "
            f"{classes.tolist()}."
        )
    missing = np.setdiff1d(classes, found)
    if len(missing):
        raise ValueError(
            f"{name} has no row of class {missing[:10].tolist()}; it needs rows of every class to "
            "score an ensemble."
        )
    return np.searchsorted(classes, y)


def drop_weightless_rows(X, y, sample_weight, name: str = "sample_weight"):
    """Check the weights and leave out the rows that have none, as if they were never passed.

    Returns rows, labels, weights of mean 1, and the positions of the rows that stay: None for all.
    """
    if isinstance(sample_weight, Real) and not np.isfinite(float(sample_weight)):
        raise ValueError(f"{name} must be finite, got {sample_weight}.")
    try:
        weights = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    except (TypeError, ValueError) as error:
        said = str(error)
        if "sample_weight" in said or "Sample weights" in said:
            if name == "sample_weight":
                raise
            raise type(error)(re.sub("sample_weight|Sample weights", name, said)) from error
        raise ValueError(f"{name} must hold numbers, one per row: {error}.") from error
    keep, rows = weights > 0, None
    if not keep.any():  # older versions of scikit-learn let this pass
        raise ValueError(f"{name} is zero for every row.")
    if not keep.all():
        rows = np.flatnonzero(keep)
        X, y, weights = take_rows(X, rows), y[rows], weights[rows]
    least = weights.min()
    check_spread(least, weights.max(), name)
    ratios = ratios_to(weights, least)
    # With mean 1, because members take them for numbers of rows.
    return X, y, ratios / (total_of(ratios) / len(ratios)), rows


def check_validation_rows(X, X_val, y_val, sample_weight_val) -> None:
    """Refuse validation rows without labels or the reverse; warn of those that are trained on."""
    if (X_val is None) != (y_val is None):
        raise ValueError("X_val and y_val must be passed together.")
    if sample_weight_val is not None and X_val is None:
        raise ValueError("sample_weight_val needs validation rows: pass X_val and y_val too.")
    if X_val is not None and X_val is X:
        warn_user(
            "X_val is X itself: members are trained on these rows, so the scores, the calibration "
            "and the threshold are too optimistic. Pass other rows, or leave X_val out."
        )


def warn_of_unweighted_members(estimator) -> None:
    """Warn if row weights have no effect within some members."""
    unweighted = [repr(each) for each in estimators_of(estimator) if weight_argument(each) is None]
    if unweighted:
        warn_user(
            f"The fit of {' and of '.join(dict.fromkeys(unweighted))} takes no sample_weight: "
            "the weights count in draws and scores, but not within these members."
        )


def make_growth_data(
    X,
    y,
    X_val=None,
    y_val=None,
    X_test=None,
    y_test=None,
    *,
    sample_weight=None,
    sample_weight_val=None,
    groups=None,
    estimator,
    validation_fraction: float | None,
    sampling_ratio: float,
    streams,
    owner=None,
    must_hold_out: bool = True,
    rotate: bool = False,
    **settings,
) -> MemoryRows:
    """Check what the user passed and put it in the form the growth loop takes.

    Without validation rows, ``validation_fraction`` of the training rows are held out; they
    stay where they are and only their row numbers are taken aside. None holds out nothing. A class
    with a single row cannot be held out: an error, or without ``must_hold_out`` a warning and no
    validation rows. With ``rotate`` no rows are held out from all members: each member leaves out
    another fold. ``streams`` may be the ``random_state`` that they come from. The other settings
    are those of `GrowthData`: ``scoring`` and, if there is one, ``max_rows``.
    """
    y = check_labels(y, X, owner=owner)
    learned_from, labels_there = X, y
    if sample_weight is not None and is_frame(X):
        counting = np.asarray(sample_weight) != 0
        # Weights of another shape are an error, which is found where they are checked.
        if counting.shape == (X.shape[0],) and counting.any() and not counting.all():
            learned_from, labels_there = take_rows(X, np.flatnonzero(counting)), y[counting]
    form = unfitted_form(estimator, X).fit(learned_from, labels_there)
    given = {"valid": ("val", X_val, y_val), "test": ("test", X_test, y_test)}
    check_validation_rows(X, X_val, y_val, sample_weight_val)
    for suffix, table, labels in given.values():
        if (table is None) != (labels is None):
            raise ValueError(f"X_{suffix} and y_{suffix} must be passed together.")
        # Compared here, because trees get arrays, which have lost the names.
        both_named = hasattr(X, "columns") and hasattr(table, "columns")
        if both_named and list(form.ordered(table).columns) != list(X.columns):
            missing = [name for name in X.columns if name not in list(table.columns)]
            raise ValueError(f"X_{suffix} lacks columns that X has: {missing[:10]}.")
    if form.wants == "as it is":
        refuse_polars_texts(estimator, X, y)
    X = form(X, owner=owner)
    original, n_passed = None, X.shape[0]
    keys = None if groups is None else check_groups(groups, n_passed, X_val)
    if sample_weight is not None:
        X, y, sample_weight, original = drop_weightless_rows(X, y, sample_weight)
        keys = keys if keys is None or original is None else keys[original]
        warn_of_unweighted_members(estimator)
    elif sample_weight_val is not None:
        sample_weight = np.ones(len(y))
    classes, codes = np.unique(y, return_inverse=True)
    counts = np.bincount(codes)
    # Counted before rows are held out.
    minority = find_minority(classes, counts)
    if keys is not None:
        refuse_lone_groups(count_groups(keys, codes, len(classes)), classes)
    rows, folds = {"train": np.arange(len(codes))}, None
    streams = RandomStreams.from_random_state(streams)
    fraction = validation_fraction if X_val is None else None
    if fraction is not None and can_hold_out(classes, counts, must_hold_out, rotate=rotate):
        key = streams.row_key(Stream.SPLIT)
        class_rows = [np.flatnonzero(codes == k) for k in range(len(classes))]
        n_folds = max(2, round(min(1 / fraction, len(codes))))
        if keys is not None:
            folds = assign_folds_by_group(keys, codes, len(classes), n_folds, key)
        elif rotate:
            folds = assign_folds(class_rows, len(codes), n_folds, key)
        if rotate:
            rows["valid"] = np.flatnonzero(np.asarray(folds) < n_folds)
        else:
            by_group = folds is not None
            held_out = folds == 0 if by_group else hold_out(class_rows, len(codes), fraction, key)
            folds = None
            rows = {"train": np.flatnonzero(~held_out), "valid": np.flatnonzero(held_out)}
    # In as few bytes as they need: there is one for every row.
    code_type = np.min_scalar_type(len(classes) - 1)
    tables, all_codes, all_weights = [X], [codes.astype(code_type)], [sample_weight]
    passed = [np.arange(n_passed) if original is None else original]
    n_rows = X.shape[0]
    for role, (suffix, table, labels) in given.items():
        if table is None:
            continue
        table = form(form.ordered(table), name=f"X_{suffix}", owner=owner)
        labels = check_labels(labels, table, owner=owner, name=f"y_{suffix}")
        if table.shape[1] != X.shape[1]:
            raise ValueError(f"X_{suffix} has {table.shape[1]} columns, but X has {X.shape[1]}.")
        # Unless they have weights of their own, rows that only evaluate count one each.
        weights, kept = np.ones(len(labels)), None
        if role == "valid" and sample_weight_val is not None:
            table, labels, weights, kept = drop_weightless_rows(
                table, labels, sample_weight_val, "sample_weight_val"
            )
        tables.append(table)
        all_codes.append(encode_labels(labels, classes, f"y_{suffix}").astype(code_type))
        all_weights.append(None if sample_weight is None else weights)
        passed.append(n_passed + (np.arange(len(labels)) if kept is None else kept))
        rows[role] = np.arange(n_rows, n_rows + len(labels))
        n_rows += len(labels)
    if rotate and X_val is not None:
        # Members that stop by validation rows find them in the table they are trained on.
        tables[:2] = [join_tables(*tables[:2])]
    data = MemoryRows(
        tables=tables,
        codes=join_arrays(all_codes),
        weights=join_arrays(all_weights),
        rows=rows,
        folds=folds,
        groups=keys,
        original=None if sample_weight is None else np.concatenate(passed),
        classes=classes,
        minority=minority,
        sampling_ratio=sampling_ratio,
        streams=streams,
        form=form,
        **settings,
    )
    smallest = np.delete(data.counts, minority).min()
    if smallest < data.draw_size:
        warn_user(
            f"sampling_ratio={sampling_ratio} asks for {data.draw_size:.6g} rows of each larger "
            f"class, but one has only {smallest}; all of its rows are taken."
        )
    return data
