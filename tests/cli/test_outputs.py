"""What is there stays until its successor is whole, and nothing else stays behind."""

import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
from full_disk import full_disk
from sklearn.datasets import make_classification
from typer.testing import CliRunner

from metasampler import MesaClassifier, load_model, save_model
from metasampler.cli import app
from metasampler.report import make_report

COMMANDS = {
    "fit": ["fit", "rows.csv", "--target", "y", "--folds", "3", "--output", "out.mesa"],
    "fit in parts": ["fit", "parts", "--target", "y", "--memory", "2 MB", "--output", "out.mesa"],
    "predict": ["predict", "model.mesa", "rows.csv", "--output", "out.csv", "--chunk-rows", "500"],
    "report": ["report", "model.mesa", "rows.csv", "--target", "y", "--output", "out.html"],
    "compare": ["compare", "rows.csv", "--target", "y", "--output", "out.png"],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a table and a model."""
    folder = tmp_path_factory.mktemp("outputs")
    X, y = make_classification(6000, 12, n_informative=6, weights=[0.9], random_state=0)
    frame = pd.DataFrame(X.round(4), columns=[f"x{k}" for k in range(12)])
    frame.assign(y=y).to_csv(folder / "rows.csv", index=False)
    (folder / "parts").mkdir()
    for part in range(3):
        frame.assign(y=y)[part::3].to_parquet(folder / "parts" / f"{part}.parquet")
    save_model(MesaClassifier(recipe="fast", random_state=0).fit(frame, y), folder / "model.mesa")
    return folder


def begin(folder, words):
    command = [sys.executable, "-m", "metasampler", *words]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def end_of(process):
    process.communicate(timeout=300)
    return process.returncode


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals of POSIX")
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("after", [0.3, 1.0])
def test_a_command_that_is_asked_to_end_leaves_nothing(name, after, made, tmp_path):
    for each in made.iterdir():
        (tmp_path / each.name).symlink_to(each)
    output = tmp_path / COMMANDS[name][-1 if name != "predict" else -3]
    output.write_bytes(b"what was there")
    before = sorted(each.name for each in tmp_path.iterdir())
    process = begin(tmp_path, COMMANDS[name])
    # Once it is at work, and not while Python starts.
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and process.poll() is None and not _has_begun(process.pid):
        time.sleep(0.02)
    time.sleep(after)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=300)
    assert process.returncode in (0, 128 + signal.SIGTERM), said.decode()
    assert b"Traceback" not in said
    assert sorted(each.name for each in tmp_path.iterdir()) == before
    if process.returncode:
        assert output.read_bytes() == b"what was there"


def _has_begun(pid) -> bool:
    """Return whether a process answers to the signal by itself."""
    try:
        with open(f"/proc/{pid}/status") as status:
            caught = next(line for line in status if line.startswith("SigCgt"))
    except OSError:
        return True
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


def test_two_processes_may_write_one_file(made, tmp_path):
    for each in made.iterdir():
        (tmp_path / each.name).symlink_to(each)
    alone = begin(tmp_path, [*COMMANDS["predict"][:3], "--output", "alone.csv"])
    assert end_of(alone) == 0
    both = [begin(tmp_path, COMMANDS["predict"]) for _ in range(2)]
    assert [end_of(process) for process in both] == [0, 0]
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "alone.csv").read_bytes()
    left = {each.name for each in tmp_path.iterdir()} - {each.name for each in made.iterdir()}
    assert left == {"out.csv", "alone.csv"}


@pytest.mark.parametrize("change", ["cut", "grown", "gone", "other"])
def test_an_input_may_change_while_it_is_read(change, made, tmp_path):
    for each in made.iterdir():
        if each.name != "rows.csv":
            (tmp_path / each.name).symlink_to(each)
    content = (made / "rows.csv").read_bytes()
    rows = tmp_path / "rows.csv"
    rows.write_bytes(content * 3)
    process = begin(tmp_path, COMMANDS["predict"])
    while process.poll() is None and not list(tmp_path.glob(".out.csv*")):
        time.sleep(0.01)
    if change == "cut":
        with open(rows, "r+b") as file:
            file.truncate(len(content))
    elif change == "grown":
        with open(rows, "ab") as file:
            file.write(content)
    elif change == "gone":
        rows.unlink()
    else:
        rows.write_bytes(b"\0" * len(content))
    _, said = process.communicate(timeout=300)
    assert process.returncode in (0, 1, 2), said.decode()
    assert b"Traceback" not in said
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(".")]


def test_a_report_is_replaced_whole_or_not_at_all(made, tmp_path):
    X, y = make_classification(400, 4, weights=[0.8], random_state=0)
    clf = MesaClassifier(recipe="fast", random_state=0).fit(X, y)
    page = make_report(clf, X, y, n_repeats=0)
    path = tmp_path / "report.html"
    page.save(path)
    before = path.read_bytes()
    with full_disk(20_000), pytest.raises(OSError, match=r"report\.html' could not be written"):
        page.save(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX")
def test_a_pipe_is_not_replaced_by_a_file(made, tmp_path, monkeypatch):
    monkeypatch.chdir(made)
    os.mkfifo(tmp_path / "out.csv")
    words = [*COMMANDS["predict"][:3], "--output", str(tmp_path / "out.csv")]
    result = CliRunner().invoke(app, words)
    assert isinstance(result.exception, SystemExit)
    said = " ".join(result.output.replace("│", "").split())
    assert "a pipe or a device, not a file; write a file and pass it on" in said
    with pytest.raises(OSError, match="could not be written: it is a pipe or a device"):
        save_model(load_model("model.mesa"), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").is_fifo()
    assert [each.name for each in tmp_path.iterdir()] == ["out.csv"]


def test_a_link_is_replaced_and_not_what_it_leads_to(made, tmp_path, monkeypatch):
    # Who may make links in a folder must not choose which file is written.
    monkeypatch.chdir(made)
    (tmp_path / "other.csv").write_text("kept")
    (tmp_path / "out.csv").symlink_to(tmp_path / "other.csv")
    words = [*COMMANDS["predict"][:3], "--output", str(tmp_path / "out.csv")]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert (tmp_path / "other.csv").read_text() == "kept"
    assert not (tmp_path / "out.csv").is_symlink()


@pytest.mark.parametrize("name", ["fit", "predict"])
def test_a_full_disk_is_said_once(name, made, tmp_path, monkeypatch):
    monkeypatch.chdir(made)
    words = list(COMMANDS[name])
    place = words.index("--output") + 1
    output = words[place] = str(tmp_path / words[place])
    with full_disk(5000):
        result = CliRunner().invoke(app, words)
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert result.output.endswith(f"Error: {output} cannot be written: File too large.\n")
    assert not list(tmp_path.iterdir())


ASKED_IN_A_FINALIZER = """
import os, signal, sys, time
from metasampler.cli import _app

class Late:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0)

def work(**options):
    for _ in range(3):
        Late()
    try:
        time.sleep(250)
    finally:
        print("tidied up")

_app.app = work
_app.main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals of POSIX")
def test_a_command_ends_also_if_it_is_asked_in_a_finalizer():
    # Python drops what is raised there, with a traceback.
    command = [sys.executable, "-c", ASKED_IN_A_FINALIZER]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (128 + signal.SIGTERM, "tidied up\n", "")


INTERRUPTED_WHILE_TIDYING_UP = """
import os, pathlib, shutil, sys
from metasampler._writing import folder_beside, written_beside

def interrupted(*arguments, **options):
    shutil.rmtree, pathlib.Path.unlink = real
    raise KeyboardInterrupt

real = shutil.rmtree, pathlib.Path.unlink
shutil.rmtree = pathlib.Path.unlink = interrupted
with (written_beside if sys.argv[1] == "file" else folder_beside)("out.csv") as made:
    raise ValueError("which is why it tidies up")
"""


@pytest.mark.parametrize("what", ["file", "folder"])
def test_an_interrupt_in_the_last_moment_leaves_nothing(what, tmp_path):
    command = [sys.executable, "-c", INTERRUPTED_WHILE_TIDYING_UP, what]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "KeyboardInterrupt" in done.stderr
    assert not list(tmp_path.iterdir())
