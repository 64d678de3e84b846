"""Meta-training (Algorithm 3): tasks, and rounds of episodes after which a trainer learns."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from numbers import Integral
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from metasampler._running import progress_bar
from metasampler._warnings import warn_user
from metasampler.growth import (
    Growth,
    GrowthData,
    RandomStreams,
    Stream,
    make_draw,
    spread_action,
)
from metasampler.meta._trainers import Assignment, Episode, Problem, SoftActorCritic
from metasampler.policy import (
    GaussianPolicy,
    StateEncoder,
    check_writable,
    naming_the_input,
    read_archive,
    write_archive,
)

# Name and version in each checkpoint, and its bytes: a replay memory of millions of transitions.
_FORMAT, _VERSION, _LARGEST = "metasampler.MetaTraining", 1, 1 << 30

#: Names of the arrays that trainers store.
_ARRAYS = (
    "policy|critics|target_critics|adam|memory|reward_factors|"
    "waiting_(tasks|states|actions|rewards)|tasks|scores|states"
)

#: Scores that are shown are averaged over this many episodes, as in the paper's figures.
WINDOW = 50


@dataclass
class Task:
    """Hold the data of one task to meta-train on.

    Parameters
    ----------
    X, y : table and array-like
        Training rows.
    X_val, y_val : table and array-like, default=None
        Validation rows, whose score is the reward. Without them a share of X is held out.
    X_test, y_test : table and array-like, default=None
        Rows that are only scored, for `MetaSampler.history_`. With `score_on` of
        :class:`~metasampler.meta.FitToConstants` the policy may learn from them.
    name : str, default=None
        What the task is called in `MetaSampler.history_`.
    sample_weight, sample_weight_val : array-like, default=None
        Weights of training and of validation rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from metasampler.meta import Task
    >>> task = Task(*load_breast_cancer(return_X_y=True), name="breast cancer")
    """

    X: Any
    y: Any
    X_val: Any = None
    y_val: Any = None
    X_test: Any = None
    y_test: Any = None
    name: str | None = None
    sample_weight: Any = None
    sample_weight_val: Any = None


def as_tasks(tasks) -> list[Task]:
    """Return tasks with names, from any form `fit_tasks` takes."""
    if isinstance(tasks, Task):
        raise TypeError("tasks must be a sequence or a dict of tasks, got one Task; pass [task].")
    named = tasks.items() if isinstance(tasks, Mapping) else [(None, task) for task in tasks]
    result = []
    for number, (name, task) in enumerate(named):
        if isinstance(task, (tuple, list)) and len(task) in (2, 4, 6):
            task = Task(*task)
        if not isinstance(task, Task):
            raise TypeError(
                f"Task {number} must be a Task or a tuple of 2, 4 or 6 entries (X, y, X_val, "
                f"y_val, X_test, y_test); got {type(task).__name__}."
            )
        name = task.name if name is None else name
        result.append(replace(task, name=f"task {number}" if name is None else str(name)))
    if not result:
        raise ValueError("tasks must hold at least one task.")
    return result


def play_episode(
    assignment: Assignment,
    data: GrowthData,
    members,
    streams: RandomStreams,
    *,
    encoder: StateEncoder,
    n_members: int,
    mu_min: float,
    sigma: float,
    score_on: str,
) -> Episode:
    """Grow one ensemble, by random actions at first and then by actions of an actor."""
    rng = streams.generator(Stream.POLICY)
    actor, kind = assignment.actor, encoder.action
    states: list[np.ndarray] = []
    actions: list[float] = []

    def act(growth: Growth) -> Any:
        state = encoder(growth)
        if growth.n_members <= assignment.n_random:
            action = float(rng.random())
        elif assignment.explores:
            action = actor.sample(state, rng)
        else:
            action = actor.choose(state)
        states.append(state)
        actions.append(action)
        return make_draw(spread_action(action, mu_min, kind), kind, sigma, state)

    growth = Growth(data, members, streams)
    compared = [
        growth.steps[-1].score if score_on == "valid" else growth.score(score_on)
        for _ in growth.grow(act, n_members)
    ]
    validation = np.array([step.score for step in growth.steps])
    return Episode(
        states=np.array(states).reshape(len(states), encoder.size),
        actions=np.array(actions, dtype=float),
        rewards=np.diff(validation),
        scores={
            role: float(validation[-1]) if role == "valid" else growth.score(role)
            for role in data.roles
        },
        mean_score=float(np.mean(np.array(compared[1:], dtype=float))),
    )


def _in_worker(play: Callable[..., Episode], *job) -> Episode:
    """Play an episode under the limits of the main process, so that its result is the same."""
    with threadpool_limits(1, user_api="blas"):
        return play(*job)


@dataclass(eq=False)
class MetaTraining:
    """Train a policy on one or more tasks, in rounds, as a `MetaSampler`'s settings say."""

    settings: Any
    data: list[GrowthData]
    members: list
    names: list[str]
    streams: RandomStreams
    history: list[dict] = field(default_factory=list)
    n_rounds_done: int = 0
    #: What a callback wants to find in a checkpoint.
    notes: dict[str, Any] = field(default_factory=dict)
    stopped: bool = False
    checkpoint: Path | None = None
    checkpoint_every: int = 1
    #: What the result depends on, by name: a checkpoint of another origin is refused.
    origin: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        settings = self.settings
        self.encoder = StateEncoder(settings.state, settings.n_bins)
        self.kind = self.encoder.action
        default = settings.trainer is None
        self.trainer: Any = SoftActorCritic() if default else clone(settings.trainer)
        self.trainer.begin(
            Problem(
                self.encoder.size,
                settings.hidden_layer_sizes,
                n_tasks=len(self.data),
                n_actions=settings.n_estimators - 1,
                rng=self.streams.generator(Stream.TRAINER),
            )
        )
        self._play = partial(
            play_episode,
            encoder=self.encoder,
            n_members=settings.n_estimators,
            mu_min=settings.mu_min,
            sigma=settings.sigma,
            score_on=self.trainer.score_on,
        )

    def run(self, callback, make_sampler: Callable[[], Any]) -> None:
        """Play all rounds; an interrupt leaves what was learned by then in the trainer."""
        trainer, n_jobs, verbose = self.trainer, self.settings.n_jobs, self.settings.verbose
        in_processes = effective_n_jobs(n_jobs) > 1
        # One BLAS thread: the matrices are so small that a second one only costs. One pool: a
        # new one would send all tables again in every round.
        with (
            threadpool_limits(1, user_api="blas"),
            Parallel(n_jobs if in_processes else 1) as parallel,
            progress_bar("Meta-training", trainer.n_episodes, enabled=verbose > 0) as advance,
        ):
            if self.checkpoint is not None and self.checkpoint.exists():
                self._restore(self.checkpoint)
                advance("resumed", steps=len(self.history))
            while self.n_rounds_done < trainer.n_rounds and not self.stopped:
                n_before = len(self.history)
                tasks = list(range(len(self.data)))
                if trainer.round_size < len(tasks):
                    tasks = self._tasks_of_round()
                assignments = trainer.plan(self.n_rounds_done, tasks)
                jobs = map(self._job, assignments)
                # Processes pay only where a round has several episodes.
                if in_processes and len(assignments) > 1:
                    episodes = parallel(delayed(_in_worker)(self._play, *job) for job in jobs)
                else:
                    episodes = [self._play(*job) for job in jobs]
                self._record(assignments, episodes)
                trainer.learn(assignments, episodes)
                self.n_rounds_done += 1
                recent = [entry["valid_score"] for entry in self.history[-WINDOW:]]
                note = f"validation score {np.mean(recent):.3f}"
                advance(note, steps=len(self.history) - n_before)
                if callback is not None:
                    callback(TrainingProgress(self, self.history[n_before:], make_sampler))
                finished = self.stopped or self.n_rounds_done == trainer.n_rounds
                if self.checkpoint is not None and (
                    finished or self.n_rounds_done % self.checkpoint_every == 0
                ):
                    self._store(self.checkpoint)

    def _tasks_of_round(self) -> list[int]:
        """Return the tasks of a round: each has its turn before one returns."""
        n_tasks, size = len(self.data), self.trainer.round_size
        # Each turn of all tasks has a stream of its own, below that of the trainer.
        tasks = []
        for number in range(self.n_rounds_done * size, (self.n_rounds_done + 1) * size):
            turn, place = divmod(number, n_tasks)
            rng = self.streams.child(Stream.TRAINER, turn).generator(Stream.SUBSET)
            tasks.append(int(rng.permutation(n_tasks)[place]))
        return tasks

    def _job(self, assignment: Assignment) -> tuple:
        """Return what `play_episode` plays."""
        task, streams = assignment.task, self.streams.child(Stream.EPISODE, assignment.number)
        return assignment, self.data[task], self.members[task], streams

    def _record(self, assignments: list[Assignment], episodes: list[Episode]) -> None:
        """Add one entry for each number; episodes that share one are recorded by their means."""
        pairs = zip(assignments, episodes, strict=True)
        for number, group in groupby(pairs, key=lambda pair: pair[0].number):
            (first, *_), played = zip(*group, strict=True)
            scores = {
                role: float(np.mean([episode.scores[role] for episode in played]))
                for role in played[0].scores
            }
            actions = np.mean([episode.actions for episode in played], axis=0)
            actions = spread_action(actions, self.settings.mu_min, self.kind)
            self.history.append(
                {
                    "episode": number,
                    "task": self.names[first.task],
                    "train_score": scores["train"],
                    "valid_score": scores["valid"],
                    "test_score": scores.get("test"),
                    "actions": actions.tolist(),
                    "n_random_actions": first.n_random,
                }
            )

    def stop(self) -> None:
        """End the training after this round."""
        self.stopped = True

    # ------------------------------------------------------------------ checkpoints

    def use_checkpoint(self, path, every: int, settings: dict[str, Any]) -> None:
        """Store the state after some rounds, and resume one of the same settings and tasks."""
        if not isinstance(every, Integral) or every < 1:
            raise ValueError(f"checkpoint_every must be an int of at least 1, got {every!r}.")
        if not isinstance(settings.get("random_state"), Integral):
            raise ValueError(
                "A checkpoint needs an int as random_state, so that a resumed training is the same "
                f"training; got {settings.get('random_state')!r}."
            )
        tasks = [
            # All that an episode reads of a task.
            [name, joblib.hash([task.tables, task.codes, task.rows, task.weights])]
            for name, task in zip(self.names, self.data, strict=True)
        ]
        self.checkpoint, self.checkpoint_every = check_writable(path), int(every)
        self.origin = {**settings, "tasks": tasks}

    def _store(self, path: Path) -> None:
        """Write the state, whole or not at all."""
        facts, arrays = self.trainer.get_state()
        content = {
            "origin": self.origin,
            "n_rounds_done": self.n_rounds_done,
            "history": self.history,
            "notes": self.notes,
            "trainer": facts,
        }
        try:
            write_archive(path, {"format": _FORMAT, "version": _VERSION}, content, arrays)
        except OSError as error:
            # A full disk does not end the training: the next write may succeed.
            warn_user(
                f"The checkpoint is not up to date: {error} The training goes on.", RuntimeWarning
            )

    def _restore(self, path: Path) -> None:
        """Go on from a stored state of this training, and refuse one of another."""
        try:
            _, content, arrays = read_archive(
                path, _FORMAT, _VERSION, _ARRAYS, what="checkpoint", largest=_LARGEST
            )
            stored = content.get("origin")
            stored = stored if isinstance(stored, dict) else {}
            differences = [
                "its tasks are not these"
                if name == "tasks"
                else f"{name} was {was!r} and is {now!r}"
                for name, now in sorted(self.origin.items())
                if (was := stored.get(name)) != now
            ]
            if differences:
                raise ValueError(
                    f"The checkpoint {os.fspath(path)!r} is of another meta-training: "
                    f"{'; '.join(differences)}."
                )
            with naming_the_input(path, "checkpoint"):
                self.trainer.set_state(content["trainer"], arrays)
                self.n_rounds_done = int(content["n_rounds_done"])
                self.history[:] = content["history"]
                self.notes.update(content["notes"])
        except ValueError as error:
            raise ValueError(f"{error} Remove it to start anew, or name another file.") from error


class TrainingProgress:
    """Tell a callback of :meth:`MetaSampler.fit_tasks` how far a training is.

    Attributes
    ----------
    policy : GaussianPolicy
        The policy after the round. Training goes on to change it: copy what is to be kept.
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
    stop : callable
        ``stop()`` ends the training after this round; the sampler is fitted as it is then.
    sampler : callable
        ``sampler()`` makes a fitted :class:`~metasampler.MetaSampler` with a copy of the policy as
        it is now, for a :class:`~metasampler.MesaClassifier` or to save.
    """

    def __init__(self, training: MetaTraining, last_round: list[dict], sampler):
        trainer = training.trainer
        self.policy: GaussianPolicy = trainer.policy
        self.history = training.history
        self.last_round = last_round
        self.n_rounds_done = training.n_rounds_done
        self.n_rounds: int = trainer.n_rounds
        self.n_episodes_done = len(training.history)
        self.n_episodes: int = trainer.n_episodes
        self.n_updates_done: int = trainer.n_updates_done
        self.notes = training.notes
        self.stop = training.stop
        self.sampler = sampler
