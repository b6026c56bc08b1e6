"""A floor whose parts are killed, whose disk is full, whose network is cut: `... floor chaos`.

What must hold: every record of every table is stored exactly once, and both ends have one chain.
"""

from __future__ import annotations

import contextlib
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from hil_tests.floor.crowd import Crowd, SimulatedTable, more_descriptors
from hil_tests.floor.house import House
from hil_tests.floor.journals import InventedTable
from hil_tests.processes import Program, mounted, program

DOWN_S = (0.0, 4.0)
"""How long a killed part stays away, at random."""
REAL_LINKS = 3
DISK_MB = 4096
"""Of the sparse file that the database's disk is made of: room for all records and the database's
log, once the disk is cleared."""
STEPS = (timedelta(days=-400), timedelta(seconds=-2), timedelta(hours=3), timedelta(days=4000))
"""Of tables' clocks."""
EVEN_S = 180.0


def fill(disk: Path) -> Path:
    """Leave not a block free; return the file that holds them."""
    file = disk / "fill"
    with file.open("wb") as filling:
        at = 0
        for size in (1 << 26, 1 << 20, 1 << 16, 1 << 12):
            with contextlib.suppress(OSError):
                while True:
                    os.posix_fallocate(filling.fileno(), at, size)
                    at += size
    return file


class Chaos:
    """One house, its tables, and what is done to them."""

    def __init__(self, house: House, crowd: Crowd, *, seed: int) -> None:
        self.house = house
        self.crowd = crowd
        self.recorded: list[InventedTable] = []
        self.links: list[Program] = []
        for number in range(REAL_LINKS):
            table = InventedTable(house.folder / f"real-{number}", f"real-{number}")
            config = house.link_settings(table.name, table.settings, again_s=1.0)
            command = program("shaker_ctl.main", "link", "--config", str(config))
            part = Program("link", command, house.folder / "link.log")
            part.start()
            self.recorded.append(table)
            self.links.append(part)
        self._chance = random.Random(seed)
        self._of_floor = [*house.brokers_of_it, *house.collecting, house.database.process]
        self._parts = [*self._of_floor, *self.links]
        self._back: list[tuple[float, Program]] = []

    def killed(self, kills: int, every_s: float) -> Iterator[str]:
        """Kill parts at random, and step a quarter of the clocks with each kill."""
        done: Counter[str] = Counter()
        for _ in range(kills):
            parts = [*self._of_floor, self._chance.choice(self.links)]
            victim = self._chance.choice([None, *(part for part in parts if part.is_running)])
            if victim is None:
                for table in self._a_quarter():
                    table.connection.abort()
                done["a quarter of the simulated links"] += 1
            else:
                victim.kill()
                done[victim.name] += 1
                self._back.append((time.monotonic() + self._chance.uniform(*DOWN_S), victim))
            for table in self._a_quarter():
                table.clock += self._chance.choice(STEPS)
            for recorded in self.recorded:
                recorded.play(1)
            self.go_on(every_s * self._chance.uniform(0.3, 1.7))
        total = sum(done.values())
        yield f"{total} kills: " + ", ".join(f"{name} {n}" for name, n in done.most_common())

    def disk_full(self) -> Iterator[str]:
        """Fill the database's disk while tables play, until it refuses; then clear it."""
        before = self._said().count("refuses")
        filled, refusals = fill(self.house.database.folder), 0
        began_s = time.monotonic()
        while time.monotonic() < began_s + 60.0 and refusals < 3:
            for recorded in self.recorded:
                recorded.play(1)
            self.go_on(1.0)
            refusals = self._said().count("refuses") - before
        filled.unlink()
        said = next((s for s in self._said().splitlines()[::-1] if "refuses" in s), "nothing")
        yield f"{'' if refusals else 'NOT refused: '}disk full: the collector says {said[:120]!r}"

    def cut(self, seconds: float) -> Iterator[str]:
        """No broker for so much of the tables' time."""
        for part in self.house.brokers_of_it:
            part.kill()
        self.crowd.run(0.5)
        before = self._made()
        for table in self.crowd.tables:
            table.play_for(seconds, 1.0)
        for recorded in self.recorded:
            recorded.play(round(seconds / 60.0))
        waiting = self._made() - before
        for part in self.house.brokers_of_it:
            part.start()
        began_s = time.monotonic()
        yield from self.even()
        yield (
            f"network cut for {seconds / 60:.0f} minutes of the tables' time: {waiting:,} records "
            f"waited, {time.monotonic() - began_s:.0f} s until the floor had them"
        )

    def even(self) -> Iterator[str]:
        """Wait until everything is received."""
        ends_s = time.monotonic() + EVEN_S
        while not (even := self.crowd.run_until_even(1.0)) and time.monotonic() < ends_s:
            self._start_again()
        if not even:
            yield f"NOT all received within {EVEN_S:g} s"

    def go_on(self, seconds: float) -> None:
        """Play on so long; what was killed comes back when it is due."""
        ends_s = time.monotonic() + seconds
        while time.monotonic() < ends_s:
            self.crowd.run(0.2)
            self._start_again()

    def compared(self) -> Iterator[str]:
        """Say whether both ends have the same."""
        heads = {table.name: table.head() for table in self.recorded}
        heads |= {table.name: table.head for table in self.crowd.tables}
        yield from self.house.compared(heads, EVEN_S, self.go_on)

    def end(self) -> None:
        """Stop the links."""
        for part in self.links:
            part.stop()

    def _a_quarter(self) -> list[SimulatedTable]:
        tables = self.crowd.tables
        return self._chance.sample(tables, max(1, len(tables) // 4))

    def _said(self) -> str:
        """What all collectors have said."""
        return "".join(part.log.read_text() for part in self.house.collecting if part.log.exists())

    def _made(self) -> int:
        heads = [t.head for t in self.crowd.tables] + [t.head() for t in self.recorded]
        return sum(head.sequence for head in heads)

    def _start_again(self) -> None:
        """Start what was killed and is due, and what ended by itself, as its unit does."""
        now_s = time.monotonic()
        for at_s, part in self._back:
            if at_s <= now_s:
                part.start()
        self._back = [(at_s, part) for at_s, part in self._back if at_s > now_s]
        for part in self._parts:
            # A collector that finds no database ends; a database without a disk does, too.
            if part.process is not None and not part.is_running:
                part.process = None
                self._back.append((now_s + 2.0, part))


def broken_at_random(
    *,
    tables: Annotated[int, typer.Option(min=1, help="Tables that hand on.")] = 100,
    kills: Annotated[int, typer.Option(min=1, help="Parts that are killed.")] = 50,
    pace: Annotated[float, typer.Option(help="Rounds a minute.")] = 6.0,
    every: Annotated[float, typer.Option(help="Seconds between two kills.")] = 3.0,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 1,
    hour: Annotated[float, typer.Option(help="Minutes of the network's cut.")] = 60.0,
) -> Iterator[str]:
    """Kill parts at random; every record must be there exactly once."""
    more_descriptors()
    with (
        tempfile.TemporaryDirectory(prefix="shaker-floor-") as name,
        mounted(Path(name) / "postgres", DISK_MB, "-m", "0", "-O", "^has_journal") as is_small,
        House(Path(name), collectors=3, brokers=2) as house,
    ):
        crowd = Crowd(house, tables, seed=seed)
        chaos = Chaos(house, crowd, seed=seed)
        try:
            crowd.begin(pace)
            chaos.go_on(5.0)
            yield from chaos.killed(kills, every)
            chaos.go_on(max(DOWN_S) + 1.0)
            if is_small:
                yield from chaos.disk_full()
            else:
                yield f"NOT shown: a full disk: user {os.getuid()} may not mount one"
            crowd.end()
            yield from chaos.even()
            yield from chaos.cut(60.0 * hour)
            yield from chaos.even()
            yield from chaos.compared()
        finally:
            chaos.end()
            crowd.close()
