"""Data sets for demonstrations and benchmarks."""

from metasampler.datasets._bundled import make_imbalanced_digits
from metasampler.datasets._local import load_mesa_mammography, resolve_data_home

__all__ = ["load_mesa_mammography", "make_imbalanced_digits", "resolve_data_home"]
