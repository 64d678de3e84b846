"""The meta-sampler: the learned policy and its meta-training (Algorithm 3)."""

import os
import warnings
from numbers import Integral, Real
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from metasampler._sklearn_compat import Interval, StrOptions, fit_context
from metasampler.growth._random import RandomStreams, Stream
from metasampler.growth._validation import (
    copy_input_tags,
    make_growth_data,
    resolve_estimator,
)
from metasampler.meta._files import plain_entries, read_sampler, write_sampler
from metasampler.meta._fixed import DEFAULT_SIGMA
from metasampler.meta._policy import GaussianPolicy
from metasampler.meta._sac import SAC
from metasampler.meta._state import STATE_KINDS, StateEncoder
from metasampler.meta._task import Task, as_tasks
from metasampler.meta._training import MetaTraining, RewardScale

__all__ = ["MetaSampler"]


class MetaSampler(BaseEstimator):
    """Learned policy that decides how hard the rows of the next member should be.

    Meta-training plays episodes: in each an ensemble of `n_estimators` members grows on a task,
    the policy choosing a mu before every member but the first. The reward is the change of the
    score on validation rows. The policy is trained with soft actor-critic, after each episode,
    by as many updates as the episode had actions.

    The policy sees histograms of errors and nothing of the task's features, so a sampler that
    was meta-trained on one task can be used on any other.

    Parameters
    ----------
    estimator : classifier with `predict_proba`, default=None
        The base learner in meta-training; None means
        :class:`~sklearn.tree.DecisionTreeClassifier`.

    n_estimators : int, default=10
        Members of the ensemble in an episode; there is one action less.

    sigma : float, default=0.2
        Width of the Gaussian over errors.

    sampling_ratio : float, default=1.0
        Rows drawn of each larger class per row of the smallest class.

    state : {"all", "majority", "class-wise"}, default="all"
        Which rows the error histograms count; see :class:`~metasampler.meta.StateEncoder`. A
        sampler reads only states of the kind it was trained on.

    n_bins : int, default=5
        Bins in each histogram.

    hidden_layer_sizes : tuple of int, default=(50,)
        Hidden layers of the policy.

    critic_hidden_layer_sizes : tuple of int, default=(50, 50)
        Hidden layers of the critics.

    gamma : float, default=0.99
        Discount factor.

    tau : float, default=0.01
        Part by which the target critics move towards the critics in an update.

    alpha : float or "auto", default=0.1
        Temperature, the weight of the policy's entropy; ``"auto"`` adjusts it in training.

    learning_rate : float, default=1e-3
        Learning rate of Adam at the start.

    lr_decay : float, default=0.99
        Factor by which the learning rate falls every `lr_decay_steps` updates.

    lr_decay_steps : int, default=10
        See `lr_decay`.

    batch_size : int, default=64
        Transitions in an update.

    memory_size : int, default=1000
        Transitions in the replay memory.

    n_random_steps : int, default=500
        Actions at the start that are uniformly random and only fill the memory.

    n_updates : int, default=1000
        Actions of the policy, and updates.

    reward_scale : float, default=100.0
        What rewards are multiplied with. `alpha` is meant at this scale.

    scale_tasks : bool, default=False
        In meta-training on several tasks: whether to bring the rewards of all tasks to the same
        root mean square, as measured during the random actions.

    validation_fraction : float, default=0.2
        Part of each class that is held out where a task has no validation rows.

    train_ratio : float, default=1.0
        Part of each class of the training rows to meta-train on.

    scoring : str or callable, default="average_precision"
        The score whose changes are the rewards; see :class:`~metasampler.MesaClassifier`.

    n_jobs : int, default=None
        Processes that play the episodes of several tasks. The result is the same for any number.

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
        One entry an episode: ``episode``, ``task``, ``train_score``, ``valid_score``,
        ``test_score`` (None without test rows), ``actions`` (list of mu) and
        ``n_random_actions``, how many of them were random.

    n_updates_ : int
        Updates that were made.

    summary_ : dict
        How, when and with which versions the sampler was meta-trained.

    See Also
    --------
    MesaClassifier : The ensemble that uses a meta-sampler.

    Notes
    -----
    An interrupted `fit` (Ctrl-C) warns and leaves a sampler that is usable: the policy as it was
    after the last update. `fit` always starts anew; :func:`sklearn.base.clone` keeps what was
    learned, because a sampler is used as a ready-made part of a classifier.

    References
    ----------
    .. [1] Z. Liu et al., "MESA: Boost Ensemble Imbalanced Learning with MEta-SAmpler",
       NeurIPS 2020.
    .. [2] T. Haarnoja et al., "Soft Actor-Critic: Off-Policy Maximum Entropy Deep Reinforcement
       Learning with a Stochastic Actor", ICML 2018.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from metasampler import MesaClassifier, MetaSampler
    >>> X, y = make_classification(600, weights=[0.9], random_state=0)
    >>> sampler = MetaSampler(n_random_steps=30, n_updates=30, random_state=0).fit(X, y)
    >>> len(sampler.history_)
    7
    >>> clf = MesaClassifier(meta_sampler=sampler, random_state=0).fit(X, y)
    """

    _parameter_constraints: dict = {
        "estimator": [None, object],
        "n_estimators": [Interval(Integral, 2, None, closed="left")],
        "sigma": [Interval(Real, 0, None, closed="neither")],
        "sampling_ratio": [Interval(Real, 0, None, closed="neither")],
        "state": [StrOptions(set(STATE_KINDS))],
        "n_bins": [Interval(Integral, 1, None, closed="left")],
        "hidden_layer_sizes": ["array-like"],
        "critic_hidden_layer_sizes": ["array-like"],
        "gamma": [Interval(Real, 0, 1, closed="both")],
        "tau": [Interval(Real, 0, 1, closed="right")],
        "alpha": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "lr_decay": [Interval(Real, 0, 1, closed="right")],
        "lr_decay_steps": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "memory_size": [Interval(Integral, 1, None, closed="left")],
        "n_random_steps": [Interval(Integral, 0, None, closed="left")],
        "n_updates": [Interval(Integral, 0, None, closed="left")],
        "reward_scale": [Interval(Real, 0, None, closed="neither")],
        "scale_tasks": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "train_ratio": [Interval(Real, 0, 1, closed="right")],
        "scoring": [str, callable],
        "n_jobs": [None, Integral],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        sigma=DEFAULT_SIGMA,
        sampling_ratio=1.0,
        state="all",
        n_bins=5,
        hidden_layer_sizes=(50,),
        critic_hidden_layer_sizes=(50, 50),
        gamma=0.99,
        tau=0.01,
        alpha=0.1,
        learning_rate=1e-3,
        lr_decay=0.99,
        lr_decay_steps=10,
        batch_size=64,
        memory_size=1000,
        n_random_steps=500,
        n_updates=1000,
        reward_scale=100.0,
        scale_tasks=False,
        validation_fraction=0.2,
        train_ratio=1.0,
        scoring="average_precision",
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.sigma = sigma
        self.sampling_ratio = sampling_ratio
        self.state = state
        self.n_bins = n_bins
        self.hidden_layer_sizes = hidden_layer_sizes
        self.critic_hidden_layer_sizes = critic_hidden_layer_sizes
        self.gamma = gamma
        self.tau = tau
        self.alpha = alpha
        self.learning_rate = learning_rate
        self.lr_decay = lr_decay
        self.lr_decay_steps = lr_decay_steps
        self.batch_size = batch_size
        self.memory_size = memory_size
        self.n_random_steps = n_random_steps
        self.n_updates = n_updates
        self.reward_scale = reward_scale
        self.scale_tasks = scale_tasks
        self.validation_fraction = validation_fraction
        self.train_ratio = train_ratio
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y, X_val=None, y_val=None, *, X_test=None, y_test=None):
        """Meta-train on one task.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels.
        X_val, y_val : table and array-like, default=None
            Validation rows; without them a part of X is held out.
        X_test, y_test : table and array-like, default=None
            Rows that are only scored, for `history_`.

        Returns
        -------
        self : MetaSampler
            The meta-trained sampler.
        """
        return self.fit_tasks([Task(X, y, X_val, y_val, X_test, y_test)])

    @fit_context(prefer_skip_nested_validation=False)
    def fit_tasks(self, tasks):
        """Meta-train on several tasks at once, with one policy and one replay memory.

        The tasks take turns: in each round one episode is played on every task, by the policy
        as it is at the start of the round.

        Parameters
        ----------
        tasks : sequence of Task or tuple, or dict of these
            Tuples hold ``(X, y)``, ``(X, y, X_val, y_val)`` or ``(X, y, X_val, y_val, X_test,
            y_test)``. The keys of a dict are the tasks' names.

        Returns
        -------
        self : MetaSampler
            The meta-trained sampler.
        """
        streams = RandomStreams.from_random_state(self.random_state)
        estimator = resolve_estimator(self.estimator)
        data = []
        tasks = as_tasks(tasks)
        for number, task in enumerate(tasks):
            try:
                data.append(
                    make_growth_data(
                        task.X,
                        task.y,
                        task.X_val,
                        task.y_val,
                        task.X_test,
                        task.y_test,
                        estimator=estimator,
                        validation_fraction=self.validation_fraction,
                        sampling_ratio=self.sampling_ratio,
                        scoring=self.scoring,
                        streams=streams.child(Stream.SPLIT, number),
                        owner=self,
                    )
                )
            except ValueError as error:
                if len(tasks) == 1:
                    raise
                raise ValueError(f"Task {task.name!r}: {error}") from error
        return self._train(data, [task.name for task in tasks], streams)

    @fit_context(prefer_skip_nested_validation=False)
    def _fit_data(self, data):
        """Meta-train on tasks that are prepared already, as a classifier's fit has them."""
        streams = RandomStreams.from_random_state(self.random_state)
        return self._train(data, [f"task {number}" for number in range(len(data))], streams)

    def _train(self, data, names, streams):
        """Set up the learner and run Algorithm 3."""
        encoder = StateEncoder(self.state, self.n_bins)
        agent = self._make_agent(encoder, streams)
        if self.train_ratio < 1:
            data = [task.thinned(self.train_ratio, streams) for task in data]
        training = MetaTraining(
            data,
            names,
            resolve_estimator(self.estimator),
            encoder,
            agent,
            n_members=self.n_estimators,
            sigma=self.sigma,
            n_random_steps=self.n_random_steps,
            n_updates=self.n_updates,
            rewards=RewardScale(len(data), self.reward_scale, self.scale_tasks),
            streams=streams,
        )
        interrupted = False
        try:
            training.run(n_jobs=self.n_jobs, verbose=self.verbose)
        except KeyboardInterrupt:
            interrupted = True
            warnings.warn(
                f"Meta-training was interrupted after {len(training.history)} of "
                f"{training.n_episodes} episodes and {agent.n_updates_} of {self.n_updates} "
                "updates; the sampler holds what it had learned by then.",
                UserWarning,
                stacklevel=2,
            )

        self.encoder_ = encoder
        self.policy_ = agent.policy
        self.n_updates_ = agent.n_updates_
        self.history_ = training.history
        self.summary_ = {
            **training.summary(),
            "scoring": self.scoring if isinstance(self.scoring, str) else repr(self.scoring),
            "interrupted": interrupted,
        }
        self._trained_with = self._training_settings()
        return self

    def _make_agent(self, encoder, streams):
        return SAC(
            encoder.size,
            hidden=_layer_sizes("hidden_layer_sizes", self.hidden_layer_sizes),
            critic_hidden=_layer_sizes("critic_hidden_layer_sizes", self.critic_hidden_layer_sizes),
            gamma=self.gamma,
            tau=self.tau,
            alpha=self.alpha,
            learning_rate=self.learning_rate,
            lr_decay=self.lr_decay,
            lr_decay_steps=self.lr_decay_steps,
            batch_size=self.batch_size,
            memory_size=self.memory_size,
            rng=streams.generator(Stream.LEARNER),
        )

    def __sklearn_tags__(self):
        tags = copy_input_tags(super().__sklearn_tags__(), self.estimator)
        tags.target_tags.required = True
        return tags

    def __sklearn_is_fitted__(self):
        return hasattr(self, "policy_")

    def __sklearn_clone__(self):
        parameters = self.get_params(deep=False)
        twin = type(self)(**{name: clone(value, safe=False) for name, value in parameters.items()})
        learned = ("policy_", "encoder_", "n_updates_", "history_", "summary_", "_trained_with")
        for name in learned:
            if hasattr(self, name):
                setattr(twin, name, getattr(self, name))
        return twin

    def _training_settings(self) -> dict:
        """The settings that decide what is learned, as far as they can be compared."""
        settings = self.get_params(deep=False)
        for name in ("estimator", "n_jobs", "random_state", "sigma", "verbose"):
            del settings[name]
        return plain_entries(settings)

    def _check_unchanged(self) -> None:
        """Refuse settings that were changed after the fit, and so have had no effect."""
        now = self._training_settings()
        for name, value in self._trained_with.items():
            if now.get(name) != value:
                raise ValueError(
                    f"This MetaSampler was meta-trained with {name}={value!r} and then set to "
                    f"{now.get(name)!r}; fit it again, or pass one that is not fitted."
                )

    def _check_state(self, state):
        check_is_fitted(self)
        state = np.asarray(state, dtype=float)
        if not np.isfinite(state).all():
            raise ValueError(f"A meta-state must hold finite numbers, got {state}.")
        if state.shape != (self.encoder_.size,):
            raise ValueError(
                f"This sampler reads states of kind {self.encoder_.kind!r} with "
                f"{self.encoder_.n_bins} bins, vectors of length {self.encoder_.size}; got shape "
                f"{state.shape}."
            )
        return state

    def predict(self, state):
        """Choose mu for a state by the mean of the policy.

        Parameters
        ----------
        state : array-like of shape (state_size,)
            A meta-state of the kind this sampler was trained on, as `encoder_` gives it.

        Returns
        -------
        mu : float
            In [0, 1].
        """
        state = self._check_state(state)
        return self.policy_.predict(state)

    def sample(self, state, rng):
        """Draw mu for a state from the policy.

        Parameters
        ----------
        state : array-like of shape (state_size,)
            A meta-state of the kind this sampler was trained on.
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        mu : float
            In [0, 1].
        """
        state = self._check_state(state)
        return self.policy_.sample(state, rng)

    def save(self, path):
        """Write the sampler to a file, whole or not at all.

        The file holds the policy, the settings, the history and the summary; not the base
        learner and not a `scoring` that is a callable, of which only the names are kept in
        `summary_`.

        Parameters
        ----------
        path : str or path
            The file, usually called ``*.npz``.
        """
        check_is_fitted(self)
        settings = self.get_params(deep=False)
        del settings["estimator"]
        # The kind of state is that of the policy, whatever was set after the fit.
        settings |= {"state": self.encoder_.kind, "n_bins": self.encoder_.n_bins}
        content = {
            "settings": plain_entries(settings),
            "history": self.history_,
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
            A file, or a name.

        Returns
        -------
        sampler : MetaSampler
            A fitted sampler.
        """
        path = Path(path_or_name)
        if not path.is_file():
            raise FileNotFoundError(
                f"There is no sampler file {os.fspath(path_or_name)!r}, and no pretrained sampler "
                "of that name comes with this version. As meta_sampler of a MesaClassifier, "
                "'default', 'random', 'fit' or a number in [0, 1] need no file."
            )
        policy, content = read_sampler(path)
        try:
            settings = dict(content["settings"])
            for name in ("hidden_layer_sizes", "critic_hidden_layer_sizes"):
                settings[name] = tuple(settings[name])
            sampler = cls.from_policy(policy, **settings)
            sampler.history_ = list(content["history"])
            sampler.summary_ = dict(content["summary"])
            sampler.n_updates_ = int(content["n_updates"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"{os.fspath(path)!r} is not a usable sampler file: {error}."
            ) from error
        return sampler

    @classmethod
    def from_policy(cls, policy, **settings):
        """Make a fitted sampler of a policy that was trained elsewhere.

        Parameters
        ----------
        policy : GaussianPolicy
            The policy.
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
        >>> from metasampler.meta import GaussianPolicy, MetaSampler
        >>> policy = GaussianPolicy(10, rng=np.random.default_rng(0))
        >>> sampler = MetaSampler.from_policy(policy, state="all", n_bins=5)
        >>> 0 <= sampler.predict(np.full(10, 0.2)) <= 1
        True
        """
        if not isinstance(policy, GaussianPolicy):
            raise TypeError(f"policy must be a GaussianPolicy, got {policy!r}.")
        settings.setdefault("hidden_layer_sizes", tuple(policy.hidden))
        sampler = cls(**settings)
        sampler._validate_params()
        encoder = StateEncoder(sampler.state, sampler.n_bins)
        if policy.state_size != encoder.size:
            raise ValueError(
                f"The policy reads states of length {policy.state_size}, but states of kind "
                f"{encoder.kind!r} with {encoder.n_bins} bins have length {encoder.size}."
            )
        sampler.encoder_ = encoder
        sampler.policy_ = policy
        sampler.n_updates_ = 0
        sampler.history_ = []
        sampler.summary_ = {}
        sampler._trained_with = sampler._training_settings()
        return sampler

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
        return cls.from_policy(GaussianPolicy.from_actor(actor), **settings)


def _layer_sizes(name, sizes) -> tuple[int, ...]:
    sizes = tuple(sizes)
    if not all(isinstance(size, Integral) and int(size) > 0 for size in sizes):
        raise ValueError(f"{name} must hold positive integers, got {sizes!r}.")
    return tuple(int(size) for size in sizes)
