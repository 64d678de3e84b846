"""Loaders of policies and samplers: small networks, and constants."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from metasampler._sklearn_compat import check_parameters
from metasampler.ensemble.fitted_ensembles import Boosters, SelfPacedDraw
from metasampler.growth import GaussianDraw, PowerDraw
from metasampler.meta import FitToConstants, MetaSampler, SoftActorCritic
from metasampler.persistence._estimators import build_parameters, export_estimator, take_columns
from metasampler.persistence._values import Kind, State, attributes, is_plain, is_whole
from metasampler.policy import (
    ConstantPolicy,
    Drawn,
    GaussianPolicy,
    Layers,
    LearnedPolicy,
    StateEncoder,
    UniformPolicy,
    WithRivals,
)

__all__ = ["POLICIES", "is_policy"]

_WIDEST, _MOST_LAYERS, _MOST_BINS = 10_000, 12, 1000


def is_policy(value: Any) -> bool:
    """Return whether this is a policy that a file may hold."""
    known = (ConstantPolicy, Drawn, LearnedPolicy, MetaSampler, UniformPolicy, WithRivals)
    return isinstance(value, known)


# ---------------------------------------------------------------------- rules


def _state_of_rule(state: State) -> np.ndarray | None:
    return state.array("state", "f", "*", none=True)


def _build_gaussian_draw(state: State) -> GaussianDraw:
    mu, sigma = state.number("mu", 0, 1), state.number("sigma", 0, 1e300)
    return GaussianDraw(mu, sigma, _state_of_rule(state))


def _build_power_draw(state: State) -> PowerDraw:
    return PowerDraw(state.number("power", 0, 100), _state_of_rule(state))


def _build_self_paced_draw(state: State) -> SelfPacedDraw:
    alpha = state.number("alpha", 0)
    hardness = state.text("hardness", "absolute", "squared", "cross-entropy")
    return SelfPacedDraw(alpha, hardness, state.whole("k_bins", 1, 10**6))


# ---------------------------------------------------------------------- policies


def _build_state_encoder(state: State) -> StateEncoder:
    # It checks the kind itself.
    return StateEncoder(state.text("kind"), state.whole("n_bins", 1, _MOST_BINS))


def _build_layers(state: State) -> Layers:
    sizes = state.where_true(
        "sizes",
        lambda of: (
            isinstance(of, tuple)
            and 2 <= len(of) <= _MOST_LAYERS
            and all(is_whole(size, 1, _WIDEST) for size in of)
        ),
    )
    if state.any("copies") is not None:
        raise ValueError(f"{state.where} is a stack of networks.")
    n_parameters = sum((n_in + 1) * n_out for n_in, n_out in pairwise(sizes))
    parameters = state.array("parameters", "f", n_parameters, low=-1e30, high=1e30)
    return Layers(sizes, parameters=parameters)


def _build_gaussian_policy(state: State) -> GaussianPolicy:
    network = state.made("network", Layers)
    if network.sizes[-1] != 2:
        raise state.refuse("network", network.sizes)
    policy = GaussianPolicy.__new__(GaussianPolicy)
    policy.network = network
    return policy


def _build_learned(state: State) -> LearnedPolicy:
    # It checks that network and states belong together.
    return LearnedPolicy(
        state.made("actor", GaussianPolicy),
        state.made("encoder", StateEncoder),
        state.number("mu_min", 0, 1),
        state.number("sigma", 0, 1e300),
        state.where_true("_summary", lambda of: isinstance(of, dict) and is_plain(of)),
    )


def _build_constant(state: State) -> ConstantPolicy:
    encoder = state.made("encoder", StateEncoder, none=True)
    return ConstantPolicy(state.number("mu", 0, 1), state.number("sigma", 0, 1e300), encoder)


def _build_drawn(state: State) -> Drawn:
    return Drawn(state.where_true("policy", lambda of: isinstance(of, str) or is_policy(of)))


def _build_with_rivals(state: State) -> WithRivals:
    # It checks the constants itself.
    rivals = state.where_true("rivals", lambda of: isinstance(of, tuple) and len(of) < 1000)
    policy = WithRivals(state.where_true("policy", is_policy), rivals)
    met = state.where_true(
        "rivals_", lambda of: isinstance(of, tuple) and all(mu in rivals for mu in of)
    )
    policy.rivals_, policy.rival_ = met, state.number("rival_", 0, 1, none=True)
    policy._chosen = state.where_true("_chosen", lambda of: of is None or is_policy(of))
    return policy


# ---------------------------------------------------------------------- samplers


def _build_sampler(state: State) -> MetaSampler:
    sampler = build_parameters(state, MetaSampler)
    check_parameters(sampler)
    if "policy_" not in state:
        return sampler
    sampler.policy_ = state.made("policy_", GaussianPolicy)
    sampler.encoder_ = state.made("encoder_", StateEncoder)
    sampler.history_ = state.list("history_", lambda of: isinstance(of, dict) and is_plain(of))
    sampler.n_updates_ = state.whole("n_updates_", 0, 2**53)
    sampler.summary_ = state.where_true(
        "summary_", lambda of: isinstance(of, dict) and is_plain(of)
    )
    vars(sampler).update(take_columns(state))
    # The settings at the time of the fit; those of now may have been changed.
    sampler._trained_with = state.where_true(
        "_trained_with", lambda of: isinstance(of, dict) and {"trainer", "state"} <= of.keys()
    )
    # It checks that policy and states belong together.
    sampler._as_policy()
    return sampler


def _build_boosters(state: State) -> Boosters:
    return Boosters(state.text("recipe"))


def _build_trainer(kind: type) -> Callable[[State], Any]:
    def build(state: State) -> Any:
        trainer = build_parameters(state, kind)
        check_parameters(trainer)
        return trainer

    return build


#: The kinds of this module.
POLICIES = [
    Kind("GaussianDraw", GaussianDraw, attributes, _build_gaussian_draw),
    Kind("PowerDraw", PowerDraw, attributes, _build_power_draw),
    Kind("SelfPacedDraw", SelfPacedDraw, attributes, _build_self_paced_draw),
    Kind("StateEncoder", StateEncoder, attributes, _build_state_encoder),
    Kind("Layers", Layers, Layers.__getstate__, _build_layers),
    Kind("GaussianPolicy", GaussianPolicy, attributes, _build_gaussian_policy),
    Kind("LearnedPolicy", LearnedPolicy, attributes, _build_learned),
    Kind("ConstantPolicy", ConstantPolicy, attributes, _build_constant),
    Kind("UniformPolicy", UniformPolicy, attributes, lambda state: UniformPolicy()),
    Kind("Drawn", Drawn, attributes, _build_drawn),
    Kind("WithRivals", WithRivals, attributes, _build_with_rivals),
    Kind("MetaSampler", MetaSampler, export_estimator, _build_sampler),
    Kind("Boosters", Boosters, export_estimator, _build_boosters),
    *(
        Kind(kind.__name__, kind, export_estimator, _build_trainer(kind))
        for kind in (SoftActorCritic, FitToConstants)
    ),
]
