"""Texts that the docstrings of these ensembles share, beside those of the library."""

from functools import partial

from metasampler.ensemble import base

__all__ = ["shared_docs"]

_TEXTS = {
    "training_rows": """
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The training rows.

        y : array-like of shape (n_samples,)
            Labels of any type, of two or more classes.
        """,
    "weighted_estimator": """
        estimator : classifier with `predict_proba`, default=None
            The base estimator; None means {default}. Its `fit` must take `sample_weight`. Members
            are trained on class numbers 0, 1, ..., the positions in `classes_`.
        """,
    "k_neighbors": """
        k_neighbors : int, default=5
            Nearest neighbours of the same class that a synthetic row can lie towards; fewer, with
            a warning, where the class has too few rows.
        """,
    "boosting": """
        algorithm : {"SAMME", "SAMME.R"}, default="SAMME.R"
            How members vote: by their class, with weights by their errors, or by their
            probabilities. SAMME stops when a member is no better than guessing.

        learning_rate : float, default=1.0
            How much a member changes the weights of rows and, for SAMME, its own weight.
        """,
    "synthetic": """
        n_samples : int or "balance", default=100
            Synthetic rows of each class in each round; ``"balance"`` makes every class as large
            as the largest. No class is made larger than that.
        """,
    "synthetic_votes": """
        min_probability : float, default=0.1
            SAMME.R takes smaller probabilities for this one. Its votes are logarithms, and a tree
            with pure leaves gives probabilities of zero.

        stop_when_perfect : bool, default=False
            Whether to stop after a member that makes no mistake on the training rows. By default
            boosting goes on, since the next member is trained on other synthetic rows.
        """,
    "boosted": """
        estimators_ : list of classifier
            The members; fewer than `n_estimators` if boosting stopped.

        estimator_weights_ : ndarray of shape (n_members,)
            The weight of each member's vote.

        estimator_errors_ : ndarray of shape (n_members,)
            The weighted part of the training rows that each member got wrong. Synthetic rows, if
            there are any, do not count.

        n_training_rows_ : list of int
            How many rows each member was trained on, with synthetic ones.
        """,
    "synthetic_notes": """
        The neighbours are computed once. The rows must be numbers, and for neighbours to mean
        something the columns should be scaled alike.

        With `sample_weight`, rows are started from in proportion to their weights, and a synthetic
        row weighs as much as an average real one. Which rows are neighbours, and how many
        synthetic rows a class lacks, depends on the rows alone, whatever they weigh.
        """,
}

shared_docs = partial(base.shared_docs, texts=_TEXTS)
