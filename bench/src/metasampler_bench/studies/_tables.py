"""Tables of `decisions.py`: made from the rows of its studies, and nothing else."""

import numpy as np
from _study import StudyTable, paired, set_means, standard_error, with_error

MEASURES = ("Brier score", "log-loss", "calibration error", "average precision")
#: What makes use of members that have not seen the validation rows.
HELD_OUT = ("raw", "prior", "sigmoid", "isotonic", "auto", "wrapped, same members")
#: What trains on the training and the validation rows together.
REFITTED = "auto, refitted"
FIVE = "wrapped, five ensembles"
ALL_ROWS = ("sigmoid, refitted", REFITTED, "cross-fitted", "wrapped, one ensemble", FIVE)
FEW_POSITIVES = 60
#: From where on "auto" leaves the training rows alone.
ENOUGH_HELD_OUT = 30
#: What a section has to say before its tables.
TERMS = {
    "calibration": (
        "All methods get the same 60 : 20 : 20 splits. Members are trained on the training rows, "
        "and the validation rows are for calibration; a refit trains them on both in the end (two "
        "fits; six where a class has fewer than 30 validation rows, since auto then holds out the "
        "training rows in turn as well), and cross-fitted holds out fifths of both in turn (six "
        'fits). "Wrapped" is scikit-learn\'s CalibratedClassifierCV with a sigmoid around the raw '
        "classifier: around the same fitted members, with the validation rows; or with five folds "
        "of the training and validation rows together, as one ensemble (six fits), or as the five "
        "of the folds (five fits). "
        "Below each table, the difference in brackets is the other's Brier score less its own, "
        "and level is what differs by less than a standard error."
    ),
    "few-rows": (
        "On tasks that are none of the 27 sets, nor of their sources. All have the same members, "
        "trained on the training and the validation rows, and calibrations that were fitted on "
        "the validation rows, but for the last one, for which all rows are held out in turn."
    ),
}


def _n_sets(rows):
    return len({row["set"] for row in rows})


def _values(rows, key):
    return sorted({row[key] for row in rows})


def calibration_tables(rows, title="Calibration"):
    """One table for each number of members."""
    return [_calibration_table(rows, k, title) for k in _values(rows, "k")]


def _calibration_table(rows, k, title):
    def means(method, value):
        return set_means(rows, value, k=k, method=method)

    methods = (*HELD_OUT, *ALL_ROWS)
    lines = []
    for method in methods:
        line = [method, f"{means(method, 'members').mean():.0f}"]
        for value in MEASURES:
            line.append(f"{means(method, value).mean():.4f}")
            if value in ("Brier score", "average precision"):
                difference = paired(means(method, value), means("auto", value))
                line.append("" if method == "auto" else with_error(*difference))
        lines.append(line)
    header = ["method", "members"]
    for value in MEASURES:
        header += (
            [value, "less auto's"] if value in ("Brier score", "average precision") else [value]
        )

    brier = {method: means(method, "Brier score") for method in methods}
    kept = [r for r in rows if r["k"] == k and r["method"] in ("prior", "sigmoid", "auto")]
    change, noise = (
        max(abs(row[column]) for row in kept)
        for column in ("change without rounding noise", "change of average precision")
    )
    same = {method: brier[method] for method in HELD_OUT if method != "auto"}
    more = {method: brier[method] for method in ALL_ROWS if method not in (REFITTED, FIVE)}
    more[f"{FIVE} with {means(FIVE, 'members').mean():.0f} members"] = brier[FIVE]
    # As many members as five smaller ensembles have.
    smaller = set_means(rows, "Brier score", k=k // 5, method=FIVE) if k % 5 == 0 else ()
    equal = ""
    if len(smaller):
        equal = (
            f" With {k} members at prediction on both sides, it is "
            f"{_standing(brier[REFITTED], {f'five ensembles of {k // 5}': smaller})}."
        )
    note = (
        f"{_n_sets(rows)} data sets. The mean Brier score of the raw mean is "
        f"{brier['raw'].mean() / brier['auto'].mean():.1f} times that of auto. Of what leaves the "
        f"members as they are, auto is {_standing(brier['auto'], same)}; prior, sigmoid and auto "
        f"change average precision by at most {change:.0e} (by {noise:.0e} if raw scores that "
        "differ only in the last bits of a sum, and become ties, are counted as ordered). Of what "
        "trains on the validation rows too, auto with a refit is "
        f"{_standing(brier[REFITTED], more)}.{equal}"
    )
    return StudyTable(f"{title}, k = {k}", header, lines, note)


def _standing(own, others):
    """Where a method stands among others by its losses, in words."""
    words: dict[str, list] = {"ahead of": [], "level with": [], "behind": []}
    for method, losses in others.items():
        difference, error = paired(losses, own)
        word = "ahead of" if difference > 0 else "behind"
        # What the four digits shown do not tell apart is level, too.
        if abs(difference) < max(error, 5e-5):
            word = "level with"
        words[word].append(f"{method} ({with_error(difference, error)})")
    return ", ".join(f"{word} {_listed(names)}" for word, names in words.items() if names)


def _listed(names):
    *first, last = names
    return f"{'; '.join(first)} and {last}" if first else last


def few_rows_tables(rows):
    """Tasks with few and with more held-out positives, for each number of members."""
    groups = {
        "fewer than 5": lambda n: n < 5,
        f"5 to {ENOUGH_HELD_OUT - 1}": lambda n: 5 <= n < ENOUGH_HELD_OUT,
        f"{ENOUGH_HELD_OUT} or more": lambda n: n >= ENOUGH_HELD_OUT,
    }
    tables = []
    for title, belongs in groups.items():
        chosen = [row for row in rows if belongs(row["held-out positives"])]
        if _n_sets(chosen) > 1:
            tables.append(_few_rows_table(chosen, title))
    return tables


def _few_rows_table(rows, title):
    sizes = _values(rows, "k")
    methods = list(dict.fromkeys(row["method"] for row in rows))
    lines, ahead = [], []
    for method in methods:
        line, wins = [method], []
        for k in sizes:
            own, reference = (
                set_means(rows, "Brier score", k=k, method=m) for m in (method, methods[0])
            )
            difference, error = paired(own, reference)
            wins.append(difference < -error)
            line.append(f"{own.mean():.4f}")
            line.append("" if method == methods[0] else with_error(difference, error))
        lines.append(line)
        if all(wins):
            ahead.append(method)
    header = ["calibration"]
    for k in sizes:
        header += [f"Brier score, k = {k}", f"less the {methods[0]}'s"]
    note = (
        f"{_n_sets(rows)} tasks. By more than a standard error, whatever the number of members, "
        f"{_listed(ahead) if ahead else 'nothing'} is better than the {methods[0]}."
    )
    return StudyTable(f"Few rows: {title} held-out positives", header, lines, note)


def stopping_tables(rows):
    """Early stopping off, and on with more and more patience."""
    values = ("members", "CPU seconds", "average precision", "Brier score")
    patiences = sorted({row["n_iter_no_change"] or 0 for row in rows})
    means = {
        patience: {
            value: set_means(rows, value, n_iter_no_change=patience or None) for value in values
        }
        for patience in patiences
    }
    off = means[0]
    lines, costs = [], []
    for patience, own in means.items():
        line = [str(patience or None), f"{own['members'].mean():.1f}"]
        line.append(f"{own['CPU seconds'].mean():.3f}")
        for value in ("average precision", "Brier score"):
            line.append(f"{own[value].mean():.4f}")
            line.append(with_error(*paired(own[value], off[value])) if patience else "")
        lines.append(line)
        if patience:
            change = (own["average precision"] - off["average precision"]).mean()
            costs.append(f"{-change:.3f} with {own['members'].mean():.0f} members")
    note = (
        f"{_n_sets(rows)} data sets. Of up to {off['members'].max():.0f} members, stopping after "
        f"{', '.join(map(str, patiences[1:]))} without improvement costs "
        f"{', '.join(costs)} in average precision: stopping is a way to save time, not to score "
        "better."
    )
    header = ["n_iter_no_change", "members", "CPU seconds"]
    for value in ("average precision", "Brier score"):
        header += [value, "less None's"]
    return [StudyTable("Early stopping", header, lines, note)]


HOLD_OUTS = (
    "hold-out, auto",
    "no hold-out, prior",
    "refitted, auto of the hold-out fit",
    "no hold-out, cross-fitted sigmoid",
)


def hold_out_tables(rows):
    """All sets, and those with few positives, for each number of members."""
    few = [row for row in rows if row["positives"] < FEW_POSITIVES]
    groups = {
        "all sets": rows,
        f"sets with fewer than {FEW_POSITIVES} positives": few,
    }
    return [
        _hold_out_table(chosen, k, title)
        for k in _values(rows, "k")
        for title, chosen in groups.items()
        if _n_sets(chosen) > 1
    ]


def _hold_out_table(rows, k, title):
    measures = ("average precision", "Brier score", "log-loss")
    reference, prior, refitted, crossed = HOLD_OUTS
    lines, differences = [], {}
    for method in HOLD_OUTS:
        if not any(row["k"] == k and row["method"] == method for row in rows):
            continue  # cross-fitting is done for the smaller size only
        line = [method]
        for value in measures:
            own, others = (set_means(rows, value, k=k, method=m) for m in (method, reference))
            differences[method, value] = paired(own, others)
            line.append(f"{own.mean():.4f}")
            line.append("" if method == reference else with_error(*differences[method, value]))
        lines.append(line)
    header = ["rows and calibration"]
    for value in measures:
        header += [value, "less hold-out's"]

    note = (
        f"{_n_sets(rows)} sets. Training on the held-out rows too changes average precision by "
        f"{with_error(*differences[prior, 'average precision'])}. The Brier score changes by "
        f"{with_error(*differences[prior, 'Brier score'])} with the prior, which needs no held-out "
        f"rows, and by {with_error(*differences[refitted, 'Brier score'])} with a sigmoid that was "
        "fitted with the hold-out and kept for members that are refitted on all rows"
    )
    if (crossed, "Brier score") in differences:
        note += (
            f"; by {with_error(*differences[crossed, 'Brier score'])} with one fitted on "
            "cross-validated probabilities, which costs five more fits"
        )
    return StudyTable(f"Hold-out, k = {k}, {title}", header, lines, note + ".")


def recall_tables(rows):
    """Recall that was asked for, and recall that was reached."""
    target = rows[0]["target"]
    lines, short = [], []
    for name in _values(rows, "set"):
        own = [row for row in rows if row["set"] == name]
        reached = np.array([row["recall"] for row in own])
        error = standard_error(reached)
        if reached.mean() < target - 2 * error:
            short.append(name)
        lines.append(
            [
                name,
                str(own[0]["positives"]),
                f"{reached.mean():.3f} ± {error:.3f}",
                f"{np.mean([row['recall on the held-out rows'] for row in own]):.3f}",
                f"{np.mean([row['precision'] for row in own]):.3f}",
            ]
        )
    n_splits = len({row["split"] for row in rows})
    verdict = "misses it by more than two standard errors on " + ", ".join(short)
    note = (
        f"Asked for a recall of {target} over {n_splits} splits, the threshold "
        + (verdict if short else "reaches it within two standard errors on every set")
        + "; it aims at the mean over fits, so single fits lie on both sides. "
        "± is the standard error over splits."
    )
    header = ["data set", "positives", "recall on unseen rows", "on held-out rows", "precision"]
    return [StudyTable(f'threshold=("recall", {target})', header, lines, note)]


TABLES = {
    "calibration": calibration_tables,
    "few-rows": few_rows_tables,
    "stopping": stopping_tables,
    "hold-out": hold_out_tables,
    "recall": recall_tables,
}
