"""
Many classes
============

With more than two classes, members learn from all rows, and each class counts by the square root of
its frequency. The digits come with scikit-learn. We make three of them rare, to different degrees.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import ConfusionMatrixDisplay, recall_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier

X, y = load_digits(return_X_y=True)
kept = {3: 60, 5: 40, 8: 30}
rows = np.concatenate(
    [np.flatnonzero(y == digit)[: kept.get(digit)] for digit in (0, 1, 3, 4, 5, 7, 8)]
)
X, y = X[rows], y[rows]
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

# %%
# With the default threshold, "balanced", `predict` compares the probability of each class with the
# share of this class in the training rows. It returns the class with the largest ratio.
clf = MesaClassifier(random_state=0).fit(X_train, y_train)
tree = DecisionTreeClassifier(random_state=0).fit(X_train, y_train)

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, (name, model) in zip(axes, {"one tree": tree, "MESA": clf}.items(), strict=True):
    called = model.predict(X_test)
    ConfusionMatrixDisplay.from_predictions(y_test, called, ax=ax, colorbar=False, cmap="Blues")
    ax.set_title(f"{name}: mean recall {recall_score(y_test, called, average='macro'):.2f}")
