"""What has moved since the fit."""

from dataclasses import dataclass
from io import StringIO

# Columns that a text lists.
_MOST_LISTED = 12


@dataclass(frozen=True)
class ColumnDrift:
    """What has become of a column since the fit.

    Attributes
    ----------
    name : str
        The column's name, or ``"column 3"`` if the table of the fit had none.
    kind : {"number", "category"}
        What it holds; a date is a number of days.
    finding : {"empty", "constant", "new levels", "outside", "moved a lot", "moved", ""}
        What is wrong; ``""`` if nothing is.
    why : str
        One sentence.
    psi : float
        The population stability index, less what chance alone gives.
    p_value : float
        Of a chi-squared test that the rows come from the same distribution as those of the fit.
    missing_before, missing : float
        Share of the rows without a value, at the fit and now.
    unlike : float
        Share of the rows with a level, or a value beyond all values, that fit did not see.
    """

    name: str
    kind: str
    finding: str
    why: str
    psi: float
    p_value: float
    missing_before: float
    missing: float
    unlike: float


@dataclass(frozen=True, repr=False)
class DriftReport:
    """What has moved since the fit; `print` it, or take its attributes.

    Attributes
    ----------
    n_rows : int
        Number of new rows.
    columns : list of ColumnDrift
        All columns that were compared.
    score_psi : float
        The population stability index of the scores.
    scores_moved : bool
        Whether the scores have moved: this matters more than any column.
    alarms, expected_alarms : float or None
        Share of the rows that the threshold calls, now and on the held-out rows of the fit.
    unlike, expected_unlike : float
        Share of the rows with any value or level that fit did not see, now and by chance.
    """

    n_rows: int
    columns: list[ColumnDrift]
    score_psi: float
    scores_moved: bool
    alarms: float | None
    expected_alarms: float | None
    unlike: float
    expected_unlike: float

    @property
    def moved(self) -> list[ColumnDrift]:
        """The columns with a finding, those that moved most first."""
        found = [each for each in self.columns if each.finding]
        return sorted(found, key=lambda each: -each.psi)

    @property
    def rows(self) -> list[dict]:
        """One dict per column, for a data frame or JSON."""
        return [vars(each) for each in self.columns]

    @property
    def lines(self) -> list[str]:
        """The report in sentences, without the columns."""
        n_moved = len(self.moved)
        of_columns = f"{n_moved:,} of {len(self.columns):,} columns have changed"
        scores = "have moved" if self.scores_moved else "have not moved"
        lines = [
            f"Drift in {self.n_rows:,} rows: {of_columns}; scores {scores} "
            f"(PSI {self.score_psi:.2f})."
        ]
        if self.alarms is not None:
            text = f"Alarms: {self.alarms:.2%} of the rows"
            if self.expected_alarms is not None:
                text += f"; {self.expected_alarms:.2%} of the held-out rows of the fit"
            lines.append(f"{text}.")
        chance = f" ({self.expected_unlike:.1%} by chance)" if self.expected_unlike else ""
        lines.append(
            f"{self.unlike:.1%} of the rows have a value or level that fit did not see{chance}."
        )
        return lines

    def __str__(self):
        text = "\n".join(self.lines) + "\n"
        moved = self.moved
        if not moved:
            return text
        # rich draws the table, and is imported only here.
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
        for name in ("column", "finding", "PSI", "what has changed"):
            table.add_column(name, overflow="fold", justify="right" if name == "PSI" else "left")
        for each in moved[:_MOST_LISTED]:
            cells = (each.name, each.finding, f"{each.psi:.2f}", each.why)
            table.add_row(*map(Text, cells))
        if len(moved) > _MOST_LISTED:
            table.add_row("...", "", "", f"and {len(moved) - _MOST_LISTED:,} more columns")
        stream = StringIO()
        Console(file=stream, width=110, color_system=None).print(table)
        return text + stream.getvalue()

    __repr__ = __str__
