"""Print how far a reader has to walk to follow one fit, and how long the library is.

The script runs a fit under a tracer and lists the functions of a package in the order in which the
fit first enters them. It counts the functions, the files they stand in, and how often the next
function stands in another file or in another package (folder). Methods of a nested library, for
instance scikit-learn below imbalanced-learn, do not count.

The default of `MesaClassifier` has two ways: it grows teams, and with few rows of a class trees.
Both are in the table.

    python benchmarks/walk.py              # the table
    python benchmarks/walk.py --list mesa  # the functions of one walk
    python benchmarks/walk.py --lines      # lines of the library, by package
"""

import argparse
import ast
import sys
from itertools import pairwise
from pathlib import Path

from sklearn.datasets import make_classification


def walk(fit, root: Path) -> list[tuple[Path, str]]:
    """Return the functions below `root` that `fit` enters, in the order of their first call."""
    seen: dict = {}

    def trace(frame, event, _):
        code = frame.f_code
        # Comprehensions and lambdas are read where they stand.
        if event == "call" and code not in seen and not code.co_name.startswith("<"):
            path = Path(code.co_filename)
            if path.is_relative_to(root):
                seen[code] = (path.relative_to(root), code.co_qualname)

    sys.setprofile(trace)
    try:
        fit()
    finally:
        sys.setprofile(None)
    return list(seen.values())


def count(steps: list[tuple[Path, str]]) -> dict[str, int]:
    """Return what the table shows of a walk."""
    files = [path for path, _ in steps]
    packages = [path.parent for path in files]
    return {
        "functions": len(steps),
        "files": len(set(files)),
        "changes of file": sum(a != b for a, b in pairwise(files)),
        "changes of package": sum(a != b for a, b in pairwise(packages)),
    }


def code_lines(source: str) -> int:
    """Return the lines that are neither blank, nor comments, nor docstrings."""
    prose: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            prose.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and number not in prose
        for number, line in enumerate(source.splitlines(), start=1)
    )


def print_lines(root: Path) -> None:
    """Print the lines of Python below a folder, by package, and how many of them are code."""
    counts: dict[str, list[int]] = {}
    for path in sorted(root.rglob("*.py")):
        package, *below = path.relative_to(root).parts
        source = path.read_text()
        total = counts.setdefault(package if below else ".", [0, 0, 0])
        for position, n in enumerate((1, len(source.splitlines()), code_lines(source))):
            total[position] += n
    print("| package | files | lines | code |")
    print("|---|---|---|---|")
    counts["all"] = [sum(column) for column in zip(*counts.values(), strict=True)]
    for name, (files, lines, code) in counts.items():
        print(f"| {name} | {files} | {lines:,} | {code:,} |")


def _walks():
    import imblearn.ensemble
    import sklearn.ensemble

    import metasampler

    X, y = make_classification(1500, weights=[0.9], random_state=0)
    few = make_classification(150, weights=[0.9], flip_y=0, random_state=0)
    own = Path(metasampler.__file__).parent

    def folder(module):
        return Path(module.__file__).parents[1]

    return {
        "mesa": (
            "MesaClassifier().fit",
            lambda: metasampler.MesaClassifier(random_state=0).fit(X, y),
            own,
        ),
        "few": (
            "MesaClassifier().fit, few rows",
            lambda: metasampler.MesaClassifier(random_state=0).fit(*few),
            own,
        ),
        "sampler": (
            "MetaSampler().fit",
            lambda: metasampler.MetaSampler(random_state=0).fit(X, y),
            own,
        ),
        "bagging": (
            "BalancedBaggingClassifier().fit",
            lambda: imblearn.ensemble.BalancedBaggingClassifier().fit(X, y),
            folder(imblearn.ensemble),
        ),
        "boosting": (
            "HistGradientBoostingClassifier().fit",
            lambda: sklearn.ensemble.HistGradientBoostingClassifier(max_iter=5).fit(X, y),
            folder(sklearn.ensemble) / "ensemble" / "_hist_gradient_boosting",
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", metavar="NAME", help="list the functions of one walk")
    parser.add_argument("--lines", action="store_true", help="count the lines of the library")
    options = parser.parse_args()
    if options.lines:
        import metasampler

        print_lines(Path(metasampler.__file__).parent)
        return
    name, walks = options.list, _walks()
    if name:
        _, fit, root = walks[name]
        for path, function in walk(fit, root):
            print(f"{path}  {function}")
        return
    print("| way | functions | files | changes of file | changes of package |")
    print("|---|---|---|---|---|")
    for title, fit, root in walks.values():
        print(f"| `{title}` | {' | '.join(str(n) for n in count(walk(fit, root)).values())} |")


if __name__ == "__main__":
    main()
