"""Transactions as a bank's export has them, and the same transactions cleaned by hand.

``python tests/helpers/messy_transactions.py FOLDER`` writes both months.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

SHOPS = [
    f"{kind} {town}" for kind in ("Bäckerei", "Kiosk", "Hotel", "Garage") for town in range(12)
]
COMMON = np.array([a + b + "en" for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u", "ei")])
TELLING = np.array(["dringend", "gutschein", "krypto", "rückruf"])


def clean_month(month: str, n_rows: int, seed: int, growth: float = 1.0) -> pd.DataFrame:
    """Return the transactions of a month as a careful person would have them."""
    rng = np.random.default_rng(seed)
    start = pd.Timestamp(month)
    minutes = rng.integers(0, start.days_in_month * 24 * 60, n_rows)
    booked = start + pd.to_timedelta(minutes, "min")
    # The first twelve days of a month: both orders of day and month fit.
    opened = pd.to_datetime(
        {
            "year": rng.integers(2018, 2026, n_rows),
            "month": rng.integers(1, 13, n_rows),
            "day": rng.integers(1, 13, n_rows),
        }
    )
    amount = (np.exp(rng.normal(4, 1, n_rows)) * growth).round(2)
    currency = rng.choice(["EUR", "USD", ""], n_rows, p=[0.6, 0.3, 0.1])
    shop = rng.choice(SHOPS, n_rows)
    words = [rng.choice(COMMON, rng.integers(4, 9)).tolist() for _ in range(n_rows)]
    told = rng.random(n_rows) < 0.05
    for each in np.flatnonzero(told):
        words[each][0] = str(rng.choice(TELLING))
    night = (booked.hour < 5) & (rng.random(n_rows) < 0.9)
    log_odds = -6.0 + 2.2 * night + 0.9 * (np.log(amount) - 4) + 3.5 * told
    log_odds += 1.5 * np.char.startswith(shop.astype(str), "Kiosk") + (currency == "USD") * 1.0
    fraud = np.where(rng.random(n_rows) < 1 / (1 + np.exp(-log_odds)), "yes", "no")
    return pd.DataFrame(
        {
            "booked": booked,
            "opened": opened,
            "amount": amount,
            "amount (currency)": np.where(currency == "", None, currency),
            "fee": rng.integers(1, 60, n_rows) / 10,
            "shop": shop,
            "age": rng.integers(18, 90, n_rows).astype(float),
            "branch": rng.choice(["nord", "süd", "west"], n_rows),
            "remark": [" ".join(each) for each in words],
            "fraud": fraud,
        }
    )


def as_exported(clean: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return transactions as the export writes them: all of it texts."""
    rng = np.random.default_rng(seed)
    signs = {"EUR": ["€{}", "EUR {}", "{} EUR"], "USD": ["${}", "USD {}"], "": ["{}"]}
    amounts = [
        str(rng.choice(signs[unit])).format(f"{value:,.2f}")
        for value, unit in zip(clean["amount"], clean["amount (currency)"].fillna(""), strict=True)
    ]
    messy = clean.drop(columns="amount (currency)").assign(
        booked=clean["booked"].dt.strftime("%m/%d/%Y %I:%M %p"),
        opened=clean["opened"].dt.strftime("%m/%d/%Y"),
        amount=amounts,
        fee=[f"{fee:.1f}%".replace(".", ",") for fee in clean["fee"]],
        age=clean["age"].astype(int).astype(object),
    )
    references = [f"=TX-{number:x}" for number in rng.integers(2**40, 2**44, len(clean))]
    messy.insert(0, "reference", references)
    return messy


def make_months(n_rows: int = 6000) -> dict[str, pd.DataFrame]:
    """Return March and April, clean and messy; all rows of the clean tables have a class."""
    march, april = clean_month("2026-03-01", n_rows, 0), clean_month("2026-04-01", n_rows, 1, 1.15)
    messy_march, messy_april = as_exported(march, 2), as_exported(april, 3)
    # Rows that are not judged yet.
    unlabelled = np.arange(7, n_rows, 100)
    messy_march.loc[unlabelled, "fraud"] = None
    march = march.drop(index=unlabelled).reset_index(drop=True)
    messy_april.loc[[10, 4000], "age"] = "n. k."
    april.loc[[10, 4000], "age"] = np.nan
    messy_april = messy_april.drop(columns=["branch", "fraud"])
    april["branch"] = None
    return {
        "march": march,
        "april": april,
        "messy march": messy_march,
        "messy april": messy_april,
    }


def write_months(folder: Path, n_rows: int = 6000) -> dict[str, pd.DataFrame]:
    """Write both months as the export does, and return all tables."""
    months = make_months(n_rows)
    months["messy march"].to_csv(folder / "march.csv.zip", index=False)
    months["messy april"].to_csv(folder / "april.csv", index=False, encoding="cp1252", sep=";")
    return months


if __name__ == "__main__":
    write_months(Path(sys.argv[1]))
