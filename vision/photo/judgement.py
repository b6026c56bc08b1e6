"""What the evidence of a photograph proves: values, or the reason for none.

Owns: what both readers must say together before a photograph may state values. Must not know how
either reader works.

Without a calibration there is no plane and no scale, so geometry proves less here than at a table.
A photograph is never called a no roll.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vision.networks import probability
from vision.networks.classifier import FoundDie
from vision.parameters import PHOTO
from vision.photo.evidence import PhotoEvidence, Thing, said, usual_edge
from vision.photo.finder import SLANTED, depth_in, is_slanted, worth
from vision.photo.places import Weights
from vision.quads import sides_of
from vision.reading import Reason, Unreadable, Verdict, Verified

_TOLD = 0.5
"""Log-likelihood by which the places must tell a value from every other: of 5,725 dice that the
model reads rightly and surely, 13 have less."""
_PIP_DIAMETERS = (0.085, 0.35)
"""Min and max diameter of a spot that may be a pip, in edges; only an ace's is larger."""
_AS_CLEAR = 0.3
"""Min contrast of a spot that may be a pip, as a share of the contrast of the dice's faces: a spot
is measured by its blurred edge."""
_APART = (0.2, 0.8)
"""Min and max distance of two pips of a face, in edges."""
_SIZES, _CLEARER = 1.5, 0.4
"""Max ratio of the diameters of two pips of a face, and max difference of their contrasts, as a
share."""
_UPRIGHT_DEG = 10.0
"""Max angle between the upright sides of two fronts in one picture, and from them to the picture's
own upright, as a camera is held."""
_REACH = 0.05
"""Edges from a place's middle to the border that must be in sight: half of a pip."""
_CUT = 0.3
"""Edges by which a corner of the top face may lie beyond the border. Farther, it is guessed."""


def judge(evidence: PhotoEvidence, wanted: int | None, weights: Weights) -> Verdict:
    """What the evidence proves. `wanted`: how many dice there must be."""
    dice = evidence.dice
    if not dice:
        return Unreadable(Reason.COUNT, "no dice")
    if wanted is not None and len(dice) != wanted:
        return Unreadable(Reason.COUNT, f"{len(dice)} dice")
    places = [f"die {number} from the left" for number in range(1, len(dice) + 1)]
    for die, place in zip(dice, places, strict=True):
        if _is_cut_off(die, evidence.size):
            why = f"the border cuts off {place}, and there may be more behind it"
            return Unreadable(Reason.COUNT, why)
    odds = [weights.certainty_of(row) for row in features(dice)]
    for die, place, sure in zip(dice, places, odds, strict=True):
        if doubt := _doubt(die, place, sure, weights.certainty_least):
            return doubt
    if view := _doubtful_view(evidence.found):
        return Unreadable(Reason.DOUBTFUL, view)
    if missed := _missed(evidence):
        return Unreadable(Reason.COUNT, f"{len(dice)} dice, but {missed}")
    return Verified(tuple(die.found.value for die in dice), probability.of_logit(min(odds)))


def features(dice: Sequence[Thing]) -> list[np.ndarray]:
    """Of each die of a photograph (7,) what says that its value is right; the more, the likelier:
    what both readers say of it, how square its top seems, how clear its paint is, and how much it
    has the others' size."""
    edge = usual_edge([die.found for die in dice])
    rows = []
    for die in dice:
        sides = np.linalg.norm(sides_of(die.found.corners), axis=1)
        two = sides[:2] + sides[2:]
        square, size = two.min() / two.max(), abs(np.log(die.found.edge_px / edge))
        rows.append(np.array([*said(die), square, np.log(die.places.contrast), -size]))
    return rows


def _is_cut_off(die: Thing, size: tuple[int, int]) -> bool:
    """True if some of the nine places of a face may lie beyond the border: then the pips in sight
    may form another face, as a six without its last row is a four."""
    corners, edge = die.found.corners, die.found.edge_px
    return _beyond(die.on_picture(), size) > -_REACH * edge or _beyond(corners, size) > _CUT * edge


def _beyond(points: np.ndarray, size: tuple[int, int]) -> float:
    """How far the outermost of (N, 2) points lies beyond the border, pixels; below 0: inside."""
    return float(max(-points.min(), (points - np.array(size) + 1).max()))


def _doubt(die: Thing, place: str, sure: float, least: float) -> Unreadable | None:
    """Why one die, of whose value both readers together are so sure, proves nothing, if so."""
    model, vote = die.found, die.places
    if model.flat_p < PHOTO.flat_p:
        why = f"{place} may not lie flat ({model.flat_p:.2f})"
        return Unreadable(Reason.NOT_FLAT_DOUBTFUL, why)
    if vote.value != model.value:
        why = f"{place}: the model reads {model.value}, the second reader {vote.value}"
        return Unreadable(Reason.READERS_DISAGREE, why)
    if vote.lead < _TOLD:
        why = f"{place}: the second reader hardly tells a {vote.value} from other values"
        return Unreadable(Reason.DOUBTFUL, why)
    if vote.plain < 0:
        why = f"{place}: a speck, a highlight or a lost pip: its middle is not as its other places"
        return Unreadable(Reason.DOUBTFUL, why)
    if sure < least:
        p, needed = (probability.of_logit(odds) for odds in (sure, least))
        why = f"{place}: both readers together are {p:.2f} sure ({needed:.2f} needed)"
        return Unreadable(Reason.DOUBTFUL, why)
    return None


def _doubtful_view(found: Sequence[FoundDie]) -> str:
    """Why the faces may not be tops, by how they stand in the picture; empty: they may."""
    if _may_be_at_eye_level(found):
        return (
            "the dice may be seen from the side, at eye level: all stand upright; photograph them "
            "from above, turned"
        )
    # If a picture of two dice on a chessboard, taken from the side, is turned round, both readers
    # read the fronts: they count as tops only because photographs are taken upright.
    if is_slanted(found) and sum(die.is_overruled for die in found) > len(found) / 2:
        return "the picture may be upside down: of most dice a lower face looks more like the top"
    return ""


def _may_be_at_eye_level(found: Sequence[FoundDie]) -> bool:
    """True if two sides of each face stand upright in the picture: from the height of the table
    fronts look like this, whatever their other sides do. A camera that is held askew turns all
    alike. If the bottoms of the dice are seen well below their tops, it looks down: of fronts that
    both readers take for tops they are at most 0.06 of an edge below, on 157 drawn pictures."""
    if float(np.median([die.down[1] / die.edge_px for die in found])) > SLANTED:
        return False
    ways = sides_of(np.array([die.corners for die in found]))[:, :2]
    leans = np.degrees(np.arctan2(ways[..., 0], ways[..., 1]))
    leans = (leans + 90.0) % 180.0 - 90.0
    upright = np.take_along_axis(leans, np.abs(leans).argmin(axis=1)[:, None], axis=1)
    return bool(np.ptp(upright) < _UPRIGHT_DEG and abs(np.median(upright)) < _UPRIGHT_DEG)


def _missed(evidence: PhotoEvidence) -> str:
    """What else in the picture may be a die, in words; empty: nothing."""
    if evidence.faint:
        most = max(worth(thing.found) for thing in evidence.faint)
        return f"something else may be a die ({most:.2f} sure)"
    usual, (width, height) = usual_edge(evidence.found), evidence.size
    spots = _free_pips(evidence, usual)
    x, y = spots[:, 0], spots[:, 1]
    to_border = np.min([x, y, width - 1 - x, height - 1 - y], axis=0)
    if (to_border < usual / 2).any():
        return "the border may cut off one more"
    return "two spots beside them may be pips of one more" if _may_be_a_face(spots, usual) else ""


def _free_pips(evidence: PhotoEvidence, usual: float) -> np.ndarray:
    """(N, 4) the spots of a pip's size, as clear as the dice's pips, that are on none of them."""
    spots = evidence.spots
    contrast = float(np.median([die.places.contrast for die in evidence.dice]))
    low, high = np.array(_PIP_DIAMETERS) * usual
    is_pip = (spots[:, 2] > low) & (spots[:, 2] < high) & (spots[:, 3] > _AS_CLEAR * contrast)
    free = [
        spot
        for spot in spots[is_pip]
        if not any(depth_in(die, spot[0], spot[1]) > -die.edge_px / 2 for die in evidence.found)
    ]
    return np.array(free).reshape(-1, 4)


def _may_be_a_face(spots: np.ndarray, usual: float) -> bool:
    """True if two of (N, 4) spots are alike, and as far apart as pips of one face."""
    away = np.linalg.norm(spots[:, None, :2] - spots[None, :, :2], axis=2)
    sizes = spots[:, None, 2] / spots[None, :, 2]
    clearer = spots[:, None, 3] / spots[None, :, 3]
    low, high = np.array(_APART) * usual
    is_pair = (away > low) & (away < high) & (sizes < _SIZES) & (sizes > 1 / _SIZES)
    return bool((is_pair & (np.abs(clearer - 1) < _CLEARER)).any())
