"""Meta-training: rounds of episodes, after each of which a learner improves the policy."""

import platform
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
import sklearn
from joblib import Parallel, delayed, effective_n_jobs
from threadpoolctl import threadpool_limits

from metasampler._progress import progress_bar
from metasampler.growth._data import GrowthData
from metasampler.growth._learner import make_learners
from metasampler.growth._random import RandomStreams, Stream
from metasampler.meta._checkpoint import Checkpoint
from metasampler.meta._episode import (
    Assignment,
    Episode,
    play_episode,
    play_in_worker,
    spread_action,
)
from metasampler.meta._learners import Learner
from metasampler.meta._policy import GaussianPolicy
from metasampler.meta._state import StateEncoder

__all__ = ["WINDOW", "MetaTraining", "TrainingProgress"]

#: Scores are averaged over so many episodes where they are shown, as in the paper's figures.
WINDOW = 50


class MetaTraining:
    """Meta-training on one or more tasks, in rounds.

    Parameters
    ----------
    data : list of GrowthData
        The tasks.
    names : list of str
        What they are called in the history.
    estimator : classifier or list of classifier
        The base learner, or those that take turns.
    encoder : StateEncoder
        What the policy observes.
    learner : Learner
        What improves the policy.
    n_members : int
        Members of the ensemble in an episode.
    sigma, mu_min : float
        Width of the Gaussian, and the smallest mu.
    round_size : int
        Tasks of a round; if there are more, they are dealt to the rounds in random order.
    streams : RandomStreams
    score_on : {"valid", "test"}, default="valid"
        The rows by whose scores a learner compares whole episodes.

    Attributes
    ----------
    history : list of dict
        One entry an episode; it grows while `run` runs.
    n_rounds_done : int
        Rounds that were played and learned from.
    notes : dict
        What a callback wants to find in a checkpoint.
    n_before_round : int
        Entries of the history before the last round.
    stopped : bool
        Whether a callback has asked to stop.
    """

    def __init__(
        self,
        data: list[GrowthData],
        names: list[str],
        estimator,
        encoder: StateEncoder,
        learner: Learner,
        *,
        n_members: int,
        sigma: float,
        mu_min: float,
        round_size: int,
        streams: RandomStreams,
        score_on: str = "valid",
    ):
        self.data = data
        self.names = names
        self.members = [make_learners(estimator, task.tables, task.n_classes) for task in data]
        self.encoder = encoder
        self.learner = learner
        self.n_members = n_members
        self.sigma = sigma
        self.mu_min = mu_min
        self.round_size = round_size
        self.streams = streams
        self.score_on = score_on
        self.history: list[dict] = []
        self.n_rounds_done = 0
        self.n_before_round = 0
        self.notes: dict[str, Any] = {}
        self.stopped = False

    def run(
        self,
        *,
        n_jobs=None,
        verbose: int = 0,
        after_round: Callable[[], None] | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        """Play all rounds; an interrupt leaves what was learned by then in the learner."""
        stored = None if checkpoint is None else checkpoint.read()
        # Processes pay only where a round has several episodes.
        several = self.round_size > 1 or self.learner.n_episodes_a_task > 1
        in_processes = several and effective_n_jobs(n_jobs) > 1
        # One BLAS thread: the matrices are so small that a second one only costs. One pool: a
        # new one would send all tables again in every round.
        with (
            threadpool_limits(1, user_api="blas"),
            Parallel(n_jobs if in_processes else 1) as parallel,
            progress_bar("Meta-training", self.learner.n_episodes, enabled=verbose > 0) as advance,
        ):
            if stored is not None:
                self._restore(*stored)
                advance("resumed", steps=len(self.history))
            while self.n_rounds_done < self.learner.n_rounds and not self.stopped:
                self.n_before_round = len(self.history)
                tasks = self._tasks_of_round(self.n_rounds_done)
                assignments = self.learner.plan(self.n_rounds_done, tasks)
                episodes = self._play(assignments, parallel if in_processes else None)
                self._record(assignments, episodes)
                self.learner.learn(assignments, episodes)
                self.n_rounds_done += 1
                recent = [entry["valid_score"] for entry in self.history[-WINDOW:]]
                note = f"validation score {np.mean(recent):.3f}"
                advance(note, steps=len(self.history) - self.n_before_round)
                if after_round is not None:
                    after_round()
                if checkpoint is not None and self._is_due(checkpoint):
                    self._store(checkpoint)

    def _tasks_of_round(self, number: int) -> list[int]:
        n_tasks = len(self.data)
        if self.round_size == n_tasks:
            return list(range(n_tasks))
        # As cards are dealt: every task has its turn before one comes again.
        places = np.arange(number * self.round_size, (number + 1) * self.round_size)
        deals = {deal: self._shuffled(deal) for deal in np.unique(places // n_tasks).tolist()}
        return [deals[place // n_tasks][place % n_tasks] for place in places.tolist()]

    def _shuffled(self, deal: int) -> list[int]:
        # A stream of its own, below that of the learner: it serves nothing else.
        rng = self.streams.child(Stream.LEARNER, deal).generator(Stream.SUBSET)
        return rng.permutation(len(self.data)).tolist()

    def _play(self, assignments: list[Assignment], parallel: Parallel | None) -> list[Episode]:
        jobs = [self._job(assignment) for assignment in assignments]
        if parallel is None:
            return [play_episode(*args, **options) for args, options in jobs]
        return parallel(delayed(play_in_worker)(*args, **options) for args, options in jobs)

    def _job(self, assignment: Assignment):
        """Arguments of `play_episode`."""
        task = assignment.task
        options = {
            "n_members": self.n_members,
            "sigma": self.sigma,
            "mu_min": self.mu_min,
            "n_random": assignment.n_random,
            "streams": self.streams.child(Stream.EPISODE, assignment.number),
            "explores": assignment.explores,
            "score_on": self.score_on,
        }
        return (self.data[task], self.members[task], self.encoder, assignment.policy), options

    def _record(self, assignments: list[Assignment], episodes: list[Episode]) -> None:
        """One entry for each number; candidates that share one are recorded by their means."""
        by_number: dict[int, list[Episode]] = {}
        for assignment, episode in zip(assignments, episodes, strict=True):
            by_number.setdefault(assignment.number, []).append(episode)
        first = {assignment.number: assignment for assignment in reversed(assignments)}
        for number, played in by_number.items():
            scores = {
                role: float(np.mean([episode.scores[role] for episode in played]))
                for role in played[0].scores
            }
            self.history.append(
                {
                    "episode": number,
                    "task": self.names[first[number].task],
                    "train_score": scores["train"],
                    "valid_score": scores["valid"],
                    "test_score": scores.get("test"),
                    "actions": spread_action(
                        np.mean([episode.actions for episode in played], axis=0), self.mu_min
                    ).tolist(),
                    "n_random_actions": first[number].n_random,
                }
            )

    def _is_due(self, checkpoint: Checkpoint) -> bool:
        last = self.stopped or self.n_rounds_done == self.learner.n_rounds
        return last or self.n_rounds_done % checkpoint.every == 0

    def _store(self, checkpoint: Checkpoint) -> None:
        facts, arrays = self.learner.get_state()
        content = {
            "n_rounds_done": self.n_rounds_done,
            "history": self.history,
            "notes": self.notes,
            "learner": facts,
        }
        checkpoint.write(content, arrays)

    def _restore(self, content: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.learner.set_state(content["learner"], arrays)
        self.n_rounds_done = int(content["n_rounds_done"])
        self.history[:] = content["history"]
        self.notes.update(content["notes"])

    def summary(self) -> dict:
        """How, when and with which versions it was trained."""
        import metasampler  # here, because the package imports this module

        scores = [entry["valid_score"] for entry in self.history]
        return {
            "tasks": [
                {
                    "name": name,
                    "train_rows": [len(rows) for rows in task.class_rows],
                    "n_features": int(task.tables[0].shape[1]),
                }
                for name, task in zip(self.names, self.data, strict=True)
            ],
            "estimator": repr(self.members[0].estimator),
            "seed": self.streams.entropy,
            "n_episodes": len(self.history),
            "n_updates": self.learner.n_updates,
            "first_valid_score": float(np.mean(scores[:WINDOW])) if scores else None,
            "last_valid_score": float(np.mean(scores[-WINDOW:])) if scores else None,
            "date": datetime.now(UTC).strftime("%Y-%m-%d"),
            "versions": {
                "python": platform.python_version(),
                "numpy": np.__version__,
                "scikit-learn": sklearn.__version__,
                "metasampler": metasampler.__version__,
            },
        }


class TrainingProgress:
    """What a callback of :meth:`MetaSampler.fit_tasks` gets after every round.

    It always shows the training as it is now; what is to be kept has to be copied.

    Attributes
    ----------
    policy : GaussianPolicy
        The policy after the round; training goes on to change it.
    encoder : StateEncoder
        What turns an ensemble's errors into the states the policy reads.
    history : list of dict
        As `MetaSampler.history_`, of the episodes so far; `last_round` are those of the last
        round.
    n_rounds_done, n_rounds : int
        Rounds so far, and in all.
    n_episodes_done, n_episodes : int
        Episodes so far, and in all.
    n_updates_done : int
        Updates so far.
    notes : dict
        Empty at first, for the callback to write in what JSON can hold. It is stored in the
        checkpoint, so that a resumed training finds it again, and at the end in
        ``MetaSampler.summary_["notes"]``.
    """

    def __init__(self, training: MetaTraining, make_sampler: Callable[[], Any]):
        self._training = training
        self._make_sampler = make_sampler

    @property
    def policy(self) -> GaussianPolicy:
        """The policy after the round."""
        return self._training.learner.policy

    @property
    def encoder(self) -> StateEncoder:
        """What turns an ensemble's errors into states."""
        return self._training.encoder

    @property
    def history(self) -> list[dict]:
        """One entry an episode."""
        return self._training.history

    @property
    def last_round(self) -> list[dict]:
        """The entries of the history that the last round has added."""
        return self._training.history[self._training.n_before_round :]

    @property
    def n_rounds_done(self) -> int:
        """Rounds so far."""
        return self._training.n_rounds_done

    @property
    def n_rounds(self) -> int:
        """Rounds in all."""
        return self._training.learner.n_rounds

    @property
    def n_episodes_done(self) -> int:
        """Episodes so far."""
        return len(self._training.history)

    @property
    def n_episodes(self) -> int:
        """Episodes in all."""
        return self._training.learner.n_episodes

    @property
    def n_updates_done(self) -> int:
        """Updates so far."""
        return self._training.learner.n_updates

    @property
    def notes(self) -> dict[str, Any]:
        """What the callback wants to find again after a resume."""
        return self._training.notes

    def stop(self) -> None:
        """End the training after this round; the sampler is fitted as it is then."""
        self._training.stopped = True

    def sampler(self):
        """Make a fitted sampler of the policy as it is now.

        Returns
        -------
        sampler : MetaSampler
            It holds a copy of the policy, for a :class:`~metasampler.MesaClassifier` or to save.
        """
        return self._make_sampler()
