"""The promise: partitions give what memory gives, bit for bit, on random cases."""

from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lightgbm import LGBMClassifier
from numpy.testing import assert_array_equal
from parted import uneven
from sklearn.tree import DecisionTreeClassifier

from metasampler.ensemble._balance_cascade import _Cascade
from metasampler.ensemble._self_paced import _SelfPacedDraw
from metasampler.growth import (
    GaussianDraw,
    Growth,
    MemoryRows,
    PowerDraw,
    RandomStreams,
    draw_rows,
    make_adapters,
    make_growth_data,
)
from metasampler.growth._tree_adapter import TreeAdapter
from metasampler.large import PartitionedRows
from metasampler.large._backends import Backend
from metasampler.large._parquet import ArrayBlock
from metasampler.large._source import OpenedSource

pytestmark = pytest.mark.filterwarnings("ignore:sampling_ratio=", "ignore:Class .* has n_samples")


class Blocks:
    """A source whose blocks are arrays in this process."""

    label = "y"

    def __init__(self, blocks, weighted, grouped=False):
        self.blocks = blocks
        self.weight = "w" if weighted else None
        self.group = "g" if grouped else None

    def make_blocks(self, *, labels_only=False):
        return self.blocks

    def group_blocks(self, sizes, bytes_per_row):
        return [[number] for number in range(len(sizes))]

    def plain_names(self):
        return None

    def check_fits(self, n_bytes, table_bytes=0.0):
        pass


class Case(NamedTuple):
    """Rows of random sizes and weights, and how they are held out and cut."""

    n_rows: int
    shares: tuple[float, ...]
    weights: str
    hold_out: str
    own_validation: bool
    fraction: float
    sampling_ratio: float
    max_rows: int | None
    #: Above it classes are sampled for evaluation, sums are exact, folds go by keys.
    many: int
    n_partitions: int
    seed: int
    by_group: bool = False
    #: Whether the last of many classes has one row; otherwise each has at least three.
    lone_row: bool = False

    def groups(self, y):
        """Return a group for each row; each class is in two of them at least."""
        groups = np.random.default_rng(self.seed).integers(0, 1 + self.n_rows // 6, len(y))
        for k, label in enumerate(np.unique(y)):
            groups[np.flatnonzero(y == label)[:2]] = 1000 + 2 * k, 1001 + 2 * k
        return groups

    def arrays(self):
        rng = np.random.default_rng(self.seed)
        y = rng.choice(len(self.shares), self.n_rows, p=self.shares)
        n_classes = len(self.shares)
        y[: 3 * n_classes] = np.repeat(np.arange(n_classes), 3)
        if self.lone_row and n_classes > 2:
            y[y == n_classes - 1] = 0
            y[0] = n_classes - 1
        y = rng.permutation(y)
        X = rng.normal(size=(self.n_rows, 3)).round(1) + y[:, np.newaxis] * 0.7
        weights = None
        if self.weights != "none":
            weights = rng.random(self.n_rows) + 0.1
        if self.weights == "some zero":
            weights[rng.random(self.n_rows) < 0.2] = 0
            for k in range(len(self.shares)):
                weights[np.flatnonzero(y == k)[:3]] = 0.7
        return X.astype(np.float32), np.array(["a", "b", "c", "d"])[y], weights

    def both(self, estimator) -> tuple[MemoryRows, PartitionedRows]:
        """Return the rows in memory and in partitions."""
        X, y, weights = self.arrays()
        options: dict[str, Any] = {
            "estimator": estimator,
            "validation_fraction": None if self.hold_out == "none" else self.fraction,
            "rotate": self.hold_out == "rotation",
            "sampling_ratio": self.sampling_ratio,
            "max_rows": self.max_rows,
            "scoring": "average_precision",
            "streams": RandomStreams(self.seed),
            "must_hold_out": False,
        }
        if self.own_validation:
            X_val, y_val, w_val = self._replace(seed=self.seed + 1).arrays()
            options |= {"X_val": X_val, "y_val": y_val, "sample_weight_val": w_val}
        # A class whose rows are all of one group is refused.
        by_group = self.by_group and not (self.own_validation or self.lone_row)
        groups = self.groups(y) if by_group else None
        in_memory = make_growth_data(X, y, sample_weight=weights, groups=groups, **options)

        def some(values, rows):
            return None if values is None else values[rows]

        blocks = [
            ArrayBlock(X[rows], y[rows], some(weights, rows), some(groups, rows))
            for rows in uneven(len(y), self.n_partitions, self.seed)
        ]
        source = Blocks(blocks, weights is not None, groups is not None)
        opened = OpenedSource(source, Backend())
        return in_memory, opened.make_rows(**options)

    def with_limits(self):
        """Let other rules hold than for few rows."""
        names = {
            "growth._data.MAX_EVALUATION_ROWS",
            "growth._memory.MAX_EVALUATION_ROWS",
            "large._partitioned.MAX_EVALUATION_ROWS",
            "growth._weights.MANY_ROWS",
            "large._partitioned.MANY_ROWS",
            "growth._hold_out.MAX_RANKED",
            "large._partitioned.MAX_RANKED",
        }
        return [patch(f"metasampler.{name}", self.many) for name in sorted(names)]


@st.composite
def cases(draw, max_rows=240):
    shares = np.array(draw(st.lists(st.floats(0.05, 1), min_size=2, max_size=4)))
    n_rows = draw(st.integers(40, max_rows))
    return Case(
        n_rows,
        tuple(shares / shares.sum()),
        draw(st.sampled_from(["none", "any", "some zero"])),
        draw(st.sampled_from(["none", "fraction", "rotation"])),
        draw(st.booleans()),
        draw(st.floats(0.05, 0.6)),
        draw(st.sampled_from([0.4, 1.0, 2.0, np.inf])),
        draw(st.sampled_from([None, 7, 40])),
        draw(st.sampled_from([1 << 30, 25, 6])),
        draw(st.integers(1, 17)),
        draw(st.integers(0, 1000)),
        draw(st.booleans()),
        draw(st.booleans()),
    )


def hardest(candidates, size):
    """A rule of one's own, which looks at all candidates."""
    order = np.lexsort((candidates.keys, -candidates.errors))
    return order[:size]


RULES = {
    "uniform": None,
    "gaussian": GaussianDraw(0.3, 0.1),
    "narrow": GaussianDraw(0.9, 1e-9),
    "power": PowerDraw(3.0),
    "self-paced": _SelfPacedDraw(0.5, "absolute", 4),
    "own": hardest,
}


class Recording(TreeAdapter):
    """Fits trees, and notes what it was given."""

    def fit(self, X, codes, rows, seed, sample_weight=None, unseen=None, unseen_weight=None):
        given = [X[rows], codes[rows], sample_weight]
        if unseen is not None:
            given += [X[unseen], codes[unseen], unseen_weight]
        self.given = [*getattr(self, "given", []), given]
        return super().fit(X, codes, rows, seed, sample_weight)


def grow(data, rules, *, stops=True, smoothing=0.0):
    adapter = Recording(DecisionTreeClassifier(max_depth=4), data.n_classes, None, smoothing)
    adapter.stops_early = stops
    growth = Growth(data, adapter, RandomStreams(7), score_steps=False)
    growth.step()
    for rule in rules:
        growth.step(rule)
    return growth


def assert_same(one, other):
    """Check arrays, or nested ones, for equality of all bits."""
    if isinstance(one, (list, tuple)):
        assert len(one) == len(other)
        for mine, theirs in zip(one, other, strict=True):
            assert_same(mine, theirs)
    elif one is None:
        assert other is None
    else:
        assert_array_equal(one, other)


def assert_same_rows(one, other):
    """Check what is known of rows."""
    for name in ("counts", "class_weights", "n_rows", "n_folds", "fold_counts", "draw_size"):
        assert_same(getattr(one, name), getattr(other, name))
    assert one.roles == other.roles
    rows = np.arange(one.n_first)
    assert_same(one.groups_of(rows), other.groups_of(rows))
    assert one.mean_weights == other.mean_weights
    assert one.has_weights == other.has_weights
    assert one.validation_is_apart == other.validation_is_apart
    assert one.sampled_share == other.sampled_share
    for role in [*one.roles, "all"]:
        assert_same(one.role_counts(role), other.role_counts(role))
    for role in one.roles:
        assert_same(tuple(one.evaluation_rows(role)), tuple(other.evaluation_rows(role)))


def assert_same_growth(one, other):
    """Check what members were given, what they say, and what is known of it."""
    assert_same(one.adapters.given, other.adapters.given)
    assert_same(one.samples, other.samples)
    assert_same(*[[step.totals for step in growth.steps] for growth in (one, other)])
    for role in one.data.roles:
        if role == "valid" and one.data.n_folds and not len(one._which("valid")):
            continue
        for group in ("all", "minority", "majority"):
            assert_same(one.errors(role, group), other.errors(role, group))
            assert_same(one.weights(role, group), other.weights(role, group))
    for k in range(one.data.n_classes):
        assert_same(one.class_errors(k), other.class_errors(k))
    assert_same(one.judged(), other.judged())
    assert_array_equal(one.sampled_shares(), other.sampled_shares())


quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(case=cases(), names=st.lists(st.sampled_from(sorted(RULES)), min_size=1, max_size=3))
def test_draws_members_and_scores(case, names):
    with all_of(case.with_limits()):
        one, other = case.both(DecisionTreeClassifier())
        assert_same_rows(one, other)
        rules = [RULES[name] for name in names]
        assert_same_growth(*[grow(data, rules) for data in (one, other)])


@quick
@given(case=cases(max_rows=120), smoothing=st.sampled_from([0.0, 1.0]))
def test_other_rows_of_the_same_task(case, smoothing):
    with all_of(case.with_limits()):
        one, other = case.both(DecisionTreeClassifier())
        pairs = [(data.whole() for data in (one, other))]
        pairs += zip(
            *(data.held_out_in_turn(3, RandomStreams(1)) for data in (one, other)), strict=True
        )
        pairs.append(data.holding_out_a_fold() for data in (one, other))
        pairs.append(data.for_team(1.7) for data in (one, other))
        pairs.append(data.for_team(0.8, trees=True) for data in (one, other))
        factors = np.arange(1.0, one.n_classes + 1)
        pairs.append(
            data.for_team(np.inf, max_rows=9, class_factors=factors) for data in (one, other)
        )
        for pair in pairs:
            mine, theirs = pair
            assert_same_rows(mine, theirs)
            rules = [GaussianDraw(0.5)]
            options = {"stops": mine.class_factors is not None, "smoothing": smoothing}
            assert_same_growth(*[grow(data, rules, **options) for data in (mine, theirs)])


def test_no_turn_is_without_rows_to_hold_out():
    case = Case(9, (0.4, 0.3, 0.3), "none", "none", False, 0.2, 1.0, None, 1 << 30, 2, 0)
    for data in case.both(DecisionTreeClassifier()):
        turns = data.held_out_in_turn(5, RandomStreams(1))
        assert [turn.role_counts("valid").tolist() for turn in turns] == [[1, 1, 1]] * 3


@quick
@given(case=cases(max_rows=120))
def test_cascades(case):
    # A cascade has neither rotation nor a limit of rows.
    hold_out = "fraction" if case.hold_out == "rotation" else case.hold_out
    case = case._replace(hold_out=hold_out, max_rows=None)
    with all_of(case.with_limits()):
        samples = []
        for data in case.both(DecisionTreeClassifier()):
            growth = grow(data, [], stops=False)
            policy = _Cascade(data, data.streams, 4)
            for _ in range(3):
                growth.step(policy(growth))
            samples.append(growth.samples)
        assert_same(*samples)


@settings(max_examples=12, deadline=None)
@given(case=cases(), n_sampled=st.sampled_from([10, 50, 1000]))
def test_boosters(case, n_sampled):
    booster = LGBMClassifier(
        n_estimators=6, min_child_samples=3, subsample_for_bin=n_sampled, verbose=-1,
        early_stopping_round=2,
    )  # fmt: skip
    with all_of(case.with_limits()):
        said = []
        for data in case.both(booster):
            adapters = make_adapters(booster, data.tables, data.n_classes)
            growth = Growth(data, adapters, RandomStreams(3), score_steps=False)
            growth.step()
            growth.step(PowerDraw(2.0))
            said.append([growth.errors(), growth.judged()])
        assert_same(*said)


def test_a_draw_of_errors_that_are_all_equal():
    case = Case(90, (0.7, 0.3), "none", "none", False, 0.2, 0.5, None, 1 << 30, 5, 0)
    one, other = case.both(DecisionTreeClassifier())
    rule = GaussianDraw(0.0)
    with patch.object(TreeAdapter, "answers", lambda self, member, X, each: [np.zeros(len(X))]):
        assert_same(*[grow(data, [rule], stops=False).samples for data in (one, other)])


def test_too_many_rows_to_compare_are_refused():
    case = Case(90, (0.8, 0.2), "none", "none", False, 0.2, 1.0, None, 1 << 30, 5, 0)
    _, partitioned = case.both(DecisionTreeClassifier())
    growth = grow(partitioned, [], stops=False)
    with (
        patch("metasampler.large._partitioned.MAX_GATHERED", 10),
        pytest.raises(ValueError, match=r"Class 'a' has .* at most 10 of each"),
    ):
        growth.step(lambda candidates, size: draw_rows(candidates.keys, size))


def test_a_checkpoint_tells_the_rules_of_a_member_apart():
    case = Case(90, (0.8, 0.2), "none", "none", False, 0.2, 1.0, None, 1 << 30, 5, 0)
    _, partitioned = case.both(DecisionTreeClassifier())

    class Remembering:
        def key(self, *name):
            return name

        def find(self, name):
            return "a member"

    partitioned.backend.journal = Remembering()
    rules = [None, GaussianDraw(0.1), GaussianDraw(0.2), PowerDraw(1.0), PowerDraw(2.0)]
    key = partitioned.streams.row_key(0)
    assert len({partitioned.draw(key, 1, rule).name for rule in rules}) == len(rules)


class all_of:
    """Enter several contexts as one."""

    def __init__(self, contexts):
        self.contexts = contexts

    def __enter__(self):
        for each in self.contexts:
            each.start()

    def __exit__(self, *error):
        for each in self.contexts:
            each.stop()
