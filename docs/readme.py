"""Write the table of the README from the stored rows of `metasampler bench tables`.

    python docs/readme.py            # write it
    python docs/readme.py --check    # only say whether it is up to date

A test runs the check, so that no number of the README goes stale.
"""

import sys
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from metasampler_bench import ResultStore

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- table: python docs/readme.py -->", "<!-- end of table -->"
#: How the README names the methods that it shows; the ranks are among all that finished.
SHOWN = {
    "mesa-best": '`MesaClassifier.from_preset("best")`',
    "mesa": "**`MesaClassifier()`**",
    "mesa-fast": '`MesaClassifier.from_preset("fast")`',
    "lightgbm-tuned": "LightGBM, tuned by random search in the default's CPU time",
    "lightgbm-slow": "LightGBM, 300 slow rounds",
    "lightgbm": "LightGBM",
    "catboost": "CatBoost",
    "gradient-boosting": "scikit-learn's HistGradientBoosting",
    "xgboost": "XGBoost",
    "random-forest": "random forest",
    "balanced-forest": "balanced random forest",
    "easy-ensemble": "EasyEnsemble",
}


def means_of(rows, number: str) -> dict[str, dict[str, float]]:
    """Return for each method the mean of a number on each table."""
    values: dict = {}
    for row in rows:
        if number in row:
            of_method = values.setdefault(row["cell"]["method"], {})
            of_method.setdefault(row["cell"]["dataset"], {})[row["cell"]["run"]] = row[number]
    return {
        method: {name: float(np.mean(list(runs.values()))) for name, runs in sets.items()}
        for method, sets in values.items()
    }


def make_table(rows) -> str:
    """Return the table as Markdown, with the sentence that says what it shows."""
    scores, cpu = means_of(rows, "score"), means_of(rows, "cpu")
    n_tables = max(len(of_method) for of_method in scores.values())
    methods = [method for method, sets in scores.items() if len(sets) == n_tables]
    tables = sorted(scores["lightgbm"])
    matrix = np.array([[scores[method][name] for method in methods] for name in tables])
    ranks = dict(zip(methods, rankdata(-matrix, axis=1).mean(axis=0), strict=True))
    runs = {row["cell"]["run"] for row in rows if row["cell"]["method"] == "mesa"}
    lines = [
        f"Average precision on {n_tables} public tables as users have them, {len(runs)} "
        f"split{'s' if len(runs) > 1 else ''} each, mean rank among {len(methods)} methods:",
        "",
        "| | mean rank | mean score | ahead of LightGBM | CPU of a fit |",
        "|---|---:|---:|---:|---:|",
    ]
    for method in sorted((m for m in SHOWN if m in ranks), key=ranks.get):
        own, other = scores[method], scores["lightgbm"]
        ahead = sum(own[name] > other[name] for name in tables)
        ratio = np.exp(np.mean([np.log(cpu[method][t] / cpu["lightgbm"][t]) for t in tables]))
        shown = "" if method == "lightgbm" else f"{ahead} of {n_tables}"
        lines.append(
            f"| {SHOWN[method]} | {ranks[method]:.2f} | {np.mean(list(own.values())):.3f} | "
            f"{shown} | {ratio:.1f} |"
        )
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    rows = ResultStore(ROOT / "docs" / "results" / "tables.jsonl").rows()
    page = ROOT / "README.md"
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    new = f"{before}{BEGIN}\n{make_table(rows)}\n{END}{after}"
    if "--check" in arguments:
        print("up to date" if new == text else "README.md is stale: run python docs/readme.py")
        return int(new != text)
    page.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
