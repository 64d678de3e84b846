"""Numbers that a file holds as texts: prices, percentages, numbers with separators."""

import re

import numpy as np

__all__ = ["find_number_format", "numbers_of_texts"]

# As many texts as are looked at to find the format.
_LOOKED_AT = 500

# Currencies that are written out; other letters before a number may name something else.
_LETTERS = "AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|INR|JPY|KRW|MXN|NOK|NZD|PLN|SEK|TRY|USD|ZAR"
_UNIT = re.compile(rf"[$€£¥₹%]|^({_LETTERS})\b|\b({_LETTERS})$")
_GAP = re.compile(r"(?<=\d)[\s'](?=\d{3})")

#: How numbers are written, with what stands between thousands. Where both are possible, a comma
#: stands there.
_FORMATS = {
    "1,234.5": (",", re.compile(r"[-+]?((\d{1,3}(,\d{3})+|\d+)(\.\d*)?|\.\d+)")),
    "1.234,5": (".", re.compile(r"[-+]?((\d{1,3}(\.\d{3})+|\d+)(,\d*)?|,\d+)")),
}
_LEADING_ZERO = re.compile(r"[-+]?0\d")


def _bare(text: str) -> str:
    """Return a text without its unit, and without gaps between thousands."""
    bare = _GAP.sub("", _UNIT.sub("", text.strip()).strip())
    # As accountants write what is below zero.
    return f"-{bare[1:-1]}" if bare.startswith("(") and bare.endswith(")") else bare


def find_number_format(texts: np.ndarray) -> str | None:
    """Return how texts are written as numbers; None if one of them is none.

    Libraries read plain numbers themselves. If texts look like plain numbers, or have leading
    zeros, they are names of something. So some text must have a unit or a separator.

    Parameters
    ----------
    texts : ndarray of str
        The distinct values of a column.

    Returns
    -------
    name : str or None
        ``"1,234.5"`` or ``"1.234,5"``.
    """
    some = [str(text).strip() for text in texts[:: max(1, len(texts) // _LOOKED_AT)]]
    bare = [_bare(text) for text in some]
    if bare == some and not any("," in text for text in some):
        return None
    if any(map(_LEADING_ZERO.match, bare)):
        return None
    for name, (_, written) in _FORMATS.items():
        if all(written.fullmatch(text) for text in bare):
            return name
    return None


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
        bare = _bare(str(text))
        if written.fullmatch(bare):
            numbers[position] = float(bare.replace(thousands, "").replace(",", "."))
    return numbers[codes]
