"""``metasampler samplers``."""

import re

from typer.testing import CliRunner

from metasampler.cli import app


def test_samplers_of_the_package():
    text = CliRunner().invoke(app, ["samplers"]).output
    assert re.search(r"universal +FitToConstants +summary +DecisionTreeClassifier\(\)", text)
    assert re.search(r"mammography +SoftActorCritic +all +DecisionTreeClassifier\(\)", text)
