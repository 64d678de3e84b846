"""The teams of the default: how they blend, what sets them, and what a fit can be asked for."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.metrics import average_precision_score, brier_score_loss, log_loss
from sklearn.model_selection import cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier
from metasampler.ensemble._calibration import Blend, SigmoidCalibration
from metasampler.ensemble._recipes import RECIPES, Recipe
from metasampler.growth import Growth
from metasampler.policy import ConstantPolicy, load_policy, signal_state
from metasampler.tables import TreeTable, lowest_values

HALF = np.array([0.5, 0.5])


def mesa(n_estimators=8, **options):
    return MesaClassifier(n_estimators=n_estimators, **{"random_state": 0, **options})


@pytest.fixture(scope="module")
def large():
    """Enough rows of the smaller class for a signal of their own; almost no noise."""
    return make_classification(
        2000, n_features=8, n_informative=6, weights=[0.85], flip_y=0, class_sep=2, random_state=0
    )


# ---------------------------------------------------------------------- the blend


@settings(max_examples=50)
@given(seed=st.integers(0, 1000), n_teams=st.integers(1, 4))
def test_the_blend_is_the_mean_of_log_odds(seed, n_teams):
    rng = np.random.default_rng(seed)
    teams, new = (list(expit(rng.normal(scale=3, size=(n_teams, n)))) for n in (60, 5))
    shares = list(rng.dirichlet(np.full(2, 5.0), n_teams))
    # They are standardised by a sigmoid, and here there are no rows to fit it to.
    blend = Blend(teams, None, shares)
    odds = [logit(proba) - logit(share[1]) for proba, share in zip(new, shares, strict=True)]
    positive = expit(np.mean(odds, axis=0))
    assert_allclose(blend(new), np.column_stack([1 - positive, positive]), atol=1e-9)
    # Teams that have no members yet do not count.
    alone = Blend(teams[:1], None, shares[:1])(new[:1])
    assert_allclose(blend([new[0], *[None] * (n_teams - 1)]), alone, atol=1e-12)


def test_a_team_that_says_the_same_of_all_rows_does_not_count():
    rng = np.random.default_rng(0)
    useful, same = rng.random(50), np.full(50, 0.3)
    both, alone = Blend([useful, same], None, [HALF, HALF]), Blend([useful], None, [HALF])
    assert_allclose(both([useful, rng.random(50)]), alone([useful]), atol=1e-12)
    nothing = Blend([same, same], None, [HALF, HALF])
    assert_array_equal(nothing([same, same]), np.full((50, 2), 0.5))


def test_how_sure_a_team_is_does_not_matter():
    rng = np.random.default_rng(0)
    codes = np.arange(400) % 3 // 2
    odds = [rng.normal(size=400) + codes, rng.normal(size=400) + 0.5 * codes]
    blended = [
        Blend(answers, codes, [HALF, HALF])(answers)
        for answers in ([expit(odds[0]), expit(odds[1])], [expit(3 * odds[0]), expit(odds[1])])
    ]
    assert_allclose(*blended, atol=1e-5)


def test_log_odds_are_counted_from_what_a_team_was_trained_on():
    share = np.array([1 / 3, 2 / 3])
    proba = expit(np.random.default_rng(0).normal(size=60))
    blend = Blend([proba], None, [share])
    # What a team says of a row it knows nothing of is that both classes are alike.
    assert_allclose(blend([np.full(4, share[1])]), np.full((4, 2), 0.5), atol=1e-12)
    # Rows that members have seen cannot tell how sure a team may be: its answers stay theirs.
    balanced = np.column_stack([1 - proba, proba]) / share
    assert_allclose(blend([proba]), balanced / balanced.sum(axis=1, keepdims=True), atol=1e-9)


def test_a_team_that_knows_more_says_more():
    rng = np.random.default_rng(0)
    codes = np.arange(400) % 2
    useful, noise = rng.normal(size=400) + 3 * codes, rng.normal(size=400)
    blend = Blend([expit(useful), expit(noise)], codes, [HALF, HALF])
    # Noise has a small scale, though its answers vary as much.
    assert 0 < blend.scales[1] < blend.scales[0] / 5


def test_left_out_rows_of_the_blend_are_those_that_all_teams_can_judge(for_teams):
    X, y = for_teams
    grown = {}

    class Spy(MesaClassifier):
        def _become(self, plan, teams, final, blend, decision, refits, facts):
            grown.update(teams=teams, blend=blend)
            super()._become(plan, teams, final, blend, decision, refits, facts)

    clf = Spy(n_estimators=14, random_state=0).fit(X, y)
    judged = [team.growth.judged() for team in grown["teams"]]
    shares = [team.growth.sampled_shares() for team in grown["teams"]]
    blend, held_out = Blend.of(grown["teams"][0].growth.data, judged, shares)
    assert blend.scales == grown["blend"].scales
    rows, proba, codes, weights, groups = held_out
    assert weights is None
    assert groups is None
    assert_array_equal(codes, y[rows])
    expected = sorted(set.intersection(*(set(rows) for rows, *_ in judged)))
    assert_array_equal(rows, expected)
    answers = [said[np.isin(of, rows), 1] for of, said, *_ in judged]
    assert_allclose(Blend(answers, y[rows], shares)(answers), proba, atol=1e-12)
    # What is kept answers the same of new rows: the mean of each team, blended and calibrated.
    parts, members = [], iter(clf.estimators_)
    for team in grown["teams"]:
        of_team = [next(members) for _ in team.growth.members]
        table = X if team.growth.data.table_maker is None else TreeTable(lowest_values(X))(X)
        total = np.zeros(len(X))
        for number, member in enumerate(of_team):
            team.growth.adapters.of(number).add_scores(member, table, total)
        parts.append(total / len(of_team))
    assert_allclose(clf.predict_proba(X), clf.calibration_(grown["blend"](parts)), atol=1e-9)


def test_a_class_that_is_all_but_certain_has_finite_log_odds():
    odds = np.r_[np.linspace(-2, 2, 2000), np.full(6, 80.0)]
    proba = np.column_stack([expit(-odds), expit(odds)])
    codes = np.r_[np.zeros(2000, dtype=int), np.ones(6, dtype=int)]
    calibration = SigmoidCalibration(np.array([0.99, 0.01]), proba, codes, of_log_odds=True)
    result = calibration(np.vstack([proba, [[0, 1], [1, 0]]]))
    assert np.isfinite(result).all()
    # The order is that of the log-odds, which 1 - p would lose.
    assert calibration(proba)[2000, 1] < result[-2, 1]


def test_a_blend_that_is_right_says_so():
    odds = np.r_[np.linspace(-4, -2, 950), np.linspace(2, 4, 50)]
    proba, codes = np.column_stack([expit(-odds), expit(odds)]), (odds > 0).astype(int)
    prior = np.array([0.95, 0.05])
    of_blend = SigmoidCalibration(prior, proba, codes, of_log_odds=True)(proba)[codes == 1, 1]
    assert of_blend.mean() > 0.99
    assert of_blend.max() < 1
    # Few rows of one team are trusted less.
    assert SigmoidCalibration(prior, proba, codes)(proba)[codes == 1, 1].mean() < 0.99


# ---------------------------------------------------------------------- the signal


def test_noise_has_little_signal_and_is_drawn_uniformly():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2500, 6)), rng.random(2500) < 0.12
    clf = mesa(8).fit(X, y)
    assert clf.signal_ < 36
    assert clf.actions_.size == 0
    assert clf.rivals_ == ()


def test_a_clean_table_has_much_signal_and_hard_rows_are_drawn(large):
    clf = mesa(16).fit(*large)
    assert clf.signal_ > 50
    # The power of the second booster, and the mu of all trees but the first.
    assert clf.actions_[0] == load_policy("boosters").choose(signal_state(clf.signal_)) > 1
    assert set(clf.actions_[1:]) == {0.9}
    assert len(clf.actions_) == 14 - 2
    assert repr(clf.meta_sampler_) == repr(load_policy("boosters"))


@pytest.mark.parametrize("name", ["default", "fast"])
def test_the_signal_counts_rounds_at_a_learning_rate_of_a_tenth(large, name):
    clf = MesaClassifier(recipe=name, random_state=0).fit(*large)
    recipe = RECIPES[name]
    rounds = [member.n_rounds_ for member in clf.estimators_[: recipe.n_scouts]]
    paid = [n + max(0, n - recipe.doubles_after) for n in rounds]
    expected = np.exp(np.mean(np.log(paid))) * recipe.round_counts * recipe.learning_rate / 0.1
    assert clf.signal_ == pytest.approx(expected)


@pytest.mark.parametrize("name", ["default", "fast"])
def test_few_rows_of_the_smallest_class_get_trees(imbalanced, name):
    X, y = imbalanced
    rows = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:19]]
    clf = MesaClassifier(recipe=name, random_state=0).fit(X[rows], y[rows])
    assert clf.signal_ is None
    assert len(clf.estimators_) == RECIPES[name].n_few
    assert {type(member).__name__ for member in clf.estimators_} == {
        "DecisionTreeClassifier",
        "ExtraTreeClassifier",
    }
    assert "fewer than 25 rows" in str(clf.summary())


@pytest.mark.parametrize(("n_rare", "has_teams"), [(24, False), (25, True)])
def test_how_many_rows_are_enough(n_rare, has_teams):
    X = np.random.default_rng(0).normal(size=(450, 3))
    y, weights = np.arange(450) < n_rare, np.ones(450)
    clf = MesaClassifier(recipe="fast", random_state=0).fit(X, y)
    assert (clf.signal_ is not None) == has_teams
    # Rows without weight do not count.
    weights[n_rare - 1] = 0
    clf = MesaClassifier(recipe="fast", random_state=0).fit(X, y, sample_weight=weights)
    assert clf.signal_ is None


def test_the_summary_says_how_much_there_is_to_learn(large):
    clf = mesa().fit(*large)
    assert f"Signal: {clf.signal_:.0f}" in str(clf.summary())
    assert "ewer than" not in str(clf.summary())


@pytest.mark.parametrize(("n_rare", "n_sharp"), [(100, 48), (200, 0)])
def test_sharp_trees_join_where_the_signal_is_uncertain(n_rare, n_sharp):
    X = np.random.default_rng(0).normal(size=(600, 3))
    y = np.arange(600) < n_rare
    clf = MesaClassifier(random_state=0).fit(X, y)
    assert clf._team_names.count("sharp trees") == n_sharp
    assert len(clf.estimators_) == 30 + n_sharp
    if n_sharp:
        # As many votes as the others together.
        assert clf._blend.votes == [1, 1, 1, 3]
        assert clf._vote_weights()[30:].sum() == pytest.approx(clf._vote_weights()[:30].sum())


def test_what_follows_from_the_signal():
    recipe = Recipe()
    powers = [load_policy("boosters").choose(signal_state(s)) for s in (10, 40, 100, 300)]
    assert powers == sorted(powers)
    assert powers[0] < 0.5 < 2 < powers[-1]
    assert [recipe.mu_of_trees(signal) for signal in (40, 60)] == [None, 0.9]
    leaves = [recipe.trees(signal)[0].min_samples_leaf for signal in (1, 30, 60, 500)]
    assert leaves == sorted(leaves, reverse=True)
    assert (leaves[0], leaves[-1]) == (15, 2)
    rounds = [recipe.booster(signal).n_estimators for signal in (1, 30, 44)]
    # At a learning rate of 0.2.
    assert rounds == [10, 15, 22]
    assert recipe.booster(1e6).n_estimators == recipe.max_rounds


def test_boosters_of_a_fast_fit_go_over_the_rows_so_often():
    fast = RECIPES["fast"]
    rounds = [fast.booster(1e6, part).n_estimators for part in (0.1, 0.4, 0.8)]
    # 12.5 passes, but never fewer than 20 rounds.
    assert rounds == [40, 31, 20]
    # Members that are short anyway stay as they are.
    assert fast.booster(25, 0.4).n_estimators == 25
    assert Recipe().booster(1e6, 1.0).n_estimators == Recipe().max_rounds


# ---------------------------------------------------------------------- how many members


@pytest.mark.parametrize("n_smallest", [25, 199, 200])
@pytest.mark.parametrize("name", RECIPES)
def test_the_number_of_members_is_that_of_all_teams(name, n_smallest):
    recipe = RECIPES[name]
    plain = recipe.sized(n_smallest)
    assert plain.n_sharp_trees == (2 * recipe.n_trees if n_smallest < 200 else 0)
    assert plain == recipe.sized(n_smallest, plain.n_members)
    if not plain.n_sharp_trees:
        assert plain == recipe
    before = (0, 0, 0)
    for n_estimators in range(recipe.n_scouts + 1, 300):
        sized = recipe.sized(n_smallest, n_estimators)
        assert sized.n_members == n_estimators
        assert sized.n_scouts == recipe.n_scouts
        teams = (sized.n_boosters, sized.n_trees, sized.n_sharp_trees)
        assert sized.n_boosters >= 1
        # A warm start adds members to every team, and takes none away.
        assert all(a <= b for a, b in zip(before, teams, strict=True))
        of_plain = (plain.n_boosters, plain.n_trees, plain.n_sharp_trees)
        expected = np.array(of_plain) * (n_estimators - recipe.n_scouts) / sum(of_plain)
        assert np.abs(np.array(teams) - expected).max() <= 1.5
        before = teams


@pytest.mark.parametrize("n_estimators", [1, 2, 3, 5])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("name", RECIPES)
def test_any_number_of_members(name, n_classes, n_estimators):
    shares = [0.4, *[0.6 / (n_classes - 1)] * (n_classes - 1)]
    X, y = make_classification(
        400, n_informative=6, n_classes=n_classes, weights=shares, random_state=0
    )
    clf = mesa(n_estimators, recipe=name).fit(X, y)
    assert len(clf.estimators_) == n_estimators
    # Scouts leave room for another member, and a single member is a scout.
    teams = [row.get("team", "scouts") for row in clf.summary().rows]
    assert 1 <= teams.count("scouts") <= max(1, n_estimators - 1)
    assert np.all(np.isfinite(clf.predict_proba(X)))
    assert clf.score(X, y) > 0.5


@pytest.mark.parametrize("n_smallest", [25, 200])
@pytest.mark.parametrize("name", RECIPES)
def test_scouts_leave_room(name, n_smallest):
    recipe = RECIPES[name]
    sizes = [recipe.sized(n_smallest, n) for n in range(1, recipe.n_scouts + 3)]
    assert [each.n_members for each in sizes] == list(range(1, recipe.n_scouts + 3))
    scouts = [each.n_scouts for each in sizes]
    assert scouts == [1, *range(1, recipe.n_scouts), recipe.n_scouts, recipe.n_scouts]
    assert [each.n_boosters for each in sizes][:2] == [0, 1]


def test_a_warm_start_cannot_add_scouts(for_teams):
    clf = mesa(2, warm_start=True).fit(*for_teams)
    before = clf.estimators_
    with pytest.raises(ValueError, match=r"takes 2 scouts, but there are 1.*n_estimators=3 or"):
        clf.set_params(n_estimators=5).fit(*for_teams)
    assert clf.estimators_ is before


def test_few_rows_grow_any_number_of_trees(imbalanced):
    X, y = imbalanced
    rows = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:19]]
    assert len(mesa(1).fit(X[rows], y[rows]).estimators_) == 1


def test_the_members_of_a_fit(for_teams):
    X, y = for_teams
    clf = mesa(12).fit(X, y)
    scaled = RECIPES["default"].sized(np.inf, 12)
    rows = clf.summary().rows
    counts = [[row["team"] for row in rows].count(n) for n in ("scouts", "boosters", "trees")]
    assert counts == [scaled.n_scouts, scaled.n_boosters, scaled.n_trees]
    assert len(clf.estimators_) == len(clf.estimators_samples_) == sum(counts) == 12
    assert "scouts" in str(clf.summary())
    # Scouts see all rows but their tenth, boosters three majority rows a minority row, trees one.
    of_minority = [np.mean(y[samples]) for samples in clf.estimators_samples_]
    assert_allclose(of_minority[:2], y.mean(), atol=0.01)
    first = scaled.n_scouts
    drawn = y.sum() / min(len(y), 4 * y.sum())
    assert_allclose(of_minority[first : first + scaled.n_boosters], drawn, atol=0.01)
    assert_allclose(of_minority[first + scaled.n_boosters :], 0.5)


def test_sampling_ratio(for_teams):
    _, y = for_teams
    clf = mesa(sampling_ratio=0.5).fit(*for_teams)
    assert np.mean(y[clf.estimators_samples_[2]]) == pytest.approx(1 / 2.5, abs=0.01)
    assert np.mean(y[clf.estimators_samples_[-1]]) == pytest.approx(1 / 1.5, abs=0.01)


# ---------------------------------------------------------------------- warm starts


@pytest.mark.parametrize(("before", "after"), [(6, 14), (3, 9), (12, 12)])
@pytest.mark.parametrize("given", ["universal", "random"])
def test_a_warm_start_grows_every_team(for_teams, before, after, given):
    X, y = for_teams
    warm = mesa(before, meta_sampler=given, warm_start=True).fit(X, y)
    pickle.loads(pickle.dumps(warm))
    warm.set_params(n_estimators=after).fit(X, y)
    whole = mesa(after, meta_sampler=given).fit(X, y)
    assert_array_equal(warm.predict_proba(X), whole.predict_proba(X))
    assert_array_equal(warm.scores_, whole.scores_)
    assert_array_equal(warm.actions_, whole.actions_)
    for ours, theirs in zip(warm.estimators_samples_, whole.estimators_samples_, strict=True):
        assert_array_equal(ours, theirs)


def test_a_warm_start_cannot_take_members_away(for_teams):
    clf = mesa(10, warm_start=True).fit(*for_teams)
    with pytest.raises(ValueError, match="n_estimators=5 must be at least 10"):
        clf.set_params(n_estimators=5).fit(*for_teams)
    with pytest.raises(ValueError, match="recipe was 'default' and is now 'fast'"):
        clf.set_params(n_estimators=12, recipe="fast").fit(*for_teams)


# ---------------------------------------------------------------------- rows


def test_rows_of_weight_zero_are_left_out(for_teams):
    X, y = for_teams
    weights = np.arange(len(y)) % 3 / 2
    clf = mesa().fit(X, y, sample_weight=weights)
    keep = weights > 0
    plain = mesa().fit(X[keep], y[keep], sample_weight=weights[keep])
    assert_array_equal(clf.predict_proba(X), plain.predict_proba(X))
    for ours, theirs in zip(clf.estimators_samples_, plain.estimators_samples_, strict=True):
        assert_array_equal(ours, np.flatnonzero(keep)[theirs])


@pytest.mark.parametrize("weight", [1.0, 5.0])
def test_probabilities_are_those_of_the_weighted_world(for_teams, weight):
    X, y = for_teams
    weights = np.where(y, weight, 1.0)
    clf = mesa().fit(X, y, sample_weight=weights)
    mean = np.average(clf.predict_proba(X)[:, 1], weights=weights)
    assert mean == pytest.approx(np.average(y, weights=weights), abs=0.1)


@pytest.mark.parametrize("recipe", ["default", "fast"])
def test_three_classes(for_teams, recipe):
    X, y = for_teams
    y = np.where(y == 1, np.where(X[:, 0] > np.median(X[y == 1, 0]), "one", "two"), "many")
    X, y = np.tile(X, (2, 1)), np.tile(y, 2)
    clf = mesa(recipe=recipe).fit(X, y)
    proba = clf.predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1)
    assert proba.min() >= 0
    assert np.mean(clf.predict(X) == y) > 0.85
    assert clf.signal_ is not None


def test_validation_rows_of_ones_own(for_teams):
    X, y = for_teams
    clf = mesa().fit(X[:700], y[:700], X_val=X[700:], y_val=y[700:])
    assert max(rows.max() for rows in clf.estimators_samples_) < 700
    # All members can be judged at once, from the first on.
    assert len(clf.scores_) == len(clf.estimators_)
    assert not clf.refit_
    assert clf.calibration_.name == "sigmoid"


def test_nothing_left_out(for_teams):
    X, y = for_teams
    clf = mesa(validation_fraction=None).fit(X, y)
    assert clf.calibration_.name == "prior"
    assert clf.scores_.size == 0
    assert np.sum(y[clf.estimators_samples_[0]]) == y.sum()
    assert clf.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.1)


def test_a_class_of_one_row(imbalanced):
    X, y = imbalanced
    y = np.where(np.arange(len(y)) == 3, 2, y)
    # It stays with all members; the rows of other classes decide.
    with pytest.warns(UserWarning, match="The smallest classes have fewer than 10 rows: 2"):
        clf = mesa().fit(X, y)
    assert clf.calibration_.name == "softmax"
    assert_allclose(clf.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("n_rare", [2, 3, 5])
@pytest.mark.parametrize("recipe", ["default", "fast"])
def test_ten_rows(recipe, n_rare):
    X = np.random.default_rng(0).normal(size=(10, 3))
    y = np.arange(10) < n_rare
    clf = mesa(recipe=recipe).fit(X, y)
    proba = clf.predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1)
    assert set(clf.predict(X)) <= {False, True}


@pytest.mark.parametrize(("n_rows", "n_rare"), [(60, 9), (900, 250)])
def test_constant_features(n_rows, n_rare):
    X, y = np.ones((n_rows, 3)), np.arange(n_rows) < n_rare
    proba = mesa().fit(X, y).predict_proba(X)
    assert_allclose(proba, np.tile(proba[0], (n_rows, 1)))
    assert_allclose(proba[0, 1], n_rare / n_rows, atol=0.02)


def test_missing_and_huge_numbers(for_teams):
    X, y = (part.copy() for part in for_teams)
    X[::5, 2] = np.nan
    X[:, 3] = np.nan
    X[:, 4] *= 1e300
    clf = mesa().fit(X, y)
    assert np.isfinite(clf.predict_proba(X)).all()
    assert average_precision_score(y, clf.predict_proba(X)[:, 1]) > 0.6


def test_tables_for_trees_have_a_number_below_all_others_for_none():
    X = np.array([[1.0, np.nan, -5.0], [np.nan, np.nan, 1e300], [3.0, np.nan, 0.0]])
    table = TreeTable(lowest_values(X))(X)
    assert table.dtype == np.float32
    assert np.isfinite(table).all()
    assert table[1, 0] < 1
    assert len(set(table[:, 1])) == 1
    assert_array_equal(table[[0, 2], 0], [1, 3])


def test_extreme_imbalance():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6000, 3)), np.zeros(6000, dtype=int)
    y[:12], X[:12] = 1, X[:12] + 60
    clf = MesaClassifier(recipe="fast", validation_fraction=0.5, random_state=0).fit(X, y)
    proba = clf.predict_proba(X)[:, 1]
    assert np.isfinite(proba).all()
    assert proba[:12].min() > proba[12:].max()


# ---------------------------------------------------------------------- the same again


@pytest.mark.parametrize("recipe", ["default", "fast"])
def test_the_same_for_any_number_of_jobs(for_teams, recipe):
    X, y = for_teams
    one, two = (mesa(recipe=recipe, n_jobs=n).fit(X, y).predict_proba(X) for n in (1, 2))
    assert_array_equal(one, two)


def test_pickles_and_copies(for_teams):
    X, y = for_teams
    clf = mesa().fit(X, y)
    again = pickle.loads(pickle.dumps(clf))
    assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert_array_equal(clone(clf).fit(X, y).predict_proba(X), clf.predict_proba(X))
    assert not np.array_equal(mesa(random_state=1).fit(X, y).predict_proba(X), clf.predict_proba(X))


def test_stages(for_teams):
    X, y = for_teams
    clf = mesa().fit(X, y)
    stages = [proba.copy() for proba in clf.staged_predict_proba(X)]
    assert len(stages) == len(clf.estimators_)
    assert_array_equal(stages[-1], clf.predict_proba(X))
    assert_allclose(np.sum(stages, axis=2), 1)
    assert_allclose(clf.feature_importances_.sum(), 1)


def test_a_meta_sampler_trained_inside_learns_once(for_teams, short_sampler, monkeypatch):
    X, y = for_teams
    clf = mesa(meta_sampler=short_sampler(), warm_start=True)
    with pytest.warns(UserWarning, match="meta-trained on trees.*chooses the rows of boosters"):
        clf.fit(X, y)
    assert clf.meta_sampler_.__sklearn_is_fitted__()
    assert len(clf.actions_) == len(clf.states_) == 4
    # A warm start does not train again.
    monkeypatch.setattr(type(clf.meta_sampler_), "fit_growth_data", None)
    clf.set_params(n_estimators=10).fit(X, y)
    assert len(clf.actions_) == 6


def test_a_policy_of_ones_own(for_teams):
    clf = mesa(meta_sampler=0.3).fit(*for_teams)
    assert set(clf.actions_) == {0.3}
    wide = mesa(meta_sampler=ConstantPolicy(0.3, sigma=5.0)).fit(*for_teams)
    assert not np.array_equal(clf.predict_proba(for_teams[0]), wide.predict_proba(for_teams[0]))


def test_what_recipes_refuse(for_teams):
    with pytest.raises(ValueError, match=r"The 'recipe' parameter .*'best'.*Got 'quick'"):
        MesaClassifier(recipe="quick").fit(*for_teams)
    with pytest.raises(TypeError, match="a recipe is a parameter of its own: recipe='fast'"):
        MesaClassifier("fast").fit(*for_teams)
    with pytest.raises(ValueError, match="recipe='fast' and an estimator exclude each other"):
        MesaClassifier(DecisionTreeClassifier(), recipe="fast").fit(*for_teams)
    with pytest.raises(ValueError, match="refit=True has no rows to give back"):
        mesa(refit=True).fit(*for_teams)


def test_probabilities_of_new_rows_are_as_good_as_those_of_lightgbm():
    from lightgbm import LGBMClassifier

    X, y = load_breast_cancer(return_X_y=True)
    ours, theirs = (
        cross_val_predict(clf, X, y, cv=3, method="predict_proba")[:, 1]
        for clf in (
            MesaClassifier(random_state=0),
            LGBMClassifier(verbose=-1, n_jobs=1, random_state=0),
        )
    )
    assert brier_score_loss(y, ours) < brier_score_loss(y, theirs) + 0.002
    assert log_loss(y, ours) < log_loss(y, theirs) + 0.01


def test_teams_that_grow_side_by_side_are_the_same(for_teams):
    X, y = for_teams
    one, two = (
        MesaClassifier(n_estimators=12, meta_sampler=0.7, n_jobs=n_jobs, random_state=0).fit(X, y)
        for n_jobs in (1, 2)
    )
    assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    assert_array_equal(one.actions_, two.actions_)
    assert one.summary().rows == two.summary().rows


def test_an_interrupt_in_one_team_ends_the_other(for_teams, monkeypatch):
    X, y = for_teams
    grown = []

    def fail_soon(growth, policy, n_members, grow=Growth.grow):
        for step in grow(growth, policy, n_members):
            grown.append(growth)
            yield step
            if growth.data.table_maker is None and growth.n_members == 2 and policy is not None:
                raise KeyboardInterrupt

    monkeypatch.setattr(Growth, "grow", fail_soon)
    clf = MesaClassifier(n_estimators=600, meta_sampler=0.7, n_jobs=2, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    # The trees had hundreds of members to go.
    assert len(grown) < 300
    assert not hasattr(clf, "estimators_")


def test_where_rare_rows_are_few_all_rows_decide():
    """Two scouts leave out a fifth of the rows; with 40 rare rows that would be eight."""
    X, y = make_classification(800, 8, weights=[0.95], flip_y=0, random_state=0)
    clf = MesaClassifier(threshold=("recall", 0.8), random_state=0).fit(X, y)
    assert clf.signal_ is not None
    assert y.sum() < 75
    # In steps of one rare row: a fifth of them could not give this.
    found = clf._cuts.hits / clf._cuts.n_positive * y.sum()
    np.testing.assert_allclose(found, np.round(found), atol=1e-9)
    assert clf._cuts.hit_rows.sum() == pytest.approx(y.sum())
    assert 0.75 <= clf.expected_recall_ < 1


def test_rows_are_judged_by_the_teams_that_can():
    rng = np.random.default_rng(0)
    codes = np.arange(50) % 2
    of_all, of_some = np.arange(50), np.arange(0, 50, 5)
    answers = [rng.uniform(0.1, 0.9, size=len(rows)) for rows in (of_all, of_some)]
    judged = [
        (rows, np.column_stack([1 - p, p]), codes[rows], None)
        for rows, p in zip((of_all, of_some), answers, strict=True)
    ]
    data = SimpleNamespace(
        has_validation=True, n_classes=2, score_function=lambda *_: lambda answer: 0.0
    )
    blend, held_out = Blend.of(data, judged, [HALF, HALF])
    assert_array_equal(held_out.rows, of_all)
    assert_array_equal(held_out.codes, codes)
    assert_array_equal(held_out.proba[of_some], blend([answers[0][of_some], answers[1]]))
    others = np.setdiff1d(of_all, of_some)
    assert_array_equal(held_out.proba[others], blend([answers[0][others], None]))
