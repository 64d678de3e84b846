"""A source of rows outside of memory, once its labels have been read."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from metasampler.growth import check_weights
from metasampler.large._parquet import open_block
from metasampler.tables import is_frame

__all__ = ["OpenedSource"]


class OpenedSource:
    """A source whose classes are known; its rows are not read yet.

    Parameters
    ----------
    source : ParquetRows or DaskRows
        Makes the blocks, and knows the columns of labels and weights.
    backend : Backend
        Where the partitions are going to be.
    """

    def __init__(self, source, backend):
        self.source = source
        self.backend = backend
        self._columns = (source.label, source.weight, source.group)
        self.blocks, labels_only = source.make_blocks(), source.make_blocks(labels_only=True)
        self.facts = self.backend.ask(_look_at_block, labels_only, args=self._columns[:2])
        labels = np.concatenate([each["labels"] for each in self.facts if each["n_rows"]] or [[]])
        if not len(labels):
            raise ValueError(f"{source!r} has no rows, or none with a weight.")
        try:
            check_classification_targets(labels)
            self.classes = np.unique(labels)
        except TypeError as error:
            kinds = sorted({type(label).__name__ for label in labels})
            raise ValueError(f"Labels must be of one type, got {', '.join(kinds)}.") from error
        self.class_counts = np.zeros(len(self.classes), dtype=np.int64)
        for each in self.facts:
            if each["n_rows"]:
                self.class_counts[np.searchsorted(self.classes, each["labels"])] += each["counts"]
        with_rows = [number for number, each in enumerate(self.facts) if each["n_rows"]]
        #: The class to find, if the labels are whether a row is of it.
        self.positive: Any = None
        #: Blocks that hold rows.
        self.kept = [self.blocks[number] for number in with_rows]

    @property
    def columns(self) -> tuple:
        """What `open_block` takes besides a block."""
        return (*self._columns, self.positive)

    def find_only(self, positive, counted: Callable) -> None:
        """Turn the labels into whether a row is of one class.

        ``counted(classes, counts, positive)`` returns the rows of all other classes and of this
        one, or refuses it.
        """
        self.class_counts = counted(self.classes, self.class_counts, positive)
        self.classes = np.array([False, True])
        self.positive = positive

    @cached_property
    def example(self):
        """A row like all others: it shows the number and the names of the columns."""
        return self.backend.ask(_first_row, self.kept[:1], args=self.columns)[0]

    def ask(self, question: Callable, *args) -> list:
        """Return what ``question(frame, *args)`` gives for the rows of each block."""
        return self.backend.ask(_ask_frame, self.kept, args=(*self.columns, question, args))

    def make_rows(self, **settings):
        """Return the rows as members take them; settings are those of `make_growth_data`."""
        # Imported here: it reads what this module has opened.
        from metasampler.large._prepare import make_partitioned_rows

        return make_partitioned_rows(self, **settings)

    def drop_blocks(self) -> None:
        """Let go of the blocks once they are partitions."""
        self.blocks, self.kept = [], []

    def ask_labelled(self, question: Callable, *args) -> list:
        """Return what ``question(frame, labels, *args)`` gives for the rows of each block."""
        arguments = (*self.columns, question, args, True)
        return self.backend.ask(_ask_frame, self.kept, args=arguments)

    def grouped(self) -> list[list[int]]:
        """Return the numbers of the blocks that are to become one partition."""
        sizes = [each["n_rows"] for each in self.facts]
        return self.source.group_blocks(sizes, self.bytes_per_row)

    @property
    def bytes_per_row(self) -> int:
        """What a row takes in the form in which members take it."""
        example = self.example
        kinds = example.dtypes if is_frame(example) else [example.dtype]
        kinds = set(map(str, kinds))
        return example.shape[1] * (4 if kinds == {"float32"} else 8)


def _look_at_block(block, label, weight) -> dict:
    """Return what has to be known of the labels and weights of a block."""
    _, y, weights, _ = open_block(block, label, weight)
    if y is None:
        raise ValueError("label must name the column of labels, got None.")
    if (y.dtype.kind == "f" and not np.isfinite(y).all()) or (y.dtype.kind == "O" and _lacks(y)):
        raise ValueError(f"Labels are missing in {label!r}; every row needs one.")
    facts: dict = {"n_passed": len(y), "least": np.inf, "most": 0.0}
    if weights is not None:
        check_weights(weights)
        y = y[weights > 0]
        if len(y):
            facts |= {"least": weights[weights > 0].min(), "most": weights.max()}
    facts["labels"], facts["counts"] = np.unique(y, return_counts=True)
    facts["n_rows"] = len(y)
    return facts


def _first_row(block, *columns):
    # A copy: a view would keep the whole block.
    return open_block(block, *columns).X[:1].copy()


def _lacks(y: np.ndarray) -> bool:
    # pandas.NA compares with nothing, not even with itself.
    absent = ("NAType", "NaTType")
    return any(each is None or type(each).__name__ in absent or each != each for each in y)


def _ask_frame(block, label, weight, group, positive, question, args, labelled=False):
    """Answer a question about the table of a block, without rows that have no weight."""
    X, y, weights, _ = open_block(block, label, weight, group, positive)
    if weights is not None:
        X, y = X[weights > 0], None if y is None else y[weights > 0]
    return question(X, y, *args) if labelled else question(X, *args)
