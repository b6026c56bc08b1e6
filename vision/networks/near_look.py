"""How a die lies, from a close look at it: the model's second, small network.

Owns: the window around one die, its network's session, and what an upright die at that place would
look like to it. Must not know what the answer is good for.

The first network sees all dice of a picture at once and has to find out for each where "straight
down" is. Here that is known: a window is cut out along the top face, turned and sized by it, and
over it lie two drawings that the calibration makes: the top face of an upright die at this place,
and its whole outline, side faces included. What is left to see is whether the side faces of the
picture end where those of the drawing do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from vision.calibration import Calibration
from vision.networks import probability
from vision.networks.model_card import ModelFile
from vision.networks.session import Network
from vision.networks.windows import SIDE
from vision.quads import FINE, SQUARE, edge_of, finely, turn_deg, turn_matrices

FACE = 40.0
"""Edge of an upright die's top face in it: what is left beside it is 0.7 of an edge on each side,
which shows neighbours, the wall, and what a die may lean on."""
CHANNELS = 5
"""Blue, green, red, top face drawn, outline drawn: each 0..255."""
SURELY_FLAT = 1.5
"""Log-odds of flat from which one look is enough. Of 310 pictures of the rig, 147 of them not flat,
and of 159 more dice that something holds up at 6° to 12°, none has another verdict in its first
frame than with two looks at each die. Of flat tosses' dice 71 % are looked at once."""
_PLAIN = 7
"""Side, window pixels, of the median through which a second look is seen: a sixth of an edge.
Streaks of light and the grain of a floor are narrower than half of it and vanish; the other edges
stay. Source: of 351 flat dice and 80 at 6° to 10° the mean of both looks has 97.6 % of pairs in the
right order, without the median 96.7 %."""


@dataclass(frozen=True, slots=True, eq=False)
class NearLook:
    """What a close look says of one die."""

    flat_p: float
    """Probability, 0..1, that it lies flat on the floor."""
    lean_deg: float
    """Its angle from upright, degrees, by where its bottom face seems to be."""
    upright: np.ndarray
    """(8, 2) float64, frame pixels: top and bottom face of the upright die that was drawn."""


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """Where a die is shown to the network, and the upright die drawn over it."""

    matrix: np.ndarray
    """(2, 3) float64: from the frame's pixels to the window's."""
    top: np.ndarray
    bottom: np.ndarray
    """(4, 2) float64, window pixels: top and bottom face of the upright die."""
    edge_px: float
    """Edge of that top face in the frame."""
    upright: np.ndarray
    """(8, 2) float64, frame pixels: both faces."""


def windows(faces: Sequence[np.ndarray], calibration: Calibration) -> list[Window]:
    """The windows for several top faces, (4, 2) corners each, clockwise, in frame pixels. Only
    their middle and turn count: how large an upright die is, the calibration knows. They are made
    together, because one takes hardly less time than three."""
    corners = np.asarray(faces, float)
    die = calibration.die_mm
    on_top = calibration.to_mm(corners, die).reshape(-1, 4, 2)
    turn = np.radians([turn_deg(each) for each in on_top])
    ring = -die / 2 * SQUARE @ turn_matrices(turn)
    drawn = calibration.upright_px(on_top.mean(axis=1, keepdims=True) + ring)
    return [_window(*each) for each in zip(corners.mean(axis=1), *drawn, strict=True)]


def _window(middle: np.ndarray, top: np.ndarray, bottom: np.ndarray) -> Window:
    """The window around a place of the frame for an upright die with such faces there."""
    edge, (x, y) = edge_of(top), top[1] - top[0]
    matrix = cv2.getRotationMatrix2D((0.0, 0.0), math.degrees(math.atan2(y, x)), FACE / edge)
    matrix[:, 2] = (SIDE - 1) / 2 - matrix[:, :2] @ middle
    shown = [face @ matrix[:, :2].T + matrix[:, 2] for face in (top, bottom)]
    return Window(matrix, shown[0], shown[1], edge, np.concatenate([top, bottom]))


def drawings(top: np.ndarray, bottom: np.ndarray) -> np.ndarray:
    """(2, SIDE, SIDE) uint8: the top face, and the outline of the whole die."""
    hull = cv2.convexHull(np.concatenate([top, bottom]).astype(np.float32))[:, 0]
    drawn = np.zeros((2, SIDE, SIDE), np.uint8)
    for canvas, ring in zip(drawn, (top, hull), strict=True):
        cv2.fillConvexPoly(canvas, finely(ring), 255, cv2.LINE_AA, FINE)
    return drawn


def cut(image: np.ndarray, at: Window) -> np.ndarray:
    """(SIDE, SIDE, CHANNELS) uint8: what the network is shown of a (H, W, 3) uint8 BGR frame."""
    seen = cv2.warpAffine(
        image, at.matrix, (SIDE, SIDE), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(cv2.merge((seen, *drawings(at.top, at.bottom))))


def _plain_turned(shown: np.ndarray) -> np.ndarray:
    """A (SIDE, SIDE, CHANNELS) window for a second look."""
    *seen, top, outline = cv2.split(shown)
    planes = [*(cv2.medianBlur(each, _PLAIN) for each in seen), top, outline]
    return np.asarray(cv2.merge([cv2.transpose(each) for each in planes]))


class NearReader:
    """The network, loaded and warm. One instance per thread."""

    def __init__(self, file: ModelFile) -> None:
        """Raises ModelError when the file does not load or run."""
        # (N, 3): the logit of flat, and how far the bottom face is from where that of an upright
        # die would be, in edges.
        self._tell = Network(file.path, (SIDE, SIDE, CHANNELS))

    def look(
        self,
        image: np.ndarray,
        faces: Sequence[np.ndarray],
        calibration: Calibration,
        *,
        is_turned: bool | None = None,
    ) -> list[NearLook]:
        """One answer for each top face, (4, 2) corners clockwise, of a uint8 BGR frame.

        A die that the first look does not show surely flat is seen twice, the second time with rows
        and columns exchanged and without what is narrow (`_PLAIN`). The mean of both errs less.
        `is_turned`: every die is seen once, so.
        """
        if not faces:
            return []
        places = windows(faces, calibration)
        shown = np.stack([cut(image, each) for each in places])
        answers = self._told(shown, is_turned is True)
        if is_turned is None:
            again = answers[:, 0] < SURELY_FLAT
            if again.any():
                answers[again] = (answers[again] + self._told(shown[again], True)) / 2
        die = calibration.die_mm
        reach = die * calibration.px_per_mm(die / 2)
        looks = []
        for each, (flat, x, y) in zip(places, answers.tolist(), strict=True):
            sine = min(1.0, float(np.hypot(x, y)) * each.edge_px / reach)
            lean_deg = float(np.degrees(np.arcsin(sine)))
            looks.append(NearLook(probability.of_logit(flat), lean_deg, each.upright))
        return looks

    def _told(self, shown: np.ndarray, is_turned: bool) -> np.ndarray:
        """(N, 3) what the network says of (N, SIDE, SIDE, CHANNELS) windows."""
        if is_turned:
            turned = np.stack([_plain_turned(each) for each in shown])
            return self._tell(turned)[0][:, (0, 2, 1)]
        return self._tell(shown)[0]
