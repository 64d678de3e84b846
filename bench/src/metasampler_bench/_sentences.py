"""Find the sentences that a spec's rows can say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from metasampler_bench._board_sentences import BOARD_SENTENCES
from metasampler_bench._draw_sentences import DRAW_SENTENCES
from metasampler_bench._look import Look
from metasampler_bench._paper_sentences import PAPER_SENTENCES
from metasampler_bench._review_sentences import REVIEW_SENTENCES
from metasampler_bench._rows import finished
from metasampler_bench._spec import Spec
from metasampler_bench._table_summaries import sentences as table_sentences

__all__ = ["SENTENCES", "say"]

#: What is said of the rows of a spec, by its name.
SENTENCES: dict[str, Callable[[Look], str]] = {
    **PAPER_SENTENCES,
    **REVIEW_SENTENCES,
    **BOARD_SENTENCES,
    **DRAW_SENTENCES,
}


def say(spec: Spec, rows: list[dict[str, Any]]) -> str:
    """Return the sentences that open a spec's page; nothing but rows enters them.

    Parameters
    ----------
    spec : Spec
    rows : list of dict

    Returns
    -------
    text : str
        Empty if the rows say nothing yet.
    """
    if spec.name == "tables":
        return table_sentences(spec, rows)
    done = [row for row in finished(rows) if "quick" not in row["cell"]]
    return SENTENCES[spec.name](Look(spec, done)) if done and spec.name in SENTENCES else ""
