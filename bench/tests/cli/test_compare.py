"""``metasampler compare`` with the methods that this package adds."""

import numpy as np
import pytest
from typer.testing import CliRunner

from metasampler.cli import app
from metasampler.cli._methods import METHODS as OWN
from metasampler_bench import METHODS


def test_methods_of_the_registry_can_be_compared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["spe", "SMOTE", "decision tree"]
    options = [part for name in names for part in ("--method", name)]
    result = CliRunner().invoke(app, ["compare", "--folds", "2", "--n-estimators", "3", *options])
    assert result.exit_code == 0, result.output
    for title in ("SPE", "SMOTE", "decision tree"):
        assert title in result.output
    assert "failed" not in result.output
    unknown = CliRunner().invoke(app, ["compare", "--method", "smot"])
    assert unknown.exit_code == 2
    assert "'smote'" in unknown.output


@pytest.mark.parametrize("name", OWN)
def test_both_packages_mean_the_same(name, imbalanced):
    ours, theirs = METHODS[name], OWN[name]
    assert (ours.title, ours.sized) == (theirs.title, theirs.sized)
    size = 3 if ours.sized else None
    options = {"n_estimators": size, "random_state": 0, "n_jobs": 1}
    first, second = ours.build(**options), theirs.build(**options)
    if name == "lightgbm":
        # That of the command line takes frames as well; on numbers both are LightGBM's default.
        X, y = imbalanced
        both = [model.fit(X, y).predict_proba(X) for model in (first, second)]
        np.testing.assert_array_equal(*both)
    else:
        assert repr(first) == repr(second)
