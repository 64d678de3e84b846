"""The journal of members: what it reads, cuts off and refuses."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from metasampler.growth import SampleFacts
from metasampler.large import Journal as _Journal
from metasampler.persistence.values import from_bytes, to_bytes

Journal = partial(_Journal, to_bytes=to_bytes, from_bytes=from_bytes)


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
    path.write_bytes(whole + whole[-60:-5])
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


def test_a_member_and_what_is_known_of_its_rows_come_back(tmp_path):
    X, y = make_classification(100, random_state=0)
    tree = DecisionTreeClassifier(max_depth=3).fit(X, y)
    facts = SampleFacts(np.arange(7), (np.array([5, 2]), np.array([5.0, 2.0])))
    Journal(tmp_path / "members", "a fit").add(("member", 2**64 - 1, 0, None, 0.5), (tree, facts))
    again, known = Journal(tmp_path / "members", "a fit").find(("member", 2**64 - 1, 0, None, 0.5))
    np.testing.assert_array_equal(again.predict_proba(X), tree.predict_proba(X))
    np.testing.assert_array_equal(known.rows, facts.rows)
    np.testing.assert_array_equal(known.totals, facts.totals)
    assert b"pickle" not in (tmp_path / "members").read_bytes()
    assert b"\x80\x04" not in (tmp_path / "members").read_bytes()[:40]


@pytest.mark.parametrize("seed", range(20))
def test_a_damaged_file_is_put_aside(seed, tmp_path):
    path = tmp_path / "members"
    filled(path)
    content = bytearray(path.read_bytes())
    rng = np.random.default_rng(seed)
    # In the bytes of an entry, behind its length.
    place = 25 + 12 + int(rng.integers(15))
    content[place] ^= 1 + int(rng.integers(255))
    path.write_bytes(content)
    with pytest.warns(UserWarning, match=r"is damaged, so the fit begins anew.* members\.damaged"):
        again = Journal(path, "a fit")
    assert again.find(("member", 1, 1)) is None
    assert (tmp_path / "members.damaged").read_bytes() == content
    again.add(("member", 1, 1), 3)
    assert Journal(path, "a fit").find(("member", 1, 1)) == 3


def test_a_member_that_no_file_can_hold_is_fitted_again(tmp_path):
    journal = Journal(tmp_path / "members", "a fit")
    with pytest.warns(UserWarning, match="cannot hold a member, so a restarted fit would fit it"):
        journal.add(("member", 1), SVC())
    assert journal.find(("member", 1)) is not None
    assert Journal(tmp_path / "members", "a fit").find(("member", 1)) is None


NO_ENTRIES = [
    np.zeros(3),
    ("member", "no tuple"),
    ((["a"],), 1),
    (((1, 2),), 1),
    ((np.zeros(2),), 1),
    (("member",), 1, 2),
]


@pytest.mark.parametrize(
    ("entry", "is_first"),
    [("a text", False), *((each, first) for each in NO_ENTRIES for first in (False, True))],
)
def test_what_is_no_entry_is_damage(entry, is_first, tmp_path):
    path = tmp_path / "members"
    journal = Journal(path, "a fit")
    if is_first:
        path.write_bytes(path.read_bytes()[: len(b"members of metasampler 2\n")])
    journal._append(to_bytes(entry))
    with pytest.warns(UserWarning, match=r"is damaged, so the fit begins anew"):
        Journal(path, "a fit")


def test_rows_that_are_no_text_are_other_rows(tmp_path):
    Journal(tmp_path / "members", "a fit").add(("rows",), np.zeros(3))
    with pytest.raises(ValueError, match="is one of other rows"):
        Journal(tmp_path / "members", "a fit").check_rows("aa")
