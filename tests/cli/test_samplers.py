"""``metasampler samplers``."""

import re

import pytest
from typer.testing import CliRunner

from metasampler import MetaSampler, policy
from metasampler.cli import app


@pytest.fixture
def table(monkeypatch):
    """List these samplers; give the output without boxes."""

    def show(names):
        monkeypatch.setattr(policy, "pretrained_names", lambda: names)
        result = CliRunner().invoke(app, ["samplers"])
        assert result.exit_code == 0, result.output
        return re.sub(r"[│╭╮╰╯─\s]+", " ", result.output)

    return show


def test_samplers_of_the_package():
    text = CliRunner().invoke(app, ["samplers"]).output
    assert re.search(r"universal +FitToConstants +summary +DecisionTreeClassifier\(\)", text)
    assert re.search(r"mammography +SoftActorCritic +all +DecisionTreeClassifier\(\)", text)


def test_the_gain_is_that_of_the_round_that_was_chosen(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sampler = MetaSampler.load("mammography")
    sampler.summary_["validation"] = {
        "rounds": [
            {"round": 1, "mean": 0.9, "scores": {"a": 0.9}},
            {"round": 2, "mean": 0.75, "scores": {"a": 0.75}},
        ],
        "chosen_round": 2,
        "constants": {"0.9": {"a": 0.5}, "1.0": {"a": 0.625}},
    }
    sampler.save("a.npz")
    assert " +0.125 " in table(["a.npz"])
