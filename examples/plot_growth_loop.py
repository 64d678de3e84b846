"""
The growth loop, step by step
=============================

Watch an ensemble grow on two overlapping crescents. In each step the loop computes the errors so
far. It draws as many majority rows as there are minority rows, and favours rows with an error near
mu. Then it fits a new tree to these rows. The data are synthetic.

Step through the animation with the buttons below it.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation
from matplotlib.colors import LinearSegmentedColormap
from sklearn.datasets import make_moons
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier

X, y = make_moons((1200, 60), noise=0.25, random_state=0)
clf = MesaClassifier(
    DecisionTreeClassifier(max_depth=6),
    10,
    meta_sampler=0.9,
    calibration=None,
    refit=False,
    random_state=0,
).fit(X, y)

# %%
# `estimators_samples_` holds the rows that each member was trained on. `staged_predict_proba`
# yields the probabilities after each member.
side = np.linspace(-2, 3, 120)
grid = np.stack(np.meshgrid(side, side * 0.7), axis=-1).reshape(-1, 2)
surfaces = [p[:, 1].reshape(120, 120).copy() for p in clf.staged_predict_proba(grid)]
scores = [f"validation score {score:.2f}" for score in clf.scores_]

# White where the ensemble is sure of the majority, orange where it is sure of the minority.
SHADES = LinearSegmentedColormap.from_list("shades", ["#ffffff", "#f4b183"])
figure, ax = plt.subplots(figsize=(6.8, 4.8), layout="constrained")


def draw(step):
    """Draw one step: the rows of the new member, and the boundary with it."""
    ax.clear()
    levels = np.linspace(0, 1, 11)
    ax.contourf(side, side * 0.7, surfaces[step], levels=levels, cmap=SHADES)
    ax.contour(side, side * 0.7, surfaces[step], levels=[0.5], colors="k", linewidths=1.2)
    rows = clf.estimators_samples_[step]
    drawn = rows[y[rows] == 0]
    ax.scatter(*X[y == 0].T, s=4, color="0.65", label="majority")
    ax.scatter(*X[drawn].T, s=18, color="#0072B2", label="majority, drawn for this member")
    ax.scatter(*X[y == 1].T, s=18, color="#D55E00", marker="^", label="minority, always taken")
    ax.set(xlim=(-2, 3), ylim=(-1.4, 2.1), xticks=[], yticks=[])
    ax.set_title(f"member {step + 1}: {scores[step]}", loc="left")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=3, frameon=False)


animation = FuncAnimation(figure, draw, frames=len(surfaces), interval=1200)
