"""Take bundled data for a quick look where the real data are not on this machine."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from metasampler_bench._spec import Job
from metasampler_bench._store import cell_key
from metasampler_bench.datasets import ZENODO_NAMES, known_data_home, load

__all__ = ["STAND_IN", "replace_absent"]

STAND_IN = "digits-8"


def replace_absent(jobs: list[Job], data_home: str | None) -> tuple[list[Job], list[str]]:
    """Put bundled data in the place of sets that would have to be downloaded first.

    Parameters
    ----------
    jobs : list of Job
    data_home : str or None
        Folder of the data. A folder that does not exist is an error, not a reason to go without.

    Returns
    -------
    jobs : list of Job
        In the same order, and none twice.
    replaced : list of str
        Names of the sets that are not there.
    """
    known_data_home(data_home)
    replaced: dict[str, None] = {}

    @cache
    def name_for(name: str) -> str:
        if name in ZENODO_NAMES:
            try:
                load(name, data_home=data_home, download=False)
            except FileNotFoundError:
                replaced[name] = None
                return STAND_IN
        return name

    def rename(axis: str, value: Any) -> Any:
        if axis in ("dataset", "meta_task"):
            return name_for(value)
        if axis in ("tasks", "watch"):
            return "+".join(dict.fromkeys(map(name_for, value.split("+"))))
        return value

    found: dict[tuple[Any, ...], Job] = {}
    for job in jobs:
        cell = {axis: rename(axis, value) for axis, value in job.cell.items()}
        found.setdefault((job.kind, cell_key(cell), job.ks), replace(job, cell=cell))
    return list(found.values()), list(replaced)
