"""The camera as the service would use it: its process, its picture, and the ring light seen in it.

Owns how long to look and what counts as seen. The judgement of pictures is vision's, made in the
camera's own process; this only asks.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

from shaker_ctl.adapters.camera.dice_camera import DiceCamera
from shaker_ctl.doctor.finding import Finding, fail, ok, warn
from shaker_ctl.errors import CameraError, GpioLinkError
from shaker_ctl.ports import ShakerOutputs
from shaker_ctl.reading.messages import CameraFault, CameraReady, CameraRecovered, Message
from shaker_ctl.reading.parameters import CameraParameters

LOOK_S = 3.0
"""The camera's process judges a picture every half a second, and says so after two that agree: on a
busy machine that takes as long."""

DIMMED = 0.35
"""Level of the ring light for the test: low enough to be seen in any room."""

DIMMED_S = 1.2
"""How long it stays dimmed: two judgements of a picture."""

DARKER = 0.85
"""The compartment's median must fall to this share of what it was. The reading's own dip asks for
less; this says that light and camera belong together at all."""

STREAM = frozenset({"camera-open", "camera-silent", "camera-slow", "camera-process", "frozen"})
"""Faults of the camera itself; all others are of its picture."""


class _Faults:
    """The faults that stand, as the camera's process tells them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._standing: dict[str, CameraFault] = {}
        self.ready: CameraReady | None = None

    def hear(self, message: Message) -> None:
        with self._lock:
            match message:
                case CameraReady():
                    self.ready = message
                case CameraFault(code):
                    self._standing[code] = message
                case CameraRecovered(code):
                    self._standing.pop(code, None)

    def standing(self) -> list[CameraFault]:
        with self._lock:
            return list(self._standing.values())


def calibration(parameters: CameraParameters, source: Path) -> Finding:
    """Whether this camera has been measured, or is only supposed to hang as most do."""
    measured = parameters.calibration.measured
    if not measured:
        return warn(
            "calibration",
            "not measured yet: the figures written in the settings are used",
            f"sudo shaker-ctl calibrate camera --config {source}",
        )
    return ok("calibration", f"measured on {measured}")


def examine(parameters: CameraParameters, outputs: ShakerOutputs | None) -> Iterator[Finding]:
    """Start the camera's process, look at its pictures, dim the ring light and look again.

    `outputs`: the way to the ring light; None where the pins cannot be reached.
    """
    faults = _Faults()
    camera = DiceCamera(parameters, faults.hear)
    lit = _set_light(outputs, 1.0)
    try:
        camera.start()
        camera.wait_ready()
        time.sleep(LOOK_S)
        standing = faults.standing()
        yield _stream(camera, faults, standing)
        yield _picture(camera, standing)
        yield _ring_light(camera, outputs, lit)
    except CameraError as error:
        yield fail("camera", str(error), error.remedy or _FIND)
    finally:
        camera.stop()
        _set_light(outputs, 1.0)


_FIND = "Look for it: ls /dev/v4l/by-id; set [camera] device; its user is in the group video"


def _stream(camera: DiceCamera, faults: _Faults, standing: list[CameraFault]) -> Finding:
    for fault in standing:
        if fault.code in STREAM:
            return fail("camera", fault.text, fault.remedy or _FIND)
    health, ready = camera.health, faults.ready
    rate = f", {health.fps:.0f} frames a second" if health is not None else ""
    size = f"{ready.width}×{ready.height}" if ready is not None else "open"
    return ok("camera", f"{size}{rate}")


def _picture(camera: DiceCamera, standing: list[CameraFault]) -> Finding:
    for fault in standing:
        if fault.code not in STREAM:
            return fail("picture", f"{fault.code}: {fault.text}", fault.remedy)
    health = camera.health
    if health is None or health.sharpness == 0.0:
        return fail("picture", "no picture was judged", "Give the camera longer; then its cable")
    return ok(
        "picture",
        f"in its place, sharp ({health.sharpness:.2f}), exposed (median {health.median:.0f})",
    )


def _ring_light(camera: DiceCamera, outputs: ShakerOutputs | None, lit: str) -> Finding:
    """The median of the compartment must follow the light."""
    name = "ring light"
    check = "Check its supply and its wire to GPIO {ring_light}"
    if outputs is None:
        return fail(name, "not tried: the pins cannot be reached", "Mend the GPIO daemon first")
    if lit:
        return fail(name, lit, check)
    before = _median(camera)
    refused = _set_light(outputs, DIMMED)
    if refused:
        return fail(name, refused, check)
    time.sleep(DIMMED_S)
    after = _median(camera)
    said = f"the compartment's median goes from {before:.0f} to {after:.0f} when it is dimmed"
    if before <= 0.0 or after > DARKER * before:
        return fail(name, said, check)
    return ok(name, said)


def _median(camera: DiceCamera) -> float:
    return camera.health.median if camera.health is not None else 0.0


def _set_light(outputs: ShakerOutputs | None, level: float) -> str:
    """Return why the light could not be set; empty where it was."""
    if outputs is None:
        return ""
    try:
        outputs.set_light(level)
    except GpioLinkError as error:
        return str(error)
    return ""
