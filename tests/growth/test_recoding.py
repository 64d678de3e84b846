"""Categories with many levels as numbers: for every second booster, the same wherever rows are."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from numpy.testing import assert_array_equal
from parted import make_frame, make_towns
from sklearn.metrics import average_precision_score

from metasampler import MesaClassifier, load_model, save_model
from metasampler.growth import Recoding
from metasampler.growth._lightgbm_adapter import LightGBMAdapter
from metasampler.growth._recoding import learn_recoding
from metasampler.large._stacked import StackedRows

N, LEVELS = 3000, 50
QUICK = {"n_estimators": 8, "num_leaves": 7, "min_child_samples": 5, "verbose": -1}


def make_rows(seed=0):
    """Return a number and a category whose levels differ, and labels."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, LEVELS + 1, N).astype(float)
    codes[rng.random(N) < 0.05] = np.nan
    share = np.where(np.isnan(codes), 0.5, np.where(codes % 7 == 0, 0.6, 0.05))
    y = (rng.random(N) < share).astype(np.int8)
    return np.column_stack([rng.normal(size=N), codes]), y


def make_adapter(**settings):
    adapter = LightGBMAdapter(LGBMClassifier(**QUICK, **settings), 2, None, 0.0, [1])
    adapter.recode_in_turn({1: LEVELS})
    return adapter


def test_a_row_is_not_told_its_own_class():
    X, y = make_rows()
    rows = np.arange(0, N, 2)
    recoding, values = learn_recoding({1: LEVELS}, X, rows, y[rows].astype(np.intp), None, 0)
    changed = y.copy()
    changed[rows[7]] ^= 1
    _, others = learn_recoding({1: LEVELS}, X, rows, changed[rows].astype(np.intp), None, 0)
    assert others[7] == values[7]
    assert (others != values).any()
    numbers = recoding(X)
    assert_array_equal(numbers[:, 0], X[:, 0])
    assert numbers[X[:, 1] == 14, 1].min() > 2 * numbers[X[:, 1] == 15, 1].max()


def test_the_unit_of_weights_does_not_matter():
    X, y = make_rows()
    rows, codes = np.arange(N), y.astype(np.intp)
    ones = learn_recoding({1: LEVELS}, X, rows, codes, np.full(N, 4.0), 0)[1]
    assert_array_equal(ones, learn_recoding({1: LEVELS}, X, rows, codes, None, 0)[1])


def test_every_second_member_reads_numbers():
    X, y = make_rows()
    adapter = make_adapter()
    members = [adapter.of(k).fit(X, y, np.arange(N), k) for k in range(3)]
    assert [member.recoding is not None for member in members] == [False, True, False]
    # As one number the level is worth one split; as a set of levels it is another one.
    assert not np.array_equal(members[0].predict_proba(X), members[1].predict_proba(X))
    booster = adapter.alike(LGBMClassifier(**QUICK, learning_rate=0.3))
    assert booster.of(1).estimator.learning_rate == 0.3
    assert booster.of(1).n_levels
    assert not booster.of(0).n_levels


@pytest.mark.parametrize("subsample", [200_000, 400])
def test_rows_in_a_file_give_the_same_member(subsample):
    X, y = make_rows()
    rows = np.flatnonzero(np.arange(N) % 5)
    unseen = np.flatnonzero(np.arange(N) % 5 == 0)
    adapter = make_adapter(subsample_for_bin=subsample, early_stopping_round=3).of(1)
    weights = np.random.default_rng(1).random(len(rows)) + 0.5
    outside = StackedRows(np.array_split(X, [100, 1700]))
    one, other = (adapter.fit(table, y, rows, 5, weights, unseen) for table in (X, outside))
    assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_unknown_codes_and_copies():
    X, y = make_rows()
    member = make_adapter().of(1).fit(X, y, None, 0)
    stored = pickle.loads(pickle.dumps(member))
    assert_array_equal(stored.predict_proba(X), member.predict_proba(X))
    before = copy.deepcopy(X)
    member.predict_proba(X)
    assert_array_equal(X, before)


@pytest.fixture(scope="module")
def towns():
    frame = make_frame(2000).drop(columns=["x5", "kind"])
    frame["town"] = make_towns(frame["label"], 120)
    return frame.drop(columns=["label", "weight"]), frame["label"]


def test_members_of_a_fit_with_and_without_many_levels(towns):
    X, y = towns

    def recoded(X):
        clf = MesaClassifier(random_state=0).fit(X, y)
        return [getattr(member, "recoding", None) is not None for member in clf.estimators_[:6]]

    assert recoded(X) == [False, True, False, True, False, True]
    assert not any(recoded(X.drop(columns="town")))
    # However many other columns there are.
    wide = X.assign(**{f"more {k}": X["x0"] for k in range(20)})
    assert recoded(wide) == [False, True, False, True, False, True]


@pytest.mark.parametrize("recipe", ["default", "fast"])
def test_one_telling_column_of_many_levels_is_not_lost(recipe):
    # Most rows of the rare class are of one of 60 merchants among 1,500, eight rows of each.
    rng = np.random.default_rng(0)
    y = rng.random(12000) < 0.06
    bad = np.where(y, rng.random(len(y)) < 0.7, rng.random(len(y)) < 0.02)
    merchants = np.where(bad, rng.integers(0, 60, len(y)), rng.integers(60, 1500, len(y)))
    X = pd.DataFrame(rng.normal(size=(len(y), 8)), columns=[f"x{k}" for k in range(8)])
    X["merchant"] = [f"m{number}" for number in merchants]
    clf = MesaClassifier(recipe=recipe, random_state=0).fit(X[:8000], y[:8000])
    proba = clf.predict_proba(X[8000:])[:, 1]
    assert average_precision_score(y[8000:], proba) > 0.25


@pytest.fixture(scope="module")
def stored(towns, tmp_path_factory):
    X, y = towns
    clf = MesaClassifier(n_estimators=4, random_state=0).fit(X, y)
    path = tmp_path_factory.mktemp("model") / "model.mesa"
    save_model(clf, path)
    return path, clf


def test_it_is_part_of_a_model_file(stored, towns):
    path, clf = stored
    # New rows may have towns that the fit did not see.
    X = towns[0].assign(town=["town 1", "elsewhere", None] * 666 + ["town 2", None])
    assert_array_equal(load_model(path).predict_proba(X), clf.predict_proba(X))


@pytest.mark.parametrize(
    "change",
    [
        lambda shares: {},
        lambda shares: {column + 100: each for column, each in shares.items()},
        lambda shares: {float(column): each for column, each in shares.items()},
        lambda shares: {column: each[:2] for column, each in shares.items()},
        lambda shares: {column: each * np.float32(9) for column, each in shares.items()},
        lambda shares: {column: each * np.float32(np.nan) for column, each in shares.items()},
        lambda shares: {column: each.astype(float) for column, each in shares.items()},
    ],
)
def test_a_wrong_recoding_is_refused(change, stored):
    clf = copy.deepcopy(stored[1])
    member = next(each for each in clf.estimators_ if each.recoding is not None)
    member.recoding = Recoding(change(member.recoding.shares))
    # What is written is read again before it counts.
    with pytest.raises(TypeError, match="recoding"):
        save_model(clf, stored[0].with_name("wrong.mesa"))
