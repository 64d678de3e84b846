"""All that a report says, before it is a page; and how its numbers are written."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from math import floor
from typing import Any

import numpy as np

from metasampler.report._cuts import Cuts
from metasampler.report._markup import Markup, join, name, shorten

#: No line ends beside it.
_EQUALS = "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"

#: How far the whole numbers of "3 of 10" may be from the truth, as a share of it.
_CLOSE = 0.05

#: What parts are written out of, as small as it can be.
_SIZES = (100, 1000, 10_000, 100_000, 1_000_000)

#: What stands where there is no number.
NOTHING = "\N{EN DASH}"


@dataclass
class Findings:
    """What was found on a model and some rows.

    Attributes
    ----------
    title, target : str or None
        What the report and the target column are called.
    model : object
        The classifier, for its settings.
    labels : list
        Its classes.
    label : object
        The class to find.
    n_rows, n_columns : int
    weighted : bool
        Whether rows have weights.
    are_proba : bool
        Whether scores are probabilities.
    cuts : Cuts
    histogram : dict
        Where the scores lie.
    columns : list of dict
        Facts on the first columns.
    bands : list of dict
        What the first rows hold.
    quality, calibration, importance, classes : Quality, Calibration, dict, dict or None
        How good it is; None without labels.
    reasons : dict or None
        Why alarms are raised; None for models that cannot be explained.
    growth : FitSummary or None
        How the ensemble grew.
    drift : DriftReport or None
        How the rows differ from those of the fit.
    comparison : list of dict
        Scores of this model and of others, by name.
    source : dict
        More facts on the data and the model, by name.
    top : list of dict
        Rows to look at first, if they were asked for.
    id_name : str
        What the column is called that names them.
    cautions : list of str
        What cannot be trusted.
    rows_a_day, miss_cost, alarm_cost : float
        What the boxes of the page begin with.
    by_rule : bool
        Whether `predict` decides by the threshold.
    """

    title: str
    target: str | None
    model: Any
    labels: list
    label: Any
    n_rows: int
    n_columns: int
    weighted: bool
    are_proba: bool
    cuts: Cuts
    histogram: dict
    columns: list[dict]
    bands: list[dict]
    settings: dict[str, Any]
    rows_a_day: float
    miss_cost: float
    alarm_cost: float
    by_rule: bool
    quality: Any = None
    calibration: Any = None
    importance: Any = None
    reasons: Any = None
    classes: Any = None
    growth: Any = None
    drift: Any = None
    comparison: list[dict] = field(default_factory=list)
    source: dict[str, Any] = field(default_factory=dict)
    top: list[dict] = field(default_factory=list)
    id_name: str = ""
    cautions: list[str] = field(default_factory=list)

    @property
    def what(self) -> str:
        """Return what the rows of the class to find are called, as plain text."""
        if self.target is None:
            return f"rows of class {shorten(self.label)}"
        return f"rows with {shorten(self.target)}{_EQUALS}{shorten(self.label)}"

    @property
    def what_marked(self) -> Markup:
        """Return the same as markup."""
        if self.target is None:
            return join("rows of class ", name(self.label))
        return join("rows with ", name(self.target), _EQUALS, name(self.label))

    @property
    def base_rate(self) -> float:
        """Return the share of the class to find."""
        return self.cuts.n_positive / self.cuts.n_rows


def percent(part: float | None, digits: int = 1) -> str:
    """Write a share; a dash without one.

    Examples
    --------
    >>> from metasampler.report._findings import percent
    >>> percent(0.3721)
    '37.2%'
    """
    if part is None or not np.isfinite(part):
        return NOTHING
    return f"{_rounded(100 * float(part), digits):.{digits}f}%"


def _rounded(value: float, digits: int) -> Decimal:
    """Return a number as the script of the page rounds it: of a tie the larger."""
    return Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)


def amount(value: float) -> str:
    """Write an amount: whole where it is large, with a digit where it is small.

    Examples
    --------
    >>> from metasampler.report._findings import amount
    >>> amount(12345.6), amount(146.5), amount(12.34), amount(7)
    ('12,346', '147', '12.3', '7')
    """
    whole = abs(value) >= 100 or float(value).is_integer()
    return f"{_rounded(float(value), 0 if whole else 1):,}"


def significant(value: float, digits: int = 4) -> str:
    """Write a score or a threshold with some digits that count.

    Examples
    --------
    >>> from metasampler.report._findings import significant
    >>> significant(0.0432151), significant(0.00000123)
    ('0.04322', '0.00000123')
    """
    shown = f"{value:.{digits}g}"
    if "e" not in shown or abs(value) < 1e-12:
        return shown if abs(value) >= 1e-12 else "0"
    return f"{float(shown):.15f}".rstrip("0").rstrip(".")


def interval(low: float | None, high: float | None, write=percent) -> str:
    """Write an interval; nothing without one."""
    if low is None or high is None or not (np.isfinite(low) and np.isfinite(high)):
        return ""
    return f"{write(low)} to {write(high)}"


def out_of(part: float) -> tuple[str, str]:
    """Return a share as "3 of 10", in whole numbers close to it.

    Examples
    --------
    >>> from metasampler.report._findings import out_of
    >>> out_of(0.372), out_of(0.0052), out_of(0.0042), out_of(1.0)
    (('37', '100'), ('5', '1,000'), ('4', '1,000'), ('100', '100'))
    >>> out_of(0.00003)
    ('3', '100,000')
    """
    for size in _SIZES:
        # The script of the page rounds so.
        of = floor(part * size + 0.5)
        # A part of .52% is not 1 of 100, and one of 99.6% not all.
        if abs(of / size - part) <= _CLOSE * part and (of < size or part == 1):
            break
    return f"{of:,}", f"{size:,}"
