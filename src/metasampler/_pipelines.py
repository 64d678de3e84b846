"""What is inside a pipeline or a search."""

from typing import Any

__all__ = ["unwrap"]


def unwrap(model: Any) -> tuple[Any, Any]:
    """Return the fitted steps that rows go through, in their order, and the classifier behind them.

    A model is a fitted classifier, or pipelines and searches around one.
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
