"""One frame of a calibrated camera to one observation: quality, both readers, geometry, opinion.

Owns: the order of the steps and what they must say together before a frame may state a value or a
no roll. Must not know cameras, consensus, tosses or `shaker_ctl`.

A frame states a value only if (a) the model and (b) the second reader each see exactly the same
three dice with the same values and (c) every die lies flat: by all measurements of both readers
together (`flatness`), or because each is within its own limit. It states a no roll only if both
readers' sums say so of one die, each by itself, or two cues do that the sums allow: how it looks
(the network's `flat_p`), how its top face measures (`tilt`), whether an upright cube fits its
outline. Everything else is unreadable, with the reason that a person needs.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Protocol

import cv2
import numpy as np

from vision import flatness, tilt
from vision.calibration import Calibration
from vision.classifier import FoundDie
from vision.edges import refine
from vision.frame import Frame
from vision.model_view import ModelView
from vision.parameters import ReadingThresholds
from vision.quality import QualityGate
from vision.reading import (
    DieEvidence,
    Kind,
    Measured,
    ModelVote,
    NoRoll,
    Observation,
    Quality,
    Reason,
    SecondVote,
    Unreadable,
    Verdict,
    Verified,
)
from vision.second_reader.table import SecondDie, SecondReader, SecondReading

_SIZES = (0.66, 1.5)
"""Mean side of a top face, in sides of a flat die's: a glint of the ring light measures 0.3-0.6, a
die on its edge 0.85, one three dice high and at the rim 1.2."""
_NEAREST_DICE = 0.8
"""Least distance between the top faces of two dice, in dice; upright ones keep 1.0."""
_NEAREST_WALL = 0.3
"""Least distance of a die's middle from the wall, in dice; a flat one keeps half an edge."""

_LEAST_DIE_PX = 38.0
"""Edge below which nothing about a die's lie is proved: all limits were found on 41-75 pixels, and
flat dice of 24-32 pixels were called no roll by them."""
_FITS_MM, _FITS_SUPPORT = 0.3, 0.7
_ABOVE = 0.6
"""Dice; a top face so much higher than the middle one of its picture does not lie on the floor."""
_CONTACT_MM = 1.2
"""Gap between two top faces below which dice touch: a network's corners are good to half of it."""
_LEAN_BESIDE_NEIGHBOUR_DEG = 25.0
"""Lean by the network's estimate that a hidden seam does not feign: under smears it gave 8-22."""
_SIDES_BESIDE_NEIGHBOUR_DEG = 10.0
"""The same for the side faces: a smear that ends beside the die widened one by 6°."""
_DOUBTS_OF_CONTACT = (
    Reason.READERS_DISAGREE,
    Reason.NO_LEGAL_FACE,
    Reason.UNKNOWN_STYLE,
    Reason.NOT_FLAT_DOUBTFUL,
    Reason.DOUBTFUL,
)
"""What a neighbour may be the cause of: its edge taken for the die's own, its pips for its own."""


class Finder(Protocol):
    """The first reader: `vision.classifier.DieFinder`, or a deliberately wrong one in tests."""

    def find(self, image: np.ndarray) -> Sequence[FoundDie]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """An observation together with what it was made from, for pictures that explain it."""

    observation: Observation
    model: tuple[FoundDie, ...]
    second: SecondReading | None


class TableReader:
    """Reads the frames of one table. One instance per thread.

    With `threads` = 2 the model runs beside the second reader, which knows nothing of it: a
    reading then takes as long as the slower of the two, with the same result.
    """

    def __init__(
        self,
        finder: Finder,
        calibration: Calibration,
        thresholds: ReadingThresholds | None = None,
        threads: int = 1,
    ) -> None:
        self.calibration = calibration
        self.thresholds = thresholds or ReadingThresholds()
        self._finder = finder
        self._gate = QualityGate(calibration)
        self._second = SecondReader(calibration)
        self.view = ModelView(calibration)
        self._beside = ThreadPoolExecutor(1, "model") if threads > 1 else None

    def read(self, frame: Frame, dice: int | None = 3) -> Observation:
        """All that this frame says. `dice`: how many there must be; None: any number."""
        return self.look(frame, dice).observation

    def look(self, frame: Frame, dice: int | None = 3) -> Seen:
        """Like `read`, with the raw findings beside the observation."""
        clock = Stopwatch()
        quality = self._gate.judge(frame.image)
        clock.lap("quality")
        if quality.fault is Reason.WRONG_SIZE:
            unfit = Unreadable(quality.fault, quality.detail)
            return Seen(observe(frame, quality, (), unfit, clock), (), None)
        # What will be refused for its light anyway is not worth the longer way by pips.
        found, second = self._read_twice(frame.image, quality.fault is None, clock)
        evidence = self._gather(frame.image, found, second)
        if (
            quality.fault is Reason.CAMERA_MOVED
            and second.foreground > self.thresholds.blocked_dice
        ):
            opinion: Verdict = _blocked(second)  # a hand's outline was taken for the rim
        elif quality.fault is not None:
            opinion = Unreadable(quality.fault, quality.detail)
        else:
            opinion = self._judge(evidence, second, dice)
        clock.lap("verdict")
        return Seen(observe(frame, quality, evidence, opinion, clock), found, second)

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
        dice = (die for die in moved if self._can_be_a_die(die))
        return tuple(sorted(self._one_each(list(dice)), key=lambda die: float(die.centre[0])))

    def _one_each(self, dice: Sequence[FoundDie]) -> list[FoundDie]:
        """Without the sides of dice that lean: two dice cannot be nearer than their own size."""
        nearest = _NEAREST_DICE * self.calibration.die_px
        kept: list[FoundDie] = []
        for die in sorted(dice, key=lambda d: -d.score):
            if all(np.hypot(*(die.centre - other.centre)) > nearest for other in kept):
                kept.append(die)
        return kept

    # ── Evidence ────────────────────────────────────────────────────────────

    def _can_be_a_die(self, die: FoundDie) -> bool:
        """False for what is no die of this table wherever it lay: in the wall, or of another size
        (a screw, a glint). Dice that stand up or lie on others stay well inside these bounds."""
        size = die.edge_px / self.calibration.die_px
        if not _SIZES[0] < size < _SIZES[1]:
            return False
        place = self.calibration.to_mm(die.centre, self.calibration.die_mm)[0]
        reach = self.calibration.compartment_radius_mm - _NEAREST_WALL * self.calibration.die_mm
        return float(np.hypot(*place)) < reach

    def _gather(
        self, image: np.ndarray, found: Sequence[FoundDie], second: SecondReading
    ) -> tuple[DieEvidence, ...]:
        """Evidence per die, left to right: those both see, then those that only one sees."""
        pairs = match(
            np.array([die.centre for die in found]).reshape(-1, 2),
            np.array([die.corners.mean(axis=0) for die in second.dice]).reshape(-1, 2),
            0.45 * self.calibration.die_px,
        )
        evidence = []
        for i, die in enumerate(found):
            other = pairs.get(i)
            is_something = other is not None or _is_foreground(die, second)
            evidence.append(
                self._evidence(
                    image, die, None if other is None else second.dice[other], is_something
                )
            )
        alone = set(range(len(second.dice))) - set(pairs.values())
        evidence += [self._evidence(image, None, second.dice[j]) for j in sorted(alone)]
        return tuple(_weighed(sorted(evidence, key=lambda e: e.x_mm)))

    def _evidence(
        self,
        image: np.ndarray,
        found: FoundDie | None,
        other: SecondDie | None,
        is_something: bool = True,
    ) -> DieEvidence:
        corners = found.corners if found is not None else other.corners if other else None
        assert corners is not None
        place = self.calibration.to_mm(np.asarray(corners).mean(axis=0), self.calibration.die_mm)[0]
        measured = None
        if found is not None:
            lean = tilt.lean_deg(found.corners, found.down, self.calibration)
            measured = tilt.measure(refine(image, found.corners)[0], lean, self.calibration)
        vote = None if other is None else self._second_vote(other)
        cues = self._not_flat_cues(found, measured, vote, is_something)
        return DieEvidence(
            corners=tuple((float(x), float(y)) for x, y in corners),
            x_mm=float(place[0]),
            y_mm=float(place[1]),
            turn_deg=turn_deg(np.asarray(corners)),
            model=None
            if found is None
            else ModelVote(
                found.value, float(found.value_p.max()), float(found.flat_p), float(found.score)
            ),
            second=vote,
            measured=measured,
            not_flat=cues,
            kind=_kind(measured) if cues else None,
        )

    def _second_vote(self, die: SecondDie) -> SecondVote:
        t = self.thresholds
        face, fit = die.face, die.fit
        off = float(np.hypot(*face.offset))
        is_well_seen = fit.support >= t.well_supported
        off_flat = t.offset_flat if is_well_seen else t.offset_flat_hidden
        off_not_flat = t.offset_not_flat if is_well_seen else t.offset_not_flat_hidden
        is_off_outline = (
            fit.spread_mm > t.spread_not_flat_mm or fit.beyond_mm > t.beyond_not_flat_mm
        )
        is_off_middle = face.value is not None and off > off_not_flat
        sides = die.sides
        is_like_floor = sides.axes > 0 and sides.contrast < t.sides_contrast
        is_sure = sides.axes == 2 and sides.evidence >= t.sides_sure and not is_like_floor
        leans = sides.evidence < t.sides_not_flat and sides.beyond_mm > t.sides_beyond_mm
        is_flat: bool | None = None
        if is_sure:
            is_flat = True  # the outline was fitted beside the die, or a shadow taken for it
        elif is_off_outline or is_off_middle or leans:
            is_flat = False
        elif (
            fit.spread_mm < t.spread_flat_mm
            and fit.beyond_mm < t.beyond_flat_mm
            and (face.value is None or off < off_flat)
        ):
            is_flat = True
        note = face.note or (
            f"side faces show a lean of {sides.lean_deg:.0f}°"
            if leans
            else f"outline ± {fit.spread_mm:.2f} mm, reaches {fit.beyond_mm:.1f} mm beyond, "
            f"pips {off:.3f} off"
        )
        strain = (
            (off / off_flat) ** 2
            + (fit.spread_mm / t.spread_flat_mm) ** 2
            + (max(0.0, fit.beyond_mm - t.beyond_usual_mm) / t.beyond_usual_mm) ** 2
        )
        return SecondVote(
            value=face.value,
            confidence=face.confidence,
            is_flat=is_flat,
            note=note,
            strain=strain,
            support=fit.support,
            walled_mm=fit.walled_mm,
            has_two_cues=bool(is_off_outline and is_off_middle and sides.evidence < t.sides_flat),
            face_is_strange=face.is_strange,
            sides=sides.evidence,
            directions=sides.axes,
            is_like_floor=is_like_floor,
            is_sure_of_flat=is_sure,
            sides_lean_deg=sides.lean_deg if leans else 0.0,
            spread_mm=fit.spread_mm,
            beyond_mm=fit.beyond_mm,
            offset=off,
            contrast=sides.contrast,
        )

    def _not_flat_cues(
        self,
        found: FoundDie | None,
        measured: Measured | None,
        vote: SecondVote | None,
        is_something: bool,
    ) -> tuple[str, ...]:
        """The cues against flat: all that are clear, and with a clear one also the faint ones.

        A faint cue proves nothing alone. That two kinds of evidence, whose errors have nothing in
        common, point the same way by chance is what the second cue rules out.
        """
        clear, faint = [], []
        t = self.thresholds
        leans = vote is not None and vote.sides_lean_deg > 0
        if found is not None and found.flat_p < t.not_flat_p:
            clear.append(f"looks not flat ({found.flat_p:.2f})")
        elif found is not None and leans and found.flat_p < t.looks_beside_sides:
            faint.append(f"looks hardly flat ({found.flat_p:.2f})")
        if measured is not None:
            words = (
                f"top face: lean {measured.lean_deg:.0f}°, layer {measured.layer:.1f}, "
                f"skew {measured.skew:.2f}"
            )
            is_coarse = vote is not None and vote.is_sure_of_flat
            if tilt.is_flat(measured, t.lean_sure_deg if is_coarse else None) is False:
                clear.append(words)
            elif measured.lean_deg > (t.lean_beside_sides_deg if leans else tilt.LEAN_FAINT_DEG):
                faint.append(words)
        if vote is not None and vote.is_flat is not True:
            (clear if vote.is_flat is False else faint).append(f"outline: {vote.note}")
            if vote.has_two_cues:
                clear.append("pips not in the middle of the outline")
        elif vote is not None and vote.walled_mm > t.beyond_not_flat_mm:
            # A ridge or a rib beside a flat die looks the same: never a cue of its own.
            faint.append(f"outline: {vote.walled_mm:.1f} mm of something up to the wall")
        elif vote is None and found is not None and is_something:
            clear.append("no upright die fits the outline")
        is_strained = self._strain(measured, vote) > t.strain_not_flat
        return tuple(clear + faint) if clear or (len(faint) > 1 and is_strained) else ()

    def _strain(self, measured: Measured | None, vote: SecondVote | None) -> float:
        """All that is slightly wrong with a flat die together, in squares of the usual limits."""
        lean = measured.lean_deg / tilt.LEAN_SCALE_DEG if measured is not None else 0.0
        return lean**2 + (vote.strain if vote is not None else 0.0)

    # ── Opinion ─────────────────────────────────────────────────────────────

    def _judge(
        self, dice: Sequence[DieEvidence], second: SecondReading, wanted: int | None
    ) -> Verdict:
        t = self.thresholds
        if second.foreground > t.blocked_dice:
            return _blocked(second)
        seen = [die for die in dice if die.model is not None]
        if wanted is not None and len(seen) > wanted:
            read = [die for die in seen if die.second is not None and die.second.value is not None]
            if len(read) == wanted:
                return Unreadable(Reason.FOREIGN_OBJECT, "a thing that the model takes for a die")
            return Unreadable(Reason.COUNT, f"{len(seen)} dice")
        lying = [(i, die) for i, die in enumerate(dice) if self._is_proved_not_flat(die, dice)]
        if lying:
            index, die = max(lying, key=lambda pair: _lean(pair[1]))
            return NoRoll(index, die.kind or Kind.TILTED, _lean(die), _cues(die))
        strange = [die for die in dice if die.second is not None and die.second.face_is_strange]
        # A smeared seam makes two faces strange that touch: a style is what a free one shows too.
        is_style = not all(self._touches(die, dice) for die in strange)
        is_foreign_to_model = not seen and len(dice) > 1 and bool(strange)
        if is_foreign_to_model or (is_style and len(strange) > 1 and len(strange) > len(dice) // 2):
            note = strange[0].second.note if strange[0].second is not None else ""
            return Unreadable(
                Reason.UNKNOWN_STYLE, f"{len(strange)} faces of an unknown kind: {note}"
            )
        if wanted is not None and len(seen) < wanted == len(dice):
            missed = next(die for die in dice if die.model is None)
            if self._touches(missed, dice):
                return Unreadable(Reason.TOUCHING, "the model misses a die beside another")
        if wanted is not None and len(seen) != wanted:
            return Unreadable(Reason.COUNT, f"{len(seen)} dice, all at floor height")
        if not seen:
            return Unreadable(Reason.COUNT, "no dice")
        doubts = [
            (self._touches(die, dice), number, die, doubt)
            for number, die in enumerate(dice, 1)
            if (doubt := self._doubt(die)) is not None
        ]
        if doubts:
            # A die that lies free says more plainly what is wrong than one beside another.
            touches, number, die, doubt = min(doubts, key=lambda found: found[:2])
            detail = f"die {number} from the left: {doubt.detail}"
            is_there = die.second is not None or bool(die.not_flat)
            is_plain = doubt.reason is Reason.NO_LEGAL_FACE and _fits_well(die.second)
            if doubt.reason in _DOUBTS_OF_CONTACT and is_there and touches and not is_plain:
                return Unreadable(Reason.TOUCHING, f"{detail}; it touches its neighbour")
            return Unreadable(doubt.reason, detail)
        is_free = second.unexplained > t.foreign_dice
        if is_free or second.unexplained_at_wall > t.foreign_at_wall_dice:
            size = second.unexplained if is_free else second.unexplained_at_wall
            return Unreadable(
                Reason.FOREIGN_OBJECT, f"something beside the dice, {size:.2f} of a die large"
            )
        confidence = min(
            min(die.model.value_p, die.model.flat_p, die.model.score, die.second.confidence)
            for die in dice
            if die.model and die.second
        )
        return Verified(tuple(die.model.value for die in dice if die.model), confidence)

    def _touches(self, die: DieEvidence, dice: Sequence[DieEvidence]) -> bool:
        """True if another top face is nearer than `_CONTACT_MM`."""
        nearest = _CONTACT_MM * self.calibration.px_per_mm(self.calibration.die_mm)
        return any(
            gap_px(die.corners, other.corners) < nearest for other in dice if other is not die
        )

    def _is_proved_not_flat(self, die: DieEvidence, dice: Sequence[DieEvidence]) -> bool:
        """True if the network and the second reader both say that it does not lie flat: each by a
        cue of its own, or by all that it measured together.

        An outline that was fitted amiss gives several cues at once: where the sums say otherwise,
        cues prove nothing.
        """
        if die.model is None or self.calibration.die_px < _LEAST_DIE_PX:
            return False
        if self._is_no_proof(die, dice):
            return False
        by_sums = flatness.is_not_flat(die.network_odds, die.outline_odds)
        if by_sums and not self._touches(die, dice):  # a hidden seam spoils both sums
            return True
        return (
            len(die.not_flat) >= 2
            and not self._is_weighed_flat(die)
            and (
                die.second is None
                or die.kind is Kind.STACKED  # of height, the outline knows nothing
                or flatness.allows_cues(die.network_odds, die.outline_odds)
            )
        )

    def _is_no_proof(self, die: DieEvidence, dice: Sequence[DieEvidence]) -> bool:
        """True where the cues against flat are not enough for a no roll all the same.

        If the second reader finds an upright die there, the cues all come from the network, but for
        the height of the top face: of that an outline says nothing. Where
        dice touch and the seam between them is hidden, looks, lean and outline suffer together:
        then only what a seam cannot feign is a proof.
        """
        second = die.second
        if second is not None and second.is_flat is True:
            return die.measured is None or die.measured.layer < tilt.LAYER_STACKED
        if not self._touches(die, dice):
            return False
        if second is None:
            return die.measured is None or tilt.is_flat(die.measured) is not False
        if second.sides_lean_deg > _SIDES_BESIDE_NEIGHBOUR_DEG or second.has_two_cues:
            return False
        return die.measured is None or (
            die.measured.lean_deg < _LEAN_BESIDE_NEIGHBOUR_DEG
            and die.measured.layer < tilt.LAYER_STACKED
        )

    def _doubt(self, die: DieEvidence) -> Unreadable | None:
        """Why this die's value cannot be stated, if it cannot."""
        t = self.thresholds
        if die.model is None:
            if die.second is not None and die.second.value is None:
                return Unreadable(Reason.FOREIGN_OBJECT, "a thing of a die's size that is no die")
            return Unreadable(Reason.READERS_DISAGREE, "only the second reader sees a die")
        is_weighed_flat = self._is_weighed_flat(die)
        if die.not_flat and not is_weighed_flat:
            lean = die.measured.lean_deg if die.measured is not None else 0.0
            return Unreadable(
                Reason.NOT_FLAT_DOUBTFUL,
                f"only one cue says so: {die.not_flat[0]}; looks {die.model.flat_p:.2f}, "
                f"lean {lean:.0f}°",
            )
        if die.second is None:
            return Unreadable(Reason.READERS_DISAGREE, "only the model sees a die")
        if die.second.value is None:
            if die.second.face_is_strange:
                return Unreadable(Reason.UNKNOWN_STYLE, die.second.note)
            return Unreadable(Reason.NO_LEGAL_FACE, die.second.note)
        if die.second.value != die.model.value:
            return Unreadable(
                Reason.READERS_DISAGREE,
                f"the model reads {die.model.value}, the second reader {die.second.value}",
            )
        is_within_limits = (
            self._lies_flat(die.model, die.second, die.measured)
            and die.network_odds + die.outline_odds > flatness.LIMITS_SUM
        )
        if not is_weighed_flat and not is_within_limits:
            lean = die.measured.lean_deg if die.measured is not None else 0.0
            return Unreadable(
                Reason.NOT_FLAT_DOUBTFUL,
                f"flat is not certain: looks {die.model.flat_p:.2f}, lean {lean:.0f}°, "
                f"side faces {die.second.sides:.1f} for it, {die.second.note}; log-odds of flat "
                f"{die.network_odds:+.1f} by the network, {die.outline_odds:+.1f} by the outline",
            )
        if die.model.value_p < t.value_p or die.model.score < t.score:
            return Unreadable(
                Reason.DOUBTFUL,
                f"the model is {die.model.value_p:.2f} sure of {die.model.value}",
            )
        if die.second.confidence < t.pip_confidence:
            return Unreadable(
                Reason.DOUBTFUL, f"pips stand out by {die.second.confidence:.2f} only"
            )
        return None

    def _is_weighed_flat(self, die: DieEvidence) -> bool:
        """True if all that was measured together says flat, and the network by itself does not say
        the contrary: its cue alone is reason to doubt."""
        model, second, measured = die.model, die.second, die.measured
        return (
            model is not None
            and second is not None
            and second.value is not None
            and measured is not None
            and model.flat_p >= self.thresholds.not_flat_p
            and measured.lean_deg < tilt.LEAN_NOT_FLAT_DEG
            and measured.above < _ABOVE
            and flatness.is_flat(die.network_odds, die.outline_odds)
        )

    def _lies_flat(self, model: ModelVote, second: SecondVote, measured: Measured | None) -> bool:
        """True if looks, geometry, outline and side faces all allow no other answer."""
        t = self.thresholds
        if measured is None or model.flat_p < t.flat_p or second.sides < t.sides_flat:
            return False
        if second.is_sure_of_flat:
            return tilt.is_flat(measured, t.lean_sure_deg) is True
        if second.is_flat is not True or tilt.is_flat(measured) is not True:
            return False
        is_well_seen = second.support >= t.well_supported
        lean = t.lean_unsure_deg
        strain = t.strain_flat if is_well_seen else t.strain_flat_hidden
        if second.directions == 0 or (second.directions == 1 and second.is_like_floor):
            return False
        if second.directions == 1:
            lean, strain = t.lean_unseen_deg, t.strain_unseen
        elif second.is_like_floor:
            lean = t.lean_like_floor_deg
        return measured.lean_deg < lean and self._strain(measured, second) < strain


def match(a: np.ndarray, b: np.ndarray, within: float) -> dict[int, int]:
    """Pairs of points (N, 2) and (M, 2) nearest to each other first, each used once."""
    pairs: dict[int, int] = {}
    if not len(a) or not len(b):
        return pairs
    away = np.linalg.norm(a[:, None] - b[None], axis=2)
    for flat in np.argsort(away, axis=None):
        i, j = divmod(int(flat), len(b))
        if away[i, j] > within:
            break
        if i not in pairs and j not in pairs.values():
            pairs[i] = j
    return pairs


def turn_deg(corners: np.ndarray) -> float:
    """Orientation of a square, 0..90 degrees, clockwise in the picture."""
    edges = np.roll(corners, -1, axis=0) - corners
    angles = np.arctan2(edges[:, 1], edges[:, 0])
    return float(np.degrees(np.angle(np.exp(4j * angles).mean()) / 4) % 90)


def gap_px(a: Sequence[tuple[float, float]], b: Sequence[tuple[float, float]]) -> float:
    """Least distance between two quadrilaterals, pixels; 0 where they overlap."""
    first, second = np.asarray(a, np.float32), np.asarray(b, np.float32)
    gaps = [
        -cv2.pointPolygonTest(ring, (float(x), float(y)), True)
        for ring, points in ((first, second), (second, first))
        for x, y in points
    ]
    return max(0.0, float(min(gaps)))


def _weighed(dice: Sequence[DieEvidence]) -> list[DieEvidence]:
    """The dice of a picture, each with both readers' sums for and against flat."""
    heights = sorted(die.measured.layer for die in dice if die.measured is not None)
    usual = heights[(len(heights) - 1) // 2] if heights else 0.0
    weighed = []
    for die in dice:
        network = outline = 0.0
        measured = die.measured
        if measured is not None and die.model is not None:
            measured = replace(measured, above=measured.layer - usual)
            network = flatness.NETWORK.sum(flatness.network_features(die.model, measured))
        if die.second is not None and die.second.value is not None:
            # Without a value there is no die to the second reader whose lie it could judge.
            outline = flatness.OUTLINE.sum(flatness.outline_features(die.second))
        weighed.append(replace(die, measured=measured, network_odds=network, outline_odds=outline))
    return weighed


def _blocked(second: SecondReading) -> Unreadable:
    return Unreadable(
        Reason.BLOCKED, f"{second.foreground:.1f} dice' worth of something covers the floor"
    )


def _is_foreground(die: FoundDie, second: SecondReading) -> bool:
    """True if the second reader, too, sees something where the model sees a die."""
    mask = second.ground.mask
    face = np.zeros_like(mask)
    corners = np.round(second.ground.to_view(die.corners)).astype(np.int32)
    cv2.fillPoly(face, [corners], 1)
    return bool(mask[face > 0].any()) and float((mask[face > 0] > 0).mean()) > 0.5


def _cues(die: DieEvidence) -> tuple[str, ...]:
    """What speaks against flat, in words; never less than what both readers' sums are."""
    sums = (
        f"log-odds of flat by the network {die.network_odds:+.1f}",
        f"log-odds of flat by the outline {die.outline_odds:+.1f}",
    )
    return die.not_flat if len(die.not_flat) >= 2 else (*die.not_flat, *sums)


def _fits_well(vote: SecondVote | None) -> bool:
    """True if an upright cube has this outline wherever it was seen: then a neighbour spoils
    nothing of what is inside it."""
    return vote is not None and vote.spread_mm < _FITS_MM and vote.support > _FITS_SUPPORT


def _kind(measured: Measured | None) -> Kind:
    if measured is not None and measured.layer > tilt.LAYER_STACKED:
        return Kind.STACKED
    return Kind.TILTED


def _lean(die: DieEvidence) -> float:
    """By the side faces where they prove one: they err by half a degree, the network by three."""
    if die.second is not None and die.second.sides_lean_deg > 0:
        return die.second.sides_lean_deg
    return die.measured.lean_deg if die.measured is not None else 0.0


def observe(
    frame: Frame,
    quality: Quality | None,
    dice: tuple[DieEvidence, ...],
    opinion: Verdict,
    clock: Stopwatch,
) -> Observation:
    """The parts of an observation in one."""
    return Observation(frame.sequence, frame.t_capture, quality, dice, opinion, tuple(clock.laps))


class Stopwatch:
    """What each step took."""

    def __init__(self) -> None:
        self.laps: list[tuple[str, float]] = []
        self._at = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps.append((name, (now - self._at) * 1e3))
        self._at = now
