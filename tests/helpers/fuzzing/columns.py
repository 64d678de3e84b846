"""Fuzz column sense: any frame and target give a report and a cleaner that works, or an error."""

import warnings

import numpy as np
from hypothesis import strategies as st

from fuzzing.outcomes import FINE, Finding, judge_error
from fuzzing.tables import LABEL_KINDS, codes_of, frames
from metasampler.tables import TableCleaner, TableEncoder, inspect_columns

#: Of those for fits what is a target, and some that have gaps.
TARGETS = {name: make for name, make in LABEL_KINDS.items() if name != "scalar"} | {
    "float with NaN": lambda y, rng: np.where(rng.random(len(y)) < 0.3, np.nan, y.astype(float)),
    "all NaN": lambda y, rng: np.full(len(y), np.nan),
    "all None": lambda y, rng: np.full(len(y), None),
    "infinite": lambda y, rng: np.where(y > 0, np.inf, 0.0),
}


@st.composite
def cases(draw):
    """Draw a frame, a target, and columns to keep and to drop."""
    n_rows = draw(st.sampled_from([0, 1, 2, 3, 20, 60, 60, 300, 300]))
    frame, kind = draw(frames(n_rows, n_columns=5))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    names = list(frame.columns)
    some = st.lists(st.sampled_from(names * 4 + ["nowhere"]), max_size=2)
    target = draw(
        st.sampled_from(
            ["whole"] * 15 + ["text"] * 5 + [*TARGETS, "a column", "a column", "no column"]
        )
    )
    codes = codes_of(n_rows, draw(st.integers(1, 3)), 0.2, rng) if n_rows else np.zeros(0, int)
    if target == "a column":
        y = draw(st.sampled_from(names))
    else:
        y = "nowhere" if target == "no column" else TARGETS[target](codes, rng)
    return {
        "table": kind,
        "rows": n_rows,
        "labels": target,
        "keep": "text" if draw(st.integers(0, 20)) == 20 else draw(some),
        "drop": draw(some) if draw(st.booleans()) else [],
        "X": frame,
        "y": y,
    }


def attempt(case):
    """Look at the columns, clean the table, and encode what is left."""
    frame, y, keep = case["X"], case["y"], case["keep"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outcomes = [_looked_at(frame, y, keep)]
        if case["labels"] not in ("a column", "no column"):
            outcomes.append(_cleaned(case))
    return max(outcomes, key=len)  # a clear error tells more


def _looked_at(frame, y, keep):
    try:
        report = inspect_columns(frame, y, keep=keep)
    except Exception as error:
        return judge_error(error, kinds=(ValueError, TypeError), at_once=True)
    str(report), report.rows
    lost = [name for name in keep if name in report.left_out]
    if lost:
        raise Finding(f"left out although they should be kept: {lost}")
    return FINE


def _cleaned(case):
    frame = case["X"]
    cleaner = TableCleaner(keep=case["keep"], drop=case["drop"])
    try:
        cleaner.fit(frame, case["y"])
    except Exception as error:
        return judge_error(error, kinds=(ValueError, TypeError), at_once=True)
    try:
        left = cleaner.transform(frame)
        encoder = TableEncoder().fit(left)
        numbers = encoder.transform(left)
    except Exception as error:
        raise Finding(f"fitted, but cannot transform: {error!r}") from error
    if list(left.columns) != [name for name in frame.columns if name not in cleaner.left_out_]:
        raise Finding(f"other columns than said: {list(left.columns)}")
    shape = len(left), len(encoder.get_feature_names_out())
    if numbers.shape != shape or np.isinf(numbers).any():
        raise Finding(f"numbers of shape {numbers.shape}, infinite: {np.isinf(numbers).any()}")
    return FINE


__all__ = ["attempt", "cases"]
