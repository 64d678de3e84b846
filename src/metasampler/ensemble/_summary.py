"""What a fit did, member by member."""

from collections.abc import Iterator
from io import StringIO
from numbers import Integral

__all__ = ["FitSummary", "summarise"]


# A screen has 24 lines; title, head and notes take the rest.
_MOST_ROWS = 12


class FitSummary:
    """A table with one row a member; `print` it, or take its `rows`.

    Parameters
    ----------
    title : str
    rows : list of dict
        One entry a member, all with the same keys.
    notes : list of str
        Lines below the table.
    promise : str, default=""
        The line that says when `predict` returns the smallest class, and what held-out rows say of
        that.
    """

    def __init__(self, title: str, rows: list[dict], notes: list[str], promise: str = ""):
        self.title = title
        self.rows = rows
        self.notes = notes
        self.promise = promise

    def __str__(self):
        return self.to_text()

    def to_text(self, *, all_members: bool = False) -> str:
        """Return the summary as a text.

        Parameters
        ----------
        all_members : bool, default=False
            Whether every member has its line. Otherwise of many members the first and the last of
            each team have, so that the text fits on a screen.

        Returns
        -------
        text : str
        """
        # rich draws the table, and is imported only here.
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(title=self.title, title_justify="left")
        for name in self.rows[0]:
            # As text: a label may hold brackets, which mean something to rich.
            table.add_column(Text(name), justify="right", min_width=6)
        for row in self.rows if all_members else self._shown():
            # Three dots stand for the members between.
            table.add_row(*(map(_show, row.values()) if row else ["..."] * len(self.rows[0])))
        stream = StringIO()
        console = Console(
            file=stream, width=max(100, 12 * len(self.rows[0])), color_system=None, soft_wrap=True
        )
        console.print(table)
        for note in self.notes:
            console.print(Text(note))
        return stream.getvalue()

    __repr__ = __str__

    def _shown(self) -> Iterator[dict]:
        """Yield the rows that fit on a screen; an empty one stands for those left out."""
        if len(self.rows) <= _MOST_ROWS:
            yield from self.rows
            return
        teams = [row.get("team") for row in self.rows]
        names = list(dict.fromkeys(teams))
        at_an_end = max(1, (_MOST_ROWS - len(names)) // (2 * len(names)))
        for name in names:
            rows = [row for row, team in zip(self.rows, teams, strict=True) if team == name]
            if len(rows) <= 2 * at_an_end + 1:
                yield from rows
            else:
                yield from rows[:at_an_end]
                yield {}
                yield from rows[-at_an_end:]


def _show(value) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def summarise(ensemble, steps, teams) -> FitSummary:
    """Return the summary of a fitted under-sampling ensemble.

    Parameters
    ----------
    ensemble : BaseUnderSamplingEnsemble
        The fitted ensemble.
    steps : list of GrowthStep
        How each member came about.
    teams : list of str
        The team of each member.

    Returns
    -------
    summary : FitSummary
    """
    has_mu = any(step.mu is not None for step in steps)
    has_power = any(step.power is not None for step in steps)
    rows = []
    for number, step in enumerate(steps, start=1):
        row: dict = {"member": number}
        if len(set(teams)) > 1:
            row["team"] = teams[number - 1]
        if has_mu:
            row["mu"] = step.mu
        if has_power:
            row["power"] = step.power
        row["rows"] = step.n_rows
        if len(ensemble.scores_):
            row["score"] = step.score
            labels = ensemble.classes_.tolist()
            errors = [None] * len(labels) if step.class_errors is None else step.class_errors
            for label, error in zip(labels, errors, strict=True):
                row[f"error of {label}"] = None if error is None else float(error)
        rows.append(row)
    title = f"{type(ensemble).__name__}, {len(rows)} members"
    return FitSummary(title, rows, list(_notes(ensemble)), _promise(ensemble))


def _notes(ensemble) -> Iterator[str]:
    """Yield the lines below the table."""
    if len(ensemble.scores_):
        scoring = ensemble.scoring if isinstance(ensemble.scoring, str) else "score"
        yield (
            f"score: {scoring} of the validation rows. error: mean of 1 - p(true class) of the "
            "validation rows. Both are before calibration."
        )
    if (signal := getattr(ensemble, "signal_", None)) is not None:
        yield f"Signal: {signal:.0f}, by the rounds of boosting that pay on rows scouts leave out."
    elif hasattr(ensemble, "signal_") and isinstance(ensemble.estimator, (str, type(None))):
        yield (
            "The smallest class has fewer than 75 rows, too few for teams: trees, which did best "
            "in development, took their place."
        )
    if rivals := getattr(ensemble, "rivals_", ()):
        met = " and ".join(f"{mu:g}" for mu in rivals)
        if ensemble.rival_ is None:
            chosen = "Neither was clearly better" if len(rivals) > 1 else "It was not better"
            yield f"Rivals: constant mu {met}. {chosen}, so the meta-sampler chose mu."
        else:
            yield (
                f"Rivals: constant mu {met}. mu = {ensemble.rival_:g} was clearly better on the "
                "validation rows, so it took the place of the meta-sampler."
            )
    yield f"Calibration: {ensemble.calibration_.name}."
    if promise := _promise(ensemble):
        yield promise
    if ensemble.refit_:
        yield "All numbers come from the fit with held-out rows, before the refit on all rows."


def _promise(ensemble) -> str:
    """Return when `predict` calls the minority class, and what held-out rows say of that."""
    if len(ensemble.classes_) != 2:
        return ""
    label = ensemble.classes_[ensemble.classes_ == ensemble.minority_class_].tolist()[0]
    reach = f"where its probability is {ensemble.threshold_:.4f} or more"
    rule = ensemble.threshold
    if isinstance(rule, (tuple, list)) and rule[0] == "top" and isinstance(rule[1], Integral):
        reach = (
            f"for the {rule[1]:,} most probable of the rows it gets; of as many rows as fit saw, "
            f"{ensemble.class_counts_.sum():,}, those with {ensemble.threshold_:.4f} or more"
        )
    text = f"predict returns {label!r} {reach}"
    if ensemble.expected_recall_ is not None:
        text += f"; this finds {ensemble.expected_recall_:.0%} of it in the held-out rows"
        if ensemble.expected_precision_ is not None:
            text += f", with a precision of {ensemble.expected_precision_:.0%}"
    return f"{text}."
