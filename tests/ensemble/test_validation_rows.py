"""Validation rows that the user passes, and their weights; the signature that all fits share."""

import inspect

import numpy as np
import pytest
from sklearn.metrics import average_precision_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tree_mesa import tree_mesa

import metasampler.ensemble as ensembles
from metasampler import MesaClassifier, MetaSampler
from metasampler.meta import FitToConstants

FIT = ["X", "y", "sample_weight", "X_val", "y_val", "sample_weight_val"]


def estimators():
    from metasampler.distributed import DaskMesaClassifier

    return [getattr(ensembles, name) for name in ensembles.__all__] + [
        DaskMesaClassifier,
        MetaSampler,
    ]


@pytest.mark.parametrize("Estimator", estimators())
def test_every_fit_has_the_signature_of_scikit_learn(Estimator):
    parameters = list(inspect.signature(Estimator.fit).parameters.values())[1:]
    names, kinds = [each.name for each in parameters], [each.kind for each in parameters]
    assert names[:3] == FIT[:3]
    assert set(names) >= set(FIT)
    assert kinds[:3] == [inspect.Parameter.POSITIONAL_OR_KEYWORD] * 3
    assert set(kinds[3:]) == {inspect.Parameter.KEYWORD_ONLY}


def split(X, y):
    return X[:400], y[:400], X[400:], y[400:]


def repeated_or_not(y_val, seed=0):
    """Weights of whole numbers, some of them zero, and the rows repeated as often."""
    weights = np.random.default_rng(seed).integers(0, 4, len(y_val))
    return weights.astype(float), np.repeat(np.arange(len(y_val)), weights)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("estimator", [DecisionTreeClassifier(max_depth=4), GaussianNB()], ids=repr)
def test_a_weight_is_a_row_as_often(imbalanced, estimator, weighted):
    X, y, X_val, y_val = split(*imbalanced)
    weights, rows = repeated_or_not(y_val)
    options = {"sample_weight": np.linspace(1, 3, len(y))} if weighted else {}
    # Platt's targets, and what is expected of new rows, depend on the number of rows too.
    make = {"n_estimators": 4, "meta_sampler": 0.8, "threshold": "f1", "random_state": 0}
    make["calibration"] = None
    one = tree_mesa(estimator, **make).fit(
        X, y, **options, X_val=X_val, y_val=y_val, sample_weight_val=3 * weights
    )
    two = tree_mesa(estimator, **make).fit(X, y, **options, X_val=X_val[rows], y_val=y_val[rows])
    np.testing.assert_allclose(one.scores_, two.scores_, rtol=1e-12)
    np.testing.assert_allclose(one.predict_proba(X_val), two.predict_proba(X_val), rtol=1e-6)
    np.testing.assert_allclose(one.threshold_, two.threshold_, rtol=1e-6)
    raw = np.array([score[:, 1] for score in one.staged_mean_proba(X_val)])
    assert one.leaf_smoothing_ or one.scores_ == pytest.approx(
        [average_precision_score(y_val, score, sample_weight=weights) for score in raw]
    )


def test_weights_of_validation_rows_count_in_teams(for_teams):
    X, y = for_teams
    X, y, X_val, y_val = X[:-300], y[:-300], X[-300:], y[-300:]
    weights = np.where(X_val[:, 0] > 0, 1.0, 5.0)
    fits = [
        MesaClassifier(recipe="fast", random_state=0).fit(
            X, y, X_val=X_val, y_val=y_val, sample_weight_val=given
        )
        for given in (None, np.full(len(y_val), 7.0), weights)
    ]
    plain, equal, weighted = (clf.predict_proba(X_val) for clf in fits)
    np.testing.assert_allclose(plain, equal, rtol=1e-7)
    assert np.abs(plain - weighted).max() > 1e-3
    together = [clf.held_out_scores_["together"] for clf in fits]
    assert together[0] == pytest.approx(together[1])
    assert together[0] != pytest.approx(together[2], abs=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_refit_knows_the_rows_by_the_numbers_of_the_user(imbalanced, weighted):
    X, y, X_val, y_val = split(*imbalanced)
    options = {"sample_weight": np.arange(len(y)) % 3} if weighted else {}
    weights = np.arange(len(y_val)) % 2
    clf = tree_mesa(n_estimators=3, meta_sampler=0.8, refit=True, random_state=0)
    clf.fit(X, y, **options, X_val=X_val, y_val=y_val, sample_weight_val=weights)
    drawn = np.unique(np.concatenate(clf.estimators_samples_))
    all_weights = np.concatenate([options.get("sample_weight", np.ones(len(y))), weights])
    assert (all_weights[drawn] > 0).all()
    everywhere = np.concatenate([y, y_val])
    minority = np.flatnonzero((everywhere == clf.minority_class_) & (all_weights > 0))
    assert np.isin(minority, drawn).all()


def test_only_training_weights_need_members_that_take_them(imbalanced):
    from sklearn.neighbors import KNeighborsClassifier

    X, y, X_val, y_val = split(*imbalanced)
    clf = tree_mesa(KNeighborsClassifier(), 2, meta_sampler=0.8, random_state=0)
    clf.fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=np.arange(len(y_val)) + 1)
    with pytest.warns(UserWarning, match="takes no sample_weight"):
        clf.fit(X, y, np.ones(len(y)), X_val=X_val, y_val=y_val)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sample_weight_val": np.ones(200)}, "sample_weight_val needs validation rows"),
        ({"X_val": 1}, "X_val and y_val must be passed together"),
        ({"y_val": 1}, "X_val and y_val must be passed together"),
        ({"sample_weight_val": np.ones(3), "both": 1}, r"sample_weight_val.*shape"),
        ({"sample_weight_val": -np.ones(200), "both": 1}, "sample_weight_val"),
        ({"sample_weight_val": np.zeros(200), "both": 1}, "sample_weight_val"),
        ({"sample_weight_val": np.nan, "both": 1}, "sample_weight_val must be finite"),
        ({"sample_weight_val": ["a"] * 200, "both": 1}, "sample_weight_val must hold numbers"),
    ],
)
def test_what_is_wrong_is_named(imbalanced, options, words):
    X, y, X_val, y_val = split(*imbalanced)
    given = {"X_val": X_val, "y_val": y_val}
    both = {**given} if options.pop("both", None) else {}
    both |= {name: given.get(name, value) for name, value in options.items()}
    with pytest.raises(ValueError, match=words):
        tree_mesa(n_estimators=2).fit(X, y, **both)


@pytest.mark.parametrize("Estimator", [MesaClassifier, MetaSampler])
def test_validation_rows_that_are_trained_on_are_named(imbalanced, Estimator):
    X, y = imbalanced
    trainer = {"trainer": FitToConstants(n_sweeps=1, n_constants=3)}
    options = trainer if Estimator is MetaSampler else {"meta_sampler": 0.9}
    tree = DecisionTreeClassifier()
    with pytest.warns(UserWarning, match="X_val is X itself"):
        Estimator(tree, 2, random_state=0, **options).fit(X, y, X_val=X, y_val=y)


def test_a_meta_sampler_takes_weights(imbalanced):
    X, y, X_val, y_val = split(*imbalanced)
    weights, rows = repeated_or_not(y_val)
    trainer = FitToConstants(n_sweeps=1, n_constants=3)
    options = {"n_estimators": 3, "trainer": trainer, "random_state": 0}
    one = MetaSampler(**options).fit(
        X, y, X_val=X_val, y_val=y_val, sample_weight_val=weights.astype(float)
    )
    two = MetaSampler(**options).fit(X, y, X_val=X_val[rows], y_val=y_val[rows])
    scores = [[entry["valid_score"] for entry in sampler.history_] for sampler in (one, two)]
    assert scores[0] == pytest.approx(scores[1])
    three = MetaSampler(**options).fit(X, y, np.arange(len(y)) % 3, X_val=X_val, y_val=y_val)
    assert three.history_ != two.history_


def test_metadata_routing_of_validation_rows(imbalanced):
    import sklearn

    X, y, X_val, y_val = split(*imbalanced)
    weights = np.arange(len(y_val)) % 3
    options = {"n_estimators": 3, "meta_sampler": 0.8, "threshold": "f1", "random_state": 0}
    scaler = StandardScaler().fit(X)
    expected = tree_mesa(**options).fit(
        scaler.transform(X),
        y,
        X_val=scaler.transform(X_val),
        y_val=y_val,
        sample_weight_val=weights,
    )
    with sklearn.config_context(enable_metadata_routing=True):
        clf = tree_mesa(**options).set_fit_request(
            X_val=True, y_val=True, sample_weight_val=True, sample_weight=False
        )
        pipe = Pipeline([("scaler", StandardScaler()), ("clf", clf)], transform_input=["X_val"])
        pipe.fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weights)
    np.testing.assert_array_equal(
        pipe.predict_proba(X_val), expected.predict_proba(scaler.transform(X_val))
    )
    assert pipe[-1].threshold_ == expected.threshold_
