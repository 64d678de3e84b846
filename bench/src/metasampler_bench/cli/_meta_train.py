"""``metasampler meta-train``: learn a sampler from data sets, to be used on others."""

from __future__ import annotations

import ast
import shlex
import sys
import warnings
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from metasampler_bench.cli._console import make_console


class TrainerName(StrEnum):
    """How the policy is learned."""

    SAC = "sac"
    CONSTANTS = "constants"


class EstimatorName(StrEnum):
    """What the members are."""

    TREE = "tree"
    SQRT_TREE = "sqrt-tree"
    EXTRA_TREE = "extra-tree"
    FOREST = "forest"
    BOOSTERS = "boosters"
    BOOSTING = "boosting"
    LOGISTIC = "logistic"
    NAIVE_BAYES = "naive-bayes"


# Bytes that have to be free for each file that is written: more than a sampler has.
_ROOM = 1 << 20

#: Parameters of the meta-sampler that `--option` sets.
_SETTINGS = (
    "n_estimators",
    "sigma",
    "mu_min",
    "sampling_ratio",
    "state",
    "n_bins",
    "hidden_layer_sizes",
    "validation_fraction",
    "train_ratio",
    "scoring",
)


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
    trainer: Annotated[
        TrainerName,
        typer.Option(help="How the policy is learned: soft actor-critic, or from constants."),
    ] = TrainerName.SAC,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A parameter of the trainer or of MetaSampler; may be given again. For instance "
            "n_updates=500, n_estimators=20, state=summary or hidden_layer_sizes=25,25.",
            show_default=False,
        ),
    ] = None,
    estimator: Annotated[
        EstimatorName, typer.Option(help="What the members are.")
    ] = EstimatorName.TREE,
    validation_task: Annotated[
        list[str] | None,
        typer.Option(
            help="Data set to validate on; may be given again. The policy that does best on these "
            "is written. Default: the last policy.",
            show_default=False,
        ),
    ] = None,
    validation_seeds: Annotated[
        int, typer.Option(min=1, help="Ensembles for each validation task.")
    ] = 3,
    every: Annotated[
        int, typer.Option(min=1, help="Rounds between validations, and between checkpoints.")
    ] = 10,
    splits: Annotated[
        int,
        typer.Option(
            min=0,
            help="How often each task is cut into 60% to train, 20% to validate and 20% that only "
            "constants scores. Default: once, 80% and 20%.",
            show_default=False,
        ),
    ] = 0,
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
    from metasampler.policy import check_writable

    for name, path in (("--output", output), ("--checkpoint", checkpoint), ("--log", log)):
        if path is not None:
            try:
                check_writable(path, room=_ROOM)
            except OSError as error:
                raise typer.BadParameter(str(error), param_hint=name) from error
    if jobs == 0:
        raise typer.BadParameter("must not be 0; use -1 for all cores.", param_hint="--jobs")
    if splits and trainer is not TrainerName.CONSTANTS:
        raise typer.BadParameter(
            "only constants scores rows that are not for validation.", param_hint="--splits"
        )
    if validation_task and estimator is EstimatorName.BOOSTERS:
        raise typer.BadParameter(
            "boosters are judged by `metasampler bench policies-tables`, not by single tasks.",
            param_hint="--validation-task",
        )
    settings, trainer_options = _parse_options(option or [], trainer)
    if splits:
        trainer_options.setdefault("score_on", "test")

    from metasampler_bench._named_trainers import make_sampler
    from metasampler_bench._tasks import load_tasks
    from metasampler_bench._unseen import UnseenTasks
    from metasampler_bench.cli._meta_watch import Watch

    sampler = make_sampler(
        trainer.value,
        trainer_options,
        **settings,
        estimator=_make_estimator(estimator),
        n_jobs=jobs,
        random_state=seed,
        verbose=1,
    )
    known, unseen = load_tasks(
        tasks,
        validation_task or [],
        data_home=data_home,
        target=target,
        estimator=sampler.estimator,
        scoring=sampler.scoring,
        n_splits=splits,
    )
    yardstick = None
    if unseen:
        try:
            yardstick = UnseenTasks(
                unseen,
                seeds=range(validation_seeds),
                estimator=sampler.estimator,
                n_estimators=sampler.n_estimators,
                n_jobs=jobs,
            )
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--validation-task") from error
    watch = Watch(log, yardstick, every, sampler.sigma)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            sampler.fit_tasks(known, callback=watch, checkpoint=checkpoint, checkpoint_every=every)
        except (ImportError, OSError, ValueError) as error:
            typer.secho(str(error), err=True)
            raise typer.Exit(code=1) from error
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        typer.secho(message, err=True)
    watch.choose(sampler)
    _complete_card(sampler.summary_, splits)
    try:
        sampler.save(output, history=history)
    except (OSError, ValueError) as error:
        typer.secho(str(error), err=True)
        raise typer.Exit(code=1) from error
    _report(sampler, output)
    if sampler.summary_["interrupted"]:
        raise typer.Exit(code=130)


def _parse_options(texts: list[str], trainer: TrainerName) -> tuple[dict[str, Any], dict[str, Any]]:
    """Tell the parameters of the meta-sampler from those of its trainer, and read their values."""
    from metasampler_bench._named_trainers import TRAINERS

    of_trainer = list(TRAINERS[trainer.value]().get_params())
    settings: dict[str, Any] = {}
    trainer_options: dict[str, Any] = {}
    for text in texts:
        name, is_given, value = text.partition("=")
        if not is_given:
            raise typer.BadParameter(f"{text!r} must be NAME=VALUE.", param_hint="--option")
        if name in of_trainer:
            trainer_options[name] = _parse_value(name, value)
        elif name in _SETTINGS:
            settings[name] = _parse_value(name, value)
        else:
            names = ", ".join((*of_trainer, *_SETTINGS))
            raise typer.BadParameter(
                f"{trainer.value} has no option {name!r}; the names are {names}.",
                param_hint="--option",
            )
    return settings, trainer_options


def _parse_value(name: str, text: str) -> Any:
    """Read a number, a list of numbers, True, False or None; everything else is a word."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    # One layer is a list of one.
    return (value,) if name.endswith("layer_sizes") and isinstance(value, int) else value


def _complete_card(card: dict[str, Any], splits: int) -> None:
    """Say in a sampler's card how it was made."""
    from metasampler_bench._runner import source_commit

    # Only the names of files: others, who read the card, have other folders.
    words = [Path(word).name if "/" in word else word for word in sys.argv[1:]]
    card["command"] = shlex.join(["metasampler", *words])
    card["commit"] = source_commit()
    if splits > 1:
        # A card names what was learned from, not every cut of it.
        first = [task for task in card["tasks"] if task["name"].endswith(" (1)")]
        card["tasks"] = [{**task, "name": task["name"].removesuffix(" (1)")} for task in first]
        card["splits"] = splits


def _make_estimator(name: EstimatorName) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

    from metasampler.ensemble.teams import Boosters

    # Small ones: a member sees few rows, and an episode fits many members.
    return {
        EstimatorName.TREE: DecisionTreeClassifier(),
        EstimatorName.SQRT_TREE: DecisionTreeClassifier(criterion="entropy", max_features="sqrt"),
        EstimatorName.EXTRA_TREE: ExtraTreeClassifier(),
        EstimatorName.FOREST: RandomForestClassifier(n_estimators=10),
        EstimatorName.BOOSTERS: Boosters(),
        EstimatorName.BOOSTING: HistGradientBoostingClassifier(max_iter=20, min_samples_leaf=5),
        EstimatorName.LOGISTIC: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        EstimatorName.NAIVE_BAYES: GaussianNB(),
    }[name]


def _report(sampler: Any, output: Path) -> None:
    from rich import box
    from rich.table import Table

    console = make_console(120)
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
