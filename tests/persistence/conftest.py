"""Stored models that tests change as damage or a stranger would."""

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from model_files import ModelFile
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier, load_model, save_model


@pytest.fixture(scope="session")
def rows():
    X, y = make_classification(300, weights=[0.8], random_state=0)
    X[:, 3] = X[:, 3].round() + 10
    return X, y


def members(*kinds):
    return MesaClassifier(list(kinds), 2, meta_sampler=0.9, refit=False, random_state=0)


@pytest.fixture(scope="session")
def stored(rows, tmp_path_factory):
    """The file of a model with trees and boosters."""
    booster = LGBMClassifier(n_estimators=3, num_leaves=5, n_jobs=1, verbose=-1)
    clf = members(DecisionTreeClassifier(max_depth=4), booster).fit(*rows)
    path = tmp_path_factory.mktemp("models") / "model.mesa"
    save_model(clf, path)
    return path, clf


@pytest.fixture(scope="session")
def stored_pipeline(rows, tmp_path_factory):
    """The file of a model whose members are pipelines, with names of classes."""
    X, y = rows
    clf = members(make_pipeline(StandardScaler(), LogisticRegression()))
    clf.fit(X, np.where(y, "bad", "good"))
    path = tmp_path_factory.mktemp("models") / "pipeline.mesa"
    save_model(clf, path)
    return path, clf


@pytest.fixture
def changed(stored, tmp_path):
    """Return the parts of the model with trees and boosters, to be changed."""
    return ModelFile(stored[0])


@pytest.fixture
def refused(tmp_path):
    """Return what writes a changed file and returns why it is refused."""

    def check(file, **parts):
        path = file.write(tmp_path / "model.mesa", **parts)
        with pytest.raises(ValueError, match=r"^model\.mesa cannot be read as a model: ") as caught:
            load_model(path)
        return str(caught.value)

    return check


@pytest.fixture
def alone(stored):
    """Return what makes a file that holds one object alone."""

    def make(document):
        file = ModelFile(stored[0])
        file.document = document
        return file

    return make
