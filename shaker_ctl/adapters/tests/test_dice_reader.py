"""A camera that stays lost is a fault of the reader, whatever else is said of it meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import pairwise

import pytest

from hil_tests.waiting import until
from shaker_ctl.adapters.camera import dice_reader, look_on
from shaker_ctl.adapters.camera.dice_camera import DiceCamera
from shaker_ctl.adapters.camera.dice_reader import CameraReader
from shaker_ctl.errors import CameraError, GpioLinkError
from shaker_ctl.reading.messages import (
    CameraFault,
    CameraRecovered,
    DipLight,
    EndReading,
    Message,
    Picture,
    ReadDice,
    ReadingDone,
    Request,
    Rested,
    RestoreLight,
)
from shaker_ctl.reading.parameters import CameraParameters
from shaker_ctl.rules import commands, events
from shaker_ctl.rules.vocabulary import Condition, Occasion, play
from vision.reading import Reason, Unreadable, Verdict, Verified

pytestmark = pytest.mark.timed

SOON_S = 0.2


class NoOutputs:
    is_lost = False

    def __init__(self) -> None:
        self.light: list[float] = []

    def set_light(self, level: float) -> None:
        """Its link may be lost."""
        if self.is_lost:
            raise GpioLinkError("the GPIO link was lost")
        self.light.append(level)

    def drive_cover(self, opened: bool) -> None:
        """No cover is fitted."""

    def release_latch(self, released: bool) -> None:
        """No latch is fitted."""


class Heard:
    """A reader whose camera process is this test."""

    def __init__(self) -> None:
        self.posted: list[events.Event] = []
        self.outputs = NoOutputs()
        self.reader = CameraReader(
            CameraParameters(), self.outputs, lambda event, _: self.posted.append(event)
        )

    def say(self, message: Message) -> None:
        self.reader.camera._take(message)


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Iterator[Heard]:
    monkeypatch.setattr(dice_reader, "LOST_AFTER_S", SOON_S)
    monkeypatch.setattr(dice_reader, "STEADY_S", SOON_S / 2)
    one = Heard()
    yield one
    one.reader.stop()


SILENT = CameraFault("camera-silent", "no frame for 0.5 s", "")
SLOW = CameraFault("camera-slow", "4 frames a second", "")


@pytest.mark.parametrize(
    "told",
    [(SILENT,), (SILENT, SLOW), (SLOW, SILENT, CameraRecovered("camera-slow"))],
    ids=["alone", "beside a lesser fault", "and a lesser one is over"],
)
def test_a_camera_that_stays_silent_is_lost(heard: Heard, told: tuple[Message, ...]) -> None:
    for message in told:
        heard.say(message)
    until(lambda: heard.posted)
    assert heard.posted == [events.ReaderFault(None, "camera-silent")]


def test_a_camera_that_gives_a_picture_now_and_then_is_lost(heard: Heard) -> None:
    until_s = time.monotonic() + 4 * SOON_S
    while not heard.posted and time.monotonic() < until_s:
        heard.say(SILENT)
        heard.say(CameraRecovered("camera-silent"))
        heard.say(SILENT)
        time.sleep(SOON_S / 10)
    assert heard.posted[0] == events.ReaderFault(None, "camera-silent")


def test_a_later_fault_has_its_own_time(heard: Heard) -> None:
    heard.say(SILENT)
    heard.say(CameraRecovered("camera-silent"))
    time.sleep(0.7 * SOON_S)
    heard.say(SILENT)
    time.sleep(0.5 * SOON_S)  # past the first one's time, not the second one's
    heard.say(CameraRecovered("camera-silent"))
    time.sleep(4 * SOON_S)
    assert heard.posted == []


def test_the_end_of_a_lesser_fault_does_not_begin_the_cameras_return_anew(heard: Heard) -> None:
    heard.say(SILENT)
    heard.say(CameraRecovered("camera-silent"))
    heard.say(SLOW)
    time.sleep(0.6 * SOON_S)
    heard.say(CameraRecovered("camera-slow"))
    heard.say(SILENT)
    time.sleep(0.6 * SOON_S)
    assert heard.posted == []
    heard.say(CameraRecovered("camera-silent"))


def test_a_light_whose_link_is_lost_ends_neither_reading_nor_supervision(heard: Heard) -> None:
    heard.outputs.is_lost = True
    heard.say(DipLight(play(1), 0.6))
    heard.reader.perform(commands.LightOff())
    heard.reader.perform(commands.LightOn())
    with pytest.raises(CameraError):  # not blind any more: only no process is there to ask
        heard.reader.camera.snap(timeout_s=0.01)
    heard.say(SILENT)
    until(lambda: len(heard.posted) > 1)
    assert heard.posted == [
        events.ConditionChanged(Condition.LIGHT),  # once, and not for each level
        events.ReaderFault(None, "camera-silent"),
    ]


def test_a_camera_process_that_dies_in_a_dip_leaves_the_light_full(heard: Heard) -> None:
    heard.reader.perform(commands.LightOn())
    heard.say(DipLight(play(1), 0.6))
    heard.say(CameraFault("camera-process", "it was killed", ""))
    assert heard.outputs.light == [1.0, 0.6, 1.0]


def test_a_late_word_of_the_camera_process_lights_no_covered_dice(heard: Heard) -> None:
    heard.reader.perform(commands.LightOn())
    heard.say(DipLight(play(1), 0.6))
    heard.reader.perform(commands.LightOff())
    heard.say(RestoreLight(play(1)))
    heard.say(DipLight(play(2), 0.7))
    heard.say(CameraFault("camera-process", "it was killed", ""))
    assert heard.outputs.light == [1.0, 0.6, 0.0]


def test_a_picture_that_nobody_waits_for_is_not_kept(heard: Heard) -> None:
    camera = heard.reader.camera
    with pytest.raises(CameraError):
        camera.snap(timeout_s=0.01)
    heard.say(Picture(1, bytes(100)))
    heard.say(Picture(7, bytes(100)))
    assert not camera._pictures


def test_a_listener_that_fails_does_not_end_the_supervision(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(message: Message) -> None:
        raise RuntimeError("a defect")

    camera = DiceCamera(CameraParameters(), fail)
    camera._take(SILENT)
    assert "was not taken" in caplog.text


# ── Where nothing was read, the reader looks on ─────────────────────────────

BLOCKED = Unreadable(Reason.BLOCKED, "a hand")
SEEN = Verified((6, 4, 6), 0.99)
TOSS = play(3)
PAUSE_S = 0.03


class Asked:
    """The camera process's side of looks: what it was asked for."""

    def __init__(self, heard: Heard, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read: list[float] = []
        self.ended: list[Occasion] = []
        monkeypatch.setattr(look_on, "PAUSE_S", PAUSE_S)
        monkeypatch.setattr(heard.reader.camera, "_send", self._take)

    def _take(self, request: Request) -> None:
        match request:
            case ReadDice():
                self.read.append(time.monotonic())
            case EndReading(occasion):
                self.ended.append(occasion)

    def waits_for(self, looks: int) -> None:
        until(lambda: len(self.read) >= looks)


def done(verdict: Verdict) -> ReadingDone:
    return ReadingDone(TOSS, verdict, None, None, None, 0.0, b"", b"", (), 0)


@pytest.fixture
def asked(heard: Heard, monkeypatch: pytest.MonkeyPatch) -> Asked:
    """A first look that has read nothing, and whoever waits for it asks to look on."""
    one = Asked(heard, monkeypatch)
    heard.reader.perform(commands.StartReading(TOSS))
    heard.say(done(BLOCKED))
    assert [type(each) for each in heard.posted] == [events.ReadingMade]
    heard.posted.clear()
    heard.reader.perform(commands.KeepLooking(TOSS))
    return one


def test_dice_that_were_not_read_are_looked_at_again_until_they_are(heard, asked) -> None:
    for looks in (2, 3, 4):
        asked.waits_for(looks)
        heard.say(Rested(TOSS, 0.0, 3, 3, True))
        heard.say(done(BLOCKED))
        assert heard.posted == [], "a look that reads nothing is no news"
    asked.waits_for(5)
    heard.say(done(SEEN))
    assert heard.posted == [events.ReadingMade(TOSS, Verified((6, 4, 6), 0.99))]
    time.sleep(10 * PAUSE_S)
    assert len(asked.read) == 5, "what is read is not looked at again"


def test_the_pauses_between_looks_grow_and_have_an_end(heard, asked) -> None:
    for looks in (2, 3, 4, 5, 6):
        asked.waits_for(looks)
        heard.say(done(BLOCKED))
    pauses = [after - before for before, after in pairwise(asked.read[1:])]
    assert pauses[-1] > 1.5 * PAUSE_S
    assert heard.reader._looks._pause_s <= look_on.LONGEST_PAUSE_S


@pytest.mark.parametrize("while_looking", [True, False])
def test_nobody_looks_on_once_the_looking_is_stopped(heard, asked, while_looking) -> None:
    asked.waits_for(2)
    if not while_looking:
        heard.say(done(BLOCKED))
    heard.reader.perform(commands.StopReading())
    assert asked.ended == ([TOSS] if while_looking else [])
    looks = len(asked.read)
    time.sleep(10 * PAUSE_S)
    assert len(asked.read) == looks


def test_a_look_that_begins_as_the_looking_ends_is_begun_before_it_has_ended(monkeypatch) -> None:
    """Else it would be asked for behind the end, in the place of the next toss."""
    begins, order = threading.Event(), []

    def look(_: Occasion) -> None:
        begins.set()
        time.sleep(PAUSE_S)
        order.append("look")

    monkeypatch.setattr(look_on, "PAUSE_S", 0.0)
    looks = look_on.LookOn(look)
    looks.begin(TOSS)
    assert begins.wait(5.0)
    looks.end()
    order.append("end")
    assert order == ["look", "end"]


def test_a_look_that_finds_the_dice_unmoved_says_so_and_is_the_last(heard, asked) -> None:
    asked.waits_for(2)
    heard.say(Rested(TOSS, 0.0, 3, 0, False))
    assert heard.posted == [events.TossDisproved(TOSS)]
    heard.say(done(BLOCKED))
    time.sleep(10 * PAUSE_S)
    assert len(asked.read) == 2


def test_a_new_toss_ends_the_looking_at_the_last_one(heard, asked) -> None:
    heard.reader.perform(commands.StartReading(play(4)))
    time.sleep(10 * PAUSE_S)
    assert len(asked.read) == 2
