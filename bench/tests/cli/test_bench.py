import dataclasses
import re
from pathlib import Path

import pytest
from full_disk import full_disk
from typer.testing import CliRunner

from metasampler.cli import app
from metasampler_bench import METHODS, ResultStore, Runner, list_specs, load_spec
from metasampler_bench.cli._bench import _command

#: Those that take longest; `make bench-smoke` runs them all.
#: The bundled digits have too few positives for boosters: a quick look needs the tables.
OF_TABLES = {"policies-tables"}
SLOW = {"noise", "over-sampling", "resampling", "subset-cost", "synthetic", "transfer-matrix"}


@pytest.fixture
def no_data(tmp_path, monkeypatch):
    """A machine without the real data, and an empty directory to work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("METASAMPLER_DATA_HOME", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "empty"))


@pytest.fixture
def run(no_data):
    """Run `metasampler bench`; give its text without boxes."""

    def invoke(*arguments, code=0):
        result = CliRunner().invoke(app, ["bench", *map(str, arguments)])
        assert result.exit_code == code, (result.output, result.exception)
        assert "Traceback" not in result.output
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return re.sub(r"[│╭╮╰╯─\s]+", " ", result.output)

    return invoke


def test_list_names_all(run):
    text = run("--list")
    assert len(list_specs()) == 29
    for name in list_specs():
        spec = load_spec(name)
        n_cells = sum(len(job.cells) for job in spec.jobs())
        assert f" {name} {spec.paper or '-'} {n_cells} {spec.title}" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "one of ablation, authors-recipe, classes, cross-task"),
        (["under-samplin"], "unknown benchmark 'under-samplin'. Did you mean 'under-sampling'"),
        (["qwerty"], "Known: ablation, authors-recipe, classes, cross-task, datasets"),
        (["ablation", "--jobs", "0"], "must not be 0; use -1 for all cores"),
        (["ablation", "--runs", "0"], "--runs"),
        (["ablation", "--method", "mesa-fitt"], "unknown method 'mesa-fitt'. Did you mean"),
        (
            ["ablation", "--dataset", "nowhere"],
            "no dataset 'nowhere'; it has isolet, mammography, mammography-",
        ),
        (["datasets", "--quick", "--data-home", "gone"], "no folder 'gone'"),
        (["ablation", "--report-only"], "There are no rows of 'ablation' yet; run it first."),
    ],
)
def test_bad_requests_end_before_any_work(run, tmp_path, monkeypatch, arguments, message):
    def never(*arguments, **options):
        raise AssertionError("work was started")

    monkeypatch.setattr("metasampler_bench._runner._measure", never)
    assert message in run(*arguments, code=2)
    assert not list(tmp_path.rglob("*.jsonl"))


@pytest.mark.parametrize(
    "name",
    [name for name in list_specs() if name not in {*SLOW, *OF_TABLES}],
)
def test_a_quick_look_needs_no_data(run, tmp_path, monkeypatch, name):
    monkeypatch.setattr("metasampler_bench._report._DPI", 20)  # for speed
    text = run(name, "--quick")
    folder = tmp_path / "metasampler-results" / "quick"
    rows = ResultStore(folder / f"{name}.jsonl").rows()
    assert [row["error"] for row in rows if "error" in row] == []
    assert all(row["cell"]["quick"] for row in rows)
    assert f"{name}: {len(rows)} new rows in metasampler-results/quick/{name}.jsonl" in text
    if name not in ("methods", "leaderboard-large", "classes"):
        absent = "iranian_churn" if name == "tables" else "spectrometer"
        assert text.count(f"'{absent}' is not on this machine; 'digits-8' takes its place") == 1
    page = (folder / f"{name}.md").read_text(encoding="utf-8")
    assert page.startswith(f"# {load_spec(name).title}\n")
    assert f"metasampler bench {name} --quick\n" in page
    # Nothing is written that is not named.
    for path in filter(Path.is_file, folder.iterdir()):
        assert path.name in text
    if any(report["kind"] == "table" for report in load_spec(name).reports):
        assert ("| digits |" if name == "classes" else "digits-8") in page


def test_the_same_command_goes_on_and_reports_can_be_made_again(run, tmp_path):
    options = ("under-sampling", "--quick", "--method", "UnderBagging", "--output", "out")
    assert "under-sampling: 4 new rows" in run(*options)
    page = tmp_path / "out" / "quick" / "under-sampling.md"
    first = page.read_bytes()
    assert "\nmetasampler bench under-sampling --quick\n" in first.decode()
    assert "A quick look" in first.decode()
    assert "under-sampling: 0 new rows" in run(*options)
    page.unlink()
    assert "new rows" not in run("under-sampling", "--quick", "--report-only", "--output", "out")
    assert page.read_bytes() == first


def test_real_data_are_used_where_they_are(run, data_home):
    text = run("datasets", "--quick", "--data-home", data_home)
    assert "takes its place" not in text
    assert "spectrometer" in text
    # 486 rows to 45, 531 and 93: the paper has 11, 531 and 93.
    assert "10.8 11.0 -0.2 531 531 +0 93 93 +0" in text


def test_failed_cells_are_counted(run, monkeypatch):
    def make(*arguments):
        raise RuntimeError("no luck today")

    options = ("under-sampling", "--quick", "--method", "spe-paper", "--method", "under-bagging")
    with monkeypatch.context() as patch:
        failing = dataclasses.replace(METHODS["under-bagging"], make=make)
        patch.setitem(METHODS, "under-bagging", failing)
        text = run(*options)
    assert "4 of 8 cells failed" in text
    assert "under-sampling.md says why; --retry" in text
    text = run(*options, "--retry")
    assert "4 new rows" in text
    assert "failed" not in text


def test_an_interrupt_says_how_to_go_on(run, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(Runner, "run", interrupted)
    text = run("datasets", "--quick", code=130)
    assert "Interrupted. The same command goes on from here." in text


def test_two_at_once(run, tmp_path):
    path = tmp_path / "metasampler-results" / "quick" / "datasets.jsonl"
    with ResultStore(path).open_for_writing():
        assert "Another process is writing to" in run("datasets", "--quick", code=2)


def test_a_damaged_file_is_named(run, tmp_path):
    run("datasets", "--quick")
    path = tmp_path / "metasampler-results" / "quick" / "datasets.jsonl"
    path.write_bytes(b"no row\n" + path.read_bytes())
    for more in ((), ("--report-only",)):
        text = run("datasets", "--quick", *more, code=2)
        assert "is not a row of results" in text


def test_the_command_that_rows_tell():
    assert _command("ablation", None, None, False, None, 0) == "metasampler bench ablation"
    assert _command("noise", 2, 1, True, 2.5, 7) == (
        "metasampler bench noise --runs 2 --folds 1 --quick --limit 2.5 --seed 7"
    )


def test_packed_rows_are_read_and_gone_on_with(run, tmp_path):
    run("ablation", "--quick", "--pack")
    folder = tmp_path / "metasampler-results" / "quick"
    assert (folder / "ablation.jsonl").read_bytes() == b""
    rows = ResultStore(folder / "ablation.jsonl").rows()
    assert rows
    # Nothing is computed again, and other benchmarks find what they share.
    assert "ablation: 0 new rows" in run("ablation", "--quick")
    run("policies", "--quick", "--method", "constant-0.9")
    copied = ResultStore(folder / "policies.jsonl").rows()
    assert {row.get("copied_from") for row in copied} == {"ablation"}


def test_a_full_disk_is_said_without_a_traceback(run, tmp_path):
    with full_disk(100):
        text = run("datasets", "--quick", code=1)
    assert "datasets.jsonl' could not be written: File too large" in text
    assert "new rows" in run("datasets", "--quick")


def test_a_name_that_the_benchmark_lacks(run):
    options = ("under-sampling", "--quick", "--method", "under-bagging", "--method", "smote")
    assert "'under-sampling' with --quick has no method 'smote'" in run(*options, code=2)


@pytest.mark.parametrize("name", ["tables", "leaderboard"])
def test_without_any_data_it_says_at_once_what_to_set(run, tmp_path, monkeypatch, name):
    def fails(*args, **kwargs):
        raise OSError("there is no network")

    monkeypatch.setattr("imblearn.datasets._zenodo.urlopen", fails)
    text = run(name, code=2)
    assert "METASAMPLER_DATA_HOME" in text
    assert not (tmp_path / "metasampler-results" / f"{name}.jsonl").read_text()
