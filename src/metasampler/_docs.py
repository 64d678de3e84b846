"""Texts that the docstrings of several estimators and displays share.

A docstring names a text by a line of its own, ``{sampling_ratio}``. The decorator `shared_docs`
puts the text there. It is ours because imbalanced-learn's `Substitution` takes the texts of one
class at a time.
"""

import re
from collections.abc import Callable, Mapping
from textwrap import dedent, indent
from types import FunctionType
from typing import TypeVar

T = TypeVar("T")

_TEXTS = {
    "estimator": """
        estimator : classifier with `predict_proba`, or list of these, default=None
            The base estimator; None means {default}. The classifiers of a list take turns: member i
            is a copy of ``estimator[i % len(estimator)]``. Members see the classes as numbers 0, 1,
            ..., their positions in `classes_`.
        """,
    "n_estimators": """
        n_estimators : int, default=10
            Number of members.
        """,
    "sampling_ratio": """
        sampling_ratio : float, default=1.0
            How many rows of each larger class are drawn for each row of the smallest class.
        """,
    "hold_out": """
        validation_fraction : float, default=None
            Fraction of each class that is held out for `scores_`, calibration and threshold, if
            `fit` gets no validation rows. None trains on all rows.

        scoring : str or callable, default="average_precision"
            How validation rows are scored, see :class:`MesaClassifier`.

        calibration : {"auto", "prior", "sigmoid"} or None, default="auto"
            How `predict_proba` turns the members' answers into probabilities, see
            :class:`MesaClassifier`.

        threshold : None, "balanced", float, str or tuple, default="balanced"
            The probability from which `predict` returns the minority class, see
            :class:`MesaClassifier`.

        leaf_smoothing : float or "auto", default=0.0
            How many rows of each class are added to every leaf of tree members, see
            :class:`MesaClassifier`. Draws use the plain leaves.

        refit : bool or "auto", default=False
            Whether to grow the ensemble once more by the same rule, on training and validation
            rows together, see :class:`MesaClassifier`.
        """,
    "n_jobs": """
        n_jobs : int, default=None
            Threads that score rows, in `fit` and in prediction. The result is the same for any
            number.
        """,
    "n_jobs_teams": """
        n_jobs : int, default=None
            Number of threads. They fit scouts side by side, then boosters beside trees. They also
            score rows, in `fit` and in prediction. One thread fits a member, and another may score
            the one before it meanwhile. The result is the same for any number.
        """,
    "n_jobs_members": """
        n_jobs : int, default=None
            How many members are fitted at once: scikit-learn's trees in threads, other members in
            processes. It is also the number of threads that score rows in prediction. The result is
            the same for any number.
        """,
    "random_state": """
        random_state : int, RandomState instance or None, default=None
            Pass an int for the same ensemble in every call.
        """,
    "warm_start": """
        warm_start : bool, default=False
            If True, `fit` keeps its members and adds new ones until there are `n_estimators`. On
            the same rows the result is that of one longer fit.
        """,
    "verbose": """
        verbose : int, default=0
            Show a progress bar if not 0.
        """,
    "rows": """
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows to classify.
        """,
    "members": """
        estimators_ : list of classifier
            The members; those of the second growth after a `refit`.

        estimators_samples_ : list of ndarray
            The rows of X that each member was trained on. After a `refit` these may be validation
            rows too. Rows of X_val follow those of X: ``len(X)`` is the first row of X_val.
        """,
    "decided": """
        scores_ : ndarray of shape (n_estimators,)
            Score on the validation rows after each member, before calibration; empty without such
            rows. With teams these are the scores of the trees alone. They begin with the first tree
            after which every row was left out once. `held_out_scores_` has the score of all teams.

        held_out_scores_ : dict
            Scores on the held-out rows at the end of the growth, before calibration: one by the
            name of each team, and ``"together"`` for the whole ensemble. Empty without held-out
            rows.

        leaf_smoothing_ : float
            Rows of each class added to every leaf.

        refit_ : bool
            Whether the members were grown once more on all rows.
        findings_ : list of str
            Why rows may depend on each other, and which option of `fit` helps: see `summary`. Empty
            with members of your own, and for rows outside of memory.

        class_counts_ : ndarray of int of shape (n_classes,)
            Rows of each class that `fit` saw, validation rows included.

        calibration_ : callable
            Maps the members' mean probabilities to those of `predict_proba`.

        threshold_ : float
            The probability of `minority_class_` from which `predict` returns it (two classes).

        class_thresholds_ : ndarray of shape (n_classes,)
            `predict` returns the class whose probability is largest compared with this number (more
            than two classes).

        class_costs_ : ndarray of shape (n_classes, n_classes) or None
            The matrix of costs that `predict` decides by instead, if there is one (more than two
            classes).

        expected_precision_, expected_recall_ : float, ndarray of shape (n_classes,) or None
            Precision and recall to expect of new rows at `threshold_`; None without held-out rows.
            Where these rows also chose the threshold, what they show is too good: the difference is
            estimated by a bootstrap, and taken off. For more than two classes they are what the
            held-out rows show of each class: NaN if none is in the class, or none is called it.

        expected_precision_interval_, expected_recall_interval_ : tuple of float, ndarray of shape \
                (n_classes, 2) or None
            Where precision and recall of new rows should lie, in 95 of 100 fits; new rows must come
            as the rows of the fit did. For more than two classes each class has a row.
        """,
    "fitted": """
        classes_ : ndarray of shape (n_classes,)
            The class labels.

        minority_class_ : object
            The label of the smallest class.

        n_features_in_ : int
            Number of columns seen in `fit`.

        feature_names_in_ : ndarray of shape (`n_features_in_`,)
            Names of the columns, if X has names that are all strings.

        feature_importances_ : ndarray of shape (`n_features_in_`,)
            Mean of the members' importances, weighted by their votes. Only there if all members
            have importances. With members of several types, each is scaled to sum to 1 first.

        estimator_ : classifier or list of classifier
            The classifier that members were copied from, or the list of those that took turns.
        """,
    "ax": """
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        """,
    "figure": """
        figure : matplotlib Figure or SubFigure, default=None
            Where to draw; None makes a new figure.
        """,
    "drawn": """
        Returns
        -------
        display : object of this class
            The display, drawn.
        """,
    "title": """
        title : str, default=""
            Written above the picture.
        """,
    "test_rows": """
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows, ideally of a test set.
        y : array-like of shape (n_samples,)
            Their labels.
        """,
    "panels": """
        figure_ : matplotlib Figure
        axes_ : ndarray of matplotlib Axes
            The panels.
        """,
}

# Texts that several ensembles have one after the other.
_TOGETHER = {
    "running": ("n_jobs", "random_state", "verbose"),
    "uniform": (
        *("estimator", "n_estimators", "sampling_ratio", "hold_out"),
        *("n_jobs_members", "random_state", "warm_start", "verbose"),
    ),
    "grown": ("members", "decided", "fitted"),
    # Where to draw is the last parameter of all methods of displays.
    "ax": ("ax", "drawn"),
    "figure": ("figure", "drawn"),
}
for _together, _names in _TOGETHER.items():
    _TEXTS[_together] = "".join(_TEXTS[name] for name in _names)

_NAME = re.compile(r"^( *)\{(\w+)\}$", re.MULTILINE)


def shared_docs(
    default: str = "a :class:`~sklearn.tree.DecisionTreeClassifier`",
    *,
    texts: Mapping[str, str] | None = None,
) -> Callable[[T], T]:
    """Return a decorator that puts the shared texts into docstrings: a class's and its methods'.

    ``default`` is what ``estimator=None`` means, ``texts`` are more texts by name.
    """
    known = {**_TEXTS, **(texts or {})}

    def put(match: re.Match[str]) -> str:
        text = dedent(known[match[2]]).strip().replace("{default}", default)
        return indent(text, match[1])

    def decorate(documented: T) -> T:
        for each in (documented, *vars(documented).values()):
            each = getattr(each, "__func__", each)  # of a class method
            # Python drops docstrings with -OO.
            if isinstance(each, type | FunctionType) and each.__doc__:
                each.__doc__ = _NAME.sub(put, each.__doc__)
        return documented

    return decorate
