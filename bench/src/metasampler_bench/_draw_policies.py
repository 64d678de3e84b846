"""Judge policies for draws by stored scores: each learns from other families than it is tested on.

Nothing is grown here. Rows hold how every draw did on the same split, so that what a policy would
have scored is read off; between two powers that were grown it is interpolated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metasampler.meta import Assignment, Episode, FitToConstants, Problem, SoftActorCritic
from metasampler.policy import GaussianPolicy, signal_state
from metasampler_bench._draw_measure import CHOICES
from metasampler_bench.datasets import REAL_FAMILIES

__all__ = [
    "ACTIONS",
    "MORE_NUMBERS",
    "PENALTY",
    "Cases",
    "best_constant",
    "by_signal",
    "cross_validated",
    "fit_sampler",
    "learned",
    "mean_by_table",
    "one_threshold",
    "random_search",
    "selected",
    "soft_actor_critic",
]

Floats = NDArray[np.float64]
#: Chooses by cases it has not learned from: returns what each of them scores.
Chooser = Callable[["Cases"], Floats]

#: Numbers that a state could hold beside the signal, and how they are brought to [-1, 1].
MORE_NUMBERS: dict[str, Callable[[Floats], Floats]] = {
    "scout_information": lambda values: values,
    "ratio": lambda values: np.log10(values) / 3,
    "n_minority": lambda values: np.log10(values) / 5,
    "hard_auc": lambda values: values,
    "gap_minority": lambda values: values,
    "error_valid_majority": lambda values: values,
    "spread_train_minority": lambda values: values,
    "booster_ap_gain": lambda values: values,
    "agreement": lambda values: values,
}

#: The draws along the action, from uniform on, in equal steps.
ACTIONS = ("uniform", *CHOICES["power"])

# Constants along which a threshold chooses.
_MUS = ("uniform", "0.5", "0.6", "0.7", "0.8", "0.9", "1")

#: How strongly a policy is held near a constant.
PENALTY = 1e-3


@dataclass(frozen=True)
class Cases:
    """Scores of all draws, one entry a table and split.

    Attributes
    ----------
    tables, families : ndarray of str
    numbers : dict of ndarray
        What is known before rows are drawn.
    test : dict of ndarray
        Average precision of the test rows by draw, as a part of the table's own best.
    held, valid : dict of ndarray
        The same of ensembles that leave one fold out from all members, and the score of this fold.
    """

    tables: NDArray[Any]
    families: NDArray[Any]
    numbers: dict[str, Floats]
    test: dict[str, Floats]
    held: dict[str, Floats]
    valid: dict[str, Floats]

    @classmethod
    def of(cls, rows: Iterable[dict[str, Any]], *, selectable: bool = False) -> Cases:
        """Put the rows of each table and split together; those that lack a draw are left out.

        With ``selectable`` only splits are kept in which rows were held out to select by.
        """
        splits: dict[tuple[str, int], dict[str, Any]] = {}
        for row in rows:
            key = row["cell"]["dataset"], row["cell"]["run"]
            split = splits.setdefault(key, {"test": {}, "held": {}, "valid": {}})
            split["test"] |= row["test"]
            split["held"] |= row.get("held_test", {})
            split["valid"] |= row.get("valid", {})
            split["state"] = row["state"]
        whole = [*CHOICES["mu"], *CHOICES["power"]]
        kept = {
            key: split
            for key, split in splits.items()
            if split["test"].keys() >= set(whole) and (split["valid"] or not selectable)
        }
        if not kept:
            nobody = np.array([], dtype=object)
            return cls(nobody, nobody, {}, {}, {}, {})
        tables = np.array([name for name, _ in kept], dtype=object)
        test = _columns(kept.values(), "test")
        means = [mean_by_table(tables, test[draw]) for draw in whole]
        best = {name: max(mean[name] for mean in means) for name in set(tables.tolist())}
        scale = np.array([best[name] for name in tables])
        return cls(
            tables,
            np.array([REAL_FAMILIES.get(name, name) for name in tables], dtype=object),
            _columns(kept.values(), "state"),
            {draw: scores / scale for draw, scores in test.items()},
            {draw: scores / scale for draw, scores in _columns(kept.values(), "held").items()},
            _columns(kept.values(), "valid"),
        )

    def __len__(self) -> int:
        return len(self.tables)

    def where(self, mask: NDArray[Any]) -> Cases:
        """Return some of the cases."""
        parts = (self.numbers, self.test, self.held, self.valid)
        chosen = ({name: values[mask] for name, values in part.items()} for part in parts)
        return Cases(self.tables[mask], self.families[mask], *chosen)

    def states(self, more: Sequence[str] = ()) -> Floats:
        """Return the states of kind "signal", with more numbers beside it if need be."""
        signal = np.array([signal_state(value) for value in self.numbers["signal"]])
        others = [MORE_NUMBERS[name](self.numbers[name]) for name in more]
        return np.clip(np.column_stack([signal, *others]), -1.0, 1.0)

    @property
    def weights(self) -> Floats:
        """Weights by which every table counts the same."""
        _, place, counts = np.unique(self.tables, return_inverse=True, return_counts=True)
        return 1 / counts[place] / len(counts)

    def scores_of(self, actions: Floats) -> Floats:
        """Return what actions score, between the powers that were grown by a straight line."""
        curves = np.stack([self.test[draw] for draw in ACTIONS], axis=1)
        steps = np.linspace(0, 1, len(ACTIONS))
        pairs = zip(actions, curves, strict=True)
        return np.array([np.interp(action, steps, curve) for action, curve in pairs])


def _columns(splits: Iterable[dict[str, Any]], part: str) -> dict[str, Floats]:
    parts = [split[part] for split in splits]
    common = set.intersection(*(set(each) for each in parts)) if parts else set()
    names = [name for name in (parts[0] if parts else {}) if name in common]
    return {name: np.array([each[name] for each in parts], dtype=float) for name in names}


def mean_by_table(tables: NDArray[Any], values: Floats) -> dict[str, float]:
    """Return the mean over the splits of each table."""
    return {name: float(values[tables == name].mean()) for name in sorted(set(tables.tolist()))}


def cross_validated(
    cases: Cases, fit: Callable[[Cases], Chooser], known: Cases | None = None
) -> Floats:
    """Return what a policy scores on each family, fitted to the others.

    Parameters
    ----------
    cases : Cases
        Where it is tested.
    fit : callable
        What fits it.
    known : Cases, default=None
        What it is fitted to, if that is not `cases`.
    """
    known = cases if known is None else known
    scores = np.empty(len(cases))
    for family in sorted(set(cases.families.tolist())):
        tested = cases.families == family
        scores[tested] = fit(known.where(known.families != family))(cases.where(tested))
    return scores


# ---------------------------------------------------------------------- rules without a learner


def best_constant(draws: Iterable[str]) -> Callable[[Cases], Chooser]:
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


# ---------------------------------------------------------------------- learners


def fit_sampler(
    cases: Cases, *, penalty: float = PENALTY, states: Floats | None = None, seed: int = 0
) -> GaussianPolicy:
    """Fit a policy to the curves of the cases, by the library's learner."""
    states = cases.states() if states is None else states
    names = sorted(set(cases.tables.tolist()))
    learner = FitToConstants(1, len(ACTIONS), score_on="test", relative=True, penalty=penalty)
    rng = np.random.default_rng(seed)
    learner.begin(Problem(states.shape[1], (), len(names), n_actions=1, mu_min=0.0, rng=rng))
    nothing = np.zeros(0)
    assignments, episodes = [], []
    for number, name in enumerate(cases.tables):
        for draw in ACTIONS:
            assignments.append(Assignment(names.index(name), number, None))
            score = float(cases.test[draw][number])
            episodes.append(Episode(states[[number]], nothing, nothing, {}, score))
    learner.learn(assignments, episodes)
    return learner.policy


def learned(
    *,
    penalty: float = PENALTY,
    more: Sequence[str] = (),
    spoiled: Callable[[Floats, Floats], Floats] | None = None,
) -> Callable[[Cases], Chooser]:
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
    """

    def fit(cases: Cases) -> Chooser:
        known = cases.states(more)
        policy = fit_sampler(cases, penalty=penalty, states=known)

        def choose(new: Cases) -> Floats:
            states = new.states(more)
            if spoiled is not None:
                states = spoiled(states, known)
            return new.scores_of(np.array([policy.choose(state) for state in states]))

        return choose

    return fit


def random_search(seed: int, n_candidates: int = 20) -> Callable[[Cases], Chooser]:
    """Return what takes the best of random linear policies, at as many episodes as the learner.

    The learner plays each case once by every draw. So many episodes are dealt to the candidates.
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


def soft_actor_critic(seed: int, n_members: int = 4) -> Callable[[Cases], Chooser]:
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
        learner = SoftActorCritic(
            n_random_steps=n_random * n_steps, n_updates=(n_episodes - n_random) * n_steps
        )
        learner.begin(Problem(states.shape[1], (50,), 1, n_actions=n_steps, mu_min=0.0, rng=rng))
        uniform = cases.test["uniform"]
        for number in range(learner.n_rounds):
            case = int(rng.integers(len(cases)))
            (assignment,) = learner.plan(number, [0])
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
            learner.learn([assignment], [Episode(many, actions, rewards, {"valid": score})])
        policy = learner.policy
        return lambda new: new.scores_of(np.array([policy.choose(s) for s in new.states()]))

    return fit
