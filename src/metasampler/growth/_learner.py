"""How members are fitted and scored: trees quickly, any other classifier publicly."""

from collections.abc import Callable
from copy import copy, deepcopy

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from metasampler import _sklearn_compat as compat
from metasampler.growth._kinds import kinds_of
from metasampler.growth._leaves import LAPLACE, has_leaves, leaf_probabilities

__all__ = [
    "PublicLearner",
    "RotatingLearner",
    "TreeLearner",
    "make_learner",
    "make_learners",
    "weight_argument",
]

# Rows scored at once: a chunk and the leaves of a tree stay in the processor's cache, and the
# memory that scoring takes does not grow with the number of rows.
_CHUNK = 1 << 15


def _seed_parameters(estimator, seed: int) -> dict[str, int]:
    """One seed for every parameter called ``random_state``, at any depth."""
    names = sorted(
        name
        for name in estimator.get_params(deep=True)
        if name == "random_state" or name.endswith("__random_state")
    )
    # A pipeline's steps must not share a seed; the first gets the seed itself.
    return {name: (seed + position) % (1 << 31) for position, name in enumerate(names)}


def weight_argument(estimator) -> str | None:
    """What the fit of a base learner calls the weights of the rows, if it takes any."""
    if isinstance(estimator, Pipeline):
        # A pipeline passes on what is named after one of its steps; the last one is the classifier.
        name, last = estimator.steps[-1]
        return f"{name}__sample_weight" if has_fit_parameter(last, "sample_weight") else None
    return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None


class PublicLearner:
    """Fits and scores members through the interface every classifier has.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``
    n_classes : int
    n_jobs : int or None
        Threads that score chunks of rows.
    leaf_smoothing : float, default=0.0
        How much leaves are smoothed for the scores, see `leaf_probabilities`.
    fit_options : dict, default=None
        Further arguments for the members' fit.
    """

    #: Whether members can be fitted side by side in threads. Of most classifiers this is unknown.
    fits_in_threads = False

    def __init__(
        self,
        estimator,
        n_classes: int,
        n_jobs=None,
        leaf_smoothing: float = 0.0,
        fit_options: dict | None = None,
    ):
        self.estimator = estimator
        self.n_classes = n_classes
        self.n_jobs = n_jobs
        self.leaf_smoothing = leaf_smoothing
        self.fit_options = fit_options or {}
        # Found once: to look into a signature takes as long as a small tree.
        self.weight_argument = weight_argument(estimator)

    @property
    def takes_weights(self) -> bool:
        """Whether members can be fitted with sample weights."""
        return self.weight_argument is not None

    @property
    def judging_smoothing(self) -> float:
        """How much leaves are smoothed where candidates are compared, smoothed scores or not."""
        return self.leaf_smoothing or (LAPLACE if has_leaves(self.estimator) else 0.0)

    def of(self, number: int) -> "PublicLearner":
        """The learner of the member with this number: all members are of one kind."""
        return self

    def own_copy(self):
        """A copy for another thread: what a learner keeps between fits must not be shared."""
        return copy(self)

    def fit(self, X, codes: np.ndarray, rows, seed: int, sample_weight: np.ndarray | None = None):
        """Fit a new member on some rows of X, or on all of them if ``rows`` is None.

        ``sample_weight`` holds a weight for each of these rows.
        """
        member = clone(self.estimator)
        parameters = _seed_parameters(member, seed)
        if parameters:
            member.set_params(**parameters)
        options = dict(self.fit_options)
        if sample_weight is not None:
            options[self.weight_argument or "sample_weight"] = sample_weight
        if rows is not None:
            X, codes = compat.take_rows(X, rows), codes[rows]
        return member.fit(X, codes.astype(np.intp), **options)

    def probabilities(self, member, X) -> np.ndarray:
        """Probabilities of some rows: of class 1 only, if there are two classes."""
        proba = member.predict_proba(X)
        if proba.shape[1] != self.n_classes:
            raise ValueError(
                f"The member {member!r} gives {proba.shape[1]} probabilities a row; the data has "
                f"{self.n_classes} classes."
            )
        # Written so that a NaN fails it too; float32 learners round beyond the limits.
        if not (proba.min() >= -1e-6 and proba.max() <= 1 + 1e-6):
            raise ValueError(
                f"The member {member!r} gives probabilities that are not in [0, 1]: from "
                f"{proba.min()} to {proba.max()}."
            )
        return proba[:, 1] if self.n_classes == 2 else proba

    def leaves(self, member, X) -> np.ndarray:
        """The leaves that rows end in: one a row, or one a row and tree."""
        return member.apply(X)

    def add_probabilities(
        self, member, X, total: np.ndarray, smooth: np.ndarray | None = None
    ) -> None:
        """Add a member's probabilities of all rows of X to ``total``, in place.

        With ``smooth`` those of smoothed leaves are added to it; the rows go through the trees
        once for both. Members without leaves to smooth add the same to both.
        """

        def add(rows, X):
            if smooth is None or not self.leaf_smoothing:
                proba = self.probabilities(member, X)
                total[rows] += proba
                if smooth is not None:
                    smooth[rows] += proba
                return
            leaves = self.leaves(member, X)
            total[rows] += leaf_probabilities(member, leaves, 0)
            smooth[rows] += leaf_probabilities(member, leaves, self.leaf_smoothing)

        self._by_chunks(add, X)

    def add_scores(self, member, X, total: np.ndarray, smoothing: float | None = None) -> None:
        """Add what a member contributes to the ensemble's answer, in place.

        With ``smoothing`` leaves are smoothed by this instead of `leaf_smoothing`.
        """
        smoothing = self.leaf_smoothing if smoothing is None else smoothing
        if not smoothing:
            self.add_probabilities(member, X, total)
            return

        def add(rows, X):
            leaves = self.leaves(member, X)
            total[rows] += leaf_probabilities(member, leaves, smoothing)

        self._by_chunks(add, X)

    def _by_chunks(self, add, X) -> None:
        """Call ``add(rows, X[rows])`` for slices that make up all rows of X."""

        def add_from(start):
            rows = slice(start, start + _CHUNK)
            add(rows, compat.take_rows(X, rows))

        starts = range(0, X.shape[0], _CHUNK)
        if len(starts) == 1:
            add(slice(None), X)
        elif effective_n_jobs(self.n_jobs) == 1:
            for start in starts:
                add_from(start)
        else:
            Parallel(self.n_jobs, require="sharedmem")(delayed(add_from)(start) for start in starts)


class TreeLearner(PublicLearner):
    """The same members for scikit-learn's trees on checked float32 rows, without more checks."""

    # Growing a tree lets other threads run.
    fits_in_threads = True

    def __init__(self, estimator, n_classes, n_jobs=None, leaf_smoothing=0.0, fit_options=None):
        super().__init__(estimator, n_classes, n_jobs, leaf_smoothing, fit_options)
        self._builder = compat.TreeBuilder(estimator, n_classes)

    def own_copy(self):
        """A copy with a builder of its own."""
        twin = copy(self)
        twin._builder = deepcopy(self._builder)
        return twin

    def fit(self, X, codes, rows, seed, sample_weight=None):
        """Fit a new member on some rows of X, or on all of them if ``rows`` is None."""
        if rows is not None:
            X, codes = X[rows], codes[rows]
        return self._builder.fit(X, codes.astype(np.intp), seed, sample_weight)

    def probabilities(self, member, X):
        """Probabilities of some rows: of class 1 only, if there are two classes."""
        return leaf_probabilities(member, self.leaves(member, X), 0)

    def leaves(self, member, X):
        """The leaf that each row ends in."""
        return compat.tree_leaves(member, X)


class RotatingLearner:
    """Learners of several kinds that take turns, member by member.

    Parameters
    ----------
    learners : list of PublicLearner
        One a kind.
    """

    def __init__(self, learners: list[PublicLearner]):
        self.learners = learners
        self.n_jobs = learners[0].n_jobs
        #: That of the kinds with leaves; those without have none of their own.
        self.leaf_smoothing = max(learner.leaf_smoothing for learner in learners)
        self.judging_smoothing = max(learner.judging_smoothing for learner in learners)
        self.fits_in_threads = all(learner.fits_in_threads for learner in learners)

    @property
    def estimator(self) -> list:
        """The base learners, in the order of their turns."""
        return [learner.estimator for learner in self.learners]

    def of(self, number: int) -> PublicLearner:
        """The learner of the member with this number."""
        return self.learners[number % len(self.learners)]

    def own_copy(self):
        """A copy for another thread."""
        return RotatingLearner([learner.own_copy() for learner in self.learners])


def make_learners(
    estimator,
    tables,
    n_classes: int,
    n_jobs=None,
    leaf_smoothing: float = 0.0,
    fit_options: Callable[[object], dict] | None = None,
) -> PublicLearner | RotatingLearner:
    """Choose the quickest learner, or the quickest ones in rotation, that these tables allow.

    Parameters
    ----------
    estimator : classifier or list of classifier
    tables : list of table
        All that members will be fitted on or scored with.
    n_classes : int
    n_jobs : int or None
    leaf_smoothing : float, default=0.0
        For the kinds that have leaves.
    fit_options : callable, default=None
        Takes a base learner and gives further arguments for its fit.
    """
    kinds = kinds_of(estimator)
    # Only where all are trees the rows were checked and converted for them.
    fast = (
        compat.FAST_TREES
        and all(compat.is_plain_tree(kind) for kind in kinds)
        and all(
            isinstance(X, np.ndarray) and X.dtype == np.float32 and not np.isnan(np.min(X))
            for X in tables
        )
    )
    make = TreeLearner if fast else PublicLearner
    learners = [
        make(
            kind,
            n_classes,
            n_jobs,
            leaf_smoothing if has_leaves(kind) else 0.0,
            None if fit_options is None else fit_options(kind),
        )
        for kind in kinds
    ]
    return RotatingLearner(learners) if isinstance(estimator, list) else learners[0]


def make_learner(
    estimator, tables, n_classes: int, n_jobs=None, leaf_smoothing: float = 0.0
) -> PublicLearner:
    """Choose the quickest learner for the one kind of members there is; see `make_learners`."""
    return make_learners(estimator, tables, n_classes, n_jobs, leaf_smoothing).of(0)
