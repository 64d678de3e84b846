"""Tasks made at random: of many sizes, imbalances and kinds of overlap, with many rows to test on.

Real data sets that no benchmark tests on are mostly small. These can be as large and as imbalanced
as one likes, and their test sets large enough to see differences of a thousandth.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.tree import DecisionTreeRegressor

KINDS = ("tail", "rules", "blobs", "islands", "words", "categories")

# Rows to train and validate on, and to test on, at the most.
_MOST_ROWS, _MOST_TEST_ROWS = 30_000, 25_000


@dataclass(frozen=True)
class RandomTask:
    """One task; its rows are drawn anew by `draw`.

    In "tail" and "rules" the minority are the rows with the largest values of a smooth function or
    of a tree, with noise; in the other kinds rows belong to hidden groups, and these to a class.
    """

    kind: str
    n_features: int
    n_minority: int
    ratio: float
    n_groups: int
    contrast: float
    noise: float
    flipped: float
    seed: int

    @classmethod
    def number(cls, number: int) -> "RandomTask":
        """Return the task with this number; they differ in everything."""
        rng = np.random.default_rng([77, number])

        def spread(low, high):
            return float(np.exp(rng.uniform(np.log(low), np.log(high))))

        ratio = spread(3, 130)
        return cls(
            kind=KINDS[number % len(KINDS)],
            n_features=round(spread(4, 100)),
            n_minority=round(min(spread(160, 1500), _MOST_ROWS / (1 + ratio))),
            ratio=ratio,
            n_groups=int(rng.integers(4, 40)),
            contrast=spread(0.5, 3),
            noise=float(rng.choice([0, 0.1, 0.3, 0.6])),
            flipped=float(rng.choice([0, 0, 0, 0, 0.1, 0.25, 0.4])),
            seed=int(rng.integers(1 << 30)),
        )

    def draw(self, split: int = 0) -> tuple:
        """Training, validation and test rows: three quarters, one quarter and some more.

        A part of the minority's training labels, and as many others, may be flipped.
        """
        rng = np.random.default_rng([self.seed, split])
        n_test = round(max(30, min(500, _MOST_TEST_ROWS / (1 + self.ratio))))
        counts = np.array([self.n_minority * 3 // 4, self.n_minority // 4, n_test])
        X, y = self._rows(counts.sum(), rng)
        minority, majority = (rng.permutation(np.flatnonzero(y == label)) for label in (1, 0))
        parts = []
        for stop, count in zip(np.cumsum(counts), counts, strict=True):
            others = slice(round((stop - count) * self.ratio), round(stop * self.ratio))
            rows = rng.permutation(np.r_[minority[stop - count : stop], majority[others]])
            parts.append([X[rows], y[rows]])
        labels = parts[0][1]
        for label in (1, 0):
            # Found before any is changed.
            labels = _flip(labels, parts[0][1] == label, round(self.flipped * counts[0]), rng)
        parts[0][1] = labels
        return tuple(array for part in parts for array in part)

    def _rows(self, n_minority: int, rng) -> tuple[np.ndarray, np.ndarray]:
        n_majority = round(n_minority * self.ratio) + 1
        # What the task is, whatever rows are drawn.
        fixed = np.random.default_rng(self.seed)
        y = np.repeat([0, 1], [n_majority, n_minority])
        if self.kind in ("tail", "rules"):
            X = rng.normal(size=(len(y), self.n_features))
            values = _values(self.kind, X, fixed)
            values += self.noise * values.std() * rng.normal(size=len(y))
            order = np.argsort(values)
            return X[order].astype(np.float32), y
        of_minority = np.arange(self.n_groups) % 3 == 0
        groups = np.concatenate(
            [
                rng.choice(members, count, p=fixed.dirichlet(np.ones(len(members))))
                for members, count in (
                    (np.flatnonzero(~of_minority), n_majority),
                    (np.flatnonzero(of_minority), n_minority),
                )
            ]
        )
        strays = rng.random(len(y)) < self.noise / 4
        groups[strays] = rng.integers(0, self.n_groups, np.count_nonzero(strays))
        return self._of_groups(groups, fixed, rng).astype(np.float32), y

    def _of_groups(self, groups, fixed, rng) -> np.ndarray:
        shape = (self.n_groups, self.n_features)
        if self.kind == "words":
            # Most words are rare, and each group uses some more often.
            logits = fixed.normal(-3, 1, self.n_features)
            logits = logits + fixed.normal(0, self.contrast, shape) * (fixed.random(shape) < 0.3)
            return rng.random((len(groups), self.n_features)) < 1 / (1 + np.exp(-logits[groups]))
        if self.kind == "categories":
            columns = []
            for _ in range(max(3, self.n_features // 4)):
                shares = fixed.dirichlet(np.full(4, 0.3 + 1 / self.contrast), self.n_groups)
                below = np.cumsum(shares, axis=1)[groups, :-1]
                columns.append(np.eye(4)[(rng.random((len(groups), 1)) > below).sum(axis=1)])
            return np.hstack(columns)
        centres = fixed.normal(0, self.contrast, shape)
        # Islands are small, blobs of one size.
        low = -1.2 if self.kind == "islands" else 0.0
        sizes = np.exp(fixed.uniform(low, 0.3, self.n_groups))
        noise = rng.normal(size=(len(groups), self.n_features))
        return centres[groups] + noise * sizes[groups, np.newaxis]


def _values(kind, X, fixed) -> np.ndarray:
    n_features = X.shape[1]
    if kind == "rules":
        seen = fixed.normal(size=(400, n_features))
        tree = DecisionTreeRegressor(max_leaf_nodes=int(fixed.integers(6, 40)), random_state=0)
        return tree.fit(seen, fixed.normal(size=400)).predict(X)
    hidden = np.tanh(1.5 * X @ fixed.normal(size=(n_features, 12)) / np.sqrt(n_features))
    return hidden @ fixed.normal(size=12)


def _flip(labels, candidates, count, rng) -> np.ndarray:
    """Labels with some of the candidates flipped."""
    labels = labels.copy()
    rows = rng.choice(np.flatnonzero(candidates), count, replace=False)
    labels[rows] = 1 - labels[rows]
    return labels
