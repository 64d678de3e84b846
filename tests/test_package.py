import subprocess
import sys

import pytest

import metasampler

SCRIPT = """
import sys
import sklearn.ensemble
before = set(sys.modules)
import metasampler
print(*sorted({name.split(".")[0] for name in set(sys.modules) - before}))
"""


def test_import_adds_nothing_to_scikit_learn():
    # Neither torch, gymnasium, pandas nor matplotlib, unless scikit-learn itself imports it.
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["metasampler"]


@pytest.mark.parametrize("package", ["metasampler", "metasampler.ensemble", "metasampler.meta"])
def test_public_names_are_sorted_and_there(package):
    module = __import__(package, fromlist=["__all__"])
    assert list(module.__all__) == sorted(module.__all__)
    for name in module.__all__:
        assert getattr(module, name).__doc__


def test_unknown_names():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = metasampler.meta.Nothing
