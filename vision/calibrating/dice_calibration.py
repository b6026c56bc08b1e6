"""A camera's calibration from the dice themselves: they lie flat, and are all of one size.

Owns which of the top faces seen in some pictures are to be trusted, and the least squares over
them. Must not know files, cameras or people.

Each flat die is a square in the plane of the dice's tops. Where it lies and how it is turned is not
known; that it is a square, and as large as the others, is. Many of them, all over the floor, give
tilt and distortion, in the plane that the readers measure in and by the very edges that they use.
Where the compartment is, and the last percent of the scale, the compartment's rim tells, whose
radius is known: the bright edge of a die spills outward by one or two tenths of a millimetre. The
lens's height is a ruler's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vision.calibrating.calibrate import (
    Fit,
    Lying,
    camera_of,
    first_guess,
    least_squares,
    misses,
    sigmas,
    unexpected,
)
from vision.calibration import Calibration, CalibrationError
from vision.networks.classifier import FoundDie
from vision.quads import SQUARE, edge_of, sides_of
from vision.table.edges import refine
from vision.table.place import OFFSETS_PX, rim_near
from vision.table.reader import Finder
from vision.table.rim import Rim

MIN_FACES = 18
"""With fewer the tilt is known no better than a spirit level on the bracket tells it."""

MIN_SPREAD = 0.35
"""Root mean square distance of the dice from their middle, as a share of the compartment's radius:
dice all over a floor have 0.5 to 0.6."""

MIN_SCORE, MIN_FLAT = 0.6, 0.5
"""Least score, and least probability of lying flat, 0..1, of a face that measures the camera."""
SIZE_TOLERANCE = 0.12
"""A face differs from the median edge by at most so much: perspective and tilt together make 8 %,
a die that lies on another 6 % more."""
SQUARE_TOLERANCE = 0.06
"""Sides of one face among themselves."""

SAME_PLACE_PX = 1.0
"""Faces whose middles are nearer than this are one die that was not moved between two pictures. The
middle of such a die is found again to 0.4 px (24 dice on the rig, six pictures each). Two dice laid
anew are as near once in 30,000 pairs."""

CORNER_PX = 0.5
"""What a corner of a top face is off by, each way: its edges are rounded."""

SPILL_MM = 0.3
"""How much larger than a die its top face looks, to begin with."""

EDGES = (0.985, 1.05)
"""Shares of a die's edge between which its top face must look, by the scale that the rim gives. On
the virtual rig 1.02 to 1.03 for white dice; outside, a size in the settings is not the table's."""

MAX_ERROR_PX = 1.5
"""Root mean square of what is left over, above which these are no squares of one size."""

STRAY = 3.0
"""Faces that fit so many times worse than the median one are left out: a die that leans."""

_RIM_ROUNDS, _SCALE_ROUNDS = 6, 3
"""How often the place of the rim, and the scale, are found anew from the last ones."""


@dataclass(frozen=True, slots=True)
class Face:
    """The top face of one die in one picture."""

    picture: int
    corners: np.ndarray
    """(4, 2) pixels, in turn around the face."""

    @property
    def edge_px(self) -> float:
        return edge_of(self.corners)


def find_faces(pictures: Sequence[np.ndarray], finder: Finder) -> list[Face]:
    """Return the faces in the (H, W, 3) uint8 pictures that look flat, whole and square. A die that
    was not moved from one picture to another counts once: it tells nothing new."""
    found = [
        Face(number, refined)
        for number, image in enumerate(pictures)
        for die in finder.find(image)
        if (refined := _refined(image, die)) is not None
    ]
    if not found:
        return []
    usual = float(np.median([face.edge_px for face in found]))
    of_size = [face for face in found if abs(face.edge_px / usual - 1.0) < SIZE_TOLERANCE]
    kept: list[Face] = []
    for face in of_size:
        middle = face.corners.mean(axis=0)
        if all(np.hypot(*(middle - one.corners.mean(axis=0))) > SAME_PLACE_PX for one in kept):
            kept.append(face)
    return kept


def _refined(image: np.ndarray, die: FoundDie) -> np.ndarray | None:
    if die.score < MIN_SCORE or die.flat_p < MIN_FLAT:
        return None
    moved, shares = refine(image, die.corners[None])
    edges = np.linalg.norm(sides_of(moved[0]), axis=1)
    is_square = float(np.ptp(edges)) < SQUARE_TOLERANCE * edges.mean()
    return moved[0] if shares[0] == 1.0 and is_square else None


def calibrate_by_dice(pictures: Sequence[np.ndarray], finder: Finder, start: Calibration) -> Fit:
    """Measure the camera by the dice that lie flat in `pictures`, in different places in each.

    `start` gives the dice's and the compartment's sizes and the lens's height. Raises
    CalibrationError with what to do.
    """
    height, width = pictures[0].shape[:2]
    if any(image.shape[:2] != (height, width) for image in pictures):
        raise CalibrationError("the pictures are of different sizes")
    faces = find_faces(pictures, finder)
    base = replace(start, image_size=(width, height))
    _require(faces, base)
    edge_mm = base.die_mm + SPILL_MM
    for _ in range(_SCALE_ROUNDS):
        x, covariance, faces = _fitted(faces, base, edge_mm)
        fitted, larger = _placed(camera_of(x, base), pictures)
        edge_mm /= larger
    lying = _lying(faces, base.die_mm, edge_mm * larger)
    missed = misses(x, base, lying)
    error_px = float(np.sqrt((missed**2).sum(axis=1).mean()))
    if error_px > MAX_ERROR_PX:
        raise CalibrationError(
            f"the dice fit no camera better than {error_px:.2f} px ({MAX_ERROR_PX:g} at most): "
            f"are they {start.die_mm:g} mm dice that lie flat, and is the camera in focus?"
        )
    if not EDGES[0] < edge_mm / base.die_mm < EDGES[1]:
        raise CalibrationError(
            f"by the compartment's rim the dice measure {edge_mm:.2f} mm, and should "
            f"{base.die_mm:g}: measure both, and correct die_mm or compartment_radius_mm"
        )
    is_first = np.array([face.picture == 0 for face in faces])[lying.thing]
    return Fit(
        calibration=fitted,
        error_px=error_px,
        corners=len(missed),
        sigma=sigmas(covariance, error_px, CORNER_PX),
        found=((lying.px[is_first], (lying.px - missed)[is_first]),),
    )


def _require(faces: Sequence[Face], base: Calibration) -> None:
    if len(faces) < MIN_FACES:
        raise CalibrationError(
            f"dice lie flat in only {len(faces)} different places ({MIN_FACES} needed): take more "
            "pictures, of dice in other places that touch nothing"
        )
    at = np.array([face.corners.mean(axis=0) for face in faces])
    usual = float(np.median([face.edge_px for face in faces]))
    spread_mm = float(np.sqrt(at.var(axis=0).sum())) * base.die_mm / usual
    if spread_mm < MIN_SPREAD * base.compartment_radius_mm:
        raise CalibrationError(
            f"all dice lie within {spread_mm:.0f} mm of one place: lay them all over the floor, "
            "also near the wall"
        )


def _fitted(
    faces: list[Face], base: Calibration, edge_mm: float
) -> tuple[np.ndarray, np.ndarray, list[Face]]:
    """The unknowns, their covariance, and the faces that agree."""
    for is_last in (False, True):
        lying = _lying(faces, base.die_mm, edge_mm)

        def residuals(x: np.ndarray, lying: Lying = lying) -> np.ndarray:
            left = misses(x, base, lying).ravel() / CORNER_PX
            return np.concatenate([left, unexpected(x, base)])

        x, covariance = least_squares(residuals, first_guess(base, lying))
        if is_last:
            break
        squared = (misses(x, base, lying) ** 2).sum(axis=1)
        off = np.sqrt(squared.reshape(len(faces), -1).mean(axis=1))
        good = off < STRAY * max(float(np.median(off)), CORNER_PX)
        faces = [face for face, is_good in zip(faces, good, strict=True) if is_good]
        _require(faces, base)
    return x, covariance, faces


def _lying(faces: Sequence[Face], die_mm: float, edge_mm: float) -> Lying:
    """Squares of this edge at the height of a die's top."""
    count = len(faces)
    return Lying(
        places=np.tile(SQUARE * edge_mm / 2, (count, 1)),
        px=np.concatenate([face.corners for face in faces]),
        height_mm=np.full(count * len(SQUARE), die_mm),
        thing=np.repeat(np.arange(count), len(SQUARE)),
    )


def _placed(camera: Calibration, pictures: Sequence[np.ndarray]) -> tuple[Calibration, float]:
    """The camera with the compartment where its rim is seen, and how many times larger than that
    camera has it the rim looks. Raises CalibrationError."""
    scale = camera.px_per_mm()
    for right_px, down_px in OFFSETS_PX:
        placed = replace(camera, compartment_mm=(right_px / scale, down_px / scale))
        if rim_near(placed, pictures[0]) is None:
            continue
        for _ in range(_RIM_ROUNDS):
            rim = Rim(placed)
            shifts = [found for image in pictures if (found := rim.shift(image)[0]) is not None]
            right, down, outward = np.median(shifts, axis=0) / scale if shifts else np.zeros(3)
            x, y = placed.compartment_mm
            placed = replace(placed, compartment_mm=(float(x + right), float(y + down)))
        return placed, float(1.0 + outward / camera.compartment_radius_mm)
    raise CalibrationError(
        "the compartment's rim is not seen where it would be by these dice: correct die_mm or "
        "compartment_radius_mm in the settings; the picture must show the whole floor"
    )
