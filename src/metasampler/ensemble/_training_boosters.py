"""The boosters of a recipe as members of a meta-training."""

import warnings
from typing import Any

from sklearn.base import BaseEstimator

from metasampler.ensemble._recipes import RECIPES
from metasampler.growth import (
    Adapter,
    Growth,
    GrowthData,
    RandomStreams,
    Stream,
    make_growth_data,
)

__all__ = ["Boosters"]


class Boosters(BaseEstimator):
    """The boosters of a recipe of :class:`~metasampler.MesaClassifier`, to meta-train with.

    Scouts go before them once a task, and what they find sets the length of the boosters and is
    what a policy can read (`state="signal"`). Three majority rows are drawn for a minority row.

    Parameters
    ----------
    recipe : {"default", "fast", "best"}, default="default"
        Whose boosters.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from metasampler import MetaSampler
    >>> from metasampler.ensemble.teams import Boosters
    >>> from metasampler.meta import FitToConstants
    >>> X, y = make_classification(3000, weights=[0.9], random_state=0)
    >>> sampler = MetaSampler(
    ...     Boosters("fast"),
    ...     n_estimators=3,
    ...     state="signal",
    ...     hidden_layer_sizes=(),
    ...     trainer=FitToConstants(n_sweeps=1, n_constants=3),
    ...     random_state=0,
    ... ).fit(X, y)
    >>> 0 <= sampler.choose([0.3]) <= 6
    True
    """

    def __init__(self, recipe="default"):
        self.recipe = recipe

    def prepare_task(
        self,
        X,
        y,
        X_val=None,
        y_val=None,
        X_test=None,
        y_test=None,
        *,
        sample_weight=None,
        sample_weight_val=None,
        validation_fraction: float,
        sampling_ratio: float,
        scoring,
        streams: RandomStreams,
        owner=None,
    ) -> tuple[GrowthData, Adapter]:
        """Return the rows of a task, and what fits boosters on them; scouts have gone before.

        Without validation rows a share of X is held out. ``sampling_ratio`` multiplies the three
        majority rows a minority row. The adapter has what scouts found as its ``signal``.
        """
        if self.recipe not in RECIPES:
            names = ", ".join(map(repr, RECIPES))
            raise ValueError(f"recipe={self.recipe!r} must be one of {names}.")
        recipe = RECIPES[self.recipe]
        with warnings.catch_warnings():
            # As in a fit, boosters take all rows of a class that is less than three times larger.
            warnings.filterwarnings("ignore", "sampling_ratio=")
            data = make_growth_data(
                X,
                y,
                X_val,
                y_val,
                X_test,
                y_test,
                sample_weight=sample_weight,
                sample_weight_val=sample_weight_val,
                estimator=recipe.scout(1),
                validation_fraction=validation_fraction,
                sampling_ratio=3 * sampling_ratio,
                scoring=scoring,
                streams=streams,
                owner=owner,
                # Then validation rows are rows of the first table, by which scouts can stop.
                rotate=X_val is not None,
            )
        adapter: Any = recipe.scout_adapter(data, None)
        scouts = Growth(data.for_team(float("inf")), adapter, streams.child(Stream.TEAM, 0))
        scouts.run(None, recipe.n_scouts)
        signal = recipe.signal(scouts)
        adapter = adapter.alike(recipe.booster(signal, data.sampled_share))
        adapter.signal = signal
        return data, adapter
