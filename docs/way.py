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
#: Function, file, package and column.
STEPS = [
    ("looked_at", "_check.py", "growth", 0),
    ("_plan", "_mesa.py, _teams.py", "ensemble", 1),
    ("make_data", "_check.py, _data.py", "growth", 2),
    ("TableForm", "_form.py", "tables", 2),
    ("check_fit", "_checks.py", "ensemble", 3),
    ("teams", "_teams.py", "ensemble", 4),
    ("policy(growth)", "_policies.py", "policy", 5),
    ("draw_subset", "_draw.py, _rules.py", "growth", 5),
    ("fit_on_rows", "_pieces.py, _trees.py", "growth", 6),
    ("add", "_loop.py", "growth", 7),
    ("Blend, decide", "_calibration.py", "ensemble", 8),
    ("_become", "_under_sampling.py", "ensemble", 9),
]
#: Arrows by the numbers of steps, and how far they bend.
ARROWS = [
    *((0, 1, 0), (1, 2, 0), (2, 3, 0), (2, 4, 0), (4, 5, 0), (5, 6, 0), (6, 7, 0), (7, 8, 0)),
    *((8, 9, 0), (9, 6, 0.25), (9, 10, 0), (10, 11, 0)),
]
WIDTH, HEIGHT = 1.5, 0.62


def main():
    """Draw the picture."""
    mpl.rcParams |= {"font.size": 9, "svg.fonttype": "none", "svg.hashsalt": "way"}
    figure = Figure(figsize=(15.5, 4.6), layout="constrained")
    ax = figure.add_subplot()
    places = {}
    lanes = list(LANES)
    for name, colour in LANES.items():
        y = -lanes.index(name)
        ax.axhspan(y - 0.48, y + 0.48, color=colour, alpha=0.35, linewidth=0)
        ax.text(-1.05, y, name, weight="bold", va="center", color=INK)
    for number, (function, file, package, column) in enumerate(STEPS):
        x, y = column * 1.86 + 0.6, -lanes.index(package)
        places[number] = x, y
        box = (x - WIDTH / 2, y - HEIGHT / 2), WIDTH, HEIGHT
        ax.add_patch(
            FancyBboxPatch(*box, "round,pad=0.02", facecolor=LANES[package], edgecolor=INK)
        )
        ax.text(x, y + 0.12, function, ha="center", va="center", weight="bold", color=INK)
        ax.text(x, y - 0.15, file, ha="center", va="center", fontsize=7.5, color=INK)
    for start, end, bend in ARROWS:
        (x0, y0), (x1, y1) = places[start], places[end]
        if x0 == x1:
            ends = (x0, y0 - 0.35), (x1, y1 + 0.35)
        elif x1 < x0:
            # Back to the next step of the loop.
            ends = (x0, y0 + 0.35), (x1 + WIDTH / 2 + 0.04, y1 + 0.1)
        else:
            ends = (x0 + WIDTH / 2 + 0.03, y0), (x1 - WIDTH / 2 - 0.03, y1)
        style = {"arrowstyle": "-|>", "mutation_scale": 13, "color": INK}
        ax.add_patch(FancyArrowPatch(*ends, connectionstyle=f"arc3,rad={bend}", **style))
    x, y = places[8]
    ax.text(x, y + 0.52, "once for each member\n(Algorithm 2)", ha="center", style="italic")
    ax.set(xlim=(-1.15, places[11][0] + 0.9), ylim=(-3.55, 0.55))
    ax.axis("off")
    for suffix in ("png", "svg"):
        kind = {"dpi": 130} if suffix == "png" else {"metadata": {"Date": None}}
        figure.savefig(HERE / f"way.{suffix}", **kind)


if __name__ == "__main__":
    main()
