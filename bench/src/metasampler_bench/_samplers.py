"""Meta-train for the benchmark: once, kept in a file, used by all cells that may."""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any

from sklearn.base import clone

from metasampler import MetaSampler
from metasampler_bench._authors_trainer import AuthorsTrainer, as_policy
from metasampler_bench._methods import METHODS
from metasampler_bench._named_trainers import make_sampler
from metasampler_bench._protocol import Parts, fit_seed, n_folds_of, take_parts
from metasampler_bench._resampling import BASE_CLASSIFIERS
from metasampler_bench._spec import AXES
from metasampler_bench._store import ResultStore, cell_key

__all__ = ["QUICK_STEPS", "SamplerCache", "make_meta_sampler", "pass_on_interrupt"]

#: Shortened meta-training of a quick look; the paper's has 500 and 1000.
QUICK_STEPS = {"n_random_steps": 36, "n_updates": 36}

# Far from the seeds of all runs and folds.
_SEED_STEP = 10**6
#: What decides the rows of a task, and so the sampler that is meta-trained on it.
_OF_ROWS = ("noise", "flips", "valid_noise", "fraction", "valid_fraction")


def make_meta_sampler(cell: dict[str, Any], seed: int) -> MetaSampler:
    """Return an unfitted sampler with the settings that a cell asks for."""
    settings: dict[str, Any] = {}
    options = dict(QUICK_STEPS) if cell.get("quick") else {}
    if "hidden" in cell:
        settings["hidden_layer_sizes"] = tuple(cell["hidden"])
    if "meta_base" in cell:
        settings["estimator"] = clone(BASE_CLASSIFIERS[cell["meta_base"]])
    if "setting" in cell:
        name, _, value = cell["setting"].partition("=")
        owner = settings if name in MetaSampler().get_params(deep=False) else options
        owner[name] = json.loads(value)
    return make_sampler(
        "sac",
        options,
        train_ratio=cell.get("meta_fraction", 1.0),
        random_state=_seed_of(cell, seed),
        **settings,
    )


def _seed_of(cell: dict[str, Any], seed: int) -> int:
    return fit_seed(cell["run"], cell["fold"], seed) + _SEED_STEP * cell.get("meta_seed", 0)


def pass_on_interrupt(sampler: MetaSampler) -> None:
    """Raise KeyboardInterrupt if a meta-training was cut short: half of one is no result."""
    if sampler.summary_["interrupted"]:
        raise KeyboardInterrupt


def _train_by_text(key: dict[str, Any], seed: int, parts: Parts) -> tuple[MetaSampler, int]:
    """Return a sampler that is meta-trained as the paper says, and its episodes."""
    sampler = make_meta_sampler(key, seed)
    sampler.fit(parts.X_train, parts.y_train, X_val=parts.X_valid, y_val=parts.y_valid)
    pass_on_interrupt(sampler)
    return sampler, len(sampler.history_)


def _train_by_authors_recipe(
    key: dict[str, Any], seed: int, parts: Parts
) -> tuple[MetaSampler, int]:
    """Return a file's form of what the authors' recipe learned, and its episodes."""
    given = set(key) & {"hidden", "meta_base", "setting", "meta_fraction"}
    if given:
        raise ValueError(f"The authors' recipe has no {', '.join(sorted(given))} to choose.")
    trainer = AuthorsTrainer(_seed_of(key, seed), **(QUICK_STEPS if key.get("quick") else {}))
    trainer.fit(parts.X_train, parts.y_train, parts.X_valid, parts.y_valid)
    # Its states are not those of this sampler; `SamplerCache.get` sees to that.
    sampler = MetaSampler.from_policy(trainer.actor_, state=trainer.encoder.kind)
    return sampler, trainer.n_episodes_


class SamplerCache:
    """Folder of meta-trained samplers, one for each task and kind of meta-training.

    A sampler is meta-trained on the training and validation rows of the same run and fold that
    it is tested in, so that it never sees a test row, also where it is used on its own task.

    Parameters
    ----------
    folder : path
        Where the files are.
    seed : int
        Seed of the benchmark.
    data_home : str or None
        Folder of the data.
    store : ResultStore or None
        Rows of the spec that is run: a cell may look at what another one took.
    commit : str or None
        The commit that is run.
    """

    def __init__(
        self,
        folder: Path,
        seed: int = 0,
        data_home: str | None = None,
        *,
        store: ResultStore | None = None,
        commit: str | None = None,
    ):
        self.folder = Path(folder)
        self.seed = seed
        self.data_home = data_home
        self.store = store
        self.commit = commit

    def earlier_rows(self) -> list[dict[str, Any]]:
        """Return the rows that there are by now."""
        return [] if self.store is None else self.store.rows()

    def parts(self, cell: dict[str, Any]) -> Parts:
        """Return the rows of a cell."""
        return take_parts(
            cell["dataset"],
            cell["run"],
            cell["fold"],
            seed=self.seed,
            **{name: cell.get(name, AXES[name]) for name in _OF_ROWS},
            data_home=self.data_home,
        )

    def key(self, cell: dict[str, Any]) -> dict[str, Any]:
        """Return what the sampler of a cell depends on."""
        own = "meta_task" not in cell or cell["meta_task"] == cell["dataset"]
        task = cell["dataset"] if own else cell["meta_task"]
        # A fixed split has one fold; it serves all folds of another task.
        key = {
            "dataset": task,
            "run": cell["run"],
            "fold": min(cell["fold"], n_folds_of(task) - 1),
            "seed": self.seed,
        }
        inherited = _OF_ROWS if own else ()
        of_training = ("meta_fraction", "meta_base", "meta_seed", "setting", "hidden", "quick")
        for name in (*inherited, *of_training):
            if name in cell:
                key[name] = cell[name]
        trainer = METHODS[cell["method"]].trainer if "method" in cell else "text"
        return key if trainer == "text" else {**key, "trainer": trainer}

    def _path(self, key: dict[str, Any]) -> Path:
        digest = hashlib.sha256(cell_key(key).encode()).hexdigest()[:16]
        return self.folder / f"{key['dataset']}-{digest}.npz"

    def has(self, cell: dict[str, Any]) -> bool:
        """Say whether the sampler of a cell is there."""
        path = self._path(self.key(cell))
        return path.is_file() and path.with_suffix(".json").is_file()

    def get(self, cell: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return the sampler of a cell, meta-trained if it is not there yet.

        Parameters
        ----------
        cell : dict

        Returns
        -------
        sampler : MetaSampler or policy
        facts : dict
            CPU and wall seconds of the meta-training, and of how many episodes.
        """
        key = self.key(cell)
        path = self._path(key)
        if not self.has(cell):
            self._train(key, path)
        facts = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        sampler = MetaSampler.load(path)
        return as_policy(sampler.policy_) if "trainer" in key else sampler, facts

    def _train(self, key: dict[str, Any], path: Path) -> None:
        parts = self.parts(key)
        wall, cpu = time.perf_counter(), time.process_time()
        train = _train_by_authors_recipe if "trainer" in key else _train_by_text
        sampler, n_episodes = train(key, self.seed, parts)
        facts = {
            "key": key,
            "meta_cpu": round(time.process_time() - cpu, 3),
            "meta_wall": round(time.perf_counter() - wall, 3),
            "n_episodes": n_episodes,
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        sampler.save(path)
        # The second file last and whole: with it, and only with it, the sampler counts.
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(facts), encoding="utf-8")
        draft.replace(path.with_suffix(".json"))
