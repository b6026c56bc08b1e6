"""A table from power-on to its rounds: inspected, signed, opened, played, closed, and opened again
with new dice; seen from outside."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import pytest
from typer.testing import CliRunner

from hil_tests.report.measurement import Measure
from hil_tests.scenarios.table import REST_TO_LIT_MS, Table, all_flat, events_of, monotonic_of
from hil_tests.table_under_test.session import Plan
from shaker_ctl.commands import dice as dice_command

PLAN = Plan(pace="brisk", seed=5, changes={"table": {"look_s": 2.0}})
"""The whole ceremony is the subject, with a table's own time to look at an entry."""

pytestmark = [pytest.mark.rig, pytest.mark.timeout(240)]

LOOK_S, WALK_S = 2.0, 0.5
"""Least seconds that an inspection's entry, and each lamp of its walk, are lit."""
LAMPS = 50
ROUNDS = 4


def test_nobody_plays_before_every_lamp_was_seen_three_cycles_passed_and_a_signature(
    table: Table, measure: Measure
) -> None:
    """The opening inspection, as an inspector beside the table would see it."""
    story = table.story
    status = table.status()
    story.expect("a table that was just switched on is not open", status["life"] != "open", status)
    story.expect("no lamp has burnt yet", not table.lamp_changes())
    table.be_open()
    alone = Counter(
        change["areas"][0] for change in table.lamp_changes() if len(change["areas"]) == 1
    )
    measure("lamps lit alone", len(alone), "lamps", lower=LAMPS, upper=LAMPS)
    shown = [pair for pair in pairwise(table.lamp_changes()) if not pair[0]["round"]]
    lit_s = [(len(one["areas"]), after["t"] - one["t"]) for one, after in shown if one["areas"]]
    walk = [seconds for areas, seconds in lit_s if areas == 1]
    measure("shortest lamp of the walk", min(walk), "s", lower=WALK_S)
    entries = [seconds for areas, seconds in lit_s if areas > 1]
    measure("entries lit", len(entries), "entries", lower=3)
    measure("shortest entry", min(entries), "s", lower=LOOK_S)
    cycles = [toss for toss in table.tosses() if all_flat(toss)]
    measure("cycles with three flat dice", len(cycles), "tosses", lower=3)
    inspection = table.console("technician").ask("inspection")["inspection"]
    story.expect("fay signed it", inspection["signed_by"] == "fay", inspection)
    story.expect(
        "no lamp burnt for a round during the inspection",
        not any(change["round"] for change in table.lamp_changes()),
    )


def test_each_round_lights_what_its_dice_truly_show_and_nothing_else(
    table: Table, measure: Measure
) -> None:
    """Rounds by themselves: bets, no more bets, toss, reading, lamps, collecting, dark."""
    story = table.story
    rest_to_lit_ms, strokes = [], []
    settled = 0
    table.be_open()
    for number in range(1, ROUNDS + 1):
        played = table.ended_round(number)
        if played["verdict"] != "settled":
            story.saw("console", f"round {number} ended as {played['verdict']}: {played['reason']}")
            story.expect(
                "a round that was not settled lit no lamp", not table.lit_for(number), played
            )
            continue
        toss = table.held_against_truth(number)
        strokes.append(toss["turns"])
        if played["entered"]:
            continue  # Dan read the dice
        settled += 1
        shown = monotonic_of(played, "lampsshown")
        assert shown is not None
        rest_to_lit_ms.append(1000 * (shown - toss["t_rest"]))
        kinds = [name for _, name in events_of(played)]
        order = ["lampsproveddark", "tossstarted", "tosssettled", "readingmade", "lampsshown"]
        story.expect(
            f"round {number}: dark, toss, rest, reading and lamps come in this order",
            [name for name in kinds if name in order] == order,
            kinds,
        )
    measure("rounds settled without help", settled, "rounds", lower=ROUNDS - 1)
    measure(
        "dice truly at rest to lamps read back lit, median",
        sorted(rest_to_lit_ms)[len(rest_to_lit_ms) // 2],
        "ms",
        upper=REST_TO_LIT_MS,
    )
    measure("strokes of a toss, fewest", min(strokes), "strokes", lower=12)


def test_new_dice_are_recorded_inspected_and_play(table: Table) -> None:
    """The table is closed for the night, and red dice go in; their serials are on record, and play
    goes on only after an inspection. The ledger follows both sets, from box to destroyed."""
    story = table.story
    table.be_open()
    table.betting()
    table.do("floorperson", "close")
    table.wait("the table is closed", lambda seen: seen["life"] == "closed")
    for role, what in (("floorperson", "received"), ("supervisor", "received"),
                       ("floorperson", "inspected")):  # fmt: skip
        table.do(role, f"dice log {what} RED-1 RED-2 RED-3")
    table.hands("force compartment")
    table.hands("replace dice red 1 1 1")
    table.hands("close compartment")
    table.do("floorperson", "dice changed RED-1 RED-2 RED-3")
    for what in ("cancelled", "destroyed"):
        table.do("floorperson", f"dice log {what} RIG-A RIG-B RIG-C")
    dice = table.console("technician").ask("dice")["dice"]
    story.expect("their serials are on record", dice["serials"] == ["RED-1", "RED-2", "RED-3"])
    before = len(table.tosses())
    table.be_open()
    story.expect("three cycles were run with them", len(table.tosses()) >= before + 3)
    table.held_against_truth(table.read_round())
    words = ["ledger", "--config", str(table.session.folder / "settings.toml")]
    told = CliRunner().invoke(dice_command.app, words).output
    story.expect(
        "two persons received them", re.search(r"received: RED.*fay.*, \w+ \(superv", told)
    )
    story.expect("the red ones are in", "locked in: 3  RED-1 RED-2 RED-3" in told)
    story.expect("the others are gone", "destroyed: RIG-A RIG-B RIG-C" in told)
    story.expect("nothing is odd about the red ones", "LOOK: RED" not in told, told)
