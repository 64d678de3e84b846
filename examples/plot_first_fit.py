"""
A first fit
===========

Find a rare digit. The data are handwritten digits that come with scikit-learn. One in thirty is an
eight.
"""

from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import PrecisionRecallDisplay
from sklearn.model_selection import train_test_split

from metasampler import MesaClassifier
from metasampler.datasets import make_imbalanced_digits

X, y = make_imbalanced_digits()
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, test_size=0.4, random_state=0)
print(f"{len(y_train)} training rows, {y_train.sum()} of them eights")

# %%
# Fit it like any scikit-learn classifier.
clf = MesaClassifier(random_state=0).fit(X_train, y_train)
forest = RandomForestClassifier(random_state=0).fit(X_train, y_train)

# %%
# Accuracy says nothing here: a model that never says "eight" is right in 97 of 100 cases. The
# precision-recall curve answers two questions. How many of the eights are found? How many of the
# alarms are right?
curve = PrecisionRecallDisplay.from_estimator(clf, X_test, y_test)
PrecisionRecallDisplay.from_estimator(forest, X_test, y_test, ax=curve.ax_, plot_chance_level=True)

# %%
# `predict` returns "eight" if the probability of an eight is above the share of eights in the
# training rows.
called = clf.predict(X_test) == 1
print(f"{called.sum()} calls, {y_test[called].sum()} of them right, {y_test.sum()} eights in all")
