"""Loaders of this package's ensembles, and of what they are made of."""

from collections.abc import Callable
from typing import Any

import numpy as np
from lightgbm import Booster, LGBMClassifier

import metasampler.ensemble as ensembles
from metasampler._sklearn_compat import check_parameters
from metasampler.drift import Baseline, ColumnBins
from metasampler.ensemble.fitted_ensembles import (
    BaseUnderSamplingEnsemble,
    Blend,
    ClassEvidence,
    CutPoints,
    FittedTeam,
    NoCalibration,
    Pool,
    PriorCalibration,
    SelfPacedDraw,
    Sigmoid,
    SigmoidCalibration,
    SoftmaxCalibration,
    check_threshold,
)
from metasampler.growth import (
    BoostedMember,
    GaussianDraw,
    GrowthStep,
    PowerDraw,
    Recoding,
    SampleFacts,
)
from metasampler.persistence._booster_loaders import BoosterText
from metasampler.persistence._estimators import (
    build_parameters,
    check_columns,
    export_estimator,
    is_estimator,
    take_classes,
    take_columns,
)
from metasampler.persistence._policy_loaders import is_policy
from metasampler.persistence._table_loaders import width_of
from metasampler.persistence._values import (
    Kind,
    State,
    attributes,
    is_array,
    is_number,
    is_plain,
    is_whole,
)
from metasampler.tables import TableEncoder, TableForm, TreeTable

__all__ = ["ENSEMBLES"]

_MOST_TEAMS, _MOST_VOTES = 16, 1000

_CALIBRATIONS = (NoCalibration, PriorCalibration, SigmoidCalibration, SoftmaxCalibration)


# ---------------------------------------------------------------------- members


def _export_member(member: BoostedMember) -> dict[str, Any]:
    state = member.__getstate__()
    return {
        "n_classes": state["n_classes"],
        "n_rounds_": state["n_rounds_"],
        "recoding": state["recoding"],
        "booster_": BoosterText(state["model"]),
    }


def _build_member(state: State) -> BoostedMember:
    n_classes = state.whole("n_classes", 2, 10**6)
    n_rounds = state.whole("n_rounds_", 1, 10**7)
    booster = state.made("booster_", Booster)
    if booster.num_model_per_iteration() != (1 if n_classes == 2 else n_classes):
        raise state.refuse("n_classes", n_classes)
    if n_rounds > booster.current_iteration():
        raise state.refuse("n_rounds_", n_rounds)
    recoding = state.made("recoding", Recoding, none=True)
    if recoding is not None and max(recoding.shares) >= booster.num_feature():
        raise state.refuse("recoding", max(recoding.shares))
    member = BoostedMember.__new__(BoostedMember)
    member.n_classes, member.n_rounds_, member.booster_ = n_classes, n_rounds, booster
    member.recoding = recoding
    return member


def _build_recoding(state: State) -> Recoding:
    shares = state.any("shares")
    good = isinstance(shares, dict) and bool(shares)
    if not good or not all(_is_recoded(*each) for each in shares.items()):
        raise state.refuse("shares", shares)
    return Recoding(shares)


def _is_recoded(column: Any, shares: Any) -> bool:
    good = is_array(shares) and shares.dtype == np.float32 and shares.ndim == 1
    # Levels 0 and 1, and a missing value.
    good = good and len(shares) >= 3 and bool(np.all((shares >= 0) & (shares <= 1)))
    return good and is_whole(column, 0, 10**6)


# ---------------------------------------------------------------------- answers


def _is_share(value: Any) -> bool:
    return is_number(value, 0, 1)


def _shares(state: State, name: str) -> np.ndarray:
    """Return the shares of the classes: none of them is zero, which would be divided by."""
    return state.array(name, "f", "c", low=1e-300, high=1)


def _build_blend(state: State) -> Blend:
    blend = Blend.__new__(Blend)
    blend.votes = state.list("votes", lambda each: is_whole(each, 1, _MOST_VOTES), _MOST_TEAMS)
    blend.scales = state.list("scales", lambda each: is_number(each, 0, 1e12), len(blend.votes))
    blend.centres = state.list("centres", is_number, len(blend.votes))
    blend.scores = state.list("scores", is_number, len(blend.votes) + 1)
    if not len(blend.votes) == len(blend.scales) == len(blend.centres):
        raise state.refuse("votes", blend.votes)
    return blend


def _build_pool(state: State) -> Pool:
    pool = Pool.__new__(Pool)
    pool.prior = _shares(state, "prior")
    pool.shares = state.list("shares", lambda each: _are_shares(each, len(pool.prior)), _MOST_TEAMS)
    pool.weights = state.array("weights", "f", len(pool.shares), low=1e-9, high=1e9)
    pool.scores = state.list("scores", is_number, len(pool.shares) + 1)
    return pool


def _are_shares(value: Any, n_classes: int) -> bool:
    good = is_array(value) and value.shape == (n_classes,) and value.dtype.kind == "f"
    return good and bool(np.all((value > 0) & (value <= 1)))


def _build_softmax_calibration(state: State) -> SoftmaxCalibration:
    calibration = SoftmaxCalibration.__new__(SoftmaxCalibration)
    calibration.prior = _shares(state, "prior")
    calibration.drawn = _shares(state, "drawn")
    calibration.floor = state.number("floor", 1e-300, 1)
    calibration.slope = state.number("slope", 0, 1e6)
    calibration.intercepts = state.array("intercepts", "f", "c", low=-1e9, high=1e9)
    return calibration


def _build_sigmoid(state: State) -> Sigmoid:
    return Sigmoid(state.number("slope", 0, 1e6), state.number("intercept", -1e9, 1e9))


def _build_sigmoid_calibration(state: State) -> SigmoidCalibration:
    calibration = SigmoidCalibration.__new__(SigmoidCalibration)
    calibration.prior = _shares(state, "prior")
    calibration.of_log_odds = state.flag("of_log_odds")
    n_functions = 1 if len(calibration.prior) == 2 else len(calibration.prior)
    calibration.functions = state.list("functions", lambda each: isinstance(each, Sigmoid))
    if len(calibration.functions) != n_functions:
        raise state.refuse("functions", calibration.functions)
    return calibration


def _is_interval(value: Any) -> bool:
    return value is None or (
        isinstance(value, tuple) and len(value) == 2 and all(map(_is_share, value))
    )


def _build_cuts(state: State) -> CutPoints:
    names = ("thresholds", "below", "hits", "alarms", "hit_rows", "alarm_rows")
    arrays = {name: state.array(name, "fi", "cuts", low=0) for name in names}
    cuts = CutPoints(**arrays, doubt=state.number("doubt", 1, 1e6))
    falls, rises = np.diff(cuts.thresholds), np.diff([cuts.hits, cuts.alarms])
    # A negative weight would make what is expected of a threshold less than nothing.
    if not len(cuts.thresholds) or np.any(falls > 0) or np.any(rises < 0):
        raise state.refuse("thresholds", cuts.thresholds)
    return cuts


def _build_evidence(state: State) -> ClassEvidence:
    proba = state.array("proba", "f", "rows", "c", low=0, high=1 + 1e-6)
    codes = state.array("codes", "i", "rows", low=0, high=proba.shape[1] - 1)
    return ClassEvidence(
        proba,
        codes,
        state.array("weights", "f", "rows", low=0, high=1e300),
        state.array("groups", "i", "rows", none=True, low=0),
        state.number("doubt", 1, 1e6),
    )


# ---------------------------------------------------------------------- drift


def _build_bins(state: State) -> ColumnBins:
    bins = ColumnBins(
        state.array("edges", "f", "edges"),
        state.array("edge_starts", "i", "*", low=0),
        state.array("counts", "i", "counts", low=0),
        state.array("starts", "i", "*", low=0),
        state.array("low", "f", "columns"),
        state.array("high", "f", "columns"),
        state.array("is_category", "b", "columns"),
    )
    starts = bins.edge_starts
    n_starts, expected = bins.n_columns + 1, starts + 2 * np.arange(len(starts))
    if (
        len(starts) != n_starts
        or starts[0] != 0
        or starts[-1] != len(bins.edges)
        or np.any(np.diff(starts) < 0)
        or not np.array_equal(bins.starts, expected)
        or len(bins.counts) != bins.starts[-1]
    ):
        raise state.refuse("starts", bins.starts)
    return bins


def _sources(encoder: TableEncoder) -> list:
    return encoder.sources() if hasattr(encoder, "columns_") else []


def _build_baseline(state: State) -> Baseline:
    columns, scores = state.made("columns", ColumnBins), state.made("scores", ColumnBins)
    names = state.list("names", lambda each: isinstance(each, str))
    positions = state.array("positions", "i", columns.n_columns, low=0)
    encoder = state.made("encoder", TableEncoder, none=True)
    if len(names) != columns.n_columns or scores.n_columns != 1:
        raise state.refuse("names", len(names))
    if encoder is not None and positions.max(initial=0) >= len(_sources(encoder)):
        raise state.refuse("encoder", encoder)
    n_rows, n_scored = (state.whole(name, 1, 2**53) for name in ("n_rows", "n_scored"))
    return Baseline(names, positions, columns, scores, n_rows, n_scored, encoder)


# ---------------------------------------------------------------------- growth


def _build_team(state: State) -> FittedTeam:
    return FittedTeam(
        state.where_true("estimator", _are_templates),
        state.whole("n_members", 1, 10**6),
        state.number("leaf_smoothing", 0, 1e12),
        state.made("table", TreeTable, none=True),
        state.whole("n_votes", 1, _MOST_VOTES),
    )


def _are_templates(value: Any) -> bool:
    return is_estimator(value) or (
        isinstance(value, list) and len(value) > 0 and all(map(is_estimator, value))
    )


def _build_step(state: State) -> GrowthStep:
    totals = state.any("totals")
    if totals is not None and not (
        isinstance(totals, tuple) and len(totals) == 2 and all(map(_are_totals, totals))
    ):
        raise state.refuse("totals", totals)
    return GrowthStep(
        rule=state.made("rule", GaussianDraw, PowerDraw, SelfPacedDraw, none=True),
        score=state.number("score", none=True),
        n_rows=state.whole("n_rows", 0, 2**53),
        class_errors=state.array("class_errors", "f", "c", none=True, low=0, high=1e9),
        mu=state.number("mu", none=True),
        state=state.array("state", "f", "*", none=True),
        power=state.number("power", none=True),
        totals=totals,
    )


def _build_sample_facts(state: State) -> SampleFacts:
    return SampleFacts(
        state.array("rows", "iu", "*", none=True),
        state.where_true(
            "totals",
            lambda of: isinstance(of, tuple) and len(of) == 2 and all(map(_are_totals, of)),
        ),
    )


def _is_fact(fact: tuple) -> bool:
    """Return whether this is a setting of the fit, of any value, and how it is shown."""
    name, value = fact
    shown = isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], str)
    return isinstance(name, str) and shown


def _are_totals(value: Any) -> bool:
    return is_array(value) and value.ndim == 1 and value.dtype.kind in "iuf"


# ---------------------------------------------------------------------- ensembles


def _build_ensemble(kind: type) -> Callable[[State], Any]:
    def build(state: State) -> Any:
        ensemble = build_parameters(state, kind)
        check_parameters(ensemble)
        parts = getattr(ensemble, "meta_sampler", None)
        if parts is not None and not (is_policy(parts) or is_plain(parts)):
            raise state.refuse("meta_sampler", parts)
        if "estimators_" in state:
            _build_fitted(ensemble, state)
        return ensemble

    return build


def _build_fitted(ensemble: Any, state: State) -> None:
    """Set what a fit sets, once it is known that all of it belongs together."""
    vars(ensemble).update(take_columns(state))
    if "p" not in state.sizes:
        raise state.refuse("n_features_in_", None)
    ensemble.classes_ = classes = take_classes(state)
    n_classes, n_columns = len(classes), ensemble.n_features_in_
    minority = state.any("minority_class_")
    places = [place for place, label in enumerate(classes.tolist()) if _is_label(label, minority)]
    if n_classes < 2 or len(places) != 1:
        raise state.refuse("minority_class_", minority)
    ensemble.minority_class_ = classes[places[0]]
    ensemble.class_counts_ = state.array("class_counts_", "iu", "c", low=0)
    ensemble._form = form = state.made("_form", TableForm)
    width = width_of(form, n_columns)
    if form.names is not None and len(form.names) != n_columns:
        raise state.refuse("_form", form.names)
    for encoder in (form.encoder, form._of_numbers):
        if encoder is not None and len(encoder.columns_) != n_columns:
            raise state.refuse("_form", encoder)
    _take_members(ensemble, state, width)
    # How probabilities and labels are made.
    ensemble._blend = blend = state.made("_blend", Blend, Pool, none=True)
    n_teams, n_blended = len(ensemble._members_of), 1
    if isinstance(blend, Blend):
        n_blended = len(blend.votes) if n_classes == 2 else 0
    elif isinstance(blend, Pool):
        n_blended = len(blend.shares) if n_classes == len(blend.prior) > 2 else 0
    if n_blended != n_teams:
        raise state.refuse("_blend", blend)
    ensemble.calibration_ = calibration = state.made("calibration_", *_CALIBRATIONS)
    if len(calibration.prior) != n_classes:
        raise state.refuse("calibration_", calibration)
    ensemble._rule = rule = state.any("_rule")
    check_threshold(rule, classes, held_out=True)
    if n_classes == 2:
        # A little above 1 no row is called.
        ensemble.threshold_ = state.number("threshold_", 0, 2)
        for name in ("expected_precision_", "expected_recall_"):
            setattr(ensemble, name, state.number(name, 0, 1, none=True))
            setattr(ensemble, of := f"{name[:-1]}_interval_", state.where_true(of, _is_interval))
        ensemble._cuts = state.made("_cuts", CutPoints, none=True)
    else:
        limits: Any = {"low": 1e-300, "high": 1e300}
        ensemble.class_thresholds_ = state.array("class_thresholds_", "f", "c", **limits)
        costs = state.array("class_costs_", "f", "c", "c", none=True, low=-1e300, high=1e300)
        ensemble.class_costs_ = costs
        for name in ("expected_precision_", "expected_recall_"):
            setattr(ensemble, name, state.array(name, "f", "c", none=True))
            of = f"{name[:-1]}_interval_"
            setattr(ensemble, of, state.array(of, "f", "c", 2, none=True))
            if (getattr(ensemble, name) is None) != (getattr(ensemble, of) is None):
                raise state.refuse(of, None)
        ensemble._cuts = evidence = state.made("_cuts", ClassEvidence, none=True)
        if evidence is not None and evidence.proba.shape[1] != n_classes:
            raise state.refuse("_cuts", evidence.proba)
    ensemble.findings_ = state.list("findings_", lambda each: isinstance(each, str))
    ensemble._baseline = baseline = state.made("_baseline", Baseline, none=True)
    if baseline is not None and baseline.positions.max(initial=0) >= width:
        raise state.refuse("_baseline", baseline.positions)
    _take_growth(ensemble, state, n_classes)
    # What it says of itself fits together if it can be said.
    ensemble.summary()


def _is_label(label: Any, minority: Any) -> bool:
    return isinstance(minority, (str, int, float, np.generic)) and bool(label == minority)


def _take_members(ensemble: Any, state: State, width: int) -> None:
    n_classes = len(ensemble.classes_)
    members = state.list("estimators_", lambda each: hasattr(each, "predict_proba"))
    teams = state.list("_members_of", lambda each: isinstance(each, FittedTeam), _MOST_TEAMS)
    if not members or sum(team.n_members for team in teams) != len(members):
        raise state.refuse("_members_of", [team.n_members for team in teams])
    number = 0
    for team in teams:
        if team.table is not None and team.table.fill.shape not in ((), (width,)):
            raise state.refuse("_members_of", team.table.fill)
        estimators = team.estimator if isinstance(team.estimator, list) else [team.estimator]
        for place, member in enumerate(members[number : number + team.n_members]):
            check_columns(member, width, n_classes, state)
            base = estimators[place % len(estimators)]
            boosted = isinstance(member, BoostedMember) and type(base) is LGBMClassifier
            if not boosted and type(member) is not type(base):
                raise state.refuse("estimators_", member)
        number += team.n_members
    ensemble.estimators_, ensemble._members_of = members, teams
    ensemble.estimators_samples_ = samples = state.list(
        "estimators_samples_",
        lambda each: (
            each is None or (is_array(each) and each.ndim == 1 and each.dtype.kind in "iu")
        ),
    )
    if len(samples) != len(members):
        raise state.refuse("estimators_samples_", len(samples))


def _take_growth(ensemble: Any, state: State, n_classes: int) -> None:
    """Set what a fit says of itself."""
    steps = state.list("_steps", lambda each: isinstance(each, GrowthStep))
    names = state.list("_team_names", lambda each: isinstance(each, str))
    if not len(steps) == len(names) == len(ensemble.estimators_):
        raise state.refuse("_steps", len(steps))
    if len(set(names)) > _MOST_TEAMS:
        raise state.refuse("_team_names", names)
    for step in steps:
        arrays = [step.class_errors, *(step.totals or ())]
        if any(each is not None and len(each) != n_classes for each in arrays):
            raise state.refuse("_steps", step)
    ensemble._steps, ensemble._team_names = steps, names
    ensemble.estimator_ = state.where_true("estimator_", _are_templates)
    ensemble.scores_ = state.array("scores_", "f", "*")
    ensemble.held_out_scores_ = state.where_true(
        "held_out_scores_", lambda of: isinstance(of, dict) and all(map(is_number, of.values()))
    )
    ensemble.leaf_smoothing_ = state.number("leaf_smoothing_", 0, 1e12)
    ensemble.refit_ = state.flag("refit_")
    ensemble._entropy = state.plain("_entropy")
    ensemble._facts = state.where_true(
        "_facts", lambda of: isinstance(of, dict) and all(map(_is_fact, of.items()))
    )
    ensemble._n_grown = state.whole("_n_grown", 1, 10**6)
    if "pool_sizes_" in state:
        ensemble.pool_sizes_ = state.array("pool_sizes_", "iu", "*", "c")
    if "meta_sampler_" not in state:
        return
    ensemble.meta_sampler_ = state.where_true(
        "meta_sampler_", lambda of: of is None or is_policy(of)
    )
    ensemble._policies = state.where_true(
        "_policies",
        lambda of: (
            isinstance(of, dict) and all(each is None or is_policy(each) for each in of.values())
        ),
    )
    ensemble.signal_ = state.number("signal_", 0, none=True)
    ensemble.actions_ = state.array("actions_", "f", "*")
    ensemble.states_ = state.array("states_", "f", "*", "*")
    ensemble.rivals_ = state.where_true(
        "rivals_", lambda of: isinstance(of, tuple) and all(map(_is_share, of))
    )
    ensemble.rival_ = state.number("rival_", 0, 1, none=True)


_CLASSIFIERS = [
    each
    for name in ensembles.__all__
    if isinstance(each := getattr(ensembles, name), type)
    and issubclass(each, BaseUnderSamplingEnsemble)
]

#: The kinds of this module.
ENSEMBLES = [
    Kind("BoostedMember", BoostedMember, _export_member, _build_member),
    Kind("Recoding", Recoding, attributes, _build_recoding),
    Kind("Blend", Blend, attributes, _build_blend),
    Kind(
        "NoCalibration",
        NoCalibration,
        attributes,
        lambda state: NoCalibration(_shares(state, "prior")),
    ),
    Kind(
        "PriorCalibration",
        PriorCalibration,
        attributes,
        lambda state: PriorCalibration(_shares(state, "prior"), _shares(state, "drawn")),
    ),
    Kind("Sigmoid", Sigmoid, attributes, _build_sigmoid),
    Kind("SigmoidCalibration", SigmoidCalibration, attributes, _build_sigmoid_calibration),
    Kind("Pool", Pool, attributes, _build_pool),
    Kind("SoftmaxCalibration", SoftmaxCalibration, attributes, _build_softmax_calibration),
    Kind("ClassEvidence", ClassEvidence, attributes, _build_evidence),
    Kind("CutPoints", CutPoints, attributes, _build_cuts),
    Kind("ColumnBins", ColumnBins, attributes, _build_bins),
    Kind("Baseline", Baseline, attributes, _build_baseline),
    Kind("FittedTeam", FittedTeam, attributes, _build_team),
    Kind("GrowthStep", GrowthStep, attributes, _build_step),
    Kind("SampleFacts", SampleFacts, attributes, _build_sample_facts),
    *(Kind(each.__name__, each, export_estimator, _build_ensemble(each)) for each in _CLASSIFIERS),
]
