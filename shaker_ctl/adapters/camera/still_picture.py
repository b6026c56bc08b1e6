"""A picture of dice that lie still, and where the network sees them: for a table that is stopped.

Owns the camera's stream for as long as somebody teaches, and when nothing moves any more. Must not
know persons, pins, or what is learnt.
"""

from __future__ import annotations

import time
from typing import Self

from shaker_ctl.adapters.camera.grabber import Grabber
from shaker_ctl.adapters.camera.source import make_opener
from shaker_ctl.errors import CameraError
from shaker_ctl.reading.parameters import CameraParameters
from vision.calibration import Calibration
from vision.findings import Findings
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.table.motion import StillnessDetector
from vision.table.reader import TableReader

STILL_S = 0.3
"""So long nothing moves in the pictures before one is taken."""


class StillPictures:
    """Use as a context: the camera is let go at the end."""

    def __init__(self, p: CameraParameters) -> None:
        """Load the network. Raises VisionError where calibration or model cannot be used."""
        self.calibration = Calibration.from_table(p.calibration_table())
        self._reader = TableReader(DieFinder(), self.calibration)
        self._stillness = StillnessDetector(self.calibration)
        self._patience_s = p.open_timeout_s + p.rest_timeout_s
        self._trouble = f"the camera {p.device!r} gives no pictures"
        self._grabber = Grabber(
            p.device,
            make_opener(p.setup(), self.calibration.frame_size, lambda _wrong: None),
            frames_per_s=p.frames_per_s,
            on_trouble=self._note,
            part_px=None if self.calibration.right is None else self.calibration.image_size[0],
        )

    def __enter__(self) -> Self:
        self._grabber.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._grabber.stop()

    def take(self) -> tuple[Frame, Findings]:
        """Wait until nothing moves; return the picture and what is found in it.

        Raises CameraError where the camera gives none that can be read, or they never lie still.
        """
        until_s = time.monotonic() + self._patience_s
        frame = self._next(0, until_s)
        seen, still_s = self._stillness.thumbnail(frame.image), frame.t_capture
        while frame.t_capture - still_s < STILL_S:
            frame = self._next(frame.sequence, until_s)
            now = self._stillness.thumbnail(frame.image)
            if self._stillness.has_moved(seen, now):
                seen, still_s = now, frame.t_capture
        found = self._reader.look(frame)
        quality = found.observation.quality
        if quality is not None and quality.fault is not None:
            raise CameraError(
                f"the picture cannot be read: {quality.fault.value} {quality.detail}",
                remedy="shaker-ctl doctor looks at camera and light; then go on teaching",
            )
        return frame, found

    def _next(self, after: int, until_s: float) -> Frame:
        """The next frame of the camera's own size."""
        while (left_s := until_s - time.monotonic()) > 0:
            if (shot := self._grabber.next(after, left_s)) is None:
                break
            after = shot.sequence
            if (frame := shot.frame()) is None:
                continue
            if misfit := self.calibration.misfit(frame):
                raise CameraError(
                    misfit, remedy="Calibrate the camera: shaker-ctl calibrate camera"
                )
            return frame
        raise CameraError(
            f"no still picture within {self._patience_s:g} s: {self._trouble}",
            remedy="Check the camera's cable, and that nothing moves over the dice; then go on",
        )

    def _note(self, why: str | None) -> None:
        self._trouble = why or "something moves in it"
