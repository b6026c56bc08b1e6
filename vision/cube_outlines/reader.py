"""The second reader at a table: frame and calibration in, dice out.

Owns: the order of its steps and what counts as a die to it. Must not know the model, consensus or
rounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from vision.calibration import Calibration
from vision.cube_outlines.explanation import GOOD_FIT_MM, Explanation
from vision.cube_outlines.floor import NEAR
from vision.cube_outlines.foreground import FloorView, Foreground, fill, shows_the_same
from vision.cube_outlines.left_over import MIN_AREA, LeftOver
from vision.cube_outlines.outline import CubeOutline, Fit, Pose
from vision.cube_outlines.pips_first import find_by_pips
from vision.cube_outlines.sides import NOTHING_SEEN, Sides, measure_sides
from vision.faces_by_pips.pieces import FACE_PX
from vision.faces_by_pips.pips import SPOTS, Face, read_face
from vision.pip_heights import Pips
from vision.quads import SAME_FACE, rectify, turn_matrices
from vision.reading import DICE, GeometryReading

_MAX_AREA = 7.0
"""Foreground larger than this many dice is no die but a hand, a cloth or a patch of light."""
_WELL_SUPPORTED, _WELL_CENTRED = 0.8, 0.045
"""Share of an outline in sight, and offset of the pips from the middle, in edges: an outline with
more, or pips with less, are where the die is."""
_MAX_FLECKS = 18
"""Most small marks of a floor among which the pips alone tell a two. Of 190 path-traced pictures of
plain floors 4 show more, of 90 of crumb rubber 78: there two flecks may lie as a die's two pips do.
The rig's floors show at most 18."""
_MAX_MOVED = 0.12
"""Largest distance, in dice, between an outline and the place that the pips show."""
_LOOKS_PX = 4
"""How far beside a die its neighbours are looked for, view pixels."""
_PLACES = {
    value: np.array(sorted({place for layout in layouts for place in layout}), float)
    for value, layouts in SPOTS.items()
}
"""(N, 2) per value: where it has pips, however the die is turned, in spacings."""


@dataclass(frozen=True, slots=True, eq=False)
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

    @property
    def value(self) -> int | None:
        """What it shows; None: no legal face."""
        return self.face.value

    def pips(self, edge_mm: float) -> Pips | None:
        """Where its pips are, however it is turned; None: it shows no value."""
        face = self.face
        if face.value is None:
            return None
        turn = turn_matrices(np.array([self.pose.turn]))[0]
        places = edge_mm * (_PLACES[face.value] * face.spacing + face.offset) @ turn
        middle = (self.pose.x_mm, self.pose.y_mm)
        return Pips(places + middle, face.value, face.pip_diameter * edge_mm)

    def vote(self, edge_mm: float) -> GeometryReading:
        """What is said of it."""
        face, fit, sides = self.face, self.fit, self.sides
        x_mm, y_mm = self.middle_mm(edge_mm)
        return GeometryReading(
            value=face.value,
            confidence=face.confidence,
            note=face.note,
            support=fit.support,
            face_is_strange=face.is_strange,
            oddity=face.oddity,
            sides=sides.evidence,
            directions=sides.axes,
            sides_lean_deg=sides.lean_deg,
            sides_beyond_mm=sides.beyond_mm,
            spread_mm=fit.spread_mm,
            beyond_mm=fit.beyond_mm,
            offset=float(np.hypot(*face.offset)),
            contrast=sides.contrast,
            x_mm=x_mm,
            y_mm=y_mm,
            turn_deg=float(np.degrees(self.pose.turn)),
            floor_mm=sides.floor_mm,
            through=sides.through,
        )


@dataclass(frozen=True, slots=True, eq=False)
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

    @property
    def outlines(self) -> tuple[np.ndarray, ...]:
        """(N, 2) frame pixels each: around all foreground."""
        found, _ = cv2.findContours(self.ground.mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
        return tuple(self.ground.to_frame(each.reshape(-1, 2)) for each in found)


class SecondReader:
    """Reads frames of one calibrated camera. One instance per thread."""

    def __init__(self, calibration: Calibration) -> None:
        self.calibration = calibration
        self._floor = FloorView(calibration)
        self._outline = CubeOutline(calibration)
        self._explanation = Explanation(self._outline, self._floor.die_area)
        self._left_over = LeftOver(calibration, self._floor)

    def read(self, image: np.ndarray, by_pips: bool = True) -> SecondReading:
        """Find and read every die in a (H, W, 3) uint8 BGR frame of the calibrated size. Without
        `by_pips`, what the outline leaves open stays open, in a third of the time."""
        ground = self._floor.separate(self._floor.shrink(image))
        contours, _ = cv2.findContours(ground.mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        pieces: list[np.ndarray] = []
        total, flecks = 0.0, 0
        for contour in contours:
            area = cv2.contourArea(contour) / self._floor.die_area
            if area < MIN_AREA:
                flecks += 1
                continue
            total += area
            if area < _MAX_AREA:
                pieces.append(contour)
        fits = self._settle(ground, self._explanation.dice(ground, pieces))
        dice = [self._centred(image, ground, die) for die in self._faces_at(image, fits)]
        # The search by pips alone takes long.
        if by_pips and (len(dice) != DICE or any(die.face.value is None for die in dice)):
            read = [die for die in dice if die.face.value and die.fit.spread_mm < GOOD_FIT_MM]
            known = [die.corners for die in read]
            faces = find_by_pips(image, self.calibration, known)
            dice = self._with_pips(image, ground, dice, faces, is_flecked=flecks > _MAX_FLECKS)
        dice.sort(key=lambda die: die.fit.pose.x_mm)
        areas = [self._area(ground, die.fit) for die in dice]
        free, at_wall = self._left_over.sizes(ground, areas)
        measured = self._measured(image, ground, dice, _around(areas))
        return SecondReading(measured, free, at_wall, total, ground)

    def read_again(self, image: np.ndarray, before: object) -> SecondReading | None:
        """Read the dice of `before`, a reading of an earlier frame, where they were: pips, outlines
        and sides are measured anew; what lies beside the dice is the same. None where a (H, W, 3)
        uint8 BGR frame does not show the compartment exactly as that one did, in the same light."""
        picture = self._floor.shrink(image)
        if not isinstance(before, SecondReading) or not shows_the_same(before.ground, picture):
            return None
        ground = self._floor.separate(picture, before.ground)
        known = [die.fit for die in before.dice]
        around = _around([self._area(ground, fit) for fit in known])
        poses, insets_mm = [fit.pose for fit in known], [fit.inset_mm for fit in known]
        fits = self._outline.fit(ground, poses, np.array(around), rounds=1, insets_mm=insets_mm)
        dice = self._measured(image, ground, self._faces_at(image, fits), around)
        return replace(before, dice=dice, ground=ground)

    def _with_pips(
        self,
        image: np.ndarray,
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
            at = _nearest(pose, [die.pose for die in kept], SAME_FACE * edge)
            if at is None:
                if not is_flecked or face.value != 2:
                    added.append(self._die_by_pips(image, ground, pose, face))
                continue
            there, value = kept[at], kept[at].face.value
            # Of a die that leans, an upright cube may fit all that is seen, but not its top.
            is_top = _nearest(pose, [there.pose], _MAX_MOVED * edge) is not None
            if there.fit.spread_mm < GOOD_FIT_MM and (is_top or value is not None):
                continue
            if value is None:
                del kept[at]
                added.append(self._die_by_pips(image, ground, pose, face))
            elif value != face.value:
                note = f"{value} pips in the outline, {face.value} else"
                kept[at] = replace(there, face=replace(there.face, value=None, note=note))
        places = [die.pose for die in added]
        free = [
            die
            for die in kept
            if die.face.value is not None or _nearest(die.pose, places, SAME_FACE * edge) is None
        ]
        return free + added

    def _die_by_pips(
        self, image: np.ndarray, ground: Foreground, pose: Pose, face: Face
    ) -> SecondDie:
        """A die at the place that its pips say, with the outline there, however well it fits. Its
        face is odd where it does not show these pips, or where they look like specks."""
        seen = read_face(rectify(image, self._outline.tops_px([pose])[0], FACE_PX))
        is_same = seen.value == face.value
        odd = seen.oddity if is_same else f"the face does not show the {face.value} of its pips"
        edge = self.calibration.die_mm
        fit = self._outline.fit(ground, [pose])[0]
        if _nearest(pose, [fit.pose], _MAX_MOVED * edge) is None:
            fit = self._outline.fit(ground, [pose], rounds=1)[0]
        x, y, turn = pose.x_mm - fit.pose.x_mm, pose.y_mm - fit.pose.y_mm, fit.pose.turn
        off = (x * np.cos(turn) + y * np.sin(turn), y * np.cos(turn) - x * np.sin(turn))
        face = replace(face, offset=(float(off[0] / edge), float(off[1] / edge)), oddity=odd)
        return SecondDie(fit.pose, self._outline.tops_px([fit.pose])[0], face, fit)

    def _settle(self, ground: Foreground, fits: list[Fit]) -> list[Fit]:
        """Fit once more, now that each die knows where its neighbours are."""
        areas = [self._area(ground, fit) for fit in fits]
        around = _around(areas)
        near = [i for i, area in enumerate(areas) if (_widened(area, _LOOKS_PX) & around[i]).any()]
        again = self._outline.fit(
            ground, [fits[i].pose for i in near], np.array([around[i] for i in near])
        )
        settled = dict(zip(near, again, strict=True))
        return [settled.get(i, fit) for i, fit in enumerate(fits)]

    def _area(self, ground: Foreground, fit: Fit) -> np.ndarray:
        area = np.zeros(ground.mask.shape, np.uint8)
        fill(area, fit.silhouette)
        return _widened(area)

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
        read = [i for i, die in enumerate(dice) if die.face.value is not None]
        others = [_widened(around[i]) for i in read]
        places = [(*dice[i].middle_mm(self.calibration.die_mm), dice[i].pose.turn) for i in read]
        faces = [dice[i].face for i in read]
        measured = measure_sides(image, ground, others, places, faces, self.calibration)
        sides = dict(zip(read, measured, strict=True))
        return tuple(
            _held_against_far(replace(die, sides=sides.get(i, NOTHING_SEEN)))
            for i, die in enumerate(dice)
        )

    def _faces_at(self, image: np.ndarray, fits: Sequence[Fit]) -> list[SecondDie]:
        tops = self._outline.tops_px([fit.pose for fit in fits])
        return [
            SecondDie(fit.pose, corners, read_face(rectify(image, corners, FACE_PX)), fit)
            for fit, corners in zip(fits, tops, strict=True)
        ]


def _held_against_far(die: SecondDie) -> SecondDie:
    """The same, its face odd where near and far face do not add up to seven."""
    if not die.sides.lacks_far_middle or die.face.oddity:
        return die
    odd = f"no opposite face of a {die.face.value} shines through, so that a pip may be lost"
    return replace(die, face=replace(die.face, oddity=odd))


def _nearest(pose: Pose, others: Sequence[Pose], within_mm: float) -> int | None:
    """Index of the nearest of the poses, if it is that near."""
    if not others:
        return None
    gaps = [np.hypot(pose.x_mm - other.x_mm, pose.y_mm - other.y_mm) for other in others]
    index = int(np.argmin(gaps))
    return index if gaps[index] < within_mm else None


def _around(areas: Sequence[np.ndarray]) -> list[np.ndarray]:
    """For each of several (h, w) bool areas where the others are."""
    count = sum(area.view(np.uint8) for area in areas)
    return [np.asarray(count > area) for area in areas]


def _widened(area: np.ndarray, by_px: int = 1) -> np.ndarray:
    """A (h, w) area, widened by so many pixels; bool."""
    return np.asarray(cv2.dilate(area.view(np.uint8), NEAR, iterations=by_px)).view(bool)
