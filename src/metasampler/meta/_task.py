"""The tasks of meta-training, as a user passes them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any


@dataclass
class Task:
    """Hold the data of one task to meta-train on.

    Parameters
    ----------
    X, y : table and array-like
        Training rows.
    X_val, y_val : table and array-like, default=None
        Validation rows, whose score is the reward. Without them a part of X is held out.
    X_test, y_test : table and array-like, default=None
        Rows that are only scored, for `MetaSampler.history_`. With `score_on` of
        :class:`~metasampler.meta.FitToConstants` the policy may learn from them.
    name : str, default=None
        What the task is called in `MetaSampler.history_`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from metasampler.meta import Task
    >>> task = Task(*load_breast_cancer(return_X_y=True), name="breast cancer")
    """

    X: Any
    y: Any
    X_val: Any = None
    y_val: Any = None
    X_test: Any = None
    y_test: Any = None
    name: str | None = None


def as_tasks(tasks) -> list[Task]:
    """Return tasks with names, from any form `fit_tasks` takes."""
    if isinstance(tasks, Mapping):
        named = list(tasks.items())
    elif isinstance(tasks, Task):
        raise TypeError("tasks must be a sequence or a dict of tasks, got one Task; pass [task].")
    else:
        named = [(getattr(task, "name", None), task) for task in tasks]
    if not named:
        raise ValueError("tasks must hold at least one task.")
    result = []
    for number, (name, task) in enumerate(named):
        if not isinstance(task, Task):
            if not isinstance(task, (tuple, list)) or len(task) not in (2, 4, 6):
                raise TypeError(
                    f"Task {number} must be a Task or a tuple of 2, 4 or 6 entries (X, y, X_val, "
                    f"y_val, X_test, y_test); got {type(task).__name__}."
                )
            task = Task(*task)
        name = task.name if name is None else name
        result.append(replace(task, name=f"task {number}" if name is None else str(name)))
    return result
