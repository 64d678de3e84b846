"""A model file taken apart, changed, and put together again, as a stranger would."""

import json
import zipfile
from pathlib import Path

import numpy as np

PARTS = ("facts.json", "model.json", "numbers.bin")


class ModelFile:
    """The parts of a file; arrays stand where they belong, as ``{"array": ndarray}``."""

    def __init__(self, path):
        with zipfile.ZipFile(path) as file:
            facts, document, numbers = (file.read(name) for name in PARTS)
        self.facts, self.document = json.loads(facts), json.loads(document)
        place = 0
        for node, name in self.arrays():
            dtype, shape = node[name]
            place += -place % 8
            order = "F" if name == "columns" else "C"
            count = int(np.prod(shape))
            array = np.frombuffer(numbers, np.dtype(dtype), count, place).copy()
            place += array.nbytes
            node[name] = array.reshape(shape, order=order)

    def arrays(self):
        """Return the nodes that hold arrays, in the order of the file, and their forms."""
        found = []
        for node in self.nodes():
            name = next(iter(node), None) if len(node) == 1 else None
            if name in ("array", "columns"):
                found.append((node, name))
        return found

    def nodes(self, kind=None):
        """Return the dicts of the document in their order, or the states of objects of a kind."""
        found, waiting = [], [self.document]
        while waiting:
            node = waiting.pop()
            if isinstance(node, dict):
                if kind is None:
                    found.append(node)
                elif node.get("type") == kind:
                    found.append(node["state"])
                waiting.extend(reversed(node.values()))
            elif isinstance(node, list):
                waiting.extend(reversed(node))
        return found

    def parts(self):
        """Return the bytes of the parts."""
        numbers, packed = bytearray(), []
        for node, name in self.arrays():
            array = node[name]
            if isinstance(array, np.ndarray):
                numbers += bytes(-len(numbers) % 8)
                numbers += array.tobytes("F" if name == "columns" else "C")
                packed.append((node, name, array))
                node[name] = [array.dtype.str, list(array.shape)]
        texts = [json.dumps(each).encode() for each in (self.facts, self.document)]
        for node, name, array in packed:
            node[name] = array
        return dict(zip(PARTS, (*texts, bytes(numbers)), strict=True))

    def write(self, path, **changed):
        """Write the file, with other bytes for some parts."""
        return write_zip(path, self.parts() | changed)


def write_zip(path, parts, compression=zipfile.ZIP_DEFLATED):
    """Write parts as a zip file."""
    with zipfile.ZipFile(path, "w", compression, compresslevel=1) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return Path(path)
