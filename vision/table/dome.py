"""Dirt on the dome: what stays in the picture while the dice move below it.

Owns: how much each place of the compartment changes during tosses, and the spots that change much
less than the places around them. Must not know readings, nor when a toss is on.

Dice that move change every place of the floor that they pass, marks of the floor itself included.
A blot on the dome or the lens hides this change. Such a place is as large as a pip; it changes
little on average and never much, while the places around it change a lot. A mark of the floor that
is as bright as a die also changes little, but when a pip passes it changes much. A saturated
highlight looks like a blot and does the same harm.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from vision.calibration import Calibration

_FRAMES = 60
"""Frames of moving dice before anything is said: two or three tosses. Fewer: places that the dice
missed by chance pass for spots."""
_HALF = 150
"""Frames after which those before the last so many are forgotten: where the dome was clean, new
dirt is told only then."""
_MOVED, _MOVING_SHARE = 16, 0.01
"""Grey levels that grain does not reach, and the share of places that change by more than that from
one frame to the next while dice move."""
_MIN_CHANGE = 3.0
"""Least change around a spot, grey levels from frame to frame: elsewhere no dice passed."""
_STILL = 0.45
"""Largest change of a spot, as a share of the least change around it. Four tosses of the rig: a
clean dome has 0.54 at the least, an opaque spot of 2 mm 0.03, one of 1.2 mm 0.28."""
_BLUR_MM, _RING_MM = 0.35, 2.6
"""Reach, mm, of a mean, and distance of the ring around a spot that is compared with it. On all of
this ring much must change: between a place that the dice passed and one that they missed, one side
of the ring does not. A larger thing is no speck; the second reader sees it as foreign."""
_MIN_AREA_MM2 = 0.3
"""Smallest spot: a disc of 0.6 mm, a fifth of a pip's width."""


@dataclass(frozen=True, slots=True)
class Blot:
    """A spot that stays."""

    x_mm: float
    y_mm: float
    """From the middle of the compartment, to the right and down."""
    width_mm: float

    def __str__(self) -> str:
        across = f"{abs(self.x_mm):.0f} mm {'right' if self.x_mm > 0 else 'left'}"
        down = f"{abs(self.y_mm):.0f} mm {'down' if self.y_mm > 0 else 'up'}"
        return f"a spot of {self.width_mm:.1f} mm ({across} and {down} from the middle)"


class _Seen:
    """What some frames of moving dice showed at each place."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.change = np.zeros(shape, np.float32)
        self.darkest = np.full(shape, 255, np.uint8)
        self.brightest = np.zeros(shape, np.uint8)
        self.frames = 0

    def add(self, step: np.ndarray, grey: np.ndarray) -> None:
        cv2.accumulate(step, self.change)
        cv2.min(self.darkest, grey, self.darkest)
        cv2.max(self.brightest, grey, self.brightest)
        self.frames += 1


class DomeWatch:
    """Watches one camera's pictures while dice move. Not thread-safe."""

    def __init__(self, calibration: Calibration) -> None:
        self._calibration = calibration
        radius = calibration.compartment_radius_mm - 0.5 * calibration.die_mm
        outline = calibration.circle_px(radius, calibration.die_mm)
        self._crop = rows, columns = calibration.box_of(outline)
        self._low = np.array((columns.start, rows.start))
        inside = np.zeros((rows.stop - rows.start, columns.stop - columns.start), np.uint8)
        cv2.fillPoly(inside, [np.round(outline - self._low).astype(np.int32)], 1)
        self._inside = inside > 0
        self._now, self._earlier = _Seen(inside.shape), _Seen(inside.shape)
        self._before: np.ndarray | None = None

    def begin(self) -> None:
        """A toss begins: the next frame has no frame before it."""
        self._before = None

    def take(self, image: np.ndarray) -> None:
        """Take a (H, W, 3) uint8 BGR frame of moving dice."""
        if image.shape[1::-1] != self._calibration.image_size:
            return
        grey = cv2.cvtColor(np.ascontiguousarray(image[self._crop]), cv2.COLOR_BGR2GRAY)
        before, self._before = self._before, grey
        if before is None:
            return
        step = np.asarray(cv2.absdiff(grey, before), np.uint8)
        if float((step > _MOVED).mean()) < _MOVING_SHARE:
            return
        if self._now.frames == _HALF:
            self._earlier, self._now = self._now, _Seen(grey.shape)
        self._now.add(step, grey)

    def blots(self) -> tuple[Blot, ...] | None:
        """The spots that stayed, largest first; None while too few frames were seen to know. A
        spot that was returned is forgotten: it is found again if it is still there."""
        frames = self._now.frames + self._earlier.frames
        if frames < _FRAMES:
            return None
        px = self._calibration.px_per_mm(self._calibration.die_mm)
        change = (self._now.change + self._earlier.change) / np.float32(frames)
        brightest = np.maximum(self._now.brightest, self._earlier.brightest)
        darkest = np.minimum(self._now.darkest, self._earlier.darkest)
        span = (brightest - darkest).astype(np.float32)
        spot, widest = (cv2.GaussianBlur(each, (0, 0), _BLUR_MM * px) for each in (change, span))
        ring = _ring(_RING_MM * px)
        around = cv2.erode(spot, ring)
        share = np.maximum(
            spot / np.maximum(around, 1e-3), widest / np.maximum(cv2.erode(widest, ring), 1.0)
        )
        is_passed = self._inside & (around > _MIN_CHANGE)
        still = (is_passed & (share < _STILL)).astype(np.uint8)
        _, _, stats, middles = cv2.connectedComponentsWithStats(still)
        areas_mm2 = stats[1:, cv2.CC_STAT_AREA] / px**2
        is_large = areas_mm2 >= _MIN_AREA_MM2
        places_px = middles[1:][is_large] + self._low
        places_mm = self._calibration.to_mm(places_px, self._calibration.die_mm).tolist()
        widths_mm = 2 * np.sqrt(areas_mm2[is_large] / np.pi)
        placed = zip(places_mm, widths_mm.tolist(), strict=True)
        found = [Blot(x, y, width) for (x, y), width in placed]
        if found:
            self._now, self._earlier = _Seen(still.shape), _Seen(still.shape)
        return tuple(sorted(found, key=lambda blot: -blot.width_mm))


def _ring(radius_px: float) -> np.ndarray:
    """A kernel of the places that are so far from its middle."""
    reach = int(np.ceil(radius_px))
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    return (np.abs(np.hypot(x, y) - radius_px) < 0.7).astype(np.uint8)
