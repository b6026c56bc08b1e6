"""A new shift, and new dice: what the rules ask of people before play goes on."""

from __future__ import annotations

import pytest

from hil_tests.scenarios.conftest import MakeTable
from hil_tests.scenarios.table import Table, all_flat
from hil_tests.table_under_test.session import Plan

pytestmark = [pytest.mark.rig, pytest.mark.timeout(240)]


def test_a_new_shift_begins_with_three_cycles_and_the_supervisors_signature(
    make_table: MakeTable,
) -> None:
    """A profile that asks for a shift inspection: `ma` 5(b)."""
    table = make_table(Plan(profile="ma", pace="brisk", seed=9, by_hand=True))
    table.be_open()
    story = table.story
    shift(table)
    before = len(table.tosses())
    play_one_round(table, 1)
    story.expect("the round's dice were tossed once", len(table.tosses()) == before + 1)
    story.did("the hands of the clock", "the next shift comes on duty")
    shift(table)
    play_one_round(table, 2)


def shift(table: Table) -> None:
    """The supervisor begins a shift, has the shaker run three cycles, and signs."""
    before = table.tosses()
    signed = table.floorperson("supervisor").inspect_shift()
    table.story.expect("the supervisor signed the shift's inspection", signed)
    cycles = [toss for toss in table.tosses()[len(before) :] if all_flat(toss)]
    table.story.expect("three cycles were truly run", len(cycles) >= 3, len(cycles))


def play_one_round(table: Table, number: int) -> None:
    """A dealer plays one round; the lamps are held against the dice."""
    table.be_open()
    table.dealer(eyes=table.eyes).play(1)
    played = table.round(number)
    table.story.expect("the round is settled", played["verdict"] == "settled", played["verdict"])
    table.held_against_truth(number)


@pytest.fixture
def closed_table(make_table: MakeTable) -> Table:
    """A table that has played, and was closed for the night."""
    table = make_table(Plan(pace="brisk", seed=5))
    table.be_open()
    table.betting()
    table.do("floorperson", "close")
    table.wait("the table is closed", lambda seen: seen["life"] == "closed")
    return table


def test_new_dice_are_recorded_inspected_and_play(closed_table: Table) -> None:
    """Red dice go in; their serials are on record, and play goes on only after an inspection."""
    table, story = closed_table, closed_table.story
    table.hands("force compartment")
    table.hands("replace dice red 1 1 1")
    table.hands("close compartment")
    table.do("floorperson", "dice changed RED-1 RED-2 RED-3")
    dice = table.console("technician").ask("dice")["dice"]
    story.expect("their serials are on record", dice["serials"] == ["RED-1", "RED-2", "RED-3"])
    before = len(table.tosses())
    table.be_open()
    story.expect("three cycles were run with them", len(table.tosses()) >= before + 3)
    table.held_against_truth(table.read_round())
