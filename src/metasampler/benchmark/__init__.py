"""Specs of tables and figures, the methods they compare, and what runs and reports them."""

from metasampler.benchmark._controls import SelectedMuClassifier
from metasampler.benchmark._method import FAMILIES, LETTERS, Method
from metasampler.benchmark._methods import METHODS, find_method
from metasampler.benchmark._protocol import split_rows
from metasampler.benchmark._resampling import BASE_CLASSIFIERS, ResampledClassifier
from metasampler.benchmark._runner import Runner
from metasampler.benchmark._spec import Spec, list_specs, load_spec
from metasampler.benchmark._store import ResultStore
from metasampler.benchmark._weighting import WeightedClassifier

__all__ = [
    "BASE_CLASSIFIERS",
    "FAMILIES",
    "LETTERS",
    "METHODS",
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
