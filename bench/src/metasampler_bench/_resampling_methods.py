"""List imbalanced-learn's samplers, each before a classifier."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from metasampler_bench._method import Method, rows_recorded
from metasampler_bench._resampling import ResampledClassifier

__all__ = ["resampling_methods"]


def resampling_methods() -> Iterator[Method]:
    """List the rows of the paper's resampling table: imbalanced-learn with its defaults."""

    def maker(path: str) -> Callable[..., Any]:
        def make(estimator: Any, n_estimators: int, random_state: Any, n_jobs: int | None) -> Any:
            sampler = None
            if path:
                module, name = path.split(".")
                sampler = getattr(import_module(f"imblearn.{module}"), name)()
                if "n_jobs" in sampler.get_params():
                    sampler.set_params(n_jobs=n_jobs)
            return ResampledClassifier(sampler, estimator, random_state=random_state)

        return make

    rows = [
        ("none", "no resampling", "-", "", ""),
        ("random-us", "RandomUS", "US", "under_sampling.RandomUnderSampler", ""),
        (
            "nearmiss",
            "NearMiss",
            "US",
            "under_sampling.NearMiss",
            "I. Mani, I. Zhang, kNN approach to unbalanced data distributions, Workshop on "
            "Learning from Imbalanced Datasets 2003",
        ),
        (
            "iht",
            "InstanceHardnessThreshold",
            "US",
            "under_sampling.InstanceHardnessThreshold",
            "M. R. Smith, T. Martinez, C. Giraud-Carrier, An instance level analysis of data "
            "complexity, Machine Learning 95, 2014",
        ),
        (
            "clean",
            "Clean",
            "CS",
            "under_sampling.NeighbourhoodCleaningRule",
            "J. Laurikkala, Improving identification of difficult small classes by balancing class "
            "distribution, AIME 2001",
        ),
        (
            "enn",
            "ENN",
            "CS",
            "under_sampling.EditedNearestNeighbours",
            "D. L. Wilson, Asymptotic properties of nearest neighbor rules using edited data, IEEE "
            "Transactions on Systems, Man, and Cybernetics 2, 1972",
        ),
        (
            "tomek",
            "TomekLinks",
            "CS",
            "under_sampling.TomekLinks",
            "I. Tomek, Two modifications of CNN, IEEE Transactions on Systems, Man, and "
            "Cybernetics 6, 1976",
        ),
        (
            "allknn",
            "AllKNN",
            "CS",
            "under_sampling.AllKNN",
            "I. Tomek, An experiment with the edited nearest-neighbor rule, IEEE Transactions on "
            "Systems, Man, and Cybernetics 6, 1976",
        ),
        (
            "oss",
            "OSS",
            "CS",
            "under_sampling.OneSidedSelection",
            "M. Kubat, S. Matwin, Addressing the curse of imbalanced training sets: one-sided "
            "selection, ICML 1997",
        ),
        ("random-os", "RandomOS", "OS", "over_sampling.RandomOverSampler", ""),
        (
            "smote",
            "SMOTE",
            "OS",
            "over_sampling.SMOTE",
            "N. V. Chawla et al., SMOTE: synthetic minority over-sampling technique, Journal of "
            "Artificial Intelligence Research 16, 2002",
        ),
        (
            "adasyn",
            "ADASYN",
            "OS",
            "over_sampling.ADASYN",
            "H. He et al., ADASYN: Adaptive synthetic sampling approach for imbalanced learning, "
            "IJCNN 2008",
        ),
        (
            "borderline-smote",
            "BorderlineSMOTE",
            "OS",
            "over_sampling.BorderlineSMOTE",
            "H. Han, W.-Y. Wang, B.-H. Mao, Borderline-SMOTE: a new over-sampling method in "
            "imbalanced data sets learning, ICIC 2005",
        ),
        (
            "smoteenn",
            "SMOTEENN",
            "OS+CS",
            "combine.SMOTEENN",
            "G. E. A. P. A. Batista, R. C. Prati, M. C. Monard, A study of the behavior of several "
            "methods for balancing machine learning training data, SIGKDD Explorations 6, 2004",
        ),
        (
            "smotetomek",
            "SMOTETomek",
            "OS+CS",
            "combine.SMOTETomek",
            "G. E. A. P. A. Batista, A. L. C. Bazzan, M. C. Monard, Balancing training data for "
            "automated annotation of keywords: a case study, WOB 2003",
        ),
    ]
    for name, title, family, path, reference in rows:
        yield Method(name, title, family, maker(path), rows_recorded, reference, sized=False)
