"""Compare policies on the authors' Mammography split: learned, constant and random ones."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from metasampler import MesaClassifier, MetaSampler
from metasampler.policy import ConstantPolicy
from metasampler_bench._progress import tracked
from metasampler_bench._statistics import standard_error, with_error
from metasampler_bench._tables import ResultTable
from metasampler_bench.datasets import load_mesa_mammography
from metasampler_bench.studies._study import Options, Row, Study

__all__ = ["MAMMOGRAPHY"]

_SIZES = (5, 10, 20)
_N_FITS = 5
_LEARNED = "MESA, learned"
_PAPER = {"MESA, paper": (0.515, 0.644, 0.705), "authors' code, re-run": (0.494, 0.641, 0.699)}
#: Policies that learn nothing. The last is so wide that all errors weigh the same.
_FIXED: dict[str, Any] = {
    **{f"constant mu = {mu:g}": mu for mu in (0.5, 0.8, 0.9, 1.0)},
    "uniform mu": "random",
    "uniform draws": ConstantPolicy(0.5, sigma=1e6),
}


def _measure(options: Options) -> Iterator[Row]:
    """Yield a row for each seed, fit and policy; each seed meta-trains one sampler."""
    parts = load_mesa_mammography(options.data_home)
    X_val, y_val = parts["valid"]
    for seed in tracked(range(options.seed, options.seed + options.runs), "mammography"):
        start = time.process_time()
        sampler = MetaSampler(random_state=seed).fit(*parts["train"], X_val=X_val, y_val=y_val)
        seconds = time.process_time() - start
        for fit in range(_N_FITS):
            for name, policy in {_LEARNED: sampler, **_FIXED}.items():
                clf = MesaClassifier.from_preset(
                    "paper",
                    n_estimators=max(_SIZES),
                    meta_sampler=policy,
                    random_state=1000 * seed + fit,
                ).fit(*parts["train"], X_val=X_val, y_val=y_val)
                X, y = parts["test"]
                stages = enumerate(clf.staged_predict_proba(X), start=1)
                yield {
                    "seed": seed,
                    "fit": fit,
                    "policy": name,
                    "scores": [
                        round(float(average_precision_score(y, proba[:, 1])), 6)
                        for k, proba in stages
                        if k in _SIZES
                    ],
                    "mu": [round(float(mu), 4) for mu in (clf.actions_.min(), clf.actions_.max())],
                    "mean mu": float(clf.actions_.mean()),
                    "CPU seconds of meta-training": seconds if policy is sampler else None,
                }


def _seed_means(rows: list[Row], policy: str) -> NDArray[Any]:
    """Return the mean scores of each seed's fits, of shape (seeds, sizes)."""
    own = [row for row in rows if row["policy"] == policy]
    seeds = sorted({row["seed"] for row in own})
    return np.array(
        [np.mean([row["scores"] for row in own if row["seed"] == s], axis=0) for s in seeds]
    )


def _tables(rows: list[Row]) -> list[ResultTable]:
    """Make the table of all policies beside the paper's figures."""
    lines = [[name, *(f"{value:.3f}" for value in values), ""] for name, values in _PAPER.items()]
    learned = _seed_means(rows, _LEARNED)
    several = len(learned) > 1
    for policy in dict.fromkeys(row["policy"] for row in rows):
        means = _seed_means(rows, policy)
        spread = means.std(axis=0, ddof=1) if several else np.zeros(len(_SIZES))
        difference = learned[:, 1] - means[:, 1]
        error = standard_error(difference) if several else 0.0
        scores = zip(means.mean(axis=0), spread, strict=True)
        lines.append(
            [
                policy,
                *(f"{mean:.3f} ± {sd:.3f}" for mean, sd in scores),
                "" if policy == _LEARNED else with_error(difference.mean(), error, digits=3),
            ]
        )
    own = [row for row in rows if row["policy"] == _LEARNED]
    moves = np.mean([high - low for low, high in (row["mu"] for row in own)])
    note = (
        f"{len(learned)} seeds x {len(own) // len(learned)} fits; ± is the standard deviation of "
        "the seeds' means. Last column: paired difference to the learned policy at k = 10, ± its "
        f"standard error. Learned policies: mean mu {np.mean([r['mean mu'] for r in own]):.2f}; "
        f"within a fit mu moves by {moves:.2f} on average. Meta-training takes "
        f"{np.median([row['CPU seconds of meta-training'] for row in own]):.1f} s CPU."
    )
    header = ["method", *(f"k = {k}" for k in _SIZES), "learned - this"]
    title = "Test average precision, mammography (authors' split)"
    return [ResultTable.from_texts(title, header, lines, note)]


MAMMOGRAPHY = Study(
    name="mammography",
    title="Policies on the authors' Mammography split",
    about="""
Each seed meta-trains one sampler on the training and validation rows and grows five ensembles with
it. Scores are average precision on the test rows after 5, 10 and 20 members of one 20-member fit.
Needs METASAMPLER_DATA_HOME.
""",
    measure=_measure,
    tables=_tables,
    runs=10,
    unit="seeds",
)
