"""A house for each test module that asks for one."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from hil_tests.floor.house import House, is_there, postgres_programs


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """With SQLite."""
    if not is_there("mosquitto"):
        pytest.skip("mosquitto is not installed: apt install mosquitto")
    with House(tmp_path_factory.mktemp("house")) as running:
        yield running


numbers = itertools.count(100)


@pytest.fixture
def name() -> str:
    """Of a table that the module's house does not know yet, in a test's second run neither."""
    return f"pit-{next(numbers)}"


@pytest.fixture
def own_house(tmp_path: Path) -> Iterator[House]:
    """Of this test alone: it breaks things."""
    if not is_there("mosquitto"):
        pytest.skip("mosquitto is not installed: apt install mosquitto")
    with House(tmp_path) as running:
        yield running


@pytest.fixture(scope="module")
def postgres_house() -> Iterator[House]:
    """With PostgreSQL and two collectors. Pytest's folders are closed to PostgreSQL's user."""
    if not is_there("mosquitto") or postgres_programs() is None:
        pytest.skip("mosquitto or PostgreSQL is not installed: apt install mosquitto postgresql")
    with (
        tempfile.TemporaryDirectory(prefix="shaker-floor-") as name,
        House(Path(name), postgres=True, collectors=2) as running,
    ):
        yield running
