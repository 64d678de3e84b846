"""Data sets: loaders and generators."""

from metasampler.datasets._bundled import make_imbalanced_digits

__all__ = ["make_imbalanced_digits"]
