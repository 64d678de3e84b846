"""From scores to decisions: probabilities, a threshold that pays, and what is expected of it.

The transactions are synthetic: two in a hundred are fraud, and fraud tends to be expensive.

    python examples/decisions.py
    python examples/decisions.py --save docs/decisions    # the pictures too; needs matplotlib
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score, brier_score_loss, precision_score, recall_score
from sklearn.model_selection import train_test_split

from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from metasampler import MesaClassifier

REVIEW_COST = 5.0  # what it costs to look at one transaction
# A constant mu: the figures stay the same when the universal sampler is trained anew.
# Trees and a constant mu: one team, which holds a fifth of the rows out.
TREES = [
    DecisionTreeClassifier(criterion="entropy", max_features="sqrt", min_samples_leaf=2),
    ExtraTreeClassifier(criterion="entropy", max_features=0.5),
]
SETTINGS = {"estimator": TREES, "n_estimators": 30, "meta_sampler": 0.9, "random_state": 0}


def make_transactions(n_rows=20_000, random_state=0):
    """Columns of a transaction, whether it is fraud, and its amount (also the last column)."""
    X, y = make_classification(
        n_rows,
        n_features=12,
        n_informative=6,
        weights=[0.98],
        flip_y=0,
        random_state=random_state,
    )
    rng = np.random.default_rng(random_state)
    amount = np.exp(rng.normal(3.5 + 0.7 * y, 0.8))
    return np.column_stack([X, amount]), y, amount


def cost_of(y, said, amount):
    """Amounts of the frauds that were missed, and the reviews of what was called fraud."""
    return amount[(y == 1) & (said == 0)].sum() + REVIEW_COST * said.sum()


def main(save=None):
    X, y, amount = make_transactions()
    X_train, X_test, y_train, y_test, amount_train, amount_test = train_test_split(
        X, y, amount, test_size=0.3, stratify=y, random_state=0
    )

    # 1. Scores: the order is the same with and without calibration, the level is not.
    raw = MesaClassifier(calibration=None, **SETTINGS).fit(X_train, y_train)
    clf = MesaClassifier(**SETTINGS).fit(X_train, y_train)
    print(f"{y_test.mean():.2%} of the test rows are fraud")
    for name, fitted in {"raw": raw, "calibrated": clf}.items():
        p = fitted.predict_proba(X_test)[:, 1]
        print(
            f"{name:>10}: mean probability {p.mean():.2%}, "
            f"Brier score {brier_score_loss(y_test, p):.4f}, "
            f"average precision {average_precision_score(y_test, p):.3f}"
        )

    # 2. Decisions: the same members, another threshold.
    mean_fraud = amount_train[y_train == 1].mean()
    thresholds = {
        "most probable class": None,
        "balanced": "balanced",
        "best F1": "f1",
        "recall of 0.9": ("recall", 0.9),
        "precision of 0.8": ("precision", 0.8),
        "lowest cost": ("cost", mean_fraud, REVIEW_COST),
    }
    chosen = None
    print(f"\na missed fraud costs {mean_fraud:.0f} on average, a review {REVIEW_COST:.0f}")
    for name, threshold in thresholds.items():
        decider = MesaClassifier(threshold=threshold, **SETTINGS).fit(X_train, y_train)
        said = decider.predict(X_test)
        print(
            f"{name:>20}: from {decider.threshold_:.3f} on, "
            f"recall {recall_score(y_test, said):.2f}, "
            f"precision {precision_score(y_test, said):.2f}, "
            f"cost {cost_of(y_test, said, amount_test):,.0f}"
        )
        chosen = decider
    print(f"{'no model':>20}: cost {amount_test[y_test == 1].sum():,.0f}")

    # 3. Weights: of the fair transactions only one in ten was kept, and stands for ten.
    kept = (y_train == 1) | (np.arange(len(y_train)) % 10 == 0)
    weights = np.where(y_train == 1, 1, 10)[kept]
    print("\nfair transactions thinned to one in ten:")
    for name, given in {"without weights": None, "with weights": weights}.items():
        thinned = MesaClassifier(**SETTINGS)
        thinned.fit(X_train[kept], y_train[kept], sample_weight=given)
        p = thinned.predict_proba(X_test)[:, 1]
        print(
            f"{name:>20}: mean probability {p.mean():.2%}, "
            f"Brier score {brier_score_loss(y_test, p):.4f}"
        )

    # 4. What the fit did.
    print()
    print(MesaClassifier(**{**SETTINGS, "n_estimators": 5}).fit(X_train, y_train).summary())
    if save is not None:
        save_pictures(Path(save), raw, chosen, X_test, y_test)


def save_pictures(folder, raw, clf, X, y):
    """Draw the pictures of the page "From scores to decisions"."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt
    from sklearn.calibration import CalibrationDisplay

    from metasampler.plotting import FitSummaryDisplay, ThresholdDisplay

    folder.mkdir(parents=True, exist_ok=True)
    figure, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
    styles = {
        "raw mean of the members": (raw, {"color": "#D55E00", "linestyle": "--"}),
        'calibration="auto"': (clf, {"color": "#0072B2"}),
    }
    for name, (fitted, style) in styles.items():
        CalibrationDisplay.from_estimator(fitted, X, y, n_bins=6, name=name, ax=ax, **style)
    ax.set(xlabel="predicted probability of fraud", ylabel="share of fraud among these rows")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="upper left", frameon=False)
    figure.savefig(folder / "reliability.png", dpi=120)
    ThresholdDisplay.from_estimator(clf, X, y).figure_.savefig(folder / "threshold.png", dpi=120)
    FitSummaryDisplay.from_estimator(clf).figure_.savefig(folder / "summary.png", dpi=120)
    plt.close("all")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--save", metavar="DIR", help="also draw the pictures into this folder")
    main(parser.parse_args().save)
