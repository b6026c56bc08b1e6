"""What the evidence of a photograph proves: values, or the reason for none.

Owns: what both readers must say together before a photograph may state values. Must not know how
either reader works.

Without a calibration there is no plane and no scale, so geometry proves less here than at a table.
A photograph is never called a no roll.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from vision.faces_by_pips.faces import PhotoDie
from vision.faces_by_pips.pieces import PIP_DIAMETERS
from vision.networks import probability
from vision.networks.classifier import FoundDie
from vision.parameters import ALIKE, PHOTO
from vision.photo.evidence import Die, PhotoEvidence, is_of_size, usual_edge
from vision.photo.finder import SLANTED, depth_in, is_slanted, worth
from vision.photo.places import Weights, kind_of_middle, shipped
from vision.quads import SAME_FACE, sides_of
from vision.reading import Reason, SecondVote, Unreadable, Verdict, Verified, spot_doubted
from vision.taught.regression import MOST

_SAME_SIDES = 0.2
"""Edges by which the sides of the tops of two dice, side by side on one table, differ at the most.
Corners that are estimated from pips are good to a tenth."""
_SPOT_CONTRAST = 12.0
"""Min contrast of a spot that may be a pip, or a whole die, in Lab units."""
_AS_CLEAR = 0.6
"""Min contrast of a spot at the border that may be a pip, as a share of the contrast of the dice's
pips."""
_UPRIGHT_DEG = 10.0
"""Max angle between the upright sides of two fronts in one picture, and from them to the picture's
own upright, as a camera is held."""
_REACH = 0.05
"""Edges from a place's middle to the border that must be in sight: half of a pip."""
_CUT = 0.3
"""Edges by which a corner of the top face may lie beyond the border. Farther, it is guessed."""


def judge(evidence: PhotoEvidence, wanted: int | None, weights: Weights | None = None) -> Verdict:
    """What the evidence proves. `wanted`: how many dice there must be."""
    dice, weights = evidence.dice, weights or shipped()
    if not dice:
        return Unreadable(Reason.COUNT, "no dice")
    if wanted is not None and len(dice) != wanted:
        return Unreadable(Reason.COUNT, f"{len(dice)} dice")
    places = [f"die {number} from the left" for number in range(1, len(dice) + 1)]
    for die, place in zip(dice, places, strict=True):
        if _is_cut_off(die, evidence.size):
            why = f"the border cuts off {place}, and there may be more behind it"
            return Unreadable(Reason.COUNT, why)
    for die, place in zip(dice, places, strict=True):
        if doubt := _doubt(die, place, weights):
            return doubt
    if view := _doubtful_view(evidence.found):
        return Unreadable(Reason.DOUBTFUL, view)
    if missed := _missed(evidence):
        return Unreadable(Reason.COUNT, f"{len(dice)} dice, but {missed}")
    least = min(certainty(die, weights) for die in dice)
    return Verified(tuple(die.found.value for die in dice), probability.of_logit(least))


def features(die: Die) -> np.ndarray:
    """(6,) what says that a die's value is right; the more, the likelier: the lead of the value by
    the places, the certainty of the pips if they show it, a middle in which they see nothing odd,
    the model's log-odds of a die and of the value, and how square the top seems."""
    found, face = die.found, die.by_pips
    agrees = face is not None and face.value == found.value
    sides = np.linalg.norm(sides_of(found.corners), axis=1)
    two = sides[:2] + sides[2:]
    return np.array(
        [
            np.clip(die.places.lead, -MOST, MOST),
            face.confidence if face is not None and agrees else 0.0,
            -float(face is not None and agrees and bool(face.oddity)),
            _logit(found.score),
            _logit(float(found.value_p.max())),
            two.min() / two.max(),
        ]
    )


def _logit(p: float) -> float:
    """At most `MOST` either way."""
    return float(np.clip(np.log(max(p, 1e-6) / max(1 - p, 1e-6)), -MOST, MOST))


def certainty(die: Die, weights: Weights) -> float:
    """Log-odds that a die is one, with the model's value on top."""
    constant, *each = weights.certainty
    return constant + float(np.dot(each, features(die)))


def _is_cut_off(die: Die, size: tuple[int, int]) -> bool:
    """True if some of the nine places of a face may lie beyond the border: then the pips in sight
    may form another face, as a six without its last row is a four."""
    corners, edge = die.found.corners, die.found.edge_px
    a, b, c, d = corners
    sides = np.array([b - a + c - d, d - a + c - b]) / 2
    reach = corners.mean(axis=0) + die.places.reach @ sides
    return _beyond(reach, size) > -_REACH * edge or _beyond(corners, size) > _CUT * edge


def _beyond(points: np.ndarray, size: tuple[int, int]) -> float:
    """How far the outermost of (N, 2) points lies beyond the border, pixels; below 0: inside."""
    return float(max(-points.min(), (points - np.array(size) + 1).max()))


def _doubt(die: Die, place: str, weights: Weights) -> Unreadable | None:
    """Why one die proves nothing, if so."""
    model, vote = die.found, die.places
    if model.flat_p < PHOTO.flat_p:
        why = f"{place} may not lie flat ({model.flat_p:.2f})"
        return Unreadable(Reason.NOT_FLAT_DOUBTFUL, why)
    if vote.value != model.value:
        why = f"{place}: the model reads {model.value}, the second reader {vote.value}"
        return Unreadable(Reason.READERS_DISAGREE, why)
    if spot := _spot_doubted(die, weights):
        return Unreadable(spot.reason, f"{place}: {spot.detail}")
    sure = certainty(die, weights)
    if sure < weights.certainty_least:
        p, least = (probability.of_logit(odds) for odds in (sure, weights.certainty_least))
        why = f"{place}: both readers together are {p:.2f} sure ({least:.2f} needed)"
        return Unreadable(Reason.DOUBTFUL, why)
    return None


def _spot_doubted(die: Die, weights: Weights) -> Unreadable | None:
    """The refusal of a face whose middle is odd both beside the pips and beside its other places:
    on photographs of small dice a glint makes one of them odd too often."""
    kind = kind_of_middle(die.found.value)
    face = die.by_pips
    if kind is None or face is None or face.value != die.found.value:
        return None
    if die.places.plain >= weights.middle_least[kind]:
        return None
    return spot_doubted(SecondVote(face.value, face.confidence, oddity=face.oddity))


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
    """What else in the picture may be a die, in words; empty: nothing. What has another size than
    the sure dice is none: a key, a letter. But one that the border cuts off seems smaller."""
    usual = usual_edge(evidence.found)
    for die in evidence.faint:
        if not is_of_size(die, usual, ALIKE**2):
            continue
        least = PHOTO.found / 2 if _is_seen_by_both(die, evidence) else PHOTO.small
        if worth(die) >= least:
            return f"something else may be a die ({worth(die):.2f} sure)"
    if usual is not None and _may_be_cut_off(evidence, usual):
        return "the border may cut off one more"
    for face in evidence.alone:
        if face.face.confidence >= PHOTO.missed and _is_die_apart(face, evidence.found):
            return f"the second reader sees one more, a {face.face.value}"
    return ""


def _may_be_cut_off(evidence: PhotoEvidence, usual: float) -> bool:
    """True if a spot within half an edge of the picture's border, on none of the model's dice, is
    as clear as their pips: then it may be the pip of one more."""
    width, height = evidence.size
    faces = [die.by_pips for die in evidence.dice]
    least = _AS_CLEAR * float(np.median([face.contrast if face else 0.0 for face in faces]))
    low, high = np.array(PIP_DIAMETERS) * usual
    return any(
        min(x, y, width - 1 - x, height - 1 - y) < usual / 2
        and low < diameter < high
        and contrast > least
        and not any(_is_in_body(x, y, die) for die in evidence.found)
        for x, y, diameter, contrast in evidence.second.spots.tolist()
    )


def _is_seen_by_both(die: FoundDie, evidence: PhotoEvidence) -> bool:
    """True if the second reader, too, sees a face here, or a round thing with a spot on it."""
    has_face = any(
        np.hypot(*(die.centre - face.centre)) < SAME_FACE * max(die.edge_px, face.edge_px)
        for face in evidence.alone
    )
    return has_face or _has_body(die, evidence.second.spots)


def _has_body(die: FoundDie, spots: np.ndarray) -> bool:
    """True if the second reader sees a round thing of a die's size here, and on its face anything
    that may be a pip, readable or not."""
    clear = spots[spots[:, 3] > _SPOT_CONTRAST]
    places, diameters = clear[:, :2], clear[:, 2]
    low, high = np.array(PIP_DIAMETERS) * die.edge_px
    is_here = np.hypot(*(places - die.centre).T) < SAME_FACE * die.edge_px
    pips = places[(diameters > low) & (diameters < high)].tolist()
    return bool((is_here & (diameters > high)).any()) and any(
        cv2.pointPolygonTest(die.corners, (x, y), False) >= 0 for x, y in pips
    )


def _is_die_apart(face: PhotoDie, found: Sequence[FoundDie]) -> bool:
    """True if a face of the second reader's is neither one of the model's dice nor the side of
    one."""
    x, y = face.centre
    return not any(_is_in_body(x, y, die) and not _is_another_top(face, die) for die in found)


def _is_in_body(x: float, y: float, die: FoundDie) -> bool:
    """True if a place of the picture is on a die's body, or nearly so."""
    return depth_in(die, x, y) > -die.edge_px / 2


def _is_another_top(face: PhotoDie, die: FoundDie) -> bool:
    """True if a face beside a die's top has the top's own size, shape and turn: no other face of a
    cube looks so. It is the top of a die that touches this one, and not explained by this one."""
    own, other = sides_of(die.corners), sides_of(face.corners)
    # Counted along the top's own edges, dice side by side are an edge apart, however it slants.
    apart = np.linalg.lstsq(own[:2].T, face.centre - die.centre, rcond=None)[0]
    if np.abs(apart).max() < SAME_FACE:
        return False
    turned = [np.abs(np.roll(other, turn, axis=0) - own).max() for turn in range(len(own))]
    return bool(min(turned) < _SAME_SIDES * die.edge_px)
