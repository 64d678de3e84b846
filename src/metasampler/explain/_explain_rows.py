"""From members to the log-odds of the whole ensemble: what each column adds, row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from metasampler._pipelines import unwrap
from metasampler._sklearn_compat import take_rows
from metasampler.ensemble.fitted_ensembles import BaseUnderSamplingEnsemble, FittedTeam
from metasampler.explain._attribution import Attribution
from metasampler.explain._reasons import Reasons
from metasampler.explain._tree_shap import add_tree_values, expected_value
from metasampler.growth import BoostedMember, MemberTree, running_mean, trees_of, why_not_trees
from metasampler.tables import as_table

__all__ = ["check_explainable", "explain_rows", "shap_explanation"]

# Numbers in a table of contributions of the rows that are explained at once, and how many these are
# at least and at most.
_MOST_NUMBERS, _FEWEST_ROWS, _MOST_ROWS = 1 << 23, 256, 1 << 14

# Up to this many rows LightGBM's own contributions are the faster ones.
_FEW_ROWS = 32

# Probabilities beyond these have no log-odds worth explaining.
_LEAST = 1e-12


_OTHER_WAY = (
    "shap.Explainer(model.predict_proba, background) of the package shap explains any classifier "
    "of a table of numbers. It samples, and takes seconds per row."
)


def explain_rows(model, X, *, class_label=None) -> Reasons:
    """Return what each column adds to the log-odds of each row, for the whole ensemble.

    The contributions of a row and the common base add up to the row's log-odds, within 1e-6. Those
    of each tree are its exact Shapley values, where columns that are not known are averaged over
    the training rows of the tree (as shap's ``TreeExplainer`` and LightGBM's ``pred_contrib`` do).
    The means of the members, the blend of teams and the calibration follow by the multipliers that
    keep the sum. Parts of dates, codes of categories and topics of texts count for the column that
    they are from. The days between two dates count half for each.

    Parameters
    ----------
    model : classifier
        A fitted ensemble of this package, or a pipeline or a search that ends in one. Its members
        are LightGBM's, or scikit-learn's trees or forests.

    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        The rows to explain.

    class_label : object or array-like of shape (n_samples,), default=None
        The class whose log-odds are explained, against all others, or a class for each row, as
        ``predict`` returns them. None is the smallest class of the fit.

    Returns
    -------
    reasons : Reasons
        Use `Reasons.top` for the columns that matter most in each row, `Reasons.contributions` for
        the array.

    See Also
    --------
    shap_explanation : The same for the plots of the package shap.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from metasampler import MesaClassifier
    >>> from metasampler.explain import explain_rows
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"amount": rng.normal(size=2000), "shop": rng.choice(["a", "b"], 2000)})
    >>> y = X["amount"] + (X["shop"] == "b") > 2.2
    >>> clf = MesaClassifier(recipe="fast", random_state=0).fit(X, y)
    >>> reasons = explain_rows(clf, X.iloc[:100])
    >>> reasons.top(1).columns.tolist()
    ['row', 'column', 'value', 'contribution']
    >>> proba = clf.predict_proba(X.iloc[:100])[:, 1]
    >>> sums = reasons.base + reasons.contributions.sum(axis=1)
    >>> bool(np.allclose(sums, np.log(proba / (1 - proba)), atol=1e-6))
    True
    """
    check_explainable(model)
    steps, classifier = unwrap(model)
    given = as_table(X)
    X = given
    for step in steps:
        X = step.transform(X)
    table = classifier._check_predict_table(X)
    places = _class_positions(classifier, class_label, table.shape[0])
    names, numbers_of = _columns_of(classifier)
    if steps:
        names, numbers_of = _as_before(steps, given, names, numbers_of)
    teams = _teams_of(classifier)
    n_values = 1 if len(classifier.classes_) == 2 else len(classifier.classes_)
    n_at_once = _MOST_NUMBERS // (n_values * table.shape[1])
    n_at_once = int(np.clip(n_at_once, _FEWEST_ROWS, _MOST_ROWS))
    contributions = np.empty((table.shape[0], len(names)))
    base, log_odds = np.empty((2, table.shape[0]))
    with threadpool_limits(1, user_api="blas"), np.errstate(under="ignore"):
        for start in range(0, table.shape[0], n_at_once):
            block = slice(start, start + n_at_once)
            rows = take_rows(table, block)
            answers = list(_answers(classifier, teams, rows, numbers_of, len(names)))
            # Members answer for all classes; only the last step is one class's own.
            for k in np.unique(places[block]).tolist():
                its = np.flatnonzero(places[block] == k)
                found = _log_odds(classifier, [answer.of_rows(its) for answer in answers], k)
                contributions[start + its] = found.parts[0].T
                base[start + its], log_odds[start + its] = found.base[0], found.value[0]
    labels = classifier.classes_[places]
    is_one = np.ndim(class_label) == 0
    return Reasons(
        contributions=contributions,
        base=float(base[0]) if is_one else base,
        log_odds=log_odds,
        columns=names,
        values=_values(given, X, names, numbers_of),
        class_label=labels[:1].tolist()[0] if is_one else labels,
    )


def shap_explanation(model, X, *, class_label=None):
    """Return the contributions of `explain_rows` as the package shap has them, for its plots.

    ``shap.TreeExplainer`` knows a list of classifiers by name, and ensembles of other packages are
    not among them; use this in its place.

    Parameters
    ----------
    model, X, class_label
        As in `explain_rows`.

    Returns
    -------
    explanation : shap.Explanation
        For instance for ``shap.plots.waterfall(explanation[0])`` or
        ``shap.plots.beeswarm(explanation)``.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from metasampler import MesaClassifier
    >>> from metasampler.explain import shap_explanation
    >>> X, y = make_classification(1000, weights=[0.9], random_state=0)
    >>> clf = MesaClassifier(recipe="fast", random_state=0).fit(X, y)
    >>> shap_explanation(clf, X[:5]).values.shape  # doctest: +SKIP
    (5, 20)
    """
    return explain_rows(model, X, class_label=class_label).to_shap()


def check_explainable(model) -> None:
    """Raise a ValueError that names another way if `explain_rows` cannot explain a model.

    Parameters
    ----------
    model : classifier
        A fitted classifier, or a pipeline or a search that ends in one.
    """
    classifier = unwrap(model)[1]
    if hasattr(classifier, "to_local"):
        raise ValueError(
            f"A {type(classifier).__name__} is on a cluster: explain its to_local() instead."
        )
    if not isinstance(classifier, BaseUnderSamplingEnsemble):
        raise ValueError(
            f"model is a {type(classifier).__name__}, which explain_rows does not know. It "
            f"explains MesaClassifier and the ensembles of metasampler.ensemble. {_OTHER_WAY}"
        )
    check_is_fitted(classifier)
    if refusal := why_not_trees(classifier.estimators_):
        raise ValueError(f"{refusal} {_OTHER_WAY}")


# ---------------------------------------------------------------------- what is explained


def _class_positions(classifier, class_label, n_rows: int) -> np.ndarray:
    """Return for each row the position of the class whose log-odds are explained."""
    if class_label is None:
        class_label = classifier.minority_class_
    if np.ndim(class_label) == 0:
        labels = [class_label] * n_rows
    else:
        labels = np.asarray(class_label).tolist()
        if np.ndim(class_label) != 1 or len(labels) != n_rows:
            raise ValueError(
                f"class_label has shape {np.shape(class_label)}; it must be one class, or one for "
                f"each of the {n_rows} rows."
            )
    classes = classifier.classes_.tolist()
    place_of = {label: k for k, label in enumerate(classes)}
    unknown = [label for label in labels if label not in place_of]
    if unknown:
        raise ValueError(f"class_label={unknown[0]!r} is not one of the classes {classes[:10]}.")
    return np.array([place_of[label] for label in labels], dtype=np.intp)


def _columns_of(classifier) -> tuple[list, list[list[int]]]:
    """Return the names of the columns, and for each number the columns that it is from."""
    encoder = classifier._form.encoder
    if encoder is None:
        names = list(classifier.member_features_)
        return names, [[place] for place in range(len(names))]
    names = list(encoder.columns_)
    place_of = {name: place for place, name in enumerate(names)}
    n_differences = len(encoder.differences_)
    sources = encoder.sources()
    numbers = [[place_of[name]] for name in sources[: len(sources) - n_differences]]
    numbers += [[place_of[of.first], place_of[of.second]] for of in encoder.differences_]
    return names, numbers


def _as_before(
    steps: list, given, names: list, numbers_of: list[list[int]]
) -> tuple[list, list[list[int]]]:
    """Return the same with the names that the steps give, and by the columns that went into them.

    A step says by its names what it has made of a column. Columns of one name count together.
    """
    before = list(getattr(given, "columns", getattr(steps[0], "feature_names_in_", ())))
    origin: dict = {}
    for step in steps:
        # A `TableCleaner` adds columns that it reads from others.
        origin |= getattr(step, "derived_", {})
    for name, named in zip(names, _names_after(steps, before, names), strict=True):
        # A `ColumnTransformer` puts the name of the transformer first.
        known = str(named).partition("__")[2]
        is_prefixed = named not in before and known in before
        origin.setdefault(name, known if is_prefixed else named)
    known_as = [origin[name] for name in names]
    merged = list(dict.fromkeys(known_as))
    place_of = [merged.index(name) for name in known_as]
    return merged, [[place_of[place] for place in of] for of in numbers_of]


def _names_after(steps: list, before: list, names: list) -> list:
    """Return the names of the steps for the columns of an array; else those that are known."""
    if names != [f"x{place}" for place in range(len(names))]:
        return names
    made: Any = before or None
    for step in steps:
        try:
            made = step.get_feature_names_out(made)
        except (AttributeError, TypeError, ValueError):
            # Not every step has names.
            return names
    return list(made) if len(made) == len(names) else names


def _values(given, transformed, names: list, numbers_of: list[list[int]]) -> np.ndarray:
    """Return the values of the columns, as they were given or else as they were transformed."""
    n_rows = given.shape[0] if hasattr(given, "shape") else len(given)
    values = np.empty((n_rows, len(names)), dtype=object)
    tables = [table for table in (given, transformed) if hasattr(table, "columns")]
    array = None
    for place, name in enumerate(names):
        table = next((each for each in tables if name in list(each.columns)), None)
        if table is not None:
            values[:, place] = np.asarray(table[name], dtype=object)
            continue
        if array is None:
            array = transformed.toarray() if issparse(transformed) else np.asarray(transformed)
        values[:, place] = array[:, numbers_of.index([place])]
    return values


# ---------------------------------------------------------------------- members and teams


def _teams_of(classifier) -> list[tuple[FittedTeam, list, Callable[[int], list[MemberTree]]]]:
    """Return the teams with their members, and what reads the trees of each member, once."""
    teams, start = [], 0
    for team in classifier._members_of:
        members = classifier.estimators_[start : start + team.n_members]
        start += team.n_members
        teams.append((team, members, _reader(classifier, team, members)))
    return teams


def _reader(classifier, team: FittedTeam, members: list) -> Callable[[int], list[MemberTree]]:
    return cache(
        lambda number: trees_of(members[number], len(classifier.classes_), team.leaf_smoothing)
    )


def _answers(classifier, teams, rows, numbers_of, n_columns: int) -> Iterator[Attribution]:
    """Yield the mean probability of each team, of class 1 only if there are two classes."""
    n_classes = len(classifier.classes_)
    n_values = 1 if n_classes == 2 else n_classes
    for team, members, trees_of_member in teams:
        X = rows if team.table is None else team.table(rows)
        X = np.ascontiguousarray((X.toarray() if issparse(X) else np.asarray(X)).T)
        if X.dtype.kind != "f":
            X = X.astype(float)
        kinds = {32: X.astype(np.float32), 64: X}
        n_rows = X.shape[1]
        base, parts = np.zeros(n_values), np.zeros((n_values, len(numbers_of), n_rows))
        total = Attribution(
            np.zeros((n_values, n_rows)),
            np.zeros((n_values, n_rows)),
            np.zeros((n_values, n_columns, n_rows)),
        )
        for number, member in enumerate(members):
            read = partial(trees_of_member, number)
            if isinstance(member, BoostedMember):
                total += _boosted(member, read, kinds[64], n_values, numbers_of, n_columns)
                continue
            for tree in read():
                # Probabilities add up: all trees share a table.
                base += expected_value(tree)[-n_values:]
                values = tree.value[:, -n_values:]
                add_tree_values(tree, values, kinds[32], parts)
        joined = _joined(parts, numbers_of, n_columns)
        bases = np.repeat(base[:, np.newaxis], n_rows, axis=1)
        total += Attribution(bases + joined.sum(axis=1), bases, joined)
        mean = total * (1 / len(members))
        *_, last = team.staged_totals(members, rows, n_classes, classifier.n_jobs)
        value = running_mean(last, len(members), team.leaf_smoothing)
        # What the ensemble itself says, which is rounded.
        yield Attribution(value[np.newaxis] if n_values == 1 else value.T, mean.base, mean.parts)


def _boosted(member, read, X, n_values: int, numbers_of, n_columns: int) -> Attribution:
    """Return the probabilities of a booster."""
    if member.recoding is not None:
        X = np.ascontiguousarray(member.recoding(X.T).T)
    n_rows = X.shape[1]
    base, parts = np.zeros((n_values, 1)), np.zeros((n_values, len(numbers_of), n_rows))
    if n_rows <= _FEW_ROWS:
        # The same values; LightGBM takes long per row, but need not read the trees first.
        found = member.booster_.predict(
            X.T, num_iteration=member.n_rounds_, pred_contrib=True, num_threads=1
        )
        found = found.reshape(n_rows, n_values, -1)
        parts[:], base[:, 0] = np.moveaxis(found[..., :-1], 0, -1), found[0, :, -1]
    else:
        for tree in read():
            at = tree.output or 0
            base[at] += expected_value(tree)
            add_tree_values(tree, tree.value, X, parts[at : at + 1])
    joined = _joined(parts, numbers_of, n_columns)
    base = np.repeat(base, n_rows, axis=1)
    raw = Attribution(base + joined.sum(axis=1), base, joined)
    return raw.through(expit) if n_values == 1 else raw.log_softmax().through(np.exp)


def _joined(parts: np.ndarray, numbers_of: list[list[int]], n_columns: int) -> np.ndarray:
    """Return what each column adds, given what each number that is from it adds."""
    if numbers_of == [[place] for place in range(n_columns)]:
        return parts
    joined = np.zeros((len(parts), n_columns, parts.shape[2]))
    for number, columns in enumerate(numbers_of):
        for column in columns:
            joined[:, column] += parts[:, number] / len(columns)
    return joined


# ---------------------------------------------------------------------- blend and calibration


def _log_odds(classifier, answers: list[Attribution], k: int) -> Attribution:
    """Return the log-odds of one class against all others, given the answers of teams."""
    if len(classifier.classes_) == 2:
        odds = _of_two_classes(classifier, answers)
        return odds if k == 1 else odds * -1.0
    blend = classifier._blend
    if blend is None:
        proba = answers[0]
    else:
        logits = _sum_over_teams(answers, lambda given: blend.logits([each.T for each in given]).T)
        proba = logits.log_softmax().through(np.exp)
    calibrated = proba.through(lambda of: classifier.calibration_.logits(of.T).T)
    others = [j for j in range(len(classifier.classes_)) if j != k]
    rest = calibrated.only(others)
    own = calibrated.only([k] * len(others))
    odds = (rest - own).log_sum_exp() * -1.0
    return odds.through(lambda of: np.clip(of, np.log(_LEAST), -np.log(_LEAST)))


def _of_two_classes(classifier, answers: list[Attribution]) -> Attribution:
    """Return the log-odds of class 1."""
    blend, calibration = classifier._blend, classifier.calibration_
    if blend is None:
        joint = answers[0]
        proba_of: Callable = lambda of: np.column_stack([1 - of, of])  # noqa: E731
    else:
        joint = _sum_over_teams(answers, lambda given: _odds(blend([each[0] for each in given])))
        proba_of = _proba_of_odds

    def log_odds(of: np.ndarray) -> np.ndarray:
        shape = of.shape
        return _odds(calibration(proba_of(of.ravel()))).reshape(shape)

    return joint.through(log_odds)


def _proba_of_odds(odds: np.ndarray) -> np.ndarray:
    return np.column_stack([expit(-odds), expit(odds)])


def _odds(proba: np.ndarray) -> np.ndarray:
    """Return the log-odds of class 1, as a row."""
    logs = np.log(np.maximum(proba, _LEAST))
    return (logs[:, 1] - logs[:, 0])[np.newaxis]


def _sum_over_teams(answers: list[Attribution], join: Callable[[list], np.ndarray]) -> Attribution:
    """Return what joins teams by a sum of a function of each team's answer."""
    bases = [each.base for each in answers]
    base = join(bases)
    parts: Any = 0

    def with_team(number: int, answer: np.ndarray) -> np.ndarray:
        return join([*bases[:number], answer, *bases[number + 1 :]])

    for number, answer in enumerate(answers):
        parts = parts + answer.through(partial(with_team, number)).parts
    return Attribution(join([each.value for each in answers]), base, parts)
