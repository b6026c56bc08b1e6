"""A house for each test module that asks for one."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hil_tests.floor.database import postgres_programs
from hil_tests.floor.house import House, is_there


@contextmanager
def running(**more: int) -> Iterator[House]:
    """A house, where its programs are installed. Every start of pytest closes its own folders to
    PostgreSQL's user."""
    if not is_there("mosquitto") or postgres_programs() is None:
        pytest.skip("mosquitto or PostgreSQL is not installed: apt install mosquitto postgresql")
    with (
        tempfile.TemporaryDirectory(prefix="shaker-floor-") as name,
        House(Path(name), **more) as house,
    ):
        yield house


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    with running() as made:
        yield made


numbers = itertools.count(100)


@pytest.fixture
def name() -> str:
    """Of a table that the module's house does not know yet, in a test's second run neither."""
    return f"pit-{next(numbers)}"


@pytest.fixture
def own_house() -> Iterator[House]:
    """Of this test alone: it breaks things."""
    with running() as made:
        yield made


@pytest.fixture
def shared_house() -> Iterator[House]:
    """With two collectors."""
    with running(collectors=2) as made:
        yield made
