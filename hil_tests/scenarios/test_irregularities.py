"""Irregularities of a round: rows of the faults (`hil_tests/faults.toml`), each with a report as a
story has; what people do wrong; and a controller without power, which on a bench
is a relay's doing.

Seen only from outside: consoles, lamps that really burn, lines, and what the dice truly show.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from hil_tests.reliability import results
from hil_tests.reliability.bench import Bench, CannotError, trial_session
from hil_tests.reliability.catalogue import BY_NAME
from hil_tests.reliability.moments import Moment
from hil_tests.reliability.trial import Trials
from hil_tests.reliability.witness import Witness
from hil_tests.report.evidence import gather
from hil_tests.report.measurement import Measure
from hil_tests.report.record import TestRecord
from hil_tests.rig.rigfile import RigFile
from hil_tests.scenarios.attached import files_of
from hil_tests.scenarios.table import Table
from hil_tests.table_under_test.session import Plan

pytestmark = [pytest.mark.rig, pytest.mark.timeout(300)]

STOP_MS = 150
"""Longest drive of a motor whose controller is gone."""


@pytest.fixture(scope="module")
def bench(
    tmp_path_factory: pytest.TempPathFactory, rig_file: Path | None, rig_table: RigFile
) -> Iterator[Bench]:
    """The table at which the rows are played, on the rig of this run."""
    if rig_table.service.rig:
        pytest.skip("rows of faults kill and start the service, and read its journal")
    session = trial_session(Plan(seed=8), tmp_path_factory.mktemp("table"), rig_file=rig_file)
    with Bench(session) as bench:
        yield bench


@pytest.fixture(scope="module")
def trials(bench: Bench) -> Iterator[Trials]:
    session = bench.session
    with closing(Trials(bench, Witness(session.rig, session.journal, session.second))) as trials:
        yield trials


Becomes = Callable[..., None]


@pytest.fixture
def becomes(bench: Bench, trials: Trials, record: TestRecord) -> Becomes:
    """Play a row; it must become what the row requires."""

    def play(name: str, moment: Moment = Moment.TOSS) -> None:
        row = BY_NAME[name], moment
        began_s = time.monotonic()
        try:
            result = trials.play(*row)
        except CannotError as cannot:
            pytest.skip(str(cannot))
        record.evidence = gather(bench.rig, began_s, time.monotonic(), {}, {})
        record.attach(files_of(bench.session.folder, began_s))
        results.measured(row, result, record.measure)
        record.story.saw("table", results.seen_words(result.seen))
        record.story.expect(results.wanted(row), result.is_as_required, result.verdict)

    return play


@pytest.mark.parametrize(
    ("name", "moment"),
    [
        ("sync-takes-2-s", Moment.TOSS),
        ("estop-while-a-sync-takes-2-s", Moment.TOSS),
        ("service-killed", Moment.TOSS),
        ("camera-late-2-s", Moment.TOSS),
        ("lamps-wired-to-neighbours", Moment.REST),
        ("camera-moved-a-little-for-good", Moment.BETS),
        ("camera-moved-for-good", Moment.BETS),
    ],
)
def test_it_becomes_what_the_row_requires(becomes: Becomes, name: str, moment: Moment) -> None:
    becomes(name, moment)


def test_a_tach_that_falls_silent_voids_the_round(becomes: Becomes) -> None:
    """The plate shakes on, but nobody can prove it."""
    becomes("tach-silent")


def test_the_emergency_stop_stops_a_toss_and_voids_the_round(becomes: Becomes) -> None:
    """Somebody strikes the mushroom head while the plate shakes."""
    becomes("estop-pressed")


def test_a_shake_too_weak_to_turn_the_dice_is_a_malfunction_of_the_shaker(
    becomes: Becomes,
) -> None:
    becomes("shake-too-weak", Moment.BETS)


def test_a_jam_stops_the_motor_and_voids_the_round(becomes: Becomes) -> None:
    becomes("motor-jam")


def test_a_compartment_that_is_forced_open_stops_the_toss_and_voids_the_round(
    becomes: Becomes,
) -> None:
    becomes("compartment-forced")


def test_a_lamp_line_cut_in_the_toss_does_not_void_it(becomes: Becomes) -> None:
    becomes("lamp-line-cut")


def test_a_burnt_bulb_is_found_at_the_result_and_the_round_is_settled_by_hand(
    becomes: Becomes,
) -> None:
    becomes("bulb-burnt-out", Moment.REST)


def test_a_gpio_daemon_that_dies_in_the_toss_leaves_the_motor_off_and_the_round_void(
    becomes: Becomes,
) -> None:
    becomes("gpio-daemon-killed")


def test_what_the_camera_cannot_read_the_dealer_enters(bench: Bench, becomes: Becomes) -> None:
    """The camera goes dark with the toss. The dice were properly tossed: the result stands."""
    becomes("camera-black")
    console = bench.console("technician")
    played = console.ask(f"round {console.status()['round']}")["round"]
    assert played["entered"]
    assert "by_eye" in played


def test_a_hand_over_the_lens_lets_no_wrong_entry_be_lit(table: Table) -> None:
    """The hand lies there for three seconds; meanwhile dan types what he likes, once."""
    table.be_open()
    number = table.betting()
    table.inject("camera_blocked share=0.6 after 1 start")
    table.wait(
        "the dealer is asked to enter",
        lambda seen: (seen["pending"] or {}).get("kind") == "enter",
    )
    true = [die["value"] for die in table.toss_of(table.round(number))["dice"]]
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


# ── The controller loses its power, and gets it back ────────────────────────


def test_a_power_cut_in_the_toss_stops_the_motor_and_voids_the_round(
    table: Table, measure: Measure
) -> None:
    """Nobody refreshes the dead-man any more; and what was half tossed is never a result."""
    table.be_open()
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
    table.be_open()
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
