"""What a fit does, and that it does it again."""

import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from tree_mesa import tree_mesa

from metasampler import MesaClassifier
from metasampler.growth import GrowthData, RandomStreams, make_growth_data
from metasampler.policy import ConstantPolicy, LearnedPolicy, UniformPolicy


@pytest.fixture(scope="module")
def sampler(imbalanced, short_sampler):
    return short_sampler(20, 20, n_estimators=4).fit(*imbalanced)


def assert_same_ensemble(a, b, X):
    np.testing.assert_array_equal(a.actions_, b.actions_)
    np.testing.assert_array_equal(a.states_, b.states_)
    np.testing.assert_array_equal(a.scores_, b.scores_)
    for mine, other in zip(a.estimators_samples_, b.estimators_samples_, strict=True):
        np.testing.assert_array_equal(mine, other)
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))


def test_record_of_a_fit(imbalanced):
    X, y = imbalanced
    clf = tree_mesa(n_estimators=6, meta_sampler=0.7, random_state=0).fit(X, y)
    assert len(clf.estimators_) == len(clf.estimators_samples_) == 6
    np.testing.assert_array_equal(clf.actions_, np.full(5, 0.7))
    assert clf.states_.shape == (5, 10)
    np.testing.assert_allclose(clf.states_.reshape(5, 2, 5).sum(axis=2), 1)
    assert clf.scores_.shape == (6,)
    assert clf.minority_class_ == 1
    assert clf.meta_sampler_ == ConstantPolicy(0.7)
    assert clf.feature_importances_.shape == (8,)
    assert clf.feature_importances_.sum() == pytest.approx(1)


def test_members_are_balanced_and_hold_the_whole_minority(imbalanced):
    X, y = imbalanced
    clf = tree_mesa(n_estimators=10, refit=False, random_state=0).fit(X, y)
    minority = {tuple(rows[y[rows] == 1]) for rows in clf.estimators_samples_}
    assert len(minority) == 1
    for rows in clf.estimators_samples_:
        assert np.sum(y[rows] == 0) == np.sum(y[rows] == 1) == round(0.8 * np.sum(y == 1))


def test_sampling_ratio(imbalanced):
    X, y = imbalanced
    clf = tree_mesa(sampling_ratio=2.5, random_state=0).fit(X, y)
    rows = clf.estimators_samples_[3]
    assert np.sum(y[rows] == 0) == round(2.5 * np.sum(y[rows] == 1))


def test_too_large_a_sampling_ratio_takes_what_there_is(imbalanced):
    X, y = imbalanced
    clf = tree_mesa(sampling_ratio=50, n_estimators=2, refit=False, random_state=0)
    with pytest.warns(UserWarning, match=r"sampling_ratio=50 asks for \d+ rows .* only \d+"):
        clf.fit(X, y)
    assert np.sum(y[clf.estimators_samples_[0]] == 0) == round(0.8 * np.sum(y == 0))


def test_probability_is_the_mean_of_the_members(imbalanced):
    X, y = imbalanced
    clf = MesaClassifier.from_preset("paper", meta_sampler=0.9, threshold=None, random_state=0)
    clf.fit(X, y)
    members = np.array([member.predict_proba(X) for member in clf.estimators_])
    np.testing.assert_allclose(clf.predict_proba(X), members.mean(axis=0), atol=1e-12)
    stages = list(clf.staged_predict_proba(X))
    assert len(stages) == 10
    for k, stage in enumerate(stages, start=1):
        np.testing.assert_allclose(stage, members[:k].mean(axis=0), atol=1e-12)
    np.testing.assert_array_equal(clf.predict(X), clf.predict_proba(X).argmax(axis=1))


def test_scores_are_those_of_the_validation_rows(imbalanced):
    X, y = imbalanced
    X_val, y_val = X[::4], y[::4]
    clf = tree_mesa(n_estimators=10, random_state=0).fit(X, y, X_val=X_val, y_val=y_val)
    stages = clf.staged_predict_proba(X_val)
    expected = [average_precision_score(y_val, stage[:, 1]) for stage in stages]
    np.testing.assert_allclose(clf.scores_, expected, atol=1e-12)


@pytest.mark.parametrize("meta_sampler", ["universal", "random", 0.3, "sampler"])
def test_same_result_for_any_n_jobs(imbalanced, sampler, meta_sampler, monkeypatch):
    monkeypatch.setattr("metasampler.growth._adapters._CHUNK", 100)
    X, y = imbalanced
    given = sampler if meta_sampler == "sampler" else meta_sampler
    one, two = (
        tree_mesa(n_estimators=10, meta_sampler=given, random_state=3, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 2)
    )
    assert_same_ensemble(one, two, X)


@pytest.mark.parametrize("meta_sampler", ["random", "fit", "sampler"])
def test_warm_start_gives_what_one_longer_fit_gives(
    imbalanced, sampler, short_sampler, meta_sampler
):
    X, y = imbalanced
    given = {"sampler": sampler, "fit": short_sampler(5, 5)}.get(meta_sampler, meta_sampler)
    clf = tree_mesa(n_estimators=3, meta_sampler=given, warm_start=True, random_state=5)
    clf.fit(X, y)
    first = clf.estimators_[0]
    clf.set_params(n_estimators=7).fit(X, y)
    assert clf.estimators_[0] is first
    # Growing on and a refit exclude each other: with warm_start "auto" means no refit.
    longer = tree_mesa(n_estimators=7, meta_sampler=given, refit=False, random_state=5)
    longer.fit(X, y)
    assert_same_ensemble(clf, longer, X)


def test_warm_start_without_a_seed_keeps_its_own(imbalanced):
    X, y = imbalanced
    clf = tree_mesa(n_estimators=2, warm_start=True).fit(X, y)
    held_out = np.setdiff1d(np.arange(len(y)), np.concatenate(clf.estimators_samples_))
    clf.set_params(n_estimators=30).fit(X, y)
    minority = clf.estimators_samples_[0][y[clf.estimators_samples_[0]] == 1]
    for rows in clf.estimators_samples_:
        np.testing.assert_array_equal(rows[y[rows] == 1], minority)
    assert np.isin(held_out[y[held_out] == 1], minority).sum() == 0


def test_warm_start_refuses_fewer_members_and_other_classes(imbalanced):
    X, y = imbalanced
    clf = tree_mesa(n_estimators=3, warm_start=True, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="n_estimators=2 must be at least 3"):
        clf.set_params(n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="warm_start=True needs the classes of the first fit"):
        clf.set_params(n_estimators=4).fit(X, y + 1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"meta_sampler": 0.2}, "meta_sampler was 0.8 and is now 0.2"),
        (
            {"estimator": GaussianNB()},
            "ExtraTreeClassifier] and is now a GaussianNB",
        ),
        ({"validation_fraction": 0.3}, "validation_fraction was 0.2 and is now 0.3"),
        ({"scoring": "roc_auc"}, "scoring was 'average_precision'"),
    ],
)
def test_warm_start_refuses_what_would_not_be_one_longer_fit(imbalanced, change, words):
    X, y = imbalanced
    clf = tree_mesa(n_estimators=2, meta_sampler=0.8, warm_start=True, random_state=0)
    clf.fit(X, y).set_params(n_estimators=3, **change)
    with pytest.raises(ValueError, match=words):
        clf.fit(X, y)


def test_warm_start_refuses_other_rows(imbalanced):
    X, y = imbalanced
    clf = tree_mesa(n_estimators=2, warm_start=True, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="the number of rows was 600 and is now 500"):
        clf.set_params(n_estimators=3).fit(X[:500], y[:500])
    weights = np.ones(len(y))
    weights[0] = 2.0
    for words, X_now, y_now, options in [
        ("X and X_val are not", X + (np.arange(len(y)) == 7)[:, np.newaxis], y, {}),
        ("y and y_val are not", X, np.where(np.arange(len(y)) == 7, 1 - y, y), {}),
        ("y and y_val are not", X, 1 - y, {}),
        ("sample_weight are not", X, y, {"sample_weight": weights}),
    ]:
        with pytest.raises(ValueError, match=words):
            clf.fit(X_now, y_now, **options)
    assert len(clf.fit(X.copy(), y.copy()).estimators_) == 3


@pytest.mark.parametrize("change", [np.asfortranarray, lambda X: np.repeat(X, 2, 0)[::2]])
def test_warm_start_takes_the_same_rows_in_another_order_of_memory(imbalanced, change):
    X, y = imbalanced
    clf = MesaClassifier(LogisticRegression(), 2, warm_start=True, random_state=0).fit(X, y)
    other = change(X)
    assert other.strides != X.strides
    assert len(clf.set_params(n_estimators=3).fit(other, y).estimators_) == 3


@pytest.mark.parametrize(
    "make", [list, lambda kinds: kinds[0], lambda kinds: make_pipeline(*kinds)]
)
def test_warm_start_refuses_a_base_estimator_with_other_parameters(imbalanced, make):
    X, y = imbalanced
    clf = tree_mesa(n_estimators=2, warm_start=True, random_state=0)
    clf.set_params(estimator=make([DecisionTreeClassifier(max_depth=3)])).fit(X, y)
    clf.set_params(n_estimators=3, estimator=make([DecisionTreeClassifier(max_depth=4)]))
    with pytest.raises(ValueError, match="max_depth was 3 and is now 4"):
        clf.fit(X, y)
    clf.set_params(estimator=make([DecisionTreeClassifier(max_depth=3)])).fit(X, y)
    assert len(clf.estimators_) == 3


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_warm_start_refuses_other_frames(imbalanced, library):
    frames = pytest.importorskip(library)
    X, y = imbalanced
    texts = np.array(["low", "high"])[(X[:, 0] > 0).astype(int)]
    table = {"text": list(texts), "number": X[:, 1]}
    clf = MesaClassifier(LogisticText(), 2, meta_sampler=0.9, warm_start=True, random_state=0)
    clf.fit(frames.DataFrame(table), y).set_params(n_estimators=3)
    other = {**table, "text": ["high", *texts[1:]] if texts[0] == "low" else ["low", *texts[1:]]}
    with pytest.raises(ValueError, match="X and X_val are not"):
        clf.fit(frames.DataFrame(other), y)
    assert len(clf.fit(frames.DataFrame(table), y).estimators_) == 3


class LogisticText(ClassifierMixin, BaseEstimator):
    """A base estimator that takes frames as they are, texts too."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        p = np.asarray(X["number"] > 0, dtype=float)
        return np.column_stack([1 - p, p])


def test_a_sampler_trained_inside_has_the_settings_of_the_classifier(imbalanced, short_sampler):
    X, y = imbalanced
    clf = tree_mesa(
        GaussianNB(),
        n_estimators=2,
        meta_sampler=short_sampler(sigma=0.4),
        sampling_ratio=2.0,
        scoring="roc_auc",
        random_state=0,
    ).fit(X, y)
    trained = clf.meta_sampler_
    assert (trained.sigma, trained.sampling_ratio, trained.scoring) == (0.4, 2.0, "roc_auc")
    assert trained.summary_["scoring"] == "roc_auc"
    assert trained.summary_["estimator"] == "GaussianNB()"


def test_refitting_a_sampler_leaves_the_classifier_alone(imbalanced, short_sampler):
    X, y = imbalanced
    sampler = short_sampler().fit(X, y)
    clf = tree_mesa(meta_sampler=sampler, n_estimators=2, random_state=0).fit(X, y)
    before = clf.meta_sampler_.choose(np.full(10, 0.2))
    sampler.set_params(random_state=1).fit(X, y)
    assert clf.meta_sampler_.choose(np.full(10, 0.2)) == before


@pytest.mark.parametrize("policy", [ConstantPolicy(0.4), UniformPolicy()])
def test_policies_that_learn_nothing_can_be_passed(imbalanced, policy):
    X, y = imbalanced
    clf = tree_mesa(meta_sampler=policy, n_estimators=3, random_state=0).fit(X, y)
    assert clf.meta_sampler_ == policy
    clone(clf).fit(X, y)


def test_fit_meta_trains_first(imbalanced, short_sampler):
    X, y = imbalanced
    options = {"n_estimators": 10, "meta_sampler": short_sampler(6, 4), "random_state": 0}
    clf = tree_mesa(**options).fit(X, y)
    assert clf.meta_sampler_.n_updates_ == 4
    assert len(clf.meta_sampler_.history_) == 5
    assert_same_ensemble(clf, tree_mesa(**options).fit(X, y), X)
    # The sampler that was passed stays as it was.
    assert not hasattr(clf.meta_sampler, "policy_")


def test_meta_training_never_sees_the_held_out_rows(imbalanced, short_sampler):
    # A validation row that is drawn in meta-training would show as a member's row.
    X, y = imbalanced
    drawn = []

    class Spy(DecisionTreeClassifier):
        def fit(self, X, y):
            drawn.append(X)
            return super().fit(X, y)

    options = {"n_estimators": 2, "refit": False, "random_state": 0}
    tree_mesa(Spy(), meta_sampler=short_sampler(6, 4), **options).fit(X, y)
    positives = {row.tobytes() for rows in drawn for row in rows}
    train = {row.tobytes() for row in X[y == 1]}
    assert len(positives & train) == round(0.8 * np.sum(y == 1))


def test_uniform_policy_uses_the_seed(imbalanced):
    X, y = imbalanced
    options = {"n_estimators": 10, "meta_sampler": "random"}
    a, b = (tree_mesa(random_state=s, **options).fit(X, y) for s in (0, 1))
    assert isinstance(a.meta_sampler_, UniformPolicy)
    assert len(np.unique(a.actions_)) == 9
    assert np.all((a.actions_ >= 0) & (a.actions_ <= 1))
    assert not np.any(a.actions_ == b.actions_)


def test_sampler_from_a_file(imbalanced, sampler, tmp_path):
    X, y = imbalanced
    path = tmp_path / "sampler.npz"
    sampler.save(path)
    direct = tree_mesa(meta_sampler=sampler, n_estimators=10, random_state=0).fit(X, y)
    for given in (path, str(path)):
        loaded = tree_mesa(meta_sampler=given, n_estimators=10, random_state=0).fit(X, y)
        assert_same_ensemble(direct, loaded, X)


def test_the_width_of_the_gaussian_is_that_of_the_policy(imbalanced, short_sampler):
    X, y = imbalanced
    options = {"n_estimators": 4, "random_state": 0}
    wide = short_sampler(6, 4, sigma=3.0).fit(X, y)
    own = tree_mesa(meta_sampler=wide, **options).fit(X, y)
    policy = LearnedPolicy(wide.policy_, wide.encoder_, sigma=3.0)
    assert_same_ensemble(own, tree_mesa(meta_sampler=policy, **options).fit(X, y), X)
    policy = LearnedPolicy(wide.policy_, wide.encoder_, sigma=0.05)
    narrow = tree_mesa(meta_sampler=policy, **options).fit(X, y)
    assert not np.array_equal(own.estimators_samples_[1], narrow.estimators_samples_[1])


def test_the_fit_of_the_paper_by_hand(imbalanced, by_hand):
    """What Algorithm 2 with a constant mu is: it must stay this to the last bit."""
    X, y = imbalanced
    X = X.astype(np.float32)
    clf = MesaClassifier.from_preset("paper", meta_sampler=0.9, random_state=5).fit(X, y)
    data = make_growth_data(
        X,
        y,
        estimator=DecisionTreeClassifier(),
        validation_fraction=0.2,
        sampling_ratio=1.0,
        scoring="average_precision",
        streams=RandomStreams(5),
    )
    train, valid = data.rows["train"], data.rows["valid"]
    assert not np.isin(valid, clf.estimators_samples_[0]).any()
    members, subsets = by_hand.grow(X, y, train, [None] + [0.9] * 9, seed=5)
    for mine, other in zip(clf.estimators_samples_, subsets, strict=True):
        np.testing.assert_array_equal(mine, other)
    total = sum(member.predict_proba(X)[:, 1] for member in members)
    np.testing.assert_array_equal(clf.predict_proba(X)[:, 1], total / 10)
    assert clf.scores_[-1] == average_precision_score(y[valid], total[valid])


@pytest.mark.parametrize("copy", [lambda c: pickle.loads(pickle.dumps(c)), "joblib"])
def test_fitted_classifiers_survive_being_stored(imbalanced, sampler, copy, tmp_path):
    X, y = imbalanced
    clf = tree_mesa(meta_sampler=sampler, n_estimators=10, random_state=0).fit(X, y)
    if copy == "joblib":
        joblib.dump(clf, tmp_path / "clf.joblib")
        again = joblib.load(tmp_path / "clf.joblib")
    else:
        again = copy(clf)
    assert_same_ensemble(clf, again, X)


def test_clone_keeps_a_meta_trained_sampler(imbalanced, sampler):
    X, y = imbalanced
    clf = tree_mesa(meta_sampler=sampler, n_estimators=10, random_state=0)
    twin = clone(clf)
    assert not hasattr(twin, "estimators_")
    assert_same_ensemble(clf.fit(X, y), twin.fit(X, y), X)


def test_inside_model_selection(imbalanced, sampler):
    X, y = imbalanced
    clf = tree_mesa(n_estimators=4, meta_sampler=sampler, random_state=0)
    scores = cross_val_score(clf, X, y, scoring="average_precision", cv=3)
    assert scores.min() > np.mean(y)
    search = GridSearchCV(clf, {"meta_sampler": [0.5, "random"], "estimator__max_depth": [2, 4]})
    search.set_params(estimator__estimator=DecisionTreeClassifier())
    search.fit(X, y)
    assert search.best_params_["estimator__max_depth"] in (2, 4)


def test_members_without_importances(imbalanced):
    clf = tree_mesa(GaussianNB(), n_estimators=2, random_state=0).fit(*imbalanced)
    assert not hasattr(clf, "feature_importances_")


def test_verbose_reports_and_silence_is_the_default(imbalanced, capsys):
    X, y = imbalanced
    tree_mesa(n_estimators=2, random_state=0).fit(X, y)
    assert capsys.readouterr().out == ""
    tree_mesa(n_estimators=2, random_state=0, verbose=1).fit(X, y)
    assert "Growing members" in capsys.readouterr().out


def test_hard_draws_beat_uniform_ones_on_mammography(mammography):
    # The paper's claim in its plainest form, on the authors' split: .70 against .48 at k = 20.
    (X, y), (X_val, y_val), (X_test, y_test) = (mammography[p] for p in ("train", "valid", "test"))

    def score(policy):
        fits = [
            MesaClassifier.from_preset(
                "paper", n_estimators=20, random_state=seed, meta_sampler=policy
            ).fit(X, y, X_val=X_val, y_val=y_val)
            for seed in range(3)
        ]
        return np.mean(
            [average_precision_score(y_test, clf.predict_proba(X_test)[:, 1]) for clf in fits]
        )

    assert score(1.0) > 0.65
    assert score(ConstantPolicy(0.9, sigma=1e3)) < 0.55


def test_only_a_warm_start_takes_a_checksum_of_the_rows(imbalanced, monkeypatch):
    X, y = imbalanced
    whole = tree_mesa(n_estimators=6, refit=False, random_state=0).fit(X, y)

    def refuse(self):
        raise AssertionError("all rows were read")

    with monkeypatch.context() as patched:
        patched.setattr(GrowthData, "fingerprints", refuse)
        clf = tree_mesa(n_estimators=4, refit=False, random_state=0).fit(X, y)

    def copied():
        return pickle.loads(pickle.dumps(clf)).set_params(n_estimators=6, warm_start=True)

    # It can still go on. All but the rows is compared then.
    with pytest.raises(ValueError, match=r"sampling_ratio was 1\.0 and is now 2\.0"):
        copied().set_params(sampling_ratio=2.0).fit(X, y)
    with pytest.raises(ValueError, match="needs the classes of the first fit"):
        copied().fit(X, y.astype(str))
    clf.set_params(n_estimators=6, warm_start=True).fit(X, y)
    np.testing.assert_array_equal(clf.predict_proba(X), whole.predict_proba(X))
    with pytest.raises(ValueError, match="X and X_val are not those of the fit before"):
        clf.set_params(n_estimators=7).fit(X + 1, y)
