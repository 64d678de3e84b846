"""Tables: columns of any kind become numbers that members take.

This package stands below `growth` and imports nothing of the others.
"""

from metasampler.tables._columns import is_frame
from metasampler.tables._encoder import TableEncoder
from metasampler.tables._form import TableForm, as_float32, lowest_values, values_for_missing

__all__ = [
    "TableEncoder",
    "TableForm",
    "as_float32",
    "is_frame",
    "lowest_values",
    "values_for_missing",
]
