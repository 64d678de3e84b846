"""A network for tables, with a choice of how much each row counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from metasampler_bench.deep._network import (
    forward,
    import_torch,
    initialise,
    logistic_losses,
)
from metasampler_bench.deep._weightings import (
    Batch,
    GradientHarmonising,
    MetaWeightNet,
    balanced,
    focal,
    hardest,
    learned_by_validation,
)

__all__ = ["WEIGHTINGS", "NetworkClassifier"]

#: How much rows count, and what tables call it.
WEIGHTINGS = {
    "none": "all rows alike",
    "balanced": "class weights",
    "focal": "focal loss",
    "ohem": "OHEM",
    "ghm": "gradient harmonising",
    "l2rw": "L2RW",
    "mw-net": "Meta-Weight-Net",
}
_META_LEARNED = ("l2rw", "mw-net")
_MOMENTUM, _DECAY = 0.9, 5e-4
#: Norm that gradients are cut to, for all rules.
_LONGEST_STEP = 1.0
#: How often validation rows are scored in a training.
_N_LOOKS = 20


class NetworkClassifier(ClassifierMixin, BaseEstimator):
    """Multi-layer perceptron for two classes whose rows count by a rule, fixed or learned.

    Columns are standardised. All rules have the same network, steps, batches and optimiser
    (stochastic gradient descent with momentum, gradients cut to a norm of 1, and a rate that falls
    along a cosine), and all of
    them keep the weights that did best on the validation rows. What is learned is learned on
    balanced batches of the same validation rows.

    Parameters
    ----------
    weighting : str, default="none"
        One of ``WEIGHTINGS``: "none", "balanced" (class weights), "focal" (focal loss), "ohem"
        (the hardest quarter of each batch), "ghm" (gradient harmonising), "l2rw" (learning to
        reweight), "mw-net" (Meta-Weight-Net).
    hidden_layer_sizes : tuple of int, default=(100, 100)
        Widths of the hidden layers.
    learning_rate : float, default=0.05
        First step of the optimiser, and the step that learned rules look ahead.
    n_steps : int, default=2000
        Batches to train on.
    batch_size : int, default=256
        Rows of a batch, and of a batch of meta rows.
    validation_fraction : float, default=0.2
        Part of each class that is held out if `fit` gets no validation rows.
    random_state : int, RandomState instance or None, default=None
        Decides all that is random.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The class labels.
    n_features_in_ : int
        Number of columns seen in `fit`.
    validation_scores_ : ndarray
        Average precision on the validation rows, whenever it was looked at.

    Examples
    --------
    >>> from importlib.util import find_spec
    >>> from sklearn.datasets import make_classification
    >>> from metasampler_bench.deep import NetworkClassifier
    >>> X, y = make_classification(400, weights=[0.9], random_state=0)
    >>> network = NetworkClassifier("l2rw", n_steps=20, random_state=0)
    >>> if find_spec("torch") is not None:
    ...     assert network.fit(X, y).predict_proba(X).shape == (400, 2)
    """

    def __init__(
        self,
        weighting="none",
        *,
        hidden_layer_sizes=(100, 100),
        learning_rate=0.05,
        n_steps=2000,
        batch_size=256,
        validation_fraction=0.2,
        random_state=None,
    ):
        self.weighting = weighting
        self.hidden_layer_sizes = hidden_layer_sizes
        self.learning_rate = learning_rate
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def fit(self, X, y, *, X_val=None, y_val=None):
        """Train the network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        X_val, y_val : array-like, default=None
            Validation rows. Without them a part of each class is held out from X.

        Returns
        -------
        self : object
            The fitted network.
        """
        if self.weighting not in WEIGHTINGS:
            raise ValueError(
                f"weighting={self.weighting!r} must be one of {', '.join(WEIGHTINGS)}."
            )
        X, y = validate_data(self, X, y, dtype=np.float32)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            raise ValueError(
                f"Only binary classification is supported: y has {len(self.classes_)} class(es)."
            )
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        if X_val is None:
            X, X_val, codes, val_codes = train_test_split(
                X, codes, test_size=self.validation_fraction, stratify=codes, random_state=seed
            )
        else:
            X_val = validate_data(self, X_val, dtype=np.float32, reset=False)
            val_codes = np.searchsorted(self.classes_, y_val)
        self._mean = X.mean(axis=0)
        self._scale = np.where(X.std(axis=0) > 0, X.std(axis=0), 1).astype(np.float32)
        self._train(X, codes, X_val, val_codes, seed)
        return self

    def _train(self, X: Any, y: Any, X_val: Any, y_val: Any, seed: int) -> None:
        torch = import_torch()
        generator = torch.Generator().manual_seed(seed)
        rows = Batch(self._tensor(X), torch.as_tensor(y, dtype=torch.float32))
        meta = Batch(self._tensor(X_val), torch.as_tensor(y_val, dtype=torch.float32))
        sizes = (X.shape[1], *self.hidden_layer_sizes, 1)
        network = initialise(sizes, generator)
        # Between classes that are nowhere near balanced a start at even odds is a detour.
        if self.weighting == "none":
            share = float(np.clip(np.mean(y), 1e-4, 1 - 1e-4))
            with torch.no_grad():
                network[-1].fill_(np.log(share / (1 - share)))
        optimiser = torch.optim.SGD(
            network,
            lr=self.learning_rate,
            momentum=_MOMENTUM,
            nesterov=True,
            weight_decay=_DECAY,
        )
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, self.n_steps)
        weigher: Any = MetaWeightNet(generator) if self.weighting == "mw-net" else None
        harmonising = GradientHarmonising()
        best, scores = -1.0, []
        class_weights = balanced(rows.y)
        looks = {round(self.n_steps * n / _N_LOOKS) for n in range(1, _N_LOOKS + 1)}
        for step in range(1, self.n_steps + 1):
            chosen = torch.randint(len(rows.y), (self.batch_size,), generator=generator)
            batch = Batch(rows.X[chosen], rows.y[chosen])
            rate = schedule.get_last_lr()[0]
            losses = logistic_losses(network, *batch)
            if self.weighting in _META_LEARNED:
                drawn = _balanced_rows(meta.y, self.batch_size, generator)
                clean = Batch(meta.X[drawn], meta.y[drawn])
            if self.weighting == "none":
                loss = losses.mean()
            elif self.weighting == "balanced":
                loss = (class_weights[chosen] * losses).mean()
            elif self.weighting == "focal":
                loss = focal(losses, batch.y).mean()
            elif self.weighting == "ohem":
                loss = (hardest(losses) * losses).sum()
            elif self.weighting == "ghm":
                loss = (harmonising(losses) * losses).sum()
            elif self.weighting == "l2rw":
                weights = learned_by_validation(network, batch, clean, rate)
                loss = (weights * losses).sum()
            else:
                weigher.improve(network, batch, clean, rate)
                loss = (weigher(losses).detach() * losses).mean()
            optimiser.zero_grad()
            loss.backward()
            # Weights that are learned may rest on one row far out, whose step would end it all.
            torch.nn.utils.clip_grad_norm_(network, _LONGEST_STEP)
            optimiser.step()
            schedule.step()
            if step in looks:
                with torch.no_grad():
                    score = average_precision_score(y_val, forward(network, meta.X).numpy())
                scores.append(float(score))
                if score > best:
                    best = score
                    self._network = [value.detach().clone() for value in network]
        self.validation_scores_ = np.array(scores)
        self._weigher = weigher

    def _tensor(self, X: Any) -> Any:
        torch = import_torch()
        return torch.as_tensor((X - self._mean) / self._scale, dtype=torch.float32)

    def decision_function(self, X):
        """Return the log-odds of the second class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows to classify.

        Returns
        -------
        log_odds : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float32, reset=False)
        with import_torch().no_grad():
            return forward(self._network, self._tensor(X)).numpy().astype(float)

    def predict_proba(self, X):
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows to classify.

        Returns
        -------
        proba : ndarray of shape (n_samples, 2)
        """
        positive = 1 / (1 + np.exp(-np.clip(self.decision_function(X), -500, 500)))
        return np.column_stack([1 - positive, positive])

    def predict(self, X):
        """Return the class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows to classify.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _balanced_rows(y: Any, n: int, generator: Any) -> Any:
    """Draw as many rows of each class, with replacement: the meta rows of both papers."""
    torch = import_torch()
    halves = []
    for label in (0, 1):
        rows = torch.nonzero(y == label)[:, 0]
        halves.append(rows[torch.randint(len(rows), (n // 2,), generator=generator)])
    return torch.cat(halves)
