"""Data sets of benchmarks and studies: all names that ``metasampler bench`` knows."""

from metasampler_bench.datasets._catalogue import DatasetInfo, list_datasets
from metasampler_bench.datasets._classes import CLASS_NAMES
from metasampler_bench.datasets._label_noise import flip_labels
from metasampler_bench.datasets._load import load
from metasampler_bench.datasets._local import (
    known_data_home,
    load_mesa_mammography,
    load_mesa_noise,
    resolve_data_home,
)
from metasampler_bench.datasets._real import REAL_FAMILIES, REAL_NAMES
from metasampler_bench.datasets._synthetic import make_arch
from metasampler_bench.datasets._zenodo import ZENODO_NAMES

__all__ = [
    "CLASS_NAMES",
    "REAL_FAMILIES",
    "REAL_NAMES",
    "ZENODO_NAMES",
    "DatasetInfo",
    "flip_labels",
    "known_data_home",
    "list_datasets",
    "load",
    "load_mesa_mammography",
    "load_mesa_noise",
    "make_arch",
    "resolve_data_home",
]
