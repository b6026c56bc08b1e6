"""A new shift: what the rules ask of people before play goes on."""

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
    signed = table.inspect_shift()
    table.story.expect("the supervisor signed the shift's inspection", signed)
    cycles = [toss for toss in table.tosses()[len(before) :] if all_flat(toss)]
    table.story.expect("three cycles were truly run", len(cycles) >= 3, len(cycles))


def play_one_round(table: Table, number: int) -> None:
    """A dealer plays one round; the lamps are held against the dice."""
    table.be_open()
    table.play(1)
    played = table.round(number)
    table.story.expect("the round is settled", played["verdict"] == "settled", played["verdict"])
    table.held_against_truth(number)
