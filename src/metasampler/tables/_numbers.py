"""Numbers that a file holds as texts: prices, percentages, numbers with separators."""

import re
from itertools import takewhile

import numpy as np

__all__ = ["find_number_format", "numbers_of_texts"]

# Currencies that are written out; other letters before a number may name something else.
_LETTERS = "AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|INR|JPY|KRW|MXN|NOK|NZD|PLN|SEK|TRY|USD|ZAR"
_CURRENCY = rf"[$€£¥₹]|\b(?:{_LETTERS})\b"
_UNIT = re.compile(rf"^({_CURRENCY})|({_CURRENCY}|%)$")
_GAPS = re.compile(r"[-+]?\d{1,3}([\s']\d{3})+([.,]\d*)?")

#: How numbers are written, with what stands between thousands.
_FORMATS = {
    "1,234.5": (",", re.compile(r"[-+]?((\d{1,3}(,\d{3})+|\d+)(\.\d*)?|\.\d+)")),
    "1.234,5": (".", re.compile(r"[-+]?((\d{1,3}(\.\d{3})+|\d+)(,\d*)?|,\d+)")),
}
_LEADING_ZERO = re.compile(r"[-+]?0\d")
_DOT_BEFORE_THREE = re.compile(r"[-+]?(\d+|\d{1,3}(\.\d{3})+)")


def _split(text: str) -> tuple[str, str]:
    """Return the unit of a text, and the text without it and without gaps between thousands."""
    text, sign = text.strip(), ""
    if text.startswith("(") and text.endswith(")"):
        # As accountants write what is below zero.
        text, sign = text[1:-1].strip(), "-"
    elif text[:1] in ("-", "+"):
        text, sign = text[1:].strip(), text[0]
    found = _UNIT.search(text)
    bare = sign + _UNIT.sub("", text, count=1).strip()
    unit = found.group() if found else ""
    return unit, re.sub(r"[\s']", "", bare) if _GAPS.fullmatch(bare) else bare


def find_number_format(texts: np.ndarray) -> str | None:
    """Return how texts are written as numbers; None if one of them is none.

    Libraries read plain numbers themselves. If texts look like plain numbers, or have leading
    zeros, they are names of something. So some text must have a unit or a separator. All must have
    the same unit; some may have no currency.

    Parameters
    ----------
    texts : ndarray of str
        The distinct values of a column.

    Returns
    -------
    name : str or None
        ``"1,234.5"`` or ``"1.234,5"``.
    """
    given = [str(text).strip() for text in texts]
    # One by one: the first text of a column of names already ends the search.
    split = list(takewhile(_is_number, map(_split, given)))
    if not given or len(split) < len(given):
        return None
    units, bare = {unit for unit, _ in split}, [text for _, text in split]
    if len(units - {""}) > 1 or {"%", ""} <= units:
        return None
    if bare == given and not any("," in text for text in given):
        return None
    fitting = [name for name, (_, written) in _FORMATS.items() if all(map(written.fullmatch, bare))]
    # A currency has no three decimals: 1.000 € are a thousand.
    thousands = units - {"", "%"} and all(map(_DOT_BEFORE_THREE.fullmatch, bare))
    if thousands and any("." in text for text in bare):
        return "1.234,5"
    return fitting[0] if fitting else None


def _is_number(split: tuple[str, str]) -> bool:
    """Return whether a text without its unit is a number in some format."""
    _, text = split
    if _LEADING_ZERO.match(text):
        return False
    return any(written.fullmatch(text) for _, written in _FORMATS.values())


def numbers_of_texts(levels: np.ndarray, codes: np.ndarray, name: str) -> np.ndarray:
    """Return texts as numbers; what is no number of this format is missing.

    Parameters
    ----------
    levels : ndarray of str
        The distinct texts.
    codes : ndarray of int
        For each row a position in ``levels``; -1 where the value is missing.
    name : str
        A format of `find_number_format`.

    Returns
    -------
    numbers : ndarray of float
    """
    thousands, written = _FORMATS[name]
    # The last entry is for missing values, whose code is -1.
    numbers = np.full(len(levels) + 1, np.nan)
    for position, text in enumerate(levels):
        _, bare = _split(str(text))
        if written.fullmatch(bare):
            numbers[position] = float(bare.replace(thousands, "").replace(",", "."))
    return numbers[codes]
