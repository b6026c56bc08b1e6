"""What a thousand tables cost a floor: `python -m hil_tests.floor load`.

Prints CPU and memory of broker, collector and database, and how old a record is when its table has
the floor's receipt. The tables run in this process, on the same machine. Their cost is counted
separately: a house does not have it.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from hil_tests.floor.crowd import Crowd, more_descriptors
from hil_tests.floor.house import House, count_records
from hil_tests.processes import Program

PACES = (1.0, 6.0, 20.0)
"""Of a floor's load, rounds a minute."""


def measured(
    *,
    tables: Annotated[int, typer.Option(min=1, help="Tables that hand on.")] = 1000,
    paces: Annotated[
        list[float] | None, typer.Option(help="Rounds a minute; several, one after the other.")
    ] = None,
    seconds: Annotated[float, typer.Option(help="For each pace.")] = 600.0,
) -> Iterator[str]:
    """What a thousand tables cost a floor."""
    more_descriptors()
    with tempfile.TemporaryDirectory(prefix="shaker-floor-") as name, House(Path(name)) as house:
        parts = [house.broker, house.collector, house.database.process]
        began_s = time.monotonic()
        crowd = Crowd(house, tables)
        yield f"{tables} certificates in {time.monotonic() - began_s:.1f} s"
        empty = _size(house)
        before_s = {part.name: part.cpu_s() for part in parts}
        began_s = time.monotonic()
        while not all(table.acknowledged is not None for table in crowd.tables):
            crowd.run(0.2)
        spent = house.broker.cpu_s() - before_s["broker"]
        yield (
            f"{tables} connected and welcomed in {time.monotonic() - began_s:.1f} s; "
            f"broker {1000 * spent / tables:.1f} ms of CPU each"
        )
        for pace in paces or PACES:
            yield from _one(crowd, parts, pace, seconds)
        yield from _verdict(crowd, house, empty)
        crowd.close()


def _one(crowd: Crowd, parts: list[Program], pace: float, seconds: float) -> Iterator[str]:
    crowd.begin(pace)
    crowd.run(3.0)  # until it is in its stride
    for table in crowd.tables:
        table.ages_s.clear()
    before_s = {part.name: part.cpu_s() for part in parts}
    own_s = time.process_time()
    began_s, first = time.monotonic(), sum(t.head.sequence for t in crowd.tables)
    crowd.run(seconds)
    took_s = time.monotonic() - began_s
    made = sum(t.head.sequence for t in crowd.tables) - first
    shares = [
        f"{part.name} {100 * (part.cpu_s() - before_s[part.name]) / took_s:.1f} % of a core, "
        f"{part.memory_mb():.0f} MB"
        for part in parts
    ]
    own = 100 * (time.process_time() - own_s) / took_s
    crowd.end()
    even = crowd.run_until_even(60.0)
    ages = sorted(age for table in crowd.tables for age in table.ages_s)
    p50, p99 = (1000 * ages[int(len(ages) * q)] for q in (0.5, 0.99))
    told = "all received" if even else "NOT ALL received"
    yield (
        f"{pace:g} rounds a minute, {took_s:.0f} s, {made / took_s:,.0f} records a second: "
        f"{'; '.join(shares)}; record to receipt p50 {p50:.0f} ms, p99 {p99:.0f} ms; "
        f"{told}; the tables themselves {own:.0f} %; load {os.getloadavg()[0]:.1f}"
    )


def _size(house: House) -> int:
    """Bytes of the database, without its log."""
    with closing(house.store()) as store, store.committing() as db:
        asked = "SELECT pg_database_size(current_database())"
        return int(db.exec_driver_sql(asked).scalar() or 0)


def _verdict(crowd: Crowd, house: House, empty: int) -> Iterator[str]:
    yield from house.compared({table.name: table.head for table in crowd.tables})
    with closing(house.store()) as store:
        each = (_size(house) - empty) / count_records(store)
        yield f"{each:,.0f} bytes a record, with indexes"
