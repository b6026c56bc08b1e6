"""The controller loses its power in the middle of a round, and gets it back."""

from __future__ import annotations

import time

import pytest

from hil_tests.report.measurement import Measure
from hil_tests.scenarios.table import Table

pytestmark = [pytest.mark.rig, pytest.mark.timeout(240)]

STOP_MS = 150


@pytest.fixture(autouse=True)
def an_open_table(table: Table) -> None:
    """Each of these stories begins at an open table that plays."""
    table.be_open()


def test_a_power_cut_in_the_toss_stops_the_motor_and_voids_the_round(
    table: Table, measure: Measure
) -> None:
    """Nobody refreshes the dead-man any more; and what was half tossed is never a result."""
    number = table.betting()
    began = time.monotonic()
    table.cut_power("120 edges")
    cut = next(
        event["t"]
        for event in table.happened(began)
        if event["what"] == "fault" and event["name"] == "process_killed"
    )
    measure("power cut to EN low", 1000 * (table.enable_fell(cut) - cut), "ms", upper=STOP_MS)
    table.await_machine("the plate stands still", lambda seen: seen["speed_rpm"] == 0, 3.0)
    table.give_power()
    played = table.ended_round(number)
    table.story.expect("the round is void", played["verdict"] == "void", played["verdict"])
    table.story.expect("because it was interrupted", "interrupted" in played["reason"], played)
    table.story.expect("no lamp burnt for it", not table.lit_for(number))
    # Its computer ran on: to the controller this was no power cut, but a death of its own (O-10).
    status = table.status()
    table.story.expect(
        "it comes back in the fault that says so",
        status["life"] == "out of service" and "controller-died" in status["faults"],
        status,
    )
    starts = [line for line in table.signals() if line["t"] > cut and line.get("enable") == 1]
    table.story.expect("the motor was never started by itself", not starts, starts)


def test_a_power_cut_while_the_result_burns_takes_nothing_from_the_players(table: Table) -> None:
    """A committed result holds in the lamp box, and the journal knows what was lit."""
    table.betting()
    table.cut_power("1 commit")
    number = table.lamp_changes()[-1]["round"]  # a round that is no roll has none
    lit = table.lit_for(number)
    table.story.expect("the lamps burn on", lit)
    time.sleep(0.5)
    last = table.lamp_changes()[-1]
    table.story.expect("without a controller too", last["areas"], last)
    table.give_power()
    played = table.ended_round(number)
    table.story.expect(
        "the round stands", played["verdict"] in ("settled", "settled_by_hand"), played["verdict"]
    )
    table.held_against_truth(number)
