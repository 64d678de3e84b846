"""What a fit did, member by member."""

from collections.abc import Iterator
from io import StringIO

__all__ = ["FitSummary", "summarise"]


class FitSummary:
    """A table with one row a member; `print` it, or take its `rows`.

    Parameters
    ----------
    title : str
    rows : list of dict
        One entry a member, all with the same keys.
    notes : list of str
        Lines below the table.
    """

    def __init__(self, title: str, rows: list[dict], notes: list[str]):
        self.title = title
        self.rows = rows
        self.notes = notes

    def __str__(self):
        # rich draws the table, and is imported only here.
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(title=self.title, title_justify="left")
        for name in self.rows[0]:
            # As text: a label may hold brackets, which mean something to rich.
            table.add_column(Text(name), justify="right", min_width=6)
        for row in self.rows:
            table.add_row(*(_show(value) for value in row.values()))
        stream = StringIO()
        console = Console(
            file=stream, width=max(100, 12 * len(self.rows[0])), color_system=None, soft_wrap=True
        )
        console.print(table)
        for note in self.notes:
            console.print(Text(note))
        return stream.getvalue()

    __repr__ = __str__


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
    return FitSummary(title, rows, list(_notes(ensemble)))


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
    if len(ensemble.classes_) == 2:
        label = ensemble.classes_[ensemble.classes_ == ensemble.minority_class_].tolist()[0]
        note = (
            f"predict returns {label!r} where its probability is {ensemble.threshold_:.4f} or more"
        )
        if ensemble.expected_recall_ is not None:
            note += f"; this finds {ensemble.expected_recall_:.0%} of it in the held-out rows"
            if ensemble.expected_precision_ is not None:
                note += f", with a precision of {ensemble.expected_precision_:.0%}"
        yield note + "."
    if ensemble.refit_:
        yield "All numbers come from the fit with held-out rows, before the refit on all rows."
