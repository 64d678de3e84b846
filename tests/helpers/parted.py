"""Tables cut into parts, and fits that must not depend on the cut."""

from itertools import pairwise

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler


def make_frame(n_rows=2600, n_classes=2, rare=0.1, seed=0):
    """Return rows with numbers, texts, categories, missing values, labels and weights."""
    shares = [1 - rare] if n_classes == 2 else [1 - 2 * rare, rare]
    X, y = make_classification(
        n_rows,
        6,
        n_informative=4,
        n_classes=n_classes,
        weights=shares,
        flip_y=0.02,
        random_state=seed,
    )
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(6)])
    rng = np.random.default_rng(seed)
    frame["city"] = rng.choice(["Rome", "Oslo", "Bern", "Graz"], n_rows)
    frame["kind"] = pd.Categorical(rng.choice(list("abcd"), n_rows))
    frame.loc[rng.random(n_rows) < 0.1, "x3"] = np.nan
    frame["label"] = np.array(["no", "yes", "may"])[y]
    # Some weights are zero, and no sum of them is exact.
    frame["weight"] = rng.integers(0, 4, n_rows) * 0.5 + rng.random(n_rows) * (y == 0)
    return frame


def make_towns(labels, n_towns, seed=0):
    """Return a category of many levels, some missing, of which some are frequent in one class."""
    rng = np.random.default_rng(seed)
    towns = rng.integers(n_towns, size=len(labels))
    in_some = rng.random(len(labels)) < 0.4
    towns[in_some & (labels == "yes").to_numpy()] //= 3
    names = pd.Series([f"town {number}" for number in towns], index=labels.index)
    return names.mask(rng.random(len(labels)) < 0.03)


def make_linear():
    """Return members that read columns of a frame by name, and lack nothing."""
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = [(numbers, [f"x{k}" for k in range(6)]), (OneHotEncoder(), ["city", "kind"])]
    return make_pipeline(make_column_transformer(*columns), LogisticRegression())


def make_hist():
    """Return members that know the categories of a frame, once texts are codes."""
    texts = OrdinalEncoder().set_output(transform="pandas")
    columns = make_column_transformer(
        (texts, ["city"]), remainder="passthrough", verbose_feature_names_out=False
    ).set_output(transform="pandas")
    return make_pipeline(columns, HistGradientBoostingClassifier(max_iter=10))


def uneven(n_rows, n_parts, seed=0):
    """Return slices that cut rows into parts of very different sizes."""
    cuts = np.random.default_rng(seed).choice(np.arange(1, n_rows), n_parts - 1, replace=False)
    edges = [0, *sorted(cuts.tolist()), n_rows]
    return [slice(*pair) for pair in pairwise(edges)]


def write_parquet(frame, folder, n_parts):
    """Write a frame to several files whose names are in the order of the rows."""
    for number, rows in enumerate(uneven(len(frame), n_parts)):
        part = frame.iloc[rows].reset_index(drop=True)
        part.to_parquet(folder / f"part-{number:02}.parquet", row_group_size=500)
    return folder


def assert_same_fit(one, other, X):
    """Check that two fitted classifiers are the same to the last bit."""
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    np.testing.assert_array_equal(one.scores_, other.scores_)
    np.testing.assert_array_equal(one.actions_, other.actions_)
    assert len(one.estimators_) == len(other.estimators_)
