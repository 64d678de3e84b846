"""Tables with more than two classes: raw ones in the folder ``classes``, and sets of KEEL."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from metasampler.datasets import read_table, split_target
from metasampler_bench.datasets._bundled import BUNDLED, load_bundled
from metasampler_bench.datasets._local import read_npz, resolve_data_home
from metasampler_bench.datasets._real import TARGET

__all__ = ["CLASS_NAMES", "CLASS_TABLES", "KEEL_CLASSES", "find_classes", "load_classes"]

#: Rows, columns and classes of each raw table, counted in the files.
CLASS_TABLES = {
    "abalone_rings": (4153, 8, 22),
    "anneal_steel_class": (890, 30, 4),
    "arrhythmia_class": (429, 260, 8),
    "bird_strike_phase": (17508, 14, 7),
    "census_occupation": (30709, 13, 13),
    "ctg_fhr_pattern": (2126, 21, 10),
    "diabetes130_discharge": (30896, 41, 16),
    "diamond_clarity": (40180, 9, 8),
    "frog_call_species": (7195, 22, 10),
    "hotel_market_segment": (60000, 24, 7),
    "hpc_job_time": (4331, 7, 4),
    "loan_grade": (10000, 44, 7),
    "nhanes_general_health": (12449, 68, 5),
    "poker_hand": (59758, 10, 8),
    "road_accident_severity": (12316, 30, 3),
    "shelter_outcome": (26729, 7, 5),
    "shuttle_state": (57990, 9, 6),
    "steel_plate_fault": (1941, 26, 7),
    "storm_status": (20778, 8, 9),
    "thyroid0387_diagnosis": (9111, 29, 19),
    "tornado_magnitude": (18640, 9, 5),
    "unsw_nb15_attack_cat": (44000, 42, 10),
    "wine_quality_score": (6492, 12, 6),
    "yeast_site": (1479, 8, 9),
}
#: Sets of KEEL, in the folder ``extra``; their columns are numbers.
KEEL_CLASSES = (
    *("keelmulti_automobile", "keelmulti_balance", "keelmulti_cleveland"),
    *("keelmulti_dermatology", "keelmulti_fars", "keelmulti_flare", "keelmulti_hayes-roth"),
    *("keelmulti_led7digit", "keelmulti_lymphography", "keelmulti_newthyroid"),
    *("keelmulti_splice", "keelmulti_vowel", "keelmulti_zoo"),
)
CLASS_NAMES = (*CLASS_TABLES, *KEEL_CLASSES)


def find_classes(folder: Path) -> dict[str, Path]:
    """Files of the folder's ``classes``, by the name of the table; none is opened."""
    return {path.stem: path for path in sorted((folder / "classes").glob("*.parquet"))}


def load_classes(name: str, data_home: str | os.PathLike[str] | None = None) -> tuple[Any, Any]:
    """Return the columns of a table with their own types, and its labels as texts.

    The sets that scikit-learn ships need no folder.
    """
    if name in BUNDLED:
        data, labels = load_bundled(name)
        return _numbered(data), np.asarray(labels).astype(str)
    folder = resolve_data_home(data_home)
    kind, suffix = ("classes", "parquet") if name in CLASS_TABLES else ("extra", "npz")
    path = folder / kind / f"{name}.{suffix}"
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {os.fspath(path)!r} with the table {name!r}.")
    if suffix == "npz":
        data, labels = read_npz(path)
        return _numbered(data), np.asarray(labels).astype(str)
    X, y = split_target(read_table(path), TARGET, path.name)
    return X, np.asarray(y).astype(str)


def _numbered(data: Any) -> Any:
    """Return an array as a frame whose columns have numbers for names."""
    import pandas as pd

    return pd.DataFrame(data, columns=[f"x{number}" for number in range(data.shape[1])])
