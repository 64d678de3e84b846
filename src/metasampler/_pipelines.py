"""What is inside a pipeline or a search."""

from typing import Any

__all__ = ["unwrap"]


def unwrap(model: Any) -> tuple[Any, Any]:
    """Return what prepares rows in a fitted pipeline or search, and the classifier at its end.

    Parameters
    ----------
    model : estimator
        A fitted classifier, or pipelines and searches around one.

    Returns
    -------
    before : list of transformer
        The fitted steps that rows go through, in their order; empty if there are none.
    classifier : estimator
        The last step.
    """
    before: list = []
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif hasattr(model, "steps") and model.steps:
            *steps, (_, model) = model.steps
            before += [step for _, step in steps if step not in (None, "passthrough")]
        else:
            return before, model
