"""The growth loop as a reinforcement learning environment, for trainers other than ours."""

from typing import Any

import numpy as np

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as error:  # pragma: no cover - the suite has gymnasium
    raise ImportError(
        "EnsembleTrainingEnv needs gymnasium; install it with pip install 'metasampler[rl]'."
    ) from error

from metasampler.growth import (
    GaussianDraw,
    Growth,
    RandomStreams,
    Stream,
    resolve_estimators,
    spread_action,
)
from metasampler.meta._sampler import MetaSampler
from metasampler.meta._training import Task
from metasampler.policy import StateEncoder

#: What a MetaSampler and an episode have in common; the rest is for the training.
_SETTINGS = {
    *("estimator", "n_estimators", "sigma", "mu_min", "sampling_ratio", "state", "n_bins"),
    *("validation_fraction", "scoring", "random_state"),
}


class EnsembleTrainingEnv(gymnasium.Env):
    """Grow an ensemble; the action is the mu of the next member's draw.

    An episode has ``n_estimators - 1`` steps. It ends because the ensemble is finished, so the
    end is a true one: ``terminated``, never ``truncated``. The reward is the change of the
    validation score. `info` has the number of members and the score on the rows in each role.

    Parameters
    ----------
    X, y : table and array-like
        Training rows.
    X_val, y_val : table and array-like, default=None
        Validation rows. Without them a share of X is held out.
    X_test, y_test : table and array-like, default=None
        Rows that are scored for `info` only.
    **settings
        Parameters of :class:`~metasampler.MetaSampler` that say what an episode is like:
        `estimator`, `n_estimators`, `sigma`, `mu_min`, `sampling_ratio`, `state`, `n_bins`,
        `validation_fraction`, `scoring` and `random_state`, which is the seed of the hold-out, and
        of the episodes until `reset` gets a seed.

    Attributes
    ----------
    action_space : Box(0, 1, (1,))
        The error that the draw favours: 0 means `mu_min`, and 1 means 1.
    observation_space : Box(0, 1, (state_size,))
        The meta-state; a summary may be as low as -1.

    See Also
    --------
    MetaSampler.from_actor : Takes over a policy that was trained on this environment.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from metasampler.meta import EnsembleTrainingEnv
    >>> X, y = make_classification(600, weights=[0.9], random_state=0)
    >>> env = EnsembleTrainingEnv(X, y, n_estimators=3, random_state=0)
    >>> state, info = env.reset(seed=0)
    >>> state, reward, terminated, truncated, info = env.step([0.9])
    >>> state.shape, terminated, sorted(info)
    ((10,), False, ['n_members', 'train_score', 'valid_score'])
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, X, y, X_val=None, y_val=None, X_test=None, y_test=None, **settings):
        unknown = sorted(settings.keys() - _SETTINGS)
        if unknown:
            raise TypeError(f"EnsembleTrainingEnv has no setting {', '.join(map(repr, unknown))}.")
        self.settings = sampler = MetaSampler(**settings)
        sampler._check_parameters()
        self.encoder = StateEncoder(sampler.state, sampler.n_bins)
        self._streams = RandomStreams.from_random_state(sampler.random_state)
        task = Task(X, y, X_val, y_val, X_test, y_test)
        estimator = resolve_estimators(sampler.estimator)
        self._data, self._trainer = sampler._prepare(estimator, task, self._streams, owner=self)
        self._episode = 0
        self._growth: Growth | None = None
        self._score = 0.0
        self.action_space = spaces.Box(0.0, 1.0, (1,), np.float32)
        self.observation_space = spaces.Box(self.encoder.low, 1.0, (self.encoder.size,), np.float32)

    def reset(self, *, seed=None, options=None):
        """Start a new ensemble with a uniformly drawn member; return its state and `info`.

        With a seed the episodes from here on are those of every reset with this seed.
        """
        super().reset(seed=seed)
        if seed is not None:
            self._streams = RandomStreams(seed)
            self._episode = 0
        streams = self._streams.child(Stream.EPISODE, self._episode)
        self._episode += 1
        self._growth = Growth(self._data, self._trainer, streams)
        self._growth.step()
        return self._look()

    def step(self, action):
        """Grow the ensemble by one member; return state, reward and so on, as gymnasium has it."""
        settings = self.settings
        if self._growth is None or self._growth.n_members >= settings.n_estimators:
            raise RuntimeError("The ensemble is finished or was never started; call reset().")
        chosen = float(np.asarray(action, dtype=float).reshape(-1)[0])
        if not np.isfinite(chosen):
            raise ValueError(f"action must be a number in [0, 1], got {action!r}.")
        mu = spread_action(min(max(chosen, 0.0), 1.0), settings.mu_min)
        rule: Any = GaussianDraw(mu, settings.sigma)
        self._growth.step(rule)
        before = self._score
        state, info = self._look()
        terminated = info["n_members"] == settings.n_estimators
        return state, self._score - before, terminated, False, info

    def _look(self):
        """Return the state and `info`, and keep the score that the next reward is a change of."""
        growth: Any = self._growth
        scores = {f"{role}_score": growth.score(role) for role in self._data.roles}
        self._score = scores["valid_score"]
        state = self.encoder(growth).astype(np.float32)
        return state, {"n_members": growth.n_members, **scores}
