"""Write the table of the README from the stored rows of `metasampler bench tables`.

    python docs/readme.py            # write it
    python docs/readme.py --check    # only say whether it is up to date

A test runs the check, so that no number of the README goes stale.
"""

import sys
import textwrap
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from metasampler_bench import ResultStore
from metasampler_bench._numbers import Numbers
from metasampler_bench._rows import last_rows

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- table: python docs/readme.py -->", "<!-- end of table -->"
#: How the README names the methods that it shows; the ranks are among all that finished.
SHOWN = {
    "mesa-best": '`MesaClassifier(recipe="best")`',
    "mesa": "**`MesaClassifier()`**",
    "mesa-fast": '`MesaClassifier(recipe="fast")`',
    "lightgbm-tuned": "LightGBM, tuned by random search in the default's CPU time",
    "lightgbm-tuned-long": "LightGBM, tuned by random search in the best's CPU time",
    "lightgbm-slow": "LightGBM, 300 slow rounds",
    "lightgbm": "LightGBM",
    "catboost": "CatBoost",
    "gradient-boosting": "scikit-learn's HistGradientBoosting",
    "xgboost": "XGBoost",
    "random-forest": "random forest",
    "balanced-forest": "balanced random forest",
    "easy-ensemble": "EasyEnsemble",
    "spe-lightgbm": "self-paced ensemble of LightGBM, the nearest relative",
}


#: Methods that have run on one split only, and what the README calls them.
ON_ONE_SPLIT = {
    "catboost": "CatBoost",
    "catboost-tuned-defaults": "CatBoost with published tuned defaults",
    "lightgbm-tuned-defaults": "LightGBM with published tuned defaults",
    "flaml-long": "FLAML in the CPU time of `best`",
    "autogluon-medium": "AutoGluon's medium quality in the default's CPU time",
}


def numbers_of(rows, number: str) -> dict[str, dict[tuple[str, int], float]]:
    """Return for each method a number of each table and split."""
    values: dict = {}
    for row in rows:
        if number in row:
            cell = row["cell"]
            values.setdefault(cell["method"], {})[cell["dataset"], cell["run"]] = row[number]
    return values


def make_table(rows) -> str:
    """Return the table as Markdown, with the sentence that says what it shows."""
    scores, cpu = numbers_of(rows, "score"), numbers_of(rows, "cpu")
    # Ranks and means are of the same splits for all: who has fewer is not in the table.
    cells = sorted(scores["lightgbm"])
    methods = [method for method, found in scores.items() if found.keys() >= set(cells)]
    tables = sorted({name for name, _ in cells})
    n_tables, n_runs = len(tables), len({run for _, run in cells})

    def means_of(found: dict) -> list[float]:
        """Return the mean over the splits of each table."""
        return [
            float(np.mean([found[cell] for cell in cells if cell[0] == name])) for name in tables
        ]

    means = {method: means_of(scores[method]) for method in methods}
    times = {method: means_of(cpu[method]) for method in methods}
    matrix = np.array(list(means.values())).T
    ranks = dict(zip(methods, rankdata(-matrix, axis=1).mean(axis=0), strict=True))
    shown = sorted((m for m in SHOWN if m in ranks), key=ranks.get)
    lines = [
        f"Average precision on {n_tables} public tables with raw columns, {n_runs} "
        f"split{'s' if n_runs > 1 else ''} each. We ranked {len(methods)} methods and show "
        f"{len(shown)} of them:",
        "",
        "| | mean rank | mean score | ahead of LightGBM | CPU of a fit |",
        "|---|---:|---:|---:|---:|",
    ]
    for method in shown:
        pairs = zip(means[method], means["lightgbm"], strict=True)
        ahead = sum(own > other for own, other in pairs)
        ratio = np.exp(np.mean(np.log(times[method]) - np.log(times["lightgbm"])))
        wins = "" if method == "lightgbm" else f"{ahead} of {n_tables}"
        lines.append(
            f"| {SHOWN[method]} | {ranks[method]:.2f} | {np.mean(means[method]):.3f} | "
            f"{wins} | {ratio:.1f} |"
        )
    return "\n".join(lines)


def make_sentence(folder: Path) -> str:
    """Return how the default does beside methods that have run on one split only."""
    numbers = Numbers(folder)
    found = [
        f"{name} ({numbers.cost('tables', method, 'lightgbm'):.0f}): "
        f"{numbers.ahead('tables', 'mesa', method)} of "
        f"{numbers.n_sets('tables', 'mesa', method)}"
        for method, name in ON_ONE_SPLIT.items()
    ]
    words = (
        "Others have run on one split of each table. The default is ahead of them on this many "
        f"tables, with their CPU time in brackets: {'; '.join(found)}."
    )
    return textwrap.fill(words, 120, break_long_words=False, break_on_hyphens=False)


def renewed(text: str, rows) -> str:
    """Return the README with the table that the rows give."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    sentence = make_sentence(ROOT / "docs" / "results")
    return f"{before}{BEGIN}\n{make_table(rows)}\n\n{sentence}\n{END}{after}"


def main(arguments: list[str]) -> int:
    """Write the table, or only say whether it is up to date."""
    rows = last_rows(ResultStore(ROOT / "docs" / "results" / "tables.jsonl").rows())
    page = ROOT / "README.md"
    text = page.read_text(encoding="utf-8")
    new = renewed(text, rows)
    if "--check" in arguments:
        print("up to date" if new == text else "README.md is stale: run python docs/readme.py")
        return int(new != text)
    page.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
