"""Write the list of public names, ``docs/api.md``: ``python docs/reference.py``.

A test compares the page with the packages, so that no name is forgotten.
"""

import importlib
from pathlib import Path

TITLES = {
    "metasampler": "metasampler",
    "metasampler.ensemble": "Ensembles",
    "metasampler.tables": "Tables",
    "metasampler.explain": "Reasons",
    "metasampler.export": "Other formats",
    "metasampler.drift": "Drift",
    "metasampler.policy": "Policies",
    "metasampler.meta": "Meta-training",
    "metasampler.plotting": "Pictures",
    "metasampler.report": "Report",
    "metasampler.datasets": "Data",
    "metasampler.distributed": "Clusters",
}

#: Of a package that others of the project build on, what users need.
FOR_USERS = {
    "metasampler.tables": (
        "ColumnFacts",
        "ColumnReport",
        "TableCleaner",
        "TableEncoder",
        "inspect_columns",
    ),
    "metasampler.drift": ("ColumnDrift", "DriftMonitor", "DriftReport"),
    "metasampler.policy": (
        "ConstantPolicy",
        "Drawn",
        "LearnedPolicy",
        "StateEncoder",
        "UniformPolicy",
        "WithRivals",
        "load_policy",
        "pretrained_names",
    ),
    "metasampler.meta": (
        "EnsembleTrainingEnv",
        "FitToConstants",
        "SoftActorCritic",
        "Task",
        "TrainingProgress",
    ),
    "metasampler.datasets": (
        "ParquetRows",
        "TableFile",
        "iterate_table",
        "make_claims",
        "make_imbalanced_digits",
        "read_table",
        "split_target",
    ),
}

LIST = """```{{eval-rst}}
.. currentmodule:: {package}

.. autosummary::
   :toctree: generated
   :nosignatures:

{names}
```
"""


def make_page() -> str:
    """Return the page: a section a package, with the first paragraph of its docstring."""
    parts, seen = ["# API reference\n"], set()
    for package, title in TITLES.items():
        module = importlib.import_module(package)
        # What a package passes on from another is listed once, where it comes first.
        listed = FOR_USERS.get(package, module.__all__)
        new = [name for name in listed if id(getattr(module, name)) not in seen]
        seen |= {id(getattr(module, name)) for name in new}
        names = "\n".join(f"   {name}" for name in new)
        about = (module.__doc__ or "").strip().split("\n\n")[0]
        parts += [f"## {title}\n", about + "\n", LIST.format(package=package, names=names)]
    return "\n".join(parts)


if __name__ == "__main__":
    (Path(__file__).parent / "api.md").write_text(make_page(), encoding="utf-8")
