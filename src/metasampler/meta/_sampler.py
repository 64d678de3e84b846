"""The meta-sampler: its parameters, how it is meta-trained, acts, is stored and copied."""

import copy
import json
import platform
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from metasampler._dask_token import dask_token
from metasampler._sklearn_compat import check_parameters
from metasampler._warnings import warn_user
from metasampler.growth import (
    DEFAULT_SIGMA,
    N_JOBS,
    Adapters,
    GaussianDraw,
    Growth,
    GrowthData,
    PowerDraw,
    RandomStreams,
    Stream,
    copy_input_tags,
    make_adapters,
    make_growth_data,
    resolve_estimators,
    unchanged_on_error,
)
from metasampler.meta._constants import FitToConstants
from metasampler.meta._trainers import SoftActorCritic
from metasampler.meta._training import WINDOW, MetaTraining, Task, as_tasks
from metasampler.policy import (
    SAMPLER_SETTINGS,
    GaussianPolicy,
    LearnedPolicy,
    StateEncoder,
    find_sampler,
    read_sampler,
    write_sampler,
)

#: The trainers, by the name that a file has for them.
_TRAINERS = {kind.__name__: kind for kind in (SoftActorCritic, FitToConstants)}

# Settings that affect how a sampler is computed, and not the result.
_NOT_STORED = ("estimator", "n_jobs", "verbose")

# What may be changed after a fit.
_FREE = ("random_state", "sigma")


@dataclass(eq=False, repr=False)
class MetaSampler(BaseEstimator):
    """Learned policy that decides how hard the rows of the next member should be.

    Meta-training plays episodes. In each episode an ensemble of `n_estimators` members grows on a
    task, and the policy chooses a mu before every member but the first. A trainer sees how the
    validation score changes, and learns which mu gains most.

    The policy sees only the ensemble's errors, not the columns of the task. So you can meta-train a
    sampler on one task and use it on any other.

    Parameters
    ----------
    estimator : classifier with `predict_proba`, or list of these, default=None
        The base estimator in meta-training; None means
        :class:`~sklearn.tree.DecisionTreeClassifier`. The classifiers of a list take turns. Every
        episode starts with the first.
    n_estimators : int, default=10
        Members of the ensemble in an episode. The policy takes no action for the first one.
    sigma : float, default=0.2
        Width of the Gaussian over errors.
    mu_min : float, default=0.0
        The smallest mu: the policy's actions, in [0, 1], are spread over [mu_min, 1]. Easy rows
        teach little on most tasks. A large `mu_min` keeps the policy from choosing them.
    sampling_ratio : float, default=1.0
        How many rows of each larger class are drawn for each row of the smallest class.
        :class:`~metasampler.ensemble.teams.Boosters` get three times as many.
    state : {"all", "majority", "class-wise", "summary", "signal"}, default="all"
        What the policy sees: histograms of the errors of some rows, a summary of them, or the
        signal that scouts found (for :class:`~metasampler.ensemble.teams.Boosters` only); see
        :class:`~metasampler.policy.StateEncoder`. A sampler reads only states of the kind it was
        trained on. With ``"signal"`` it chooses the power of errors, from 0 (uniform draws) to 6
        (hard rows); `mu_min` and `sigma` have no effect then. With all other states it chooses mu,
        as in the paper.
    n_bins : int, default=5
        Bins of each histogram.
    hidden_layer_sizes : tuple of int, default=(50,)
        Hidden layers of the policy; with ``()`` mu is a squashed linear function of the state.
    trainer : SoftActorCritic or FitToConstants, default=None
        What improves the policy. It has parameters of its own. None means
        :class:`~metasampler.meta.SoftActorCritic`, as in the paper.
    validation_fraction : float, default=0.2
        Fraction of each class that is held out if a task has no validation rows.
    train_ratio : float, default=1.0
        Fraction of each class of the training rows to meta-train on.
    scoring : str or callable, default="average_precision"
        The score whose changes are the rewards; see :class:`~metasampler.MesaClassifier`.
    n_jobs : int, default=None
        Processes that play the episodes of a round. The result is the same for any number.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same sampler in every call.
    verbose : int, default=0
        Show a progress bar with the moving mean of the validation score if not 0.

    Attributes
    ----------
    policy_ : GaussianPolicy
        The learned policy.
    encoder_ : StateEncoder
        What turns an ensemble's errors into the states this sampler reads.
    history_ : list of dict
        One entry for each episode: ``episode``, ``task``, ``train_score``, ``valid_score``,
        ``test_score`` (None without test rows), ``actions`` (list of mu) and ``n_random_actions``,
        how many of them were random. :class:`~metasampler.meta.FitToConstants` plays several
        constants in one episode; the entry then has their means.
    n_updates_ : int
        Updates that were made.
    summary_ : dict
        How, when and with which versions the sampler was meta-trained.
    n_features_in_ : int
        Number of columns of the task that `fit` has seen; not set for several tasks.
    feature_names_in_ : ndarray of str
        Names of these columns, if the task was a data frame with strings as names.

    See Also
    --------
    MesaClassifier : The ensemble that uses a meta-sampler.

    Notes
    -----
    If you interrupt `fit` (Ctrl-C), it warns and leaves a usable sampler with the policy after the
    last update. The next `fit` starts anew, or from a `checkpoint`. :func:`sklearn.base.clone`
    keeps the learned policy, because a sampler is a ready-made part of a classifier.

    References
    ----------
    .. [1] Z. Liu et al., "MESA: Boost Ensemble Imbalanced Learning with MEta-SAmpler",
       NeurIPS 2020.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from metasampler import MesaClassifier, MetaSampler
    >>> from metasampler.meta import SoftActorCritic
    >>> X, y = make_classification(600, weights=[0.9], random_state=0)
    >>> trainer = SoftActorCritic(n_random_steps=30, n_updates=30)
    >>> sampler = MetaSampler(trainer=trainer, random_state=0).fit(X, y)
    >>> len(sampler.history_)
    7
    >>> tree = DecisionTreeClassifier()
    >>> clf = MesaClassifier(tree, meta_sampler=sampler, random_state=0).fit(X, y)
    """

    _parameter_constraints = {
        **SAMPLER_SETTINGS,
        "estimator": [None, object],
        "trainer": [None, SoftActorCritic, FitToConstants],
        "scoring": [str, callable],
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    estimator: Any = None
    n_estimators: int = 10
    _: KW_ONLY
    sigma: float = DEFAULT_SIGMA
    mu_min: float = 0.0
    sampling_ratio: float = 1.0
    state: str = "all"
    n_bins: int = 5
    hidden_layer_sizes: Any = (50,)
    trainer: Any = None
    validation_fraction: float = 0.2
    train_ratio: float = 1.0
    scoring: Any = "average_precision"
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    def __dask_tokenize__(self):
        return dask_token(self)

    def fit(
        self,
        X,
        y,
        sample_weight=None,
        *,
        X_val=None,
        y_val=None,
        sample_weight_val=None,
        X_test=None,
        y_test=None,
        callback=None,
        checkpoint=None,
        checkpoint_every=10,
    ):
        """Meta-train on one task.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, see :meth:`MesaClassifier.fit`.
        X_val, y_val : table and array-like, default=None
            Validation rows. Without them a share of X is held out.
        sample_weight_val : array-like of shape (n_validation_samples,), default=None
            Weights of the validation rows: they count in the score, and so in the rewards.
        X_test, y_test : table and array-like, default=None
            Rows that are only scored, for `history_`.
        callback, checkpoint, checkpoint_every
            See :meth:`fit_tasks`; a round is one episode.

        Returns
        -------
        self : MetaSampler
            The meta-trained sampler.
        """
        weights = {"sample_weight": sample_weight, "sample_weight_val": sample_weight_val}
        task = Task(X, y, X_val, y_val, X_test, y_test, name="task 0", **weights)
        with unchanged_on_error(self):
            self._fit([task], callback, checkpoint, checkpoint_every)
            # `n_features_in_` is for the user; nothing of the sampler depends on it.
            validate_data(self, X, skip_check_array=True)
        return self

    def fit_tasks(self, tasks, *, callback=None, checkpoint=None, checkpoint_every=10):
        """Meta-train on several tasks at once, with one policy.

        The tasks take turns: each round plays on every task, or on as many as the trainer's
        `tasks_per_round` says.

        Parameters
        ----------
        tasks : sequence of Task or tuple, or dict of these
            Tuples hold ``(X, y)``, ``(X, y, X_val, y_val)`` or ``(X, y, X_val, y_val, X_test,
            y_test)``. The keys of a dict are the tasks' names.
        callback : callable, default=None
            Called after every round with a :class:`~metasampler.meta.TrainingProgress`, which
            has the current policy and history and can stop the training.
        checkpoint : str or path, default=None
            A file for the whole state of the training. If it exists, the training resumes from it
            and gives the same sampler as without the interruption. Settings and tasks must be the
            same, and `random_state` must be an int. Estimators and scoring functions are compared
            by their names only.
        checkpoint_every : int, default=10
            Write the checkpoint after this many rounds, and at the end.

        Returns
        -------
        self : MetaSampler
            The meta-trained sampler.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer, make_classification
        >>> from metasampler.meta import MetaSampler, SoftActorCritic
        >>> tasks = {
        ...     "cancer": load_breast_cancer(return_X_y=True),
        ...     "synthetic": make_classification(400, weights=[0.9], random_state=0),
        ... }
        >>> def show(progress):
        ...     if progress.n_episodes_done == 4:
        ...         progress.stop()
        ...     print(progress.n_episodes_done, "of", progress.n_episodes)
        >>> trainer = SoftActorCritic(n_random_steps=18, n_updates=54)
        >>> sampler = MetaSampler(trainer=trainer, random_state=0).fit_tasks(tasks, callback=show)
        2 of 8
        4 of 8
        """
        with unchanged_on_error(self):
            self._fit(as_tasks(tasks), callback, checkpoint, checkpoint_every)
            for name in ("n_features_in_", "feature_names_in_"):
                self.__dict__.pop(name, None)  # of an earlier fit on one task
        return self

    def fit_growth_data(self, data: list[GrowthData]):
        """Meta-train on rows that are prepared already, as a classifier's fit has them.

        `sampling_ratio`, `validation_fraction` and `scoring` are those of the rows.
        """
        self._check_parameters()
        streams = RandomStreams.from_random_state(self.random_state)
        estimator = resolve_estimators(self.estimator)
        members = [_adapters_of(estimator, task) for task in data]
        return self._train(data, members, [f"task {n}" for n in range(len(data))], streams)

    def _fit(self, tasks: list[Task], callback, checkpoint, checkpoint_every):
        """Prepare the rows of all tasks and train on them."""
        self._check_parameters()
        estimator = self._copied()
        if self.state == "signal" and not hasattr(estimator, "prepare_task"):
            raise ValueError(
                "state='signal' is for boosters only: pass estimator=Boosters(), got "
                f"{self.estimator!r}."
            )
        if self.train_ratio < 1 and hasattr(estimator, "prepare_task"):
            raise ValueError(
                f"train_ratio={self.train_ratio} is not for {estimator!r}: scouts have seen all "
                "rows. Pass fewer rows."
            )
        streams = RandomStreams.from_random_state(self.random_state)
        prepared = []
        for number, task in enumerate(tasks):
            try:
                prepared.append(self._prepare(estimator, task, streams.child(Stream.SPLIT, number)))
            except ValueError as error:
                if len(tasks) == 1:
                    raise
                raise ValueError(f"Task {task.name!r}: {error}") from error
        data, members = map(list, zip(*prepared, strict=True))
        names = [task.name for task in tasks]
        return self._train(data, members, names, streams, callback, checkpoint, checkpoint_every)

    def _copied(self):
        """Return what members are copies of. Boosters of a recipe make theirs: scouts go first."""
        makes_members = hasattr(self.estimator, "prepare_task")
        return self.estimator if makes_members else resolve_estimators(self.estimator)

    def _prepare(self, estimator, task: Task, streams: RandomStreams, owner=None) -> tuple:
        """Return the rows of a task, and what fits members on them."""
        rows = (task.X, task.y, task.X_val, task.y_val, task.X_test, task.y_test)
        options = {
            "sample_weight": task.sample_weight,
            "sample_weight_val": task.sample_weight_val,
            "validation_fraction": self.validation_fraction,
            "sampling_ratio": self.sampling_ratio,
            "scoring": self.scoring,
            "streams": streams,
            "owner": self if owner is None else owner,
        }
        if hasattr(estimator, "prepare_task"):
            return estimator.prepare_task(*rows, **options)
        data = make_growth_data(*rows, estimator=estimator, **options)
        return data, _adapters_of(estimator, data)

    def _train(
        self, data, members, names, streams, callback=None, checkpoint=None, checkpoint_every=10
    ):
        """Play all rounds and take over what was learned."""
        for name, task in zip(names, data, strict=True):
            if getattr(self.trainer, "score_on", None) == "test" and "test" not in task.roles:
                raise ValueError(
                    f"score_on='test' needs X_test and y_test of every task; {name} has none."
                )
        if self.train_ratio < 1:
            data = [task.thinned(self.train_ratio, streams) for task in data]
        training = MetaTraining(self, data, members, names, streams)
        if checkpoint is not None:
            settings = plain_settings(self.get_params()) | self._names()
            training.use_checkpoint(checkpoint, checkpoint_every, settings)
        interrupted = False
        try:
            # Cloned again, because the training goes on to change what it has.
            training.run(callback, lambda: clone(clone(self)._take_over(training)))
        except KeyboardInterrupt:
            interrupted = True
            warn_user(
                f"Meta-training was interrupted after {len(training.history)} of "
                f"{training.trainer.n_episodes} episodes and {training.trainer.n_updates_done} of "
                f"{training.trainer.n_updates_planned} updates; the sampler holds what it had "
                "learned by then."
            )
        return self._take_over(training, interrupted=interrupted)

    def _take_over(self, training: MetaTraining, *, interrupted: bool = False) -> "MetaSampler":
        """Become what the training has learned so far."""
        import metasampler  # here, because the package imports this module

        scores = [entry["valid_score"] for entry in training.history]
        summary = {
            "tasks": [
                {
                    "name": name,
                    "train_rows": task.counts.tolist(),
                    "n_features": int(task.tables[0].shape[1]),
                }
                for name, task in zip(training.names, training.data, strict=True)
            ],
            **self._names(),
            "seed": training.streams.entropy,
            "n_episodes": len(training.history),
            "n_updates": training.trainer.n_updates_done,
            "first_valid_score": float(np.mean(scores[:WINDOW])) if scores else None,
            "last_valid_score": float(np.mean(scores[-WINDOW:])) if scores else None,
            "date": datetime.now(UTC).strftime("%Y-%m-%d"),
            "versions": {
                "python": platform.python_version(),
                "numpy": np.__version__,
                "scikit-learn": sklearn.__version__,
                "metasampler": metasampler.__version__,
            },
            "trainer": type(training.trainer).__name__,
            "interrupted": interrupted,
            "stopped": training.stopped,
        }
        if training.notes:
            summary["notes"] = dict(training.notes)
        trainer = training.trainer
        return self._become(
            trainer.policy, training.encoder, training.history, trainer.n_updates_done, summary
        )

    def _become(self, policy, encoder, history, n_updates: int, summary) -> "MetaSampler":
        """Set all that a fit sets."""
        self.policy_, self.encoder_ = policy, encoder
        self.history_, self.n_updates_, self.summary_ = history, n_updates, summary
        self._trained_with = self.get_params()
        return self

    def _names(self) -> dict[str, str]:
        """Return what the members and the scoring are called, without places in memory."""
        return {
            "estimator": repr(self._copied()),
            "scoring": getattr(self.scoring, "__qualname__", None) or str(self.scoring),
        }

    def _check_parameters(self):
        check_parameters(self)
        if self.trainer is not None:
            check_parameters(self.trainer)

    def __sklearn_tags__(self):
        tags = copy_input_tags(super().__sklearn_tags__(), self.estimator)
        tags.target_tags.required = True
        return tags

    def __sklearn_is_fitted__(self):
        return hasattr(self, "policy_")

    def __sklearn_clone__(self):
        twin = super().__sklearn_clone__()
        for name, value in vars(self).items():
            if not hasattr(twin, name):
                # What may be changed in place is the clone's own. Entries of a history are not.
                copied = copy.deepcopy(value) if name == "policy_" else copy.copy(value)
                setattr(twin, name, copied)
        return twin

    # ------------------------------------------------------------------ acting

    def as_policy(self) -> LearnedPolicy:
        """Return what chooses mu in a fit, with a copy of what was learned.

        A setting that was changed after the fit is a ValueError: it has had no effect.

        Examples
        --------
        >>> from metasampler.meta import MetaSampler
        >>> MetaSampler.load("universal").as_policy()
        LearnedPolicy(states of kind 'summary', mu_min=0.4, sigma=0.2)
        """
        policy = self._as_policy()
        then, now = plain_settings(self._trained_with), plain_settings(self.get_params())
        for name, value in then.items():
            if name not in _FREE and now.get(name, value) != value:
                raise ValueError(
                    f"This MetaSampler was meta-trained with {name}={value!r} and then set to "
                    f"{now[name]!r}; fit it again, or pass one that is not fitted."
                )
        return policy

    def _as_policy(self) -> LearnedPolicy:
        check_is_fitted(self)
        return LearnedPolicy(self.policy_, self.encoder_, self.mu_min, self.sigma, self.summary_)

    @property
    def reads_validation_rows(self) -> bool:
        """Return whether it needs validation rows to choose by, fitted or not."""
        return self.state != "signal"

    @property
    def encoder(self) -> StateEncoder:
        """Return `encoder_`, under the name that policies have for it."""
        return self.encoder_

    def __call__(self, growth: Growth) -> GaussianDraw | PowerDraw | None:
        """Return the draw of the next member: a fitted sampler is a policy."""
        # Whether settings were changed is looked at once a fit.
        policy = self.as_policy() if growth.n_members == 1 else self._as_policy()
        return policy(growth)

    def choose(self, state):
        """Return the mu in [mu_min, 1], or the power in [0, 6], for a state of `encoder_`.

        It is not called `predict`: a sampler predicts nothing of the rows it was fitted on.
        """
        return self._as_policy().choose(state)

    def sample(self, state, rng):
        """Draw mu, or the power, for a state of `encoder_`, by a `numpy.random.Generator`."""
        return self._as_policy().sample(state, rng)

    # ------------------------------------------------------------------ files

    def save(self, path, *, history=True):
        """Write the sampler to a file, whole or not at all.

        The file holds the policy, the settings, the history and the summary. It does not hold the
        base estimator, nor a callable `scoring`: `summary_` keeps only their names.

        Parameters
        ----------
        path : str or path
            The file, usually called ``*.npz``.
        history : bool, default=True
            Whether to write `history_` too, which may be most of the file.
        """
        check_is_fitted(self)
        settings = {
            **self.get_params(deep=False),
            # The kind of state is that of the policy, whatever was set after the fit.
            "state": self.encoder_.kind,
            "n_bins": self.encoder_.n_bins,
            "hidden_layer_sizes": self.policy_.hidden,
        }
        settings = _plain_entries({n: v for n, v in settings.items() if n not in _NOT_STORED})
        name = type(self.trainer).__name__
        if name in _TRAINERS:
            params = _plain_entries(self.trainer.get_params())
            settings["trainer"] = {"name": name, "params": params}
        content = {
            "settings": settings,
            "history": self.history_ if history else [],
            "summary": self.summary_,
            "n_updates": self.n_updates_,
        }
        write_sampler(path, self.policy_, content)

    @classmethod
    def load(cls, path_or_name):
        """Read a sampler from a file, or one that comes with the package by its name.

        Parameters
        ----------
        path_or_name : str or path
            A file, or a name; ``metasampler samplers`` lists the names.

        Returns
        -------
        sampler : MetaSampler
            A fitted sampler.
        """
        policy, content = read_sampler(find_sampler(path_or_name))
        settings = content["settings"]
        trainer = settings["trainer"]
        if trainer is not None:
            settings["trainer"] = _TRAINERS[trainer["name"]](**trainer["params"])
        sampler = cls.from_policy(policy.actor, **settings)
        told = (content[name] for name in ("history", "n_updates", "summary"))
        return sampler._become(sampler.policy_, sampler.encoder_, *told)

    @classmethod
    def from_policy(cls, policy, **settings):
        """Make a fitted sampler of a policy that was trained elsewhere.

        Parameters
        ----------
        policy : GaussianPolicy
            The policy; it is copied.
        **settings
            Parameters of `MetaSampler`; `state` and `n_bins` must be those the policy was
            trained with.

        Returns
        -------
        sampler : MetaSampler
            A fitted sampler.

        Examples
        --------
        >>> import numpy as np
        >>> from metasampler.meta import MetaSampler
        >>> from metasampler.policy import GaussianPolicy
        >>> policy = GaussianPolicy(10, rng=np.random.default_rng(0))
        >>> sampler = MetaSampler.from_policy(policy, state="all", n_bins=5)
        >>> 0 <= sampler.choose(np.full(10, 0.2)) <= 1
        True
        """
        if not isinstance(policy, GaussianPolicy):
            raise TypeError(f"policy must be a GaussianPolicy, got {policy!r}.")
        settings.setdefault("hidden_layer_sizes", tuple(policy.hidden))
        sampler = cls(**settings)
        sampler._check_parameters()
        # It checks that policy and states belong together.
        learned = LearnedPolicy(policy, StateEncoder(sampler.state, sampler.n_bins))
        return sampler._become(learned.actor, learned.encoder, [], 0, {})

    @classmethod
    def from_actor(cls, actor, **settings):
        """Take over the actor that Stable-Baselines3's SAC has trained.

        Parameters
        ----------
        actor : stable_baselines3.sac.policies.Actor
            ``model.policy.actor`` of a SAC model that was trained on an
            :class:`~metasampler.meta.EnsembleTrainingEnv`, with ReLU hidden layers
            (``policy_kwargs={"activation_fn": torch.nn.ReLU}``, the default).
        **settings
            Parameters of `MetaSampler`; `state` and `n_bins` must be those of the environment.

        Returns
        -------
        sampler : MetaSampler
            A fitted sampler that acts as the actor does.
        """
        # Nothing of torch is imported: a layer is known by the arrays it has.
        if not hasattr(actor.log_std, "weight"):
            raise ValueError("The actor's log_std must be a layer; use_sde=True is not supported.")
        linear = [layer for layer in actor.latent_pi if hasattr(layer, "weight")]
        other = {type(layer).__name__ for layer in actor.latent_pi if layer not in linear}
        if other - {"ReLU"}:
            raise ValueError(f"The actor's hidden layers must be ReLU, got {sorted(other)}.")
        layers = [*linear, actor.mu, actor.log_std]
        weights = [layer.weight.detach().cpu().numpy().T for layer in layers]
        biases = [layer.bias.detach().cpu().numpy() for layer in layers]
        weights[-2:], biases[-2:] = [np.hstack(weights[-2:])], [np.hstack(biases[-2:])]
        return cls.from_policy(GaussianPolicy.from_layers(weights, biases), **settings)


def plain_settings(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `get_params` gave as far as it decides the result, with a default trainer's."""
    trainer = SoftActorCritic() if params["trainer"] is None else params["trainer"]
    settings = {f"trainer__{name}": value for name, value in trainer.get_params().items()}
    settings |= {
        name: value for name, value in params.items() if name.split("__")[0] != "estimator"
    }
    settings["trainer"] = type(trainer).__name__
    return {n: value for n, value in _plain_entries(settings).items() if n not in _NOT_STORED}


def _plain_entries(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries that JSON can hold; a callable or a RandomState is left out."""
    plain = {}
    for name, value in entries.items():
        # JSON does not know NumPy's numbers and arrays, which have a plain form.
        with suppress(AttributeError, TypeError):
            plain[name] = json.loads(json.dumps(value, default=lambda other: other.tolist()))
    return plain


def _adapters_of(estimator, data: GrowthData) -> Adapters:
    """Return the adapters of members on the rows of a task."""
    return make_adapters(
        estimator, data.tables, data.n_classes, category_sizes=data.form.category_sizes
    )
