"""The camera of a table whose service is stopped: a quiet picture, and dice that lie still.

Owns the camera's stream for as long as somebody measures or teaches, and when nothing moves any
more. Must not know persons, pins, or what a picture is taken for.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from typing import Self

import numpy as np

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

log = logging.getLogger(__name__)

FRAMES = 10
"""Averaged, which takes out the grain: a corner is then found to a twentieth of a pixel."""

SETTLE_FRAMES = 15
"""Left out first: a camera that has just been opened is still setting itself up."""

STILL_S = 0.3
"""So long nothing moves in the pictures before one is taken."""

REMEDY = (
    "Stop the service first: systemctl stop shaker-ctl; check the camera's cable, and that nothing "
    "moves over the dice"
)


class StoppedCamera:
    """Use as a context: the camera is let go at the end."""

    def __init__(self, p: CameraParameters) -> None:
        """Raises VisionError where the calibration cannot be used."""
        self.calibration = Calibration.from_table(p.calibration_table())
        self._patience_s = p.open_timeout_s + p.rest_timeout_s
        self._period_s = 1.0 / p.frames_per_s
        self._trouble = f"the camera {p.device!r} gives no pictures"
        self._grabber = Grabber(
            p.device,
            make_opener(p.setup(), self.calibration.frame_size, self._hear_of_controls),
            frames_per_s=p.frames_per_s,
            on_trouble=self._hear_of_trouble,
        )

    def __enter__(self) -> Self:
        self._grabber.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._grabber.stop()

    def quiet_picture(self) -> np.ndarray:
        """Return one picture, (H, W, 3) uint8 BGR, averaged over `FRAMES`; of a stereo camera it
        shows both lenses' pictures side by side. Raises CameraError where the camera gives none."""
        frames = self.frames(self._patience_s + (SETTLE_FRAMES + FRAMES) * self._period_s)
        for _ in range(SETTLE_FRAMES):
            next(frames)
        taken = [next(frames).image.astype(np.float32) for _ in range(FRAMES)]
        return np.asarray(np.clip(np.rint(np.mean(taken, axis=0)), 0, 255), np.uint8)

    def frames(self, within_s: float) -> Iterator[Frame]:
        """Yield the pictures that come. Raises CameraError when the time is over."""
        until_s, after = time.monotonic() + within_s, 0
        while (left_s := until_s - time.monotonic()) > 0:
            if (shot := self._grabber.next(after, left_s)) is None:
                break
            after = shot.sequence
            if (frame := shot.frame()) is not None:
                yield frame
        raise CameraError(f"no picture within {within_s:g} s: {self._trouble}", remedy=REMEDY)

    def _hear_of_controls(self, wrong: list[str]) -> None:
        if wrong:
            log.warning("[camera.controls]: %s", "; ".join(wrong))

    def _hear_of_trouble(self, why: str | None) -> None:
        self._trouble = why or "something moves in it"


class StillPictures(StoppedCamera):
    """Pictures of dice that lie still, and where the network sees them."""

    quiet_s = STILL_S

    def __init__(self, p: CameraParameters) -> None:
        """Load the network. Raises VisionError where calibration or model cannot be used."""
        super().__init__(p)
        self._reader = TableReader(DieFinder(), self.calibration)
        self._stillness = StillnessDetector(self.calibration)

    def take(self) -> tuple[Frame, Findings]:
        """Wait until nothing moves; return the picture and what is found in it.

        Raises CameraError where the camera gives none that can be read, or they never lie still.
        """
        seen, still_s = None, 0.0
        for whole in self.frames(self._patience_s):
            frame = self._of_its_size(whole)
            now = self._stillness.thumbnail(frame.image)
            if seen is None or self._stillness.has_moved(seen, now):
                seen, still_s = now, frame.t_capture
            elif frame.t_capture - still_s >= self.quiet_s:
                return frame, self._found(frame)
        raise AssertionError("frames end with an error")

    def _of_its_size(self, whole: Frame) -> Frame:
        frame = whole.parted(self.calibration.image_size[0]) if self.calibration.right else whole
        if misfit := self.calibration.misfit(frame):
            raise CameraError(misfit, remedy="Calibrate the camera: shaker-ctl calibrate camera")
        return frame

    def _found(self, frame: Frame) -> Findings:
        found = self._reader.look(frame)
        quality = found.observation.quality
        if quality is not None and quality.fault is not None:
            raise CameraError(
                f"the picture cannot be read: {quality.fault.value} {quality.detail}",
                remedy="shaker-ctl doctor looks at camera and light; then go on teaching",
            )
        return found
