"""Ask what the default's design rests on: its teams, draws, lengths, and where trees are better."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from numpy.typing import NDArray

from metasampler import MesaClassifier
from metasampler.ensemble.teams import RECIPES
from metasampler_bench._frames import FrameClassifier
from metasampler_bench._progress import tracked
from metasampler_bench._statistics import measure_probabilities
from metasampler_bench.datasets import REAL_NAMES
from metasampler_bench.studies._study import Options, Row, Study
from metasampler_bench.studies._teams_parts import (
    SCOUTS,
    Grown,
    Pieces,
    alone,
    best_of,
    blended,
    stacked,
)
from metasampler_bench.studies._teams_tables import design_tables, few_tables
from metasampler_bench.studies._teams_tasks import EXTRA, FEW, MOST_ROWS, cut

__all__ = ["FEW_POSITIVES", "TEAMS"]

_RECIPE = RECIPES["default"]
_MUS_OF_BOOSTERS = (None, 0.65, 0.9)
_MUS_OF_TREES = (None, 0.9)
_NAMES = ("scouts", "boosters", "trees")


def _measure_design(options: Options) -> Iterator[Row]:
    """Yield a row for each table, split and variant of the default."""
    for name, number in _cases(options, REAL_NAMES, "teams"):
        X, y, X_test, y_test = cut(name, options.seed + number, options.data_home)
        pieces = Pieces(X, y, X_test, options.seed + number)
        scouts = pieces.scouts()
        signal = _RECIPE.signal(scouts.growth)
        start: Row = {
            "set": name,
            "split": number,
            "rows": len(y),
            "positives": int(y.sum()),
            "signal": signal,
        }
        for method, proba, cpu in _variants(pieces, scouts, signal):
            yield start | _measured(method, y_test, proba, cpu)
        proba = Pieces(X, y, X_test, options.seed + number, rotate=False).refitted()
        yield start | _measured("held out, refitted", y_test, proba)
        yield start | _measured("LightGBM", y_test, *_lightgbm(X, y, X_test, number))


def _variants(
    pieces: Pieces, scouts: Grown, signal: float
) -> Iterator[tuple[str, NDArray[Any], float | None]]:
    """Yield the name, the answers and the CPU time of each variant."""
    boosters = {mu: pieces.boosters(signal, mu) for mu in _MUS_OF_BOOSTERS}
    learned = pieces.boosters(signal)
    trees = {mu: pieces.trees(signal, mu) for mu in _MUS_OF_TREES}
    # Where positives are few, sharp trees are part of every variant.
    sharp = pieces.sharp_trees()
    teams = [scouts, learned, trees[_RECIPE.mu_of_trees(signal)], *sharp]
    cpu = sum(team.cpu for team in teams)
    yield "default", blended(teams), cpu
    for number, name in enumerate(_NAMES):
        yield f"{name} alone", alone(teams[number]), teams[number].cpu
        yield f"without {name}", blended(teams[:number] + teams[number + 1 :]), None
    yield "best team by left-out rows", best_of(teams), None
    yield "stacked by left-out rows", stacked(teams), None
    balanced = pieces.boosters(signal, ratio=1.0)
    yield "boosters alone, ratio 1", alone(balanced), balanced.cpu
    yield "ratio 1", blended([scouts, balanced, *teams[2:]]), None
    for of_boosters, of_trees in product(_MUS_OF_BOOSTERS, _MUS_OF_TREES):
        joined = blended([scouts, boosters[of_boosters], trees[of_trees], *sharp])
        yield f"mu {of_boosters} and {of_trees}", joined, None
    for of_boosters in _MUS_OF_BOOSTERS:
        yield f"boosters alone, mu {of_boosters}", alone(boosters[of_boosters]), None
    for of_trees in _MUS_OF_TREES:
        yield f"trees alone, mu {of_trees}", alone(trees[of_trees]), None
    for title, recipe in SCOUTS.items():
        others = pieces.default(recipe)
        yield title, blended(others), sum(team.cpu for team in others)


def _measure_few(options: Options) -> Iterator[Row]:
    """Yield a row for each table, number of positives and kind of members."""
    for name, number in _cases(options, (*REAL_NAMES, *EXTRA), "few positives"):
        seed = options.seed + number
        # Extra sets are small; they are taken as they are.
        for few in (None,) if name in EXTRA else FEW:
            X, y, X_test, y_test = cut(name, seed, options.data_home, few)
            n_minority = int(min(y.sum(), len(y) - y.sum()))
            if few is not None and n_minority < few:
                break
            start: Row = {
                "set": name,
                "split": number,
                "rows": len(y),
                "positives": n_minority,
                "thinned": few is not None,
            }
            teams = Pieces(X, y, X_test, seed).default()
            yield start | _measured("teams", y_test, blended(teams), sum(t.cpu for t in teams))
            # The same where there are no sharp trees.
            usual = teams[: len(_NAMES)]
            cpu = sum(team.cpu for team in usual)
            yield start | _measured("teams without sharp trees", y_test, blended(usual), cpu)
            yield start | _measured("trees", y_test, *_few_trees(X, y, X_test, seed))
            yield start | _measured("LightGBM", y_test, *_lightgbm(X, y, X_test, seed))


def _cases(options: Options, names: Iterable[str], title: str) -> Iterator[tuple[str, int]]:
    """Yield the name of each table that is not measured yet with the numbers of its splits."""
    chosen = [name for name in options.datasets or names if name not in options.finished]
    return tracked(((name, number) for name in chosen for number in range(options.runs)), title)


def _few_trees(X: Any, y: Any, X_test: Any, seed: int) -> tuple[NDArray[Any], float]:
    """Fit what the default is where there are few rows of the smallest class."""
    model = MesaClassifier(_RECIPE.trees(np.inf), _RECIPE.n_few, random_state=seed)
    return _fitted(model, X, y, X_test)


def _lightgbm(X: Any, y: Any, X_test: Any, seed: int) -> tuple[NDArray[Any], float]:
    model = LGBMClassifier(n_jobs=1, verbose=-1, random_state=seed)
    return _fitted(FrameClassifier(model), X, y, X_test)


def _fitted(model: Any, X: Any, y: Any, X_test: Any) -> tuple[NDArray[Any], float]:
    start = time.process_time()
    model.fit(X, y)
    return model.predict_proba(X_test)[:, 1], time.process_time() - start


def _measured(method: str, y: Any, proba: NDArray[Any], cpu: float | None = None) -> Row:
    measured = measure_probabilities(y, proba)
    return {
        "method": method,
        "average precision": measured["average precision"],
        "Brier score": measured["Brier score"],
        "CPU seconds": cpu,
    }


TEAMS = Study(
    name="teams",
    title="Evidence for the design of the default",
    about=f"""
The data are the 46 tables, at most {MOST_ROWS:,} rows of each. 75% of the rows train, 25% test. We
grow the teams of the default one by one, with the random numbers of a fit. Then we combine them in
all the ways that the table compares. The score is average precision on the test rows. We developed
the default on these tables. So we choose limits on one half of them, and test them on the other
half.
""",
    measure=_measure_design,
    tables=design_tables,
    runs=1,
    resumes=True,
)

FEW_POSITIVES = Study(
    name="few-positives",
    title="Teams or trees if there are few positives",
    about="""
How many positives do teams need? We take the 46 tables, at most 8,000 rows of each, and keep only
some positives in the training rows. The test rows keep theirs. We also take sets of the data folder
`extra` as they are. "Teams" have no lower limit here. "Trees" are what the default grows below its
limit.
""",
    measure=_measure_few,
    tables=few_tables,
    runs=1,
    page="teams",
    resumes=True,
)
