"""What was seen before the toss never says anything about the toss."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from shaker_ctl.adapters.camera.grabber import Shot
from shaker_ctl.adapters.tests.test_camera_moved import Bench
from shaker_ctl.reading.messages import Rested
from shaker_ctl.reading.tests.test_toss_session import BEFORE, Table
from vision.frame import Frame
from vision.reading import Reason, Unreadable


@pytest.mark.parametrize("frames", [12, 40])
def test_a_stream_that_shows_the_dice_as_they_lay_disproves_no_toss(frames: int) -> None:
    """A late stream, in which the dip is not seen: the dice were tossed, and only it does not show.

    Wagers must not go back for it, and the shaker is not at fault.
    """
    table = Table(obeys=False)
    table.begin()
    table.read()
    finished = table.watch([BEFORE] * frames)
    assert not table.of(Rested)
    assert finished is not None
    assert isinstance(finished.verdict, Unreadable)
    assert finished.verdict.reason is Reason.NO_DIP
    assert not finished.unchanged
    assert finished.frame is not None  # what there was to see is kept with the decision


class Recording:
    """A camera that gives these pictures; then the service hangs up."""

    newest = None

    def __init__(self, bench: Bench, pictures: list[np.ndarray]) -> None:
        self._bench = bench
        self._shots = [Shot(one, number / 30, number) for number, one in enumerate(pictures, 1)]

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def next(self, sequence: int, wait_s: float) -> Shot | None:
        if self._shots:
            return self._shots.pop(0)
        self._bench.worker._requests.put(None)
        return None


class Reading:
    """A session that reads, and notes what it is shown."""

    is_reading = True
    wakes_at = None

    def __init__(self) -> None:
        self.shown: list[int] = []

    def see(self, frame: Frame, now: Callable[[], float]) -> None:
        self.shown.append(frame.sequence)

    def tick(self, now: float) -> None: ...


def test_a_picture_from_before_the_toss_that_comes_again_is_not_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The dip was seen; then the stream becomes a recording, which begins before the toss."""
    bench, reading = Bench(), Reading()
    live = [np.full((8, 8, 3), number, np.uint8) for number in range(60)]
    monkeypatch.setattr(bench.worker, "_grabber", Recording(bench, [*live, *live[:5]]))
    monkeypatch.setattr(bench.worker, "_session", reading)
    monkeypatch.setattr(bench.worker, "_beat", lambda now: None)
    bench.worker.run()
    assert reading.shown == list(range(1, 61))
