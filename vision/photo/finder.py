"""What the model alone says about a photograph whose dice may have any size.

Owns: the sizes at which the model looks at the whole picture, and the second, closer looks at each
die that it found. Must not know the second reader, nor when a reading may be trusted.

A network finds dice best at the size it was trained with. So the network gets the whole picture at
a few sizes. Each finding is then cut out, scaled to the best size, and shown in four rotations. A
real die is found each time, and its six probabilities are the mean over these looks. A knot in the
wood, or a pip that looks like a die, is rarely found twice. Then a second network, which looks at
one finding at a time, says what the finding is (`networks.photo_look`). Both networks count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Protocol

import cv2
import numpy as np

from vision.networks.classifier import FoundDie
from vision.networks.photo_look import PhotoLook, PhotoLooker
from vision.networks.windows import cut
from vision.parameters import ALIKE, FINE_SIDE, MAX_ENLARGED
from vision.quads import SAME_FACE, sides_of

_SIDES = (320, 640, 1280)
"""Longer sides, pixels, at which the network gets the whole picture."""
_SMALL_EDGE = 40.0
"""Edge of a die, pixels, at the last of `_SIDES`, below which a larger picture is tried, too."""
_SLANTED_SIDE = 900
"""Longer side, pixels, at which the stretched picture is shown."""
_STRETCH = 1.5
"""Factor by which the picture is also stretched in height. From a low camera the top faces of dice
look flatter than in the training pictures."""

_FAR, _USUAL, _NEAR = 56.0, 72.0, 92.0
_LOOKS = ((0.0, _USUAL), (90.0, _USUAL), (180.0, _FAR), (225.0, _NEAR))
"""Of each closer look: how far the die is turned from upright, degrees, and its edge, pixels."""
_SLIGHTLY = 12.0
"""Degrees: another look, in which above stays above."""
_UPRIGHT_LOOKS = ((-_SLIGHTLY, _USUAL), (0.0, _FAR), (_SLIGHTLY, _USUAL), (0.0, _NEAR))
"""The same where the view slants, but turned from how the picture stands: there a die shows three
faces, and what tells the top from the others is that it is above."""
_WINDOW = 224
"""Side of a closer look, pixels: 2.4 of the largest edges that it shows."""
_FIRST_SCORE = 0.15
"""What deserves a closer look."""
_GOOD_EDGES = (30.0, 130.0)
"""Min and max edge, pixels, at which a finding counts in full."""
_CUBE = 0.25
"""How far two faces may be from one cube's, see `_is_one_cube`. Two dice side by side have 0.33,
seen from straight above."""
SLANTED = 0.15
"""Distance between the middles of top and bottom face, in edges, from which a photograph shows the
sides of its dice: 9 degrees off the vertical. Seen from closer to above, two faces side by side are
two dice; taking them for two faces of one cost 15 of 184 dice that lay close together."""
_LOOK_SHARE, _VALUE_SHARE = 0.15, 0.1
"""What the photo look weighs beside the finder, in whether there is a die and in its value, as
exponents of their probabilities. With 0.5 for both 472 instead of 492 of the 526 photographs of
`n3v-round` are exact: their dice show signs as often as pips."""


_SURE_SCORE = 0.35
"""Score from which a finding of a first look says how large the dice are."""
_ENOUGH = 2
"""If so many dice are found, and none shows its sides, the view is from above: a stretched picture
shows nothing more."""


class ScoredFinder(Protocol):
    """The model: `vision.networks.classifier.DieFinder`, or a deliberately wrong one in tests."""

    def find(self, image: np.ndarray, min_score: float) -> Sequence[FoundDie]:
        """Best first."""


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    die: FoundDie
    worth: float
    stretch: float
    """How much taller the picture was drawn when this was found."""


class PhotoFinder:
    """The model, looking at photographs. One instance per thread."""

    def __init__(self, finder: ScoredFinder) -> None:
        self._finder = finder
        # Without it, as fakes are, a thing is what the finder alone takes it for.
        self._looker: PhotoLooker | None = getattr(finder, "photo", None)

    def find(self, image: np.ndarray, min_worth: float) -> tuple[list[FoundDie], list[FoundDie]]:
        """Dice in a (H, W, 3) uint8 BGR picture, left to right; and what may be dice but has less
        than `min_worth`, best first."""
        candidates = _distinct(self._first_looks(image))
        slants = is_slanted([c.die for c in candidates])
        looked = (self._look_again(image, c, slants) for c in candidates)
        things = [die for die in looked if die is not None]
        if self._looker is not None:
            looks = self._looker.look(image, [(die.centre, die.edge_px) for die in things])
            things = [_by_both(die, look) for die, look in zip(things, looks, strict=True)]
        dice = _without_overlap(things)
        sure = [die for die in dice if worth(die) >= min_worth]
        faint = [die for die in dice if worth(die) < min_worth]
        return sorted(sure, key=lambda die: float(die.centre[0])), faint

    def _first_looks(self, image: np.ndarray) -> list[_Candidate]:
        longest = max(image.shape[:2])
        scales = sorted({min(side / longest, MAX_ENLARGED) for side in _SIDES})
        if longest < _SIDES[0]:
            scales = [1.0, MAX_ENLARGED]
        found: list[_Candidate] = []
        for scale in scales:
            smallest = min((die.edge_px for die in _sure(found)), default=0.0)
            if scale <= 1.0 or smallest * scale < _GOOD_EDGES[1]:
                found += self._at_scale(image, scale)
        sure = _sure(found)
        if len(sure) < _ENOUGH or max(map(_slant, sure)) > SLANTED:
            slanted = min(_SLANTED_SIDE / longest, MAX_ENLARGED)
            found += self._at_scale(image, slanted, _STRETCH)
        edges = [die.edge_px for die in _sure(found)]
        fine = min(FINE_SIDE / longest, MAX_ENLARGED)
        if fine > scales[-1] and edges and float(np.median(edges)) * scales[-1] < _SMALL_EDGE:
            found += self._at_scale(image, fine)
        return found

    def _at_scale(self, image: np.ndarray, scale: float, stretch: float = 1.0) -> list[_Candidate]:
        across, down = scale, scale * stretch
        interpolation = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
        sized = cv2.resize(image, None, fx=across, fy=down, interpolation=interpolation)
        both = np.array((across, down), np.float32)
        found = []
        for die in self._finder.find(np.asarray(sized, np.uint8), _FIRST_SCORE):
            is_good = _GOOD_EDGES[0] < die.edge_px < _GOOD_EDGES[1]
            at = np.asarray((die.corners + 0.5) / both - 0.5, np.float32)
            moved = replace(die, corners=at, down=np.asarray(die.down / both, np.float32))
            worth_ = die.score * (1.0 if is_good else 0.7) * (1.0 if stretch == 1.0 else 0.75)
            found.append(_Candidate(moved, worth_, stretch))
        return found

    def _look_again(
        self, image: np.ndarray, candidate: _Candidate, slants: bool
    ) -> FoundDie | None:
        """The die as the mean of closer looks; None where the first does not find it."""
        upright = 0.0 if slants else _upright_deg(candidate)
        looks: list[FoundDie | None] = []
        for turn, edge in _UPRIGHT_LOOKS if slants else _LOOKS:
            looks.append(self._look(image, candidate, upright + turn, edge))
            if looks == [None]:
                return None
        seen = [die for die in looks if die is not None]
        scores = np.array([die.score for die in seen])

        def mean(each: Sequence[np.ndarray | float]) -> np.ndarray:
            return np.average(np.array(each), axis=0, weights=scores).astype(np.float32)

        value_p = mean([die.value_p for die in seen])
        return FoundDie(
            corners=mean([_aligned(die.corners, seen[0].corners) for die in seen]),
            value=int(value_p.argmax()) + 1,
            value_p=value_p,
            flat_p=float(mean([die.flat_p for die in seen])),
            score=float(scores.sum() / len(looks)),
            down=mean([die.down for die in seen]),
        )

    def _look(
        self, image: np.ndarray, candidate: _Candidate, turn_deg: float, edge: float
    ) -> FoundDie | None:
        centre, stretch = candidate.die.centre, candidate.stretch
        scale = edge / float(np.linalg.norm(_sides(candidate), axis=1).mean())
        window, back = cut(image, centre, scale, turn_deg, _WINDOW, stretch)
        middle = (_WINDOW - 1) / 2
        for seen in self._finder.find(window, _FIRST_SCORE):
            is_here = float(np.hypot(*(seen.centre - middle))) < SAME_FACE * edge
            if is_here and 1 / ALIKE < seen.edge_px / edge < ALIKE:
                corners = np.asarray(seen.corners @ back[:, :2].T + back[:, 2], np.float32)
                down = np.asarray(seen.down @ back[:, :2].T, np.float32)
                return replace(seen, corners=corners, down=down)
        return None


def worth(die: FoundDie) -> float:
    """How surely a die, after closer looks, is a die with a value, 0..1: a thing that is seen as a
    six once and as a two when turned is neither."""
    return die.score * float(die.value_p.max())


def _by_both(die: FoundDie, look: PhotoLook) -> FoundDie:
    """The same thing, as the finder and the photo look see it together."""
    value_p = die.value_p.astype(np.float64) ** (1 - _VALUE_SHARE) * look.value_p**_VALUE_SHARE
    return replace(
        die,
        score=die.score ** (1 - _LOOK_SHARE) * look.die_p**_LOOK_SHARE,
        value=int(value_p.argmax()) + 1,
        value_p=(value_p / value_p.sum()).astype(np.float32),
    )


def _sides(candidate: _Candidate) -> np.ndarray:
    """(4, 2) The sides of a face as it was drawn when it was found."""
    return sides_of(candidate.die.corners * np.array((1.0, candidate.stretch)))


def _upright_deg(candidate: _Candidate) -> float:
    """By how much the picture must be turned for a face to stand upright in it."""
    x, y = _sides(candidate)[0]
    return float(np.degrees(np.arctan2(y, x)))


def _aligned(corners: np.ndarray, like: np.ndarray) -> np.ndarray:
    """The same corners, beginning with the one nearest to the first of `like`."""
    return min(_turned(corners), key=lambda c: float(np.abs(c - like).sum()))


def _turned(corners: np.ndarray) -> list[np.ndarray]:
    """The same corners, beginning with each."""
    return [np.roll(corners, n, axis=0) for n in range(len(corners))]


def _distinct(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """One of several findings of a die; those of much different size at a place all remain."""
    kept: list[_Candidate] = []
    for candidate in sorted(candidates, key=lambda c: -c.worth):
        die = candidate.die
        if all(
            gap_of(die, other.die) > max(die.edge_px, other.die.edge_px) / 2
            or not 1 / ALIKE < die.edge_px / other.die.edge_px < ALIKE
            for other in kept
        ):
            kept.append(candidate)
    return kept


def _without_overlap(dice: Sequence[FoundDie]) -> list[FoundDie]:
    """Keep the most certain of all findings that share a die: its pips and sides are no dice.

    A die that is seen from the side shows three faces, and the die alone does not tell which one is
    on top. But photographs are taken upright: the upper of two faces of one cube is the top.
    """
    kept: list[FoundDie] = []
    slants = is_slanted(dice)
    for die in sorted(dice, key=lambda d: -d.score):
        rivals = [i for i, other in enumerate(kept) if _is_same(die, other, slants)]
        if not rivals:
            kept.append(die)
        elif slants and len(rivals) == 1 and _is_top_of(die, kept[rivals[0]]):
            score = kept[rivals[0]].score  # that there is a die, both say
            kept[rivals[0]] = replace(die, is_overruled=True, score=score)
    return kept


def _is_same(a: FoundDie, b: FoundDie, slants: bool) -> bool:
    """True if two findings cannot be two dice."""
    is_near = gap_of(a, b) < max(a.edge_px, b.edge_px) / 2
    return is_near or depth_in(b, *a.centre) > 0 or (slants and _is_one_cube(a, b))


def _sure(found: Sequence[_Candidate]) -> list[FoundDie]:
    return [c.die for c in found if c.die.score > _SURE_SCORE]


def _slant(die: FoundDie) -> float:
    """Distance between the middles of its top and bottom faces as they look, in edges."""
    return float(np.hypot(*die.down)) / die.edge_px


def is_slanted(dice: Sequence[FoundDie]) -> bool:
    """True if the dice of a picture are seen from the side."""
    return bool(dice) and float(np.median([_slant(die) for die in dice])) > SLANTED


def _is_top_of(die: FoundDie, other: FoundDie) -> bool:
    """True if both are faces of one cube and this one is above the other in the picture."""
    if float(other.centre[1] - die.centre[1]) < other.edge_px / 2:
        return False
    if not 1 / ALIKE < die.edge_px / other.edge_px < ALIKE:
        return False  # a pip, a glint, a thing behind the die
    return _is_one_cube(die, other)


def _is_one_cube(a: FoundDie, b: FoundDie) -> bool:
    """True if two faces share an edge and span a cube.

    By Gauss's theorem of axonometry the three edges of a cube, seen from far away and written as
    complex numbers, have squares that add up to nothing. Two dice side by side fail it, except
    where the view slants by 45 degrees.
    """
    edge = (a.edge_px + b.edge_px) / 2
    if gap_of(a, b) < edge:
        return True  # nearer than dice can lie, whatever became of the corners
    # Both run clockwise, so an edge that they share runs the other way in b.
    pairs = product(_turned(a.corners), _turned(b.corners[::-1]))
    first, second = min(pairs, key=_gap_at_edge)
    if _gap_at_edge((first, second)) > edge / 2:
        return False
    shared = (first[1] - first[0] + second[1] - second[0]) / 2
    edges = np.array((shared, first[-1] - first[0], second[-1] - second[0])) @ (1, 1j)
    strain = float(abs((edges**2).sum()) / (np.abs(edges) ** 2).sum())
    return strain < _CUBE


def _gap_at_edge(faces: tuple[np.ndarray, np.ndarray]) -> float:
    """How far the first two corners of two faces, (4, 2) each, are from each other at the most."""
    a, b = faces
    return float(np.linalg.norm(a[:2] - b[:2], axis=1).max())


def depth_in(die: FoundDie, x: float, y: float) -> float:
    """How far inside of a die's body, top to bottom face, a place is, pixels."""
    body = cv2.convexHull(np.concatenate([die.corners, die.corners + die.down]))
    return float(cv2.pointPolygonTest(body, (float(x), float(y)), True))


def gap_of(a: FoundDie, b: FoundDie) -> float:
    """Distance of the middles of two top faces, pixels."""
    return float(np.hypot(*(a.centre - b.centre)))
