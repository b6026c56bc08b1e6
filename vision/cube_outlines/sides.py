"""Which lean the side faces of a die indicate, and the far face of a clear one.

Owns: the measurement of the strips of side face along the four edges of a top face, and the
comparison of flat with leaning. Must not know the model, nor what a flat die's outline fit said.

Theory of operation. From straight above, a die that leans by 6° shows a side face a tenth of an
edge wider than an upright die does. That is many pixels, while its top face hardly changes. The
pips give the place of the top face to a tenth of a millimetre. Outward from each edge of the top
face the picture is read at full resolution. The die ends where the colour becomes the colour of the
floor nearby, lit or in shadow. A shadow darkens all colours by one factor; a side face has its own
colour.

Six adjacent rays give one median profile, and each side has five such blocks. A ridge or a glint
beside the die reaches a few blocks, but a lean reaches all, so the median block counts. The foot of
a side face is straight: the more the blocks differ, the less their side counts. Then all sides
together are compared with a rigid cube at every lean, and so are the pips of the far face if they
shine through (`far_face`). A side that is hidden by a neighbour or the wall does not count. But the
gap beside a side limits its lean: the foot of a raised side would reach past its top edge, into the
upright neighbour or the wall. This limit adds to the cost of a lean. It is not applied if the side
faces and the far face already speak for a lean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np

from shaker_ctl.frozen import frozen
from vision.calibration import Calibration
from vision.cube_outlines.foreground import Foreground
from vision.faces_by_pips import far_face
from vision.faces_by_pips.pips import Face
from vision.medians import known_medians, median
from vision.parameters import MAX_LEAN_DEG
from vision.quads import NORMALS, TANGENTS, turn_matrices

_BLOCKS, _RAYS = 5, 6
"""Blocks along a side, and rays in each: the median of six survives a pip or a glint."""
_STEP_MM = 0.12
"""Between two samples along a ray: half a pixel of a usual camera."""
_FROM_MM, _TO_MM = -0.8, 5.6
"""Where a ray begins, on the top face, and ends, mm outward from the top edge."""
_S = np.arange(_FROM_MM, _TO_MM, _STEP_MM)
_SHARE = np.linspace(0, 1, len(_S), dtype=np.float32)
_ALONG = 0.86 * np.linspace(-1, 1, _BLOCKS * _RAYS)
"""Places along a side where its rays begin, in half edges."""
_RUN = 5
"""Samples in a row that must look like the floor: a dark seam or a row of pips is shorter. So many
at the near end of a profile lie on the top face, and at its far end on the floor."""
_LEVELS = (8.0, 18.0)
_LEVEL_SHARE = 0.14
"""Min and max, in grey levels, of the difference from lit or shaded floor at which the die ends.
Between them it is this share of the difference between the top face and the floor."""
_MIN_BLOCKS, _MIN_SEEN_MM = 3, 1.2
"""Fewest blocks with a known end with which a side counts; and how far beyond an upright die's foot
a block's rays must be free of neighbours and wall, mm."""
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
_MIN_SIDE_LIGHT = 0.05
"""Least light of a side face beside its top's: a clear green die's sides on the rig have 0.07."""

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
_GAMMA = 2.2
"""Of the camera's picture, as of sRGB."""
_LINEAR = (np.arange(256) / 255.0) ** _GAMMA
_COARSE = 3
"""Only every third sample of a ray is asked whether floor or a neighbour is there. The length of a
ray is a multiple of three."""

UNSEEN = np.inf
"""Where the floor is seen nowhere along a ray."""
_BARE_FROM_MM = 0.35
"""Distance from a top edge at which its own blur ends."""
_BARE_RUN = 3
_BARE_SHARE = 0.05
"""Difference from the floor's colour, lit or in shadow, as a share of the top face's. If the mean
of `_BARE_RUN` samples in a row differs by less, they show the floor. Of 30 flat dice of the rig
beside a neighbour 28 have less, of 34 that lean on one none; the two are green on green felt."""

_RIM = np.linspace(-1, 1, len(_ALONG))[:, None]
_OUTLINE = np.concatenate([n + _RIM * t for n, t in zip(NORMALS, TANGENTS, strict=True)])
"""(N, 2) places along the sides of a top face, in half edges from its middle."""
_SIGNS = np.array((-1, -1, 1, 1))
"""Per side: the sign of the lean that widens it, about the one axis or the other in turn."""


@frozen
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
    """How far outward of each top edge the plain floor is first seen, mm; `UNSEEN` where it is not.
    The first side faces where the die's turn points, the others follow clockwise in the picture."""


NOTHING_SEEN = Sides(0.0, 0.0, 0.0, 0, 0.0, 0.0)


def measure_sides(
    image: np.ndarray,
    ground: Foreground,
    others: Sequence[np.ndarray | None],
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
    profiles, lengths, is_floor = _profiles(
        image, ground, others, at[:, None, :2], turned, calibration
    )
    ends = _ends(profiles, lengths, is_floor, strips)
    floor_mm = _floor_mm(profiles, _floor_light(ground, calibration, at)).tolist()
    rooms = rooms_mm(at[:, :2], turned, calibration)
    through = _through(faces, at[:, None, :2], turned, calibration)
    each = zip(_shown(*ends, strips), strips, rooms, through, floor_mm, strict=True)
    return [
        replace(_judged(shown, strip, room, cost, calibration), floor_mm=tuple(bare))
        for shown, strip, room, cost, bare in each
    ]


def _through(
    faces: Sequence[Face], middles: np.ndarray, turned: np.ndarray, calibration: Calibration
) -> list[np.ndarray]:
    """How badly each of `_LEANS` explains what shines through each face; see `far_face.costs`. Far
    pips that a five hides count a little: 8 of 9 leaning clear fives of the rig showed them."""
    edge, far = calibration.die_mm, calibration.die_mm * (1 - 1 / far_face.REFRACTION)
    scale = calibration.px_per_mm(far) / calibration.px_per_mm(edge)
    sunk = calibration.level_px(middles, far) - calibration.level_px(middles, edge)
    usual = (sunk @ turned.transpose(0, 2, 1))[:, 0] / calibration.die_px
    pairs = zip(faces, usual, strict=True)
    costs = [far_face.costs(face, way, scale, _LEANS) for face, way in pairs]
    if not any(cost.any() for cost in costs):
        return costs
    # All dice of a toss are clear, then. A five hides its far pips only while it lies flat.
    hidden = np.where(_IS_LEANING, 2.0, 0.0)
    return [
        hidden if face.value == 5 and not cost.any() else cost
        for face, cost in zip(faces, costs, strict=True)
    ]


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


def _profiles(
    image: np.ndarray,
    ground: Foreground,
    others: Sequence[np.ndarray | None],
    middles: np.ndarray,
    turned: np.ndarray,
    calibration: Calibration,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(D, 4, _BLOCKS, K, 3) median colours outward from each edge; (D, 4, _BLOCKS) how many of the
    K samples lie over the floor and on no neighbour; and (D, 4, _BLOCKS, K) bool, where nothing
    stands on the floor by what the foreground says."""
    half = calibration.die_mm / 2
    along = (half * _ALONG)[:, None] * TANGENTS[:, None]
    starts = (NORMALS * (half + _FROM_MM))[:, None] + along
    ends = starts + (NORMALS * (_S[-1] - _S[0]))[:, None]
    points = np.stack([starts.reshape(-1, 2), ends.reshape(-1, 2)])[:, None] @ turned + middles
    px = calibration.level_px(points, calibration.die_mm).reshape(2, -1, 2)
    # Over a few millimetres the lens bends nothing: straight lines between exact ends.
    start, way = px[0].astype(np.float32), (px[1] - px[0]).astype(np.float32)
    rays_x, rays_y = (start[:, k, None] + way[:, k, None] * _SHARE for k in (0, 1))
    colours = cv2.remap(image, rays_x, rays_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    median = _upper_median(colours.reshape(-1, _RAYS, len(_S) * 3))
    shape = (len(others), 4, _BLOCKS)
    median = median.reshape(*shape, len(_S), 3).astype(np.float32)
    x, y = _in_view(ground, rays_x[:, ::_COARSE], rays_y[:, ::_COARSE])
    is_free = ground.inside[y, x].reshape(*shape, _RAYS, -1)
    for free, near, column, row in zip(
        is_free, others, x.reshape(is_free.shape), y.reshape(is_free.shape), strict=True
    ):
        if near is not None:
            free &= ~near[row, column]
    lengths = _COARSE * np.logical_and.accumulate(is_free.all(axis=3), axis=3).sum(axis=3)
    is_bare = (ground.mask[y, x] == 0).reshape(is_free.shape)
    is_floor = np.repeat(is_bare.sum(axis=3) > _RAYS // 2, _COARSE, axis=3)
    return median, lengths, is_floor


def _upper_median(sixes: np.ndarray) -> np.ndarray:
    """(N, K) the fourth smallest of each six in (N, 6, K), by odd-even transposition: of hundreds
    of sixes at once it takes a twentieth of `np.sort`'s time."""
    rays = [sixes[:, i] for i in range(_RAYS)]
    for turn in range(_RAYS):
        for i in range(turn % 2, _RAYS - 1, 2):
            low, high = np.minimum(*rays[i : i + 2]), np.maximum(*rays[i : i + 2])
            rays[i : i + 2] = low, high
    return rays[_RAYS // 2]


def _in_view(ground: Foreground, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whole pixels of the view, inside it, next to frame pixels (x, y)."""
    (left, top), scale = ground.origin, ground.scale
    return ground.whole((x + (0.5 - left)) / scale - 0.5, (y + (0.5 - top)) / scale - 0.5)


def _ends(
    profiles: np.ndarray, lengths: np.ndarray, is_floor: np.ndarray, strips: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each block, (4 D, _BLOCKS): where the die ends, mm, NaN where it cannot be told; grey
    levels between its top and the floor in any light; and bool, whether an upright die's side face,
    of its top's colour and as dark as what is seen in its place, would differ from the floor.

    The far end of a profile gives the colour of the floor. A profile counts only if the foreground,
    too, finds nothing standing at that far end. Beside a neighbour the whole profile may lie on
    one wide side face."""
    foot = np.maximum(strips.reshape(-1), 0.0)
    reach = np.searchsorted(_S, foot + 5.0)
    least = np.searchsorted(_S, foot + _MIN_SEEN_MM)
    count = np.minimum(lengths.reshape(-1, _BLOCKS), reach[:, None]).reshape(-1)
    is_long = count >= np.repeat(least, _BLOCKS)
    colours = profiles.reshape(-1, len(_S), 3)
    rows = np.arange(len(colours))
    light = _LINEAR[colours.astype(np.uint8)]
    tail = np.maximum(count, _RUN)[:, None] - np.arange(1, _RUN + 1)
    floor = np.sort(light[rows[:, None], tail], axis=1)[:, _RUN // 2]
    bare = is_floor.reshape(len(rows), -1)[rows, tail[:, 0]]
    away = _away(colours, light, floor)
    contrast = away[:, :_RUN].mean(axis=1)
    level = np.minimum(np.maximum(_LEVEL_SHARE * contrast, _LEVELS[0]), _LEVELS[1])
    near = (away <= level[:, None]) & (np.arange(len(_S)) < count[:, None])
    is_run = np.logical_and.reduce([near[:, i : len(_S) - _RUN + 1 + i] for i in range(_RUN)])
    first = is_run.argmax(axis=1)
    before, here = away[rows, np.maximum(first - 1, 0)], away[rows, first]
    over = (level - here) / np.maximum(before - here, 1e-6)
    # A run from the very start lies inside the top face: this is no edge of a die.
    is_known = is_long & bare & is_run.any(axis=1) & (first > 0)
    at = np.where(is_known, _S[first] - _STEP_MM * over, np.nan)
    top = light[:, :_RUN].mean(axis=1)
    seen = light[rows, np.repeat(np.searchsorted(_S, foot / 2), _BLOCKS)]
    shade = (seen * top).sum(axis=1) / np.maximum((top * top).sum(axis=1), 1e-9)
    own = (top * shade[:, None])[:, None]
    is_told = (shade < _MIN_SIDE_LIGHT) | (
        _away(255.0 * own ** (1 / _GAMMA), own, floor)[:, 0] > level
    )
    return at.reshape(-1, _BLOCKS), contrast.reshape(-1, _BLOCKS), is_told.reshape(-1, _BLOCKS)


def _away(colours: np.ndarray, light: np.ndarray, floor: np.ndarray) -> np.ndarray:
    """(N, K) distance of each colour from the floor's colour, with the floor darkened by the shadow
    that fits best. `colours`: (N, K, 3). `light`: the same in linear light. `floor`: (N, 3), linear
    light."""
    dot = np.maximum((floor * floor).sum(axis=1), 1e-9)
    shade = (light @ floor[:, :, None])[..., 0] / dot[:, None]
    shade = np.minimum(np.maximum(shade, 0.0), 1.1)
    # 255 (shade floor)^(1/γ), as a product of powers: of sixty numbers instead of thousands.
    root = np.asarray(cv2.pow(shade, 1 / _GAMMA))
    shaded = root[..., None] * (255.0 * floor ** (1 / _GAMMA))[:, None]
    off = colours - shaded
    return np.asarray(np.sqrt(np.einsum("bkc,bkc->bk", off, off)))


def _floor_light(ground: Foreground, calibration: Calibration, at: np.ndarray) -> np.ndarray:
    """(D, 3) linear light of the floor where dice stand, whatever lies beside them."""
    px = calibration.level_px(at[:, :2])
    x, y = _in_view(ground, px[:, 0], px[:, 1])
    lab = np.clip(np.rint(ground.floor.lab[:, y, x].T), 0, 255).astype(np.uint8)
    return np.asarray(_LINEAR[cv2.cvtColor(lab[:, None], cv2.COLOR_Lab2BGR)[:, 0]])


def _floor_mm(profiles: np.ndarray, floor: np.ndarray) -> np.ndarray:
    """(D, 4) `Sides.floor_mm`, from what most blocks of a side show."""
    shape = profiles.shape[:3]
    colours = profiles.reshape(-1, len(_S), 3)
    each = np.repeat(floor, shape[1] * shape[2], axis=0)
    away = _away(colours, _LINEAR[colours.astype(np.uint8)], each)
    level = _BARE_SHARE * away[:, :_RUN].mean(axis=1)
    runs = [away[:, i : len(_S) - _BARE_RUN + 1 + i] for i in range(_BARE_RUN)]
    usual = np.mean(runs, axis=0)
    middle = _S[_BARE_RUN // 2 :][: usual.shape[1]]
    is_bare = (usual < level[:, None]) & (middle > _BARE_FROM_MM)
    first = np.where(is_bare.any(axis=1), middle[is_bare.argmax(axis=1)], UNSEEN)
    return np.asarray(np.sort(first.reshape(shape), axis=2)[..., _BLOCKS // 2])


def _shown(
    at: np.ndarray, contrast: np.ndarray, is_told: np.ndarray, strips: np.ndarray
) -> np.ndarray:
    """(D, 3, 4) of each side how far outward of the top edge its strip ends, mm; how much its
    blocks differ, mm; and its contrast. NaN where it cannot be told."""
    known = ~np.isnan(at)
    count = known.sum(axis=1)
    shown = known_medians(at, known)
    spread = known_medians(np.abs(at - shown[:, None]), known)
    strip = strips.reshape(-1)
    is_hidden = (strip > 0.6) & (shown < strip + 0.25) & (2 * (is_told & known).sum(axis=1) < count)
    is_seen = (count >= _MIN_BLOCKS) & ~is_hidden
    each = np.where(is_seen, (shown, spread, known_medians(contrast, known)), np.nan)
    return np.asarray(each.reshape(3, *strips.shape).swapaxes(0, 1))


def _wanted(strip: np.ndarray, px_per_mm: float) -> np.ndarray:
    """Where the die ends, mm outward of its top edge, when its foot is at `strip`."""
    bleed, base = _BLEED_PX / px_per_mm, _BASE_PX / px_per_mm
    return np.maximum(strip + base, bleed + 0.3 * np.maximum(strip + 0.5, 0.0))
