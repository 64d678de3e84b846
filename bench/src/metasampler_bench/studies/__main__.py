"""Run a study as ``python -m metasampler_bench.studies NAME``."""

import typer

from metasampler_bench.cli import study

typer.run(study)
