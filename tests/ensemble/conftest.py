"""What tests of several options share: all ensembles, and Algorithm 2 without the growth loop."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import has_fit_parameter
from tree_mesa import tree_mesa

from metasampler import MetaSampler
from metasampler.ensemble import (
    BalanceCascadeClassifier,
    EasyEnsembleClassifier,
    SelfPacedEnsembleClassifier,
    UnderBaggingClassifier,
)
from metasampler.growth import RandomStreams, Stream, draw_rows
from metasampler.growth._draw import race_keys
from metasampler.growth._rules import gaussian_log_weights
from metasampler.meta import SoftActorCritic


def fit_member(X, codes, train, members, mu, *, seed=0, sigma=0.2, weights=None, kinds=None):
    """The next member of an ensemble and its rows.

    Parameters
    ----------
    X, codes : ndarray
        All rows and their classes.
    train : ndarray of int
        The rows that may be drawn.
    members : list of classifier
        The ensemble so far.
    mu : float or None
        None draws uniformly.
    kinds : list of classifier, default=None
        The kinds of members, which alternate; None means a decision tree.
    """
    kinds = [DecisionTreeClassifier()] if kinds is None else kinds
    streams, number = RandomStreams(seed), len(members)
    keys = race_keys(streams.row_key(Stream.DRAW), number, 0, len(X))
    sizes = np.bincount(codes[train])
    smallest = len(sizes) - 1 - np.argmin(np.bincount(codes)[::-1])
    subset = []
    for k in range(len(sizes)):
        rows = train[codes[train] == k]
        if k != smallest and len(rows) > sizes[smallest]:
            own = keys[rows] - (0 if weights is None else np.log(weights[rows]))
            if mu is not None:
                total = sum(member.predict_proba(X[rows])[:, k] for member in members)
                errors = (len(members) - total) / len(members)
                own = own - gaussian_log_weights(errors, mu, sigma)
            # The geometric mean of both sizes, if there are more than two classes.
            size = np.sqrt(sizes[smallest] * sizes[k]) if len(sizes) > 2 else sizes[smallest]
            rows = rows[draw_rows(own, round(size))]
        subset.append(rows)
    subset = np.sort(np.concatenate(subset))
    member = clone(kinds[number % len(kinds)])
    if "random_state" in member.get_params():
        member.set_params(random_state=streams.integer(Stream.MEMBER, number))
    options = {}
    if weights is not None and has_fit_parameter(member, "sample_weight"):
        means = [weights[train[codes[train] == k]].mean() for k in range(len(sizes))]
        drawn = codes[subset] != smallest
        options["sample_weight"] = np.where(drawn, np.array(means)[codes[subset]], weights[subset])
    return member.fit(X[subset], codes[subset], **options), subset


def grow(X, codes, train, mus, **options):
    """An ensemble with these mu, the first of which is None: its members and their rows."""
    members, subsets = [], []
    for mu in mus:
        member, subset = fit_member(X, codes, train, members, mu, **options)
        members.append(member)
        subsets.append(subset)
    return members, subsets


@pytest.fixture(scope="session")
def by_hand():
    """Growth without the growth loop."""
    return SimpleNamespace(fit_member=fit_member, grow=grow)


@pytest.fixture(
    params=[
        tree_mesa,
        UnderBaggingClassifier,
        SelfPacedEnsembleClassifier,
        BalanceCascadeClassifier,
        EasyEnsembleClassifier,
    ]
)
def Ensemble(request):
    """Every under-sampling ensemble in turn."""
    return request.param


@pytest.fixture(scope="session")
def short_sampler():
    """Make a meta-sampler that is trained in a moment."""

    def make(n_random_steps=4, n_updates=2, **options):
        trainer = SoftActorCritic(n_random_steps=n_random_steps, n_updates=n_updates)
        return MetaSampler(**{"n_estimators": 3, "random_state": 0, **options}, trainer=trainer)

    return make
