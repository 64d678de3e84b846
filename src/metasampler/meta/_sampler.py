"""The meta-sampler: the learned policy and its meta-training (Algorithm 3)."""

import copy
import warnings
from numbers import Integral, Real

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from metasampler._sklearn_compat import Interval, StrOptions, fit_context
from metasampler.growth._kinds import resolve_kinds
from metasampler.growth._random import RandomStreams, Stream
from metasampler.growth._validation import copy_input_tags, make_growth_data
from metasampler.meta._fitted import FittedSampler
from metasampler.meta._fixed import DEFAULT_SIGMA
from metasampler.meta._setup import make_checkpoint, make_training, name_of
from metasampler.meta._state import STATE_KINDS
from metasampler.meta._task import Task, as_tasks
from metasampler.meta._training import TrainingProgress

__all__ = ["MetaSampler"]


class MetaSampler(FittedSampler):
    """Learned policy that decides how hard the rows of the next member should be.

    Meta-training plays episodes: in each an ensemble of `n_estimators` members grows on a task,
    the policy choosing a mu before every member but the first. The reward is the change of the
    score on validation rows. The policy is trained with soft actor-critic, after each episode,
    by as many updates as the episode had actions; or in other ways, see `learner`.

    The policy sees the ensemble's errors and nothing of the task's features, so a sampler that
    was meta-trained on one task can be used on any other.

    Parameters
    ----------
    estimator : classifier with `predict_proba`, or list of these, default=None
        The base learner in meta-training; None means
        :class:`~sklearn.tree.DecisionTreeClassifier`. Those of a list take turns, from the start
        again in every episode.

    n_estimators : int, default=10
        Members of the ensemble in an episode; there is one action less.

    sigma : float, default=0.2
        Width of the Gaussian over errors.

    mu_min : float, default=0.0
        The smallest mu: the policy's actions, in [0, 1], are spread over [mu_min, 1]. Easy rows
        teach little on most tasks, and a policy that cannot ask for them cannot fail by it.

    sampling_ratio : float, default=1.0
        Rows drawn of each larger class per row of the smallest class.

    state : {"all", "majority", "class-wise", "summary"}, default="all"
        What the policy sees of the errors: histograms of the errors of some rows, or a summary;
        see :class:`~metasampler.meta.StateEncoder`. A sampler reads only states of the kind it
        was trained on.

    n_bins : int, default=5
        Bins in each histogram.

    learner : {"sac", "cma-es", "constants"}, default="sac"
        ``"sac"`` is soft actor-critic, as in the paper. ``"cma-es"`` evolves the parameters that
        decide the policy's mean action: every candidate of a generation grows an ensemble on the
        same tasks with the same random numbers, and is ranked within each task by the final
        validation score. It needs the extra ``evolution``. ``"constants"`` does not act by the
        policy at all: it plays constants on every task and fits the policy to choose, from the
        states it saw, what did best in the mean over the tasks (see `score_on`). It learns most
        from few episodes, and cannot find more than a mu for each state. `scale_tasks` and
        `reward_scale` have no part in it.

    hidden_layer_sizes : tuple of int, default=(50,)
        Hidden layers of the policy; with ``()`` mu is a squashed linear function of the state.

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

    policy_delay : int, default=0
        So many of the updates, the first ones, move the critics alone. For a warm start, where
        new critics would at first lead the policy astray.

    n_generations : int, default=100
        For ``"cma-es"``: generations, each of which is one update.

    population_size : int, default=None
        For ``"cma-es"``: candidates of a generation; None means 4 + 3 log(number of parameters).

    step_size : float, default=0.5
        For ``"cma-es"``: standard deviation of the first candidates' parameters.

    n_sweeps : int, default=5
        For ``"constants"``: how often every task is played.

    n_constants : int, default=7
        For ``"constants"``: how many constants, from `constant_min` to 1 in equal steps.

    constant_min : float, default=None
        For ``"constants"``: the smallest constant; None means `mu_min`. A smaller one shows more of
        how the score depends on mu than the policy is free to choose from.

    score_on : {"valid", "test"}, default="valid"
        For ``"constants"``: the rows by whose scores constants are compared. States tell of the
        validation rows; with ``"test"`` the policy is learned from the `X_test` of the tasks,
        which are then no test of it any more.

    penalty : float, default=1e-3
        For ``"constants"``: how strongly the policy's weights are drawn to zero, or in a warm
        start to those it has; on the scale where all entries of a state spread alike.

    reward_scale : float, default=100.0
        What rewards are multiplied with. `alpha` is meant at this scale.

    scale_tasks : bool, default=False
        In meta-training on several tasks: whether to bring the rewards of all tasks to the same
        root mean square, as measured during the random actions. A task that had no random
        actions keeps the mean scale.

    tasks_per_round : int, default=None
        In meta-training on several tasks: how many tasks each round has; None means all. With
        many tasks a smaller number lets learning start early. Every task has its turn before one
        comes again.

    validation_fraction : float, default=0.2
        Part of each class that is held out where a task has no validation rows.

    train_ratio : float, default=1.0
        Part of each class of the training rows to meta-train on.

    scoring : str or callable, default="average_precision"
        The score whose changes are the rewards; see :class:`~metasampler.MesaClassifier`.

    warm_start : bool, default=False
        Whether `fit` starts from the policy this sampler has, if it is fitted, instead of a
        random one. The critics, the memory and the history are new. See also :meth:`adapt`.

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
        One entry an episode: ``episode``, ``task``, ``train_score``, ``valid_score``,
        ``test_score`` (None without test rows), ``actions`` (list of mu) and
        ``n_random_actions``, how many of them were random. Candidates of a generation of
        ``"cma-es"``, and ``"constants"``, play the same episode, and the entry has their means.

    n_updates_ : int
        Updates that were made; generations with ``learner="cma-es"``, fits with ``"constants"``.

    summary_ : dict
        How, when and with which versions the sampler was meta-trained.

    See Also
    --------
    MesaClassifier : The ensemble that uses a meta-sampler.

    Notes
    -----
    An interrupted `fit` (Ctrl-C) warns and leaves a sampler that is usable: the policy as it was
    after the last update. `fit` starts anew unless `warm_start` is set;
    :func:`sklearn.base.clone` keeps what was learned, because a sampler is used as a ready-made
    part of a classifier.

    References
    ----------
    .. [1] Z. Liu et al., "MESA: Boost Ensemble Imbalanced Learning with MEta-SAmpler",
       NeurIPS 2020.
    .. [2] T. Haarnoja et al., "Soft Actor-Critic: Off-Policy Maximum Entropy Deep Reinforcement
       Learning with a Stochastic Actor", ICML 2018.
    .. [3] N. Hansen, "The CMA Evolution Strategy: A Tutorial", 2016.

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
        "mu_min": [Interval(Real, 0, 1, closed="left")],
        "sampling_ratio": [Interval(Real, 0, None, closed="neither")],
        "learner": [StrOptions({"sac", "cma-es", "constants"})],
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
        "policy_delay": [Interval(Integral, 0, None, closed="left")],
        "n_generations": [Interval(Integral, 0, None, closed="left")],
        "population_size": [None, Interval(Integral, 4, None, closed="left")],
        "step_size": [Interval(Real, 0, None, closed="neither")],
        "n_sweeps": [Interval(Integral, 1, None, closed="left")],
        "n_constants": [Interval(Integral, 3, None, closed="left")],
        "constant_min": [None, Interval(Real, 0, 1, closed="left")],
        "score_on": [StrOptions({"valid", "test"})],
        "penalty": [Interval(Real, 0, None, closed="left")],
        "reward_scale": [Interval(Real, 0, None, closed="neither")],
        "scale_tasks": ["boolean"],
        "tasks_per_round": [None, Interval(Integral, 1, None, closed="left")],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "train_ratio": [Interval(Real, 0, 1, closed="right")],
        "scoring": [str, callable],
        "warm_start": ["boolean"],
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
        mu_min=0.0,
        sampling_ratio=1.0,
        state="all",
        n_bins=5,
        learner="sac",
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
        policy_delay=0,
        n_generations=100,
        population_size=None,
        step_size=0.5,
        n_sweeps=5,
        n_constants=7,
        constant_min=None,
        score_on="valid",
        penalty=1e-3,
        reward_scale=100.0,
        scale_tasks=False,
        tasks_per_round=None,
        validation_fraction=0.2,
        train_ratio=1.0,
        scoring="average_precision",
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.sigma = sigma
        self.mu_min = mu_min
        self.sampling_ratio = sampling_ratio
        self.state = state
        self.n_bins = n_bins
        self.learner = learner
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
        self.policy_delay = policy_delay
        self.n_generations = n_generations
        self.population_size = population_size
        self.step_size = step_size
        self.n_sweeps = n_sweeps
        self.n_constants = n_constants
        self.constant_min = constant_min
        self.score_on = score_on
        self.penalty = penalty
        self.reward_scale = reward_scale
        self.scale_tasks = scale_tasks
        self.tasks_per_round = tasks_per_round
        self.validation_fraction = validation_fraction
        self.train_ratio = train_ratio
        self.scoring = scoring
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X,
        y,
        X_val=None,
        y_val=None,
        *,
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
        X_val, y_val : table and array-like, default=None
            Validation rows; without them a part of X is held out.
        X_test, y_test : table and array-like, default=None
            Rows that are only scored, for `history_`.
        callback, checkpoint, checkpoint_every
            See :meth:`fit_tasks`; a round is one episode.

        Returns
        -------
        self : MetaSampler
            The meta-trained sampler.
        """
        return self.fit_tasks(
            [Task(X, y, X_val, y_val, X_test, y_test)],
            callback=callback,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
        )

    @fit_context(prefer_skip_nested_validation=False)
    def fit_tasks(self, tasks, *, callback=None, checkpoint=None, checkpoint_every=10):
        """Meta-train on several tasks at once, with one policy and one replay memory.

        The tasks take turns: in each round one episode is played on every task (or on
        `tasks_per_round` of them), by the policy as it is at the start of the round (by candidates
        or constants with the other learners).

        Parameters
        ----------
        tasks : sequence of Task or tuple, or dict of these
            Tuples hold ``(X, y)``, ``(X, y, X_val, y_val)`` or ``(X, y, X_val, y_val, X_test,
            y_test)``. The keys of a dict are the tasks' names.
        callback : callable, default=None
            Called after every round with a :class:`~metasampler.meta.TrainingProgress`, which
            has the current policy and history and can stop the training.
        checkpoint : str or path, default=None
            A file for the whole state of the training. If it is there, the training goes on
            from it, and gives the sampler that an uninterrupted one would have given; settings
            and tasks must be the same, and `random_state` an int. An estimator or a scoring
            function is compared by what it is called.
        checkpoint_every : int, default=10
            Rounds between two writes of the checkpoint; it is also written at the end.

        Returns
        -------
        self : MetaSampler
            The meta-trained sampler.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer, make_classification
        >>> from metasampler import MetaSampler
        >>> tasks = {
        ...     "cancer": load_breast_cancer(return_X_y=True),
        ...     "synthetic": make_classification(400, weights=[0.9], random_state=0),
        ... }
        >>> def show(progress):
        ...     if progress.n_episodes_done == 4:
        ...         progress.stop()
        ...     print(progress.n_episodes_done, "of", progress.n_episodes)
        >>> sampler = MetaSampler(n_random_steps=18, n_updates=54, random_state=0)
        >>> sampler = sampler.fit_tasks(tasks, callback=show)
        2 of 8
        4 of 8
        """
        streams = RandomStreams.from_random_state(self.random_state)
        estimator = resolve_kinds(self.estimator)
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
        return self._train(
            data,
            [task.name for task in tasks],
            streams,
            callback=callback,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
        )

    @fit_context(prefer_skip_nested_validation=False)
    def _fit_data(self, data):
        """Meta-train on tasks that are prepared already, as a classifier's fit has them."""
        streams = RandomStreams.from_random_state(self.random_state)
        return self._train(data, [f"task {number}" for number in range(len(data))], streams)

    def adapt(self, X, y, X_val=None, y_val=None, **settings):
        """Fine-tune a copy of this sampler on a task.

        The copy starts from the learned policy and takes no random actions. Critics are not
        stored with a sampler: they are new, and the policy stands still until they have had half
        of the updates. Samplers that evolve take smaller steps, and those that learn from constants
        are held to the policy they have.

        Parameters
        ----------
        X, y : table and array-like
            Training rows.
        X_val, y_val : table and array-like, default=None
            Validation rows; without them a part of X is held out.
        **settings
            Parameters of the copy that are to differ from this sampler's. The defaults are
            ``n_random_steps=0``, ``n_updates=200`` with ``policy_delay=n_updates // 2``, or
            ``n_generations=10`` with ``step_size=0.1``, or ``n_sweeps=3`` with ``penalty=3e-3``.
            A sampler that was loaded has no
            `estimator`: pass the one to be used.

        Returns
        -------
        sampler : MetaSampler
            The fine-tuned copy. For several tasks, set `warm_start` and use :meth:`fit_tasks`.

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from metasampler import MetaSampler
        >>> X, y = make_classification(400, weights=[0.9], random_state=0)
        >>> sampler = MetaSampler(n_random_steps=18, n_updates=18, random_state=0).fit(X, y)
        >>> X_new, y_new = make_classification(400, weights=[0.95], random_state=1)
        >>> adapted = sampler.adapt(X_new, y_new, n_updates=36)
        >>> adapted.n_updates_, sampler.n_updates_
        (36, 18)
        """
        return self._before_adapting(**settings).fit(X, y, X_val, y_val)

    def _before_adapting(self, **settings):
        """A copy that its next fit fine-tunes; see `adapt`."""
        check_is_fitted(self)
        n_updates = settings.get("n_updates", 200)
        usual = {
            "n_random_steps": 0,
            "n_updates": n_updates,
            "policy_delay": n_updates // 2 if isinstance(n_updates, Integral) else 0,
            "n_generations": 10,
            "step_size": 0.1,
            # One task is little evidence against those that the policy was learned from.
            "n_sweeps": 3,
            "penalty": 3e-3,
            "score_on": "valid",
            # What was loaded may have been built from another kind of state than it says now.
            "state": self.encoder_.kind,
            "n_bins": self.encoder_.n_bins,
            "hidden_layer_sizes": self.policy_.hidden,
        }
        return clone(self).set_params(**{**usual, **settings, "warm_start": True})

    def _train(self, data, names, streams, *, callback=None, checkpoint=None, checkpoint_every=10):
        """Set up the training, play all rounds and take over what was learned."""
        training = make_training(self, data, names, streams)
        place = make_checkpoint(self, training, checkpoint, checkpoint_every)
        progress = TrainingProgress(training, lambda: self._snapshot(training))
        interrupted = False
        try:
            training.run(
                n_jobs=self.n_jobs,
                verbose=self.verbose,
                after_round=None if callback is None else lambda: callback(progress),
                checkpoint=place,
            )
        except KeyboardInterrupt:
            interrupted = True
            learner = training.learner
            warnings.warn(
                f"Meta-training was interrupted after {len(training.history)} of "
                f"{learner.n_episodes} episodes and {learner.n_updates} of "
                f"{learner.n_updates_planned} updates; the sampler holds what it had learned by "
                "then.",
                UserWarning,
                stacklevel=2,
            )
        self._take_over(training, interrupted=interrupted)
        return self

    def _starts_warm(self) -> bool:
        return self.warm_start and hasattr(self, "policy_")

    def _take_over(self, training, *, interrupted) -> None:
        """Become what the training has learned so far."""
        more = {"started_from": self.summary_} if self._starts_warm() else {}
        if training.notes:
            more["notes"] = training.notes
        self.encoder_ = training.encoder
        self.policy_ = training.learner.policy
        self.n_updates_ = training.learner.n_updates
        self.history_ = training.history
        self.summary_ = {
            **training.summary(),
            "learner": self.learner,
            "scoring": name_of(self.scoring),
            "interrupted": interrupted,
            "stopped": training.stopped,
            **more,
        }
        self._trained_with = self._training_settings()

    def _snapshot(self, training) -> "MetaSampler":
        """A fitted sampler as it is in the middle of a training."""
        twin = clone(self)
        twin._take_over(training, interrupted=False)
        # The training goes on to change these.
        twin.policy_ = copy.deepcopy(twin.policy_)
        twin.history_ = list(twin.history_)
        return twin

    def __sklearn_tags__(self):
        tags = copy_input_tags(super().__sklearn_tags__(), self.estimator)
        tags.target_tags.required = True
        return tags
