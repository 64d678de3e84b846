"""Models on disk: files that run no code when they are read.

A file is three parts: what is said of the model, the model as JSON, and the bytes of its arrays
(`_parts`). JSON and arrays become plain values (`_values`). Objects are made of these by a closed
list of loaders (`_kinds`), each of which checks all that it takes.
"""

from metasampler.persistence._load import load_facts, load_model
from metasampler.persistence._save import save_model

__all__ = ["load_facts", "load_model", "save_model"]
