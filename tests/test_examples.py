"""The examples run, and print what they promise; ``make docs`` runs all of them."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
#: What each prints on the way; the others need more time or an extra.
PROMISES = {
    "plot_first_fit": "calls",
    "plot_fraud_costs": "lowest cost",
    "plot_own_policy": "validation score",
    "plot_own_sampler": "average precision",
}


@pytest.mark.parametrize("name", PROMISES)
def test_example(name, capsys):
    plt = pytest.importorskip("matplotlib.pyplot")
    runpy.run_path(str(EXAMPLES / f"{name}.py"))
    plt.close("all")
    assert PROMISES[name] in capsys.readouterr().out
