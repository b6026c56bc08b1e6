"""From any photograph to one observation: no calibration, any number of dice of any size.

Owns: the scales at which the model looks, and what both readers must say together before a
photograph may state values. Must not know tables, tosses or `shaker_ctl`.

Without a calibration there is no plane and no scale, so geometry proves less here than at a table.
The plain reading comes from the model alone. Only its least certain findings also need pips that
the second reader sees. The verified reading needs both readers for each die.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress

import cv2
import numpy as np

from shaker_ctl.frozen import frozen
from vision.faces_by_pips.faces import PhotoDie, PhotoReading, read_photo
from vision.findings import Findings, Stopwatch
from vision.frame import Frame
from vision.networks.classifier import FoundDie
from vision.parameters import PhotoThresholds
from vision.photo.finder import (
    MIN_GAP,
    PhotoFinder,
    ScoredFinder,
    gap_of,
    is_slanted,
    worth,
)
from vision.quads import SAME_FACE, apart_deg, are_just_above, match, sides_of, turn_deg
from vision.reading import (
    DieEvidence,
    ModelVote,
    Observation,
    Reason,
    SecondVote,
    Unreadable,
    Verdict,
    Verified,
)

_THRESHOLDS = PhotoThresholds()
_ALIKE = 0.2
"""Edges by which the sides of the tops of two dice, side by side on one table, differ at the most.
Corners that are estimated from pips are good to a tenth."""
_MIN_SIDE_PX, _MAX_ASPECT = 8, 40
"""A picture with a shorter side has no room for a die; nor has a strip so many times longer than
wide, which no camera takes and which at the readers' scales would be no pixel wide."""
_MIN_SEEN_PX = 26.0
"""Edge of a die below which the second reader cannot be expected to see its pips."""
_MIN_SPOTTED_PX = 15.0
"""The same below which it cannot be expected to see that there are any."""
_WHOLE = 0.10
"""Edges by which a top face may reach beyond the border and still show all of its pips: they begin
an eighth of an edge inside it. Of 35 such pictures of `n3v-round` that nothing else refuses none is
wrong, of 15 with more than that cut off one is."""
_PIPS, _PIP = 3, 0.35
"""So many things, each at most so many dice large, may be pips."""
_SPOT, _SPOT_CONTRAST, _WIDER = (0.08, 0.5), 12.0, 1.1
"""Diameters in edges, and least contrast in Lab units, of what may be a pip on a face that is
hardly seen and so made a tenth wider. In five sets 107 of 111 faint things that are dice show one,
and 137 of 293 others."""
_BODY, _BODY_CONTRAST = (0.8, 1.9), 20.0
"""The same of the round spot that a whole die makes where it stands out from what it lies on."""
_AS_CLEAR, _GROUND = 0.6, 0.95
"""Min contrast of a spot at the border that may be a pip, as a share of the contrast of the dice's
pips; and the share of the ground's spots that it must exceed. Of 107 verified pictures of five
sets these refuse 5 of the 6 that cut off a die, and 10 others, 7 of them with a computer's edge."""
_UPRIGHT_DEG = 6.0
"""Max angle by which a front is turned in a picture that was taken at eye level. Estimate: three
dice thrown at random lie within it in one picture of 400."""
_MIN_BELOW = 0.15
"""Min distance of a die's bottom face below its top face, in edges, if the die is seen from the
side and another face lies just above it in the picture."""


@frozen(eq=False)
class _Die:
    """One of the model's dice."""

    found: FoundDie
    evidence: DieEvidence
    """With the second reader's vote."""
    is_below_pips: bool
    """The second reader sees pips above this face that are on no face."""
    pip_contrast: float
    """Between pips and face, Lab units, as the second reader sees them; 0: it sees none."""
    is_cut_off: bool
    """The top face goes on beyond the picture's border."""


@frozen(eq=False)
class PhotoEvidence:
    """What both readers say of one photograph, before anything is concluded."""

    dice: tuple[_Die, ...]
    """From left to right."""
    faint: tuple[FoundDie, ...]
    """What else the model takes for a die, though not surely."""
    alone: tuple[PhotoDie, ...]
    """Faces that the second reader alone sees."""
    second: PhotoReading
    """All that the second reader sees."""
    size: tuple[int, int]
    """Width and height of the picture, pixels."""

    @property
    def found(self) -> tuple[FoundDie, ...]:
        """The dice as the model found them."""
        return tuple(die.found for die in self.dice)


class PhotoReader:
    """Reads photographs. One instance per thread."""

    def __init__(self, finder: ScoredFinder) -> None:
        self._finder = PhotoFinder(finder)

    def look(self, frame: Frame, dice: int | None = None) -> Findings:
        """All that both readers say of a picture. `dice`: how many there must be; None: any."""
        clock = Stopwatch()
        evidence = settle(self.gather(frame.image, clock), _THRESHOLDS)
        opinion = judge(evidence, _THRESHOLDS, dice)
        clock.lap("verdict")
        both = tuple(die.evidence for die in evidence.dice)
        laps = tuple(clock.laps)
        seen = Observation(frame.sequence, frame.t_capture, None, both, opinion, laps)
        return Findings(seen, evidence.found, None, evidence.second)

    def gather(self, image: np.ndarray, clock: Stopwatch) -> PhotoEvidence:
        """What both readers say of a (H, W, 3) uint8 BGR picture, for `settle` and `judge`."""
        if min(image.shape[:2]) < max(_MIN_SIDE_PX, max(image.shape[:2]) / _MAX_ASPECT):
            return compare((), (), PhotoReading((), np.zeros((0, 4))), _size(image))
        found, faint = self._finder.find(image, _THRESHOLDS.found)
        clock.lap("model")
        second = read_photo(image)
        clock.lap("second reader")
        return compare(found, faint, second, _size(image))


def compare(
    found: Sequence[FoundDie],
    faint: Sequence[FoundDie],
    second: PhotoReading,
    size: tuple[int, int],
) -> PhotoEvidence:
    """Both readers' findings in a picture of `size` (width, height), matched by place."""
    centres = np.array([die.centre for die in found]).reshape(-1, 2)
    others = np.array([die.centre for die in second.dice]).reshape(-1, 2)
    reach = SAME_FACE * max((die.edge_px for die in found), default=0.0)
    pairs = {
        i: j
        for i, j in match(centres, others, reach).items()
        if np.hypot(*(centres[i] - others[j])) < SAME_FACE * found[i].edge_px
    }
    dice = []
    for i, die in enumerate(found):
        other = second.dice[pairs[i]] if i in pairs else None
        vote = ModelVote(die.value, float(die.value_p.max()), float(die.flat_p), float(die.score))
        evidence = DieEvidence(
            corners=tuple((float(x), float(y)) for x, y in die.corners),
            x_mm=0.0,
            y_mm=0.0,
            turn_deg=turn_deg(die.corners),
            model=vote,
            second=None
            if other is None
            else SecondVote(other.face.value, other.face.confidence, other.face.note),
            measured=None,
        )
        is_below_pips = other is not None and other.has_pips_above
        contrast = 0.0 if other is None else other.face.contrast
        dice.append(_Die(die, evidence, is_below_pips, contrast, _is_cut_off(die, size)))
    alone = tuple(die for j, die in enumerate(second.dice) if j not in pairs.values())
    return PhotoEvidence(tuple(dice), tuple(faint), alone, second, size)


def settle(evidence: PhotoEvidence, t: PhotoThresholds) -> PhotoEvidence:
    """The same, but what the model sees only faintly is no die found, only something that may be
    one, if the second reader does not see it at all or if it is much smaller or larger than the
    picture's sure dice: the key of a keyboard, a mesh in a net, a letter on a label."""
    usual = _usual_edge(evidence.found, t)
    keep = [
        worth(die.found) >= t.sure
        or (
            _is_of_size(die.found, usual, t.size_ratio)
            and (
                worth(die.found) >= t.alone
                or (die.found.edge_px < _MIN_SEEN_PX and worth(die.found) >= t.small)
                or (die.evidence.second is not None and die.evidence.second.value is not None)
            )
        )
        for die in evidence.dice
    ]
    unseen = [die.found for die, is_kept in zip(evidence.dice, keep, strict=True) if not is_kept]
    dice = tuple(compress(evidence.dice, keep))
    return replace(evidence, dice=dice, faint=(*evidence.faint, *unseen))


def _usual_edge(found: Sequence[FoundDie], t: PhotoThresholds) -> float | None:
    """Middle edge of the dice that the model is sure of, pixels; None where there is none."""
    edges = [die.edge_px for die in found if worth(die) >= t.sure]
    return float(np.median(edges)) if edges else None


def _is_of_size(die: FoundDie, usual: float | None, ratio: float) -> bool:
    """True if its size may be that of a die: not so many times smaller or larger than the sure."""
    return usual is None or 1 / ratio < die.edge_px / usual < ratio


def _are_pips(faint: Sequence[FoundDie], usual: float, t: PhotoThresholds) -> bool:
    """True if so many small things that look a little like dice lie within one die's size: pips of
    a die that the model does not see as a whole."""
    small = np.array(
        [d.centre for d in faint if worth(d) >= t.faint / 2 and d.edge_px < _PIP * usual]
    ).reshape(-1, 2)
    gaps = np.hypot(*(small[:, None] - small[None]).transpose(2, 0, 1))
    return bool(((gaps < usual / 2).sum(axis=1) >= _PIPS).any())


def _has_spots(die: FoundDie, spots: np.ndarray) -> bool:
    """True if the second reader sees anything on this face that may be a pip, readable or not."""
    reach = ((die.corners - die.centre) * _WIDER + die.centre).astype(np.float32)
    low, high = np.array(_SPOT) * die.edge_px
    clear = spots[(spots[:, 2] > low) & (spots[:, 2] < high) & (spots[:, 3] > _SPOT_CONTRAST)]
    return any(cv2.pointPolygonTest(reach, (x, y), False) >= 0 for x, y in clear[:, :2].tolist())


def _has_body(die: FoundDie, spots: np.ndarray) -> bool:
    """True if the second reader sees a round thing of a die's size here, and spots on it."""
    gaps = np.hypot(*(spots[:, :2] - die.centre).T)
    size = spots[:, 2] / die.edge_px
    clear = spots[:, 3] > _BODY_CONTRAST
    has_body = (clear & (size > _BODY[0]) & (size < _BODY[1]) & (gaps < 0.35 * die.edge_px)).any()
    return bool(has_body) and _has_spots(die, spots)


def _may_be_cut_off(evidence: PhotoEvidence, usual: float) -> bool:
    """True if a spot within half an edge of the picture's border, on none of the model's dice, may
    be the pip of one more: as clear as their pips, and clearer than the spots of the ground."""
    width, height = evidence.size
    least = _AS_CLEAR * float(np.median([die.pip_contrast for die in evidence.dice]))
    at_border, ground = [0.0], [least]
    for x, y, diameter, contrast in evidence.second.spots.tolist():
        to_border = min(x, y, width - 1 - x, height - 1 - y) / usual
        is_near = to_border < 0.5
        if not (is_near or to_border > 1.0) or not _SPOT[0] < diameter / usual < _SPOT[1]:
            continue
        if not any(_is_in_body(x, y, die) for die in evidence.found):
            (at_border if is_near else ground).append(contrast)
    return max(at_border) > max(least, float(np.quantile(ground, _GROUND)))


def _is_seen_by_both(die: FoundDie, evidence: PhotoEvidence) -> bool:
    """True if the second reader, too, sees a face here, or a round thing with a spot on it."""
    has_face = any(_are_one(die, face) for face in evidence.alone)
    return has_face or _has_body(die, evidence.second.spots)


def _are_one(die: FoundDie, face: PhotoDie) -> bool:
    """True if a face of the second reader's lies where the model takes something for a die."""
    gap = float(np.hypot(*(die.centre - face.centre)))
    return gap < SAME_FACE * max(die.edge_px, face.edge_px)


def judge(evidence: PhotoEvidence, t: PhotoThresholds, wanted: int | None) -> Verdict:
    """What the evidence proves under these thresholds. `wanted`: how many dice there must be."""
    dice = [die.evidence for die in evidence.dice]
    if not dice:
        return Unreadable(Reason.COUNT, "no dice")
    if wanted is not None and len(dice) != wanted:
        return Unreadable(Reason.COUNT, f"{len(dice)} dice")
    for number, die in enumerate(evidence.dice, 1):
        if die.is_cut_off:
            return Unreadable(
                Reason.COUNT,
                f"the border cuts off die {number} from the left, and there may be more behind it",
            )
    for number, die in enumerate(evidence.dice, 1):
        doubt = _doubt(die, t, f"die {number} from the left")
        if doubt is not None:
            return doubt
    if view := _doubtful_view(evidence.found):
        return Unreadable(Reason.DOUBTFUL, view)
    missed = _missed(evidence, t)
    if missed:
        return Unreadable(Reason.COUNT, f"{len(dice)} dice, but {missed}")
    confidence = min(
        min(die.model.value_p, die.model.score, die.second.confidence)
        for die in dice
        if die.model and die.second
    )
    return Verified(tuple(die.model.value for die in dice if die.model), confidence)


def _doubtful_view(found: Sequence[FoundDie]) -> str:
    """Why the faces may not be tops, by how they stand in the picture; empty: they may."""
    slants = is_slanted(found)
    if not slants and _may_be_at_eye_level(found):
        return "the dice may be seen from the side, at eye level: all stand upright"
    if slants and _may_be_upside_down(found):
        return "the picture may be upside down: of most dice a lower face looks more like the top"
    for number, die in enumerate(found, 1):
        if any(_are_too_near(die, other) for other in found[: number - 1]):
            return f"die {number} from the left may be the side of another"
        others = [other for other in found if other is not die]
        if slants and any(_may_be_front_of(die, other) for other in others):
            return f"die {number} from the left may be the front of another"
    return ""


def _size(image: np.ndarray) -> tuple[int, int]:
    return image.shape[1], image.shape[0]


def _is_cut_off(die: FoundDie, size: tuple[int, int]) -> bool:
    """True if a corner of the top face lies so far beyond the picture that the pips that are in
    sight may form another face, as a six without its last row is a four."""
    width, height = size
    x, y = die.corners.T
    beyond = max(-x.min(), -y.min(), x.max() - (width - 1), y.max() - (height - 1))
    return bool(beyond > _WHOLE * die.edge_px)


def _doubt(die: _Die, t: PhotoThresholds, place: str) -> Unreadable | None:
    """Why one die proves nothing, if so."""
    model, second = die.evidence.model, die.evidence.second
    assert model is not None
    if model.flat_p < t.flat_p:
        return Unreadable(
            Reason.NOT_FLAT_DOUBTFUL, f"{place} may not lie flat ({model.flat_p:.2f})"
        )
    if model.value_p < t.value_p or model.score < t.score:
        return Unreadable(Reason.DOUBTFUL, f"{place}: {model.value_p:.2f} sure of {model.value}")
    if second is None or second.value is None:
        return Unreadable(Reason.UNKNOWN_STYLE, f"{place}: no pips that form a face")
    if second.value != model.value:
        return Unreadable(
            Reason.READERS_DISAGREE,
            f"{place}: the model reads {model.value}, the second reader {second.value}",
        )
    if second.confidence < t.pip_confidence:
        return Unreadable(
            Reason.DOUBTFUL, f"{place}: pips stand out by {second.confidence:.2f} only"
        )
    if die.is_below_pips:
        return Unreadable(Reason.DOUBTFUL, f"{place} may be seen from the side: it has pips above")
    return None


def _missed(evidence: PhotoEvidence, t: PhotoThresholds) -> str:
    """What else in the picture may be a die, in words; empty: nothing. What has not the size of the
    sure dice must be likely to be one: a key, a knot in the wood, a letter never is."""
    usual = _usual_edge(evidence.found, t)
    for die in evidence.faint:
        least = t.faint
        if not _is_of_size(die, usual, t.faint_size_ratio):
            least = t.alone
        elif _is_seen_by_both(die, evidence):
            least = t.faint / 2
        elif die.edge_px > _MIN_SPOTTED_PX and not _has_spots(die, evidence.second.spots):
            least = t.small
        if worth(die) >= least:
            return f"something else may be a die ({worth(die):.2f} sure)"
    if usual is not None and _are_pips(evidence.faint, usual, t):
        return "several small things side by side may be the pips of one more"
    if usual is not None and _may_be_cut_off(evidence, usual):
        return "the border may cut off one more"
    for face in evidence.alone:
        if face.face.confidence >= t.above_confidence and _is_just_above(face, evidence.found):
            return f"one may be the side of a die that shows a {face.face.value}"
        if face.face.confidence >= t.missed_confidence and _is_die_apart(face, evidence.found):
            return f"the second reader sees one more, a {face.face.value}"
    return ""


def _are_too_near(a: FoundDie, b: FoundDie) -> bool:
    """True if two top faces are nearer than two dice can lie."""
    return gap_of(a, b) < MIN_GAP * (a.edge_px + b.edge_px) / 2


def _may_be_upside_down(found: Sequence[FoundDie]) -> bool:
    """True if most faces count as tops only because photographs are taken upright. If a picture of
    two dice on a chessboard, taken from the side, is turned round, both readers read the fronts."""
    return sum(die.is_overruled for die in found) > len(found) / 2


def _may_be_at_eye_level(found: Sequence[FoundDie]) -> bool:
    """True if there are two dice or more, and all stand upright in the picture: from the height of
    the table fronts look like this. One die alone proves nothing."""
    turns = [apart_deg(turn_deg(die.corners), 0.0) for die in found]
    return len(found) > 1 and max(turns) < _UPRIGHT_DEG


def _may_be_front_of(die: FoundDie, other: FoundDie) -> bool:
    """True if `other` lies just above `die`, and the bottom face of `die` is not below its top.

    Then both may be faces of one die: seen from the side, a die has its bottom face below its top.
    """
    edge = (die.edge_px + other.edge_px) / 2
    is_above = are_just_above(other.centre[None], die.centre, edge)[0]
    return bool(is_above and die.down[1] < _MIN_BELOW * die.edge_px)


def _is_just_above(face: PhotoDie, found: Sequence[FoundDie]) -> bool:
    """True if a face of the second reader's may be the top of a found die, of which the model then
    saw a side: photographs are taken upright."""
    return any(are_just_above(face.centre[None], die.centre, die.edge_px)[0] for die in found)


def _is_die_apart(face: PhotoDie, found: Sequence[FoundDie]) -> bool:
    """True if a face of the second reader's is neither one of the model's dice nor the side of
    one."""
    x, y = (float(v) for v in face.centre)
    return not any(_is_in_body(x, y, die) and not _is_another_top(face, die) for die in found)


def _is_in_body(x: float, y: float, die: FoundDie) -> bool:
    """True if a place of the picture is on a die's body, or nearly so."""
    bottom = die.corners + 1.3 * die.down
    body = cv2.convexHull(np.concatenate([die.corners, bottom]).astype(np.float32))
    return cv2.pointPolygonTest(body, (x, y), True) > -0.25 * die.edge_px


def _is_another_top(face: PhotoDie, die: FoundDie) -> bool:
    """True if a face beside a die's top has the top's own size, shape and turn: no other face of a
    cube looks so. It is the top of a die that touches this one, and not explained by this one."""
    own, other = sides_of(die.corners), sides_of(face.corners)
    # Counted along the top's own edges, dice side by side are an edge apart, however it slants.
    apart = np.linalg.lstsq(own[:2].T, face.centre - die.centre, rcond=None)[0]
    if np.abs(apart).max() < SAME_FACE:
        return False
    turned = [np.abs(np.roll(other, turn, axis=0) - own).max() for turn in range(4)]
    return bool(min(turned) < _ALIKE * die.edge_px)
