"""From any photograph to one observation: no calibration, any number of dice of any size.

Owns: the order of the steps, and which picture has room for dice. Must not know tables, tosses or
`shaker_ctl`.

The plain reading comes from the model alone; only its least certain findings also need pips that
the second reader sees (`evidence`). The verified reading needs both readers for each die: the
places of its face (`places`), and what the pips of the whole picture say (`judgement`).
"""

from __future__ import annotations

import numpy as np

from vision.faces_by_pips.faces import NOTHING_SEEN, read_photo
from vision.findings import Findings, Stopwatch
from vision.frame import Frame
from vision.parameters import PHOTO
from vision.photo.evidence import PhotoEvidence, compare, settle
from vision.photo.finder import PhotoFinder, ScoredFinder
from vision.photo.judgement import judge
from vision.photo.places import measure, shipped
from vision.reading import Observation

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
        evidence = settle(self.gather(frame.image, clock))
        opinion = judge(evidence, dice)
        clock.lap("verdict")
        both = tuple(die.evidence for die in evidence.dice)
        seen = Observation(frame.t_capture, None, both, opinion, tuple(clock.laps))
        return Findings(seen, evidence.found, None, evidence.second)

    def gather(self, image: np.ndarray, clock: Stopwatch) -> PhotoEvidence:
        """What both readers say of a (H, W, 3) uint8 BGR picture, for `settle` and `judge`."""
        height, width = image.shape[:2]
        if min(width, height) < max(_MIN_SIDE_PX, max(width, height) / _MAX_ASPECT):
            return compare((), (), NOTHING_SEEN, (), (width, height))
        found, faint = self._finder.find(image, PHOTO.found)
        clock.lap("model")
        second = read_photo(image)
        votes = [self._weights.vote(measure(image, die.corners), die.value) for die in found]
        clock.lap("second reader")
        return compare(found, faint, second, votes, (width, height))
