import re
import subprocess
import sys
from pathlib import Path

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
    assert set(done.stdout.split()) <= {"metasampler", "sklearn"}


PACKAGES = ("datasets", "ensemble", "meta", "plotting")


@pytest.mark.parametrize("package", ["metasampler", *(f"metasampler.{name}" for name in PACKAGES)])
def test_public_names_are_sorted_and_there(package):
    module = __import__(package, fromlist=["__all__"])
    # Constants, classes, functions: the order of ruff.
    kinds = {name: (not name.isupper(), not name[0].isupper()) for name in module.__all__}
    assert list(module.__all__) == sorted(module.__all__, key=lambda name: (*kinds[name], name))
    for name in module.__all__:
        assert getattr(module, name).__doc__


def test_no_private_name_of_scikit_learn_is_imported():
    private = re.compile(
        r"^\s*from sklearn[\w.]*\._\w+ import|^\s*from sklearn[\w.]* import .*\b_\w+", re.M
    )
    source = Path(metasampler.__file__).parent
    offenders = [
        str(path.relative_to(source))
        for path in source.rglob("*.py")
        if private.search(path.read_text(encoding="utf-8"))
    ]
    assert offenders == []


def test_unknown_names():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = metasampler.meta.Nothing


@pytest.mark.parametrize("package", ["metasampler.ensemble", "metasampler.plotting"])
def test_no_name_of_a_shared_text_is_left(package):
    module = __import__(package, fromlist=["__all__"])
    for name in module.__all__:
        each = getattr(module, name)
        for member in (each, *(getattr(each, part) for part in dir(each))):
            assert not re.search(r"^ *\{\w+\}$", str(member.__doc__), re.M), (name, member)
