"""Policies: what they choose, that they share nothing, and when a rival takes their place."""

import copy
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier, MetaSampler
from metasampler.growth import (
    GaussianDraw,
    Growth,
    RandomStreams,
    Stream,
    make_adapters,
    make_growth_data,
)
from metasampler.policy import (
    ConstantPolicy,
    Drawn,
    GaussianPolicy,
    LearnedPolicy,
    StateEncoder,
    UniformPolicy,
    WithRivals,
    load_policy,
)


def start(X, y, X_val=None, y_val=None, *, validation_fraction=0.2, seed=0, **options):
    """A growth of one member."""
    streams, tree = RandomStreams(seed), DecisionTreeClassifier()
    data = make_growth_data(
        X,
        y,
        X_val,
        y_val,
        estimator=tree,
        validation_fraction=validation_fraction,
        sampling_ratio=1.0,
        streams=streams,
        **{"scoring": "average_precision", **options},
    )
    growth = Growth(data, make_adapters(tree, data.tables, data.n_classes), streams)
    growth.step()
    return growth


@pytest.fixture
def grown(imbalanced):
    return start(*imbalanced)


@pytest.fixture
def actor():
    return GaussianPolicy(10, rng=np.random.default_rng(0))


# ---------------------------------------------------------------------- single policies


def test_constant(grown):
    draw = ConstantPolicy(0.7, sigma=0.3)(grown)
    assert isinstance(draw, GaussianDraw)
    assert (draw.mu, draw.sigma) == (0.7, 0.3)
    np.testing.assert_array_equal(draw.state, StateEncoder()(grown))
    assert ConstantPolicy(np.float32(0.5)).choose(None) == 0.5


@pytest.mark.parametrize("bad", [-0.1, 1.1, "a", None, True, np.nan])
def test_no_constant(bad):
    with pytest.raises(ValueError, match=r"constant mu must be a number in \[0, 1\]"):
        ConstantPolicy(bad)


def test_uniform_mu_depend_on_the_number_of_the_member(grown):
    policy = UniformPolicy()
    mus = []
    for step in grown.grow(policy, 6):
        mus.append(step.mu)
    expected = [RandomStreams(0).generator(Stream.POLICY, k).random() for k in range(1, 6)]
    assert mus == expected


def test_learned(grown, actor):
    policy = LearnedPolicy(actor, StateEncoder(), mu_min=0.4, sigma=0.3, summary={"a": 1})
    draw = policy(grown)
    state = StateEncoder()(grown)
    np.testing.assert_array_equal(draw.state, state)
    assert draw.sigma == 0.3
    assert draw.mu == policy.choose(state) == 0.4 + (1 - 0.4) * actor.choose(state)
    drawn = policy.sample(state, np.random.default_rng(5))
    assert drawn == 0.4 + (1 - 0.4) * actor.sample(state, np.random.default_rng(5))


def test_drawn_actions(imbalanced, actor):
    learned = LearnedPolicy(actor, StateEncoder(), mu_min=0.4, sigma=0.3)
    policy = Drawn(learned)
    assert (policy.sigma, policy.encoder, policy.reads_validation_rows) == (0.3, learned.encoder, 1)
    growth = start(*imbalanced)
    steps = list(growth.grow(policy, 5))
    for number, step in enumerate(steps, 1):
        rng = RandomStreams(0).generator(Stream.POLICY, number)
        assert step.mu == learned.sample(step.state, rng) != learned.choose(step.state)
    assert len(steps) == 4


def test_drawn_actions_of_what_a_classifier_names(imbalanced):
    X, y = imbalanced
    options = {"estimator": DecisionTreeClassifier(), "n_estimators": 5, "random_state": 0}
    drawn = MesaClassifier(meta_sampler=Drawn("mammography"), **options).fit(X, y)
    by_mean = MesaClassifier(meta_sampler="mammography", **options).fit(X, y)
    assert (drawn.actions_ != by_mean.actions_).all()
    assert drawn.meta_sampler_.encoder == load_policy("mammography").encoder
    for given in (0.7, "universal"):
        with pytest.raises(TypeError, match="has nothing to draw from"):
            MesaClassifier(meta_sampler=Drawn(given), **options).fit(X, y)


def test_a_learned_policy_checks_what_it_gets(actor):
    with pytest.raises(TypeError, match="must be a GaussianPolicy"):
        LearnedPolicy(ConstantPolicy(0.5), StateEncoder())
    with pytest.raises(ValueError, match="length 10, but states of kind 'summary' have length 15"):
        LearnedPolicy(actor, StateEncoder("summary"))
    policy = LearnedPolicy(actor, StateEncoder())
    with pytest.raises(ValueError, match="finite numbers"):
        policy.choose(np.full(10, np.inf))
    with pytest.raises(ValueError, match=r"vectors of length 10; got shape \(3,\)"):
        policy.choose(np.zeros(3))


def test_without_validation_rows(imbalanced, actor):
    growth = start(*imbalanced, validation_fraction=None)
    assert ConstantPolicy(0.5)(growth).state is None
    assert UniformPolicy()(growth).state is None
    policy = LearnedPolicy(actor, StateEncoder())
    assert policy.reads_validation_rows
    with pytest.raises(ValueError, match="reads errors of validation rows"):
        policy(growth)


# ---------------------------------------------------------------------- nothing is shared


def test_a_policy_has_an_actor_of_its_own(actor):
    policy = LearnedPolicy(actor, StateEncoder(), summary={"list": [1]})
    state = np.full(10, 0.2)
    before = policy.choose(state)
    actor.parameters[:] = 0
    assert policy.choose(state) == before
    policy.summary["list"].append(2)
    assert policy.summary == {"list": [1]}


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p)), clone])
def test_copies_of_a_policy(actor, twin):
    policy = LearnedPolicy(actor, StateEncoder(), mu_min=0.1)
    if twin is clone:
        policy = MesaClassifier(meta_sampler=policy)
        other, policy = clone(policy).meta_sampler, policy.meta_sampler
    else:
        other = twin(policy)
    state = np.full(10, 0.2)
    before = policy.choose(state)
    assert other.choose(state) == before
    other.actor.parameters[:] = 0
    assert policy.choose(state) == before


def test_what_one_fit_does_to_its_policy_changes_no_later_fit(imbalanced):
    X, y = imbalanced
    tree = DecisionTreeClassifier()
    first, second = (MesaClassifier(tree, n_estimators=4, random_state=0) for _ in range(2))
    expected = first.fit(X, y).actions_.copy()
    load_policy("universal").actor.parameters[:] = 0
    MetaSampler.load("universal").policy_.parameters[:] = 0
    first.meta_sampler_.actor.parameters[:] = 0
    first.meta_sampler_.summary.clear()
    np.testing.assert_array_equal(second.fit(X, y).actions_, expected)
    assert second.meta_sampler_.summary["trainer"] == "constants"


# ---------------------------------------------------------------------- rivals


@pytest.fixture(scope="module")
def overlapping():
    """Rows on which gentle and hard draws differ, with enough positives to tell."""
    return make_classification(
        2000, 8, n_informative=4, weights=[0.9], class_sep=0.6, flip_y=0.1, random_state=3
    )


def by_brute_force(data, policy, rivals, n_members, **options):
    """Whole growths by the policy and by each constant, and which of them should have won."""
    growths = [start(*data, **options) for _ in range(1 + len(rivals))]
    policies = [policy, *(ConstantPolicy(mu, policy.sigma, policy.encoder) for mu in rivals)]
    for growth, each in zip(growths, policies, strict=True):
        for _ in growth.grow(each, max(n_members, 10)):
            pass
    own, *scores = (growth.steps[9].score for growth in growths)
    rows = growths[0].data
    n = np.sum(rows.codes[rows.rows["valid"]] == rows.minority)
    margin = 0.5 * np.sqrt(max(own * (1 - own), 0) / n)
    best = int(np.argmax(scores))
    won = scores[best] > own + margin
    return (growths[best + 1], rivals[best]) if won else (growths[0], None)


def assert_same_growth(growth, expected, n_members):
    assert growth.n_members == n_members
    assert [step.mu for step in growth.steps] == [step.mu for step in expected.steps[:n_members]]
    assert [step.score for step in growth.steps] == [s.score for s in expected.steps[:n_members]]
    for one, other in zip(growth.steps[1:], expected.steps[1:], strict=False):
        np.testing.assert_array_equal(one.state, other.state)
    for one, other in zip(growth.samples, expected.samples, strict=False):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n_members", [2, 3, 10, 11, 14])
@pytest.mark.parametrize("mu", [0.0, 0.2, 0.9])
@pytest.mark.parametrize("rivals", [(0.9,), (0.0, 0.5, 1.0), (0.5, 1.0)])
def test_the_best_after_ten_members_grows_on(overlapping, mu, rivals, n_members):
    own = ConstantPolicy(mu, sigma=0.25, encoder=StateEncoder("summary"))
    expected, rival = by_brute_force(overlapping, own, rivals, n_members)
    growth, policy = start(*overlapping), WithRivals(own, rivals)
    steps = list(growth.grow(policy, n_members))
    assert policy.rivals_ == rivals
    assert policy.rival_ == rival
    assert len(steps) == n_members - 1
    assert steps == growth.steps[1:]
    assert_same_growth(growth, expected, n_members)
    # It can be grown further, as a warm start does.
    for _ in growth.grow(policy, n_members + 2):
        pass
    longer, _ = by_brute_force(overlapping, own, rivals, n_members + 2)
    assert_same_growth(growth, longer, n_members + 2)


@pytest.mark.parametrize("own", ["universal", "random"])
def test_any_policy_can_meet_rivals(overlapping, own):
    own = UniformPolicy() if own == "random" else load_policy(own)
    expected, rival = by_brute_force(overlapping, own, (0.5, 1.0), 12)
    growth, policy = start(*overlapping), WithRivals(own)
    for _ in growth.grow(policy, 12):
        pass
    assert policy.rival_ == rival
    assert_same_growth(growth, expected, 12)


def test_scores_that_are_no_shares_have_no_margin(overlapping):
    options = {"scoring": "neg_log_loss"}
    for mu, rival in ((0.5, 0.9), (0.9, 0.5)):
        expected, winner = by_brute_force(overlapping, ConstantPolicy(mu), (rival,), 10, **options)
        growth, policy = start(*overlapping, **options), WithRivals(ConstantPolicy(mu), [rival])
        list(growth.grow(policy, 10))
        assert policy.rival_ == winner
        assert_same_growth(growth, expected, 10)


def test_both_ends_of_the_choice_occur(overlapping):
    """Else the tests above would hold for a policy that never looks at a rival."""
    winners = set()
    for own, rival in ((0.0, 0.9), (0.9, 0.0)):
        policy = WithRivals(ConstantPolicy(own), [rival])
        list(start(*overlapping).grow(policy, 10))
        winners.add(policy.rival_)
    assert winners == {0.9, None}


@pytest.mark.parametrize("rivals", [(0.5, 1.0), (0.4, 1.0)])
@pytest.mark.parametrize("n_positives", [29, 30])
def test_the_default_rivals_ask_for_thirty_rows_of_every_class(overlapping, n_positives, rivals):
    X, y = overlapping
    valid = np.r_[np.flatnonzero(y == 1)[:n_positives], np.flatnonzero(y == 0)[:500]]
    growth = start(X, y, X[valid], y[valid])
    policy = WithRivals(ConstantPolicy(0.9), rivals)
    list(growth.grow(policy, 3))
    meets = n_positives >= 30 or rivals != WithRivals.DEFAULT
    assert policy.rivals_ == (rivals if meets else ())


def test_rivals_are_met_at_the_beginning_only(overlapping):
    growth = start(*overlapping)
    growth.step(GaussianDraw(0.0, 0.2))
    policy = WithRivals(ConstantPolicy(0.0), [0.9])
    list(growth.grow(policy, 12))
    assert policy.rivals_ == ()
    assert [step.mu for step in growth.steps[1:]] == [0.0] * 11


def test_without_rows_to_judge_by(overlapping):
    growth = start(*overlapping, validation_fraction=None)
    policy = WithRivals(ConstantPolicy(0.7))
    assert [step.mu for step in growth.grow(policy, 3)] == [0.7, 0.7]
    assert policy.rivals_ == ()
    asked_for = WithRivals(ConstantPolicy(0.7), [0.2])
    assert asked_for.reads_validation_rows
    assert not policy.reads_validation_rows
    with pytest.raises(ValueError, match=r"rivals=\(0.2,\) needs validation rows"):
        list(start(*overlapping, validation_fraction=None).grow(asked_for, 3))


def test_a_copy_begins_anew(overlapping):
    policy = WithRivals(ConstantPolicy(0.0), [0.9])
    used = copy.deepcopy(policy)
    list(start(*overlapping).grow(used, 10))
    assert used.rival_ == 0.9
    assert policy.rival_ is None
    X, y = overlapping
    clf = MesaClassifier(n_estimators=9, meta_sampler=policy, random_state=0).fit(X, y)
    assert policy.rivals_ == ()
    assert clf.rivals_ == (0.9,)


@pytest.mark.parametrize("bad", [[0.5, 1.5], [-0.1], ["a"], [True]])
def test_rivals_that_are_no_mu(bad):
    with pytest.raises(ValueError, match=r"rivals must be numbers in \[0, 1\]"):
        WithRivals(ConstantPolicy(0.5), bad)


def test_names():
    assert repr(WithRivals(ConstantPolicy(0.5), [1])) == (
        "WithRivals(ConstantPolicy(mu=0.5, sigma=0.2), rivals=(1.0,))"
    )
    assert repr(load_policy("mammography")) == (
        "LearnedPolicy(states of kind 'all' with 5 bins, mu_min=0.0, sigma=0.2)"
    )
    policy = WithRivals(ConstantPolicy(0.5, 0.4, StateEncoder("summary")))
    assert (policy.sigma, policy.encoder.size) == (0.4, 15)


def test_a_growth_of_other_make():
    """A policy asks a growth for no more than it needs."""
    growth = SimpleNamespace(data=SimpleNamespace(has_validation=False))
    assert ConstantPolicy(0.3)(growth) == GaussianDraw(0.3, 0.2, None)


def test_a_function_may_return_mu_itself():
    X, y = make_classification(600, weights=[0.8], random_state=0)
    tree = DecisionTreeClassifier()

    def fit(policy):
        return MesaClassifier(tree, 3, meta_sampler=policy, random_state=0).fit(X, y)

    number, rule = fit(lambda growth: np.float64(0.7)), fit(lambda growth: GaussianDraw(0.7))
    np.testing.assert_array_equal(number.actions_, [0.7, 0.7])
    np.testing.assert_array_equal(number.predict_proba(X), rule.predict_proba(X))
    np.testing.assert_array_equal(fit(lambda growth: None).actions_, [0, 0])


@pytest.mark.parametrize(
    ("returned", "error"), [(1.5, ValueError), (-0.1, ValueError), ("0.7", TypeError)]
)
def test_what_a_function_must_not_return(returned, error):
    X, y = make_classification(600, weights=[0.8], random_state=0)
    clf = MesaClassifier(DecisionTreeClassifier(), 3, meta_sampler=lambda growth: returned)
    with pytest.raises(error, match=r"must return a mu in \[0, 1\], GaussianDraw"):
        clf.fit(X, y)
