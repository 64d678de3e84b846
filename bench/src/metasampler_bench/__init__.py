"""Benchmarks around metasampler: specs, methods, what runs and reports them."""

from metasampler_bench._authors_trainer import AuthorsMesaClassifier
from metasampler_bench._controls import SelectedMuClassifier
from metasampler_bench._method import FAMILIES, LETTERS, Method
from metasampler_bench._methods import METHODS, find_method
from metasampler_bench._protocol import split_rows
from metasampler_bench._resampling import BASE_CLASSIFIERS, ResampledClassifier
from metasampler_bench._runner import Runner
from metasampler_bench._spec import Spec, list_specs, load_spec
from metasampler_bench._store import ResultStore
from metasampler_bench._weighting import WeightedClassifier

__all__ = [
    "BASE_CLASSIFIERS",
    "FAMILIES",
    "LETTERS",
    "METHODS",
    "AuthorsMesaClassifier",
    "Method",
    "ResampledClassifier",
    "ResultStore",
    "Runner",
    "SelectedMuClassifier",
    "Spec",
    "WeightedClassifier",
    "find_method",
    "list_specs",
    "load_spec",
    "split_rows",
]
