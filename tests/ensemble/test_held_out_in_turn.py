"""Training rows that are held out in turn, for a calibration by few validation rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier
from tree_mesa import tree_mesa

from metasampler.ensemble import UnderBaggingClassifier, _decision
from metasampler.growth import MemoryRows


@pytest.fixture
def seen(monkeypatch):
    """What calibrations are fitted on."""
    calls = []
    make = _decision.make_calibration

    def spy(method, **options):
        calls.append(options)
        return make(method, **options)

    monkeypatch.setattr(_decision, "make_calibration", spy)
    return calls


@pytest.mark.parametrize("own", [False, True], ids=["held out", "own rows"])
def test_parts_held_out_in_turn_by_hand(imbalanced, by_hand, seen, own, monkeypatch):
    X, y = imbalanced
    X = X.astype(np.float32)
    parts = []
    make = MemoryRows.held_out_in_turn

    def spy(*args):
        for turn in make(*args):
            parts.append(turn.rows["valid"])
            yield turn

    monkeypatch.setattr(MemoryRows, "held_out_in_turn", spy)
    given, apart = (X, y), {}
    if own:
        given, apart = (X[:400], y[:400]), {"X_val": X[400:], "y_val": y[400:]}
    clf = tree_mesa(
        DecisionTreeClassifier(), 5, meta_sampler="random", leaf_smoothing=0, refit=True
    )
    clf.set_params(random_state=3).fit(*given, **apart)
    proba, codes = seen[0]["proba"], seen[0]["codes"]
    assert len(parts) == 4
    valid = np.setdiff1d(np.arange(len(y)), np.concatenate(parts))
    rows = np.concatenate([valid, *parts])
    assert_array_equal(np.sort(rows), np.arange(len(y)))
    assert_array_equal(codes, y[rows])
    start = len(valid)
    for part in parts:
        others = np.setdiff1d(np.arange(len(y)), part)
        members, _ = by_hand.grow(X, y, others, [None, *clf.actions_], seed=3)
        expected = np.mean([member.predict_proba(X[part]) for member in members], axis=0)
        assert_allclose(proba[start : start + len(part)], expected, atol=1e-12)
        start += len(part)
    # The members are trained on all rows, as they are where nothing is held out in turn.
    plain = clone(clf).set_params(calibration="sigmoid").fit(*given, **apart)
    for mine, other in zip(clf.estimators_samples_, plain.estimators_samples_, strict=True):
        assert_array_equal(mine, other)


def test_parts_share_out_every_class(Ensemble, three_classes, seen):
    X, y = three_classes
    weights = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    clf = Ensemble(n_estimators=3, validation_fraction=0.3, refit=True, random_state=0)
    clf.fit(X, y, sample_weight=weights)
    kept = weights > 0
    expected = [np.sum(y[kept] == label) for label in clf.classes_]
    assert_array_equal(np.bincount(seen[0]["codes"]), expected)
    assert seen[0]["proba"].shape == (kept.sum(), 3)
    # As frequent as by weight in the training rows.
    shares = np.bincount(seen[0]["codes"], seen[0]["weights"])
    assert_allclose(shares / shares.sum(), seen[0]["prior"])


def test_no_row_is_judged_by_members_that_know_it(seen):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 4)), (np.arange(500) < 100).astype(int)
    clf = UnderBaggingClassifier(validation_fraction=0.2, refit=True, random_state=0).fit(X, y)
    # There is nothing to learn: only who has seen the rows could tell them apart.
    assert abs(roc_auc_score(seen[0]["codes"], seen[0]["proba"][:, 1]) - 0.5) < 0.1
    assert roc_auc_score(y, clf.predict_proba(X)[:, 1]) > 0.9


@pytest.mark.parametrize(
    ("options", "takes"),
    [
        ({}, True),
        ({"refit": False}, False),
        ({"calibration": "sigmoid"}, False),
        ({"calibration": None}, False),
        ({"validation_fraction": 0.6}, False),  # 36 of the rare class
    ],
)
def test_when_rows_are_held_out_in_turn(imbalanced, seen, options, takes):
    X, y = imbalanced
    options = {"refit": True, "validation_fraction": 0.2, "random_state": 0, **options}
    UnderBaggingClassifier(n_estimators=2, **options).fit(X, y)
    n_valid = len(seen[0]["codes"])
    assert (n_valid == len(y)) == takes


def test_the_fewest_rows():
    # Two training rows of the rare class: two of the parts hold none of it.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), (np.arange(60) < 3).astype(int)
    clf = tree_mesa(n_estimators=2, random_state=0).fit(X, y)
    assert clf.calibration_.name == "prior"
    assert np.isfinite(clf.predict_proba(X)).all()


def test_verbose_shows_the_parts(imbalanced, capsys):
    tree_mesa(n_estimators=2, verbose=1, random_state=0).fit(*imbalanced)
    shown = capsys.readouterr().out
    assert all(f"Holding out fold {number} of 4" in shown for number in (1, 2, 3, 4))
