"""What an attempt may end in: fine, a clear error, or a finding."""

import sys
import traceback
from collections import Counter
from pathlib import Path

FINE, CLEAR, FINDING = "fine", "clear error", "finding"

#: Where errors of a fit come from that say what is wrong with what was passed.
_CHECKS = (
    "/metasampler/",
    "/sklearn/utils/validation.py",
    "/sklearn/utils/multiclass.py",
    "/sklearn/utils/_param_validation.py",
    "/sklearn/utils/_array_api.py",
    "/sklearn/utils/_tags.py",
    "/sklearn/base.py",
)

#: Who is on the way when a member is fitted: then an error comes too late.
_WORK = ("/growth/_members.py", "/growth/_boosters.py", "/growth/_loop.py")
_AT_WORK = ("fit", "grow", "add")


class Finding(AssertionError):
    """Something that should not have happened."""


def judge_error(
    error: BaseException,
    *,
    kinds: tuple,
    words: str = "",
    at_once: bool = False,
    foreign: bool = False,
):
    """Return CLEAR for an error that names what is wrong, or raise a `Finding`.

    Parameters
    ----------
    error : exception
    kinds : tuple of type
        What it may be.
    words : str, default=""
        What its text has to hold.
    at_once : bool, default=False
        Whether it has to come from a check, before any member is fitted.
    foreign : bool, default=False
        Whether members of another package may have raised it, by rules of their own.
    """
    place = _place(error)
    what = f"{type(error).__name__}: {str(error)[:300]} ({place})"
    if not isinstance(error, kinds):
        raise Finding(f"of a wrong kind: {what}") from error
    if len(str(error)) < 10 or words not in str(error):
        raise Finding(f"says too little: {what}") from error
    frames = traceback.extract_tb(error.__traceback__)
    if not foreign and isinstance(error, (ValueError, TypeError)) and not _is_meant(frames[-1]):
        raise Finding(f"by accident: {what}") from error
    if at_once:
        for frame in frames:
            if frame.name in _AT_WORK and frame.filename.endswith(_WORK):
                raise Finding(f"after work was done: {what}") from error
        if not any(check in frames[-1].filename for check in _CHECKS):
            raise Finding(f"by nobody's check: {what}") from error
    return CLEAR


def _is_meant(frame: traceback.FrameSummary) -> bool:
    """Return whether somebody wrote down that this is an error, and in which words."""
    # What compiled code raises has the line that called it.
    return (frame.line or "").startswith("raise")


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return "nowhere"
    last = frames[-1]
    own = [frame for frame in frames if "/metasampler" in frame.filename]
    at = f"{Path(last.filename).name}:{last.lineno} {last.name}"
    return at if not own else f"{at}, from {Path(own[-1].filename).name}:{own[-1].lineno}"


def in_words(case) -> str:
    """Return a case as a finding shows it."""
    if isinstance(case, dict):  # the words for tables tell more than their numbers
        case = {key: value for key, value in case.items() if key not in ("X", "y", "sample_weight")}
    return f"{case!r:.800}"


class Tally:
    """Counts of one fuzzer, and its first findings."""

    def __init__(self):
        self.counts = Counter()
        self.findings: dict[str, str] = {}

    def add(self, attempt, case) -> None:
        """Run an attempt and count how it ends; findings of one kind are kept once."""
        try:
            self.counts[attempt(case)] += 1
        except Finding as finding:
            self.counts[FINDING] += 1
            text = str(finding)
            kind = text.rpartition("(")[2]
            if kind not in self.findings:
                self.findings[kind] = f"{text}\n  case: {in_words(case)}"
                # At once: a long run may be stopped.
                print(f"finding: {self.findings[kind]}", file=sys.stderr, flush=True)

    @property
    def n_tried(self) -> int:
        return sum(self.counts.values())
