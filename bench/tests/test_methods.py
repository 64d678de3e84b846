import dataclasses
import sys

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from metasampler import MetaSampler
from metasampler.ensemble import MesaClassifier
from metasampler.meta import SoftActorCritic
from metasampler.policy import Drawn
from metasampler_bench import FAMILIES, LETTERS, METHODS, find_method
from metasampler_bench._methods import title_of
from metasampler_bench._retired import RETIRED

# A sampler that is meta-trained as any other, in a fraction of the time.
QUICK_SAMPLER = MetaSampler(trainer=SoftActorCritic(n_random_steps=30, n_updates=10))


@pytest.fixture(autouse=True)
def one_thread():
    # Some methods start a thread for every core, which is slow where cores are shared.
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module", params=[2, 3], ids=["two classes", "three classes"])
def overlapping(request):
    """Classes that overlap, so that no sampler finds nothing to do, with string labels."""
    weights = {2: [0.85], 3: [0.6, 0.25]}[request.param]
    X, y = make_classification(
        400,
        n_features=6,
        n_informative=4,
        n_redundant=0,
        n_classes=request.param,
        n_clusters_per_class=1,
        weights=weights,
        flip_y=0.05,
        class_sep=0.7,
        random_state=1,
    )
    return X, np.array(["often", "rare", "third"])[y]


def build(name, **options):
    classifier = METHODS[name].build(**options)
    if METHODS[name].trainer == "code":
        classifier.set_params(n_random_steps=9, n_updates=9)
    elif METHODS[name].meta_trains:
        given = classifier.meta_sampler
        assert getattr(given, "policy", given) == "fit"
        classifier.set_params(meta_sampler=QUICK_SAMPLER)
    if name.startswith("search-"):
        classifier.set_params(n_episodes=1)
    return classifier


def test_names_titles_and_families():
    assert list(METHODS) == [method.name for method in METHODS.values()]
    for field in ("name", "title"):
        values = [getattr(method, field).casefold() for method in METHODS.values()]
        assert len(values) == len(set(values))
    for method in METHODS.values():
        assert method.name == method.name.casefold()
        assert " " not in method.name
        assert method.family in FAMILIES
        assert method.family == "-" or set(method.family.split("+")) <= set(LETTERS)
        assert method.sized or not method.prefix
        assert method.requires in (None, "boosters", "deep")
    named = {method.family for method in METHODS.values()}
    assert named == set(FAMILIES)


def test_what_the_paper_compares_is_there():
    in_table = "none random-us nearmiss clean enn tomek allknn oss random-os smote adasyn"
    in_table += " borderline-smote smoteenn smotetomek"
    ensembles = "rusboost-paper under-bagging spe-paper cascade smoteboost smotebagging ramoboost"
    controls = "mesa-fit selected-mu random-mu random-policy uniform-draws"
    constants = " ".join(f"constant-{mu / 10:g}" for mu in range(11))
    names = list(METHODS)
    for group in (in_table, ensembles, f"{controls} {constants}"):
        assert set(group.split()) <= set(names)
    # In the order of the paper's tables.
    assert sorted(in_table.split()[:9], key=names.index) == in_table.split()[:9]
    assert all(METHODS[name].reference for name in ensembles.split())


# Networks have tests of their own, in the folder `deep`.
@pytest.mark.parametrize("name", [n for n, m in METHODS.items() if m.requires != "deep"])
def test_fits_predicts_and_counts_rows(name, overlapping):
    X, y = overlapping
    method = METHODS[name]
    n_classes = len(np.unique(y))
    fits = [build(name, n_estimators=12, random_state=seed).fit(X, y) for seed in (0, 0)]
    assert is_classifier(fits[0])
    proba = fits[0].predict_proba(X)
    assert proba.shape == (len(y), n_classes)
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-5)
    assert set(fits[0].predict(X)) <= set(y)
    # Better than the classes' frequencies on rows it has seen, and the same in every call.
    assert np.mean(fits[0].predict(X) == y) > 0.5
    np.testing.assert_array_equal(proba, fits[1].predict_proba(X))
    n_rows = method.n_training_rows(fits[0], len(y))
    assert isinstance(n_rows, int)
    assert n_rows > 0


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.prefix])
def test_first_members_of_a_fit_are_a_smaller_fit(name, overlapping):
    X, y = overlapping
    small, large = (build(name, n_estimators=k, random_state=0) for k in (2, 4))
    for ensemble in (small, large):
        if "calibration" in ensemble.get_params():
            ensemble.set_params(calibration=None)  # it is fitted to the whole ensemble
        ensemble.fit(X, y)
    stages = list(large.staged_predict_proba(X))
    np.testing.assert_allclose(stages[1], small.predict_proba(X), atol=1e-12)
    rows = [METHODS[name].n_training_rows(fitted, len(y)) for fitted in (small, large)]
    assert rows[1] == 2 * rows[0]


@pytest.mark.parametrize("name", [name for name, m in METHODS.items() if m.sized and not m.prefix])
def test_others_need_a_fit_for_each_size(name, imbalanced):
    X, y = imbalanced
    rows = [
        METHODS[name].n_training_rows(build(name, n_estimators=k, random_state=0).fit(X, y), 600)
        for k in (2, 4)
    ]
    assert rows[1] == pytest.approx(2 * rows[0], rel=0.1)


@pytest.mark.parametrize(
    ("name", "n_rows"),
    [
        ("none", 600),
        ("random-us", 2 * 66),
        ("nearmiss", 2 * 66),
        ("random-os", 2 * 534),
        ("smote", 2 * 534),
        ("cost-tree", 600),
        ("cost-nb", 600),
        ("adaboost", 3 * 600),
        ("adacost", 3 * 600),
        ("rusboost", 3 * 2 * 66),
        ("under-bagging", 3 * 2 * 66),
        ("easy-ensemble", 3 * 2 * 66),
        ("spe", 3 * 2 * 66),
        ("cascade", 3 * 2 * 66),
        ("smoteboost", 3 * (600 + 100)),
        ("smotebagging", 3 * 2 * 534),
        # A fifth of the rows is held out.
        ("mesa-universal", 3 * 2 * 53),
        ("selected-mu", 3 * 2 * 53),
        ("tree", 600),
        ("random-forest", 100 * 600),
        ("gradient-boosting", 100 * 600),
        ("balanced-forest", 3 * 2 * 66),
        ("imblearn-easy-ensemble", 3 * 2 * 66),
        ("lightgbm", 100 * 600),
        ("xgboost-balanced", 100 * 600),
    ],
)
def test_training_rows(name, n_rows, imbalanced):
    X, y = imbalanced
    assert np.bincount(y).tolist() == [534, 66]
    fitted = METHODS[name].build(n_estimators=3, random_state=0).fit(X, y)
    assert METHODS[name].n_training_rows(fitted, len(y)) == n_rows


def test_rows_of_gradient_boosting_that_stops_early(imbalanced):
    X, y = (np.concatenate([part] * 20) for part in imbalanced)
    method = METHODS["gradient-boosting"]
    fitted = method.build(random_state=0).fit(X, y)
    assert fitted.do_early_stopping_
    assert method.n_training_rows(fitted, len(y)) == 0.9 * len(y) * fitted.n_iter_


@pytest.mark.parametrize("name", METHODS)
def test_base_estimator(name, imbalanced):
    method = METHODS[name]
    base = DecisionTreeClassifier(max_depth=2)
    if not method.uses_base_estimator:
        with pytest.raises(ValueError, match=f"'{name}' .* has no base estimator to choose"):
            method.build(base)
        return
    if name in ("mesa-fast", "mesa-best"):
        with pytest.raises(ValueError, match="and an estimator exclude each other"):
            build(name, estimator=base, random_state=0).fit(*imbalanced)
        return
    fitted = build(name, estimator=base, n_estimators=2, random_state=0).fit(*imbalanced)
    # In depth, since EasyEnsemble boosts it and resampling trains one.
    members = getattr(fitted, "estimators_", None) or [fitted.estimator_]
    if name == "easy-ensemble":
        members = [tree for member in members for tree in member.estimators_]
    assert {member.get_depth() for member in members} == {2}


def test_any_classifier_can_be_the_base_estimator(imbalanced):
    for name in ("smote", "rusboost", "cascade", "mesa", "selected-mu"):
        fitted = METHODS[name].build(LogisticRegression(), 2, 0).fit(*imbalanced)
        assert fitted.predict_proba(imbalanced[0]).shape == (600, 2)


def test_random_state_and_n_jobs_arrive():
    for method in METHODS.values():
        if method.requires == "deep":  # networks have tests of their own
            continue
        parameters = method.build(random_state=7, n_jobs=2).get_params()
        seeds = [value for key, value in parameters.items() if key.endswith("random_state")]
        assert 7 in seeds or method.name == "cost-nb"
        jobs = [value for key, value in parameters.items() if key.endswith("n_jobs")]
        assert 2 in jobs or not {"n_jobs", "sampler__n_jobs"} & set(parameters)


def test_the_default_and_the_presets():
    assert METHODS["mesa"].build().get_params() == MesaClassifier().get_params()
    for name in ("fast", "best"):
        preset = MesaClassifier.from_preset(name)
        assert repr(METHODS[f"mesa-{name}"].build().get_params()) == repr(preset.get_params())
    # A number that is asked for is taken, though a comparison leaves it to the preset.
    assert METHODS["mesa-fast"].build(n_estimators=7).n_estimators == 7


PAPER = "mesa-fit mesa-sampled mesa-refit mesa-soft mesa-universal random-mu uniform-draws"
PAPER += " random-policy constant-0 constant-0.3 constant-1 wide-0.9 mesa-alone"


@pytest.mark.parametrize("name", PAPER.split())
def test_the_paper_does_not_follow_the_defaults(name):
    built = METHODS[name].build()
    assert repr(built.estimator) == "DecisionTreeClassifier()"
    assert built.n_estimators == 10
    assert built.leaf_smoothing == (2 if name == "mesa-soft" else 0)
    assert built.refit == name.endswith("-refit")
    policy = built.meta_sampler
    # Algorithm 2 draws; the other rows act by the mean, which can be repeated.
    assert isinstance(policy, Drawn) == (name in ("mesa-sampled", "random-policy"))
    policy = policy.policy if isinstance(policy, Drawn) else policy
    assert METHODS[name].meta_trains == (isinstance(policy, str) and policy == "fit")
    if name.startswith("wide-"):
        assert (policy.mu, policy.sigma) == (0.9, 0.3)
    # Rivals come with the name; a sampler that is passed meets none.
    assert isinstance(policy, MetaSampler) == (name in ("mesa-alone", "random-policy"))
    if name.startswith("constant-"):
        assert built.meta_sampler == float(name.removeprefix("constant-"))


def test_members_of_the_default_with_other_policies():
    names = [name for name in METHODS if name.startswith("default-")]
    assert len(names) == 14
    for name in names:
        built = METHODS[name].build()
        assert [type(kind).__name__ for kind in built.estimator] == [
            "DecisionTreeClassifier",
            "ExtraTreeClassifier",
        ]
        assert (built.n_estimators, built.leaf_smoothing, built.refit) == (10, "auto", False)
        assert built.validation_fraction == 0.2
    assert METHODS["default-universal"].build().meta_sampler == "universal"
    assert isinstance(METHODS["default-alone"].build().meta_sampler, MetaSampler)
    assert METHODS["default-constant-0.7"].build().meta_sampler == 0.7


@pytest.mark.parametrize("package", ["lightgbm", "xgboost"])
def test_missing_extra(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    for name in (package, f"{package}-balanced"):
        with pytest.raises(ImportError, match=r'pip install "metasampler-bench\[boosters\]"'):
            METHODS[name].build()
    # Another failed import is not explained away.
    broken = dataclasses.replace(METHODS[package], requires=None)
    with pytest.raises(ImportError, match=package):
        broken.build()


def test_find_method():
    assert find_method("SPE") is METHODS["spe"]
    assert find_method("Mesa, Meta-trained") is METHODS["mesa-fit"]
    with pytest.raises(ValueError, match=r"unknown method 'casacde'\. Did you mean 'cascade'"):
        find_method("casacde")
    with pytest.raises(ValueError, match="Known: none, random-us, "):
        find_method("qqq")
    with pytest.raises(ValueError, match=r"no longer part .* Commit 1fe915a can still run it"):
        find_method("mesa-adapt")


def test_methods_that_are_gone_are_known_by_name():
    assert not set(RETIRED) & set(METHODS)
    titles = [title_of(name) for name in (*METHODS, *RETIRED)]
    assert len(set(titles)) == len(titles)
    commits = {"mesa-authors": "54cf7ee", "mesa-authors-sampled": "54cf7ee"}
    for name in RETIRED:
        assert title_of(name).endswith(f"[{commits.get(name, '1fe915a')}]")
