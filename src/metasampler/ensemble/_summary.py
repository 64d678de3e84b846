"""What a fit did, member by member."""

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


def summarise(ensemble, records: list[dict]) -> FitSummary:
    """The summary of a fitted under-sampling ensemble.

    Parameters
    ----------
    ensemble : BaseUnderSamplingEnsemble
    records : list of dict
        What is known of each member.
    """
    classes, minority = ensemble.classes_, ensemble.minority_class_
    rows = []
    for number, record in enumerate(records, start=1):
        row: dict = {"member": number}
        if any("mu" in other for other in records):
            row["mu"] = record.get("mu")
        row["rows"] = record["n_rows"]
        if record.get("score") is not None:
            row["score"] = record["score"]
            for label, error in zip(classes.tolist(), record["errors"], strict=True):
                row[f"error of {label}"] = float(error)
        rows.append(row)
    notes = []
    if len(ensemble.scores_):
        scoring = ensemble.scoring if isinstance(ensemble.scoring, str) else "score"
        notes.append(
            f"score: {scoring} of the validation rows; error: mean of 1 - p(true class) of the "
            "validation rows, before calibration."
        )
    if rivals := getattr(ensemble, "rivals_", ()):
        met = ", ".join(f"{mu:g}" for mu in rivals)
        rival = "none" if ensemble.rival_ is None else f"{ensemble.rival_:g}"
        notes.append(f"The meta-sampler met the constant mu {met}; {rival} was clearly better.")
    notes.append(f"Calibration: {ensemble.calibration_.name}.")
    if len(classes) == 2:
        label = classes[classes == minority].tolist()[0]
        note = f"predict says {label!r} from a probability of {ensemble.threshold_:.4f} on"
        if ensemble.expected_recall_ is not None:
            precision = ensemble.expected_precision_
            note += f"; of the held-out rows this finds {ensemble.expected_recall_:.0%}"
            note += "" if precision is None else f", with a precision of {precision:.0%}"
        notes.append(note + ".")
    if ensemble.refit_:
        notes.append("All of this is about the fit with held-out rows, before the refit.")
    return FitSummary(f"{type(ensemble).__name__}, {len(rows)} members", rows, notes)
