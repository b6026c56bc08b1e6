"""What both readers found in one frame to one piece of evidence per die.

Owns: which findings are of one die, what the second reader thinks of how it lies, the cues against
flat, and both sums. Must not know what the evidence is enough for: that is `opinion`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np

from vision.calibration import Calibration
from vision.cube_outlines.reader import SecondDie, SecondReading
from vision.networks.classifier import FoundDie
from vision.parameters import ReadingThresholds
from vision.quads import match, turn_deg
from vision.reading import DieEvidence, Kind, Measured, ModelVote, SecondVote
from vision.table import flatness, tilt

_SAME_DIE = 0.45
"""Farthest that two findings of one die are apart, in dice."""


class Gatherer:
    """Evidence of the frames of one table."""

    def __init__(self, calibration: Calibration, thresholds: ReadingThresholds) -> None:
        self._calibration, self._thresholds = calibration, thresholds

    def gather(self, found: Sequence[FoundDie], second: SecondReading) -> tuple[DieEvidence, ...]:
        """Evidence per die, left to right: those both see, then those that only one sees."""
        pairs = match(
            np.array([die.centre for die in found]).reshape(-1, 2),
            np.array([die.corners.mean(axis=0) for die in second.dice]).reshape(-1, 2),
            _SAME_DIE * self._calibration.die_px,
        )
        evidence = []
        for i, die in enumerate(found):
            other = pairs.get(i)
            is_something = other is not None or _is_foreground(die, second)
            evidence.append(
                self._evidence(die, None if other is None else second.dice[other], is_something)
            )
        alone = set(range(len(second.dice))) - set(pairs.values())
        evidence += [self._evidence(None, second.dice[j]) for j in sorted(alone)]
        return tuple(_weighed(sorted(evidence, key=lambda e: e.x_mm)))

    def _evidence(
        self,
        found: FoundDie | None,
        other: SecondDie | None,
        is_something: bool = True,
    ) -> DieEvidence:
        corners = found.corners if found is not None else other.corners if other else None
        assert corners is not None
        place = self._calibration.to_mm(np.asarray(corners).mean(axis=0), self._calibration.die_mm)[
            0
        ]
        measured = None
        if found is not None:
            lean = tilt.lean_deg(found.corners, found.down, self._calibration)
            edges = found.corners if found.edges is None else found.edges
            measured = tilt.measure(edges, lean, self._calibration)
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
                found.value,
                float(found.value_p.max()),
                float(found.flat_p),
                float(found.score),
                None if found.near is None else found.near.flat_p,
                None if found.near is None else found.near.lean_deg,
            ),
            second=vote,
            measured=measured,
            not_flat=cues,
            kind=_kind(measured) if cues else None,
        )

    def _second_vote(self, die: SecondDie) -> SecondVote:
        t = self._thresholds
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
        t = self._thresholds
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
            if tilt.is_not_flat(measured, t.lean_sure_deg if is_coarse else tilt.LEAN_NOT_FLAT_DEG):
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
        is_strained = total_strain(measured, vote) > t.strain_not_flat
        return tuple(clear + faint) if clear or (len(faint) > 1 and is_strained) else ()


def total_strain(measured: Measured | None, vote: SecondVote | None) -> float:
    """All that is slightly wrong with a flat die together, in squares of the usual limits."""
    lean = measured.lean_deg / tilt.LEAN_SCALE_DEG if measured is not None else 0.0
    return lean**2 + (vote.strain if vote is not None else 0.0)


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
            outline = flatness.outline_odds(die.second)
        weighed.append(replace(die, measured=measured, network_odds=network, outline_odds=outline))
    return weighed


def _is_foreground(die: FoundDie, second: SecondReading) -> bool:
    """True if the second reader, too, sees something where the model sees a die."""
    mask = second.ground.mask
    face = np.zeros_like(mask)
    corners = np.round(second.ground.to_view(die.corners)).astype(np.int32)
    cv2.fillPoly(face, [corners], 1)
    return bool(mask[face > 0].any()) and float((mask[face > 0] > 0).mean()) > 0.5


def _kind(measured: Measured | None) -> Kind:
    if measured is not None and measured.layer > tilt.LAYER_STACKED:
        return Kind.STACKED
    return Kind.TILTED
