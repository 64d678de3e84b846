"""What fitted encoders and cleaners are made of, for code that stores them."""

from metasampler.tables._dates import CLOCK, PARTS
from metasampler.tables._dates import DATE_FORMATS as _OF_DATES
from metasampler.tables._encodings import (
    CategoryColumn,
    Column,
    DateColumn,
    DateDifference,
    DurationColumn,
    EmptyColumn,
    IgnoredColumn,
    NumberColumn,
    TextColumn,
)
from metasampler.tables._numbers import NUMBER_FORMATS
from metasampler.tables._text import _N_FOLDS as N_TEXT_FOLDS
from metasampler.tables._text import TextModel

#: How dates and times of day may be written.
DATE_FORMATS = (*_OF_DATES, CLOCK)

__all__ = [
    "DATE_FORMATS",
    "NUMBER_FORMATS",
    "N_TEXT_FOLDS",
    "PARTS",
    "CategoryColumn",
    "Column",
    "DateColumn",
    "DateDifference",
    "DurationColumn",
    "EmptyColumn",
    "IgnoredColumn",
    "NumberColumn",
    "TextColumn",
    "TextModel",
]
