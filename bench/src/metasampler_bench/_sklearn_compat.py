"""scikit-learn's tools for the authors of estimators, as the library has them."""

from metasampler.ensemble.base import Interval, StrOptions, fit_context

__all__ = ["Interval", "StrOptions", "fit_context"]
