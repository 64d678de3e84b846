"""Fits on a Dask cluster: the same loop, with the partitions of the rows on its workers.

Needs the extra ``dask``. The members are those of a fit on the same rows in memory, bit for bit,
however the rows are partitioned and whichever workers are lost on the way.
"""

from metasampler.distributed._classifier import DaskMesaClassifier

__all__ = ["DaskMesaClassifier"]
