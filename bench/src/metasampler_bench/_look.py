"""Look numbers up in rows, and write them."""

from __future__ import annotations

from typing import Any

import numpy as np

from metasampler_bench._paired import Difference, at, by_split, compare
from metasampler_bench._rows import Row, axis_order, axis_value, finished, paper_value
from metasampler_bench._spec import Spec

__all__ = ["TABLE_RULE", "Look", "bullets", "count", "fold", "listed", "short", "text_table"]

#: How the rule below the head of a table begins.
TABLE_RULE = "|---|"


class Look:
    """Rows of one spec, asked for by the values of axes; what is not named is as usual.

    Parameters
    ----------
    spec : Spec
    rows : list of dict
    """

    def __init__(self, spec: Spec, rows: list[Row]):
        self.spec = spec
        self.rows = finished(rows)

    def values(self, axis: str, **where: Any) -> list[Any]:
        """Return the values of an axis that occur, in the order of the spec."""
        found = (row["cell"] for row in self.rows)
        chosen = [
            cell for cell in found if all(cell.get(name) == value for name, value in where.items())
        ]
        return axis_order(
            self.spec, axis, (axis_value(cell, axis) for cell in chosen if axis in cell)
        )

    def has(self, **where: Any) -> bool:
        """Say whether there are rows."""
        return bool(at(self.rows, where))

    def mean(self, number: Any = "score", **where: Any) -> float:
        """Return the mean of a number over runs and folds; NaN without rows."""
        found = by_split(at(self.rows, where), number)
        return float(np.mean(list(found.values()))) if found else float("nan")

    def fits(self, **where: Any) -> int:
        """Return how many fits stand behind a number."""
        return len(at(self.rows, where))

    def paper(self, **where: Any) -> float | None:
        """Return the paper's number of a place."""
        return paper_value(self.spec, where, "score")

    def compare(self, own: dict[str, Any], other: dict[str, Any]) -> Difference:
        """Return the paired difference of two places."""
        return compare(self.rows, own, other)


def short(value: float, digits: int = 3) -> str:
    """Write a score without the zero before the point, as the text of pages does.

    Examples
    --------
    >>> from metasampler_bench._look import short
    >>> short(0.6584), short(-0.05, 2), short(1.0)
    ('.658', '-.05', '1.000')
    """
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def bullets(texts: Any) -> str:
    """Write several things one below the other, as a list in Markdown.

    Examples
    --------
    >>> from metasampler_bench._look import bullets
    >>> print(bullets(["a", "b"]))
    - a
    - b
    """
    return "\n".join(f"- {text}" for text in texts)


def fold(title: str, text: str) -> str:
    """Return Markdown that a reader has to unfold.

    Examples
    --------
    >>> from metasampler_bench._look import fold
    >>> print(fold("More", "text"))
    <details>
    <summary>More</summary>
    <BLANKLINE>
    text
    <BLANKLINE>
    </details>
    """
    return f"<details>\n<summary>{title}</summary>\n\n{text}\n\n</details>"


def listed(values: Any) -> str:
    """Write several things one after the other.

    Examples
    --------
    >>> from metasampler_bench._look import listed
    >>> listed(["a", "b", "c"]), listed(["a"]), listed([])
    ('a, b and c', 'a', 'none')
    """
    texts = [str(value) for value in values]
    if len(texts) < 2:
        return texts[0] if texts else "none"
    return ", ".join(texts[:-1]) + " and " + texts[-1]


def text_table(header: list[str], lines: list[list[str]]) -> str:
    """Write a table in Markdown; the first column is on the left, all others on the right.

    Examples
    --------
    >>> from metasampler_bench._look import text_table
    >>> print(text_table(["set", "score"], [["ecoli", ".7"]]))
    | set | score |
    |---|---:|
    | ecoli | .7 |
    """
    first, *others = (f"| {' | '.join(line)} |" for line in [header, *lines])
    return "\n".join([first, TABLE_RULE + "---:|" * (len(header) - 1), *others])


def count(part: int, whole: int) -> str:
    """Write how many of how many."""
    return f"{part} of {whole}"
