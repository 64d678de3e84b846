"""Draw an ensemble that grows, step by step, in light and in dark: ``python docs/growth.py``.

The picture stands on the first page of the site and in the README. Everything in it is taken from a
fit on two crescents: which rows each member was trained on, and what the ensemble says after it.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.datasets import make_moons
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.colors import LinearSegmentedColormap

FOLDER = Path(__file__).parent / "_static"
STEPS = (1, 2, 3, 5, 10)
SIDE_X, SIDE_Y = np.linspace(-1.9, 2.9, 160), np.linspace(-1.35, 1.95, 110)
MODES = {
    "light": {"back": "#ffffff", "ink": "#222222", "rest": "#b9bec5", "line": "#222222"},
    "dark": {"back": "#14181e", "ink": "#e6e6e6", "rest": "#545b66", "line": "#f2f2f2"},
}
DRAWN, RARE = "#3b8ed0", "#ee7733"


def grow():
    """Return rows, labels and a fitted ensemble of ten trees."""
    X, y = make_moons((1200, 60), noise=0.25, random_state=0)
    tree = DecisionTreeClassifier(max_depth=6)
    clf = MesaClassifier(tree, 10, meta_sampler=0.9, calibration=None, refit=False, random_state=0)
    return X, y, clf.fit(X, y)


def draw(mode: str, X, y, clf, surfaces) -> None:
    """Draw the steps beside each other."""
    look = MODES[mode]
    figure, axes = plt.subplots(1, len(STEPS), figsize=(12, 2.75), layout="constrained")
    figure.set_facecolor(look["back"])
    shades = LinearSegmentedColormap.from_list("shades", [look["back"], RARE])
    for ax, step in zip(axes, STEPS, strict=True):
        rows = clf.estimators_samples_[step - 1]
        surface = surfaces[step - 1]
        ax.set_facecolor(look["back"])
        ax.contourf(SIDE_X, SIDE_Y, surface, np.linspace(0, 1, 9), cmap=shades, alpha=0.45)
        ax.contour(SIDE_X, SIDE_Y, surface, [0.5], colors=look["line"], linewidths=1)
        ax.scatter(*X[y == 0].T, s=2, color=look["rest"], linewidths=0)
        ax.scatter(*X[rows[y[rows] == 0]].T, s=11, color=DRAWN, linewidths=0)
        ax.scatter(*X[y == 1].T, s=13, color=RARE, marker="^", linewidths=0)
        ax.set(xlim=SIDE_X[[0, -1]], ylim=SIDE_Y[[0, -1]], xticks=[], yticks=[])
        ax.spines[:].set_color(look["rest"])
        name = "member" if step == 1 else "members"
        ax.set_title(
            f"{step} {name}, score {clf.scores_[step - 1]:.2f}",
            color=look["ink"],
            loc="left",
            size=11,
        )
    handles = [
        plt.Line2D([], [], color=RARE, marker="^", ls="", label="rare class, always taken"),
        plt.Line2D([], [], color=DRAWN, marker="o", ls="", label="drawn for the newest member"),
        plt.Line2D([], [], color=look["rest"], marker="o", ls="", label="other rows"),
        plt.Line2D([], [], color=look["line"], label="boundary of the ensemble"),
    ]
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=4,
        frameon=False,
        labelcolor=look["ink"],
        fontsize=10,
    )
    figure.savefig(FOLDER / f"growth-{mode}.png", dpi=110)
    plt.close(figure)


def main() -> None:
    X, y, clf = grow()
    grid = np.stack(np.meshgrid(SIDE_X, SIDE_Y), axis=-1)
    staged = clf.staged_predict_proba(grid.reshape(-1, 2))
    surfaces = [proba[:, 1].reshape(grid.shape[:2]).copy() for proba in staged]
    FOLDER.mkdir(exist_ok=True)
    for mode in MODES:
        draw(mode, X, y, clf, surfaces)


if __name__ == "__main__":
    main()
