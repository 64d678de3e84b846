"""Check the numbers in prose: each stands before a comment with the expression that gives it.

    MESA has .452<!--= mean("tables", "mesa") --> where LightGBM has .434.

An expression is Python and uses the functions below, which read stored rows. The number is written
as the page writes it: with as many decimals, with or without the zero before the point, with a sign
if it has one, in percent, or with commas.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata, wilcoxon

from metasampler_bench._claim_list import OWN, first_and_last, transferred
from metasampler_bench._look import Look
from metasampler_bench._rows import finished, last_rows, per_set_means, row_value, select
from metasampler_bench._spec import list_specs, load_spec
from metasampler_bench._spread import spreads
from metasampler_bench._statistics import geometric_mean
from metasampler_bench._store import ResultStore

__all__ = ["Marked", "Numbers", "marked", "with_numbers"]

_MARKED = re.compile(
    r"(?P<sign>[+-]?)(?P<digits>\d[\d,]*(\.\d+)?|\.\d+)(?P<unit>%?)<!--= (?P<says>.*?) -->", re.S
)


class Marked(NamedTuple):
    """A number of a page and the expression behind it."""

    written: str
    expression: str


def marked(text: str) -> Iterator[Marked]:
    """Yield the marked numbers of a page.

    Examples
    --------
    >>> from metasampler_bench._numbers import marked
    >>> list(marked("It has -1.5%<!--= gap() --> and 2 more."))
    [Marked(written='-1.5%', expression='gap()')]
    """
    for found in _MARKED.finditer(text):
        yield Marked(found[0].partition("<!--")[0], found["says"])


def with_numbers(text: str, numbers: Callable[[str], float]) -> str:
    """Return a page whose marked numbers are what their expressions give.

    Parameters
    ----------
    text : str
        The page, in Markdown.
    numbers : callable
        Evaluates an expression; see `Numbers`.

    Returns
    -------
    text : str

    Examples
    --------
    >>> from metasampler_bench._numbers import with_numbers
    >>> with_numbers("It has +.100<!--= x --> and 10%<!--= y -->.", {"x": 0.25, "y": 0.333}.get)
    'It has +.250<!--= x --> and 33%<!--= y -->.'
    """

    def write(found: re.Match[str]) -> str:
        number = as_written(numbers(found["says"]), found)
        return f"{number}<!--= {found['says']} -->"

    return _MARKED.sub(write, text)


def as_written(value: float, form: re.Match[str]) -> str:
    """Write a number in the form that a page has for it."""
    value = 100 * value if form["unit"] else value
    decimals = len(form["digits"].partition(".")[2])
    text = f"{abs(value):{',' if ',' in form['digits'] else ''}.{decimals}f}"
    if form["digits"].startswith("."):
        text = text.removeprefix("0")
    is_zero = not float(text.replace(",", ""))
    sign = "-" if value < 0 and not is_zero else "+" if form["sign"] else ""
    return f"{sign}{text}{form['unit']}"


class Numbers:
    """Evaluate expressions on the rows of a folder.

    Parameters
    ----------
    folder : path
        Where the rows are.

    Examples
    --------
    >>> from metasampler_bench._numbers import Numbers
    >>> Numbers("docs/results")("1 + 1")
    2.0
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self.look = cache(self._read)

    def __call__(self, expression: str) -> float:
        """Return the number that an expression gives."""
        try:
            value = float(eval(expression, {"__builtins__": {}}, self._names))
        except Exception as error:
            raise ValueError(f"{expression!r} gives no number: {error}") from error
        if not np.isfinite(value):
            raise ValueError(f"{expression!r} gives {value}: are there rows of this place?")
        return value

    @cached_property
    def _names(self) -> dict[str, Any]:
        names = [name for name, value in vars(type(self)).items() if callable(value)]
        own = {name: getattr(self, name) for name in names if not name.startswith("_")}
        return {"abs": abs, "max": max, "min": min, "round": round, **own}

    @cached_property
    def looks(self) -> dict[str, Look]:
        """All rows that there are, by spec."""
        stores = {name: ResultStore(self.folder / f"{name}.jsonl") for name in list_specs()}
        return {name: self.look(name) for name, store in stores.items() if store.rows()}

    def _read(self, spec: str) -> Look:
        rows = last_rows(ResultStore(self.folder / f"{spec}.jsonl").rows())
        if not rows:
            raise ValueError(f"there are no rows of {spec!r}")
        return Look(load_spec(spec), rows)

    # ------------------------------------------------------------------ over data sets

    def _pair(
        self, spec: str, own: str, other: str, number: str = "score", **where: Any
    ) -> tuple[list[str], np.ndarray]:
        return per_set_means(select(self.look(spec).rows, where), [own, other], number)

    def mean(self, spec: str, method: str, number: str = "score", **where: Any) -> float:
        """Return the mean of a number over the data sets."""
        _, means = per_set_means(select(self.look(spec).rows, where), [method], number)
        return float(means.mean())

    def gap(self, spec: str, own: str, other: str, **where: Any) -> float:
        """Return the mean difference in score over the data sets."""
        _, means = self._pair(spec, own, other, **where)
        return float((means[:, 0] - means[:, 1]).mean())

    def error(self, spec: str, own: str, other: str, **where: Any) -> float:
        """Return the standard error of this difference, with data sets as units."""
        _, means = self._pair(spec, own, other, **where)
        gaps = means[:, 0] - means[:, 1]
        return float(gaps.std(ddof=1) / np.sqrt(len(gaps)))

    def p(self, spec: str, own: str, other: str, **where: Any) -> float:
        """Return p of Wilcoxon's test over the data sets."""
        _, means = self._pair(spec, own, other, **where)
        return float(wilcoxon(means[:, 0] - means[:, 1]).pvalue)

    def ahead(self, spec: str, own: str, other: str, **where: Any) -> int:
        """Count the data sets on which a method is ahead of another."""
        _, means = self._pair(spec, own, other, **where)
        return int((means[:, 0] > means[:, 1]).sum())

    def behind(self, spec: str, own: str, other: str, **where: Any) -> int:
        """Count the data sets on which a method is behind another."""
        return self.ahead(spec, other, own, **where)

    def n_sets(self, spec: str, *methods: str, **where: Any) -> int:
        """Count the data sets that all methods finished."""
        rows = select(self.look(spec).rows, where)
        return len(per_set_means(rows, list(methods))[0])

    def cost(self, spec: str, own: str, other: str, number: str = "cpu", **where: Any) -> float:
        """Return the ratio of CPU times, as a geometric mean over the data sets."""
        _, means = self._pair(spec, own, other, number, **where)
        return geometric_mean(means[:, 0] / means[:, 1])

    def most(self, spec: str, own: str, other: str, number: str = "cpu", **where: Any) -> float:
        """Return the largest ratio of a number over the data sets."""
        _, means = self._pair(spec, own, other, number, **where)
        return float((means[:, 0] / means[:, 1]).max())

    def _ranks(self, spec: str, which: int) -> dict[str, float]:
        """Return the mean ranks of a table of ranks on the page of a spec."""
        from metasampler_bench._summaries import ranked_methods

        look = self.look(spec)
        of_kind = {
            kind: [r for r in look.spec.reports if r["kind"] == kind]
            for kind in ("leaderboard", "critical-difference")
        }
        report = (of_kind["leaderboard"] or of_kind["critical-difference"])[which]
        left_out = set(report.get("without", ()))
        rows = [r for r in look.rows if not left_out.intersection(map(str, r["cell"].values()))]
        rows = select(rows, {"k": report["k"]} if "k" in report else None)
        methods = ranked_methods(look.spec, rows, report)
        _, means = per_set_means(rows, methods)
        return dict(zip(methods, rankdata(-means, axis=1).mean(axis=0), strict=True))

    def rank(self, spec: str, method: str, which: int = 0) -> float:
        """Return the mean rank of a method."""
        return self._ranks(spec, which)[method]

    def place(self, spec: str, method: str, which: int = 0) -> int:
        """Return the place of a method by mean rank; 1 is best."""
        ranks = self._ranks(spec, which)
        return 1 + sum(rank < ranks[method] for rank in ranks.values())

    def n_ranked(self, spec: str, which: int = 0) -> int:
        """Count the methods that are ranked together."""
        return len(self._ranks(spec, which))

    def best_constant(self, spec: str, family: str = "constant-", **where: Any) -> float:
        """Return the mean score of the constant that is best in the mean."""
        return max(self._constants(spec, family, where).mean(axis=0))

    def _constants(self, spec: str, family: str, where: dict[str, Any]) -> np.ndarray:
        rows = select(self.look(spec).rows, where)
        methods = sorted(
            {r["cell"]["method"] for r in rows if r["cell"]["method"].startswith(family)}
        )
        return per_set_means(rows, methods)[1]

    # ------------------------------------------------------------------ single places

    def at(self, spec: str, number: str = "score", **where: Any) -> float:
        """Return the mean of a number at one place of a table."""
        return self.look(spec).mean(number, **where)

    def change(self, spec: str, own: dict[str, Any], other: dict[str, Any]) -> float:
        """Return the paired difference between two places."""
        return self.look(spec).compare(own, other).mean

    def relative(self, spec: str, own: dict[str, Any], other: dict[str, Any]) -> float:
        """Return the paired difference as a fraction of the second place's mean."""
        return self.look(spec).compare(own, other).relative

    def fits(self, spec: str, **where: Any) -> int:
        """Count the fits at one place."""
        return self.look(spec).fits(**where)

    def paper(self, spec: str, **where: Any) -> float:
        """Return what the paper prints for a place."""
        value = self.look(spec).paper(**where)
        if value is None:
            raise ValueError(f"the paper says nothing about {where}")
        return value

    # ------------------------------------------------------------------ questions of single pages

    def printed_loss(self, method: str, *, printed: bool) -> float:
        """Return what a policy loses against the learned one over the cells of the paper's Table 6.

        Mammography counts once, and the authors' split does not.
        """
        look, losses = self.look("ablation"), []
        for name in look.values("dataset", method=OWN):
            for k in look.values("k", method=OWN, dataset=name):
                place = {"dataset": name, "k": k}
                if name.endswith("-authors"):
                    continue
                own, other = (
                    (look.paper(method=m, **place) if printed else look.mean(method=m, **place))
                    for m in (OWN, method)
                )
                if own is not None and other is not None:
                    losses.append(other / own - 1)
        return float(np.mean(losses))

    def rises(self, start: str = "policy") -> int:
        """Count the meta-trainings that end above their first policies, or first episodes."""
        rows = self.look("meta-training").rows
        if start == "policy":
            return sum(last > first for first, last in map(first_and_last, rows))
        tests = (row["curves"]["test"] for row in rows)
        return sum(np.mean(test[-50:]) > np.mean(test[:50]) for test in tests)

    def n_rows(self, spec: str) -> int:
        """Count the rows of a spec that did not fail."""
        return len(finished(self.look(spec).rows))

    def mu_range(self, *, blind: bool) -> float:
        """Return the median range of mu within a fit, of policies that see a state or do not."""
        rows = [r for r in self.look("states").rows if "view" not in r["cell"]]
        rows = [r for r in rows if (r["cell"].get("setting") == "n_bins=1") == blind]
        found = [v for r in rows if (v := row_value(r, "mu_range")) is not None]
        return float(np.median(found))

    def mu(self, which: str, noise: float) -> float:
        """Return the mean mu of policies under noise: "mu_mean", "mu_early" or "mu_late"."""
        rows = select(self.look("policy-under-noise").rows, {"noise": noise})
        return float(np.mean([row_value(row, which) or 0.0 for row in rows if row.get("actions")]))

    def falls(self, noise: float, least: float = 0.0) -> int:
        """Count the policies whose mean mu is so much smaller under noise than on clean labels."""
        rows = self.look("policy-under-noise").rows
        clean, noisy = (
            {
                (row["cell"]["run"], row["cell"]["fold"]): row_value(row, "mu_mean") or 0.0
                for row in select(rows, {"noise": level})
            }
            for level in (0.0, noise)
        )
        gaps = [clean[place] - noisy[place] for place in clean.keys() & noisy.keys()]
        return sum(gap > least for gap in gaps)

    def small_losses(self, axis: str) -> int:
        """Count the samplers of other tasks, or of parts, that lose less than 1%."""
        pairs = transferred(self.look("transfer-matrix"), axis)
        return sum(pair.difference.mean > -0.01 for pair in pairs)

    def n_losses(self, axis: str) -> int:
        """Count the samplers of other tasks, or of parts."""
        return len(transferred(self.look("transfer-matrix"), axis))

    def collapsed(self, *, uniform: bool = False) -> int:
        """Count the meta-trainings that end below random mu, or uniform draws, on the same rows."""
        look = self.look("seeds")
        found = spreads(look.spec, look.rows)
        return sum(each.below_uniform if uniform else each.collapsed for each in found)

    def n_meta_trainings(self) -> int:
        """Count the meta-trainings of the page on seeds."""
        look = self.look("seeds")
        return sum(each.n_trainings for each in spreads(look.spec, look.rows))
