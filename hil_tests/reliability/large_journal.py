"""A journal of years, written by the product's own writer, and what a start costs with it.

`python -m hil_tests.reliability.large_journal FOLDER --records 3000000` makes both copies in
volumes of gaming days. It prints the CPU time of opening, the records that are verified in a
second, how fast the tables beside the chain are made anew, and the peak memory. The rounds are made
up, 13 records each, of 1,040 bytes on average as those of a played round. The table has run since
the first record without a stop; its newest record holds a state from which a start goes on.
"""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from hil_tests.reliability.bytes_cut import forged
from hil_tests.rig.lamp_box.box import SERIAL_NUMBER
from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.adapters.disk.journal_copies import open_copies
from shaker_ctl.adapters.disk.record_tables import RecordTables
from shaker_ctl.journal.box_memory import BoxMemory
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.record import Entry, Record
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
) -> Iterator[list[Record]]:
    """Forge records behind what `store` holds, a hundred rounds or the end of a day at a time.

    The caller writes each batch before it asks for the next.
    """
    chance = random.Random(seed)
    number, until = 0, store.head().sequence + count
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
    parameters: JournalParameters, count: int, seed: int, rounds_a_day: int = ROUNDS_A_DAY
) -> None:
    """Write so many records, and up to a hundred rounds more, into both copies."""
    opened = open_copies(parameters)
    with closing(opened):
        for batch in batches(opened.main, count, seed, rounds_a_day):
            opened.main.write(batch)
            if opened.second is not None:
                opened.second.write(batch)


def measured(parameters: JournalParameters) -> Iterator[str]:
    """Measure what the service, and the proving beside it, have to do with a journal."""
    began_s = time.process_time()
    opened = open_copies(parameters)
    opening_s = time.process_time() - began_s
    with closing(opened):
        records, volumes = opened.main.head().sequence, len(opened.main.closed) + 1
        yield f"{records} records in {volumes} volumes"
        yield f"a start opens both copies in {opening_s:.3f} s of CPU"
        began_s = time.process_time()
        _, damage = opened.main.verify()
        assert damage is None, damage
        verified = records / (time.process_time() - began_s)
        yield f"verified: {verified:,.0f} records a second and core"
    began_s = time.process_time()
    with closing(RecordTables(parameters.path)) as tables:
        while tables.keep_up():
            pass
    told = records / (time.process_time() - began_s)
    yield f"the tables are made anew from {told:,.0f} records a second"
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield f"peak memory {peak_mb:.0f} MB"


def main(
    folder: Annotated[Path, typer.Argument(help="Empty.")],
    records: Annotated[int, typer.Option(min=1, help="At least so many.")] = 3_000_000,
) -> None:
    """Make both copies of a journal of years, and measure what a start has to do with them."""
    second = folder / "second" / "journal.jsonl"
    parameters = JournalParameters(path=folder / "journal.jsonl", second=second)
    second.parent.mkdir(parents=True, exist_ok=True)
    make(parameters, records, seed=1)
    for line in measured(parameters):
        typer.echo(line)


if __name__ == "__main__":
    typer.run(main)
