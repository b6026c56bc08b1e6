"""How a clear die lies, by the pips of its far face that shine through.

Owns: where these pips are for each lean, and how well the picture agrees. Must not know cameras.

The far face of a clear die is one edge below the near face. Seen through the material it seems to
lie higher, at 1 / `REFRACTION` of an edge. If the die leans by 6°, the far face is 7 % of an edge
beside its usual place. Of 200 flat clear dice of the rig that show 1 to 4 none has it more than 3 %
beside. Floor, shadow and neighbours take no part in this. Nothing shines through an opaque die, and
the far pips of a flat five are hidden: then nothing is concluded.
"""

from __future__ import annotations

import cv2
import numpy as np

from vision.faces_by_pips.pieces import FACE_PX
from vision.faces_by_pips.pips import BORDER, LATTICE, SPOTS, Face
from vision.medians import median

REFRACTION = 1.49
"""Of cellulose acetate and of acrylic, which clear dice are made of. Resin has up to 1.6; there the
far face of a flat die at the wall is 0.1 mm from where this index has it."""
_OWN = np.ones((7,) * 2, np.uint8)
"""The near face's own pips are left out with a margin of three pixels: their edges are soft."""
_INNER = np.zeros((FACE_PX, FACE_PX), bool)
_INNER[BORDER:-BORDER, BORDER:-BORDER] = True
_Y, _X = np.mgrid[:FACE_PX, :FACE_PX]
_AROUND = 1.5
"""Side of the square, in spacings of the pips, with whose mean a far pip is compared: a light over
half an opaque face is wider."""
_MIN_SHINE = 7.0
"""Mean Lab distance of the far pips from what is around them, above which they are seen. Measured
against the whole face: of 389 flat opaque dice of the rig none had more than 4.0. Of 343 flat clear
ones that show no five one had less."""


def shows_middle(face: Face, usual: np.ndarray) -> bool:
    """True if the middle pip of the far face shines through a clear die's two or four. `usual` as
    in `costs`.

    Opposite faces add up to seven: below a two lies a five, below a four a three, and each has a
    middle pip. What looks like a two or a four and has none below is a three or a five that has
    lost its own. What is left of that one has the hue of the other pips; a far pip is seen through
    the material, and has more of its colour than the face around it. Of flat clear twos and fours
    of the rig none has its middle less than 25 Lab from what is around it, of wholly empty holes
    none more than 9. On colourless dice the hue says nothing.
    """
    assert face.lab is not None
    assert face.pips is not None
    reach = face.pip_diameter * FACE_PX / 2
    middle = face.offset + usual
    distance = _distance(middle)
    around = face.lab[(distance > _AROUND * reach) & (distance < 2 * reach) & _INNER]
    usual_lab = np.median(around, axis=0)
    inside = _around(face, middle) - usual_lab
    own = np.mean([_around(face, pip) for pip in face.pips], axis=0) - usual_lab
    is_of_own_hue = float(inside[1:] @ own[1:]) > 0 and _length(own[1:]) > _MIN_SHINE
    return _length(inside) > 2 * _MIN_SHINE and not is_of_own_hue


def may_be_clear(face: Face) -> bool:
    """True of a coloured face with lighter pips that have less of its colour, as clear dice have.
    Opaque dice may look so, too."""
    assert face.lab is not None
    assert face.pips is not None
    near = np.array([_around(face, pip) for pip in face.pips]).mean(axis=0)
    own = np.median(face.lab[_INNER], axis=0)
    return bool(near[0] > own[0] and _colour(near) < _colour(own))


def _colour(lab: np.ndarray) -> float:
    """How far an 8-bit Lab colour (3,) is from grey."""
    return _length(lab[1:] - 256 / 2)


def _around(face: Face, place: np.ndarray) -> np.ndarray:
    """(3,) mean Lab colour of a face within half a pip of a place (2,)."""
    assert face.lab is not None
    reach = face.pip_diameter * FACE_PX / 2
    return np.asarray(face.lab[_distance(place) < reach / 2].mean(axis=0))


def _length(vector: np.ndarray) -> float:
    return float(np.linalg.norm(vector))


def _distance(place: np.ndarray) -> np.ndarray:
    """(FACE_PX, FACE_PX) pixels from a place (2,), in edges from the middle of the face."""
    x, y = (np.asarray(place) + 0.5) * FACE_PX - 0.5
    return np.asarray(np.hypot(_X - x, _Y - y))


def costs(face: Face, usual: np.ndarray, scale: float, leans_deg: np.ndarray) -> np.ndarray:
    """(N, N) cost of each lean: how much worse it explains the far pips than the best lean does, in
    units of two Lab steps; all 0 if no far pips are seen. `leans_deg`: (N,) angles along the x
    (first axis) and the y axis of `face`.

    `usual`, (2,): from the middle of the face to that of an upright die's far face, in edges.
    `scale`: an edge of the far face, as it looks, in edges. A die that leans by a positive angle
    has its far face farther left, or up.
    """
    best = np.zeros((len(leans_deg), len(leans_deg)), np.float32)
    if face.value is None or face.away is None:
        return best
    own = cv2.dilate((face.away > face.contrast / 2).astype(np.uint8), _OWN)
    is_plain = _INNER & (own == 0)
    if not is_plain.any():
        return best
    side = int(face.pip_diameter * FACE_PX / 2) | 1
    shine = _mean(np.where(is_plain, face.away - median(face.away[is_plain]), 0.0), side)
    if shine.max() <= _MIN_SHINE:  # most opaque dice end here
        return best
    plain, wide = is_plain.astype(np.float32), int(_AROUND * face.spacing * FACE_PX) | 1
    around = _mean(face.away * plain, wide) / np.maximum(_mean(plain, wide), 1e-6)
    spots = _mean((face.away - around) * plain, side)
    first, step = FACE_PX / REFRACTION * np.radians((leans_deg[0], leans_deg[1] - leans_deg[0]))
    opposite = len(SPOTS) + 1 - face.value
    middle = face.offset + usual
    far = {place: middle + np.array(place) * face.spacing * scale for place in LATTICE}
    at, as_spot = (
        {place: _seen_at(each, xy, first, step, best) for place, xy in far.items()}
        for each in (shine, spots)
    )
    # A light over half an opaque face is as bright where no far pip is, and it is no spot.
    for layout in SPOTS[opposite]:
        seen = np.sum([at[place] for place in layout], axis=0)
        lean = np.unravel_index(int(seen.argmax()), seen.shape)
        level = np.mean([as_spot[place][lean] for place in layout])
        rest = [each[lean] for place, each in as_spot.items() if place not in layout]
        if seen[lean] > best.max() and level > max(_MIN_SHINE, *rest):
            best = seen
    return np.asarray((best.max() - best) / 2)


def _mean(values: np.ndarray, side: int) -> np.ndarray:
    """(h, w) float32: means over squares."""
    return np.asarray(cv2.blur(values.astype(np.float32), (side, side)))


def _seen_at(
    shine: np.ndarray, place: np.ndarray, first: float, step: float, like: np.ndarray
) -> np.ndarray:
    """(N, N) float32: what shines at a place of the far face, (2,) edges from the middle, at each
    lean."""
    x, y = (place + 0.5) * FACE_PX - 0.5
    at = np.array([(0.0, -step, x - first), (-step, 0.0, y - first)])
    return np.asarray(
        cv2.warpAffine(shine, at, like.shape, flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)
    )
