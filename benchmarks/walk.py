"""Print how far a reader has to walk to follow one fit.

The script runs a fit under a tracer and lists the functions of a package in the order in which the
fit first enters them. It counts the functions, the files they stand in, and how often the next
function stands in another file or in another package (folder). Methods of a nested library, for
instance scikit-learn below imbalanced-learn, do not count.

    python benchmarks/walk.py            # the table
    python benchmarks/walk.py --list mesa  # the functions of one walk
"""

import argparse
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


def _walks():
    import imblearn.ensemble
    import sklearn.ensemble

    import metasampler

    X, y = make_classification(1500, weights=[0.9], random_state=0)
    own = Path(metasampler.__file__).parent

    def folder(module):
        return Path(module.__file__).parents[1]

    return {
        "mesa": (
            "MesaClassifier().fit",
            lambda: metasampler.MesaClassifier(random_state=0).fit(X, y),
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
    name = parser.parse_args().list
    walks = _walks()
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
