"""Settings of the camera: where it is, what it sees, and how long it may take.

Owns: the section `[camera]` with its tables, above all `[camera.calibration]`. Must not know
OpenCV. Thresholds of the reading itself are no settings. They were chosen on data;
`vision.parameters` and the model's manifest hold them with their reasons.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, field_validator, model_validator

from shaker_ctl.parameters import Parameters, bounded
from shaker_ctl.reading.controls import Controls
from shaker_ctl.reading.messages import CameraSetup

_CSI = "csi:"
"""Prefix of a CSI camera, equal to `camera_source`'s. That module loads OpenCV, this one does
not."""

_MAX_DEVICE = 255
"""Linux numbers /dev/video0 to /dev/video255."""

MAX_TILT_DEG, MIN_HEIGHT_DICE = 10.0, 3.0
"""Largest lean of a camera, and smallest height in dice. `vision.calibration` has the same limits;
the service cannot import it, because it loads numpy."""
MIN_STEREO_DIE_MM = 12.0
HEIGHT_MM = (60.0, 2000.0)
"""Height of the lens over the floor, mm: above the first, at most the second."""
RADIUS_MM = (15.0, 300.0)
"""Min and max radius of the compartment, mm (`vision.calibrating.target` prints cards for it)."""

Pixels = Annotated[int, Field(ge=32, le=16384)]
"""Width or height of a picture."""
Place = Annotated[float, Field(ge=-1000.0, le=1000.0, allow_inf_nan=False)]
"""A coordinate in the compartment, mm, within the view of a leaning lens two metres up."""
Tilt = Annotated[float, Field(ge=-MAX_TILT_DEG, le=MAX_TILT_DEG, allow_inf_nan=False)]
Gain = Annotated[float, Field(gt=0.0, le=32.0, allow_inf_nan=False)]
"""A colour's gain, as libcamera bounds it."""


class LensParameters(Parameters):
    """One lens over the compartment."""

    floor_px_per_mm: float = bounded(4.4, above=0.5, at_most=40.0)
    """Pixels per millimetre on the floor of the compartment, at the optical axis.

    Lay a ruler on the floor. Too low: flat dice measure too large and look stacked.
    """

    height_mm: float = bounded(300.0, above=HEIGHT_MM[0], at_most=HEIGHT_MM[1])
    """From the floor of the compartment up to the lens, millimetres; ± 3 mm is enough."""

    centre_px: tuple[float, float] = (320.0, 240.0)
    """Where the optical axis meets the picture, pixels, inside of it: a plumb line from the
    lens."""

    k1: float = bounded(0.0, at_least=-0.3, at_most=0.3)
    """Radial distortion of the lens, in units of focal lengths; negative for a barrel."""

    compartment_mm: tuple[Place, Place] = (0.0, 0.0)
    """Centre of the compartment from the point plumb below the lens, millimetres, x right and y
    down, each within ±1000. Without tilt that is where the optical axis meets the floor."""

    tilt_deg: tuple[Tilt, Tilt] = (0.0, 0.0)
    """How far the optical axis leans from plumb to the picture's right and down, degrees, each
    within ±10. A bracket is rarely better than 1°; `shaker-ctl calibrate camera` measures it."""

    measured: str = ""
    """Date of the calibration, as `shaker-ctl calibrate camera` writes it."""

    def require_possible(self, image_size: tuple[int, int], die_mm: float) -> None:
        """Raise ValueError where no lens with pictures of this size looks at dice of this edge."""
        for at, size in zip(self.centre_px, image_size, strict=True):
            if not 0.0 <= at <= size:  # false for nan, too
                raise ValueError(
                    f"centre_px {list(self.centre_px)} must lie in the picture of "
                    f"{image_size[0]} x {image_size[1]} pixels"
                )
        if not self.height_mm > MIN_HEIGHT_DICE * die_mm:
            raise ValueError(
                f"height_mm ({self.height_mm:g}) must exceed {MIN_HEIGHT_DICE:g} dice of "
                f"die_mm ({die_mm:g})"
            )


class CalibrationParameters(LensParameters):
    """The camera over the compartment, as `shaker-ctl calibrate camera` measures it."""

    image_size: tuple[Pixels, Pixels] = (640, 480)
    """Width and height of the pictures, of each lens, pixels, each 32 to 16384. A stream of another
    size is a fault."""

    compartment_radius_mm: float = bounded(50.0, at_least=RADIUS_MM[0], at_most=RADIUS_MM[1])
    """Radius of the compartment at its floor, millimetres."""

    picture: str = ""
    """File of the picture that it was measured in, with the corners drawn."""

    die_mm: float = bounded(16.0, at_least=8.0, at_most=30.0)
    """Edge of the dice, millimetres (casino dice: 16, 18, 19 or 25)."""

    @model_validator(mode="after")
    def _can_be_true(self) -> Self:
        self.require_possible(self.image_size, self.die_mm)
        return self


class SecondLensParameters(LensParameters):
    """The right lens of a stereo camera: one device that sends both pictures side by side."""

    fitted: bool = False
    """True: the camera has two lenses. `shaker-ctl calibrate camera --raised` then measures both.
    For dice of 12 mm or more: of smaller ones a lean of 6° raises the pips by half a millimetre."""

    turn_deg: float = bounded(0.0, at_least=-MAX_TILT_DEG, at_most=MAX_TILT_DEG)
    """How far its picture is turned clockwise against that of the first lens, degrees."""


class ControlParameters(Parameters):
    """What the camera must not adjust by itself. A key that is left out is left to the camera; one
    that it does not take is reported as `camera-controls`. A stream has no controls."""

    exposure_ms: float | None = Field(default=None, ge=0.1, le=30.0)
    """Exposure of a frame, milliseconds, fixed. Shorter than a frame's time; long enough that the
    floor is a middle grey in full light, with the gain low. 8 ms suits a bright ring light."""

    gain: float | None = Field(default=None, ge=0.0, le=255.0)
    """Gain, fixed: in the camera's own units for V4L2, a factor from 1 up for CSI. Higher: more
    grain."""

    white_balance_k: float | None = Field(default=None, ge=2000.0, le=10000.0)
    """White balance as a colour temperature, kelvin, fixed; that of the ring light.
    A CSI camera has `colour_gains` instead."""

    colour_gains: tuple[Gain, Gain] | None = None
    """Red and blue gain of a CSI camera, each above 0 and at most 32, fixed."""

    focus: float | None = Field(default=None, ge=0.0, le=1023.0)
    """Focus, fixed: in the camera's own units for V4L2, in dioptres for CSI (1 / metres: 3.4 for
    a lens 294 mm above the dice)."""


class CameraParameters(Parameters):
    """The section `[camera]`."""

    device: int | str = 0
    """A number (0 to 255) or path (`/dev/v4l/by-id/…`) for V4L2, `csi:0` for the first CSI camera
    (with rpicam-vid), or an address (`http://…/camera.mjpg`)."""

    frames_per_s: float = bounded(30.0, at_least=5.0, at_most=240.0)
    """What the camera delivers. Lower: each of the frames of a consensus takes longer; below
    10 a reading cannot keep its time. A stream below 70 % of this is reported as slow."""

    calibration: CalibrationParameters = Field(default_factory=CalibrationParameters)
    """Where a millimetre lies in the picture."""

    second: SecondLensParameters = Field(default_factory=SecondLensParameters)
    """The right lens of a stereo camera."""

    controls: ControlParameters = Field(default_factory=ControlParameters)
    """What the camera must not adjust by itself."""

    teaching: Path = Path("/var/lib/shaker-ctl/teaching")
    """File of what the table was taught of its dice (`shaker-ctl teach`). The confirmed tosses lie
    beside it, in a folder `….tosses`. A table before two lenses that reads 97 % of them is read by
    it; one that reads fewer offers no automatic entry. Without the file, or with one lens, the
    readers for any dice read.
    """

    open_timeout_s: float = bounded(3.0, above=0.1, at_most=30.0)
    """Longest wait for the camera to open and give its first frame, seconds. Estimate; a USB
    camera takes 0.3-1.5 s."""

    silent_after_s: float = bounded(0.5, above=0.05, at_most=5.0)
    """Longest time without a frame before the camera counts as silent, seconds: 15 frames.
    Lower: false alarms on a busy machine; higher: a dead camera is named later."""

    answer_timeout_s: float = bounded(1.5, above=0.3, at_most=10.0)
    """Longest time without a heartbeat (every 0.2 s) before the process is killed and started
    again, seconds. Lower: a machine under load kills a healthy process."""

    start_timeout_s: float = bounded(15.0, above=1.0, at_most=120.0)
    """Longest time from the process's start to ready, seconds; 1-2 s on the machine measured,
    several on a Pi with a cold disk. An installed table has 60 s for its whole start
    (`TimeoutStartSec` of its unit): leave 15 of them to the rest of it."""

    rest_timeout_s: float = bounded(3.0, above=0.3, at_most=20.0)
    """Longest wait for rest after the motor stopped, seconds. Measured rest: 0.1-0.25 s after
    the plate stops. Then the reading ends as `moving`."""

    read_timeout_s: float = bounded(1.5, above=0.3, at_most=10.0)
    """Longest time from rest to the verdict, seconds; then the reading ends unreadable. A
    reading takes 0.2 s when all goes well; the rest is for frames that are refused."""

    dip_level_low: float = bounded(0.55, at_least=0.2, at_most=0.9)
    """Darkest level of the ring light in a dip, 0..1. Each dip has a random level between
    this and `dip_level_high`. Lower: seen more surely, but darker pictures to read."""

    dip_level_high: float = bounded(0.75, at_least=0.3, at_most=0.9)
    """Lightest level of a dip, 0..1. Higher: with strong daylight a dip is not seen."""

    dip_delay_s: float = bounded(0.030, at_least=0.0, at_most=1.0)
    """Largest random wait between rest and dip, seconds. It adds half of itself to the time
    of every reading; nothing proves by waiting longer that the picture is of this toss, but
    a replayed dip must hit a moment within it."""

    dip_seen_within_s: float = bounded(0.18, above=0.04, at_most=2.0)
    """Longest time from setting the light to the frame that shows it, seconds. Measured:
    one frame and 6 ms. Longer: a stream late by that much is accepted."""

    @field_validator("device")
    @classmethod
    def _names_a_camera(cls, device: int | str) -> int | str:
        if isinstance(device, int):
            if not 0 <= device <= _MAX_DEVICE:
                raise ValueError(f"a camera's number is 0 to {_MAX_DEVICE}")
        elif not device.strip():
            raise ValueError("name a camera: a number, a path, csi:0, or an address")
        elif device.startswith(_CSI) and not device.removeprefix(_CSI).isdecimal():
            raise ValueError("a CSI camera is named by its number, such as csi:0")
        return device

    @model_validator(mode="after")
    def _rpicam_takes_it(self) -> Self:
        is_csi = isinstance(self.device, str) and self.device.startswith(_CSI)
        if is_csi and self.controls.white_balance_k is not None:
            raise ValueError(
                "controls.white_balance_k: rpicam-vid takes none; a CSI camera has colour_gains"
            )
        return self

    @model_validator(mode="after")
    def _dips_differ(self) -> Self:
        if not self.dip_level_low < self.dip_level_high:
            raise ValueError(
                f"dip_level_low ({self.dip_level_low:g}) must be below dip_level_high "
                f"({self.dip_level_high:g}): each dip has a random level between them"
            )
        return self

    @model_validator(mode="after")
    def _second_can_be_true(self) -> Self:
        if not self.second.fitted:
            return self
        try:
            self.second.require_possible(self.calibration.image_size, self.calibration.die_mm)
        except ValueError as error:
            raise ValueError(f"second: {error}") from None
        if self.calibration.die_mm < MIN_STEREO_DIE_MM:
            raise ValueError(
                f"second.fitted: dice of {self.calibration.die_mm:g} mm are too small for a stereo "
                f"camera, {MIN_STEREO_DIE_MM:g} mm is the least: set it to false"
            )
        return self

    def setup(self, taught: bytes = b"") -> CameraSetup:
        """What the camera process must know, without pydantic: that costs 12 MB and 0.1 s."""
        names = {each.name for each in fields(CameraSetup)} - {"taught"}
        kept = {name: getattr(self, name) for name in names}
        kept["calibration"] = self.calibration_table()
        kept["controls"] = Controls(**self.controls.model_dump())
        return CameraSetup(**kept, taught=taught)

    def calibration_digest(self) -> str:
        """SHA-256 of the calibration, in hex, as records have it."""
        text = json.dumps(self.calibration_table(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def calibration_table(self) -> dict[str, Any]:
        """The table as `vision.calibration.Calibration.from_table` reads it."""
        table = self.calibration.model_dump(exclude={"measured", "picture"})
        if self.second.fitted:
            table["second"] = self.second.model_dump(exclude={"measured", "fitted"})
        return table
