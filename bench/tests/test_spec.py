from collections import Counter
from dataclasses import replace
from importlib.resources import files

import pytest

from metasampler_bench import BASE_CLASSIFIERS, METHODS, list_specs, load_spec
from metasampler_bench._class_summaries import CLASS_SUMMARIES
from metasampler_bench._draw_summaries import DRAW_SUMMARIES
from metasampler_bench._figures import FIGURES
from metasampler_bench._measures import MEASURES
from metasampler_bench._methods import TABLE_METHODS
from metasampler_bench._rows import paper_value
from metasampler_bench._spec import AXES, parse_spec
from metasampler_bench._stand_in import STAND_IN, replace_absent
from metasampler_bench._store import cell_key
from metasampler_bench._summaries import SUMMARIES
from metasampler_bench._table_summaries import TABLE_SUMMARIES
from metasampler_bench.datasets import CLASS_NAMES, REAL_NAMES, ZENODO_NAMES, list_datasets

NAMES = list_specs()

OTHER_REPORTS = ("draw-policies", "table", "paired", "spread")

#: Typed from the paper: where each spec stands in it. Tables count through the appendix.
IN_PAPER = {
    "methods": "Table 1",
    "resampling": "Table 2",
    "under-sampling": "Table 3",
    "transfer": "Table 4",
    "noise": "Table 5",
    "ablation": "Table 6",
    "datasets": "Table 7",
    "networks": "Table 11",
    "states": "Figure 2",
    "synthetic": "Figure 3",
    "over-sampling": "Figure 4",
    "transfer-matrix": "Figure 5",
    "cross-task": "Figure 6",
    "subset-cost": "Figure 7",
    "policy-under-noise": "Figure 8",
    "meta-training": "Figure 9",
    "authors-recipe": "",
    "deep": "",
    "own-members": "",
    "seeds": "",
    "sensitivity": "",
    "validation-size": "",
    "leaderboard": "",
    "leaderboard-large": "",
    "tables": "",
    "classes": "",
    "policies-default": "",
    "policies-tables": "",
    "policies": "",
}

MESA_ON_A_TENTH = {"method": "mesa-fit", "meta_fraction": 0.1, "k": 10}
#: Typed from the paper: spec, the cell that is meant, and what the paper says about it.
FROM_PAPER = [
    ("resampling", {"method": "none", "base": "GNB"}, "score", 0.742),
    ("resampling", {"method": "nearmiss", "base": "AdaBoost"}, "score", 0.4),
    ("resampling", {"method": "allknn", "base": "DT"}, "score", 0.542),
    ("resampling", {"method": "smotetomek", "base": "GBM"}, "score", 0.703),
    ("resampling", MESA_ON_A_TENTH | {"base": "KNN"}, "score", 0.585),
    ("resampling", {"method": "none", "base": "DT"}, "rows", 87450),
    ("resampling", {"method": "adasyn", "base": "KNN"}, "rows", 173366),
    ("resampling", {"method": "smoteenn", "base": "GBM"}, "resampling_cpu", 156.641),
    ("resampling", {"method": "random-us", "base": "GBM"}, "resampling_cpu", 0.068),
    ("resampling", MESA_ON_A_TENTH | {"base": "DT"}, "rows", 15540),
    ("resampling", MESA_ON_A_TENTH | {"base": "DT"}, "resampling_cpu", 2.35),
    ("under-sampling", {"method": "rusboost-paper", "dataset": "isolet", "k": 20}, "score", 0.789),
    ("under-sampling", {"method": "under-bagging", "dataset": "isolet", "k": 5}, "score", 0.688),
    ("under-sampling", {"method": "spe-paper", "dataset": "mammography", "k": 20}, "score", 0.664),
    ("under-sampling", {"method": "cascade", "dataset": "spectrometer", "k": 10}, "score", 0.754),
    ("under-sampling", {"method": "mesa-fit", "dataset": "optical_digits", "k": 5}, "score", 0.929),
    (
        "under-sampling",
        {"method": "mesa-fit", "dataset": "mammography-authors", "k": 10},
        "score",
        0.644,
    ),
    ("transfer", {"dataset": "mammography", "k": 20}, "score", 0.705),
    ("transfer", {"dataset": "mammography", "meta_fraction": 0.5, "k": 10}, "score", 0.642),
    ("transfer", {"dataset": "protein_homo", "meta_fraction": 0.1, "k": 20}, "score", 0.871),
    ("transfer", {"dataset": "protein_homo", "meta_task": "spectrometer", "k": 10}, "score", 0.836),
    (
        "transfer",
        {"dataset": "mammography-authors", "meta_task": "optical_digits", "k": 10},
        "score",
        0.637,
    ),
    ("noise", {"method": "rusboost-paper", "dataset": "mammography"}, "score", 0.511),
    ("noise", {"method": "cascade", "dataset": "mammography", "noise": 0.1}, "score", 0.54),
    ("noise", {"method": "under-bagging", "dataset": "protein_homo", "noise": 0.4}, "score", 0.617),
    ("noise", {"method": "mesa-fit", "dataset": "protein_homo", "noise": 0.25}, "score", 0.757),
    (
        "noise",
        {
            "method": "mesa-fit",
            "dataset": "mammography-authors",
            "noise": 0.4,
            "flips": "authors",
        },
        "score",
        0.401,
    ),
    ("ablation", {"method": "random-policy", "dataset": "optical_digits", "k": 5}, "score", 0.904),
    ("ablation", {"method": "uniform-draws", "dataset": "spectrometer", "k": 10}, "score", 0.692),
    ("ablation", {"method": "random-policy", "dataset": "isolet", "k": 20}, "score", 0.891),
    ("ablation", {"method": "mesa-fit", "dataset": "mammography-authors", "k": 5}, "score", 0.515),
    ("datasets", {"dataset": "optical_digits"}, "imbalance_ratio", 9.1),
    ("datasets", {"dataset": "isolet"}, "n_features", 617),
    ("datasets", {"dataset": "protein_homo"}, "n_rows", 145751),
    ("networks", {"k": 5}, "score", 0.929),
    ("networks", {"hidden": [100], "k": 5}, "score", 0.93),
    ("networks", {"hidden": [10, 10, 10], "k": 20}, "score", 0.977),
    ("networks", {"hidden": [50, 50, 50], "k": 10}, "score", 0.965),
]
#: Cells above that are too obvious to say.
COMMON = {
    "resampling": {"dataset": "protein_homo"},
    "transfer": {"method": "mesa-fit"},
    "noise": {"k": 10},
    "networks": {"method": "mesa-fit", "dataset": "optical_digits"},
}

MINIMAL = """
title = "Small"
[[cells]]
dataset = ["digits-8"]
method = ["constant-0.9", "spe"]
k = [5, 10]
"""


def all_cells(spec, **options):
    return [cell for job in spec.jobs(**options) for cell in job.cells]


def test_all_of_the_paper_and_what_is_beyond_it():
    assert {name: load_spec(name).paper for name in NAMES} == IN_PAPER


def test_specs_are_part_of_the_package():
    # Where the package is imported from a wheel, this is the wheel.
    folder = files("metasampler_bench") / "specs"
    assert sorted(f"{name}.toml" for name in NAMES) == sorted(e.name for e in folder.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_everything_a_spec_names_exists(name):
    spec = load_spec(name)
    assert spec.title
    assert spec.about
    known_sets = {info.name for info in list_datasets()} | {"mammography-authors"}
    named = set()
    for part in (*spec.blocks, spec.quick):
        assert set(part) <= set(AXES) | {"kind", "runs", "folds", "keep", "needs", "tasks", "watch"}
        assert set(part.get("method", ())) <= {*METHODS, *TABLE_METHODS}
        assert set(part.get("base", ())) <= set(BASE_CLASSIFIERS)
        named |= {*part.get("dataset", ()), *filter(None, part.get("meta_task", ()))}
        for axis in ("tasks", "watch"):
            named |= {task for text in part.get(axis, ()) for task in text.split("+")}
    # What lies in the folders `extra` and `real` is known only where they are.
    named = {set_ for set_ in named if not set_.startswith(("adbench_", "keel"))}
    assert named <= known_sets | set(REAL_NAMES) | set(CLASS_NAMES)
    assert {job.kind for job in spec.jobs(runs=1)} <= set(MEASURES)
    kept = {*spec.keep, *(name for block in spec.blocks for name in block.get("keep", ()))}
    assert kept <= {"actions", "states", "surface", "resampling"}
    assert spec.reports
    for report in spec.reports:
        assert report["kind"] in {
            *SUMMARIES,
            *TABLE_SUMMARIES,
            *DRAW_SUMMARIES,
            *CLASS_SUMMARIES,
            *FIGURES,
            *OTHER_REPORTS,
        }
        if report["kind"] in ("table", "paired"):
            assert {*report["rows"], *report["columns"]} <= set(AXES)


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_no_cell_twice_and_quick_ones_are_marked(name, quick):
    cells = all_cells(load_spec(name), quick=quick, runs=2)
    counts = Counter(map(cell_key, cells))
    assert [key for key, n in counts.items() if n > 1] == []
    assert {cell.get("quick", False) for cell in cells} == {quick}
    # What goes without saying is not said: else two specs would not know their common cells.
    for cell in cells:
        assert all(axis not in AXES or value != AXES[axis] for axis, value in cell.items())
        assert {"run", "fold"} <= set(cell)
    if quick:
        assert len(cells) <= 40
        assert {(cell["run"], cell["fold"]) for cell in cells} == {(0, 0)}


@pytest.mark.parametrize("name", NAMES)
def test_jobs_go_data_set_by_data_set(name):
    names = [str(job.cell.get("dataset", "")) for job in load_spec(name).jobs(runs=2)]
    assert names == sorted(names)


@pytest.mark.parametrize("name", [name for name in NAMES if load_spec(name).values])
def test_every_value_of_the_paper_is_about_a_cell_and_none_contradicts_another(name):
    spec = load_spec(name)
    cells = all_cells(spec, runs=1, folds=1)
    said: dict[tuple[str, str], float] = {}
    for entry in spec.values:
        alone = replace(spec, values=(entry,))
        axis = next((a for a in entry if a != "where" and a in AXES and a != "rows"), None)
        for number in set(entry) - {"where", axis}:
            wanted = entry[number] if isinstance(entry[number], list) else [entry[number]]
            assert axis is None or len(wanted) == len(entry[axis])
            found = []
            for cell in cells:
                value = paper_value(alone, cell, number)
                if value is not None:
                    found.append(value)
                    key = cell_key(cell), number
                    assert said.setdefault(key, value) == value, key
                    assert paper_value(spec, cell, number) == value
            assert set(found) == set(map(float, wanted)), (entry["where"], number)


@pytest.mark.parametrize(("name", "cell", "number", "value"), FROM_PAPER)
def test_numbers_of_the_paper(name, cell, number, value):
    cell = COMMON.get(name, {}) | cell
    spec = load_spec(name)
    # A cell that the spec has, or the number would never be shown.
    wanted = cell_key({**cell, "run": 0, "fold": 0})
    assert wanted in set(map(cell_key, all_cells(spec, runs=1, folds=1)))
    assert paper_value(spec, {**cell, "run": 0, "fold": 0}, number) == value


def test_the_paper_says_nothing_about_our_own_rows():
    spec = load_spec("under-sampling")
    cell = {"dataset": "isolet", "method": "cascade", "k": 5}
    assert paper_value(spec, cell, "score") == 0.684
    assert paper_value(spec, {**cell, "rows": "train+valid"}, "score") is None
    assert paper_value(spec, {**cell, "k": 7}, "score") is None
    assert paper_value(spec, {**cell, "method": "constant-1"}, "score") is None
    assert paper_value(spec, {**cell, "noise": 0.1}, "score") is None
    assert paper_value(spec, cell, "cpu") is None


def test_prefixes_are_read_off_one_fit_and_others_are_fitted_for_each_size():
    text = MINIMAL.replace('"spe"', '"spe", "tree"')
    jobs = parse_spec("small", text).jobs(runs=1, folds=1)
    assert [(job.cell["method"], job.ks) for job in jobs] == [
        ("constant-0.9", (5, 10)),
        ("spe", (5,)),
        ("spe", (10,)),
        ("tree", ()),
    ]
    assert [cell.get("k") for job in jobs for cell in job.cells] == [5, 10, 5, 10, None]
    # Without any size each method has its own.
    jobs = parse_spec("small", text.replace("k = [5, 10]", "")).jobs(runs=1, folds=1)
    assert [(job.cell["method"], job.ks) for job in jobs] == [
        ("constant-0.9", ()),
        ("spe", ()),
        ("tree", ()),
    ]


def test_bases_share_a_resampling():
    text = """
title = "Small"
kind = "resampling"
[[cells]]
dataset = ["digits-8"]
method = ["smote"]
base = ["GNB", "DT"]
"""
    (job,) = parse_spec("small", text).jobs(runs=1, folds=1)
    assert [cell["base"] for cell in job.cells] == ["GNB", "DT"]


def test_which_cells():
    spec = parse_spec("small", MINIMAL.replace('["digits-8"]', '["digits-8", "arch-low"]'))
    numbers = {(job.cell["run"], job.cell["fold"]) for job in spec.jobs()}
    assert numbers == {(run, fold) for run in range(10) for fold in range(4)}
    numbers = {(job.cell["run"], job.cell["fold"]) for job in spec.jobs(runs=2, folds=1)}
    assert numbers == {(0, 0), (1, 0)}
    jobs = spec.jobs(runs=1, datasets=("arch-low",), methods=("constant-0.9",))
    assert {(job.cell["dataset"], job.cell["method"]) for job in jobs} == {
        ("arch-low", "constant-0.9")
    }
    assert spec.jobs(datasets=("wine",)) == []
    # The authors' split is one fold, and a block may have fewer runs than the spec.
    fixed = MINIMAL.replace("digits-8", "mammography-authors") + "runs = 1"
    assert {(job.cell["run"], job.cell["fold"]) for job in parse_spec("s", fixed).jobs()} == {
        (0, 0)
    }


def test_short_words_for_long_lists():
    text = MINIMAL.replace('["digits-8"]', '"zenodo"').replace('["constant-0.9", "spe"]', '"all"')
    jobs = parse_spec("long", text).jobs(runs=1, folds=1)
    assert {job.cell["dataset"] for job in jobs} == set(ZENODO_NAMES)
    assert {job.cell["method"] for job in jobs} == set(METHODS)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title =", "colour = 1\ntitle =", r"'small': unknown entries \['colour'\]"),
        ("k =", "size =", r"'small': unknown axes \['size'\]"),
        ('"spe"', '"spee"', "unknown method 'spee'. Did you mean"),
        ('"spe"', '"SPE"', "'SPE' is not the name of a method"),
        ("[[cells]]", "[quick]\nsets = []\n[[cells]]", r"unknown axes \['sets'\]"),
        ("[[cells]]", '[quick]\nmethod = ["x"]\n[[cells]]', "unknown method 'x'"),
        ("[[cells]]", "[[values]]\nwhere = {data = 1}\n[[cells]]", r"unknown axes \['data'\]"),
        ("[[cells]]", '[[values]]\nwhere = {method = "x"}\n[[cells]]', "unknown method 'x'"),
    ],
)
def test_mistakes_are_named(old, new, message):
    parse_spec("small", MINIMAL)
    with pytest.raises(ValueError, match=message):
        parse_spec("small", MINIMAL.replace(old, new))


def test_unknown_specs():
    with pytest.raises(ValueError, match=r"'ablations'\. Did you mean 'ablation'"):
        load_spec("ablations")
    with pytest.raises(ValueError, match="Known: ablation, authors-recipe"):
        load_spec("xyz")


@pytest.fixture
def no_data(tmp_path, monkeypatch):
    """A machine without the real data."""
    monkeypatch.delenv("METASAMPLER_DATA_HOME", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "empty"))


@pytest.mark.parametrize("name", NAMES)
def test_a_quick_look_can_do_without_the_real_data(no_data, name):
    before = load_spec(name).jobs(quick=True)
    jobs, replaced = replace_absent(before, None)
    assert jobs
    assert set(replaced) == {
        name
        for job in before
        for axis in ("dataset", "meta_task", "tasks", "watch")
        for name in str(job.cell.get(axis)).split("+")
        if name in ZENODO_NAMES or name in REAL_NAMES
    }
    cells = [cell for job in jobs for cell in job.cells]
    assert len({cell_key(cell) for cell in cells}) == len(cells)
    assert not {str(value) for cell in cells for value in cell.values()} & set(ZENODO_NAMES)
    for cell in cells:
        for axis in ("tasks", "watch"):
            tasks = str(cell.get(axis)).split("+")
            assert len(set(tasks)) == len(tasks)


def test_jobs_that_become_the_same_are_one(no_data):
    text = MINIMAL.replace('["digits-8"]', '["oil", "arch-low", "ecoli", "digits-8"]')
    jobs, replaced = replace_absent(parse_spec("small", text).jobs(runs=1, folds=1), None)
    assert {job.cell["dataset"] for job in jobs} == {"arch-low", STAND_IN}
    assert len(jobs) == 2 * 3
    assert sorted(replaced) == ["ecoli", "oil"]


def test_nothing_is_replaced_that_is_there(data_home):
    jobs = load_spec("under-sampling").jobs(quick=True)
    assert replace_absent(jobs, str(data_home)) == (jobs, [])


def test_a_wrong_folder_is_an_error_and_no_reason_to_go_without(tmp_path):
    with pytest.raises(FileNotFoundError, match="gone"):
        replace_absent(load_spec("datasets").jobs(quick=True), str(tmp_path / "gone"))


def test_data_sets_have_runs_and_folds_of_their_own():
    fits = "\n[fits]\ndigits-8 = { runs = 1, folds = 2 }\n"
    text = MINIMAL.replace(
        '["digits-8"]', '["digits-8", "ecoli"]\nmeta_task = ["wine", "digits-8"]'
    )
    text = text.replace('title = "Small"', f'title = "Small"\nruns = 3{fits}')
    spec = parse_spec("small", text.replace('"constant-0.9", "spe"', '"mesa-fit"'))

    def places(dataset, task, **options):
        wanted = {"dataset": dataset, "meta_task": task}
        cells = [c for c in all_cells(spec, **options) if wanted.items() <= c.items()]
        return sorted({(cell["run"], cell["fold"]) for cell in cells})

    assert places("digits-8", "wine") == [(0, 0), (0, 1)]
    assert len(places("ecoli", "wine")) == 12
    # A sampler that is meta-trained on the set takes as long, wherever it is used.
    assert places("ecoli", "digits-8") == [(0, 0), (0, 1)]
    # Who asks for more runs gets them.
    assert len(places("digits-8", "wine", runs=4)) == 8
    assert len(places("ecoli", "wine", runs=1)) == 4
    with pytest.raises(ValueError, match="fits of 'ecoli' can be runs and folds"):
        parse_spec("small", MINIMAL.replace("[[cells]]", "[fits]\necoli = { k = 1 }\n[[cells]]"))
