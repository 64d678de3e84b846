"""
When does MESA help, and when not?
==================================

If the columns explain the labels, a model can learn much from hard rows. If they do not, hard rows
are noise. This example varies two things on synthetic data: how many labels are random, and how
rare the class is. LightGBM is the method to beat.

Each point is a single task, so small differences are due to chance. For 46 real tables, see the
results page of the tables benchmark.
"""

import matplotlib.pyplot as plt
import numpy as np
from lightgbm import LGBMClassifier
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split

from metasampler import MesaClassifier
from metasampler.ensemble import UnderBaggingClassifier

MODELS = {
    "MesaClassifier()": lambda: MesaClassifier(random_state=0),
    "LightGBM": lambda: LGBMClassifier(random_state=0, n_jobs=1, verbose=-1),
    "uniform under-sampling": lambda: UnderBaggingClassifier(n_estimators=50, random_state=0),
}


def scores(share, wrong, n_rows=4000):
    """Return the average precision of each model on one task."""
    X, y = make_classification(
        n_rows, n_features=15, n_informative=6, weights=[1 - share], flip_y=wrong, random_state=3
    )
    X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    return [
        average_precision_score(y_test, make().fit(X_train, y_train).predict_proba(X_test)[:, 1])
        for make in MODELS.values()
    ]


# %%
noise = [0.0, 0.05, 0.15, 0.3]
rarity = [0.2, 0.1, 0.05, 0.03]
by_noise = np.array([scores(0.1, wrong) for wrong in noise])
by_share = np.array([scores(share, 0.01) for share in rarity])

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
panels = [
    (by_noise, [f"{w:.0%}" for w in noise], "share of random labels"),
    (by_share, [f"{s:.0%}" for s in rarity], "share of the rare class"),
]
for ax, (values, ticks, label) in zip(axes, panels, strict=True):
    for number, name in enumerate(MODELS):
        ax.plot(values[:, number], "os^"[number] + "-", label=name)
    ax.set(xticks=range(len(ticks)), xticklabels=ticks, xlabel=label, ylabel="average precision")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].legend(frameon=False)

# %%
# The scores as numbers: noise first, then rarity.
for title, ticks, values in (("noise", noise, by_noise), ("share", rarity, by_share)):
    for tick, row in zip(ticks, values, strict=True):
        shown = ", ".join(f"{name} {v:.3f}" for name, v in zip(MODELS, row, strict=True))
        print(f"{title} {tick}: {shown}")
