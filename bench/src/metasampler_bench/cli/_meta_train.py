"""``metasampler meta-train``: learn a sampler from data sets, to be used on others."""

from __future__ import annotations

import shlex
import sys
import warnings
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class Learner(StrEnum):
    """How the policy is learned."""

    SAC = "sac"
    CMA_ES = "cma-es"
    CONSTANTS = "constants"


#: What `--updates` sets.
_ROUNDS = {
    Learner.SAC: "n_updates",
    Learner.CMA_ES: "n_generations",
    Learner.CONSTANTS: "n_sweeps",
}


class State(StrEnum):
    """What the policy sees."""

    ALL = "all"
    MAJORITY = "majority"
    CLASS_WISE = "class-wise"
    SUMMARY = "summary"


class BaseLearner(StrEnum):
    """What the members are."""

    TREE = "tree"
    SQRT_TREE = "sqrt-tree"
    EXTRA_TREE = "extra-tree"
    FOREST = "forest"
    BOOSTING = "boosting"
    LOGISTIC = "logistic"
    NAIVE_BAYES = "naive-bayes"


def meta_train(
    tasks: Annotated[
        list[str],
        typer.Argument(
            metavar="TASK",
            help="Data sets to learn from: names, or .npz, .csv or .parquet files. NAME:3 finds "
            "class 3 of many; NAME%0.1 keeps a tenth of the minority; NAME@0.25 flips this part of "
            "the minority's training labels, NAME@@0.25 of the validation labels too.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path, typer.Option(help="File for the sampler, *.npz.", dir_okay=False, show_default=False)
    ],
    validation_task: Annotated[
        list[str] | None,
        typer.Option(
            help="Data set to validate on; may be given again. The policy that does best on these "
            "is written. Default: the last policy.",
            show_default=False,
        ),
    ] = None,
    validate_every: Annotated[int, typer.Option(min=1, help="Rounds between validations.")] = 10,
    validation_seeds: Annotated[
        int, typer.Option(min=1, help="Ensembles for each validation task.")
    ] = 3,
    learner: Annotated[Learner, typer.Option(help="How the policy is learned.")] = Learner.SAC,
    state: Annotated[State, typer.Option(help="What the policy sees.")] = State.ALL,
    hidden: Annotated[
        str, typer.Option(help="Hidden layers of the policy, as 50 or 25,25; 0 for none.")
    ] = "50",
    estimator: Annotated[
        BaseLearner, typer.Option(help="What the members are.")
    ] = BaseLearner.TREE,
    mu_min: Annotated[
        float, typer.Option(min=0, max=0.99, help="Smallest mu that the policy can choose.")
    ] = 0.0,
    sigma: Annotated[
        float, typer.Option(min=1e-6, help="Width of the Gaussian over errors.")
    ] = 0.2,
    members: Annotated[int, typer.Option(min=2, help="Members of an ensemble.")] = 10,
    updates: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Updates of sac (default 1000), generations of cma-es (default 100), or how often "
            "constants plays every task (default 5).",
            show_default=False,
        ),
    ] = None,
    random_steps: Annotated[
        int, typer.Option(min=0, help="Random actions at the start of sac.")
    ] = 500,
    memory: Annotated[int, typer.Option(min=1, help="Transitions that sac remembers.")] = 1000,
    batch: Annotated[int, typer.Option(min=1, help="Transitions in an update of sac.")] = 64,
    lr_decay_steps: Annotated[
        int, typer.Option(min=1, help="Updates of sac in which its learning rate falls by 1%.")
    ] = 10,
    population: Annotated[
        int | None,
        typer.Option(min=4, help="Candidates of a generation of cma-es.", show_default=False),
    ] = None,
    constant_min: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=0.99,
            help="Smallest mu that constants plays. Default: --mu-min.",
            show_default=False,
        ),
    ] = None,
    penalty: Annotated[
        float, typer.Option(min=0, help="How strongly constants holds the weights down.")
    ] = 1e-3,
    splits: Annotated[
        int,
        typer.Option(
            min=0,
            help="Cut each task so many times into 60% to train, 20% to validate and 20% that only "
            "constants scores. Default: once, 80% and 20%.",
            show_default=False,
        ),
    ] = 0,
    tasks_per_round: Annotated[
        int | None, typer.Option(min=1, help="Tasks of each round. Default: all.")
    ] = None,
    scale_tasks: Annotated[
        bool, typer.Option("--scale-tasks", help="Bring the rewards of all tasks to one scale.")
    ] = False,
    data_home: Annotated[
        Path | None, typer.Option(help="Folder of the data sets.", file_okay=False)
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="Column of .csv and .parquet files that holds the class.")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="File for the state of the training; if it is there, training goes on from it.",
            dir_okay=False,
        ),
    ] = None,
    checkpoint_every: Annotated[int, typer.Option(min=1, help="Rounds between checkpoints.")] = 10,
    log: Annotated[
        Path | None, typer.Option(help="File for one line of JSON a round.", dir_okay=False)
    ] = None,
    history: Annotated[
        bool, typer.Option(help="Keep every episode's scores and actions in the file.")
    ] = True,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for all cores.")] = 1,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the training.")] = 0,
) -> None:
    """Meta-train a sampler on data sets and write it to a file.

    Ctrl-C writes what was learned by then. `MesaClassifier(meta_sampler="FILE")` uses the file.
    """
    for name, path in (("--output", output), ("--checkpoint", checkpoint), ("--log", log)):
        if path is not None and not path.absolute().parent.is_dir():
            raise typer.BadParameter(f"no directory {str(path.parent)!r}.", param_hint=name)
    if jobs == 0:
        raise typer.BadParameter("must not be 0; use -1 for all cores.", param_hint="--jobs")
    if splits and learner is not Learner.CONSTANTS:
        raise typer.BadParameter(
            "only constants scores rows that are not for validation.", param_hint="--splits"
        )
    if updates == 0 and learner is Learner.CONSTANTS:
        raise typer.BadParameter(
            "constants plays every task once at least.", param_hint="--updates"
        )
    settings: dict[str, Any] = {
        "estimator": _make_estimator(estimator),
        "n_estimators": members,
        "mu_min": mu_min,
        "sigma": sigma,
        "state": state.value,
        "learner": learner.value,
        "hidden_layer_sizes": _layers(hidden),
        "n_random_steps": random_steps,
        "memory_size": memory,
        "batch_size": batch,
        "lr_decay_steps": lr_decay_steps,
        "population_size": population,
        "penalty": penalty,
        "constant_min": constant_min,
        "score_on": "test" if splits else "valid",
        "tasks_per_round": tasks_per_round,
        "scale_tasks": scale_tasks,
        "n_jobs": jobs,
        "random_state": seed,
        "verbose": 1,
    }
    if updates is not None:
        settings[_ROUNDS[learner]] = updates

    from metasampler import MetaSampler
    from metasampler_bench._runner import source_commit
    from metasampler_bench._tasks import load_tasks
    from metasampler_bench._unseen import UnseenTasks
    from metasampler_bench.cli._meta_watch import Watch

    known, unseen = load_tasks(
        tasks,
        validation_task or [],
        data_home=data_home,
        target=target,
        settings=settings,
        n_splits=splits,
    )
    yardstick = None
    if unseen:
        try:
            yardstick = UnseenTasks(
                unseen,
                seeds=range(validation_seeds),
                estimator=settings["estimator"],
                n_estimators=members,
                sigma=sigma,
                n_jobs=jobs,
            )
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--validation-task") from error
    watch = Watch(log, yardstick, validate_every)
    sampler = MetaSampler(**settings)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            sampler.fit_tasks(
                known, callback=watch, checkpoint=checkpoint, checkpoint_every=checkpoint_every
            )
        except (ImportError, ValueError) as error:
            typer.secho(str(error), err=True)
            raise typer.Exit(code=1) from error
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        typer.secho(message, err=True)
    watch.choose(sampler)
    # Of files only the names: the card is for others, who have other folders.
    words = [Path(word).name if "/" in word else word for word in sys.argv[1:]]
    sampler.summary_["command"] = shlex.join(["metasampler", *words])
    sampler.summary_["commit"] = source_commit()
    if splits > 1:
        # A card names what was learned from, not every cut of it.
        first = [task for task in sampler.summary_["tasks"] if task["name"].endswith(" (1)")]
        sampler.summary_["tasks"] = [
            {**task, "name": task["name"].removesuffix(" (1)")} for task in first
        ]
        sampler.summary_["splits"] = splits
    sampler.save(output, history=history)
    _report(sampler, output)
    if sampler.summary_["interrupted"]:
        raise typer.Exit(code=130)


def _layers(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(int(part) for part in text.split(","))
    except ValueError:
        sizes = (-1,)
    if sizes == (0,):
        return ()
    if min(sizes) < 1:
        raise typer.BadParameter(
            f"{text!r} must be whole numbers, as 50 or 25,25; 0 for none.", param_hint="--hidden"
        )
    return sizes


def _make_estimator(name: BaseLearner) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

    # Small ones: a member sees few rows, and an episode fits many members.
    return {
        BaseLearner.TREE: DecisionTreeClassifier(),
        BaseLearner.SQRT_TREE: DecisionTreeClassifier(criterion="entropy", max_features="sqrt"),
        BaseLearner.EXTRA_TREE: ExtraTreeClassifier(),
        BaseLearner.FOREST: RandomForestClassifier(n_estimators=10),
        BaseLearner.BOOSTING: HistGradientBoostingClassifier(max_iter=20, min_samples_leaf=5),
        BaseLearner.LOGISTIC: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        BaseLearner.NAIVE_BAYES: GaussianNB(),
    }[name]


def _report(sampler: Any, output: Path) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    if not console.is_terminal:
        # A pipe has no width of its own; the table should not be folded there.
        console.width = 120
    validation = sampler.summary_.get("validation")
    if validation:
        chosen = next(r for r in validation["rounds"] if r["round"] == validation["chosen_round"])
        columns = {"learned": chosen["scores"]}
        columns |= {f"mu = {mu}": scores for mu, scores in validation["constants"].items()}
        title = f"Validation tasks, {sampler.summary_['scoring']}, policy of round "
        table = Table(box=box.SIMPLE_HEAD, title=f"{title}{chosen['round']}", padding=(0, 1))
        table.add_column("task")
        for column in columns:
            table.add_column(column, justify="right", no_wrap=True)
        for task in chosen["scores"]:
            table.add_row(task, *(f"{scores[task]:.3f}" for scores in columns.values()))
        means = (sum(scores.values()) / len(scores) for scores in columns.values())
        table.add_section()
        table.add_row("mean", *(f"{mean:.3f}" for mean in means))
        console.print(table)
    console.print(f"Sampler: {output}", markup=False, soft_wrap=True)
