"""A difference counts, unless the computer itself was late or chance played another round."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from hil_tests.reliability.catalogue import BY_NAME, CatalogueFault
from hil_tests.reliability.moments import Moment
from hil_tests.reliability.required import Observation, RequiredEnding
from hil_tests.reliability.trial import LATE_S, Trials

FAULT = BY_NAME["motor-jam"]
Once = tuple[Observation, list[str], float, str]

GOOD: Once = (Observation(ending="void"), [], 0.001, "")
DIFFERS: Once = (Observation(ending="settled"), ["ending void, seen: settled"], 0.001, "")
LATE: Once = (Observation(ending="settled"), ["ending void, seen: settled"], LATE_S + 0.01, "")
CHANCE: Once = (Observation(ending="no_roll"), ["ending void"], 0.001, "the dice did not lie flat")


class Scripted(Trials):
    """Trials whose attempts are given."""

    def __init__(self, attempts: list[Once]) -> None:
        super().__init__(cast("Any", None), cast("Any", None))
        self._attempts = iter(attempts)

    def _once(self, fault: CatalogueFault, moment: Moment) -> Once:
        return next(self._attempts)


@pytest.fixture
def played() -> Iterator[Any]:
    made: list[Scripted] = []

    def play(*attempts: Once) -> Any:
        made.append(Scripted(list(attempts)))
        return made[-1].play(FAULT, Moment.TOSS)

    yield play
    for one in made:
        one.close()


def test_a_difference_in_time_is_final(played: Any) -> None:
    result = played(DIFFERS)
    assert not result.is_as_required
    assert result.attempts == 1


def test_a_difference_of_a_late_computer_is_repeated(played: Any) -> None:
    result = played(LATE, GOOD)
    assert result.is_as_required
    assert result.attempts == 2
    assert result.late_ms == pytest.approx(1000 * (LATE_S + 0.01))


def test_a_lamp_box_that_was_late_counts_as_the_machine_does() -> None:
    said = {"late_turns": 1, "late_replies": 2}
    bench = SimpleNamespace(ask_rig=lambda _: said)
    trials = Trials(cast("Any", bench), cast("Any", None))
    trials.close()
    assert trials._late_acts() == 3


def test_what_chance_did_is_repeated_and_said(played: Any) -> None:
    result = played(CHANCE, GOOD)
    assert result.is_as_required
    assert result.attempts == 2


def test_cocked_dice_are_chance_only_where_nothing_was_violated() -> None:
    trials = Scripted([])
    seen = Observation(ending=RequiredEnding.NO_ROLL)
    assert trials._chance(seen, FAULT, Moment.TOSS)
    seen.violations.append("WRONG VALUE committed")
    assert not trials._chance(seen, FAULT, Moment.TOSS)
    trials.close()
