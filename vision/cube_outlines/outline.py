"""Fits upright cubes of the calibrated size to what is not floor.

Owns: hypotheses of where a flat die may lie, their refinement to a fraction of a pixel, and the
choice of the few that together explain the picture. Must not know pips or values.

Theory of operation: a flat die has three unknowns (x, y, turn). They determine its outline against
the floor, with the strip of side face that perspective shows. The outline of a rounded die lies
slightly farther inside, equally on all sides; this inset is a fourth unknown. Straight pieces of
the contour propose poses. A search along the outline's normals refines the poses. The set of poses
that covers the inside of the contour best is chosen. If no upright cube explains a contour, the die
is tilted, leaning or stacked, or it is no die.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from operator import or_

import cv2
import numpy as np

from vision.calibration import Calibration
from vision.cube_outlines.foreground import SCALE, Foreground, fill
from vision.medians import medians
from vision.quads import NORMALS, SQUARE, TANGENTS, sides_of, turn_matrices

_SAMPLES = 11
"""Samples along each edge of the outline."""
_REACH = 9.0
"""Search range along a normal, view pixels to each side: the width of a side face at the rim."""
_STEPS = 25
"""Samples along a normal, 0.75 view pixels apart."""
_ROUNDS = 5
"""Steps of the refinement."""
_MIN_FOUND = 3
"""Samples of an outline, or of one of its sides, with which something can be said of it."""
_DAMPING = 0.02
"""Number of samples that hold a pose where it is, for each unknown."""
_WALL_SLACK_MM = 0.3
"""How far a pose may reach into the wall, mm."""

_SIDES = np.repeat(np.arange(len(NORMALS)), _SAMPLES)
_ALONG = np.linspace(-_REACH, _REACH, _STEPS)
_HOW_FAR = np.abs(_ALONG[:-1] + (_ALONG[1] - _ALONG[0]) / 2)
"""Distance from the present outline to the middle between two samples along a ray."""
_INSIDE = int(np.searchsorted(_ALONG, -2.0))
"""Samples of a ray that lie farther inside the present outline than a pip's edge can be out: 2 view
pixels, about 1 mm."""
_OUTWARD = np.arange(0.0, 14.0, 0.5)
"""Places along a normal where the dimmest end of a die is looked for, view pixels outward."""
_GRID = np.stack(np.meshgrid(*2 * (np.linspace(0.06, 0.94, 8),)), axis=-1).reshape(-1, 2)
"""(64, 2) places on a top face, in edges, where `cover` asks for foreground."""


@dataclass(frozen=True, slots=True)
class Pose:
    """An upright cube on the floor."""

    x_mm: float
    y_mm: float
    turn: float
    """Radians, mod π/2, clockwise in the picture."""


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A pose, and how well the outline of an upright cube there agrees with the picture."""

    pose: Pose
    rms_mm: float
    """Of the distances between outline and contour, at the floor's scale."""
    spread_mm: float
    """How far the sides' mean distances differ from each other: 0 for an upright cube however
    soft its contour, as that moves all sides alike."""
    inset_mm: float
    """How far inside a sharp cube's outline the contour is on all sides alike, 0 or more: rounded
    edges turn dark before they end."""
    beyond_mm: float
    """How much farther than an upright cube's the thing reaches on its worst side, its dimmest
    parts included: the side face that a tilted die turns towards the eye."""
    support: float
    """Share of the outline that could be compared (not hidden by a neighbour or the wall)."""
    silhouette: np.ndarray
    """(N, 2) float, view pixels: the outline."""


class CubeOutline:
    """Outlines of upright cubes under one calibration."""

    def __init__(self, calibration: Calibration) -> None:
        self.calibration = calibration
        self.half = calibration.die_mm / 2
        self._px_per_mm = calibration.floor_px_per_mm / SCALE
        along = np.linspace(-0.84, 0.84, _SAMPLES)[:, None]
        rim = (NORMALS[:, None] + along * TANGENTS[:, None]) * self.half
        self._rim = rim.reshape(-1, 2)
        self._damping = _DAMPING * np.diag([1.0, 1.0, self.half**2, 1.0])
        # One sample speaks against an inset: if sides in shadow leave it open, the die is sharp.
        self._prior = np.diag([0.0, 0.0, 0.0, 1.0])

    def tops_px(self, poses: Sequence[Pose]) -> np.ndarray:
        """(P, 4, 2) frame pixels: corners of the top faces, clockwise."""
        return self.calibration.level_px(self._corners_mm(_array(poses)), self.calibration.die_mm)

    def _corners_mm(self, poses: np.ndarray) -> np.ndarray:
        """(P, 4, 2) mm: the squares of (P, 3) poses, clockwise in the picture."""
        return np.asarray(SQUARE @ turn_matrices(poses[:, 2]) * self.half + poses[:, None, :2])

    def _silhouettes(self, ground: Foreground, poses: np.ndarray) -> list[np.ndarray]:
        """(N, 2) view pixels for each pose: the convex outline of the whole cube."""
        squares = self._corners_mm(poses)
        top, foot = self.calibration.upright_px(squares)
        view = ground.to_view(np.concatenate([foot, top], axis=1)).astype(np.float32)
        return [np.asarray(cv2.convexHull(points).reshape(-1, 2)) for points in view]

    # ── Refinement ──────────────────────────────────────────────────────────

    def fit(
        self,
        ground: Foreground,
        starts: Sequence[Pose],
        others: np.ndarray | None = None,
        rounds: int = _ROUNDS,
        insets_mm: Sequence[float] = (),
    ) -> list[Fit]:
        """Move each pose until its outline lies on the contour; all at once, because a step of
        ten poses takes hardly longer than a step of one.

        `others`, (P, h, w) bool in the view: where each one's neighbours are; edges there belong
        to nobody. With `rounds` = 1 the poses stay, and are only judged. `insets_mm`: see
        `Fit.inset_mm`, where known.
        """
        if not starts:
            return []
        poses = _array(starts)
        insets = np.array(insets_mm or [0.0] * len(poses)) * self._px_per_mm
        offsets = np.zeros((len(poses), len(_SIDES)))
        found = np.zeros(offsets.shape, bool)
        moving = np.arange(len(poses))
        for turn in range(rounds):
            at, strip, normal = self._rim_px(poses[moving])
            near = None if others is None else others[moving]
            off, is_found = _search(ground, ground.to_view(at), normal, near)
            # Where a side face is seen, the step of brightness may be at its top edge (a side in
            # shadow) or at its bottom edge (a side as bright as the top): anywhere between is
            # right, and the other sides decide. Of a rounded die both are seen farther inside.
            inset = insets[moving, None]
            off = off - np.minimum(np.maximum(off, -inset), strip - inset)
            offsets[moving], found[moving] = off, is_found
            is_seen = is_found.sum(axis=1) >= _MIN_FOUND
            if turn == rounds - 1 or not is_seen.any():
                break
            moving = moving[is_seen]
            off, is_found = off[is_seen], is_found[is_seen]
            strip, normal = strip[is_seen], normal[is_seen]
            weights = is_found / (1.0 + (off / 1.5) ** 2) * np.where(strip > 0.7, 0.15, 1.0)
            rows = self._slopes(poses[moving], normal) / SCALE
            rows = np.concatenate([rows, np.full((*rows.shape[:2], 1), -1.0)], axis=2)
            weighted = (rows * weights[..., None]).transpose(0, 2, 1)
            # Where little is seen (touching dice) the pose stays near its start.
            pull = (weighted @ off[..., None])[..., 0]
            pull[:, 3] -= insets[moving]
            normals = weighted @ rows + self._damping + self._prior
            step = np.linalg.solve(normals, pull[..., None])[..., 0]
            poses[moving] = self._inside(poses[moving] + step[:, :3])
            insets[moving] = np.maximum(insets[moving] + step[:, 3], 0.0)
            if turn > 0:
                farthest = np.abs(step[:, :3] * (1.0, 1.0, self.half)).max(axis=1)
                moving = moving[farthest >= 0.03]
                if not len(moving):
                    break
        return self._judged(ground, poses, insets, offsets, found, others)

    def _judged(
        self,
        ground: Foreground,
        poses: np.ndarray,
        insets: np.ndarray,
        offsets: np.ndarray,
        found: np.ndarray,
        others: np.ndarray | None,
    ) -> list[Fit]:
        """What the offsets (P, N) of the outlines' samples say of each pose."""
        pixel_mm = SCALE / self.calibration.floor_px_per_mm
        means = _side_medians(offsets, found) * pixel_mm
        beyond = self._beyond(ground, poses, others)
        fits = []
        for i, silhouette in enumerate(self._silhouettes(ground, poses)):
            rms = spread = self.calibration.die_mm  # more than any fit
            seen = found[i]
            if seen.sum() >= _MIN_FOUND:
                rms = float(np.sqrt((offsets[i][seen] ** 2).mean())) * pixel_mm
                known = means[i][~np.isnan(means[i])]
                if len(known):
                    spread = float(known.max() - known.min())
            x, y, turn = (float(v) for v in poses[i])
            fits.append(
                Fit(
                    pose=Pose(x, y, turn % (np.pi / 2)),
                    rms_mm=rms,
                    spread_mm=spread,
                    inset_mm=float(insets[i]) * pixel_mm,
                    beyond_mm=float(beyond[i]) * pixel_mm,
                    support=float(seen.mean()),
                    silhouette=silhouette,
                )
            )
        return fits

    def _beyond(
        self, ground: Foreground, poses: np.ndarray, others: np.ndarray | None
    ) -> np.ndarray:
        """(P,) view pixels by which the foreground next to the worst side exceeds its strip; 0 or
        more."""
        at, strip, normal = self._rim_px(poses)
        x, y = ground.whole(*_rays(ground.to_view(at), normal, _OUTWARD))
        is_floor = ground.distance[y, x] < 1.0
        known = ground.inside[y, x]
        if others is not None:
            known = known & ~others[np.arange(len(poses))[:, None, None], y, x]
        ends = is_floor.argmax(axis=2)[..., None]
        # A sample tells something only if floor is met before a neighbour or the wall.
        open_so_far = np.logical_and.accumulate(known, axis=2)
        is_told = is_floor.any(axis=2) & np.take_along_axis(open_so_far, ends, axis=2)[..., 0]
        excess = _OUTWARD[ends[..., 0]] - strip
        return np.asarray(np.fmax.reduce(_side_medians(excess, is_told), axis=1, initial=0.0))

    def _inside(self, poses: np.ndarray) -> np.ndarray:
        """The poses, moved towards the middle until all their corners are within the wall."""
        corners = self._corners_mm(poses)
        reach = np.hypot(corners[..., 0], corners[..., 1])
        farthest = np.arange(len(poses)), reach.argmax(axis=1)
        over = reach[farthest] - self.calibration.compartment_radius_mm - _WALL_SLACK_MM
        back = corners[farthest] * (np.maximum(over, 0.0) / reach[farthest])[:, None]
        moved = poses.copy()
        moved[:, :2] -= back
        return moved

    def _rim_px(self, poses: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of the samples along the top faces' edges: (P, N, 2) frame pixels; (P, N) view pixels,
        how far the side face below each is seen beyond it; and (P, N, 2) their normals."""
        turned = turn_matrices(poses[:, 2])
        xy = self._rim @ turned + poses[:, None, :2]
        normal = (NORMALS @ turned)[:, _SIDES]
        top, foot = self.calibration.upright_px(xy)
        strip = ((foot - top) * normal).sum(axis=2) / SCALE
        return top, np.maximum(strip, 0.0), normal

    def _slopes(self, poses: np.ndarray, normal: np.ndarray) -> np.ndarray:
        """(P, N, 3): how far the samples move along their normals, frame pixels, per mm in x and
        y and per radian. The distortion's own slope is left out: a few percent of a step."""
        scale = self.calibration.px_per_mm(self.calibration.die_mm)
        xy = self._rim @ turn_matrices(poses[:, 2])
        across = normal[..., 1] * xy[..., 0] - normal[..., 0] * xy[..., 1]
        return np.concatenate([normal, across[..., None]], axis=2) * scale

    # ── Hypotheses ──────────────────────────────────────────────────────────

    def propose(self, ground: Foreground, contour: np.ndarray) -> list[Pose]:
        """Poses that straight pieces and corners of one contour (N, 1, 2 view pixels) suggest."""
        edge = self.calibration.die_px / SCALE
        half = edge / 2
        polygon = cv2.approxPolyDP(contour, 0.045 * edge, True).reshape(-1, 2).astype(float)
        sides = sides_of(polygon)
        is_long = np.hypot(*sides.T) >= half
        starts, sides = polygon[is_long], sides[is_long]
        ends, lengths = starts + sides, np.hypot(*sides.T)
        along = sides / lengths[:, None]
        # OpenCV goes around what a contour holds with its inside on the same side always.
        inward = np.stack([along[:, 1], -along[:, 0]], axis=1) * half
        # In the middle of a side as long as a die's, and at both ends of any.
        places = np.stack([(starts + ends) / 2, starts + along * half, ends - along * half], axis=1)
        counts = np.ones(places.shape[:2], bool)
        counts[:, 0] = np.abs(lengths - edge) < 0.2 * edge
        centres = (places + inward[:, None])[counts].tolist()
        turns = np.repeat(np.arctan2(along[:, 1], along[:, 0]), counts.sum(axis=1)).tolist()
        (x, y), _, angle = cv2.minAreaRect(contour)
        centres.append([x, y])
        turns.append(math.radians(angle))
        mid = self.calibration.die_mm * 0.75  # between the outline's top and bottom edges
        places_mm = self.calibration.to_mm(ground.to_frame(np.array(centres)), mid)
        return [
            Pose(x, y, turn % (math.pi / 2))
            for (x, y), turn in zip(places_mm.tolist(), turns, strict=True)
        ]

    def cover(
        self,
        mask: np.ndarray,
        ground: Foreground,
        poses: Sequence[Pose],
        insets_mm: Sequence[float] = (),
    ) -> np.ndarray:
        """(P,) share of each pose's top face that is foreground, of what lies over the floor.
        `insets_mm`: how much of each face's border does not count."""
        if not poses:
            return np.zeros(0)
        squares = ground.to_view(self.tops_px(poses))
        inset = np.array(insets_mm or [0.0] * len(poses))[:, None] / (2 * self.half)
        u, v = (inset + along * (1 - 2 * inset) for along in _GRID.T)
        corner, right, _, below = squares.transpose(1, 2, 0)[..., None]
        x, y = ground.whole(*(corner + u * (right - corner) + v * (below - corner)))
        inside = ground.inside[y, x]
        covered = ((mask[y, x] > 0) & inside).sum(axis=1) / np.maximum(inside.sum(axis=1), 1)
        # A flat die at the rim has two thirds of its top face over the floor.
        return np.asarray(np.where(inside.mean(axis=1) > 0.5, covered, 0.0))


def _array(poses: Sequence[Pose]) -> np.ndarray:
    """(P, 3): x, y, turn."""
    return np.array([(pose.x_mm, pose.y_mm, pose.turn) for pose in poses], float).reshape(-1, 3)


def _side_medians(offsets: np.ndarray, found: np.ndarray) -> np.ndarray:
    """(P, 4) median offsets of the sides of each pose, from (P, N) samples; NaN where fewer than
    `_MIN_FOUND` were found."""
    shape = (-1, 4, _SAMPLES)
    ordered = np.sort(np.where(found, offsets, np.inf).reshape(shape), axis=2)
    count = found.reshape(shape).sum(axis=2)
    middle = np.take_along_axis(ordered, count[..., None] // 2, axis=2)[..., 0]
    return np.asarray(np.where(count >= _MIN_FOUND, middle, np.nan))


def _rays(view: np.ndarray, normal: np.ndarray, along: np.ndarray) -> np.ndarray:
    """(2, P, N, K) float32: x and y of the points `along` the normals from each of (P, N, 2)."""
    start, way = (
        np.array(each.transpose(2, 0, 1), np.float32, order="C") for each in (view, normal)
    )
    return start[..., None] + way[..., None] * along.astype(np.float32)


def _search(
    ground: Foreground, view: np.ndarray, normal: np.ndarray, others: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """(P, N) offsets of the contour along each normal (outward positive, view pixels), and where
    one was found. `others`: see `CubeOutline.fit`."""
    count = view.shape[0] * view.shape[1]
    x, y = _rays(view, normal, _ALONG).reshape(2, count, _STEPS)
    profile = cv2.remap(ground.distance, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    # The die's own level is what lies inside, whatever its pips are; the contour is where half of
    # it is left.
    inner = medians(profile[:, : _STEPS // 3].reshape(len(view), -1))
    half = (0.55 * inner).repeat(view.shape[1])[:, None]
    above = profile > half
    falls = above[:, :-1] & ~above[:, 1:]
    # A fall well inside the outline, with more of the same thing behind it, is a pip's.
    solid = cv2.remap(ground.mask, x, y, cv2.INTER_NEAREST) > 0
    is_on = above & np.logical_and.accumulate(solid, axis=1)
    last = (is_on * np.arange(_STEPS)).max(axis=1)
    falls[:, :_INSIDE] &= np.arange(_INSIDE) >= last[:, None]
    # Of several crossings the one nearest to the present outline.
    far = np.where(falls, _HOW_FAR, np.inf)
    first = far.argmin(axis=1)
    rows = np.arange(count)
    found = falls[rows, first]
    p0, p1 = profile[rows, first], profile[rows, first + 1]
    share = (p0 - half[:, 0]) / np.maximum(p0 - p1, 1e-6)
    offsets = np.where(found, _ALONG[first] + share * (_ALONG[1] - _ALONG[0]), 0.0)
    offsets, found = offsets.reshape(view.shape[:2]), found.reshape(view.shape[:2])
    # Beyond the crossing there must be floor, not a neighbour, the wall or a narrow gap.
    beyond = view + normal * (offsets + 1.5)[..., None]
    x, y = ground.whole(beyond[..., 0], beyond[..., 1])
    found &= ground.inside[y, x]
    if others is not None:
        found &= ~others[np.arange(len(view))[:, None], y, x]
    return offsets, found


def choose(poses: Sequence[Fit], mask: np.ndarray, most: int) -> list[int]:
    """Indices of the subset that explains the mask best: least foreground missed, least area
    invented, least overlap."""
    if len(poses) == 1:
        return [0]
    areas = np.zeros((len(poses), *mask.shape), np.uint8)
    for fit, area in zip(poses, areas, strict=True):
        fill(area, fit.silhouette)
    everything = areas.any(axis=0) | (mask > 0)
    shown = np.ix_(everything.any(axis=1), everything.any(axis=0))
    silhouettes, solid = [area[shown] > 0 for area in areas], mask[shown] > 0
    sizes = [np.count_nonzero(area) for area in silhouettes]
    one, whole = float(np.median(sizes)), np.count_nonzero(solid)

    def cost(chosen: tuple[int, ...]) -> float:
        union = reduce(or_, (silhouettes[i] for i in chosen))
        covered, hit = np.count_nonzero(union), np.count_nonzero(union & solid)
        overlap = (sum(sizes[i] for i in chosen) - covered) / one
        missed, invented = (whole - hit) / one, (covered - hit) / one
        return missed + invented + overlap

    counts = range(1, most + 1)
    subsets = [each for count in counts for each in combinations(range(len(poses)), count)]
    best = min(subsets, key=cost)
    return list(best)
