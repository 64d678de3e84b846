"""Data sets for demonstrations and benchmarks."""

from metasampler.datasets._bundled import make_imbalanced_digits
from metasampler.datasets._catalogue import DatasetInfo, list_datasets
from metasampler.datasets._label_noise import flip_labels
from metasampler.datasets._load import load
from metasampler.datasets._local import known_data_home, load_mesa_mammography, resolve_data_home
from metasampler.datasets._real import REAL_NAMES
from metasampler.datasets._synthetic import make_arch
from metasampler.datasets._zenodo import ZENODO_NAMES

__all__ = [
    "REAL_NAMES",
    "ZENODO_NAMES",
    "DatasetInfo",
    "flip_labels",
    "known_data_home",
    "list_datasets",
    "load",
    "load_mesa_mammography",
    "make_arch",
    "make_imbalanced_digits",
    "resolve_data_home",
]
