"""The ledger of dice follows from the records: moves, signatures, the balance, what is odd."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from shaker_ctl.journal.dice_ledger import Ledger, ledger
from shaker_ctl.journal.history import DiceEntry, Named, dice_entry
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.record import to_record
from shaker_ctl.rules.tests.playing import DEALER, FLOOR, SUPERVISOR, Playing
from shaker_ctl.rules.vocabulary import DiceStep, Person

FAY, SAM = Named("fay", "floorperson", "F7"), Named("sam", "supervisor", "S2")
NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)
A, B = ("A1", "A2", "A3"), ("B1", "B2", "B3")


def of(*told: tuple[str, tuple[str, ...], Named], first: int = 1) -> Ledger:
    return ledger(
        DiceEntry(n, (NOON + timedelta(minutes=n)).isoformat(), what, serials, (by,))
        for n, (what, serials, by) in enumerate(told, first)
    )


def notes(told: Ledger, *, hours: float = 1, by_two: bool = False) -> list[str]:
    told.by_two |= by_two
    return list(told.notes(1, (NOON + timedelta(hours=hours)).isoformat()))


WHOLE_LIFE = (
    *(("received", A + B, FAY), ("received", B + A, SAM), ("inspected", A, FAY)),
    *(("locked in", A, FAY), ("inspected", B, FAY), ("locked in", B, FAY)),
    *(("cancelled", A, FAY), ("cancelled", A, SAM), ("destroyed", A, FAY)),
)


def test_a_life_from_box_to_destroyed_adds_up() -> None:
    told = of(*WHOLE_LIFE)
    assert notes(told) == []
    assert told.balance() == {"locked in": list(B)}
    moved = {"received": 6, "inspected": 6, "locked in": 6, "taken out": 3}
    assert told.counted(1) == {**moved, "cancelled": 3, "destroyed": 3}
    assert [line.what for line in told.lines if "A1" in line.serials] == [
        *("received", "inspected", "locked in", "taken out", "cancelled", "destroyed")
    ]


def test_two_persons_who_say_the_same_sign_one_line() -> None:
    told = of(*WHOLE_LIFE)
    assert told.lines[0].by == (FAY, SAM)
    assert told.lines[0].words() == (
        "received: A1 A2 A3 B1 B2 B3  fay (floorperson, F7), sam (supervisor, S2)"
    )
    alone = [note.split(": ")[1] for note in notes(told, by_two=True)]
    assert alone == ["locked in", "locked in", "destroyed"]


@pytest.mark.parametrize(
    "second", [FAY, Named("Fay ", "supervisor", "9"), Named("x", "dealer", "F7")]
)
def test_one_person_is_not_two(second: Named) -> None:
    told = of(("received", A, FAY), ("received", A, second))
    assert [len(line.by) for line in told.lines] == [1, 1]
    assert notes(told, by_two=True)


@pytest.mark.parametrize(
    ("told", "odd"),
    [
        ((("received", A, FAY), ("locked in", A, FAY)), "A1 was locked in, and before that r"),
        ((("received", B, FAY), ("locked in", A, FAY)), "before that never received"),
        ((("received", A, FAY), ("destroyed", A, FAY)), "A1 was destroyed, and before that r"),
        ((*WHOLE_LIFE, ("inspected", A, FAY)), "A1 was inspected, and before that destroyed"),
        ((*WHOLE_LIFE[:6],), "A1 was taken out at"),
    ],
)  # fmt: skip
def test_what_does_not_add_up_is_named(
    told: tuple[tuple[str, tuple[str, ...], Named], ...], odd: str
) -> None:
    assert any(odd in note for note in notes(of(*told)))


def test_dice_that_nobody_inspected_are_odd_as_long_as_they_are_the_newest_inside() -> None:
    told = of(("received", A + B, FAY), ("locked in", A, FAY))
    assert told.odd_inside().startswith("A1 was locked in, and before that received; A2 was")
    told = of(("received", A + B, FAY), ("inspected", A + B, FAY), ("locked in", A, FAY))
    assert told.odd_inside() == ""
    assert of(("locked in", A, FAY)).odd_inside() == "", "no ledger is kept"


def test_where_no_ledger_is_kept_nothing_is_missing() -> None:
    assert notes(of(("locked in", A, FAY), ("locked in", B, FAY)), by_two=True) == []


def test_dice_that_stay_longer_than_a_day_are_named() -> None:
    assert notes(of(*WHOLE_LIFE), hours=24) == []
    assert notes(of(*WHOLE_LIFE), hours=24.2) == [
        f"{die} has been in the shaker for more than 24 hours" for die in B
    ]


def test_serials_that_are_put_right_are_of_the_dice_that_are_in() -> None:
    told = of(("received", A, FAY), ("locked in", ("a1", "A2", "A8"), FAY), ("corrected", A, FAY))
    assert told.balance() == {"locked in": list(A)}


def test_records_of_the_table_become_entries() -> None:
    table = Playing(dice_by_two=True).do(ev.Restarted(False, False, False))
    entries = []
    for n, event in enumerate(
        (
            ev.DiceLogged(FLOOR, DiceStep.RECEIVED, A),
            ev.DiceLogged(SUPERVISOR, DiceStep.RECEIVED, A),
            ev.DiceLogged(FLOOR, DiceStep.INSPECTED, A),
            ev.DiceChanged(FLOOR, A, table.now),
            ev.DiceChanged(SUPERVISOR, A, table.now),
            ev.BetsRequested(DEALER),
        ),
        1,
    ):
        step = table.tell(event)
        decided = [to_record(each) for each in step.commands]
        plain = {"sequence": n, "wall": NOON.isoformat(), "event": to_record(event)}
        plain |= {"kind": "refused" if step.refused else "step", "decision": decided}
        if (entry := dice_entry(plain)) is not None:
            entries.append(entry)
    told = ledger(entries)
    assert [(line.what, len(line.by)) for line in told.lines] == [
        *(("received", 2), ("inspected", 1), ("locked in", 2))
    ]
    assert told.by_two
    assert notes(told) == []


@pytest.mark.parametrize(
    ("who", "serials", "is_taken"),
    [(FLOOR, ("4",), True), (DEALER, ("4",), False), (FLOOR, ("4", " 1"), False)],
)
def test_only_who_is_in_charge_logs_dice_and_none_that_are_in_the_shaker(
    who: Person, serials: tuple[str, ...], is_taken: bool
) -> None:
    table = Playing().locked()
    before = table.state
    assert (table.tell(ev.DiceLogged(who, DiceStep.CANCELLED, serials)).refused is None) == is_taken
    assert table.state == before
