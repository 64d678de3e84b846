"""Tables: columns of any kind become numbers, or are left out with a reason.

This package stands below `growth` and imports nothing of the others.
"""

from metasampler.tables._cleaner import TableCleaner
from metasampler.tables._columns import is_frame
from metasampler.tables._encoder import TableEncoder, unseen_levels
from metasampler.tables._form import TableForm, TreeTable, lowest_values
from metasampler.tables._sense import ColumnFacts, ColumnReport, inspect_columns
from metasampler.tables._unread import unread_cells

__all__ = [
    "ColumnFacts",
    "ColumnReport",
    "TableCleaner",
    "TableEncoder",
    "TableForm",
    "TreeTable",
    "inspect_columns",
    "is_frame",
    "lowest_values",
    "unread_cells",
    "unseen_levels",
]
