"""The command line, one module a sub-command; other packages add theirs by an entry point."""

from metasampler.cli._app import app, main

__all__ = ["app", "main"]
