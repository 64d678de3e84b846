"""Models on disk: what is written comes back, with what is known of it."""

import importlib
import json
import zipfile

import joblib
import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import metasampler.ensemble as ensembles
from metasampler import MesaClassifier, MetaSampler, load_facts, load_model, save_model
from metasampler.ensemble.teams import Boosters
from metasampler.meta import FitToConstants, SoftActorCritic
from metasampler.persistence._trusted import TRUSTED
from metasampler.persistence._versions import versions_here
from metasampler.policy import ConstantPolicy, Drawn, WithRivals

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
    save_model(clf, tmp_path / "model.skops")
    again, metadata = load_model(tmp_path / "model.skops"), load_facts(tmp_path / "model.skops")
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
    save_model(clf, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))


def test_a_table_with_teams_comes_back_with_what_is_known(table, tmp_path):
    frame, y = table
    clf = MesaClassifier(recipe="fast", random_state=0).fit(frame, y)
    stored = save_model(clf, tmp_path / "m.skops", target="outcome", where=tmp_path, n=np.int64(3))
    again, metadata = load_model(tmp_path / "m.skops"), load_facts(tmp_path / "m.skops")
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
        pipe, {"mesaclassifier__n_estimators": [2, 3]}, cv=2, scoring=scoring
    ).fit(X, y)
    save_model(search, tmp_path / "model.skops")
    again, metadata = load_model(tmp_path / "model.skops"), load_facts(tmp_path / "model.skops")
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
    "actor-critic": MetaSampler(learner=ACTOR_CRITIC, **SHORT),
    "as in the paper": Drawn(MetaSampler(learner=ACTOR_CRITIC, **SHORT)),
    "constants": MetaSampler(learner=CONSTANTS, **SHORT),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_models_with_any_sampler_come_back(name, numbers, tmp_path):
    X, y = numbers
    clf = MesaClassifier(DecisionTreeClassifier(), meta_sampler=SAMPLERS[name], **SHORT).fit(X, y)
    save_model(clf, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))


def test_a_model_with_a_sampler_of_boosters_comes_back(table, tmp_path):
    X, y = table
    sampler = MetaSampler(Boosters(), state="signal", learner=CONSTANTS, **SHORT).fit(X, y)
    clf = MesaClassifier(recipe="fast", meta_sampler=sampler, random_state=0).fit(X, y)
    save_model(clf, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))


def test_every_trusted_name_is_a_type_of_its_own_module():
    # A name that leads elsewhere would trust what a module merely imports.
    for name in TRUSTED:
        module, _, attribute = name.rpartition(".")
        try:
            owner = importlib.import_module(module)
        except ModuleNotFoundError:  # a method of a class
            module, _, outer = module.rpartition(".")
            owner = getattr(importlib.import_module(module), outer)
        found = getattr(owner, attribute)
        assert found.__module__ == module, name


def test_a_file_is_replaced_whole_or_not_at_all(numbers, tmp_path):
    X, y = numbers
    clf = MesaClassifier(random_state=0, n_estimators=2, meta_sampler=0.9).fit(X, y)
    path = tmp_path / "model.skops"
    save_model(clf, path)
    before = path.read_bytes()
    with pytest.raises(TypeError, match="metadata must be texts"):
        save_model(clf, path, odd=object())
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.skops"]
    with zipfile.ZipFile(path) as file:
        assert json.loads(file.read("metasampler.json"))["format"] == 1


def test_other_versions_are_named(numbers, tmp_path, rewrite):
    X, y = numbers
    clf = MesaClassifier(random_state=0, n_estimators=2, meta_sampler=0.9).fit(X, y)
    save_model(clf, tmp_path / "model.skops")

    def older(metadata):
        metadata["versions"] |= {"scikit-learn": "0.1", "python": "3.5.1"}

    rewrite(tmp_path / "model.skops", metadata=older)
    with pytest.warns(UserWarning, match=r"python 3\.5\.1 \(here .*scikit-learn 0\.1 \(here "):
        load_model(tmp_path / "model.skops")


def test_types_of_others_are_named_and_can_be_trusted(numbers, tmp_path):
    from xgboost import XGBClassifier

    X, y = numbers
    members = XGBClassifier(n_estimators=2, n_jobs=1)
    clf = MesaClassifier(members, 2, meta_sampler=0.9, random_state=0).fit(X, y)
    save_model(clf, tmp_path / "model.skops")
    with pytest.raises(ValueError, match=r"xgboost\.sklearn\.XGBClassifier"):
        load_model(tmp_path / "model.skops")
    types = ["xgboost.sklearn.XGBClassifier", "xgboost.core.Booster", "builtins.bytearray"]
    again = load_model(tmp_path / "model.skops", trusted=types)
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
