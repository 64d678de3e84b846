"""Drive the growth loop step by step, as any reinforcement learning library would.

pip install "metasampler[rl]"
python examples/own_policy.py
"""

import numpy as np

from metasampler.datasets import make_imbalanced_digits
from metasampler.meta import EnsembleTrainingEnv


def hard_then_harder(state):
    """Draw harder rows the better the ensemble fits the validation rows."""
    share_of_small_errors = state[5]  # the first bin of the validation half
    return np.array([0.5 + 0.5 * share_of_small_errors])


def main():
    env = EnsembleTrainingEnv(*make_imbalanced_digits(), random_state=0)
    state, info = env.reset(seed=0)
    print(f"1 member: validation score {info['valid_score']:.3f}")
    finished = False
    while not finished:
        action = hard_then_harder(state)
        state, reward, finished, _, info = env.step(action)
        print(
            f"{info['n_members']} members: mu {action[0]:.2f}, reward {reward:+.3f}, "
            f"validation score {info['valid_score']:.3f}"
        )


if __name__ == "__main__":
    main()
