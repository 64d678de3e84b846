"""The growth loop: what a step does, and that a growth can be forked, resumed and repeated."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from metasampler.growth import GaussianDraw, RandomStreams, Stream, draw_rows, replay
from metasampler.growth._loop import GrowthStep


def wandering(growth):
    """Choose another mu for each member, and remember who was asked."""
    return GaussianDraw(0.2 + 0.15 * (growth.n_members % 5), state=np.array([growth.n_members]))


def assert_same_growth(a, b):
    assert a.n_members == b.n_members
    for mine, other in zip(a.samples, b.samples, strict=True):
        np.testing.assert_array_equal(mine, other)
    for mine, other in zip(a.steps, b.steps, strict=True):
        assert (mine.score, mine.n_rows, mine.mu) == (other.score, other.n_rows, other.mu)
        np.testing.assert_array_equal(mine.class_errors, other.class_errors)
    for role in ("train", "valid"):
        np.testing.assert_array_equal(a.errors(role), b.errors(role))
        np.testing.assert_array_equal(a.proba(role), b.proba(role))


# --------------------------------------------------------------------------- what is known


def test_errors_and_scores_are_those_of_the_members(imbalanced, make):
    X, y = imbalanced
    growth = make.growth(make.data(X, y))
    growth.step()
    for mu in (0.3, 0.9):
        growth.step(GaussianDraw(mu))
    proba = np.mean([member.predict_proba(X) for member in growth.members], axis=0)
    errors = 1 - proba[np.arange(len(y)), y]
    for role in ("train", "valid"):
        rows = growth.data.rows[role]
        np.testing.assert_allclose(growth.errors(role), errors[rows], atol=1e-12)
        np.testing.assert_allclose(growth.proba(role), proba[rows], atol=1e-12)
        expected = average_precision_score(y[rows], proba[rows, 1])
        assert growth.score(role) == pytest.approx(expected, abs=1e-12)
    minority = growth.errors("train", "minority")
    majority = growth.errors("train", "majority")
    assert len(minority) + len(majority) == len(growth.errors("train"))
    assert minority.sum() + majority.sum() == pytest.approx(growth.errors("train").sum())
    rows, held_out, codes, weights = growth.judged()
    assert weights is None
    np.testing.assert_array_equal(codes, y[rows])
    np.testing.assert_array_equal(rows, growth.data.rows["valid"])
    np.testing.assert_array_equal(held_out, growth.proba("valid"))


def test_errors_of_many_classes(three_classes, make):
    X, y = three_classes
    growth = make.growth(make.data(X, y))
    growth.step()
    growth.step(GaussianDraw(0.8))
    proba = np.mean([member.predict_proba(X) for member in growth.members], axis=0)
    expected = 1 - proba[np.arange(len(y)), growth.data.codes]
    for role, rows in growth.data.rows.items():
        np.testing.assert_allclose(growth.errors(role), expected[rows], atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_steps_record_what_was_reached(imbalanced, make, weighted):
    X, y = imbalanced
    weights = np.arange(len(y)) % 3 + 1.0 if weighted else None
    growth = make.growth(make.data(X, y, sample_weight=weights))
    for step in growth.grow(wandering, 4):
        assert step is growth.steps[-1]
        assert step.score == growth.score("valid")
        assert step.n_rows == len(growth.samples[-1])
        errors, codes = growth.errors("valid"), growth.data.codes[growth.data.rows["valid"]]
        weight = growth.weights("valid") if weighted else np.ones(len(codes))
        expected = [np.average(errors[codes == k], weights=weight[codes == k]) for k in (0, 1)]
        np.testing.assert_allclose(step.class_errors, expected)
    np.testing.assert_allclose([step.mu for step in growth.steps[1:]], [0.35, 0.5, 0.65])


def test_steps_without_validation_rows_have_no_score(imbalanced, make):
    growth = make.growth(make.data(*imbalanced, validation_fraction=None))
    for step in growth.grow(None, 2):
        assert (step.score, step.class_errors) == (None, None)


def test_steps_without_a_score(imbalanced, make):
    X, y = imbalanced
    # None of the rare class is held out: there is nothing that could be scored.
    data = make.data(X, y).whole()
    held_out = np.flatnonzero(y == 0)[:100]
    rows = {"train": np.setdiff1d(np.arange(len(y)), held_out), "valid": held_out}
    data = replace(data, rows=rows)
    growth = make.growth(data).anew(data, score_steps=False)
    for step in growth.grow(wandering, 3):
        assert (step.score, step.class_errors) == (None, None)
    rows, proba, *_ = growth.judged()
    expected = np.mean([member.predict_proba(X[rows]) for member in growth.members], axis=0)
    np.testing.assert_allclose(proba, expected, atol=1e-12)


def test_a_rule_may_have_no_mu():
    step = GrowthStep(lambda candidates, size: draw_rows(candidates.keys, size), 0.5, 10, None)
    assert (step.mu, step.state) == (None, None)


def test_test_rows_beside_a_hold_out(imbalanced, make):
    X, y = imbalanced
    growth = make.growth(make.data(X[:400], y[:400], None, None, X[400:], y[400:]))
    growth.step()
    assert len(growth.errors("train")) + len(growth.errors("valid")) == 400
    proba = growth.members[0].predict_proba(X[400:])[:, 1]
    assert growth.score("test") == pytest.approx(average_precision_score(y[400:], proba))


def test_no_scoring_without_need(imbalanced, make):
    growth = make.growth(make.data(*imbalanced, validation_fraction=None))
    growth.step()
    assert growth.n_members == 1
    assert growth._sums is None


@pytest.mark.parametrize(
    ("smoothing", "fraction", "kept"), [(0.0, 0.2, False), (1.0, None, False), (1.0, 0.2, True)]
)
def test_no_second_sum_without_need(imbalanced, make, smoothing, fraction, kept):
    data = make.data(*imbalanced, validation_fraction=fraction)
    growth = make.growth(data, leaf_smoothing=smoothing)
    growth.step()
    assert bool(growth.sums().soft) == kept


# --------------------------------------------------------------------------- draws and policies


def test_draws_favour_rows_whose_error_is_near_mu(imbalanced, make):
    X, y = imbalanced
    mean_error = {}
    for mu in (0.0, 1.0):
        growth = make.growth(make.data(X, y))
        for _ in growth.grow(None, 4):
            pass
        before = np.full(len(y), np.nan)
        before[growth.data.rows["train"]] = growth.errors("train")
        growth.step(GaussianDraw(mu))
        drawn = growth.samples[-1]
        mean_error[mu] = before[drawn[y[drawn] == 0]].mean()
    assert mean_error[0.0] < 0.1 < mean_error[1.0]


def test_no_member_sees_a_validation_row(imbalanced, make):
    data = make.data(*imbalanced)
    growth = make.growth(data)
    for _ in growth.grow(lambda growth: GaussianDraw(0.9), 6):
        pass
    drawn = np.concatenate(growth.samples)
    assert np.isin(drawn, data.rows["train"]).all()
    assert not np.isin(drawn, data.rows["valid"]).any()


def test_the_policy_is_asked_for_every_member_but_the_first(imbalanced, make):
    growth = make.growth(make.data(*imbalanced))
    asked = []

    def policy(asking):
        assert asking is growth
        asked.append(growth.n_members)
        return GaussianDraw(0.5, state=np.array([growth.n_members]))

    steps = list(growth.grow(policy, 4))
    assert asked == [1, 2, 3]
    assert [step.mu for step in steps] == [None, 0.5, 0.5, 0.5]
    assert [step.state for step in steps] == [None, 1, 2, 3]
    assert list(growth.grow(policy, 4)) == []


def test_a_rule_draws_from_every_larger_class(three_classes, make):
    growth = make.growth(make.data(*three_classes))
    seen = []

    def rule(candidates, size):
        k, rows, keys, errors = candidates
        seen.append(k)
        assert (growth.data.codes[rows] == k).all()
        assert len(rows) == len(keys) == len(errors) > size
        return draw_rows(keys, size)

    growth.step()
    growth.step(rule)
    assert seen == [k for k in range(3) if k != growth.data.minority]
    # A rule that looks at no errors draws as if there were none.
    uniform = make.growth(make.data(*three_classes))
    for _ in uniform.grow(None, 2):
        pass
    np.testing.assert_array_equal(growth.samples[1], uniform.samples[1])


def test_a_member_without_a_rule_depends_on_its_number_alone(imbalanced, make):
    growth = make.growth(make.data(*imbalanced))
    _, before = growth.fit_member(3)
    assert growth.n_members == 0
    for _ in growth.grow(wandering, 3):
        pass
    _, after = growth.fit_member(3)
    np.testing.assert_array_equal(before.rows, after.rows)
    growth.step()
    np.testing.assert_array_equal(growth.samples[3], after.rows)


def test_uniform_members_side_by_side(imbalanced, make):
    one, two = (make.growth(make.data(*imbalanced), n_jobs=n_jobs) for n_jobs in (1, 2))
    steps = [list(growth.grow(None, 5)) for growth in (one, two)]
    assert [len(of) for of in steps] == [5, 5]
    assert_same_growth(one, two)


# --------------------------------------------------------------------------- copies


@pytest.mark.parametrize("smoothing", [0.0, 1.0], ids=["plain", "soft"])
@pytest.mark.parametrize("data", ["imbalanced", "three_classes"])
def test_a_fork_that_grows_and_is_adopted_is_the_growth_itself(data, smoothing, make, request):
    rows = make.data(*request.getfixturevalue(data))
    direct, growth = (make.growth(rows, leaf_smoothing=smoothing) for _ in range(2))
    for _ in direct.grow(wandering, 6):
        pass
    for _ in growth.grow(wandering, 2):
        pass
    fork = growth.fork()
    for _ in fork.grow(wandering, 6):
        pass
    # The fork shares what there was, and nothing that came later.
    assert growth.n_members == len(growth.steps) == len(growth.samples) == 2
    assert fork.members[:2] == growth.members
    assert_same_growth(fork, direct)
    growth.adopt(fork)
    assert_same_growth(growth, direct)
    # They go different ways again.
    growth.step()
    assert fork.n_members == 6
    direct.step()
    assert_same_growth(growth, direct)


@pytest.mark.parametrize("n_wanted", [3, 6, 9])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_what_is_adopted_ends_with_the_members_wanted(imbalanced, make, n_wanted, weighted):
    X, y = imbalanced
    # Rows of weight zero are left out, so that the numbers of the others change.
    weights = np.arange(len(y)) % 3 * 1.0 if weighted else None
    rows = make.data(X, y, sample_weight=weights)

    def begin_with_six(growth):
        if growth.n_members == 1:
            fork = growth.fork()
            for _ in fork.grow(wandering, 6):
                pass
            growth.adopt(fork)
        return wandering(growth)

    direct, growth = make.growth(rows), make.growth(rows)
    expected = list(direct.grow(wandering, n_wanted))
    steps = list(growth.grow(begin_with_six, n_wanted))
    # Every member has its step, also those that came with the fork.
    assert [step.mu for step in steps] == [step.mu for step in expected]
    assert_same_growth(growth, direct)


def test_a_growth_that_reached_its_end_adopts_all(imbalanced, make):
    rows = make.data(*imbalanced)
    growth = make.growth(rows)
    for _ in growth.grow(wandering, 3):
        pass
    fork = growth.fork()
    for _ in fork.grow(wandering, 5):
        pass
    growth.adopt(fork)
    assert_same_growth(growth, fork)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_resumed_members_are_as_if_grown_here(imbalanced, make, weighted):
    X, y = imbalanced
    weights = np.arange(len(y)) % 3 * 1.0 if weighted else None
    rows = make.data(X, y, sample_weight=weights)
    direct, first, resumed = (make.growth(rows) for _ in range(3))
    for _ in direct.grow(wandering, 5):
        pass
    for _ in first.grow(wandering, 3):
        pass
    if weighted:
        assert (weights[np.concatenate(first.samples)] > 0).all()
    resumed.resume(first.members, first.samples, first.steps)
    assert_same_growth(resumed, first)
    steps = list(resumed.grow(wandering, 5))
    assert len(steps) == 2
    assert_same_growth(resumed, direct)


def test_replay_repeats_the_rules(imbalanced, make):
    rows = make.data(*imbalanced)
    growth = make.growth(rows)
    for _ in growth.grow(wandering, 5):
        pass
    again = growth.anew(rows)
    assert again.n_members == 0
    for _ in again.grow(replay(growth.steps), 5):
        pass
    assert_same_growth(again, growth)
    # On other rows the rules are the same, but they look at the errors there.
    other = growth.anew(rows.whole())
    for _ in other.grow(replay(growth.steps), 5):
        pass
    assert [step.rule for step in other.steps] == [step.rule for step in growth.steps]
    assert all(
        len(mine) > len(theirs) for mine, theirs in zip(other.samples, growth.samples, strict=True)
    )


# --------------------------------------------------------------------------- randomness


def test_streams_are_independent_and_named():
    streams = RandomStreams(3)
    again = RandomStreams(3)
    assert streams.integer(Stream.MEMBER, 1) == again.integer(Stream.MEMBER, 1)
    assert streams.integer(Stream.MEMBER, 1) != streams.integer(Stream.MEMBER, 2)
    assert streams.integer(Stream.MEMBER, 1) != streams.integer(Stream.POLICY, 1)
    child = streams.child(Stream.EPISODE, 0)
    assert child.integer(Stream.MEMBER, 1) != streams.integer(Stream.MEMBER, 1)
    assert len({int(member) for member in Stream}) == len(Stream)
