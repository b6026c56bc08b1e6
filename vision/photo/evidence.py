"""What both readers say of one photograph, put together by place.

Owns: which finding of one reader is which of the other's, and which unsure finding counts as a die.
Must not know how either reader works, nor what is concluded (`judgement`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vision.faces_by_pips.faces import SMALL_EDGE, PhotoDie, PhotoReading
from vision.networks.classifier import FoundDie
from vision.parameters import ALIKE, PHOTO
from vision.photo.finder import worth
from vision.quads import SAME_FACE, match, turn_deg
from vision.reading import DieEvidence, GeometryReading, NetworkReading

_WHOLE = 0.10
"""Edges by which a top face may reach beyond the border and still show all of its pips: they begin
an eighth of an edge inside it. Of 35 such pictures of `n3v-round` that nothing else refuses none is
wrong, of 15 with more than that cut off one is."""


@dataclass(frozen=True, slots=True, eq=False)
class Die:
    """One of the model's dice."""

    found: FoundDie
    evidence: DieEvidence
    """With the second reader's vote."""
    pip_contrast: float
    """Between pips and face, Lab units, as the second reader sees them; 0: it sees none."""
    is_cut_off: bool
    """The top face goes on beyond the picture's border."""


@dataclass(frozen=True, slots=True, eq=False)
class PhotoEvidence:
    """What both readers say of one photograph, before anything is concluded."""

    dice: tuple[Die, ...]
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


def compare(
    found: Sequence[FoundDie],
    faint: Sequence[FoundDie],
    second: PhotoReading,
    size: tuple[int, int],
) -> PhotoEvidence:
    """Both readers' findings in a picture of `size` (width, height), matched by place."""
    centres = np.array([die.centre for die in found]).reshape(-1, 2)
    others = np.array([die.centre for die in second.dice]).reshape(-1, 2)
    pairs = match(centres, others, SAME_FACE * np.array([die.edge_px for die in found]))
    dice = []
    for i, die in enumerate(found):
        second_vote, contrast = None, 0.0
        if i in pairs:
            face = second.dice[pairs[i]].face
            second_vote = GeometryReading(
                face.value, face.confidence, face.note, oddity=face.oddity
            )
            contrast = face.contrast
        evidence = DieEvidence(
            corners=tuple((float(x), float(y)) for x, y in die.corners),
            x_mm=0.0,
            y_mm=0.0,
            turn_deg=turn_deg(die.corners),
            model=NetworkReading(die.value, float(die.value_p.max()), die.flat_p, die.score),
            second=second_vote,
            measured=None,
        )
        dice.append(Die(die, evidence, contrast, _is_cut_off(die, size)))
    alone = tuple(die for j, die in enumerate(second.dice) if j not in pairs.values())
    return PhotoEvidence(tuple(dice), tuple(faint), alone, second, size)


def settle(evidence: PhotoEvidence) -> PhotoEvidence:
    """The same evidence, but a finding that the model is not sure of is a die only if it has the
    size of the sure dice, and if the second reader sees its face or it is too small for that. Else
    it only may be one: the key of a keyboard, a mesh in a net, a letter on a label."""
    usual = usual_edge(evidence.found)
    dice, faint = [], list(evidence.faint)
    for die in evidence.dice:
        found, second = die.found, die.evidence.second
        is_small = found.edge_px < SMALL_EDGE and worth(found) >= PHOTO.small
        has_face = second is not None and second.value is not None
        if worth(found) >= PHOTO.sure or (is_of_size(found, usual) and (is_small or has_face)):
            dice.append(die)
        else:
            faint.append(found)
    return replace(evidence, dice=tuple(dice), faint=tuple(faint))


def usual_edge(found: Sequence[FoundDie]) -> float | None:
    """Middle edge of the dice that the model is sure of, pixels; None where there is none."""
    edges = [die.edge_px for die in found if worth(die) >= PHOTO.sure]
    return float(np.median(edges)) if edges else None


def is_of_size(die: FoundDie, usual: float | None, ratio: float = ALIKE) -> bool:
    """True if its size may be that of a die: not much smaller or larger than the sure ones."""
    return usual is None or 1 / ratio < die.edge_px / usual < ratio


def _is_cut_off(die: FoundDie, size: tuple[int, int]) -> bool:
    """True if a corner of the top face lies so far beyond the picture that the pips that are in
    sight may form another face, as a six without its last row is a four."""
    width, height = size
    x, y = die.corners.T
    beyond = max(-x.min(), -y.min(), x.max() - (width - 1), y.max() - (height - 1))
    return bool(beyond > _WHOLE * die.edge_px)
