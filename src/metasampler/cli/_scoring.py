"""Scoring a file of any size: probabilities, decisions and ranks, in the memory of one chunk."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import typer

from metasampler._pipelines import unwrap
from metasampler._running import progress_bar
from metasampler._warnings import warn_user
from metasampler._writing import folder_beside
from metasampler.cli._file_options import columns_of_model, missing_columns
from metasampler.cli._per_day import DailyRows
from metasampler.cli._ranks import rank_scores
from metasampler.cli._score_writer import writing_scores
from metasampler.datasets import TableFile
from metasampler.drift import DriftMonitor
from metasampler.explain import check_explainable, explain_rows
from metasampler.tables import (
    NO_DAY,
    Separators,
    quiet_cells,
    texts_of,
    time_numbers,
    unread_cells,
)

#: What is written of every row, if there are two classes.
OWN_COLUMNS = ("probability", "decision", "rank")

# How spreadsheets know a formula, also after blanks and line feeds.
_FORMULA = ("=", "+", "-", "@")
_BEFORE_FORMULA = ("\t", "\r")


class Scorer:
    """A stored model, as rows of a file need it.

    Parameters
    ----------
    model : classifier or pipeline
        The model.
    metadata : dict
        What is known of it.
    must_watch : bool, default=False
        Whether a model that cannot say what has moved since its fit is an error.
    n_reasons : int, default=0
        How many reasons each row gets. Then a model that cannot be explained is an error.
    """

    def __init__(
        self,
        model: Any,
        metadata: dict[str, Any],
        *,
        must_watch: bool = False,
        n_reasons: int = 0,
    ):
        self.model = model
        self.classes = np.asarray(model.classes_)
        self.before, self.final = unwrap(model)
        self._n_called = metadata.get("n_called")
        #: Whether the rows to call are those of each day, and the column that says when rows came.
        self.per_day = bool(metadata.get("per_day"))
        self.time: str | None = metadata.get("time")
        self._time_format: str | None = metadata.get("time_format")
        #: Columns that the model needs; None if it knows them by their number only.
        self.columns: list[str] | None
        self.columns, self.texts = columns_of_model(metadata)
        self._kinds: dict[str, str] = metadata.get("column_kinds") or {}
        #: Columns that the file lacks: all their values are missing.
        self.absent: list[str] = []
        watches = must_watch or getattr(self.final, "_baseline", None) is not None
        #: Compares the rows with those of the fit, if the model can.
        self.monitor = DriftMonitor(self.final) if watches else None
        self.positive = int(np.argmax(self.classes == self._positive(metadata)))
        self.n_reasons = n_reasons
        if n_reasons:
            check_explainable(model)

    def _positive(self, metadata: dict[str, Any]) -> Any:
        named = metadata.get("positive")
        if named is not None and named in self.classes.tolist():
            return named
        return getattr(self.final, "minority_class_", self.classes[-1])

    @property
    def n_called(self) -> int | None:
        """The number of rows to call, if the fit was given one: then the whole file decides."""
        n_called = self._n_called
        is_number = isinstance(n_called, int) and n_called > 0 and len(self.classes) == 2
        return n_called if is_number else None

    @property
    def read_columns(self) -> list[str] | None:
        """The columns to read; None for all."""
        if self.columns is None or self.time is None:
            return self.columns
        return list(dict.fromkeys([*self.columns, self.time]))

    @property
    def read_as_texts(self) -> list[str]:
        """The columns to read as texts."""
        if self.time is None or self._time_format in ("number", "date", None):
            return self.texts
        return [*self.texts, self.time]

    def days(self, frame: Any) -> np.ndarray:
        """Return the day of each row, `NO_DAY` where there is none."""
        assert self.time is not None
        name, column = f"column {self.time!r}", frame[self.time]
        return time_numbers(column, name, self._time_format, gaps=True).days

    def number_columns(self, file: TableFile) -> list[str]:
        """Return the columns of a file that the model takes as plain numbers."""
        own = [name for name in self.columns or () if self._kinds.get(name, "number") == "number"]
        return [name for name in own if name in file.columns and name not in self.texts]

    @property
    def reason_names(self) -> list[str]:
        """What the columns of reasons are called."""
        return [f"reason_{number}" for number in range(1, self.n_reasons + 1)]

    def __call__(self, frame: Any) -> tuple[np.ndarray, np.ndarray, list[list[str]]]:
        """Return the probabilities of some rows, the positions of their classes, and reasons."""
        if self.absent:
            frame = frame.assign(**dict.fromkeys(self.absent, np.nan))
        given = rows = frame.to_numpy() if self.columns is None else frame[self.columns]
        for step in self.before:
            rows = step.transform(rows)
        proba = self.final.predict_proba(rows)
        if self.monitor is not None:
            self.monitor.add(rows, proba)
        if hasattr(self.final, "decide"):
            decided = self.final.decide(proba)
        else:
            decided = self.final.predict(rows)
        places = np.searchsorted(self.classes, decided)
        return proba, places, self._reasons(given, places) if self.n_reasons else []

    def _reasons(self, rows: Any, places: np.ndarray) -> list[list[str]]:
        """Return the reasons of each row: for the class to find, or the one that it is given."""
        if len(self.classes) == 2:
            places = np.full(len(places), self.positive)
        # The whole model, so that columns have the names and values of the file.
        with quiet_cells():
            found = explain_rows(self.model, rows, class_label=self.classes[places])
        return found.texts(self.n_reasons)


@contextmanager
def judging_together(scorer: Scorer, file: TableFile, chunk_rows: int) -> Iterator[Any]:
    """Judge the cells of all chunks of a file together, whatever the size of a chunk is.

    What cannot be read is counted over all of them, and so are commas in columns of numbers.
    """
    found: dict[str, Separators] = {}
    numbers = scorer.number_columns(file)
    texts = file.text_columns(numbers, max(chunk_rows, 10_000)) if numbers else []
    if texts:
        found = {name: Separators() for name in texts}
        for frame in file.chunks(chunk_rows, columns=texts, texts=texts):
            for name in texts:
                found[name].add(*texts_of(frame[name]))
        scorer.texts = [*scorer.texts, *texts]
    with unread_cells() as unread:
        unread.separators = found
        yield unread


def check_columns(scorer: Scorer, table: TableFile, choice: str) -> None:
    """Refuse a file without the columns that the model needs, unless they may be missing."""
    if scorer.columns is None:
        wanted = scorer.model.n_features_in_
        if len(table.columns) != wanted:
            raise typer.BadParameter(
                f"{table.name} has {len(table.columns)} columns; the model was fitted without "
                f"column names, and takes {wanted} columns of numbers.",
                param_hint="FILE",
            )
        return
    scorer.absent = missing_columns(scorer.columns, table.columns, table.name, choice)


def score_file(
    scorer: Scorer,
    file: TableFile,
    output: Path,
    *,
    kept: list[str],
    chunk_rows: int,
    escape: bool = False,
) -> tuple[int, int, DailyRows | None]:
    """Score a file, write the result beside columns of the file that are kept.

    Return the number of rows, how many are called the class to find, and on which days if the
    column of the time is known. ``escape`` keeps programs from taking copied texts for formulas.
    """
    with (
        writing_scores(output) as writer,
        folder_beside(output) as folder,
        progress_bar("predict", 100, enabled=sys.stderr.isatty(), transient=True) as advance,
    ):
        shown = 0

        def show(part: float, note: str) -> None:
            nonlocal shown
            percent = min(100, round(100 * part))
            advance(note, steps=max(0, percent - shown))
            shown = max(shown, percent)

        places = _Places(folder, len(scorer.classes), scorer.positive, scorer.reason_names)
        by_day = scorer.time is not None and len(scorer.classes) == 2
        daily = DailyRows(scorer.n_called if scorer.per_day else None) if by_day else None
        without_day = _WithoutDay()
        with judging_together(scorer, file, chunk_rows) as unread:
            options: Any = {"columns": scorer.read_columns, "texts": scorer.read_as_texts}
            for frame in file.chunks(chunk_rows, **options):
                if len(frame):
                    proba, decided, reasons = scorer(frame)
                    if daily is not None:
                        score, called = proba[:, scorer.positive], decided == scorer.positive
                        days = scorer.days(frame)
                        daily.add(score, called, days, places.n_rows)
                        without_day.add(frame[scorer.time], days == NO_DAY, places.n_rows)
                    places.add(proba, decided, reasons)
                    unread.next_rows(len(frame))
                show(0.8 * file.part_read, f"{places.n_rows:,} rows")
        if not places.n_rows:
            raise ValueError(f"{file.name} has no rows.")
        without_day.warn(scorer)
        places.rank(None if scorer.per_day else scorer.n_called, chunk_rows)
        if daily is not None and daily.n is not None:
            places.call(daily.called)
        again = file.chunks(chunk_rows, columns=kept, raw=True) if kept else None
        for part in places.parts(chunk_rows):
            frame = part.frame(scorer)
            if escape and scorer.n_reasons:
                frame = frame.assign(**escape_formulas(frame[scorer.reason_names]))
            if again is not None:
                copied = next(again).reset_index(drop=True)
                if len(copied) != len(frame):
                    raise ValueError(f"{file.name} has changed while it was read.")
                copied = escape_formulas(copied[kept]) if escape else copied[kept]
                frame = pd.concat([copied, frame], axis=1)
            writer.write(frame)
            show(0.8 + 0.2 * part.stop / places.n_rows, "writing")
    return places.n_rows, places.n_called, daily


class _WithoutDay:
    """Rows without a time that can be read."""

    def __init__(self) -> None:
        self.n_rows, self.n_seen = 0, 0
        self.example = ""

    def add(self, column: Any, missing: np.ndarray, start: int) -> None:
        """Count the rows of a chunk that begins with this row."""
        if missing.any() and not self.n_rows:
            first = int(np.argmax(missing))
            value = column.iloc[first]
            held = "nothing" if pd.isna(value) else repr(str(value)[:40])
            self.example = f"for instance {held} in row {start + first + 1:,}"
        self.n_rows += int(missing.sum())
        self.n_seen += len(missing)

    def warn(self, scorer: Scorer) -> None:
        """Note that these rows belong to no day."""
        if not self.n_rows:
            return
        have = "has" if self.n_rows == 1 else "have"
        so = "of no day, and not called" if scorer.per_day else "of no day"
        they = "It is" if self.n_rows == 1 else "They are"
        warn_user(
            f"{self.n_rows:,} of {self.n_seen:,} rows {have} no time in {scorer.time!r}, "
            f"{self.example}. {they} {so}."
        )


def escape_formulas(frame: Any) -> Any:
    """Return a frame whose texts and names no spreadsheet takes for formulas.

    Numbers stay numbers.
    """

    def escaped(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        is_one = value.lstrip().startswith(_FORMULA)
        if not is_one and not value.lstrip(" ").startswith(_BEFORE_FORMULA):
            return value
        try:
            float(value)
        except ValueError:
            return f"'{value}"
        return value

    texts = [name for name, kind in frame.dtypes.items() if kind.kind not in "biufcmM"]
    frame = frame.assign(**{name: frame[name].astype(object).map(escaped) for name in texts})
    return frame.rename(columns=escaped)


class _Part:
    """What is known of some rows."""

    def __init__(self, stop: int, proba: np.ndarray, decided: np.ndarray, rank: Any, reasons: Any):
        self.stop, self.proba, self.decided, self.rank = stop, proba, decided, rank
        self.reasons = reasons

    def frame(self, scorer: Scorer) -> Any:
        """Return the rows as they are written."""
        labels = pd.Series(scorer.classes[self.decided])
        if self.rank is None:
            names = [f"probability_{label}" for label in scorer.classes]
            frame = pd.DataFrame(self.proba, columns=names)
            frame = frame.assign(decision=labels)
        else:
            probability = self.proba[:, scorer.positive]
            frame = pd.DataFrame(
                {"probability": probability, "decision": labels, "rank": self.rank}
            )
        return frame if self.reasons is None else pd.concat([frame, self.reasons], axis=1)


class _Places:
    """Probabilities, decisions and ranks of all rows, on disk."""

    def __init__(self, folder: Path, n_classes: int, positive: int, reason_names: list[str]):
        self.n_classes, self.positive = n_classes, positive
        self._reason_names, self._reasons = reason_names, folder / "reasons"
        self._proba, self._scores = folder / "proba", folder / "scores"
        self._decided, self._ranks = folder / "decided", folder / "ranks"
        self.n_rows = 0
        self.n_called = 0

    def add(self, proba: np.ndarray, decided: np.ndarray, reasons: list[list[str]]) -> None:
        """Keep the model's answers for the next rows."""
        self.n_rows += len(proba)
        self.n_called += int((decided == self.positive).sum())
        for path, values in (
            (self._proba, proba.astype("<f8")),
            (self._scores, proba[:, self.positive].astype("<f8")),
            (self._decided, decided.astype("<i4")),
        ):
            with open(path, "ab") as file:
                file.write(np.ascontiguousarray(values).tobytes())
        if self._reason_names:
            with open(self._reasons, "a", encoding="utf-8") as lines:
                lines.writelines(f"{json.dumps(texts)}\n" for texts in reasons)

    def rank(self, n_called: int | None, chunk_rows: int) -> None:
        """Rank the rows; a number of rows to call decides anew, by the ranks."""
        if self.n_classes > 2:
            return
        rank_scores(self._scores, self._ranks, at_once=max(1_000_000, chunk_rows))
        if n_called is not None:
            self.n_called = min(n_called, self.n_rows)
            decided = np.memmap(self._decided, "<i4", "r+")
            for start in range(0, self.n_rows, chunk_rows):
                ranks = np.fromfile(self._ranks, "<i8", chunk_rows, offset=8 * start)
                called = np.where(ranks <= n_called, self.positive, 1 - self.positive)
                decided[start : start + len(ranks)] = called
            decided.flush()

    def call(self, rows: np.ndarray) -> None:
        """Call these rows, and no others."""
        decided = np.memmap(self._decided, "<i4", "r+")
        decided[:] = 1 - self.positive
        decided[rows] = self.positive
        decided.flush()
        self.n_called = len(rows)

    def parts(self, n_rows: int) -> Iterator[_Part]:
        """Yield all rows, some at a time."""
        reasons = self._parts_of_reasons(n_rows)
        for start in range(0, self.n_rows, n_rows):
            stop = min(self.n_rows, start + n_rows)
            size = 8 * self.n_classes
            proba = np.fromfile(
                self._proba, "<f8", (stop - start) * self.n_classes, offset=start * size
            ).reshape(-1, self.n_classes)
            decided = np.fromfile(self._decided, "<i4", stop - start, offset=4 * start)
            rank = None
            if self.n_classes == 2:
                rank = np.fromfile(self._ranks, "<i8", stop - start, offset=8 * start)
            yield _Part(stop, proba, decided, rank, next(reasons, None))

    def _parts_of_reasons(self, n_rows: int) -> Iterator[Any]:
        """Yield the reasons of all rows, some at a time; nothing if there are none."""
        if not self._reason_names:
            return
        with open(self._reasons, encoding="utf-8") as file:
            while lines := list(islice(file, n_rows)):
                texts = pd.DataFrame([json.loads(line) for line in lines], dtype=object)
                # A model of few columns may have fewer reasons than were asked for.
                texts = texts.reindex(columns=range(len(self._reason_names)))
                yield texts.set_axis(self._reason_names, axis=1)
