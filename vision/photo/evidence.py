"""What both readers say of one photograph, and which of the model's findings are dice.

Owns: the measurements that tell a die from a key, a letter or a button. Must not know how either
reader works, nor what is concluded (`judgement`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vision.networks.classifier import FoundDie
from vision.parameters import PHOTO
from vision.photo.finder import worth
from vision.photo.places import PlacesVote, Weights
from vision.taught.regression import MOST


@dataclass(frozen=True, slots=True, eq=False)
class Thing:
    """What the model takes for a die, surely or not."""

    found: FoundDie
    places: PlacesVote
    """The second reader's vote, by the nine places of the face."""

    def on_picture(self) -> np.ndarray:
        """(9, 2) the places of its face, picture pixels."""
        a, b, c, d = self.found.corners
        sides = np.array([b - a + c - d, d - a + c - b]) / 2
        return np.asarray(self.found.corners.mean(axis=0) + self.places.reach @ sides)


@dataclass(frozen=True, slots=True, eq=False)
class PhotoEvidence:
    """What both readers say of one photograph, before anything is concluded."""

    dice: tuple[Thing, ...]
    """From left to right."""
    faint: tuple[Thing, ...]
    """What else the model takes for a die, though not surely."""
    spots: np.ndarray
    """(N, 4) float, picture pixels: x, y and diameter of all round spots, pips or not, and their
    contrast in CIE Lab units."""
    size: tuple[int, int]
    """Width and height of the picture, pixels."""

    @property
    def found(self) -> tuple[FoundDie, ...]:
        """The dice as the model found them."""
        return tuple(die.found for die in self.dice)


def settle(evidence: PhotoEvidence, weights: Weights) -> PhotoEvidence:
    """The same evidence, but the dice are all the things that the weights take for some."""
    things = [*evidence.dice, *evidence.faint]
    odds = [weights.presence_of(row) for row in presence(things)]
    dice = [thing for thing, each in zip(things, odds, strict=True) if each >= weights.die_least]
    dice.sort(key=lambda die: float(die.found.centre[0]))
    faint = [
        thing
        for thing, each in zip(things, odds, strict=True)
        if weights.may_be_least <= each < weights.die_least
    ]
    return replace(evidence, dice=tuple(dice), faint=tuple(faint))


def presence(things: Sequence[Thing]) -> list[np.ndarray]:
    """Of each thing (7,) what says that it is a die; the more, the likelier: the model's log-odds
    of a die and of its value, what the places say of that value, their contrast beside the sure
    dice's, and how little smaller and larger than those it is."""
    sure = [thing for thing in things if worth(thing.found) >= PHOTO.sure] or things
    edge = usual_edge([thing.found for thing in sure])
    contrast = float(np.median([thing.places.contrast for thing in sure])) if sure else 1.0
    rows = []
    for thing in things:
        size = float(np.log(thing.found.edge_px / edge))
        paler = float(np.log(contrast / thing.places.contrast))
        row = [*said(thing), -max(0.0, paler), -max(0.0, -size), -max(0.0, size)]
        rows.append(np.array(row))
    return rows


def said(thing: Thing) -> list[float]:
    """What both readers say of one thing, in log-odds."""
    found, places = thing.found, thing.places
    certain = logit(float(found.value_p.max()))
    each = (places.lead, places.gap)
    return [logit(found.score), certain, *(float(np.clip(odds, -MOST, MOST)) for odds in each)]


def logit(p: float) -> float:
    """At most `MOST` either way."""
    return float(np.clip(np.log(max(p, 1e-6) / max(1 - p, 1e-6)), -MOST, MOST))


def usual_edge(found: Sequence[FoundDie]) -> float:
    """Middle edge of those that the model is sure of, else of all, pixels; 1 where there is
    none."""
    edges = [die.edge_px for die in found if worth(die) >= PHOTO.sure] or [
        die.edge_px for die in found
    ]
    return float(np.median(edges)) if edges else 1.0
