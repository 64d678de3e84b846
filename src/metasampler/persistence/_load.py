"""Reading a model file, from a friend or a stranger."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from os import fspath
from pathlib import Path
from typing import IO, Any

from metasampler._json import parse_json, to_json
from metasampler._warnings import warn_user
from metasampler.persistence._values import Reader, is_plain
from metasampler.persistence._versions import differences
from metasampler.persistence._zip_entries import FACTS, MODEL, NUMBERS, read_part

#: The number of the format, raised when an older reader could misread a file.
FORMAT = 2

#: What the arrays of a file may take when they are unpacked, unless the caller allows more.
MAX_BYTES = 2**30

_LONGEST_REASON, _MOST_VERSIONS = 500, 100


def load_model(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Any:
    """Read a model that `save_model` wrote; nothing in the file is run.

    Sizes are checked before anything is unpacked. The file may hold only values of types in a
    closed list. Each object is made by a loader that checks all of its numbers, and that they
    belong together. No other file is opened.

    Parameters
    ----------
    path : str or path
        The file.
    max_bytes : int, default=2**30
        The most that the arrays in the file may take when they are unpacked.

    Returns
    -------
    model : estimator
        The fitted model.

    Warns
    -----
    UserWarning
        If the file was made with other versions of the packages; it says which.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is damaged, too large, of another kind, or holds what no model has.

    See Also
    --------
    load_facts : Read what the file says of the model, without the model.
    save_model : Write the file, with an example.
    """
    path = _existing(path)
    with _naming(path), open(path, "rb") as file:
        facts, model, numbers = read_parts(file, max_bytes)
        _warn_of_versions(path, facts)
        return model_of(model, numbers, "model")


def load_facts(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """Read what a model file says of its model, without loading the model.

    Parameters
    ----------
    path : str or path
        The file, as `save_model` wrote it.
    max_bytes : int, default=2**30
        The most that the arrays in the file may take when they are unpacked.

    Returns
    -------
    facts : dict
        What `save_model` stored: the class of the model, its settings, the versions of the
        packages, the columns, the class counts, and what the user added.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is damaged, too large or of another kind.

    See Also
    --------
    load_model : Read the model.
    save_model : Write the file, with an example.
    """
    path = _existing(path)
    with _naming(path), open(path, "rb") as file:
        return checked_facts(read_part(file, FACTS, max_bytes))


def read_parts(file: IO[bytes], max_bytes: int) -> tuple[dict, bytearray, bytearray]:
    """Return what a file says of its model, the model as a text, and the bytes of its arrays."""
    facts = checked_facts(read_part(file, FACTS, max_bytes))
    return facts, read_part(file, MODEL, max_bytes), read_part(file, NUMBERS, max_bytes)


def model_of(text: bytes | bytearray, numbers: bytearray, what: str) -> Any:
    """Return the model of a text and the bytes of its arrays, all of it checked."""
    # Here, because the loaders import LightGBM.
    from metasampler.persistence._loaders import kind_named

    document = parse_json(text, what)
    if not isinstance(document, dict) or "type" not in document:
        raise ValueError("it holds no model.")
    reader = Reader(numbers, kind_named)
    model = reader.decode(document, what)
    reader.finish()
    return model


def _existing(path: str | os.PathLike[str]) -> Path:
    path = Path(path).expanduser()
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {fspath(path)!r}.")
    return path


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Turn every error into a ValueError that names the file."""
    try:
        yield
    except Exception as error:
        # A damaged or hostile file can fail anywhere, also in scikit-learn.
        reason = str(error).strip().splitlines()[:1] or [type(error).__name__]
        # Printable, and no longer than a person reads.
        shown = "".join(each if each.isprintable() else "?" for each in reason[0][:_LONGEST_REASON])
        raise ValueError(f"{path.name} cannot be read as a model: {shown}") from error


def checked_facts(text: bytes | bytearray) -> dict[str, Any]:
    """Return what a file says of its model, or refuse what no file says."""
    facts = parse_json(text, FACTS)
    if not isinstance(facts, dict):
        raise ValueError(f"its {FACTS!r} is not a table.")
    # Half a character cannot be printed.
    to_json(facts, FACTS)
    found = facts.get("format")
    if type(found) is not int or found != FORMAT:
        raise ValueError(
            f"it has format {found!r:.40}, and this version of metasampler reads {FORMAT}."
        )
    for name, (kind, check) in _FACTS.items():
        value = facts.get(name)
        if (name in facts or name in _NEEDED) and not (isinstance(value, kind) and check(value)):
            raise ValueError(f"its {FACTS!r} has a wrong {name!r}: {value!r:.60}")
    return facts


def _are_texts(values: Any) -> bool:
    return all(isinstance(value, str) for value in values)


def _of_texts(table: dict) -> bool:
    return _are_texts(table.values())


# What `save_model` says of every model; others may add what they like.
_FACTS: dict[str, tuple[type, Any]] = {
    "versions": (
        dict,
        lambda of: (
            len(of) <= _MOST_VERSIONS
            and _of_texts(of)
            and all(text.isprintable() for pair in of.items() for text in pair)
        ),
    ),
    "created": (str, bool),
    "model": (str, bool),
    "settings": (dict, _of_texts),
    "classes": (list, is_plain),
    "columns": (list, is_plain),
    "column_kinds": (dict, _of_texts),
    "numbers_as_texts": (list, is_plain),
    "class_counts": (dict, lambda counts: all(type(n) is int for n in counts.values())),
    "summary": (str, lambda text: True),
}
_NEEDED = ("versions", "created", "model", "settings")

#: What only `save_model` says.
RESERVED = {"format", *_FACTS}


def _warn_of_versions(path: Path, facts: dict[str, Any]) -> None:
    differ = differences(facts["versions"])
    if differ:
        warn_user(
            f"{path.name} was made with {', '.join(differ)}. Compare some predictions with known "
            "ones, or fit again here."
        )
