"""What fitted encoders and cleaners are made of, for code that stores them."""

from metasampler.tables._dates import _FORMATS, PARTS
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
from metasampler.tables._numbers import _MIXED, _STYLES
from metasampler.tables._text import _N_FOLDS as N_TEXT_FOLDS
from metasampler.tables._text import TextModel

#: How dates and numbers may be written.
DATE_FORMATS, NUMBER_FORMATS = tuple(_FORMATS), (*_STYLES, _MIXED)

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
