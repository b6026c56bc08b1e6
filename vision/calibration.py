"""Where a millimetre in the compartment lies in the picture.

Owns: the camera as measured at installation (a pinhole looking down, a little tilted, with one
radial term of distortion) and the sizes of what it looks at. Must not know what is in a picture,
nor how it was measured (`calibrate`).

Coordinates in the compartment: x to the right and y down as in the picture, millimetres, origin
at its centre; z up from the floor, so the top face of a flat die lies at z = die_mm. A point at
height z is nearer to the lens and therefore larger: its scale is f / (height_mm - z) with
f = floor_px_per_mm · height_mm.

Tilt turns the camera about its lens: first about the picture's y axis, so that it looks to the
right by tilt_deg[0], then about its x axis, so that it looks down the picture by tilt_deg[1].

A camera with two lenses side by side has a calibration for each, in the coordinates of the first:
before its tilt, the second one is turned about the plumb line, clockwise by turn_deg.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from vision.errors import VisionError
from vision.frame import Frame

MAX_PIXELS = 65_535
"""Longest side of a picture; no camera makes a longer one, and JPEG has no room for it."""

MIN_DICE_HIGH = 3.0
"""Heights of a die that the lens is above the floor, at least."""

MAX_TILT_DEG = 10.0
"""A camera that leans more is mounted wrongly: near walls would hide dice."""

_MIN_TO_WALL = 0.3
"""Smallest distance of a die's middle from the wall, in dice. A flat die keeps half an edge."""
_TOPS_HIGH = 1.3
"""Height, in dice, up to which the compartment holds the tops of flat dice and what is around."""

_WRITTEN = (
    "image_size", "floor_px_per_mm", "height_mm", "centre_px", "k1", "compartment_radius_mm",
    "compartment_mm", "tilt_deg", "die_mm",
)  # fmt: skip
"""Keys of the settings table, in its order."""
_PAIRS = ("image_size", "centre_px", "compartment_mm", "tilt_deg")
_SHARED = ("image_size", "compartment_radius_mm", "die_mm")
"""What a second lens has of the first's table."""


class CalibrationError(VisionError):
    """The calibration table is incomplete or cannot be true. The installer measures again."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The installation's camera and compartment, as in the table `[camera.calibration]`."""

    image_size: tuple[int, int]
    """Width and height, pixels."""
    floor_px_per_mm: float
    height_mm: float
    """Lens above the floor of the compartment."""
    centre_px: tuple[float, float]
    """Where the optical axis meets the picture."""
    compartment_radius_mm: float
    die_mm: float
    """Edge of a die."""
    k1: float = 0.0
    """Radial distortion: r_distorted = r · (1 + k1 · r²), r in focal lengths."""
    compartment_mm: tuple[float, float] = (0.0, 0.0)
    """Centre of the compartment, from the point plumb below the lens (with no tilt: the axis)."""
    tilt_deg: tuple[float, float] = (0.0, 0.0)
    """How far the optical axis leans to the picture's right and down, from plumb."""
    turn_deg: float = 0.0
    """Of a second lens: how far it is turned clockwise against the first."""
    right: Calibration | None = None
    """The second lens of a stereo camera, whose picture is the right half. The settings call it
    `second`, which in this package is the second reader."""

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Calibration:
        """Read the settings table. Raises CalibrationError, naming the key."""
        beside = _right_of(table) if "second" in table else None
        own = [each for each in dataclasses.fields(cls) if each.name != "right"]
        if unknown := set(table) - {each.name for each in own} - {"second"}:
            raise CalibrationError(f"calibration: unknown key {sorted(unknown)[0]!r}")
        try:
            values = {
                each.name: _read(each.name, table[each.name])
                for each in own
                if each.name in table or each.default is dataclasses.MISSING
            }
        except KeyError as error:
            raise CalibrationError(f"calibration: {error.args[0]!r} is missing") from error
        except (TypeError, ValueError, OverflowError) as error:
            raise CalibrationError(f"calibration: {error}") from error
        calibration = cls(**values, right=beside)
        calibration.check()
        return calibration

    def to_table(self) -> dict[str, Any]:
        """The table that `from_table` reads, without a second lens."""
        values = {key: getattr(self, key) for key in _WRITTEN}
        return {key: list(v) if key in _PAIRS else v for key, v in values.items()}

    def to_right_table(self) -> dict[str, Any]:
        """The table of a second lens: what it does not share with the first."""
        own = {key: value for key, value in self.to_table().items() if key not in _SHARED}
        return own | {"turn_deg": self.turn_deg}

    def check(self) -> None:
        """Raise CalibrationError if this cannot be true, naming the key."""
        if fault := next(self._faults(), ""):
            raise CalibrationError(f"calibration: {fault}")

    def _faults(self) -> Iterator[str]:
        """Why this cannot be true. Each fault is looked for only if there is none before it."""
        if not all(1 <= side <= MAX_PIXELS for side in self.image_size):
            yield f"image_size must be 1 to {MAX_PIXELS} pixels a side"
        for name in sorted({*_WRITTEN, "turn_deg"}):
            if not np.isfinite(getattr(self, name)).all():
                yield f"{name} must be a number, not {getattr(self, name)}"
        for name in ("floor_px_per_mm", "height_mm", "compartment_radius_mm", "die_mm"):
            if not getattr(self, name) > 0:
                yield f"{name} must be above 0"
        if not self.height_mm > MIN_DICE_HIGH * self.die_mm:
            yield "height_mm must exceed three dice"
        if abs(self.k1) > 0.3:
            yield "k1 must lie within ±0.3"
        if max(map(abs, self.tilt_deg)) > MAX_TILT_DEG:
            yield f"tilt_deg must lie within ±{MAX_TILT_DEG:g}"
        x, y = self.level_px(np.zeros((1, 2)))[0]
        if not (0 <= x < self.image_size[0] and 0 <= y < self.image_size[1]):
            yield (
                "the middle of the compartment lies outside the picture; check centre_px, "
                "compartment_mm, tilt_deg and floor_px_per_mm"
            )

    @property
    def frame_size(self) -> tuple[int, int]:
        """Width and height of what the camera sends: the pictures of both lenses side by side."""
        width, height = self.image_size
        return (width, height) if self.right is None else (2 * width, height)

    def misfit(self, frame: Frame) -> str:
        """Why a frame does not show what this camera must send; empty where it does."""
        height, width = frame.image.shape[:2]
        if frame.right is not None:
            width += frame.right.shape[1]
        if (width, height) == self.frame_size and (frame.right is None) == (self.right is None):
            return ""
        wanted = "{} x {}".format(*self.frame_size)
        if self.right is not None:
            wanted += ", both lenses' pictures side by side: is it a stereo camera?"
        elif (width, height) == (2 * self.image_size[0], self.image_size[1]):
            wanted += "; a stereo camera needs fitted = true under [camera.second]"
        return f"the picture has {width} x {height} px; the camera must send {wanted}"

    @property
    def middle_px(self) -> np.ndarray:
        """(2,) The middle of the picture."""
        return np.array(self.image_size) / 2 - 0.5

    @property
    def focal_px(self) -> float:
        return self.floor_px_per_mm * self.height_mm

    def px_per_mm(self, z_mm: float = 0.0) -> float:
        """Scale on the optical axis at a height, pixels per millimetre."""
        return self.focal_px / (self.height_mm - z_mm)

    @property
    def die_px(self) -> float:
        """Edge of a flat die's top face, pixels."""
        return self.die_mm * self.px_per_mm(self.die_mm)

    def to_px(self, points_mm: np.ndarray) -> np.ndarray:
        """(N, 3) compartment coordinates in mm to (N, 2) pixels, float64."""
        turn, lens = self._from_lens
        return self._seen(np.asarray(points_mm, np.float64).reshape(-1, 3) @ turn + lens)

    def _seen(self, from_lens: np.ndarray) -> np.ndarray:
        """(N, 2) pixels of (N, 3) points in millimetres right, down and away from the lens."""
        r = from_lens[:, :2] / from_lens[:, 2:]
        r *= self.focal_px * (1.0 + self.k1 * (r * r).sum(axis=1, keepdims=True))
        r += self.centre_px
        return np.asarray(r)

    def level_px(self, xy_mm: np.ndarray, z_mm: float = 0.0) -> np.ndarray:
        """(..., 2) mm at one height above the floor to (..., 2) pixels, float64."""
        turn, lens = self._from_lens
        level = np.asarray(xy_mm, np.float64).reshape(-1, 2) @ turn[:2] + (z_mm * turn[2] + lens)
        return self._seen(level).reshape(xy_mm.shape)

    def upright_px(self, xy_mm: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(..., 2) pixels each: places of (..., 2) mm on top of a flat die, and right below them on
        the floor."""
        return self.level_px(xy_mm, self.die_mm), self.level_px(xy_mm)

    def to_mm(self, points_px: np.ndarray, z_mm: float = 0.0) -> np.ndarray:
        """(N, 2) pixels to (N, 2) mm in the plane at height z, float64."""
        px = np.asarray(points_px, np.float64).reshape(-1, 1, 2)
        if not len(px):
            return px[:, 0]
        (u, v), f = self.centre_px, self.focal_px
        lens = np.array([(f, 0.0, u), (0.0, f, v), (0.0, 0.0, 1.0)])
        k1 = np.array((self.k1, 0.0, 0.0, 0.0))
        rays = cv2.undistortPoints(px, lens, k1, R=_turn(self.tilt_deg, self.turn_deg).T)
        return np.asarray(rays[:, 0] * (self.height_mm - z_mm) - self.compartment_mm)

    def circle_px(self, radius_mm: float, z_mm: float = 0.0) -> np.ndarray:
        """(N, 2) pixels: a level circle around the middle of the compartment; it ends where it
        begins."""
        turn = np.linspace(0, 2 * np.pi, 121)
        return self.level_px(radius_mm * np.stack([np.cos(turn), np.sin(turn)], axis=1), z_mm)

    def around(self, dice_high: float = _TOPS_HIGH) -> tuple[slice, slice]:
        """The rows and columns that show what stands in the compartment, up to so many dice."""
        reach = self.circle_px(self.compartment_radius_mm, dice_high * self.die_mm)
        return self.box_of(reach)

    def has_room_at(self, middle_px: np.ndarray) -> bool:
        """True if a die that lies flat may show the middle of its top face at this pixel (2,)."""
        place = self.to_mm(middle_px, self.die_mm)[0]
        return float(np.hypot(*place)) < self.compartment_radius_mm - _MIN_TO_WALL * self.die_mm

    def box_of(self, points_px: np.ndarray) -> tuple[slice, slice]:
        """The rows and columns of the picture that hold all of these (N, 2) pixels that it has."""
        x0, y0 = np.maximum(np.floor(points_px.min(axis=0)), 0).astype(int)
        x1, y1 = np.minimum(np.ceil(points_px.max(axis=0)), self.image_size).astype(int)
        return slice(int(y0), int(y1)), slice(int(x0), int(x1))

    @property
    def _from_lens(self) -> tuple[np.ndarray, np.ndarray]:
        # The whole calibration would be as good a key, but takes three times as long to hash.
        return _from_lens(self.tilt_deg, self.turn_deg, self.compartment_mm, self.height_mm)


def _read(name: str, value: Any) -> Any:
    """The number, or the pair of numbers, under this key of the settings table."""
    if name not in _PAIRS:
        return float(value)
    first, second = map(int if name == "image_size" else float, value)
    return first, second


def _right_of(table: Mapping[str, Any]) -> Calibration:
    """The second lens in the table of the first. Raises CalibrationError."""
    own = table["second"]
    if not isinstance(own, Mapping) or set(own) & {*_SHARED, "second"}:
        raise CalibrationError(f"calibration: second: {', '.join(_SHARED)} are the first lens's")
    shared = {key: table[key] for key in _SHARED if key in table}
    try:
        return Calibration.from_table(shared | dict(own))
    except CalibrationError as error:
        raise CalibrationError(f"second lens: {error}") from None


@functools.lru_cache
def _turn(tilt_deg: tuple[float, float], turn_deg: float) -> np.ndarray:
    """(3, 3) from plumb directions (x, y, down) to the camera's."""
    right, down = np.radians(tilt_deg)
    turns = ((down, 0.0, 0.0), (0.0, -right, 0.0), (0.0, 0.0, -np.radians(turn_deg)))
    about_x, about_y, about_z = (cv2.Rodrigues(np.array(each))[0] for each in turns)
    turn = np.asarray(about_x @ about_y @ about_z)
    turn.setflags(write=False)  # it is shared
    return turn


@functools.lru_cache
def _from_lens(
    tilt_deg: tuple[float, float],
    turn_deg: float,
    compartment_mm: tuple[float, float],
    height_mm: float,
) -> tuple[np.ndarray, np.ndarray]:
    """(3, 3) and (3,): compartment coordinates times the first, plus the second, are millimetres
    right, down and away from the lens. In the compartment z grows towards the lens."""
    turn, lens = _turn(tilt_deg, turn_deg).T, np.array((*compartment_mm, height_mm))
    both = np.diag((1.0, 1.0, -1.0)) @ turn, lens @ turn
    for each in both:
        each.setflags(write=False)  # they are shared
    return both
