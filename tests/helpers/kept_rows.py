"""Rows of a long run that is done in pieces: each adds its rows, and a page shows them all."""

import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: What stands below it on a page is not written by a program.
BY_HAND = "<!-- by hand -->"


def read_rows(path: Path) -> list[dict]:
    """Return the rows of a file of JSON lines; there may be no file yet."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def keep_row(path: Path, row: dict, *, by: tuple[str, ...]) -> list[dict]:
    """Write a row in the place of the one with the same values of `by`; return all rows."""

    def name(entry):
        return [entry[key] for key in by]

    rows = sorted([*(old for old in read_rows(path) if name(old) != name(row)), row], key=name)
    path.write_text("".join(json.dumps(entry) + "\n" for entry in rows), encoding="utf-8")
    return rows


def write_page(path: Path, text: str) -> None:
    """Write a page, and keep what an older one has by hand."""
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    _, mark, rest = old.partition(BY_HAND)
    path.write_text(f"{text}\n{mark}{rest}" if mark else text, encoding="utf-8")


def commit() -> str:
    """Return the commit of the code, with a plus if there are changes to it."""
    done = subprocess.run(
        ["git", "describe", "--always", "--abbrev=9", "--dirty=+", "--exclude=*"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "unknown"
