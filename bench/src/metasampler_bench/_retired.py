"""Name the methods that are gone, so that their rows stay readable."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["RETIRED", "RETIRED_NOTE", "Retired"]


class Retired(NamedTuple):
    """A method that the registry no longer has.

    Parameters
    ----------
    title : str
        What tables and figures show, with the commit behind it.
    commit : str
        The last commit that can run it.
    reason : str
        Why it is gone.
    """

    title: str
    commit: str
    reason: str

    @property
    def marked_title(self) -> str:
        """The title with its marker, the commit in brackets."""
        return f"{self.title} [{self.commit}]"


#: The last commit with look-ahead and adapting.
_FIRST_RELEASE = "1fe915a"
#: The last commit whose hand-made transitions fill the memory otherwise than the authors' code.
_OTHER_PREFILL = "54cf7ee"
_NO_GAIN_BY_LOOKING = "look-ahead with a refit scores below the refit alone"
_NOT_THE_AUTHORS = "its hand-made transitions are not those of the authors' code; see mesa-as-coded"

#: By the name that stored rows have.
RETIRED = {
    "mesa-ahead": Retired("MESA, meta-trained, look-ahead", _FIRST_RELEASE, _NO_GAIN_BY_LOOKING),
    "mesa-ahead-refit": Retired(
        "MESA, meta-trained, look-ahead, refitted", _FIRST_RELEASE, _NO_GAIN_BY_LOOKING
    ),
    "hard-ahead-refit": Retired(
        "constant mu 1, look-ahead of 4, refitted", _FIRST_RELEASE, _NO_GAIN_BY_LOOKING
    ),
    "mesa-adapt": Retired(
        "MESA, universal sampler, adapted",
        _FIRST_RELEASE,
        "adapting the universal sampler to the task does not pay",
    ),
    "mesa-authors": Retired(
        "MESA, authors' recipe, other prefill", _OTHER_PREFILL, _NOT_THE_AUTHORS
    ),
    "mesa-authors-sampled": Retired(
        "MESA, authors' recipe, other prefill, drawn actions", _OTHER_PREFILL, _NOT_THE_AUTHORS
    ),
}

#: What a page says that shows such rows.
RETIRED_NOTE = (
    "Methods with a commit in brackets are no longer part of the package; the commit is the last "
    "one that can run them."
)
