"""Models on disk: what is written comes back, with what is known of it."""

import io
import json
import re
import zipfile

import joblib
import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from model_files import ModelFile
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import fbeta_score, make_scorer
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, StratifiedKFold
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from xgboost import XGBClassifier

import metasampler.ensemble as ensembles
from metasampler import MesaClassifier, MetaSampler, load_facts, load_model, save_model
from metasampler.ensemble.teams import Boosters
from metasampler.meta import FitToConstants, SoftActorCritic
from metasampler.persistence import _save, _zip_entries
from metasampler.persistence._versions import versions_here
from metasampler.persistence._zip_entries import PARTS, read_part, write_parts
from metasampler.persistence.values import to_bytes
from metasampler.policy import ConstantPolicy, Drawn, WithRivals
from metasampler.tables import TableCleaner, TableEncoder

NAMES = sorted(name for name in ensembles.__all__ if name.endswith("Classifier"))


@pytest.fixture(scope="module")
def numbers():
    return make_classification(400, weights=[0.85], random_state=0)


@pytest.fixture(scope="module")
def table():
    X, y = make_classification(2400, weights=[0.88], random_state=0)
    frame = pd.DataFrame(X[:, :6], columns=list("abcdef"))
    frame["town"] = np.where(X[:, 6] > 0, "Rome", "Oslo")
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(len(X)) % 300, "D")
    frame.loc[::7, "b"] = np.nan
    return frame, np.where(y == 1, "bad", "good")


def small(name):
    settings = {} if name == "MesaClassifier" else {"n_estimators": 4}
    if name == "EasyEnsembleClassifier":
        settings["n_estimators"] = 2
    return getattr(ensembles, name)(random_state=0, **settings)


@pytest.mark.parametrize("name", NAMES)
def test_every_ensemble_comes_back(name, numbers, tmp_path):
    X, y = numbers
    clf = small(name).fit(X, y)
    save_model(clf, tmp_path / "model.mesa")
    again, metadata = load_model(tmp_path / "model.mesa"), load_facts(tmp_path / "model.mesa")
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    np.testing.assert_array_equal(again.predict(X), clf.predict(X))
    assert metadata["model"] == name
    joblib.dump(clf, tmp_path / "model.joblib")
    by_joblib = joblib.load(tmp_path / "model.joblib")
    np.testing.assert_array_equal(by_joblib.predict_proba(X), clf.predict_proba(X))


@pytest.mark.parametrize(
    "settings",
    [
        {"meta_sampler": 0.7, "estimator": LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1)},
        {
            "meta_sampler": "random",
            "estimator": [DecisionTreeClassifier(max_depth=3), GaussianNB()],
        },
        {
            "meta_sampler": 0.7,
            "n_estimators": 2,
            # LightGBM's own fit, not the shared table.
            "estimator": LGBMClassifier(
                n_estimators=5, n_jobs=1, verbose=-1, class_weight="balanced"
            ),
        },
        {"meta_sampler": 0.7, "threshold": "f1", "calibration": None, "warm_start": True},
    ],
    ids=["boosters", "list", "own-fit", "warm-start"],
)
def test_every_kind_of_member_comes_back(settings, numbers, tmp_path):
    X, y = numbers
    clf = MesaClassifier(**{"n_estimators": 4, "random_state": 0, **settings}).fit(X, y)
    save_model(clf, tmp_path / "model.mesa")
    again = load_model(tmp_path / "model.mesa")
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))


def test_a_table_with_teams_comes_back_with_what_is_known(table, tmp_path):
    frame, y = table
    clf = MesaClassifier(recipe="fast", random_state=0).fit(frame, y)
    stored = save_model(clf, tmp_path / "m.mesa", target="outcome", where=tmp_path, n=np.int64(3))
    again, metadata = load_model(tmp_path / "m.mesa"), load_facts(tmp_path / "m.mesa")
    np.testing.assert_array_equal(again.predict(frame), clf.predict(frame))
    assert metadata == stored
    assert metadata["column_kinds"]["town"] == "category"
    assert metadata["column_kinds"]["day"] == "date"
    assert metadata["classes"] == ["bad", "good"]
    assert metadata["target"] == "outcome"
    assert metadata["n"] == 3
    assert metadata["versions"] == versions_here()
    assert "predict returns 'bad'" in metadata["summary"]


@pytest.mark.parametrize("scoring", [None, "average_precision"])
def test_pipelines_and_searches_come_back(scoring, numbers, tmp_path):
    X, y = numbers
    pipe = make_pipeline(StandardScaler(), MesaClassifier(random_state=0, meta_sampler=0.9))
    search = GridSearchCV(
        pipe, {"mesaclassifier__n_estimators": [3, 4]}, cv=2, scoring=scoring
    ).fit(X, y)
    save_model(search, tmp_path / "model.mesa")
    again, metadata = load_model(tmp_path / "model.mesa"), load_facts(tmp_path / "model.mesa")
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    assert metadata["model"] == "MesaClassifier"


SHORT = {"n_estimators": 3, "random_state": 0}
ACTOR_CRITIC = SoftActorCritic(n_random_steps=2, n_updates=2)
CONSTANTS = FitToConstants(n_sweeps=1, n_constants=3)
SAMPLERS = {
    "a constant": 0.9,
    "random": "random",
    "a name": "mammography",
    "draws": Drawn("mammography"),
    "rivals": WithRivals(ConstantPolicy(0.2), rivals=(0.8,)),
    "actor-critic": MetaSampler(trainer=ACTOR_CRITIC, **SHORT),
    "as in the paper": Drawn(MetaSampler(trainer=ACTOR_CRITIC, **SHORT)),
    "constants": MetaSampler(trainer=CONSTANTS, **SHORT),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_models_with_any_sampler_come_back(name, numbers, tmp_path):
    X, y = numbers
    clf = MesaClassifier(DecisionTreeClassifier(), meta_sampler=SAMPLERS[name], **SHORT).fit(X, y)
    save_model(clf, tmp_path / "model.mesa")
    again = load_model(tmp_path / "model.mesa")
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))


def test_a_model_with_a_sampler_of_boosters_comes_back(table, tmp_path):
    X, y = table
    sampler = MetaSampler(Boosters(), state="signal", trainer=CONSTANTS, **SHORT).fit(X, y)
    clf = MesaClassifier(recipe="fast", meta_sampler=sampler, random_state=0).fit(X, y)
    save_model(clf, tmp_path / "model.mesa")
    again = load_model(tmp_path / "model.mesa")
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))


def test_a_file_is_replaced_whole_or_not_at_all(numbers, tmp_path):
    X, y = numbers
    clf = MesaClassifier(random_state=0, n_estimators=3, meta_sampler=0.9).fit(X, y)
    path = tmp_path / "model.mesa"
    save_model(clf, path)
    before = path.read_bytes()
    with pytest.raises(TypeError, match="metadata must be texts"):
        save_model(clf, path, odd=object())
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.mesa"]
    with zipfile.ZipFile(path) as file:
        assert json.loads(file.read("facts.json"))["format"] == 2


def _of_itself():
    loop: list = []
    loop.append(loop)
    return loop


def _deep():
    lists: list = []
    for _ in range(2000):
        lists = [lists]
    return lists


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"versions": {"data": 3}}, "must not be named"),
        ({"format": "v3", "created": None}, r"must not be named \['created', 'format'\]"),
        *(
            ({name: value}, "must not be named")
            for name, value in {
                "summary": None,
                "classes": 2,
                "columns": "all",
                "settings": "x",
                "class_counts": {"a": 0.5},
                "column_kinds": [1],
                "numbers_as_texts": 1,
            }.items()
        ),
        ({"n": 10**150}, "metadata cannot be stored: it holds a number of 151 digits"),
        ({"loop": _of_itself()}, "nested too deeply, or holds itself"),
        ({"lists": _deep()}, "nested too deeply, or holds itself"),
    ],
)
def test_metadata_that_no_file_could_be_read_with_leaves_the_old_file(
    metadata, message, stored, tmp_path
):
    path = tmp_path / "model.mesa"
    path.write_bytes(stored[0].read_bytes())
    with pytest.raises(ValueError, match=message):
        save_model(load_model(stored[0]), path, **metadata)
    assert path.read_bytes() == stored[0].read_bytes()


@pytest.mark.parametrize(
    ("model", "shown"), [({"a": 1}, "dict"), (MesaClassifier, "the class MesaClassifier")]
)
def test_what_is_no_estimator_is_not_stored(model, shown, tmp_path):
    with pytest.raises(TypeError, match=f"model must be a fitted estimator, got {shown}"):
        save_model(model, tmp_path / "model.mesa")


def test_neighbours_that_are_mostly_zeros_are_read_again(tmp_path):
    rng = np.random.default_rng(0)
    X = (rng.random((20_000, 400)) < 0.02).astype(float)
    y = (X[:, :4].sum(axis=1) + rng.random(20_000) > 1.05).astype(int)
    clf = KNeighborsClassifier().fit(X, y)
    save_model(clf, tmp_path / "model.mesa")
    again = load_model(tmp_path / "model.mesa")
    np.testing.assert_array_equal(again.predict_proba(X[:20]), clf.predict_proba(X[:20]))


def test_leaves_of_many_classes_are_read_again(tmp_path):
    # They are mostly zeros, which shrink more than a file may unpack to.
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(150), 8)
    X = rng.normal(size=(len(y), 3))
    clf = ensembles.UnderBaggingClassifier(DecisionTreeClassifier(), 15, random_state=0).fit(X, y)
    path = tmp_path / "model.mesa"
    save_model(clf, path)
    assert sum(tree.tree_.value.nbytes for tree in clf.estimators_) > 32 << 20
    again = load_model(path)
    np.testing.assert_array_equal(again.predict_proba(X[::40]), clf.predict_proba(X[::40]))
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        numbers = file.getinfo("numbers.bin")
        assert numbers.file_size / 30 < numbers.compress_size < path.stat().st_size


@pytest.mark.parametrize("content", [bytes(50 << 20), b"ab" * 100], ids=["zeros", "short"])
def test_parts_are_never_packed_too_tightly(content):
    packed = write_parts(b"{}", b"[]", content)
    file = io.BytesIO(packed)
    assert [bytes(read_part(file, name, 2**30)) for name in PARTS] == [b"{}", b"[]", content]
    with zipfile.ZipFile(io.BytesIO(packed)) as again:
        assert again.namelist() == list(PARTS)
        assert again.testzip() is None


def test_a_file_that_would_not_be_read_is_not_written(stored, tmp_path, monkeypatch):
    clf, path = load_model(stored[0]), tmp_path / "model.mesa"
    monkeypatch.setattr(_save, "MAX_BYTES", 10)
    with pytest.warns(UserWarning, match=r"load_model\(path, max_bytes=\d+\)"):
        save_model(clf, path)
    path.unlink()
    monkeypatch.setattr(_zip_entries, "_LARGEST", 1000)
    with pytest.raises(TypeError, match=r"cannot be stored: its 'facts.json' takes .* bytes"):
        save_model(clf, path)
    assert not list(tmp_path.iterdir())


def test_other_versions_are_named(stored, tmp_path):
    file = ModelFile(stored[0])
    file.facts["versions"] |= {"scikit-learn": "0.1", "python": "3.5.1"}
    path = file.write(tmp_path / "model.mesa")
    with pytest.warns(UserWarning, match=r"python 3\.5\.1 \(here .*scikit-learn 0\.1 \(here "):
        load_model(path)


# ---------------------------------------------------------------------- members of scikit-learn

CLASSIFIERS = [
    DecisionTreeClassifier(max_depth=3),
    ExtraTreeClassifier(),
    RandomForestClassifier(40, oob_score=True, max_depth=4),
    ExtraTreesClassifier(5),
    AdaBoostClassifier(n_estimators=5),
    BaggingClassifier(n_estimators=5, max_features=0.5),
    BaggingClassifier(GaussianNB(), n_estimators=3),
    BernoulliNB(),
    DummyClassifier(),
    GaussianNB(),
    KNeighborsClassifier(),
    KNeighborsClassifier(algorithm="brute", metric="cosine"),
    LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1, class_weight="balanced"),
    LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1, linear_tree=True),
    LinearDiscriminantAnalysis(),
    LogisticRegression(),
    MLPClassifier((5, 4), max_iter=2, early_stopping=True, solver="sgd"),
    VotingClassifier([("a", GaussianNB()), ("b", ExtraTreeClassifier())], voting="soft"),
]

TRANSFORMERS = [
    FeatureUnion([("a", StandardScaler()), ("b", PCA(2))]),
    FunctionTransformer(np.abs),
    MaxAbsScaler(),
    MinMaxScaler(),
    Normalizer(),
    OneHotEncoder(handle_unknown="ignore"),
    OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
    PCA(3),
    PolynomialFeatures(),
    PowerTransformer(),
    QuantileTransformer(n_quantiles=20),
    RobustScaler(),
    SelectKBest(k=3),
    SimpleImputer(),
    VarianceThreshold(),
]


def comes_back(model, X, path):
    save_model(model, path)
    again = load_model(path)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.predict(X).dtype == model.predict(X).dtype
    places = re.compile(" at 0x[0-9A-F]+")
    params = [places.sub("", str(each.get_params())) for each in (again, model)]
    assert params[0] == params[1]
    # What comes back can be written again.
    save_model(again, path)
    return again


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", CLASSIFIERS, ids=str)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_members_of_scikit_learn_come_back(kind, n_classes, tmp_path):
    X, y = make_classification(300, 6, n_informative=4, n_classes=n_classes, random_state=0)
    clf = MesaClassifier(clone(kind), 2, meta_sampler=0.9, random_state=0)
    comes_back(clf.fit(X, y), X, tmp_path / "member.mesa")
    # By itself, with classes of its own.
    comes_back(clone(kind).fit(X, np.array(["a", "b", "c"])[y]), X, tmp_path / "alone.mesa")


@pytest.mark.parametrize("step", TRANSFORMERS, ids=str)
def test_transformers_come_back(step, numbers, tmp_path):
    X, y = numbers
    X = X[:, :6].round(1)
    clf = MesaClassifier(random_state=0, n_estimators=3, meta_sampler=0.9)
    comes_back(make_pipeline(clone(step), clf).fit(X, y), X, tmp_path / "before.mesa")
    pipe = make_pipeline(clone(step), LogisticRegression(max_iter=10_000))
    clf = MesaClassifier(pipe, 2, meta_sampler=0.9, random_state=0).fit(X, y)
    comes_back(clf, X, tmp_path / "inside.mesa")


def test_columns_of_frames_come_back(table, tmp_path):
    frame, y = table
    frame = frame[[*list("acdef"), "town"]]
    by_column = ColumnTransformer(
        [("n", StandardScaler(), list("ac")), ("t", OneHotEncoder(), ["town"]), ("d", "drop", "d")],
        remainder="passthrough",
    )
    pipe = make_pipeline(by_column, MesaClassifier(recipe="fast", random_state=0))
    comes_back(pipe.fit(frame, y), frame, tmp_path / "m.mesa")
    cleaned = make_pipeline(TableCleaner(), MesaClassifier(recipe="fast", random_state=0))
    comes_back(cleaned.fit(frame, y), frame, tmp_path / "m.mesa")
    frame = frame.assign(town=frame["town"].astype("category"))
    boosters = LGBMClassifier(n_estimators=3, n_jobs=1, verbose=-1, class_weight="balanced")
    clf = MesaClassifier(boosters, 2, meta_sampler=0.9, random_state=0).fit(frame, y)
    comes_back(clf, frame, tmp_path / "m.mesa")


def test_searches_come_back_with_their_scores(numbers, tmp_path):
    X, y = numbers
    clf = MesaClassifier(GaussianNB(), 2, meta_sampler=0.9, random_state=0)
    scoring = {"a": "roc_auc", "b": make_scorer(fbeta_score, beta=2)}
    options = {"cv": StratifiedKFold(2), "scoring": scoring, "refit": "a"}
    search = GridSearchCV(clf, {"estimator": [GaussianNB(), BernoulliNB()]}, **options).fit(X, y)
    again = comes_back(search, X, tmp_path / "m.mesa")
    assert again.score(X, y) == search.score(X, y)
    assert list(again.cv_results_) == list(search.cv_results_)
    drawn = np.random.RandomState(0)
    search = RandomizedSearchCV(clf, {"n_estimators": [1, 2]}, n_iter=2, cv=2, random_state=drawn)
    again = comes_back(search.fit(X, y), X, tmp_path / "m.mesa")
    assert again.random_state.randint(10**9) == search.random_state.randint(10**9)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("boosting", ["gbdt", "rf", "dart"])
def test_boosters_keep_every_bit(boosting, n_classes, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((1500, 5)) * [1, 1e-30, 1e30, 1, 1]
    X[:, 3], X[::5, 4] = rng.integers(0, 20, len(X)), np.nan
    y = ((X[:, 3] % 3 == 0) ^ (X[:, 0] > 0.8)) + (X[:, 4] > 0.9) * (n_classes - 2)
    options = {"bagging_freq": 1, "bagging_fraction": 0.5} if boosting == "rf" else {}
    clf = LGBMClassifier(
        n_estimators=8, n_jobs=1, verbose=-1, boosting_type=boosting, min_child_samples=2, **options
    )
    clf.fit(X, y, sample_weight=rng.random(len(X)), categorical_feature=[3])
    again = comes_back(clf, X, tmp_path / "m.mesa")
    for kind in ("raw_score", "pred_leaf", "pred_contrib"):
        expected, found = (each.predict(X, **{kind: True}) for each in (clf, again))
        np.testing.assert_array_equal(found, expected)
    for kind in ("gain", "split"):
        expected, found = (
            each.booster_.feature_importance(importance_type=kind) for each in (clf, again)
        )
        np.testing.assert_array_equal(found, expected)


# ---------------------------------------------------------------------- what is refused


def rule(growth):
    return None


@pytest.mark.parametrize(
    ("make", "where"),
    [
        (lambda X, y: small("UnderBaggingClassifier").set_params(scoring=max).fit(X, y), "scoring"),
        (
            lambda X, y: MesaClassifier(GaussianNB(), 2, meta_sampler=rule).fit(X, y),
            "meta_sampler",
        ),
        (
            lambda X, y: small("UnderBaggingClassifier").fit(X, np.datetime64("2020-01-01") + y),
            "classes_",
        ),
        (
            lambda X, y: MesaClassifier(XGBClassifier(n_estimators=2), 2, meta_sampler=0.9).fit(
                X, y
            ),
            "xgboost.sklearn.XGBClassifier",
        ),
        (lambda X, y: SVC().fit(X, y), "sklearn.svm._classes.SVC"),
        (
            lambda X, y: make_pipeline(FunctionTransformer(lambda X: X), GaussianNB()).fit(X, y),
            "Pipeline.steps.func",
        ),
        (
            lambda X, y: small("UnderBaggingClassifier").fit(
                pd.DataFrame(X[:, :1].astype(str), columns=[pd.Timestamp("2020-01-01")]), y
            ),
            "_form.encoder.columns.name",
        ),
        (
            lambda X, y: LGBMClassifier(n_estimators=1, verbose=-1, objective=logistic).fit(X, y),
            "objective",
        ),
    ],
)
def test_what_cannot_be_read_is_not_written(make, where, numbers, tmp_path):
    model = make(*numbers)
    with pytest.raises(TypeError, match=re.escape(where)) as caught:
        save_model(model, tmp_path / "model.mesa")
    assert "cannot be stored" in str(caught.value)
    assert "`joblib.dump` writes it" in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_function_is_code_which_a_file_does_not_hold(numbers, tmp_path):
    X, y = numbers
    clf = MesaClassifier(DecisionTreeClassifier(), 2, meta_sampler=lambda growth: 0.7).fit(X, y)
    with pytest.raises(TypeError, match=r"meta_sampler is the function '<lambda>'.*no code"):
        save_model(clf, tmp_path / "model.mesa")


def logistic(y, score):
    p = 1 / (1 + np.exp(-score))
    return p - y, p * (1 - p)


def test_columns_with_names_of_several_levels_come_back(numbers, tmp_path):
    X, y = numbers
    frame = pd.DataFrame(X[:, :2], columns=pd.MultiIndex.from_product([["a"], ["b", "c"]]))
    frame["d", ""] = "x"
    comes_back(small("UnderBaggingClassifier").fit(frame, y), frame, tmp_path / "m.mesa")


@pytest.mark.parametrize(
    "names",
    [
        pd.MultiIndex.from_product([[f"s{i}" for i in range(50)], range(24)]),
        range(1, 10_101),
        np.linspace(400, 2500, 300),
    ],
    ids=["MultiIndex", "from one", "wavelengths"],
)
def test_many_columns_with_numbers_in_their_names_come_back(names, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, len(names))), columns=names)
    y = np.arange(60) % 3 == 0
    comes_back(small("UnderBaggingClassifier").fit(frame, y), frame, tmp_path / "m.mesa")


def test_very_many_names_of_many_digits_should_be_texts():
    names = np.linspace(400, 2500, 10_011)
    frame = pd.DataFrame(np.eye(3, len(names)), columns=names)
    with pytest.raises(TypeError, match=r"numbers with many digits.*frame\.columns\.map\(str\)"):
        to_bytes(TableEncoder().fit(frame))
    frame.columns = frame.columns.map(str)
    to_bytes(TableEncoder().fit(frame))


def test_columns_in_another_order_are_read_by_name_after_loading(table, numbers, tmp_path):
    for frame, y in (table, (pd.DataFrame(numbers[0]).add_prefix("x"), numbers[1])):
        clf = small("UnderBaggingClassifier").fit(frame, y)
        save_model(clf, path := tmp_path / f"{len(frame)}.mesa")
        loaded = load_model(path)
        assert loaded._form.names == list(frame.columns)
        turned = frame[frame.columns[::-1]]
        np.testing.assert_array_equal(loaded.predict_proba(turned), clf.predict_proba(frame))


@pytest.mark.parametrize("names", [None, ["a"], ["a"] * 20, []])
def test_names_of_other_columns_are_refused(names, numbers, tmp_path):
    frame = pd.DataFrame(numbers[0]).add_prefix("x")
    clf = small("UnderBaggingClassifier").fit(frame, numbers[1])
    clf._form.names = names
    with pytest.raises(TypeError, match=r"_form\.names"):
        save_model(clf, tmp_path / "model.mesa")


def test_texts_that_are_not_unicode_are_refused(numbers, tmp_path):
    X, y = numbers
    clf = small("UnderBaggingClassifier").fit(X, np.where(y, "a\ud800", "b"))
    with pytest.raises((TypeError, ValueError), match="not Unicode"):
        save_model(clf, tmp_path / "model.mesa")
    with pytest.raises(ValueError, match="not Unicode"):
        save_model(small("UnderBaggingClassifier").fit(X, y), tmp_path / "m.mesa", note="\ud800")


def test_equal_models_are_equal_files(numbers, tmp_path):
    parts = []
    for name in ("a", "b"):
        save_model(small("UnderBaggingClassifier").fit(*numbers), tmp_path / name)
        parts.append(ModelFile(tmp_path / name).parts())
    assert parts[0]["model.json"] == parts[1]["model.json"]
    assert parts[0]["numbers.bin"] == parts[1]["numbers.bin"]


def test_splits_of_missing_values_come_back(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (600, 3)).astype(float)
    X[rng.random(600) < 0.4, 0] = np.nan
    y = (np.isnan(X[:, 0]) ^ (rng.random(600) < 0.1)).astype(int)
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert np.isinf(tree.tree_.threshold).any()
    comes_back(tree, X, tmp_path / "m.mesa")
    booster = LGBMClassifier(n_estimators=20, n_jobs=1, verbose=-1, min_child_samples=1).fit(X, y)
    assert "inf" in booster.booster_.model_to_string()
    comes_back(booster, X, tmp_path / "m.mesa")
