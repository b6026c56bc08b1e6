"""The lamp thread's promises on order: darkening goes first, a walk of the lamps can be ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from hil_tests.waiting import until
from shaker_ctl.errors import LampAnchorError, LampError, LampTimeoutError
from shaker_ctl.journal.record import Anchor, Head
from shaker_ctl.lamp.registers import BoxState
from shaker_ctl.ports import LampLine
from shaker_ctl.rules import commands, events
from shaker_ctl.rules.layout import AREAS
from shaker_ctl.rules.outcome import Area, Values
from shaker_ctl.rules.vocabulary import Occasion, Purpose, WalkStep, play
from shaker_ctl.service import lamp_thread
from shaker_ctl.service.lamp_thread import LampThread

pytestmark = pytest.mark.timed

TRIAL = Occasion(Purpose.TRIAL, 4)


class SlowBox:
    """A lamp box that does each thing when the test lets it, and keeps what was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.turns = threading.Semaphore(0)
        self.refuses: list[LampError] = []
        """What the next anchors meet."""
        self.burnt = frozenset[Area]()
        self.stuck = frozenset[Area]()

    def _do(self, what: str) -> None:
        self.turns.acquire()
        self.asked.append(what)

    def test_area(self, area: Area | None) -> frozenset[Area]:
        self._do(f"test {area}")
        lit = frozenset({area}) if area else frozenset[Area]()
        return (lit - self.burnt) | self.stuck

    def show(self, round_id: int, values: Values) -> frozenset[Area]:
        self._do(f"show {round_id}")
        return frozenset({"small"})

    def correct(self, round_id: int, values: Values) -> frozenset[Area]:
        self._do(f"correct {round_id}")
        return frozenset({"small"})

    def anchor(self, anchor: Anchor) -> bool:
        self._do(f"anchor {anchor.round}")
        if self.refuses:
            raise self.refuses.pop()
        return True

    def clear(self, round_id: int) -> None:
        self._do("clear")

    def darken(self) -> None:
        self._do("darken")

    def prove_dark(self) -> Any:
        return None

    def status(self) -> Any:
        return None

    def line(self) -> LampLine:
        return LampLine()


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


Bench = tuple[LampThread, SlowBox, list[events.Event]]


@pytest.mark.parametrize("ending", [commands.ClearLamps(TRIAL), commands.DarkenLamps(TRIAL)])
def test_a_walk_of_the_lamps_ends_after_the_lamp_in_hand(
    bench: Bench, ending: commands.ClearLamps | commands.DarkenLamps
) -> None:
    thread, box, said = bench
    thread.perform(commands.ProveEachLamp(TRIAL, tuple(AREAS), 0.0))
    box.turns.release(1)
    until(lambda: box.asked == ["test small"])
    thread.perform(ending)
    box.turns.release(10)
    until(lambda: said)
    word = "clear" if isinstance(ending, commands.ClearLamps) else "darken"
    assert box.asked == ["test small", "test None", word]
    assert said == [events.LampsDark(TRIAL)], "a walk that was ended proves nothing"


def test_a_walk_that_was_ended_before_it_began_lights_no_lamp(bench: Bench) -> None:
    thread, box, said = bench
    thread.perform(commands.ClearLamps(TRIAL))
    thread.perform(commands.ProveEachLamp(TRIAL, tuple(AREAS), 0.0))
    thread.perform(commands.ClearLamps(TRIAL))
    box.turns.release(10)
    until(lambda: len(said) == 2)
    assert box.asked == ["clear", "clear"]


def test_the_walk_after_one_that_was_ended_is_whole(bench: Bench) -> None:
    thread, box, said = bench
    thread.perform(commands.ProveEachLamp(TRIAL, ("small", "big"), 0.0))
    box.turns.release(1)
    until(lambda: box.asked)
    thread.perform(commands.ClearLamps(TRIAL))
    thread.perform(commands.ProveEachLamp(TRIAL, ("small", "big"), 0.0))
    box.turns.release(20)
    until(lambda: len(said) == 2)
    assert said == [events.LampsDark(TRIAL), events.EachLampProved(TRIAL, ("small", "big"))]


def test_lamps_are_not_lit_after_darkening_by_what_was_asked_before(bench: Bench) -> None:
    thread, box, said = bench
    thread.perform(commands.ClearLamps(play(1)))
    thread.perform(commands.PushLamps(play(1), (1, 1, 2), ("small",)))
    thread.perform(commands.DarkenLamps(play(1)))
    box.turns.release(10)
    until(lambda: len(said) == 2)
    assert box.asked in (["clear", "darken"], ["darken", "clear"])


class GoneBox(SlowBox):
    """A box whose line is cut until the test mends it; its lamps stay as they are."""

    def __init__(self) -> None:
        super().__init__()
        self.turns.release(100)
        self.is_gone = True

    def darken(self) -> None:
        super().darken()
        if self.is_gone:
            raise LampTimeoutError("no reply")

    def status(self) -> Any:
        if self.is_gone:
            raise LampTimeoutError("no reply")
        return SimpleNamespace(state=BoxState.RESULT, is_measured=True, is_healthy=True)


def test_lamps_that_could_not_be_darkened_are_darkened_once_the_box_answers_again() -> None:
    box, said = GoneBox(), list[events.Event]()
    thread = LampThread(box, said.append)  # type: ignore[arg-type]
    thread._do(commands.DarkenLamps(play(1)))
    thread._watch()
    assert [type(event) for event in said] == [events.LampFault]
    box.is_gone = False
    thread._watch()
    thread._watch()
    assert said[1:] == [events.LampsDark(play(1))]
    assert box.asked == ["darken"] * 3


def test_what_is_lit_later_is_not_darkened_for_an_older_command() -> None:
    box, said = GoneBox(), list[events.Event]()
    thread = LampThread(box, said.append)  # type: ignore[arg-type]
    thread._do(commands.DarkenLamps(play(1)))
    box.is_gone = False
    thread._do(commands.ClearLamps(play(1)))
    thread._watch()
    assert box.asked == ["darken", "clear"]


def test_a_corrected_result_is_lit_as_one(bench: Bench) -> None:
    thread, box, said = bench
    thread.perform(commands.PushLamps(play(1), (1, 1, 2), ("small",), corrects=True))
    box.turns.release(1)
    until(lambda: said)
    assert box.asked == ["correct 1"]
    assert said == [events.LampsShown(play(1), (1, 1, 2))]


# ── Anchors ──


def anchor(number: int) -> Anchor:
    return Anchor(b"\x5b" * 8, number, Head(20 * number, bytes(32)))


def test_an_anchor_waits_for_all_that_is_to_be_done_with_lamps(bench: Bench) -> None:
    thread, box, _ = bench
    thread.perform(commands.ClearLamps(play(1)))
    until(lambda: not thread._work)
    thread.anchor(anchor(1))
    thread.perform(commands.PushLamps(play(2), (1, 1, 2), ("small",)))
    thread.perform(commands.ClearLamps(play(2)))
    box.turns.release(10)
    until(lambda: len(box.asked) == 4)
    assert box.asked == ["clear", "show 2", "clear", "anchor 1"]


def test_of_several_anchors_that_wait_the_newest_is_written(bench: Bench) -> None:
    thread, box, _ = bench
    thread.perform(commands.ClearLamps(play(1)))
    until(lambda: not thread._work)
    thread.anchor(anchor(1))
    thread.anchor(anchor(2))
    box.turns.release(10)
    until(lambda: thread._anchor is None)
    assert box.asked == ["clear", "anchor 2"]


def test_an_anchor_that_suffers_on_the_line_is_written_later_and_is_no_fault(bench: Bench) -> None:
    thread, box, said = bench
    box.refuses = [LampTimeoutError("no reply"), LampTimeoutError("no reply")]
    thread.anchor(anchor(1))
    box.turns.release(10)
    until(lambda: thread._anchor is None)
    assert box.asked == ["anchor 1"] * 3
    assert said == []


def test_an_anchor_that_the_box_refuses_is_a_named_fault_of_the_controller(bench: Bench) -> None:
    thread, box, said = bench
    box.refuses = [LampAnchorError("the anchor stands")]
    thread.anchor(anchor(1))
    box.turns.release(10)
    until(lambda: said)
    assert said == [events.ControllerFault("lamp-anchor")]
    until(lambda: thread._anchor is None)
    assert box.asked == ["anchor 1"]


def test_an_anchor_that_waits_is_written_before_the_thread_ends(bench: Bench) -> None:
    thread, box, _ = bench
    thread.perform(commands.ClearLamps(play(1)))
    until(lambda: not thread._work)
    thread.anchor(anchor(1))
    box.turns.release(10)
    thread.stop()
    assert box.asked == ["clear", "anchor 1"]


def steered(thread: LampThread, *steps: WalkStep) -> None:
    for step in steps:
        thread.perform(commands.SteerWalk(TRIAL, step))


def test_each_lamp_of_a_walk_stays_lit_for_its_time(bench: Bench) -> None:
    thread, box, said = bench
    box.turns.release(20)
    began = time.monotonic()
    thread.perform(commands.ProveEachLamp(TRIAL, ("small", "big"), 0.1))
    until(lambda: said)
    assert time.monotonic() - began >= 0.2
    assert box.asked == ["test small", "test None", "test big", "test None"]


def test_a_paused_walk_keeps_its_lamp_lit_until_it_goes_on(bench: Bench) -> None:
    thread, box, said = bench
    box.turns.release(20)
    thread.perform(commands.ProveEachLamp(TRIAL, ("small", "big"), 0.2))
    until(lambda: box.asked == ["test small"])
    steered(thread, WalkStep.PAUSE)
    time.sleep(0.3)
    assert box.asked == ["test small"]
    steered(thread, WalkStep.ON)
    until(lambda: said)
    assert said == [events.EachLampProved(TRIAL, ("small", "big"))]


def test_a_walk_goes_back_and_repeats_as_it_is_told(bench: Bench) -> None:
    thread, box, said = bench
    box.turns.release(40)
    thread.perform(commands.ProveEachLamp(TRIAL, ("small", "big"), 0.2))
    until(lambda: box.asked[-1:] == ["test big"])
    steered(thread, WalkStep.BACK)
    until(lambda: box.asked[-1:] == ["test small"])
    steered(thread, WalkStep.AGAIN)
    until(lambda: said)
    lit = [what for what in box.asked if what != "test None"]
    assert lit == ["test small", "test big", "test small", "test small", "test big"]


def test_a_paused_lamp_is_renewed_before_the_box_ends_its_test(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lamp_thread, "RENEW_S", 0.05)
    thread, box, _said = bench
    box.turns.release(40)
    thread.perform(commands.ProveEachLamp(TRIAL, ("small",), 0.2))
    until(lambda: box.asked)
    steered(thread, WalkStep.PAUSE)
    until(lambda: box.asked.count("test small") >= 4)


# ── What a walk over lamps says of itself ──


def test_a_walk_over_one_lamp_tests_that_lamp_alone(bench: Bench) -> None:
    thread, box, said = bench
    box.burnt = frozenset({"big"})
    thread.perform(commands.ProveEachLamp(TRIAL, ("small",), 0.0))
    box.turns.release(10)
    until(lambda: said)
    assert said == [events.EachLampProved(TRIAL, ("small",))]
    picture = thread.picture
    assert (picture.tried, picture.to_try, picture.failed) == (1, 1, "")


@pytest.mark.parametrize(
    ("burnt", "stuck", "told"),
    [("big", "", "big alone: big stays dark"), ("", "one-6", "small alone: one-6 glows unasked")],
)
def test_a_walk_that_fails_names_the_lamp_that_failed(
    bench: Bench, burnt: Area, stuck: Area, told: str
) -> None:
    thread, box, said = bench
    box.burnt, box.stuck = frozenset({burnt} - {""}), frozenset({stuck} - {""})
    thread.perform(commands.ProveEachLamp(TRIAL, ("small", "big"), 0.0))
    box.turns.release(10)
    until(lambda: said)
    assert isinstance(said[0], events.LampFault)
    assert thread.picture.failed == told
    box.burnt = box.stuck = frozenset()
    thread.perform(commands.ProveEachLamp(TRIAL, ("small",), 0.0))
    box.turns.release(10)
    until(lambda: len(said) == 2)
    assert thread.picture.failed == ""
