"""The journal of members: what it reads, cuts off and refuses."""

import pickle

import pytest

from metasampler.large import Journal


def filled(path):
    journal = Journal(path, "a fit")
    for number in range(3):
        journal.add(journal.key("member", number), {"number": number})
    return journal


def test_members_are_found_again(tmp_path):
    filled(tmp_path / "members")
    again = Journal(tmp_path / "members", "a fit")
    assert again.find(again.key("member", 1)) == {"number": 1}
    assert again.find(again.key("member", 7)) is None


def test_an_entry_that_was_cut_short_is_dropped(tmp_path):
    path = tmp_path / "members"
    filled(path)
    whole = path.read_bytes()
    path.write_bytes(whole + pickle.dumps((("member", 9, 1), list(range(1000))))[:300])
    again = Journal(path, "a fit")
    assert path.read_bytes() == whole
    assert again.find(("member", 2, 1)) == {"number": 2}


def test_a_file_of_somebody_else_is_left_alone(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="no fit has written; it is left as it is"):
        Journal(path, "a fit")
    assert path.read_text() == "a,b\n1,2\n"


def test_another_fit_is_refused(tmp_path):
    filled(tmp_path / "members")
    with pytest.raises(ValueError, match="one of another fit"):
        Journal(tmp_path / "members", "another")


def test_rows_are_remembered(tmp_path):
    Journal(tmp_path / "members", "a fit").check_rows("aa")
    again = Journal(tmp_path / "members", "a fit")
    again.check_rows("aa")
    with pytest.raises(ValueError, match="is one of other rows, labels, weights or groups"):
        again.check_rows("bb")
