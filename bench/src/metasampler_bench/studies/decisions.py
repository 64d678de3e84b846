r"""Evidence for what happens after the fit: calibration, early stopping, hold-out, recall targets.

    python benchmarks/decisions.py calibration --output docs/results/decisions-calibration.json
    python benchmarks/decisions.py calibration --splits 1 --sets isolet protein_homo webpage \
        --output docs/results/decisions-calibration-large.json
    python benchmarks/decisions.py few-rows    --output docs/results/decisions-few-rows.json
    python benchmarks/decisions.py stopping    --output docs/results/decisions-stopping.json
    python benchmarks/decisions.py hold-out    --output docs/results/decisions-hold-out.json
    python benchmarks/decisions.py recall      --output docs/results/decisions-recall.json
    python benchmarks/decisions.py report      # docs/results/decisions.md, from these files

Members are decision trees, mu is the default. Needs METASAMPLER_DATA_HOME, a folder with
imbalanced-learn's collection of 27 data sets as `zenodo/`, and for few-rows other sets as `extra/`.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
import warnings
from copy import copy
from pathlib import Path

import numpy as np
from _few_rows import forms, load_tasks
from _study import (
    LARGE_SETS,
    each_split,
    load_sets,
    measure,
    read_rows,
    split_in_three,
    split_off_test,
    write_rows,
)
from _tables import TABLES, TERMS
from rich.console import Console
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import average_precision_score, precision_score, recall_score
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier
from metasampler.ensemble._calibration import make_calibration

RESULTS = Path(__file__).parent.parent / "docs" / "results"
SIZES = (10, 50)
PATIENCES = (None, 5, 10, 20)
RECALL = 0.9
#: What is measured: the paper's members, with a constant mu.
PAPER = {
    "estimator": DecisionTreeClassifier(),
    "n_estimators": 10,
    "meta_sampler": 0.9,
    "leaf_smoothing": 0,
    "refit": False,
}
RECALL_SETS = ("mammography", "satimage", "us_crime")


def calibration(sets, options):
    """All calibrations of the same members, and CalibratedClassifierCV, which fits its own."""
    checked = False
    for name, number, X, y, seed in each_split(sets, options.splits, options.seed, "calibration"):
        train, valid, (X_test, y_test) = split_in_three(X, y, seed)
        # With a constant mu the first ten of fifty members are those of a fit of ten.
        clf = MesaClassifier(
            **{**PAPER, "n_estimators": max(SIZES)}, calibration=None, random_state=seed
        )
        clf.fit(*train, *valid)
        stages = {}
        for part, table in {"valid": valid[0], "test": X_test}.items():
            for k, proba in enumerate(clf.staged_predict_proba(table), start=1):
                if k in SIZES:
                    stages[part, k] = proba
        prior = np.bincount(train[1]) / len(train[1])
        # As in a fit: held-out rows count so that classes are as frequent as in the training rows.
        weights = (prior * len(valid[1]) / np.bincount(valid[1]))[valid[1]]
        for k in SIZES:
            for method in ("raw", "prior", "sigmoid", "isotonic", "auto"):
                fitted = make_calibration(
                    None if method == "raw" else method,
                    prior=prior,
                    drawn=np.full(2, 0.5),
                    proba=stages["valid", k],
                    codes=valid[1],
                    weights=weights,
                )
                proba = fitted(stages["test", k])
                if method == "auto" and not checked:
                    own = MesaClassifier(**{**PAPER, "n_estimators": k}, random_state=seed)
                    own.fit(*train, *valid)
                    np.testing.assert_allclose(own.predict_proba(X_test), proba, atol=1e-12)
                    checked = True
                # Sums of the same terms in another order differ by 1e-17. Such pairs have no order
                # that a calibration could keep, so it is also looked at without them.
                rounded = stages["test", k].round(12)
                yield {
                    "set": name,
                    "split": number,
                    "k": k,
                    "method": method,
                    "members": k,
                } | _measured(
                    y_test, proba, stages["test", k], _change(y_test, fitted(rounded), rounded)
                )
            first = copy(clf)
            first.estimators_ = clf.estimators_[:k]
            others = _on_all_rows(train, valid, k, seed)
            others |= _by_scikit_learn(first, train, valid, k, seed)
            for method, other in others.items():
                yield {
                    "set": name,
                    "split": number,
                    "k": k,
                    "method": method,
                    "members": _n_members(other),
                } | _measured(y_test, other.predict_proba(X_test), stages["test", k], None)


def _on_all_rows(train, valid, k, seed):
    """Our own ways to use the validation rows for training too."""
    settings = {**PAPER, "n_estimators": k, "random_state": seed}
    refitted = MesaClassifier(**{**settings, "refit": True})
    by_valid = MesaClassifier(**{**settings, "refit": True}, calibration="sigmoid")
    crossed = MesaClassifier(**settings, calibration="cross-fitted", validation_fraction=None)
    return {
        "sigmoid, refitted": by_valid.fit(*train, *valid),
        "auto, refitted": refitted.fit(*train, *valid),
        "cross-fitted": crossed.fit(*_joined(train, valid)),
    }


def _joined(train, valid):
    return np.concatenate([train[0], valid[0]]), np.concatenate([train[1], valid[1]])


def _n_members(fitted):
    """Members that are asked for a prediction."""
    if isinstance(fitted, CalibratedClassifierCV):
        return sum(len(part.estimator.estimators_) for part in fitted.calibrated_classifiers_)
    return len(fitted.estimators_)


def _by_scikit_learn(fitted, train, valid, k, seed):
    """CalibratedClassifierCV around the fitted members, and around classifiers it fits itself."""
    X, y = _joined(train, valid)
    raw = MesaClassifier(
        **{**PAPER, "n_estimators": k},
        calibration=None,
        validation_fraction=None,
        random_state=seed,
    )
    return {
        "wrapped, same members": CalibratedClassifierCV(FrozenEstimator(fitted)).fit(*valid),
        "wrapped, one ensemble": CalibratedClassifierCV(raw, cv=5, ensemble=False).fit(X, y),
        "wrapped, five ensembles": CalibratedClassifierCV(raw, cv=5).fit(X, y),
    }


def _change(y, proba, raw):
    after, before = (float(average_precision_score(y, p[:, 1])) for p in (proba, raw))
    return after - before


def _measured(y, proba, raw, change_without_noise):
    return measure(y, proba[:, 1]) | {
        "change of average precision": _change(y, proba, raw),
        "change without rounding noise": change_without_noise,
    }


def few_rows(sets, options):
    """Members on all rows, with calibrations by the validation rows or by all rows in turn."""
    for name, number, X, y, seed in each_split(sets, options.splits, options.seed, "few rows"):
        train, valid, (X_test, y_test) = split_in_three(X, y, seed)
        X_all, y_all = _joined(train, valid)
        settings = {**PAPER, "random_state": seed}
        raw = {**settings, "n_estimators": max(SIZES), "calibration": None}
        held = MesaClassifier(**raw).fit(*train, *valid)
        whole = MesaClassifier(**raw, validation_fraction=None).fit(X_all, y_all)
        stages = [
            {k: p for k, p in enumerate(clf.staged_predict_proba(table), 1) if k in SIZES}
            for clf, table in ((held, valid[0]), (whole, X_test))
        ]
        prior = np.bincount(train[1]) / len(train[1])
        weights = (prior * len(valid[1]) / np.bincount(valid[1]))[valid[1]]
        for k in SIZES:
            settings["n_estimators"] = k
            crossed = MesaClassifier(
                **settings, calibration="cross-fitted", validation_fraction=None
            ).fit(X_all, y_all)
            fitted = forms(k, prior=prior, proba=stages[0][k], codes=valid[1], weights=weights)
            probas = {method: form(stages[1][k][:, 1]) for method, form in fitted.items()}
            probas["sigmoid, all rows in turn"] = crossed.predict_proba(X_test)[:, 1]
            for method, proba in probas.items():
                yield {
                    "set": name,
                    "split": number,
                    "held-out positives": int(valid[1].sum()),
                    "k": k,
                    "method": method,
                } | measure(y_test, proba)


def stopping(sets, options):
    """Fifty members, or as many as improve the validation score."""
    for name, number, X, y, seed in each_split(sets, options.splits, options.seed, "stopping"):
        train, valid, (X_test, y_test) = split_in_three(X, y, seed)
        for patience in PATIENCES:
            clf = MesaClassifier(
                **{**PAPER, "n_estimators": 50}, n_iter_no_change=patience, random_state=seed
            )
            start = time.process_time()
            clf.fit(*train, *valid)
            seconds = time.process_time() - start
            yield {
                "set": name,
                "split": number,
                "n_iter_no_change": patience,
                "members": len(clf.estimators_),
                "CPU seconds": seconds,
            } | measure(y_test, clf.predict_proba(X_test)[:, 1])


def hold_out(sets, options):
    """Hold rows out for calibration, do without, refit on all, or take turns (five more fits)."""
    for name, number, X, y, seed in each_split(sets, options.splits, options.seed, "hold-out"):
        X_rest, X_test, y_rest, y_test = split_off_test(X, y, seed)
        for k in SIZES:
            settings = {**PAPER, "n_estimators": k, "random_state": seed}
            held = MesaClassifier(validation_fraction=0.2, **settings).fit(X_rest, y_rest)
            whole = MesaClassifier(validation_fraction=None, calibration=None, **settings)
            raw = whole.fit(X_rest, y_rest).predict_proba(X_test)
            prior = np.bincount(y_rest) / len(y_rest)
            by_prior = make_calibration("prior", prior=prior, drawn=np.full(2, 0.5))
            probas = {
                "hold-out, auto": held.predict_proba(X_test),
                "no hold-out, prior": by_prior(raw),
                "refitted, auto of the hold-out fit": held.calibration_(raw),
            }
            if k == min(SIZES):
                crossed = CalibratedClassifierCV(whole, cv=5, ensemble=False).fit(X_rest, y_rest)
                probas["no hold-out, cross-fitted sigmoid"] = crossed.predict_proba(X_test)
            for method, proba in probas.items():
                yield {
                    "set": name,
                    "split": number,
                    "positives": int(y.sum()),
                    "k": k,
                    "method": method,
                } | measure(y_test, proba[:, 1])


def recall(sets, options):
    """Whether a recall that is asked for is reached on unseen rows."""
    for name, number, X, y, seed in each_split(sets, options.splits, options.seed, "recall"):
        X_rest, X_test, y_rest, y_test = split_off_test(X, y, seed)
        clf = MesaClassifier(**PAPER, threshold=("recall", RECALL), random_state=seed)
        clf.fit(X_rest, y_rest)
        said = clf.predict(X_test)
        yield {
            "set": name,
            "split": number,
            "positives": int(y.sum()),
            "target": RECALL,
            "recall": float(recall_score(y_test, said)),
            "precision": float(precision_score(y_test, said, zero_division=0)),
            "recall on the held-out rows": clf.expected_recall_,
            "threshold": clf.threshold_,
        }


COMMANDS = {
    "calibration": calibration,
    "few-rows": few_rows,
    "stopping": stopping,
    "hold-out": hold_out,
    "recall": recall,
}
INTRODUCTION = """\
# From scores to decisions: the measurements

Written by `python benchmarks/decisions.py report` from the JSON files beside this page, which the
commands below made. ± is the standard error of the mean paired difference; the splits of a data
set are averaged first, so that data sets are the units. Members are decision trees, μ is the
constant 0.9, and there are neither soft leaves nor a refit unless it is said.
"""


#: The sections of the page: the study, and what its file is called after.
SECTIONS = {
    "Calibration": ("calibration", "calibration"),
    "Calibration of large sets": ("calibration", "calibration-large"),
    "Few held-out rows": ("few-rows", "few-rows"),
    "Stopping": ("stopping", "stopping"),
    "Hold-out": ("hold-out", "hold-out"),
    "Recall": ("recall", "recall"),
}


def _left_out(settings):
    names = settings["left out"]
    return f"; of the 27 sets, {', '.join(names)} are left out for time" if names else ""


def report(folder: Path) -> str:
    """One page with all tables."""
    parts = [INTRODUCTION]
    for title, (name, file) in SECTIONS.items():
        content = read_rows(folder / f"decisions-{file}.json")
        made = f"`{content['command']}`, {content['date']}{_left_out(content['settings'])}"
        parts.append(f"## {title}\n\n{made}.\n")
        if name == file and name in TERMS:
            parts.append(f"{TERMS[name]}\n")
        # Tables of one study in two sections have to differ by their titles.
        options = {} if name == file else {"title": title}
        parts += [table.markdown() for table in TABLES[name](content["rows"], **options)]
    return "\n".join(parts)


def run(name, options):
    names = RECALL_SETS if name == "recall" else options.sets
    if name == "few-rows":
        sets = load_tasks(options.data_home)
    else:
        sets = load_sets(options.data_home, names=names, with_large=options.all)
    command = f"python benchmarks/decisions.py {name} --splits {options.splits}"
    command += " --all" if options.all else ""
    command += f" --seed {options.seed}" if options.seed else ""
    command += f" --sets {' '.join(options.sets)}" if options.sets else ""
    of_the_27 = names is None and name != "few-rows"
    left_out = [large for large in LARGE_SETS if large not in sets] if of_the_27 else []
    settings = {"sets": sorted(sets), "left out": left_out}
    rows = []
    with warnings.catch_warnings():
        # Few positives are part of the study, and so is what they are warned of.
        warnings.filterwarnings("ignore", message=".*held-out rows of the minority class")
        for row in COMMANDS[name](sets, options):
            # What there is is kept if a long study is interrupted.
            if rows and row["set"] != rows[-1]["set"] and options.output:
                write_rows(
                    options.output, rows, command=command, seed=options.seed, settings=settings
                )
            rows.append(row)
    if options.output:
        write_rows(options.output, rows, command=command, seed=options.seed, settings=settings)
    console = Console(width=150)
    for table in TABLES[name](rows):
        table.show(console)
    if name in TERMS:
        console.print(TERMS[name], soft_wrap=True)
    console.print(command + _left_out(settings), soft_wrap=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, function in COMMANDS.items():
        command = commands.add_parser(name, help=function.__doc__)
        command.add_argument("--splits", type=int, default=20 if name == "recall" else 5)
        command.add_argument("--seed", type=int, default=0)
        command.add_argument("--data-home", default=None)
        command.add_argument("--output", default=None, help="also write the rows to this JSON file")
        command.add_argument("--sets", nargs="+", default=None, help="only these data sets")
        command.add_argument("--all", action="store_true", help=f"also {', '.join(LARGE_SETS)}")
    command = commands.add_parser("report", help="write the page from the JSON files")
    command.add_argument("--folder", type=Path, default=RESULTS)
    options = parser.parse_args()
    if options.command == "report":
        page = options.folder / "decisions.md"
        page.write_text(report(options.folder))
        print(f"Wrote {page}.")
    else:
        run(options.command, options)


if __name__ == "__main__":
    main()
