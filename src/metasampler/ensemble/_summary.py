"""What a fit did: one line a team, or one line a member."""

from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from numbers import Integral
from typing import Any

import numpy as np

# A screen has 24 lines; title, head and notes take the rest.
_MOST_ROWS = 12

# With more classes the errors of members would be too wide a table; `classes` has a line for each.
_MOST_CLASSES = 30


@dataclass(repr=False, eq=False)
class FitSummary:
    """What a fit did; `print` it, or take its `rows`, `teams` and `classes`."""

    title: str
    #: One entry a member, all with the same keys.
    rows: list[dict]
    #: Lines below the table.
    notes: list[str]
    #: When `predict` returns the smallest class, and what to expect of it.
    promise: str
    #: One entry a team and a last one for all together; empty if all members are of one team.
    teams: list[dict]
    #: With more than two classes one entry a class, the largest first: its rows, and the precision
    #: and recall that held-out rows show.
    classes: list[dict]

    def __str__(self):
        return self.to_text()

    def to_text(self, *, all_members: bool = False) -> str:
        """Return the summary as a text, which fits on a screen unless you ask for ``all_members``.

        Each team has one line or, without teams, some of the first and the last members have one.
        So have the largest and the smallest of many classes.
        """
        # rich draws the tables, and is imported only here.
        from rich.console import Console
        from rich.text import Text

        shown = self.rows if all_members or not self.teams else self.teams
        tables = [_table(self.title, shown if all_members else _ends_of(shown))]
        if self.classes:
            classes = self.classes if all_members else _ends_of(self.classes)
            tables.append(_table(None, classes))
        stream, width = StringIO(), max(100, 12 * len(shown[0]))
        console = Console(file=stream, width=width, color_system=None, soft_wrap=True)
        console.print(*tables, *map(Text, self.notes), sep="\n")
        return stream.getvalue()

    __repr__ = __str__


def _ends_of(rows: list[dict]) -> list[dict]:
    """Return rows that fit on a screen: the first and the last of many."""
    if len(rows) <= _MOST_ROWS:
        return rows
    at_an_end = (_MOST_ROWS - 1) // 2
    return [*rows[:at_an_end], {}, *rows[-at_an_end:]]


def _table(title: str | None, rows: list[dict]):
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left")
    names = list(rows[0])
    for name in names:
        # As text: a label may hold brackets, which mean something to rich.
        justify: Any = "left" if name in ("team", "drawn", "class") else "right"
        table.add_column(Text(name), justify=justify, min_width=6)
    for row in rows:
        # Three dots stand for what is left out.
        cells = map(_show, row.values()) if row else ["..."] * len(names)
        table.add_row(*map(Text, cells))
    return table


def _show(value) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def summarise(ensemble, steps, teams) -> FitSummary:
    """Return the summary of a fitted ensemble, given step and team of each member."""
    drawn_by = [
        name for name in ("mu", "power") if any(getattr(step, name) is not None for step in steps)
    ]
    has_teams = len(set(teams)) > 1
    rows = []
    for number, step in enumerate(steps, start=1):
        row: dict = {"member": number}
        if has_teams:
            row["team"] = teams[number - 1]
        row |= {name: getattr(step, name) for name in drawn_by}
        row["rows"] = step.n_rows
        if len(ensemble.scores_):
            # Members of a team are judged without the other teams.
            row["team score" if has_teams else "score"] = step.score
            labels = ensemble.classes_.tolist()
            for k, label in enumerate(labels if len(labels) <= _MOST_CLASSES else []):
                errors = step.class_errors
                row[f"error of {label}"] = None if errors is None else float(errors[k])
        rows.append(row)
    title, promise = f"{type(ensemble).__name__}, {len(rows)} members", _promise(ensemble)
    if ensemble.positive is not None:
        title += f": class {ensemble.positive!r:.80} against the rest"
    by_team = _by_team(ensemble, steps, teams) if has_teams else []
    notes = list(_notes(ensemble, promise))
    return FitSummary(title, rows, notes, promise, by_team, _by_class(ensemble))


def _by_team(ensemble, steps, teams) -> list[dict]:
    """Return a row for each team, and one for all teams together."""
    rows: list[dict] = []
    for name in dict.fromkeys(teams):
        own = [step for step, team in zip(steps, teams, strict=True) if team == name]
        drawn = "all rows" if name == "scouts" else _drawn(own)
        each = _span([step.n_rows for step in own])
        rows.append({"team": name, "members": len(own), "rows each": each, "drawn": drawn})
    rows.append({"team": "together", "members": len(steps), "rows each": None, "drawn": None})
    if scores := ensemble.held_out_scores_:
        for row in rows:
            row[f"held-out {score_name(ensemble)}"] = scores.get(row["team"])
    return rows


def _by_class(ensemble) -> list[dict]:
    """Return a row for each class of more than two, the largest first."""
    if len(ensemble.classes_) == 2:
        return []
    rows = []
    labels = ensemble.classes_.tolist()
    for k in np.argsort(-ensemble.class_counts_, kind="stable"):
        row = {"class": repr(labels[k]), "rows": f"{ensemble.class_counts_[k]:,}"}
        if ensemble.expected_recall_ is not None:
            for name in ("precision", "recall"):
                value = getattr(ensemble, f"expected_{name}_")[k]
                low, high = getattr(ensemble, f"expected_{name}_interval_")[k]
                shown = "" if np.isnan(value) else f"{value:.0%} ({low:.0%} to {high:.0%})"
                row[f"held-out {name}"] = shown
        rows.append(row)
    return rows


def _span(values) -> str:
    """Return the least and the largest of some numbers, once if they are the same."""
    ends = dict.fromkeys(
        f"{value:,}" if isinstance(value, Integral) else f"{value:.2f}"
        for value in (min(values), max(values))
    )
    return " to ".join(ends)


def _drawn(steps) -> str:
    """Return how the members of a team were drawn; the first is always drawn uniformly."""
    for name in ("power", "mu"):
        chosen = [value for step in steps if (value := getattr(step, name)) is not None]
        if chosen:
            return f"by errors, {name} {_span(chosen)}"
    return "uniformly"


def score_name(ensemble) -> str:
    """Return the words for what an ensemble is scored by."""
    return ensemble.scoring.replace("_", " ") if isinstance(ensemble.scoring, str) else "score"


def _notes(ensemble, promise: str) -> Iterator[str]:
    """Yield the lines below the table."""
    held_out = ensemble.held_out_scores_
    if len(held_out) > 1:
        yield (
            "Each held-out row is scored only by the members that were not trained on it: by few "
            "of each team, while new rows are scored by all. Scouts stopped by these rows, so "
            "their own score is a little too high. All scores are before calibration."
        )
    elif len(ensemble.scores_):
        yield (
            f"score: {score_name(ensemble)} on the validation rows. error: mean of "
            "1 - p(true class) on the validation rows. Both are before calibration."
        )
    if (signal := getattr(ensemble, "signal_", None)) is not None:
        yield f"Signal: {signal:.0f}, " + (
            "the number of boosting rounds after which scouts stopped improving on held-out rows."
            if held_out
            else "a usual value: without held-out rows it cannot be measured."
        )
    elif hasattr(ensemble, "signal_") and ensemble.estimator is None:
        yield (
            "The smallest class has fewer than 25 rows: too few for scouts, and so for teams. All "
            "members are trees."
        )
    if rivals := getattr(ensemble, "rivals_", ()):
        met = " and ".join(f"{mu:g}" for mu in rivals)
        chosen = "Neither was clearly better" if len(rivals) > 1 else "It was not better"
        chosen += ", so the meta-sampler chose mu."
        if ensemble.rival_ is not None:
            chosen = f"mu = {ensemble.rival_:g} was clearly better on the validation rows, so it "
            chosen += "took the place of the meta-sampler."
        yield f"Rivals: constant mu {met}. {chosen}"
    yield f"Calibration: {ensemble.calibration_.name}."
    if promise:
        yield promise
    yield from (f"Look at this: {each}" for each in ensemble.findings_)
    if ensemble.refit_:
        yield "All numbers come from the fit with held-out rows, before the refit on all rows."


def _promise(ensemble) -> str:
    """Return when `predict` calls the minority class, and what to expect of it."""
    if len(ensemble.classes_) != 2:
        return _promise_of_classes(ensemble)
    label = ensemble.classes_[ensemble.classes_ == ensemble.minority_class_].tolist()[0]
    reach = f"if its probability is {ensemble.threshold_:.4f} or more"
    which = "" if ensemble.positive is None else f", class {ensemble.positive!r:.80},"
    text = f"predict returns {label!r}{which} {reach}."
    expected = [
        f"{_share(name, value)} ({low:.0%} to {high:.0%})"
        for name, value, interval in (
            ("recall", ensemble.expected_recall_, ensemble.expected_recall_interval_),
            ("precision", ensemble.expected_precision_, ensemble.expected_precision_interval_),
        )
        if value is not None and interval is not None
        for low, high in [interval]
    ]
    if not expected:
        return text
    return f"{text} On new rows like these expect {' and '.join(expected)}; 95% intervals."


def _promise_of_classes(ensemble) -> str:
    """Return how `predict` chooses among many classes, and what to expect of it."""
    text = f"predict returns {_chosen_class(ensemble._rule)}."
    if ensemble.expected_recall_ is None:
        return text
    mean = np.nanmean(ensemble.expected_recall_)
    return f"{text} On held-out rows the mean recall of the classes is {mean:.0%}."


def _chosen_class(rule) -> str:
    if rule is None:
        return "the most probable class"
    if rule == "balanced":
        return "the class that is most probable compared with its frequency"
    if rule == "macro_f1":
        return "the class that gives the best mean F1 of the classes"
    name, value = rule
    if name == "cost":
        return "the class with the lowest expected cost"
    wanted = " and ".join(f"{share:.0%} of class {label!r:.80}" for label, share in value.items())
    return f"the class as 'balanced' does, but so that {wanted} should be found"


def _share(name: str, value: float) -> str:
    return f"a {name} of {value:.0%}"
