"""Reading a model file, from a friend or a stranger."""

import json
import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import fspath
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from metasampler.persistence._content import check_boosters, check_trees
from metasampler.persistence._save import FORMAT, METADATA
from metasampler.persistence._sizes import check_sizes
from metasampler.persistence._tree_shapes import check_tree_shapes
from metasampler.persistence._trusted import TRUSTED
from metasampler.persistence._versions import differences


def load_model(
    path: str | os.PathLike[str],
    *,
    trusted: Iterable[str] = (),
    max_bytes: int = 2**30,
) -> Any:
    """Read a model that `save_model` wrote; nothing in the file is run.

    First the sizes are checked, before anything is unpacked. Then only objects of known types are
    made: types of this package, of LightGBM, and those that skops trusts (scikit-learn's estimators
    and NumPy's arrays). The numbers in trees and in LightGBM's models are checked too, because both
    libraries trust them.

    Parameters
    ----------
    path : str or path
        The file.
    trusted : iterable of str, default=()
        Names of further types that the file may hold, for instance
        ``"xgboost.sklearn.XGBClassifier"``: members of your own. Trust only what you know.
    max_bytes : int, default=2**30
        The most that the file may hold when it is unpacked.

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
        If the file is damaged, too large, of another kind, or holds a type that is not trusted.

    See Also
    --------
    load_facts : Read what the file says of the model, without the model.
    save_model : Write the file, with an example.
    """
    path = _existing(path)
    with _naming(path):
        with ZipFile(path) as file:
            check_sizes(file, path, max_bytes)
            metadata = _read_metadata(file)
            schema = json.loads(file.read("schema.json"))
            check_tree_shapes(schema, file)
        check_boosters(schema)
        _warn_of_versions(path, metadata)
        model = _construct(path, [*TRUSTED, *trusted])
        check_trees(model)
    return model


def load_facts(path: str | os.PathLike[str], *, max_bytes: int = 2**30) -> dict[str, Any]:
    """Read what a model file says of its model, without loading the model.

    Parameters
    ----------
    path : str or path
        The file, as `save_model` wrote it.
    max_bytes : int, default=2**30
        The most that the file may hold when it is unpacked.

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
    with _naming(path), ZipFile(path) as file:
        check_sizes(file, path, max_bytes)
        return _read_metadata(file)


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
    except _Untrusted as error:
        raise ValueError(f"{path.name} {error}") from error.__cause__
    except BadZipFile as error:
        raise ValueError(f"{path.name} is damaged, or no model file: {error}") from error
    except Exception as error:
        # A damaged or hostile file can fail anywhere, also in skops and in scikit-learn.
        reason = str(error).strip().splitlines()[:1] or [type(error).__name__]
        raise ValueError(f"{path.name} cannot be read as a model: {reason[0]}") from error


class _Untrusted(Exception):
    """The file holds types that nobody vouched for."""


def _read_metadata(file: ZipFile) -> dict[str, Any]:
    names = file.namelist()
    if METADATA not in names or "schema.json" not in names:
        raise ValueError("save_model did not write it.")
    metadata = json.loads(file.read(METADATA))
    if not isinstance(metadata, dict) or not isinstance(metadata.get("versions"), dict):
        raise ValueError(f"{METADATA} in it is incomplete.")
    found = metadata.get("format")
    if not isinstance(found, int) or found > FORMAT:
        raise ValueError(
            f"it has format {found!r}, and this version of metasampler reads up to {FORMAT}: "
            "install a newer one."
        )
    return metadata


def _warn_of_versions(path: Path, metadata: dict[str, Any]) -> None:
    differ = differences({str(name): str(then) for name, then in metadata["versions"].items()})
    if differ:
        warnings.warn(
            f"{path.name} was made with {', '.join(differ)}. Compare some predictions with known "
            "ones, or fit again here.",
            UserWarning,
            stacklevel=3,
        )


def _construct(path: Path, trusted: list[str]) -> Any:
    from skops.io import get_untrusted_types, load

    unknown = sorted(set(get_untrusted_types(file=path)) - set(trusted))
    if unknown:
        raise _Untrusted(
            f"holds {', '.join(unknown[:10])}, which this package does not know. Only if you trust "
            "the file's author: name these types in `trusted`."
        )
    with warnings.catch_warnings():
        # scikit-learn's warning for each of its estimators; all versions were compared before.
        warnings.filterwarnings("ignore", "Trying to unpickle estimator")
        return load(path, trusted=trusted)
