"""Which lamp box the journal names, and what the journal's records say about a box's memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.journal.box_memory import BoxMemory, KnownBox
from shaker_ctl.journal.record import Entry, Record, link, table_mark
from shaker_ctl.rules import commands
from shaker_ctl.rules.record import to_record
from shaker_ctl.rules.vocabulary import Occasion, Person, Purpose, Role, play
from shaker_ctl.service.lamp_box import KEY, adopted, as_recorded, journal_memory, on_record

OURS = BoxMemory(5, 0, 7, frozenset(), None)
TESS = Person("tess", Role.TECHNICIAN, "T-7")
SPARE = BoxMemory(9, 2, 250000, frozenset(), None)


@pytest.fixture
def journal(tmp_path: Path) -> DiskJournal:
    return DiskJournal(tmp_path / "journal.jsonl")


def write(journal: DiskJournal, entry: Entry) -> None:
    record = link(journal.head(), entry, monotonic_s=0.0, wall="2026-01-01T00:00:00Z", digests={})
    journal.write([record])


def step(*done: commands.Command) -> Entry:
    facts: dict[str, Any] = {"rows": [], "decision": [to_record(command) for command in done]}
    return Entry("step", facts)


def push(number: int, *areas: str, corrects: bool = False) -> commands.PushLamps:
    return commands.PushLamps(play(number), (1, 1, 2), areas, corrects)


def opening(box: BoxMemory) -> Entry:
    return Entry("opening", {KEY: as_recorded(box)})


def test_the_newest_record_that_names_a_box_counts(journal: DiskJournal) -> None:
    assert on_record(journal.newest_first()) is None
    write(journal, Entry("opening", {"note": "from before boxes were named"}))
    assert on_record(journal.newest_first()) is None
    write(journal, opening(OURS))
    write(journal, step(push(8, "small")))
    assert on_record(journal.newest_first()) == KnownBox(5, 0, 7)
    write(journal, adopted(SPARE, TESS, "the old one burnt out"))
    assert on_record(journal.newest_first()) == KnownBox(9, 2, 250000)


def test_a_volume_names_the_box_so_that_no_start_looks_back_behind_it(
    journal: DiskJournal,
) -> None:
    write(journal, opening(SPARE))
    write(journal, journal.next_volume("2026-11-23", {KEY: as_recorded(OURS)}))
    write(journal, step(push(8, "small")))

    def no_further_than_the_volume() -> Iterator[Record]:
        for record in journal.newest_first():
            yield record
            assert record.plain["kind"] != "volume", "it looks behind the open volume"

    assert on_record(no_further_than_the_volume()) == KnownBox(5, 0, 7)


def test_what_the_journal_says_is_read_from_its_records(journal: DiskJournal) -> None:
    entry = Occasion(Purpose.INSPECTION, 1)
    for done in (
        [push(7, "big")],
        [push(8, "small", "odd")],
        [push(8, "small", "even", corrects=True)],
        [commands.PushLamps(entry, (6, 6, 6), ("any-triple",))],
        [commands.ClearLamps(entry)],
    ):
        write(journal, step(*done))
    memory = journal_memory(journal)
    assert memory.table == table_mark(journal.identity)
    assert memory.head == journal.head()
    assert memory.hash_at(5) == journal.head().hash
    assert memory.hash_at(6) is None
    assert memory.last_pushed == 8
    assert memory.lit == {frozenset({"small", "odd"}), frozenset({"small", "even"})}


def test_an_empty_journal_has_pushed_nothing(journal: DiskJournal) -> None:
    memory = journal_memory(journal)
    assert (memory.last_pushed, memory.lit, memory.box) == (0, frozenset(), None)
