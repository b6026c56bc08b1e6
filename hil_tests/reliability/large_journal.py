"""A journal of years, written by the product's own writer, and what a start costs with it.

`python -m hil_tests.reliability.large_journal FOLDER --records 3000000` makes both copies in
volumes of gaming days and measures them. It takes the CPU time of opening, of verifying a record,
of the tables beside the chain, of statistics and a day sheet; and peak memory. The rounds are made
up, 13 records each, of 1,040 bytes on average as those of a played round. The table has run since
the first record without a stop; its newest record holds a state from which a start goes on.

What a start costs grows with the number of volumes and with the open one, and with nothing else:
`--records 84000 --rounds-a-day 8 --open-rounds 960` makes the 800 volumes of ten million records,
the open one whole, in a minute.
"""

from __future__ import annotations

import random
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.testing import CliRunner

from hil_tests.reliability.bytes_cut import forged
from hil_tests.rig.lamp_box.box import SERIAL_NUMBER
from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.adapters.disk.journal_copies import open_copies
from shaker_ctl.adapters.disk.record_tables import RecordTables, TablesReader, place
from shaker_ctl.commands.journal import app
from shaker_ctl.journal.box_memory import BoxMemory
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.record import Entry, Record
from shaker_ctl.journal.statistics import figures_of
from shaker_ctl.rules import machine
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.record import to_record
from shaker_ctl.rules.rulebook import rulebook
from shaker_ctl.seal.fault import UNSEALED
from shaker_ctl.service.lamp_box import KEY, as_recorded

ROUNDS_A_DAY = 960
"""One a minute, sixteen hours."""

RECORDS_A_ROUND = 13

BATCH = 96
"""Rounds that are written at once, at most."""

_DIGESTS = dict.fromkeys(("software", "model", "settings", "profile", "seal"), "ab" * 32)
_STATE = to_record(machine.initial(rulebook(TableParameters())))
_RUN = {
    "seal": UNSEALED,
    "boot": "one boot",
    KEY: as_recorded(BoxMemory(SERIAL_NUMBER, 0, 0, frozenset(), None)),
}
"""What opening and volumes say of the run."""

_BEGAN = datetime(2026, 1, 1, 6, tzinfo=UTC)


def a_round(number: int, chance: random.Random) -> Iterator[Entry]:
    """The 13 records of one round that settles."""
    occasion = {"number": number, "purpose": "play", "type": "Occasion"}
    values = [chance.randint(1, 6) for _ in range(3)]
    padding = "x" * 290

    def step(event: dict[str, Any], *decision: dict[str, Any], **more: dict[str, Any]) -> Entry:
        body = {
            "event": event,
            "at_s": 60.0 * number,
            "rows": [f"a row of {event['type']}"],
            "decision": list(decision),
            "padding": padding,
            **more,
        }
        return Entry("step", body, round=number)

    yield step({"type": "BetsRequested", "occasion": occasion})
    yield step({"type": "TimeChecked", "occasion": occasion})
    yield step({"type": "NoMoreBets", "occasion": occasion})
    yield step({"type": "TossPlanDrawn", "occasion": occasion})
    yield step({"type": "LampsDark", "occasion": occasion})
    yield step({"type": "TossStarted", "occasion": occasion})
    proof = {"turns": 24.0 + chance.random(), "in_band_s": 4.0 + chance.random(), "type": "Proof"}
    yield step({"type": "TossSettled", "occasion": occasion, "proof": proof})
    verdict = {"type": "Verified", "values": values}
    yield step({"type": "ReadingMade", "occasion": occasion, "verdict": verdict})
    push = {"type": "PushLamps", "occasion": occasion, "values": values, "areas": []}
    yield step({"type": "ValuesConfirmed", "round": number, "values": values}, push)
    yield step({"type": "LampsShown", "occasion": occasion, "values": values})
    yield step({"type": "WagersSettled", "round": number})
    yield step({"type": "LampsOffRequested", "round": number})
    closing = {
        "type": "RecordRound",
        "round": number,
        "ending": "settled",
        "wagers": "settled",
        "cause": None,
        "values": values,
        "source": "verified",
    }
    yield step({"type": "LampsDark", "occasion": occasion}, closing, state=_STATE)


def batches(
    store: DiskJournal,
    count: int,
    seed: int,
    rounds_a_day: int = ROUNDS_A_DAY,
    after_round: int = 0,
) -> Iterator[list[Record]]:
    """Forge records behind what `store` holds, a hundred rounds or the end of a day at a time.

    The caller writes each batch before it asks for the next.
    """
    chance = random.Random(seed)
    number, until = after_round, store.head().sequence + count
    while store.head().sequence < until:
        number += 1
        head = store.head()
        days, of_day = divmod(number - 1, rounds_a_day)
        at = _BEGAN + timedelta(days=days)
        is_other_day = days > 0 and of_day == 0
        entries = [store.next_volume(at.date().isoformat(), _RUN)] if is_other_day else []
        if head.sequence == 0:
            entries = [Entry("opening", dict(_RUN))]
        last = number + min(BATCH, rounds_a_day - of_day) - 1
        for each in range(number, last + 1):
            entries += a_round(each, chance)
        number = last

        def wall(n: int, at: datetime = at) -> str:
            return (at + timedelta(seconds=n % 57600)).isoformat(timespec="milliseconds")

        yield forged(head, entries, wall, _DIGESTS)


def make(
    parameters: JournalParameters,
    count: int,
    seed: int,
    rounds_a_day: int = ROUNDS_A_DAY,
    open_rounds: int = 0,
) -> None:
    """Write so many records, and up to a hundred rounds more, into both copies; then so many more
    rounds into the volume that is open."""
    opened = open_copies(parameters)

    def written() -> Iterator[list[Record]]:
        yield from batches(opened.main, count, seed, rounds_a_day)
        (last,) = opened.main.last_rounds(1)
        yield from batches(opened.main, RECORDS_A_ROUND * open_rounds, seed, sys.maxsize, last)

    with closing(opened):
        for batch in written():
            opened.main.write(batch)
            if opened.second is not None:
                opened.second.write(batch)


def measured(parameters: JournalParameters) -> Iterator[str]:
    """Measure what the service, and the proving beside it, have to do with a journal."""
    began_s = time.process_time()
    opened = open_copies(parameters)
    opening_s = time.process_time() - began_s
    try:
        head, volumes = opened.main.head(), len(opened.main.closed) + 1
        held = opened.main.in_open_volume()
        yield f"{head.sequence} records in {volumes} volumes, {held} of them in the open one"
        yield f"a start opens both copies in {opening_s:.3f} s of CPU"
        began_s = time.process_time()
        _, damage = opened.main.verify()
        verifying_s = time.process_time() - began_s
        assert damage is None, damage
        yield f"verified: {head.sequence / verifying_s:,.0f} records a second and core"
        began_s = time.process_time()
        rounds = opened.main.last_rounds(10)
        for number in rounds:
            opened.main.read_round(number)
        yield f"the last ten rounds take {1000 * (time.process_time() - began_s):.1f} ms of CPU"
        began_s = time.process_time()
        opened.main.read_round(rounds[0] // 2)
        yield f"a round of the middle takes {1000 * (time.process_time() - began_s):.1f} ms of CPU"
        yield from of_tables(parameters, head.sequence)
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        yield f"peak memory {peak_mb:.0f} MB"
    finally:
        opened.close()


def of_tables(parameters: JournalParameters, records: int) -> Iterator[str]:
    """Measure the projection beside the chain, and what is told from it and from one volume."""
    began_s = time.process_time()
    tables = RecordTables(parameters.path)
    while tables.keep_up():
        pass
    tables.close()
    took_s = time.process_time() - began_s
    size_mb = place(parameters.path).stat().st_size / 1e6
    yield f"the tables are made anew from {records / took_s:,.0f} records a second"
    yield f"and are {size_mb:.1f} MB"
    began_s = time.process_time()
    counted = TablesReader(place(parameters.path)).counted()
    assert counted is not None
    shown = figures_of(counted[0])
    yield (
        f"statistics of {shown['tosses']} tosses take {1000 * (time.process_time() - began_s):.1f} "
        "ms of CPU"
    )
    for words in (["last"], ["day"]):
        began_s = time.process_time()
        done = CliRunner().invoke(app, [*words, "--journal", str(parameters.path)])
        assert done.exit_code == 0, done.output
        took_s = time.process_time() - began_s
        yield f"shaker-ctl journal {words[0]} takes {took_s:.2f} s of CPU"


def main(
    folder: Annotated[Path, typer.Argument(help="Empty, or made by this before.")],
    records: Annotated[int, typer.Option(min=1, help="At least so many.")] = 3_000_000,
    seed: Annotated[int, typer.Option(help="Of the values.")] = 1,
    rounds_a_day: Annotated[
        int, typer.Option(min=1, help="Few: as many volumes as years have, soon written.")
    ] = ROUNDS_A_DAY,
    open_rounds: Annotated[int, typer.Option(min=0, help="So many more in the open volume.")] = 0,
    measure_only: Annotated[bool, typer.Option("--measure-only", help="Make nothing.")] = False,
) -> None:
    """Make both copies of a journal of years, and measure what a start has to do with them."""
    second = folder / "second" / "journal.jsonl"
    parameters = JournalParameters(path=folder / "journal.jsonl", second=second)
    if not measure_only:
        second.parent.mkdir(parents=True, exist_ok=True)
        make(parameters, records, seed, rounds_a_day, open_rounds)
    for line in measured(parameters):
        typer.echo(line)


if __name__ == "__main__":
    typer.run(main)
