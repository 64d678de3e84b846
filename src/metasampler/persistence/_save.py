"""Writing a model file."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from metasampler._json import to_json
from metasampler._pipelines import unwrap
from metasampler._warnings import warn_user
from metasampler._writing import written_beside
from metasampler.persistence._load import (
    FORMAT,
    MAX_BYTES,
    RESERVED,
    checked_facts,
    model_of,
    read_parts,
)
from metasampler.persistence._values import Writer
from metasampler.persistence._versions import versions_here
from metasampler.persistence._zip_entries import MOST_FACTS, write_parts

# Lists in lists that metadata may be.
_DEEPEST = 60


def save_model(model: Any, path: str | os.PathLike[str], **metadata: Any) -> dict[str, Any]:
    """Write a fitted model to a file that runs no code when it is read.

    The file holds the model as JSON and arrays, and another JSON text that says what the model is.
    It can hold this package's classifiers, members of LightGBM, and those of scikit-learn's
    estimators whose numbers can be checked when they are read. Everything else is refused with its
    name; `joblib.dump` writes it, but only those you trust may give you such a file. The file holds
    no rows of the training table, unless a nearest-neighbours member keeps them. It does hold the
    names of the columns, the levels of categories and the labels of the classes.

    Parameters
    ----------
    model : estimator
        A fitted classifier of this package, or a pipeline or search around one.
    path : str or path
        Where to write. The name usually ends in ``.mesa``. An existing file is replaced in one
        step, when the new one is complete.
    **metadata : object
        What else to keep: texts, numbers, lists and dicts. NumPy's numbers and arrays, dates and
        paths are converted. It is added to what is stored for every model, whose names it must
        not have:
        ``format``, ``created``, ``versions``, ``model`` (its class), ``settings``, ``classes``,
        ``columns`` and ``column_kinds`` (where the training table had names), ``class_counts`` and
        ``summary`` (where the classifier knows them).

    Returns
    -------
    facts : dict
        What the file says of the model; `load_facts` reads it.

    See Also
    --------
    load_model : Read the model.
    load_facts : Read what the file says of it.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import make_classification
    >>> from metasampler import MesaClassifier, load_facts, load_model, save_model
    >>> X, y = make_classification(600, weights=[0.9], random_state=0)
    >>> clf = MesaClassifier(random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.mesa")
    ...     stored = save_model(clf, path, purpose="an example")
    ...     again, facts = load_model(path), load_facts(path)
    >>> bool((again.predict(X) == clf.predict(X)).all()), facts["purpose"]
    (True, 'an example')
    """
    if not hasattr(model, "get_params") or isinstance(model, type):
        raise TypeError(f"model must be a fitted estimator, got {_described(model)}.")
    reserved = sorted(RESERVED.intersection(metadata))
    if reserved:
        raise ValueError(f"metadata must not be named {reserved}: a file says these of each model.")
    path = Path(path).expanduser()
    stored = _plain({**_facts(model), **metadata})
    # What a file cannot hold is found before the slow part.
    facts = to_json(stored, "metadata")
    try:
        checked_facts(facts)
    except ValueError as error:
        raise ValueError(f"metadata cannot be stored: {error}") from error
    if len(facts) > MOST_FACTS:
        sizes = {name: len(to_json(each, "metadata")) for name, each in stored.items()}
        largest = max(sizes, key=lambda name: sizes[name])
        raise ValueError(
            f"metadata are {len(facts) / 1e6:,.1f} MB, of which {largest!r} takes "
            f"{sizes[largest] / 1e6:,.1f} MB; at most {MOST_FACTS / 1e6:,.0f} MB can be stored."
        )
    content = _content(model, facts)
    with written_beside(path) as file:
        file.write(content)
    return stored


def _content(model: Any, facts: bytes) -> bytes:
    """Return the content of a model's file, if `load_model` reads it."""
    # Here, because the loaders import LightGBM.
    from metasampler.persistence._loaders import kind_of

    name = type(model).__name__
    advice = (
        "`joblib.dump` writes it, unless it holds a lambda, but only those you trust may give you "
        "such a file."
    )
    writer = Writer(kind_of)
    try:
        text = to_json(writer.encode(model, name), name)
        content = write_parts(facts, text, bytes(writer.numbers))
        # What is refused in a file is refused here, for the same reason.
        n_bytes = max(len(writer.numbers), MAX_BYTES)
        _, text_again, numbers_again = read_parts(BytesIO(content), n_bytes)
        model_of(text_again, numbers_again, name)
    except (TypeError, ValueError) as error:
        reason = str(error).rstrip(".")
        raise TypeError(f"{name} cannot be stored: {reason}. {advice}") from error
    if n_bytes > MAX_BYTES:
        warn_user(
            f"The arrays of this {name} take {n_bytes:,} bytes: read the file with "
            f"load_model(path, max_bytes={n_bytes})."
        )
    return content


def _facts(model: Any) -> dict[str, Any]:
    """Return what a file says of every model."""
    before, final = unwrap(model)
    facts: dict[str, Any] = {
        "format": FORMAT,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions_here(),
        "model": type(final).__name__,
        "settings": {name: repr(value) for name, value in final.get_params(deep=False).items()},
    }
    if hasattr(model, "classes_"):
        facts["classes"] = model.classes_
    if hasattr(model, "feature_names_in_"):
        facts["columns"] = model.feature_names_in_
    kinds = next(_column_kinds([*before, final]), None)
    if kinds is not None:
        facts["column_kinds"] = kinds
        facts["numbers_as_texts"] = [
            name
            for step in before
            for name in (*getattr(step, "number_formats_", ()), *getattr(step, "date_formats_", ()))
            if kinds.get(name) in ("number", "duration")
        ]
    if hasattr(final, "class_counts_"):
        counts = final.class_counts_.tolist()
        facts["class_counts"] = dict(zip(final.classes_.tolist(), counts, strict=True))
    if hasattr(final, "summary"):
        facts["summary"] = str(final.summary())
    return facts


def _column_kinds(steps: list) -> Iterator[dict]:
    """Yield the kinds of the columns, as the first step that knows them has them."""
    for step in steps:
        if hasattr(step, "kinds_"):
            yield step.kinds_
        encoder = getattr(getattr(step, "_form", None), "encoder", None)
        if encoder is not None:
            yield encoder.kinds_


def _described(value: Any) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def _plain(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON knows it."""
    if depth > _DEEPEST:
        raise ValueError("metadata is nested too deeply, or holds itself.")
    inside = depth + 1
    if isinstance(value, dict):
        pairs = value.items()
        return {str(_plain(key, inside)): _plain(entry, inside) for key, entry in pairs}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(entry, inside) for entry in value]
    if isinstance(value, np.ndarray):
        return [_plain(entry, inside) for entry in value.tolist()]
    if isinstance(value, np.generic):
        return _plain(value.item(), inside)
    if isinstance(value, float) and not np.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(
        f"metadata must be texts, numbers, lists and dicts; got {type(value).__name__}: {value!r}."
    )
