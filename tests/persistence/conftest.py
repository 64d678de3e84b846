"""A model file whose parts are changed, as damage or a stranger would."""

import json
import zipfile

import pytest


@pytest.fixture
def rewrite():
    def change(path, *, metadata=None, schema=None, parts=None):
        """Write a file again: functions change its two texts, ``parts`` replaces or adds bytes."""
        with zipfile.ZipFile(path) as file:
            content = {name: file.read(name) for name in file.namelist()}
        for name, edit in (("metasampler.json", metadata), ("schema.json", schema)):
            if edit is not None:
                document = json.loads(content[name])
                edit(document)
                content[name] = json.dumps(document).encode()
        content |= parts or {}
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for name, value in content.items():
                file.writestr(name, value)

    return change
