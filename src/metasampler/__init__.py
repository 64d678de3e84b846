"""Imbalanced classification with ensembles grown by a learned meta-sampler."""

from metasampler.ensemble import MesaClassifier
from metasampler.meta import MetaSampler
from metasampler.persistence import load_facts, load_model, save_model

__version__ = "0.1.0.dev0"

__all__ = ["MesaClassifier", "MetaSampler", "load_facts", "load_model", "save_model"]
