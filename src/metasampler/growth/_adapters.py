"""Adapters: how members are fitted and scored, those of each type by an adapter of its own."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from functools import cached_property, partial

import numpy as np
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from metasampler._running import side_by_side
from metasampler._sklearn_compat import take_rows
from metasampler.growth._base_estimators import (
    estimators_of,
    has_leaves,
    is_catboost,
    is_plain_booster,
    is_plain_tree,
    knows_categories,
)

# Rows scored at once: a chunk and the leaves of a tree stay in the processor's cache, and the
# memory that scoring takes does not grow with the number of rows.
_CHUNK = 1 << 15


def weight_argument(estimator) -> str | None:
    """Return what the fit of a base estimator calls the weights of the rows, if it takes any."""
    if not isinstance(estimator, Pipeline):
        return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None
    # The last step is the classifier.
    name, last = estimator.steps[-1]
    of_last = weight_argument(last)
    if not get_config()["enable_metadata_routing"]:
        # A pipeline passes on what is named after one of its steps.
        return None if of_last is None else f"{name}__{of_last}"
    # Then it asks its steps which of them request weights.
    refuses = not isinstance(last, Pipeline) and _weight_request(last) is False
    return None if refuses else of_last


def _weight_request(step) -> bool | str | None:
    """Return whether the fit of a step of a pipeline requests weights; None if it is not said."""
    routing = get_routing_for_object(step)
    return getattr(getattr(routing, "fit", None), "requests", {}).get("sample_weight", False)


def _request_weights(pipeline: Pipeline) -> None:
    """Let the classifier of a pipeline get weights, unless the user has said who does."""
    for position, (_, step) in enumerate(pipeline.steps):
        if isinstance(step, Pipeline):
            _request_weights(step)
        elif hasattr(step, "set_fit_request") and _weight_request(step) is None:
            step.set_fit_request(sample_weight=position == len(pipeline.steps) - 1)


@contextmanager
def naming_the_estimator(estimator) -> Iterator[None]:
    """Say in which base estimator the reason lies that LightGBM or AdaBoost refuse to be fitted."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ == "LightGBMError":
            raise ValueError(f"{estimator!r:.300} cannot be fitted. LightGBM: {error}") from error
        if "worse than random" in str(error):
            raise ValueError(
                f"{estimator!r:.300} cannot be fitted: its first member is no better than chance "
                "on the rows it is trained on. Check that equal rows have equal labels, or take "
                "another base estimator."
            ) from error
        raise


class Adapter:
    """Fits and scores members of one type through the interface every classifier has.

    The labels are 0, ..., ``n_classes`` - 1. Up to ``n_jobs`` threads score chunks of rows; for the
    scores ``leaf_smoothing`` rows of each class are added to every leaf.
    """

    #: Whether members can be fitted side by side in threads. For most classifiers this is unknown.
    fits_in_threads = False

    #: Whether a fit may start threads of its own.
    starts_threads = True

    #: Parameters of the base estimator that say when a member stops by rows it is not trained on.
    patience_parameters: tuple[str, ...] = ()

    #: How much there is to learn from the table, if scouts have found out; policies may read it.
    signal: float | None = None

    def __init__(
        self, estimator, n_classes: int, n_jobs=None, leaf_smoothing=0.0, categorical_features=()
    ):
        self.estimator = estimator
        self.n_classes = n_classes
        self.n_jobs = n_jobs
        self.leaf_smoothing = leaf_smoothing
        #: Columns whose numbers are codes, for estimators that know categories.
        self.categorical_features = list(categorical_features)
        #: Parameters that every member gets besides those of the base estimator.
        self.member_parameters: dict = {}
        #: What the fit of every member gets besides rows, labels and weights.
        self.fit_options: dict = {}
        #: Whether members stop by rows that they are not trained on.
        self.stops_early = any(getattr(estimator, name, None) for name in self.patience_parameters)
        # scikit-learn's trees sum up numbers to see that they are finite, which was seen before;
        # the largest numbers have no sum.
        of_trees: dict = {"over": "ignore", "invalid": "ignore"}
        self._quiet = of_trees if is_plain_tree(estimator) else {}

    # Only a fit needs it, and a look into a signature takes as long as a small tree.
    @cached_property
    def weight_argument(self) -> str | None:
        """What the fit of the base estimator calls the weights of the rows, if it takes any."""
        return weight_argument(self.estimator)

    def of(self, number: int) -> "Adapter":
        """Return the adapter of the member with this number: all members are of one type."""
        return self

    def own_copy(self):
        """Return a copy for another thread, which shares nothing that a fit changes."""
        return copy(self)

    def as_taken(self, member, X):
        """Return rows as the member's own methods take them."""
        return X

    def prepare(self, X, codes: np.ndarray) -> None:
        """Do what members on rows of X share, before copies fit them side by side."""

    def before_growth(self, data) -> None:
        """Find out what members need to know of all rows, before the first of them is fitted."""

    def fit(
        self,
        X,
        codes: np.ndarray,
        rows,
        seed: int,
        sample_weight: np.ndarray | None = None,
        unseen: np.ndarray | None = None,
        unseen_weight: np.ndarray | None = None,
    ):
        """Fit a new member on some rows of X, or on all of them if ``rows`` is None.

        ``sample_weight`` holds a weight for each of these rows; a base estimator that takes none
        does without. ``unseen`` are rows that the member is not trained on, with their
        weights, for members that stop early by them.
        """
        member = clone(self.estimator)
        parameters = self.member_parameters | _seed_parameters(member, seed)
        parameters |= _thread_parameters(member)
        if parameters:
            member.set_params(**parameters)
        options = dict(self.fit_options)
        if sample_weight is not None and self.weight_argument is not None:
            options[self.weight_argument] = sample_weight
            if isinstance(member, Pipeline) and self.weight_argument == "sample_weight":
                _request_weights(member)
        if rows is not None:
            X, codes = take_rows(X, rows), codes[rows]
        with np.errstate(**self._quiet), naming_the_estimator(self.estimator):
            return member.fit(self.as_taken(member, X), codes.astype(np.intp), **options)

    def could_have_fitted(self, member, n_columns: int) -> bool:
        """Return whether something from a file is a member on rows of `n_columns`."""
        return (
            type(member) is type(self.estimator)
            and len(getattr(member, "classes_", ())) == self.n_classes
            and getattr(member, "n_features_in_", n_columns) == n_columns
        )

    def probabilities(self, member, X) -> np.ndarray:
        """Return the probabilities of some rows: of class 1 only, if there are two classes."""
        with np.errstate(**self._quiet):
            proba = member.predict_proba(self.as_taken(member, X))
        if proba.shape[1] != self.n_classes:
            raise ValueError(
                f"The member {member!r} gives {proba.shape[1]} probabilities per row; the data has "
                f"{self.n_classes} classes."
            )
        # Written so that a NaN fails it too; float32 adapters round beyond the limits.
        if not (proba.min() >= -1e-6 and proba.max() <= 1 + 1e-6):
            raise ValueError(
                f"The member {member!r} gives probabilities that are not in [0, 1]: from "
                f"{proba.min()} to {proba.max()}."
            )
        return proba[:, 1] if self.n_classes == 2 else proba

    def answers(self, member, X, smoothings: list[float]) -> list[np.ndarray]:
        """Return the probabilities of some rows for each smoothing of leaves; here all alike."""
        return [self.probabilities(member, X)] * len(smoothings)

    def add_scores(self, member, X, total: np.ndarray) -> None:
        """Add what a member contributes to the ensemble's answer, by soft leaves, in place."""
        self.add(member, X, [(slice(None), total, self.leaf_smoothing)])

    def add(self, member, X, sums: list[tuple]) -> None:
        """Add a member's probabilities of rows of X to sums, in place.

        A sum is a tuple: the rows it is of, all or positions in ascending order, the sum itself,
        and the smoothing of the leaves.
        """
        smoothings, starts = [smoothing for *_, smoothing in sums], range(0, X.shape[0], _CHUNK)
        whole = len(starts) == 1 and not hasattr(X, "is_in_file")

        def add_from(start):
            rows = slice(start, start + _CHUNK)
            answers = self.answers(member, X if whole else take_rows(X, rows), smoothings)
            for (at, total, _), proba in zip(sums, answers, strict=True):
                if isinstance(at, slice):
                    total[rows] += proba
                    continue
                inside = slice(*np.searchsorted(at, (start, start + len(proba))))
                total[inside] += proba[at[inside] - start]

        if len(starts) == 1:
            add_from(0)
        else:
            side_by_side([partial(add_from, start) for start in starts], self.n_jobs)


def _seed_parameters(estimator, seed: int) -> dict[str, int]:
    """Return one seed for every parameter called ``random_state``, at any depth."""
    names = [name for name in estimator.get_params() if f"__{name}".endswith("__random_state")]
    # A pipeline's steps must not share a seed; the first gets the seed itself.
    return {name: (seed + position) % (1 << 31) for position, name in enumerate(sorted(names))}


def _thread_parameters(estimator) -> dict[str, int]:
    """Return one thread for members of packages that would take all there are.

    On the rows of a member more threads cost more than they gain. A number that was set stays.
    """
    package = type(estimator).__module__.split(".")[0]
    name = {"catboost": "thread_count", "lightgbm": "n_jobs", "xgboost": "n_jobs"}.get(package)
    return {name: 1} if name and estimator.get_params().get(name) is None else {}


class Adapters:
    """The adapters of an ensemble: one, or one for each base estimator, which take turns.

    ``estimator`` is the base estimator, or the list of them, as it was given.
    """

    def __init__(self, adapters: list[Adapter], estimator):
        self.adapters = adapters
        self.estimator = estimator
        self.n_jobs = adapters[0].n_jobs
        #: That of the members with leaves; those without have none of their own.
        self.leaf_smoothing = max(adapter.leaf_smoothing for adapter in adapters)
        self.fits_in_threads = all(adapter.fits_in_threads for adapter in adapters)
        self.starts_threads = any(adapter.starts_threads for adapter in adapters)
        #: How much there is to learn from the table, if scouts have found out.
        self.signal: float | None = None

    def of(self, number: int) -> Adapter:
        """Return the adapter of the member with this number."""
        return self.adapters[number % len(self.adapters)]

    def own_copy(self) -> "Adapters":
        """Return a copy for another thread, which shares nothing that a fit changes."""
        return Adapters([each.own_copy() for each in self.adapters], self.estimator)

    def prepare(self, X, codes: np.ndarray) -> None:
        """Do what members on rows of X share, before copies fit them side by side."""
        for each in self.adapters:
            each.prepare(X, codes)

    def before_growth(self, data) -> None:
        """Find out what members need to know of all rows, before the first of them is fitted."""
        for each in self.adapters:
            each.before_growth(data)


def make_adapters(
    estimator,
    tables,
    n_classes: int,
    n_jobs=None,
    leaf_smoothing: float = 0.0,
    category_sizes: Mapping[int, int] | None = None,
) -> Adapters:
    """Return the quickest adapters that the tables allow, one for each base estimator.

    ``tables`` are all that members will be fitted on or scored with. ``category_sizes`` has the
    number of codes for each column whose numbers are codes; it counts for the fit alone.
    """
    # Imported here: they build on this module's adapter.
    from metasampler.growth._category_adapters import CatBoostAdapter, CategoryAdapter
    from metasampler.growth._lightgbm_adapter import LightGBMAdapter
    from metasampler.growth._tree_adapter import LeafAdapter, TreeAdapter

    estimators, sizes = estimators_of(estimator), category_sizes or {}
    # Only where all are trees the rows were checked and converted for them.
    fast = all(map(is_plain_tree, estimators))
    fast = fast and all(
        isinstance(X, np.ndarray) and X.dtype == np.float32 and not np.isnan(np.min(X))
        for X in tables
    )
    numbers = all(isinstance(X, np.ndarray) or issparse(X) for X in tables)
    adapters: list[Adapter] = []
    for each in estimators:
        if numbers and not is_plain_tree(each) and is_plain_booster(each):
            adapters.append(LightGBMAdapter(each, n_classes, n_jobs, 0.0, sizes))
            continue
        told: dict = {"category_sizes": sizes, "n_columns": tables[0].shape[1]}
        if is_catboost(each):
            adapters.append(CatBoostAdapter(each, n_classes, n_jobs, **told))
            continue
        if sizes and knows_categories(each):
            adapters.append(CategoryAdapter(each, n_classes, n_jobs, **told))
            continue
        smoothing = leaf_smoothing if leaf_smoothing and has_leaves(each) else 0.0
        make = TreeAdapter if fast else LeafAdapter if smoothing else Adapter
        adapters.append(make(each, n_classes, n_jobs, smoothing))
    return Adapters(adapters, estimator)
