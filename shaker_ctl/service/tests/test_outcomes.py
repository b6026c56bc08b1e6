"""The watch on outcomes stops a table whose dice repeat, once, and over restarts too."""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import UTC, datetime

import pytest

from shaker_ctl.journal.history import other_dice
from shaker_ctl.journal.meters import moved
from shaker_ctl.journal.record import Entry, Head, Record, genesis, link
from shaker_ctl.journal.worn import PartUsage
from shaker_ctl.motion.mixing import RETENTION_TOSSES
from shaker_ctl.rules import events
from shaker_ctl.rules.outcome import Values
from shaker_ctl.rules.record import to_record
from shaker_ctl.rules.row import Step
from shaker_ctl.rules.state import Phase, TableState
from shaker_ctl.rules.tests.playing import FLOOR, SUPERVISOR, Playing
from shaker_ctl.rules.vocabulary import FaultKind, Occasion, Person, Purpose, Role, play
from shaker_ctl.service.outcomes import OutcomeWatch
from shaker_ctl.service.wear import WearLog
from vision.reading import Kind, NoRoll, Unreadable, Verified

DAN = Person("dan", Role.DEALER)
TOM = Person("tom", Role.TECHNICIAN)
CLEARED = events.FaultCleared(TOM, FaultKind.SHAKER)
CHANGED = events.DiceChanged(TOM, ("4", "5", "6"), datetime(2026, 11, 21, tzinfo=UTC))
STEP = Step(TableState(Phase.CLOSED), (), ())


def read(number: int, values: Values) -> events.Event:
    return events.ReadingMade(play(number), Verified(values))


def chances(count: int, seed: int) -> list[Values]:
    chance = random.Random(seed)
    return [
        (chance.randint(1, 6), chance.randint(1, 6), chance.randint(1, 6)) for _ in range(count)
    ]


class Watched:
    """A watch, what it posted, and the journal from which it can be begun again."""

    def __init__(self) -> None:
        self.posted: list[events.Event] = []
        self.watch = OutcomeWatch(self.posted.append)
        self.records: list[Record] = []
        self._head: Head = genesis("outcomes")

    def tell(self, *told: events.Event) -> Watched:
        for event in told:
            body = {"event": to_record(event), "rows": [], "decision": []}
            record = link(
                self._head,
                Entry("step", body),
                monotonic_s=0.0,
                wall="2026-11-21T00:00:00.000+00:00",
                digests={},
            )
            self._head = Head(record.sequence, record.hash)
            self.records.append(record)
            self.watch.observe(STEP, event)
        return self

    def restart(self, standing: Iterable[FaultKind] = ()) -> Watched:
        self.watch = OutcomeWatch(self.posted.append)
        self.watch.restore(reversed(self.records))
        self.watch.resume(set(standing))
        return self

    @property
    def codes(self) -> list[str]:
        return [event.code for event in self.posted if isinstance(event, events.ShakerFault)]


def test_a_toss_that_is_entered_and_then_read_counts_once() -> None:
    """Two tosses of three equal faces are six in a row; counted twice they were twelve."""
    table = Watched()
    for number in (1, 2):
        table.tell(events.ValuesEntered(DAN, number, (5, 5, 5)), read(number, (5, 5, 5)))
    assert not table.codes
    assert not table.restart().codes


def test_nine_equal_faces_in_a_row_stop_the_shaker_once() -> None:
    table = Watched().tell(*(read(n, (5, 5, 5)) for n in range(1, 5)))
    assert table.codes == ["outcome-health"]


def test_a_shake_that_keeps_its_faces_is_stopped() -> None:
    kept: Values = (1, 4, 6)
    table = Watched().tell(*(read(n, kept) for n in range(1, RETENTION_TOSSES)))
    assert table.codes == ["face-retention"]


@pytest.mark.parametrize("restart_after", [1, 2])
def test_the_tests_go_on_over_a_restart(restart_after: int) -> None:
    table = Watched()
    for number in range(1, 4):
        assert table.codes == []
        table.tell(read(number, (5, 5, 5)))
        if number == restart_after:
            table.restart()
    assert table.codes == ["outcome-health"]


def test_the_retention_window_is_the_same_after_a_restart() -> None:
    table = Watched().tell(*(read(n, toss) for n, toss in enumerate(chances(300, 2), 1)))
    before = table.watch.retention
    assert table.restart().watch.retention == before


def test_a_failure_that_a_crash_kept_from_the_journal_is_posted_after_the_restart() -> None:
    table = Watched().tell(*(read(n, (5, 5, 5)) for n in range(1, 4)))
    table.posted.clear()
    assert table.restart(standing={FaultKind.SHAKER}).codes == []  # on record: it stands already
    assert table.restart().codes == ["outcome-health"]


def test_clearing_the_fault_begins_both_tests_anew_and_a_restart_knows_it() -> None:
    table = Watched().tell(*(read(n, (5, 5, 5)) for n in range(1, 4)), CLEARED)
    table.restart()
    table.posted.clear()
    table.tell(read(5, (5, 5, 5)), read(6, (1, 2, 3)))
    assert table.codes == []
    table.tell(*(read(n, (5, 5, 5)) for n in range(7, 10)))
    assert table.codes == ["outcome-health"]


def test_other_dice_begin_both_tests_anew() -> None:
    table = Watched().tell(read(1, (5, 5, 5)), read(2, (5, 5, 5)), CHANGED, read(3, (5, 5, 5)))
    assert table.codes == []
    assert table.restart().codes == []


def test_a_toss_that_is_read_and_entered_counts_once() -> None:
    """In dealer-entry mode every toss comes twice; it is no retention."""
    table = Watched()
    for number, toss in enumerate(chances(200, 3), 1):
        table.tell(read(number, toss), events.ValuesEntered(DAN, number, toss))
    assert table.codes == []
    retention = table.watch.retention
    assert retention is not None
    assert retention.tosses == RETENTION_TOSSES
    assert retention.kept < RETENTION_TOSSES * 2


def test_values_entered_for_an_unreadable_toss_count() -> None:
    table = Watched()
    for number in range(1, 4):
        table.tell(
            events.ReadingMade(play(number), Unreadable.of("glare")),
            events.ValuesEntered(DAN, number, (5, 5, 5)),
        )
    assert table.codes == ["outcome-health"]


def test_inspections_count_and_touched_dice_are_not_compared() -> None:
    cycle = Occasion(Purpose.INSPECTION, 1)
    told = (
        events.ReadingMade(cycle, Verified((1, 2, 3))),
        events.CompartmentOpened(),
        read(1, (1, 2, 3)),
        events.ReadingMade(play(2), NoRoll(0, Kind.TILTED)),
        read(3, (1, 2, 3)),
    )
    retention = Watched().tell(*told).watch.retention
    assert retention is not None
    assert retention.tosses == 0


def test_dice_that_the_first_of_two_persons_names_change_nothing_that_is_counted() -> None:
    table = Playing(dice_by_two=True).do(events.Restarted(False, False, False))
    told: list[tuple[bool, list[str], PartUsage | None]] = []
    watched, wear = Watched().tell(*(read(n, (5, 5, 5)) for n in range(1, 4))), WearLog()
    wear.restore(PartUsage(1, 20.0, 1.0))
    for who in (FLOOR, SUPERVISOR):
        event = events.DiceChanged(who, ("4", "5", "6"), table.now)
        step = table.tell(event)
        watched.watch.observe(step, event)
        wear.observe(step, event)
        body = {"event": to_record(event), "decision": [to_record(c) for c in step.commands]}
        record = {"kind": "step", **body}
        told.append((other_dice(record), list(moved(record)), wear.figures()))
        if who is FLOOR:
            watched.tell(read(4, (5, 5, 5)))
            assert watched.codes == ["outcome-health"], "these are still the dice that were tossed"
    assert told == [(False, [], PartUsage(1, 20.0, 1.0)), (True, ["changes of dice"], PartUsage())]
