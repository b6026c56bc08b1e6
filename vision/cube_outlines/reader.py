"""The second reader at a table: frame and calibration in, dice out.

Owns: the order of its steps and what counts as a die to it. Must not know the model, consensus or
rounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import cv2
import numpy as np

from shaker_ctl.frozen import frozen
from vision.calibration import Calibration
from vision.cube_outlines.floor import NEAR
from vision.cube_outlines.foreground import FloorView, Foreground, fill, shows_the_same
from vision.cube_outlines.outline import CubeOutline, Fit, Pose, choose
from vision.cube_outlines.pips_first import find_by_pips, nearest
from vision.cube_outlines.sides import NOTHING_SEEN, Sides, measure_sides
from vision.faces_by_pips.pips import FACE_PX, Face, read_face
from vision.quads import SAME_FACE
from vision.reading import DICE

_MIN_AREA = 0.12
"""Foreground smaller than this share of a die is dirt or grain."""
_CHIP_MM = 20.0
"""Radius of the largest chip: casinos' have 19.5 mm."""
_CROWD = 2.0
"""Standard deviations by which chance may crowd a floor's flecks under one chip. Of 29 flat tosses
on path-traced crumb rubber (seeds 1558, 1561 to 1563) that were refused for their flecks 26 are
not; 50 chips, screws and labels of the rig are all refused."""
_MAX_AREA = 7.0
"""Foreground larger than this many dice is no die but a hand, a cloth or a patch of light."""
_HYPOTHESES = 9
_SAME_POSE = (1.0, 0.1)
"""Distance, mm, and turn, radians, of two poses below which they are one. A fit moves a guess by
several times as much."""
_MIN_COVER = 0.86
"""Share of a top face that must be foreground, before and after its pose was refined."""
_GOOD_FIT_MM = 0.45
_WELL_SUPPORTED = 0.8
_WELL_CENTRED = 0.045
_FULL_STEPS = 2.2
"""Steps of colour from the floor at which a piece of foreground counts with its full area. A coin,
a ridge or a chip reaches 4 and more. A glint on the floor reaches 1.7 and counts with less."""
_RIDGE_DICE = 0.75
"""Largest distance, in dice, that a ridge or a rib stands out from the wall. A ridge of the rough
compartment has 0.67 with its shadow."""
_MAX_FLECKS = 18
"""Most small marks of a floor among which the pips alone tell a two. Of 190 path-traced pictures of
plain floors 4 show more, of 90 of crumb rubber 78: there two flecks may lie as a die's two pips do.
The rig's floors show at most 18."""
_MAX_MOVED = 0.12
"""Largest distance, in dice, between an outline and the place that the pips show."""
_LOOKS_PX = 4
"""How far beside a die `_has_neighbour` looks, view pixels."""
_FAR_PX = 2 * (_LOOKS_PX + 2)
"""Distance between two outlines from which it is never true: drawn areas are wider by 2 each."""


@frozen(eq=False)
class SecondDie:
    """A flat die that the second reader sees, or the nearest thing to one."""

    pose: Pose
    corners: np.ndarray
    """(4, 2) float, frame pixels: top face, clockwise."""
    face: Face
    fit: Fit
    sides: Sides = NOTHING_SEEN

    def middle_mm(self, edge_mm: float) -> tuple[float, float]:
        """Where the middle of its top face is by its pips: the outline of a die that leans, or that
        stands in a shadow, may be elsewhere."""
        (u, v), turn = self.face.offset, self.pose.turn
        c, s = float(np.cos(turn)), float(np.sin(turn))
        return (
            self.pose.x_mm + edge_mm * (u * c - v * s),
            self.pose.y_mm + edge_mm * (u * s + v * c),
        )


@frozen(eq=False)
class SecondReading:
    """All that the second reader says of one frame."""

    dice: tuple[SecondDie, ...]
    unexplained: float
    """The largest piece of foreground that belongs to no die and lies free, in dice; faint ones
    count less, and several small ones count together."""
    unexplained_at_wall: float
    """The largest that touches the wall and stands out from it no farther than ridges and ribs,
    which belong to the compartment."""
    foreground: float
    """All foreground, in dice."""
    ground: Foreground


@frozen(eq=False)
class _Piece:
    """One piece of foreground."""

    area: float
    """In dice."""
    mask: np.ndarray
    guesses: list[Pose]
    """Where dice may lie in it, likely ones first."""

    @property
    def is_small(self) -> bool:
        """Too small for two dice."""
        return self.area < 2


class SecondReader:
    """Reads frames of one calibrated camera. One instance per thread."""

    def __init__(self, calibration: Calibration) -> None:
        self.calibration = calibration
        self._floor = FloorView(calibration)
        self._outline = CubeOutline(calibration)
        self._one = (calibration.die_px / self._floor.scale) ** 2
        floor = self._floor.inside.astype(np.uint8)
        self._rim = (floor - cv2.erode(floor, NEAR, iterations=2)) > 0
        self._near_rim = cv2.dilate(self._rim.astype(np.uint8), NEAR) > 0
        self._from_wall_mm = self._distances_from_wall()

    def _distances_from_wall(self) -> np.ndarray:
        """(h, w) of the view: millimetres from the wall, on the floor."""
        shape = self._floor.inside.shape
        y, x = np.mgrid[0 : shape[0], 0 : shape[1]]
        view = np.stack([x.ravel(), y.ravel()], axis=1)
        frame = (view + 0.5) * self._floor.scale + self._floor.origin - 0.5
        places = self.calibration.to_mm(frame)
        reach = np.hypot(places[:, 0], places[:, 1]).reshape(shape)
        return np.asarray(self.calibration.compartment_radius_mm - reach)

    def read(self, image: np.ndarray, by_pips: bool = True) -> SecondReading:
        """Find and read every die in a (H, W, 3) uint8 BGR frame of the calibrated size. Without
        `by_pips`, what the outline leaves open stays open, in a third of the time."""
        ground = self._floor.separate(self._floor.shrink(image))
        contours, _ = cv2.findContours(ground.mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        pieces: list[np.ndarray] = []
        total, flecks = 0.0, 0
        for contour in contours:
            area = cv2.contourArea(contour) / self._one
            if area < _MIN_AREA:
                flecks += 1
                continue
            total += area
            if area < _MAX_AREA:
                pieces.append(contour)
        fits = self._settle(ground, self._explain(ground, pieces))
        dice = [self._centred(image, ground, die) for die in self._faces_at(image, fits)]
        # The search by pips alone takes long.
        if by_pips and (len(dice) != DICE or any(die.face.value is None for die in dice)):
            read = [die for die in dice if die.face.value and die.fit.spread_mm < _GOOD_FIT_MM]
            known = [die.corners for die in read]
            faces = find_by_pips(image, self.calibration, known)
            dice = self._with_pips(ground, dice, faces, is_flecked=flecks > _MAX_FLECKS)
        dice.sort(key=lambda die: die.fit.pose.x_mm)
        areas = [self._area(ground, die.fit) for die in dice]
        free, at_wall = self._unexplained(ground, areas)
        measured = self._measured(image, ground, dice, _around(areas))
        return SecondReading(measured, free, at_wall, total, ground)

    def same_ground(self, image: np.ndarray, before: SecondReading) -> Foreground | None:
        """What is not floor in a (H, W, 3) uint8 BGR frame that shows the compartment exactly as
        `before` did, in the same light; None where anything differs."""
        picture = self._floor.shrink(image)
        if not shows_the_same(before.ground, picture):
            return None
        return self._floor.separate(picture, before.ground)

    def read_again(
        self, image: np.ndarray, ground: Foreground, before: SecondReading
    ) -> SecondReading:
        """Read the dice of `before` where they were, in the later frame that `ground` was found in:
        pips, outlines and sides are measured anew. What lies beside the dice is the same."""
        known = [die.fit for die in before.dice]
        around = _around([self._area(ground, fit) for fit in known])
        poses, insets_mm = [fit.pose for fit in known], [fit.inset_mm for fit in known]
        fits = self._outline.fit(ground, poses, np.array(around), rounds=1, insets_mm=insets_mm)
        dice = self._measured(image, ground, self._faces_at(image, fits), around)
        return replace(before, dice=dice, ground=ground)

    def _with_pips(
        self,
        ground: Foreground,
        dice: list[SecondDie],
        faces: Sequence[tuple[Pose, Face]],
        *,
        is_flecked: bool,
    ) -> list[SecondDie]:
        """The dice, with what their pips alone say where the outline left a question. On a floor
        that `is_flecked`, two spots where no outline is are no die.

        What an outline that fits shows stays, a legal face or none: the pips alone may be those of
        the bottom face, seen through a translucent ace, or leave out the one too many. Where it
        fits badly and pips say another value, there is none.
        """
        edge = self.calibration.die_mm
        kept = list(dice)
        added: list[SecondDie] = []
        for pose, face in faces:
            at = nearest(pose, [die.pose for die in kept], SAME_FACE * edge)
            there = None if at is None else kept[at]
            if there is None and is_flecked and face.value == 2:
                continue
            if there is not None and there.fit.spread_mm < _GOOD_FIT_MM:
                # Of a die that leans, an upright cube may fit all that is seen, but not its top.
                is_top = nearest(pose, [there.pose], _MAX_MOVED * edge) is not None
                if is_top or there.face.value is not None:
                    continue
            if there is not None and there.face.value is not None:
                if there.face.value != face.value:
                    note = f"{there.face.value} pips in the outline, {face.value} else"
                    kept[kept.index(there)] = replace(
                        there, face=replace(there.face, value=None, note=note)
                    )
                continue
            if there is not None:
                kept.remove(there)
            added.append(self._die_by_pips(ground, pose, face))
        places = [die.pose for die in added]
        free = [
            die
            for die in kept
            if die.face.value is not None or nearest(die.pose, places, SAME_FACE * edge) is None
        ]
        return free + added

    def _die_by_pips(self, ground: Foreground, pose: Pose, face: Face) -> SecondDie:
        """A die at the place that its pips say, with the outline there, however well it fits."""
        edge = self.calibration.die_mm
        fit = self._outline.fit(ground, [pose])[0]
        if nearest(pose, [fit.pose], _MAX_MOVED * edge) is None:
            fit = self._outline.fit(ground, [pose], rounds=1)[0]
        x, y, turn = pose.x_mm - fit.pose.x_mm, pose.y_mm - fit.pose.y_mm, fit.pose.turn
        off = (x * np.cos(turn) + y * np.sin(turn), y * np.cos(turn) - x * np.sin(turn))
        face = replace(face, offset=(float(off[0] / edge), float(off[1] / edge)), away=None)
        return SecondDie(fit.pose, self._outline.tops_px([fit.pose])[0], face, fit)

    def _explain(self, ground: Foreground, contours: Sequence[np.ndarray]) -> list[Fit]:
        """Upright dice that explain the pieces of foreground with these contours."""
        pieces = [self._piece(ground, contour) for contour in contours]
        # Of a single die the likeliest guess is nearly always right: the others cost more.
        first = [piece.guesses[:1] if piece.is_small else piece.guesses for piece in pieces]
        fitted = self._fit_each(ground, first)
        found = [self._distinct(ground, *both) for both in zip(pieces, fitted, strict=True)]
        rest = [
            piece.guesses[1:] if piece.is_small and not _is_explained(fits) else []
            for piece, fits in zip(pieces, found, strict=True)
        ]
        chosen: list[Fit] = []
        for piece, before, more, fits in zip(
            pieces, fitted, self._fit_each(ground, rest), found, strict=True
        ):
            if more:
                fits = self._distinct(ground, piece, before + more)
            if fits:
                most = min(len(fits), max(1, round(piece.area * 1.15)), 4)
                chosen += [fits[i] for i in choose(fits, piece.mask, most)]
        return chosen

    def _fit_each(self, ground: Foreground, poses: Sequence[list[Pose]]) -> list[list[Fit]]:
        """Fits of several lists of poses, in one go."""
        fits = iter(self._outline.fit(ground, [pose for some in poses for pose in some]))
        return [[next(fits) for _ in some] for some in poses]

    def _piece(self, ground: Foreground, contour: np.ndarray) -> _Piece:
        mask = np.zeros_like(ground.mask)
        cv2.drawContours(mask, [contour], -1, 255, cv2.FILLED)
        poses = self._outline.propose(ground, contour)
        covers = self._outline.cover(mask, ground, poses)
        order = np.argsort(-covers, kind="stable")[: np.count_nonzero(covers >= _MIN_COVER)]
        guesses: list[Pose] = []
        for pose in (poses[i] for i in order.tolist()):
            if not any(_is_same(pose, other) for other in guesses):
                guesses.append(pose)
        return _Piece(cv2.contourArea(contour) / self._one, mask, guesses)

    def _distinct(self, ground: Foreground, piece: _Piece, fitted: Sequence[Fit]) -> list[Fit]:
        """The fits that cover foreground and differ."""
        covers = self._outline.cover(
            piece.mask, ground, [fit.pose for fit in fitted], [fit.inset_mm for fit in fitted]
        )
        fits: list[Fit] = []
        for fit, cover in zip(fitted, covers, strict=True):
            if len(fits) >= _HYPOTHESES:
                break
            if cover < _MIN_COVER or any(_is_same(fit.pose, other.pose) for other in fits):
                continue
            fits.append(fit)
            if piece.is_small and _is_explained(fits):
                break
        return fits

    def _settle(self, ground: Foreground, fits: list[Fit]) -> list[Fit]:
        """Fit once more, now that each die knows where its neighbours are."""
        if not _may_touch([fit.silhouette for fit in fits]):
            return fits
        areas = [self._area(ground, fit) for fit in fits]
        around = _around(areas)
        near = [i for i, others in enumerate(around) if _has_neighbour(others, areas[i])]
        again = self._outline.fit(
            ground, [fits[i].pose for i in near], np.array([around[i] for i in near])
        )
        settled = dict(zip(near, again, strict=True))
        return [settled.get(i, fit) for i, fit in enumerate(fits)]

    def _area(self, ground: Foreground, fit: Fit) -> np.ndarray:
        area = np.zeros(ground.mask.shape, np.uint8)
        fill(area, fit.silhouette)
        return np.asarray(cv2.dilate(area, NEAR)).view(bool)

    def _unexplained(self, ground: Foreground, areas: list[np.ndarray]) -> tuple[float, float]:
        """See `SecondReading.unexplained` and `unexplained_at_wall`. `areas`: see `_area`."""
        left = ground.mask.copy()
        for area in areas:
            left[area] = 0
        # The soft edges of dice leave a thin seam that is nothing.
        whole = np.asarray(cv2.morphologyEx(left, cv2.MORPH_OPEN, NEAR, iterations=2))
        largest = [0.0, 0.0]
        for size, box, piece in self._pieces(whole):
            if size < _MIN_AREA:
                continue
            is_of_the_wall = (piece & self._rim[box]).any() and (
                self._from_wall_mm[box][piece].max() < _RIDGE_DICE * self.calibration.die_mm
            )
            place = int(is_of_the_wall)
            shown = size * min(1.0, _share_of_full(ground, box, piece)) ** 2
            largest[place] = max(largest[place], shown)
        return max(largest[0], self._scattered(ground, left)), largest[1]

    def _pieces(self, mask: np.ndarray) -> Iterator[tuple[float, tuple[slice, slice], np.ndarray]]:
        """Of each piece of a (h, w) uint8 mask its area, in dice; its box; and where it is in this
        box, bool."""
        left, top, width, height = cv2.boundingRect(mask)
        if not width:
            return  # as usual
        shown = mask[top : top + height, left : left + width]
        count, labels, stats, _ = cv2.connectedComponentsWithStats(shown)
        for i in range(1, count):
            x, y, w, h, area = stats[i].tolist()
            box = np.s_[top + y : top + y + h, left + x : left + x + w]
            yield area / self._one, box, labels[y : y + h, x : x + w] == i

    def _scattered(self, ground: Foreground, left: np.ndarray) -> float:
        """How much more of the small pieces of `left` (h, w) that lie free and stand out clearly is
        under one chip than chance puts there, in dice: the marks of a chip whose body has the
        floor's own colour. A floor may have flecks everywhere."""
        left = np.asarray(cv2.morphologyEx(left, cv2.MORPH_OPEN, NEAR))
        marks: list[tuple[float, float, float]] = []
        for area, (rows, columns), piece in self._pieces(left):
            box = (rows, columns)
            is_clear = area < _MIN_AREA and _share_of_full(ground, box, piece) > 1.0
            if is_clear and not (piece & self._near_rim[box]).any():
                marks.append(
                    ((columns.start + columns.stop) / 2, (rows.start + rows.stop) / 2, area)
                )
        if not marks:
            return 0.0
        at, areas = np.array(marks)[:, :2], np.array(marks)[:, 2]
        reach = _CHIP_MM / self.calibration.die_mm
        gaps = np.linalg.norm(at[:, None] - at, axis=2) / math.sqrt(self._one)
        pairs = np.argwhere(gaps <= 2 * reach)
        away = np.linalg.norm(at[pairs].mean(axis=1)[:, None] - at, axis=2) / math.sqrt(self._one)
        is_under = away <= reach
        most = int((is_under @ areas).argmax())
        under, elsewhere = areas[is_under[most]].sum(), areas[~is_under[most]]
        chip, floor = math.pi * reach**2, np.count_nonzero(ground.inside) / self._one
        share = chip / max(floor - chip, chip)
        # Chance crowds flecks somewhere. The sum of their areas is a compound Poisson sum.
        chance = _CROWD * math.sqrt(share * (elsewhere**2).sum())
        return float(under - share * elsewhere.sum() - chance)

    def _centred(self, image: np.ndarray, ground: Foreground, die: SecondDie) -> SecondDie:
        """The die, or what stands where its pips are, along the axis in which they are farther off
        the middle of the face."""
        (u, v), turn = die.face.offset, die.pose.turn
        if die.fit.support > _WELL_SUPPORTED or math.hypot(u, v) < _WELL_CENTRED:
            return die
        # Between a neighbour and the wall nothing holds the outline along one axis.
        by, along = (u, turn) if abs(u) > abs(v) else (v, turn + math.pi / 2)
        x_mm = die.pose.x_mm + by * math.cos(along) * self.calibration.die_mm
        y_mm = die.pose.y_mm + by * math.sin(along) * self.calibration.die_mm
        fit = self._outline.fit(ground, [Pose(x_mm, y_mm, turn)], rounds=1)[0]
        return self._faces_at(image, [fit])[0]

    def _measured(
        self,
        image: np.ndarray,
        ground: Foreground,
        dice: list[SecondDie],
        around: Sequence[np.ndarray],
    ) -> tuple[SecondDie, ...]:
        """The same with what the side faces of each say; its pips say where its top face is.
        `around`: see `_around`."""
        edge = self.calibration.die_mm
        read = [i for i, die in enumerate(dice) if die.face.value is not None]
        others: list[np.ndarray | None] = []
        places = []
        for i in read:
            near = np.asarray(cv2.dilate(around[i].view(np.uint8), NEAR)).view(bool)
            others.append(near if len(dice) > 1 else None)
            places.append((*dice[i].middle_mm(edge), dice[i].pose.turn))
        measured = list(dice)
        faces = [dice[i].face for i in read]
        sides = measure_sides(image, ground, others, places, faces, self.calibration)
        for i, each in zip(read, sides, strict=True):
            measured[i] = replace(dice[i], sides=each)
        return tuple(measured)

    def _faces_at(self, image: np.ndarray, fits: Sequence[Fit]) -> list[SecondDie]:
        tops = self._outline.tops_px([fit.pose for fit in fits])
        return [
            SecondDie(fit.pose, corners, read_face(rectify(image, corners)), fit)
            for fit, corners in zip(fits, tops, strict=True)
        ]


def _share_of_full(ground: Foreground, box: tuple[slice, slice], piece: np.ndarray) -> float:
    """How far the clearest tenth of a piece stands out from the floor, in `_FULL_STEPS`."""
    return float(np.quantile(ground.distance[box][piece], 0.9)) / _FULL_STEPS


def _may_touch(silhouettes: Sequence[np.ndarray]) -> bool:
    """False if none of several (N, 2) outlines comes near another in the view, by their boxes."""
    low = np.array([outline.min(axis=0) for outline in silhouettes]).reshape(-1, 2)
    high = np.array([outline.max(axis=0) for outline in silhouettes]).reshape(-1, 2)
    is_near = (low[:, None] - high < _FAR_PX).all(axis=2)
    # Each is near itself, and of others both ways.
    return bool((is_near & is_near.T).sum() > len(silhouettes))


def _around(areas: Sequence[np.ndarray]) -> list[np.ndarray]:
    """For each of several (h, w) bool areas where the others are."""
    if not areas:
        return []
    masks = [area.view(np.uint8) for area in areas]
    count = np.zeros_like(masks[0])
    for mask in masks:
        count += mask
    return [np.asarray(count > mask) for mask in masks]


def _is_explained(fits: Sequence[Fit]) -> bool:
    """Whether the newest of the fits is so good that a single die needs no other."""
    return bool(fits) and fits[-1].rms_mm < _GOOD_FIT_MM


def rectify(image: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """(FACE_PX, FACE_PX, 3): the quadrilateral (4, 2) as a square."""
    size = FACE_PX
    target = np.array([(0, 0), (size, 0), (size, size), (0, size)], np.float32) - 0.5
    matrix = cv2.getPerspectiveTransform(corners.astype(np.float32), target)
    return cv2.warpPerspective(image, matrix, (size, size), flags=cv2.INTER_LINEAR)


def _is_same(a: Pose, b: Pose) -> bool:
    is_near = math.hypot(a.x_mm - b.x_mm, a.y_mm - b.y_mm) < _SAME_POSE[0]
    most = math.pi / 4
    return is_near and abs((a.turn - b.turn + most) % (2 * most) - most) < _SAME_POSE[1]


def _has_neighbour(others: np.ndarray, area: np.ndarray) -> bool:
    grown = cv2.dilate(area.astype(np.uint8), NEAR, iterations=_LOOKS_PX) > 0
    return bool((grown & others).any())
