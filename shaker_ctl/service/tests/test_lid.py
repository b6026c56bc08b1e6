"""The lid opens for a hand and for no longer, and never beside a shaker that moves."""

from __future__ import annotations

import pytest

from hil_tests.waiting import until
from shaker_ctl.errors import GpioLinkError, RefusedError
from shaker_ctl.service.lid import AT_REST_S, Lid


class Latch:
    """The latch's pin, with what was done to it."""

    def __init__(self) -> None:
        self.levels: list[bool] = []
        self.is_lost = False

    def set_light(self, level: float) -> None:
        """No light here."""

    def drive_cover(self, opened: bool) -> None:
        """No cover here."""

    def release_latch(self, released: bool) -> None:
        if self.is_lost:
            raise GpioLinkError("the daemon is gone")
        self.levels.append(released)


def test_a_pulse_ends_by_itself() -> None:
    latch = Latch()
    Lid(latch, lambda: 60.0, 0.02).release()
    until(lambda: latch.levels == [True, False])


def test_a_shaker_that_moved_just_now_keeps_the_lid_shut() -> None:
    latch = Latch()
    with pytest.raises(RefusedError, match=r"moved 1\.9 s ago"):
        Lid(latch, lambda: AT_REST_S - 0.1, 3.0).release()
    assert latch.levels == []


def test_stopping_ends_the_pulse_at_once_and_only_once() -> None:
    latch = Latch()
    lid = Lid(latch, lambda: 60.0, 3.0)
    lid.stop()
    lid.release()
    lid.stop()
    lid.stop()
    assert latch.levels == [True, False]


def test_whoever_moves_the_shaker_is_told_while_a_hand_can_open_the_lid() -> None:
    latch = Latch()
    said_when_asked: list[bool] = []

    def still_for_s() -> float:
        said_when_asked.append(lid.is_released())
        return still_s

    lid, still_s = Lid(latch, still_for_s, 3.0), 60.0
    assert not lid.is_released()
    lid.release()
    assert said_when_asked == [True], "a start in the same moment must see it"
    assert lid.is_released()
    lid.stop()
    assert not lid.is_released()
    still_s = 0.0
    with pytest.raises(RefusedError):
        lid.release()
    assert not lid.is_released()


def test_a_second_pulse_begins_anew() -> None:
    latch = Latch()
    lid = Lid(latch, lambda: 60.0, 3.0)
    lid.release()
    lid.release()
    lid.stop()
    assert latch.levels == [True, True, False]


def test_a_link_that_is_lost_in_the_pulse_ends_no_thread(caplog: pytest.LogCaptureFixture) -> None:
    latch = Latch()
    lid = Lid(latch, lambda: 60.0, 3.0)
    lid.release()
    latch.is_lost = True
    lid.stop()
    assert "the latch of the lid" in caplog.text
