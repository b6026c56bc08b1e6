"""From the findings of both readers in one frame to one piece of evidence per die.

Owns: which findings belong to one die, and what was measured of this die. Must not know the weight
of a measurement (`witnesses`), nor what the evidence proves (`judgement`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from vision.calibration import Calibration
from vision.cube_outlines.reader import SecondDie, SecondReading
from vision.networks.classifier import FoundDie
from vision.quads import SAME_FACE, match, turn_deg
from vision.reading import DieEvidence, Height, NetworkReading, Scene
from vision.table import tilt
from vision.taught import TaughtDie, TaughtReading

HeightOf = Callable[[SecondDie | TaughtDie | None, FoundDie | None], Height]
"""The height of a die that the second reader sees, the model, or both."""


def scene_of(
    second: SecondReading | TaughtReading, calibration: Calibration, wanted: int | None
) -> Scene:
    """What a frame shows beside its dice."""
    return Scene(
        wanted, calibration.die_mm, calibration.die_px,
        second.foreground, second.unexplained, second.unexplained_at_wall,
        calibration.compartment_radius_mm, isinstance(second, TaughtReading),
    )  # fmt: skip


def gather(
    found: Sequence[FoundDie],
    second: SecondReading | TaughtReading,
    calibration: Calibration,
    height_of: HeightOf | None = None,
) -> tuple[DieEvidence, ...]:
    """Evidence per die, left to right: those both see, and those that only one sees. `height_of`:
    how high a die's pips lie, if there are two lenses."""
    pairs = match(
        np.array([die.centre for die in found]).reshape(-1, 2),
        np.array([die.corners.mean(axis=0) for die in second.dice]).reshape(-1, 2),
        np.full(len(found), SAME_FACE * calibration.die_px),
    )
    alone = [j for j in range(len(second.dice)) if j not in pairs.values()]
    if not found and not alone:
        return ()
    tops = [*(die.corners for die in found), *(second.dice[j].corners for j in alone)]
    corners = np.array(tops, np.float64)
    places = calibration.to_mm(corners.mean(axis=1), calibration.die_mm)
    measured = tilt.measure(
        corners[: len(found)],
        np.array([die.down for die in found], np.float64).reshape(-1, 2),
        np.array([die.corners if die.edges is None else die.edges for die in found]),
        places[: len(found)],
        calibration,
    )
    of_second = [*map(pairs.get, range(len(found))), *alone]
    dice = []
    for i, (j, top, (x_mm, y_mm)) in enumerate(
        zip(of_second, corners.tolist(), places.tolist(), strict=True)
    ):
        is_found = i < len(found)
        known = None if j is None else second.dice[j]
        die = DieEvidence(
            corners=tuple((x, y) for x, y in top),
            x_mm=x_mm,
            y_mm=y_mm,
            turn_deg=turn_deg(np.array(top)),
            model=_model_vote(found[i]) if is_found else None,
            second=None if known is None else known.vote(calibration.die_mm),
            measured=measured[i] if is_found else None,
            height=None if height_of is None else height_of(known, found[i] if is_found else None),
        )
        dice.append(die)
    return tuple(sorted(dice, key=lambda die: die.x_mm))


def _model_vote(die: FoundDie) -> NetworkReading:
    seen = float(die.value_p.max()), float(die.flat_p), float(die.score)
    if die.near is None:
        return NetworkReading(die.value, *seen)
    return NetworkReading(die.value, *seen, die.near.flat_p, die.near.lean_deg)
