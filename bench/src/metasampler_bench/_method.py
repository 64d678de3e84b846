"""Describe one method of the registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = [
    "FAMILIES",
    "LETTERS",
    "Method",
    "all_rows",
    "all_rows_each",
    "rows_of_subsets",
    "rows_recorded",
]

#: Members of an ensemble if nothing is said, as in the paper.
_N_MEMBERS = 10

#: The letters that the paper's comparison of families is written in.
LETTERS = {
    "RW": "reweighting",
    "US": "under-sampling",
    "OS": "over-sampling",
    "CS": "cleaning-sampling",
    "IE": "iterative ensemble",
    "PE": "parallel ensemble",
    "ML": "meta-learning",
}

#: Families in the order of the paper's comparison, then the policies that MESA has to beat
#: (``IE+US``) and what is not made for imbalanced data, or what a user would otherwise pick.
FAMILIES = (
    "RW",
    "US",
    "OS",
    "CS",
    "OS+CS",
    "IE+RW",
    "PE+US",
    "PE+OS",
    "IE+RW+US",
    "IE+RW+OS",
    "RW+ML",
    "IE+ML",
    "IE+US",
    "-",
)


@dataclass(frozen=True)
class Method:
    """One method: what it is called, how it is built and what it was trained on.

    Parameters
    ----------
    name : str
        Short and stable: what the command line takes and files are keyed by.
    title : str
        What tables and figures show.
    family : str
        One of ``FAMILIES``, in the paper's letters; "-" for none of them.
    make : callable
        ``make(estimator, n_estimators, random_state, n_jobs)`` gives an unfitted classifier; it
        imports what it makes, so that listing the methods costs nothing. Only methods that are not
        `sized` have to take None for the number of members.
    count_rows : callable
        ``count_rows(fitted, n_rows, n_members)``; see `n_training_rows`.
    reference : str, default=""
        Where the method was published.
    uses_base_estimator : bool, default=True
        Whether the base estimator can be chosen.
    sized : bool, default=True
        Whether the number of members is for the comparison to choose. Otherwise it is part of the
        method, or there are none.
    prefix : bool, default=False
        Whether the first members of a fit are a smaller fit, so that several sizes can be read
        off one fit with `staged_predict_proba`. The members are the same; a calibration is that
        of the whole ensemble, so compare the order of rows, or set ``calibration=None``.
    uses_validation : bool, default=False
        Whether the method chooses by validation rows, so that its fit should get them.
    meta_trains : bool, default=False
        Whether the fit meta-trains a sampler first; one that was meta-trained before can be set in
        its place, as `meta_sampler`.
    trainer : str, default="text"
        How this sampler is meta-trained: by the paper's "text", or by the recipe of the authors'
        "code"; see :class:`~metasampler_bench._authors_trainer.AuthorsTrainer`.
    requires : str, default=None
        The extra of this package that has to be installed.
    reads_tables : bool, default=False
        Whether ``metasampler compare`` may pass data frames with columns of any kind.
    """

    name: str
    title: str
    family: str
    make: Callable[[Any, Any, Any, int | None], Any]
    count_rows: Callable[[Any, int, int | None], int]
    reference: str = ""
    uses_base_estimator: bool = True
    sized: bool = True
    prefix: bool = False
    uses_validation: bool = False
    meta_trains: bool = False
    trainer: str = "text"
    requires: str | None = None
    reads_tables: bool = False

    def build(
        self,
        estimator: Any = None,
        n_estimators: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> Any:
        """Build an unfitted classifier.

        Parameters
        ----------
        estimator : classifier, default=None
            The base estimator; None means the method's own choice, mostly a decision tree.
        n_estimators : int, default=None
            Members of an ensemble. None means 10, or the method's own number if it is not `sized`.
        random_state : int, RandomState instance or None, default=None
            Decides all that is random in the fit.
        n_jobs : int, default=None
            Threads or processes the method may use, where it can.

        Returns
        -------
        classifier : scikit-learn classifier

        Examples
        --------
        >>> from metasampler_bench import METHODS
        >>> METHODS["spe"].build(n_estimators=5, random_state=0)
        SelfPacedEnsembleClassifier(n_estimators=5, random_state=0)
        """
        if estimator is not None and not self.uses_base_estimator:
            raise ValueError(
                f"{self.name!r} ({self.title}) has no base estimator to choose; leave "
                "estimator=None."
            )
        if n_estimators is None and self.sized:
            n_estimators = _N_MEMBERS
        try:
            return self.make(estimator, n_estimators, random_state, n_jobs)
        except ImportError as error:
            if self.requires is None:
                raise
            raise ImportError(
                f"{self.name!r} ({self.title}) needs a package that is not installed: "
                f'pip install "metasampler-bench[{self.requires}]"'
            ) from error

    def n_training_rows(self, fitted: Any, n_rows: int, n_members: int | None = None) -> int:
        """Count the rows a fit used for training, summed over the members.

        Parameters
        ----------
        fitted : classifier
            What `build` gave, fitted.
        n_rows : int
            The rows that `fit` got.
        n_members : int, default=None
            Count the first members only, where the method has a `prefix`.

        Returns
        -------
        n_training_rows : int
            Rows of the final members, synthetic ones included. What was only scored, held out
            for validation or used to choose a policy does not count.
        """
        return int(self.count_rows(fitted, n_rows, n_members if self.prefix else None))


def rows_recorded(fitted: Any, n_rows: int, n_members: int | None = None) -> int:
    """Return the rows that the fitted classifier counted itself: in all, or for each member."""
    counted = fitted.n_training_rows_
    return counted if isinstance(counted, int) else sum(counted[:n_members])


def rows_of_subsets(fitted: Any, n_rows: int, n_members: int | None = None) -> int:
    """Count the rows that the members drew."""
    return sum(len(rows) for rows in fitted.estimators_samples_[:n_members])


def all_rows(fitted: Any, n_rows: int, n_members: int | None = None) -> int:
    """Count every row once."""
    return n_rows


def all_rows_each(fitted: Any, n_rows: int, n_members: int | None = None) -> int:
    """Count every row for every member."""
    return n_rows * len(fitted.estimators_[:n_members])
