"""How the dice of earlier tosses lay: no motor brings three dice back into the poses of a toss.

Owns: the memory of poses, and the comparison with earlier tosses. Poses that are rotated, shifted
or mirrored as a whole count as equal. Single dice are remembered, too: a picture that is put
together from several tosses, in place, shows each die where one lay before. Must not know pictures,
verdicts or lights.

A recording that is relit, rotated or shifted shows other pixels, but the three dice keep their
distances from each other, their turns against the lines between them, and their values. By chance
two tosses of dice that lie free agree in all of these about once in 3 × 10^8 pairs.
A new process starts with an empty memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np

from shaker_ctl.reading.messages import DiePose
from vision.reading import DICE
from vision.table.motion import is_same_pose

_SCATTER_MM, _SCATTER_DEG = 0.35, 1.2
"""Scatter of a distance and of a turn, between a toss and its picture turned by any angle. The
network's corners move with the turn. In 480 turned and shifted pictures the largest differences
were 1.23 mm and 4.3°."""
_MAX_DISTANCE = 5.0
"""Largest distance from an earlier toss at which both are one toss: all six differences together,
in units of their scatter. Of those 480 pictures, 479 lie nearer, and all 115 that the reader
verified lie nearer than 3.9."""
_KEPT = 20_000
"""Tosses kept: a week or more of play, 2 MB. With so many, about one new toss of 13,000 is taken
for an earlier one, and refused."""
_ORDERS = tuple(permutations(range(DICE)))
_DIE_MM, _DIE_DEG = 0.4, 1.4
"""Largest differences of one die from one of an earlier toss at which both lie alike. Of 648 pairs
of pictures of resting dice, relit and with fresh grain, 99.7 % differ by less than 0.28 mm, and by
less than 0.86°; a die of a picture put together from two tosses by 0.32 mm and 1.07°. Of 2 × 1,500
tosses of the rig's plain and rough floors a die lay within 0.3 mm and 1.0° of one of a given
earlier toss, but the last, 2 times in a million, so here some 5 times; no toss had two such
dice."""
_DICE_KEPT = 5_000
"""Tosses whose dice are remembered singly: a day or more of play. With so many, one new toss of
4,000 or fewer is refused: one in which two dice kept their places lies like earlier ones by the
third, and that is 1 of 100 tosses on a plain floor."""


class TossMemory:
    """The tosses that one camera process has seen."""

    def __init__(self) -> None:
        # Left empty: what was never written takes no memory.
        self._shapes = np.empty((_KEPT, 9))
        self._rounds = np.empty(_KEPT, np.int64)
        self._sums = np.empty(_KEPT)
        """Of the three lengths: one comparison of it leaves one toss of fifty."""
        self._dice = np.empty((_DICE_KEPT, DICE, 4))
        """x and y, mm; turn, degrees; value."""
        self._of_rounds = np.empty(_DICE_KEPT, np.int64)
        self._count = 0

    def seen_before(
        self, toss_id: int, poses: Sequence[DiePose], before: Sequence[DiePose] = ()
    ) -> int | None:
        """The earlier toss that had these poses, up to a motion of all three dice as one; None if
        none had. Dice that lie as `before` this toss are another matter
        (`toss_session.is_unchanged`), and so is the same toss read again."""
        if not _are_known(poses) or _are_same(poses, before):
            return None
        total = _shape(poses, False)[:3].sum()
        within = np.sqrt(3.0) * _MAX_DISTANCE * _SCATTER_MM
        known, rounds, sums = (
            each[: self._count] for each in (self._shapes, self._rounds, self._sums)
        )
        near = (np.abs(sums - total) < within) & (rounds != toss_id)
        known, rounds = known[near], rounds[near]
        for is_mirrored in (False, True):
            for order in _ORDERS:
                away = np.abs(known - _shape([poses[i] for i in order], is_mirrored))
                turns = np.minimum(away[:, 3:6], 90.0 - away[:, 3:6])
                far = (away[:, :3] ** 2).sum(axis=1) / _SCATTER_MM**2
                far += (turns**2).sum(axis=1) / _SCATTER_DEG**2
                is_same = (far < _MAX_DISTANCE**2) & (away[:, 6:] == 0).all(axis=1)
                if is_same.any():
                    return int(rounds[is_same.argmax()])
        return None

    def put_together(
        self, toss_id: int, poses: Sequence[DiePose], before: Sequence[DiePose] = ()
    ) -> tuple[int, ...] | None:
        """Of each die an earlier toss in which one with its value lay just there; None if one lies
        as none did. `before` as in `seen_before`."""
        if not _are_known(poses) or _are_same(poses, before):
            return None
        dice, rounds = (each[: self._count] for each in (self._dice, self._of_rounds))
        tosses = []
        for pose in poses:
            away = dice[..., :3] - (pose.x_mm, pose.y_mm, pose.turn_deg)
            turns = np.abs((away[..., 2] + 45.0) % 90.0 - 45.0)
            is_there = (np.hypot(away[..., 0], away[..., 1]) < _DIE_MM) & (turns < _DIE_DEG)
            is_same = (is_there & (dice[..., 3] == pose.value)).any(axis=1) & (rounds != toss_id)
            if not is_same.any():
                return None
            tosses.append(int(rounds[is_same.argmax()]))
        return tuple(tosses)

    def keep(self, toss_id: int, poses: Sequence[DiePose]) -> None:
        """Remember how the dice of a toss lie, where both readers read all three."""
        if not _are_known(poses):
            return
        at = self._count % _KEPT
        self._shapes[at] = _shape(poses, False)
        self._sums[at] = self._shapes[at, :3].sum()
        self._rounds[at] = toss_id
        at = self._count % _DICE_KEPT
        self._dice[at] = [(p.x_mm, p.y_mm, p.turn_deg, p.value or 0) for p in poses]
        self._of_rounds[at] = toss_id
        self._count += 1


def _are_known(poses: Sequence[DiePose]) -> bool:
    return len(poses) == DICE and all(pose.value is not None for pose in poses)


def _are_same(poses: Sequence[DiePose], others: Sequence[DiePose]) -> bool:
    return bool(others) and all(
        any(
            is_same_pose((a.x_mm, a.y_mm, a.turn_deg), (b.x_mm, b.y_mm, b.turn_deg)) for b in others
        )
        for a in poses
    )


def _shape(poses: Sequence[DiePose], is_mirrored: bool) -> np.ndarray:
    """(9,) What a motion of all dice as one leaves alone: the lengths of the three lines between
    them, mm; the turn of each die against the line to the next, degrees, 0 to 90; the values."""
    sign = -1.0 if is_mirrored else 1.0
    places = np.array([(sign * pose.x_mm, pose.y_mm) for pose in poses])
    lines = np.roll(places, -1, axis=0) - places
    headings = np.degrees(np.arctan2(lines[:, 1], lines[:, 0]))
    turns = np.array([sign * pose.turn_deg for pose in poses])
    values = [float(pose.value or 0) for pose in poses]
    return np.array([*np.hypot(*lines.T), *((turns - headings) % 90.0), *values])
