"""Each profile plays as its text has it: who starts the shaker, under which cover, with what."""

from __future__ import annotations

from typing import Any

import pytest

from hil_tests.report.measurement import Measure
from hil_tests.scenarios.conftest import MakeTable
from hil_tests.scenarios.table import REST_TO_LIT_MS, Table, monotonic_of
from hil_tests.table_under_test.session import Plan

pytestmark = [pytest.mark.rig, pytest.mark.timeout(300)]

ROUNDS = 2
BUTTON_S = 30.0
"""Seconds that the table would wait for the button by itself."""


def opened(make_table: MakeTable, plan: Plan) -> Table:
    """A table of that plan, opened as its profile asks for."""
    table = make_table(plan)
    table.be_open()
    table.inspect_shift()
    return table


@pytest.mark.parametrize("profile", ["pa-625a", "pa-625b", "pa-539", "md"])
def test_a_dealer_plays_rounds_of_each_text(make_table: MakeTable, profile: str) -> None:
    """Every act is the dealer's, and every value is confirmed by them. `ma`: test_people_change."""
    table = opened(make_table, Plan(profile=profile, pace="brisk", seed=11, by_hand=True))
    table.play(ROUNDS)
    for number in range(1, ROUNDS + 1):
        played = table.round(number)
        table.story.expect(
            f"round {number} was settled, or was no roll",
            played["verdict"] in ("settled", "no_roll"),
            played["verdict"],
        )
        toss = table.held_against_truth(number)
        if profile == "md":
            covered(table, toss)
        if profile == "pa-625b" and played["verdict"] == "settled":
            with_multipliers(table, number, toss)


def covered(table: Table, toss: dict[str, Any]) -> None:
    """The dice are tossed under a closed cover, and come to rest under it."""
    opens = [
        line["t"]
        for line in table.signals()
        if line.get("cover") == 1 and toss["t_start"] <= line["t"] <= toss["t_rest"]
    ]
    before = [one for one in table.signals() if one["t"] < toss["t_start"] and "cover" in one]
    table.story.expect("the cover is closed when the toss begins", before[-1]["cover"] == 0)
    table.story.expect("and stays so until the dice rest", not opens, opens)


def with_multipliers(table: Table, number: int, toss: dict[str, Any]) -> None:
    """Multipliers are shown before the dice move, and are gone when the next bets open."""
    shown = [one for one in table.happened(0.0) if one["what"] == "odds"]
    of_round = [one for one in shown if one["round"] == number and one["places"]]
    table.story.expect("multipliers were shown for the round", of_round)
    table.story.expect("before its dice moved", of_round[0]["t"] < toss["t_start"])
    table.story.expect("and at some places only", 0 < of_round[0]["places"] < 52, of_round)


def test_a_house_plays_unattended_and_the_player_starts_the_shaker(make_table: MakeTable) -> None:
    """Nobody is asked for anything; the button, pressed when bets are closed, tosses at once."""
    changes = {
        "table": {"attended": False, "player_activated": True, "activation_s": BUTTON_S},
    }
    plan = Plan(profile="house-auto", pace="brisk", seed=12, changes=changes)
    table = opened(make_table, plan)
    for _ in range(ROUNDS):
        table.wait("the button is lit", lambda seen: seen["phase"] == "no more bets")
        number = int(table.status()["round"])
        before = len(table.tosses())
        table.hands("press button")
        table.hands("release button")
        played = table.ended_round(number)
        table.story.expect("one toss was made", len(table.tosses()) == before + 1)
        table.story.expect("nobody entered a value", not played["entered"], played)
        table.held_against_truth(number)


def test_rounds_on_the_installed_settings_are_as_fast_as_is_claimed(
    make_table: MakeTable, measure: Measure
) -> None:
    """Heartbeat, dead-man and deadlines of the lamp line are those of a real table."""
    table = opened(make_table, Plan(pace="brisk", seed=13, installed=True))
    took_ms = []
    for number in range(1, 11):
        played = table.ended_round(number)
        toss = table.held_against_truth(number)
        shown = monotonic_of(played, "lampsshown")
        if played["verdict"] == "settled" and shown is not None and not played["entered"]:
            took_ms.append(1000 * (shown - toss["t_rest"]))
    measure("rounds read without help", len(took_ms), "rounds", lower=9)
    middle = sorted(took_ms)[len(took_ms) // 2]
    measure("dice truly at rest to lamps read back lit, median", middle, "ms", upper=REST_TO_LIT_MS)
