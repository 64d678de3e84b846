"""
Fraud: choose the threshold by what mistakes cost
=================================================

If you miss a fraud, you lose its amount. The review of a transaction costs 5. The classifier
chooses the threshold with the lowest cost on rows that its members have not seen. The transactions
are synthetic: two in a hundred are fraudulent, and frauds tend to be large.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import precision_score, recall_score
from sklearn.model_selection import train_test_split

from metasampler import MesaClassifier
from metasampler.plotting import ThresholdDisplay

REVIEW = 5.0

X, y = make_classification(
    20_000, n_features=12, n_informative=6, weights=[0.98], flip_y=0, random_state=0
)
amount = np.exp(np.random.default_rng(0).normal(3.5 + 0.7 * y, 0.8))
X = np.column_stack([X, amount])
X_train, X_test, y_train, y_test, amount_train, amount_test = train_test_split(
    X, y, amount, test_size=0.3, stratify=y, random_state=0
)
mean_fraud = amount_train[y_train == 1].mean()
print(f"A missed fraud costs {mean_fraud:.0f} on average, a review {REVIEW:.0f}.")

# %%
# Fit once for each goal. The members are the same; only the threshold differs.
goals = {
    "most probable class": None,
    "balanced (default)": "balanced",
    "best F1": "f1",
    "recall of 0.9": ("recall", 0.9),
    "precision of 0.8": ("precision", 0.8),
    "lowest cost": ("cost", mean_fraud, REVIEW),
}
costs = {"no model": amount_test[y_test == 1].sum()}
for name, goal in goals.items():
    clf = MesaClassifier(recipe="fast", threshold=goal, random_state=0).fit(X_train, y_train)
    flagged = clf.predict(X_test)
    missed = amount_test[(y_test == 1) & (flagged == 0)].sum()
    costs[name] = missed + REVIEW * flagged.sum()
    print(
        f"{name:>20}: from {clf.threshold_:.3f} on, recall {recall_score(y_test, flagged):.2f}, "
        f"precision {precision_score(y_test, flagged):.2f}, cost {costs[name]:,.0f}"
    )

# %%
figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.barh(list(costs), list(costs.values()), color="#0072B2")
ax.invert_yaxis()
ax.set(xlabel="cost of the mistakes on the test rows")
ax.spines[["top", "right"]].set_visible(False)

# %%
# Probabilities are calibrated, so you can check the threshold by hand. A review pays if the
# probability of fraud is at least ``REVIEW / mean_fraud``.
print(f"by hand {REVIEW / mean_fraud:.3f}, chosen {clf.threshold_:.3f}")
ThresholdDisplay.from_estimator(clf, X_test, y_test)
