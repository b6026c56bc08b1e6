"""From the findings of both readers in one frame to one piece of evidence per die.

Owns: which findings belong to one die, and what was measured of this die. Must not know the weight
of a measurement (`witnesses`), nor what the evidence proves (`judgement`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np

from vision.calibration import Calibration
from vision.cube_outlines.reader import SecondDie, SecondReading
from vision.networks.classifier import FoundDie
from vision.quads import match, turn_deg
from vision.reading import DieEvidence, ModelVote, Scene, SecondVote
from vision.table import tilt

_SAME_DIE = 0.45
"""Largest distance between two findings of one die, in edges of a die."""


def scene_of(second: SecondReading, calibration: Calibration, wanted: int | None) -> Scene:
    """What a frame shows beside its dice."""
    return Scene(
        wanted, calibration.die_mm, calibration.die_px,
        second.foreground, second.unexplained, second.unexplained_at_wall,
        calibration.compartment_radius_mm,
    )  # fmt: skip


def gather(
    found: Sequence[FoundDie], second: SecondReading, calibration: Calibration
) -> tuple[DieEvidence, ...]:
    """Evidence per die, left to right: those both see, and those that only one sees."""
    pairs = match(
        np.array([die.centre for die in found]).reshape(-1, 2),
        np.array([die.corners.mean(axis=0) for die in second.dice]).reshape(-1, 2),
        _SAME_DIE * calibration.die_px,
    )
    dice = []
    for i, die in enumerate(found):
        other = second.dice[pairs[i]] if i in pairs else None
        is_there = other is not None or _is_foreground(die, second)
        dice.append(replace(_evidence(die, other, calibration), is_there=is_there))
    alone = set(range(len(second.dice))) - set(pairs.values())
    dice += [_evidence(None, second.dice[j], calibration) for j in sorted(alone)]
    return tuple(sorted(dice, key=lambda die: die.x_mm))


def _evidence(
    found: FoundDie | None, other: SecondDie | None, calibration: Calibration
) -> DieEvidence:
    corners = found.corners if found is not None else other.corners if other else None
    assert corners is not None
    place = calibration.to_mm(np.asarray(corners).mean(axis=0), calibration.die_mm)[0]
    measured = None
    if found is not None:
        lean = tilt.lean_deg(found.corners, found.down, calibration)
        edges = found.corners if found.edges is None else found.edges
        measured = tilt.measure(edges, lean, calibration)
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
        second=None if other is None else _second_vote(other, calibration.die_mm),
        measured=measured,
    )


def _second_vote(die: SecondDie, die_mm: float) -> SecondVote:
    face, fit, sides = die.face, die.fit, die.sides
    x_mm, y_mm = die.middle_mm(die_mm)
    return SecondVote(
        value=face.value,
        confidence=face.confidence,
        note=face.note,
        support=fit.support,
        face_is_strange=face.is_strange,
        oddity=face.oddity,
        sides=sides.evidence,
        directions=sides.axes,
        sides_lean_deg=sides.lean_deg,
        sides_beyond_mm=sides.beyond_mm,
        spread_mm=fit.spread_mm,
        beyond_mm=fit.beyond_mm,
        offset=float(np.hypot(*face.offset)),
        contrast=sides.contrast,
        x_mm=x_mm,
        y_mm=y_mm,
        turn_deg=float(np.degrees(die.pose.turn)),
        floor_mm=sides.floor_mm,
    )


def _is_foreground(die: FoundDie, second: SecondReading) -> bool:
    """True if the second reader, too, sees something where the model sees a die."""
    mask = second.ground.mask
    face = np.zeros_like(mask)
    corners = np.round(second.ground.to_view(die.corners)).astype(np.int32)
    cv2.fillPoly(face, [corners], 255)
    return 2 * cv2.countNonZero(cv2.bitwise_and(face, mask)) > cv2.countNonZero(face)
