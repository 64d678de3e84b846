"""What stands in for private names of scikit-learn does and says what they do and say."""

from numbers import Integral, Real
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context

from metasampler import MetaSampler
from metasampler import _sklearn_compat as compat
from metasampler.meta import EnsembleTrainingEnv, FitToConstants, SoftActorCritic

VALUES = [
    *(
        None,
        True,
        False,
        np.True_,
        "a",
        "b",
        "",
        b"a",
        -2,
        -1,
        0,
        1,
        2,
        3,
        np.int64(1),
        0.0,
        0.5,
        1.0,
    ),
    *(-0.5, 1.5, np.int64(1), np.float32(0.5), float("inf"), float("-inf"), float("nan"), 10**400),
    *(
        2**32 - 1,
        np.int64(1),
        2**32,
        [],
        [1],
        (),
        {},
        np.zeros(3),
        np.random.RandomState(0),
        print,
        int,
        object(),
    ),
]

#: A constraint is made of the names of a module: ours or scikit-learn's.
CONSTRAINTS = {
    **{
        f"{type.__name__} {left} to {right}, {closed}": (
            lambda of, setting=(type, left, right, closed): [
                of.Interval(*setting[:3], closed=setting[3])
            ]
        )
        for type, left, right in (
            *((Integral, 1, None), (Integral, 0, 3), (Integral, None, -1)),
            *((Real, 0, 1), (Real, 0, None), (Real, None, 0.5)),
        )
        for closed in ("left", "right", "both", "neither")
        if not (right is None and closed in ("right", "both"))
        and not (left is None and closed in ("left", "both"))
    },
    "texts": lambda of: [of.StrOptions({"b", "a"})],
    "one text": lambda of: [None, of.StrOptions({"a"})],
    "boolean or text": lambda of: ["boolean", of.StrOptions({"a"})],
    "verbose": lambda of: ["verbose"],
    "random_state": lambda of: ["random_state"],
    "array-like": lambda of: [None, "array-like", of.Interval(Integral, 1, None, closed="left")],
    "callable or dict": lambda of: [callable, dict],
    "anything": lambda of: [None, object],
}


def outcome(of, make, value):
    try:
        of.validate_parameter_constraints({"size": make(of)}, {"size": value}, caller_name="Owner")
    except (TypeError, ValueError) as error:
        return str(error)
    return "taken"


@pytest.mark.parametrize("make", CONSTRAINTS.values(), ids=CONSTRAINTS)
def test_constraints_are_those_of_scikit_learn(make):
    # A later scikit-learn may have moved its own.
    theirs = pytest.importorskip("sklearn.utils._param_validation")
    ours, others = ([outcome(of, make, value) for value in VALUES] for of in (compat, theirs))
    assert [text == "taken" for text in ours] == [text == "taken" for text in others]
    assert "taken" in ours
    # Ours sort options, and are silent on NumPy's truth values.
    if isinstance(make(compat)[0], compat.Interval):
        assert ours == others


BAD = [
    ({"n_estimators": 1}, "'n_estimators' parameter of MetaSampler must be an int in the range"),
    ({"trainer": SoftActorCritic(gamma=5)}, "'gamma' parameter of SoftActorCritic"),
    ({"trainer": SoftActorCritic(alpha=-3)}, "'alpha' parameter of SoftActorCritic"),
    ({"trainer": FitToConstants(n_sweeps=0)}, "'n_sweeps' parameter of FitToConstants"),
    ({"trainer": "sac"}, "'trainer' parameter of MetaSampler must be None, an instance of"),
]


@pytest.mark.parametrize(("settings", "words"), BAD, ids=[words for _, words in BAD])
def test_a_sampler_checks_its_trainer_too(imbalanced, settings, words):
    with pytest.raises(ValueError, match=words) as raised:
        MetaSampler(**settings).fit(*imbalanced)
    assert isinstance(raised.value, TypeError)
    if "trainer" not in settings:
        pytest.importorskip("gymnasium")
        with pytest.raises(ValueError, match=words):
            EnsembleTrainingEnv(*imbalanced, **settings)


def test_checks_can_be_turned_off():
    class Estimator:
        _parameter_constraints = {"size": [int]}

        def get_params(self, deep):
            return {"size": "large"}

        @compat.fit_context(prefer_skip_nested_validation=True)
        def fit(self):
            return self

    with pytest.raises(TypeError, match="'size' parameter of Estimator must be an instance of"):
        Estimator().fit()
    with config_context(skip_parameter_validation=True):
        Estimator().fit()


def test_weights_of_rows():
    X = np.zeros((3, 2))
    np.testing.assert_array_equal(compat.check_sample_weight(None, X), [1, 1, 1])
    np.testing.assert_array_equal(compat.check_sample_weight(2, X), [2, 2, 2])
    np.testing.assert_array_equal(compat.check_sample_weight([1, 0, 2], X), [1, 0, 2])
    for wrong, words in [
        ([[1], [2], [3]], "must be 1D array or scalar, got 2D"),
        ([1, 2], r"sample_weight.shape == \(2,\), expected \(3,\)"),
        ([1, np.nan, 2], "sample_weight contains NaN"),
        ([1, -1, 2], "Negative values"),
    ]:
        with pytest.raises(ValueError, match=words):
            compat.check_sample_weight(wrong, X, ensure_non_negative=True)


@pytest.mark.parametrize("rows", [slice(1, 3), np.array([1, 2]), np.array([False, True, True])])
def test_rows_by_position(rows):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X = np.arange(6).reshape(3, 2)
    expected = X[1:]
    frame = pandas.DataFrame(X, columns=["a", "b"], index=[2, 1, 0])
    np.testing.assert_array_equal(compat.take_rows(X, rows), expected)
    np.testing.assert_array_equal(compat.take_rows(frame, rows), expected)
    np.testing.assert_array_equal(compat.take_rows(polars.DataFrame(X), rows), expected)
    np.testing.assert_array_equal(compat.take_rows(sparse.csr_array(X), rows).toarray(), expected)
    in_file = SimpleNamespace(is_in_file=True)
    with pytest.raises(TypeError, match="not subscriptable"):
        compat.take_rows(in_file, rows)
