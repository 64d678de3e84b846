"""``metasampler samplers``: the samplers that come with the package."""

from metasampler.cli._console import make_console


def samplers() -> None:
    """List the samplers that come with the package.

    `MesaClassifier(meta_sampler=NAME)` uses one of them.
    """
    from rich import box
    from rich.table import Table

    from metasampler import MetaSampler
    from metasampler.policy import pretrained_names

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    for column in ("name", "trainer", "state", "estimator", "tasks", "date"):
        table.add_column(column, no_wrap=column != "estimator")
    for name in pretrained_names():
        sampler = MetaSampler.load(name)
        card = sampler.summary_
        table.add_row(
            name,
            "-" if sampler.trainer is None else type(sampler.trainer).__name__,
            sampler.state,
            str(card.get("estimator", "-")),
            str(len(card.get("tasks", []))),
            str(card.get("date", "-")),
        )
    make_console().print(table)
