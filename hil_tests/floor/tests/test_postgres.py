"""What PostgreSQL does beside keeping records: another schema, and a copy for a group of houses."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine, text

from hil_tests.floor.house import SITE, House, postgres_programs
from hil_tests.waiting import until
from shaker_ctl.floor.leases import Leases
from shaker_ctl.floor.store import Store, metadata
from shaker_ctl.floor.tests.test_store import fill, played


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where PostgreSQL's user may go: every start of pytest closes its own folders to others."""
    with tempfile.TemporaryDirectory(prefix="shaker-floor-") as name:
        yield Path(name)


@pytest.fixture
def database(folder: Path) -> Iterator[House]:
    """A server alone."""
    with ExitStack() as stack:
        yield served(folder / "house", stack)


def served(folder: Path, stack: ExitStack) -> House:
    if postgres_programs() is None:
        pytest.skip("PostgreSQL is not installed: apt install postgresql")
    folder.mkdir()
    house = House(folder, postgres=True)
    stack.callback(house.database.stop)
    house.found_database()
    house.start_database()
    return house


def test_a_schema_of_postgresql_goes_up_and_down(database: House) -> None:
    records = played(200)
    with closing(database.store()) as store:
        id_ = fill(store, records, each=50)
        rounds = store.rounds(count=200)
    Store(database.store_url, wanted="records").close()
    with closing(Store(database.store_url, wanted="batches")) as store:
        assert list(store.records(id_)) == records
        assert store.rounds(count=200) == rounds
        assert store.broken(store.lines()[0]) == ""
        with store.committing() as db:
            assert compare_metadata(MigrationContext.configure(db), metadata) == []


def test_collectors_share_tables_and_take_what_others_leave(database: House) -> None:
    names = {f"pit-{n}" for n in range(30)}
    three = [Leases(database.store_url, SITE) for _ in range(3)]
    for _ in range(3):
        for one in three:
            one.divide(names)
    assert [len(one.held) for one in three] == [10, 10, 10]
    assert set.union(*(one.held for one in three)) == names
    three[1].close()
    for _ in range(2):
        three[0].divide(names)
        three[2].divide(names)
    assert [len(three[0].held), len(three[2].held)] == [15, 15]
    before = set(three[0].held), set(three[2].held)
    database.database.kill()
    three[0].divide(names)
    three[2].divide(names)
    assert (three[0].held, three[2].held) == before, "without the database, all listen on"
    database.start_database()
    for one in (three[2], three[0], three[2], three[0]):
        one.divide(names)
    assert len(three[0].held) == len(three[2].held) == 15
    assert not three[0].held & three[2].held
    for one in three:
        one.close()


def test_a_group_of_houses_has_a_copy_of_rounds_and_alarms(database: House, folder: Path) -> None:
    """As the floor's README says; the group's server is away for a while."""
    with ExitStack() as stack:
        group = served(folder / "group", stack)
        group.store().close()  # makes the schema
        source = stack.enter_context(closing(database.store()))
        with source.committing() as db:
            db.execute(text("CREATE PUBLICATION house FOR TABLE line, ended_round, alarm"))
        engine = create_engine(group.store_url, isolation_level="AUTOCOMMIT")
        stack.callback(engine.dispose)
        at = f"host=127.0.0.1 port={database.database_port} dbname=floor user=floor"
        with engine.connect() as db:
            db.execute(text(f"CREATE SUBSCRIPTION house CONNECTION '{at}' PUBLICATION house"))

        def copied() -> int:
            with engine.connect() as db:
                return int(db.execute(text("SELECT count(*) FROM ended_round")).scalar_one())

        records = played(30)
        fill(source, records[:80], each=20)
        until(lambda: copied() == 20, limit_s=60.0, every_s=0.1)
        group.database.kill()
        engine.dispose()
        with source.committing() as db:
            db.execute(text("UPDATE ended_round SET ending = 'void' WHERE number = 1"))
        group.start_database()

        def ending() -> str:
            with engine.connect() as db:
                asked = "SELECT ending FROM ended_round WHERE number = 1"
                return str(db.execute(text(asked)).scalar_one())

        until(lambda: ending() == "void", limit_s=60.0, every_s=0.1)
        with closing(group.store()) as copy:
            assert copy.rounds(count=99) == source.rounds(count=99)
