"""
Read a fit
==========

What did the fit do, and why? The summary and three pictures show it. The data are synthetic.
"""

from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier
from metasampler.plotting import ErrorHistogramDisplay, FitSummaryDisplay, PolicyTraceDisplay

X, y = make_classification(
    6000, n_features=12, n_informative=6, weights=[0.93], flip_y=0.02, random_state=1
)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

# %%
# The default grows three teams: scouts, boosters and trees. `signal_` says how much there is to
# learn. Below 45 the fit expects noise, and trees draw rows uniformly. The last line of the table,
# "together", has the score of the whole ensemble on held-out rows.
clf = MesaClassifier(random_state=0).fit(X_train, y_train)
print(f"signal {clf.signal_:.0f}")
print(clf.summary())

# %%
# The same fit, member by member. This picture scores each team alone. The score of the whole
# ensemble is in the table above.
FitSummaryDisplay.from_estimator(clf)

# %%
# A fit close to the paper: a policy chooses mu, and all members are decision trees.
trees = MesaClassifier(DecisionTreeClassifier(), 10, random_state=0).fit(X_train, y_train)
PolicyTraceDisplay.from_estimator(trees, name="universal sampler")

# %%
# The errors become smaller as the ensemble grows.
ErrorHistogramDisplay.from_estimator(trees, X_test, y_test)
