"""Count the fits behind the cells of pages, and the cells that were not run."""

from __future__ import annotations

from typing import Any

from metasampler_bench._look import Look, count, listed
from metasampler_bench._rows import finished
from metasampler_bench._spec import AXES, list_specs, load_spec
from metasampler_bench._store import cell_key, row_key
from metasampler_bench._tables import ResultTable

__all__ = ["count_fits", "say_what_is_left"]

#: Cells with fewer fits are named on the page.
_ENOUGH = 8
#: What a reviewer would ask beyond the paper's tables and figures.
_REVIEW = ("seeds", "sensitivity", "validation-size", "own-members", "authors-recipe", "deep")


def count_fits(looks: dict[str, Look]) -> ResultTable:
    """Count the fits behind each cell of the paper's tables and figures, and of its reviewers'."""
    lines = []
    for name, look in looks.items():
        if look.spec.kind == "facts" or not (look.spec.paper or name in _REVIEW):
            continue
        cells: dict[str, dict[Any, int]] = {}
        for row in finished(look.rows):
            cell = row["cell"]
            key = tuple((axis, str(cell[axis])) for axis in AXES if axis in cell)
            where = cells.setdefault(_where(look, cell), {})
            where[key] = where.get(key, 0) + 1
        # Data sets that have as many of everything share a line.
        alike: dict[tuple[str, ...], list[str]] = {}
        for place, found in cells.items():
            counts = sorted(found.values())
            few = sum(n < _ENOUGH for n in counts)
            span = f"{counts[0]}" if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]}"
            alike.setdefault((str(len(counts)), span, str(few)), []).append(place)
        for numbers, places in alike.items():
            lines.append([look.spec.paper or "-", name, ", ".join(sorted(places)), *numbers])
    lines.sort(key=_place_in_the_paper)
    return ResultTable.from_texts(
        "How many fits stand behind a cell",
        ["in the paper", "bench", "data sets", "cells each", "fits each", f"below {_ENOUGH}"],
        lines,
        "A fit is one run and fold (on the authors' split one seed). Costs of Table 1 are measured "
        "once.",
    )


def _where(look: Look, cell: dict[str, Any]) -> str:
    """Return the data set of a cell, and the sampler's where that is one of fewer fits."""
    dataset, task = str(cell.get("dataset", cell.get("tasks"))), cell.get("meta_task")
    if task != dataset and task in look.spec.fits:
        return f"samplers of {task} elsewhere"
    return dataset


def _place_in_the_paper(line: list[str]) -> tuple[str, int]:
    """Return by what lines are in order: figures, tables, and what the paper does not have."""
    kind, _, number = line[0].partition(" ")
    return kind.replace("-", "~"), int(number.rstrip(",") or 0)


def say_what_is_left(looks: dict[str, Look]) -> str:
    """Count the cells that the specs of the paper and of its reviewers name and no row has."""
    texts = []
    for spec in map(load_spec, list_specs()):
        name = spec.name
        if not (spec.paper or name in _REVIEW):
            continue
        # Networks are part of a spec only where PyTorch is installed.
        cells = [cell for job in spec.jobs() for cell in job.cells if not _is_network(cell)]
        stored = {row_key(row) for row in looks[name].rows} if name in looks else set()
        left = sum(cell_key(cell) not in stored for cell in cells)
        if left:
            texts.append(f"`{name}` {count(left, len(cells))}")
    if not texts:
        return "No cell is left to compute."
    return f"Cells that were not run yet, or failed (networks aside): {listed(texts)}."


def _is_network(cell: dict[str, Any]) -> bool:
    return str(cell.get("method", "")).startswith("network")
