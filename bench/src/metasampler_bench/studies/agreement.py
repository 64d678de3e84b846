"""Do our ensembles score as other packages' do? The same splits of real data, paired by split.

    python benchmarks/agreement.py                                      with imbalanced-learn
    python benchmarks/agreement.py --python elsewhere/bin/python        and imbalanced-ensemble

imbalanced-ensemble cannot be installed beside a current scikit-learn. It runs in another
interpreter, made by ``pip install imbalanced-ensemble scikit-learn==1.6.0``, which needs nothing of
ours: this file is started there with --worker and answers with scores. The data sets are those of
``imblearn.datasets.fetch_datasets``; METASAMPLER_DATA_HOME names the folder to keep them in.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Only what every interpreter has: the rest is imported where it is used.
import numpy as np
from sklearn.metrics import average_precision_score
from sklearn.tree import DecisionTreeClassifier

DATA_SETS = ("ecoli", "us_crime", "mammography")
N_MEMBERS = 10


def ours(seed):
    """Our ensembles with the settings of those they are compared with."""
    from metasampler import ensemble

    tree = DecisionTreeClassifier
    stumps = tree(max_depth=1)
    options = {"n_estimators": N_MEMBERS, "random_state": seed}
    boosting = options | {"algorithm": "SAMME", "stop_when_perfect": True}
    return {
        "UnderBagging": ensemble.UnderBaggingClassifier(tree(), **options),
        "RUSBoost, stumps": ensemble.RUSBoostClassifier(stumps, **boosting),
        "RUSBoost, full trees": ensemble.RUSBoostClassifier(tree(), **boosting),
        "SPE": ensemble.SelfPacedEnsembleClassifier(tree(), **options),
        "Cascade": ensemble.BalanceCascadeClassifier(tree(), **options),
        "SMOTEBagging": ensemble.SMOTEBaggingClassifier(tree(), **options),
    }


def of_imbalanced_learn(seed):
    from imblearn.ensemble import BalancedBaggingClassifier, RUSBoostClassifier

    tree = DecisionTreeClassifier
    options = {"n_estimators": N_MEMBERS, "random_state": seed}
    return {
        "UnderBagging": BalancedBaggingClassifier(tree(), bootstrap=False, **options),
        "RUSBoost, stumps": RUSBoostClassifier(tree(max_depth=1), **options),
        "RUSBoost, full trees": RUSBoostClassifier(tree(), **options),
    }


def of_imbalanced_ensemble(seed):
    from imbens import ensemble

    options = {"n_estimators": N_MEMBERS, "random_state": seed}
    return {
        "UnderBagging": ensemble.UnderBaggingClassifier(bootstrap=False, **options),
        # Without replacement it ends with an error where a bin has too few rows.
        "SPE": ensemble.SelfPacedEnsembleClassifier(k_bins=10, replacement=True, **options),
        "Cascade": ensemble.BalanceCascadeClassifier(replacement=False, **options),
        "SMOTEBagging": ensemble.SMOTEBaggingClassifier(k_neighbors=5, **options),
    }


PACKAGES = {
    "metasampler": ours,
    "imbalanced-learn": of_imbalanced_learn,
    "imbalanced-ensemble": of_imbalanced_ensemble,
}


def run(package, folder):
    """Test average precision and CPU seconds of a fit: data set -> method -> split."""
    answer = {}
    for path in sorted(Path(folder).glob("*.npz")):
        with np.load(path) as archive:
            X, y, tests = archive["X"], archive["y"], archive["tests"]
        results = answer.setdefault(path.stem, {})
        for seed, test in enumerate(tests):
            for name, classifier in PACKAGES[package](seed).items():
                start = time.process_time()
                classifier.fit(X[~test], y[~test])
                seconds = time.process_time() - start
                proba = classifier.predict_proba(X[test])[:, 1]
                score = float(average_precision_score(y[test], proba))
                results.setdefault(name, []).append((score, seconds))
    return answer


def save_splits(folder, names, n_splits, data_home):
    """Write each data set with its test rows: 30% of each class, another draw in every split."""
    from imblearn.datasets import fetch_datasets
    from sklearn.model_selection import StratifiedShuffleSplit

    for name, data in fetch_datasets(data_home=data_home, filter_data=tuple(names)).items():
        y = (data.target == 1).astype(int)
        tests = np.zeros((n_splits, len(y)), dtype=bool)
        splits = StratifiedShuffleSplit(n_splits, test_size=0.3, random_state=0)
        for mask, (_, test) in zip(tests, splits.split(y, y), strict=True):
            mask[test] = True
        np.savez(Path(folder) / f"{name}.npz", X=data.data, y=y, tests=tests)


def run_elsewhere(python, folder):
    """Run imbalanced-ensemble in another interpreter."""
    command = [python, str(Path(__file__).resolve()), "--worker", folder]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def report(results, console, n_splits):
    from rich.table import Table

    table = Table(
        title="Test average precision of ours and of other packages",
        title_justify="left",
        caption=f"{n_splits} splits of each set, {N_MEMBERS} members; ± standard error. The "
        "difference is paired by split, and also given in its standard errors.",
    )
    for column in ("method", "data", "package", "theirs", "ours", "ours - theirs", "in s.e."):
        is_text = column in ("method", "data", "package")
        table.add_column(column, justify="left" if is_text else "right", no_wrap=True)
    table.add_column("CPU, ours / theirs", justify="right")

    def error(values):
        return values.std(ddof=1) / np.sqrt(len(values))

    reference = results.pop("metasampler")
    methods = list(next(iter(reference.values())))
    for method in methods:
        for package, sets in results.items():
            for data, scores in sets.items():
                if method not in scores:
                    continue
                (mine, my_time), (theirs, their_time) = (
                    np.array(pairs).T for pairs in (reference[data][method], scores[method])
                )
                difference = mine - theirs
                spread = error(difference)
                table.add_row(
                    method,
                    data,
                    package,
                    f"{theirs.mean():.3f} ± {error(theirs):.3f}",
                    f"{mine.mean():.3f} ± {error(mine):.3f}",
                    f"{difference.mean():+.3f} ± {spread:.3f}",
                    f"{difference.mean() / spread:+.1f}" if spread else "0.0",
                    f"{my_time.mean() / their_time.mean():.2f}",
                )
        table.add_section()
    console.print(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10, help="number of splits")
    parser.add_argument("--data", nargs="+", default=list(DATA_SETS))
    parser.add_argument("--data-home", default=os.environ.get("METASAMPLER_DATA_HOME"))
    parser.add_argument("--python", help="interpreter that has imbalanced-ensemble")
    parser.add_argument("--worker", metavar="FOLDER", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        print(json.dumps(run("imbalanced-ensemble", arguments.worker)))
        return
    if arguments.seeds < 2:
        parser.error("--seeds must be at least 2, for the standard errors")

    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 130)
    with tempfile.TemporaryDirectory() as folder:
        save_splits(folder, arguments.data, arguments.seeds, arguments.data_home)
        results = {package: run(package, folder) for package in ("metasampler", "imbalanced-learn")}
        if arguments.python:
            results["imbalanced-ensemble"] = run_elsewhere(arguments.python, folder)
    report(results, console, arguments.seeds)


if __name__ == "__main__":
    main()
