"""One frame of a calibrated camera to one observation: quality, both readers, evidence, opinion.

Owns: the order of the steps, and which of the model's findings can be dice of this table. Must not
know cameras, consensus, tosses or `shaker_ctl`. `evidence` joins the findings, and `judgement` says
what they prove.

A frame that follows one in which values were verified is not searched for dice again. First the
whole compartment is compared with that frame: where anything differs but for grain, the frame is
read in full. Else each reader reads each die where it was, from the pixels of this frame alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from vision.calibration import Calibration
from vision.findings import Findings, Stopwatch
from vision.frame import Frame
from vision.networks import probability
from vision.networks.classifier import FoundDie
from vision.networks.near_look import NearReader
from vision.networks.windows import PADDING
from vision.parameters import LIMITS
from vision.pip_heights import measure_height, measure_lean
from vision.reading import (
    DICE,
    DieEvidence,
    Height,
    Observation,
    Quality,
    Reason,
    Scene,
    Unreadable,
    Verdict,
    Verified,
)
from vision.table.evidence import HeightOf, gather, scene_of
from vision.table.judgement import blocked, judge
from vision.table.model_view import CLOSE_DIE_PX, CLOSE_SIDE, ModelView
from vision.table.quality import QualityGate
from vision.table.witnesses import combine
from vision.taught import TaughtDie, TaughtReader, TaughtReading, Teaching
from vision.taught.heights import LIKENESS

_SIZES = (0.66, 1.5)
"""Min and max mean side of a top face, in sides of a flat die's top. Outside it is no die. A glint
of the ring light measures 0.3-0.6, a die on its edge 0.85, a die three dice high at the rim 1.2."""
_MIN_BETWEEN_DICE = 0.8
"""Least distance between the top faces of two dice, in dice; upright ones keep 1.0."""
_IN_PLACE = 0.2
"""Largest distance, in dice, of a die from the middle of its window, which is where it was in an
earlier frame of the same scene."""
_MISPLACED = 0.5
"""Largest distance, in dice, of a die from its place in the smaller picture. In that picture a pip
near a corner may look like an ace, which refused 2 of 526 flat tosses of the rig. No other die is
so near."""


Find = Callable[[], tuple[FoundDie, ...]]
"""Returns what the model finds in a frame."""


class Finder(Protocol):
    """The first reader: `networks.classifier.DieFinder`, or a deliberately wrong one in tests."""

    def find(self, image: np.ndarray) -> Sequence[FoundDie]: ...


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    """What both readers found in one frame."""

    quality: Quality
    found: tuple[FoundDie, ...]
    second: TaughtReading | None
    is_confirming: bool = False


class TableReader:
    """Reads the frames of one table. One instance per thread.

    Without a `teaching` there is no second reader: the network finds dice, and nothing is stated.

    With `threads` = 2 the model runs beside everything else, which knows nothing of it: a reading
    then takes as long as the slower of the two, with the same result.
    """

    def __init__(
        self,
        finder: Finder,
        calibration: Calibration,
        threads: int = 1,
        teaching: Teaching | None = None,
    ) -> None:
        self.calibration = calibration
        self._finder = finder
        # Without a near look, as fakes are, a die is judged by the first look alone.
        self._near: NearReader | None = getattr(finder, "near", None)
        self._gate = QualityGate(calibration)
        self._teaching = teaching
        self._second = None if teaching is None else TaughtReader(calibration, teaching)
        self.view = ModelView(calibration)
        self._beside = ThreadPoolExecutor(1, "model") if threads > 1 else None

    def warm(self) -> None:
        """Have OpenCV build the tables that it builds at first use, which takes longer than a
        reading. May run on another thread: it changes nothing here."""
        width, height = self.calibration.image_size
        grey = np.full((height, width, len(PADDING)), PADDING, np.uint8)
        self._gate.judge(grey)
        if self._second is not None:
            self._second.read(grey, by_pips=False)

    def read(self, frame: Frame, dice: int | None = DICE) -> Observation:
        """All that this frame says. `dice`: how many there must be; None: any number."""
        return self.look(frame, dice).observation

    def look(
        self,
        frame: Frame,
        dice: int | None = DICE,
        after: Findings | None = None,
        *,
        is_turned: bool = False,
    ) -> Findings:
        """Like `read`, with the raw findings beside the observation.

        `after`: what was found in an earlier frame, read in full, of what may still be the same
        scene. `is_turned`: the near look, one of two when a frame is read in full, is the second.
        """
        clock = Stopwatch()
        if self.calibration.right is not None:  # a frame of the journal is whole yet
            frame = frame.parted(self.calibration.image_size[0])
        if misfit := self.calibration.misfit(frame):
            return self._unfit(frame, misfit, clock)
        read = self._read_again(frame, after, is_turned, clock) or self._read_in_full(frame, clock)
        scene = scene_of(read.second, self._teaching, dice)
        second = () if read.second is None else read.second.dice
        seen = gather(read.found, second, self.calibration, self._height_of(frame))
        clock.lap("heights")
        evidence = combine(seen, None if self._teaching is None else self._teaching.height)
        opinion = _opinion(read.quality, evidence, scene)
        clock.lap("verdict")
        is_fit = read.quality.fault is None
        observation = Observation(
            frame.t_capture, read.quality, evidence, opinion, tuple(clock.laps),
            scene if is_fit else None, read.is_confirming,
        )  # fmt: skip
        return Findings(observation, read.found, read.second)

    # ── The stages of a look ────────────────────────────────────────────────

    def _unfit(self, frame: Frame, misfit: str, clock: Stopwatch) -> Findings:
        """What can be said of a frame that is not of this table's size."""
        quality = self._gate.judge(frame.image)
        clock.lap("quality")
        unfit = Unreadable(Reason.WRONG_SIZE, misfit)
        return Findings(
            Observation(frame.t_capture, quality, (), unfit, tuple(clock.laps)), (), None
        )

    def _read_again(
        self, frame: Frame, after: Findings | None, is_turned: bool, clock: Stopwatch
    ) -> _Read | None:
        """What either reader finds where `after` has verified dice; None where it has none, where
        anything in the compartment is new, or where the model misses a die."""
        reader = self._second
        if reader is None or after is None or after.second is None:
            return None
        if after.observation.quality is None or not isinstance(after.observation.opinion, Verified):
            return None
        image = frame.image
        model = self._begin(lambda: self._find_again(image, after.model, is_turned))
        second = reader.read_again(image, after.second)
        clock.lap("second reader")
        if second is None:
            return None
        found = model()
        clock.lap("model")
        if len(found) < len(after.model):
            return None
        # What shows the same is as bright and whole, and its rim is there.
        return _Read(after.observation.quality, found, second, is_confirming=True)

    def _read_in_full(self, frame: Frame, clock: Stopwatch) -> _Read:
        """What either reader finds in a frame of which nothing is known."""
        model = self._begin(lambda: self._find(frame.image))
        quality = self._gate.judge(frame.image)
        clock.lap("quality")
        # What will be refused for its light anyway is not worth the longer way by pips.
        is_fit = quality.fault is None
        second = None if self._second is None else self._second.read(frame.image, is_fit)
        clock.lap("second reader")
        found = model()
        clock.lap("model")
        return _Read(quality, found, second)

    def _height_of(self, frame: Frame) -> HeightOf | None:
        """What measures how high pips lie; None without a teaching or a second lens."""
        left, right, calibration, taught = frame.image, frame.right, self.calibration, self._second
        if right is None or taught is None:
            return None

        def height_of(die: TaughtDie | None, found: FoundDie | None) -> Height:
            pips = None if die is None else die.pips
            if pips is None and found is not None:
                pips = taught.pips_at(found.corners, found.value)
            height = measure_height(left, right, pips, calibration)
            if height.likeness >= LIKENESS:
                return height
            return measure_lean(left, right, pips, calibration)

        return height_of

    # ── Both readers ────────────────────────────────────────────────────────

    def _begin(self, find: Find) -> Find:
        """Have the model look, beside what follows; with one thread, once it is asked."""
        return find if self._beside is None else self._beside.submit(find).result

    def _find(self, image: np.ndarray) -> tuple[FoundDie, ...]:
        moved = (self.view.to_frame(die) for die in self._finder.find(self.view.show(image)))
        possible = [die for die in moved if self._can_be_a_die(die)]
        dice = sorted(self._one_each(possible), key=lambda die: float(die.centre[0]))
        return self._look_near(image, [self._read_close(image, die) for die in dice])

    def _read_close(self, image: np.ndarray, die: FoundDie) -> FoundDie:
        """The die as the model sees it in a window around it. Whether it lies flat, the smaller
        picture, which shows what lies around it, says as well."""
        now = self._seen_close(image, die, _MISPLACED)
        if now is None:
            return die
        # A die looks flatter without its surroundings. The mean errs to the safe side.
        return replace(now, flat_p=probability.mean_of(now.flat_p, die.flat_p))

    def _find_again(
        self, image: np.ndarray, before: Sequence[FoundDie], is_turned: bool
    ) -> tuple[FoundDie, ...]:
        """What the model sees of this frame where it saw dice before, one die at a time."""
        pairs = [(die, self._seen_close(image, die)) for die in before]
        # Their place is proved by the comparison. They look flatter without their surroundings.
        dice = [
            replace(now, corners=die.corners, flat_p=min(now.flat_p, die.flat_p))
            for die, now in pairs
            if now is not None
        ]
        return self._look_near(image, dice, is_turned)

    def _seen_close(
        self, image: np.ndarray, die: FoundDie, within: float = _IN_PLACE
    ) -> FoundDie | None:
        """What the model sees in a window around a die that it saw, in frame pixels; None where it
        sees no die `within` so many edges of the middle. A value that it doubts it sees again in
        the window turned by 90°."""
        window, to_frame = self.view.show_one(image, die)
        found = self._in_the_middle(window, within)
        if found is None:
            return None
        if found.value_p.max() < LIMITS.value_p:
            turned = self._in_the_middle(np.rot90(window), _IN_PLACE)
            if turned is not None:
                value_p = np.sqrt(found.value_p * turned.value_p)  # the mean of their logits
                value = int(value_p.argmax()) + 1
                found = replace(found, value=value, value_p=value_p / value_p.sum())
        # The network counts from a pixel's corner.
        corners = (found.corners - 0.5) @ to_frame[:, :2].T + to_frame[:, 2]
        return replace(found, corners=corners.astype(np.float32), down=to_frame[:, :2] @ found.down)

    def _in_the_middle(self, window: np.ndarray, within: float) -> FoundDie | None:
        """The die that the model sees in the middle of a window, within so much of an edge."""
        for found in self._finder.find(window):
            if np.hypot(*(found.centre - CLOSE_SIDE / 2)) < within * CLOSE_DIE_PX:
                return found
        return None

    def _look_near(
        self, image: np.ndarray, dice: Sequence[FoundDie], is_turned: bool | None = None
    ) -> tuple[FoundDie, ...]:
        """The same with the near look."""
        if self._near is None:
            return tuple(dice)
        corners = [die.corners for die in dice]
        looks = self._near.look(image, corners, self.calibration, is_turned=is_turned)
        return tuple(replace(die, near=look) for die, look in zip(dice, looks, strict=True))

    def _one_each(self, dice: Sequence[FoundDie]) -> list[FoundDie]:
        """Without the sides of dice that lean: two dice cannot be nearer than their own size."""
        nearest = _MIN_BETWEEN_DICE * self.calibration.die_px
        kept: list[FoundDie] = []
        for die in sorted(dice, key=lambda d: -d.score):
            if all(np.hypot(*(die.centre - other.centre)) > nearest for other in kept):
                kept.append(die)
        return kept

    def _can_be_a_die(self, die: FoundDie) -> bool:
        """False for what is no die of this table wherever it lay: in the wall, or of another size
        (a screw, a glint). Dice that stand up or lie on others stay well inside these bounds."""
        size = die.edge_px / self.calibration.die_px
        return _SIZES[0] < size < _SIZES[1] and self.calibration.has_room_at(die.centre)


def _opinion(quality: Quality, dice: tuple[DieEvidence, ...], scene: Scene) -> Verdict:
    """What a frame of this quality says alone."""
    if quality.fault is None:
        return judge(dice, scene)
    if quality.fault is Reason.CAMERA_MOVED and scene.foreground > LIMITS.blocked_dice:
        return blocked(scene)  # a hand's outline was taken for the rim
    return Unreadable(quality.fault, quality.detail)
