"""Strategies for what a fit gets: tables, labels and weights of odd kinds."""

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import strategies as st
from scipy import sparse

#: Numbers that code stumbles over.
ODD_NUMBERS = [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e39, 5e-324, 0.0, -0.0, 1e16, 2.0**53]

LABEL_KINDS = {
    "whole": lambda y, rng: y,
    "negative": lambda y, rng: -7 * y - 1,
    "unsigned": lambda y, rng: y.astype(np.uint8),
    "float": lambda y, rng: y.astype(float),
    "fraction": lambda y, rng: y + 0.5,
    "text": lambda y, rng: np.array([f"class {k}" for k in y]),
    "objects": lambda y, rng: np.array([f"k{k}" for k in y], dtype=object),
    "bool": lambda y, rng: y > 0,
    "bytes": lambda y, rng: np.array([f"k{k}" for k in y]).astype("S"),
    "list": lambda y, rng: y.tolist(),
    "column": lambda y, rng: y.reshape(-1, 1),
    "two columns": lambda y, rng: np.column_stack([y, y]),
    "scalar": lambda y, rng: 3,
    "none": lambda y, rng: None,
    "NaN": lambda y, rng: np.where(rng.random(len(y)) < 0.2, np.nan, y),
    "None inside": lambda y, rng: np.where(rng.random(len(y)) < 0.2, None, y),
    "mixed": lambda y, rng: np.array([k if k else "zero" for k in y.tolist()], dtype=object),
    "huge": lambda y, rng: np.array([2**70 + k for k in y.tolist()], dtype=object),
    "dates": lambda y, rng: np.datetime64("2020-01-01") + y,
    "complex": lambda y, rng: y + 1j,
    "continuous": lambda y, rng: rng.normal(size=len(y)),
    "series": lambda y, rng: pd.Series(y, index=rng.permutation(len(y))),
    "string": lambda y, rng: pd.Series([f"k{k}" for k in y], dtype="string"),
    "string with NA": lambda y, rng: pd.Series([f"k{k}" for k in y], dtype="string").mask(
        rng.random(len(y)) < 0.2
    ),
    "Int64 with NA": lambda y, rng: pd.Series(y, dtype="Int64").mask(rng.random(len(y)) < 0.2),
    "category": lambda y, rng: pd.Series([f"k{k}" for k in y], dtype="category"),
    "boolean": lambda y, rng: pd.Series(y > 0, dtype="boolean"),
    "frame": lambda y, rng: pd.DataFrame({"y": y}),
    "polars": lambda y, rng: pl.Series(y),
    "polars text": lambda y, rng: pl.Series([f"k{k}" for k in y.tolist()]),
    "polars None": lambda y, rng: pl.Series([None if rng.random() < 0.2 else int(k) for k in y]),
    "shorter": lambda y, rng: y[:-1],
}

WEIGHT_KINDS = {
    "ones": lambda n, rng: np.ones(n),
    "random": lambda n, rng: rng.exponential(size=n),
    "whole": lambda n, rng: rng.integers(0, 4, n),
    "bool": lambda n, rng: rng.random(n) < 0.8,
    "list": lambda n, rng: rng.random(n).tolist(),
    "float32": lambda n, rng: rng.random(n).astype(np.float32),
    "series": lambda n, rng: pd.Series(rng.random(n), index=rng.permutation(n)),
    "number": lambda n, rng: 2.5,
    "wide": lambda n, rng: 10.0 ** rng.uniform(-6, 6, n),
    "too wide": lambda n, rng: 10.0 ** rng.uniform(-200, 200, n),
    "large": lambda n, rng: np.full(n, 1e308),
    "tiny": lambda n, rng: np.full(n, 5e-324),
    "zeros": lambda n, rng: np.zeros(n),
    "negative": lambda n, rng: rng.normal(size=n),
    "NaN": lambda n, rng: np.where(rng.random(n) < 0.2, np.nan, 1.0),
    "infinite": lambda n, rng: np.where(rng.random(n) < 0.2, np.inf, 1.0),
    "text": lambda n, rng: np.array(["a"] * n),
    "objects": lambda n, rng: np.array([None] * n),
    "column": lambda n, rng: np.ones((n, 1)),
    "shorter": lambda n, rng: np.ones(n - 1),
    "complex": lambda n, rng: np.ones(n) + 1j,
}

_COLUMNS = {
    "float": lambda n, rng: rng.normal(size=n),
    "whole": lambda n, rng: rng.integers(-3, 4, n),
    "constant": lambda n, rng: np.full(n, 2.0),
    "odd": lambda n, rng: rng.choice(ODD_NUMBERS, n),
    "missing": lambda n, rng: np.where(rng.random(n) < 0.4, np.nan, rng.normal(size=n)),
    "all missing": lambda n, rng: np.full(n, np.nan),
    "bool": lambda n, rng: rng.random(n) < 0.5,
}

_FRAME_COLUMNS = {
    **_COLUMNS,
    "text": lambda n, rng: rng.choice(["a", "b", "c", ""], n).astype(object),
    "text or None": lambda n, rng: rng.choice(np.array(["a", "b", None], dtype=object), n),
    "identifier": lambda n, rng: np.array([f"row {i}" for i in range(n)], dtype=object),
    "counted": lambda n, rng: np.arange(n),
    "huge": lambda n, rng: np.array([10**30 + i for i in range(n)], dtype=object),
    "date as text": lambda n, rng: np.array(
        [f"{d:02}.{d % 12 + 1:02}.2023" for d in rng.integers(1, 29, n)], dtype=object
    ),
    "date": lambda n, rng: np.datetime64("2020-01-01T00:00:00.000") + rng.integers(0, 10**6, n),
    "duration": lambda n, rng: rng.integers(0, 10**6, n).astype("timedelta64[ms]"),
    "all None": lambda n, rng: np.full(n, None),
}

_PANDAS_COLUMNS = {
    "category": lambda n, rng: pd.Categorical(rng.choice(["x", "y"], n)),
    "Int64": lambda n, rng: pd.Series(rng.integers(0, 9, n), dtype="Int64").mask(
        rng.random(n) < 0.3
    ),
    "mixed": lambda n, rng: np.array([i if i % 2 else f"t{i % 5}" for i in range(n)], dtype=object),
    "lists": lambda n, rng: pd.Series([[i] for i in range(n)]),
}

USUAL_KINDS = ["array", "float32", "fortran", "list", "pandas", "pandas", "polars", "csr"]

TABLE_KINDS = [
    *("array", "array", "array", "float32", "integers", "fortran", "list", "objects", "texts"),
    *("pandas", "pandas", "pandas", "polars", "polars", "csr", "coo", "sparse array"),
    *(
        "vector",
        "cube",
        "no columns",
        "no rows",
        "none",
        "complex",
        "same names",
        "numbers as names",
    ),
]


def _numbers(n, kinds, rng):
    if not kinds:
        return np.empty((n, 0))
    return np.column_stack([np.asarray(_COLUMNS[kind](n, rng), dtype=float) for kind in kinds])


FRAME_KINDS = ("pandas", "pandas", "polars", "same names", "numbers as names")


@st.composite
def frames(draw, n_rows, kinds=FRAME_KINDS, n_columns=4, odd=True):
    """Draw a data frame, and a word for its kind."""
    kind = draw(st.sampled_from(kinds))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    known = {**_FRAME_COLUMNS, **(_PANDAS_COLUMNS if kind != "polars" else {})}
    if not odd:
        known = {name: make for name, make in known.items() if name not in ("odd", "lists")}
    names = draw(st.lists(st.sampled_from(list(known)), min_size=1, max_size=n_columns))
    columns = [known[name](n_rows, rng) for name in names]
    if kind == "polars":
        named = {f"{i} {name}": c for i, (name, c) in enumerate(zip(names, columns, strict=True))}
        return pl.DataFrame(named, strict=False), (kind, names)
    frame = pd.DataFrame(dict(enumerate(columns)))
    if kind == "pandas":
        frame.columns = [f"{i} {name}" for i, name in enumerate(names)]
    elif kind == "same names":
        frame.columns = ["same"] * len(names)
    return frame, (kind, names)


@st.composite
def tables(draw, n_rows, odd=True):
    """Draw a table, and a word for its kind."""
    kind = draw(st.sampled_from(TABLE_KINDS if odd else USUAL_KINDS))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    plain = st.lists(
        st.sampled_from([kind for kind in _COLUMNS if odd or kind != "odd"]), min_size=1, max_size=4
    )
    if kind in FRAME_KINDS:
        return draw(frames(n_rows, kinds=(kind,), odd=odd))
    names = draw(plain)
    X = _numbers(n_rows, names, rng)
    makers = {
        "array": lambda: X,
        "float32": lambda: np.clip(np.nan_to_num(X), -1e30, 1e30).astype(np.float32),
        "integers": lambda: np.clip(np.nan_to_num(X), -100, 100).astype(np.int16),
        "fortran": lambda: np.asfortranarray(X),
        "list": X.tolist,
        "objects": lambda: X.astype(object),
        "texts": lambda: X.astype(str),
        "csr": lambda: sparse.csr_matrix(np.nan_to_num(X)),
        "coo": lambda: sparse.coo_matrix(np.nan_to_num(X)),
        "sparse array": lambda: sparse.csr_array(np.nan_to_num(X)),
        "vector": lambda: X[:, 0],
        "cube": lambda: X[:, :, np.newaxis],
        "no columns": lambda: X[:, :0],
        "no rows": lambda: X[:0],
        "none": lambda: None,
        "complex": lambda: X + 1j,
    }
    return makers[kind](), (kind, names)


def codes_of(n_rows, n_classes, share, rng):
    """Return class numbers, the last class being the rarest."""
    rare = max(1, round(share * n_rows))
    codes = np.zeros(n_rows, dtype=int)
    for k in range(1, n_classes):
        codes[(k - 1) * rare : k * rare] = k
    return rng.permutation(codes)
