"""What PostgreSQL does beside keeping records: shares of tables, a copy for a group of houses."""

from __future__ import annotations

from contextlib import ExitStack, closing

import pytest
from sqlalchemy import create_engine, text

from hil_tests.floor.database import Database, postgres_programs, served
from hil_tests.floor.house import SITE
from hil_tests.waiting import until
from shaker_ctl.floor.leases import Leases
from shaker_ctl.floor.store import Store
from shaker_ctl.floor.tests.test_store import fill, played

pytestmark = pytest.mark.skipif(
    postgres_programs() is None, reason="PostgreSQL is not installed: apt install postgresql"
)


def test_collectors_share_tables_and_take_what_others_leave() -> None:
    with served() as database:
        shared(database)


def shared(database: Database) -> None:
    names = {f"pit-{n}" for n in range(30)}
    three = [Leases(database.url(), SITE) for _ in range(3)]
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
    database.process.kill()
    three[0].divide(names)
    three[2].divide(names)
    assert (three[0].held, three[2].held) == before, "without the database, all listen on"
    database.start()
    for one in (three[2], three[0], three[2], three[0]):
        one.divide(names)
    assert len(three[0].held) == len(three[2].held) == 15
    assert not three[0].held & three[2].held
    for one in three:
        one.close()


def test_a_group_of_houses_has_a_copy_of_rounds_and_alarms() -> None:
    """As the floor's README says; the group's server is away for a while."""
    with ExitStack() as stack:
        house, group = (stack.enter_context(served()) for _ in range(2))
        Store(group.url()).close()  # makes the schema
        source = stack.enter_context(closing(Store(house.url())))
        with source.committing() as db:
            db.execute(text("CREATE PUBLICATION house FOR TABLE line, ended_round, alarm"))
        engine = create_engine(group.url(), isolation_level="AUTOCOMMIT")
        stack.callback(engine.dispose)
        at = f"host=127.0.0.1 port={house.port} dbname=floor user=floor"
        with engine.connect() as db:
            db.execute(text(f"CREATE SUBSCRIPTION house CONNECTION '{at}' PUBLICATION house"))

        def copied() -> int:
            with engine.connect() as db:
                return int(db.execute(text("SELECT count(*) FROM ended_round")).scalar_one())

        records = played(30)
        fill(source, records[:80], each=20)
        until(lambda: copied() == 20, limit_s=60.0, every_s=0.1)
        group.process.kill()
        engine.dispose()
        with source.committing() as db:
            db.execute(text("UPDATE ended_round SET ending = 'void' WHERE number = 1"))
        group.start()

        def ending() -> str:
            with engine.connect() as db:
                asked = "SELECT ending FROM ended_round WHERE number = 1"
                return str(db.execute(text(asked)).scalar_one())

        until(lambda: ending() == "void", limit_s=60.0, every_s=0.1)
        with closing(Store(group.url())) as copy:
            assert copy.rounds("pit-1", count=99) == source.rounds("pit-1", count=99)
