"""The 46 tables of the kind users have, as Parquet files in the folder ``real``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from metasampler.datasets import read_table, split_target
from metasampler_bench.datasets._local import resolve_data_home

__all__ = ["REAL", "REAL_FAMILIES", "REAL_NAMES", "find_real", "load_real"]

TARGET = "target"

#: Rows, columns and positive rows of each table, counted in the files.
REAL = {
    "bank_balance_churn": (28382, 19, 5260),
    "bank_card_churn": (10127, 19, 1627),
    "be_mtpl97_claim": (163212, 12, 18276),
    "bird_strikes_effect": (13584, 15, 1973),
    "cell2cell_churn10": (40373, 56, 4037),
    "compas_violent": (4743, 14, 775),
    "covid_einstein": (5644, 100, 558),
    "covid_testing_chop": (15223, 11, 865),
    "defects_jm1": (8912, 21, 2007),
    "diabetes130_readmit30": (69973, 44, 6277),
    "email_spam_openintro": (3921, 20, 367),
    "employee_attrition_monthly": (16026, 10, 1613),
    "employee_promotion": (54808, 12, 4668),
    "eu_direct_lapse": (23060, 18, 2954),
    "flight_delay_15": (100000, 8, 19044),
    "fre_mpl_claim": (20600, 18, 2205),
    "hillstrom_visit": (64000, 9, 9394),
    "hotel_cancel_direct": (37490, 27, 5998),
    "hotel_children": (75166, 27, 6073),
    "iranian_churn": (3150, 13, 495),
    "law_school_bar": (22407, 14, 1169),
    "leads_buy_3m": (39161, 17, 1998),
    "lending_club_2016": (9857, 22, 517),
    "medical_noshow": (110527, 13, 22319),
    "msha_mine_injuries": (53746, 19, 8146),
    "neo_hazardous_hard": (11993, 12, 1531),
    "nhanes_diabetes": (19460, 70, 1706),
    "oulad_distinction": (32593, 10, 3024),
    "pakdd2009_credit": (39988, 20, 7917),
    "pg15_injury_claim": (100021, 15, 4506),
    "pg17_motor_claim": (100000, 26, 12654),
    "product_backorders": (19053, 21, 2266),
    "resume_callback": (4870, 28, 392),
    "sales_tax_audit": (14112, 16, 2785),
    "santander_satisfaction": (76020, 306, 3008),
    "shelter_euthanasia": (26729, 10, 1555),
    "speed_dating": (8378, 88, 1380),
    "stackoverflow_remote": (5594, 20, 575),
    "telco_mlc_churn": (5000, 19, 707),
    "thyroid0387_nti": (9172, 31, 573),
    "tornado_injury": (19405, 14, 1331),
    "travel_insurance_claim": (48260, 10, 708),
    "tv_subscription_churn": (9379, 46, 449),
    "unsw_nb15_fuzzers": (82332, 42, 6062),
    "vehicle_insurance_fraud": (15420, 31, 923),
    "weather_aus_heavy_rain": (140605, 22, 9295),
}
#: What the tables are about; those that are alone are a family of their own.
_FAMILIES = {
    "churn": (
        *("bank_balance_churn", "bank_card_churn", "cell2cell_churn10", "iranian_churn"),
        *("telco_mlc_churn", "tv_subscription_churn"),
    ),
    "insurance": (
        *("be_mtpl97_claim", "eu_direct_lapse", "fre_mpl_claim", "pg15_injury_claim"),
        *("pg17_motor_claim", "travel_insurance_claim", "vehicle_insurance_fraud"),
    ),
    "aviation": ("bird_strikes_effect", "flight_delay_15"),
    "covid": ("covid_einstein", "covid_testing_chop"),
    "employment": (
        *("employee_attrition_monthly", "employee_promotion", "resume_callback"),
        "stackoverflow_remote",
    ),
    "marketing": ("hillstrom_visit", "leads_buy_3m"),
    "hotel": ("hotel_cancel_direct", "hotel_children"),
    "education": ("law_school_bar", "oulad_distinction"),
    "credit": ("lending_club_2016", "pakdd2009_credit"),
    "weather": ("tornado_injury", "weather_aus_heavy_rain"),
}
#: The family of each table.
REAL_FAMILIES = {name: name for name in REAL} | {
    name: family for family, names in _FAMILIES.items() for name in names
}
#: In the order of the alphabet.
REAL_NAMES = tuple(REAL)


def find_real(folder: Path) -> dict[str, Path]:
    """Files of the folder's ``real``, by the name of the table; none is opened."""
    return {path.stem: path for path in sorted((folder / "real").glob("*.parquet"))}


def load_real(name: str, data_home: str | os.PathLike[str] | None) -> tuple[Any, Any]:
    """Return the columns of a table with their own types, and its labels (0, 1)."""
    folder = resolve_data_home(data_home)
    path = folder / "real" / f"{name}.parquet"
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no file {os.fspath(path)!r}; it holds the table {name!r} with a column "
            f"{TARGET!r} of 0 and 1."
        )
    return split_target(read_table(path), TARGET, path.name)
