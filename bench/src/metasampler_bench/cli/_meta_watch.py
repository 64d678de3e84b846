"""What happens after each round of ``metasampler meta-train``: log and validation."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np

#: What a policy has to beat.
CONSTANTS = (0.9, 1.0)


class Watch:
    """Callback of meta-training that writes the log and keeps the best policy.

    What it has to know after a resume is in the notes of the training's checkpoint.

    Parameters
    ----------
    log : Path or None
        File for one line of JSON a round.
    unseen : UnseenTasks or None
        What the policy is validated on.
    every : int
        Rounds between two validations; there is one after the last round too.
    sigma : float, default=0.2
        Width of the Gaussian of the constants that the policy is compared with.
    """

    def __init__(self, log: Path | None, unseen: Any, every: int, sigma: float = 0.2):
        self.log = log
        self.unseen = unseen
        self.every = every
        self.sigma = sigma
        self._started = time.perf_counter()
        self._is_first = True

    def __call__(self, progress: Any) -> None:
        """Validate, if it is time, and write a line."""
        number = progress.n_rounds_done
        if self._is_first and self.log is not None:
            self._trim_log(number)
        self._is_first = False
        entries = progress.last_round
        line = {
            "round": number,
            "episodes": progress.n_episodes_done,
            "updates": progress.n_updates_done,
            "mean_train_score": float(np.mean([entry["train_score"] for entry in entries])),
            "mean_valid_score": float(np.mean([entry["valid_score"] for entry in entries])),
            "mean_mu": float(np.mean([entry["actions"] for entry in entries])),
            "tasks": [entry["task"] for entry in entries],
        }
        if self.unseen is not None and (number % self.every == 0 or number == progress.n_rounds):
            line["validation"] = self._validate(progress)
        now = time.perf_counter()
        line["seconds"] = round(now - self._started, 3)
        self._started = now
        if self.log is not None:
            with open(self.log, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

    def _trim_log(self, number: int) -> None:
        """Keep what an earlier run has logged before this round; a later part is played again."""
        assert self.log is not None
        earlier = []
        if number > 1 and self.log.exists():
            for line in self.log.read_text(encoding="utf-8", errors="replace").splitlines():
                if _round_of(line) >= number:
                    break
                earlier.append(line + "\n")
        self.log.write_text("".join(earlier), encoding="utf-8")

    def _validate(self, progress: Any) -> dict[str, float]:
        notes = progress.notes
        if "constants" not in notes:
            notes["constants"] = self._score_constants()
        sampler = progress.sampler()
        scores = self.unseen.score(sampler)
        result = {"round": progress.n_rounds_done, "mean": _mean(scores), "scores": scores}
        notes.setdefault("rounds", []).append(result)
        if result["mean"] > notes.get("best_mean", -np.inf):
            notes["best_mean"] = result["mean"]
            notes["best_round"] = progress.n_rounds_done
            notes["best_policy"] = progress.policy.parameters.tolist()
        means = {f"mu={mu}": _mean(scores) for mu, scores in notes["constants"].items()}
        return {"policy": result["mean"], **means}

    def _score_constants(self) -> dict[str, dict[str, float]]:
        from metasampler.policy import ConstantPolicy

        policies = (ConstantPolicy(mu, sigma=self.sigma) for mu in CONSTANTS)
        return {str(policy.mu): self.unseen.score(policy) for policy in policies}

    def choose(self, sampler: Any) -> None:
        """Give a sampler the best policy and the results of the validation."""
        notes = sampler.summary_.pop("notes", {})
        if "best_policy" not in notes:
            return
        sampler.policy_.parameters[:] = notes["best_policy"]
        sampler.summary_["validation"] = {
            "seeds": list(self.unseen.seeds),
            "constants": notes["constants"],
            "rounds": notes["rounds"],
            "chosen_round": notes["best_round"],
        }


def _round_of(line: str) -> float:
    """Return the round of a line in a log; infinite for half a line, which a kill may leave."""
    try:
        return int(json.loads(line)["round"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return np.inf


def _mean(scores: dict[str, float]) -> float:
    return float(np.mean(list(scores.values())))
