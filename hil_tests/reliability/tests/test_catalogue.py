"""The table of faults is whole: every row says what must be, and can be carried out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hil_tests.reliability import acts
from hil_tests.reliability.broken_start import BROKEN
from hil_tests.reliability.catalogue import BARE, COVERED, FAULTS, CatalogueFault, read_row, rows
from hil_tests.reliability.moments import Moment
from hil_tests.reliability.required import (
    RequiredEnding,
    RequiredMotor,
)
from hil_tests.rig.fault_set import TABLE
from hil_tests.rig.faults import parse
from hil_tests.rig.rig import known_faults
from shaker_ctl.rules.profile_files import load

HIL_TESTS = Path(__file__).parents[2]
MIN_FAULTS = 60
ROWS = [
    pytest.param(fault, moment, id=f"{fault.name}@{moment.name}")
    for fault, moment in rows(every_moment=True)
]
each_row = pytest.mark.parametrize(("fault", "moment"), ROWS)
each_fault = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)


def of_kind(kind: type[acts.Act]) -> list[acts.Act]:
    """Every act of a kind, those inside of others included."""
    found = []
    for fault in FAULTS:
        parts = [fault.act]
        if isinstance(fault.act, acts.Then):
            parts = [fault.act.first, fault.act.second]
        found += [part for part in parts if isinstance(part, kind)]
    return found


def test_there_are_enough_distinct_faults() -> None:
    names = [fault.name for fault in FAULTS]
    assert len(set(names)) == len(names) >= MIN_FAULTS
    acts_at = [(f.profile, repr(f.act), tuple(f.required)) for f in FAULTS]
    assert len(set(acts_at)) == len(acts_at)


def test_the_worst_moments_are_one_row_a_fault_and_the_matrix_has_them_all() -> None:
    worst, whole = rows(every_moment=False), rows(every_moment=True)
    assert [fault for fault, _ in worst] == list(FAULTS)
    assert set(map(repr, worst)) <= set(map(repr, whole))
    assert {moment for _, moment in whole} == set(Moment)


@each_row
def test_a_row_says_how_the_round_ends_and_where_the_table_stands(
    fault: CatalogueFault, moment: Moment
) -> None:
    outcomes = fault.required[moment]
    assert outcomes
    for one in outcomes:
        assert one.lamps
        returned = one.ending in (
            RequiredEnding.VOID,
            RequiredEnding.NOT_STARTED,
            RequiredEnding.NO_ROLL,
        )
        assert one.wagers == ("returned" if returned else "settled")


@each_row
def test_what_stops_the_table_is_named_or_is_no_device(
    fault: CatalogueFault, moment: Moment
) -> None:
    for one in fault.required[moment]:
        if one.life == "out of service":
            assert one.codes
        if one.motor is RequiredMotor.STOPPED:
            assert one.motor_within_s is not None
        if one.within_s is not None:
            assert one.seen_as


@each_row
def test_before_en_on_nothing_is_played_and_after_it_nothing_is_as_if_not_started(
    fault: CatalogueFault, moment: Moment
) -> None:
    for one in fault.required[moment]:
        if one.ending is RequiredEnding.NOT_STARTED:
            assert moment is Moment.BETS
        if moment in (Moment.PUSH, Moment.LIT):
            assert one.ending in (RequiredEnding.SETTLED, RequiredEnding.BY_HAND)


def test_every_sentence_is_one_that_the_rig_understands() -> None:
    known: dict[object, Any] = {row["name"]: row["parameters"] for row in known_faults()}
    for act in of_kind(acts.InjectFault):
        assert isinstance(act, acts.InjectFault)
        order = parse(act.sentence)
        assert order.after is None
        assert set(order.parameters) <= set(known[order.name])


def test_every_broken_start_can_be_made() -> None:
    starts = [act for act in of_kind(acts.BreakStart) if isinstance(act, acts.BreakStart)]
    assert {act.what for act in starts if not act.of_rig} == set(BROKEN)
    assert {act.what for act in starts if act.of_rig} <= {
        str(row["name"]) for row in known_faults()
    }


def test_every_fault_of_the_rig_has_a_row_or_says_where_it_is_played() -> None:
    for part in TABLE.keys() - {"outcomes", "rows"}:
        for name, fault in TABLE[part].items():
            place = fault.get("elsewhere", "")
            assert fault.get("rows") or name in (HIL_TESTS / place).read_text(), name


@each_fault
def test_a_start_that_must_fail_says_what_its_last_line_contains(fault: CatalogueFault) -> None:
    for outcomes in fault.required.values():
        for one in outcomes:
            assert bool(one.start_says) is isinstance(fault.act, acts.BreakStart)


@each_fault
def test_a_table_is_of_the_kind_that_its_row_is_about(fault: CatalogueFault) -> None:
    use = load(fault.profile).cover.use.value.value
    assert (fault.profile == COVERED) is (use == "required")
    assert (fault.profile == BARE) is (use == "forbidden")


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
