"""Learn a sampling policy on one data set and use it on another.

The policy sees error histograms only, so the two tasks need not have anything in common: here a
rare digit and a rare diagnosis.

    python examples/transfer.py
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score

from metasampler import MesaClassifier, MetaSampler
from metasampler.datasets import make_imbalanced_digits
from metasampler.meta import SoftActorCritic


def main(n_updates=1000):
    sampler = MetaSampler(learner=SoftActorCritic(n_updates=n_updates), random_state=0, verbose=1)
    sampler.fit(*make_imbalanced_digits())
    print(
        f"Validation score on the digits: {sampler.summary_['first_valid_score']:.3f} with random "
        f"draws, {sampler.summary_['last_valid_score']:.3f} with the policy."
    )

    X, y = load_breast_cancer(return_X_y=True)
    # Malignant is class 0: one row in eight is kept, so that it becomes rare.
    keep = (y == 1) | ((y == 0).cumsum() % 8 == 0)
    X, y = X[keep], (y[keep] == 0).astype(int)
    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=5, random_state=0)
    for name, policy in {"learned on digits": sampler, "uniform mu": "random"}.items():
        clf = MesaClassifier.from_preset("paper", meta_sampler=policy, random_state=0)
        scores = cross_val_score(clf, X, y, scoring="average_precision", cv=folds)
        print(f"{name}: average precision {scores.mean():.3f} on the diagnosis")


if __name__ == "__main__":
    main()
