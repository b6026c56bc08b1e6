"""Broker, collector, database and links killed at random: `python -m hil_tests.floor chaos`.

What must hold: every record of every table is stored exactly once, and both ends have one chain.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from hil_tests.floor.crowd import Crowd, more_descriptors
from hil_tests.floor.house import SITE, House, Part
from hil_tests.floor.journals import RecordedTable
from shaker_ctl.floor import proof
from shaker_ctl.floor.store import count_records

DOWN_S = (0.0, 4.0)
"""How long a killed part stays away, at random."""
REAL_LINKS = 3


def broken_at_random(
    *, tables: int, kills: int, pace: float, every_s: float, postgres: bool, seed: int
) -> Iterator[str]:
    """Play, kill, start again; then wait until all is received, and compare."""
    more_descriptors()
    chance = random.Random(seed)
    folder = Path(tempfile.mkdtemp(prefix="shaker-floor-"))
    links: list[Part] = []
    try:
        with House(folder, postgres=postgres) as house:
            recorded = [RecordedTable(folder / f"real-{n}", f"real-{n}") for n in range(REAL_LINKS)]
            for table in recorded:
                config = house.link_settings(table.name, table.settings, again_s=1.0)
                command = [sys.executable, "-P", "-c", "from shaker_ctl.main import app; app()"]
                part = Part(
                    "link", [*command, "link", "--config", str(config)], folder / "link.log"
                )
                part.start()
                links.append(part)
            crowd = Crowd(house, tables, seed=seed)
            crowd.begin(pace)
            crowd.run(5.0)
            done: Counter[str] = Counter()
            back: list[tuple[float, Part]] = []
            parts = [house.broker, house.collector, *links] + ([house.database] if postgres else [])
            candidates: list[Part | None]
            for _ in range(kills):
                candidates = [house.broker, house.collector, chance.choice(links), None]
                candidates += [house.database] if postgres else []
                victim = chance.choice(candidates)
                if victim is None:
                    for simulated in chance.sample(crowd.tables, len(crowd.tables) // 4):
                        simulated.drop()
                    done["a quarter of the tables' links"] += 1
                elif victim.process is not None:
                    victim.kill()
                    done[victim.name] += 1
                    back.append((time.monotonic() + chance.uniform(*DOWN_S), victim))
                else:
                    done["killed while it was away"] += 1
                for table in recorded:
                    table.play(1)
                ends_s = time.monotonic() + every_s * chance.uniform(0.3, 1.7)
                while time.monotonic() < ends_s:
                    crowd.run(0.2)
                    back = _started_again(back, parts)
            crowd.end()
            yield "killed: " + ", ".join(f"{name} {count}" for name, count in done.most_common())
            ends_s = time.monotonic() + 180.0
            while not (even := crowd.run_until_even(1.0)) and time.monotonic() < ends_s:
                back = _started_again(back, parts)
            yield "all received" if even else "NOT all received within 180 s"
            yield from _compared(crowd, recorded, house)
            crowd.close()
    finally:
        for part in links:
            part.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _started_again(back: list[tuple[float, Part]], parts: list[Part]) -> list[tuple[float, Part]]:
    """Start what was killed and is due, and what ended by itself, as its unit does."""
    now_s = time.monotonic()
    for at_s, part in back:
        if at_s <= now_s:
            part.start()
    rest = [(at_s, part) for at_s, part in back if at_s > now_s]
    for part in parts:
        # A collector that finds no database ends.
        if part.process is not None and part.process.poll() is not None:
            part.process = None
            rest.append((now_s + 2.0, part))
    return rest


def _compared(crowd: Crowd, recorded: list[RecordedTable], house: House) -> Iterator[str]:
    with closing(house.store()) as store:
        ends_s = time.monotonic() + 90.0
        heads = {table.name: table.head() for table in recorded}
        while time.monotonic() < ends_s:
            lines = {line["table_name"]: line for line in store.lines(SITE)}
            if all(n in lines and lines[n]["sequence"] == h.sequence for n, h in heads.items()):
                break
            crowd.run(0.5)
        heads |= {table.name: table.head for table in crowd.tables}
        differ = [n for n, head in heads.items() if bytes(lines[n]["hash"]) != head.hash]
        broken = [n for n, line in lines.items() if proof.broken(store, line)]
        made, stored = sum(head.sequence for head in heads.values()), count_records(store)
        alarms = store.alarms(SITE)
        good = not differ and not broken and made == stored and not alarms
        yield (
            f"{'' if good else 'NOT good: '}{stored:,} records stored, {made:,} recorded; of "
            f"{len(heads)} tables {len(differ)} differ, {len(broken)} stored chains are broken, "
            f"{len(alarms)} alarms"
        )
