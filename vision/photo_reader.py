"""Any photograph to one observation: no calibration, any number of dice of any size.

Owns: the scales at which the model looks, and what both readers must say together before a
photograph may state values. Must not know tables, tosses or `shaker_ctl`.

Without a calibration there is no plane and no scale, so geometry proves less here than at a table:
the plain reading is the model's alone, the verified one needs both readers, die by die.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from vision.classifier import FoundDie
from vision.frame import Frame
from vision.parameters import PhotoThresholds
from vision.reader import Finder, Seen, Stopwatch, match, observe, turn_deg
from vision.reading import (
    DieEvidence,
    ModelVote,
    Reason,
    SecondVote,
    Unreadable,
    Verdict,
    Verified,
)
from vision.second_reader.photo import PhotoDie, read_photo

_FIRST_SIDE = 960
"""Longer side of the first look, pixels: most photographs of a few dice have them at 40-150."""
_GOOD_EDGE = (34.0, 150.0)
_AIM_EDGE = 64.0
_MOST_PIXELS = 5_000_000
_LEAST_SIDE = 160
"""Smaller pictures are a die's own crop: they get a border, as the model wants to see around."""


class PhotoReader:
    """Reads photographs. One instance per thread."""

    def __init__(self, finder: Finder, thresholds: PhotoThresholds | None = None) -> None:
        self._finder = finder
        self.thresholds = thresholds or PhotoThresholds()

    def look(self, frame: Frame, dice: int | None = None) -> Seen:
        """All that both readers say of a picture. `dice`: how many there must be; None: any."""
        clock = Stopwatch()
        found = self.find(frame.image)
        clock.lap("model")
        second = read_photo(frame.image)
        clock.lap("second reader")
        evidence, extra = self._gather(found, second)
        opinion = self._judge(evidence, extra, dice)
        clock.lap("verdict")
        return Seen(observe(frame, None, evidence, opinion, clock), tuple(found), None)

    def find(self, image: np.ndarray) -> list[FoundDie]:
        """The plain reading: what the model finds, at the scale that suits its dice."""
        border = 0
        if min(image.shape[:2]) < _LEAST_SIDE:
            border = max(image.shape[:2]) // 3
            image = cv2.copyMakeBorder(
                image, border, border, border, border, cv2.BORDER_REFLECT_101
            )
        scale = min(1.0, _FIRST_SIDE / max(image.shape[:2]))
        found = self._at_scale(image, scale)
        if not found:
            found = self._at_scale(image, min(1.0, scale * 2)) if scale < 1 else []
            found = found or self._at_scale(image, scale / 2)
        if found:
            edge = float(np.median([die.edge_px for die in found])) * scale
            if not _GOOD_EDGE[0] <= edge <= _GOOD_EDGE[1]:
                better = scale * _AIM_EDGE / edge
                better = min(better, 3.0, (_MOST_PIXELS / image.shape[0] / image.shape[1]) ** 0.5)
                again = self._at_scale(image, better)
                if sum(d.score for d in again) >= 0.8 * sum(d.score for d in found):
                    found = again
        return sorted((_shifted(die, -border) for die in found), key=lambda d: float(d.centre[0]))

    def _at_scale(self, image: np.ndarray, scale: float) -> list[FoundDie]:
        if scale == 1.0:
            return list(self._finder.find(image))
        interpolation = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
        sized = cv2.resize(image, None, fx=scale, fy=scale, interpolation=interpolation)
        return [
            FoundDie(
                np.asarray((d.corners + 0.5) / scale - 0.5, np.float32),
                d.value,
                d.value_p,
                d.flat_p,
                d.score,
                np.asarray(d.down / scale, np.float32),
            )
            for d in self._finder.find(np.asarray(sized, np.uint8))
        ]

    def _gather(
        self, found: Sequence[FoundDie], second: Sequence[PhotoDie]
    ) -> tuple[tuple[DieEvidence, ...], list[PhotoDie]]:
        """Evidence per die of the model, left to right, and what only the second reader sees."""
        centres = np.array([die.centre for die in found]).reshape(-1, 2)
        others = np.array([die.centre for die in second]).reshape(-1, 2)
        reach = float(np.median([die.edge_px for die in found])) * 0.4 if found else 0.0
        pairs = match(centres, others, reach)
        evidence = []
        for i, die in enumerate(found):
            other = second[pairs[i]] if i in pairs else None
            evidence.append(
                DieEvidence(
                    corners=tuple((float(x), float(y)) for x, y in die.corners),
                    x_mm=0.0,
                    y_mm=0.0,
                    turn_deg=turn_deg(die.corners),
                    model=ModelVote(
                        die.value, float(die.value_p.max()), float(die.flat_p), float(die.score)
                    ),
                    second=None
                    if other is None
                    else SecondVote(other.face.value, other.face.confidence, None, other.face.note),
                    measured=None,
                )
            )
        alone = [second[j] for j in range(len(second)) if j not in pairs.values()]
        return tuple(evidence), [die for die in alone if self._is_missed_die(die, found)]

    def _is_missed_die(self, die: PhotoDie, found: Sequence[FoundDie]) -> bool:
        """True if what only the second reader sees is like the dice that both see: not the side
        of a die, nor spots in the grain of a table."""
        if die.face.confidence < self.thresholds.missed_confidence:
            return False
        if not found:
            return True
        edge = float(np.median([other.edge_px for other in found]))
        if not 0.72 < die.edge_px / edge < 1.4 or die.aspect < 0.8:
            return False
        return all(
            float(np.hypot(*(die.centre - other.centre))) > 0.85 * max(die.edge_px, other.edge_px)
            for other in found
        )

    def _judge(
        self, dice: Sequence[DieEvidence], missed: Sequence[PhotoDie], wanted: int | None
    ) -> Verdict:
        t = self.thresholds
        if not dice:
            return Unreadable(Reason.COUNT, "no dice")
        if wanted is not None and len(dice) != wanted:
            return Unreadable(Reason.COUNT, f"{len(dice)} dice")
        for number, die in enumerate(dice, 1):
            assert die.model is not None
            place = f"die {number} from the left"
            if die.model.flat_p < t.flat_p:
                return Unreadable(
                    Reason.NOT_FLAT_DOUBTFUL, f"{place} may not lie flat ({die.model.flat_p:.2f})"
                )
            if die.model.value_p < t.value_p or die.model.score < t.score:
                return Unreadable(
                    Reason.DOUBTFUL, f"{place}: {die.model.value_p:.2f} sure of {die.model.value}"
                )
            if die.second is None or die.second.value is None:
                return Unreadable(Reason.UNKNOWN_STYLE, f"{place}: no pips that form a face")
            if die.second.value != die.model.value:
                return Unreadable(
                    Reason.READERS_DISAGREE,
                    f"{place}: the model reads {die.model.value}, "
                    f"the second reader {die.second.value}",
                )
            if die.second.confidence < t.pip_confidence:
                return Unreadable(
                    Reason.DOUBTFUL, f"{place}: pips stand out by {die.second.confidence:.2f} only"
                )
        if missed:
            return Unreadable(
                Reason.COUNT, f"the second reader sees {len(missed)} more than {len(dice)} dice"
            )
        confidence = min(
            min(die.model.value_p, die.model.score, die.second.confidence)
            for die in dice
            if die.model and die.second
        )
        return Verified(tuple(die.model.value for die in dice if die.model), confidence)


def _shifted(die: FoundDie, by: float) -> FoundDie:
    if not by:
        return die
    corners = np.asarray(die.corners + by, np.float32)
    return FoundDie(corners, die.value, die.value_p, die.flat_p, die.score, die.down)
