"""The table of faults is whole: every row says what must be, and can be carried out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hil_tests.reliability import acts
from hil_tests.reliability.broken_start import BROKEN
from hil_tests.reliability.catalogue import BARE, COVERED, FAULTS, read_row, rows
from hil_tests.reliability.moments import Moment
from hil_tests.reliability.required import (
    RequiredEnding,
    RequiredMotor,
)
from hil_tests.rig.fault_set import TABLE
from hil_tests.rig.faults import parse
from hil_tests.rig.rig import known_parts
from shaker_ctl.rules.profile_files import load

HIL_TESTS = Path(__file__).parents[2]
RETURNED = (RequiredEnding.VOID, RequiredEnding.NOT_STARTED, RequiredEnding.NO_ROLL)
OUTCOMES = [
    (fault.name, moment, one)
    for fault, moment in rows(every_moment=True)
    for one in fault.required[moment]
]


def of_kind(kind: type[acts.Act]) -> list[acts.Act]:
    """Every act of a kind, those inside of others included."""
    found = []
    for fault in FAULTS:
        parts = [fault.act]
        if isinstance(fault.act, acts.Then):
            parts = [fault.act.first, fault.act.second]
        found += [part for part in parts if isinstance(part, kind)]
    return found


def test_a_row_says_how_the_round_ends_and_what_stops_the_table() -> None:
    for name, _, one in OUTCOMES:
        assert one.lamps, name
        assert one.wagers == ("returned" if one.ending in RETURNED else "settled"), name
        assert one.codes or one.life != "out of service", name
        assert one.motor_within_s is not None or one.motor is not RequiredMotor.STOPPED, name
        assert one.seen_as or one.within_s is None, name


def test_before_en_on_nothing_is_played_and_after_it_nothing_is_as_if_not_started() -> None:
    for name, moment, one in OUTCOMES:
        assert moment is Moment.BETS or one.ending is not RequiredEnding.NOT_STARTED, name
        if moment in (Moment.PUSH, Moment.LIT):
            assert one.ending in (RequiredEnding.SETTLED, RequiredEnding.BY_HAND), name


def test_every_sentence_is_one_that_the_rig_understands() -> None:
    known = {
        name: fault.parameters for part in known_parts() for name, fault in part.catalogue.items()
    }
    for act in of_kind(acts.InjectFault):
        assert isinstance(act, acts.InjectFault)
        order = parse(act.sentence)
        assert order.after is None
        assert set(order.parameters) <= set(known[order.name])


def test_every_broken_start_can_be_made() -> None:
    starts = [act for act in of_kind(acts.BreakStart) if isinstance(act, acts.BreakStart)]
    assert {act.what for act in starts if not act.of_rig} == set(BROKEN)
    assert {act.what for act in starts if act.of_rig} <= set().union(
        *(part.catalogue for part in known_parts())
    )


def test_every_fault_of_the_rig_has_a_row_or_says_where_it_is_played() -> None:
    for part in TABLE.keys() - {"outcomes", "rows"}:
        for name, fault in TABLE[part].items():
            place = fault.get("elsewhere", "")
            assert fault.get("rows") or name in (HIL_TESTS / place).read_text(), name


def test_a_start_that_must_fail_says_what_its_last_line_contains() -> None:
    starts = {fault.name for fault in FAULTS if isinstance(fault.act, acts.BreakStart)}
    for name, _, one in OUTCOMES:
        assert bool(one.start_says) is (name in starts), name


def test_a_table_is_of_the_kind_that_its_row_is_about() -> None:
    for fault in FAULTS:
        use = load(fault.profile).cover.use.value.value
        assert (fault.profile == COVERED) is (use == "required"), fault.name
        assert (fault.profile == BARE) is (use == "forbidden"), fault.name


@pytest.mark.parametrize(
    ("row", "named"),
    [
        ({"volts": 6, "toss": "stands"}, "volts"),
        ({"toss": {"is": "stands", "lamp": ["dark"]}}, "lamp"),
        ({"toss": "falls"}, "falls"),
        ({"toss": {"is": "stands", "life": "shut"}}, "life"),
        ({"tosses": "stands"}, "tosses"),
    ],
)
def test_a_row_with_a_word_that_there_is_not_is_refused(row: dict[str, Any], named: str) -> None:
    outcomes = {"stands": {"ending": "settled", "wagers": "settled", "life": "open"}}
    with pytest.raises((KeyError, TypeError, ValueError), match=named):
        read_row(outcomes, "one", row, "jam")
