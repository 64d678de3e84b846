"""
Train a sampler of your own
===========================

A sampler reads histograms of errors. It knows nothing about the columns of a task. So you can train
it on one task and use it on another. Here we train it to find a rare digit, and use it to find a
rare diagnosis. Both data sets come with scikit-learn.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score

from metasampler import MesaClassifier, MetaSampler
from metasampler.datasets import make_imbalanced_digits
from metasampler.meta import SoftActorCritic
from metasampler.plotting import MetaTrainingDisplay

# %%
# Train on the digits. Each episode grows ten trees. The reward of each step is the gain in
# validation score.
sampler = MetaSampler(trainer=SoftActorCritic(n_updates=600), random_state=0)
sampler.fit(*make_imbalanced_digits())
MetaTrainingDisplay.from_sampler(sampler)

# %%
# Use it on the diagnosis. Class 0 is malignant. We keep one in eight of its rows, so that it
# becomes rare.
X, y = load_breast_cancer(return_X_y=True)
keep = (y == 1) | ((y == 0).cumsum() % 8 == 0)
X, y = X[keep], (y[keep] == 0).astype(int)
folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=3, random_state=0)
for name, policy in {"learned on digits": sampler, "constant 0.9": 0.9, "chance": "random"}.items():
    clf = MesaClassifier.from_preset("paper", meta_sampler=policy, random_state=0)
    scores = cross_val_score(clf, X, y, scoring="average_precision", cv=folds)
    print(f"{name}: average precision {scores.mean():.3f} +- {scores.std():.3f}")

# %%
# To keep the sampler, call ``sampler.save("own.npz")``. To use it, pass the file:
# ``MesaClassifier.from_preset("paper", meta_sampler="own.npz")``. The file holds no code, so it is
# safe to load a sampler from a stranger.
