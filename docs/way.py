"""Draw the way of a fit through the code, as ``docs/way.png`` and ``.svg``.

Run ``python docs/way.py``; it needs the extra ``plot``. ``docs/design.md`` has the same steps as a
table, with what each does.
"""

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

HERE = Path(__file__).parent
INK = "#222222"
#: Packages in the order of their layers, each in a lane of its own.
LANES = {"ensemble": "#F9DCC8", "policy": "#CDEBDD", "growth": "#CFE3F1", "tables": "#EDE3F4"}
#: Function, files, package and line.
STEPS = [
    ("fit", "_under_sampling.py", "ensemble", 0),
    ("_plan", "_mesa.py, _teams.py", "ensemble", 1),
    ("make_rows", "_check.py", "growth", 2),
    ("TableForm", "_form.py", "tables", 2),
    ("check_fit", "_checks.py", "ensemble", 3),
    ("scouts, followers", "_recipes.py", "ensemble", 4),
    ("policy(growth)", "_policies.py", "policy", 4),
    ("draw", "_draw.py, _rules.py", "growth", 4),
    ("fit_member", "_memory.py, _adapters.py", "growth", 5),
    ("add", "_loop.py", "growth", 6),
    ("Blend, decide", "_calibration.py", "ensemble", 7),
    ("_become", "_under_sampling.py", "ensemble", 8),
]
#: Arrows by the numbers of steps.
ARROWS = [(n, n + 1) for n in range(len(STEPS) - 1) if n != 3] + [(2, 4), (9, 6)]
WIDTH, HEIGHT, ACROSS = 1.7, 0.6, 2.15


def ends_of(start, end):
    """Return where an arrow between two boxes begins and ends."""
    (x0, y0), (x1, y1) = start, end
    if y0 == y1:
        return (x0 + WIDTH / 2, y0), (x1 - WIDTH / 2, y1)
    if x0 == x1:
        return (x0, y0 - HEIGHT / 2), (x1, y1 + HEIGHT / 2)
    if y1 > y0:  # back to the next turn of the loop
        return (x0 - WIDTH / 2, y0), (x1, y1 - HEIGHT / 2)
    side = WIDTH / 2 if x1 > x0 else -WIDTH / 2
    return (x0 + side, y0 - 0.1), (x1 - side, y1 + 0.1)


def main():
    """Draw the picture."""
    mpl.rcParams |= {"font.size": 9.5, "svg.fonttype": "none", "svg.hashsalt": "way"}
    figure = Figure(figsize=(8.2, 7.6), layout="constrained")
    ax = figure.add_subplot()
    lanes = {name: number * ACROSS for number, name in enumerate(LANES)}
    for name, colour in LANES.items():
        ax.axvspan(lanes[name] - 1, lanes[name] + 1, color=colour, alpha=0.35, linewidth=0)
        ax.text(lanes[name], 0.62, name, weight="bold", ha="center", color=INK)
    places = [(lanes[package], -line) for *_, package, line in STEPS]
    for (x, y), (function, files, package, _) in zip(places, STEPS, strict=True):
        box = (x - WIDTH / 2, y - HEIGHT / 2), WIDTH, HEIGHT
        look = {"facecolor": LANES[package], "edgecolor": INK}
        ax.add_patch(FancyBboxPatch(*box, "round,pad=0.02", **look))
        ax.text(x, y + 0.11, function, ha="center", va="center", weight="bold", color=INK)
        ax.text(x, y - 0.14, files, ha="center", va="center", fontsize=8, color=INK)
    for start, end in ARROWS:
        ends = ends_of(places[start], places[end])
        bend = "arc3,rad=-0.35" if end < start else "arc3,rad=0"
        style = {"arrowstyle": "-|>", "mutation_scale": 13, "color": INK}
        ax.add_patch(FancyArrowPatch(*ends, connectionstyle=bend, **style))
    note = {"style": "italic", "ha": "right"}
    ax.text(lanes["policy"] - 0.05, -5.2, "once for\neach member\n(Algorithm 2)", **note)
    ax.set(xlim=(-1.05, 3 * ACROSS + 1.05), ylim=(-8.5, 0.85))
    ax.axis("off")
    for suffix in ("png", "svg"):
        kind = {"dpi": 130} if suffix == "png" else {"metadata": {"Date": None}}
        figure.savefig(HERE / f"way.{suffix}", **kind)


if __name__ == "__main__":
    main()
