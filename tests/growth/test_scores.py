import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    get_scorer_names,
    log_loss,
    make_scorer,
    recall_score,
    roc_auc_score,
)

from metasampler.growth import running_mean
from metasampler.growth._scores import average_precision, bind_scorer


@given(
    scores=arrays(float, st.integers(2, 60), elements=st.sampled_from([0, 0.1, 0.3, 0.7, 1.0])),
    data=st.data(),
)
def test_average_precision_is_scikit_learns(scores, data):
    n_positive = data.draw(st.integers(1, len(scores) - 1))
    y = np.arange(len(scores)) < n_positive
    ours = average_precision(scores[y], scores[~y])
    assert ours == pytest.approx(average_precision_score(y, scores), abs=1e-12)


@pytest.mark.parametrize("minority", [0, 1])
def test_names_speak_of_the_minority_class(minority):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 200)
    proba = rng.random(200)
    classes = np.array(["a", "b"])
    positive = codes == minority
    p_positive = proba if minority == 1 else 1 - proba

    def score(scoring):
        return bind_scorer(scoring, codes, classes, minority)(proba)

    assert score("average_precision") == pytest.approx(
        average_precision_score(positive, p_positive)
    )
    assert score("roc_auc") == pytest.approx(roc_auc_score(positive, p_positive))
    assert score("f1") == pytest.approx(f1_score(positive, p_positive > 0.5))
    assert score("neg_log_loss") == pytest.approx(-log_loss(positive, p_positive))


@pytest.mark.parametrize("minority", [0, 1])
@pytest.mark.parametrize("scoring", ["f1", make_scorer(recall_score, pos_label="rare")], ids=str)
def test_of_equal_probabilities_the_minority_counts(minority, scoring):
    codes = np.full(4, 1 - minority)
    codes[0] = minority
    classes = np.array(["often", "rare"] if minority == 1 else ["rare", "really often"])
    score = bind_scorer(scoring, codes, classes, minority)(np.full(4, 0.5))
    assert score == (0.4 if scoring == "f1" else 1.0)


def test_a_callable_sees_the_labels_as_they_are():
    codes = np.array([0, 0, 1, 1])
    scorer = make_scorer(f1_score, pos_label="rare")
    score = bind_scorer(scorer, codes, np.array(["often", "rare"]), 1)
    assert score(np.array([0.1, 0.9, 0.2, 0.8])) == pytest.approx(0.5)


def test_average_precision_of_many_classes_is_the_macro_average():
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], [50, 20, 5])
    proba = rng.dirichlet(np.ones(3), size=75)
    score = bind_scorer("average_precision", codes, np.array([10, 20, 30]), 2)
    expected = average_precision_score(np.eye(3)[codes], proba, average="macro")
    assert score(proba) == pytest.approx(expected)


def test_unknown_names_are_refused():
    assert "averge_precision" not in get_scorer_names()
    with pytest.raises(ValueError, match="averge_precision"):
        bind_scorer("averge_precision", np.array([0, 1]), np.array([0, 1]), 1)


def test_equal_sums_in_another_order_stay_ties():
    # Rows that meet the same leaves in another order of members differ in the last bits.
    parts = [0.1, 0.7, 1 / 3, 0.6]
    totals = np.array([sum(parts), sum(parts[::-1]), parts[1] + parts[3] + parts[0] + parts[2]])

    assert len(np.unique(totals)) > 1
    assert len(np.unique(running_mean(totals, 4, 2.0))) == 1
    np.testing.assert_array_equal(running_mean(totals, 4, 0.0), totals / 4)
