"""Answers for the partitions of Dask, whose cells are judged together, as in memory."""

from metasampler.tables import Separators, column_kind, judge_together, noted_cells, texts_of

__all__ = ["answers_judged_together"]


def answers_judged_together(function, model, classifier, X, blocks) -> list:
    """Return lazily what ``function(model, block)`` gives for each block of a collection.

    Whether the cells of a column can be read is judged over all blocks. What waits for this are the
    answers, not the rows.
    """
    from dask.delayed import delayed

    texts = _texts_to_read(classifier, X)
    if not texts:
        return [delayed(function)(model, block) for block in blocks]
    commas = [delayed(_commas_of)(part, texts) for part in X[texts].to_delayed()]
    together = delayed(_merged)(commas)
    noted = [delayed(_noted, nout=2)(function, model, block, together) for block in blocks]
    judged = delayed(judge_together)([cells for _, cells in noted])
    return [delayed(_after)(answer, judged) for answer, _ in noted]


def _texts_to_read(classifier, X) -> list:
    """Return the columns of numbers or dates that hold something else, such as texts."""
    form = getattr(classifier, "_form", None)
    encoder = None if form is None else form.encoder or form._of_numbers
    if encoder is None or not hasattr(X, "columns"):
        return []
    read = [name for name, kind in encoder.kinds_.items() if kind in ("number", "date")]
    return [name for name in read if name in X and X.dtypes[name].kind not in "biufM"]


def _commas_of(block, names: list) -> dict:
    return {
        name: Separators().add(*texts_of(block[name]))
        for name in names
        if len(block) and column_kind(block[name]) == "category"
    }


def _merged(of_blocks: list[dict]) -> dict:
    merged: dict = {}
    for found in of_blocks:
        for name, commas in found.items():
            merged[name] = merged[name].merged(commas) if name in merged else commas
    return merged


def _noted(function, model, block, commas: dict):
    """Return the answer for a block, and what is known of its cells that cannot be read."""
    with noted_cells(commas) as cells:
        answer = function(model, block)
    cells.next_rows(len(block))
    return answer, cells


def _after(answer, judged):
    return answer
