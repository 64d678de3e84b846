"""The head of a page, and the part in which a reader moves the threshold."""

from __future__ import annotations

from typing import Any

import numpy as np

from metasampler.report._figures import FRAME, HEIGHT, WIDTH, Axes, percent_ticks
from metasampler.report._findings import (
    Findings,
    amount,
    interval,
    out_of,
    percent,
    significant,
)
from metasampler.report._markup import Markup, element, join, shorten

#: The share found from which on precision sets the end of its axis.
_LEAST_RECALL = 0.05


def sentence_parts(found: Findings) -> list[str | None]:
    """Return what the model does at its threshold; None stands for what is found."""
    cuts, at = found.cuts, found.cuts.start
    if cuts.alarms[at] == 0:
        return ["No alarm is raised at the threshold."]
    if cuts.hits is None:
        n, of = out_of(cuts.share[at])
        return [f"{n} of {of} rows {'raises' if n == '1' else 'raise'} an alarm."]
    right, of_alarms = out_of(cuts.precision[at])
    hit, of_found = out_of(cuts.recall[at])
    return [
        f"Of {of_alarms} alarms {right} {'is' if right == '1' else 'are'} right; "
        f"{hit} of {of_found} ",
        None,
        f" {'is' if hit == '1' else 'are'} found.",
    ]


def sentence(found: Findings) -> Markup:
    """Return this sentence as markup."""
    parts = sentence_parts(found)
    return join(*(found.what_marked if part is None else part for part in parts))


def class_sentence(found: Findings) -> str | None:
    """Return how well many classes are told apart; None for two classes or without labels."""
    if found.classes is None:
        return None
    matrix = np.array(found.classes["matrix"])
    recalls = [recall for recall in found.classes["recall"] if recall is not None]
    share, mean = matrix.diagonal().sum() / matrix.sum(), float(np.mean(recalls))
    return (
        f"{percent(share, 0)} of the rows get the right class. The mean recall of the "
        f"{len(recalls)} classes is {percent(mean, 0)}."
    )


def headline(found: Findings) -> str:
    """Return this sentence as plain text, after the one on all classes if there are many."""
    words = "".join(found.what if part is None else part for part in sentence_parts(found))
    classes = class_sentence(found)
    words = words if classes is None else f"{classes} {words}"
    return words.replace("\N{NO-BREAK SPACE}", " ")


def head(found: Findings) -> Markup:
    """Return the title, the headline and the main numbers."""
    cuts, at = found.cuts, found.cuts.start
    per_thousand = amount(1000 * cuts.share[at])
    lead: list[Any] = []
    if found.by_rule:
        lead.append(
            f"At its threshold of {significant(cuts.threshold[at])} the model raises "
            f"{per_thousand} alarms per 1,000 rows."
        )
    else:
        lead.append(f"The model raises about {per_thousand} alarms per 1,000 rows.")
    if found.quality is not None:
        low, high = found.quality.precision[:, at], found.quality.recall[:, at]
        if np.isfinite([*low, *high]).all():
            lead += [
                f" On other rows of this kind {_from_to(*low)} of the alarms would be right, and "
                f"{_from_to(*high)} of the ",
                found.what_marked,
                " would be found.",
            ]
        n, of = out_of(found.base_rate)
        lead.append(f" Of {of} alarms at random {n} would be right.")
    else:
        lead.append(" Labels were not given: how many alarms are right is not known.")
    classes = class_sentence(found)
    cautions = [element("p", caution, class_="caution") for caution in found.cautions]
    return element(
        "header",
        element("p", found.title, class_="eyebrow"),
        element("h1", sentence(found)),
        None if classes is None else element("p", classes, class_="lead"),
        element("p", *lead, class_="lead"),
        *cautions,
        tiles(found),
    )


def _from_to(low: float, high: float) -> str:
    """Write the range of a share; small shares have a digit more."""
    digits = 0 if low >= 0.1 else 1
    first, last = percent(low, digits), percent(high, digits)
    return f"about {first}" if first == last else f"between {first} and {last}"


def tiles(found: Findings) -> Markup | None:
    """Return the numbers that do not depend on a threshold."""
    quality = found.quality
    if quality is None:
        return None
    average, area, brier = quality.average_precision, quality.roc_auc, quality.brier
    shown = [
        (
            "Average precision",
            f"{average.value:.3f}",
            interval(average.low, average.high, "{:.3f}".format),
            f"Chance: {found.base_rate:.3f}. The precision, averaged over all thresholds.",
        ),
        (
            "Area under ROC",
            f"{area.value:.3f}",
            interval(area.low, area.high, "{:.3f}".format),
            "Chance: 0.500. How often a right row ranks above another.",
        ),
    ]
    if brier is not None:
        usual = found.base_rate * (1 - found.base_rate)
        gain = 1 - brier.value / usual
        compared = f"{percent(abs(gain), 0)} {'better' if gain >= 0 else 'worse'}"
        shown.append(
            (
                "Brier score",
                f"{brier.value:.4f}",
                interval(brier.low, brier.high, "{:.4f}".format),
                f"{compared} than giving every row {percent(found.base_rate)}. Low is good.",
            )
        )
    shown.append(
        (
            "Rows",
            amount(found.cuts.n_rows),
            "",
            f"{amount(found.cuts.n_positive)} of them ({percent(found.base_rate, 2)}) are to be "
            "found.",
        )
    )
    return element("dl", *(tile(*each) for each in shown), class_="tiles")


def tile(title: str, value: str, between: str, words: str, key: str | None = None) -> Markup:
    """Return one number with its name; the script writes those that have a key."""
    return element(
        "div",
        element("dt", title),
        element("dd", value, class_="value", data_out=key),
        element("dd", between, class_="between", data_out=key and f"{key}-between")
        if between or key
        else None,
        element("dd", words, class_="words", data_out=key and f"{key}-words"),
    )


# ------------------------------------------------------------------ the threshold


def explorer(found: Findings) -> Markup:
    """Return the slider, the boxes and what they move."""
    many = len(found.labels) > 2
    about: list[Any] = ["An alarm is a row whose "]
    about.append("probability" if found.are_proba else "score")
    about.append(" reaches the threshold. Move it to see what it would do on these rows. ")
    if many:
        about.append(
            f"The model has {len(found.labels)} classes; this looks at one of them against the "
            "rest. "
        )
    if not found.by_rule:
        about.append(
            "The model itself does not decide by a threshold on this score; the slider begins "
            "where as many alarms are raised as the model raises. "
        )
    known = found.quality is not None
    return element(
        "section",
        element("h2", "What a threshold does"),
        element("p", *about),
        element(
            "div",
            slider(found),
            live_tiles(found),
            boxes(found),
            moved(found) if known else None,
            class_="panel",
        ),
        id="threshold",
    )


def moved(found: Findings) -> Markup:
    """Return the table and the figures that the slider moves."""
    return element(
        "div",
        element("div", confusion(found)),
        figure(
            "Precision and recall",
            precision_recall(found),
            "Each point of the line is a threshold: further right more is found, further up more "
            "alarms are right. Shaded is the 95% interval, dashed is chance."
            + (
                ""
                if _highest_precision(found) == 1
                else " The axis ends below 100%; what is above lies at its upper edge."
            ),
        ),
        cost_figure(),
        class_="figures",
    )


def figure(title: str, drawing: Markup, caption: Any, *more: Any) -> Markup:
    """Return a drawing with its title and how to read it."""
    return element("figure", element("h3", title), drawing, element("figcaption", caption), *more)


def slider(found: Findings) -> Markup:
    """Return the slider and the buttons that set it."""
    cuts = found.cuts
    buttons = [("start", "Model's threshold" if found.by_rule else "As the model does")]
    if found.quality is not None:
        buttons += [("cheapest", "Lowest cost"), ("f1", "Best F1")]
    return element(
        "div",
        element("label", "Threshold", for_="slider"),
        element(
            "output",
            significant(cuts.threshold[cuts.start]),
            for_="slider",
            data_out="threshold",
            class_="value",
        ),
        element(
            "input",
            type="range",
            id="slider",
            min=0,
            max=len(cuts.threshold) - 1,
            value=cuts.start,
            step=1,
        ),
        element(
            "div",
            *(element("button", words, type="button", data_go=key) for key, words in buttons),
            class_="buttons",
            role="group",
            aria_label="Set the threshold",
        ),
        element("p", sentence(found), id="live", class_="live"),
        element("p", id="said", role="status", aria_live="polite", class_="unseen"),
        class_="slider needs-script",
    )


def boxes(found: Findings) -> Markup:
    """Return the numbers that a reader can set."""
    alarms = found.rows_a_day * float(found.cuts.share[found.cuts.start])
    wanted = [
        ("rows-a-day", "Rows per day", found.rows_a_day),
        ("alarms-per-day", "Alarms per day", float(f"{alarms:.3g}")),
    ]
    if found.quality is not None:
        wanted += [
            ("miss-cost", "Cost of a row that is missed", found.miss_cost),
            ("alarm-cost", "Cost of a false alarm", found.alarm_cost),
        ]
    return element(
        "div",
        *(
            element(
                "div",
                element("label", words, for_=key),
                element(
                    "input",
                    type="number",
                    id=key,
                    min=0,
                    step="any",
                    inputmode="decimal",
                    value=f"{value:.12g}",
                ),
                class_="box",
            )
            for key, words, value in wanted
        ),
        class_="boxes needs-script",
    )


def live_tiles(found: Findings) -> Markup:
    """Return the numbers at the threshold."""
    cuts, at = found.cuts, found.cuts.start
    a_day = found.rows_a_day * cuts.share[at]
    shown = [
        (
            "Alarms per day",
            amount(a_day),
            "",
            f"{percent(cuts.share[at])} of {amount(found.rows_a_day)} rows",
            "alarms-a-day",
        ),
    ]
    if found.quality is None:
        shown.append(
            (
                "Alarms in this file",
                amount(cuts.alarms[at]),
                "",
                percent(cuts.share[at], 2),
                "alarms",
            )
        )
    else:
        precision, recall = found.quality.precision, found.quality.recall
        misses = cuts.n_positive - cuts.hits[at]
        cost = found.miss_cost * misses + found.alarm_cost * cuts.false_alarms[at]
        cost *= found.rows_a_day / cuts.n_rows
        without = found.rows_a_day * found.base_rate * found.miss_cost
        shown = [
            (
                "Precision",
                percent(cuts.precision[at]),
                interval(*precision[:, at]),
                "of the alarms are right",
                "precision",
            ),
            (
                "Recall",
                percent(cuts.recall[at]),
                interval(*recall[:, at]),
                "of what is to be found is found",
                "recall",
            ),
            *shown,
            (
                "Expected cost per day",
                amount(cost),
                "",
                f"{amount(without)} without any alarm",
                "cost",
            ),
        ]
    return element("dl", *(tile(*each) for each in shown), class_="tiles live-tiles")


def confusion(found: Findings) -> Markup:
    """Return the confusion matrix at the threshold."""
    cuts, at = found.cuts, found.cuts.start
    hits, false = cuts.hits[at], cuts.false_alarms[at]
    misses = cuts.n_positive - hits
    n_others = cuts.n_rows - cuts.n_positive
    rest = n_others - false
    others = "all others"
    if len(found.labels) == 2:
        others = shorten(next(label for label in found.labels if label != found.label))

    def row(name, *cells):
        return element(
            "tr",
            element("th", element("bdi", name), scope="row", class_="words"),
            *(
                element(
                    "td",
                    element("span", amount(value), data_out=key, class_="count"),
                    element(
                        "span",
                        f"{words}: ",
                        element("span", percent(share), data_out=f"{key}-share"),
                        class_="of",
                    ),
                    class_=f"number {kind}",
                )
                for value, share, key, words, kind in cells
            ),
        )

    weighted = ", by weight" if found.weighted else ""
    return element(
        "table",
        element("caption", f"All rows at this threshold{weighted}"),
        element(
            "thead",
            element(
                "tr",
                element("th", "Class", scope="col", class_="words"),
                element("th", "Alarm", scope="col", class_="number"),
                element("th", "No alarm", scope="col", class_="number"),
            ),
        ),
        element(
            "tbody",
            row(
                shorten(found.label),
                (hits, cuts.recall[at], "hits", "found", "good"),
                (misses, misses / cuts.n_positive, "misses", "missed", "bad"),
            ),
            row(
                others,
                (false, false / n_others, "false-alarms", "false alarms", "bad"),
                (rest, rest / n_others, "rest", "left alone", "good"),
            ),
        ),
        class_="confusion",
    )


def precision_recall(found: Findings) -> Markup:
    """Return the curve of precision over recall, with its interval."""
    cuts, quality, at = found.cuts, found.quality, found.cuts.start
    average = quality.average_precision.value
    top = _highest_precision(found)
    axes = Axes(
        "precision-recall",
        f"Precision over recall. Average precision {average:.3f}; at the threshold precision "
        f"{percent(cuts.precision[at])}, recall {percent(cuts.recall[at])}; "
        f"precision of chance {percent(found.base_rate)}.",
        x_label="Recall: part found",
        y_label="Precision: part right",
        x_ticks=percent_ticks(0, 1),
        y_ticks=percent_ticks(0, top),
        x_limits=(0, 1),
        y_limits=(0, top),
    )
    alarmed = cuts.alarms > 0
    axes.band(cuts.recall[alarmed], *(end[alarmed] for end in quality.precision))
    axes.line([0, 1], [found.base_rate] * 2, "chance")
    axes.line(cuts.recall[alarmed], cuts.precision[alarmed])
    if alarmed[at]:
        axes.mark(cuts.recall[at], cuts.precision[at])
    else:
        axes.mark(0, 0)
    return axes.svg()


def _highest_precision(found: Findings) -> float:
    """Return where the axis of precision ends: a rare class may stay far below 100%.

    What a handful of alarms says does not count, unless the threshold is there.
    """
    cuts = found.cuts
    counts = cuts.recall >= _LEAST_RECALL
    counts[cuts.start] = True
    highest = np.nanmax(np.where(counts, cuts.precision, 0.0))
    return 1.0 if highest > 0.5 else float(max(1.25 * highest, 2 * found.base_rate))


def cost_figure() -> Markup:
    """Return the place in which the script draws the cost of each threshold."""
    return element(
        "figure",
        element("h3", "Expected cost"),
        element(
            "svg",
            element("title", "Expected cost per day at every threshold.", id="cost-title"),
            viewBox=f"0 0 {WIDTH} {HEIGHT}",
            data_frame=FRAME,
            role="img",
            aria_labelledby="cost-title",
            class_="figure",
            id="cost-figure",
        ),
        element(
            "figcaption",
            "By the costs that are set above; from left to right as the slider. Dashed is the cost "
            "of raising no alarm.",
        ),
        class_="needs-script",
    )


def script_data(found: Findings) -> dict:
    """Return what the page's script needs: numbers at the cut points, nothing of the rows."""
    cuts = found.cuts
    data: dict[str, Any] = {
        "threshold": cuts.threshold.tolist(),
        "alarms": cuts.alarms.tolist(),
        "rows": cuts.n_rows,
        "start": cuts.start,
        "what": found.what,
        "probabilities": found.are_proba,
    }
    if found.quality is not None:
        data["hits"] = cuts.hits.tolist()
        data["positive"] = cuts.n_positive
        for name, ends in (
            ("precision", found.quality.precision),
            ("recall", found.quality.recall),
        ):
            for end, values in zip(("Low", "High"), ends, strict=True):
                data[name + end] = [round(v, 4) if np.isfinite(v) else None for v in values]
    return data
