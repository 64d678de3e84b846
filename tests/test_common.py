"""scikit-learn's own checks on every estimator."""

import pytest
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from tree_mesa import first_release_trees

from metasampler import MesaClassifier, MetaSampler, ensemble
from metasampler.ensemble import _mesa
from metasampler.meta import FitToConstants, SoftActorCritic
from metasampler.policy import ConstantPolicy, WithRivals
from metasampler.tables import TableCleaner, TableEncoder

DRAWN = (
    "a row of weight 2 is twice as likely to be drawn, which two rows are as well, but by other "
    "random numbers; that a weight of 0 leaves the row out is tested with the ensembles"
)


def expected_failed_checks(estimator):
    """Checks that do not apply, each with the reason."""
    if hasattr(estimator, "calibration") or isinstance(estimator, MetaSampler):
        # An estimator that takes no sparse rows passes the second check by refusing them.
        takes_sparse = get_tags(estimator).input_tags.sparse
        kinds = ("dense", "sparse") if takes_sparse else ("dense",)
        return {f"check_sample_weight_equivalence_on_{kind}_data": DRAWN for kind in kinds}
    return {}


#: Settings that keep the checks short.
SETTINGS = {
    "EasyEnsembleClassifier": {"estimator": AdaBoostClassifier(n_estimators=3)},
    "MesaClassifier": {"n_estimators": 6},  # five scouts and a tree
}
ESTIMATORS = [
    getattr(ensemble, name)(**{"n_estimators": 5, **SETTINGS.get(name, {})})
    for name in ensemble.__all__
]
TREES = first_release_trees()
ESTIMATORS += [
    MesaClassifier(LogisticRegression(), n_estimators=5, meta_sampler="random"),
    MesaClassifier(DecisionTreeClassifier(), 5, leaf_smoothing=2.0, refit=True),
    MesaClassifier(recipe="fast"),
    MesaClassifier(TREES, n_estimators=5, meta_sampler=0.9, leaf_smoothing=0, refit=False),
    MesaClassifier(TREES, n_estimators=5, validation_fraction=None),
    MesaClassifier(TREES, 5, meta_sampler=WithRivals(ConstantPolicy(0.2), rivals=(0.8,))),
    MesaClassifier([DecisionTreeClassifier(), GaussianNB()], n_estimators=5),
    MetaSampler(n_estimators=3, trainer=SoftActorCritic(n_random_steps=8, n_updates=8)),
    MetaSampler(n_estimators=3, trainer=FitToConstants(n_sweeps=1, n_constants=3)),
]


# Some checks feed data on which the base estimator warns; the warning is theirs.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failed_checks)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# The checks have too few rows for teams; here they are enough.
@parametrize_with_checks(
    [MesaClassifier(n_estimators=6), MesaClassifier(recipe="fast", validation_fraction=None)],
    expected_failed_checks=expected_failed_checks,
)
def test_scikit_learn_checks_of_teams(estimator, check, monkeypatch):
    monkeypatch.setattr(_mesa, "ENOUGH_ROWS", 0)
    check(estimator)


# The others make arrays of numbers for them; they take data frames.
@pytest.mark.parametrize("transformer", [TableCleaner(), TableEncoder()], ids=repr)
@pytest.mark.parametrize(
    "name",
    [
        "check_estimator_repr",
        "check_estimator_tags_renamed",
        "check_get_params_invariance",
        "check_mixin_order",
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_set_params",
        "check_valid_tag_types",
    ],
)
def test_scikit_learn_checks_of_transformers_of_frames(name, transformer):
    getattr(estimator_checks, name)(type(transformer).__name__, transformer)
