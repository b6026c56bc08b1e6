"""Which lean the side faces of a die indicate, and the far face of a clear one.

Owns: the comparison of flat with leaning, by the strips of side face along the four edges of a top
face. Must not know the model, nor what a flat die's outline fit said.

Theory of operation. From straight above, a die that leans by 6° shows a side face a tenth of an
edge wider than an upright die does. That is many pixels, while its top face hardly changes. The
pips give the place of the top face to a tenth of a millimetre, and `rays` gives the place where the
die ends outward of it, five times along each side.

A ridge or a glint beside the die reaches a few of these places, but a lean reaches all, so their
median counts. The foot of a side face is straight: the more the places differ, the less their side
counts. Then all sides together are compared with a rigid cube at every lean, and so are the pips of
the far face if they shine through (`far_face`). A side that is hidden by a neighbour or the wall
does not count. But the gap beside a side limits its lean: the foot of a raised side would reach
past its top edge, into the upright neighbour or the wall. This limit adds to the cost of a lean. It
is not applied if the side faces and the far face already speak for a lean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vision.calibration import Calibration
from vision.cube_outlines.foreground import Foreground
from vision.cube_outlines.rays import ALONG, Ends, read_rays
from vision.faces_by_pips import far_face
from vision.faces_by_pips.pips import Face
from vision.medians import known_medians, median
from vision.parameters import MAX_LEAN_DEG
from vision.quads import NORMALS, TANGENTS, turn_matrices

_MIN_BLOCKS = 3
"""Fewest blocks with a known end with which a side counts."""
_BLEED_PX, _BASE_PX = 1.55, 0.45
"""How far a top edge, and the foot of a side face, spread in a picture, pixels."""
_LEAST_NOISE_MM, _LEAST_NOISE_PX = 0.10, 0.50
"""Error of the place where a side face ends, if its blocks agree."""
_ROOM_NOISE_MM = 0.25
"""Error of the gap between two top faces as their pips say it, or of one and the wall."""
_MAX_ODD = 12.5
"""Cost at which one side's measurement is taken for a mistake instead."""
_HIDDEN = 3.0
"""If all side faces look like the shaded floor, every side seems to end at its top edge, whatever
the lean. This is the cost of that case. Path-traced dark dice look so, lit by the floor."""

_HALOS_MM, _USUAL_HALO_MM = np.linspace(-0.6, 1.6, 12), 0.3
_HALO_COST = 0.5 * (_HALOS_MM / _USUAL_HALO_MM) ** 2
"""How much farther than its foot a die may seem to end on all four sides together, and what that
costs: by a contact shadow, its own colour on the floor, its reflection. It seems to end less far if
its edges are rounded. A lean moves each side differently. Of pairs of a flat die and one at 6° to
14° the evidence has 91 % of path-traced ones in the right order, and 99.3 % of the rig's."""

_FLAT_DEG, _LEANING_DEG = 1.5, 5.5
"""Lean up to which a die is flat to this witness, and from which it is not, degrees."""
_LEANS = np.arange(-MAX_LEAN_DEG, MAX_LEAN_DEG + 1.0)
_LEAN = np.hypot(_LEANS[:, None], _LEANS)
_IS_FLAT, _IS_LEANING = _LEAN <= _FLAT_DEG, _LEAN >= _LEANING_DEG
_RIM = np.linspace(-1, 1, len(ALONG))[:, None]
_OUTLINE = np.concatenate([n + _RIM * t for n, t in zip(NORMALS, TANGENTS, strict=True)])
"""(N, 2) places along the sides of a top face, in half edges from its middle."""
_SIGNS = np.array((-1, -1, 1, 1))
"""Per side: the sign of the lean that widens it, about the one axis or the other in turn."""


@dataclass(frozen=True, slots=True)
class Sides:
    """What the side faces of one die say."""

    lean_deg: float
    """The smallest lean that explains them as well as any."""
    evidence: float
    """How much better flat explains them than a lean of 5.5° or more, as a difference of
    log-likelihoods; 0 where nothing can be told."""
    through: float
    """`evidence` of the far face alone."""
    axes: int
    """Of the two directions in which a die can lean, how many were seen."""
    beyond_mm: float
    """On the side that shows the most side face: how much more it shows than a flat die would, mm;
    at least 0. A side that shows less does not count: its side face may look like the floor."""
    contrast: float
    """Grey levels between the top face and the floor in any light: where it is low, side faces
    may not be told from the floor."""
    floor_mm: tuple[float, ...] = ()
    """See `GeometryReading.floor_mm`; infinite where the floor is not seen."""
    lacks_far_middle: bool = False
    """A two or a four of clear dice below which no middle pip shines; see
    `far_face.shows_middle`."""


NOTHING_SEEN = Sides(0.0, 0.0, 0.0, 0, 0.0, 0.0)


def measure_sides(
    image: np.ndarray,
    ground: Foreground,
    others: Sequence[np.ndarray],
    places: Sequence[tuple[float, float, float]],
    faces: Sequence[Face],
    calibration: Calibration,
) -> list[Sides]:
    """Measure dice whose top faces have their middles at (x mm, y mm) with turn (radians), as in
    `outline.Pose`, in a (H, W, 3) uint8 BGR frame. `others`, (h, w) bool in the view: the
    neighbours of each. `faces`: what each shows. All at once: one die takes hardly less time than
    three.
    """
    if not places:
        return []
    at = np.array(places, float)
    turned = turn_matrices(at[:, 2])
    strips = _strips(calibration, at[:, None, :2], turned)
    ends = read_rays(image, ground, others, at[:, :2], turned, strips, calibration)
    rooms = rooms_mm(at[:, :2], turned, calibration)
    through, lacks = _through(faces, at[:, None, :2], turned, calibration)
    floors = ends.floor_mm.tolist()
    each = zip(_shown(ends, strips), strips, rooms, through, floors, lacks, strict=True)
    return [
        replace(
            _judged(shown, strip, room, cost, calibration),
            floor_mm=tuple(bare),
            lacks_far_middle=is_lacking,
        )
        for shown, strip, room, cost, bare, is_lacking in each
    ]


def _through(
    faces: Sequence[Face], middles: np.ndarray, turned: np.ndarray, calibration: Calibration
) -> tuple[list[np.ndarray], list[bool]]:
    """How badly each of `_LEANS` explains what shines through each face; see `far_face.costs`. Far
    pips that a five hides count a little: 8 of 9 leaning clear fives of the rig showed them.
    Beside it, whether each is a two or four of clear dice with no middle pip below.
    """
    edge, far = calibration.die_mm, calibration.die_mm * (1 - 1 / far_face.REFRACTION)
    scale = calibration.px_per_mm(far) / calibration.px_per_mm(edge)
    sunk = calibration.level_px(middles, far) - calibration.level_px(middles, edge)
    usual = (sunk @ turned.transpose(0, 2, 1))[:, 0] / calibration.die_px
    pairs = list(zip(faces, usual, strict=True))
    costs = [far_face.costs(face, way, scale, _LEANS) for face, way in pairs]
    # Flat fives hide their far pips, and a five that lost its middle is a four that does. All other
    # clear dice show them; on an opaque one a mirrored lamp may look like them.
    shines = any(cost.any() for cost in costs)
    are_clear = all(
        cost.any() or face.value in (4, 5) for face, cost in zip(faces, costs, strict=True)
    )
    lacks = [
        are_clear and _may_lack_middle(face, way) and (shines or far_face.may_be_clear(face))
        for face, way in pairs
    ]
    if shines:
        # A five hides its far pips only while it lies flat.
        hidden = np.where(_IS_LEANING, 2.0, 0.0)
        costs = [
            hidden if face.value == 5 and not cost.any() else cost
            for face, cost in zip(faces, costs, strict=True)
        ]
    return costs, lacks


def _may_lack_middle(face: Face, way: np.ndarray) -> bool:
    """True for a two or a four below which no middle pip shines; so it is with opaque dice, too."""
    is_asked = face.value in (2, 4) and face.lab is not None
    return is_asked and not far_face.shows_middle(face, way)


def rooms_mm(middles: np.ndarray, turned: np.ndarray, calibration: Calibration) -> np.ndarray:
    """(D, 4) how far outward of each top edge the next top face or the wall begins, 0 or more."""
    half, radius = calibration.die_mm / 2, calibration.compartment_radius_mm
    outlines = half * _OUTLINE @ turned + middles[:, None]
    back = turned.transpose(0, 2, 1)
    corners = half * (NORMALS + np.array((-1, 1))[:, None, None] * TANGENTS) @ turned[:, None]
    corners = corners + middles[:, None, None]
    outward = (corners * (NORMALS @ turned)[:, None]).sum(axis=3)
    inside = radius**2 - (corners * corners).sum(axis=3)
    rooms = (np.sqrt(np.maximum(outward**2 + inside, 0.0)) - outward).min(axis=1)
    # Of each die (first axis) how the others' middles and outlines lie beside it.
    centres = (middles - middles[:, None]) @ back @ NORMALS.T
    own = (outlines - middles[:, None, None]) @ back[:, None]
    is_beside = (np.abs(own @ TANGENTS.T) < half) & (centres > half)[:, :, None]
    gaps = np.where(is_beside, own @ NORMALS.T - half, np.inf).min(axis=(1, 2))
    return np.asarray(np.maximum(np.minimum(rooms, gaps), 0.0))


def _judged(
    sides: np.ndarray,
    strips: np.ndarray,
    rooms: np.ndarray,
    through: np.ndarray,
    calibration: Calibration,
) -> Sides:
    """What the four sides and the far face of one die say; see `_shown`, `_strips`, `rooms_mm` and
    `far_face.costs`."""
    px_per_mm = calibration.px_per_mm(calibration.die_mm)
    per_deg = calibration.die_mm * np.pi / 180
    shown, spread, contrast = sides
    is_seen = ~np.isnan(shown)
    if not is_seen.any():
        return NOTHING_SEEN
    noise = np.sqrt(_LEAST_NOISE_MM**2 + (_LEAST_NOISE_PX / px_per_mm) ** 2 + spread**2)
    # A side faces one of the two directions of a lean: the costs of both only add up.
    raised = _SIGNS[:, None] * per_deg * _LEANS
    wanted = _wanted(strips[:, None] + raised, px_per_mm)
    gap = shown[:, None, None] - wanted[:, None] - _HALOS_MM[:, None]
    cost = np.minimum(0.5 * (gap / noise[:, None, None]) ** 2, _MAX_ODD)
    costs = np.where(is_seen[:, None, None], cost, 0.0).reshape(2, 2, *cost.shape[1:]).sum(axis=0)
    beyond = np.where(is_seen, shown - _wanted(strips, px_per_mm), 0.0).max(initial=0.0)
    along_x, along_y = costs[0][:, :, None], costs[1][:, None, :]
    cost = (_HALO_COST[:, None, None] + along_x + along_y).min(axis=0)
    gap = (shown[is_seen, None] - _BLEED_PX / px_per_mm - _HALOS_MM) / noise[is_seen, None]
    hidden = _HIDDEN + (_HALO_COST + np.minimum(0.5 * gap**2, _MAX_ODD).sum(axis=0)).min()
    cost = np.minimum(cost, hidden)
    through = np.minimum(through, _MAX_ODD)
    cost += through
    evidence = _evidence(cost)
    if evidence > -0.5:
        above = np.maximum(raised - rooms[:, None], 0.0) / _ROOM_NOISE_MM
        along_x, along_y = np.minimum(0.5 * above**2, _MAX_ODD).reshape(2, 2, -1).sum(axis=0)
        evidence = _evidence(cost + along_x[:, None] + along_y)
    return Sides(
        lean_deg=float(_LEAN[cost <= cost.min() + 0.5].min()),
        evidence=evidence,
        through=_evidence(through),
        axes=int(is_seen.reshape(2, 2).any(axis=0).sum()),
        beyond_mm=float(beyond),
        contrast=median(contrast[is_seen]),
    )


def _evidence(cost: np.ndarray) -> float:
    """`Sides.evidence` by the (33, 33) cost of each lean."""
    return float(cost[_IS_LEANING].min() - cost[_IS_FLAT].min())


def _strips(calibration: Calibration, middles: np.ndarray, turned: np.ndarray) -> np.ndarray:
    """(D, 4) mm at the top's height: how far an upright die's foot appears outward of its top edge;
    negative where the top hides it."""
    top, foot = calibration.upright_px(NORMALS * (calibration.die_mm / 2) @ turned + middles)
    outward = ((foot - top) * (NORMALS @ turned)).sum(axis=2)
    return np.asarray(outward / calibration.px_per_mm(calibration.die_mm))


def _shown(ends: Ends, strips: np.ndarray) -> np.ndarray:
    """(D, 3, 4) of each side how far outward of the top edge its strip ends, mm; how much its
    blocks differ, mm; and its contrast. NaN where it cannot be told."""
    known = ~np.isnan(ends.at_mm)
    count = known.sum(axis=1)
    shown = known_medians(ends.at_mm, known)
    spread = known_medians(np.abs(ends.at_mm - shown[:, None]), known)
    contrast = known_medians(ends.contrast, known)
    strip = strips.reshape(-1)
    is_told = 2 * (ends.is_told & known).sum(axis=1) >= count
    is_hidden = (strip > 0.6) & (shown < strip + 0.25) & ~is_told
    is_seen = (count >= _MIN_BLOCKS) & ~is_hidden
    each = np.where(is_seen, (shown, spread, contrast), np.nan)
    return np.asarray(each.reshape(3, *strips.shape).swapaxes(0, 1))


def _wanted(strip: np.ndarray, px_per_mm: float) -> np.ndarray:
    """Where the die ends, mm outward of its top edge, when its foot is at `strip`."""
    bleed, base = _BLEED_PX / px_per_mm, _BASE_PX / px_per_mm
    return np.maximum(strip + base, bleed + 0.3 * np.maximum(strip + 0.5, 0.0))
