"""Run the command line as ``python -m metasampler``."""

from metasampler.cli import main

main()
