"""Explain: what each column adds to the log-odds of each row."""

from metasampler.explain._explain_rows import check_explainable, explain_rows, shap_explanation
from metasampler.explain._reasons import Reasons

__all__ = ["Reasons", "check_explainable", "explain_rows", "shap_explanation"]
