"""The rig's camera as an instrument: where a point lands, how rows are timed, what the sensor adds.

It owns projection, lens and sensor. It must not know what is in the picture.

Pictures are worked on in square-root light (0-255 for 0-1): there a gain is a plain product, shot
noise has the same strength everywhere, and eight bits suffice. The tone curve comes last.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Annotated, Any

import cv2
import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field

Image = NDArray[Any]
"""uint8, (height, width, 3), blue first as OpenCV has it."""
FloatArray = NDArray[Any]

AMBIENT = 0.07
"""Share of the room's light in a fully lit picture. It remains if the ring light is dark."""

GRAIN = 2.6
"""Standard deviation of the sensor's noise, in levels of 255."""

Centre = Annotated[float, Field(ge=0.0, le=1920.0)]
Tilt = Annotated[float, Field(ge=-10.0, le=10.0)]
Offset = Annotated[float, Field(ge=-30.0, le=30.0)]


@dataclass(frozen=True, slots=True)
class Lens:
    """A camera above the compartment, looking down. The default hangs plumb over its middle; the
    one that a rig fits (`FITTED`) hangs as a bracket leaves it.

    The bounds hold for a rig file: what a camera of a rig can be, pixels, millimetres and degrees;
    tilt and k1 as far as a calibration takes them.
    """

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)

    width: Annotated[int, Field(ge=320, le=1920)] = 640
    height: Annotated[int, Field(ge=240, le=1440)] = 480
    height_mm: Annotated[float, Field(ge=150.0, le=900.0)] = 300.0
    floor_px_per_mm: Annotated[float, Field(ge=1.5, le=15.0)] = 4.4
    centre_px: tuple[Centre, Centre] = (321.5, 238.5)
    k1: Annotated[float, Field(ge=-0.3, le=0.3)] = -0.08
    """Radial distortion in OpenCV's sense: on the square of the tangent of the viewing angle."""
    tilt_deg: tuple[Tilt, Tilt] = (0.0, 0.0)
    """A camera mounted askew: turned about its lens, towards the picture's right and top."""
    offset_mm: tuple[Offset, Offset] = (0.0, 0.0)
    """Lens beside the compartment's axis: to the picture's right and top."""
    second_mm: Annotated[float, Field(ge=0.0, le=120.0)] = 0.0
    """Of a stereo camera: how far to the right a second lens stands, alike and parallel to this
    one, whose picture is right of this one's. 0: there is none."""

    @property
    def focal_px(self) -> float:
        return self.floor_px_per_mm * self.height_mm

    @property
    def eye_mm(self) -> FloatArray:
        """Where the lens is, (3,)."""
        return np.array([*self.offset_mm, self.height_mm])

    @property
    def second(self) -> Lens | None:
        """The second lens of a stereo camera."""
        if not self.second_mm:
            return None
        x, y = self.offset_mm
        return replace(self, offset_mm=(x + self.second_mm, y), second_mm=0.0)

    @property
    def size_share(self) -> float:
        """Width of the picture, of 640 pixels: what is painted in pixels grows with it."""
        return self.width / 640.0

    def project(self, points_mm: FloatArray) -> FloatArray:
        """Project points of shape (..., 3) in millimetres to pixels of shape (..., 2)."""
        way = (points_mm - self.eye_mm) * (1.0, 1.0, -1.0) @ self._turn().T
        ray = way[..., :2] / way[..., 2:3]
        bend = 1.0 + self.k1 * np.sum(ray * ray, axis=-1, keepdims=True)
        px: FloatArray = ray * bend * self.focal_px
        px[..., 1] *= -1.0
        px += np.asarray(self.centre_px)
        return px

    def plane_at(
        self, z_mm: float, slopes: tuple[FloatArray, FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        """Return x and y in millimetres of the plane at `z_mm` under each (sub)pixel."""
        depth = self.height_mm - z_mm
        x, y = (
            slope * depth + offset for slope, offset in zip(slopes, self.offset_mm, strict=True)
        )
        return x, y

    def slopes(self, scale: int = 1) -> tuple[FloatArray, FloatArray]:
        """Return how far to the right and up what is under each (sub)pixel is, for each millimetre
        below the lens.

        Shapes (height * scale, width * scale). The inverse of the distortion is one fixed-point
        step: exact to a hundredth of a pixel for a lens as straight as this.
        """
        steps_x = (np.arange(self.width * scale) + 0.5) / scale - 0.5
        steps_y = (np.arange(self.height * scale) + 0.5) / scale - 0.5
        u, v = np.meshgrid(steps_x, steps_y)
        rx = (u - self.centre_px[0]) / self.focal_px
        ry = -(v - self.centre_px[1]) / self.focal_px
        bend = 1.0 + self.k1 * (rx * rx + ry * ry)
        bend = 1.0 + self.k1 * (rx * rx + ry * ry) / (bend * bend)
        ray = np.stack([rx / bend, ry / bend, np.ones_like(rx)], axis=-1) @ self._turn()
        return ray[..., 0] / ray[..., 2], ray[..., 1] / ray[..., 2]

    def _turn(self) -> FloatArray:
        """Rotation from plumb directions (right, up in the picture, down to the floor) to ours."""
        to_right, to_top = np.radians(self.tilt_deg)
        a, b = np.cos(to_right), np.sin(to_right)
        c, d = np.cos(to_top), np.sin(to_top)
        return np.array([[1, 0, 0], [0, c, -d], [0, d, c]]) @ np.array(
            [[a, 0, -b], [0, 1, 0], [b, 0, a]]
        )

    @property
    def ruler_mm(self) -> float:
        """The lens's height above the floor as a person reads it from a ruler: to 5 mm."""
        return 5.0 * round(self.height_mm / 5.0)


FITTED = Lens(
    height_mm=297.0,
    floor_px_per_mm=3.3,
    centre_px=(326.0, 234.0),
    k1=-0.1,
    tilt_deg=(0.9, -0.6),
    offset_mm=(-12.0, 1.5),
    second_mm=55.0,
)
"""The camera of a rig whose file says nothing of its lens: a stereo board on a usual bracket, not
quite plumb. The left lens, which both readers look through, is nearer to the middle."""
FITTED_OVER_A_TUBE = replace(FITTED, floor_px_per_mm=4.3, offset_mm=(-10.0, 1.5), second_mm=40.0)
"""Over a tube as narrow as 32 mm: a smaller board, whose lenses both stand above the floor. From 25
mm beside the middle 24 to 40 % of the floor's rim are seen, too little to know it by."""


@dataclass(frozen=True, slots=True)
class Shutter:
    """A rolling shutter: each row is exposed for the same time, the last row latest."""

    exposure_s: float = 0.008
    readout_s: float = 0.012
    """Time from the first row's start of exposure to the last row's."""

    @property
    def frame_s(self) -> float:
        return self.exposure_s + self.readout_s

    def row_start_s(self, end_s: float, row: float | FloatArray, rows: int) -> float | FloatArray:
        """Start of the exposure of `row` in a frame whose last row ends at `end_s`."""
        return end_s - self.frame_s + self.readout_s * (row / (rows - 1))


def row_light(
    shutter: Shutter, end_s: float, rows: int, times_s: FloatArray, levels: FloatArray
) -> FloatArray:
    """Return the mean light during the exposure of each row, from a stepwise course of the light.

    `levels[i]` holds from `times_s[i]` to `times_s[i + 1]`; the last holds on.
    """
    if levels.size == 0:
        return np.zeros(rows)
    if float(levels.max() - levels.min()) < 1e-6:
        return np.full(rows, float(levels[-1]))
    # The integral of a step function is piecewise linear: interpolate it at both row ends.
    widths = np.diff(times_s)
    integral = np.concatenate([[0.0], np.cumsum(levels[:-1] * widths)])
    tail_s = times_s[-1] + 1.0
    knots = np.append(times_s, tail_s)
    values = np.append(integral, integral[-1] + levels[-1])
    start = np.asarray(shutter.row_start_s(end_s, np.arange(rows, dtype=float), rows))
    begun = np.interp(start, knots, values)
    ended = np.interp(start + shutter.exposure_s, knots, values)
    return np.clip((ended - begun) / shutter.exposure_s, 0.0, 1.0)


class Sensor:
    """Grain and tone curve."""

    def __init__(self, lens: Lens, *, seed: int) -> None:
        """Prepare banks of noise."""
        self._random = np.random.default_rng(seed)
        self._lens = lens
        shape = (lens.height + self._SLACK, lens.width + self._SLACK, 3)
        self._banks = [self._bank(shape) for _ in range(3)]
        edges = np.linspace(0, lens.height, self._BANDS + 1).astype(int).tolist()
        self._bands = list(itertools.pairwise(edges))
        self._tone = _tone_curve()

    _SLACK = 96
    _BANDS = 4
    """Each band of rows takes its grain from a place of its own. There are 27,648 places: with one
    for the whole picture, a table that stands still soon showed old pictures again, in two minutes
    four of them in a row, which a reader rightly takes for a recording. Four make it some 10^17."""

    def _bank(self, shape: tuple[int, int, int]) -> NDArray[np.int16]:
        white = self._random.standard_normal(shape, dtype=np.float32)
        grey = self._random.standard_normal(shape[:2], dtype=np.float32)
        luma: FloatArray = cv2.GaussianBlur(grey, (0, 0), 0.6)
        chroma: FloatArray = cv2.GaussianBlur(white, (0, 0), 1.1)
        mixed = GRAIN * (0.85 * luma[..., None] / luma.std() + 0.55 * chroma / chroma.std())
        return np.rint(mixed).astype(np.int16)

    def expose(self, light: Image, gain: NDArray[np.float64]) -> Image:
        """Turn square-root light into what the camera puts out.

        `gain` (rows,) is the light of each row's exposure: 1 is the ring light at full power.
        """
        low, high = float(gain.min()), float(gain.max())
        scaled = np.sqrt(AMBIENT + (1.0 - AMBIENT) * gain)
        if high - low < 1e-4:
            picture: Image = (
                light if high > 0.9999 else cv2.convertScaleAbs(light, alpha=float(scaled[0]))
            )
        else:
            rows = np.ascontiguousarray(
                np.broadcast_to(scaled.astype(np.float32)[:, None, None], light.shape)
            )
            picture = cv2.multiply(light, rows, dtype=cv2.CV_8U)
        noisy = np.empty_like(picture)
        places = zip(
            self._random.integers(0, len(self._banks), self._BANDS),
            self._random.integers(0, self._SLACK, (self._BANDS, 2)),
            strict=True,
        )
        for (top, bottom), (bank, (y, x)) in zip(self._bands, places, strict=True):
            grain = self._banks[bank][y + top : y + bottom, x : x + self._lens.width]
            cv2.add(picture[top:bottom], grain, dst=noisy[top:bottom], dtype=cv2.CV_8U)
        return cv2.LUT(noisy, self._tone)


def _tone_curve() -> Image:
    """A gentle shoulder and a black level, as a small camera's own processing has them."""
    level = np.arange(256) / 255.0
    curve = level * (1.04 - 0.10 * level) + 0.10 * level * level * (1.0 - level)
    return np.clip(np.rint(5.0 + curve * 250.0), 0, 255).astype(np.uint8)
