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
from dataclasses import dataclass, replace

import cv2
import numpy as np

from vision.calibrating.target import MARKER_SHARE, Target
from vision.calibration import Calibration, CalibrationError
from vision.quads import turn_matrices

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
"""How far k1 is from 0 (one sigma): half of what a calibration may have."""
TILT_DEG = 3.0
"""How far a bracket holds a lens from plumb, degrees (one sigma)."""
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
"""Where the search for a corner ends: after 40 steps, or one of a thousandth of a pixel."""
_STEPS = 30
"""Most steps of the least squares."""
_TINY = 1e-6


@dataclass(frozen=True, slots=True)
class View:
    """One picture with the card in it."""

    image: np.ndarray
    """(H, W) or (H, W, 3) uint8."""
    raised_mm: float = 0.0
    """Height of the printed side above the floor; a sheet of paper is 0.1, most cards 0.3-2."""


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True, eq=False)
class Lying:
    """Corners of cards that lie level somewhere in the pictures."""

    places: np.ndarray
    """(N, 2) mm: where each corner is on its card."""
    px: np.ndarray
    """(N, 2) pixels: where it is seen."""
    height_mm: np.ndarray
    """(N,) of its card above the floor."""
    card: np.ndarray
    """(N,) int: which card it belongs to, from 0."""

    def only(self, keep: np.ndarray) -> Lying:
        """Those of the corners that (N,) bool keeps."""
        return Lying(self.places[keep], self.px[keep], self.height_mm[keep], self.card[keep])


def calibrate(
    views: Sequence[View], target: Target, start: Calibration, beside_mm: float = BESIDE_MM
) -> Fit:
    """Measure the camera by the card in `views`; the first must show it on the floor.

    `start` gives the picture's size, the compartment's and the dice's sizes, and the height that a
    person measured; `beside_mm`, one sigma, how far beside the middle of its compartment the lens
    may be. Raises CalibrationError with what to do.
    """
    _require_possible(views, start)
    height, width = views[0].image.shape[:2]
    if any(view.image.shape[:2] != (height, width) for view in views):
        raise CalibrationError("the pictures are of different sizes")
    found = [find_corners(view.image, target) for view in views]
    counts = [len(places) for places, _ in found]
    lying = Lying(
        np.concatenate([places for places, _ in found]),
        np.concatenate([px for _, px in found]),
        np.repeat([view.raised_mm for view in views], counts),
        np.repeat(np.arange(len(views)), counts),
    )
    base = replace(start, image_size=(width, height))

    def residuals(x: np.ndarray) -> np.ndarray:
        left = _misses(x, base, lying).ravel() / CORNER_PX
        return np.concatenate([left, _unexpected(x, base), x[_CAMERA : _CAMERA + 2] / beside_mm])

    x, covariance = least_squares(residuals, _first_guess(base, lying))
    # Corners far from all others' opinion: a glint, a shadow's edge.
    off = np.hypot(*_misses(x, base, lying).T)
    is_good = off < max(4.0 * CORNER_PX, 3.0 * float(np.median(off)))
    if not is_good.all():
        lying = lying.only(is_good)
        if len(lying.px) < MIN_CORNERS * len(views):
            raise CalibrationError(
                f"only {len(lying.px)} corners fit one camera ({MIN_CORNERS} needed a picture): "
                "is the card flat, evenly lit, and the camera in focus?"
            )
        x, covariance = least_squares(residuals, x)
    fitted = _camera_of(x, base)
    missed = _misses(x, base, lying)
    error_px = float(np.sqrt((missed**2).sum(axis=1).mean()))
    if not error_px <= MAX_ERROR_PX:  # nan, too: a fit that went astray
        raise CalibrationError(
            f"the corners fit no camera better than {error_px:.2f} px ({MAX_ERROR_PX:g} at most): "
            "is the card flat, printed without scaling, and the camera in focus?"
        )
    fitted.check()
    views_of = [lying.card == number for number in range(len(views))]
    return Fit(
        calibration=fitted,
        error_px=error_px,
        corners=len(missed),
        sigma=_sigmas(covariance, error_px),
        found=tuple((lying.px[each], (lying.px - missed)[each]) for each in views_of),
    )


def _require_possible(views: Sequence[View], start: Calibration) -> None:
    """Refuse what no camera can have seen, before it is divided by. Raises CalibrationError."""
    start.check()
    for view in views:
        if not 0.0 <= view.raised_mm < start.height_mm:  # false for nan, too
            raise CalibrationError(
                f"a card raised by {view.raised_mm:g} mm does not lie between the floor and the "
                f"lens, {start.height_mm:g} mm up: correct its thickness, by what it was raised, "
                "or the lens's height"
            )


def _sigmas(covariance: np.ndarray, error_px: float) -> dict[str, float]:
    """Uncertainties for `Fit.sigma` of a camera fitted with that root mean square error."""
    spread = np.sqrt(np.diag(covariance)) * max(1.0, error_px / (CORNER_PX * np.sqrt(2.0)))
    return {
        "floor_px_per_mm": float(100.0 * spread[0]),
        "height_mm": float(spread[1]),
        "tilt_deg": float(np.hypot(spread[5], spread[6])),
        "k1": float(spread[4]),
    }


# ── The unknowns: of the camera, then of each card. The place of the first card is the
#    compartment's.

_OF_CAMERA = ("log of the scale", "height", "u", "v", "k1", "tilt right", "tilt down")
_OF_CARD = ("x", "y", "turn")
_CAMERA, _POSE = len(_OF_CAMERA), len(_OF_CARD)


def _camera_of(x: np.ndarray, base: Calibration) -> Calibration:
    place = x[_CAMERA : _CAMERA + 2]
    return replace(
        base,
        floor_px_per_mm=float(np.exp(x[0])),
        height_mm=float(x[1]),
        centre_px=(float(x[2]), float(x[3])),
        k1=float(x[4]),
        tilt_deg=(float(x[5]), float(x[6])),
        compartment_mm=(float(place[0]), float(place[1])),
    )


def _misses(x: np.ndarray, base: Calibration, lying: Lying) -> np.ndarray:
    """(N, 2) seen minus expected, pixels."""
    camera = replace(_camera_of(x, base), compartment_mm=(0.0, 0.0))
    poses = x[_CAMERA:].reshape(-1, _POSE)[lying.card]
    turned = (lying.places[:, None] @ turn_matrices(poses[:, 2]))[:, 0]
    return lying.px - camera.to_px(np.c_[turned + poses[:, :2], lying.height_mm])


def _unexpected(x: np.ndarray, base: Calibration) -> np.ndarray:
    """(6,) How far a camera is from what is known without the picture, in sigmas."""
    usual = np.array([base.height_mm, *base.middle_px, 0.0, 0.0, 0.0])
    axis = AXIS_SHARE * base.image_size[0]
    sigma = np.array([HEIGHT_MM, axis, axis, DISTORTION, TILT_DEG, TILT_DEG])
    return np.asarray((x[1:_CAMERA] - usual) / sigma)


def _first_guess(base: Calibration, lying: Lying) -> np.ndarray:
    """Scale, place and turn of each card by a similarity; the rest as it should be."""
    middle = base.middle_px
    poses, scale = [], 1.0
    for number in range(int(lying.card.max()) + 1):
        card = lying.only(lying.card == number)
        matrix, _ = cv2.estimateAffinePartial2D(card.places, card.px)
        if matrix is None:
            raise CalibrationError(CROOKED)
        here = float(np.hypot(matrix[0, 0], matrix[1, 0]))
        if number == 0:
            scale = here * (base.height_mm - float(card.height_mm[0])) / base.height_mm
        turn = float(np.arctan2(matrix[1, 0], matrix[0, 0]))
        poses += [*((matrix[:, 2] - middle) / here), turn]
    return np.array([np.log(scale), base.height_mm, *middle, 0.0, 0.0, 0.0, *poses])


def least_squares(
    residuals: Callable[[np.ndarray], np.ndarray], start: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Levenberg's and Marquardt's method with a numeric derivative; the estimate and its covariance
    for residuals in sigmas. Raises CalibrationError where they do not determine it."""
    x, damping = start, 1e-3
    left = residuals(x)
    step = np.maximum(np.abs(start), 1.0) * _TINY
    normal = np.eye(len(x))
    for _ in range(_STEPS):
        slope = np.stack([(residuals(x + d) - left) / d.sum() for d in np.diag(step)], axis=1)
        normal = slope.T @ slope
        gradient = slope.T @ left
        for _ in range(8):
            change = _solved(normal + damping * np.diag(np.diag(normal)), -gradient)
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
    return x, _solved(normal, np.eye(len(x)))


def _solved(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    try:
        solved = np.linalg.solve(a, b)
    except np.linalg.LinAlgError as error:
        raise CalibrationError(UNDETERMINED) from error
    if not np.isfinite(solved).all():
        raise CalibrationError(UNDETERMINED)
    return solved
