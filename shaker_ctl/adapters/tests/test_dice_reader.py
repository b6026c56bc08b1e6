"""A camera that stays lost is a fault of the reader, whatever else is said of it meanwhile."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import pytest

from shaker_ctl.adapters.camera import dice_reader
from shaker_ctl.adapters.camera.dice_camera import DiceCamera
from shaker_ctl.adapters.camera.dice_reader import CameraReader
from shaker_ctl.errors import CameraError, GpioLinkError
from shaker_ctl.reading.messages import (
    CameraFault,
    CameraRecovered,
    DipLight,
    Message,
    Picture,
    RestoreLight,
)
from shaker_ctl.reading.parameters import CameraParameters
from shaker_ctl.rules import commands, events
from shaker_ctl.rules.vocabulary import Condition, Unreadable
from vision import reading

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


def test_a_camera_that_stays_silent_is_lost(heard: Heard) -> None:
    heard.say(SILENT)
    time.sleep(4 * SOON_S)
    assert heard.posted == [events.ReaderFault(None, "camera-silent")]


def test_a_lesser_fault_on_top_does_not_hide_the_loss(heard: Heard) -> None:
    heard.say(SILENT)
    heard.say(SLOW)
    time.sleep(4 * SOON_S)
    assert heard.posted == [events.ReaderFault(None, "camera-silent")]


def test_the_end_of_another_fault_is_not_the_cameras_return(heard: Heard) -> None:
    heard.say(SLOW)
    heard.say(SILENT)
    heard.say(CameraRecovered("camera-slow"))
    time.sleep(4 * SOON_S)
    assert heard.posted == [events.ReaderFault(None, "camera-silent")]


def test_a_camera_that_gives_a_picture_now_and_then_is_lost(heard: Heard) -> None:
    until_s = time.monotonic() + 4 * SOON_S
    while time.monotonic() < until_s:
        heard.say(SILENT)
        heard.say(CameraRecovered("camera-silent"))
        heard.say(SILENT)
        time.sleep(SOON_S / 10)
    assert heard.posted
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
    heard.say(DipLight(1, 0.6))
    heard.reader.perform(commands.LightOff())
    heard.reader.perform(commands.LightOn())
    with pytest.raises(CameraError):  # not blind any more: only no process is there to ask
        heard.reader.camera.snap(timeout_s=0.01)
    heard.say(SILENT)
    time.sleep(4 * SOON_S)
    assert heard.posted == [
        events.ConditionChanged(Condition.LIGHT),  # once, and not for each level
        events.ReaderFault(None, "camera-silent"),
    ]


def test_a_camera_process_that_dies_in_a_dip_leaves_the_light_full(heard: Heard) -> None:
    heard.reader.perform(commands.LightOn())
    heard.say(DipLight(1, 0.6))
    heard.say(CameraFault("camera-process", "it was killed", ""))
    assert heard.outputs.light == [1.0, 0.6, 1.0]


def test_a_late_word_of_the_camera_process_lights_no_covered_dice(heard: Heard) -> None:
    heard.reader.perform(commands.LightOn())
    heard.say(DipLight(1, 0.6))
    heard.reader.perform(commands.LightOff())
    heard.say(RestoreLight(1))
    heard.say(DipLight(2, 0.7))
    heard.say(CameraFault("camera-process", "it was killed", ""))
    assert heard.outputs.light == [1.0, 0.6, 0.0]


def test_a_picture_that_nobody_waits_for_is_not_kept(heard: Heard) -> None:
    camera = heard.reader.camera
    with pytest.raises(CameraError):
        camera.snap(timeout_s=0.01)
    heard.say(Picture(1, bytes(100)))
    heard.say(Picture(7, bytes(100)))
    assert not camera._pictures


@pytest.mark.parametrize(
    "verdict",
    [
        reading.Verified((9, 9, 9), 1.0),
        reading.Verified((1, 2, 3), math.nan),
        reading.NoRoll(0, reading.Kind.TILTED, math.inf),
    ],
)
def test_a_verdict_that_no_record_can_hold_is_unreadable(verdict: reading.Verdict) -> None:
    assert isinstance(dice_reader.in_the_rules_words(verdict), Unreadable)


def test_a_listener_that_fails_does_not_end_the_supervision(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(message: Message) -> None:
        raise RuntimeError("a defect")

    camera = DiceCamera(CameraParameters(), fail)
    camera._take(SILENT)
    assert "was not taken" in caplog.text


def test_a_camera_that_comes_back_in_time_was_never_lost(heard: Heard) -> None:
    heard.say(SILENT)
    heard.say(CameraRecovered("camera-silent"))
    time.sleep(4 * SOON_S)
    assert heard.posted == []
