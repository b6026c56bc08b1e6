"""A server of PostgreSQL for all tests of the floor's database, which each of them finds empty."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from sqlalchemy import NullPool, create_engine

from hil_tests.floor.database import Database, postgres_programs, served
from shaker_ctl.floor.store import Store


@pytest.fixture(scope="session")
def server() -> Iterator[Database]:
    if postgres_programs() is None:
        pytest.skip("PostgreSQL is not installed: apt install postgresql")
    with served() as database:
        yield database


@pytest.fixture
def url(server: Database) -> str:
    """Of an empty database."""
    engine = create_engine(server.url(), poolclass=NullPool)
    with engine.begin() as db:
        db.exec_driver_sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    return server.url()


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with closing(Store(url)) as made:
        yield made
