"""The wear of the dice: counted since they were changed, over restarts, and never waited for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from shaker_ctl.errors import JournalCorruptError
from shaker_ctl.journal.record import Record
from shaker_ctl.rules import events
from shaker_ctl.rules.record import to_record
from shaker_ctl.rules.row import Step
from shaker_ctl.rules.state import Phase, TableState
from shaker_ctl.rules.vocabulary import Person, Role, TossProof, play
from shaker_ctl.service.wear import Wear, Worn

STEP = Step(TableState(Phase.CLOSED), (), ())
CHANGED = events.DiceChanged(
    Person("fay", Role.FLOORPERSON), ("A1", "A2", "A3"), datetime(2026, 1, 1, tzinfo=UTC)
)


def settled(turns: float, in_band_s: float) -> events.TossSettled:
    return events.TossSettled(play(1), TossProof(in_band_s, 700.0, 800.0, turns))


class Kept:
    """A record as far as the reader of the wear looks into it."""

    def __init__(self, event: events.Event, kind: str = "step") -> None:
        self.plain: dict[str, Any] = {"kind": kind, "event": to_record(event)}
        self.body = json.dumps(self.plain).encode()


def newest_first(*kept: Kept) -> Iterator[Record]:
    yield from reversed(kept)  # type: ignore[misc]


def test_tosses_strokes_and_time_are_counted_since_the_dice_were_changed_over_a_restart() -> None:
    wear = Wear(pause=lambda _: None)
    wear.observe(STEP, settled(30.0, 2.0))
    assert wear.figures() is None, "a part of the count is no count"
    wear.restore(
        newest_first(
            Kept(settled(500.0, 50.0)),
            Kept(CHANGED),
            Kept(settled(20.0, 1.0)),
            Kept(settled(99.0, 9.0), kind="refused"),
            Kept(settled(40.0, 3.0)),
        )
    )
    assert wear.figures() == Worn(tosses=3, turns=90.0, shaken_s=6.0)


def test_a_refused_change_of_dice_does_not_begin_the_count_anew() -> None:
    wear = Wear(pause=lambda _: None)
    wear.restore(newest_first(Kept(settled(20.0, 1.0)), Kept(CHANGED, kind="refused")))
    assert wear.figures() == Worn(1, 20.0, 1.0)


def test_other_dice_are_new_even_while_the_records_are_still_being_read() -> None:
    wear = Wear(pause=lambda _: None)
    wear.observe(STEP, CHANGED)
    assert wear.figures() == Worn()
    wear.restore(newest_first(Kept(settled(20.0, 1.0))))
    wear.observe(STEP, settled(30.0, 2.0))
    assert wear.figures() == Worn(1, 30.0, 2.0)


def test_a_journal_that_cannot_be_read_leaves_the_wear_unknown() -> None:
    def broken() -> Iterator[Record]:
        raise JournalCorruptError("torn", remedy="verify")
        yield

    wear = Wear(pause=lambda _: None)
    wear.restore(broken())
    assert wear.figures() is None


def test_reading_the_records_pauses_and_ends_when_told() -> None:
    pauses: list[float] = []
    wear = Wear(pause=pauses.append)
    wear.restore(newest_first(*(Kept(settled(1.0, 0.1)) for _ in range(1000))))
    assert len(pauses) == 5
    worn = wear.figures()
    assert worn is not None
    assert (worn.tosses, worn.turns) == (1000, pytest.approx(1000.0))
    given_up = Wear()
    given_up.stop()
    given_up.restore(newest_first(Kept(settled(1.0, 0.1))))
    assert given_up.figures() is None
