"""List reweighting, the ensembles of the library, and MESA beside its controls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import import_module
from math import exp
from typing import Any

from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from metasampler.ensemble import (
    BalanceCascadeClassifier,
    EasyEnsembleClassifier,
    MesaClassifier,
    SelfPacedEnsembleClassifier,
    UnderBaggingClassifier,
)
from metasampler.meta import MetaSampler
from metasampler.policy import ConstantPolicy, Drawn
from metasampler_bench._authors_trainer import AuthorsMesaClassifier
from metasampler_bench._controls import SelectedMuClassifier
from metasampler_bench._method import (
    Method,
    all_rows,
    all_rows_each,
    rows_of_subsets,
    rows_recorded,
)
from metasampler_bench._named_trainers import make_sampler
from metasampler_bench._weighting import WeightedClassifier
from metasampler_bench.ensemble import (
    AdaC2Classifier,
    AdaCostClassifier,
    RAMOBoostClassifier,
    RUSBoostClassifier,
    SMOTEBaggingClassifier,
    SMOTEBoostClassifier,
)

__all__ = ["LIU_2009", "ensemble_methods", "policy_methods", "reweighting_methods"]

#: So wide that all errors weigh the same: MESA's loop with uniform draws.
_SIGMA_OF_UNIFORM_DRAWS = 1e6

#: The constants that a policy has to beat.
_MUS = tuple(tenths / 10 for tenths in range(11))

LIU_2009 = (
    "X.-Y. Liu, J. Wu, Z.-H. Zhou, Exploratory undersampling for class-imbalance learning, "
    "IEEE Transactions on Systems, Man, and Cybernetics B 39, 2009"
)
_LIU_2020_SPE = (
    "Z. Liu et al., Self-paced ensemble for highly imbalanced massive data classification, "
    "ICDE 2020"
)
_LIU_2020_MESA = (
    "Z. Liu et al., MESA: Boost ensemble imbalanced learning with meta-sampler, NeurIPS 2020"
)
_SEIFFERT_2010 = (
    "C. Seiffert et al., RUSBoost: A hybrid approach to alleviating class imbalance, IEEE "
    "Transactions on Systems, Man, and Cybernetics A 40, 2010"
)


def reweighting_methods() -> Iterator[Method]:
    yield Method(
        "cost-tree",
        "cost-sensitive tree",
        "RW",
        lambda estimator, k, seed, n_jobs: DecisionTreeClassifier(
            class_weight="balanced", random_state=seed
        ),
        all_rows,
        "C. X. Ling et al., Decision trees with minimal costs, ICML 2004",
        uses_base_estimator=False,
        sized=False,
    )
    yield Method(
        "cost-nb",
        "cost-sensitive naive Bayes",
        "RW",
        lambda estimator, k, seed, n_jobs: WeightedClassifier(GaussianNB()),
        all_rows,
        "X. Chai et al., Test-cost sensitive naive Bayes classification, ICDM 2004",
        uses_base_estimator=False,
        sized=False,
    )
    yield Method(
        "adaboost",
        "AdaBoost",
        "IE+RW",
        lambda estimator, k, seed, n_jobs: AdaBoostClassifier(
            estimator, n_estimators=k, random_state=seed
        ),
        all_rows_each,
        "Y. Freund, R. E. Schapire, A decision-theoretic generalization of on-line learning and an "
        "application to boosting, Journal of Computer and System Sciences 55, 1997",
        prefix=True,
    )
    yield Method(
        "adacost",
        "AdaCost",
        "IE+RW",
        # A full tree makes no mistake on the rows it saw and leaves nothing to boost.
        lambda estimator, k, seed, n_jobs: AdaCostClassifier(
            DecisionTreeClassifier(max_depth=3) if estimator is None else estimator,
            k,
            n_jobs=n_jobs,
            random_state=seed,
        ),
        rows_recorded,
        "W. Fan et al., AdaCost: Misclassification cost-sensitive boosting, ICML 1999",
        prefix=True,
    )
    yield Method(
        "adac2",
        "AdaC2",
        "IE+RW",
        lambda estimator, k, seed, n_jobs: AdaC2Classifier(
            DecisionTreeClassifier(max_depth=3) if estimator is None else estimator,
            k,
            n_jobs=n_jobs,
            random_state=seed,
        ),
        rows_recorded,
        "Y. Sun et al., Cost-sensitive boosting for classification of imbalanced data, Pattern "
        "Recognition 40, 2007",
    )


def ensemble_methods() -> Iterator[Method]:
    """List the library's ensembles; "-paper" has the MESA paper's settings where they differ."""

    def maker(cls: Callable[..., Any], **options: Any) -> Callable[..., Any]:
        def make(estimator: Any, n_estimators: int, random_state: Any, n_jobs: int | None) -> Any:
            return cls(estimator, n_estimators, n_jobs=n_jobs, random_state=random_state, **options)

        return make

    def make_easy_ensemble(estimator: Any, k: int, seed: Any, n_jobs: int | None) -> Any:
        # The base estimator is what each member boosts.
        boosted = None if estimator is None else AdaBoostClassifier(clone(estimator))
        return EasyEnsembleClassifier(boosted, k, n_jobs=n_jobs, random_state=seed)

    def make_spe_of_lightgbm(estimator: Any, k: int, seed: Any, n_jobs: int | None) -> Any:
        boosters = import_module("lightgbm").LGBMClassifier(n_jobs=1, verbosity=-1)
        return SelfPacedEnsembleClassifier(boosters, k, n_jobs=n_jobs, random_state=seed)

    yield Method(
        "rusboost",
        "RUSBoost",
        "IE+RW+US",
        maker(RUSBoostClassifier),
        rows_recorded,
        _SEIFFERT_2010,
        prefix=True,
        reads_tables=True,
    )
    yield Method(
        "rusboost-paper",
        "RUSBoost, paper's settings",
        "IE+RW+US",
        maker(
            RUSBoostClassifier,
            replacement=True,
            learning_rate=1.0,
            algorithm="SAMME.R",
            # The authors' code weighs by p where SAMME.R has log p: for pure leaves this floor.
            min_probability=exp(-1),
        ),
        rows_recorded,
        _SEIFFERT_2010,
        prefix=True,
    )
    yield Method(
        "under-bagging",
        "UnderBagging",
        "PE+US",
        maker(UnderBaggingClassifier),
        rows_of_subsets,
        "R. Barandela, R. M. Valdovinos, J. S. Sanchez, New applications of ensembles of "
        "classifiers, Pattern Analysis and Applications 6, 2003",
        prefix=True,
    )
    yield Method(
        "easy-ensemble",
        "EasyEnsemble",
        "PE+US",
        make_easy_ensemble,
        rows_of_subsets,
        LIU_2009,
        prefix=True,
    )
    yield Method(
        "spe",
        "SPE",
        "PE+US",
        maker(SelfPacedEnsembleClassifier),
        rows_of_subsets,
        _LIU_2020_SPE,
    )
    yield Method(
        "spe-paper",
        "SPE, paper's settings",
        "PE+US",
        maker(SelfPacedEnsembleClassifier, hardness="cross-entropy", k_bins=10),
        rows_of_subsets,
        _LIU_2020_SPE,
    )
    yield Method(
        "spe-lightgbm",
        "SPE of LightGBM",
        "PE+US",
        make_spe_of_lightgbm,
        rows_of_subsets,
        _LIU_2020_SPE,
        uses_base_estimator=False,
        requires="boosters",
    )
    yield Method(
        "cascade",
        "BalanceCascade",
        "PE+US",
        maker(BalanceCascadeClassifier),
        rows_of_subsets,
        LIU_2009,
    )
    yield Method(
        "smoteboost",
        "SMOTEBoost",
        "IE+RW+OS",
        maker(SMOTEBoostClassifier, n_samples=100, k_neighbors=5, algorithm="SAMME.R"),
        rows_recorded,
        "N. V. Chawla et al., SMOTEBoost: Improving prediction of the minority class in boosting, "
        "PKDD 2003",
        prefix=True,
    )
    yield Method(
        "smotebagging",
        "SMOTEBagging",
        "PE+OS",
        maker(SMOTEBaggingClassifier, k_neighbors=5),
        rows_recorded,
        "S. Wang, X. Yao, Diversity analysis on imbalanced data sets by using ensemble models, "
        "CIDM 2009",
        prefix=True,
    )
    yield Method(
        "ramoboost",
        "RAMOBoost",
        "IE+RW+OS",
        maker(
            RAMOBoostClassifier,
            n_samples=100,
            k_neighbors_1=5,
            k_neighbors_2=5,
            alpha=0.3,
            algorithm="SAMME.R",
        ),
        rows_recorded,
        "S. Chen, H. He, E. A. Garcia, RAMOBoost: Ranked minority oversampling in boosting, IEEE "
        "Transactions on Neural Networks 21, 2010",
        prefix=True,
    )


def policy_methods() -> Iterator[Method]:
    """List MESA as users get it, MESA as the paper has it, and what its policy has to beat."""
    yield from _presets()
    yield from _paper_rows()
    yield from _default_rows()


def _presets() -> Iterator[Method]:
    """List MESA's presets but the paper's, which is the row "mesa-fit"."""

    def preset(name: str, title: str, preset: str) -> Method:
        def make(
            estimator: Any, n_estimators: int | None, random_state: Any, n_jobs: int | None
        ) -> Any:
            given = {"estimator": estimator, "n_estimators": n_estimators}
            chosen = {key: value for key, value in given.items() if value is not None}
            return MesaClassifier.from_preset(
                preset, n_jobs=n_jobs, random_state=random_state, **chosen
            )

        return Method(
            name,
            title,
            "IE+ML",
            make,
            rows_of_subsets,
            _LIU_2020_MESA,
            sized=False,
            uses_validation=True,
        )

    yield preset("mesa", "MESA, default", "default")
    yield preset("mesa-fast", "MESA, fast", "fast")
    yield preset("mesa-best", "MESA, best", "best")


@cache
def _universal_alone() -> MetaSampler:
    """Return the universal sampler as one that was passed, which meets no rivals."""
    return MetaSampler.load("universal")


def _mesa(
    name: str,
    title: str,
    family: str,
    own_estimator: Callable[[], Any],
    *,
    meta_sampler: Any,
    **options: Any,
) -> Method:
    """Return MESA with members and a policy of its own, and any number of members.

    The policy may be a function that gives it, so that listing the methods reads no file.
    """

    def make(estimator: Any, n_estimators: int, random_state: Any, n_jobs: int | None) -> Any:
        return MesaClassifier(
            own_estimator() if estimator is None else estimator,
            n_estimators,
            meta_sampler=meta_sampler() if meta_sampler is _universal_alone else meta_sampler,
            validation_fraction=0.2,
            n_jobs=n_jobs,
            random_state=random_state,
            **options,
        )

    return Method(
        name,
        title,
        family,
        make,
        rows_of_subsets,
        _LIU_2020_MESA,
        prefix=True,
        uses_validation=True,
        meta_trains=getattr(meta_sampler, "policy", meta_sampler) == "fit",
    )


def _paper_rows() -> Iterator[Method]:
    """List the paper's ensemble with all policies: plain trees and leaves, and no refit."""

    def mesa(name: str, title: str, family: str, **options: Any) -> Method:
        plain = {"leaf_smoothing": 0.0, "refit": False}
        return _mesa(name, title, family, DecisionTreeClassifier, **{**plain, **options})

    yield mesa("mesa-fit", "MESA, meta-trained", "IE+ML", meta_sampler="fit")
    yield mesa(
        "mesa-sampled",
        "MESA, meta-trained, drawn actions",
        "IE+ML",
        meta_sampler=Drawn("fit"),
    )
    yield mesa(
        "mesa-refit", "MESA, meta-trained, refitted", "IE+ML", meta_sampler="fit", refit=True
    )
    yield mesa(
        "mesa-soft",
        "MESA, meta-trained, soft leaves (2)",
        "IE+ML",
        meta_sampler="fit",
        leaf_smoothing=2,
    )
    for name, title, draws in (
        ("mesa-as-coded", "MESA, authors' recipe", False),
        ("mesa-as-coded-sampled", "MESA, authors' recipe, drawn actions", True),
    ):
        yield Method(
            name,
            title,
            "IE+ML",
            partial(_authors_mesa, draws),
            rows_of_subsets,
            _LIU_2020_MESA,
            prefix=True,
            uses_validation=True,
            meta_trains=True,
            trainer="code",
        )
    yield mesa("mesa-universal", "MESA, universal sampler", "IE+ML", meta_sampler="universal")
    yield mesa(
        "mesa-alone", "MESA, universal sampler alone", "IE+ML", meta_sampler=_universal_alone
    )
    for mu in _MUS:
        yield mesa(f"constant-{mu:g}", f"constant mu {mu:g}", "IE+US", meta_sampler=mu)
    # Wider than the paper's 0.2.
    for mu in (0.8, 0.9, 1.0):
        yield mesa(
            f"wide-{mu:g}",
            f"constant mu {mu:g}, sigma 0.3",
            "IE+US",
            meta_sampler=ConstantPolicy(mu, sigma=0.3),
        )
    yield Method(
        "selected-mu",
        "mu selected on validation",
        "IE+US",
        lambda estimator, k, seed, n_jobs: SelectedMuClassifier(
            estimator, k, n_jobs=n_jobs, random_state=seed
        ),
        rows_of_subsets,
        _LIU_2020_MESA,
        uses_validation=True,
    )
    yield mesa("random-mu", "uniformly random mu", "IE+US", meta_sampler="random")
    yield mesa(
        "uniform-draws",
        "uniform draws",
        "IE+US",
        meta_sampler=ConstantPolicy(0.5, sigma=_SIGMA_OF_UNIFORM_DRAWS),
    )
    yield mesa(
        "random-policy",
        "randomly initialised policy",
        "IE+US",
        # As in Algorithm 2: the mean of a policy that has learned nothing is near 0.5 everywhere.
        meta_sampler=Drawn(make_sampler("sac", {"n_random_steps": 0, "n_updates": 0})),
    )


def _authors_mesa(
    draws: bool, estimator: Any, k: int, seed: Any, n_jobs: int | None
) -> AuthorsMesaClassifier:
    return AuthorsMesaClassifier(estimator, k, draws=draws, n_jobs=n_jobs, random_state=seed)


def _default_rows() -> Iterator[Method]:
    """List the first release's default members, any number, with the policies of the paper's.

    Trees that look for the best split and trees that draw it at random take turns.
    """

    def trees() -> list[Any]:
        return [
            DecisionTreeClassifier(criterion="entropy", max_features="sqrt", min_samples_leaf=2),
            ExtraTreeClassifier(criterion="entropy", max_features=0.5),
        ]

    def mesa(name: str, title: str, family: str, meta_sampler: Any, **options: Any) -> Method:
        return _mesa(
            f"default-{name}",
            f"default members, {title}",
            family,
            trees,
            meta_sampler=meta_sampler,
            leaf_smoothing="auto",
            refit=False,
            **options,
        )

    yield mesa("universal", "universal sampler", "IE+ML", "universal")
    yield mesa("alone", "universal sampler alone", "IE+ML", _universal_alone)
    for mu in _MUS:
        yield mesa(f"constant-{mu:g}", f"constant mu {mu:g}", "IE+US", mu)
    yield mesa("random-mu", "uniformly random mu", "IE+US", "random")
