"""Sampler files: the same sampler comes back, and nothing else is taken for one."""

import errno
import json
import os
import pickle
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from metasampler import MetaSampler, _writing
from metasampler.meta import FitToConstants, SoftActorCritic
from metasampler.policy import (
    GaussianPolicy,
    _archive,
    _sampler_files,
    check_writable,
    load_policy,
    pretrained_names,
    read_archive,
    write_archive,
)


@pytest.fixture(scope="module")
def sampler(imbalanced):
    return MetaSampler(
        n_estimators=4,
        trainer=SoftActorCritic(n_random_steps=6, n_updates=6, alpha=0.2),
        state="majority",
        n_bins=4,
        hidden_layer_sizes=(9, 8),
        random_state=0,
    ).fit(*imbalanced)


@pytest.fixture
def path(sampler, tmp_path):
    path = tmp_path / "sampler.npz"
    sampler.save(path)
    return path


def test_everything_comes_back(sampler, path):
    loaded = MetaSampler.load(path)
    np.testing.assert_array_equal(loaded.policy_.parameters, sampler.policy_.parameters)
    assert loaded.policy_.parameters.dtype == sampler.policy_.parameters.dtype
    assert repr(loaded) == repr(sampler)
    assert repr(loaded.trainer) == repr(sampler.trainer)
    assert loaded.hidden_layer_sizes == (9, 8)
    assert loaded.encoder_ == sampler.encoder_
    assert loaded.history_ == sampler.history_
    assert loaded.summary_ == sampler.summary_
    assert loaded.n_updates_ == sampler.n_updates_
    state = np.full(8, 0.25)
    assert loaded.choose(state) == sampler.choose(state)
    assert loaded.sample(state, np.random.default_rng(1)) == sampler.sample(
        state, np.random.default_rng(1)
    )


def test_what_cannot_be_stored_is_left_out(sampler, tmp_path):
    odd = MetaSampler(scoring=lambda clf, X, y: 0.0, random_state=np.random.RandomState(0))
    odd = MetaSampler.from_policy(sampler.policy_, **{**odd.get_params(), "n_bins": 4})
    odd.save(tmp_path / "odd.npz")
    loaded = MetaSampler.load(tmp_path / "odd.npz")
    assert loaded.scoring == "average_precision"
    assert loaded.random_state is None


def test_numpy_numbers_are_stored(sampler, tmp_path):
    odd = MetaSampler.from_policy(sampler.policy_, n_bins=np.int64(4), sigma=np.float32(0.25))
    odd.save(tmp_path / "odd.npz")
    loaded = MetaSampler.load(tmp_path / "odd.npz")
    assert loaded.sigma == 0.25
    assert loaded.n_bins == 4


def test_the_kind_of_state_is_that_of_the_policy(sampler, tmp_path):
    changed = clone(sampler).set_params(state="all", n_bins=9)
    changed.save(tmp_path / "changed.npz")
    loaded = MetaSampler.load(tmp_path / "changed.npz")
    assert loaded.encoder_ == sampler.encoder_
    assert loaded.state == "majority"


def test_a_folder_that_is_not_there(sampler, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no folder .*nowhere"):
        sampler.save(tmp_path / "nowhere" / "sampler.npz")


def test_no_pickle_inside(path):
    with np.load(path, allow_pickle=False) as archive:
        assert all(archive[name].dtype != object for name in archive.files)
        header = json.loads(str(archive["header"]))
    assert header == {"format": "metasampler.MetaSampler", "version": 1, "n_layers": 3}


def test_a_failed_write_leaves_the_old_file(path, monkeypatch):
    before = path.read_bytes()

    def full_disk(*args, **kwargs):
        args[0].write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_archive.np, "savez", full_disk)
    loaded = MetaSampler.load(path)
    with pytest.raises(OSError, match=r"sampler.npz' could not be written: No space left") as info:
        loaded.save(path)
    assert info.value.errno == errno.ENOSPC
    # It can still be saved elsewhere.
    monkeypatch.undo()
    loaded.save(path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no sampler file .*gone"):
        MetaSampler.load(tmp_path / "gone.npz")


def test_a_sampler_that_reads_summaries(imbalanced, tmp_path):
    trainer = FitToConstants(n_sweeps=1, n_constants=3, score_on="valid")
    options = {"n_estimators": 4, "trainer": trainer, "random_state": 0}
    sampler = MetaSampler(**options, state="summary", hidden_layer_sizes=()).fit(*imbalanced)
    sampler.save(tmp_path / "summary.npz")
    loaded = MetaSampler.load(tmp_path / "summary.npz")
    assert loaded.encoder_ == sampler.encoder_
    assert repr(loaded.trainer) == repr(trainer)
    state = np.linspace(-1, 1, 15)
    assert loaded.choose(state) == sampler.choose(state)
    with pytest.raises(ValueError, match=r"reads states of kind 'summary', vectors of length 15"):
        loaded.choose(np.zeros(10))


def test_samplers_that_come_with_the_package(sampler, tmp_path, monkeypatch):
    monkeypatch.setattr(_sampler_files, "FOLDER", tmp_path / "nothing")
    assert pretrained_names() == []
    with pytest.raises(FileNotFoundError, match="none comes with this version"):
        MetaSampler.load("general")
    monkeypatch.setattr(_sampler_files, "FOLDER", tmp_path)
    for name in ("trees", "general"):
        sampler.save(tmp_path / f"{name}.npz")
    assert pretrained_names() == ["general", "trees"]
    loaded = MetaSampler.load("general")
    np.testing.assert_array_equal(loaded.policy_.parameters, sampler.policy_.parameters)
    with pytest.raises(FileNotFoundError, match=r"'special'.* the names are general, trees"):
        MetaSampler.load("special")


@pytest.mark.parametrize("kept", [0, 10, 200, 0.5, 0.98])
def test_truncated_files(path, kept):
    content = path.read_bytes()
    path.write_bytes(content[: kept if kept > 1 or kept == 0 else int(len(content) * kept)])
    with pytest.raises(ValueError, match="not a usable sampler file"):
        MetaSampler.load(path)


def test_damaged_files(tmp_path):
    # Every byte, one at a time: either it is found out or it did no harm.
    path = tmp_path / "small.npz"
    policy = GaussianPolicy(2, hidden=(1,), rng=np.random.default_rng(0))
    MetaSampler.from_policy(policy, n_bins=1).save(path)
    content = bytearray(path.read_bytes())
    parameters = MetaSampler.load(path).policy_.parameters
    messages = []
    for position in range(len(content)):
        damaged = content.copy()
        damaged[position] ^= (0xFF, 0x01, 0x10)[position % 3]
        path.write_bytes(damaged)
        try:
            loaded = MetaSampler.load(path)
        except ValueError as error:
            messages.append(str(error))
        else:
            np.testing.assert_array_equal(loaded.policy_.parameters, parameters)
    assert len(messages) > 20
    assert all("not a usable sampler file" in message for message in messages)


SETTINGS = {
    "n_estimators": 10,
    "sigma": 0.2,
    "mu_min": 0.0,
    "state": "all",
    "n_bins": 5,
    "hidden_layer_sizes": [50],
    "trainer": {"name": "SoftActorCritic", "params": {"alpha": 0.2, "n_updates": 5}},
    "random_state": 0,
}
ENTRY = {
    "episode": 0,
    "task": "task 0",
    "train_score": 1.0,
    "valid_score": 0.5,
    "test_score": None,
    "actions": [0.5, 0.2],
    "n_random_actions": 2,
}
CONTENT = {"settings": SETTINGS, "history": [ENTRY], "summary": {}, "n_updates": 5}


def write(path, header=None, content=CONTENT, **changes):
    policy = GaussianPolicy(10, rng=np.random.default_rng(0))
    arrays = {}
    for number, (weights, biases) in enumerate(policy.layers):
        arrays |= {f"weights_{number}": weights, f"biases_{number}": biases}
    arrays |= changes
    header = {"format": _sampler_files.FORMAT, "version": _sampler_files.VERSION, "n_layers": 2} | (
        header or {}
    )
    arrays = {name: array for name, array in arrays.items() if array is not None}
    np.savez(path, header=json.dumps(header), content=json.dumps(content), **arrays)


def test_the_writer_above_writes_good_files(tmp_path):
    path = tmp_path / "sampler.npz"
    write(path)
    loaded = MetaSampler.load(path)
    assert loaded.encoder_.size == 10
    assert repr(loaded.trainer) == "SoftActorCritic(alpha=0.2, n_updates=5)"
    assert loaded.history_ == [ENTRY]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"header": {"format": "another"}}, "its format is 'another'"),
        ({"header": {"version": 2}}, "its version is 2; this release reads version 1"),
        ({"header": {"version": "1"}}, "its version is '1'"),
        ({"header": {"n_layers": 3}}, "n_layers = 3 and has"),
        ({"header": {"n_layers": 10**9}}, "n_layers = 1000000000 and has"),
        ({"header": {"n_layers": "two"}}, ""),
        ({"weights_1": None}, "n_layers = 2 and has"),
        ({"weights_3": np.zeros(3)}, "n_layers = 2 and has"),
        ({"surprise": np.zeros(3)}, "it holds 'surprise'"),
        ({"weights_1": np.zeros((50, 3), np.float32)}, "Biases of layer 1"),
        ({"weights_0": np.full((10, 50), np.nan, np.float32)}, "not finite"),
        ({"weights_0": np.zeros((10, 50), complex)}, "complex128, neither real numbers nor text"),
        ({"weights_0": np.full((10, 50), "a")}, "must hold real numbers"),
        ({"weights_0": np.zeros((10, 50), [("a", float)])}, "neither real numbers nor text"),
        ({"weights_0": np.array([["code"]], dtype=object)}, "is a pickle"),
        ({"content": ["no", "table"]}, "its content is not a table"),
        ({"content": {}}, "its settings must be of type dict"),
    ],
    ids=str,
)
def test_files_that_are_no_sampler_of_ours(tmp_path, options, words):
    path = tmp_path / "foreign.npz"
    write(path, **options)
    for load in (MetaSampler.load, load_policy):
        with pytest.raises(
            ValueError, match=f"foreign.npz' is not a usable sampler file: .*{words}"
        ):
            load(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_updates": float("inf")}, "its n_updates must be of type int"),
        ({"n_updates": -1}, "its n_updates is -1"),
        ({"n_updates": True}, "its n_updates must be"),
        ({"history": {}}, "its history must be of type list"),
        ({"history": [3]}, "entry 0 of its history is not a table"),
        ({"history": [ENTRY, {**ENTRY, "valid_score": float("nan")}]}, "entry 1 .* valid_score"),
        ({"history": [{**ENTRY, "actions": ["a"]}]}, "no usable actions"),
        ({"history": [{**ENTRY, "task": 5}]}, "no usable task"),
        ({"summary": "good"}, "its summary must be of type dict"),
        ({"settings": []}, "its settings must be of type dict"),
    ],
    ids=str,
)
def test_content_of_another_form(tmp_path, change, words):
    path = tmp_path / "foreign.npz"
    write(path, content={**CONTENT, **change})
    with pytest.raises(ValueError, match=f"not a usable sampler file: .*{words}"):
        MetaSampler.load(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"colour": "red"}, "setting 'colour' is none of a MetaSampler"),
        ({"estimator": "DecisionTreeClassifier"}, "setting 'estimator' is none"),
        ({"n_jobs": 2}, "setting 'n_jobs' is none"),
        ({"n_bins": 7}, "length 10, but states of kind 'all' with 7 bins have length 14"),
        ({"n_bins": 10**400}, ""),
        ({"n_bins": True}, "its n_bins is True"),
        ({"n_estimators": 10.5}, "'n_estimators' parameter"),
        ({"sigma": float("nan")}, "'sigma' parameter"),
        ({"sigma": float("inf")}, "'sigma' parameter"),
        ({"sigma": 10**400}, ""),
        ({"mu_min": 1.0}, "'mu_min' parameter"),
        ({"state": "minority"}, "'state' parameter"),
        ({"hidden_layer_sizes": "abc"}, "'hidden_layer_sizes' parameter"),
        ({"hidden_layer_sizes": [5]}, r"hidden_layer_sizes \(5,\) are not \(50,\)"),
        ({"hidden_layer_sizes": [50.0]}, "must hold positive integers"),
        ({"hidden_layer_sizes": {"50": 1}}, "must hold positive integers"),
        ({"random_state": -1}, "'random_state' parameter"),
        ({"scoring": 5}, "'scoring' parameter"),
        ({"trainer": "sac"}, "its trainer must have a name and params"),
        ({"trainer": {"name": "os.system", "params": {}}}, "its trainer must be one of"),
        ({"trainer": {"name": ["SoftActorCritic"], "params": {}}}, "its trainer must be one of"),
        ({"trainer": {"name": "FitToConstants", "params": {"alpha": 0.1}}}, "'alpha' is none of"),
        ({"trainer": {"name": "FitToConstants", "params": {"penalty": -1}}}, "'penalty' parameter"),
        (
            {"trainer": {"name": "SoftActorCritic", "params": {"n_updates": float("inf")}}},
            "'n_updates' parameter of SoftActorCritic",
        ),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_settings_that_no_sampler_has(tmp_path, change, words):
    path = tmp_path / "foreign.npz"
    write(path, content={**CONTENT, "settings": {**SETTINGS, **change}})
    for load in (MetaSampler.load, load_policy):
        with pytest.raises(ValueError, match=f"not a usable sampler file: .*{words}"):
            load(path)


def test_settings_may_be_left_out(tmp_path):
    path = tmp_path / "plain.npz"
    write(path, content={**CONTENT, "settings": {}})
    loaded = MetaSampler.load(path)
    assert repr(loaded) == "MetaSampler()"
    assert load_policy(path).sigma == 0.2


# ---------------------------------------------------------------------- pretrained samplers


def test_pretrained_samplers():
    universal = MetaSampler.load("universal")
    assert repr(universal) == (
        "MetaSampler(hidden_layer_sizes=(), mu_min=0.4, n_estimators=20, random_state=0,\n"
        "            state='summary',\n"
        "            trainer=FitToConstants(n_sweeps=1, penalty=0.0003, score_on='test',\n"
        "                                   tasks_per_round=133))"
    )
    state = np.linspace(0, 1, 15)
    assert universal.choose(state) == load_policy("universal").choose(state)
    assert universal.choose(0.3 * state) == pytest.approx(0.9999895864652828, abs=1e-6)
    for name in pretrained_names():
        sampler = MetaSampler.load(name)
        sampler.as_policy()
        if name not in ("boosters", "universal"):
            assert repr(sampler.trainer) == "SoftActorCritic()"
    mu = MetaSampler.load("mammography").choose(np.linspace(0, 0.3, 10))
    assert mu == pytest.approx(0.9716126431158869, abs=1e-6)


# ---------------------------------------------------------------------- hostile files


def copy_with(path, name, content):
    """Replace a member of a good file; give the archive, still open, and the member."""
    write(path)
    with zipfile.ZipFile(path) as good:
        members = {info.filename: good.read(info) for info in good.infolist()}
    members[name] = content
    archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
    for member, data in members.items():
        archive.writestr(member, data)
    return archive, archive.getinfo(name)


def load_with_little_memory(path, words):
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=words):
            MetaSampler.load(path)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_a_member_of_two_gigabytes(tmp_path):
    path = tmp_path / "bomb.npz"
    archive, member = copy_with(path, "weights_0.npy", bytes(1 << 20))
    # Where readers look for the size before they unpack.
    member.file_size = 2 << 30
    archive.close()
    load_with_little_memory(path, r"bomb.npz' is .*it would unpack to 6 arrays of 2048 MB")


def test_a_member_that_unpacks_to_more_than_it_says(tmp_path):
    path = tmp_path / "liar.npz"
    archive, member = copy_with(path, "weights_0.npy", bytes(64 << 20))
    member.file_size = 1000
    archive.close()
    load_with_little_memory(path, r"liar.npz' is not a usable sampler file")


def test_more_members_than_a_sampler_can_have(tmp_path):
    path = tmp_path / "many.npz"
    arrays = {f"weights_{number}": np.zeros(1) for number in range(200)}
    write(path, **arrays)
    load_with_little_memory(path, "it holds 20[0-9] arrays")


@pytest.mark.parametrize(
    "shape", ["(1000000000000, 50)", "(-10, 50)", "(10, 51)", "(10, 49)", "(2**60,)"]
)
def test_an_array_that_claims_another_shape(tmp_path, shape):
    path = tmp_path / "liar.npz"
    write(path)
    with zipfile.ZipFile(path) as good:
        data = good.read("weights_0.npy")[-2000:]
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    start = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little")
    copy_with(path, "weights_0.npy", start + header + data)[0].close()
    with pytest.raises(ValueError, match="not a usable sampler file"):
        MetaSampler.load(path)


def test_a_member_that_is_there_twice(tmp_path):
    path = tmp_path / "twice.npz"
    write(path)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("header.npy", archive.read("header.npy"))
    with pytest.raises(ValueError, match="it holds 'header' twice"):
        MetaSampler.load(path)


def test_a_file_that_is_too_large(tmp_path):
    path = tmp_path / "large.npz"
    with open(path, "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ValueError, match="it is larger than 32 MB"):
        MetaSampler.load(path)


def test_json_that_goes_deep(tmp_path):
    path = tmp_path / "deep.npz"
    write(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    arrays["content"] = np.array("[" * 100_000)
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match="not a usable sampler file"):
        MetaSampler.load(path)


@given(st.data())
@settings(max_examples=60)
def test_random_damage(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "random.npz"
    write(path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(content) - 1))
        content[position] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        outcome = str(MetaSampler.load(path).encoder_)
    except ValueError as error:
        outcome = str(error)
    assert "random.npz' is not a usable sampler file" in outcome or "5 bins" in outcome


# ---------------------------------------------------------------------- archives and places


def test_archives(tmp_path):
    path = tmp_path / "archive"
    arrays = {"big_endian": np.arange(6, dtype=">i2").reshape(2, 3), "columns": np.eye(3).T * 2}
    arrays["columns"] = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    arrays["empty"] = np.zeros((0, 4))
    write_archive(path, {"format": "mine", "version": 7}, {"text": "ä", "number": 3}, arrays)
    header, content, found = read_archive(path, "mine", 7, "[a-z_]+")
    assert header == {"format": "mine", "version": 7}
    assert content == {"text": "ä", "number": 3}
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        found[name][...] = 0  # they may be written
    with pytest.raises(ValueError, match="'empty', which does not belong"):
        read_archive(path, "mine", 7, "big_endian|columns")
    with pytest.raises(ValueError, match=r"not a usable archive: its version is 7; .* version 8"):
        read_archive(path, "mine", 8, "[a-z_]+")
    with pytest.raises(ValueError, match="not a usable archive: it would unpack"):
        read_archive(path, "mine", 7, "[a-z_]+", largest=100)


def test_a_history_that_is_too_long(sampler, tmp_path, monkeypatch):
    monkeypatch.setattr(_sampler_files, "LARGEST", 3000)
    with pytest.raises(ValueError, match=r"history of 4 episodes is too long.*history=False"):
        sampler.save(tmp_path / "long.npz")


def test_places_that_can_be_written(tmp_path):
    assert check_writable(tmp_path / "new.npz") == tmp_path / "new.npz"
    assert os.listdir(tmp_path) == []
    (tmp_path / "old.npz").write_text("old")
    check_writable(str(tmp_path / "old.npz"))
    assert (tmp_path / "old.npz").read_text() == "old"


def test_places_that_cannot_be_written(sampler, tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="no folder"):
        check_writable(tmp_path / "nowhere" / "sampler.npz")
    with pytest.raises(IsADirectoryError, match="is a folder; name a file"):
        check_writable(tmp_path)
    with pytest.raises(OSError, match="could not be written"):
        check_writable(tmp_path / ("x" * 300))

    # Root may write everywhere: the refusal is played.
    def refuse(*args):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(_writing, "open", refuse, raising=False)
    for write_there in (check_writable, sampler.save):
        with pytest.raises(PermissionError, match=r"closed.npz' could not be written: Permission"):
            write_there(tmp_path / "closed.npz")


def test_an_unwritable_checkpoint_is_found_before_the_training(imbalanced, tmp_path, monkeypatch):
    def refuse(*args):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(_writing, "open", refuse, raising=False)
    with pytest.raises(PermissionError, match=r"state.npz' could not be written"):
        MetaSampler(random_state=0).fit(
            *imbalanced, callback=pytest.fail, checkpoint=tmp_path / "state.npz"
        )


@pytest.mark.parametrize("kind", ["text", "npy", "pickle", "other npz"])
def test_foreign_files(tmp_path, kind):
    path = tmp_path / "foreign"
    if kind == "text":
        path.write_text("hello")
    elif kind == "npy":
        with open(path, "wb") as file:
            np.save(file, np.zeros(3))
    elif kind == "pickle":
        path.write_bytes(pickle.dumps({"weights": 1}))
    else:
        with open(path, "wb") as file:
            np.savez(file, a=np.zeros(3))
    with pytest.raises(ValueError, match="not a usable sampler file"):
        MetaSampler.load(path)
