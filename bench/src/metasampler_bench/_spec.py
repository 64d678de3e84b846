"""Read a table or figure from a small file: the cells it needs and what the paper says."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.util import find_spec as find_package
from itertools import product
from typing import Any

from metasampler_bench._methods import METHODS, find_method
from metasampler_bench._names import unknown_name
from metasampler_bench._protocol import n_folds_of

__all__ = ["AXES", "Job", "Spec", "list_specs", "load_spec"]

#: What a cell can say beside run and fold, with the value that goes without saying.
AXES: dict[str, Any] = {
    "dataset": None,
    "noise": 0.0,  # part of the minority's training labels that are flipped
    "flips": "both",  # of both classes alike, of the "minority" or "majority" only, or "authors"
    "valid_noise": 0.0,  # the same part of the validation labels
    "valid_fraction": 1.0,  # part of the validation rows that is used
    "fraction": 1.0,  # part of the training rows that is used at all
    "thinned": None,  # part of the minority's training rows that is used; None for all
    "method": None,
    "base": None,  # a name of BASE_CLASSIFIERS; None for the method's own
    "draws": "mu",  # the group of draws that is measured, see `_draw_measure`
    "split": "60:20:20",  # rows that train, validate and test; "75:25" for the tables
    "rows": "train",  # or "train+valid": what fit gets
    "meta_task": None,  # data set the sampler was meta-trained on; None for the same
    "families": None,  # "even" or "odd": the half of the tables' families to meta-train on
    "meta_fraction": 1.0,  # part of its training rows that were used
    "meta_base": None,  # the base estimator in meta-training; None for a decision tree
    "meta_seed": 0,  # number of the meta-training, where there are several on the same rows
    "setting": None,  # a setting of meta-training that differs, as "sigma=0.3"
    "hidden": [50],  # hidden layers of the policy
    "view": None,  # what the policy sees in place of the state; a name of VIEWS
    "k": None,
}

_ENTRIES = {
    *("title", "paper", "about", "kind", "runs", "folds", "fits", "keep", "limit"),
    *("cells", "quick", "values", "report"),
}
#: What a block of cells can say beside the values of axes.
_BLOCK_ENTRIES = {"kind", "runs", "folds", "keep", "needs", "tasks", "watch"}


@dataclass(frozen=True)
class Job:
    """One fit (or whatever the spec's kind asks for) and the cells that are read off it."""

    kind: str
    cell: dict[str, Any]
    ks: tuple[int, ...] = ()
    keep: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()

    @property
    def cells(self) -> list[dict[str, Any]]:
        """The cells: one for each k, or for each base classifier on the same resampled rows."""
        if self.ks:
            return [{**self.cell, "k": k} for k in self.ks]
        return [{**self.cell, "base": base} for base in self.bases] or [self.cell]


@dataclass(frozen=True)
class Spec:
    """What one table or figure needs.

    Attributes
    ----------
    name : str
        What ``metasampler bench`` calls it.
    title : str
        What it is.
    paper : str
        Where it stands in the paper; empty if it does not.
    about : str
        What is done, for the report.
    kind : str
        What is measured in a cell: "scores", "tables", "classes", "resampling", "facts", "history"
        or "joint"; a block may have its own.
    runs : int
        Independent runs by default.
    folds : int or None
        The most test folds per run.
    fits : dict
        Other `runs` and `folds` by data set: where a meta-training takes minutes, fewer are run. It
        holds for all cells that use the data set, also those with a sampler that was meta-trained
        on it.
    blocks : tuple of dict
        Lists of values for some of `AXES`; their products are the cells. A block may have its own
        `kind` and `keep`, and fewer `runs` and `folds`.
    quick : dict
        Lists that take the place of those of all blocks in a quick look.
    keep : tuple of str
        What to store beside the score: "actions", "states", "surface", "resampling".
    limit : float or None
        Seconds after which a fit is given up.
    values : tuple of dict
        The paper's values: ``where`` names the cells, one more axis may be a list, and the
        numbers go along it.
    reports : tuple of dict
        The tables and figures to make of the rows.
    """

    name: str
    title: str
    kind: str = "scores"
    paper: str = ""
    about: str = ""
    runs: int = 10
    folds: int | None = None
    fits: dict[str, dict[str, int]] = field(default_factory=dict)
    blocks: tuple[dict[str, Any], ...] = ()
    quick: dict[str, Any] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    limit: float | None = None
    values: tuple[dict[str, Any], ...] = ()
    reports: tuple[dict[str, Any], ...] = ()

    def jobs(
        self,
        *,
        runs: int | None = None,
        folds: int | None = None,
        quick: bool = False,
        datasets: tuple[str, ...] = (),
        methods: tuple[str, ...] = (),
    ) -> list[Job]:
        """Return all jobs, data set by data set, without one twice.

        Parameters
        ----------
        runs : int, default=None
            Independent runs; None for the number of the spec.
        folds : int, default=None
            Only the first folds of each run; None for all.
        quick : bool, default=False
            Few cells and short meta-training. Such cells are marked and never mixed with others.
        datasets, methods : tuple of str, default=()
            Only these; empty for all.

        Returns
        -------
        jobs : list of Job
        """
        jobs: dict[str, Job] = {}
        for block in self.blocks:
            for job in self._block_jobs(block, runs, folds, quick):
                if datasets and job.cell.get("dataset") not in datasets:
                    continue
                if methods and job.cell.get("method") not in methods:
                    continue
                jobs.setdefault(repr((sorted(job.cell.items(), key=str), job.ks)), job)
        return sorted(jobs.values(), key=lambda job: str(job.cell.get("dataset", "")))

    def _block_jobs(
        self, block: dict[str, Any], runs: int | None, folds: int | None, quick: bool
    ) -> Iterator[Job]:
        values = {**block, **({} if not quick else self.quick)}
        # Such a block has no jobs here, but tables keep the order of its methods.
        if find_package(block.get("needs", "sys")) is None:
            return
        values.pop("needs", None)
        if quick:
            # Only axes and methods that the block has: a quick look is part of the whole.
            values = {name: value for name, value in values.items() if name in block}
            if "method" in block:
                values["method"] = [name for name in values["method"] if name in block["method"]]
        ks = tuple(values.pop("k", ()))
        kind = values.pop("kind", self.kind)
        bases = tuple(values.pop("base", ())) if kind == "resampling" else ()
        most_runs, most_folds = values.pop("runs", None), values.pop("folds", None)
        keep = tuple(values.pop("keep", self.keep))
        names = list(values)
        for combination in product(*(values[name] for name in names)):
            cell = {
                name: value
                for name, value in zip(names, combination, strict=True)
                if name not in AXES or value != AXES[name]
            }
            if quick:
                cell["quick"] = True
            own = [self.fits.get(cell.get(axis, ""), {}) for axis in ("dataset", "meta_task")]
            usual = min((fits["runs"] for fits in own if "runs" in fits), default=self.runs)
            n_runs = min(n for n in (runs or usual, most_runs, 1 if quick else None) if n)
            known = n_folds_of(cell["dataset"]) if "dataset" in cell else 1
            fewer = (fits.get("folds") for fits in own)
            limits = (known, self.folds, *fewer, most_folds, folds, 1 if quick else None)
            n_folds = min(n for n in limits if n)
            for run, fold in product(range(n_runs), range(n_folds)):
                numbered = {**cell, "run": run, "fold": fold}
                if bases:
                    yield Job(kind, numbered, keep=keep, bases=bases)
                else:
                    yield from _fits(kind, numbered, ks, keep)


def _fits(
    kind: str, cell: dict[str, Any], ks: tuple[int, ...], keep: tuple[str, ...]
) -> Iterator[Job]:
    """Yield one job where smaller ensembles are parts of the largest, else one for each k."""
    method = METHODS[cell["method"]] if kind == "scores" else None
    if method is None or method.prefix:
        yield Job(kind, cell, ks, keep)
    elif method.sized and ks:
        for k in ks:
            yield Job(kind, cell, (k,), keep)
    else:
        # The number of members means nothing to it, or is left to it: one fit, and no k.
        yield Job(kind, cell, (), keep)


def list_specs() -> list[str]:
    """Return the names of all specs that come with the package.

    Returns
    -------
    names : list of str

    Examples
    --------
    >>> from metasampler_bench import list_specs
    >>> "under-sampling" in list_specs()
    True
    """
    folder = files("metasampler_bench") / "specs"
    return sorted(
        entry.name.removesuffix(".toml")
        for entry in folder.iterdir()
        if entry.name.endswith(".toml")
    )


def load_spec(name: str) -> Spec:
    """Read a spec.

    Parameters
    ----------
    name : str
        One of `list_specs`.

    Returns
    -------
    spec : Spec

    Examples
    --------
    >>> from metasampler_bench import load_spec
    >>> load_spec("ablation").title
    'Ablation: learned policy, random policy, random sampling'
    """
    if name not in list_specs():
        raise unknown_name("benchmark", name, list_specs())
    text = (files("metasampler_bench") / "specs" / f"{name}.toml").read_text(encoding="utf-8")
    return parse_spec(name, text)


def parse_spec(name: str, text: str) -> Spec:
    """Return a spec from the text of its file, checked."""
    content = tomllib.loads(text)
    unknown = set(content) - _ENTRIES
    if unknown:
        raise ValueError(f"Spec {name!r}: unknown entries {sorted(unknown)}.")
    blocks = tuple(_expand(block) for block in content.get("cells", ()))
    quick, values = content.get("quick", {}), content.get("values", ())
    for dataset, fits in content.get("fits", {}).items():
        if set(fits) - {"runs", "folds"}:
            raise ValueError(f"Spec {name!r}: fits of {dataset!r} can be runs and folds.")
    for part in (*blocks, quick, *(entry["where"] for entry in values)):
        wrong = set(part) - set(AXES) - _BLOCK_ENTRIES
        if wrong:
            raise ValueError(f"Spec {name!r}: unknown axes {sorted(wrong)}.")
        methods = part.get("method", ())
        for method in [methods] if isinstance(methods, str) else methods:
            # A title would do to find it, but cells are told apart by names.
            if find_method(method).name != method:
                raise ValueError(f"Spec {name!r}: {method!r} is not the name of a method.")
    return Spec(
        name=name,
        title=content["title"],
        kind=content.get("kind", "scores"),
        paper=content.get("paper", ""),
        about=content.get("about", "").strip(),
        runs=content.get("runs", 10),
        folds=content.get("folds"),
        fits=content.get("fits", {}),
        blocks=blocks,
        quick=quick,
        keep=tuple(content.get("keep", ())),
        limit=content.get("limit"),
        values=tuple(values),
        reports=tuple(content.get("report", ())),
    )


def _expand(block: dict[str, Any]) -> dict[str, Any]:
    """Write out what a block says in short: the 27 sets, the tables, or all methods."""
    block = dict(block)
    if block.get("dataset") == "zenodo":
        from metasampler_bench.datasets import ZENODO_NAMES

        block["dataset"] = list(ZENODO_NAMES)
    if block.get("dataset") == "real":
        from metasampler_bench.datasets import REAL_NAMES

        block["dataset"] = list(REAL_NAMES)
    if block.get("dataset") == "classes":
        from metasampler_bench.datasets import CLASS_NAMES

        block["dataset"] = list(CLASS_NAMES)
    if block.get("method") == "all":
        block["method"] = list(METHODS)
    return block
