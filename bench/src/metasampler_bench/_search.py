"""Find a policy without gradients, with as many episodes as meta-training has."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import validate_data

from metasampler import MesaClassifier
from metasampler.growth import RandomStreams, Stream
from metasampler.policy import ConstantPolicy, GaussianPolicy, LearnedPolicy, StateEncoder
from metasampler_bench._controls import SelectedMuClassifier
from metasampler_bench._method import Method, rows_of_subsets

__all__ = ["SearchedPolicyClassifier", "search_methods"]

#: Members of the ensemble of an episode, as in meta-training.
_N_MEMBERS = 10
#: How many candidates a stage has, and the episodes of each; in all 165 and 164, where soft
#: actor-critic has 167.
_N_EPISODES = 165
_STAGES: dict[str, tuple[tuple[int, int], ...]] = {
    "policies": ((33, 5),),
    "constants": ((11, 5), (5, 11), (2, 27)),
}


class SearchedPolicyClassifier(SelectedMuClassifier):
    """MESA with the best of some candidate policies, by their scores on validation rows.

    Each candidate plays episodes: an ensemble of ten members grows by it, with random numbers of
    its own, and the validation score at the end counts.

    Parameters
    ----------
    estimator, n_estimators, validation_fraction, calibration, threshold, n_jobs, random_state
        As in :class:`SelectedMuClassifier`.
    over : {"policies", "constants"}, default="policies"
        Search among 33 policies whose weights are standard normal, or by successive halving among
        the constants 0, 0.1, ..., 1.
    n_episodes : int, default=165
        About how many episodes there are; each candidate plays at least one.

    Attributes
    ----------
    policy_ : policy
        The one that was chosen.
    n_episodes_ : int
        Episodes that were played.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from metasampler_bench._search import SearchedPolicyClassifier
    >>> X, y = make_classification(300, weights=[0.9], random_state=0)
    >>> SearchedPolicyClassifier(over="constants", random_state=0).fit(X, y).n_episodes_
    164
    """

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        over="policies",
        n_episodes=165,
        validation_fraction=0.2,
        calibration="auto",
        threshold="balanced",
        n_jobs=None,
        random_state=None,
    ):
        super().__init__(
            estimator,
            n_estimators,
            validation_fraction=validation_fraction,
            calibration=calibration,
            threshold=threshold,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.over = over
        self.n_episodes = n_episodes

    def fit(self, X, y, sample_weight=None, *, X_val=None, y_val=None, sample_weight_val=None):
        """Search for a policy and grow the ensemble by it.

        Parameters
        ----------
        X, y, sample_weight, X_val, y_val, sample_weight_val
            As in :meth:`SelectedMuClassifier.fit`.

        Returns
        -------
        self : object
            The fitted ensemble.
        """
        if self.over not in _STAGES:
            raise ValueError(f"over={self.over!r} must be one of {sorted(_STAGES)}.")
        seed = self._seed()
        streams = RandomStreams(seed)
        validation = {"X_val": X_val, "y_val": y_val, "sample_weight_val": sample_weight_val}
        plain = {
            "estimator": DecisionTreeClassifier() if self.estimator is None else self.estimator,
            "validation_fraction": self.validation_fraction,
            "leaf_smoothing": 0.0,
            "refit": False,
            "n_jobs": self.n_jobs,
        }
        episode = MesaClassifier(n_estimators=_N_MEMBERS, calibration=None, threshold=None, **plain)

        def play(policy: Any, number: int) -> float:
            # Seeds of this many bits never meet those of the fits.
            episode.set_params(
                meta_sampler=policy, random_state=streams.integer(Stream.EPISODE, number)
            )
            return float(episode.fit(X, y, sample_weight, **validation).scores_[-1])

        candidates = _candidates(self.over, streams)
        stages = [
            (n_kept, max(1, round(n_each * self.n_episodes / _N_EPISODES)))
            for n_kept, n_each in _STAGES[self.over]
        ]
        self.policy_, self.n_episodes_ = _search(candidates, stages, play)
        final = MesaClassifier(
            n_estimators=self.n_estimators,
            meta_sampler=self.policy_,
            calibration=self.calibration,
            threshold=self.threshold,
            random_state=seed,
            **plain,
        )
        self._keep(final.fit(X, y, sample_weight, **validation))
        validate_data(self, X, skip_check_array=True)
        return self


def _candidates(over: str, streams: RandomStreams) -> list[Any]:
    if over == "constants":
        return [ConstantPolicy(tenth / 10) for tenth in range(11)]
    encoder = StateEncoder("all", n_bins=5)
    found = []
    for number in range(_STAGES[over][0][0]):
        rng = streams.generator(Stream.POLICY, number)
        actor = GaussianPolicy(encoder.size, rng=rng)
        actor.parameters[:] = rng.standard_normal(len(actor.parameters))
        found.append(LearnedPolicy(actor, encoder))
    return found


def _search(
    candidates: list[Any],
    stages: list[tuple[int, int]],
    play: Callable[[Any, int], float],
) -> tuple[Any, int]:
    """Return the candidate with the best mean score, and the number of episodes."""
    scores: list[list[float]] = [[] for _ in candidates]
    order = list(range(len(candidates)))
    n_episodes = 0
    for n_kept, n_each in stages:
        order = order[:n_kept]
        for number in order:
            for _ in range(n_each):
                # All candidates meet the same random numbers.
                scores[number].append(play(candidates[number], len(scores[number])))
                n_episodes += 1
        order.sort(key=lambda number: -np.mean(scores[number]))
    return candidates[order[0]], n_episodes


def search_methods() -> Iterator[Method]:
    """List what soft actor-critic has to beat with as many episodes."""
    for over, title in (
        ("policies", "best of 33 random policies"),
        ("constants", "bandit over constants"),
    ):

        def make(estimator: Any, k: int, seed: Any, n_jobs: int | None, over: str = over) -> Any:
            return SearchedPolicyClassifier(
                estimator, k, over=over, n_jobs=n_jobs, random_state=seed
            )

        yield Method(
            f"search-{over}",
            title,
            "IE+US",
            make,
            rows_of_subsets,
            "A control of this package",
            prefix=True,
            uses_validation=True,
        )
