"""Rules and trainers that choose draws, by what is known of tables of other families."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from metasampler.meta import Assignment, Episode, FitToConstants, Problem, SoftActorCritic
from metasampler.policy import GaussianPolicy
from metasampler_bench._draw_cases import (
    ACTIONS,
    MORE_NUMBERS,
    Cases,
    Chooser,
    Floats,
    cross_validated,
)

__all__ = [
    "PENALTY",
    "best_constant",
    "by_signal",
    "chosen_among",
    "committee",
    "fit_sampler",
    "kernel_smoothed",
    "learned",
    "one_threshold",
    "random_search",
    "selected",
    "shrunken",
    "soft_actor_critic",
]

Fit = Callable[[Cases], Chooser]

# Constants along which a threshold chooses.
_MUS = ("uniform", "0.5", "0.6", "0.7", "0.8", "0.9", "1")

#: How strongly a policy is held near a constant.
PENALTY = 1e-3


# ---------------------------------------------------------------------- rules without a trainer


def best_constant(draws: Iterable[str]) -> Fit:
    """Return what takes the constant that is best in the mean of the other families."""

    def fit(cases: Cases) -> Chooser:
        best = max(draws, key=lambda draw: float(cases.weights @ cases.test[draw]))
        return lambda new: new.test[best]

    return fit


def by_signal(cases: Cases) -> Floats:
    """Return the scores of thresholds that were set by hand, on these same tables.

    They were the default before there was a sampler: uniform below a signal of 36, mu 0.65 below
    50, and 0.9 from there on. 0.65 lies between two that were grown.
    """
    signal, test = cases.numbers["signal"], cases.test
    middle = (test["0.6"] + test["0.7"]) / 2
    return np.where(signal < 36, test["uniform"], np.where(signal < 50, middle, test["0.9"]))


def one_threshold(cases: Cases) -> Chooser:
    """Fit a threshold on the signal, with one draw below and one above."""
    signal, weights = cases.numbers["signal"], cases.weights
    table = np.stack([cases.test[draw] for draw in _MUS], axis=1) * weights[:, np.newaxis]
    found: tuple[float, float, int, int] | None = None
    for threshold in np.quantile(signal, np.linspace(0.05, 0.95, 19)):
        low, high = table[signal < threshold].sum(axis=0), table[signal >= threshold].sum(axis=0)
        worth = float(low.max() + high.max())
        if found is None or worth > found[0]:
            found = worth, float(threshold), int(low.argmax()), int(high.argmax())
    assert found is not None
    _, threshold, below, above = found

    def choose(new: Cases) -> Floats:
        lower, upper = new.test[_MUS[below]], new.test[_MUS[above]]
        return np.where(new.numbers["signal"] < threshold, lower, upper)

    return choose


def selected(cases: Cases) -> Floats:
    """Return the scores of the draws that are best on rows held out for this."""
    draws = list(cases.valid)
    chosen = np.argmax(np.stack([cases.valid[draw] for draw in draws], axis=1), axis=1)
    return np.stack([cases.held[draw] for draw in draws], axis=1)[np.arange(len(cases)), chosen]


# ---------------------------------------------------------------------- trainers


def fit_sampler(
    cases: Cases, *, penalty: float = PENALTY, states: Floats | None = None, seed: int = 0
) -> GaussianPolicy:
    """Fit a policy to the curves of the cases, by the library's trainer."""
    states = cases.states() if states is None else states
    curves = np.stack([cases.test[draw] for draw in ACTIONS], axis=1)
    names = tuple(cases.tables.tolist())
    return _fitted(names, curves.tobytes(), states.tobytes(), penalty, seed)


# A report judges the same policies in many places.
@cache
def _fitted(
    tables: tuple[str, ...], curves: bytes, states: bytes, penalty: float, seed: int
) -> GaussianPolicy:
    scores = np.frombuffer(curves).reshape(len(tables), -1)
    observed = np.frombuffer(states).reshape(len(tables), -1)
    place = {name: number for number, name in enumerate(sorted(set(tables)))}
    trainer = FitToConstants(1, len(ACTIONS), score_on="test", relative=True, penalty=penalty)
    rng = np.random.default_rng(seed)
    trainer.begin(Problem(observed.shape[1], (), len(place), n_actions=1, rng=rng))
    nothing = np.zeros(0)
    assignments, episodes = [], []
    for number, name in enumerate(tables):
        for score in scores[number].tolist():
            assignments.append(Assignment(place[name], number, None))
            episodes.append(Episode(observed[[number]], nothing, nothing, {}, score))
    trainer.learn(assignments, episodes)
    return trainer.policy


def learned(
    *,
    penalty: float = PENALTY,
    more: Sequence[str] = (),
    spoiled: Callable[[Floats, Floats], Floats] | None = None,
    prepared: Callable[[Cases], Cases] | None = None,
) -> Fit:
    """Return what fits a policy to the other families.

    Parameters
    ----------
    penalty : float
        See :class:`~metasampler.meta.FitToConstants`.
    more : sequence of str
        Numbers of the state beside the signal.
    spoiled : callable, default=None
        ``spoiled(states, known)`` changes the states where the policy is tested, given those it
        has learned from.
    prepared : callable, default=None
        Changes the cases that it learns from.
    """

    def fit(cases: Cases) -> Chooser:
        cases = cases if prepared is None else prepared(cases)
        known = cases.states(more)
        policy = fit_sampler(cases, penalty=penalty, states=known)

        def choose(new: Cases) -> Floats:
            states = new.states(more)
            if spoiled is not None:
                states = spoiled(states, known)
            return new.scores_of(np.array([policy.choose(state) for state in states]))

        return choose

    return fit


def shrunken(cases: Cases) -> Cases:
    """Return the cases with the mean curve of each table, drawn to that of all where it is noisy.

    The weight of a table's own curve is the share of its variance that is not noise between splits:
    ``between / (between + noise)``, with one variance between tables for all.
    """
    curves = np.stack([cases.test[draw] for draw in ACTIONS], axis=1)
    curves -= curves.mean(axis=1, keepdims=True)
    own = {name: curves[cases.tables == name] for name in sorted(set(cases.tables.tolist()))}
    means = {name: curve.mean(axis=0) for name, curve in own.items()}
    grand = np.mean(list(means.values()), axis=0)
    # With one split there is no telling noise; it is then as large as elsewhere.
    variances = {n: c.var(axis=0, ddof=1).mean() for n, c in own.items() if len(c) > 1}
    usual = float(np.median(list(variances.values()))) if variances else 0.0
    noise = {name: variances.get(name, usual) / len(curve) for name, curve in own.items()}
    between = np.mean([np.mean((means[name] - grand) ** 2) - noise[name] for name in own])
    between = max(float(between), 1e-9)
    result = np.empty_like(curves)
    for name, mean in means.items():
        weight = between / (between + noise[name])
        result[cases.tables == name] = 1 + grand + weight * (mean - grand)
    smooth = {draw: result[:, place] for place, draw in enumerate(ACTIONS)}
    return replace(cases, test={**cases.test, **smooth})


def kernel_smoothed(width: float) -> Fit:
    """Return what takes the best of a cubic through the mean curve of tables with a like signal."""

    def fit(cases: Cases) -> Chooser:
        curves = np.stack([cases.test[draw] for draw in ACTIONS], axis=1)
        curves -= curves.mean(axis=1, keepdims=True)
        signals, weights = cases.states()[:, 0], cases.weights
        steps, grid = np.linspace(0, 1, len(ACTIONS)), np.linspace(0, 1, 61)

        def choose(new: Cases) -> Floats:
            near = np.exp(-0.5 * ((new.states()[:, :1] - signals) / width) ** 2) * weights
            means = near @ curves / near.sum(axis=1, keepdims=True)
            cubics = np.polynomial.polynomial.polyfit(steps, means.T, 3)
            worth = np.polynomial.polynomial.polyval(grid, cubics)
            return new.scores_of(grid[np.argmax(worth, axis=1)])

        return choose

    return fit


def committee(penalty: float = PENALTY) -> Fit:
    """Return what takes the mean action of policies on the signal and one other number each."""
    states = [(), *((name,) for name in MORE_NUMBERS)]

    def fit(cases: Cases) -> Chooser:
        policies = [fit_sampler(cases, penalty=penalty, states=cases.states(s)) for s in states]

        def choose(new: Cases) -> Floats:
            actions = [
                [policy.choose(state) for state in new.states(more)]
                for policy, more in zip(policies, states, strict=True)
            ]
            return new.scores_of(np.mean(actions, axis=0))

        return choose

    return fit


def chosen_among(options: Mapping[str, Fit], n_groups: int = 3) -> Fit:
    """Return what takes the option that does best in cross-validation within what it is fitted to.

    What is chosen and what is tested are so kept apart. To choose, the splits of each table are
    averaged, which changes little and takes a fraction of the time.
    """

    def fit(cases: Cases) -> Chooser:
        short = cases.averaged()
        worth = {
            name: float(short.weights @ cross_validated(short, option, n_groups=n_groups))
            for name, option in options.items()
        }
        return options[max(worth, key=worth.__getitem__)](cases)

    return fit


def random_search(seed: int, n_candidates: int = 20) -> Fit:
    """Return what takes the best of random linear policies, at as many episodes as the trainer.

    The trainer plays each case once by every draw. The candidates share this number of episodes.
    """

    def fit(cases: Cases) -> Chooser:
        rng = np.random.default_rng(seed)
        size = max(1, len(ACTIONS) * len(cases) // n_candidates)
        centre, spread = cases.states().mean(axis=0), cases.states().std(axis=0) + 1e-9
        candidates = rng.normal(scale=2.0, size=(n_candidates, 1 + len(centre)))

        def act(weights: Floats, states: Floats) -> Floats:
            return 0.5 + 0.5 * np.tanh(weights[0] + (states - centre) / spread @ weights[1:])

        def worth(weights: Floats) -> float:
            part = cases.where(rng.permutation(len(cases))[:size])
            return float(part.scores_of(act(weights, part.states())).mean())

        best = max(candidates, key=worth)
        return lambda new: new.scores_of(act(best, new.states()))

    return fit


def soft_actor_critic(seed: int, n_members: int = 4) -> Fit:
    """Return what trains soft actor-critic on the stored curves, at as many episodes.

    An episode acts before each member but the first. Its score is that of the mean action, and is
    the reward of its last step: smoother than what a training on ensembles would see.
    """

    def fit(cases: Cases) -> Chooser:
        n_steps = n_members - 1
        n_episodes = len(ACTIONS) * len(cases)
        n_random = n_episodes // 4
        rng = np.random.default_rng(seed)
        states = cases.states()
        trainer = SoftActorCritic(
            n_random_steps=n_random * n_steps, n_updates=(n_episodes - n_random) * n_steps
        )
        trainer.begin(Problem(states.shape[1], (50,), 1, n_actions=n_steps, rng=rng))
        uniform = cases.test["uniform"]
        for number in range(trainer.n_rounds):
            case = int(rng.integers(len(cases)))
            (assignment,) = trainer.plan(number, [0])
            state = states[case]
            actions = np.array(
                [
                    rng.random()
                    if step < assignment.n_random
                    else assignment.actor.sample(state, rng)
                    for step in range(n_steps)
                ]
            )
            score = cases.where(np.array([case])).scores_of(actions.mean(keepdims=True))[0]
            rewards = np.zeros(n_steps)
            rewards[-1] = score - uniform[case]
            many = np.repeat(state[np.newaxis], n_steps, axis=0)
            trainer.learn([assignment], [Episode(many, actions, rewards, {"valid": score})])
        policy = trainer.policy
        return lambda new: new.scores_of(np.array([policy.choose(s) for s in new.states()]))

    return fit
