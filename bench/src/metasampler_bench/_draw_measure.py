"""Measure how a team of boosters does by its draw: every choice on the same rows, once.

Scouts and the first booster do not depend on the draw, so all choices share them. What a policy
may look at before it chooses is measured at that point, and nowhere later.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split

from metasampler.ensemble.teams import RECIPES
from metasampler.growth import (
    GaussianDraw,
    Growth,
    PowerDraw,
    RandomStreams,
    Stream,
    draw_rows,
    make_adapters,
    make_growth_data,
    spread_action,
)
from metasampler_bench._protocol import fit_seed, take_frames
from metasampler_bench._samplers import SamplerCache
from metasampler_bench._spec import Job
from metasampler_bench.datasets import flip_labels

__all__ = ["CHOICES", "POWERS", "at_most", "measure_draws"]

#: The most rows that train, and that test: the cost of a split must not depend on the table.
_MOST_ROWS = 15_000

# With fewer positives scores of a split are mostly chance.
_FEWEST_POSITIVES = 75

# Majority rows a minority row in the draws of boosters.
_RATIO = 3.0


class BarePowerDraw:
    """Draw rows with weight ``error ** power``: tried, and behind `PowerDraw` with its floor."""

    def __init__(self, power: float):
        self.power = power

    def __call__(self, candidates: Any, size: int) -> Any:
        """Return which of the candidates are drawn."""
        log_weights = self.power * np.log(np.maximum(candidates.errors, 1e-6))
        return draw_rows(candidates.keys - log_weights, size)


#: The powers of the actions 0, 1/4, ..., 1.
POWERS = tuple(float(spread_action(step / 4, 0.0, "power")) for step in range(5))

#: What the rows of a member can be drawn by, in groups that are measured together; None is
#: uniform.
CHOICES: dict[str, dict[str, Any]] = {
    "mu": {
        "uniform": None,
        **{f"{mu:g}": GaussianDraw(mu) for mu in (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)},
    },
    # In equal steps of the action, as a adapter plays them; the first step is uniform.
    "power": {f"soft power {power:.3g}": PowerDraw(power) for power in POWERS[1:]},
    "more": {f"power {power:g}": BarePowerDraw(power) for power in (0.5, 1, 2, 4)},
    # Each member by a power of its own: what a policy could do that acts before every member.
    "turns": {
        f"powers {', '.join(f'{POWERS[step]:.3g}' for step in steps)}": tuple(
            PowerDraw(POWERS[step]) for step in steps
        )
        for steps in ((1, 2, 3), (3, 2, 1), (4, 1, 4))
    },
}

_EVERY = {name: rule for group in CHOICES.values() for name, rule in group.items()}

#: Those that are also grown with rows held out from all members, to be selected by them.
SELECTABLE = ("uniform", "0.5", "0.7", "0.9", "power 1", "power 2")

# Pairs whose members answer together: twice the members of one.
_PAIRS = (("uniform", "0.7"), ("uniform", "0.9"), ("uniform", "power 2"))


def measure_draws(job: Job, cache: SamplerCache) -> list[dict[str, Any]]:
    """Grow the default's boosters by every draw, and describe the table by what is known before."""
    cell = job.cell
    X, y, X_test, y_test = take_frames(
        cell["dataset"], cell["run"], seed=cache.seed, data_home=cache.data_home
    )
    seed = fit_seed(cell["run"], cell["fold"], cache.seed)
    X, y = at_most(X, y, seed)
    X_test, y_test = at_most(X_test, y_test, seed)
    if cell.get("thinned"):
        X, y = _thinned(X, y, cell["thinned"], seed)
    if cell.get("noise"):
        y = flip_labels(y, cell["noise"], random_state=seed)
    if min(np.bincount(y)) < _FEWEST_POSITIVES:
        raise ValueError(f"{min(np.bincount(y))} positives: scores of a split would be chance")
    recipe, streams = RECIPES["default"], RandomStreams(seed)
    with warnings.catch_warnings():
        # Tables with less than three majority rows a minority row take all.
        warnings.simplefilter("ignore")
        data = make_growth_data(
            X, y, estimator=recipe.scout(1), validation_fraction=0.1, sampling_ratio=_RATIO,
            scoring="average_precision", streams=streams, rotate=True,
        )  # fmt: skip
    test = data.form(X_test, name="X_test")
    start = time.process_time()
    adapter: Any = make_adapters(
        recipe.scout(data.tables[0].shape[1]), data.tables, 2, 1, 0.0,
        data.form.category_sizes,
    ).of(0)  # fmt: skip
    adapter.doubles_after = recipe.doubles_after
    scouts = Growth(data.for_team(np.inf), adapter, streams.child(Stream.TEAM, 0))
    for _ in scouts.grow(None, recipe.n_scouts):
        pass
    signal = recipe.signal(scouts)
    row: dict[str, Any] = {"scout_cpu": round(time.process_time() - start, 3)}
    adapter = adapter.alike(recipe.booster(signal))
    first = Growth(data, adapter, streams.child(Stream.TEAM, 1), score_steps=False)
    first.step()
    first.errors()
    row |= {"n_rows": len(y), "n_positive": int(y.sum()), "n_features": int(X.shape[1])}
    row["state"] = _rounded(_describe(scouts, first, signal))
    row["test"], row["cpu"], answers = {}, {}, {}
    group = cell.get("draws", "mu")
    for name, rule in CHOICES[group].items():
        start = time.process_time()
        growth = _grown(first.fork(), rule, recipe.n_boosters)
        row["cpu"][name] = round(time.process_time() - start, 3)
        answers[name] = _answer(growth, test)
        row["test"][name] = average_precision_score(y_test, answers[name])
    if group == "more":
        for name in {name for pair in _PAIRS for name in pair} - set(answers):
            answers[name] = _answer(_grown(first.fork(), _EVERY[name], recipe.n_boosters), test)
        for pair in _PAIRS:
            both = sum(answers[name] for name in pair)
            row["test"][" + ".join(pair)] = average_precision_score(y_test, both)
        row |= _select(data, adapter, streams, recipe.n_boosters, test, y_test)
    scouts_say = sum(member.predict_proba(test)[:, 1] for member in scouts.members)
    row["scouts_test"] = round(float(average_precision_score(y_test, scouts_say)), 6)
    row["test"] = _rounded(row["test"])
    return [row]


def _grown(growth: Growth, rule: Any, n_members: int) -> Growth:
    """Grow all members by one rule, or each but the first by its own."""
    while growth.n_members < n_members:
        is_one = rule is None or callable(rule)
        growth.step(rule if is_one else rule[growth.n_members - 1])
    return growth


def _answer(growth: Growth, table: Any) -> Any:
    return sum(member.predict_proba(table)[:, 1] for member in growth.members)


def _select(
    data: Any, adapter: Any, streams: Any, n_members: int, test: Any, y_test: Any
) -> dict[str, Any]:
    """Grow again with one fold held out from all members: what validation rows say of draws.

    With rotation no row is judged by an ensemble, only by one member; and a member that was drawn
    hard is worth something in an ensemble only.
    """
    held_out = data.holding_out_a_fold()
    first = Growth(held_out, adapter, streams.child(Stream.TEAM, 1), score_steps=False)
    first.step()
    found: dict[str, Any] = {"held_test": {}, "valid": {}, "valid_auc": {}, "valid_early": {}}
    found["valid_information"] = {}
    truth = data.codes[held_out.rows["valid"]]
    base = log_loss(truth, np.full(len(truth), truth.mean()))
    for name in SELECTABLE:
        growth = _grown(first.fork(), _EVERY[name], 2)
        found["valid_early"][name] = growth.score("valid")
        growth = _grown(growth, _EVERY[name], n_members)
        said = growth.proba("valid")[:, 1]
        found["valid"][name] = average_precision_score(truth, said)
        found["valid_auc"][name] = roc_auc_score(truth, said)
        odds = np.log(np.clip(said, 1e-6, 1 - 1e-6) / np.clip(1 - said, 1e-6, 1 - 1e-6))
        fitted = LogisticRegression(C=1e4).fit(odds[:, np.newaxis], truth)
        loss = log_loss(truth, fitted.predict_proba(odds[:, np.newaxis])[:, 1])
        found["valid_information"][name] = 1 - loss / base
        found["held_test"][name] = average_precision_score(y_test, _answer(growth, test))
    return {name: _rounded(values) for name, values in found.items()}


def at_most(X: Any, y: Any, seed: int, *, most: int = _MOST_ROWS) -> tuple[Any, Any]:
    """Return at most this many of the rows, with the same share of each class."""
    if len(y) <= most:
        return X, y
    rows, _ = train_test_split(np.arange(len(y)), train_size=most, stratify=y, random_state=seed)
    rows = np.sort(rows)
    return X.iloc[rows].reset_index(drop=True), y[rows]


def _thinned(X: Any, y: Any, part: float, seed: int) -> tuple[Any, Any]:
    """Return the rows with only a part of the positives."""
    positives = np.flatnonzero(y)
    kept, _ = train_test_split(positives, train_size=part, random_state=seed)
    rows = np.sort(np.concatenate([np.flatnonzero(y == 0), kept]))
    return X.iloc[rows].reset_index(drop=True), y[rows]


def _rounded(values: dict[str, Any]) -> dict[str, float]:
    return {name: round(float(value), 6) for name, value in values.items()}


def _describe(scouts: Growth, first: Growth, signal: float) -> dict[str, float]:
    """Return the candidates of a state: all that is known when the second draw is due."""
    data: Any = first.data
    minority = data.codes == data.minority
    rows, proba, *_ = scouts.judged()
    truth, said = minority[rows], proba[:, data.minority]
    base = float(minority.mean())
    entropy = log_loss(truth, np.full(len(truth), truth.mean()))
    precision = average_precision_score(truth, said)
    state = {
        "signal": signal,
        "ratio": (1 - base) / base,
        "n_minority": float(minority.sum()),
        "scout_ap": precision,
        "scout_ap_gain": (precision - base) / (1 - base),
        "scout_auc": roc_auc_score(truth, said),
        "scout_information": 1 - log_loss(truth, np.clip(said, 1e-6, 1 - 1e-6)) / entropy,
    }
    for role in ("train", "valid"):
        for part in ("minority", "majority"):
            errors = first.errors(role, part)
            state[f"error_{role}_{part}"] = errors.mean()
            state[f"spread_{role}_{part}"] = errors.std()
    for part in ("minority", "majority"):
        state[f"gap_{part}"] = state[f"error_valid_{part}"] - state[f"error_train_{part}"]
    rows, proba, *_ = first.judged()
    truth, said = minority[rows], proba[:, data.minority]
    state["booster_ap_gain"] = (average_precision_score(truth, said) - base) / (1 - base)
    state["booster_auc"] = roc_auc_score(truth, said)
    # What scouts say of rows that the first booster got wrong: hard rows that can be told from
    # positives are signal, those that cannot are noise. Fold 0 is unseen by both.
    common, places, others = np.intersect1d(rows, scouts.judged()[0], return_indices=True)
    truth, own = minority[common], proba[places, data.minority]
    scout = scouts.judged()[1][others, data.minority]
    wrong = ~truth & (own >= np.quantile(own[~truth], 0.8))
    chosen = wrong | truth
    state["hard_auc"] = roc_auc_score(truth[chosen], scout[chosen])
    state["hard_auc_own"] = roc_auc_score(truth[chosen], own[chosen])
    state["agreement"] = spearmanr(own, scout).statistic
    return state
