"""From any photograph to one observation: no calibration, any number of dice of any size.

Owns: the order of the steps, and which picture has room for dice. Must not know tables, tosses or
`shaker_ctl`.

The model says what may be a die and which value it shows, the places of its face say whether they
agree (`places`). By both, a thing is a die or may be one (`evidence`), and a photograph states
values or none (`judgement`).
"""

from __future__ import annotations

import numpy as np

from vision.findings import Findings, Stopwatch
from vision.frame import Frame
from vision.networks import probability
from vision.networks.classifier import FoundDie
from vision.parameters import PHOTO
from vision.photo.evidence import PhotoEvidence, Thing, settle, usual_edge
from vision.photo.finder import PhotoFinder, ScoredFinder
from vision.photo.judgement import judge
from vision.photo.places import measure, shipped
from vision.photo.spots import round_spots
from vision.quads import turn_deg
from vision.reading import DieEvidence, NetworkReading, Observation, SecondVote

_MIN_SIDE_PX, _MAX_ASPECT = 8, 40
"""A picture with a shorter side has no room for a die; nor has a strip so many times longer than
wide, which no camera takes and which at the readers' scales would be no pixel wide."""


class PhotoReader:
    """Reads photographs. One instance per thread."""

    def __init__(self, finder: ScoredFinder) -> None:
        """Raises ModelError where the judgement's weights are missing or damaged."""
        self._finder = PhotoFinder(finder)
        self._weights = shipped()

    def look(self, frame: Frame, dice: int | None = None) -> Findings:
        """All that both readers say of a picture. `dice`: how many there must be; None: any."""
        clock = Stopwatch()
        evidence = settle(self.gather(frame.image, clock), self._weights)
        opinion = judge(evidence, dice, self._weights)
        clock.lap("verdict")
        both = tuple(map(_told, evidence.dice))
        seen = Observation(frame.t_capture, None, both, opinion, tuple(clock.laps))
        places = tuple(die.on_picture() for die in evidence.dice)
        return Findings(seen, evidence.found, None, places, evidence.spots)

    def gather(self, image: np.ndarray, clock: Stopwatch) -> PhotoEvidence:
        """What both readers say of a (H, W, 3) uint8 BGR picture, for `settle` and `judge`."""
        height, width = image.shape[:2]
        if min(width, height) < max(_MIN_SIDE_PX, max(width, height) / _MAX_ASPECT):
            return PhotoEvidence((), (), np.zeros((0, 4)), (width, height))
        found, faint = self._finder.find(image, PHOTO.sure)
        clock.lap("model")
        dice, others = (tuple(self._thing(image, die) for die in each) for each in (found, faint))
        spots = round_spots(image, usual_edge(found)) if found else np.zeros((0, 4))
        clock.lap("second reader")
        return PhotoEvidence(dice, others, spots, (width, height))

    def _thing(self, image: np.ndarray, die: FoundDie) -> Thing:
        return Thing(die, self._weights.vote(measure(image, die.corners), die.value))


def _told(die: Thing) -> DieEvidence:
    """What both readers say of one die."""
    found, vote = die.found, die.places
    return DieEvidence(
        corners=tuple((float(x), float(y)) for x, y in found.corners),
        x_mm=0.0,
        y_mm=0.0,
        turn_deg=turn_deg(found.corners),
        model=NetworkReading(found.value, float(found.value_p.max()), found.flat_p, found.score),
        second=SecondVote(vote.value, probability.of_logit(abs(vote.lead))),
    )
