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
from vision.networks.classifier import FoundDie
from vision.parameters import ALIKE, PHOTO
from vision.photo.evidence import Die, PhotoEvidence, is_of_size, usual_edge
from vision.photo.finder import depth_in, is_slanted, worth
from vision.quads import SAME_FACE, sides_of
from vision.reading import Reason, Unreadable, Verdict, Verified, spot_doubted

_SAME_SIDES = 0.2
"""Edges by which the sides of the tops of two dice, side by side on one table, differ at the most.
Corners that are estimated from pips are good to a tenth."""
_SPOT_CONTRAST = 12.0
"""Min contrast of a spot that may be a pip, or a whole die, in Lab units."""
_AS_CLEAR = 0.6
"""Min contrast of a spot at the border that may be a pip, as a share of the contrast of the dice's
pips."""
_UPRIGHT_DEG, _HELD_DEG = 12.0, 15.0
"""Max angle between the upright sides of two fronts in one picture, and from them to the picture's
own upright, as a camera is held. Chosen on 57 drawn pictures from 0° to 20° above the table, where
both readers read the fronts. The rule refuses 95 of 918 verified photographs, 86 of one die, and
one of the 4 wrong ones."""


def judge(evidence: PhotoEvidence, wanted: int | None) -> Verdict:
    """What the evidence proves. `wanted`: how many dice there must be."""
    dice = [die.evidence for die in evidence.dice]
    if not dice:
        return Unreadable(Reason.COUNT, "no dice")
    if wanted is not None and len(dice) != wanted:
        return Unreadable(Reason.COUNT, f"{len(dice)} dice")
    places = [f"die {number} from the left" for number in range(1, len(dice) + 1)]
    for die, place in zip(evidence.dice, places, strict=True):
        if die.is_cut_off:
            why = f"the border cuts off {place}, and there may be more behind it"
            return Unreadable(Reason.COUNT, why)
    for die, place in zip(evidence.dice, places, strict=True):
        if doubt := _doubt(die, place):
            return doubt
    if view := _doubtful_view(evidence.found):
        return Unreadable(Reason.DOUBTFUL, view)
    if missed := _missed(evidence):
        return Unreadable(Reason.COUNT, f"{len(dice)} dice, but {missed}")
    confidence = min(
        min(die.model.value_p, die.model.score, die.second.confidence)
        for die in dice
        if die.model and die.second
    )
    return Verified(tuple(die.model.value for die in dice if die.model), confidence)


def _doubt(die: Die, place: str) -> Unreadable | None:
    """Why one die proves nothing, if so."""
    model, second = die.found, die.evidence.second
    if model.flat_p < PHOTO.flat_p:
        why = f"{place} may not lie flat ({model.flat_p:.2f})"
        return Unreadable(Reason.NOT_FLAT_DOUBTFUL, why)
    if second is None or second.value is None:
        return Unreadable(Reason.UNKNOWN_STYLE, f"{place}: no pips that form a face")
    if worth(model) < PHOTO.sure:
        why = f"{place}: the model is {worth(model):.2f} sure ({PHOTO.sure:.2f} needed)"
        return Unreadable(Reason.DOUBTFUL, why)
    if second.value != model.value:
        why = f"{place}: the model reads {model.value}, the second reader {second.value}"
        return Unreadable(Reason.READERS_DISAGREE, why)
    if spot := spot_doubted(second):
        return Unreadable(spot.reason, f"{place}: {spot.detail}")
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
    alike."""
    ways = sides_of(np.array([die.corners for die in found]))[:, :2]
    leans = np.degrees(np.arctan2(ways[..., 0], ways[..., 1]))
    leans = (leans + 90.0) % 180.0 - 90.0
    upright = np.take_along_axis(leans, np.abs(leans).argmin(axis=1)[:, None], axis=1)
    return bool(np.ptp(upright) < _UPRIGHT_DEG and abs(np.median(upright)) < _HELD_DEG)


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
        if face.face.confidence < PHOTO.missed:
            continue
        if _is_just_above(face, evidence.found):
            return f"one may be the side of a die that shows a {face.face.value}"
        if _is_die_apart(face, evidence.found):
            return f"the second reader sees one more, a {face.face.value}"
    return ""


def _may_be_cut_off(evidence: PhotoEvidence, usual: float) -> bool:
    """True if a spot within half an edge of the picture's border, on none of the model's dice, is
    as clear as their pips: then it may be the pip of one more."""
    width, height = evidence.size
    least = _AS_CLEAR * float(np.median([die.pip_contrast for die in evidence.dice]))
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


def _is_just_above(face: PhotoDie, found: Sequence[FoundDie]) -> bool:
    """True if a face of the second reader's may be the top of a found die, of which the model then
    saw a side: photographs are taken upright."""
    below = ((die.centre - face.centre) / die.edge_px for die in found)
    return any(abs(x) < 0.5 and 0.5 < y < 1.0 for x, y in below)


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
