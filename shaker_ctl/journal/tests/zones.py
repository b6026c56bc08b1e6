"""The machine's time zone, for as long as a test needs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import tzset

import pytest


@contextmanager
def zone(name: str) -> Iterator[None]:
    """Have this process in a zone; afterwards in its own again, which `TZ` alone does not bring."""
    try:
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("TZ", name)
            tzset()
            yield
    finally:
        tzset()
