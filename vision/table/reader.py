"""One frame of a calibrated camera to one observation: quality, both readers, evidence, opinion.

Owns: the order of the steps, and which of the model's findings can be dice of this table. Must not
know cameras, consensus, tosses or `shaker_ctl`. `evidence` joins the findings, and `judgement` says
what they prove.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Protocol

import numpy as np

from vision.calibration import Calibration
from vision.cube_outlines.reader import SecondReader, SecondReading
from vision.findings import Findings, Stopwatch, observe
from vision.frame import Frame
from vision.networks.classifier import FoundDie
from vision.networks.near_look import NearLook, NearReader
from vision.parameters import LIMITS
from vision.reading import Observation, Reason, Unreadable, Verdict
from vision.table.edges import refine
from vision.table.evidence import gather, scene_of
from vision.table.judgement import blocked, judge
from vision.table.model_view import ModelView
from vision.table.quality import QualityGate
from vision.table.witnesses import heard

_SIZES = (0.66, 1.5)
"""Min and max mean side of a top face, in sides of a flat die's top. Outside it is no die. A glint
of the ring light measures 0.3-0.6, a die on its edge 0.85, a die three dice high at the rim 1.2."""
_NEAREST_DICE = 0.8
"""Least distance between the top faces of two dice, in dice; upright ones keep 1.0."""
_NEAREST_WALL = 0.3
"""Least distance of a die's middle from the wall, in dice; a flat one keeps half an edge."""


class Finder(Protocol):
    """The first reader: `networks.classifier.DieFinder`, or a deliberately wrong one in tests."""

    def find(self, image: np.ndarray) -> Sequence[FoundDie]: ...


class TableReader:
    """Reads the frames of one table. One instance per thread.

    With `threads` = 2 the model runs beside the second reader, which knows nothing of it: a
    reading then takes as long as the slower of the two, with the same result.
    """

    def __init__(
        self,
        finder: Finder,
        calibration: Calibration,
        threads: int = 1,
    ) -> None:
        self.calibration = calibration
        self._finder = finder
        # Without a near look, as fakes are, a die is judged by the first look alone.
        self._near: NearReader | None = getattr(finder, "near", None)
        self._gate = QualityGate(calibration)
        self._second = SecondReader(calibration)
        self.view = ModelView(calibration)
        self._beside = ThreadPoolExecutor(1, "model") if threads > 1 else None

    def read(self, frame: Frame, dice: int | None = 3) -> Observation:
        """All that this frame says. `dice`: how many there must be; None: any number."""
        return self.look(frame, dice).observation

    def look(self, frame: Frame, dice: int | None = 3) -> Findings:
        """Like `read`, with the raw findings beside the observation."""
        clock = Stopwatch()
        quality = self._gate.judge(frame.image)
        clock.lap("quality")
        if quality.fault is Reason.WRONG_SIZE:
            unfit = Unreadable(quality.fault, quality.detail)
            return Findings(observe(frame, quality, (), unfit, clock), (), None)
        # What will be refused for its light anyway is not worth the longer way by pips.
        found, second = self._read_twice(frame.image, quality.fault is None, clock)
        scene = scene_of(second, self.calibration, dice)
        evidence = heard(gather(found, second, self.calibration), scene)
        if quality.fault is None:
            opinion: Verdict = judge(evidence, scene)
        elif quality.fault is Reason.CAMERA_MOVED and scene.foreground > LIMITS.blocked_dice:
            opinion = blocked(scene)  # a hand's outline was taken for the rim
        else:
            opinion = Unreadable(quality.fault, quality.detail)
        judged = scene if quality.fault is None else None
        clock.lap("verdict")
        return Findings(observe(frame, quality, evidence, opinion, clock, judged), found, second)

    def _read_twice(
        self, image: np.ndarray, is_fit: bool, clock: Stopwatch
    ) -> tuple[tuple[FoundDie, ...], SecondReading]:
        """What either reader finds, neither knowing of the other."""
        if self._beside is None:
            found = self._find(image)
            clock.lap("model")
            second = self._second.read(image, is_fit)
            clock.lap("second reader")
            return found, second
        model = self._beside.submit(self._find, image)
        second = self._second.read(image, is_fit)
        clock.lap("second reader")
        found = model.result()
        clock.lap("model, after the second reader")
        return found, second

    def _find(self, image: np.ndarray) -> tuple[FoundDie, ...]:
        moved = (self.view.to_frame(die) for die in self._finder.find(self.view.show(image)))
        possible = [die for die in moved if self._can_be_a_die(die)]
        dice = sorted(self._one_each(possible), key=lambda die: float(die.centre[0]))
        edges = [refine(image, die.corners)[0] for die in dice]
        looks: Sequence[NearLook | None] = (
            [None] * len(dice)
            if self._near is None
            else self._near.look(image, edges, self.calibration)
        )
        return tuple(
            replace(die, edges=edge, near=look)
            for die, edge, look in zip(dice, edges, looks, strict=True)
        )

    def _one_each(self, dice: Sequence[FoundDie]) -> list[FoundDie]:
        """Without the sides of dice that lean: two dice cannot be nearer than their own size."""
        nearest = _NEAREST_DICE * self.calibration.die_px
        kept: list[FoundDie] = []
        for die in sorted(dice, key=lambda d: -d.score):
            if all(np.hypot(*(die.centre - other.centre)) > nearest for other in kept):
                kept.append(die)
        return kept

    def _can_be_a_die(self, die: FoundDie) -> bool:
        """False for what is no die of this table wherever it lay: in the wall, or of another size
        (a screw, a glint). Dice that stand up or lie on others stay well inside these bounds."""
        size = die.edge_px / self.calibration.die_px
        if not _SIZES[0] < size < _SIZES[1]:
            return False
        place = self.calibration.to_mm(die.centre, self.calibration.die_mm)[0]
        reach = self.calibration.compartment_radius_mm - _NEAREST_WALL * self.calibration.die_mm
        return float(np.hypot(*place)) < reach
