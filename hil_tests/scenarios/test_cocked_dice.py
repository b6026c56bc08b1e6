"""A compartment in which dice lean and lie on each other: no roll, and nothing is lit."""

from __future__ import annotations

import pytest

from hil_tests.report.measurement import Measure
from hil_tests.scenarios.table import Table, all_flat
from hil_tests.table_under_test.session import Plan

pytestmark = [pytest.mark.rig, pytest.mark.timeout(600)]

PLAN = Plan(pace="brisk", seed=2, compartment="rough")
MAX_ROUNDS = 30
"""Where one toss in five does not end flat, so many all do in one run of eight hundred."""

INSPECTED_S = 300.0
"""Three good cycles in a row are asked for, and one toss in five is none."""


def test_dice_that_do_not_lie_flat_are_no_roll_and_light_nothing(
    table: Table, measure: Measure
) -> None:
    """A compartment with ridges, where one toss in five ends with a die that leans."""
    right, not_flat = 0, 0
    for number in range(1, MAX_ROUNDS + 1):
        table.be_open(INSPECTED_S)
        played = table.ended_round(number)
        if played["verdict"] == "void":  # it may have ended before the dice were tossed
            table.story.expect(f"round {number}, void: nothing burnt", not table.lit_for(number))
            continue
        toss = table.held_against_truth(number)
        if all_flat(toss):
            continue
        not_flat += 1
        right += played["verdict"] == "no_roll"
        if not_flat == 2:
            break
    measure("tosses that truly ended not flat", not_flat, "tosses", lower=1)
    measure("of these, called no roll", right, "tosses", lower=not_flat, upper=not_flat)
