"""Fit ensembles on saved splits. As a script it needs nothing of this package.

imbalanced-ensemble cannot be installed beside a current scikit-learn, so that another interpreter
runs this file and prints what it measured.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import average_precision_score

__all__ = ["N_MEMBERS", "fit_splits"]

N_MEMBERS = 10


def fit_splits(make, folder):
    """Yield set, method, split, test average precision and CPU seconds of a fit."""
    for path in sorted(Path(folder).glob("*.npz")):
        with np.load(path) as archive:
            X, y, tests = archive["X"], archive["y"], archive["tests"]
        for seed, test in enumerate(tests):
            for name, classifier in make(seed).items():
                start = time.process_time()
                classifier.fit(X[~test], y[~test])
                seconds = time.process_time() - start
                proba = classifier.predict_proba(X[test])[:, 1]
                yield path.stem, name, seed, float(average_precision_score(y[test], proba)), seconds


def _of_imbalanced_ensemble(seed):
    from imbens import ensemble  # type: ignore[import-not-found]

    options = {"n_estimators": N_MEMBERS, "random_state": seed}
    return {
        "UnderBagging": ensemble.UnderBaggingClassifier(bootstrap=False, **options),
        # Without replacement it ends with an error where a bin has too few rows.
        "SPE": ensemble.SelfPacedEnsembleClassifier(k_bins=10, replacement=True, **options),
        "Cascade": ensemble.BalanceCascadeClassifier(replacement=False, **options),
        "SMOTEBagging": ensemble.SMOTEBaggingClassifier(k_neighbors=5, **options),
    }


if __name__ == "__main__":
    print(json.dumps(list(fit_splits(_of_imbalanced_ensemble, sys.argv[1]))))
