"""A camera's calibration from pictures of the printed target on the floor of its compartment.

Owns finding the target, and the least squares over everything that is not known. Must not know
files, cameras or people.

One picture of a card that lies flat says nothing about the lens's height, and little about where
its axis meets the picture: a lens with a longer focal length, higher up, sees the same. So two
more measurements enter, each with its own uncertainty: the height by a ruler (to some millimetres),
and how cameras are mounted (axis nearly plumb, near the middle of picture and compartment). A
second picture, with the card raised by a known amount, replaces both by real ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import cv2
import numpy as np

from shaker_ctl.frozen import frozen
from vision.calibrating.target import MARKER_SHARE, Target
from vision.calibration import Calibration, CalibrationError

MIN_CORNERS = 16
"""Of about 60; with fewer the lens's distortion is anybody's guess."""

MIN_REACH = 0.55
"""How far from the centre the outermost corner must lie, in radii of the compartment."""

CORNER_PX = 0.12
"""What a corner is off by in a focused picture of a small camera, each way."""

MAX_ERROR_PX = 0.6
"""Root mean square of what is left over, above which something is wrong with the card or focus."""

HEIGHT_MM = 3.0
"""How far a lens's height is from what a ruler says (one sigma)."""

AXIS_SHARE = 0.02
"""How far a lens's axis is from the middle of the picture, as a share of its width (one sigma)."""

DISTORTION = 0.15
TILT_DEG = 3.0
BESIDE_MM = 5.0
"""How far a bracket holds a lens beside the middle of its compartment (one sigma). Without this the
card in a small compartment, seen by a small camera, is explained as well by a lens 20 mm beside it
that leans by 4°: dice then seem to lean by so much."""

UNDETERMINED = (
    "the pictures do not determine the camera: take them again, and give the heights as measured"
)

CROOKED = "the target's corners do not lie as printed: take a new picture"

_FINER = 1.5
"""Times as large, the picture in which corners are found to a tenth of a pixel."""
_UNTIL = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_MAX_ITER, 40, 1e-3)
_STEPS = 30
_TINY = 1e-6


@frozen
class View:
    """One picture with the card in it."""

    image: np.ndarray
    """(H, W) or (H, W, 3) uint8."""
    raised_mm: float = 0.0
    """Height of the printed side above the floor; a sheet of paper is 0.1, most cards 0.3-2."""


@frozen
class Fit:
    """What came out, and how well it is known."""

    calibration: Calibration
    error_px: float
    """Root mean square distance of the corners from where the calibration puts them."""
    corners: int
    sigma: dict[str, float]
    """One sigma of height_mm, floor_px_per_mm (in percent), tilt_deg, k1."""
    found: tuple[tuple[np.ndarray, np.ndarray], ...]
    """Of each picture to be kept the corners found and where they were expected, (N, 2) pixels; of
    pictures of dice the first is kept."""

    @property
    def line(self) -> str:
        """In words."""
        c = self.calibration
        return (
            f"{self.corners} corners to {self.error_px:.2f} px; {c.floor_px_per_mm:.3f} px/mm "
            f"(±{self.sigma['floor_px_per_mm']:.2f} %), lens {c.height_mm:.1f} mm up "
            f"(±{self.sigma['height_mm']:.1f}), tilt {c.tilt_deg[0]:+.2f}° {c.tilt_deg[1]:+.2f}° "
            f"(±{self.sigma['tilt_deg']:.2f}), k1 {c.k1:+.3f} (±{self.sigma['k1']:.3f})"
        )


def find_corners(image: np.ndarray, target: Target) -> tuple[np.ndarray, np.ndarray]:
    """Find the card; return (N, 2) places on it in mm and (N, 2) pixels.

    Raises CalibrationError, saying what to do, where too little of it is seen.
    """
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY) if image.ndim == 3 else image
    detection = cv2.aruco.DetectorParameters()
    detection.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    charuco = cv2.aruco.CharucoParameters()
    charuco.minMarkers = 1
    detector = cv2.aruco.CharucoDetector(target.board(), charuco, detection)
    corners, numbers, _, markers = detector.detectBoard(grey)
    chosen = np.zeros(0, int) if numbers is None else np.asarray(numbers).ravel()
    whole = target.is_whole()[chosen]
    seen = int(whole.sum())
    if seen < MIN_CORNERS:
        raise CalibrationError(
            f"only {seen} corners of the target are seen ({MIN_CORNERS} needed, "
            f"{0 if markers is None else len(markers)} markers read): lay it flat, face up, in "
            "focus and evenly lit, with nothing on it"
        )
    places = target.corners_mm()[chosen[whole]]
    reach = float(np.hypot(*places.T).max()) / target.compartment_radius_mm
    if reach < MIN_REACH:
        raise CalibrationError(
            f"only the middle {reach:.0%} of the target is seen: the picture must show all of the "
            "compartment's floor"
        )
    return places, _refined(grey, target, places, np.asarray(corners).reshape(-1, 2)[whole])


def _refined(
    grey: np.ndarray, target: Target, places: np.ndarray, corners: np.ndarray
) -> np.ndarray:
    """(N, 2) pixels: the corners, found again in a window that holds nothing of a marker. OpenCV's
    own window does: of a small camera's corners it puts one in twenty off by half a pixel."""
    matrix, _ = cv2.findHomography(places, corners, cv2.LMEDS)
    if matrix is None:
        raise CalibrationError(CROOKED)
    start = cv2.perspectiveTransform(places[:, None], matrix)
    px_per_mm = float(np.sqrt(abs(np.linalg.det(matrix[:2, :2] / matrix[2, 2]))))
    border_px = px_per_mm * target.print_scale * target.square_mm * (1.0 - MARKER_SHARE) / 2
    reach = max(2, round(_FINER * border_px))
    large = cv2.resize(grey, None, fx=_FINER, fy=_FINER, interpolation=cv2.INTER_CUBIC)
    at = ((start + 0.5) * _FINER - 0.5).astype(np.float32)
    cv2.cornerSubPix(large, at, (reach, reach), (-1, -1), _UNTIL)
    return (at[:, 0].astype(float) + 0.5) / _FINER - 0.5


_Found = Sequence[tuple[np.ndarray, np.ndarray]]
"""Of each view, the places on its card (N, 2) mm and the corners seen (N, 2) pixels."""


def calibrate(views: Sequence[View], target: Target, start: Calibration) -> Fit:
    """Measure the camera by the card in `views`; the first must show it on the floor.

    `start` gives the picture's size, the compartment's and the dice's sizes, and the height that a
    person measured. Raises CalibrationError with what to do.
    """
    _require_possible(views, start)
    height, width = views[0].image.shape[:2]
    if any(view.image.shape[:2] != (height, width) for view in views):
        raise CalibrationError("the pictures are of different sizes")
    found: _Found = [find_corners(view.image, target) for view in views]
    heights = [view.raised_mm for view in views]
    base = replace(start, image_size=(width, height), compartment_mm=(0.0, 0.0))
    first = _first_guess(base, found, heights)

    def residuals(x: np.ndarray) -> np.ndarray:
        left = _misses(x, base, found, heights).ravel() / CORNER_PX
        return np.concatenate([left, unexpected(x, base), x[CAMERA : CAMERA + 2] / BESIDE_MM])

    x, covariance = least_squares(residuals, first)
    kept = _without_strays(_misses(x, base, found, heights), found)
    if kept is not found:
        found = kept
        x, covariance = least_squares(residuals, x)
    fitted = camera_of(x, base)
    misses = _misses(x, base, found, heights)
    error_px = float(np.sqrt((misses**2).sum(axis=1).mean()))
    if not error_px <= MAX_ERROR_PX:  # nan, too: a fit that went astray
        raise CalibrationError(
            f"the corners fit no camera better than {error_px:.2f} px ({MAX_ERROR_PX:g} at most): "
            "is the card flat, printed without scaling, and the camera in focus?"
        )
    fitted._check()
    ends = np.cumsum([len(places) for places, _ in found])[:-1]
    expected = [px - miss for (_, px), miss in zip(found, np.split(misses, ends), strict=True)]
    return Fit(
        calibration=fitted,
        error_px=error_px,
        corners=len(misses),
        sigma=sigmas(covariance, error_px, CORNER_PX),
        found=tuple((px, at) for (_, px), at in zip(found, expected, strict=True)),
    )


def _require_possible(views: Sequence[View], start: Calibration) -> None:
    """Refuse what no camera can have seen, before it is divided by. Raises CalibrationError."""
    start._check()
    for view in views:
        if not 0.0 <= view.raised_mm < start.height_mm:  # false for nan, too
            raise CalibrationError(
                f"a card raised by {view.raised_mm:g} mm does not lie between the floor and the "
                f"lens, {start.height_mm:g} mm up: correct its thickness, by what it was raised, "
                "or the lens's height"
            )


def sigmas(covariance: np.ndarray, error_px: float, corner_px: float) -> dict[str, float]:
    """Uncertainties for `Fit.sigma` of a camera fitted with that root mean square error, where
    a corner was expected to be found within `corner_px` a coordinate."""
    spread = np.sqrt(np.diag(covariance)) * max(1.0, error_px / (corner_px * np.sqrt(2.0)))
    return {
        "floor_px_per_mm": float(100.0 * spread[0]),
        "height_mm": float(spread[1]),
        "tilt_deg": float(np.hypot(spread[5], spread[6])),
        "k1": float(spread[4]),
    }


def _without_strays(misses: np.ndarray, found: _Found) -> _Found:
    """Leave out corners that lie far from all others' opinion: a glint, a shadow's edge."""
    off = np.hypot(misses[:, 0], misses[:, 1])
    good = off < max(4.0 * CORNER_PX, 3.0 * float(np.median(off)))
    if good.all():
        return found
    ends = np.cumsum([len(places) for places, _ in found])[:-1]
    return [
        (places[keep], px[keep])
        for (places, px), keep in zip(found, np.split(good, ends), strict=True)
    ]


# ── The unknowns: log of the scale, height, centre (2), k1, tilt (2); then of each view the card's
#    place (2) and turn. The first card's place is the compartment's.

CAMERA = 7
_CARD = 3


def camera_of(x: np.ndarray, base: Calibration) -> Calibration:
    place = x[CAMERA : CAMERA + 2]
    return replace(
        base,
        floor_px_per_mm=float(np.exp(x[0])),
        height_mm=float(x[1]),
        centre_px=(float(x[2]), float(x[3])),
        k1=float(x[4]),
        tilt_deg=(float(x[5]), float(x[6])),
        compartment_mm=(float(place[0]), float(place[1])),
    )


def _misses(
    x: np.ndarray,
    base: Calibration,
    found: _Found,
    heights: Sequence[float],
) -> np.ndarray:
    """(N, 2) seen minus expected, pixels."""
    camera = replace(camera_of(x, base), compartment_mm=(0.0, 0.0))
    missed = []
    for number, ((places, px), z) in enumerate(zip(found, heights, strict=True)):
        at_x, at_y, turn = x[CAMERA + number * _CARD : CAMERA + (number + 1) * _CARD]
        c, s = np.cos(turn), np.sin(turn)
        lying = places @ np.array([[c, s], [-s, c]]) + (at_x, at_y)
        missed.append(px - camera.to_px(np.c_[lying, np.full(len(lying), z)]))
    return np.concatenate(missed)


def unexpected(x: np.ndarray, base: Calibration) -> np.ndarray:
    """(6,) How far a camera is from what is known without the picture, in sigmas."""
    width, height = base.image_size
    usual = np.array([base.height_mm, width / 2 - 0.5, height / 2 - 0.5, 0.0, 0.0, 0.0])
    axis = AXIS_SHARE * width
    sigma = np.array([HEIGHT_MM, axis, axis, DISTORTION, TILT_DEG, TILT_DEG])
    return np.asarray((x[1:CAMERA] - usual) / sigma)


def _first_guess(
    base: Calibration,
    found: _Found,
    heights: Sequence[float],
) -> np.ndarray:
    """Scale, place and turn of each card from a similarity; the rest as it should be."""
    width, height = base.image_size
    middle = np.array([width / 2 - 0.5, height / 2 - 0.5])
    cards, scale = [], 1.0
    for number, ((places, px), z) in enumerate(zip(found, heights, strict=True)):
        matrix, _ = cv2.estimateAffinePartial2D(places, px)
        if matrix is None:
            raise CalibrationError(CROOKED)
        here = float(np.hypot(matrix[0, 0], matrix[1, 0]))
        if number == 0:
            scale = here * (base.height_mm - z) / base.height_mm
        turn = float(np.arctan2(matrix[1, 0], matrix[0, 0]))
        cards += [*((matrix[:, 2] - middle) / here), turn]
    return np.array([np.log(scale), base.height_mm, *middle, 0.0, 0.0, 0.0, *cards])


def least_squares(
    residuals: Callable[[np.ndarray], np.ndarray], start: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Levenberg's and Marquardt's method with a numeric derivative; the estimate and its covariance
    for residuals in sigmas. Raises CalibrationError where they do not determine it."""
    try:
        x, covariance = _least_squares(residuals, start)
    except np.linalg.LinAlgError as error:
        raise CalibrationError(UNDETERMINED) from error
    if not np.isfinite(covariance).all():
        raise CalibrationError(UNDETERMINED)
    return x, covariance


def _least_squares(
    residuals: Callable[[np.ndarray], np.ndarray], start: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    x, damping = start, 1e-3
    left = residuals(x)
    step = np.maximum(np.abs(start), 1.0) * _TINY
    normal = np.eye(len(x))
    for _ in range(_STEPS):
        slope = np.stack([(residuals(x + d) - left) / d.sum() for d in np.diag(step)], axis=1)
        normal = slope.T @ slope
        gradient = slope.T @ left
        for _ in range(8):
            change = np.linalg.solve(normal + damping * np.diag(np.diag(normal)), -gradient)
            tried = residuals(x + change)
            if tried @ tried < left @ left:
                break
            damping *= 10.0
        else:
            break
        gained = left @ left - tried @ tried
        x, left, damping = x + change, tried, damping / 5.0
        if gained < 1e-6:
            break
    return x, np.linalg.inv(normal)
