"""A CSI camera through picamera2, in the shape of a `cv2.VideoCapture`.

Owns configuring libcamera for an even stream with everything held still, and reading back from the
frames' own metadata whether it is. Must not know dice. picamera2 comes with Raspberry Pi OS (`apt
install python3-picamera2`; a virtual environment needs --system-site-packages): it is imported only
where a CSI camera is set.

A frame that does not come within its time ends the stream, as a USB camera's would: the grabber
opens it again, and the process's own deadline stands behind a driver that never returns.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from typing import Any

import numpy as np

from shaker_ctl.reading.controls import AUTOMATIC, TINTED, Controls, compare
from shaker_ctl.reading.messages import CameraSetup

log = logging.getLogger(__name__)

READ_BACK_FRAMES = 6
"""Frames until a control that was set shows in the metadata: the sensor is some frames ahead."""

BUFFERS = 4
_MANUAL_FOCUS = 0


def open_picamera(
    index: int,
    setup: CameraSetup,
    image_size: tuple[int, int],
    on_controls: Callable[[list[str]], None],
) -> PicameraCapture | None:
    """Open the CSI camera of this number; None where there is none, it is in use, or picamera2 is
    not installed (the log says which)."""
    try:
        from picamera2 import Picamera2
    except ImportError as error:
        log.error(
            "a CSI camera needs picamera2, which is not to be had here (%s): apt install "
            "python3-picamera2, and a virtual environment with --system-site-packages",
            error,
        )
        return None
    try:
        camera = Picamera2(index)
    except (RuntimeError, IndexError) as error:
        log.error("the CSI camera %s does not open: %s", index, error)
        return None
    try:
        return PicameraCapture(camera, setup, image_size, on_controls)
    except (RuntimeError, ValueError) as error:
        log.error("the CSI camera %s refuses: %s", index, error)
        with contextlib.suppress(RuntimeError):
            camera.close()
        return None


class PicameraCapture:
    """A started camera. `grab` waits for the next frame, `retrieve` gives its picture."""

    def __init__(
        self,
        camera: Any,
        setup: CameraSetup,
        image_size: tuple[int, int],
        on_controls: Callable[[list[str]], None],
    ) -> None:
        """Configure and start. Raises RuntimeError or ValueError, as picamera2 does."""
        self._camera = camera
        self._setup = setup
        self._on_controls = on_controls
        self._frames = 0
        self._request: Any = None
        self._opened = False
        period_us = round(1e6 / setup.frames_per_s)
        # "RGB888" is blue first in memory, as OpenCV has it (picamera2 manual, 4.2.2.2).
        configuration = camera.create_video_configuration(
            main={"size": tuple(image_size), "format": "RGB888"},
            controls={"FrameDurationLimits": (period_us, period_us), **_settings(setup.controls)},
            buffer_count=BUFFERS,
            queue=False,  # A frame that was exposed before it was asked for is last round's.
        )
        camera.configure(configuration)
        camera.start()
        self._opened = True

    def isOpened(self) -> bool:  # noqa: N802 - OpenCV's name
        """True until released."""
        return self._opened

    def grab(self) -> bool:
        """Wait for a frame; False when none came in time."""
        self._let_go()
        if not self._opened:
            return False
        try:
            setup = self._setup
            wait_s = setup.silent_after_s if self._frames else setup.open_timeout_s
            self._request = self._camera.capture_request(wait=wait_s)
        except (TimeoutError, RuntimeError) as error:
            log.warning("the CSI camera gave no frame: %r", error)
            return False
        self._frames += 1
        if self._frames == READ_BACK_FRAMES:
            asked, said = self._setup.controls, _said(self._request.get_metadata())
            wrong = [] if asked.exposure_ms is not None else [AUTOMATIC]
            # A camera without colour has no gains of colours.
            if said.colour_gains is not None and not (asked.colour_gains or asked.white_balance_k):
                wrong.append(TINTED)
            self._on_controls(wrong + compare(asked, said))
        return True

    def retrieve(self) -> tuple[bool, np.ndarray | None]:
        """Return the picture of the frame that was grabbed, (H, W, 3) uint8 BGR."""
        if self._request is None:
            return False, None
        image = np.array(self._request.make_array("main"))  # A copy: the buffer goes back.
        self._let_go()
        return True, image

    def set(self, _number: int, _value: float) -> bool:
        """Controls are set at the opening."""
        return False

    def get(self, _number: int) -> float:
        """No OpenCV property is known here."""
        return -1.0

    def release(self) -> None:
        """Stop and close. Never raises."""
        self._let_go()
        self._opened = False
        with contextlib.suppress(RuntimeError):
            self._camera.stop()
        with contextlib.suppress(RuntimeError):
            self._camera.close()

    def _let_go(self) -> None:
        request, self._request = self._request, None
        if request is not None:
            request.release()


def _settings(asked: Controls) -> dict[str, Any]:
    """libcamera's names and units."""
    found: dict[str, Any] = {}
    if asked.exposure_ms is not None or asked.gain is not None:
        found["AeEnable"] = False
    if asked.exposure_ms is not None:
        found["ExposureTime"] = round(asked.exposure_ms * 1000)
    if asked.gain is not None:
        found["AnalogueGain"] = asked.gain
    if asked.colour_gains is not None:
        found["AwbEnable"] = False
        found["ColourGains"] = asked.colour_gains
    elif asked.white_balance_k is not None:
        found["AwbEnable"] = False
        found["ColourTemperature"] = round(asked.white_balance_k)
    if asked.focus is not None:
        found["AfMode"] = _MANUAL_FOCUS
        found["LensPosition"] = asked.focus
    return found


def _said(metadata: dict[str, Any]) -> Controls:
    exposure, gains = metadata.get("ExposureTime"), metadata.get("ColourGains")
    return Controls(
        exposure_ms=None if exposure is None else exposure / 1000.0,
        gain=metadata.get("AnalogueGain"),
        white_balance_k=metadata.get("ColourTemperature"),
        colour_gains=None if gains is None else (float(gains[0]), float(gains[1])),
        focus=metadata.get("LensPosition"),
    )
