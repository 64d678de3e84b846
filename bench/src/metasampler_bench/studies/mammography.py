"""MESA on the authors' Mammography split: learned, constant and random policies in one run.

    python benchmarks/mammography.py --seeds 10 --fits 5

Each seed meta-trains one sampler on the training and validation rows and grows `--fits` ensembles
with it; scores are average precision on the test rows after 5, 10 and 20 members of one
20-member fit. The standard deviation is that of the seeds' means. Needs METASAMPLER_DATA_HOME.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import time
from datetime import UTC, datetime
from importlib.metadata import version

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.metrics import average_precision_score

from metasampler import MesaClassifier, MetaSampler
from metasampler.datasets import load_mesa_mammography

SIZES = (5, 10, 20)
PAPER = {"MESA, paper": (0.515, 0.644, 0.705), "authors' code, re-run": (0.494, 0.641, 0.699)}
SIGMA_OF_UNIFORM_DRAWS = 1e6


def test_scores(parts, meta_sampler, seed, **options):
    """Average precision on the test rows after 5, 10 and 20 members, and the actions."""
    options = {"n_estimators": max(SIZES), "meta_sampler": meta_sampler, **options}
    clf = MesaClassifier.from_preset("paper", random_state=seed, **options).fit(
        *parts["train"], *parts["valid"]
    )
    X, y = parts["test"]
    stages = [average_precision_score(y, proba[:, 1]) for proba in clf.staged_predict_proba(X)]
    return [stages[k - 1] for k in SIZES], clf.actions_


def run(parts, n_seeds, n_fits, console):
    """Scores of shape (seeds, fits, sizes) by method, and what the learned policies do."""
    fixed = {f"constant mu = {mu:g}": {"meta_sampler": mu} for mu in (0.5, 0.8, 0.9, 1.0)}
    fixed["uniform mu"] = {"meta_sampler": "random"}
    fixed["uniform draws"] = {"meta_sampler": 0.5, "sigma": SIGMA_OF_UNIFORM_DRAWS}
    scores = {"MESA, learned": np.zeros((n_seeds, n_fits, len(SIZES)))}
    scores |= {name: np.zeros_like(scores["MESA, learned"]) for name in fixed}
    learned = []
    for seed in range(n_seeds):
        start = time.process_time()
        sampler = MetaSampler(random_state=seed).fit(*parts["train"], *parts["valid"])
        seconds = time.process_time() - start
        actions = []
        for fit in range(n_fits):
            number = 1000 * seed + fit
            scores["MESA, learned"][seed, fit], mus = test_scores(parts, sampler, number)
            actions.append(mus)
            for name, options in fixed.items():
                scores[name][seed, fit] = test_scores(parts, seed=number, **options)[0]
        learned.append((seconds, np.mean(actions), np.min(actions), np.max(actions)))
        console.print(
            f"seed {seed}: meta-training {seconds:.1f} s CPU, "
            f"mu mean {learned[-1][1]:.2f}, from {learned[-1][2]:.2f} to {learned[-1][3]:.2f}, "
            f"scores {np.round(scores['MESA, learned'][seed].mean(axis=0), 3).tolist()}"
        )
    return scores, learned


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--fits", type=int, default=5)
    parser.add_argument("--data-home", default=None)
    parser.add_argument("--output", default=None, help="also write the scores to this JSON file")
    arguments = parser.parse_args()
    console = Console()
    parts = load_mesa_mammography(arguments.data_home)
    scores, learned = run(parts, arguments.seeds, arguments.fits, console)

    table = Table(
        title="Test average precision, mammography (authors' split)",
        caption=f"{arguments.seeds} seeds x {arguments.fits} fits; ± standard deviation of the "
        "seeds' means; last column: paired difference to the learned policy at k = 10, ± its "
        "standard error.",
    )
    for column in ("method", *(f"k = {k}" for k in SIZES), "learned - this"):
        table.add_column(column, justify="left" if column == "method" else "right")
    for name, values in PAPER.items():
        table.add_row(name, *(f"{value:.3f}" for value in values), "")
    reference = scores["MESA, learned"].mean(axis=1)
    for name, values in scores.items():
        means = values.mean(axis=1)
        spread = means.std(axis=0, ddof=1) if len(means) > 1 else np.zeros(len(SIZES))
        difference = reference[:, 1] - means[:, 1]
        error = difference.std(ddof=1) / np.sqrt(len(means)) if len(means) > 1 else 0.0
        table.add_row(
            name,
            *(
                f"{mean:.3f} ± {sd:.3f}"
                for mean, sd in zip(means.mean(axis=0), spread, strict=True)
            ),
            "" if name == "MESA, learned" else f"{difference.mean():+.3f} ± {error:.3f}",
        )
    console.print(table)
    mus = np.array(learned)
    console.print(
        f"Learned policies: mean mu {mus[:, 1].mean():.2f} (by seed {mus[:, 1].min():.2f} to "
        f"{mus[:, 1].max():.2f}); within a fit mu moves by {np.mean(mus[:, 3] - mus[:, 2]):.2f} on "
        f"average. Meta-training takes {np.median(mus[:, 0]):.1f} s CPU."
    )
    if arguments.output:
        record = {
            "command": f"python benchmarks/mammography.py --seeds {arguments.seeds} "
            f"--fits {arguments.fits}",
            "date": datetime.now(UTC).strftime("%Y-%m-%d"),
            "versions": {name: version(name) for name in ("metasampler", "numpy", "scikit-learn")},
            "sizes": SIZES,
            "scores": {name: np.round(values, 5).tolist() for name, values in scores.items()},
            "mu (mean, min, max) by seed": np.round(mus[:, 1:], 4).tolist(),
        }
        with open(arguments.output, "w") as file:
            json.dump(record, file, indent=1)


if __name__ == "__main__":
    main()
