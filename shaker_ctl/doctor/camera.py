"""The camera as the service would use it: its process, its picture, the ring light seen in it, and
whether it keeps its exposure meanwhile.

Owns how long to look and what counts as seen. `vision` judges the pictures, in the camera's own
process; this module only asks for the judgement.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from shaker_ctl.adapters.camera.dice_camera import DiceCamera
from shaker_ctl.adapters.camera.small_picture import brightness
from shaker_ctl.doctor.finding import Finding, fail, ok, warn
from shaker_ctl.errors import CameraError, GpioLinkError
from shaker_ctl.ports import ShakerOutputs
from shaker_ctl.reading import taught_table
from shaker_ctl.reading.messages import CameraFault, CameraReady, Message
from shaker_ctl.reading.parameters import CameraParameters

LOOK_S = 3.0
"""The camera's process judges a picture every half a second, and says so after two that agree: on a
busy machine that takes as long."""

DIMMED = 0.35
"""Level of the ring light for the test: low enough to be seen in any room."""

DIMMED_S = 1.5
"""How long it stays dimmed, and is watched when it is lit again: exposure that moves by itself
takes 0.1 to some seconds."""

DARKER = 0.85
"""The picture must become so much darker than it was, as a share. The reading's own dip asks for
less; this says that light and camera belong together at all."""

MOVES = 1.12
"""Where exposure moves by itself, the dimmed picture becomes brighter by this factor and more, or
the one that is lit again is brighter than it was before. One that is fixed stays within 0.02."""

SHORT_S = 0.3
SAMPLE_S = 0.04

CONTROLS = "camera-controls"
FIX = (
    "Fix exposure, gain and white balance under [camera.controls]; those of a camera in the "
    "network in its own menu"
)

STREAM = frozenset({"camera-open", "camera-silent", "camera-slow", "camera-process", "frozen"})
"""Faults of the camera itself; all others are of its picture."""


def calibration(parameters: CameraParameters, source: Path) -> Finding:
    """Whether each lens of this camera was measured, or is only supposed to hang as most do."""
    second = parameters.second
    lenses = [parameters.calibration, second] if second.fitted else [parameters.calibration]
    if not all(lens.measured for lens in lenses):
        raised = f" --raised {parameters.calibration.die_mm:g}" if second.fitted else ""
        return warn(
            "calibration",
            "not measured yet: the figures written in the settings are used",
            f"sudo shaker-ctl calibrate camera --config {source}{raised}",
        )
    return ok("calibration", f"measured on {min(lens.measured for lens in lenses)}")


def teaching(parameters: CameraParameters) -> Finding:
    """By whom the table was taught its dice, and how well it reads them."""
    try:
        table = taught_table.found(parameters)
    except CameraError as error:
        return fail("teaching", str(error), error.remedy)
    if table is None:
        return warn("teaching", taught_table.UNTAUGHT, "shaker-ctl teach; until then dealers enter")
    if table.is_enough:
        return ok("teaching", table.words())
    return warn("teaching", f"{table.words()}: too few for automatic entry", table.advice)


def examine(parameters: CameraParameters, outputs: ShakerOutputs | None) -> Iterator[Finding]:
    """Start the camera's process, look at its pictures, dim the ring light and look again.

    `outputs`: the way to the ring light; None where the pins cannot be reached.
    """
    ready: list[CameraReady] = []

    def hear(message: Message) -> None:
        if isinstance(message, CameraReady):
            ready.append(message)

    camera = DiceCamera(parameters, hear)
    lit = _set_light(outputs, 1.0)
    try:
        camera.start()
        camera.wait_ready()
        time.sleep(LOOK_S)
        standing = list(camera.faults.values())
        yield _stream(camera, ready, standing)
        yield _picture(camera, standing)
        seen = _dim(camera, outputs) if outputs is not None and not lit else None
        yield _ring_light(outputs, lit, seen)
        yield from _exposure(standing, seen)
    except CameraError as error:
        yield fail("camera", str(error), error.remedy or _FIND)
    finally:
        camera.stop()
        _set_light(outputs, 1.0)


@dataclass(frozen=True, slots=True)
class Dimming:
    """Brightness of the picture, sample after sample, while the ring light is dimmed and lit."""

    before: list[float]
    dimmed: list[float]
    lit_again: list[float]
    refused: str = ""
    """Why the light could not be set."""

    @property
    def darkest(self) -> float:
        return min(self.dimmed, default=0.0)

    @property
    def answers(self) -> bool:
        """Whether the picture became darker at all."""
        usual = median(self.before or [0.0])
        return not self.refused and 0.0 < self.darkest < DARKER * usual

    @property
    def moved(self) -> str:
        """How exposure moved by itself; empty where it did not."""
        usual, settled = median(self.before), median(self.dimmed[-5:])
        if settled > MOVES * self.darkest:
            return f"dimmed, the picture falls to {self.darkest:.0f} and rises to {settled:.0f}"
        brightest = max(self.lit_again)
        if brightest > MOVES * usual:
            return f"lit again, the picture rises to {brightest:.0f} from {usual:.0f} before"
        return ""


def _dim(camera: DiceCamera, outputs: ShakerOutputs) -> Dimming:
    before = _levels(camera, SHORT_S)
    refused = _set_light(outputs, DIMMED)
    dimmed = _levels(camera, DIMMED_S)
    refused = _set_light(outputs, 1.0) or refused
    return Dimming(before, dimmed, _levels(camera, DIMMED_S), refused)


def _levels(camera: DiceCamera, seconds: float) -> list[float]:
    """Raises CameraError where no picture comes."""
    levels = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        levels.append(brightness(camera.snap()))
        time.sleep(SAMPLE_S)
    return levels


_FIND = "Look for it: ls /dev/v4l/by-id; set [camera] device; its user is in the group video"


def _stream(camera: DiceCamera, ready: list[CameraReady], standing: list[CameraFault]) -> Finding:
    for fault in standing:
        if fault.code in STREAM:
            return fail("camera", fault.text, fault.remedy or _FIND)
    health = camera.health
    rate = f", {health.fps:.0f} frames a second" if health is not None else ""
    size = f"{ready[-1].width}×{ready[-1].height}" if ready else "open"
    return ok("camera", f"{size}{rate}")


def _picture(camera: DiceCamera, standing: list[CameraFault]) -> Finding:
    for fault in standing:
        if fault.code not in STREAM | {CONTROLS}:
            return fail("picture", f"{fault.code}: {fault.text}", fault.remedy)
    health = camera.health
    if health is None or health.sharpness == 0.0:
        return fail("picture", "no picture was judged", "Give the camera longer; then its cable")
    return ok(
        "picture",
        f"in its place, sharp ({health.sharpness:.2f}), exposed (median {health.median:.0f})",
    )


def _ring_light(outputs: ShakerOutputs | None, lit: str, seen: Dimming | None) -> Finding:
    """The picture must follow the light."""
    name = "ring light"
    check = "Check its supply and its wire to GPIO {ring_light}"
    if outputs is None:
        return fail(name, "not tried: the pins cannot be reached", "Mend the GPIO daemon first")
    if seen is None or seen.refused:
        return fail(name, lit if seen is None else seen.refused, check)
    before = median(seen.before or [0.0])
    said = f"the picture goes from {before:.0f} to {seen.darkest:.0f} when it is dimmed"
    return ok(name, said) if seen.answers else fail(name, said, check)


def _exposure(standing: list[CameraFault], seen: Dimming | None) -> Iterator[Finding]:
    """Nothing in the picture may change but what is seen: by the camera's own word, and by the
    pictures themselves. No line where neither says anything."""
    name = "exposure"
    fault = next((each for each in standing if each.code == CONTROLS), None)
    if fault is not None:
        yield fail(name, fault.text, FIX)
    elif seen is not None and seen.answers:
        moved = seen.moved
        if moved:
            yield fail(name, f"the camera's exposure moves by itself: {moved}", FIX)
        else:
            yield ok(name, "stays as it is while the ring light is dimmed and lit")


def _set_light(outputs: ShakerOutputs | None, level: float) -> str:
    """Return why the light could not be set; empty where it was."""
    if outputs is None:
        return ""
    try:
        outputs.set_light(level)
    except GpioLinkError as error:
        return str(error)
    return ""
