"""Draw how MESA works: one step of a real fit, as ``docs/overview.png`` and ``.svg``.

Run ``python docs/overview.py``; it needs the extra ``plot``. Everything drawn is taken from the
fit: the errors, the state, mu, the rows drawn and the member trained on them. The data was chosen
so that mu is easy to read; on other data the policy chooses others. It is no evidence.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from sklearn.datasets import make_moons
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier

HERE = Path(__file__).parent
# Okabe and Ito's colours, which colour-blind readers can tell apart.
MINORITY, MAJORITY, MU, VALID = "#D55E00", "#0072B2", "#009E73", "#56B4E9"
CLASSES = ((0, MAJORITY, "o", "majority"), (1, MINORITY, "D", "minority"))
INK, FAINT = "#222222", "#C8C8C8"
N_MEMBERS = 5  # members there are before the step that is drawn
EXTENT = (-1.7, 2.6, -1.3, 1.7)
REGIONS = LinearSegmentedColormap.from_list("regions", ["#CFE3F1", "#FFFFFF", "#F9DCC8"])


def fit_once(seed=2):
    """Fit on two overlapping moons; give the data, the ensemble and the errors before the step."""
    X, y = make_moons((900, 60), noise=0.2, random_state=seed)
    X_val, y_val = make_moons((450, 30), noise=0.2, random_state=seed + 1)
    member = DecisionTreeClassifier(max_depth=4)
    mesa = MesaClassifier(member, N_MEMBERS + 1, meta_sampler="fit", random_state=seed)
    mesa.fit(X, y, X_val=X_val, y_val=y_val)
    before = np.mean([tree.predict_proba(X) for tree in mesa.estimators_[:N_MEMBERS]], axis=0)
    errors = 1 - before[np.arange(len(y)), y]
    return X, y, mesa, errors


def grid_of(members):
    """Probability of the minority class over the plane."""
    x, y = np.meshgrid(np.linspace(*EXTENT[:2], 240), np.linspace(*EXTENT[2:], 200))
    points = np.column_stack([x.ravel(), y.ravel()])
    return np.mean([m.predict_proba(points)[:, 1] for m in members], axis=0).reshape(x.shape)


def show_plane(axes, members=None):
    """Show the plane, shaded by what members say of it."""
    axes.set(xlim=EXTENT[:2], ylim=EXTENT[2:], xticks=[], yticks=[])
    if members is not None:
        axes.imshow(
            grid_of(members), extent=EXTENT, origin="lower", aspect="auto",
            cmap=REGIONS, vmin=0, vmax=1, interpolation="nearest",
        )  # fmt: skip


def draw_errors(axes, X, y, errors, members):
    """Draw the rows, each as large as the ensemble's error on it."""
    show_plane(axes, members)
    for label, color, marker, name in CLASSES:
        rows = np.flatnonzero(y == label)
        axes.scatter(
            *X[rows].T, s=2 + 22 * errors[rows], c=color, marker=marker, linewidths=0, alpha=0.75,
            rasterized=True,
        )  # fmt: skip
        axes.scatter([], [], s=20, c=color, marker=marker, linewidths=0, label=name)
    axes.legend(frameon=False, loc="lower left", handletextpad=0, borderaxespad=0, labelspacing=0.3)
    axes.set_xlabel("larger mark = larger error")


def draw_state(axes, state):
    """Draw the two halves of the meta-state side by side."""
    n_bins = len(state) // 2
    edges = np.arange(n_bins) / n_bins
    for half, color, name in ((0, INK, "training rows"), (1, VALID, "validation rows")):
        height = state[half * n_bins : (half + 1) * n_bins]
        left = edges + (0.012 + 0.09 * half) * 5 / n_bins
        axes.bar(left, height, width=0.085 * 5 / n_bins, align="edge", color=color, label=name)
    axes.set(xlim=(0, 1), xticks=np.linspace(0, 1, n_bins + 1), yticks=[], xlabel="error")
    axes.set_ylim(0, 1.12 * state.max())
    axes.set_ylabel("fraction of rows")
    axes.legend(frameon=False, loc="upper right", handlelength=1, borderaxespad=0.1)


def draw_policy(axes, state, mu):
    """Draw the network, its inputs shaded by the state, and a scale with the mu it answers."""
    axes.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[])
    inputs = [(0.14, y) for y in np.linspace(0.93, 0.07, len(state))]
    hidden = [(0.43, y) for y in np.linspace(0.9, 0.1, 7)]
    output = (0.68, 0.5)
    for layer, following in ((inputs, hidden), (hidden, [output])):
        for a in layer:
            for b in following:
                axes.plot(*zip(a, b, strict=True), color=FAINT, linewidth=0.5, zorder=1)
    shades = mpl.colormaps["Greys"](0.08 + 0.85 * state / state.max())
    axes.scatter(
        *zip(*inputs, strict=True), s=42, c=shades, edgecolors=INK, linewidths=0.7, zorder=2
    )
    axes.scatter(
        *zip(*hidden, strict=True), s=42, c="white", edgecolors=INK, linewidths=0.7, zorder=2
    )
    axes.scatter(*output, s=90, c=MU, edgecolors=INK, linewidths=0.7, zorder=2)
    # The scale: 0 at the bottom, 1 at the top.
    axes.plot([0.87, 0.87], [0.1, 0.9], color=INK, linewidth=1.2)
    for tick in (0, 1):
        axes.plot([0.85, 0.89], [0.1 + 0.8 * tick] * 2, color=INK, linewidth=1.2)
        axes.text(0.93, 0.1 + 0.8 * tick, str(tick), va="center", ha="left")
    axes.scatter(0.87, 0.1 + 0.8 * mu, s=70, c=MU, edgecolors=INK, linewidths=0.7, zorder=3)
    axes.annotate(
        "", (0.84, 0.1 + 0.8 * mu), output,
        arrowprops={"arrowstyle": "-|>", "color": MU, "shrinkA": 5, "shrinkB": 2},
    )  # fmt: skip
    axes.set_xlabel(f"state in, μ = {mu:.2f} out")


def draw_weights(axes, errors, mu, sigma):
    """Draw the Gaussian over errors, and the errors of the majority rows behind it."""
    counts, edges = np.histogram(errors, bins=25, range=(0, 1))
    heights = np.sqrt(counts / counts.max())
    axes.bar(edges[:-1], heights, width=0.034, align="edge", color=MAJORITY, alpha=0.45)
    at = np.linspace(0, 1, 300)
    weight = np.exp(-((at - mu) ** 2) / (2 * sigma**2))
    axes.fill_between(at, weight, color=MU, alpha=0.15, linewidth=0)
    axes.plot(at, weight, color=MU, linewidth=2.4)
    axes.plot([mu, mu], [0, 1], color=MU, linewidth=1.2, linestyle="--")
    axes.text(mu, 1.04, "μ", color=MU, ha="center", va="bottom", fontsize=13)
    axes.set(xlim=(0, 1), ylim=(0, 1.25), xticks=[0, 0.5, 1], yticks=[])
    axes.set_xlabel("error (bars: majority rows, √ scale)")
    axes.set_ylabel("weight")


def draw_subset(axes, X, y, subset):
    """Draw the rows of the subset in colour and those left out in grey."""
    show_plane(axes)
    left_out = np.setdiff1d(np.flatnonzero(y == 0), subset)
    axes.scatter(*X[left_out].T, s=5, c=FAINT, linewidths=0, rasterized=True)
    for label, color, marker, _ in CLASSES:
        rows = subset[y[subset] == label]
        axes.scatter(*X[rows].T, s=15, c=color, marker=marker, linewidths=0)
    n = int(np.sum(y[subset] == 1))
    axes.set_xlabel(f"all {n} minority rows,\n{n} of the {np.sum(y == 0)} majority rows")


def draw_member(axes, X, y, subset, member):
    """Draw what the new member learned from its rows."""
    show_plane(axes, [member])
    for label, color, marker, _ in CLASSES:
        rows = subset[y[subset] == label]
        axes.scatter(*X[rows].T, s=9, c=color, marker=marker, linewidths=0, alpha=0.8)
    axes.set_xlabel(f"member {N_MEMBERS + 1} joins the ensemble")


def main():
    """Fit, draw and save."""
    X, y, mesa, errors = fit_once()
    step = N_MEMBERS - 1  # the first member has neither state nor mu
    state, mu = mesa.states_[step], float(mesa.actions_[step])
    subset, member = mesa.estimators_samples_[N_MEMBERS], mesa.estimators_[N_MEMBERS]

    with mpl.rc_context(
        {
            "font.size": 11, "axes.titlesize": 12, "axes.titleweight": "bold", "text.color": INK,
            "axes.edgecolor": INK, "axes.labelcolor": INK, "xtick.color": INK,
            "xtick.labelsize": 10, "legend.fontsize": 10, "svg.hashsalt": "metasampler",
            "svg.fonttype": "path",
        }
    ):  # fmt: skip
        figure = Figure(figsize=(10, 6.5), facecolor="white")
        # Two rows of three, walked clockwise: left to right above, right to left below.
        width, height = 0.255, 0.33
        left = {0: 0.025, 1: 0.37, 2: 0.715}
        bottom = {0: 0.605, 1: 0.105}
        places = [(0, 0), (0, 1), (0, 2), (1, 2), (1, 1), (1, 0)]
        titles = ["Errors of the ensemble", "Meta-state", "Meta-sampler",
                  "Weights over errors", "Balanced subset", "New member"]  # fmt: skip
        panels = []
        for number, ((row, column), title) in enumerate(zip(places, titles, strict=True), 1):
            axes = figure.add_axes((left[column], bottom[row], width, height))
            axes.set_title(f"{number}  {title}", loc="left", pad=7)
            axes.xaxis.labelpad = 4
            panels.append(axes)
        draw_errors(panels[0], X, y, errors, mesa.estimators_[:N_MEMBERS])
        draw_state(panels[1], state)
        draw_policy(panels[2], state, mu)
        draw_weights(panels[3], errors[y == 0], mu, mesa.meta_sampler_.sigma)
        draw_subset(panels[4], X, y, subset)
        draw_member(panels[5], X, y, subset, member)
        for axes in panels[1], panels[3]:
            axes.spines[["top", "right", "left"]].set_visible(False)

        def arrow(start, end):
            figure.add_artist(
                FancyArrowPatch(
                    start, end, transform=figure.transFigure, color=INK, linewidth=2.2,
                    arrowstyle="-|>", mutation_scale=20, shrinkA=0, shrinkB=0,
                )
            )  # fmt: skip

        for row, direction in ((0, 1), (1, -1)):
            y_mid = bottom[row] + height / 2
            for column in (0, 1):
                ends = [(left[column] + width + 0.012, y_mid), (left[column + 1] - 0.038, y_mid)]
                arrow(*ends[::direction])
        below_labels, above_titles = bottom[0] - 0.075, bottom[1] + height + 0.06
        arrow((left[2] + width / 2, below_labels), (left[2] + width / 2, above_titles))
        arrow((left[0] + width / 2, above_titles), (left[0] + width / 2, below_labels))
        figure.text(
            left[1] + width / 2, (below_labels + above_titles) / 2 - 0.008,
            "repeated until all members are there", ha="center", va="center", style="italic",
        )  # fmt: skip
        figure.savefig(HERE / "overview.png", dpi=160)
        figure.savefig(HERE / "overview.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
