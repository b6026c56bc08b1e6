"""Where the camera's frames come from: V4L2, a stream, or a CSI camera, with its controls held.

Owns the choice by the setting `camera.device`, and setting and reading back the controls of a V4L2
camera. All sources look like a `cv2.VideoCapture` to who grabs from them. It must not know dice.

The control numbers are V4L2's own (linux/v4l2-controls.h), which OpenCV passes through: manual
exposure is mode 1, exposure counts 0.1 ms.
"""

from __future__ import annotations

from collections.abc import Callable

import cv2

from shaker_ctl.reading.controls import AUTOMATIC, TINTED, Controls, compare
from vision.camera import Capture, open_capture

CSI = "csi:"
"""Beginning of a device that is a CSI camera: `csi:0`."""

_MANUAL_EXPOSURE = 1
_AUTOMATIC_WB = 1
_EXPOSURE_STEP_MS = 0.1

OnControls = Callable[[list[str]], None]


def make_opener(
    device: int | str,
    *,
    image_size: tuple[int, int],
    frames_per_s: float,
    open_timeout_s: float,
    silent_after_s: float,
    controls: Controls,
    on_controls: OnControls,
) -> Callable[[], Capture | None]:
    """Return a function that opens the device, or returns None where it does not open.

    After each opening `on_controls` is told which controls did not take: none, if all is well.
    """

    def open_device() -> Capture | None:
        if isinstance(device, str) and device.startswith(CSI):
            from shaker_ctl.adapters.camera.picamera_capture import open_picamera

            return open_picamera(
                int(device.removeprefix(CSI)),
                image_size=image_size,
                frames_per_s=frames_per_s,
                open_timeout_s=open_timeout_s,
                silent_after_s=silent_after_s,
                controls=controls,
                on_controls=on_controls,
            )
        capture = open_capture(
            device,
            image_size=image_size,
            frames_per_s=frames_per_s,
            open_timeout_s=open_timeout_s,
            silent_after_s=silent_after_s,
        )
        is_stream = isinstance(device, str) and "://" in device
        if capture is not None and not is_stream:
            on_controls(hold_still(capture, controls))
        return capture

    return open_device


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
