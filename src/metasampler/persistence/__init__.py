"""Models on disk: files that run no code when they are read.

A file is a zip file of three entries: facts about the model, the model as JSON, and the bytes of
its arrays (`_zip_entries`). JSON and arrays become plain values (`_values`). Objects are made of
these by a closed list of loaders (`_loaders`), each of which checks all that it takes.
"""

from metasampler.persistence._load import load_facts, load_model
from metasampler.persistence._save import save_model

__all__ = ["load_facts", "load_model", "save_model"]
