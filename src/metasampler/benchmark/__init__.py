"""The methods that are compared, and what is needed to run them alike."""

from metasampler.benchmark._controls import SelectedMuClassifier
from metasampler.benchmark._method import FAMILIES, LETTERS, Method
from metasampler.benchmark._methods import METHODS, find_method
from metasampler.benchmark._resampling import BASE_CLASSIFIERS, ResampledClassifier
from metasampler.benchmark._weighting import WeightedClassifier

__all__ = [
    "BASE_CLASSIFIERS",
    "FAMILIES",
    "LETTERS",
    "METHODS",
    "Method",
    "ResampledClassifier",
    "SelectedMuClassifier",
    "WeightedClassifier",
    "find_method",
]
