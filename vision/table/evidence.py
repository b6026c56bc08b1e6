"""From the findings of both readers in one frame to one piece of evidence per die.

Owns: which findings belong to one die. Must not know the weight of a measurement (`witnesses`), nor
what the evidence proves (`judgement`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from vision.calibration import Calibration
from vision.networks.classifier import FoundDie
from vision.quads import SAME_FACE, match, turn_deg
from vision.reading import DieEvidence, Height, NetworkReading, Scene
from vision.taught import TaughtDie, TaughtReading, Teaching

HeightOf = Callable[[TaughtDie | None, FoundDie | None], Height]
"""The height of a die that the second reader sees, the model, or both."""


def scene_of(second: TaughtReading | None, teaching: Teaching | None, wanted: int | None) -> Scene:
    """What a frame shows beside its dice, and what is known of the table."""
    if second is None or teaching is None:
        return Scene(wanted)
    is_tall = teaching.height is not None
    return Scene(wanted, second.foreground, second.unexplained, is_taught=True, has_heights=is_tall)


def gather(
    found: Sequence[FoundDie],
    seen: Sequence[TaughtDie],
    calibration: Calibration,
    height_of: HeightOf | None = None,
) -> tuple[DieEvidence, ...]:
    """Evidence per die, left to right: those both see, and those that only one sees. `height_of`:
    how high a die's pips lie, if there are two lenses."""
    pairs = match(
        np.array([die.centre for die in found]).reshape(-1, 2),
        np.array([die.corners.mean(axis=0) for die in seen]).reshape(-1, 2),
        np.full(len(found), SAME_FACE * calibration.die_px),
    )
    both: list[tuple[FoundDie | None, TaughtDie | None]] = [
        (die, seen[pairs[i]] if i in pairs else None) for i, die in enumerate(found)
    ]
    both += [(None, die) for j, die in enumerate(seen) if j not in pairs.values()]
    dice = [_evidence(model, second, calibration, height_of) for model, second in both]
    return tuple(sorted(dice, key=lambda die: die.x_mm))


def _evidence(
    model: FoundDie | None,
    second: TaughtDie | None,
    calibration: Calibration,
    height_of: HeightOf | None,
) -> DieEvidence:
    """What is known of one die, which at least one reader sees."""
    either = model or second
    assert either is not None
    corners = np.array(either.corners, np.float64)
    [(x_mm, y_mm)] = calibration.to_mm(corners.mean(axis=0), calibration.die_mm).tolist()
    return DieEvidence(
        corners=tuple((x, y) for x, y in corners.tolist()),
        x_mm=x_mm,
        y_mm=y_mm,
        turn_deg=turn_deg(corners),
        model=None if model is None else _model_vote(model),
        second=None if second is None else second.vote(),
        height=None if height_of is None else height_of(second, model),
    )


def _model_vote(die: FoundDie) -> NetworkReading:
    seen = float(die.value_p.max()), float(die.flat_p), float(die.score)
    if die.near is None:
        return NetworkReading(die.value, *seen)
    return NetworkReading(die.value, *seen, die.near.flat_p, die.near.lean_deg)
