"""Tables: columns of any kind become numbers that members take.

This package stands below `growth` and imports nothing of the others.
"""

from metasampler.tables._columns import is_frame
from metasampler.tables._encoder import TableEncoder

__all__ = ["TableEncoder", "is_frame"]
