"""Writing a model file."""

import json
import os
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from metasampler._pipelines import unwrap
from metasampler.persistence._versions import versions_here

#: The number of the format, raised when an older reader could misread a file.
FORMAT = 1

#: The member of the file that holds what is known of the model; skops reads past it.
METADATA = "metasampler.json"


def save_model(model: Any, path: str | os.PathLike[str], **metadata: Any) -> dict[str, Any]:
    """Write a fitted model to a file that runs no code when it is read.

    The file is a skops file (``skops.io.load`` reads it too) with one more entry: a JSON text that
    says what the model is. The file holds no rows of the training table. It does hold the names of
    the columns, the levels of categories and the labels of the classes.

    Parameters
    ----------
    model : estimator
        A fitted classifier of this package, or a pipeline or search around one.
    path : str or path
        Where to write. The name usually ends in ``.skops``. An existing file is replaced in one
        step, when the new one is complete.
    **metadata : object
        What else to keep: texts, numbers, lists and dicts. NumPy's numbers and arrays, dates and
        paths are converted. It is added to what is stored for every model:
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
    ...     path = os.path.join(folder, "model.skops")
    ...     stored = save_model(clf, path, purpose="an example")
    ...     again, facts = load_model(path), load_facts(path)
    >>> bool((again.predict(X) == clf.predict(X)).all()), facts["purpose"]
    (True, 'an example')
    """
    from skops.io import dump
    from skops.io.exceptions import UnsupportedTypeException

    path = Path(path).expanduser()
    stored = _plain({**_facts(model), **metadata})
    # A text that JSON cannot hold is found before the slow part.
    text = json.dumps(stored, indent=1, allow_nan=False)
    buffer = BytesIO()
    try:
        dump(model, buffer, compression=ZIP_DEFLATED)
    except UnsupportedTypeException as error:
        raise TypeError(
            f"{type(model).__name__} holds something that skops cannot write: {error} "
            "`joblib.dump` writes it, but only those you trust may give you such a file."
        ) from error
    with ZipFile(buffer, "a", ZIP_DEFLATED) as file:
        file.writestr(METADATA, text)
    _replace(path, buffer.getbuffer())
    return stored


def _replace(path: Path, content: memoryview) -> None:
    """Write a file in one step: a full disk or an interrupt leaves what was there."""
    try:
        _write_beside(path, content)
    except OSError as error:
        # With its number the error stays of its own kind, for instance a PermissionError.
        reason = f"{os.fspath(path)!r} could not be written: {error.strerror or error}."
        raise OSError(error.errno, reason) from error


def _write_beside(path: Path, content: memoryview) -> None:
    handle, name = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp's files are for their owner only; a model is a file like any other.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


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


def _plain(value: Any) -> Any:
    """Return a value as JSON knows it."""
    if isinstance(value, dict):
        return {str(_plain(key)): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return [_plain(entry) for entry in value.tolist()]
    if isinstance(value, np.generic):
        return _plain(value.item())
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
