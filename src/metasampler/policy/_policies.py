"""Policies: what chooses how the rows of the next member are drawn, `policy(growth) -> rule`."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from metasampler.growth import (
    DEFAULT_SIGMA,
    GaussianDraw,
    Growth,
    GrowthData,
    PowerDraw,
    Stream,
    make_draw,
    spread_action,
)
from metasampler.policy._network import GaussianPolicy
from metasampler.policy._state import StateEncoder

__all__ = [
    "ConstantPolicy",
    "Drawn",
    "LearnedPolicy",
    "PowerPolicy",
    "UniformPolicy",
    "WithRivals",
    "blind_policy",
]

# What takes the place of the universal sampler where there are no validation rows: the constant
# that does best on average over imbalanced-learn's 27 data sets.
_BLIND_MU = 0.9


@dataclass(frozen=True)
class ConstantPolicy:
    """Choose the same mu in every state.

    Parameters
    ----------
    mu : float
        In [0, 1].
    sigma : float, default=0.2
        Width of the Gaussian.
    encoder : StateEncoder or None
        Makes the states that are recorded; they decide nothing. None records none.

    Examples
    --------
    >>> from metasampler.policy import ConstantPolicy
    >>> ConstantPolicy(0.9).choose(None)
    0.9
    """

    mu: float
    sigma: float = DEFAULT_SIGMA
    encoder: StateEncoder | None = field(default_factory=StateEncoder, repr=False)

    def __post_init__(self):
        _check_mu(self.mu, "A constant mu must be a number in [0, 1]")

    def choose(self, state) -> float:
        """Return mu."""
        return float(self.mu)

    def sample(self, state, rng: np.random.Generator) -> float:
        """Return mu."""
        return float(self.mu)

    def __call__(self, growth: Growth) -> GaussianDraw:
        """Return the draw of the next member."""
        return GaussianDraw(float(self.mu), self.sigma, _observe(self.encoder, growth))


@dataclass(frozen=True)
class PowerPolicy:
    """Draw rows with weights ``(error + 0.1) ** power`` in every state.

    Parameters
    ----------
    power : float
        At least 0, which draws uniformly.

    Examples
    --------
    >>> from metasampler.policy import PowerPolicy
    >>> PowerPolicy(2.0).choose(None)
    2.0
    """

    power: float

    def __post_init__(self):
        power: Any = self.power
        is_number = isinstance(power, Real) and not isinstance(power, bool)
        if not is_number or not 0 <= float(power) < np.inf:
            raise ValueError(f"A power must be a number of at least 0, got {power!r}.")

    def choose(self, state) -> float:
        """Return the power."""
        return float(self.power)

    def __call__(self, growth: Growth) -> PowerDraw | None:
        """Return the draw of the next member."""
        return make_draw(float(self.power), "power", DEFAULT_SIGMA, None)  # type: ignore[return-value]


@dataclass(frozen=True)
class UniformPolicy:
    """Choose mu uniformly from [0, 1], whatever the state.

    Parameters
    ----------
    sigma : float, default=0.2
        Width of the Gaussian.
    encoder : StateEncoder or None
        Makes the states that are recorded; they decide nothing. None records none.

    Examples
    --------
    >>> import numpy as np
    >>> from metasampler.policy import UniformPolicy
    >>> 0 <= UniformPolicy().sample(None, np.random.default_rng(0)) <= 1
    True
    """

    sigma: float = DEFAULT_SIGMA
    encoder: StateEncoder | None = field(default_factory=StateEncoder, repr=False)

    def choose(self, state) -> float:
        """Return the mean of the uniform distribution."""
        return 0.5

    def sample(self, state, rng: np.random.Generator) -> float:
        """Draw mu."""
        return float(rng.random())

    def __call__(self, growth: Growth) -> GaussianDraw:
        """Return the draw of the next member; mu depends on its number alone."""
        mu = self.sample(None, growth.streams.generator(Stream.POLICY, growth.n_members))
        return GaussianDraw(mu, self.sigma, _observe(self.encoder, growth))


class LearnedPolicy:
    """Choose how to draw by an actor that reads the state of the ensemble.

    It acts by the mean of the actor, which scores the same as a draw and can be repeated; for
    draws see :class:`Drawn`.

    Parameters
    ----------
    actor : GaussianPolicy
        The network; it is copied, so that nothing outside changes what this policy does.
    encoder : StateEncoder
        What the actor reads: the kind of state it was trained on.
    mu_min : float, default=0.0
        The mu of action 0; that of action 1 is 1.
    sigma : float, default=0.2
        Width of the Gaussian.
    summary : dict, default=None
        How the actor was trained.

    Examples
    --------
    >>> import numpy as np
    >>> from metasampler.policy import GaussianPolicy, LearnedPolicy, StateEncoder
    >>> actor = GaussianPolicy(10, rng=np.random.default_rng(0))
    >>> policy = LearnedPolicy(actor, StateEncoder("all", n_bins=5), mu_min=0.4)
    >>> 0.4 <= policy.choose(np.full(10, 0.2)) <= 1
    True
    """

    def __init__(
        self,
        actor: GaussianPolicy,
        encoder: StateEncoder,
        mu_min: float = 0.0,
        sigma: float = DEFAULT_SIGMA,
        summary: dict[str, Any] | None = None,
    ):
        if not isinstance(actor, GaussianPolicy):
            raise TypeError(f"The actor must be a GaussianPolicy, got {actor!r}.")
        if actor.state_size != encoder.size:
            raise ValueError(
                f"The policy reads states of length {actor.state_size}, but {encoder} have length "
                f"{encoder.size}."
            )
        # A copy of all arrays.
        self.actor = GaussianPolicy.from_layers(*zip(*actor.layers, strict=True))
        self.encoder = encoder
        self.mu_min = mu_min
        self.sigma = sigma
        self._summary = {} if summary is None else summary

    def __repr__(self):
        if self.action == "power":
            return f"LearnedPolicy({self.encoder})"
        return f"LearnedPolicy({self.encoder}, mu_min={self.mu_min}, sigma={self.sigma})"

    @property
    def action(self) -> str:
        """Return what it chooses, which its states tell: ``"mu"`` or ``"power"``."""
        return self.encoder.action

    @property
    def reads_validation_rows(self) -> bool:
        """Return whether it needs validation rows; of the signal scouts make a guess without."""
        return self.encoder.kind != "signal"

    @property
    def summary(self) -> dict[str, Any]:
        """Return how the actor was trained, as a copy."""
        return copy.deepcopy(self._summary)

    def choose(self, state) -> float:
        """Choose mu, or the power, for a state by the mean of the actor.

        Parameters
        ----------
        state : array-like of shape (state_size,)
            A meta-state, as `encoder` gives it.

        Returns
        -------
        value : float
            A mu in [mu_min, 1], or a power in [0, 6].
        """
        action = self.actor.choose(self._check_state(state))
        return spread_action(action, self.mu_min, self.action)

    def sample(self, state, rng: np.random.Generator) -> float:
        """Draw mu, or the power, for a state from the actor.

        Parameters
        ----------
        state : array-like of shape (state_size,)
            A meta-state, as `encoder` gives it.
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        value : float
            A mu in [mu_min, 1], or a power in [0, 6].
        """
        action = self.actor.sample(self._check_state(state), rng)
        return spread_action(action, self.mu_min, self.action)

    def __call__(self, growth: Growth) -> GaussianDraw | PowerDraw | None:
        """Return the draw of the next member."""
        state = _observe(self.encoder, growth)
        if state is None:
            raise ValueError(
                "A learned policy reads errors of validation rows: pass X_val and y_val, or a "
                "validation_fraction."
            )
        kind = self.encoder.action
        value = spread_action(self.actor.choose(state), self.mu_min, kind)
        return make_draw(value, kind, self.sigma, state)

    def _check_state(self, state) -> np.ndarray:
        state = np.asarray(state, dtype=float)
        if not np.isfinite(state).all():
            raise ValueError(f"A meta-state must hold finite numbers, got {state}.")
        if state.shape != (self.encoder.size,):
            raise ValueError(
                f"This sampler reads {self.encoder}, vectors of length {self.encoder.size}; got "
                f"shape {state.shape}."
            )
        return state


class _Around:
    """A policy around another one, whose states and draws are its own."""

    policy: Any

    @property
    def sigma(self) -> float:
        """Return the width of the Gaussian, which is that of the policy."""
        return self.policy.sigma

    @property
    def encoder(self) -> StateEncoder:
        """Return what makes the states."""
        return self.policy.encoder


@dataclass(frozen=True)
class Drawn(_Around):
    """Act by draws of a policy, as Algorithm 2 does, and not by its mean.

    The mean can be repeated, and trained policies score the same by it. A policy that has learned
    nothing has a mean near the middle in every state; its draws cover all mu.

    Parameters
    ----------
    policy : MetaSampler, policy, str or path
        What has a distribution over mu; also all names that
        :class:`~metasampler.MesaClassifier` takes as its `meta_sampler`, as ``"fit"``.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from metasampler import MesaClassifier
    >>> from metasampler.policy import Drawn
    >>> X, y = make_classification(600, weights=[0.9], random_state=0)
    >>> clf = MesaClassifier(
    ...     DecisionTreeClassifier(), 5, meta_sampler=Drawn("mammography"), random_state=0
    ... )
    >>> clf.fit(X, y).actions_.shape
    (4,)
    """

    policy: Any

    @property
    def reads_validation_rows(self) -> bool:
        """Return whether the policy needs validation rows."""
        return getattr(self.policy, "reads_validation_rows", False)

    def __call__(self, growth: Growth) -> GaussianDraw | PowerDraw | None:
        """Return the draw of the next member."""
        # A fitted sampler looks whether its settings were changed, and is one once it has.
        policy = self.policy.as_policy() if hasattr(self.policy, "as_policy") else self.policy
        state = _observe(policy.encoder, growth)
        rng = growth.streams.generator(Stream.POLICY, growth.n_members)
        action = getattr(policy, "action", "mu")
        return make_draw(policy.sample(state, rng), action, policy.sigma, state)


class WithRivals(_Around):
    """Let constants take a policy's place if they are clearly better on the validation rows.

    A policy that was learned on other data may be wrong for this data. Where the validation rows
    are many, they show it after ten members. So one ensemble is begun by the policy and one by each
    constant, and the best is grown on. A constant replaces the policy if its score is larger by
    half of ``sqrt(score * (1 - score) / n)``, the standard error of a share of the n validation
    rows of the smallest class (by anything, for scores outside of [0, 1]). This takes nine member
    fits a rival and is not part of the paper.

    Parameters
    ----------
    policy : policy
        What has to be beaten.
    rivals : sequence of float, default=(0.5, 1.0)
        The constants. The default ones are met only where the validation rows hold at least 30 of
        every class: the scores of fewer say more of these rows than of the draws.

    Attributes
    ----------
    rivals_ : tuple of float
        The constants that were met, possibly none.
    rival_ : float or None
        The constant that replaces the policy; None if the policy stays.

    Notes
    -----
    What was chosen is kept: an object serves one fit, and a copy the next.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from metasampler import MesaClassifier
    >>> from metasampler.policy import ConstantPolicy, WithRivals
    >>> X, y = make_classification(
    ...     2000, 8, n_informative=4, weights=[0.9], class_sep=0.6, flip_y=0.1, random_state=3
    ... )
    >>> policy = WithRivals(ConstantPolicy(0.0), rivals=[0.9])
    >>> tree = DecisionTreeClassifier()
    >>> clf = MesaClassifier(tree, 12, meta_sampler=policy, random_state=0).fit(X, y)
    >>> clf.rival_, float(clf.actions_[0])
    (0.9, 0.9)
    """

    #: A gentle draw and the hardest. The number of members and the margin below were chosen with
    #: these, in the study of rivals.
    DEFAULT = (0.5, 1.0)

    _FEWEST_ROWS = 30
    _N_MEMBERS = 10
    # What is learned is worth more than a difference that may be chance.
    _MARGIN = 0.5

    def __init__(self, policy, rivals: Sequence[float] = DEFAULT):
        for mu in rivals:
            _check_mu(mu, "rivals must be numbers in [0, 1]")
        self.policy = policy
        self.rivals = tuple(float(mu) for mu in rivals)
        self.rivals_: tuple[float, ...] = ()
        self.rival_: float | None = None
        self._chosen: Any = None

    def __repr__(self):
        return f"WithRivals({self.policy!r}, rivals={self.rivals})"

    @property
    def reads_validation_rows(self) -> bool:
        """Return whether the policy needs validation rows, or rivals that were asked for do."""
        asked_for = bool(self.rivals) and self.rivals != self.DEFAULT
        return asked_for or getattr(self.policy, "reads_validation_rows", False)

    def __call__(self, growth: Growth) -> GaussianDraw:
        """Return the draw of the next member.

        The first call is the one that compares: `growth`, of one member, comes out of it with as
        many members as it takes to choose.
        """
        if self._chosen is None:
            self._chosen = self._choose(growth)
        return self._chosen(growth)

    def _choose(self, growth: Growth):
        """Return what grows on, after `growth` has become the ensemble that it has begun."""
        if growth.n_members == 1:
            self.rivals_ = self._to_meet(growth.data)
        if not self.rivals_:
            return self.policy
        constants = [ConstantPolicy(mu, self.sigma, self.encoder) for mu in self.rivals_]
        begun = [self._begin(growth, policy) for policy in (self.policy, *constants)]
        own, *others = np.array([twin.steps[-1].score for twin in begun], dtype=float)
        best = int(np.argmax(others))
        if others[best] - own <= self._MARGIN * _standard_error(own, growth.data):
            growth.adopt(begun[0])
            return self.policy
        growth.adopt(begun[best + 1])
        self.rival_ = self.rivals_[best]
        return constants[best]

    def _to_meet(self, data: GrowthData) -> tuple[float, ...]:
        """Return the rivals that the validation rows can judge."""
        is_default = self.rivals == self.DEFAULT
        if not data.has_validation:
            if is_default or not self.rivals:
                return ()
            raise ValueError(
                f"rivals={self.rivals} needs validation rows to choose by: pass X_val and y_val, "
                "or a validation_fraction."
            )
        counts = data.role_counts("valid")
        return () if is_default and counts.min() < self._FEWEST_ROWS else self.rivals

    def _begin(self, growth: Growth, policy) -> Growth:
        # The first member depends on no mu: all share it.
        twin = growth.fork()
        twin.run(policy, self._N_MEMBERS)
        return twin


def blind_policy() -> ConstantPolicy:
    """Return what takes the universal sampler's place where there are no validation rows."""
    return ConstantPolicy(_BLIND_MU)


def _observe(encoder: StateEncoder | None, growth: Growth) -> np.ndarray | None:
    """Return the state of an ensemble, or None without validation rows or encoder."""
    if encoder is None or not (growth.data.has_validation or encoder.kind == "signal"):
        return None
    return encoder(growth)


def _standard_error(score: float, data: GrowthData) -> float:
    """Return that of a share of the positives among the validation rows; 0 outside of [0, 1]."""
    n_positives = int(data.role_counts("valid")[data.minority])
    return float(np.sqrt(max(score * (1 - score), 0.0) / max(n_positives, 1)))


def _check_mu(mu: Any, rule: str) -> None:
    if not isinstance(mu, Real) or isinstance(mu, bool) or not 0 <= float(mu) <= 1:
        raise ValueError(f"{rule}, got {mu!r}.")
