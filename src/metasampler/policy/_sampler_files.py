"""Sampler files, and the samplers that come with the package."""

import json
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from metasampler.growth import DEFAULT_SIGMA
from metasampler.policy._archive import (
    LARGEST,
    check_content,
    naming_the_input,
    read_archive,
    write_archive,
)
from metasampler.policy._network import GaussianPolicy
from metasampler.policy._policies import LearnedPolicy, StateEncoder

#: Name and version in each file. A change of the layout counts the version up; once released,
#: `read_sampler` keeps reading the older ones.
FORMAT = "metasampler.MetaSampler"
VERSION = 1

#: Where the samplers that come with the package lie.
FOLDER = Path(__file__).parent / "pretrained"

_SAMPLER_FILE = "sampler file"
_LAYERS = r"(weights|biases)_\d{1,2}"


def pretrained_names() -> list[str]:
    """Return the names of the samplers that come with the package.

    Returns
    -------
    names : list of str

    Examples
    --------
    >>> from metasampler.policy import pretrained_names
    >>> "universal" in pretrained_names()
    True
    """
    return sorted(path.stem for path in FOLDER.glob("*.npz"))


def find_sampler(path_or_name) -> Path:
    """Return the file of a sampler, by its path or by its name in the package.

    A string that is a name means that sampler, whatever files lie around; ``"./name"`` is a file.
    """
    names = pretrained_names()
    if path_or_name in names:
        return FOLDER / f"{path_or_name}.npz"
    path = Path(path_or_name)
    if path.is_file():
        return path
    known = f"the names are {', '.join(names)}" if names else "none comes with this version"
    raise FileNotFoundError(
        f"There is no sampler file {os.fspath(path_or_name)!r}, and no pretrained sampler of that "
        f"name; {known}. As meta_sampler of a MesaClassifier, 'random', 'fit' or a number in "
        "[0, 1] need no file."
    )


def write_sampler(path, policy: GaussianPolicy, content: Mapping[str, Any]) -> None:
    """Write a policy and its content, whole or not at all.

    The content has ``settings``, ``history``, ``summary`` and ``n_updates``, in types that JSON
    knows.
    """
    if len(json.dumps(content)) > LARGEST // 2:
        raise ValueError(
            f"The history of {len(content['history'])} episodes is too long for a file; save the "
            "sampler with history=False."
        )
    arrays: dict[str, np.ndarray] = {}
    for number, (weights, biases) in enumerate(policy.layers):
        arrays[f"weights_{number}"] = weights
        arrays[f"biases_{number}"] = biases
    header = {"format": FORMAT, "version": VERSION, "n_layers": len(policy.layers)}
    write_archive(path, header, content, arrays)


def read_sampler(path) -> tuple[LearnedPolicy, dict[str, Any]]:
    """Read what `write_sampler` wrote; all of it is checked.

    A file that is not a sampler, is damaged or was written by a later version is a ValueError.
    """
    header, content, arrays = read_archive(path, FORMAT, VERSION, _LAYERS, what=_SAMPLER_FILE)
    with naming_the_input(path, _SAMPLER_FILE):
        content = check_content(content)
        n_layers: Any = header.get("n_layers")
        names = [f"{part}_{i}" for part in ("weights", "biases") for i in range(len(arrays) // 2)]
        if len(arrays) != 2 * n_layers or set(names) != arrays.keys():
            raise ValueError(f"it says n_layers = {n_layers!r} and has {sorted(arrays)}")
        layers = [arrays[name] for name in names]
        actor = GaussianPolicy.from_layers(layers[:n_layers], layers[n_layers:])
        settings = content["settings"]
        said = settings.setdefault("hidden_layer_sizes", actor.hidden)
        if said != actor.hidden:
            raise ValueError(f"its hidden_layer_sizes {said} are not {actor.hidden}")
        encoder = StateEncoder(settings.get("state", "all"), settings.get("n_bins", 5))
        mu_min, sigma = settings.get("mu_min", 0.0), settings.get("sigma", DEFAULT_SIGMA)
        return LearnedPolicy(actor, encoder, mu_min, sigma, content["summary"]), content


# A fit may take less time than it takes to read the file of the default.
_read_once = lru_cache(read_sampler)


def load_policy(path_or_name) -> LearnedPolicy:
    """Read the policy of a sampler from a file, or one that comes with the package.

    Parameters
    ----------
    path_or_name : str or path
        A file, or a name; ``metasampler samplers`` lists the names.

    Returns
    -------
    policy : LearnedPolicy

    Examples
    --------
    >>> from metasampler.policy import load_policy
    >>> load_policy("universal")
    LearnedPolicy(states of kind 'summary', mu_min=0.4, sigma=0.2)
    """
    path = find_sampler(path_or_name)
    known, content = _read_once(path) if path.parent == FOLDER else read_sampler(path)
    # Each caller gets an actor of its own.
    return LearnedPolicy(known.actor, known.encoder, known.mu_min, known.sigma, content["summary"])
