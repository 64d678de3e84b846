import json
import os
import signal
import stat
import subprocess
import sys

import pytest
from full_disk import full_disk
from hypothesis import given, settings
from hypothesis import strategies as st

from metasampler_bench import ResultStore, _store
from metasampler_bench._rows import last_rows
from metasampler_bench._store import cell_key

# Takes the lock, appends one row, says so and waits until it is ended. The file of the store needs
# nothing of the package, whose import would take longer than the test.
HOLDER = """
import runpy, sys

store = runpy.run_path(sys.argv[2])["ResultStore"](sys.argv[1])
with store.open_for_writing() as append:
    append([{"from": "holder"}])
    print("locked", flush=True)
    sys.stdin.read()
"""

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda children: (
        st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=2)
    ),
    max_leaves=4,
)
small_rows = st.dictionaries(st.text(max_size=5), json_values, max_size=4)


@pytest.fixture
def store(tmp_path):
    return ResultStore(tmp_path / "deep" / "rows.jsonl")


def fill(store, rows):
    with store.open_for_writing() as append:
        append(rows)


def test_no_file_no_rows(store):
    assert store.rows() == []
    assert not store.path.parent.exists()


@settings(max_examples=30)
@given(batches=st.lists(st.lists(small_rows, max_size=2), max_size=3))
def test_any_rows_come_back_equal(tmp_path_factory, batches):
    store = ResultStore(tmp_path_factory.getbasetemp() / "any-rows.jsonl")
    store.path.unlink(missing_ok=True)
    with store.open_for_writing() as append:
        for batch in batches:
            append(batch)
    assert store.rows() == [row for batch in batches for row in batch]
    # Whatever is in them, a row is one line.
    assert store.path.read_bytes().count(b"\n") == sum(map(len, batches))


@settings(max_examples=30)
@given(pairs=small_rows)
def test_a_cell_has_one_key_in_any_order(pairs):
    assert cell_key(pairs) == cell_key(dict(reversed(pairs.items())))
    assert json.loads(cell_key(pairs)) == pairs


def test_many_appends_keep_every_row_whole(store):
    rows = [{"number": number, "text": "x" * (number * 7 % 3000)} for number in range(300)]
    with store.open_for_writing() as append:
        for start in range(0, 300, 3):
            append(iter(rows[start : start + 3]))
            # What has been appended is there for other readers at once.
            assert store.rows() == rows[: start + 3]
    assert store.rows() == rows


def test_a_second_opening_goes_on_behind_the_first(store):
    fill(store, [{"a": 1}])
    fill(store, [])
    fill(store, [{"a": 2}])
    assert store.rows() == [{"a": 1}, {"a": 2}]


# Shorter and longer than the pieces in which the end of the file is read.
@pytest.mark.parametrize("length", [1, 70_000, 140_000])
def test_a_broken_last_line_is_passed_over_and_then_removed(store, length):
    fill(store, [{"a": 1}, {"a": 2}])
    whole = store.path.read_bytes()
    store.path.write_bytes(whole + b'{"a": "' + b"3" * length)
    assert store.rows() == [{"a": 1}, {"a": 2}]
    with store.open_for_writing() as append:
        assert store.path.read_bytes() == whole
        append([{"a": 4}])
    assert store.rows() == [{"a": 1}, {"a": 2}, {"a": 4}]


def test_every_place_where_a_write_of_several_rows_can_break_off(store):
    first, second = [{"a": 1}], [{"b": "é"}, {"c": [1, 2]}, {"d": None}]
    fill(store, first)
    start = len(store.path.read_bytes())
    fill(store, second)
    content = store.path.read_bytes()
    for end in range(start, len(content) + 1):
        store.path.write_bytes(content[:end])
        n_whole = content[start:end].count(b"\n")
        assert store.rows() == first + second[:n_whole]
        fill(store, [{"e": 5}])
        assert store.rows() == [*first, *second[:n_whole], {"e": 5}]


def test_a_file_that_is_one_broken_line(store):
    store.path.parent.mkdir()
    store.path.write_bytes(b'{"a"')
    assert store.rows() == []
    fill(store, [{"a": 1}])
    assert store.rows() == [{"a": 1}]


@pytest.mark.parametrize("line", [b'{"a": 1', b"\xff\xfe", b"[1, 2]", b"null"])
def test_a_bad_line_in_the_middle_is_named(store, line):
    fill(store, [{"a": 1}, {"a": 2}])
    store.path.write_bytes(b'{"a":1}\n' + line + b'\n{"a":2}\n')
    with pytest.raises(ValueError, match=r"Line 2 of .*rows\.jsonl.* not a row.*Remove that line"):
        store.rows()


def test_rows_that_json_cannot_hold_leave_the_file_as_it_is(store):
    fill(store, [{"a": 1}])
    with pytest.raises(TypeError), store.open_for_writing() as append:
        append([{"a": 2}, {"a": {1, 2}}])
    assert store.rows() == [{"a": 1}]


@pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX's")
def test_the_file_is_no_program(store):
    fill(store, [])
    assert not stat.S_IMODE(store.path.stat().st_mode) & 0o111


@pytest.fixture
def holder(store):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(store.path), _store.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout.readline() == "locked\n"
        yield process
        process.kill()


def test_one_writer_at_a_time_and_none_after_a_kill(store, holder):
    with pytest.raises(BlockingIOError, match=r"Another process is writing to .*rows\.jsonl"):
        fill(store, [{"a": 1}])
    # Reading is open to all, and the refused writer changed nothing.
    assert store.rows() == [{"from": "holder"}]
    holder.send_signal(signal.SIGKILL)
    holder.wait(timeout=20)
    fill(store, [{"a": 1}])
    assert store.rows() == [{"from": "holder"}, {"a": 1}]


def test_a_refused_writer_does_not_cut_off_a_row_in_the_making(store, holder):
    # What looks like a broken line may be one that the other process is about to finish.
    with open(store.path, "ab") as file:
        file.write(b'{"half": ')
    with pytest.raises(BlockingIOError):
        fill(store, [])
    assert store.path.read_bytes().endswith(b'{"half": ')


def test_packed_rows_count_as_before(store):
    rows = [{"cell": {"k": k}, "score": k / 7} for k in range(200)]
    with store.open_for_writing() as append:
        append(rows[:100])
    size = store.path.stat().st_size
    store.pack()
    assert store.rows() == rows[:100]
    assert store.path.read_bytes() == b""
    assert store.packed.stat().st_size < size / 3
    content = store.packed.read_bytes()
    store.pack()
    # The same bytes for the same rows: what is committed does not change for nothing.
    assert store.packed.read_bytes() == content
    with store.open_for_writing() as append:
        append(rows[100:])
    assert store.rows() == rows
    with store.open_for_writing(), pytest.raises(BlockingIOError):
        store.pack()
    store.pack()
    assert store.rows() == rows
    assert store.path.read_bytes() == b""
    # A writer that had opened the file before the pack still writes to what is read.
    with store.open_for_writing() as append:
        append(rows[:1])
    assert store.rows() == [*rows, rows[0]]
    store.packed.write_bytes(store.packed.read_bytes()[:50])
    with pytest.raises(ValueError, match=r"rows.jsonl.gz' is broken"):
        store.rows()


def test_a_store_without_rows_is_not_packed(store):
    store.pack()
    assert not store.packed.exists()


@pytest.mark.parametrize("kept", [0, 10, 300])
def test_any_damage_to_a_packed_file_is_a_clear_error(store, kept):
    fill(store, [{"cell": {"k": k}, "score": k / 7} for k in range(200)])
    store.pack()
    content = bytearray(store.packed.read_bytes())
    # Behind the header: a broken stream, which is an error of zlib.
    content[20:] = bytes([255]) * (len(content) - 20) if not kept else content[20:kept]
    store.packed.write_bytes(content)
    with pytest.raises(ValueError, match=r"rows.jsonl.gz' is broken"):
        store.rows()


@pytest.mark.parametrize("n_packed", [0, 3])
def test_a_kill_at_the_end_of_pack_leaves_no_row_twice(store, monkeypatch, n_packed):
    rows = [{"cell": {"k": k}} for k in range(8)]
    if n_packed:
        fill(store, rows[:n_packed])
        store.pack()
    fill(store, rows[n_packed:7])

    def killed(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(_store.os, "ftruncate", killed)
        with pytest.raises(KeyboardInterrupt):
            store.pack()
    assert store.path.stat().st_size > 0
    assert store.rows() == rows[:7]
    fill(store, rows[7:])
    assert store.rows() == rows
    assert store.path.read_bytes().count(b"\n") == 1


def test_a_full_disk_names_the_file_and_loses_no_row(store):
    rows = [{"cell": {"k": k}, "text": "x" * 100} for k in range(9)]
    fill(store, rows[:3])
    size = store.path.stat().st_size
    with (
        full_disk(size + 50),
        pytest.raises(OSError, match=r"rows.jsonl' could not be written: File too large"),
    ):
        fill(store, rows[3:])
    assert store.rows() == rows[:3]
    fill(store, rows[3:])
    assert store.rows() == rows


@pytest.mark.parametrize("row", [{}, {"cell": 3}, {"cell": None, "seed": 0}])
def test_a_row_without_a_cell_is_named(row):
    with pytest.raises(ValueError, match="no cell"):
        last_rows([row])
