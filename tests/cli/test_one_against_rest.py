"""One class against the rest: positions are those of a classifier's classes."""

import numpy as np
import pandas as pd
import pytest

from metasampler.cli._table_input import one_against_rest, read


@pytest.mark.parametrize("label", ["2", "Fraud", "zebra"])
def test_the_class_to_find_stands_where_a_classifier_has_it(tmp_path, label):
    labels = np.array([label, "b", "c"] * 20)
    pd.DataFrame({"x": np.sin(np.arange(60.0)), "kind": labels}).to_csv(
        tmp_path / "t.csv", index=False
    )
    task = one_against_rest(read(tmp_path / "t.csv", "kind"), label)
    assert task.labels == sorted(task.labels)
    assert task.labels[task.positive] == label
    np.testing.assert_array_equal(task.y == task.positive, labels == label)


def test_a_copy_of_the_question_is_left_out(tmp_path):
    labels = np.array(["a", "b", "c"] * 40)
    frame = pd.DataFrame({"x": np.sin(np.arange(120.0)), "kind": labels})
    frame["is_b"] = np.where(labels == "b", "t", "f")
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert "is_b" in read(tmp_path / "t.csv", "kind").X.columns
    assert "is_b" not in read(tmp_path / "t.csv", "kind", positive="b").X.columns
