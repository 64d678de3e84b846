"""JSON of strangers: read in time and memory in proportion to its length, or refused."""

import json
import sys
from typing import Any

__all__ = ["MOST_TEXT", "parse_json", "to_json"]

#: Bytes that a text may have. Between two marks (commas, colons, brackets) Python takes up to 90
#: for a value. If one character needs more than 16 bits, it takes 4 bytes for each: as many as
#: twice the bytes of a text are allowed.
MOST_TEXT, _MOST_MARKS = 16 << 20, 1_000_000

# No number that this package writes is longer.
_LONGEST_NUMBER = 100


def to_json(value: Any, what: str) -> bytes:
    """Return a value as JSON, if `parse_json` would read it."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        content = text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{what} holds a text that is not Unicode: {error.object!r:.80}") from None
    _check_text(content, what)
    _check_width(text, what)
    return content


def parse_json(content: bytes | bytearray, what: str, *, allow_nan: bool = False) -> Any:
    """Return what a text in JSON says; it takes time and memory in proportion to its length.

    With ``allow_nan`` the caller checks for NaN and infinity.
    """
    _check_text(content, what)
    text = content.decode()
    _check_width(text, what)
    return json.loads(
        text,
        parse_int=_whole_number,
        parse_float=_number,
        parse_constant=float if allow_nan else _no_constant,
        object_pairs_hook=_unique,
    )


def _check_text(content: bytes | bytearray, what: str) -> None:
    marks = sum(content.count(mark) for mark in (b",", b":", b"[", b"{"))
    if len(content) > MOST_TEXT or marks > _MOST_MARKS:
        raise ValueError(
            f"{what} takes {len(content):,} bytes of text with {marks:,} values; allowed are "
            f"{MOST_TEXT:,} and {_MOST_MARKS:,}."
        )


def _check_width(text: str, what: str) -> None:
    if sys.getsizeof(text) > 2 * MOST_TEXT + 1000:
        raise ValueError(
            f"{what} takes {sys.getsizeof(text):,} bytes of memory, because some of its characters "
            f"take 4 bytes; allowed are {2 * MOST_TEXT:,}."
        )


def _whole_number(text: str) -> int:
    # Python reads long numbers in quadratic time.
    if len(text) > _LONGEST_NUMBER:
        raise ValueError(f"it holds a number of {len(text):,} digits.")
    return int(text)


def _number(text: str) -> float:
    if len(text) > _LONGEST_NUMBER or abs(float(text)) == float("inf"):
        raise ValueError(f"it holds the number {text:.40}.")
    return float(text)


def _no_constant(text: str) -> Any:
    raise ValueError(f"it holds {text}, which is not JSON.")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("it says one thing twice.")
    return found
