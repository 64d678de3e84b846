"""From Parquet files that need not fit in memory to a task: a sample shows what is in them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import typer

from metasampler.cli import _table_input
from metasampler.cli._table_input import Task
from metasampler.datasets import ParquetRows

# Rows by which columns are judged: enough to tell an identifier from a number.
_SAMPLE = 100_000


def read_in_parts(
    path: Path,
    target: str | None,
    memory: str,
    *,
    drop: Iterable[str] | None = None,
    keep: Iterable[str] | None = None,
    positive: str | None = None,
    **reading: str | None,
) -> Task:
    """Return the task of a Parquet file or folder: all labels, and a sample of the rows.

    The sample has every n-th row of all, so that it does not depend on how the rows are stored.
    """
    rows = ParquetRows(path, target, memory=memory)
    try:
        blocks = rows.make_blocks()
    except (ImportError, OSError, ValueError) as error:
        hint = "--memory" if "memory=" in str(error) else "FILE"
        raise typer.BadParameter(str(error), param_hint=hint) from error
    if target is None:
        raise typer.BadParameter(
            "name the column of the classes: with a folder it is not guessed.",
            param_hint="--target",
        )
    samples, labels, start = [], [], 0
    step = -(-max(1, sum(block.n_rows for block in blocks)) // _SAMPLE)
    for block in blocks:
        frame = block.read()
        if target not in frame.columns:
            raise typer.BadParameter(
                f"{path.name} has no column {target!r}; it has {', '.join(map(str, frame))}.",
                param_hint="--target",
            )
        labels.append(frame[target])
        sample = frame.iloc[-start % step :: step]
        samples.append(sample[_table_input.has_class(sample[target])])
        start += len(frame)
    options: dict[str, Any] = {"drop": drop, "keep": keep, "positive": positive, **reading}
    column = pd.concat(labels, ignore_index=True)
    known = _table_input.rows_with_class(column, target)
    y, classes = _table_input.encode_target(column[known], target)
    sample = pd.concat(samples, ignore_index=True)
    task = _table_input.make_task(sample, path.name, target, (y, classes), **options)
    return replace(task, known=known.to_numpy())


def with_source(
    task: Task, path: Path, target: str, memory: str, group: str | None, time: str | None
) -> Task:
    """Return the task with the rows that a fit reads one partition at a time."""
    source = _CleanedRows(path, target, memory=memory, group=group, time=time)
    source.task = task
    return replace(task, source=source)


class _CleanedRows(ParquetRows):
    """The rows of Parquet files as a model on the command line gets them.

    Columns are left out and dates are read as the cleaner of the task says, and labels are those of
    the task.
    """

    task: Task

    def make_blocks(self, *, labels_only: bool = False) -> list:
        """Return the blocks; labels are known already."""
        blocks, start = [], 0
        known, labels = self.task.known, self.task.classes[self.task.y]
        before = np.concatenate([[0], np.cumsum(known)])
        for block in super().make_blocks():
            stop = start + block.n_rows
            blocks.append(
                _CleanedBlock(
                    None if labels_only else block,
                    self.label,
                    labels[before[start] : before[stop]],
                    known[start:stop],
                    self.task.cleaner,
                    tuple(name for name in (self.group, self.time) if name is not None),
                )
            )
            start = stop
        return blocks

    def plain_names(self) -> None:
        """Return nothing: what the cleaner makes of columns is seen from its blocks."""


class _CleanedBlock(NamedTuple):
    """A block whose columns are cleaned when it is read; None has labels only."""

    block: Any
    label: str
    labels: np.ndarray
    #: Which of its rows have a class: others are left out.
    known: np.ndarray
    cleaner: Any
    #: Columns of groups and times, which members do not learn from.
    marks: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        return len(self.labels)

    def read(self) -> pd.DataFrame:
        if self.block is None:
            return pd.DataFrame({self.label: self.labels})
        rows = self.block.read()[self.known]
        table = self.cleaner.transform(rows.drop(columns=[self.label, *self.marks]))
        marks = {name: rows[name].to_numpy() for name in self.marks}
        return table.assign(**{self.label: self.labels}, **marks)
