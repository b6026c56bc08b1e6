"""A house's own layout, from its opening to its closing: four numbers, Even and Odd, and a no roll
after which wagers stand and the dice are shaken again."""

from __future__ import annotations

import pytest

from hil_tests.report.measurement import Measure
from hil_tests.scenarios.table import Table, events_of
from hil_tests.table_under_test.session import Plan
from shaker_ctl.rules.profile_files import EXAMPLES

PLAN = Plan(
    profile=str(EXAMPLES / "house-four-numbers.toml"),
    pace="brisk",
    seed=2,
    compartment="rough",
    changes={"table": {"attended": False}},
)
"""One toss in five does not end flat there, and nobody is asked for anything."""

pytestmark = [pytest.mark.rig, pytest.mark.timeout(600)]

INSPECTED_S = 300.0
"""Three good cycles in a row are asked for, and one toss in five is none."""
MOST_ROUNDS = 40
FOUR = "four-"


def test_a_house_plays_its_own_areas_and_shakes_again(table: Table, measure: Measure) -> None:
    story = table.story
    table.be_open(INSPECTED_S)
    alone = {change["areas"][0] for change in table.lamp_changes() if len(change["areas"]) == 1}
    measure("lamps lit alone in the inspection", len(alone), "lamps", lower=56, upper=56)
    marks = table.status()["marks"]
    story.expect("screens say whose areas these are", "4 areas of the house" in marks, marks)
    again = own = settled = 0
    for number in range(1, MOST_ROUNDS + 1):
        table.be_open(INSPECTED_S)
        played = table.ended_round(number)
        story.expect(f"round {number} is not called off for a die", played["verdict"] != "no_roll")
        tosses = [name for _, name in events_of(played)].count("tossstarted")
        if tosses:
            table.held_against_truth(number)
        if played["verdict"] == "settled":
            settled += 1
            again += tosses > 1
            own += any(area.startswith(FOUR) for area in table.lit_for(number))
        if again and own and settled >= 3:
            break
    measure("rounds settled after another toss", again, "rounds", lower=1)
    measure("rounds that four numbers won", own, "rounds", lower=1)
    table.do("floorperson", "close")
    table.wait("the table is closed", lambda seen: seen["life"] == "closed")
