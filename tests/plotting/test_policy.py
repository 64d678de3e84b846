"""Pictures of what a policy does over the states."""

import numpy as np
import pytest
from matplotlib import pyplot as plt

from metasampler import MetaSampler
from metasampler.plotting import PolicyDisplay
from metasampler.policy import load_policy, signal_state


def test_a_line_says_what_is_chosen(covered):
    sampler = MetaSampler.load("boosters")
    display = PolicyDisplay.from_samplers({"boosters": sampler, "again": load_policy("boosters")})
    line = display.lines_["boosters"]
    signals, powers = line.get_xdata(), line.get_ydata()
    np.testing.assert_allclose(powers, [sampler.choose(signal_state(s)) for s in signals])
    np.testing.assert_array_equal(powers, display.lines_["again"].get_ydata())
    assert (np.diff(powers) > 0).all()
    assert display.ax_.get_xlabel() == "signal"
    assert display.ax_.get_ylabel() == "power"
    assert not covered(display.figure_)
    plt.close(display.figure_)


def test_states_can_be_passed():
    policy = load_policy("universal")
    states = np.linspace(-1, 1, 5)[:, np.newaxis] * np.ones(15)
    display = PolicyDisplay.from_sampler(policy, states=states, varies="all numbers", name="mine")
    assert display.lines_["mine"].get_ydata().tolist() == [policy.choose(s) for s in states]
    assert display.ax_.get_ylabel() == "mu"
    plt.close(display.figure_)


def test_what_cannot_be_drawn():
    with pytest.raises(ValueError, match="states must be passed for samplers that read states"):
        PolicyDisplay.from_sampler(load_policy("universal"))
    two = {"one": load_policy("universal"), "other": load_policy("boosters")}
    with pytest.raises(ValueError, match="must read states of one kind"):
        PolicyDisplay.from_samplers(two)
