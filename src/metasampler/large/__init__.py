"""Rows that do not fit in memory: the verbs of the loop on partitions, in files and on Dask.

A fit in memory never imports this package. The members are those of a fit on the same rows in
memory, bit for bit, however the rows are cut.
"""

from metasampler.large._journal import Journal
from metasampler.large._parquet import ParquetRows
from metasampler.large._partitioned import PartitionedRows

__all__ = [
    "Cluster",
    "DaskRows",
    "Journal",
    "ParquetRows",
    "PartitionedRows",
    "answers_judged_together",
    "is_dask",
]

from metasampler.large._cluster import Cluster
from metasampler.large._dask_rows import DaskRows, is_dask
from metasampler.large._judged_blocks import answers_judged_together
