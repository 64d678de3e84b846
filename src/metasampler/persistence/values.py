"""Values as bytes and back, by the loaders of model files: for files of other kinds."""

import struct
from typing import Any

from metasampler._json import parse_json, to_json
from metasampler.persistence._values import Reader, Writer

__all__ = ["from_bytes", "to_bytes"]

# The length of the text; after it come the numbers of the arrays.
_LENGTH = struct.Struct("<Q")


def to_bytes(value: Any) -> bytes:
    """Return the bytes of a value, or raise a TypeError if no model file can hold it.

    Parameters
    ----------
    value : object
        Plain values, arrays, and objects that a model may consist of.

    Returns
    -------
    content : bytes
    """
    # Here, because the loaders import LightGBM.
    from metasampler.persistence._loaders import kind_of

    writer = Writer(kind_of)
    try:
        text = to_json(writer.encode(value, "the value"), "the value")
        content = _LENGTH.pack(len(text)) + text + writer.numbers
        from_bytes(content)
    except ValueError as error:
        raise TypeError(str(error)) from error
    return content


def from_bytes(content: bytes) -> Any:
    """Return the value of some bytes, all of it checked; nothing in them is run.

    Parameters
    ----------
    content : bytes
        What `to_bytes` returned, or anything else.

    Returns
    -------
    value : object

    Raises
    ------
    ValueError
        If they are damaged, or of another kind.
    """
    from metasampler.persistence._loaders import kind_named

    if len(content) < _LENGTH.size:
        raise ValueError("they end too early.")
    (length,) = _LENGTH.unpack_from(content)
    start, stop = _LENGTH.size, _LENGTH.size + length
    if stop > len(content):
        raise ValueError("they end too early.")
    try:
        reader = Reader(bytearray(content[stop:]), kind_named)
        value = reader.decode(parse_json(content[start:stop], "the value"), "the value")
        reader.finish()
    except Exception as error:
        # Damage can show anywhere, also in scikit-learn.
        raise ValueError(f"they hold no value: {error}") from error
    return value
