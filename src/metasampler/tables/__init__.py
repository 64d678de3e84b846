"""Tables: columns of any kind become numbers, or are left out with a reason.

This package stands below `growth` and imports nothing of the others.
"""

from metasampler.tables._cleaner import TableCleaner
from metasampler.tables._columns import column_kind, is_frame, is_missing, texts_of
from metasampler.tables._dependence import find_dependence
from metasampler.tables._encoder import TableEncoder, unseen_levels
from metasampler.tables._form import TableForm, TreeTable, lowest_values
from metasampler.tables._frames import as_table
from metasampler.tables._numbers import Separators
from metasampler.tables._sense import ColumnFacts, ColumnReport, inspect_columns
from metasampler.tables._target_statistics import TargetStatistics, count_classes
from metasampler.tables._times import NO_DAY, Times, time_numbers
from metasampler.tables._unread import judge_together, noted_cells, quiet_cells, unread_cells

__all__ = [
    "NO_DAY",
    "ColumnFacts",
    "ColumnReport",
    "Separators",
    "TableCleaner",
    "TableEncoder",
    "TableForm",
    "TargetStatistics",
    "Times",
    "TreeTable",
    "as_table",
    "column_kind",
    "count_classes",
    "find_dependence",
    "inspect_columns",
    "is_frame",
    "is_missing",
    "judge_together",
    "lowest_values",
    "noted_cells",
    "quiet_cells",
    "texts_of",
    "time_numbers",
    "unread_cells",
    "unseen_levels",
]
