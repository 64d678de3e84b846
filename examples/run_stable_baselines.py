"""
Train with Stable-Baselines3
============================

The environment is a real `gymnasium.Env`, so you can train with any library that supports it. This
program trains the soft actor-critic of Stable-Baselines3 and hands its actor to a classifier. It
needs PyTorch, so this site does not run it; ``make test-rl`` does. In a clone of the repository::

    pip install ".[rl]" torch stable-baselines3
    python examples/run_stable_baselines.py
"""

from stable_baselines3 import SAC

from metasampler import MesaClassifier, MetaSampler
from metasampler.datasets import make_imbalanced_digits
from metasampler.meta import EnsembleTrainingEnv

X, y = make_imbalanced_digits()
env = EnsembleTrainingEnv(X, y, random_state=0)
model = SAC(
    "MlpPolicy",
    env,
    policy_kwargs={"net_arch": {"pi": [50], "qf": [50, 50]}},
    learning_starts=40,
    buffer_size=1000,
    seed=0,
    device="cpu",
)
model.learn(200)

# %%
# Turn the actor into a sampler. The sampler copies its weights, so the classifier needs no PyTorch.
sampler = MetaSampler.from_actor(model.policy.actor, state="all", n_bins=5)
clf = MesaClassifier.from_preset("paper", meta_sampler=sampler, random_state=0).fit(X, y)
print(f"mu of each member: {clf.actions_.round(2)}")
