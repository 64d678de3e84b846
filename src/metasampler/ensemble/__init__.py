"""Ensembles on the growth loop."""

from metasampler.ensemble._mesa import MesaClassifier

__all__ = ["MesaClassifier"]
