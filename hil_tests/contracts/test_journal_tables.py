"""Who follows a journal reads each record once and proved; the tables made from it can be lost."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import is_dataclass
from pathlib import Path

import pytest

from hil_tests.reliability.bytes_cut import fast_folder, forged, records_after, volume_after
from hil_tests.reliability.large_journal import a_round, batches
from hil_tests.waiting import until
from shaker_ctl.adapters.disk import record_tables
from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.adapters.disk.follower import Follower
from shaker_ctl.adapters.disk.record_tables import RecordTables, TablesReader
from shaker_ctl.adapters.disk.records_watch import RecordsWatch
from shaker_ctl.adapters.tests.written import changed, flipped
from shaker_ctl.errors import JournalCorruptError, JournalError
from shaker_ctl.journal import meters
from shaker_ctl.journal.dice_watch import DiceSoFar, DiceWatch
from shaker_ctl.journal.history import DICE_WORDS
from shaker_ctl.journal.meters import CLEARED
from shaker_ctl.journal.record import Entry, Head, Record
from shaker_ctl.journal.statistics import figures, figures_of
from shaker_ctl.journal.tally import Tally
from shaker_ctl.journal.worn import PartUsage
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.vocabulary import Ending, FaultKind

CHANGED = Entry(
    "step", {"event": {"type": "DiceChanged", "serials": ["A", "B", "C"]}, "decision": []}
)


@pytest.fixture
def store(tmp_path: Path) -> DiskJournal:
    return DiskJournal(tmp_path / "journal.jsonl")


def of_each_kind() -> Iterator[Entry]:
    """A record of each event, refused and accepted, and of each ending, with a clearing between."""
    person = {"name": "fay", "role": "dealer"}
    by_two = {"named_by": person, "agreed_by": person}
    events = sorted(name for name, one in vars(ev).items() if is_dataclass(one))
    for round_, cleared in ((1, True), (2, False)):
        occasion = {"number": round_, "purpose": "play"}
        more: dict[str, dict[str, object]] = {
            "TossSettled": {"proof": {"turns": 24.0, "in_band_s": 4.0}},
            **{name: {"serials": ["A", "B", "C"], "what": "received"} for name in DICE_WORDS},
            "FaultCleared": {"kind": "shaker"},
            "ReadingMade": {"verdict": {"type": "Verified", "values": [1, 2, 3 * round_]}},
        }
        for name in events:
            event = {"type": name, "occasion": occasion, **more.get(name, {})}
            yield Entry("refused", {"event": event})
            yield Entry("step", {"event": event, "decision": []})
        for ending in Ending:
            settled = ending is Ending.SETTLED
            values = [4, 5, round_] if settled else None
            ended = {
                "type": "RecordRound",
                "round": round_,
                "ending": ending.value,
                "values": values,
                "by_eye": settled,
                "source": "decided" if settled else None,
                "correction": {"first": None, **by_two} if settled else None,
            }
            yield Entry("step", {"event": {"type": "TimerExpired"}, "decision": [ended]})
        told = [
            {"type": "Announce", "notice": "dispute"},
            *({"type": "RaiseFault", "kind": kind.value, "code": "x"} for kind in FaultKind),
            {"type": "RaiseFault", "kind": "controller", "code": "seal"},
        ]
        yield Entry("step", {"event": {"type": "ValuesEntered"}, "decision": told})
        if cleared:
            yield Entry("console", {"note": CLEARED, "by": ["fay", "tom"], "actor": {}})


def test_each_record_that_moves_a_counter_or_an_outcome_reaches_the_tables(
    store: DiskJournal,
) -> None:
    """Most records are passed over undecoded, by the words in them."""
    plain = [record.plain for record in written(store, *of_each_kind())]
    after = plain[next(n for n, one in enumerate(plain) if meters.clears(one)) :]
    moved = Counter(name for one in after for name in meters.moved(one))
    assert set(moved) == set(meters.NAMES)
    reader = made(store)
    found, counted = reader.meters(), reader.counted()
    assert found is not None
    assert counted is not None
    assert found.counts == moved
    assert (found.since[:10], found.cleared_by) == ("2026-11-23", "fay and tom")
    expected = Tally()
    for record in store.read():
        expected.take(record)
    assert counted[0] == expected
    store.close()


def written(store: DiskJournal, *entries: Entry) -> list[Record]:
    records = forged(store.head(), entries, lambda _: "2026-11-23T12:00:00.000+00:00")
    store.write(records)
    return records


def rounds(store: DiskJournal, first: int, count: int) -> list[Record]:
    chance = random.Random(first)
    entries = [e for n in range(first, first + count) for e in a_round(n, chance)]
    return written(store, *entries)


def made(store: DiskJournal) -> TablesReader:
    """Tables of all that is there."""
    tables = RecordTables(store.path)
    while tables.keep_up():
        pass
    tables.close()
    return TablesReader(tables.path)


# ── Following ───────────────────────────────────────────────────────────────


def test_a_follower_reads_on_while_the_writer_writes_and_changes_volumes(
    store: DiskJournal,
) -> None:
    everything = written(store, *(Entry("note", {"n": n}) for n in range(10)))
    follower = Follower(store.path)
    found = follower.take()
    assert follower.take() == []
    for _ in range(3):
        record = volume_after(store)
        store.write([record])
        more = records_after(store.head(), 5)
        store.write(more)
        everything += [record, *more]
        found += follower.take(4)
        found += follower.take()
    assert found == everything
    cursor = follower.cursor
    follower.close()
    store.close()
    again = Follower(store.path, cursor, identity=store.identity)
    assert again.take() == []
    again.close()


def test_a_stopped_table_is_followed_from_a_folder_in_which_nothing_may_be_made() -> None:
    """As another user who may only read: no log and no shared memory is wanted."""
    program = (
        "import os, sys; from pathlib import Path\n"
        "from shaker_ctl.adapters.disk.follower import Follower\n"
        "if os.getuid() == 0: os.seteuid(65534)\n"
        "print(len(Follower(Path(sys.argv[1])).take()))\n"
    )
    with fast_folder() as folder:
        folder.chmod(0o755)
        store = DiskJournal(folder / "journal.jsonl")
        store.write(records_after(store.head(), 20))
        store.write([volume_after(store)])
        store.close()
        folder.chmod(0o555)
        done = subprocess.run(
            [sys.executable, "-c", program, str(store.path)],
            capture_output=True,
            text=True,
            cwd=Path(__file__).parents[2],
            check=False,
        )
        folder.chmod(0o755)
    assert done.stdout == "21\n", done.stderr


def test_a_follower_never_hands_on_what_does_not_fit_the_chain(store: DiskJournal) -> None:
    records = records_after(store.head(), 20)
    store.write(records)
    changed(store.path, 10, flipped)
    follower = Follower(store.path)
    with pytest.raises(JournalCorruptError, match="record 10"):
        follower.take()
    assert follower.cursor == store.start
    follower.close()
    store.close()


def test_another_journal_and_a_rewritten_one_are_not_followed_on(
    store: DiskJournal, tmp_path: Path
) -> None:
    store.write(records_after(store.head(), 20))
    with pytest.raises(JournalCorruptError, match="another journal"):
        Follower(store.path, identity="another")
    with pytest.raises(JournalCorruptError, match="does not hold the record 7"):
        Follower(store.path, Head(7, b"\0" * 32))
    with pytest.raises(JournalError, match="no journal"):
        Follower(tmp_path / "none.jsonl")
    store.close()


# ── The tables ──────────────────────────────────────────────────────────────


def test_the_tables_say_what_a_walk_over_all_records_says(store: DiskJournal) -> None:
    for batch in batches(store, 20_000, seed=3):
        store.write(batch)
    reader = made(store)
    counted = reader.counted()
    assert counted is not None
    assert counted[1] == store.head().sequence
    assert {**figures_of(counted[0]), "left_out": [], "marks": []} == figures(store.read())
    store.close()


def test_a_verdict_and_its_rounds_end_may_come_in_two_readings(store: DiskJournal) -> None:
    verdict = {"type": "Unreadable", "reason": "hand"}
    occasion = {"number": 1, "purpose": "play"}
    reading = {"event": {"type": "ReadingMade", "occasion": occasion, "verdict": verdict}}
    written(store, Entry("step", {**reading, "decision": []}, round=1))
    made(store)
    ended = {"type": "RecordRound", "round": 1, "ending": "void", "wagers": "returned"}
    event = {"type": "TimerExpired"}
    written(store, Entry("step", {"event": event, "decision": [ended]}, round=1))
    counted = made(store).counted()
    assert counted is not None
    assert counted[0].unreadable == 1
    store.close()


def test_a_record_that_is_not_understood_is_left_out_and_the_others_count(
    store: DiskJournal, capfd: pytest.CaptureFixture[str]
) -> None:
    settled = {"type": "TossSettled", "proof": {"turns": 7.0, "in_band_s": 1.0}}
    written(
        store,
        Entry("step", {"event": {"type": "TossSettled"}, "decision": []}),
        Entry("step", {"event": {}, "decision": [{"type": "RecordRound"}]}),
        Entry("step", {"event": {**settled, "proof": {"turns": 10**400}}, "decision": []}),
        Entry("step", {"event": settled, "decision": []}),
    )
    found = made(store).dice()
    assert found is not None
    assert found.worn == PartUsage(1, 7.0, 1.0)
    assert capfd.readouterr().err.count("is left out") == 3
    store.close()


def test_the_test_of_the_dice_goes_on_where_the_tables_stopped(store: DiskJournal) -> None:
    def round_of(*values: int) -> Entry:
        ended = {"type": "RecordRound", "round": 1, "ending": "settled", "values": values}
        return Entry("step", {"event": {"type": "TimerExpired"}, "decision": [ended]}, round=1)

    written(store, *(round_of(4, 1 + n % 3, 5 + n % 2) for n in range(9)))
    before = made(store).dice()
    assert before is not None
    assert (before.sequence, before.watch.tosses, before.watch.found) == (9, 9, "")
    written(store, *(round_of(4, 1 + n % 3, 5 + n % 2) for n in range(9)))
    after = made(store).dice()
    assert after is not None
    assert "face 4 in each of the last" in after.watch.found
    assert after.watch.found_in == after.watch.tosses
    written(store, CHANGED)
    assert made(store).dice() == DiceSoFar(19, PartUsage(), DiceWatch())
    store.close()


def test_wear_is_counted_since_the_dice_were_changed(store: DiskJournal) -> None:
    def step(event: dict[str, object]) -> Entry:
        return Entry("step", {"event": event, "decision": []})

    def settled(turns: float) -> Entry:
        return step({"type": "TossSettled", "proof": {"turns": turns, "in_band_s": 1.0}})

    refused = Entry("refused", {"event": {"type": "DiceChanged"}})
    for entries, worn in (
        ((settled(5.0),), PartUsage(1, 5.0, 1.0)),
        ((CHANGED,), PartUsage()),
        ((settled(7.0), refused, settled(8.0)), PartUsage(2, 15.0, 2.0)),
    ):
        written(store, *entries)
        found = made(store).dice()
        assert found is not None
        assert found.worn == worn
    store.close()


@pytest.mark.parametrize("damage", ["gone", "empty", "cut", "flipped", "older", "foreign", "rows"])
def test_tables_that_are_lost_or_damaged_are_made_anew(store: DiskJournal, damage: str) -> None:
    rounds(store, 1, 30)
    place = record_tables.place(store.path)
    whole = made(store).counted()
    content = place.read_bytes()
    if damage == "gone":
        place.unlink()
    elif damage in ("empty", "cut"):
        place.write_bytes(content[: len(content) // 2 if damage == "cut" else 0])
    elif damage == "flipped":
        place.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    elif damage == "foreign":
        with closing(DiskJournal(store.path.with_name("other.jsonl"))) as other:
            rounds(other, 1, 30)
            made(other)
            place.write_bytes(record_tables.place(other.path).read_bytes())
    else:
        statement = {
            "older": "PRAGMA user_version=0",
            "rows": "UPDATE kept SET told = '[1' WHERE kind = 'cursor'",
        }[damage]
        with sqlite3.connect(place) as db:
            db.execute(statement)
        db.close()
    assert made(store).counted() == whole
    store.close()


CHANGES = (
    "UPDATE kept SET told = replace(told, 'locked', 'lacked') WHERE kind = 'dice'",
    "UPDATE kept SET mark = mark + 1 WHERE sequence = (SELECT max(sequence) FROM kept)",
    "UPDATE kept SET told = replace(told, '\"worn\": [', '\"worn\": [1') WHERE kind = 'cursor'",
    "UPDATE kept SET told = replace(told, 'fay', 'may') WHERE kind = 'cursor'",
    "UPDATE kept SET told = replace(told, '30', '31') WHERE kind = 'cursor'",
    "UPDATE sqlite_master SET sql = replace(sql, 'told', 'gold') WHERE name = 'kept'",
)


def answers(reader: TablesReader) -> tuple[object, ...]:
    return (*(reader.counted(), reader.meters(), reader.dice(), reader.ledger(100)),)


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_row_is_never_shown_and_is_made_anew(
    store: DiskJournal, change: str, capfd: pytest.CaptureFixture[str]
) -> None:
    def event(kind: str) -> Entry:
        return Entry("step", {"event": {"type": kind}, "decision": []})

    cleared = Entry("console", {"note": CLEARED, "by": ["fay", "tom"], "actor": {}})
    written(store, cleared, event("CompartmentOpened"), CHANGED)
    rounds(store, 1, 30)
    reader = made(store)
    sound = answers(reader)
    assert None not in sound
    with sqlite3.connect(record_tables.place(store.path)) as db:
        db.execute("PRAGMA writable_schema=ON")
        db.execute(change)
    db.close()
    seen = answers(reader)
    assert all(one in (None, all_) for one, all_ in zip(seen, sound, strict=True)), seen
    capfd.readouterr()
    kept = RecordTables(store.path)
    assert capfd.readouterr().err.count("are made anew") == 1
    while kept.keep_up():
        pass
    assert answers(reader) == sound
    kept.close()
    RecordTables(store.path).close()
    assert capfd.readouterr().err == "", "whole tables are taken up as they are"
    store.close()


def test_tables_that_are_not_there_answer_nothing(tmp_path: Path) -> None:
    reader = TablesReader(tmp_path / "journal.tables.sqlite")
    assert reader.counted() is None
    assert reader.dice() is None


def test_the_records_process_keeps_the_tables_up_and_makes_them_anew_for_another_journal(
    store: DiskJournal,
) -> None:
    rounds(store, 1, 20)
    watch = RecordsWatch([store])
    watch.start()
    reader = TablesReader(record_tables.place(store.path))

    def reaches(sequence: int) -> bool:
        counted = reader.counted()
        return counted is not None and counted[1] >= sequence

    try:
        until(lambda: reaches(260), 30.0)
        rounds(store, 21, 5)
        store.write([volume_after(store)])
        rounds(store, 26, 5)
        until(lambda: reaches(391), 30.0)
    finally:
        watch.stop()
        store.close()
