"""What a fit did, member by member."""

from io import StringIO

__all__ = ["FitSummary"]


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
