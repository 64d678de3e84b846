"""A table as users have them, made on the spot: text, categories, a date, gaps."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def make_claims(n_rows: int = 8000, *, random_state: Any = 0) -> Any:
    """Make a table of insurance claims, of which some are fraud.

    The table is synthetic. Its columns are of the kinds that real tables have, so that programs and
    commands can be tried on it without a download. Four things go with fraud: six of sixty garages,
    large amounts, an early report, and the hour of the night. The rest is chance. It needs pandas
    (``pip install "metasampler[data]"``).

    Parameters
    ----------
    n_rows : int, default=8000
        Number of claims.

    random_state : int, RandomState instance or None, default=0
        Where chance comes from. The default always gives the same table.

    Returns
    -------
    claims : pandas.DataFrame
        One row a claim. The column ``fraud`` says ``"yes"`` or ``"no"``; about one claim in twenty
        is fraud.

    Examples
    --------
    >>> from metasampler.datasets import make_claims
    >>> claims = make_claims()
    >>> claims["fraud"].value_counts().to_dict()
    {'no': 7598, 'yes': 402}
    """
    import pandas

    if n_rows < 1:
        raise ValueError(f"n_rows must be at least 1, got {n_rows!r}.")
    rng = check_random_state(random_state)
    garage = rng.randint(60, size=n_rows)
    amount = np.exp(rng.normal(7.0, 1.0, n_rows)).round(2)
    days = rng.randint(1, 400, size=n_rows)
    hour = rng.randint(24, size=n_rows).astype(float)
    police = rng.uniform(size=n_rows) < 0.4
    log_odds = (
        -4.3
        + 2.6 * (garage % 10 == 3)
        + 0.9 * (np.log(amount) - 7.0)
        + 1.8 * (days < 40)
        + 1.2 * ((hour < 5) & ~police)
    )
    fraud = rng.uniform(size=n_rows) < 1 / (1 + np.exp(-log_odds))
    # Gaps come last: what is missing was there, and did its work.
    hour[rng.uniform(size=n_rows) < 0.15] = np.nan
    opened = pandas.Timestamp("2026-01-01") + pandas.to_timedelta(
        rng.randint(0, 300, size=n_rows), "D"
    )
    return pandas.DataFrame(
        {
            "garage": [f"garage {number}" for number in garage],
            "cover": pandas.Categorical(rng.choice(["basic", "plus", "full"], n_rows)),
            "opened": opened,
            "days_since_start": days,
            "hour": hour,
            "police_report": police,
            "amount": amount,
            "age": rng.randint(18, 90, size=n_rows),
            "fraud": np.where(fraud, "yes", "no"),
        }
    )
