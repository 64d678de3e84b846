"""`make_report`: from a fitted classifier and rows to one HTML file."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length

from metasampler._running import progress_bar
from metasampler._writing import written_beside
from metasampler.ensemble.fitted_ensembles import is_positive
from metasampler.report._column_facts import column_facts, column_names
from metasampler.report._cuts import make_cuts
from metasampler.report._explorer import headline, script_data
from metasampler.report._figures import logit_scale
from metasampler.report._findings import Findings
from metasampler.report._importance import importances, n_steps
from metasampler.report._inputs import check_numbers, check_rows, class_to_find, classes_of
from metasampler.report._markup import shorten
from metasampler.report._measures import calibration, first_rows, judge, per_class
from metasampler.report._model import (
    Rule,
    check_classifier,
    decided,
    find_rule,
    follows,
    innermost,
    n_chunks,
    predict_rows,
    score_rows,
    seeds,
    turned_to,
    versions,
)
from metasampler.report._page import page
from metasampler.report._row_reasons import reasons_of_alarms
from metasampler.report._sections import MOST_COLUMNS
from metasampler.report._since_fit import drift_of

#: With fewer rows of the class to find nothing about it can be trusted.
_ENOUGH = 10

#: Bins of the distribution of scores.
_N_BINS = 40

_USUAL_COSTS = (10.0, 1.0)


class Report:
    """A report that can be saved.

    Made by :func:`make_report`.

    Parameters
    ----------
    html : str
        The whole page.
    headline : str
        What the classifier does at its threshold, in one sentence.
    numbers : dict
        What its slider moves over: thresholds, alarms, hits and intervals at each cut point.
    """

    def __init__(self, html: str, headline: str, numbers: dict[str, Any]):
        self.html = html
        self.headline = headline
        self.numbers = numbers

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file.

        Parameters
        ----------
        path : str or path
            Where to. An existing file is replaced in one step, when the new one is complete.

        Returns
        -------
        path : Path
        """
        path = Path(path)
        with written_beside(path) as file:
            file.write(self.html.encode())
        return path

    def __repr__(self):
        n_cuts = len(self.numbers["threshold"])
        return f"Report({len(self.html.encode()) / 1000:.0f} kB, {n_cuts} cut points)"


def make_report(
    classifier,
    X,
    y=None,
    *,
    sample_weight=None,
    pos_label=None,
    target=None,
    title=None,
    rows_a_day=1000,
    miss_cost=None,
    alarm_cost=None,
    top_rows=0,
    ids=None,
    rivals=None,
    comparison=None,
    source=None,
    cautions=(),
    n_repeats=5,
    n_resamples=1000,
    random_state=0,
    verbose=0,
):
    """Make a report on a fitted classifier: one HTML file that is complete in itself.

    It says how good the classifier is on some rows, with intervals. A reader can move the threshold
    and the costs. The file holds numbers for at most a thousand thresholds, so its size does not
    depend on the number of rows. It holds no rows, unless you ask for `top_rows`.

    Parameters
    ----------
    classifier : classifier
        Fitted: a :class:`~metasampler.MesaClassifier`, any other classifier with `predict_proba`
        or `decision_function`, or a pipeline or search around one.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Rows that the classifier was not trained on.
    y : array-like of shape (n_samples,), default=None
        Their labels. Without them the report can count alarms, but not say how many are right.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows; they count in all numbers.
    pos_label : object, default=None
        The class to find. None means the class that the classifier was tuned to find, or else the
        rarest in y. With more than two classes the report is about this class against the rest.
    target : str, default=None
        What the labels are called, for the text.
    title : str, default=None
        Written above the report; None means the name of the classifier.
    rows_a_day : float, default=1000
        The first value in the box for rows per day.
    miss_cost, alarm_cost : float, default=None
        The first values in the boxes for the costs of a missed row and of a false alarm. None means
        the costs of ``threshold=("cost", ...)`` if the classifier has them, otherwise 10 and 1.
    top_rows : int, default=0
        How many rows to list, with number, score and label. The highest scores come first.
    ids : array-like of shape (n_samples,) or Series, default=None
        What the listed rows are called, such as numbers of claims. A Series also has the name of
        the column.
    rivals : dict of str to classifier, default=None
        Other fitted classifiers by name, to score on the same rows.
    comparison : dict of str to dict of str to float or list of float, default=None
        Scores that were measured elsewhere, such as in cross-validation, by method and then by
        measure. A list has one number for each fold; the report shows its mean and standard
        deviation.
    source : dict of str to str, default=None
        More facts for the section on the data, by name.
    cautions : iterable of str, default=()
        What a reader must know first. The report shows it below the headline.
    n_repeats : int, default=5
        How often each column is shuffled to see how much it matters; 0 leaves this out.
    n_resamples : int, default=1000
        Resamples of the bootstrap.
    random_state : int, default=0
        Seed of the resamples and shuffles.
    verbose : int, default=0
        Show a progress bar if not 0.

    Returns
    -------
    report : Report
        Its `save` writes the file.

    See Also
    --------
    metasampler.plotting.ThresholdDisplay : Precision and recall at every threshold.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from metasampler import MesaClassifier
    >>> from metasampler.report import make_report
    >>> X, y = make_classification(1000, weights=[0.9], random_state=0)
    >>> clf = MesaClassifier(recipe="fast", random_state=0).fit(X[:500], y[:500])
    >>> report = make_report(clf, X[500:], y[500:], target="fraud", n_repeats=0)
    >>> report
    Report(... kB, ... cut points)
    >>> report.headline
    'Of 100 alarms ... are right; ... of 100 rows with fraud = 1 are found.'
    """
    check_classifier(classifier)
    check_numbers(
        {"rows_a_day": rows_a_day, "miss_cost": miss_cost, "alarm_cost": alarm_cost},
        {"top_rows": top_rows, "n_repeats": n_repeats, "n_resamples": n_resamples},
    )
    X = X if hasattr(X, "shape") else np.asarray(X)
    labels = np.asarray(classifier.classes_)
    one_class = getattr(innermost(classifier), "positive", None)
    if one_class is not None:
        # The classifier tells this class from the rest; the labels have all classes.
        y = None if y is None else is_positive(y, one_class)
        target = str(one_class) if target is None else target
    codes, weights = check_rows(X, y, sample_weight, labels)
    if ids is not None:
        check_consistent_length(X, ids)
    rivals = dict(rivals or {})
    for rival in rivals.values():
        check_classifier(rival)
    rule = find_rule(classifier)
    place = class_to_find(pos_label, rule, labels, codes, weights)
    label = labels[place : place + 1].tolist()[0]
    positive = None if codes is None else codes == place

    rng = np.random.default_rng(random_state)
    with_importance = positive is not None and n_repeats > 0
    total = n_chunks(X) * (1 + len(rivals)) + (n_steps(X, n_repeats) if with_importance else 0)
    with progress_bar("report", total, enabled=verbose > 0, transient=True) as advance:
        scored = score_rows(classifier, X, advance)
        scores = scored.each[:, place]
        called = decided(classifier, scored)
        by_rule = False
        if rule is not None:
            rule = turned_to(rule, label, scored.are_proba)
            by_rule = follows(rule, classifier, X, scores, called)
        if rule is None or not by_rule:
            called = predict_rows(classifier, X) if called is None else called
            costs = None if rule is None else rule.costs
            rule = Rule(label, _like_predict(scores, called == label), costs)
        cuts = make_cuts(scores, rule.threshold, positive, weights)
        found = Findings(
            title=shorten(title or type(innermost(classifier)).__name__, 120),
            target=target,
            model=classifier,
            labels=labels.tolist(),
            label=label,
            n_rows=len(scores),
            n_columns=X.shape[1],
            weighted=weights is not None,
            are_proba=scored.are_proba,
            cuts=cuts,
            histogram=_histogram(scores, positive, weights, scored.are_proba, labels, place),
            columns=column_facts(X, codes, MOST_COLUMNS),
            bands=first_rows(scores, positive, weights, scored.are_proba),
            settings=_settings(classifier, random_state),
            rows_a_day=float(rows_a_day),
            miss_cost=_cost(miss_cost, rule, 0),
            alarm_cost=_cost(alarm_cost, rule, 1),
            by_rule=by_rule,
            growth=_growth(classifier),
            drift=drift_of(classifier, X),
            reasons=reasons_of_alarms(classifier, X, scores, rule.threshold, label),
            source=dict(source or {}),
            top=_top(scores, codes, labels, int(top_rows), ids),
            id_name="" if ids is None else str(getattr(ids, "name", None) or "Identifier"),
            cautions=[shorten(caution, 500) for caution in (*_seen(classifier, codes), *cautions)],
        )
        if positive is not None:
            _judge(found, scored, scores, positive, weights, n_resamples, rng)
            if len(labels) > 2:
                predicted = classes_of(called, labels)
                found.classes = per_class(codes, predicted, scored.each, weights)
            found.comparison += _on_same_rows(
                found, rivals, X, label, positive, weights, n_resamples, rng, advance
            )
        if comparison:
            found.comparison.append(_measured_elsewhere(comparison))
        if with_importance:
            made = importances(
                classifier, X, positive, weights, place, int(n_repeats), rng, advance
            )
            found.importance = {**made, "names": column_names(X), "repeats": int(n_repeats)}
    return Report(page(found), headline(found), script_data(found))


def _seen(classifier, codes: np.ndarray | None) -> list[str]:
    """Return a caution if the rows may be those that the classifier was trained on."""
    counts = getattr(innermost(classifier), "class_counts_", None)
    if codes is None or counts is None:
        return []
    if not np.array_equal(counts, np.bincount(codes, minlength=len(counts))):
        return []
    return [
        "Each class has exactly as many rows as in training. If these are the training rows, the "
        "numbers here are too good. Report on rows that the classifier has not seen."
    ]


def _judge(found: Findings, scored, scores, positive, weights, n_resamples: int, rng) -> None:
    """Add how good the scores are."""
    found.quality = judge(
        scores,
        positive,
        weights,
        found.cuts,
        are_proba=scored.are_proba,
        n_resamples=int(n_resamples),
        rng=rng,
    )
    if scored.are_proba:
        found.calibration = calibration(scores, positive, weights)
    n_positive = int(positive.sum())
    if n_positive < _ENOUGH:
        found.cautions.append(
            f"Only {n_positive} of these rows {'is' if n_positive == 1 else 'are'} of the class to "
            "find. Precision, recall and all that follows from them can be far off, also where an "
            "interval looks narrow."
        )


def _like_predict(scores: np.ndarray, called: np.ndarray) -> float:
    """Return the threshold that calls as many rows as `predict` does."""
    n_called = int(called.sum())
    if n_called == 0:
        return float(np.nextafter(scores.max(), np.inf))
    return float(np.sort(scores)[::-1][n_called - 1])


def _cost(given, rule: Rule, which: int) -> float:
    """Return a cost: what was given, what the threshold was tuned by, or the usual."""
    if given is not None:
        return float(given)
    return (rule.costs or _USUAL_COSTS)[which]


def _histogram(scores, positive, weights, are_proba: bool, labels, place: int) -> dict:
    """Return where the scores lie: of each class its own part."""
    if are_proba:
        scale, limits, _ = logit_scale(scores)
        ends = np.linspace(scale(limits[0]), scale(limits[1]), _N_BINS + 1)
        edges = 1 / (1 + np.exp(-ends))
        edges[[0, -1]] = limits
        clipped = np.clip(scores, *limits)
    else:
        low, high = float(scores.min()), float(scores.max())
        edges = np.linspace(low, high if high > low else low + 1, _N_BINS + 1)
        clipped = scores
    groups = [("all rows", np.ones(len(scores), dtype=bool))]
    if positive is not None:
        others = labels[1 - place] if len(labels) == 2 else "all others"
        groups = [(str(others), ~positive), (str(labels[place]), positive)]
    lines = []
    for words, mask in groups:
        given = None if weights is None else weights[mask]
        counts, _ = np.histogram(clipped[mask], edges, weights=given)
        lines.append((words, counts / counts.sum()))
    return {"edges": edges, "lines": lines, "logit": are_proba}


def _growth(classifier):
    """Return the summary of an ensemble that can tell how it grew."""
    summary = getattr(innermost(classifier), "summary", None)
    made = summary() if callable(summary) else None
    return made if getattr(made, "rows", None) else None


def _settings(classifier, random_state) -> dict:
    """Return what is needed to repeat the fit and the report."""
    core = innermost(classifier)
    try:
        shown = classifier.__repr__(N_CHAR_MAX=3000)
    except TypeError:  # not one of scikit-learn's kind
        shown = repr(classifier)
    return {
        "model": shown,
        "parameters": core.get_params(deep=False) if hasattr(core, "get_params") else {},
        "seeds": seeds(classifier) if hasattr(classifier, "get_params") else {},
        "versions": versions(),
        "report_seed": str(random_state),
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def _top(scores, codes, labels, n_rows: int, ids=None) -> list[dict]:
    """Return the rows with the highest scores; of equal ones the first."""
    ids = None if ids is None else np.asarray(ids)
    rows = np.argsort(-scores, kind="stable")[:n_rows].tolist()
    return [
        {"row": row, "score": float(scores[row])}
        | ({} if codes is None else {"label": labels[codes[row]]})
        | ({} if ids is None else {"id": ids[row]})
        for row in rows
    ]


def _on_same_rows(found, rivals, X, label, positive, weights, n_resamples, rng, advance) -> list:
    """Return the scores of this classifier, of its rivals and of chance, on the same rows."""
    quality = {type(innermost(found.model)).__name__: found.quality}
    for name, rival in rivals.items():
        places = np.flatnonzero(np.asarray(rival.classes_) == label)
        if not len(places):
            raise ValueError(f"rivals: {name!r} does not know the class {label!r}.")
        scored = score_rows(rival, X, advance)
        scores = scored.each[:, int(places[0])]
        quality[name] = judge(
            scores,
            positive,
            weights,
            make_cuts(scores, float(np.median(scores)), positive, weights),
            are_proba=scored.are_proba,
            n_resamples=int(n_resamples),
            rng=rng,
        )
    measures = {
        "Average precision": "average_precision",
        "Area under ROC": "roc_auc",
        "Brier score": "brier",
    }
    if not any(each.brier for each in quality.values()):
        del measures["Brier score"]
    scores_by_name: dict[str, dict] = {
        name: {words: getattr(each, key) for words, key in measures.items()}
        for name, each in quality.items()
    }
    rate = found.base_rate
    scores_by_name["chance"] = {
        "Average precision": rate,
        "Area under ROC": 0.5,
        "Brier score": rate * (1 - rate),
    }
    return [
        {
            "caption": "On the rows of this report, with 95% intervals",
            "measures": list(measures),
            "scores": scores_by_name,
        }
    ]


def _measured_elsewhere(comparison) -> dict:
    """Return scores that were measured before, as a table."""
    measures = list(dict.fromkeys(key for scores in comparison.values() for key in scores))
    several = any(
        isinstance(value, (list, tuple))
        for scores in comparison.values()
        for value in scores.values()
    )
    return {
        "caption": "Measured when the model was made"
        + (": means over folds (± standard deviation)" if several else ""),
        "measures": measures,
        "scores": comparison,
    }
