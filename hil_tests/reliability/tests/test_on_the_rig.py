"""A few rows of the table, played: the whole of it is `make faults`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hil_tests.reliability.bench import Bench
from hil_tests.reliability.catalogue import BY_NAME
from hil_tests.reliability.moments import Moment
from hil_tests.reliability.tested_session import TestedSession
from hil_tests.reliability.trial import Trials
from hil_tests.reliability.witness import Witness
from hil_tests.table_under_test.session import Plan

pytestmark = [pytest.mark.rig, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trials]:
    session = TestedSession(Plan(seed=8), tmp_path_factory.mktemp("table"))
    with Bench(session) as bench:
        made = Trials(bench, Witness(session.rig, session.journal, session.second))
        yield made
        made.close()


@pytest.mark.parametrize(
    ("name", "moment"),
    [
        ("sync-takes-2-s", Moment.TOSS),
        ("estop-while-a-sync-takes-2-s", Moment.TOSS),
        ("service-killed", Moment.TOSS),
        ("camera-late-2-s", Moment.TOSS),
        ("lamps-wired-to-neighbours", Moment.REST),
    ],
)
def test_it_becomes_what_the_table_says(trials: Trials, name: str, moment: Moment) -> None:
    becomes(trials, name, moment)


def becomes(trials: Trials, name: str, moment: Moment = Moment.TOSS) -> None:
    assert trials.play(BY_NAME[name], moment).differences == []


def test_a_shake_too_weak_to_turn_the_dice_is_a_malfunction_of_the_shaker(trials: Trials) -> None:
    becomes(trials, "shake-too-weak", Moment.BETS)


def test_a_jam_stops_the_motor_and_voids_the_round(trials: Trials) -> None:
    becomes(trials, "motor-jam")


def test_a_compartment_that_is_forced_open_stops_the_toss_and_voids_the_round(
    trials: Trials,
) -> None:
    becomes(trials, "compartment-forced")


def test_a_lamp_line_cut_in_the_toss_does_not_void_it(trials: Trials) -> None:
    becomes(trials, "lamp-line-cut")


def test_a_gpio_daemon_that_dies_in_the_toss_leaves_the_motor_off_and_the_round_void(
    trials: Trials,
) -> None:
    becomes(trials, "gpio-daemon-killed")
