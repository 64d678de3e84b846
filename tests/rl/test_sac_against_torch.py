"""The hand-written gradients and optimiser against PyTorch, on equal weights, batch and noise."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from agents import make_agent  # noqa: E402


def random_sac(hidden):
    rng = np.random.default_rng(0)
    constants = {"critic_hidden": hidden, "batch_size": 16}
    sac = make_agent(6, hidden=hidden, constants=constants, rng=rng, dtype=np.float64)
    for i in range(50):
        state, next_state = rng.random((2, 6))
        sac.memory.add(state, rng.random(), 3 * rng.normal(), next_state, i % 9 == 8)
    return sac


def tensors(layers):
    """Return leaf tensors of weights and biases, in the order of the layers."""
    return [
        torch.tensor(part.copy(), requires_grad=True)
        for layer in layers
        for part in (layer[:-1], layer[-1])
    ]


def flat(parts, attribute=None):
    arrays = [getattr(p, attribute) if attribute else p for p in parts]
    return np.concatenate([a.detach().numpy().ravel() for a in arrays])


def network(parts, x):
    for weights, biases in zip(parts[:-2:2], parts[1:-2:2], strict=True):
        x = torch.relu(x @ weights + biases)
    return x @ parts[-2] + parts[-1]


class TorchSAC:
    """The same algorithm as a reader of the paper would write it in PyTorch."""

    def __init__(self, sac):
        self.agent, self.settings = sac, sac.settings
        self.policy = tensors(sac.policy.network.layers)
        self.critics = [tensors([w[k] for w in sac.critics.layers]) for k in range(2)]
        self.targets = [tensors([w[k] for w in sac.target_critics.layers]) for k in range(2)]
        learned = [*self.policy, *self.critics[0], *self.critics[1]]
        self.optimiser = torch.optim.Adam(learned, lr=self.settings.learning_rate, eps=1e-8)
        self.scheduler = torch.optim.lr_scheduler.StepLR(
            self.optimiser, sac.decay_steps, self.settings.lr_decay
        )

    def draw(self, states, noise):
        mean, log_std = network(self.policy, states).unbind(1)
        scale = torch.exp(log_std.clamp(-20, 2))
        squash = torch.distributions.transforms.TanhTransform(cache_size=1)
        to_unit = torch.distributions.transforms.AffineTransform(0.5, 0.5)
        density = torch.distributions.TransformedDistribution(
            torch.distributions.Normal(mean, scale), [squash, to_unit], validate_args=False
        )
        action = to_unit(squash(mean + scale * noise))
        return action, density.log_prob(action)

    def value(self, critics, states, actions):
        x = torch.cat((states, actions[:, None]), 1)
        return [network(critic, x)[:, 0] for critic in critics]

    def backward(self, batch, noise):
        state, action, reward, next_state, done = (torch.tensor(a.copy()) for a in batch)
        noise, next_noise = torch.tensor(noise).chunk(2)
        alpha = self.agent.alpha
        with torch.no_grad():
            next_action, next_log_prob = self.draw(next_state, next_noise)
            future = torch.min(*self.value(self.targets, next_state, next_action))
            future = future - alpha * next_log_prob
            target = reward + self.settings.gamma * (1 - done) * future
        self.optimiser.zero_grad()
        drawn, log_prob = self.draw(state, noise)
        smaller = torch.min(*self.value(self.critics, state, drawn))
        (alpha * log_prob - smaller).mean().backward(inputs=self.policy)
        errors = [(q - target) ** 2 for q in self.value(self.critics, state, action)]
        (errors[0].mean() + errors[1].mean()).backward()

    def update(self, batch, noise):
        self.backward(batch, noise)
        self.optimiser.step()
        self.scheduler.step()
        with torch.no_grad():
            for critic, target in zip(self.critics, self.targets, strict=True):
                for source, destination in zip(critic, target, strict=True):
                    destination.lerp_(source, self.agent.tau)


def in_our_order(pair, attribute=None):
    """Return the parameters of two torch critics in the layout of the stack, layer by layer."""
    chunks = []
    for i in range(0, len(pair[0]), 2):
        for critic in pair:
            chunks.append(flat(critic[i : i + 2], attribute))
    return np.concatenate(chunks)


@pytest.mark.parametrize("hidden", [(50,), (7,), (5, 5, 5), (50, 50)])
def test_gradients(hidden):
    sac = random_sac(hidden)
    reference = TorchSAC(sac)
    batch = sac.memory.sample(16, sac.rng)
    noise = sac.rng.standard_normal(32)
    sac.compute_gradients(batch, noise)
    reference.backward(batch, noise)
    np.testing.assert_allclose(
        sac.critics.gradient, in_our_order(reference.critics, "grad"), rtol=1e-6, atol=1e-12
    )
    np.testing.assert_allclose(
        sac.actor.network.gradient, flat(reference.policy, "grad"), rtol=1e-6, atol=1e-12
    )


@pytest.mark.parametrize("hidden", [(50,), (5, 5, 5)])
def test_thirty_updates(hidden):
    sac = random_sac(hidden)
    reference = TorchSAC(sac)
    for _ in range(30):
        batch = sac.memory.sample(16, sac.rng)
        noise = sac.rng.standard_normal(32)
        sac.learn(batch, noise)
        reference.update(batch, noise)
    tolerance = {"rtol": 1e-6, "atol": 1e-9}
    np.testing.assert_allclose(sac.policy.parameters, flat(reference.policy), **tolerance)
    for ours, theirs in ((sac.critics, reference.critics), (sac.target_critics, reference.targets)):
        np.testing.assert_allclose(ours.parameters, in_our_order(theirs), **tolerance)
