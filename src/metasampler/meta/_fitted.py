"""What a meta-sampler does once it has a policy: act, be stored, be copied."""

import os

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from metasampler.meta._episode import spread_action
from metasampler.meta._files import plain_entries, read_sampler, write_sampler
from metasampler.meta._policy import GaussianPolicy
from metasampler.meta._pretrained import find_sampler
from metasampler.meta._state import StateEncoder

__all__ = ["FittedSampler"]


class FittedSampler(BaseEstimator):
    """Base of the meta-sampler: all that needs a policy, and not where it came from."""

    policy_: GaussianPolicy
    encoder_: StateEncoder
    n_updates_: int
    history_: list
    summary_: dict
    _trained_with: dict

    def __sklearn_is_fitted__(self):
        return hasattr(self, "policy_")

    def __sklearn_clone__(self):
        parameters = self.get_params(deep=False)
        twin = type(self)(**{name: clone(value, safe=False) for name, value in parameters.items()})
        learned = ("policy_", "encoder_", "n_updates_", "history_", "summary_", "_trained_with")
        for name in learned:
            if hasattr(self, name):
                setattr(twin, name, getattr(self, name))
        return twin

    def _training_settings(self) -> dict:
        """The settings that decide what is learned, as far as they can be compared."""
        settings = self.get_params(deep=False)
        for name in ("estimator", "n_jobs", "random_state", "sigma", "verbose", "warm_start"):
            del settings[name]
        return plain_entries(settings)

    def _check_unchanged(self) -> None:
        """Refuse settings that were changed after the fit, and so have had no effect."""
        now = self._training_settings()
        for name, value in self._trained_with.items():
            if now.get(name) != value:
                raise ValueError(
                    f"This MetaSampler was meta-trained with {name}={value!r} and then set to "
                    f"{now.get(name)!r}; fit it again, or pass one that is not fitted."
                )

    def _check_state(self, state):
        check_is_fitted(self)
        state = np.asarray(state, dtype=float)
        if not np.isfinite(state).all():
            raise ValueError(f"A meta-state must hold finite numbers, got {state}.")
        if state.shape != (self.encoder_.size,):
            raise ValueError(
                f"This sampler reads {self.encoder_}, vectors of length {self.encoder_.size}; got "
                f"shape {state.shape}."
            )
        return state

    def predict(self, state):
        """Choose mu for a state by the mean of the policy.

        Parameters
        ----------
        state : array-like of shape (state_size,)
            A meta-state of the kind this sampler was trained on, as `encoder_` gives it.

        Returns
        -------
        mu : float
            In [0, 1].
        """
        state = self._check_state(state)
        return spread_action(self.policy_.predict(state), self.mu_min)

    def sample(self, state, rng):
        """Draw mu for a state from the policy.

        Parameters
        ----------
        state : array-like of shape (state_size,)
            A meta-state of the kind this sampler was trained on.
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        mu : float
            In [0, 1].
        """
        state = self._check_state(state)
        return spread_action(self.policy_.sample(state, rng), self.mu_min)

    def save(self, path, *, history=True):
        """Write the sampler to a file, whole or not at all.

        The file holds the policy, the settings, the history and the summary; not the base
        learner and not a `scoring` that is a callable, of which only the names are kept in
        `summary_`.

        Parameters
        ----------
        path : str or path
            The file, usually called ``*.npz``.
        history : bool, default=True
            Whether to write `history_` too, which may be most of the file.
        """
        check_is_fitted(self)
        settings = self.get_params(deep=False)
        # How it was computed is no part of what it is.
        for name in ("estimator", "n_jobs", "verbose"):
            del settings[name]
        # The kind of state is that of the policy, whatever was set after the fit.
        settings |= {"state": self.encoder_.kind, "n_bins": self.encoder_.n_bins}
        content = {
            "settings": plain_entries(settings),
            "history": self.history_ if history else [],
            "summary": self.summary_,
            "n_updates": self.n_updates_,
        }
        write_sampler(path, self.policy_, content)

    @classmethod
    def load(cls, path_or_name):
        """Read a sampler from a file, or one that comes with the package by its name.

        Parameters
        ----------
        path_or_name : str or path
            A file, or a name; ``metasampler samplers`` lists the names.

        Returns
        -------
        sampler : MetaSampler
            A fitted sampler.
        """
        path = find_sampler(path_or_name)
        policy, content = read_sampler(path)
        try:
            settings = dict(content["settings"])
            settings.pop("n_jobs", None)  # earlier files have them
            settings.pop("verbose", None)
            for name in ("hidden_layer_sizes", "critic_hidden_layer_sizes"):
                settings[name] = tuple(settings[name])
            sampler = cls.from_policy(policy, **settings)
            sampler.history_ = list(content["history"])
            sampler.summary_ = dict(content["summary"])
            sampler.n_updates_ = int(content["n_updates"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"{os.fspath(path)!r} is not a usable sampler file: {error}."
            ) from error
        return sampler

    @classmethod
    def from_policy(cls, policy, **settings):
        """Make a fitted sampler of a policy that was trained elsewhere.

        Parameters
        ----------
        policy : GaussianPolicy
            The policy.
        **settings
            Parameters of `MetaSampler`; `state` and `n_bins` must be those the policy was
            trained with.

        Returns
        -------
        sampler : MetaSampler
            A fitted sampler.

        Examples
        --------
        >>> import numpy as np
        >>> from metasampler.meta import GaussianPolicy, MetaSampler
        >>> policy = GaussianPolicy(10, rng=np.random.default_rng(0))
        >>> sampler = MetaSampler.from_policy(policy, state="all", n_bins=5)
        >>> 0 <= sampler.predict(np.full(10, 0.2)) <= 1
        True
        """
        if not isinstance(policy, GaussianPolicy):
            raise TypeError(f"policy must be a GaussianPolicy, got {policy!r}.")
        settings.setdefault("hidden_layer_sizes", tuple(policy.hidden))
        sampler = cls(**settings)
        sampler._validate_params()
        encoder = StateEncoder(sampler.state, sampler.n_bins)
        if policy.state_size != encoder.size:
            raise ValueError(
                f"The policy reads states of length {policy.state_size}, but {encoder} have length "
                f"{encoder.size}."
            )
        sampler.encoder_ = encoder
        sampler.policy_ = policy
        sampler.n_updates_ = 0
        sampler.history_ = []
        sampler.summary_ = {}
        sampler._trained_with = sampler._training_settings()
        return sampler

    @classmethod
    def from_actor(cls, actor, **settings):
        """Take over the actor that Stable-Baselines3's SAC has trained.

        Parameters
        ----------
        actor : stable_baselines3.sac.policies.Actor
            ``model.policy.actor`` of a SAC model that was trained on an
            :class:`~metasampler.meta.EnsembleTrainingEnv`, with ReLU hidden layers
            (``policy_kwargs={"activation_fn": torch.nn.ReLU}``, the default).
        **settings
            Parameters of `MetaSampler`; `state` and `n_bins` must be those of the environment.

        Returns
        -------
        sampler : MetaSampler
            A fitted sampler that acts as the actor does.
        """
        return cls.from_policy(GaussianPolicy.from_actor(actor), **settings)
