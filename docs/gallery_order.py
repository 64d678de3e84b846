"""The order of the gallery: what a newcomer needs comes first."""

#: Programs by the names of their files, without the ending; others follow by name.
ORDER = (
    "plot_first_fit",
    "plot_text_and_categories",
    "plot_fraud_costs",
    "plot_reading_a_fit",
    "plot_weights",
    "plot_many_classes",
    "plot_when_it_helps",
    "plot_growth_loop",
    "plot_own_sampler",
    "plot_own_policy",
    "run_stable_baselines",
    "plot_dask",
)


class LearningOrder:
    """The key by which sphinx-gallery sorts the programs of a folder."""

    def __init__(self, folder: str):
        self.folder = folder

    def __call__(self, filename: str) -> tuple:
        """Return the place of a program."""
        name = filename.removesuffix(".py")
        return (ORDER.index(name) if name in ORDER else len(ORDER), name)
