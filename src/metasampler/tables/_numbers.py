"""Numbers that a file holds as texts: prices, percentages, numbers with separators."""

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

__all__ = ["NumberFormat", "currencies_of_texts", "find_number_format", "numbers_of_texts"]

# Currencies that are written out; other letters before a number may name something else.
_LETTERS = "AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|INR|JPY|KRW|MXN|NOK|NZD|PLN|SEK|TRY|USD|ZAR"
_CURRENCY = rf"[$€£¥₹]|\b(?:{_LETTERS})\b"
_UNIT = re.compile(rf"^({_CURRENCY})|({_CURRENCY}|%)$")
_GAPS = re.compile(r"[-+]?\d{1,3}([\s']\d{3})+([.,]\d*)?")
_CODES = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR"}

#: How numbers are written, with what stands between thousands.
_STYLES = {
    "1,234.5": (",", re.compile(r"[-+]?((\d{1,3}(,\d{3})+|\d+)(\.\d*)?|\.\d+)")),
    "1.234,5": (".", re.compile(r"[-+]?((\d{1,3}(\.\d{3})+|\d+)(,\d*)?|,\d+)")),
}
#: Some numbers in one way, some in the other: one dot or comma before three digits is then taken as
#: standing between thousands.
_MIXED = "1,234.5 and 1.234,5"
_LEADING_ZERO = re.compile(r"[-+]?0\d")
_DOT_BEFORE_THREE = re.compile(r"[-+]?(\d+|\d{1,3}(\.\d{3})+)")

# This many texts are looked at before all are: most columns are names.
_LOOKED_AT = 500

# Plain numbers with fewer distinct values, among other texts, may be names of classes.
_FEWEST_PLAIN = 20


class NumberFormat(NamedTuple):
    """How the texts of a column are written as numbers.

    Attributes
    ----------
    name : str
        ``"1,234.5"``, ``"1.234,5"`` or both, joined by "and".
    currencies : tuple of str
        The codes of the currencies, if there are several.
    """

    name: str
    currencies: tuple[str, ...] = ()


def _split(text: str) -> tuple[str, str]:
    """Return the unit of a text, and the text without it and without gaps between thousands."""
    text, sign = text.strip(), ""
    if text.startswith("(") and text.endswith(")"):
        # As accountants write what is below zero.
        text, sign = text[1:-1].strip(), "-"
    elif text[:1] in ("-", "+"):
        text, sign = text[1:].strip(), text[0]
    elif text[-1:] == "-" and text[:1] != "-":
        text, sign = text[:-1].strip(), "-"
    found = _UNIT.search(text)
    bare = _UNIT.sub("", text, count=1).strip()
    if not sign and found and bare[-1:] == "-":
        bare, sign = bare[:-1].strip(), "-"
    bare = sign + bare
    unit = _CODES.get(found.group(), found.group()) if found else ""
    return unit, re.sub(r"[\s']", "", bare) if _GAPS.fullmatch(bare) else bare


def find_number_format(
    texts: np.ndarray, *, may_miss: Callable[[np.ndarray], bool] | None = None
) -> NumberFormat | None:
    """Return how texts are written as numbers; None if they are not numbers.

    Libraries read plain numbers themselves. If texts look like plain numbers, or have leading
    zeros, they are names of something. So some text must have a unit or a separator, or else some
    texts must be no numbers at all, such as "unknown", for which a library gives up.

    Parameters
    ----------
    texts : ndarray of str
        The distinct values of a column.
    may_miss : callable, default=None
        Gets which texts cannot be read, and returns whether that may be. By default all must be.

    Returns
    -------
    format : NumberFormat or None
    """
    some = texts[:: max(1, len(texts) // _LOOKED_AT)]
    n_read = sum(_is_number(bare) for _, bare in map(_split, map(str, some)))
    if not len(texts) or n_read < len(some) / 2:
        return None
    given = [str(text).strip() for text in texts]
    split = list(map(_split, given))
    unread = np.array([not _is_number(bare) for _, bare in split])
    if any(_LEADING_ZERO.match(bare) for _, bare in split):
        return None
    if unread.any() and (may_miss is None or not may_miss(unread)):
        return None
    read = np.flatnonzero(~unread).tolist()
    units = {split[place][0] for place in read}
    currencies = units - {"", "%"}
    if "%" in units and len(units) > 1:
        return None
    bare = [split[place][1] for place in read]
    is_plain = not currencies and "%" not in units
    if is_plain and not any("," in text for text in bare):
        same = bare == [given[place] for place in read]
        words = [given[place] for place in np.flatnonzero(unread)]
        told_apart = len(bare) >= _FEWEST_PLAIN and not any(re.search(r"\d", w) for w in words)
        if same and not (words and told_apart):
            return None
    several = tuple(sorted(currencies)) if len(currencies) > 1 else ()
    # A currency has no three decimals: 1.000 € are a thousand.
    thousands = currencies and all(map(_DOT_BEFORE_THREE.fullmatch, bare))
    if thousands and any("." in text for text in bare):
        return NumberFormat("1.234,5", several)
    fitting = [name for name, (_, written) in _STYLES.items() if all(map(written.fullmatch, bare))]
    return NumberFormat(fitting[0] if fitting else _MIXED, several)


def _is_number(text: str) -> bool:
    """Return whether a text without its unit is a number in some style."""
    return any(written.fullmatch(text) for _, written in _STYLES.values())


def numbers_of_texts(
    levels: np.ndarray, codes: np.ndarray, name: str, *, also_plain: bool = False
) -> np.ndarray:
    """Return texts as numbers; what is not a number of this format is missing.

    Parameters
    ----------
    levels : ndarray of str
        The distinct texts.
    codes : ndarray of int
        For each row a position in ``levels``; -1 where the value is missing.
    name : str
        The name of a format of `find_number_format`.
    also_plain : bool, default=False
        Whether texts are first read as Python reads numbers: also 1e-5.

    Returns
    -------
    numbers : ndarray of float
    """
    # The last entry is for missing values, whose code is -1.
    numbers = np.full(len(levels) + 1, np.nan)
    for position, text in enumerate(levels):
        if also_plain:
            try:
                numbers[position] = float(text)
                continue
            except ValueError:
                pass
        numbers[position] = _read(_split(str(text))[1], name)
    return numbers[codes]


def _read(bare: str, name: str) -> float:
    """Return a text without its unit as a number; NaN if it is not one of this format."""
    fitting = [style for style in _STYLES if _STYLES[style][1].fullmatch(bare)]
    if name == _MIXED:
        style = fitting[0] if fitting else ""
        if len(fitting) == 2:
            # "1,234" and "1.234": each is a thousand in one of the styles.
            style = "1.234,5" if "." in bare else "1,234.5"
    else:
        style = name
    if style not in fitting:
        return np.nan
    return float(bare.replace(_STYLES[style][0], "").replace(",", "."))


def currencies_of_texts(levels: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the currency of each text; None where a text names none."""
    units = [_split(str(text))[0] or None for text in levels]
    return np.array([*units, None], dtype=object)[codes]
