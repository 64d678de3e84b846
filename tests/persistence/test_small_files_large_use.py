"""Small files that ask for much: what many parts add up to, and what a use would make of them."""

import json
import time
import tracemalloc
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from model_files import ModelFile, array, booster_of, made
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier, load_facts, load_model, save_model
from metasampler.persistence._values import Reader, Writer, are_different
from metasampler.tables.fitted_encoders import N_TEXT_FOLDS

LARGE = 2**61 - 1


@pytest.fixture(scope="session")
def taken_apart(rows, tmp_path_factory):
    """Return what fits a member, stores the model and takes its file apart."""
    X, y = rows
    X = np.abs(X[:, :4]).round()
    kept = {}

    def make(member):
        name = repr(member)
        if name not in kept:
            clf = MesaClassifier(member, 1, meta_sampler=0.9, refit=False, random_state=0)
            kept[name] = tmp_path_factory.mktemp("models") / "model.mesa"
            save_model(clf.fit(X, y), kept[name])
        return ModelFile(kept[name])

    return make


def _ordinal():
    return OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)


def fitted(file, kind, entry):
    """Return the first state of a kind that has an entry, as fitted ones have."""
    return next(state for state in file.nodes(f"sklearn.{kind}") if entry in state)


# ---------------------------------------------------------------------- numbers and settings


def test_whole_numbers_that_share_a_place_in_dicts_are_few(changed, refused):
    # Two hundred thousand of them would take minutes to put into a dict.
    pairs = [[number * LARGE, 0] for number in range(1, 200_000)]
    changed.document["state"]["threshold"] = {"dict": pairs}
    start = time.process_time()
    assert "too many whole numbers beyond 2**60" in refused(changed)
    assert time.process_time() - start < 5


def test_classes_and_categories_share_no_place_either(taken_apart, refused):
    file = taken_apart(make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression()))
    labels = [number * LARGE for number in range(5000)]
    fitted(file, "preprocessing.OneHotEncoder", "categories_")["categories_"][0] = {
        "objects": [[len(labels)], labels]
    }
    assert "too many whole numbers beyond 2**60" in refused(file)


def _tuples_of_one_hash(count):
    """Return pairs of numbers that Python's tuples keep in one place of a dict."""
    bits = 2**64 - 1
    first, second, start = 11400714785074694791, 14029467366897019727, 2870177450012600261

    def turned(number, by):
        return (number << by | number >> (64 - by)) & bits

    aim, found, one = turned(pow(first, -1, 2**64), 33), [], 0
    while len(found) < count:
        one += 1
        before = turned((start + one * second) & bits, 31) * first & bits
        other = (aim - before) * pow(second, -1, 2**64) & bits
        if other < 2**60:
            found.append((one, other))
    return found


def test_tuples_that_share_a_place_in_dicts_are_few(changed, refused):
    # Eighty thousand of them, a file of 1 MB, would take a minute.
    tuples = _tuples_of_one_hash(15_000)
    assert len({hash(each) for each in tuples}) == 1
    keys = [{"tuple": list(each)} for each in tuples]
    changed.document["state"]["threshold"] = {"dict": [[key, 0] for key in keys]}
    assert "too many keys that are not texts" in refused(changed)


def test_names_and_levels_share_no_place():
    assert are_different(["a", ("b", "c"), 1, None])
    assert are_different(list(range(1_000_000)))
    assert not are_different(["a", "b", "a"])
    assert not are_different(_tuples_of_one_hash(15_000))
    assert not are_different([number << 40 for number in range(15_000)])
    assert not are_different([number / 2**40 for number in range(15_000)])
    assert not are_different([((1, number), 2) for number in range(15_000)])
    assert not are_different([10**400 + number * 10**390 for number in range(15_000)])
    assert not are_different([0.5, *(10**400 * number for number in range(1, 15_000))])


@pytest.mark.parametrize(
    "names",
    [
        range(1, 20_001),
        [5 * number for number in range(15_000)],
        [400 + number / 10 for number in range(15_000)],
        [(f"s{one}", two) for one in range(100) for two in range(200)],
        [(year, month, "a") for year in range(1900, 2100) for month in range(1, 13)],
        [*range(20_000), "other", None, float("nan")],
    ],
    ids=["from one", "fives", "tenths", "texts and numbers", "months", "mixed"],
)
def test_many_usual_names_are_different(names):
    names = list(names)
    assert are_different(names)
    assert not are_different([*names, names[0]])
    pairs = Writer(lambda value: None).encode(dict.fromkeys(names, 0), "the names")
    again = Reader(bytearray(), lambda name: None).decode(pairs, "the names")
    assert [*map(repr, again)] == [*map(repr, names)]


@pytest.mark.parametrize(
    "value", [[0] * 300_000, {"dict": [[str(k), 0] for k in range(150_000)]}, [[0] * 999] * 300]
)
def test_settings_are_short_enough_to_be_shown(value, changed, refused):
    changed.document["state"]["scoring"] = value
    assert "values in settings" in refused(changed)


def test_jobs_are_no_more_than_processors(taken_apart, refused, tmp_path, monkeypatch):
    file = taken_apart(BaggingClassifier(DecisionTreeClassifier(), 2))
    fitted(file, "ensemble.BaggingClassifier", "classes_")["n_jobs"] = 500
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    model = load_model(file.write(tmp_path / "m.mesa"))
    # scikit-learn would start a process for each.
    assert model.estimators_[0].n_jobs == 3
    for wrong in (10**6, "2", 1.5, True):
        fitted(file, "ensemble.BaggingClassifier", "classes_")["n_jobs"] = wrong
        assert "n_jobs" in refused(file)


@pytest.mark.parametrize("wrong", ["9**9*n_jobs", "__import__('os')", "1e9*n_jobs"])
def test_what_joblib_computes_is_of_one_form(wrong, rows, tmp_path, refused):
    X, y = rows
    search = GridSearchCV(
        MesaClassifier(DecisionTreeClassifier(), 1, meta_sampler=0.9), {"n_estimators": [1]}, cv=2
    )
    save_model(search.fit(X, y), tmp_path / "search.mesa")
    file = ModelFile(tmp_path / "search.mesa")
    assert load_model(tmp_path / "search.mesa").pre_dispatch == "2*n_jobs"
    file.document["state"]["pre_dispatch"] = wrong
    assert "pre_dispatch" in refused(file)
    file.document["state"]["pre_dispatch"] = "2*n_jobs"
    file.document["state"]["scoring"] = ["accuracy"] * 50_000
    assert "scoring" in refused(file)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("num_leaves", 2.5),
        ("num_threads", 10**9),
        ("n_jobs", 10**9),
        ("verbose", "loud"),
        ("linear_tree", 7),
        ("max_bin", 2**40),
        ("reg_alpha", 1e300),
        ("learning_rate", "0.1\ndevice=gpu"),
    ],
)
def test_settings_of_lightgbm_have_their_type(name, value, changed, refused):
    changed.nodes("LGBMClassifier")[0][name] = value
    assert name in refused(changed)


def test_settings_that_lightgbm_refuses_are_refused_at_once(rows, tmp_path, refused):
    model = LGBMClassifier(n_estimators=2, verbose=-1).fit(*rows)
    save_model(model, tmp_path / "booster.mesa")
    file = ModelFile(tmp_path / "booster.mesa")
    file.document["state"]["num_leaves"] = 0
    assert "num_leaves" in refused(file)


# ---------------------------------------------------------------------- steps before a classifier


def test_a_polynomial_has_as_many_columns_as_follow_from_its_degree(taken_apart, refused, tmp_path):
    file = taken_apart(make_pipeline(PolynomialFeatures(2), DecisionTreeClassifier()))
    model = load_model(file.write(tmp_path / "m.mesa"))
    assert model.estimators_[0][0].n_output_features_ == 15
    state = fitted(file, "preprocessing.PolynomialFeatures", "_max_degree")
    for name in ("_n_out_full", "n_output_features_", "_min_degree"):
        # What would be reserved for a row of so many columns.
        state[name] = 10**9
        assert name in refused(file)
        del state[name]
    state["_max_degree"] = 3
    assert "_max_degree" in refused(file)
    state["_max_degree"] = state["degree"] = 60
    assert "_max_degree" in refused(file)
    # Combinations are counted exactly, with all of their digits.
    state["_max_degree"], state["degree"], state["n_features_in_"] = 1, 10**60, 9000
    assert "_max_degree" in refused(file)


def test_names_of_steps_are_short(taken_apart, refused):
    # They are part of the name of each parameter of the step.
    file = taken_apart(make_pipeline(StandardScaler(), LogisticRegression()))
    pipeline = file.nodes("sklearn.pipeline.Pipeline")[-1]
    pipeline["steps"][0]["tuple"][0] = "x" * 1_000_000
    assert "steps" in refused(file)


def test_categories_of_all_steps_are_counted(taken_apart, refused):
    steps = [OneHotEncoder(handle_unknown="ignore") for _ in range(4)]
    union = FeatureUnion([(f"s{number}", step) for number, step in enumerate(steps)])
    file = taken_apart(make_pipeline(union, LogisticRegression()))
    for state in file.nodes("sklearn.preprocessing.OneHotEncoder"):
        if "categories_" in state:
            state["categories_"][0] = {"array": np.arange(90_000.0)}
    assert "columns that steps make" in refused(file)


def test_steps_beside_each_other_do_not_multiply(taken_apart, refused):
    # Ten unions after each other, of three parts each: 59,049 times as many columns.
    union = FeatureUnion([(name, "passthrough") for name in "abc"])
    honest = taken_apart(make_pipeline(union, LogisticRegression()))
    (pipeline,) = [
        state for state in honest.nodes("sklearn.pipeline.Pipeline") if len(state["steps"]) == 2
    ][-1:]
    step = pipeline["steps"][0]["tuple"][1]
    more = [{"tuple": [f"u{number}", step]} for number in range(9)]
    pipeline["steps"] = [*more, *pipeline["steps"]]
    assert "steps" in refused(honest)


def test_columns_are_not_taken_often(taken_apart, refused):
    kind = "compose.ColumnTransformer"
    step = ColumnTransformer([("a", StandardScaler(), [0, 1])], remainder="passthrough")
    file = taken_apart(make_pipeline(step, LogisticRegression()))
    state = fitted(file, kind, "transformers_")
    state["transformers_"] = [
        {"tuple": [f"t{number}", "passthrough", [0, 1, 2, 3]]} for number in range(1000)
    ]
    assert "transformers_" in refused(file)


def test_missing_categories_have_places(taken_apart, refused):
    file = taken_apart(make_pipeline(_ordinal(), DecisionTreeClassifier()))
    state = fitted(file, "preprocessing.OrdinalEncoder", "_missing_indices")
    for wrong in ([], {"dict": [["a", 1]]}, {"dict": [[0, -1]]}, {"dict": [[0, {"tuple": []}]]}):
        state["_missing_indices"] = wrong
        assert "_missing_indices" in refused(file)


def test_names_of_made_columns_are_few(taken_apart, refused):
    file = taken_apart(make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()))
    state = fitted(file, "discriminant_analysis.LinearDiscriminantAnalysis", "_n_features_out")
    state["_n_features_out"] = 10**12
    assert "_n_features_out" in refused(file)


def test_layers_have_neurons(taken_apart, refused):
    file = taken_apart(MLPClassifier((3, 2), max_iter=2000, tol=0.1))
    state = fitted(file, "neural_network.MLPClassifier", "coefs_")
    # Of no numbers in the file, ten thousand for each row.
    shapes = [(4, 0), (0, 10_000), (10_000, 1)]
    state["coefs_"] = [{"array": np.ones(shape)} for shape in shapes]
    state["intercepts_"] = [{"array": np.ones(shape[1])} for shape in shapes]
    assert "coefs_" in refused(file)


def test_components_are_those_of_the_table(taken_apart, refused):
    file = taken_apart(make_pipeline(PCA(2), LogisticRegression()))
    state = fitted(file, "decomposition.PCA", "components_")
    state["components_"] = {"array": np.ones((5, 4))}
    refused(file)


# ---------------------------------------------------------------------- columns and members


def declare(file, n_columns):
    """Let trees, members and the model say that the table has so many columns."""
    for kind in ("DecisionTreeClassifier", "ExtraTreeClassifier"):
        for state in file.nodes(f"sklearn.tree.{kind}"):
            if "n_features_in_" in state:
                state["n_features_in_"] = n_columns
    for state in file.nodes("Tree"):
        state["n_features"] = n_columns
    for state in file.nodes("sklearn.ensemble.RandomForestClassifier"):
        if "n_features_in_" in state:
            state["n_features_in_"] = n_columns
    file.document["state"]["n_features_in_"] = n_columns
    file.document["state"]["_baseline"] = None


def test_importances_of_many_columns_take_the_room_of_a_few_members(rows, tmp_path):
    X, y = rows
    clf = MesaClassifier(DecisionTreeClassifier(max_depth=1), 60, meta_sampler=0.9, refit=False)
    save_model(clf.fit(X, y), tmp_path / "trees.mesa")
    file = ModelFile(tmp_path / "trees.mesa")
    declare(file, 2_000_000)
    model = load_model(file.write(tmp_path / "wide.mesa"))
    tracemalloc.start()
    importances = model.feature_importances_
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(importances) == 2_000_000
    assert peak < 150e6
    np.testing.assert_allclose(importances[:20], clf.feature_importances_)


def test_trees_of_many_columns_are_not_many(rows, tmp_path, refused):
    clf = MesaClassifier(DecisionTreeClassifier(max_depth=1), 200, meta_sampler=0.9, refit=False)
    save_model(clf.fit(*rows), tmp_path / "trees.mesa")
    file = ModelFile(tmp_path / "trees.mesa")
    declare(file, 2_000_000)
    assert "columns of trees" in refused(file)


def test_a_forest_of_many_columns_has_few_trees(taken_apart, refused):
    file = taken_apart(RandomForestClassifier(20, max_depth=2))
    declare(file, 2_000_000)
    assert "estimators_" in refused(file)


def test_teams_are_few(changed, refused):
    count = len(changed.document["state"]["_team_names"])
    changed.document["state"]["_team_names"] = [f"team {number}" for number in range(count)]
    assert count < 16
    # As many as members, and a summary compares each with each.
    clf_names = changed.document["state"]["_team_names"]
    changed.document["state"]["_team_names"] = clf_names[:1]
    assert "_steps" in refused(changed)


def test_what_a_model_says_of_itself_can_be_said(changed, refused):
    # Means of all that a summary shows are checked by making it.
    for state in changed.nodes("GrowthStep"):
        state["mu"] = {"scalar": ["<f8", 0.5]}
    changed.document["state"]["expected_recall_"] = 0.5
    changed.document["state"]["expected_recall_interval_"] = {"tuple": [0.1]}
    assert "expected_recall_interval_" in refused(changed)


# ---------------------------------------------------------------------- what is said of a model


def test_messages_can_be_printed(changed, tmp_path, refused):
    changed.document["state"]["x" * 10_000 + "\x1b]0;owned\x07"] = 1
    message = refused(changed)
    assert len(message) < 700
    assert message.isprintable()


@pytest.mark.parametrize(
    "versions",
    [{f"p{number}": "1" for number in range(10_000)}, {"numpy\x1b[2J": "1"}, {"numpy": "1\n2"}],
)
def test_versions_can_be_printed(versions, changed, tmp_path):
    changed.facts["versions"] = versions
    path = changed.write(tmp_path / "model.mesa")
    for load in (load_facts, load_model):
        with pytest.raises(ValueError, match="a wrong 'versions'"):
            load(path)


def test_facts_are_unicode(changed, tmp_path):
    changed.facts["purpose"] = "\ud800"
    with pytest.raises(ValueError, match="not Unicode"):
        load_facts(changed.write(tmp_path / "model.mesa"))


# ---------------------------------------------------------------------- names


@pytest.fixture(scope="session")
def stored_frame(rows, tmp_path_factory):
    """The file of a model of a frame with a date."""
    X, y = rows
    frame = pd.DataFrame(X[:, :3], columns=list("abc"))
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(len(X)), "h")
    path = tmp_path_factory.mktemp("models") / "frame.mesa"
    save_model(MesaClassifier(recipe="fast", random_state=0).fit(frame, y), path)
    return path


def _column_of_text(name, n_topics):
    model = made(
        "TextModel",
        words=["a"],
        weights=array([0.0], np.float32),
        topics=array(np.zeros((1, n_topics)), np.float32),
        classes=[],
        scores=array(np.zeros((0, 0, N_TEXT_FOLDS)), np.float32),
        offsets=array(np.zeros((0, N_TEXT_FOLDS)), np.float32),
    )
    return made("TextColumn", name=name, model=model)


def test_long_names_of_columns_are_not_repeated(stored_frame, refused):
    # Each of 256 topics would have a name of its own that begins with it: 2.4 GB of 100 kB.
    file = ModelFile(stored_frame)
    encoder = next(state for state in file.nodes("TableEncoder") if "columns" in state)
    encoder["columns"].append(_column_of_text("n" * 1_000_000, 256))
    assert "name has a wrong value" in refused(file)
    file = ModelFile(stored_frame)
    names = ["n" * 1_000_000, "b", "c", "day"]
    file.document["state"]["feature_names_in_"] = {"objects": [[4], names]}
    assert "feature_names_in_" in refused(file)


def test_topics_of_all_columns_are_counted(stored_frame, refused):
    file = ModelFile(stored_frame)
    encoder = next(state for state in file.nodes("TableEncoder") if "columns" in state)
    encoder["columns"] += [_column_of_text(f"t{number}", 256) for number in range(1000)]
    assert "columns that steps make" in refused(file)


def test_boosters_are_counted(changed, refused):
    state = changed.document["state"]
    member = next(each for each in state["estimators_"] if each["type"] == "BoostedMember")
    member["state"]["booster_"] = booster_of([1], n_features=20)
    member["state"]["n_rounds_"] = 1
    state["estimators_"] = [deepcopy(member) for _ in range(2001)]
    assert "boosters in all" in refused(changed)


# ---------------------------------------------------------------------- memory


def test_one_wide_character_does_not_make_a_long_text_wide(changed, refused):
    # Python would take four bytes for each of the others.
    changed.document["state"]["scoring"] = "\U0001f600" + "a" * 9_000_000
    text = json.dumps(changed.document, ensure_ascii=False, default=lambda array: 0).encode()
    assert "because some of its characters take 4 bytes" in refused(changed, **{"model.json": text})


def test_facts_are_short(changed, refused):
    changed.facts["purpose"] = "a" * 5_000_000
    assert refused(changed).endswith("the limit is 4 MB.")


def test_long_metadata_are_named(stored, tmp_path):
    rows = [f"row {number:06}" for number in range(400_000)]
    message = r"^metadata are 5\.\d MB, of which 'row_ids' takes 5\.\d MB; at most 4 MB"
    with pytest.raises(ValueError, match=message):
        save_model(load_model(stored[0]), tmp_path / "model.mesa", row_ids=rows)
    assert not list(tmp_path.iterdir())


def test_trees_of_neighbours_are_small(taken_apart, refused):
    file = taken_apart(KNeighborsClassifier())
    for state in file.nodes("sklearn.neighbors.KNeighborsClassifier"):
        state["leaf_size"] = 1
    assert "leaf_size must be at least 5, got 1" in refused(file)
