"""
A thinned log, and weights that repair it
=========================================

Logs are often thinned: all frauds are kept, but only one in ten other rows. Without weights the
probabilities are then too high. Weights correct them. The data are synthetic.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from metasampler import MesaClassifier

X, y = make_classification(
    30_000, n_features=10, n_informative=5, weights=[0.96], flip_y=0.03, random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

kept = (y_train == 1) | (np.arange(len(y_train)) % 10 == 0)
weights = np.where(y_train[kept] == 1, 1, 10)

# %%
# A weight is the number of rows that a row stands for.
figure, ax = plt.subplots(figsize=(5.5, 4.5), layout="constrained")
for name, given in {"without weights": None, "with weights": weights}.items():
    clf = MesaClassifier(recipe="fast", random_state=0)
    clf.fit(X_train[kept], y_train[kept], sample_weight=given)
    p = clf.predict_proba(X_test)[:, 1]
    print(f"{name}: mean probability {p.mean():.1%}, {y_test.mean():.1%} are positive")
    CalibrationDisplay.from_predictions(y_test, p, n_bins=8, strategy="quantile", name=name, ax=ax)
