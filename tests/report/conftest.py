import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression


@pytest.fixture(scope="session")
def rows():
    """Rows of two classes, one of them rare, with texts, gaps and labels that are texts."""
    rng = np.random.default_rng(0)
    n = 1500
    rare = rng.random(n) < 0.1
    amount = rng.normal(size=n) + 1.5 * rare
    amount[::19] = np.nan
    X = pd.DataFrame(
        {
            "amount": amount,
            "noise": rng.normal(size=n),
            "colour": np.where(rare & (rng.random(n) < 0.6), "red", rng.choice(["red", "blue"], n)),
        }
    )
    return X, np.where(rare, "yes", "no")


@pytest.fixture(scope="session")
def numbers():
    """Rows of numbers, and a classifier that is fitted in no time."""
    rng = np.random.default_rng(1)
    n = 2000
    y = (rng.random(n) < 0.08).astype(int)
    X = rng.normal(size=(n, 3)) + 1.2 * y[:, None] * [1, 0.5, 0]
    return LogisticRegression().fit(X[:800], y[:800]), X[800:], y[800:]


@pytest.fixture
def embedded():
    """Return the numbers inside a page, as its script reads them."""

    def read(html):
        found = re.search(r'<script type="application/json" id="numbers">(.*?)</script>', html)
        return json.loads(found[1])

    return read
