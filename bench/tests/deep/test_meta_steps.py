"""The gradients of the meta-steps, against finite differences."""

import pytest

torch = pytest.importorskip("torch", reason="the extra deep is not installed")

from metasampler_bench.deep._network import forward, initialise, logistic_losses  # noqa: E402
from metasampler_bench.deep._weightings import (  # noqa: E402
    Batch,
    MetaWeightNet,
    balanced,
    focal,
    hardest,
    learned_by_validation,
    look_ahead,
)

RATE, STEP = 0.3, 1e-6


@pytest.fixture
def problem():
    generator = torch.Generator().manual_seed(0)

    def rows(n):
        X = torch.randn(n, 4, generator=generator, dtype=torch.float64)
        return Batch(X, (X[:, 0] + 0.3 * X[:, 1] > 0).double())

    network = initialise((4, 7, 1), generator, torch.float64)
    return network, rows(9), rows(12), generator


def test_l2rw_weighs_by_the_slope_of_the_loss_ahead(problem):
    network, batch, meta, _ = problem
    epsilon = torch.zeros(9, dtype=torch.float64)
    base = look_ahead(network, batch, meta, epsilon.clone().requires_grad_(), RATE).item()
    # By hand: one step of gradient descent for each row alone.
    slopes = []
    for row in range(9):
        loss = logistic_losses(network, batch.X[row : row + 1], batch.y[row : row + 1]).sum()
        gradients = torch.autograd.grad(loss, network)
        moved = [p - RATE * STEP * g for p, g in zip(network, gradients, strict=True)]
        slopes.append((logistic_losses(moved, *meta).mean().item() - base) / STEP)
    expected = (-torch.tensor(slopes)).clamp(min=0)
    assert (expected > 0).any()
    assert (expected == 0).any()
    weights = learned_by_validation(network, batch, meta, RATE)
    torch.testing.assert_close(weights, expected.double() / expected.sum(), rtol=1e-4, atol=1e-6)
    assert weights.sum().item() == pytest.approx(1)


def test_l2rw_counts_no_row_that_would_hurt(problem):
    network, _, meta, _ = problem
    against = Batch(meta.X, 1 - meta.y)
    kind = learned_by_validation(network, Batch(meta.X, meta.y), meta, RATE)
    assert kind.sum().item() == pytest.approx(1)
    # A batch whose labels are all wrong: what lowers its loss raises that of the meta rows.
    wrong = look_ahead(network, against, meta, torch.full((12,), 0.1).double(), RATE)
    right = look_ahead(network, meta, meta, torch.full((12,), 0.1).double(), RATE)
    assert right.item() < logistic_losses(network, *meta).mean().item() < wrong.item()


def test_the_meta_gradient_of_meta_weight_net(problem):
    network, batch, meta, generator = problem
    weigher = MetaWeightNet(generator, torch.float64)
    loss = weigher.meta_loss(network, batch, meta, RATE)
    gradients = torch.autograd.grad(loss, weigher.parameters)
    for parameter, gradient in zip(weigher.parameters, gradients, strict=True):
        flat, slope = parameter.data.view(-1), gradient.reshape(-1)
        for place in range(0, len(flat), 13):
            kept = flat[place].item()
            sides = []
            for shift in (STEP, -STEP):
                flat[place] = kept + shift
                sides.append(weigher.meta_loss(network, batch, meta, RATE).item())
            flat[place] = kept
            numeric = (sides[0] - sides[1]) / (2 * STEP)
            assert slope[place].item() == pytest.approx(numeric, rel=1e-4, abs=1e-9)
    assert max(g.abs().max().item() for g in gradients) > 0


def test_weights_begin_where_they_can_still_be_learned():
    # A steep start, of a sign that chance decides, gives rows with a large loss no weight at all;
    # if these are the minority nothing brings them back.
    losses = torch.tensor([0.0, 1.0, 2.0, 5.0])
    for seed in range(50):
        weights = MetaWeightNet(torch.Generator().manual_seed(seed))(losses)
        assert weights.min().item() > 0.02
        assert weights.max().item() < 0.98


def test_a_meta_step_lowers_the_loss_ahead(problem):
    network, batch, meta, generator = problem
    weigher = MetaWeightNet(generator, torch.float64)
    before = weigher.meta_loss(network, batch, meta, RATE).item()
    for _ in range(50):
        weigher.improve(network, batch, meta, RATE)
    assert weigher.meta_loss(network, batch, meta, RATE).item() < before


def test_fixed_rules():
    y = torch.tensor([1.0, 0, 0, 0])
    assert balanced(y).tolist() == pytest.approx([2, 2 / 3, 2 / 3, 2 / 3])
    losses = torch.tensor([0.1, 3.0, 0.2, 0.3])
    assert hardest(losses).tolist() == [0, 1, 0, 0]
    expected = [0.25 * (1 - 0.904837) ** 2 * 0.1, 0.75 * (1 - 0.049787) ** 2 * 3]
    assert focal(losses, y)[:2].tolist() == pytest.approx(expected, rel=1e-4)


def test_a_network_is_what_torch_makes_of_its_layers():
    generator = torch.Generator().manual_seed(1)
    parameters = initialise((3, 5, 4, 1), generator)
    X = torch.randn(6, 3, generator=generator)
    layers = []
    for W, b in zip(parameters[::2], parameters[1::2], strict=True):
        layer = torch.nn.Linear(*W.shape)
        layer.weight.data, layer.bias.data = W.data.T.clone(), b.data.clone()
        layers += [layer, torch.nn.ReLU()]
    torch.testing.assert_close(forward(parameters, X), torch.nn.Sequential(*layers[:-1])(X)[:, 0])
