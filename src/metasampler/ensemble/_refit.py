"""The second growth of a refit: what was chosen with held-out rows, again on all rows."""

from metasampler._sklearn_compat import take_rows
from metasampler.growth._data import GrowthData
from metasampler.growth._learner import make_learners
from metasampler.growth._loop import Growth
from metasampler.growth._tables import join_tables

__all__ = ["check_refit", "check_refit_rows", "resolve_refit", "start_refit"]


def check_refit(ensemble) -> None:
    """Refuse what cannot go together with a refit; the rows are not looked at."""
    if not ensemble.refit or ensemble.refit == "auto":
        return
    if ensemble.calibration == "cross-fitted":
        raise ValueError(
            "calibration='cross-fitted' holds no rows out, so that refit=True has none to add: set "
            "refit=False."
        )
    if ensemble.validate_members:
        raise ValueError(
            "refit=True trains the members on the validation rows, so that validate_members=True "
            "has none left to hand to their fit: set one of them to False."
        )
    if getattr(ensemble, "warm_start", False):
        raise ValueError(
            "refit=True replaces the members that warm_start=True would grow on: set one of them "
            "to False."
        )


def resolve_refit(ensemble, data: GrowthData) -> bool:
    """Whether to refit: "auto" does where rows were taken from X, and may be given back."""
    if ensemble.refit != "auto":
        return bool(ensemble.refit)
    taken_from_X = data.has_validation and len(data.tables) == 1
    resumable = getattr(ensemble, "warm_start", False)
    return taken_from_X and not ensemble.validate_members and not resumable


def check_refit_rows(data: GrowthData) -> None:
    """Refuse rows that a refit cannot do with, before the first growth."""
    if not data.has_validation:
        raise ValueError(
            "refit=True repeats on all rows what was chosen with validation rows: pass X_val and "
            "y_val, or a validation_fraction. Without them all rows are used already."
        )
    if len(data.tables) > 1:
        # Whether they can be put into one is seen from a row of each.
        join_tables(*(take_rows(table, slice(0, 1)) for table in data.tables))


def start_refit(growth: Growth, *, track: bool) -> Growth:
    """An empty ensemble on the training and the validation rows of a finished one.

    Its random numbers are those of the first, and a row has the same ones in both: a refit is
    what a fit without validation rows would have given that makes the same choices.
    """
    data = growth.data.whole()
    first = growth.learner
    # Nothing is scored by it, so that smoothed leaves are of no use.
    learner = make_learners(first.estimator, data.tables, data.n_classes, first.n_jobs)
    return Growth(data, learner, growth.streams, track=track)
