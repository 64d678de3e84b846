"""Meta-training (Algorithm 3): rounds of episodes, after each of which a learner learns."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from metasampler._running import progress_bar
from metasampler.growth import (
    Growth,
    GrowthData,
    RandomStreams,
    Stream,
    make_draw,
    make_learners,
    resolve_kinds,
    spread_action,
)
from metasampler.meta._checkpoint import Checkpoint
from metasampler.meta._learners import Assignment, Episode, Learner, Problem, SoftActorCritic
from metasampler.policy import GaussianPolicy, StateEncoder

__all__ = ["WINDOW", "MetaTraining", "TrainingProgress", "play_episode"]

#: Scores are averaged over so many episodes where they are shown, as in the paper's figures.
WINDOW = 50


class Draws(NamedTuple):
    """Say what actions in [0, 1] mean, as the settings of a sampler do."""

    action: str
    mu_min: float
    sigma: float


class _Acting:
    """Act in one episode, at random and then by an actor, and write down what was done."""

    def __init__(self, assignment: Assignment, encoder, rng, *, draws: "Draws"):
        self.assignment = assignment
        self.encoder = encoder
        self.rng = rng
        self.draws = draws
        self.states: list[np.ndarray] = []
        self.actions: list[float] = []

    def __call__(self, growth: Growth):
        """Return the draw of the next member."""
        actor = self.assignment.actor
        state = self.encoder(growth)
        if growth.n_members <= self.assignment.n_random:
            action = float(self.rng.random())
        elif self.assignment.explores:
            action = actor.sample(state, self.rng)
        else:
            action = actor.choose(state)
        self.states.append(state)
        self.actions.append(action)
        kind, mu_min, sigma = self.draws
        return make_draw(spread_action(action, mu_min, kind), kind, sigma, state)


def play_episode(
    assignment: Assignment,
    data: GrowthData,
    members,
    encoder: StateEncoder,
    streams: RandomStreams,
    *,
    n_members: int,
    draws: "Draws",
    score_on: str = "valid",
) -> Episode:
    """Grow one ensemble, by random actions at first and then by actions of an actor.

    There is one action less than members. `Episode.mean_score` is of the rows that ``score_on``
    names.
    """
    rng = streams.generator(Stream.POLICY)
    acting: Any = _Acting(assignment, encoder, rng, draws=draws)
    growth = Growth(data, members, streams)
    compared = [
        step.score if score_on == "valid" else growth.score(score_on)
        for step in growth.grow(acting, n_members)
    ]
    validation = np.array([step.score for step in growth.steps])
    return Episode(
        states=np.array(acting.states).reshape(len(acting.states), encoder.size),
        actions=np.array(acting.actions, dtype=float),
        rewards=np.diff(validation),
        scores={
            role: float(validation[-1]) if role == "valid" else growth.score(role)
            for role in data.roles
        },
        mean_score=float(np.mean(np.array(compared[1:], dtype=float))),
    )


def _play_in_worker(**job) -> Episode:
    """Play an episode under the limits of the main process, so that its result is the same."""
    with threadpool_limits(1, user_api="blas"):
        return play_episode(**job)


class MetaTraining:
    """Train a policy on one or more tasks, in rounds.

    ``settings``, a `MetaSampler`, says what the episodes are like and what learns from them;
    ``names`` are those of the tasks in the history. The policy ``start`` is changed; None starts
    from a random one. ``learners`` fit the members of each task; None makes them of the settings'
    base learner.

    Attributes
    ----------
    history : list of dict
        One entry an episode; it grows while `run` runs.
    n_rounds_done : int
        Rounds that were played and learned from.
    notes : dict
        What a callback wants to find in a checkpoint.
    stopped : bool
        Whether a callback has asked to stop.
    """

    def __init__(
        self,
        settings,
        data: list[GrowthData],
        names: list[str],
        streams: RandomStreams,
        start: GaussianPolicy | None = None,
        learners: list | None = None,
    ):
        self.data = data
        self.names = names
        self.streams = streams
        self.n_members = settings.n_estimators
        self.encoder = StateEncoder(settings.state, settings.n_bins)
        self.draws = Draws(self.encoder.action, settings.mu_min, settings.sigma)
        self.history: list[dict] = []
        self.n_rounds_done = 0
        self.notes: dict[str, Any] = {}
        self.stopped = False
        state_size = self.encoder.size
        if learners is None:
            estimator = resolve_kinds(settings.estimator)
            learners = [make_learners(estimator, task.tables, task.n_classes) for task in data]
        self.members = learners
        rng = streams.generator(Stream.LEARNER)
        default = settings.learner is None
        self.learner: Learner = SoftActorCritic() if default else clone(settings.learner)
        self.learner.begin(
            Problem(
                state_size,
                settings.hidden_layer_sizes,
                n_tasks=len(data),
                n_actions=self.n_members - 1,
                mu_min=self.draws.mu_min,
                rng=rng,
                start=start,
            )
        )

    def run(
        self,
        *,
        n_jobs=None,
        verbose: int = 0,
        callback: Callable[["TrainingProgress"], None] | None = None,
        make_sampler: Callable[[], Any] | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        """Play all rounds; an interrupt leaves what was learned by then in the learner."""
        learner = self.learner
        # Processes pay only where a round has several episodes.
        several = learner.round_size > 1 or learner.n_episodes_a_task > 1
        in_processes = several and effective_n_jobs(n_jobs) > 1
        # One BLAS thread: the matrices are so small that a second one only costs. One pool: a
        # new one would send all tables again in every round.
        with (
            threadpool_limits(1, user_api="blas"),
            Parallel(n_jobs if in_processes else 1) as parallel,
            progress_bar("Meta-training", learner.n_episodes, enabled=verbose > 0) as advance,
        ):
            if checkpoint is not None and checkpoint.restore(self):
                advance("resumed", steps=len(self.history))
            while self.n_rounds_done < learner.n_rounds and not self.stopped:
                n_before = len(self.history)
                tasks = list(range(len(self.data)))
                if learner.round_size < len(tasks):
                    tasks = self._dealt_tasks()
                assignments = learner.plan(self.n_rounds_done, tasks)
                jobs = map(self._job, assignments)
                if in_processes:
                    episodes = parallel(delayed(_play_in_worker)(**job) for job in jobs)
                else:
                    episodes = [play_episode(**job) for job in jobs]
                self._record(assignments, episodes)
                learner.learn(assignments, episodes)
                self.n_rounds_done += 1
                recent = [entry["valid_score"] for entry in self.history[-WINDOW:]]
                note = f"validation score {np.mean(recent):.3f}"
                advance(note, steps=len(self.history) - n_before)
                if callback is not None:
                    callback(self._progress(n_before, make_sampler))
                if checkpoint is not None:
                    checkpoint.store_if_due(self)

    def _dealt_tasks(self) -> list[int]:
        """Return the tasks of a round, as cards are dealt: each has its turn before one returns."""
        n_tasks, size = len(self.data), self.learner.round_size
        # Each deal has a stream of its own, below that of the learner: it serves nothing else.
        tasks = []
        for place in range(self.n_rounds_done * size, (self.n_rounds_done + 1) * size):
            deal, card = divmod(place, n_tasks)
            rng = self.streams.child(Stream.LEARNER, deal).generator(Stream.SUBSET)
            tasks.append(int(rng.permutation(n_tasks)[card]))
        return tasks

    def _job(self, assignment: Assignment) -> dict[str, Any]:
        """Return the arguments of `play_episode`."""
        return {
            "assignment": assignment,
            "data": self.data[assignment.task],
            "members": self.members[assignment.task],
            "encoder": self.encoder,
            "streams": self.streams.child(Stream.EPISODE, assignment.number),
            "n_members": self.n_members,
            "draws": self.draws,
            "score_on": self.learner.score_on,
        }

    def _record(self, assignments: list[Assignment], episodes: list[Episode]) -> None:
        """Add one entry for each number; episodes that share one are recorded by their means."""
        kind, mu_min, _ = self.draws
        played: dict[int, list[tuple[Assignment, Episode]]] = {}
        for assignment, episode in zip(assignments, episodes, strict=True):
            played.setdefault(assignment.number, []).append((assignment, episode))
        for number, pairs in played.items():
            first, _ = pairs[0]
            scores = {
                role: float(np.mean([episode.scores[role] for _, episode in pairs]))
                for role in pairs[0][1].scores
            }
            actions = np.mean([episode.actions for _, episode in pairs], axis=0)
            self.history.append(
                {
                    "episode": number,
                    "task": self.names[first.task],
                    "train_score": scores["train"],
                    "valid_score": scores["valid"],
                    "test_score": scores.get("test"),
                    "actions": spread_action(actions, mu_min, kind).tolist(),
                    "n_random_actions": first.n_random,
                }
            )

    def _progress(self, n_before: int, make_sampler) -> "TrainingProgress":
        """Return what a callback gets after the round that started with so many entries."""
        return TrainingProgress(
            policy=self.learner.policy,
            encoder=self.encoder,
            history=self.history,
            last_round=self.history[n_before:],
            n_rounds_done=self.n_rounds_done,
            n_rounds=self.learner.n_rounds,
            n_episodes_done=len(self.history),
            n_episodes=self.learner.n_episodes,
            n_updates_done=self.learner.n_updates_done,
            notes=self.notes,
            stop=self.stop,
            sampler=make_sampler,
        )

    def stop(self) -> None:
        """End the training after this round."""
        self.stopped = True


@dataclass(frozen=True)
class TrainingProgress:
    """Tell a callback of :meth:`MetaSampler.fit_tasks` how far a training is.

    Attributes
    ----------
    policy : GaussianPolicy
        The policy after the round. Training goes on to change it: copy what is to be kept.
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
    stop : callable
        ``stop()`` ends the training after this round; the sampler is fitted as it is then.
    sampler : callable
        ``sampler()`` makes a fitted :class:`~metasampler.MetaSampler` with a copy of the policy as
        it is now, for a :class:`~metasampler.MesaClassifier` or to save.
    """

    policy: GaussianPolicy
    encoder: StateEncoder
    history: list[dict]
    last_round: list[dict]
    n_rounds_done: int
    n_rounds: int
    n_episodes_done: int
    n_episodes: int
    n_updates_done: int
    notes: dict[str, Any]
    stop: Callable[[], None]
    sampler: Callable[[], Any]
