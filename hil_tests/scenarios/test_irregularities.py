"""Irregularities of a round as stories: what breaks, what the table does, how it comes back. The
others are rows of the faults in `reliability/faults.toml`.

Seen only from outside: consoles, lamps that really burn, lines, and what the dice truly show.
"""

from __future__ import annotations

import time

import pytest

from hil_tests.report.measurement import Measure
from hil_tests.scenarios.table import Table

pytestmark = [pytest.mark.rig, pytest.mark.timeout(300)]

STOP_MS = 150
"""Longest drive of the motor after what must stop it."""
SILENT_MS = 200
"""The same after the last tach edge: `[motion.watch] stall_gap_s` is 150 ms, and a turn of the
controller's loop and of the rig come on top. Without the watch on silence the speed's own mean
needs 221 ms more, and names another fault."""


@pytest.fixture(autouse=True)
def an_open_table(table: Table) -> None:
    """Each of these stories begins at an open table that plays."""
    table.be_open()


def assert_void(table: Table, number: int, *causes: str) -> None:
    """State that this round ended void, without a result and without a lamp."""
    played = table.ended_round(number)
    story = table.story
    story.expect(f"round {number} is void", played["verdict"] == "void", played["verdict"])
    story.expect("no value was read or entered", not played["read"] and not played["entered"])
    story.expect("no lamp burnt for it", not table.lit_for(number), table.lit_for(number))
    if causes:
        faults = table.status()["faults"]
        story.expect(f"the table names {' or '.join(causes)}", set(faults) & set(causes), faults)


def stop_ms(table: Table, since_s: float, line: str) -> float:
    """From the change of a contact to EN low at the controller's pin, milliseconds."""
    fell = table.enable_fell(since_s)
    moved = next(one["t"] for one in table.signals() if one["t"] >= since_s and one.get(line) == 1)
    return 1000 * (fell - float(moved))


# ── The shaker ──────────────────────────────────────────────────────────────


def test_a_tach_that_falls_silent_voids_the_round(table: Table, measure: Measure) -> None:
    """The plate shakes on, but nobody can prove it."""
    number = table.betting()
    began = time.monotonic()
    table.inject("tach_silent after 120 edges")
    assert_void(table, number, "tach-silent")
    silent = next(one["t"] for one in table.happened(began) if one["what"] == "fault")
    took = 1000 * (table.enable_fell(silent) - silent)
    measure("silent tach to EN low", took, "ms", upper=SILENT_MS)


# ── People ──────────────────────────────────────────────────────────────────


def test_the_emergency_stop_stops_a_toss_and_voids_the_round(
    table: Table, measure: Measure
) -> None:
    """Somebody strikes the mushroom head while the plate shakes."""
    number = table.betting()
    table.await_machine("the plate shakes at speed", lambda seen: seen["speed_rpm"] > 700)
    since = time.monotonic()
    table.hands("press estop")
    measure("e-stop to EN low", stop_ms(table, since, "estop"), "ms", upper=STOP_MS)
    assert_void(table, number)
    table.hands("release estop")


# ── The reader ──────────────────────────────────────────────────────────────


def test_what_the_camera_cannot_read_the_dealer_enters(table: Table) -> None:
    """The camera goes dark with the toss. The dice were properly tossed: the result stands."""
    number = table.betting()
    table.inject("camera_black after 1 start")
    table.wait(
        "the dealer is asked to enter",
        lambda seen: (seen["pending"] or {}).get("kind") == "enter",
    )
    table.story.expect("nothing is lit yet", not table.lit_for(number), table.lit_for(number))
    values = " ".join(map(str, true_values(table, number)))
    for _ in range(2):  # what no reading stands beside is typed twice
        table.do("dealer", f"enter {number} {values}")
    table.heal()
    played = table.ended_round(number)
    table.story.expect("the round is settled", played["verdict"] == "settled", played["verdict"])
    table.story.expect("by what the dealer entered", played["entered"], played)
    table.story.expect("marked as by eye", "by_eye" in played["details"], played["details"])
    table.held_against_truth(number)


def true_values(table: Table, number: int) -> list[int]:
    return [die["value"] for die in table.toss_of(table.round(number))["dice"]]


def test_a_hand_over_the_lens_lets_no_wrong_entry_be_lit(table: Table) -> None:
    """The hand lies there for three seconds; meanwhile dan types what he likes, once."""
    number = table.betting()
    table.inject("camera_blocked share=0.6 after 1 start")
    table.wait(
        "the dealer is asked to enter",
        lambda seen: (seen["pending"] or {}).get("kind") == "enter",
    )
    true = true_values(table, number)
    wrong = (1, 1, 1) if true != [1, 1, 1] else (2, 2, 2)
    table.do("dealer", f"enter {number} {' '.join(map(str, wrong))}")
    time.sleep(3.0)
    table.heal()
    table.wait(
        "dealer and reader are in dispute",
        lambda seen: (seen["pending"] or {}).get("kind") == "decide",
    )
    table.story.expect("nothing is lit", not table.lit_for(number), table.lit_for(number))
    values = " ".join(map(str, true))
    table.do("floorperson", f"decide {values}")
    played = table.ended_round(number)
    table.story.expect("the round is settled", played["verdict"] == "settled", played["verdict"])
    table.held_against_truth(number)


# ── Lamps and lines ─────────────────────────────────────────────────────────


def test_a_burnt_bulb_is_found_at_the_result_and_the_round_is_settled_by_hand(
    table: Table,
) -> None:
    """Every one-of-a-kind lamp is burnt out: whatever falls, one of them is wanted."""
    number = table.betting()
    table.inject("bulb_burnt area=" + ",".join(f"one-{face}" for face in range(1, 7)))
    table.wait(
        "the floorperson's presence is asked for", lambda seen: "presence" in str(seen["pending"])
    )
    table.await_machine("the lamps are dark", lambda seen: not seen["lamp"]["glowing"], 3.0)
    settle_by_hand(table, number)


def settle_by_hand(table: Table, number: int) -> None:
    """The floorperson comes, the dealer pays by hand, and then all gaming ceases."""
    table.do("floorperson", f"presence {number}")
    table.wait("wagers are settled by hand", lambda seen: "settl" in seen["phase"])
    table.do("dealer", f"settled {number}")
    played = table.ended_round(number)
    story = table.story
    story.expect("it was settled by hand", played["verdict"] == "settled_by_hand", played)
    values = sorted(die["value"] for die in table.toss_of(played)["dice"])
    story.expect("with the true values", sorted(played["read"]) == values, played["read"])
    table.wait("the table is out of service", lambda seen: seen["life"] == "out of service")
