"""What a meta-sampler does once it has a policy: act, be stored, be copied."""

import copy
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from metasampler.growth import GaussianDraw, Growth, PowerDraw
from metasampler.meta._constants import FitToConstants
from metasampler.meta._learners import SoftActorCritic
from metasampler.policy import (
    GaussianPolicy,
    LearnedPolicy,
    StateEncoder,
    find_sampler,
    read_sampler,
    write_sampler,
)

#: The learners, by the name that a file has for them.
_LEARNERS = {kind.__name__: kind for kind in (SoftActorCritic, FitToConstants)}

# How a sampler was computed is no part of what it is.
_NOT_STORED = ("estimator", "n_jobs", "verbose")

# What may be changed after a fit.
_FREE = ("random_state", "sigma")


class FittedSampler(BaseEstimator):
    """Do all that needs a policy, wherever it came from."""

    def __sklearn_is_fitted__(self):
        return hasattr(self, "policy_")

    def __sklearn_clone__(self):
        twin = super().__sklearn_clone__()
        for name, value in vars(self).items():
            if not hasattr(twin, name):
                # What may be changed in place is the clone's own. Entries of a history are not.
                copied = copy.deepcopy(value) if name == "policy_" else copy.copy(value)
                setattr(twin, name, copied)
        return twin

    # ------------------------------------------------------------------ acting

    def as_policy(self) -> LearnedPolicy:
        """Return what chooses mu in a fit, with a copy of what was learned.

        A setting that was changed after the fit is a ValueError: it has had no effect.

        Examples
        --------
        >>> from metasampler.meta import MetaSampler
        >>> MetaSampler.load("universal").as_policy()
        LearnedPolicy(states of kind 'summary', mu_min=0.4, sigma=0.2)
        """
        policy = self._as_policy()
        then, now = plain_settings(self._trained_with), plain_settings(self.get_params())
        for name, value in then.items():
            if name not in _FREE and now.get(name, value) != value:
                raise ValueError(
                    f"This MetaSampler was meta-trained with {name}={value!r} and then set to "
                    f"{now[name]!r}; fit it again, or pass one that is not fitted."
                )
        return policy

    def _as_policy(self) -> LearnedPolicy:
        check_is_fitted(self)
        return LearnedPolicy(self.policy_, self.encoder_, self.mu_min, self.sigma, self.summary_)

    @property
    def reads_validation_rows(self) -> bool:
        """Return whether it needs validation rows to choose by, fitted or not."""
        return self.state != "signal"

    @property
    def encoder(self) -> StateEncoder:
        """Return `encoder_`, under the name that policies have for it."""
        return self.encoder_

    def __call__(self, growth: Growth) -> GaussianDraw | PowerDraw | None:
        """Return the draw of the next member: a fitted sampler is a policy."""
        # Whether settings were changed is looked at once a fit.
        policy = self.as_policy() if growth.n_members == 1 else self._as_policy()
        return policy(growth)

    def choose(self, state):
        """Return the mu in [mu_min, 1], or the power in [0, 6], for a state of `encoder_`.

        It is not called `predict`: a sampler predicts nothing of the rows it was fitted on.
        """
        return self._as_policy().choose(state)

    def sample(self, state, rng):
        """Draw mu, or the power, for a state of `encoder_`, by a `numpy.random.Generator`."""
        return self._as_policy().sample(state, rng)

    # ------------------------------------------------------------------ files

    def save(self, path, *, history=True):
        """Write the sampler to a file, whole or not at all.

        The file holds the policy, the settings, the history and the summary. It does not hold the
        base learner, nor a callable `scoring`: `summary_` keeps only their names.

        Parameters
        ----------
        path : str or path
            The file, usually called ``*.npz``.
        history : bool, default=True
            Whether to write `history_` too, which may be most of the file.
        """
        check_is_fitted(self)
        settings = {
            **self.get_params(deep=False),
            # The kind of state is that of the policy, whatever was set after the fit.
            "state": self.encoder_.kind,
            "n_bins": self.encoder_.n_bins,
            "hidden_layer_sizes": self.policy_.hidden,
        }
        settings = _plain_entries({n: v for n, v in settings.items() if n not in _NOT_STORED})
        name = type(self.learner).__name__
        if name in _LEARNERS:
            params = _plain_entries(self.learner.get_params())
            settings["learner"] = {"name": name, "params": params}
        content = {
            "settings": settings,
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
        policy, content = read_sampler(find_sampler(path_or_name))
        settings = content["settings"]
        learner = settings["learner"]
        if learner is not None:
            settings["learner"] = _LEARNERS[learner["name"]](**learner["params"])
        sampler = cls.from_policy(policy.actor, **settings)
        sampler.history_ = content["history"]
        sampler.summary_ = content["summary"]
        sampler.n_updates_ = content["n_updates"]
        return sampler

    @classmethod
    def from_policy(cls, policy, **settings):
        """Make a fitted sampler of a policy that was trained elsewhere.

        Parameters
        ----------
        policy : GaussianPolicy
            The policy; it is copied.
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
        >>> 0 <= sampler.choose(np.full(10, 0.2)) <= 1
        True
        """
        if not isinstance(policy, GaussianPolicy):
            raise TypeError(f"policy must be a GaussianPolicy, got {policy!r}.")
        settings.setdefault("hidden_layer_sizes", tuple(policy.hidden))
        sampler = cls(**settings)
        sampler._validate_params()
        # It checks that policy and states belong together.
        learned = LearnedPolicy(policy, StateEncoder(sampler.state, sampler.n_bins))
        sampler.policy_, sampler.encoder_ = learned.actor, learned.encoder
        sampler.n_updates_ = 0
        sampler.history_ = []
        sampler.summary_ = {}
        sampler._trained_with = sampler.get_params()
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
        # Nothing of torch is imported: a layer is known by the arrays it has.
        if not hasattr(actor.log_std, "weight"):
            raise ValueError("The actor's log_std must be a layer; use_sde=True is not supported.")
        linear = [layer for layer in actor.latent_pi if hasattr(layer, "weight")]
        other = {type(layer).__name__ for layer in actor.latent_pi if layer not in linear}
        if other - {"ReLU"}:
            raise ValueError(f"The actor's hidden layers must be ReLU, got {sorted(other)}.")
        layers = [*linear, actor.mu, actor.log_std]
        weights = [layer.weight.detach().cpu().numpy().T for layer in layers]
        biases = [layer.bias.detach().cpu().numpy() for layer in layers]
        weights[-2:], biases[-2:] = [np.hstack(weights[-2:])], [np.hstack(biases[-2:])]
        return cls.from_policy(GaussianPolicy.from_layers(weights, biases), **settings)


def plain_settings(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `get_params` gave as far as it decides the result and can be compared.

    The learner is named, and its settings are there by ``learner__`` names, also the default one's.
    """
    learner = SoftActorCritic() if params["learner"] is None else params["learner"]
    settings = {f"learner__{name}": value for name, value in learner.get_params().items()}
    settings |= {
        name: value for name, value in params.items() if name.split("__")[0] != "estimator"
    }
    settings["learner"] = type(learner).__name__
    return {n: value for n, value in _plain_entries(settings).items() if n not in _NOT_STORED}


def _plain_entries(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries that JSON can hold; a callable or a RandomState is left out."""
    plain = {}
    for name, value in entries.items():
        # Of what JSON does not know, NumPy's numbers and arrays have a plain form.
        with suppress(AttributeError, TypeError):
            plain[name] = json.loads(json.dumps(value, default=lambda other: other.tolist()))
    return plain
