"""Fits upright cubes of the calibrated size to what is not floor.

Owns: hypotheses of where a flat die may lie, their refinement to a fraction of a pixel, and the
choice of the few that together explain the picture. Must not know pips or values.

Theory of operation: a flat die has three unknowns (x, y, turn). Its outline against the floor is
then known exactly, the strip of side face that perspective shows included. Straight pieces of the
contour propose poses, a search along the outline's normals refines them, and the set that covers
the contour's inside best wins. What no upright cube can explain is the cue that a die is tilted,
leaning, stacked, or no die.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import cv2
import numpy as np

from vision.calibration import Calibration
from vision.second_reader.foreground import Foreground

_SAMPLES = 11
"""Samples along each edge of the outline."""
_REACH = 9.0
"""Search range along a normal, view pixels to either side: a strip of side face at the rim."""
_STEPS = 25
_ROUNDS = 5
_LEAST_FOUND = 6
_LEAST_INSIDE = 0.4
"""Share of a top face that must lie over the floor: a flat die at the rim has two thirds there."""
_LARGEST_STEP = np.array((3.0, 3.0, 0.2))
_NO_FIT_MM = 9.9
_WALL_SLACK_MM = 0.3

_SQUARE = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], float)
_NORMALS = np.array([(1, 0), (0, 1), (-1, 0), (0, -1)], float)
_SIDES = np.repeat(np.arange(4), _SAMPLES)
_ALONG = np.linspace(-_REACH, _REACH, _STEPS)
_OUTWARD = np.arange(0.0, 14.0, 0.5)
_GRID = np.array([(u, v) for u in np.linspace(0.06, 0.94, 8) for v in np.linspace(0.06, 0.94, 8)])


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
    worst_side_mm: float
    """Largest mean distance along one side; positive: the thing is larger than a flat die."""
    spread_mm: float
    """How far the sides' mean distances differ from each other: 0 for an upright cube however
    soft its contour, as that moves all sides alike."""
    beyond_mm: float
    """How much farther than an upright cube's the thing reaches on its worst side, its dimmest
    parts included: the side face that a tilted die turns towards the eye."""
    walled_mm: float
    """How much farther at the least the thing reaches on a side that it covers up to the wall: a
    die that leans on the wall shows its side there, and no floor behind it. 0: no such side."""
    support: float
    """Share of the outline that could be compared (not hidden by a neighbour or the wall)."""
    silhouette: np.ndarray
    """(N, 2) float, view pixels: the outline."""


class CubeOutline:
    """Outlines of upright cubes under one calibration."""

    def __init__(self, calibration: Calibration) -> None:
        self.calibration = calibration
        self.half = calibration.die_mm / 2
        along = np.linspace(-0.84, 0.84, _SAMPLES)
        tangents = np.stack([-_NORMALS[:, 1], _NORMALS[:, 0]], axis=1)
        rim = (_NORMALS[:, None] + along[None, :, None] * tangents[:, None]) * self.half
        self._rim = rim.reshape(-1, 2)
        self._damping = np.diag([0.02, 0.02, 0.02 * self.half**2])

    def corners_mm(self, pose: Pose) -> np.ndarray:
        """(4, 2) mm: the square, clockwise in the picture."""
        return np.asarray(_SQUARE @ _turned(pose.turn) * self.half + (pose.x_mm, pose.y_mm))

    def top_px(self, pose: Pose) -> np.ndarray:
        """(4, 2) frame pixels: corners of the top face, clockwise."""
        return self.calibration.to_px(_raised(self.corners_mm(pose), self.calibration.die_mm))

    def silhouette_px(self, pose: Pose) -> np.ndarray:
        """(N, 2) frame pixels: the convex outline of the whole cube."""
        square = self.corners_mm(pose)
        solid = np.concatenate([_raised(square, 0.0), _raised(square, self.calibration.die_mm)])
        hull = cv2.convexHull(self.calibration.to_px(solid).astype(np.float32))
        return np.asarray(hull.reshape(-1, 2))

    # ── Refinement ──────────────────────────────────────────────────────────

    def fit(
        self,
        ground: Foreground,
        start: Pose,
        others: np.ndarray | None = None,
        rounds: int = _ROUNDS,
    ) -> Fit:
        """Move the pose until the outline lies on the contour.

        `others`, (h, w) bool in the view: where neighbours are; edges there belong to nobody.
        With `rounds` = 1 the pose stays, and is only judged.
        """
        pose = start
        pixel_mm = ground.scale / self.calibration.floor_px_per_mm
        offsets, found = np.zeros(len(_SIDES)), np.zeros(len(_SIDES), bool)
        for turn in range(rounds):
            at, strip = self._rim_px(pose, ground.scale)
            normal = (_NORMALS @ _turned(pose.turn))[_SIDES]
            offsets, found = _search(ground, ground.to_view(at), normal, others)
            # Where a side face is seen, the step of brightness may be at its top edge (a side in
            # shadow) or at its bottom edge (a side as bright as the top): anywhere between is
            # right, and the other sides decide.
            offsets = np.where(offsets > 0, np.maximum(offsets - strip, 0.0), offsets)
            if found.sum() < _LEAST_FOUND or turn == rounds - 1:
                break
            weights = found / (1.0 + (offsets / 1.5) ** 2) * np.where(strip > 0.7, 0.15, 1.0)
            rows = self._slopes(pose, normal) / ground.scale
            # Where little is seen (touching dice) the pose stays near its start.
            lhs = (rows * weights[:, None]).T @ rows + self._damping
            step = np.linalg.solve(lhs, rows.T @ (weights * offsets))
            step = np.minimum(np.maximum(step, -_LARGEST_STEP), _LARGEST_STEP)
            pose = self._inside(
                Pose(
                    pose.x_mm + float(step[0]),
                    pose.y_mm + float(step[1]),
                    pose.turn + float(step[2]),
                )
            )
            if turn > 0 and max(abs(step[0]), abs(step[1]), self.half * abs(step[2])) < 0.03:
                break
        rms = worst = spread = _NO_FIT_MM
        if found.sum() >= _LEAST_FOUND:
            rms = float(np.sqrt((offsets[found] ** 2).mean())) * pixel_mm
            means = _side_medians(offsets, found, 3)
            known = means[~np.isnan(means)] * pixel_mm
            if len(known):
                worst = float(known[np.abs(known).argmax()])
                spread = float(known.max() - known.min())
        beyond, walled = self._beyond(ground, pose, others)
        return Fit(
            pose=Pose(pose.x_mm, pose.y_mm, pose.turn % (np.pi / 2)),
            rms_mm=rms,
            worst_side_mm=worst,
            spread_mm=spread,
            beyond_mm=beyond * pixel_mm,
            walled_mm=walled * pixel_mm,
            support=float(found.mean()),
            silhouette=ground.to_view(self.silhouette_px(pose)),
        )

    def _beyond(
        self, ground: Foreground, pose: Pose, others: np.ndarray | None
    ) -> tuple[float, float]:
        """View pixels by which the foreground next to the worst side exceeds its strip: where it
        ends in floor, and at the least where it ends at the wall."""
        at, strip = self._rim_px(pose, ground.scale)
        normal = (_NORMALS @ _turned(pose.turn))[_SIDES]
        view = ground.to_view(at)
        xs = (view[:, :1] + normal[:, :1] * _OUTWARD).astype(np.float32)
        ys = (view[:, 1:] + normal[:, 1:] * _OUTWARD).astype(np.float32)
        x, y = _inside_view(np.stack([xs, ys], axis=-1), ground.distance.shape)
        is_floor = ground.distance[y, x] < 1.0
        known = ground.inside[y, x]
        if others is not None:
            known &= ~others[y, x]
        ends = is_floor.argmax(axis=1)
        rows = np.arange(len(view))
        # A sample tells something only if floor is met before a neighbour or the wall.
        known = is_floor.any(axis=1) & np.logical_and.accumulate(known, axis=1)[rows, ends]
        excess = _OUTWARD[ends] - strip
        beyond = float(np.nanmax(_side_medians(excess, known, 4), initial=-9.0))
        is_thing = ground.inside[y, x] & ~is_floor
        if others is not None:
            is_thing &= ~others[y, x]
        run = np.logical_and.accumulate(is_thing, axis=1).sum(axis=1)
        last = np.minimum(run, len(_OUTWARD) - 1)
        at_wall = (run > 0) & ~ground.inside[y, x][rows, last]
        covered = _OUTWARD[np.maximum(run - 1, 0)] - strip
        walled = float(np.nanmax(_side_medians(covered, at_wall, 5), initial=0.0))
        return beyond, walled

    def edge_strength(self, image: np.ndarray, pose: Pose) -> float:
        """Step of brightness across the top face's edges in a (H, W, 3) frame, in grey levels:
        the sum over its sides of what most of a side has."""
        at, _ = self._rim_px(pose, 1.0)
        normal = (_NORMALS @ _turned(pose.turn))[_SIDES]
        sides = [
            cv2.remap(
                image,
                (at[:, :1] + k * normal[:, :1]).astype(np.float32),
                (at[:, 1:] + k * normal[:, 1:]).astype(np.float32),
                cv2.INTER_LINEAR,
                borderMode=cv2.BORDER_REPLICATE,
            )
            for k in (-2.0, 2.0)
        ]
        step = np.abs(sides[1].astype(np.int16) - sides[0]).reshape(4, _SAMPLES, 3).max(axis=2)
        return float(np.sort(step, axis=1)[:, _SAMPLES // 3].sum())

    def _inside(self, pose: Pose) -> Pose:
        """The pose, moved towards the middle until all its corners are within the wall."""
        corners = self.corners_mm(pose)
        reach = np.hypot(corners[:, 0], corners[:, 1])
        farthest = int(reach.argmax())
        over = float(reach[farthest]) - self.calibration.compartment_radius_mm - _WALL_SLACK_MM
        if over <= 0:
            return pose
        back = corners[farthest] / reach[farthest] * over
        return Pose(pose.x_mm - float(back[0]), pose.y_mm - float(back[1]), pose.turn)

    def _rim_px(self, pose: Pose, scale: float) -> tuple[np.ndarray, np.ndarray]:
        """(N, 2) frame pixels of the samples along the top face's edges; and (N,) view pixels:
        how far the side face below each of them is seen beyond it."""
        turned = _turned(pose.turn)
        xy = self._rim @ turned + (pose.x_mm, pose.y_mm)
        count = len(xy)
        both = self.calibration.to_px(
            np.concatenate([_raised(xy, self.calibration.die_mm), _raised(xy, 0.0)])
        )
        normal = (_NORMALS @ turned)[_SIDES]
        strip = ((both[count:] - both[:count]) * normal).sum(axis=1) / scale
        return both[:count], np.maximum(strip, 0.0)

    def _slopes(self, pose: Pose, normal: np.ndarray) -> np.ndarray:
        """(N, 3): how far the samples move along their normals, frame pixels, per mm in x and y
        and per radian. The distortion's own slope is left out: a few percent of a step."""
        scale = self.calibration.px_per_mm(self.calibration.die_mm)
        xy = self._rim @ _turned(pose.turn)
        across = normal[:, 1] * xy[:, 0] - normal[:, 0] * xy[:, 1]
        return np.stack([normal[:, 0], normal[:, 1], across], axis=1) * scale

    # ── Hypotheses ──────────────────────────────────────────────────────────

    def propose(self, ground: Foreground, contour: np.ndarray) -> list[Pose]:
        """Poses that straight pieces and corners of one contour (N, 1, 2 view pixels) suggest."""
        edge = self.calibration.die_px / ground.scale
        centres: list[np.ndarray] = []
        turns: list[float] = []
        polygon = cv2.approxPolyDP(contour, 0.045 * edge, True).reshape(-1, 2).astype(float)
        following = np.roll(polygon, -1, axis=0)
        # Shoelace: on which side of its edges the polygon has its inside.
        area = (polygon[:, 0] * following[:, 1] - polygon[:, 1] * following[:, 0]).sum()
        for a, b in zip(polygon, following, strict=True):
            length = float(np.hypot(*(b - a)))
            if length < 0.3 * edge:
                continue
            along = (b - a) / length
            inward = np.array((-along[1], along[0])) * np.sign(area)
            places = [a + along * edge / 2, b - along * edge / 2]
            if abs(length - edge) < 0.2 * edge:
                places = [(a + b) / 2, *places]
            turn = float(np.arctan2(along[1], along[0]))
            centres += [p + inward * edge / 2 for p in places]
            turns += [turn] * len(places)
        (x, y), (w, h), angle = cv2.minAreaRect(contour)
        if max(w, h) < 1.45 * edge:
            centres.append(np.array((x, y)))
            turns.append(float(np.radians(angle)))
        if not centres:
            return []
        mid = self.calibration.die_mm * 0.75  # between the outline's top and bottom edges
        places_mm = self.calibration.to_mm(ground.to_frame(np.array(centres)), mid)
        return [
            Pose(float(x), float(y), turn % (np.pi / 2))
            for (x, y), turn in zip(places_mm, turns, strict=True)
        ]

    def cover(self, mask: np.ndarray, ground: Foreground, poses: Sequence[Pose]) -> np.ndarray:
        """(P,) share of each pose's top face that is foreground, of what lies over the floor."""
        if not poses:
            return np.zeros(0)
        corners = np.concatenate([self.corners_mm(pose) for pose in poses])
        tops = self.calibration.to_px(_raised(corners, self.calibration.die_mm))
        squares = ground.to_view(tops).reshape(-1, 4, 2)
        points = (
            squares[:, None, 0]
            + _GRID[:, :1] * (squares[:, None, 1] - squares[:, None, 0])
            + _GRID[:, 1:] * (squares[:, None, 3] - squares[:, None, 0])
        )
        x, y = _inside_view(points, mask.shape)
        inside = ground.inside[y, x]
        covered = ((mask[y, x] > 0) & inside).sum(axis=1) / np.maximum(inside.sum(axis=1), 1)
        return np.asarray(np.where(inside.mean(axis=1) > _LEAST_INSIDE, covered, 0.0))


def _side_medians(offsets: np.ndarray, found: np.ndarray, least: int) -> np.ndarray:
    """(4,) median offset of each side; NaN where fewer than `least` samples were found."""
    medians = np.full(4, np.nan)
    for side in range(4):
        here = offsets[side * _SAMPLES : (side + 1) * _SAMPLES]
        here = np.sort(here[found[side * _SAMPLES : (side + 1) * _SAMPLES]])
        if len(here) >= least:
            medians[side] = here[len(here) // 2]
    return medians


def _turned(turn: float) -> np.ndarray:
    """Rows times this matrix turn from the die's frame to the compartment's; this matrix times
    columns turns back."""
    c, s = np.cos(turn), np.sin(turn)
    return np.array([(c, s), (-s, c)])


def _raised(xy: np.ndarray, z: float | np.ndarray) -> np.ndarray:
    points = np.empty((len(xy), 3))
    points[:, :2] = xy
    points[:, 2] = z
    return points


def _inside_view(points: np.ndarray, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    whole = (points + 0.5).astype(np.intp)
    x = np.minimum(np.maximum(whole[..., 0], 0), shape[1] - 1)
    y = np.minimum(np.maximum(whole[..., 1], 0), shape[0] - 1)
    return x, y


def _search(
    ground: Foreground, view: np.ndarray, normal: np.ndarray, others: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Offset of the contour along each normal (outward positive, view pixels), and where one was
    found."""
    xs = (view[:, :1] + normal[:, :1] * _ALONG).astype(np.float32)
    ys = (view[:, 1:] + normal[:, 1:] * _ALONG).astype(np.float32)
    profile = cv2.remap(
        ground.distance, xs, ys, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=9.0
    )
    # The die's own level is what lies inside; the contour is where half of it is left.
    inner = np.sort(profile[:, : _STEPS // 3], axis=1)[:, _STEPS // 6]
    half = np.minimum(np.maximum(0.55 * inner, 0.75), 6.0)[:, None]
    above = profile > half
    falls = above[:, :-1] & ~above[:, 1:]
    # Of several crossings the one nearest to the present outline.
    far = np.where(falls, np.abs(_ALONG[:-1] + (_ALONG[1] - _ALONG[0]) / 2), np.inf)
    first = far.argmin(axis=1)
    rows = np.arange(len(view))
    found = falls[rows, first]
    p0, p1 = profile[rows, first], profile[rows, first + 1]
    share = (p0 - half[:, 0]) / np.maximum(p0 - p1, 1e-6)
    offsets = np.where(found, _ALONG[first] + share * (_ALONG[1] - _ALONG[0]), 0.0)
    # Beyond the crossing there must be floor, not a neighbour, the wall or a narrow gap.
    x, y = _inside_view(view + normal * (offsets + 1.5)[:, None], ground.distance.shape)
    found &= ground.inside[y, x]
    if others is not None:
        found &= ~others[y, x]
    return offsets, found


def choose(poses: Sequence[Fit], mask: np.ndarray, most: int) -> list[int]:
    """Indices of the subset that explains the mask best: least foreground missed, least area
    invented, least overlap."""
    if len(poses) == 1:
        return [0]
    silhouettes = []
    for fit in poses:
        area = np.zeros(mask.shape, np.uint8)
        cv2.fillPoly(area, [np.round(fit.silhouette * 16).astype(np.int32)], 1, cv2.LINE_8, 4)
        silhouettes.append(area > 0)
    solid = mask > 0
    sizes = [int(s.sum()) for s in silhouettes]
    one = float(np.median(sizes)) if sizes else 1.0
    best: tuple[float, list[int]] = (float("inf"), [])
    for count in range(1, most + 1):
        for chosen in combinations(range(len(poses)), count):
            union = silhouettes[chosen[0]].copy()
            for i in chosen[1:]:
                union |= silhouettes[i]
            overlap = (sum(sizes[i] for i in chosen) - int(union.sum())) / one
            missed = int((solid & ~union).sum()) / one
            invented = int((union & ~solid).sum()) / one
            cost = missed + invented + 1.5 * overlap + 0.08 * count
            if cost < best[0]:
                best = (cost, list(chosen))
    return best[1]
