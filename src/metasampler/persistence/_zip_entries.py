"""A model file: a zip file of three parts, whose sizes are bounded before they are inflated.

Any zip tool opens such a file. It is read by a reader of its own, because a general one has to
understand much that a stranger could use: a second directory, entries that overlap, sizes that are
written later, encryption. Here the parts follow each other in a fixed order from the first byte,
each with its size before it. What comes after them is not read.
"""

import struct
import zlib
from io import BytesIO
from typing import IO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from metasampler._json import MOST_TEXT

__all__ = ["FACTS", "MODEL", "NUMBERS", "read_part", "write_parts"]

#: What is said of the model; the model without its arrays; the bytes of all arrays.
FACTS, MODEL, NUMBERS = PARTS = ("facts.json", "model.json", "numbers.bin")

# Bytes of arrays that any file may unpack to; a larger file at most to twenty times its size.
# Numbers of trees shrink to a fifth, zeros to a thousandth.
_ALWAYS_FINE, _MOST_SHRINKING = 32 << 20, 20

# Signature, version, flags, method, time, date, checksum, size packed, size, lengths of two texts.
_HEADER = struct.Struct("<4sHHHHHIIIHH")
_DEFLATED = 8


def write_parts(facts: bytes, model: bytes, numbers: bytes) -> bytes:
    """Return the content of a model file."""
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as file:
        for name, content in zip(PARTS, (facts, model, numbers), strict=True):
            # Without a date, equal models are equal files.
            entry = ZipInfo(name)
            entry.compress_type = ZIP_DEFLATED
            file.writestr(entry, content)
    return buffer.getvalue()


def read_part(file: IO[bytes], name: str, max_bytes: int) -> bytearray:
    """Return the next part of a file, which must have this name."""
    header = file.read(_HEADER.size)
    if len(header) < _HEADER.size:
        raise ValueError("it is damaged, or not a model file: it ends too early.")
    signature, _, flags, method, _, _, checksum, packed, size, n_name, n_extra = _HEADER.unpack(
        header
    )
    # With other flags sizes stand elsewhere, or the content is encrypted.
    if signature != b"PK\3\4" or file.read(n_name) != name.encode() or n_extra or flags:
        raise ValueError(f"it is damaged, or not a model file: it has no {name!r} in its place.")
    if method != _DEFLATED:
        raise ValueError(f"its {name!r} is not deflated.")
    limit = MOST_TEXT
    if name == NUMBERS:
        limit = min(max_bytes, max(_ALWAYS_FINE, _MOST_SHRINKING * packed))
    if size > limit or packed > size + 1024:
        raise ValueError(
            f"its {name!r} of {packed / 1e6:,.1f} MB would become {size / 1e6:,.1f} MB; the limit "
            f"is {limit / 1e6:,.0f} MB (max_bytes)."
        )
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    content = inflater.decompress(file.read(packed), size + 1)
    whole = inflater.eof and not inflater.unused_data and not inflater.unconsumed_tail
    if not whole or len(content) != size or zlib.crc32(content) != checksum:
        raise ValueError(f"its {name!r} is damaged.")
    # One that can be written to, as arrays are.
    return bytearray(content)
