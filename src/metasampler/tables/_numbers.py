"""Numbers that a file holds as texts: prices, percentages, numbers with separators."""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from metasampler.tables._unread import Slips, are_placeholders

__all__ = [
    "NUMBER_FORMATS",
    "NumberFormat",
    "Separators",
    "are_nearly_numbers",
    "currencies_of_texts",
    "find_number_format",
    "numbers_of_texts",
    "unit_of_texts",
]

# Currencies that are written out; other letters beside a number may name something else.
_LETTERS = (
    "AED|ARS|AUD|BGN|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EGP|EUR|GBP|HKD|HUF|IDR|ILS|INR|ISK|JPY|KES|"
    "KRW|MXN|MYR|NGN|NOK|NZD|PHP|PKR|PLN|RMB|RON|RUB|SAR|SEK|SGD|THB|TRY|TWD|UAH|USD|VND|ZAR|"
    r"kr\.?|zł|zl|kč|rs\.?|(?-i:Rp\.?)|s?fr\.|euros?|dollars?|\u0440\u0443\u0431\.?|\u5143|\u5186|\uc6d0"
)
# Signs of currencies have a block of their own in Unicode, but for the oldest.
_CURRENCY = (
    r"(?:(?<![^\W\d_])[A-Z]{1,3}\s?)?\$|[¢£¤¥\u0e3f\u20a0-\u20cf]"
    rf"|(?<![^\W\d_])(?:{_LETTERS})(?![^\W\d_])"
)
_UNIT = re.compile(rf"^({_CURRENCY})|({_CURRENCY}|%)$", re.IGNORECASE)
_CODES = {
    **{"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₽": "RUB", "₩": "KRW"},
    **{"₺": "TRY", "₪": "ILS", "₫": "VND", "₴": "UAH", "₦": "NGN"},
    **{"us$": "USD", "r$": "BRL", "a$": "AUD", "au$": "AUD", "c$": "CAD", "ca$": "CAD"},
    **{"nz$": "NZD", "hk$": "HKD", "s$": "SGD", "sg$": "SGD", "nt$": "TWD", "mx$": "MXN"},
    **{"kr": "kr", "zł": "PLN", "zl": "PLN", "kč": "CZK", "rs": "INR", "fr": "CHF", "sfr": "CHF"},
    **{"\u0440\u0443\u0431": "RUB", "\u0e3f": "THB", "rp": "IDR", "rmb": "CNY"},
    **{"euro": "EUR", "euros": "EUR", "dollar": "USD", "dollars": "USD"},
    **{"\u5143": "CNY", "\u5186": "JPY", "\uc6d0": "KRW"},
}
# Signs that look like the minus or the apostrophe of a keyboard.
_PLAIN_SIGNS = str.maketrans(
    dict.fromkeys("\u2212\u2010\u2011\u2012\u2013\ufe63\uff0d", "-")
    | dict.fromkeys("\u2019\u2018\u02bc\u00b4`", "'")
)
# A dash in place of the cents, as in 5,- for 5,00, is not a sign.
_NO_CENTS = re.compile(r"(?<=\d)[.,](-{1,2}|\u2014)$")
_GAPS = re.compile(r"[-+]?\d{1,3}([\s']\d{3})+([.,]\d*)?")

_POINT, _COMMA = "1,234.5", "1.234,5"
#: How numbers are written, with what stands between thousands; no thousands begin with a zero.
_STYLES = {
    _POINT: (
        ",",
        # Also in lakhs and crores: 1,50,000.
        re.compile(
            r"[-+]?(([1-9]\d{0,2}(,\d{3})+|[1-9]\d?(,\d\d)+,\d{3}|\d+)(\.\d*)?|\.\d+)"
            r"([eE][-+]?\d+)?"
        ),
    ),
    _COMMA: (
        ".",
        re.compile(r"[-+]?(([1-9]\d{0,2}(\.\d{3})+|\d+)(,\d*)?|,\d+)([eE][-+]?\d+)?"),
    ),
}
#: Some numbers in one way, some in the other: one dot or comma before three digits is then taken as
#: standing between thousands.
_MIXED = f"{_POINT} and {_COMMA}"
#: How numbers may be written.
NUMBER_FORMATS = (*_STYLES, _MIXED)

# As libraries read them: with the digits of ASCII.
_PLAIN = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)
_WITH_UNIT = re.compile(
    r"(?P<before>[^\d\s.,+-]{0,6}\s?)(?P<number>[-+]?\d[\d.,]*)(?P<after>\s?[^\d.,+-]{0,8})"
)
_LEADING_ZERO = re.compile(r"[-+]?0\d")
_DOT_BEFORE_THREE = re.compile(r"[-+]?(\d+|[1-9]\d{0,2}(\.\d{3})+)")
_ONE_BEFORE_THREE = re.compile(r"[-+]?\d{1,3}[.,]\d{3}")
_TRUTHS = {"true": 1.0, "false": 0.0}

# This many texts are looked at before all are: most columns are names.
_LOOKED_AT = 500

# Plain numbers with fewer distinct values, among other texts, may be names of classes.
_FEWEST_PLAIN = 20

# Texts are numbers with units if nearly all are, and there are few units.
_NEARLY_ALL, _MOST_UNITS = 0.95, 5


class NumberFormat(NamedTuple):
    """How the texts of a column are written as numbers.

    Attributes
    ----------
    name : str
        ``"1,234.5"``, ``"1.234,5"`` or both, joined by "and".
    currencies : tuple of str
        The codes of the currencies.
    """

    name: str
    currencies: tuple[str, ...] = ()


def _split(text: str) -> tuple[str, str]:
    """Return the unit of a text, and the text without it and without gaps between thousands."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_PLAIN_SIGNS))
    text, unit, sign = text.strip(), "", ""
    # A sign or the brackets of accountants stand outside of the unit or inside of it.
    for _ in range(2):
        text = _NO_CENTS.sub("", text)
        if not sign:
            text, sign = _without_sign(text)
        found = None if unit else _UNIT.search(text)
        if found:
            unit = "".join(found.group().casefold().rstrip(".").split())
            text = (text[: found.start()] + text[found.end() :]).strip()
    bare = sign + text
    return _CODES.get(unit, unit.upper()), re.sub(r"[\s']", "", bare) if _GAPS.fullmatch(
        bare
    ) else bare


def _without_sign(text: str) -> tuple[str, str]:
    if text.startswith("(") and text.endswith(")"):
        return text[1:-1].strip(), "-"
    if text[:1] in ("-", "+"):
        return text[1:].strip(), text[0]
    if text[-1:] == "-":
        return text[:-1].strip(), "-"
    return text, ""


def find_number_format(texts: np.ndarray, *, slips: Slips | None = None) -> NumberFormat | None:
    """Return how texts are written as numbers; None if they are not numbers.

    Libraries read plain numbers themselves. If texts look like plain numbers, or have leading
    zeros, they are names of something. So some text must have a unit or a separator, or else some
    texts must be no numbers at all, such as "unknown", for which a library gives up. Only fractions
    that nearly all differ are numbers without such a sign, if they are written as measures are: not
    as "570.80" or as the sections "1.1" and "1.10".

    Parameters
    ----------
    texts : ndarray of str
        The distinct values of a column.
    slips : Slips, default=None
        Says which texts may be something else. By default all must be numbers.

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
    is_read = np.array([_is_number(bare) for _, bare in split])
    if not is_read.all() and (slips is None or not slips.are_rare(~is_read)):
        return None
    told = is_read | ~are_placeholders(texts)
    if any(_LEADING_ZERO.match(split[place][1]) for place in np.flatnonzero(told)):
        return None
    read = np.flatnonzero(is_read).tolist()
    units = {split[place][0] for place in read}
    bare = [split[place][1] for place in read]
    if "%" in units and not _are_all_percents(split, read):
        return None
    if all(_PLAIN.fullmatch(given[place]) for place in read):
        others = [given[place] for place in np.flatnonzero(~is_read)]
        words = [text for place, text in enumerate(given) if told[place] and not is_read[place]]
        if len(bare) < _FEWEST_PLAIN or _may_be_codes(words, bare, is_read, slips):
            return None
        if not others and not (
            _are_fractions(bare)
            and _are_measures(bare)
            and slips is not None
            and slips.nearly_all_differ(is_read)
        ):
            return None
    currencies = tuple(sorted(units - {"", "%"}))
    # A currency has no three decimals: 1.000 € are a thousand.
    thousands = currencies and all(map(_DOT_BEFORE_THREE.fullmatch, bare))
    if thousands and any("." in text for text in bare):
        return NumberFormat(_COMMA, currencies)
    fitting = [name for name, (_, written) in _STYLES.items() if all(map(written.fullmatch, bare))]
    return NumberFormat(fitting[0] if fitting else _MIXED, currencies)


def _are_all_percents(split: list[tuple[str, str]], read: list[int]) -> bool:
    """Return whether the numbers without a sign beside percents can be percents, too.

    They are not if none is above 1: these may be shares.
    """
    if not {split[place][0] for place in read} <= {"", "%"}:
        return False
    plain = [split[place][1] for place in read if split[place][0] == ""]
    return not plain or any(abs(_read(text, _MIXED)) > 1 for text in plain)


def _may_be_codes(words: list[str], plain: list[str], is_read: np.ndarray, slips) -> bool:
    """Return whether plain numbers beside other texts may be names, such as codes of diseases.

    They are numbers beside words, and beside slips of the pen, which have no letters, if most have
    fractions or nearly all differ.
    """
    with_digits = [word for word in words if any(map(str.isdigit, word))]
    if not with_digits:
        return False
    if any(any(map(str.isalpha, word)) for word in with_digits):
        return True
    return not _are_fractions(plain) and not slips.nearly_all_differ(is_read)


def _are_fractions(plain: list[str]) -> bool:
    return 2 * sum("." in text for text in plain) >= len(plain)


def _are_measures(plain: list[str]) -> bool:
    """Return whether plain numbers are written as a program writes measures, and not as codes.

    Some have a sign, or most have many decimals, or their number varies and no zeros end them, or
    all have two, as amounts of money have.
    """
    if any(text[0] in "+-" for text in plain):
        return True
    decimals = [text.partition(".")[2] for text in plain if "." in text]
    if len(decimals) == len(plain) and {len(each) for each in decimals} == {2}:
        return len({each[1] for each in decimals}) > 5
    if 2 * sum(len(each) > 2 for each in decimals) >= len(plain):
        return True
    ended = any(each.endswith("0") and each != "0" for each in decimals)
    return not ended and len(set(map(len, decimals))) > 1


def are_nearly_numbers(texts: np.ndarray, slips: Slips) -> np.ndarray | None:
    """Return which texts cannot be read as numbers if most others are; None for names.

    The texts are those of a column for which `find_number_format` finds none.
    """
    some = texts[:: max(1, len(texts) // _LOOKED_AT)]
    if 2 * sum(_is_number(_split(str(text))[1]) for text in some) < len(some):
        return None
    split = [_split(str(text))[1] for text in texts]
    is_read = np.array([_is_number(bare) for bare in split])
    unread = slips.unread_if_few(~is_read)
    if is_read.sum() < _FEWEST_PLAIN or unread is None:
        return None
    if any(_LEADING_ZERO.match(bare) for bare in split):
        return None
    plain = [split[place] for place in np.flatnonzero(is_read)]
    words = [str(texts[place]) for place in np.flatnonzero(unread)]
    return None if _may_be_codes(words, plain, is_read, slips) else unread


def unit_of_texts(texts: np.ndarray) -> str | None:
    """Return the unit of texts that are numbers with units which are not known; None for names.

    ``"3.5 kg"`` is such a text. Names may hold numbers, too: these are whole, and come after
    letters. Texts with fractions but without a unit have the unit ``""``.
    """
    some = texts[:: max(1, len(texts) // _LOOKED_AT)]
    if 2 * sum(_WITH_UNIT.fullmatch(str(text).strip()) is not None for text in some) < len(some):
        return None
    found = [_WITH_UNIT.fullmatch(str(text).strip()) for text in texts]
    parts = [part for part in found if part and _is_number(part["number"])]
    if len(parts) < max(_FEWEST_PLAIN, _NEARLY_ALL * len(texts)):
        return None
    if any(_LEADING_ZERO.match(part["number"]) for part in parts):
        return None
    units = Counter((part["before"].strip(), part["after"].strip()) for part in parts)
    n_fractions = sum(bool(re.search(r"[.,]\d", part["number"])) for part in parts)
    if len(units) > _MOST_UNITS or len({part["number"] for part in parts}) < _FEWEST_PLAIN:
        return None
    if 2 * n_fractions < len(parts) and any(before or not after for before, after in units):
        return None
    # Beside plain numbers, those after letters are codes.
    if ("", "") in units and any(any(map(str.isalpha, before)) for before, _ in units):
        return None
    (before, after), _ = units.most_common(1)[0]
    return before or after


def _is_number(text: str) -> bool:
    """Return whether a text without its unit is a number in some style."""
    return any(written.fullmatch(text) for _, written in _STYLES.values())


def numbers_of_texts(
    levels: np.ndarray, codes: np.ndarray, name: str | None, *, truths: bool = False
) -> np.ndarray:
    """Return texts as numbers; what is not a number of this format is missing.

    Parameters
    ----------
    levels : ndarray of str
        The distinct texts.
    codes : ndarray of int
        For each row a position in ``levels``; -1 where the value is missing.
    name : str or None
        One of `NUMBER_FORMATS`. None is for plain numbers, as Python reads them; others are read in
        any style.
    truths : bool, default=False
        Whether "true" and "false" are 1 and 0.

    Returns
    -------
    numbers : ndarray of float
    """
    # The last entry is for missing values, whose code is -1.
    numbers = np.full(len(levels) + 1, np.nan)
    for position, text in enumerate(levels):
        if name is None:
            numbers[position] = _as_python_reads(text)
        if np.isnan(numbers[position]):
            numbers[position] = _read(_split(str(text))[1], name or _MIXED)
        if truths and np.isnan(numbers[position]):
            numbers[position] = _TRUTHS.get(str(text).strip().casefold(), np.nan)
    return numbers[codes]


@dataclass
class Separators:
    """What the texts of a column that held plain numbers say of their commas.

    They may be counted in several tables: a file may come in chunks.
    """

    n_commas: int = 0
    n_points: int = 0
    may_be: tuple[str, ...] = (_POINT, _COMMA)
    #: Whether each number has one comma before three digits.
    all_before_three: bool = True

    def add(self, levels: np.ndarray, codes: np.ndarray) -> "Separators":
        """Count the texts of a table."""
        counts = np.bincount(codes[codes >= 0], minlength=len(levels))
        for count, (_, bare) in zip(counts.tolist(), map(_split, map(str, levels)), strict=True):
            if not count or not _is_number(bare):
                continue
            self.n_commas += count * ("," in bare)
            self.n_points += count * ("." in bare)
            self.may_be = tuple(each for each in self.may_be if _STYLES[each][1].fullmatch(bare))
            self.all_before_three &= bool(_ONE_BEFORE_THREE.fullmatch(bare))
        return self

    def merged(self, other: "Separators") -> "Separators":
        """Return what this and another table say together."""
        return Separators(
            self.n_commas + other.n_commas,
            self.n_points + other.n_points,
            tuple(each for each in self.may_be if each in other.may_be),
            self.all_before_three and other.all_before_three,
        )

    @property
    def format(self) -> str | None:
        """How the numbers are written; None for plain ones."""
        decimal_comma = self.may_be == (_COMMA,) and self.n_commas >= self.n_points
        return _COMMA if decimal_comma and self.n_commas else None

    @property
    def is_clear(self) -> bool:
        """Whether commas can be read in one way only."""
        return not (
            self.n_commas and not self.n_points and self.all_before_three and _POINT in self.may_be
        )


def _as_python_reads(text) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan


def _read(bare: str, name: str) -> float:
    """Return a text without its unit as a number; NaN if it is not one of this format."""
    fitting = [style for style in _STYLES if _STYLES[style][1].fullmatch(bare)]
    if name == _MIXED:
        style = fitting[0] if fitting else ""
        if len(fitting) == 2:
            # "1,234" and "1.234": each is a thousand in one of the styles.
            style = _COMMA if "." in bare else _POINT
    else:
        style = name
    if style not in fitting:
        return np.nan
    return float(bare.replace(_STYLES[style][0], "").replace(",", "."))


def currencies_of_texts(levels: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the currency of each text; None where a text names none."""
    units = [_split(str(text))[0] or None for text in levels]
    return np.array([*units, None], dtype=object)[codes]
