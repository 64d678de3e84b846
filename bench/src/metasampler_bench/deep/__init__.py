"""Deep networks for tables that learn how much each row counts: the paper's other family.

PyTorch is imported when a network is fitted, not before; it comes with the extra ``deep``.
"""

from metasampler_bench.deep._classifier import WEIGHTINGS, NetworkClassifier
from metasampler_bench.deep._deep_methods import deep_methods

__all__ = ["WEIGHTINGS", "NetworkClassifier", "deep_methods"]
