"""A disk that is full, for tests: the kernel refuses to write more to any file."""

from contextlib import contextmanager

import pytest


@contextmanager
def full_disk(n_bytes):
    """Let no file of this process grow beyond a number of bytes."""
    resource = pytest.importorskip("resource", reason="needs limits of the operating system")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
