"""Where the camera's frames come from: V4L2, a stream, or a CSI camera, with its controls held.

Owns the choice of the source by the setting `camera.device`, and how the controls of a V4L2 camera
are set and read back. Each source has the methods of a `cv2.VideoCapture`. It must not know dice.

The control numbers are V4L2's own (linux/v4l2-controls.h), which OpenCV passes through: manual
exposure is mode 1, exposure counts 0.1 ms.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import cv2

from shaker_ctl.adapters.camera.grabber import Capture
from shaker_ctl.adapters.camera.rpicam_capture import open_rpicam
from shaker_ctl.reading.controls import AUTOMATIC, TINTED, Controls, compare
from shaker_ctl.reading.messages import CameraSetup

CSI = "csi:"
"""Beginning of a device that is a CSI camera: `csi:0`."""

_MJPEG = cv2.VideoWriter.fourcc(*"MJPG")
_MANUAL_EXPOSURE = 1
_AUTOMATIC_WB = 1
_EXPOSURE_STEP_MS = 0.1

OnControls = Callable[[list[str]], None]


def make_opener(
    setup: CameraSetup, image_size: tuple[int, int], on_controls: OnControls
) -> Callable[[], Capture | None]:
    """Return a function that opens the device of `setup`, or returns None where it does not open.
    It raises CameraError where more can be said.

    Where the device sends JPEG files, `retrieve` hands these over as they are (`grabber.Shot`).
    After each opening `on_controls` is told which controls did not take: none, if all is well.
    """

    device = setup.device

    def open_device() -> Capture | None:
        if isinstance(device, str) and device.startswith(CSI):
            return open_rpicam(int(device.removeprefix(CSI)), setup, image_size, on_controls)
        # OpenCV's and FFmpeg's own complaints are silenced: one line says what failed.
        os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")
        cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
        if isinstance(device, str) and "://" in device:
            return _if_open(_stream(device, setup.open_timeout_s, setup.silent_after_s))
        capture = _if_open(_v4l2(device, image_size, setup.frames_per_s))
        if capture is not None:
            on_controls(hold_still(capture, setup.controls))
        return capture

    return open_device


def _stream(device: str, open_timeout_s: float, silent_after_s: float) -> cv2.VideoCapture:
    limits = [
        cv2.CAP_PROP_OPEN_TIMEOUT_MSEC,
        int(open_timeout_s * 1000),
        cv2.CAP_PROP_READ_TIMEOUT_MSEC,
        int(silent_after_s * 1000),
    ]
    capture = cv2.VideoCapture(device, cv2.CAP_FFMPEG, [*limits, cv2.CAP_PROP_FORMAT, -1])
    if capture.isOpened() and int(capture.get(cv2.CAP_PROP_FOURCC)) != _MJPEG:
        capture.release()
        capture = cv2.VideoCapture(device, cv2.CAP_FFMPEG, limits)
    return capture


def _v4l2(device: int | str, image_size: tuple[int, int], frames_per_s: float) -> cv2.VideoCapture:
    capture = cv2.VideoCapture(device, cv2.CAP_V4L2)
    # Uncompressed 640×480 at 30/s fills half of a USB 2 bus; most cameras offer MJPEG.
    capture.set(cv2.CAP_PROP_FOURCC, float(_MJPEG))
    capture.set(cv2.CAP_PROP_FRAME_WIDTH, image_size[0])
    capture.set(cv2.CAP_PROP_FRAME_HEIGHT, image_size[1])
    capture.set(cv2.CAP_PROP_FPS, frames_per_s)
    if int(capture.get(cv2.CAP_PROP_FOURCC)) == _MJPEG:
        capture.set(cv2.CAP_PROP_CONVERT_RGB, 0)
    return capture


def _if_open(capture: cv2.VideoCapture) -> Capture | None:
    if capture.isOpened():
        return capture
    capture.release()
    return None


def hold_still(capture: Capture, asked: Controls) -> list[str]:
    """Set a V4L2 camera's controls and read them back; return what did not take."""
    if asked.exposure_ms is not None:
        capture.set(cv2.CAP_PROP_AUTO_EXPOSURE, _MANUAL_EXPOSURE)
        capture.set(cv2.CAP_PROP_EXPOSURE, round(asked.exposure_ms / _EXPOSURE_STEP_MS))
    if asked.gain is not None:
        capture.set(cv2.CAP_PROP_GAIN, asked.gain)
    if asked.white_balance_k is not None:
        capture.set(cv2.CAP_PROP_AUTO_WB, 0)
        capture.set(cv2.CAP_PROP_WB_TEMPERATURE, asked.white_balance_k)
    if asked.focus is not None:
        capture.set(cv2.CAP_PROP_AUTOFOCUS, 0)
        capture.set(cv2.CAP_PROP_FOCUS, asked.focus)
    exposure = _known(capture, cv2.CAP_PROP_EXPOSURE)
    wrong = [] if asked.exposure_ms is not None else [AUTOMATIC]
    if asked.white_balance_k is None and _known(capture, cv2.CAP_PROP_AUTO_WB) == _AUTOMATIC_WB:
        wrong.append(TINTED)
    wrong += compare(
        asked,
        Controls(
            exposure_ms=None if exposure is None else exposure * _EXPOSURE_STEP_MS,
            gain=_known(capture, cv2.CAP_PROP_GAIN),
            white_balance_k=_known(capture, cv2.CAP_PROP_WB_TEMPERATURE),
            focus=_known(capture, cv2.CAP_PROP_FOCUS),
        ),
    )
    for name, number, value, is_asked in (
        ("exposure", cv2.CAP_PROP_AUTO_EXPOSURE, _MANUAL_EXPOSURE, asked.exposure_ms),
        ("white balance", cv2.CAP_PROP_AUTO_WB, 0, asked.white_balance_k),
        ("focus", cv2.CAP_PROP_AUTOFOCUS, 0, asked.focus),
    ):
        if is_asked is not None and _known(capture, number) not in (value, None):
            wrong.append(f"{name} is still automatic")
    return wrong


def _known(capture: Capture, number: int) -> float | None:
    """What the camera says; OpenCV answers -1, or 0 for an unknown one, where it has no control."""
    value = capture.get(number)
    return None if value < 0 else value
