"""Policies around a policy: one acts by its draws, one lets constants compete with it."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from metasampler.growth import GaussianDraw, Growth, GrowthData, PowerDraw, Stream, make_draw
from metasampler.policy._policies import ConstantPolicy, check_mu, observe


class _Around:
    """A policy around another one, whose states and draws are its own."""

    policy: Any
    sigma = property(attrgetter("policy.sigma"))
    encoder = property(attrgetter("policy.encoder"))


@dataclass(frozen=True)
class Drawn(_Around):
    """Act by draws of a policy, as Algorithm 2 does, and not by its mean.

    By default a policy acts by its mean. The mean gives the same result each time, and trained
    policies score the same with it. A policy that has learned nothing has a mean near the middle in
    every state. Its draws cover all mu.

    Parameters
    ----------
    policy : MetaSampler, policy, str or path
        What has a distribution over mu; also the names of such policies that
        :class:`~metasampler.MesaClassifier` takes as its `meta_sampler`, as ``"fit"``.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from metasampler import MesaClassifier
    >>> from metasampler.policy import Drawn
    >>> X, y = make_classification(600, weights=[0.9], random_state=0)
    >>> clf = MesaClassifier(
    ...     DecisionTreeClassifier(), 5, meta_sampler=Drawn("mammography"), random_state=0
    ... )
    >>> clf.fit(X, y).actions_.shape
    (4,)
    """

    policy: Any

    @property
    def reads_validation_rows(self) -> bool:
        """Return whether the policy needs validation rows."""
        return getattr(self.policy, "reads_validation_rows", False)

    def __call__(self, growth: Growth) -> GaussianDraw | PowerDraw | None:
        """Return the draw of the next member."""
        # A fitted sampler looks whether its settings were changed, and is one once it has.
        policy = self.policy.as_policy() if hasattr(self.policy, "as_policy") else self.policy
        state = observe(policy.encoder, growth)
        rng = growth.streams.generator(Stream.POLICY, growth.n_members)
        kind = getattr(policy.encoder, "action", "mu")
        return make_draw(policy.sample(state, rng), kind, policy.sigma, state)


class WithRivals(_Around):
    """Let constants take a policy's place if they are clearly better on the validation rows.

    A policy that was learned on other data may be wrong for this data. If there are many validation
    rows, they show it after ten members. So the policy begins one ensemble, and each constant
    begins another. The best of them grows on. A constant replaces the policy if its score is
    clearly larger: by half of ``sqrt(score * (1 - score) / n)``, the standard error of a share of
    the n validation rows of the smallest class. For scores outside of [0, 1] any lead is enough. A
    rival takes nine fits of members. Rivals are not part of the paper.

    Parameters
    ----------
    policy : policy
        What has to be beaten.
    rivals : sequence of float, default=(0.5, 1.0)
        The constants. The default rivals play only if every class has at least 30 validation rows.
        With fewer rows the scores would mostly be chance.

    Attributes
    ----------
    rivals_ : tuple of float
        The constants that were met, possibly none.
    rival_ : float or None
        The constant that replaces the policy; None if the policy stays.

    Notes
    -----
    An object keeps what was chosen. So it serves one fit; make a copy for the next.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from metasampler import MesaClassifier
    >>> from metasampler.policy import ConstantPolicy, WithRivals
    >>> X, y = make_classification(
    ...     2000, 8, n_informative=4, weights=[0.9], class_sep=0.6, flip_y=0.1, random_state=3
    ... )
    >>> policy = WithRivals(ConstantPolicy(0.0), rivals=[0.9])
    >>> tree = DecisionTreeClassifier()
    >>> clf = MesaClassifier(tree, 12, meta_sampler=policy, random_state=0).fit(X, y)
    >>> clf.rival_, float(clf.actions_[0])
    (0.9, 0.9)
    """

    #: A gentle draw and the hardest. The number of members and the margin below were chosen with
    #: these, in the study of rivals.
    DEFAULT = (0.5, 1.0)

    _FEWEST_ROWS = 30
    _N_MEMBERS = 10
    # What is learned is worth more than a difference that may be chance.
    _MARGIN = 0.5

    def __init__(self, policy, rivals: Sequence[float] = DEFAULT):
        for mu in rivals:
            check_mu(mu, "rivals must be numbers in [0, 1]")
        self.policy = policy
        self.rivals = tuple(float(mu) for mu in rivals)
        self.rivals_: tuple[float, ...] = ()
        self.rival_: float | None = None
        self._chosen: Any = None

    def __repr__(self):
        return f"WithRivals({self.policy!r}, rivals={self.rivals})"

    @property
    def reads_validation_rows(self) -> bool:
        """Return whether the policy needs validation rows, or rivals that were asked for do."""
        asked_for = bool(self.rivals) and self.rivals != self.DEFAULT
        return asked_for or getattr(self.policy, "reads_validation_rows", False)

    def __call__(self, growth: Growth) -> GaussianDraw:
        """Return the draw of the next member.

        The first call is the one that compares: `growth`, of one member, comes out of it with as
        many members as it takes to choose.
        """
        if self._chosen is None:
            self._chosen = self._choose(growth)
        return self._chosen(growth)

    def _choose(self, growth: Growth):
        """Return what grows on, after `growth` has become the ensemble that it has begun."""
        if growth.n_members == 1:
            self.rivals_ = self._to_meet(growth.data)
        if not self.rivals_:
            return self.policy
        constants = [ConstantPolicy(mu, self.sigma, self.encoder) for mu in self.rivals_]
        begun = []
        for policy in (self.policy, *constants):
            # The first member depends on no mu: all share it.
            begun.append(growth.fork())
            begun[-1].run(policy, self._N_MEMBERS)
        own, *others = np.array([twin.steps[-1].score for twin in begun], dtype=float)
        best = int(np.argmax(others))
        # That of a share of the positives among the validation rows; 0 outside of [0, 1].
        n_positives = int(growth.data.role_counts("valid")[growth.data.minority])
        standard_error = float(np.sqrt(max(own * (1 - own), 0.0) / max(n_positives, 1)))
        if others[best] - own <= self._MARGIN * standard_error:
            growth.adopt(begun[0])
            return self.policy
        growth.adopt(begun[best + 1])
        self.rival_ = self.rivals_[best]
        return constants[best]

    def _to_meet(self, data: GrowthData) -> tuple[float, ...]:
        """Return the rivals that the validation rows can judge."""
        is_default = self.rivals == self.DEFAULT
        if not data.has_validation:
            if is_default or not self.rivals:
                return ()
            raise ValueError(
                f"rivals={self.rivals} needs validation rows to choose by: pass X_val and y_val, "
                "or a validation_fraction."
            )
        counts = data.role_counts("valid")
        return () if is_default and counts.min() < self._FEWEST_ROWS else self.rivals
