"""The sub-commands that this package adds to `metasampler`, one module each."""

from metasampler_bench.cli._bench import bench
from metasampler_bench.cli._meta_train import meta_train
from metasampler_bench.cli._methods_command import methods
from metasampler_bench.cli._study_command import study

__all__ = ["bench", "meta_train", "methods", "study"]
