"""Values of a fitted model as JSON and arrays, and back: a tree, in which nothing is shared.

JSON stands for None, booleans, finite numbers, texts and lists; a dict of one entry for all else:

    {"tuple": [...]}    {"dict": [[key, value], ...]}    {"float": "nan"}
    {"array": [dtype, shape]}       its bytes are the next ones among the numbers
    {"columns": [dtype, shape]}     the same, column by column: BLAS rounds otherwise by it
    {"objects": [shape, [...]]}     an array of texts and other plain values
    {"scalar": [dtype, value]}      a number or text of NumPy's
    {"type": name, "state": {...}}  an object, which only the loader of this name makes

The reader makes nothing of its own accord but these values. Whatever it returns is then checked by
the loader that asked for it.
"""

import math
import re
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Kind", "Reader", "State", "Writer"]

_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_DTYPE = re.compile(r"\|b1|[<|][iu][1248]|<f[48]|<U[1-9]\d{0,5}")
_ALIGNED, _DEEPEST, _MOST_DIMENSIONS, _LARGEST_DIMENSION = 8, 60, 4, 2**31

# What parts of a model may add up to, since each of many parts may be small in a file and large in
# use: boosters, each of which takes LightGBM a millisecond; names of columns that boosters hold
# twice, each in 64 bytes of LightGBM's; columns of trees, each a number in their importances;
# columns that steps make of a table; values in lists that are settings, of which scikit-learn makes
# texts.
_MOST = {
    "boosters": 2000,
    "columns of boosters": 3_000_000,
    "columns of trees": 2**28,
    "columns that steps make": 250_000,
    "values in settings": 200_000,
}

# Python's dicts keep whole numbers that differ by a multiple of 2**61 - 1 in one place. Other
# numbers, and tuples of them, can be chosen so that each passes the places of many. Texts cannot,
# nor can numbers from a range with few to choose from: more of them than _MOST_CHOSEN, where a
# tuple counts as some, must come from _MOST_CHOICES in all.
_LARGE, _MOST_LARGE = 2**60, 1000
_MOST_CHOSEN, _OF_A_TUPLE, _MOST_CHOICES = 10_000, 10, 2**25


class Kind(NamedTuple):
    """A type that a file may hold.

    ``export`` returns the attributes of an object by name. ``build`` makes an object of a `State`,
    each entry of which it must check.
    """

    name: str
    of: type
    export: Callable[[Any], dict[str, Any]]
    build: Callable[["State"], Any]


class Writer:
    """Encode values; ``kind_of`` finds the `Kind` of an object."""

    def __init__(self, kind_of: Callable[[Any], Kind | None]):
        self._kind_of = kind_of
        self.numbers = bytearray()

    def encode(self, value: Any, where: str, depth: int = 0) -> Any:
        """Return a value as JSON; its arrays are added to the numbers."""
        if depth > _DEEPEST:
            raise TypeError(f"{where} is nested too deeply.")
        kind = type(value)
        if value is None or kind in (bool, str):
            return value
        if kind is int:
            return self._whole(value, where)
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if kind is list:
            return [self.encode(each, where, depth + 1) for each in value]
        if kind is tuple:
            return {"tuple": [self.encode(each, where, depth + 1) for each in value]}
        if kind is dict:
            pairs = value.items()
            inside = [[self.encode(part, where, depth + 1) for part in pair] for pair in pairs]
            return {"dict": inside}
        if kind is np.ndarray or isinstance(value, np.generic):
            return self._array(value, where, depth)
        found = self._kind_of(value)
        if found is None and isinstance(value, FunctionType):
            raise TypeError(
                f"{where} is the function {value.__name__!r}, and a model file holds no code. Set "
                f"it to what this package or scikit-learn has, and fit again."
            )
        if found is None:
            raise TypeError(f"{where} is {_described(value)}, which a model file cannot hold.")
        state = {
            name: self.encode(each, f"{where}.{name}", depth + 1)
            for name, each in found.export(value).items()
        }
        return {"type": found.name, "state": state}

    @staticmethod
    def _whole(value: int, where: str) -> int:
        if abs(value) >= 10**90:
            raise TypeError(f"{where} is a whole number of more than 90 digits.")
        return value

    def _array(self, value: Any, where: str, depth: int) -> dict:
        dtype = value.dtype
        if dtype.hasobject:
            plain = [self.encode(each, where, depth + 1) for each in value.ravel().tolist()]
            return {"objects": [list(value.shape), plain]}
        # In the order of bytes that nearly all processors have.
        dtype = dtype.newbyteorder("<")
        if not _DTYPE.fullmatch(dtype.str):
            raise TypeError(f"{where} has the type {dtype}, which a model file cannot hold.")
        if not isinstance(value, np.ndarray):
            return {"scalar": [dtype.str, self.encode(value.item(), where, depth + 1)]}
        self.numbers += bytes(-len(self.numbers) % _ALIGNED)
        by_columns = value.flags.f_contiguous and not value.flags.c_contiguous
        self.numbers += value.astype(dtype).tobytes("F" if by_columns else "C")
        return {"columns" if by_columns else "array": [dtype.str, list(value.shape)]}


def _described(value: Any) -> str:
    kind = value if isinstance(value, type) else type(value)
    return f"{value!r:.60} ({kind.__module__}.{kind.__qualname__})"


class Reader:
    """Decode values; ``kind_named`` finds a `Kind` by its name."""

    def __init__(self, numbers: bytearray, kind_named: Callable[[str], Kind | None]):
        self._kind_named = kind_named
        self._numbers, self._place = memoryview(numbers), 0
        self._n_large, self._totals = 0, dict.fromkeys(_MOST, 0)

    def decode(self, value: Any, where: str, depth: int = 0) -> Any:
        """Return the value that `Writer.encode` was given."""
        if depth > _DEEPEST:
            raise ValueError(f"{where} is nested too deeply.")
        if type(value) is str:
            return _text(value, where)
        if type(value) is list:
            return [self.decode(each, where, depth + 1) for each in value]
        if type(value) is int and not -_LARGE < value < _LARGE:
            self._n_large += 1
            if self._n_large > _MOST_LARGE:
                raise ValueError(f"{where} has too many whole numbers beyond 2**60.")
        if type(value) is not dict:
            return value
        if value.keys() == {"type", "state"}:
            return self._object(value["type"], value["state"], where, depth)
        ((name, content),) = value.items() if len(value) == 1 else [("", None)]
        if name == "tuple" and type(content) is list:
            return tuple(self.decode(content, where, depth))
        if name == "dict" and type(content) is list:
            return self._dict(content, where, depth)
        if name == "float" and type(content) is str and content in _FLOATS:
            return _FLOATS[content]
        if name == "columns" and type(content) is list and len(content) == 2:
            return self._array(content[0], content[1], where, depth, "F")
        if name in ("array", "objects", "scalar") and type(content) is list and len(content) == 2:
            return getattr(self, f"_{name}")(*content, where, depth)
        raise ValueError(f"{where} is of no known form.")

    def finish(self) -> None:
        """Refuse numbers that belong to nothing."""
        if self._place != len(self._numbers):
            raise ValueError("it holds numbers that belong to nothing.")

    def count(self, what: str, number: int) -> None:
        """Refuse a model whose parts add up to too much."""
        self._totals[what] += number
        if self._totals[what] > _MOST[what]:
            raise ValueError(
                f"it has {self._totals[what]:,} {what} in all; allowed are {_MOST[what]:,}."
            )

    def _object(self, name: Any, state: Any, where: str, depth: int) -> Any:
        kind = self._kind_named(name) if type(name) is str else None
        if kind is None:
            raise ValueError(f"{where} is of the type {name!r:.100}, which no model has.")
        if type(state) is not dict:
            raise ValueError(f"{where} has no state.")
        entries = {
            _text(key, where): self.decode(each, f"{where}.{key:.60}", depth + 1)
            for key, each in state.items()
        }
        checked = State(entries, where, self)
        made = kind.build(checked)
        checked.finish()
        return made

    def _dict(self, pairs: list, where: str, depth: int) -> dict:
        if not all(type(pair) is list and len(pair) == 2 for pair in pairs):
            raise ValueError(f"{where} is of no known form.")
        inside = [self.decode(pair, where, depth + 1) for pair in pairs]
        if not are_spread([key for key, _ in inside]):
            raise ValueError(f"{where} has too many keys that are not texts.")
        found: dict = {}
        for key, value in inside:
            if not isinstance(key, (str, int, float, tuple, type(None))) or key in found:
                raise ValueError(f"{where} has a wrong key: {key!r:.60}")
            found[key] = value
        return found

    def _array(
        self, dtype: Any, shape: Any, where: str, depth: int, order: Any = "C"
    ) -> np.ndarray:
        kind, shape = _dtype(dtype, where), _shape(shape, where)
        # Python's whole numbers do not overflow.
        size = math.prod(shape) * kind.itemsize
        start = self._place + -self._place % _ALIGNED
        if size > len(self._numbers) - start:
            raise ValueError(f"{where} says it is larger than it is.")
        self._place = start + size
        content = self._numbers[start : self._place]
        if kind.kind == "U":
            codes = np.frombuffer(content, "<u4")
            if ((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes <= 0xDFFF))).any():
                raise ValueError(f"{where} holds a text that is not Unicode.")
        if kind.kind == "b" and (np.frombuffer(content, np.uint8) > 1).any():
            raise ValueError(f"{where} holds booleans that are neither true nor false.")
        array = np.frombuffer(content, kind).reshape(shape, order=order)
        return array.astype(kind.newbyteorder("="), copy=False)

    def _objects(self, shape: Any, plain: Any, where: str, depth: int) -> np.ndarray:
        shape = _shape(shape, where)
        if type(plain) is not list or len(plain) != math.prod(shape):
            raise ValueError(f"{where} is of no known form.")
        array = np.empty(len(plain), dtype=object)
        for place, each in enumerate(plain):
            array[place] = self.decode(each, where, depth + 1)
        return array.reshape(shape)

    def _scalar(self, dtype: Any, plain: Any, where: str, depth: int) -> Any:
        kind, value = _dtype(dtype, where), self.decode(plain, where, depth + 1)
        known = {"b": bool, "U": str, "f": float}.get(kind.kind, int)
        if type(value) is not known:
            raise ValueError(f"{where} has a wrong value: {value!r:.60}")
        if known is str:
            return np.str_(value)
        return kind.type(value)


def _text(value: str, where: str) -> str:
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{where} holds a text that is not Unicode.") from None
    return value


def _dtype(name: Any, where: str) -> np.dtype:
    if type(name) is not str or not _DTYPE.fullmatch(name):
        raise ValueError(f"{where} has the type {name!r:.40}, which no model has.")
    return np.dtype(name)


def _shape(shape: Any, where: str) -> tuple[int, ...]:
    good = type(shape) is list and len(shape) <= _MOST_DIMENSIONS
    most = 10**6 if good and 0 in shape else _LARGEST_DIMENSION
    if not good or not all(type(size) is int and 0 <= size <= most for size in shape):
        raise ValueError(f"{where} has a wrong shape: {shape!r:.60}")
    return tuple(shape)


# ---------------------------------------------------------------------- what loaders check with

_MISSING = object()


class State:
    """The attributes of an object that is to be built; each is taken once, and checked.

    A name in a shape is a size that is the same wherever it occurs: ``sizes`` holds those that are
    known. A ``*`` is any size.
    """

    def __init__(self, entries: dict[str, Any], where: str, reader: Reader):
        self._entries = entries
        self.where = where
        self.reader = reader
        self.sizes: dict[str, int] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def names(self) -> list[str]:
        """Return the names of the entries that are left."""
        return list(self._entries)

    def finish(self) -> None:
        """Refuse entries that no loader has asked for."""
        for name in self._entries:
            raise ValueError(f"{self.where}.{name:.60} is an attribute that is not known.")

    def refuse(self, name: str, value: Any) -> ValueError:
        """Return the error of a wrong value."""
        try:
            shown = repr(value)
        except Exception:  # of an object that is only half made
            shown = type(value).__name__
        return ValueError(f"{self.where}.{name} has a wrong value: {shown:.80}")

    def any(self, name: str, default: Any = _MISSING) -> Any:
        """Return an entry, whatever it is."""
        value = self._entries.pop(name, default)
        if value is _MISSING:
            raise ValueError(f"{self.where}.{name} is missing.")
        return value

    def where_true(self, name: str, condition: Callable[[Any], bool]) -> Any:
        """Return an entry that a condition holds for."""
        value = self.any(name)
        if not condition(value):
            raise self.refuse(name, value)
        return value

    def number(
        self, name: str, low: float = -math.inf, high: float = math.inf, *, none: bool = False
    ) -> Any:
        """Return a finite number within limits, or None where this is allowed."""
        return self.where_true(
            name, lambda value: (none and value is None) or is_number(value, low, high)
        )

    def whole(self, name: str, low: int, high: int, *, none: bool = False) -> Any:
        """Return a whole number within limits, or None where this is allowed."""
        return self.where_true(
            name, lambda value: (none and value is None) or is_whole(value, low, high)
        )

    def flag(self, name: str) -> bool:
        """Return a boolean."""
        return bool(self.where_true(name, lambda value: isinstance(value, (bool, np.bool_))))

    def text(self, name: str, *choices: str, none: bool = False) -> Any:
        """Return a text, one of some where they are given."""
        return self.where_true(
            name,
            lambda value: (
                (none and value is None)
                or (type(value) is str and (not choices or value in choices))
            ),
        )

    def plain(self, name: str) -> Any:
        """Return a value of plain ones: numbers, texts, lists, dicts."""
        return self.where_true(name, is_plain)

    def made(self, name: str, *types: type, none: bool = False) -> Any:
        """Return an object of some types."""
        return self.where_true(
            name, lambda value: (none and value is None) or isinstance(value, types)
        )

    def list(self, name: str, condition: Callable[[Any], bool], most: int = 10**6) -> list:
        """Return a list for whose entries a condition holds."""
        return self.where_true(
            name,
            lambda value: type(value) is list and len(value) <= most and all(map(condition, value)),
        )

    def array(
        self,
        name: str,
        kinds: str,
        *shape: str | int,
        none: bool = False,
        low: float | None = None,
        high: float | None = None,
        infinite: bool = False,
    ) -> Any:
        """Return an array of some kinds of numbers and a shape, finite and within limits.

        Without limits it may also hold NaN and infinity; ``infinite`` allows infinity beside them.
        """
        value = self.any(name)
        if none and value is None:
            return None
        good = is_array(value) and value.dtype.kind in kinds
        good = good and value.ndim == len(shape) and all(map(self._fits, shape, value.shape))
        if good and (low is not None or infinite):
            checked = value[np.isfinite(value)] if infinite else value
            # Written so that NaN is refused.
            good = not np.any(np.isnan(value)) and bool(np.all(np.isfinite(checked)))
            good = good and (low is None or bool(np.all(checked >= np.float64(low))))
            good = good and (high is None or bool(np.all(checked <= np.float64(high))))
        if not good:
            raise self.refuse(name, value)
        return value

    def _fits(self, expected: str | int, size: int) -> bool:
        if expected == "*":
            return True
        if isinstance(expected, str):
            expected = self.sizes.setdefault(expected, size)
        return size == expected


def is_array(value: Any) -> bool:
    """Return whether this is an array and nothing else: comparisons skip masked values."""
    return type(value) is np.ndarray


def is_number(value: Any, low: float = -math.inf, high: float = math.inf) -> bool:
    """Return whether this is a finite number within limits."""
    number = isinstance(value, (int, float, np.integer, np.floating))
    if not number or isinstance(value, bool):
        return False
    # A whole number may be too large for a float.
    return low <= value <= high and abs(value) < math.inf


def is_whole(value: Any, low: int, high: int) -> bool:
    """Return whether this is a whole number within limits."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return whole and low <= value <= high


def are_different(values: list) -> bool:
    """Return whether names or levels are different, and take a dict no longer than texts do."""
    return are_spread(values) and len(set(values)) == len(values)


def are_spread(keys: list) -> bool:
    """Return whether keys take a dict time in proportion to their number, whoever chose them."""
    if sum(map(_n_chosen, keys)) <= _MOST_CHOSEN:
        return True
    # By which parts are numbers: the lowest and highest of each, and the most decimal places.
    ranges: dict[str, list[list]] = {}
    for key in keys:
        parts = [
            part.item() if isinstance(part, np.generic) else part
            for part in (key if isinstance(key, tuple) else (key,))
        ]
        if any(isinstance(part, tuple) for part in parts):
            return False
        numbers = [part for part in parts if _is_chosen(part)]
        form = "".join("n" if _is_chosen(part) else "t" for part in parts)
        form += "()" if isinstance(key, tuple) else ""
        known = ranges.setdefault(form, [[number, number, 0] for number in numbers])
        for number, entry in zip(numbers, known, strict=True):
            entry[:] = min(entry[0], number), max(entry[1], number), max(entry[2], _places(number))
    return sum(map(_n_choices, ranges.values())) <= _MOST_CHOICES


def _is_chosen(part: Any) -> bool:
    """Return whether this is a number, whose hash is known beforehand."""
    # That of NaN is its address.
    return isinstance(part, (int, float)) and part == part


def _places(number: Any) -> float:
    """Return how many decimal places a number has."""
    if isinstance(number, int) or number.is_integer():
        return 0
    text = repr(number)
    return len(text.partition(".")[2]) if text.replace(".", "").lstrip("-").isdigit() else math.inf


def _n_choices(ranges: list[list]) -> float:
    """Return how many keys there are with numbers of these ranges."""
    try:
        return math.prod(
            math.inf if places == math.inf else float(high - low) * 10.0**places + 1
            for low, high, places in ranges
        )
    except OverflowError:  # whole numbers that no float can hold
        return math.inf


def _n_chosen(key: Any) -> int:
    """Return how much the time that a key takes in a dict depends on who chose it."""
    if isinstance(key, tuple):
        return 0 if all(isinstance(part, str) for part in key) else _OF_A_TUPLE
    return 0 if isinstance(key, str) else 1


def is_plain(value: Any) -> bool:
    """Return whether a value holds only plain ones."""
    if isinstance(value, (list, tuple)):
        return all(map(is_plain, value))
    if isinstance(value, dict):
        return all(map(is_plain, value.keys())) and all(map(is_plain, value.values()))
    return value is None or isinstance(value, (bool, int, float, str, np.generic))


def attributes(value: Any, dropped: Iterable[str] = ()) -> dict[str, Any]:
    """Return the attributes of an object, or the fields of a named tuple."""
    found = value._asdict() if hasattr(value, "_asdict") else vars(value)
    return {name: each for name, each in found.items() if name not in dropped}
