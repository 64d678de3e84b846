"""Ask whether our ensembles score as other packages' do, paired by split of real data."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.tree import DecisionTreeClassifier

from metasampler import ensemble
from metasampler_bench import ensemble as bench
from metasampler_bench._progress import tracked
from metasampler_bench._statistics import standard_error, with_error
from metasampler_bench._tables import ResultTable
from metasampler_bench.datasets import load
from metasampler_bench.studies import _agreement_worker
from metasampler_bench.studies._agreement_worker import N_MEMBERS, fit_splits
from metasampler_bench.studies._study import Options, Row, Study

__all__ = ["AGREEMENT"]

_DATA_SETS = ("ecoli", "us_crime", "mammography")
_OURS = "metasampler"


def _of_ours(seed: int) -> dict[str, Any]:
    """Return our ensembles with the settings of those they are compared with."""
    tree = DecisionTreeClassifier
    stumps = tree(max_depth=1)
    options = {"n_estimators": N_MEMBERS, "random_state": seed}
    boosting = options | {"algorithm": "SAMME", "stop_when_perfect": True}
    return {
        "UnderBagging": ensemble.UnderBaggingClassifier(tree(), **options),
        "RUSBoost, stumps": bench.RUSBoostClassifier(stumps, **boosting),
        "RUSBoost, full trees": bench.RUSBoostClassifier(tree(), **boosting),
        "SPE": ensemble.SelfPacedEnsembleClassifier(tree(), **options),
        "Cascade": ensemble.BalanceCascadeClassifier(tree(), **options),
        "SMOTEBagging": bench.SMOTEBaggingClassifier(tree(), **options),
    }


def _of_imbalanced_learn(seed: int) -> dict[str, Any]:
    from imblearn.ensemble import BalancedBaggingClassifier, RUSBoostClassifier

    tree = DecisionTreeClassifier
    options = {"n_estimators": N_MEMBERS, "random_state": seed}
    return {
        "UnderBagging": BalancedBaggingClassifier(tree(), bootstrap=False, **options),
        "RUSBoost, stumps": RUSBoostClassifier(tree(max_depth=1), **options),
        "RUSBoost, full trees": RUSBoostClassifier(tree(), **options),
    }


def _measure(options: Options) -> Iterator[Row]:
    """Yield a row for each package, set, method and split."""
    with tempfile.TemporaryDirectory() as folder:
        for name in options.datasets or _DATA_SETS:
            _save_splits(folder, name, options)
        packages: dict[str, Iterable[Any]] = {
            _OURS: fit_splits(_of_ours, folder),
            "imbalanced-learn": fit_splits(_of_imbalanced_learn, folder),
        }
        if options.python:
            packages["imbalanced-ensemble"] = _run_elsewhere(options.python, folder)
        for package in tracked(packages, "agreement"):
            for name, method, split, score, seconds in packages[package]:
                yield {
                    "package": package,
                    "set": name,
                    "method": method,
                    "split": split,
                    "average precision": score,
                    "CPU seconds": seconds,
                }


def _save_splits(folder: str, name: str, options: Options) -> None:
    """Write a data set with its test rows: 30% of each class, another draw in every split."""
    data = load(name, data_home=options.data_home)
    y = (data.target == 1).astype(int)
    tests = np.zeros((options.runs, len(y)), dtype=bool)
    splits = StratifiedShuffleSplit(options.runs, test_size=0.3, random_state=options.seed)
    for mask, (_, test) in zip(tests, splits.split(y, y), strict=True):
        mask[test] = True
    np.savez(Path(folder) / f"{name}.npz", X=data.data, y=y, tests=tests)


def _run_elsewhere(python: str, folder: str) -> list[Any]:
    """Run imbalanced-ensemble in another interpreter."""
    command = [python, str(_agreement_worker.__file__), folder]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _tables(rows: list[Row]) -> list[ResultTable]:
    """Make a table of the paired differences, by method, package and set."""

    def values(value: str, **wanted: str) -> Any:
        chosen = [row for row in rows if all(row[key] == text for key, text in wanted.items())]
        return np.array([row[value] for row in sorted(chosen, key=lambda row: row["split"])])

    packages = dict.fromkeys(row["package"] for row in rows if row["package"] != _OURS)
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        for package in packages:
            for data in dict.fromkeys(row["set"] for row in rows):
                at = {"method": method, "set": data}
                theirs = values("average precision", package=package, **at)
                if len(theirs) < 2:
                    continue
                ours = values("average precision", package=_OURS, **at)
                difference = ours - theirs
                error = standard_error(difference)
                seconds = [
                    values("CPU seconds", package=name, **at).mean() for name in (_OURS, package)
                ]
                lines.append(
                    [
                        method,
                        data,
                        package,
                        f"{theirs.mean():.3f} ± {standard_error(theirs):.3f}",
                        f"{ours.mean():.3f} ± {standard_error(ours):.3f}",
                        with_error(difference.mean(), error, digits=3),
                        f"{difference.mean() / error:+.1f}" if error else "0.0",
                        f"{seconds[0] / seconds[1]:.2f}",
                    ]
                )
    header = ["method", "data", "package", "theirs", "ours", "ours - theirs", "in s.e."]
    n_splits = len({row["split"] for row in rows})
    note = (
        f"{n_splits} splits of each set, {N_MEMBERS} members; ± is the standard error. The "
        "difference is paired by split, and also given in its standard errors."
    )
    title = "Test average precision of ours and of other packages"
    return [ResultTable.from_texts(title, [*header, "CPU, ours / theirs"], lines, note)]


AGREEMENT = Study(
    name="agreement",
    title="Agreement with other packages",
    about="""
The same splits of real data, paired by split, at least two of them. imbalanced-ensemble cannot be
installed beside a current scikit-learn: `--python` names another interpreter, made by
`pip install imbalanced-ensemble scikit-learn==1.6.0`, which needs nothing of ours.
""",
    measure=_measure,
    tables=_tables,
    runs=10,
)
