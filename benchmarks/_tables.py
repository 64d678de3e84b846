"""Tables of `decisions.py`: made from the rows of its studies, and nothing else."""

import numpy as np
from _study import StudyTable, paired, set_means, standard_error, with_error

MEASURES = ("Brier score", "log-loss", "calibration error", "average precision")
CALIBRATIONS = (
    "raw",
    "prior",
    "sigmoid",
    "isotonic",
    "auto",
    "wrapped, same members",
    "wrapped, one ensemble",
    "wrapped, five ensembles",
)
FEW_POSITIVES = 60
WRAPPED = (
    '"Wrapped" is scikit-learn\'s CalibratedClassifierCV with a sigmoid around the raw classifier: '
    "around the same fitted members, with the validation rows; or refitted on training and "
    "validation rows together with five folds, as one ensemble of k members or as five of them "
    "(5 k members, five times the work at prediction)."
)


def _n_sets(rows):
    return len({row["set"] for row in rows})


def _values(rows, key):
    return sorted({row[key] for row in rows})


def calibration_tables(rows):
    """One table for each number of members."""
    return [_calibration_table(rows, k) for k in _values(rows, "k")]


def _calibration_table(rows, k):
    def means(method, value):
        return set_means(rows, value, k=k, method=method)

    lines = []
    for method in CALIBRATIONS:
        line = [method]
        for value in MEASURES:
            line.append(f"{means(method, value).mean():.4f}")
            if value in ("Brier score", "average precision"):
                difference = paired(means(method, value), means("auto", value))
                line.append("" if method == "auto" else with_error(*difference))
        lines.append(line)
    header = ["method"]
    for value in MEASURES:
        header += (
            [value, "less auto's"] if value in ("Brier score", "average precision") else [value]
        )

    brier = {method: means(method, "Brier score") for method in CALIBRATIONS}
    change = max(
        abs(row["change of average precision"])
        for row in rows
        if row["k"] == k and row["method"] in ("prior", "sigmoid", "auto")
    )
    # The same sigmoid, found by another optimiser, is not behind.
    behind = [m for m in CALIBRATIONS if brier[m].mean() < brier["auto"].mean() - 1e-6]
    note = (
        f"{_n_sets(rows)} data sets. The mean Brier score of the raw mean is "
        f"{brier['raw'].mean() / brier['auto'].mean():.1f} times that of auto, "
    )
    if behind:
        gaps = (f"{m} ({with_error(*paired(brier[m], brier['auto']))})" for m in behind)
        note += f"which is behind {' and '.join(gaps)}"
    else:
        note += "which no other method is below"
    note += f"; prior, sigmoid and auto change average precision by at most {change:.0e}. {WRAPPED}"
    return StudyTable(f"Calibration, k = {k}", header, lines, note)


def stopping_tables(rows):
    """Early stopping on and off."""
    lines = []
    for method in ("off", "on"):
        line = [method]
        for value, digits in {
            "members": 1,
            "CPU seconds": 3,
            "average precision": 4,
            "Brier score": 4,
        }.items():
            line.append(f"{set_means(rows, value, method=method).mean():.{digits}f}")
        lines.append(line)
    on, off = (
        {
            value: set_means(rows, value, method=method)
            for value in ("members", "CPU seconds", "average precision", "Brier score")
        }
        for method in ("on", "off")
    )
    precision = paired(on["average precision"], off["average precision"])
    brier = paired(on["Brier score"], off["Brier score"])
    lines.append(["on less off", "", "", with_error(*precision), with_error(*brier)])
    worst = np.min(on["average precision"] - off["average precision"])
    verdict = "costs" if precision[0] < 0 else "gains"
    note = (
        f"On {_n_sets(rows)} data sets stopping after five members without improvement keeps "
        f"{on['members'].mean():.0f} of {off['members'].mean():.0f} members, needs "
        f"{on['CPU seconds'].sum() / off['CPU seconds'].sum():.0%} of the time and {verdict} "
        f"{abs(precision[0]):.3f} in average precision (on the set that loses most, "
        f"{-worst:.3f}): it is a way to save time, not to score better."
    )
    return [
        StudyTable(
            "Early stopping",
            ["early stopping", "members", "CPU seconds", "average precision", "Brier score"],
            lines,
            note,
        )
    ]


HOLD_OUTS = ("hold-out, auto", "no hold-out, prior", "no hold-out, cross-fitted")


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
    lines, differences = [], {}
    for method in HOLD_OUTS:
        line = [method]
        for value in ("average precision", "Brier score", "log-loss"):
            own, reference = (set_means(rows, value, k=k, method=m) for m in (method, HOLD_OUTS[0]))
            line.append(f"{own.mean():.4f}")
            differences[method, value] = paired(own, reference)
            line.append("" if method == HOLD_OUTS[0] else with_error(*differences[method, value]))
        lines.append(line)
    header = ["rows and calibration"]
    for value in ("average precision", "Brier score", "log-loss"):
        header += [value, "less hold-out's"]
    _, prior, crossed = HOLD_OUTS
    note = (
        f"{_n_sets(rows)} sets: training on all rows changes average precision by "
        f"{with_error(*differences[prior, 'average precision'])}; the Brier score changes by "
        f"{with_error(*differences[prior, 'Brier score'])} with the prior, which needs no rows, "
        f"and by {with_error(*differences[crossed, 'Brier score'])} with a sigmoid that is fitted "
        "on cross-validated probabilities, at the price of five more fits."
    )
    return StudyTable(f"Hold-out, k = {k}, {title}", header, lines, note)


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
    "stopping": stopping_tables,
    "hold-out": hold_out_tables,
    "recall": recall_tables,
}
