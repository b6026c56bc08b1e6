"""What both readers say of one photograph, put together by place.

Owns: which finding of one reader is which of the other's, and which unsure finding counts as a die.
Must not know how either reader works, nor what is concluded (`judgement`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vision.faces_by_pips.faces import SMALL_EDGE, PhotoDie, PhotoReading
from vision.faces_by_pips.pips import Face
from vision.networks import probability
from vision.networks.classifier import FoundDie
from vision.parameters import ALIKE, PHOTO
from vision.photo.finder import worth
from vision.photo.places import PlacesVote
from vision.quads import SAME_FACE, match, turn_deg
from vision.reading import DieEvidence, NetworkReading, SecondVote


@dataclass(frozen=True, slots=True, eq=False)
class Die:
    """One of the model's dice."""

    found: FoundDie
    evidence: DieEvidence
    """With the second reader's vote, by the places of the face."""
    places: PlacesVote
    by_pips: Face | None
    """What the second reader sees here in the whole picture, without the model's places."""


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
    votes: Sequence[PlacesVote],
    size: tuple[int, int],
) -> PhotoEvidence:
    """Both readers' findings in a picture of `size` (width, height), matched by place. `votes`: of
    the places of each found die."""
    centres = np.array([die.centre for die in found]).reshape(-1, 2)
    others = np.array([die.centre for die in second.dice]).reshape(-1, 2)
    pairs = match(centres, others, SAME_FACE * np.array([die.edge_px for die in found]))
    dice = []
    for i, (die, vote) in enumerate(zip(found, votes, strict=True)):
        by_pips = second.dice[pairs[i]].face if i in pairs else None
        evidence = DieEvidence(
            corners=tuple((float(x), float(y)) for x, y in die.corners),
            x_mm=0.0,
            y_mm=0.0,
            turn_deg=turn_deg(die.corners),
            model=NetworkReading(die.value, float(die.value_p.max()), die.flat_p, die.score),
            second=SecondVote(vote.value, probability.of_logit(abs(vote.lead))),
        )
        dice.append(Die(die, evidence, vote, by_pips))
    alone = tuple(die for j, die in enumerate(second.dice) if j not in pairs.values())
    return PhotoEvidence(tuple(dice), tuple(faint), alone, second, size)


def settle(evidence: PhotoEvidence) -> PhotoEvidence:
    """The same evidence, but a finding that the model is not sure of is a die only if it has the
    size of the sure dice, and if the second reader sees its face or it is too small for that. Else
    it only may be one: the key of a keyboard, a mesh in a net, a letter on a label."""
    usual = usual_edge(evidence.found)
    dice, faint = [], list(evidence.faint)
    for die in evidence.dice:
        found = die.found
        is_small = found.edge_px < SMALL_EDGE and worth(found) >= PHOTO.small
        has_face = die.by_pips is not None and die.by_pips.value is not None
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
