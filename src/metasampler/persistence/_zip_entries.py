"""A model file: a zip file of three parts, whose sizes are bounded before they are inflated.

Any zip tool opens such a file. It is read by a reader of its own, because a general one has to
understand much that a stranger could use: a second directory, entries that overlap, sizes that are
written later, encryption. Here the parts follow each other in a fixed order from the first byte,
each with its size before it. What comes after them is not read.
"""

import struct
import zlib
from typing import IO

from metasampler._json import MOST_TEXT

__all__ = ["FACTS", "MODEL", "MOST_FACTS", "NUMBERS", "read_part", "write_parts"]

#: What is said of the model; the model without its arrays; the bytes of all arrays.
FACTS, MODEL, NUMBERS = PARTS = ("facts.json", "model.json", "numbers.bin")

# Bytes of arrays that any file may unpack to; a larger file at most to twenty times its size.
# Numbers of trees shrink to a fifth, zeros to a thousandth.
_ALWAYS_FINE, _MOST_SHRINKING = 32 << 20, 20

#: Bytes of what is said of a model, which stay in memory beside it.
MOST_FACTS = 4 << 20

# Numbers are packed in blocks of this many bytes, each without the others.
_BLOCK = 1 << 20

# Version, flags, method, time, date, checksum, size packed, size, lengths of two texts.
_ENTRY = "HHHHHIIIHH"
_HEADER = struct.Struct(f"<4s{_ENTRY}")
# In the directory each entry has more: the version that wrote it, and the place of its header.
_LISTED, _END = struct.Struct(f"<4sH{_ENTRY}HHHII"), struct.Struct("<4sHHHHIIH")
_VERSION, _DEFLATED = 20, 8

# Without a date, equal models are equal files: the first day that a zip file knows.
_NO_DATE = (1 << 5) | 1

# What four bytes can say.
_LARGEST = 2**32 - 1


def write_parts(facts: bytes, model: bytes, numbers: bytes) -> bytes:
    """Return the content of a model file, which `read_part` takes whatever its numbers are."""
    content, directory = bytearray(), bytearray()
    for name, part in zip(PARTS, (facts, model, numbers), strict=True):
        packed, start = _packed(part), len(content)
        if max(len(part), start + len(packed)) > _LARGEST:
            raise ValueError(f"its {name!r} takes {len(part):,} bytes; the limit is {_LARGEST:,}.")
        sizes = zlib.crc32(part), len(packed), len(part), len(name), 0
        entry = _VERSION, 0, _DEFLATED, 0, _NO_DATE, *sizes
        content += _HEADER.pack(b"PK\3\4", *entry) + name.encode() + packed
        directory += _LISTED.pack(b"PK\1\2", _VERSION, *entry, 0, 0, 0, 0, start) + name.encode()
    n_parts, start = len(PARTS), len(content)
    end = _END.pack(b"PK\5\6", 0, 0, n_parts, n_parts, len(directory), start, 0)
    return bytes(content + directory + end)


def _packed(content: bytes) -> bytes:
    """Return a part deflated, but never to less than `read_part` allows.

    Leaves of many classes are mostly zeros. Where they would shrink too much, some blocks are left
    as they are.
    """
    if len(content) <= _ALWAYS_FINE:
        return _deflated(content, zlib.Z_FINISH)
    packed = bytearray()
    for start in range(0, len(content), _BLOCK):
        block = content[start : start + _BLOCK]
        shrunk = _deflated(block, zlib.Z_FULL_FLUSH)
        if (len(packed) + len(shrunk)) * _MOST_SHRINKING < start + len(block):
            shrunk = _deflated(block, zlib.Z_FULL_FLUSH, level=0)
        packed += shrunk
    return bytes(packed) + _deflated(b"", zlib.Z_FINISH)


def _deflated(content: bytes, flush: int, level: int = zlib.Z_DEFAULT_COMPRESSION) -> bytes:
    deflater = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
    return deflater.compress(content) + deflater.flush(flush)


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
    limit = MOST_TEXT if name == MODEL else MOST_FACTS
    if name == NUMBERS:
        limit = min(max_bytes, max(_ALWAYS_FINE, _MOST_SHRINKING * packed))
    if size > limit or packed > size + 1024:
        raise ValueError(
            f"its {name!r} of {packed / 1e6:,.1f} MB would become {size / 1e6:,.1f} MB; the limit "
            f"is {limit / 1e6:,.0f} MB{' (max_bytes)' if name == NUMBERS else ''}."
        )
    found = file.read(packed)
    # Else a short file could name a large size, which allows it to unpack to much.
    if len(found) != packed:
        raise ValueError(f"its {name!r} is damaged: it ends too early.")
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    content = inflater.decompress(found, size + 1)
    whole = inflater.eof and not inflater.unused_data and not inflater.unconsumed_tail
    if not whole or len(content) != size or zlib.crc32(content) != checksum:
        raise ValueError(f"its {name!r} is damaged.")
    # One that can be written to, as arrays are.
    return bytearray(content)
