"""Columns of sentences: found, used, and the same wherever the rows are."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics import average_precision_score, roc_auc_score

from metasampler import MesaClassifier, load_model, save_model
from metasampler.datasets import ParquetRows
from metasampler.tables import TableEncoder
from metasampler.tables._text import learn_text


def make_remarks(n_rows, seed):
    """Return texts of which some words, each in few of them, go with the rare class."""
    rng = np.random.default_rng(seed)
    letters = [first + second for first in "bdfgklmnprst" for second in "aeiou"]
    words = np.array([a + b for a in letters for b in letters])[:1500]
    shares = 1 / np.arange(10, len(words) + 10)
    bad = rng.random(n_rows) < 0.06
    telling = words[1200:1206]
    texts = []
    for each in bad:
        text = rng.choice(words, rng.integers(5, 15), p=shares / shares.sum()).tolist()
        if rng.random() < (0.8 if each else 0.002):
            text[0] = str(rng.choice(telling))
        texts.append(" ".join(text))
    frame = pd.DataFrame({"remark": texts, "noise": rng.normal(size=n_rows)})
    frame.loc[rng.random(n_rows) < 0.05, "remark"] = None
    return frame, np.where(bad, "bad", "good")


@pytest.fixture(scope="module")
def rows():
    return make_remarks(4000, 0), make_remarks(2000, 1)


@pytest.fixture(scope="module")
def fitted(rows):
    return MesaClassifier.from_preset("fast", random_state=0).fit(*rows[0])


def test_words_are_learned_from(rows, fitted):
    (frame, y), (later, y_later) = rows
    positive = y_later == "bad"
    score = average_precision_score(positive, fitted.predict_proba(later)[:, 0])
    assert score > 0.5
    without = MesaClassifier.from_preset("fast", random_state=0, text="ignore").fit(frame, y)
    assert average_precision_score(positive, without.predict_proba(later)[:, 0]) < 0.15
    names = fitted._form.encoder.get_feature_names_out().tolist()
    assert names[-2:] == ["remark (score)", "noise"]


def test_text_in_files_and_after_loading(rows, fitted, tmp_path):
    (frame, y), (later, _) = rows
    expected = fitted.predict_proba(later)
    frame.assign(label=y).to_parquet(tmp_path / "rows.parquet", row_group_size=700)
    source = ParquetRows(tmp_path / "rows.parquet", "label", memory="1 MB")
    parted = MesaClassifier.from_preset("fast", random_state=0).fit(source)
    assert_array_equal(parted.predict_proba(later), expected)
    save_model(fitted, tmp_path / "model.mesa")
    assert_array_equal(load_model(tmp_path / "model.mesa").predict_proba(later), expected)
    # The numbers of a row do not depend on those beside it.
    assert_array_equal(
        np.vstack([fitted.predict_proba(later[:50]), fitted.predict_proba(later[50:])]), expected
    )


def test_no_text_knows_its_own_label(rows):
    # With random classes scores say nothing of the rows they were learned from.
    (frame, _), _ = rows
    texts = frame["remark"].dropna().tolist()
    scores = []
    for seed in range(12):
        y = np.random.default_rng(seed).random(len(texts)) < 0.3
        by_class = {
            label: dict.fromkeys(
                [text for text, each in zip(texts, y, strict=True) if each == label], 1
            )
            for label in (False, True)
        }
        model = learn_text(texts, by_class)
        scores.append(0.5 if model is None else roc_auc_score(y, model.numbers_of(texts)[:, -1]))
    assert abs(np.mean(scores) - 0.5) < 0.02
    # Such texts are nothing to learn from.
    assert scores.count(0.5) >= 10


def test_texts_that_say_nothing_are_not_topics(rows):
    (frame, y), _ = rows
    shuffled = frame.assign(remark=frame["remark"].sample(frac=1, random_state=1).to_numpy())
    assert TableEncoder().fit(shuffled, y).kinds_["remark"] == "category"
    assert TableEncoder().fit(frame, y).kinds_["remark"] == "text"


def test_several_classes_and_few_texts():
    frame, _ = make_remarks(600, 2)
    texts = frame["remark"].dropna().tolist()
    texts += [
        f"kind {label} of text {word}" for label in ("red", "blue", "green") for word in texts
    ]
    names = ("kind red", "kind blue", "kind green")
    of = {k: dict.fromkeys([t for t in texts if name in t], 1) for k, name in enumerate(names)}
    model = learn_text(texts, of)
    assert model.names[-3:] == ["score of 0", "score of 1", "score of 2"]
    few = {0: of[0], 1: dict.fromkeys(texts[1:5], 1)}
    assert learn_text(texts, few).classes == []
    assert learn_text(["one two three", "four five six"]) is None
    assert learn_text(["1 2", "- -"]) is None


def test_importances_have_names_that_people_read():
    rng = np.random.default_rng(0)
    y = rng.random(600) < 0.2
    frame = pd.DataFrame(
        {"paid": pd.date_range("2026-01-01", periods=600, freq="5h"), "x": y + 0.0}
    )
    clf = MesaClassifier.from_preset("fast", random_state=0).fit(frame, y)
    names = clf.member_features_.tolist()
    assert names[1] == "paid (hour)"
    assert names[np.argmax(clf.feature_importances_)] == "x"
    assert len(clf.feature_importances_) == len(names)
    of_array = MesaClassifier.from_preset("fast", random_state=0).fit(frame[["x"]].to_numpy(), y)
    assert of_array.member_features_.tolist() == ["x0"]
