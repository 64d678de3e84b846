"""Drift: whether new rows are like those of the fit, by what a model keeps of them.

A fitted ensemble describes its columns and scores by counts in a few bins. It keeps no rows.
"""

from metasampler.drift._baseline import MOST_ROWS, Baseline, ColumnBins, some_rows
from metasampler.drift._drift_report import ColumnDrift, DriftReport
from metasampler.drift._monitor import DriftMonitor

__all__ = [
    "MOST_ROWS",
    "Baseline",
    "ColumnBins",
    "ColumnDrift",
    "DriftMonitor",
    "DriftReport",
    "some_rows",
]
