"""What is found in columns, and what dates, free text and target statistics gain and cost.

    METASAMPLER_DATA_HOME=... python benchmarks/columns.py findings
    METASAMPLER_DATA_HOME=... python benchmarks/columns.py dates --seeds 3
    python benchmarks/columns.py text --seeds 3
    METASAMPLER_DATA_HOME=... python benchmarks/columns.py statistics --seeds 3
    python benchmarks/columns.py page

Each result is a row of docs/results/columns.jsonl; the last command writes docs/results/columns.md.
"""

import argparse
import ast
import os
import platform
import sys
import time
import warnings
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline

from metasampler import MesaClassifier
from metasampler.datasets import make_claims
from metasampler.tables import (
    TableCleaner,
    TableEncoder,
    TargetStatistics,
    count_classes,
    inspect_columns,
)
from metasampler.tables import _sense as sense

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "helpers"))

from kept_rows import commit, keep_row, read_rows, write_page  # noqa: E402
from messy_transactions import COMMON, clean_month  # noqa: E402

ROWS, PAGE = (ROOT / "docs" / "results" / f"columns.{ending}" for ending in ("jsonl", "md"))

# How much rows of one patient differ, in made data.
NOISES = (0.05, 0.3, 0.6, 1.0)

# Larger tables are cut, to keep a run short.
MOST_ROWS = 20_000


def tables():
    """Yield the tables with two classes, then those with several."""
    home = Path(os.environ["METASAMPLER_DATA_HOME"])
    for folder in ("real", "classes"):
        for path in sorted((home / folder).glob("*.parquet")):
            yield folder, path.stem, pd.read_parquet(path)


def keep(part: str, name: str, seed: int, **figures) -> None:
    """Store a row, and print it."""
    row = {"part": part, "name": name, "seed": seed, **figures}
    print(row, flush=True)
    packages = ("metasampler", "numpy", "scikit-learn", "lightgbm", "pandas")
    row |= {
        "command": f"python benchmarks/columns.py {part}",
        "versions": {"python": platform.python_version()} | {p: version(p) for p in packages},
        "commit": commit(),
        "date": datetime.now(UTC).date().isoformat(),
    }
    keep_row(ROWS, row, by=("part", "name", "seed"))


# ---------------------------------------------------------------------- findings


def findings() -> None:
    """Look at all rows of all tables: what is found, and how near columns are to an alarm."""
    scores: list[float] = []
    plain = sense._leak

    def noted(*arguments):
        scores.append(plain(*arguments))
        return scores[-1]

    sense._leak = noted
    for folder, name, frame in tables():
        scores.clear()
        start = time.process_time()
        report = inspect_columns(frame, "target")
        keep(
            "findings",
            name,
            0,
            classes="two" if folder == "real" else "several",
            rows=len(frame),
            columns=frame.shape[1] - 1,
            seconds=round(time.process_time() - start, 2),
            highest=round(max(scores, default=0.0), 3),
            found={str(each.name): each.finding for each in report.columns if each.finding},
            repeats=report.repeats,
        )
    patients()
    rng = np.random.default_rng(0)
    for share in (0.2, 0.1, 0.05, 0.02):
        y = rng.random(20_000) < share
        changed = rng.random(len(y)) < 0.01
        scores.clear()
        inspect_columns(pd.DataFrame({"copy": np.where(changed, ~y, y)}), y)
        keep("copies", f"rarest class {share:.0%}", 0, highest=round(max(scores), 3))


def patients() -> None:
    """Look at made rows of patients, with and without a column that names them."""
    for noise in NOISES:
        for named in (False, True):
            found = []
            for seed in range(10):
                frame, bad = rows_of_patients(noise, seed)
                report = inspect_columns(frame if named else frame.drop(columns="patient"), bad)
                found.append("patient" in report.warned if named else bool(report.repeats))
            what = "named" if named else "not named"
            keep("patients", f"noise {noise}, {what}", 0, found=sum(found), of=len(found))
    # Rows that are independent, but lie in clusters.
    for clusters in (1, 4):
        found = []
        for seed in range(10):
            X, bad = make_classification(
                3000,
                8,
                n_informative=6,
                n_redundant=0,
                n_clusters_per_class=clusters,
                weights=[0.9],
                random_state=seed,
            )
            frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)])
            report = inspect_columns(frame, bad)
            found.append(bool(report.repeats or report.warned))
        name = f"independent, {clusters} cluster{'s' * (clusters > 1)} of each class"
        keep("patients", name, 0, found=sum(found), of=len(found))


def rows_of_patients(noise: float, seed: int):
    """Return 3,000 rows of 300 patients, shuffled: those of one patient differ by some noise."""
    rng = np.random.default_rng(seed)
    patient = rng.permutation(np.repeat(np.arange(300), 10))
    base = rng.normal(size=(300, 6))
    risk = base[:, :2].sum(axis=1) + 2 * rng.normal(size=300)
    X = base[patient] + noise * rng.normal(size=(len(patient), 6))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(6)])
    return frame.assign(patient=[f"P{k}" for k in patient]), (risk > np.quantile(risk, 0.9))[
        patient
    ]


# ---------------------------------------------------------------------- gains


def scored(model, train, y_train, test, y_test) -> tuple[float, float]:
    """Return the average precision of a model (macro for several classes) and its CPU seconds."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(train, y_train)
        proba = model.predict_proba(test)
    seconds = time.process_time() - start
    classes = model.classes_
    if len(classes) == 2:
        rare = int(np.argmin([np.mean(y_train == label) for label in classes]))
        return float(average_precision_score(y_test == classes[rare], proba[:, rare])), seconds
    truth = np.asarray(y_test)[:, None] == classes[None]
    return float(average_precision_score(truth, proba)), seconds


def compare(part: str, name: str, frame, y, before, after, seeds: int, **facts) -> None:
    """Store what two ways to treat a table give, on the same rows: pairs of maker and columns."""
    y = np.asarray(y)
    if len(frame) > MOST_ROWS:
        some = np.random.default_rng(0).choice(len(frame), MOST_ROWS, replace=False)
        frame, y = frame.iloc[some].reset_index(drop=True), y[some]
    known = np.isin(y, [label for label in np.unique(y) if np.sum(y == label) >= 10])
    frame, y = frame[known], y[known]
    for seed in range(seeds):
        train, test = train_test_split(
            np.arange(len(y)), test_size=0.3, stratify=y, random_state=seed
        )
        figures = {}
        for key, (make, prepare) in (("without", before), ("with", after)):
            table = prepare(frame)
            score, seconds = scored(
                make(seed), table.iloc[train], y[train], table.iloc[test], y[test]
            )
            figures |= {key: round(score, 4), f"seconds_{key}": round(seconds, 2)}
        keep(part, name, seed, rows=len(y), **facts, **figures)


def fast(seed, **options):
    """Return the preset `fast`."""
    return MesaClassifier.from_preset("fast", random_state=seed, **options)


def days_alone(frame):
    """Return a table whose dates are days since 1970, as numbers."""
    dates = [name for name in frame if frame[name].dtype.kind == "M"]
    epoch = pd.Timestamp("1970-01-01")
    return frame.assign(**{name: (frame[name] - epoch) / pd.Timedelta("1D") for name in dates})


def dates(seeds: int) -> None:
    """Compare the parts of dates with days since 1970 alone."""
    made = [
        (
            "made",
            "claims (made, dates say nothing)",
            make_claims().rename(columns={"fraud": "target"}),
        ),
        ("made", "transactions (made, fraud at night)", transactions()),
    ]
    for kind, name, frame in [*tables(), *made]:
        if any(frame[column].dtype.kind == "M" for column in frame):
            X, y = frame.drop(columns="target"), frame["target"].astype(str)
            compare(
                "dates",
                name,
                X,
                y,
                (fast, days_alone),
                (fast, lambda table: table),
                seeds,
                kind=kind,
            )


def transactions():
    """Return made transactions: more are fraud at night."""
    month = clean_month("2026-03-01", 12_000, 0)
    return month.drop(columns="remark").rename(columns={"fraud": "target"})


def text(seeds: int) -> None:
    """Compare free text with what is known without it."""
    described = sentences()
    for package, folder in (("scipy", "stats"), ("sklearn", "linear_model"), ("pandas", "io")):
        y = (described["package"] == package) & (described["folder"] == folder)
        frame = described[["text"]].assign(length=described["text"].str.len())
        _compare_text(f"docstrings of {package}.{folder}", frame, y, seeds)
    month = clean_month("2026-03-01", 12_000, 0).drop(columns=["booked", "opened"])
    _compare_text("transactions (made)", month.drop(columns="fraud"), month["fraud"], seeds)
    rng = np.random.default_rng(0)
    nothing = [" ".join(rng.choice(COMMON, 8)) for _ in range(len(month))]
    noise = month.drop(columns="fraud").assign(remark=nothing)
    _compare_text("transactions (made), text says nothing", noise, month["fraud"], seeds)


def _compare_text(name, frame, y, seeds):
    def ignoring(seed):
        return make_pipeline(TableCleaner(text="ignore"), fast(seed))

    def same(table):
        return table

    compare("text", name, frame, np.asarray(y).astype(str), (ignoring, same), (fast, same), seeds)


def sentences() -> pd.DataFrame:
    """Return the first paragraphs of docstrings of installed packages: real English sentences."""
    rows = []
    for package in ("scipy", "sklearn", "numpy", "pandas", "joblib"):
        folder = Path(find_spec(package).origin).parent
        for path in sorted(folder.rglob("*.py")):
            if "test" in str(path.relative_to(folder)):
                continue
            where = path.relative_to(folder).parts[0]
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                is_named = isinstance(node, (ast.FunctionDef, ast.ClassDef))
                said = ast.get_docstring(node) if is_named else None
                first = " ".join((said or "").split("\n\n")[0].split())
                if len(first.split()) >= 4:
                    rows.append((package, where, first))
    return pd.DataFrame(rows, columns=["package", "folder", "text"])


class Numbers:
    """LightGBM on encoded tables, with or without target statistics of many-level categories."""

    def __init__(self, seed, statistics, fewest=50, n_folds=5):
        self.seed, self.statistics = seed, statistics
        self.fewest, self.n_folds = fewest, n_folds

    def fit(self, X, y):
        """Fit; the statistics of training rows come from the other folds."""
        from lightgbm import LGBMClassifier

        self.classes_, codes = np.unique(y, return_inverse=True)
        self.encoder = TableEncoder().fit(X)
        numbers = self.encoder.transform(X)
        folds = np.zeros(len(y), dtype=int)
        splitter = StratifiedKFold(self.n_folds, shuffle=True, random_state=self.seed)
        for fold, (_, rows) in enumerate(splitter.split(codes, codes)):
            folds[rows] = fold
        self.of = {}
        if self.statistics:
            names = self.encoder.get_feature_names_out().tolist()
            for name, levels in self.encoder.levels_.items():
                if len(levels) >= self.fewest:
                    place, size = names.index(str(name)), len(levels)
                    counts = count_classes(
                        numbers[:, place], codes, folds, size, len(self.classes_), self.n_folds
                    )
                    self.of[place] = TargetStatistics(counts)
        self.model = LGBMClassifier(n_jobs=1, random_state=self.seed, verbose=-1)
        categories = self.encoder.categorical_features_
        self.model.fit(self._table(numbers, folds), codes, categorical_feature=categories)
        return self

    def _table(self, numbers, folds=None):
        more = [of(numbers[:, place], folds)[:, 1:] for place, of in self.of.items()]
        return np.hstack([numbers, *more])

    def predict_proba(self, X):
        """Return the probability of each class."""
        return self.model.predict_proba(self._table(self.encoder.transform(X)))


def statistics(seeds: int) -> None:
    """Compare LightGBM with and without target statistics, where a category has many levels."""
    for kind, name, frame in tables():
        X = frame.drop(columns="target")
        y = frame["target"].astype(str)
        many = [c for c in X if X[c].dtype.kind not in "biufmM" and X[c].nunique() >= 100]
        if many:
            ways = [
                (lambda seed, on=on: Numbers(seed, on), lambda table: table) for on in (False, True)
            ]
            compare("statistics", name, X, y, *ways, seeds, kind=kind)


# ---------------------------------------------------------------------- the page


def page() -> None:
    """Write the page from the stored rows."""
    rows = read_rows(ROWS)
    found = [row for row in rows if row["part"] == "findings"]
    usual = {"constant", "empty", "date", "entity", "date, classes change"}
    alarms = {
        (row["name"], column): finding
        for row in found
        for column, finding in row["found"].items()
        if finding not in usual
    }
    lines = [
        "# Columns: what is found, and what it gains",
        "",
        "Written by `python benchmarks/columns.py page` from the rows in `columns.jsonl`, each "
        "with its command, seed, versions, commit and date.",
        "",
        "## Findings on real tables",
        "",
    ]
    if found:
        said = "none" if not alarms else ", ".join(f"{a}.{b}: {c}" for (a, b), c in alarms.items())
        of_two = max(row["highest"] for row in found if row["classes"] == "two")
        seconds = sum(row["seconds"] for row in found)
        lines += [
            f"`inspect_columns` looked at all rows of {len(found)} tables "
            f"({sum(row['columns'] for row in found):,} columns, {seconds:.0f} s CPU in all). "
            "Findings other than dates, constant or empty columns and those of the next section: "
            f"{said}. The highest average precision of one column of a table with two classes is "
            f"{of_two:.2f}; a column is named as a possible leak from .80.",
            "",
            "| a copy of the target with 1% of the labels changed | average precision |",
            "|---|---|",
            *(
                f"| {row['name']} | {row['highest']:.3f} |"
                for row in rows
                if row["part"] == "copies"
            ),
            "",
        ]
    lines += dependence_lines(rows)
    titles = {
        "dates": (
            "Parts of dates, against days since 1970 alone",
            "Preset `fast`. Random splits: later rows of the same period, not another period.",
        ),
        "text": (
            "Free text, against the same table without it",
            'Preset `fast`, with `text="ignore"` and without. Docstrings are first sentences of '
            "the documentation of installed packages; their length is the only other column.",
        ),
        "statistics": (
            "Target statistics of categories with 50 levels or more",
            "LightGBM with its default settings on encoded tables, with and without the statistics "
            "as further columns.",
        ),
    }
    for part, (title, said) in titles.items():
        of_part = [row for row in rows if row["part"] == part]
        if not of_part:
            continue
        lines += [f"## {title}", "", said, ""]
        lines += ["| table | rows | seeds | without | with | difference | CPU without, with (s) |"]
        lines += ["|---|--:|--:|--:|--:|--:|--:|"]
        gains = []
        for name in dict.fromkeys(row["name"] for row in of_part):
            each = [row for row in of_part if row["name"] == name]
            mean = {
                key: np.mean([row[key] for row in each])
                for key in ("without", "with", "seconds_without", "seconds_with")
            }
            differences = [row["with"] - row["without"] for row in each]
            gains.append(np.mean(differences))
            spread = f" ± {np.std(differences, ddof=1):.3f}" if len(each) > 1 else ""
            lines.append(
                f"| {name} | {each[0]['rows']:,} | {len(each)} | {mean['without']:.3f} | "
                f"{mean['with']:.3f} | {gains[-1]:+.3f}{spread} | {mean['seconds_without']:.1f}, "
                f"{mean['seconds_with']:.1f} |"
            )
        lines += ["", f"Mean difference: {np.mean(gains):+.4f}. ± is the standard deviation over "]
        lines[-1] += "seeds. Scores are average precision, macro averages for several classes."
        lines += [""]
    write_page(PAGE, "\n".join(lines).rstrip() + "\n")


#: Why rows of real tables that are found to depend on each other do so, where it is known.
KNOWN = {
    "employee_attrition_monthly": "right: months of one employee, whose salary stays the same",
    "hotel_cancel_direct": "right: bookings of one group are there several times",
    "iranian_churn": "right: customers are there twice",
    "unsw_nb15_fuzzers": "right: flows of one attack have the same sizes and times",
    "unsw_nb15_attack_cat": "right: flows of one attack have the same sizes and times",
    "storm_status": "right: one storm every six hours",
    "hotel_market_segment": "depends: new rows may be of new agents, or of these",
}


def dependence_lines(rows: list[dict]) -> list[str]:
    """Return the part of the page about rows that depend on each other."""
    found = [row for row in rows if row["part"] == "findings" and "repeats" in row]
    made = [row for row in rows if row["part"] == "patients"]
    if not found:
        return []
    lines = ["## Rows that depend on each other", ""]
    lines += [
        "| table | column named as an entity | rows repeat | is it so? |",
        "|---|---|---|---|",
    ]
    for row in found:
        names = [column for column, finding in row["found"].items() if finding == "entity"]
        if names or row["repeats"]:
            known = KNOWN.get(row["name"], "not known")
            repeats = "yes" if row["repeats"] else ""
            lines.append(f"| {row['name']} | {', '.join(names)} | {repeats} | {known} |")
    counts = {kind: sum(row["classes"] == kind for row in found) for kind in ("two", "several")}
    lines += ["", f"Tables with two classes: {counts['two']}; with several: {counts['several']}. "]
    lines[-1] += "In the others nothing is found."
    lines += ["", "| made rows | found in |", "|---|--:|"]
    lines += [f"| {row['name']} | {row['found']} of {row['of']} |" for row in made]
    lines += [
        "",
        "Made rows are 3,000, of 300 patients of one class each. Noise is how much rows of a "
        "patient differ, in units of how much patients differ. Named: a column names the patient; "
        "not named: columns of measurements only.",
        "",
    ]
    return lines


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = {"dates": dates, "text": text, "statistics": statistics}
    parser.add_argument("part", choices=["findings", *parts, "page"])
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    if given.part in parts:
        parts[given.part](given.seeds)
    else:
        {"findings": findings, "page": page}[given.part]()


if __name__ == "__main__":
    main()
