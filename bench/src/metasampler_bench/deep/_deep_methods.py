"""List the networks as methods of the registry."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from metasampler_bench._method import Method, all_rows
from metasampler_bench.deep._classifier import WEIGHTINGS, NetworkClassifier

__all__ = ["deep_methods"]

_FAMILIES = {"none": "-", "l2rw": "RW+ML", "mw-net": "RW+ML"}
_REFERENCES = {
    "none": "D. E. Rumelhart, G. E. Hinton, R. J. Williams, Learning representations by "
    "back-propagating errors, Nature 323, 1986",
    "balanced": "G. King, L. Zeng, Logistic regression in rare events data, Political Analysis 9, "
    "2001",
    "focal": "T.-Y. Lin et al., Focal loss for dense object detection, ICCV 2017",
    "ohem": "A. Shrivastava, A. Gupta, R. Girshick, Training region-based object detectors with "
    "online hard example mining, CVPR 2016",
    "ghm": "B. Li, Y. Liu, X. Wang, Gradient harmonized single-stage detector, AAAI 2019",
    "l2rw": "M. Ren et al., Learning to reweight examples for robust deep learning, ICML 2018",
    "mw-net": "J. Shu et al., Meta-Weight-Net: Learning an explicit mapping for sample weighting, "
    "NeurIPS 2019",
}


def deep_methods() -> Iterator[Method]:
    """List a network with each way to weigh rows."""
    for weighting, title in WEIGHTINGS.items():

        def make(
            estimator: Any, k: Any, seed: Any, n_jobs: int | None, weighting: str = weighting
        ) -> Any:
            if find_spec("torch") is None:
                raise ImportError("No module named 'torch'")
            return NetworkClassifier(weighting, random_state=seed)

        yield Method(
            "network" if weighting == "none" else f"network-{weighting}",
            "network" if weighting == "none" else f"network, {title}",
            _FAMILIES.get(weighting, "RW"),
            make,
            all_rows,
            _REFERENCES[weighting],
            uses_base_estimator=False,
            sized=False,
            uses_validation=True,
            requires="deep",
        )
