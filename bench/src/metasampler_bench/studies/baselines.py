"""The paper's under-sampling baselines on the authors' Mammography split, beside the paper.

    python benchmarks/baselines.py --runs 20

Scores are average precision on the test rows, of ensembles with 5, 10 and 20 members that are
fitted on the training rows. Each size is a fit of its own, and where that is something else (the
schedules of SPE and Cascade depend on the number of members) also the first members of one
20-member fit. Needs METASAMPLER_DATA_HOME.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import sys
from datetime import UTC, datetime
from importlib.metadata import version

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.metrics import average_precision_score
from sklearn.tree import DecisionTreeClassifier

from metasampler.datasets import load_mesa_mammography
from metasampler_bench import METHODS

SIZES = (5, 10, 20)
LARGEST = max(SIZES)
PAPER = {
    "RUSBoost": (0.348, 0.511, 0.588),
    "UnderBagging": (0.307, 0.401, 0.483),
    "SPE": (0.413, 0.559, 0.664),
    "Cascade": (0.404, 0.575, 0.670),
}
#: What the authors' code gives when it is run again; see the table of the MESA paper for PAPER.
RERUN = {
    "RUSBoost": (0.354, 0.497, 0.582),
    "UnderBagging": (0.295, 0.397, 0.484),
    "SPE": (0.416, 0.587, 0.668),
    "Cascade": (0.404, 0.560, 0.669),
}
#: The rows of ours under each of the paper's: title -> (method of the registry, settings).
OURS = {
    "RUSBoost": {
        "paper's settings": ("rusboost-paper", {}),
        "our defaults": ("rusboost", {}),
    },
    "UnderBagging": {"": ("under-bagging", {})},
    "SPE": {name: ("spe", {"hardness": name}) for name in ("cross-entropy", "absolute", "squared")},
    "Cascade": {"": ("cascade", {})},
}

NOTES = """\
RUSBoost and UnderBagging do not look ahead: the first k of 20 members are a fit of k.
SPE and Cascade do. Their first 5 of 20 are far below the paper, so its figures are fits of k.
The authors' Cascade has k - 1 members and drops rows by predicted class, not by probability.
RUSBoost, k = 10: the authors' code, run again, is itself below the paper."""


def stages(parts, name, options, size, seed):
    """Test average precision after each member of one fit."""
    ensemble = METHODS[name].build(n_estimators=size, random_state=seed).set_params(**options)
    ensemble.fit(*parts["train"])
    X, y = parts["test"]
    scores = [average_precision_score(y, proba[:, 1]) for proba in ensemble.staged_predict_proba(X)]
    # Boosting may end early: then all further sizes are this ensemble.
    return scores + scores[-1:] * (size - len(scores))


def run(parts, name, options, n_runs, title):
    """Scores of shape (runs, sizes) by the way the sizes are made."""
    ways: dict[str, list] = {}
    for seed in track(range(n_runs), title, transient=True, disable=not sys.stdout.isatty()):
        whole = stages(parts, name, options, LARGEST, seed)
        prefixes = [whole[k - 1] for k in SIZES]
        if METHODS[name].prefix:
            ways.setdefault("", []).append(prefixes)
            continue
        fits = {k: stages(parts, name, options, k, seed) for k in SIZES if k != LARGEST}
        fits[LARGEST] = whole
        ways.setdefault("fit of k", []).append([fits[k][-1] for k in SIZES])
        ways.setdefault(f"first k of {LARGEST}", []).append(prefixes)
        if name == "cascade":
            ways.setdefault("first k - 1 of k", []).append([fits[k][-2] for k in SIZES])
            ways.setdefault("the authors' rule, first k - 1 of k", []).append(
                [authors_cascade(parts, k, seed) for k in SIZES]
            )
    return {way: np.array(scores) for way, scores in ways.items()}


def authors_cascade(parts, size, seed):
    """Cascade as in the authors' code: the pool is cut by predicted class, and k - 1 members.

    Which of the rows that are predicted right are dropped is then left to chance: many easy ones
    stay, whereas ours keeps the hardest.
    """
    rng = np.random.default_rng(seed)
    (X, y), (X_test, y_test) = parts["train"], parts["test"]
    minority, pool = np.flatnonzero(y == 1), np.flatnonzero(y != 1)
    kept = (len(minority) / len(pool)) ** (1 / (size - 1))
    votes, total = np.zeros(len(X)), np.zeros(len(X_test))
    for _ in range(size - 1):
        drawn = rng.choice(pool, len(minority), replace=False)
        rows = np.concatenate([minority, drawn])
        tree = DecisionTreeClassifier(random_state=rng.integers(2**31)).fit(X[rows], y[rows])
        votes += tree.predict_proba(X)[:, 1] - 0.5
        total += tree.predict_proba(X_test)[:, 1]
        pool = rng.permutation(pool)
        by_class = np.argsort(votes[pool] <= 0, kind="stable")
        pool = pool[by_class[: int(kept * len(pool) + 1)]]
    return average_precision_score(y_test, total)


def cell(scores, paper):
    """Mean, standard error, and the difference to the paper in standard errors."""
    mean = scores.mean()
    error = scores.std(ddof=1) / np.sqrt(len(scores))
    distance = (mean - paper) / error
    mark = "*" if distance < -2 else " "
    return f"{mean:.3f} ± {error:.3f} ({distance:+.1f}){mark}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--data-home", default=None)
    parser.add_argument("--output", default=None, help="also write the scores to this JSON file")
    arguments = parser.parse_args()
    if arguments.runs < 2:
        parser.error("--runs must be at least 2, for the standard errors")
    parts = load_mesa_mammography(arguments.data_home)
    # Wide enough for a table that is not folded, also in a pipe.
    console = Console(width=130)

    table = Table(
        title="Test average precision, mammography (authors' split)",
        caption=f"{arguments.runs} runs; ± standard error; in brackets the difference to the paper "
        "in standard errors, with a star where it is more than two below.",
    )
    for column in ("method", "", *(f"k = {k}" for k in SIZES)):
        table.add_column(column, justify="right" if column.startswith("k") else "left")
    record = {}
    for title, paper in PAPER.items():
        for source, values in (("the paper", paper), ("authors' code, re-run", RERUN[title])):
            cells = (f"{value:.3f}" + " " * 16 for value in values)
            table.add_row(title if source == "the paper" else "", source, *cells)
        for settings, (name, options) in OURS[title].items():
            results = run(parts, name, options, arguments.runs, f"{title} {settings}")
            for way, scores in results.items():
                row = ", ".join(part for part in (settings, way) if part) or "ours"
                record[f"{title}: {row}"] = np.round(scores, 5).tolist()
                table.add_row(
                    "", row, *(cell(scores[:, i], value) for i, value in enumerate(paper))
                )
        table.add_section()
    console.print(table)
    console.print(NOTES, soft_wrap=True)
    if arguments.output:
        content = {
            "command": f"python benchmarks/baselines.py --runs {arguments.runs}",
            "date": datetime.now(UTC).strftime("%Y-%m-%d"),
            "versions": {name: version(name) for name in ("metasampler", "numpy", "scikit-learn")},
            "sizes": SIZES,
            "paper": PAPER,
            "scores": record,
        }
        with open(arguments.output, "w") as file:
            json.dump(content, file, indent=1)


if __name__ == "__main__":
    main()
