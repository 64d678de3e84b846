"""Load tasks with few positives.

They are none of imbalanced-learn's 27 sets and come from none of their sources, so that a choice
made by them can be tested on the 27.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from metasampler_bench.datasets import load

__all__ = ["TASKS", "load_task", "title_of_task"]

#: Name, class to find (None: the one labelled 1) and how many of its rows to keep (None: all).
TASKS = (
    ("keel_segment0", None, None),
    ("keel_page-blocks0", None, None),
    ("keel_vowel0", None, None),
    ("keelstd_magic", 1, 400),
    ("keelstd_spambase", 1, 150),
    ("keelstd_phoneme", 1, 200),
    ("keelstd_german", 1, 60),
    ("keel_pima", None, 40),
    ("keelstd_wdbc", 1, 30),
    ("keelmulti_splice", 1, 120),
    ("keelmulti_splice", 2, 50),
    ("keel_vehicle0", None, 50),
    ("keel_vehicle1", None, 60),
    ("keel_vehicle2", None, 40),
    ("keel_vehicle3", None, 80),
    ("keel_kr-vs-k-three_vs_eleven", None, None),
    ("keel_kr-vs-k-zero-one_vs_draw", None, None),
    ("keel_poker-8-9_vs_5", None, None),
    ("keel_poker-8-9_vs_6", None, None),
    ("adbench_41_Waveform", None, None),
    ("adbench_7_Cardiotocography", None, 130),
    ("adbench_12_fault", None, 90),
    ("adbench_17_InternetAds", None, 100),
    ("adbench_39_vertebral", None, None),
    ("adbench_37_Stamps", None, None),
    ("adbench_1_ALOI", None, None),
    ("keelstd_contraceptive", 1, 70),
    ("keelmulti_led7digit", 1, None),
    ("keel_haberman", None, 30),
    ("keel_glass6", None, None),
    ("keelstd_marketing", 5, None),
    # Fewer than five held-out rows.
    ("keel_glass4", None, None),
    ("keel_glass5", None, None),
    ("keel_glass-0-1-4-6_vs_2", None, None),
    ("keel_poker-9_vs_7", None, None),
    ("keel_poker-8_vs_6", None, None),
    ("adbench_42_WBC", None, None),
    ("adbench_43_WDBC", None, None),
    ("adbench_45_wine", None, None),
    ("adbench_15_Hepatitis", None, None),
    ("keel_shuttle-6_vs_2-3", None, None),
    ("keel_pima", None, 15),
    ("keel_vehicle2", None, 12),
    ("keel_vehicle3", None, 20),
    ("keelstd_german", 1, 20),
    ("keelstd_magic", 1, 20),
    ("keelstd_spambase", 1, 15),
    ("keelstd_phoneme", 1, 20),
    ("keel_segment0", None, 12),
    ("adbench_7_Cardiotocography", None, 18),
    ("keelmulti_splice", 1, 15),
    ("keel_kr-vs-k-three_vs_eleven", None, 20),
    ("keel_page-blocks0", None, 20),
)

_MOST_ROWS = 10_000


def title_of_task(name: str, label: int | None, n_positives: int | None) -> str:
    """Return a title that tells a task from others on the same data."""
    title = name if label is None else f"{name}:{label}"
    return title if n_positives is None else f"{title}, {n_positives} positives"


def load_task(
    name: str, label: int | None, n_positives: int | None, data_home: str | None = None
) -> tuple[Any, Any]:
    """Return X, and y with 0 and 1; rows to leave out are drawn."""
    X, y = load(name, data_home=data_home, positive=label, return_X_y=True)
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    rng = np.random.default_rng(0)
    rows = np.arange(len(y))
    if len(y) > _MOST_ROWS:
        rows = np.sort(rng.choice(rows, _MOST_ROWS, replace=False))
    if n_positives is not None:
        kept = rng.choice(rows[y[rows] == 1], n_positives, replace=False)
        rows = np.sort(np.concatenate([rows[y[rows] == 0], kept]))
    return X[rows], y[rows]
