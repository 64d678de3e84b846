import dataclasses
import importlib.util
import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from metasampler import __version__
from metasampler.cli import _methods, app
from metasampler.cli._compare import DEFAULT_METHODS
from metasampler.cli._methods import METHODS, known_methods

#: With those that metasampler-bench adds.
KNOWN = known_methods()
PNG = b"\x89PNG\r\n\x1a\n"
# The methods that take no noticeable time.
QUICK = ["--method", "mesa", "--method", "decision tree", "--folds", "3", "--n-estimators", "3"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the command line in an empty directory; give exit code and text without boxes."""
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments, code=0):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        text = re.sub(r"[│╭╮╰╯─\s]+", " ", result.output)
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        return text

    return invoke


@pytest.fixture
def frame():
    """Rows of several column types, some values missing, and labels that are strings."""
    rng = np.random.default_rng(0)
    n = 240
    rare = rng.permutation(n) < 30
    amount = rng.normal(size=n) + 2 * rare
    amount[::17] = np.nan
    frame = pd.DataFrame(
        {
            "amount": amount,
            "count": rng.integers(0, 9, size=n),
            "open": rng.random(n) < 0.5,
            "colour": np.where(rare, "red", rng.choice(["red", "green", "blue"], size=n)),
            "size": pd.Categorical(rng.choice(["S", "M", "L"], size=n)),
            "fraud": np.where(rare, "yes", "no"),
        }
    )
    frame.loc[::13, "colour"] = None
    # A value that only one fold ever sees.
    frame.loc[5, "colour"] = "violet"
    return frame


def rows_of(text):
    """Title of a method -> the numbers of its row."""
    titles = sorted((method.title for method in KNOWN.values()), key=len, reverse=True)
    names = "|".join(re.escape(title) for title in titles)
    number = r"\d[\d.,]*"
    # Two classes have precision and recall, several have F1.
    pattern = rf"({names}) ({number}) ± ({number})((?: {number}){{4,5}})(?= )"
    return {
        match[1]: (match[2], match[3], *match[4].split()) for match in re.finditer(pattern, text)
    }


def test_members_by_default_and_by_number(run, monkeypatch):
    names = ("mesa", "mesa-fast", "under-bagging")
    chosen = [part for name in names for part in ("--method", name)]
    fits = {}

    def spy(name, build):
        def built(**settings):
            fits[name] = build(**settings)
            return fits[name]

        monkeypatch.setitem(METHODS, name, dataclasses.replace(METHODS[name], build=built))

    def n_members(*options):
        run("compare", "--folds", "2", *chosen, *options)
        return [len(fits[name].estimators_) for name in names]

    for name in names:
        spy(name, METHODS[name].build)
    usual, few = n_members(), n_members("--n-estimators", "4")
    # Presets keep their number unless one is asked for.
    assert (usual[-1], few[-1]) == (100, 4)
    assert usual[0] != few[0]
    assert usual[1] != few[1]


def test_bundled_digits_with_the_default_methods(run, tmp_path):
    text = run("compare", "--folds", "2", "--n-estimators", "3")
    assert "1,677 rows, 64 columns, minority '8': 54 rows, ratio 30.1:1" in text
    assert "failed" not in text
    rows = rows_of(text)
    assert set(rows) == {KNOWN[name].title for name in DEFAULT_METHODS}
    precisions = [float(row[0]) for row in rows.values()]
    assert precisions == sorted(precisions, reverse=True)
    # What was left out is named, with the reason.
    assert "Not run: MESA, meta-trained (learns a sampler in each fold" in text
    assert "MESA, best (takes three to four times as long" in text
    assert "--also mesa-fit adds one" in text
    assert "metasampler-compare.png" in text
    assert (tmp_path / "metasampler-compare.png").read_bytes().startswith(PNG)


def test_a_method_beside_others(run, monkeypatch):
    # Meta-training on each fold belongs to the tests of the meta-sampler.
    quick = dataclasses.replace(METHODS["mesa-fit"], build=METHODS["mesa"].build)
    monkeypatch.setitem(METHODS, "mesa-fit", quick)
    few = ("--folds", "2", "--n-estimators", "3")
    text = run("compare", *few, "--method", "tree", "--also", "mesa-fit")
    assert set(rows_of(text)) == {"decision tree", "MESA, meta-trained"}
    assert "Not run" not in text  # whoever names methods knows what is not among them
    monkeypatch.setattr("metasampler.cli._compare.DEFAULT_METHODS", ("tree", "not-installed"))
    text = run("compare", *few, "--also", "mesa-fit")
    assert set(rows_of(text)) == {"decision tree", "MESA, meta-trained"}
    assert "RUSBoost (need the package metasampler-bench)" in text
    assert "MESA, meta-trained (learns" not in text
    assert "unknown method 'nothing'" in run("compare", "--also", "nothing", code=2)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".tsv", ".parquet"])
def test_file_with_mixed_columns(run, tmp_path, frame, suffix):
    path = tmp_path / f"claims{suffix}"
    if suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    text = run("compare", path, "--target", "fraud", "--output", "curves.png", *QUICK)
    assert "240 rows, 5 columns, minority 'yes': 30 rows, ratio 7.0:1" in text
    assert "failed" not in text
    assert set(rows_of(text)) == {"MESA, default", "decision tree"}
    assert (tmp_path / "curves.png").read_bytes().startswith(PNG)


def test_odd_columns(run, tmp_path, frame):
    frame["when"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(240), unit="h")
    frame.loc[3, "when"] = pd.NaT
    frame["maybe"] = frame["count"].astype("Int64").mask(frame["count"] > 6)
    frame["unsure"] = frame["open"].astype("boolean").mask(frame["count"] > 6)
    frame["infinite"] = np.where(frame["count"] > 6, np.inf, 1.0)
    frame["empty"] = np.nan
    frame["fraud"] = (frame["fraud"] == "yes").astype(bool)
    frame.to_parquet(tmp_path / "odd.parquet")
    text = run("compare", "odd.parquet", "--target", "fraud", *QUICK)
    assert "minority 'True': 30 rows" in text
    assert "failed" not in text
    assert set(rows_of(text)) == {"MESA, default", "decision tree"}


def test_a_column_of_texts_and_numbers(run, tmp_path, frame):
    # Without the one text, which is in one fold only, the column would be numbers.
    frame["code"] = frame["count"].astype(object)
    frame.loc[7, "code"] = "unknown"
    frame.to_csv(tmp_path / "claims.csv", index=False)
    text = run("compare", "claims.csv", "--target", "fraud", "--method", "spe", *QUICK)
    assert "failed" not in text
    assert set(rows_of(text)) == {"MESA, default", "SPE", "decision tree"}
    # A title is explained where it stands in the table.
    assert "SPE is a self-paced ensemble. For precision" in text
    assert "meta-trained" not in text


def test_possible_leaks_are_named(run, tmp_path, frame):
    rng = np.random.default_rng(0)
    frame["refund"] = np.where(frame["fraud"] == "yes", 5.0, 0.0) + rng.random(len(frame))
    frame.to_parquet(tmp_path / "claims.parquet")
    file = ["compare", "claims.parquet", "--target", "fraud"]
    assert "Possible leaks: refund (Alone it has an average precision" in run(*file, *QUICK)
    assert "Possible leaks" not in run(*file, "--drop", "refund", *QUICK)


def test_columns_that_are_left_out_are_named(run, tmp_path, frame):
    frame["lists"] = [[1, 2]] * len(frame)
    frame["claim_id"] = np.arange(len(frame))
    frame["again"] = frame["fraud"].str.upper()
    frame.to_parquet(tmp_path / "claims.parquet")
    file = ["compare", "claims.parquet", "--target", "fraud"]
    text = run(*file, "--drop", "count,open", *QUICK)
    assert "240 rows, 3 columns" in text
    left_out = text.split("Left out: ")[1].split(" method ")[0]
    for name in ("count (As asked)", "open", "lists (It holds neither", "claim_id", "again (Each"):
        assert name in left_out
    text = run(*file, "--keep", "claim_id", *QUICK)
    assert "240 rows, 6 columns" in text
    assert "no column 'claimid'. Did you mean 'claim_id'?" in run(
        *file, "--drop", "claimid", *QUICK, code=2
    )


def test_one_rule_for_all_methods(run, tmp_path, frame):
    frame.to_csv(tmp_path / "claims.csv", index=False)
    file = ["compare", "claims.csv", "--target", "fraud", *QUICK]
    text = run(*file)
    assert "each method calls its n most probable rows, where n is the number of positives" in text
    for row in rows_of(text).values():
        precision, recall = map(float, row[3:5])
        assert abs(precision - recall) < 1e-9  # 10 rows of 80 in each fold, of which 10 are
    text = run(*file, "--top", "24")
    assert "each method calls 0.1 of the rows, its most probable ones" in text
    for row in rows_of(text).values():
        precision, recall = map(float, row[3:5])
        assert abs(precision * 8 - recall * 10) < 0.02  # hits among 8 rows, of 10 in the fold
    assert (
        rows_of(text)["MESA, default"][:5]
        == rows_of(run(*file, "--top", "10%"))["MESA, default"][:5]
    )
    for wrong in ("0", "-3", "many", "1.5", "150%", "nan"):
        assert "must be a number of rows" in run(*file, "--top", wrong, code=2)
    assert "more than the 240 rows" in run(*file, "--top", "241", code=2)


def test_columns_of_one_name_are_refused(run, tmp_path):
    (tmp_path / "twice.csv").write_text("x,y,x\n" + "1,0,2\n3,1,4\n" * 20)
    text = run("compare", "twice.csv", "--target", "y", *QUICK, code=2)
    assert "twice.csv has several columns 'x'; give each" in text


def test_three_classes(run, tmp_path, frame):
    frame["kind"] = np.where(frame["count"] < 2, "low", np.where(frame["open"], "up", "down"))
    frame.to_csv(tmp_path / "kinds.csv", index=False)
    text = run("compare", "kinds.csv", "--target", "kind", *QUICK)
    assert "3 classes, minority 'low'" in text
    assert "macro" in text
    # The class follows from two columns, so a full tree knows it.
    assert rows_of(text)["decision tree"][:4] == ("1.000", "0.000", "1.000", "1.000")
    assert (tmp_path / "metasampler-compare.png").read_bytes().startswith(PNG)


def test_positive_makes_two_classes(run, tmp_path, frame):
    frame["kind"] = np.where(frame["count"] < 2, 1.0, np.where(frame["open"], 2.0, 3.0))
    frame.to_csv(tmp_path / "kinds.csv", index=False)
    text = run("compare", "kinds.csv", "--target", "kind", "--positive", "2", *QUICK)
    assert f"minority '2': {(frame['kind'] == 2).sum()} rows" in text
    assert "macro" not in text
    text = run("compare", "kinds.csv", "--target", "kind", "--positive", "4", *QUICK, code=2)
    assert "no class '4'. Classes: 1, 2, 3." in text


def test_positive_may_be_the_majority(run, tmp_path, frame):
    frame.to_csv(tmp_path / "claims.csv", index=False)
    text = run("compare", "claims.csv", "--target", "fraud", "--positive", "NO", *QUICK)
    assert "minority 'yes': 30 rows, ratio 7.0:1, class to find 'no'" in text
    assert float(rows_of(text)["decision tree"][0]) > 0.85


def test_of_equal_classes_the_last_is_sought(run, tmp_path):
    frame = pd.DataFrame({"x": np.arange(40), "y": [0] * 20 + [1] * 20})
    frame.to_csv(tmp_path / "equal.csv", index=False)
    text = run("compare", "equal.csv", "--target", "y", *QUICK)
    assert "minority '1': 20 rows, ratio 1.0:1" in text
    assert "class to find" not in text


def test_same_seed_same_table(run):
    def scores(seed):
        rows = rows_of(run("compare", "--seed", seed, "--method", "RUSBoost", *QUICK))
        return {name: row[:5] for name, row in rows.items()}

    first = scores(1)
    assert first == scores(1)
    assert first != scores(2)


def test_jobs_change_times_only(run):
    def scores(jobs):
        names = ["--method", "balanced-forest", "--method", "under-bagging"]
        rows = rows_of(run("compare", "--jobs", jobs, *names, *QUICK))
        return {name: row[:5] for name, row in rows.items()}

    assert scores(1) == scores(2)


def test_failing_method_leaves_the_others(run, monkeypatch):
    def build(**options):
        raise RuntimeError("no luck today\nand more lines")

    monkeypatch.setitem(METHODS, "spe", dataclasses.replace(METHODS["spe"], build=build))
    text = run("compare", "--method", "SPE", *QUICK)
    assert "failed: RuntimeError: no luck today" in text
    assert "and more lines" not in text
    assert set(rows_of(text)) == {"MESA, default", "decision tree"}
    run("compare", "--method", "SPE", code=1)


@pytest.mark.parametrize("name", ["tree", "TREE", "decision tree", "DECISION Tree"])
def test_methods_by_name_or_title_in_any_case(run, name):
    text = run("compare", "--method", name, "--folds", "2")
    assert set(rows_of(text)) == {"decision tree"}


class FakeEntry:
    """An entry point that another package would have."""

    def __init__(self, name, content):
        self.name, self.content = name, content

    def load(self):
        return self.content


def test_methods_that_another_package_adds(run, monkeypatch):
    added = {
        "stump": dataclasses.replace(METHODS["tree"], title="a stump"),
        # What is the library's own stays.
        "tree": dataclasses.replace(METHODS["tree"], title="another tree"),
    }
    monkeypatch.setattr(_methods, "entry_points", lambda group: [FakeEntry("x", added)])
    text = run("compare", "--method", "A STUMP", *QUICK)
    assert "a stump" in text
    assert set(rows_of(text)) == {"MESA, default", "decision tree"}
    assert "Times are of one fit" in text


def test_unknown_method(run, monkeypatch):
    monkeypatch.setattr(_methods, "entry_points", lambda group: [])
    text = run("compare", "--method", "under-baging", code=2)
    assert "unknown method 'under-baging'. Did you mean 'under-bagging'" in text
    text = run("compare", "--method", "magic", code=2)
    assert "Known: mesa, mesa-fast" in text
    assert "metasampler-bench adds more" in text


def test_picture_needs_matplotlib_but_table_does_not(run, tmp_path, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: None if name == "matplotlib" else find(name, *rest),
    )
    text = run("compare", *QUICK)
    assert set(rows_of(text)) == {"MESA, default", "decision tree"}
    assert 'pip install "metasampler[plot]"' in text
    assert not (tmp_path / "metasampler-compare.png").exists()


def test_files_need_pandas(run, tmp_path, frame, monkeypatch):
    frame.to_csv(tmp_path / "claims.csv", index=False)
    monkeypatch.setitem(sys.modules, "pandas", None)
    text = run("compare", "claims.csv", "--target", "fraud", code=2)
    assert 'pip install "metasampler[data]"' in text


def test_bad_files(run, tmp_path):
    assert "no file 'gone.csv'" in run("compare", "gone.csv", "--target", "y", code=2)
    (tmp_path / "data.xlsx").write_bytes(b"")
    text = run("compare", "data.xlsx", "--target", "y", code=2)
    assert "must end in .csv, .tsv, .parquet or .pq; texts may be packed (.gz, .bz2" in text
    (tmp_path / "empty.csv").write_text("")
    assert "empty.csv cannot be read" in run("compare", "empty.csv", "--target", "y", code=2)
    (tmp_path / "header.csv").write_text("x,y\n")
    assert "header.csv has no rows" in run("compare", "header.csv", "--target", "y", code=2)
    (tmp_path / "broken.parquet").write_bytes(b"nothing of the kind")
    text = run("compare", "broken.parquet", "--target", "y", code=2)
    assert "broken.parquet cannot be read" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            [],
            "the column of claims.csv to predict. Columns: amount, count, open, colour, size,",
        ),
        (["--target", "freud"], "claims.csv has no column 'freud'. Did you mean 'fraud'?"),
        (["--target", "FRAUD"], "Did you mean 'fraud'?"),
        (["--target", "zzz"], "Columns: amount, count"),
        # Rows without a class are left out before classes are counted.
        (
            ["--target", "colour"],
            "Note: 19 of 240 rows have no class in 'colour', and are left out.",
        ),
        (["--target", "colour"], "class 'violet' has 1 row"),
        (["--target", "never"], "has no value in any of 240 rows"),
        (["--target", "same"], "only one class, '7'"),
        (["--target", "cents"], "has 240 distinct numbers: this looks like a quantity"),
        (["--target", "number"], "or an identifier"),
        (
            ["--target", "fraud", "--folds", "31"],
            "30 rows, fewer than the 31 folds: set --folds 30",
        ),
        (["--target", "single"], "class 'b' has 1 row"),
        (["--target", "fraud", "--output", "a/b.png"], "no directory 'a'"),
        (["--target", "fraud", "--output", "b.bmp"], "must end in .png, .pdf, .svg"),
        (["--target", "fraud", "--jobs", "0"], "must not be 0"),
        (["--target", "fraud", "--folds", "1"], "--folds"),
    ],
)
def test_bad_requests_end_before_any_work(run, tmp_path, frame, monkeypatch, arguments, message):
    frame["same"] = 7
    frame["cents"] = np.linspace(0, 1, 240) + 0.001
    frame["number"] = np.arange(240)
    frame["single"] = ["a"] * 239 + ["b"]
    frame["never"] = None
    # Only the columns a request names, so that the list of columns above stays short.
    extra = {"same", "cents", "number", "single", "never"} - set(arguments)
    frame.drop(columns=list(extra)).to_csv(tmp_path / "claims.csv", index=False)

    def never(*arguments, **options):
        raise AssertionError("work was started")

    monkeypatch.setattr("metasampler.cli._comparison.cross_validate", never)
    assert message in run("compare", "claims.csv", *arguments, code=2)


def test_target_without_file(run):
    assert "needs a FILE" in run("compare", "--target", "y", code=2)


def test_target_alone(run, tmp_path):
    pd.DataFrame({"y": [0, 1] * 9}).to_csv(tmp_path / "y.csv", index=False)
    assert "no column besides 'y'" in run("compare", "y.csv", "--target", "y", code=2)


def test_version(run):
    assert __version__ in run("--version")


def test_help_is_light():
    """Help loads nothing heavy beyond what the bare package does."""
    script = """
import json, sys
import metasampler
before = {name.partition(".")[0] for name in sys.modules}
from metasampler.cli import app
try:
    app(["compare", "--help"])
except SystemExit as end:
    assert end.code == 0
after = {name.partition(".")[0] for name in sys.modules}
print()
print(json.dumps([sorted(before), sorted(after)]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300
    )
    before, after = map(set, json.loads(done.stdout.splitlines()[-1]))
    assert "--n-estimators" in done.stdout
    assert not after & {"torch", "gymnasium", "matplotlib"}
    # scikit-learn itself imports pandas where it is installed.
    assert not (after - before) & {"sklearn", "imblearn", "scipy", "joblib", "pandas"}


def test_an_infinite_target_and_one_that_is_there_twice(run, tmp_path):
    (tmp_path / "rows.csv").write_text("x,y\n" + "1,0\n2,1\n3,inf\n" * 10)
    assert "column 'y' holds infinity in 10 of 30 rows" in run(
        "compare", "rows.csv", "--target", "y", *QUICK, code=2
    )
    (tmp_path / "twice.csv").write_text("y,x,y\n" + "0,1,0\n1,2,1\n" * 10)
    assert "several columns 'y'" in run("compare", "twice.csv", "--target", "y", *QUICK, code=2)


def test_a_picture_that_cannot_be_written_is_said_without_a_traceback(tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", fail)
    words = ["compare", "--folds", "2", "--method", "tree", "--output", str(tmp_path / "p.png")]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert "p.png cannot be written: No space left on device" in result.output
