"""Where a die ends along rays outward of its top face, and where its floor is seen.

Owns: how the rays are read from the picture, and the colours of floor, shadow and side face on
them. Must not know leans, nor what an upright die shows beyond the place of its foot.

A ray is read at full resolution. The die ends where the colour becomes the colour of the floor at
the ray's far end, lit or in shadow. A shadow darkens all colours by one factor; a side face has its
own colour. Six adjacent rays give one median profile, a block, and each side has five of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from vision.calibration import Calibration
from vision.cube_outlines.foreground import SCALE, Foreground
from vision.quads import NORMALS, TANGENTS

_BLOCKS, _RAYS = 5, 6
"""Blocks along a side, and rays in each: the median of six survives a pip or a glint."""
_STEP_MM = 0.12
"""Between two samples along a ray: half a pixel of a usual camera."""
_MIN_SEEN_MM = 1.2
"""How far beyond an upright die's foot a block's rays must be free of neighbours and wall, mm."""
_FROM_MM, _TO_MM = -0.8, 5.6
"""Where a ray begins, on the top face, and ends, mm outward from the top edge."""
_S = np.arange(_FROM_MM, _TO_MM, _STEP_MM)
_SHARE = np.linspace(0, 1, len(_S), dtype=np.float32)
ALONG = 0.86 * np.linspace(-1, 1, _BLOCKS * _RAYS)
"""Places along a side where its rays begin, in half edges."""
_RUN = 5
"""Samples in a row that must look like the floor: a dark seam or a row of pips is shorter. So many
at the near end of a profile lie on the top face, and at its far end on the floor."""
_LEVELS = (8.0, 18.0)
_LEVEL_SHARE = 0.14
"""Min and max, in grey levels, of the difference from lit or shaded floor at which the die ends.
Between them it is this share of the difference between the top face and the floor."""

_MIN_SIDE_LIGHT = 0.05
"""Least light of a side face beside its top's: a clear green die's sides on the rig have 0.07."""

_GAMMA = 2.2
"""Of the camera's picture, as of sRGB."""
_LINEAR = (np.arange(256) / 255.0) ** _GAMMA
_COARSE = 3
"""Only every third sample of a ray is asked whether floor or a neighbour is there. The length of a
ray is a multiple of three."""

_BARE_FROM_MM = 0.35
"""Distance from a top edge at which its own blur ends."""
_BARE_RUN = 3
_BARE_SHARE = 0.05
"""Difference from the floor's colour, lit or in shadow, as a share of the top face's. If the mean
of `_BARE_RUN` samples in a row differs by less, they show the floor. Of 30 flat dice of the rig
beside a neighbour 28 have less, of 34 that lean on one none; the two are green on green felt."""


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """What the rays of D dice show; each side has `_BLOCKS` blocks."""

    at_mm: np.ndarray
    """(4 D, _BLOCKS) where the die ends, mm outward of its top edge; NaN where it cannot be told.
    """
    contrast: np.ndarray
    """(4 D, _BLOCKS) grey levels between its top and the floor in any light."""
    is_told: np.ndarray
    """(4 D, _BLOCKS) bool, whether an upright die's side face, of its top's colour and as dark as
    what is seen in its place, would differ from the floor."""
    floor_mm: np.ndarray
    """(D, 4): see `sides.Sides.floor_mm`."""


def read_rays(
    image: np.ndarray,
    ground: Foreground,
    others: Sequence[np.ndarray],
    middles: np.ndarray,
    turned: np.ndarray,
    feet_mm: np.ndarray,
    calibration: Calibration,
) -> Ends:
    """Read the rays of D top faces in a (H, W, 3) uint8 BGR frame: (D, 2) `middles`, mm, turned by
    (D, 2, 2) `turned`, with the feet of upright dice (D, 4) mm outward of the top edges. `others`:
    as in `sides.measure_sides`."""
    profiles, lengths, is_floor = _profiles(image, ground, others, middles, turned, calibration)
    ends = _ends(profiles, lengths, is_floor, feet_mm)
    return Ends(*ends, _floor_mm(profiles, _floor_light(ground, calibration, middles)))


def _profiles(
    image: np.ndarray,
    ground: Foreground,
    others: Sequence[np.ndarray],
    middles: np.ndarray,
    turned: np.ndarray,
    calibration: Calibration,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(D, 4, _BLOCKS, K, 3) median colours outward from each edge; (D, 4, _BLOCKS) how many of the
    K samples lie over the floor and on no neighbour; and (D, 4, _BLOCKS, K) bool, where nothing
    stands on the floor by what the foreground says."""
    half = calibration.die_mm / 2
    along = (half * ALONG)[:, None] * TANGENTS[:, None]
    starts = (NORMALS * (half + _FROM_MM))[:, None] + along
    ends = starts + (NORMALS * (_S[-1] - _S[0]))[:, None]
    points = np.stack([starts.reshape(-1, 2), ends.reshape(-1, 2)])[:, None] @ turned
    px = calibration.level_px(points + middles[:, None], calibration.die_mm).reshape(2, -1, 2)
    # Over a few millimetres the lens bends nothing: straight lines between exact ends.
    start, way = (np.array(each.T, np.float32, order="C") for each in (px[0], px[1] - px[0]))
    x, y = start[..., None] + way[..., None] * _SHARE
    colours = cv2.remap(image, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    median = _upper_median(colours.reshape(-1, _RAYS, len(_S) * 3))
    shape = (len(others), 4, _BLOCKS)
    median = median.reshape(*shape, len(_S), 3).astype(np.float32)
    x, y = _in_view(ground, x[:, ::_COARSE], y[:, ::_COARSE])
    is_free = ground.inside[y, x].reshape(*shape, _RAYS, -1)
    columns, rows = (each.reshape(is_free.shape) for each in (x, y))
    for free, near, column, row in zip(is_free, others, columns, rows, strict=True):
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
    left, top = ground.origin
    return ground.whole((x + (0.5 - left)) / SCALE - 0.5, (y + (0.5 - top)) / SCALE - 0.5)


def _ends(
    profiles: np.ndarray, lengths: np.ndarray, is_floor: np.ndarray, feet_mm: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`Ends.at_mm`, `Ends.contrast` and `Ends.is_told`.

    The far end of a profile gives the colour of the floor. A profile counts only if the foreground,
    too, finds nothing standing at that far end. Beside a neighbour the whole profile may lie on
    one wide side face."""
    foot = np.maximum(feet_mm.reshape(-1), 0.0)
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
    differs = _away(255.0 * own ** (1 / _GAMMA), own, floor)[:, 0] > level
    is_told = (shade < _MIN_SIDE_LIGHT) | differs
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


def _floor_light(ground: Foreground, calibration: Calibration, middles: np.ndarray) -> np.ndarray:
    """(D, 3) linear light of the floor where dice stand, whatever lies beside them."""
    px = calibration.level_px(middles)
    x, y = _in_view(ground, px[:, 0], px[:, 1])
    lab = np.clip(np.rint(ground.floor.lab[:, y, x].T), 0, 255).astype(np.uint8)
    return np.asarray(_LINEAR[cv2.cvtColor(lab[:, None], cv2.COLOR_Lab2BGR)[:, 0]])


def _floor_mm(profiles: np.ndarray, floor: np.ndarray) -> np.ndarray:
    """(D, 4) `Ends.floor_mm`, from what most blocks of a side show."""
    shape = profiles.shape[:3]
    colours = profiles.reshape(-1, len(_S), 3)
    each = np.repeat(floor, shape[1] * shape[2], axis=0)
    away = _away(colours, _LINEAR[colours.astype(np.uint8)], each)
    level = _BARE_SHARE * away[:, :_RUN].mean(axis=1)
    runs = [away[:, i : len(_S) - _BARE_RUN + 1 + i] for i in range(_BARE_RUN)]
    usual = np.mean(runs, axis=0)
    middle = _S[_BARE_RUN // 2 :][: usual.shape[1]]
    is_bare = (usual < level[:, None]) & (middle > _BARE_FROM_MM)
    first = np.where(is_bare.any(axis=1), middle[is_bare.argmax(axis=1)], np.inf)
    return np.asarray(np.sort(first.reshape(shape), axis=2)[..., _BLOCKS // 2])
