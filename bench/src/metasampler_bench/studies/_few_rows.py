"""What a calibration by few held-out rows can be improved with: tasks and forms to try.

The tasks are none of imbalanced-learn's 27 sets and come from none of their sources, so that a
choice made by them can be tested on the 27.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from metasampler.datasets import load
from metasampler.ensemble._calibration import make_calibration

#: Name, class to find (None: the one labelled 1) and how many of its rows to keep (None: all).
TASKS = (
    ("keel_segment0", None, None),
    ("keel_page-blocks0", None, None),
    ("keel_vowel0", None, None),
    ("keelstd_magic", 1, 400),
    ("keelstd_spambase", 1, 150),
    ("keelstd_phoneme", 1, 200),
    ("keelstd_german", 1, 60),
    ("keel_pima", None, 40),
    ("keelstd_wdbc", 1, 30),
    ("keelmulti_splice", 1, 120),
    ("keelmulti_splice", 2, 50),
    ("keel_vehicle0", None, 50),
    ("keel_vehicle1", None, 60),
    ("keel_vehicle2", None, 40),
    ("keel_vehicle3", None, 80),
    ("keel_kr-vs-k-three_vs_eleven", None, None),
    ("keel_kr-vs-k-zero-one_vs_draw", None, None),
    ("keel_poker-8-9_vs_5", None, None),
    ("keel_poker-8-9_vs_6", None, None),
    ("adbench_41_Waveform", None, None),
    ("adbench_7_Cardiotocography", None, 130),
    ("adbench_12_fault", None, 90),
    ("adbench_17_InternetAds", None, 100),
    ("adbench_39_vertebral", None, None),
    ("adbench_37_Stamps", None, None),
    ("adbench_1_ALOI", None, None),
    ("keelstd_contraceptive", 1, 70),
    ("keelmulti_led7digit", 1, None),
    ("keel_haberman", None, 30),
    ("keel_glass6", None, None),
    ("keelstd_marketing", 5, None),
    # Fewer than five held-out rows.
    ("keel_glass4", None, None),
    ("keel_glass5", None, None),
    ("keel_glass-0-1-4-6_vs_2", None, None),
    ("keel_poker-9_vs_7", None, None),
    ("keel_poker-8_vs_6", None, None),
    ("adbench_42_WBC", None, None),
    ("adbench_43_WDBC", None, None),
    ("adbench_45_wine", None, None),
    ("adbench_15_Hepatitis", None, None),
    ("keel_shuttle-6_vs_2-3", None, None),
    ("keel_pima", None, 15),
    ("keel_vehicle2", None, 12),
    ("keel_vehicle3", None, 20),
    ("keelstd_german", 1, 20),
    ("keelstd_magic", 1, 20),
    ("keelstd_spambase", 1, 15),
    ("keelstd_phoneme", 1, 20),
    ("keel_segment0", None, 12),
    ("adbench_7_Cardiotocography", None, 18),
    ("keelmulti_splice", 1, 15),
    ("keel_kr-vs-k-three_vs_eleven", None, 20),
    ("keel_page-blocks0", None, 20),
)
MOST_ROWS = 10_000


def load_tasks(data_home=None):
    """All tasks, as name -> (X, y) with y 0 or 1; rows to leave out are drawn."""
    tasks = {}
    for name, label, n_positives in TASKS:
        X, y = load(name, data_home=data_home, positive=label, return_X_y=True)
        X, y = np.asarray(X, dtype=float), np.asarray(y)
        rng = np.random.default_rng(0)
        rows = np.arange(len(y))
        if len(y) > MOST_ROWS:
            rows = np.sort(rng.choice(rows, MOST_ROWS, replace=False))
        if n_positives is not None:
            kept = rng.choice(rows[y[rows] == 1], n_positives, replace=False)
            rows = np.sort(np.concatenate([rows[y[rows] == 0], kept]))
        # A title that tells a task from others on the same data.
        title = name if label is None else f"{name}:{label}"
        title += "" if n_positives is None else f", {n_positives} positives"
        tasks[title] = X[rows], y[rows]
    return tasks


def forms(k, *, prior, proba, codes, weights):
    """Functions of the mean probability of k members, fitted on held-out rows."""
    given = {"prior": prior, "drawn": np.full(2, 0.5), "proba": proba, "codes": codes}
    scores = proba[:, 1]

    def by_name(name):
        fitted = make_calibration(name, **given, weights=weights)
        return lambda p: fitted(np.column_stack([1 - p, p]))[:, 1]

    def logistic(features, **options):
        fitted = _logistic(features(scores), codes, weights, **options)
        return lambda p: fitted(features(p))

    def smooth(p):
        # One more vote for each class, so that there are no zeros.
        return (k * p + 1) / (k + 2)

    sigmoid, isotonic = by_name("sigmoid"), by_name("isotonic")
    return {
        "sigmoid": sigmoid,
        "prior": by_name("prior"),
        "isotonic": isotonic,
        "mean of sigmoid and isotonic": lambda p: (sigmoid(p) + isotonic(p)) / 2,
        "sigmoid of the log-odds": logistic(lambda p: logit(smooth(p))[:, np.newaxis]),
        "beta calibration": logistic(
            lambda p: np.column_stack([np.log(smooth(p)), -np.log1p(-smooth(p))])
        ),
        "sigmoid, slope drawn to 8": logistic(lambda p: p[:, np.newaxis], pull=0.1, usual=8.0),
    }


def _logistic(features, codes, weights, pull=0.0, usual=0.0):
    """Increasing logistic regression with Platt's targets, its slopes drawn to a usual one."""
    n_in, n_out = weights[codes == 1].sum(), weights[codes == 0].sum()
    targets = np.where(codes == 1, (n_in + 1) / (n_in + 2), 1 / (n_out + 2))

    def loss(parameters):
        slopes = parameters[:-1]
        logits = features @ slopes + parameters[-1]
        residuals = weights * (expit(logits) - targets)
        value = weights @ (np.logaddexp(0, logits) - targets * logits)
        value += pull / 2 * ((slopes - usual) ** 2).sum()
        slope = features.T @ residuals + pull * (slopes - usual)
        return value, np.append(slope, residuals.sum())

    n_slopes = features.shape[1]
    start = np.append(np.ones(n_slopes), np.log((n_in + 1) / (n_out + 1)))
    bounds = [(1e-3, 60.0)] * n_slopes + [(None, None)]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return lambda features: expit(features @ found[:-1] + found[-1])
