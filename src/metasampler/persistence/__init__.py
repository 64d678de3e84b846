"""Models on disk: files that run no code when they are read.

This package stands beside the others and imports none of them: types are known by their names.
"""

from metasampler.persistence._load import load_facts, load_model
from metasampler.persistence._save import save_model

__all__ = ["load_facts", "load_model", "save_model"]
