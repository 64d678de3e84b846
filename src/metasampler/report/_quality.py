"""How good a model is: gains, calibration, where the scores lie, and each class."""

from __future__ import annotations

import numpy as np

from metasampler.report._explorer import figure
from metasampler.report._figures import Axes, logit_scale, nice_ticks, percent_ticks
from metasampler.report._findings import (
    NOTHING,
    Findings,
    amount,
    interval,
    percent,
    significant,
)
from metasampler.report._html_tables import folded, table
from metasampler.report._markup import Markup, element, join, name, shorten

#: Classes of a confusion matrix, at most.
MOST_CLASSES = 12

#: Classes up to which it is drawn, and confusions that are listed.
MOST_DRAWN, MOST_CONFUSIONS = 80, 20

# Up to this many classes it can be read at the width of a phone; a larger one is scrolled.
_MOST_ON_A_PHONE = 25

# In the drawn matrix: a square, the place for names, and shares that are not drawn.
_CELL, _LABELS, _LEAST_SHARE = 10, 90, 0.005


def quality(found: Findings) -> Markup | None:
    """Return gains, calibration and where the scores lie."""
    figures = []
    if found.quality is not None:
        figures.append(gains(found))
    if found.calibration is not None:
        figures.append(calibration(found))
    figures.append(score_distribution(found))
    if found.quality is None:
        return element(
            "section",
            element("h2", "Where the scores lie"),
            element("div", *figures, class_="figures"),
            id="quality",
        )
    n_resamples = f"{found.quality.n_resamples:,}"
    return element(
        "section",
        element("h2", "How good it is"),
        element(
            "p",
            f"Ranges are 95% intervals: bootstrap with {n_resamples} resamples",
            "; for the Brier score by its standard error, for the calibration Wilson's. "
            if found.are_proba
            else ". ",
            "All figures hold only if new rows are like these, and if the model was not trained "
            "on these rows.",
        ),
        element("div", *figures, class_="figures"),
        each_class(found),
        id="quality",
    )


def gains(found: Findings) -> Markup:
    """Return what share is found by looking at a share of the rows."""
    cuts, at = found.cuts, found.cuts.start
    axes = Axes(
        "gains",
        f"Part found over part of the rows that raise an alarm. At the threshold "
        f"{percent(cuts.share[at])} of the rows hold {percent(cuts.recall[at])} of what is to be "
        "found.",
        x_label="Part of all rows, highest scores first",
        y_label="Part that is found",
        x_ticks=percent_ticks(0, 1),
        y_ticks=percent_ticks(0, 1),
        x_limits=(0, 1),
        y_limits=(0, 1),
    )
    axes.line([0, 1], [0, 1], "chance")
    axes.band(cuts.share, *found.quality.recall)
    axes.line(cuts.share, cuts.recall)
    axes.mark(cuts.share[at], cuts.recall[at])
    rows = []
    for part in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5):
        # The cut point that calls most rows without going beyond this part.
        place = int(np.searchsorted(-cuts.share, -part))
        share, recall = cuts.share[place], cuts.recall[place]
        if share > 0:
            rows.append(
                (
                    f"{percent(share)}",
                    percent(recall),
                    percent(cuts.precision[place]),
                    f"{recall / share:.1f}",
                )
            )
    numbers = table(
        "Gains in numbers", ("Rows looked at", "Found", "Right", "Times chance"), rows, words=0
    )
    return figure(
        "Gains",
        axes.svg(),
        "What looking at the highest scores first brings. The dashed line is a random order.",
        folded("In numbers", numbers),
    )


def calibration(found: Findings) -> Markup:
    """Return what the model said and what came."""
    made = found.calibration
    high = float(np.clip(max(made.high.max(), made.said.max()) * 1.05, 0.001, 1))
    axes = Axes(
        "calibration",
        f"Calibration in {len(made.said)} groups of rows: what the model said, from "
        f"{percent(made.said[0])} to {percent(made.said[-1])}, and what came, from "
        f"{percent(made.came[0])} to {percent(made.came[-1])}.",
        x_label="What the model says",
        y_label="What came",
        x_ticks=percent_ticks(0, high),
        y_ticks=percent_ticks(0, high),
        x_limits=(0, high),
        y_limits=(0, high),
    )
    axes.line([0, high], [0, high], "chance")
    axes.whiskers(made.said, made.low, made.high)
    axes.dots(made.said, made.came)
    rows = [
        (percent(said, 2), percent(came, 2), interval(low, top), amount(n))
        for said, came, low, top, n in zip(
            made.said, made.came, made.low, made.high, made.rows, strict=True
        )
    ]
    numbers = table(
        "Calibration in numbers", ("Said", "Came", "95% interval", "Rows"), rows, words=0
    )
    return figure(
        "Calibration",
        axes.svg(),
        "Whether a probability of 20% comes true in 20 of 100 rows: then points lie on the dashed "
        "line. Groups are cut so that each has the same expected number of hits.",
        folded("In numbers", numbers),
    )


def score_distribution(found: Findings) -> Markup:
    """Return where the scores of each class lie."""
    made = found.histogram
    edges, lines = made["edges"], made["lines"]
    scale = ticks = None
    if made["logit"]:
        scale, limits, ticks = logit_scale(edges)
    else:
        limits = (float(edges[0]), float(edges[-1]))
        ticks = [(tick, significant(tick)) for tick in nice_ticks(*limits)]
    high = max(float(values.max()) for _, values in lines) * 1.08
    kind = "Probability" if found.are_proba else "Score"
    axes = Axes(
        "scores",
        f"Distribution of the scores; the threshold is "
        f"{significant(found.cuts.threshold[found.cuts.start])}.",
        x_label=f"{kind} of {shorten(found.label, 24)}",
        y_label="Part of the rows",
        x_ticks=ticks,
        y_ticks=percent_ticks(0, high, 4),
        x_limits=limits,
        y_limits=(0, high),
        scale=scale,
    )
    for (_, values), kind in zip(lines, ("second", "first"), strict=False):
        steps, heights = np.repeat(edges, 2)[1:-1], np.repeat(values, 2)
        axes.line([edges[0], *steps, edges[-1]], [0, *heights, 0], f"area {kind}", close=True)
    axes.upright(found.cuts.threshold[found.cuts.start])
    legend = element(
        "span",
        *(
            element("span", name(words), class_=f"key {kind}")
            for (words, _), kind in zip(lines, ("second", "first"), strict=False)
        ),
        class_="keys",
    )
    words = "The upright line is the threshold. "
    if found.quality is not None:
        words = "The less the two overlap, the better. " + words
    if made["logit"]:
        words += "Small probabilities are drawn apart."
    return figure("Scores", axes.svg(), join(legend if found.quality else None, words))


def each_class(found: Findings) -> Markup | None:
    """Return how well each of many classes is found, and what is taken for what."""
    if found.classes is None:
        return None
    made, labels = found.classes, found.labels
    order = np.argsort(-np.array(made["rows"]), kind="stable")
    shown = order[: 4 * MOST_CLASSES]
    rows = [
        (
            name(labels[place]),
            amount(made["rows"][place]),
            *([amount(made["expected"][place])] if found.are_proba else []),
            percent(made["precision"][place]),
            percent(made["recall"][place]),
            NOTHING
            if made["average_precision"][place] is None
            else f"{made['average_precision'][place]:.3f}",
        )
        for place in shown
    ]
    left = len(labels) - len(rows)
    expects = ["Model expects"] if found.are_proba else []
    header = ("Class", "Rows", *expects, "Precision", "Recall", "Average precision")
    return element(
        "div",
        element("h3", "Each class"),
        element(
            "p",
            "By what the model's predict returns. Average precision is that of the class against "
            "all others. ",
            "What the model expects is the sum of its probabilities: it should be close to the "
            "number of rows. "
            if found.are_proba
            else None,
            f"The {left} smallest classes are left out." if left else None,
        ),
        table("How well each class is found", header, rows),
        _matrix(found, order),
        _confusions(found),
        class_="each-class",
    )


def _matrix(found: Findings, order) -> Markup | None:
    """Return the confusion matrix: in numbers, or for many classes drawn."""
    matrix, labels = np.array(found.classes["matrix"]), found.labels
    if len(labels) <= MOST_CLASSES:
        header = ["True class", *(join("as ", name(labels[place])) for place in order)]
        rows = [[name(labels[i]), *(amount(matrix[i, j]) for j in order)] for i in order]
        return table("True classes (rows) and predicted classes (columns)", header, rows)
    if len(labels) > MOST_DRAWN:
        return None
    shares = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1e-300)
    cells = []
    for row, i in enumerate(order.tolist()):
        cells.append(
            element(
                "text",
                shorten(labels[i], 18),
                x=_LABELS - 3,
                y=_CELL * row + 0.8 * _CELL,
                class_="cell-name",
            )
        )
        for column, j in enumerate(order.tolist()):
            if shares[i, j] >= _LEAST_SHARE:
                said = f"{shorten(labels[i])} taken for {shorten(labels[j])}"
                cells.append(
                    element(
                        "rect",
                        element("title", f"{said}: {percent(shares[i, j])}"),
                        x=_LABELS + _CELL * column,
                        y=_CELL * row,
                        width=_CELL - 1,
                        height=_CELL - 1,
                        fill_opacity=f"{0.15 + 0.85 * shares[i, j]:.2f}",
                        class_=f"cell {'good' if i == j else 'bad'}",
                    )
                )
    size = _CELL * len(labels)
    drawn = element(
        "svg",
        element("title", "Confusion matrix"),
        *cells,
        viewBox=f"0 0 {_LABELS + size} {size}",
        role="img",
        class_="matrix wide" if len(labels) > _MOST_ON_A_PHONE else "matrix",
    )
    # A keyboard must be able to scroll it.
    region = {"class_": "scroll", "tabindex": "0", "role": "region"}
    drawn = element("div", drawn, aria_label="Confusion matrix", **region)
    words = (
        "Each line is a true class, each column a predicted one, in the same order. The darker a "
        "square, the larger its share of the line. Point at a square to read it."
    )
    return element("figure", drawn, element("figcaption", words))


def _confusions(found: Findings) -> Markup | None:
    """Return which classes are taken for each other, most rows first."""
    matrix, labels = np.array(found.classes["matrix"]), found.labels
    wrong = matrix - np.diag(matrix.diagonal())
    truth = matrix.sum(axis=1)
    rows = []
    for place in np.argsort(-wrong, axis=None, kind="stable")[:MOST_CONFUSIONS]:
        i, j = divmod(int(place), len(labels))
        if wrong[i, j] > 0:
            share = percent(wrong[i, j] / truth[i])
            rows.append((name(labels[i]), name(labels[j]), amount(wrong[i, j]), share))
    if not rows:
        return None
    header = ["True class", "Taken for", "Rows", "Of the class"]
    return table("The largest confusions", header, rows, words=2)
