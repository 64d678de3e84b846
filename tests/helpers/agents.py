"""Agents of soft actor-critic without a training around them."""

import numpy as np

from metasampler.meta import SoftActorCritic
from metasampler.meta._sac import SAC
from metasampler.policy import GaussianPolicy


def make_agent(state_size, *, rng, hidden=(50,), dtype=np.float32, constants=None, **settings):
    """Return an agent with a random policy; ``constants`` are other ones than usual."""
    policy = GaussianPolicy(state_size, hidden, rng=rng, dtype=dtype)
    kind = type("Agent", (SAC,), constants) if constants else SAC
    return kind(SoftActorCritic(**settings), policy, rng)
