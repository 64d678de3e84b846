"""
Text, categories, dates and missing values
==========================================

Pass a data frame as it is. The claims are synthetic. They have text (the garage), a category, a
date, a boolean, and numbers with missing values.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import permutation_importance
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split

from metasampler import MesaClassifier
from metasampler.datasets import make_claims
from metasampler.tables import TableEncoder

claims = make_claims()
X, y = claims.drop(columns="fraud"), claims["fraud"]
train, test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
X.head()

# %%
# You do not have to encode or impute anything.
clf = MesaClassifier(random_state=0).fit(train, y_train)
scores = clf.predict_proba(test)[:, 1]
found = average_precision_score(y_test == "yes", scores)
print(f"average precision {found:.3f}; a random order has {np.mean(y_test == 'yes'):.3f}")

# %%
# A level that `fit` has not seen gets the code of rare levels. Columns are matched by name, in any
# order.
tomorrow = test.head(2).assign(garage=["a new garage", "garage 3"])[list(test.columns[::-1])]
print(clf.predict_proba(tomorrow)[:, 1].round(3))

# %%
# Which columns matter? Shuffle one column of the test rows at a time.
result = permutation_importance(
    clf,
    test,
    y_test == "yes",
    scoring=lambda model, X, y: average_precision_score(y, model.predict_proba(X)[:, 1]),
    n_repeats=3,
    random_state=0,
)
figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
order = np.argsort(result.importances_mean)
ax.barh(test.columns[order], result.importances_mean[order], color="#0072B2")
ax.set(xlabel="loss of average precision when the column is shuffled")
ax.spines[["top", "right"]].set_visible(False)

# %%
# You can also use the encoder alone, as a transformer for other models.
TableEncoder().fit(train).transform(test.head(3)).round(1)
