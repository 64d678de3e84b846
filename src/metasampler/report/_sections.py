"""The parts of a page below the threshold: each is a section, or None if it has nothing to say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from metasampler.report._explorer import figure
from metasampler.report._figures import Axes, bar, nice_ticks
from metasampler.report._findings import (
    NOTHING,
    Findings,
    amount,
    interval,
    percent,
    significant,
)
from metasampler.report._html_tables import folded, pairs, table
from metasampler.report._markup import Markup, element, join, name, shorten
from metasampler.report._measures import Measure
from metasampler.report._quality import quality
from metasampler.report._row_reasons import row_reasons
from metasampler.report._since_fit import since_fit

#: Columns, bars and members that are shown.
MOST_COLUMNS, MOST_BARS, MOST_POINTS = 100, 15, 200


def first_rows(found: Findings) -> Markup | None:
    """Return what the first rows hold, and which they are if that was asked for."""
    if not found.bands and not found.top:
        return None
    keys: list[tuple[str, Callable[[dict], str]]] = []
    if found.quality is not None:
        # A number first, as the one that the model expects beside it.
        keys += [
            ("Right", lambda band: f"{amount(band['right'])} ({percent(band['precision'])})"),
            ("Of all, found", lambda band: percent(band["found"])),
        ]
    if found.are_proba:
        keys.append(("Model expects", lambda band: f"{band['expected']:,.1f}"))
    keys.append(("Lowest score", lambda band: significant(band["lowest"])))
    header = ["Looked at", *(words for words, _ in keys)]
    rows = [
        [f"first {band['rows']:,}", *(write(band) for _, write in keys)] for band in found.bands
    ]
    sizes = ", ".join(f"{band['rows']:,}" for band in found.bands[:2])
    if len(found.bands) > 2:
        sizes += ", ..."
    listed = None
    if found.top:
        header_of_rows = ["Place", "Row", "Score"]
        header_of_rows += [words for words in ("Label",) if "label" in found.top[0]]
        known_as = [name(found.id_name)] if "id" in found.top[0] else []
        listed = join(
            element("h3", "The rows"),
            element("p", "Listed because they were asked for. Row 0 is the first of the data."),
            table(
                "Rows to look at first",
                [*known_as, *header_of_rows],
                [
                    [
                        *([name(row["id"], 60)] if "id" in row else []),
                        f"{place:,}",
                        f"{row['row']:,}",
                        significant(row["score"], 6),
                        *([name(row["label"])] if "label" in row else []),
                    ]
                    for place, row in enumerate(found.top, start=1)
                ],
                words=len(known_as),
            ),
        )
    return element(
        "section",
        element("h2", "Which rows to look at first"),
        element(
            "p",
            "Those with the highest scores. ",
            f"The table shows what your team would find in the first {sizes} rows. "
            if sizes and found.quality is not None
            else None,
            "What the model expects is the sum of its probabilities. " if found.are_proba else None,
            None if found.top else "Which rows these are is not in this file.",
        ),
        table("What the first rows hold", header, rows) if rows else None,
        listed,
        id="rows",
    )


def importance(found: Findings) -> Markup | None:
    """Return what matters to the model."""
    made = found.importance
    if made is None:
        return None
    # To shuffle a column that the model does not read changes no score.
    unread = (made["mean"] == 0) & (np.nan_to_num(made["spread"]) == 0)
    order = np.argsort(-made["mean"], kind="stable")
    order = order[~unread[order]][:MOST_BARS]
    if not len(order):
        return None
    high = float(
        max(np.nan_to_num(made["mean"] + np.nan_to_num(made["spread"]))[order].max(), 1e-9)
    )
    body = [
        element(
            "tr",
            element("th", name(made["names"][place]), scope="row", class_="words"),
            element("td", bar(made["mean"][place], made["spread"][place], high), class_="drawn"),
            element("td", _loss(made["mean"][place]), class_="number"),
            element(
                "td",
                f"± {made['spread'][place]:.4f}" if np.isfinite(made["spread"][place]) else "",
                class_="number quiet",
            ),
        )
        for place in order
    ]
    left = len(made["mean"]) - len(order) - int(unread.sum())
    times = "once" if made["repeats"] == 1 else f"{made['repeats']} times"
    drawn = element(
        "table",
        element("caption", "Loss of average precision when a column is shuffled"),
        element(
            "thead",
            element(
                "tr",
                element("th", "Column", scope="col", class_="words"),
                element("th", element("span", "Drawn", class_="unseen"), scope="col"),
                element("th", "Loss", scope="col", class_="number"),
                element("th", "Spread", scope="col", class_="number"),
            ),
        ),
        element("tbody", *body),
        class_="bars",
    )
    return element(
        "section",
        element("h2", "What matters"),
        element(
            "p",
            f"One column at a time is shuffled, {times}, in {made['rows']:,} of "
            f"these rows; average precision there is {made['base']:.3f}. The more it falls, the "
            "more the model leans on the column. Columns that say the same share their part, so "
            "that each may look small. This is about the model, not about causes."
            + (f" {left:,} more columns matter less." if left else ""),
        ),
        drawn,
        _unread([made["names"][place] for place in np.flatnonzero(unread)]),
        id="importance",
    )


def _loss(value: float) -> str:
    """Write a loss; what is too small to see has no sign."""
    shown = f"{value:+.4f}"
    return shown if float(shown) else shown[1:]


def _unread(names: list) -> Markup | None:
    """Name the columns whose values change no score."""
    if not names:
        return None
    shown = join(*_listed(names[:MOST_BARS]))
    more = f" and {len(names) - MOST_BARS:,} more" if len(names) > MOST_BARS else ""
    return element("p", "Shuffled, these columns change no score here: ", shown, f"{more}.")


def data(found: Findings) -> Markup:
    """Return what the data was."""
    facts: list[tuple] = [
        ("Rows", f"{found.n_rows:,}"),
        ("Columns", f"{found.n_columns:,}"),
    ]
    if found.target is not None:
        facts.append(("Target", name(found.target)))
    facts.append(("Class to find", name(found.label)))
    if len(found.labels) <= 2:
        facts.append(("Classes", join(*_listed(found.labels))))
    else:
        facts.append(("Classes", f"{len(found.labels):,}"))
    if found.quality is not None:
        facts.append(
            (
                "Rows of the class to find",
                f"{amount(found.cuts.n_positive)} ({percent(found.base_rate, 2)})",
            )
        )
    if found.weighted:
        facts.append(("Weights", f"rows have weights, in all {amount(found.cuts.n_rows)}"))
    # A fingerprint must be whole, and so must a sentence.
    for key, value in found.source.items():
        facts.append((name(key), name(value, 600 if " " in str(value) else 200)))
    rows = [
        (
            name(column["name"]),
            column["kind"],
            column["finding"],
            f"{column['distinct']:,}",
            percent(column["missing"]) if column["missing"] else "none",
        )
        for column in found.columns
    ]
    header = ("Column", "Kind", "Remark", "Distinct", "Missing")
    left = found.n_columns - len(rows)
    more = f" (the first {len(rows)} of {found.n_columns:,})" if left > 0 else ""
    columns = table(f"Columns{more}", header, rows, words=3)
    return element(
        "section",
        element("h2", "What the data was"),
        pairs("The rows of this report", facts),
        folded(f"The columns{more}", columns),
        id="data",
    )


def _listed(labels) -> list:
    parts: list = []
    for label in labels:
        parts += [", "] if parts else []
        parts.append(name(label))
    return parts


def growth(found: Findings) -> Markup | None:
    """Return how the ensemble grew."""
    summary = found.growth
    if summary is None:
        return None
    rows = summary.rows
    figures = [
        drawn
        for key, title, words in (
            ("score", "Validation score", "Score on rows that members did not see, after each."),
            ("team score", "Score of trees alone", "Score of the trees without the other teams."),
            ("mu", "mu", "The error that a draw favours: 1 draws the hardest rows."),
            ("power", "power", "The power of errors that rows are drawn by: 0 is uniform."),
        )
        if (drawn := _member_figure(rows, key, title, words)) is not None
    ]
    teams: dict = {}
    for row in rows:
        teams[row.get("team", "members")] = teams.get(row.get("team", "members"), 0) + 1
    facts = [("Members", f"{len(rows):,}")]
    if len(teams) > 1:
        named = [f"{n} {team if n > 1 else team.removesuffix('s')}" for team, n in teams.items()]
        facts.append(("Teams", ", ".join(named)))
    by_team = getattr(summary, "teams", [])
    notes = [element("li", shorten(note, 800)) for note in summary.notes]
    shown = _thinned(rows)
    header = list(rows[0])
    numbers = table(
        "Member by member",
        [shorten(key) for key in header],
        [[_cell(row[key]) for key in header] for row in shown],
        words=0,
    )
    return element(
        "section",
        element("h2", "How the ensemble grew"),
        pairs("The ensemble", facts),
        _team_table(by_team) if by_team else None,
        element("ul", *notes) if notes else None,
        element("div", *figures, class_="figures two") if figures else None,
        folded(
            "Member by member" + ("" if len(shown) == len(rows) else f" ({len(shown)} of them)"),
            numbers,
        ),
        id="growth",
    )


def _team_table(teams: list[dict]) -> Markup:
    """Return the score of each team, and of all together."""
    header = list(teams[0])
    return table(
        "Team by team", header, [[_cell(row[key]) for key in header] for row in teams], words=1
    )


def _thinned(rows: list) -> list:
    """Return rows, or some of them at equal distances if there are many."""
    if len(rows) <= MOST_POINTS:
        return rows
    return [rows[int(place)] for place in np.linspace(0, len(rows) - 1, MOST_POINTS)]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else shorten(value)


def _member_figure(rows: list, key: str, title: str, words: str) -> Markup | None:
    known = [(row["member"], row[key]) for row in _thinned(rows) if row.get(key) is not None]
    if len(known) < 2:
        return None
    members, values = np.array(known, dtype=float).T
    low, high = (0.0, 1.0) if key == "mu" else (float(values.min()), float(values.max()))
    if not high - low > 1e-9:
        low, high = low - 0.01, high + 0.01
    room = 0 if key == "mu" else 0.08 * (high - low)
    limits = (low - room, high + room)
    last = int(members[-1])
    axes = Axes(
        f"growth-{key}",
        f"{title} of {len(known)} members: first {values[0]:.3f}, last {values[-1]:.3f}.",
        x_label="Member",
        y_label=title,
        x_ticks=[(tick, f"{tick:.0f}") for tick in nice_ticks(1, last) if float(tick).is_integer()],
        y_ticks=[(tick, f"{tick:g}") for tick in nice_ticks(*limits)],
        x_limits=(1, last),
        y_limits=limits,
    )
    axes.line(members, values)
    if len(known) <= 60:
        axes.dots(members, values, radius=2.5)
    return figure(title, axes.svg(), words)


def comparison(found: Findings) -> Markup | None:
    """Return how the model compares."""
    made = found.comparison
    if not made:
        return None
    parts = []
    for each in made:
        rows = [
            (name(method), *(_score(scores.get(key), key in _SHARES) for key in each["measures"]))
            for method, scores in each["scores"].items()
        ]
        parts.append(table(each["caption"], ("Method", *each["measures"]), rows))
    return element(
        "section",
        element("h2", "How it compares"),
        *parts,
        id="comparison",
    )


#: What is written in percent everywhere else on the page.
_SHARES = ("precision", "recall", "alarms")


def _score(value: Any, is_share: bool) -> str | Markup:
    """Write a number with its interval, a number, or one that was measured elsewhere."""
    write = percent if is_share else "{:.3f}".format
    if value is None:
        return NOTHING
    if isinstance(value, list):
        known = [each for each in value if each is not None and np.isfinite(each)]
        return f"{write(np.mean(known))} ± {write(np.std(known))}" if known else NOTHING
    if isinstance(value, Measure):
        between = interval(value.low, value.high, write)
        return join(f"{write(value.value)} ", element("span", between, class_="between"))
    return write(value) if isinstance(value, float) else shorten(value)


def repeat(found: Findings) -> Markup:
    """Return the settings, versions and seeds with which all of this can be repeated."""
    made = found.settings
    seeds = [f"{key} = {value}" for key, value in made["seeds"].items() if value is not None]
    none = "none was set: another fit gives another model"
    parameters = [(name(key), shorten(value, 200)) for key, value in made["parameters"].items()]
    return element(
        "section",
        element("h2", "To repeat it"),
        element("pre", element("code", shorten(made["model"], 3000)), tabindex="0"),
        pairs(
            "This report",
            [
                ("Seed of the model", shorten("; ".join(seeds), 300) if seeds else none),
                ("Seed of the report", made["report_seed"]),
                ("Made", made["made"]),
                (
                    "Versions",
                    ", ".join(f"{key} {value}" for key, value in made["versions"].items()),
                ),
            ],
        ),
        folded("All settings of the classifier", pairs("Settings", parameters)),
        id="repeat",
    )


#: In the order of the page, with the words of the contents.
SECTIONS = (
    (quality, "How good"),
    (since_fit, "Since the fit"),
    (first_rows, "Which rows first"),
    (importance, "What matters"),
    (row_reasons, "Why alarms"),
    (data, "The data"),
    (growth, "Growth"),
    (comparison, "Comparison"),
    (repeat, "Repeat it"),
)
