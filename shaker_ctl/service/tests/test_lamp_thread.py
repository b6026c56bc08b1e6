"""The lamp thread's promises on order: darkening goes first, a walk of the lamps can be ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from shaker_ctl.rules import commands, events
from shaker_ctl.rules.outcome import AREAS, Area, Values
from shaker_ctl.rules.vocabulary import Occasion, Purpose, play
from shaker_ctl.service.lamp_thread import LampThread

pytestmark = pytest.mark.timed

TRIAL = Occasion(Purpose.TRIAL, 4)


class SlowBox:
    """A lamp box that does each thing when the test lets it, and keeps what was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.turns = threading.Semaphore(0)

    def _do(self, what: str) -> None:
        self.turns.acquire()
        self.asked.append(what)

    def test_area(self, area: Area | None) -> frozenset[Area]:
        self._do(f"test {area}")
        return frozenset({area}) if area else frozenset()

    def show(self, round_id: int, values: Values) -> frozenset[Area]:
        self._do(f"show {round_id}")
        return frozenset({"small"})

    def clear(self, round_id: int) -> None:
        self._do("clear")

    def darken(self) -> None:
        self._do("darken")

    def prove_dark(self) -> Any:
        return None

    def status(self) -> Any:
        return None


@pytest.fixture
def bench() -> Iterator[tuple[LampThread, SlowBox, list[events.Event]]]:
    said: list[events.Event] = []
    box = SlowBox()
    thread = LampThread(box, said.append)  # type: ignore[arg-type]
    thread._watch = lambda: None  # type: ignore[method-assign]
    thread.start()
    yield thread, box, said
    box.turns.release(1000)
    thread.stop()


def eventually(holds: Callable[[], Any], limit_s: float = 2.0) -> None:
    deadline = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.002)


Bench = tuple[LampThread, SlowBox, list[events.Event]]


@pytest.mark.parametrize("ending", [commands.ClearLamps(TRIAL), commands.DarkenLamps(TRIAL)])
def test_a_walk_of_the_lamps_ends_after_the_lamp_in_hand(
    bench: Bench, ending: commands.ClearLamps | commands.DarkenLamps
) -> None:
    thread, box, said = bench
    thread.perform(commands.ProveEachLamp(TRIAL, tuple(AREAS)))
    box.turns.release(1)
    eventually(lambda: box.asked == ["test small"])
    thread.perform(ending)
    box.turns.release(10)
    eventually(lambda: said)
    word = "clear" if isinstance(ending, commands.ClearLamps) else "darken"
    assert box.asked == ["test small", "test None", word]
    assert said == [events.LampsDark(TRIAL)], "a walk that was ended proves nothing"


def test_a_walk_that_was_ended_before_it_began_lights_no_lamp(bench: Bench) -> None:
    thread, box, said = bench
    thread.perform(commands.ClearLamps(TRIAL))
    thread.perform(commands.ProveEachLamp(TRIAL, tuple(AREAS)))
    thread.perform(commands.ClearLamps(TRIAL))
    box.turns.release(10)
    eventually(lambda: len(said) == 2)
    assert box.asked == ["clear", "clear"]


def test_the_walk_after_one_that_was_ended_is_whole(bench: Bench) -> None:
    thread, box, said = bench
    thread.perform(commands.ProveEachLamp(TRIAL, ("small", "big")))
    box.turns.release(1)
    eventually(lambda: box.asked)
    thread.perform(commands.ClearLamps(TRIAL))
    thread.perform(commands.ProveEachLamp(TRIAL, ("small", "big")))
    box.turns.release(20)
    eventually(lambda: len(said) == 2)
    assert said == [events.LampsDark(TRIAL), events.EachLampProved(TRIAL, ("small", "big"))]


def test_lamps_are_not_lit_after_darkening_by_what_was_asked_before(bench: Bench) -> None:
    thread, box, said = bench
    thread.perform(commands.ClearLamps(play(1)))
    thread.perform(commands.PushLamps(play(1), (1, 1, 2), ("small",)))
    thread.perform(commands.DarkenLamps(play(1)))
    box.turns.release(10)
    eventually(lambda: len(said) == 2)
    assert box.asked in (["clear", "darken"], ["darken", "clear"])
