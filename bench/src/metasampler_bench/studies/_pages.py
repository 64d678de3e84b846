"""List all studies, and the pages that show them."""

from __future__ import annotations

from pathlib import Path

from metasampler_bench._names import unknown_name
from metasampler_bench.studies._agreement import AGREEMENT
from metasampler_bench.studies._baselines import BASELINES
from metasampler_bench.studies._calibration import CALIBRATION, CALIBRATION_LARGE
from metasampler_bench.studies._class_draws import CLASS_DRAWS
from metasampler_bench.studies._few_rows import FEW_ROWS
from metasampler_bench.studies._hold_out import HOLD_OUT
from metasampler_bench.studies._mammography import MAMMOGRAPHY
from metasampler_bench.studies._members import MEMBERS
from metasampler_bench.studies._promises import PROMISES
from metasampler_bench.studies._recall import RECALL
from metasampler_bench.studies._rivals import RIVALS
from metasampler_bench.studies._study import Study, write_page
from metasampler_bench.studies._teams import FEW_POSITIVES, TEAMS

__all__ = ["PAGES", "STUDIES", "find_study", "write_study_page"]

#: All studies by name, in the order of their pages.
STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        CALIBRATION,
        CALIBRATION_LARGE,
        FEW_ROWS,
        HOLD_OUT,
        RECALL,
        PROMISES,
        MEMBERS,
        RIVALS,
        TEAMS,
        FEW_POSITIVES,
        MAMMOGRAPHY,
        BASELINES,
        AGREEMENT,
        CLASS_DRAWS,
    )
}

#: Pages that several studies share: title and introduction.
PAGES = {
    "decisions": (
        "From scores to decisions: the measurements",
        """
- Among calibrations of the same members, a sigmoid on held-out rows has the lowest Brier score. So
  `calibration="auto"` uses it.
- With few held-out positives, a sigmoid on all rows in turn is better. "auto" does this too.
- A refit on all rows gains average precision. The sigmoid that was fitted before it still fits.
- A threshold for a recall reaches this recall on average. On nearly solved tables it finds more.
- Early stopping does not improve the score, so we removed it: [the numbers](decisions-stopping.md).

`metasampler study NAME --report-only` writes this page from the JSON files in its folder. The
commands below made these files. ± is the standard error of the mean paired difference. The splits
of a data set are averaged first, so the data sets are the units. Members are decision trees, and mu
is the constant 0.9. There are no soft leaves and no refit unless the text says so.
""",
    ),
    "teams": (
        "The measurements behind the default",
        """
- Boosters and trees both help: without either team the default scores lower. Scouts improve the
  probabilities, not the order of the rows.
- The signal says where hard draws pay. The number of positives does not.
- Even with few positives, teams are ahead of trees alone. On the thinned tables, sharp trees help
  the teams.
""",
    ),
}


def find_study(name: str) -> Study:
    """Return a study by its name.

    Raises
    ------
    ValueError
        If there is no such study; the message names similar ones.

    Examples
    --------
    >>> from metasampler_bench.studies import find_study
    >>> find_study("rivals").runs
    120
    """
    if name not in STUDIES:
        raise unknown_name("study", name, STUDIES)
    return STUDIES[name]


def write_study_page(study: Study, folder: Path) -> Path:
    """Write the page that shows a study, with all studies that share it.

    Parameters
    ----------
    study : Study
    folder : Path
        Where the rows are, and the page will be.

    Returns
    -------
    path : Path
        The page.
    """
    sharing = [other for other in STUDIES.values() if other.page_name == study.page_name]
    title, introduction = PAGES.get(study.page_name, (study.title, ""))
    return write_page(title, introduction, sharing, folder)
