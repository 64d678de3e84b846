"""
The growth loop as an environment
=================================

`EnsembleTrainingEnv` is a gymnasium environment. It needs the extra ``rl``: in a clone of the
repository, ``pip install ".[rl,plot]"``. The state is a histogram of errors, the action is mu, and
the reward is the gain in validation score. Here we write two policies, and each plays one episode
on handwritten digits. One digit in thirty is an eight.
"""

import matplotlib.pyplot as plt
import numpy as np

from metasampler.datasets import make_imbalanced_digits
from metasampler.meta import EnsembleTrainingEnv


def by_small_errors(state):
    """Return a larger mu if more validation rows have a small error."""
    share_of_small_errors = state[5]  # the first bin of the validation half
    return np.array([0.5 + 0.5 * share_of_small_errors])


def play(env, policy):
    """Return mu and the validation score of each step."""
    state, info = env.reset(seed=0)
    mus, scores, finished = [np.nan], [info["valid_score"]], False
    while not finished:
        action = policy(state)
        state, _, finished, _, info = env.step(action)
        mus.append(float(action[0]))
        scores.append(info["valid_score"])
    return mus, scores


# %%
env = EnsembleTrainingEnv(*make_imbalanced_digits(), random_state=0)
policies = {"our policy": by_small_errors, "constant 0.2": lambda state: np.array([0.2])}
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for name, policy in policies.items():
    mus, scores = play(env, policy)
    axes[0].plot(range(1, len(mus) + 1), mus, "o-", label=name)
    axes[1].plot(range(1, len(scores) + 1), scores, "o-", label=name)
    print(f"{name}: validation score {scores[0]:.3f} after one member, {scores[-1]:.3f} after ten")
axes[0].set(xlabel="member", ylabel="mu", ylim=(0, 1.05))
axes[1].set(xlabel="member", ylabel="validation score")
axes[0].legend(frameon=False)
for ax in axes:
    ax.spines[["top", "right"]].set_visible(False)
