"""Layers are real: which package imports which, and that all go by public names."""

import ast
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "src" / "metasampler"
BENCH = ROOT / "bench" / "src" / "metasampler_bench"

_WITH_BENCH = pytest.mark.skipif(not BENCH.is_dir(), reason="the bench is not there")

#: Helpers of the root package, which every package may import.
FREE = {"_dask_token", "_docs", "_json", "_pipelines", "_running", "_sklearn_compat", "_warnings"}
FREE |= {"_writing"}

#: The packages that the code of each may import at the top of a file, and inside a function.
ALLOWED = {
    "tables": (set(), set()),
    "growth": ({"tables"}, set()),
    "policy": ({"growth"}, set()),
    "meta": ({"policy", "growth"}, set()),
    "drift": ({"tables"}, set()),
    # A path is the one way up: it names rows outside of memory.
    "ensemble": ({"drift", "policy", "growth", "tables"}, {"meta", "large"}),
    "large": ({"growth", "tables"}, set()),
    "export": ({"ensemble", "growth", "tables"}, set()),
    "explain": ({"ensemble", "growth", "tables"}, set()),
    "distributed": ({"ensemble", "large", "persistence"}, set()),
    "persistence": ({"drift", "ensemble", "growth", "meta", "policy", "tables"}, set()),
    "report": ({"drift", "ensemble", "explain", "plotting", "tables"}, set()),
}


class Import(NamedTuple):
    """One imported name."""

    file: str
    line: int
    package: str
    module: str
    name: str | None
    inside: bool

    def __str__(self):
        what = self.module if self.name is None else f"{self.module}: {self.name}"
        return f"{self.file}:{self.line} imports {what}"

    @property
    def parts(self) -> list[str]:
        """The dotted names; a name that is a module of the library counts as one."""
        parts = self.module.split(".")
        return parts if self.name is None else [*parts, self.name]

    @property
    def target(self) -> str | None:
        """The package of the library that it is from; None for the root's own names."""
        parts = self.parts
        if parts[0] != "metasampler" or len(parts) < 2:
            return None
        return parts[1] if (LIBRARY / parts[1]).is_dir() else None

    @property
    def goes_behind(self) -> bool:
        """Whether it goes past the public names of another package."""
        own = self.parts[1] == self.package if len(self.parts) > 1 else False
        private = [part for part in self.parts[1:] if part.startswith("_")]
        if own or not private:
            return False
        is_dunder = all(part.startswith("__") for part in private)
        return not is_dunder and not (self.parts[1] in FREE and len(private) == 1)


def is_type_checking(node) -> bool:
    return isinstance(node, ast.If) and getattr(node.test, "id", None) == "TYPE_CHECKING"


def walk(node, inside=False):
    """Yield the import statements below a node, and whether they are inside a function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child, inside
        else:
            function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            # What only a type checker reads is never imported; names must be public all the same.
            yield from walk(child, inside or function or is_type_checking(child))


def imports_of(source: str, file: str, package: str, module: list[str]):
    """Return all imports of the library and of its bench in some code.

    Parameters
    ----------
    source, file : str
        The code, and where it is.
    package : str
        The package below the root that the file is in, or "".
    module : list of str
        The package that relative imports start from.
    """
    found = []
    for node, inside in walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            named = [(alias.name, None) for alias in node.names]
        else:
            origin = node.module or ""
            if node.level:
                base = module[: len(module) - node.level + 1]
                origin = ".".join([*base, *([node.module] if node.module else [])])
            named = [(origin, alias.name) for alias in node.names]
        for origin, name in named:
            if origin.split(".")[0] in ("metasampler", "metasampler_bench"):
                found.append(Import(file, node.lineno, package, origin, name, inside))
    return found


def collect(root: Path) -> list[Import]:
    found = []
    for path in sorted(root.rglob("*.py")):
        below = path.relative_to(root).parts
        package = below[0] if len(below) > 1 else ""
        file = str(path.relative_to(ROOT))
        found += imports_of(path.read_text(), file, package, [root.name, *below[:-1]])
    return found


@pytest.fixture(scope="module")
def library():
    found = collect(LIBRARY)
    assert len(found) > 100  # else nothing was looked at
    return found


def shown(imports) -> list[str]:
    return [str(each) for each in imports]


def test_no_package_goes_behind_the_public_names_of_another(library):
    assert shown(each for each in library if each.goes_behind) == []


@pytest.mark.parametrize("package", ALLOWED)
def test_a_layer_imports_only_what_is_below_it(library, package):
    always, inside = ALLOWED[package]
    own = [each for each in library if each.package == package]
    assert own
    wrong = [
        each
        for each in own
        if each.target not in {None, package} | always
        and not (each.inside and each.target in inside)
    ]
    # The root package imports all layers. Who needs its version asks when all are there.
    wrong += [
        each
        for each in own
        if each.target is None and not FREE.intersection(each.parts) and not each.inside
    ]
    assert shown(wrong) == []


@pytest.mark.parametrize("root", [LIBRARY, pytest.param(BENCH, marks=_WITH_BENCH)])
def test_no_file_name_exists_twice(root):
    places = defaultdict(list)
    for path in sorted(root.rglob("*.py")):
        places[path.name].append(str(path.relative_to(root)))
    assert len(places) > 50
    del places["__init__.py"]
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_a_fit_in_memory_does_not_import_what_large_data_need():
    code = (
        "import sys; from sklearn.datasets import make_classification; import metasampler\n"
        "X, y = make_classification(300, weights=[0.8], random_state=0)\n"
        "metasampler.MesaClassifier(n_estimators=4, random_state=0).fit(X, y).predict(X)\n"
        "print([name for name in sys.modules if name.startswith('metasampler.large')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_library_does_not_know_its_bench(library):
    assert shown(each for each in library if each.parts[0] == "metasampler_bench") == []
    # Commands are found by an entry point, whose name is all that the library may hold.
    assert not any("import metasampler_bench" in path.read_text() for path in LIBRARY.rglob("*.py"))


@_WITH_BENCH
def test_the_bench_imports_public_names_only():
    found = [each for each in collect(BENCH) if each.parts[0] == "metasampler"]
    assert found
    private = [each for each in found if any(part.startswith("_") for part in each.parts[1:])]
    assert shown(each for each in private if not each.parts[-1].startswith("__")) == []


@pytest.mark.parametrize(
    ("code", "behind"),
    [
        ("from metasampler.growth import Growth", False),
        ("from metasampler.growth._loop import Growth", True),
        ("from metasampler.growth import _loop", True),
        ("import metasampler.growth._loop", True),
        ("from metasampler.growth import _private", True),
        ("def f():\n    from metasampler.growth._loop import Growth", True),
        ("if TYPE_CHECKING:\n    from metasampler.growth._loop import Growth", True),
        ("from ..growth._loop import Growth", True),
        ("from ..growth import Growth", False),
        ("from metasampler.ensemble._teams import Blend", False),
        ("from ._base import BaseEnsemble", False),
        ("from metasampler import _sklearn_compat as compat", False),
        ("from metasampler._docs import shared_docs", False),
        ("from metasampler._docs import _parse", True),
        ("from metasampler import __version__", False),
        ("import numpy._core", None),
    ],
)
def test_the_walk_sees_every_form_of_import(code, behind):
    found = imports_of(code, "file.py", "ensemble", ["metasampler", "ensemble"])
    assert [each.goes_behind for each in found] == ([] if behind is None else [behind])


def test_the_walk_tells_where_an_import_stands():
    code = "import metasampler.growth\nclass A:\n    def f(self):\n        import metasampler.meta"
    found = imports_of(code, "file.py", "ensemble", ["metasampler", "ensemble"])
    assert [each.target for each in found] == ["growth", "meta"]
    assert [each.inside for each in found] == [False, True]
