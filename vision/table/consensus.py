"""Many frames to one verdict, or to the reason for none. Pure: no images, no clocks.

Owns: how many frames must agree, in what, and what is said when they do not. Must not know how an
observation was made. Frames must be of this toss and new: whoever feeds them sees to that.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from vision.reading import DieEvidence, NoRoll, Observation, Reason, Unreadable, Verdict, Verified

FRAMES = 3
"""Frames in a row that must say the same. Each costs a thirtieth of a second; errors of one
frame (a glint, a burst of noise) seldom last for three."""

STILL_MM = 0.7
STILL_DEG = 2.5
"""How far the pose of a resting die may scatter within a consensus: three times the measured
scatter. More is a die that still moves, however slowly."""


@dataclass(frozen=True, slots=True)
class Consensus:
    """A verdict with the frames that carry it."""

    verdict: Verdict
    frames: tuple[Observation, ...]


def agree(observations: Sequence[Observation], frames: int = FRAMES) -> Consensus | None:
    """The verdict that the last `frames` observations share; None while there is none yet.

    An unreadable frame is never a consensus: the next one may be better.
    """
    if len(observations) < frames:
        return None
    last = tuple(observations[-frames:])
    opinions = [observation.opinion for observation in last]
    if any(isinstance(opinion, Unreadable) for opinion in opinions):
        return None
    orders = [_same_dice(last[0], other) for other in last]
    if any(order is None for order in orders):
        return None
    first = opinions[0]
    if isinstance(first, Verified):
        for opinion, order in zip(opinions, orders, strict=True):
            assert order is not None
            if not isinstance(opinion, Verified) or len(opinion.values) != len(order):
                return None
            if tuple(opinion.values[i] for i in order) != first.values:
                return None
        confidence = min(o.confidence for o in opinions if isinstance(o, Verified))
        return Consensus(Verified(first.values, confidence), last)
    rolls = [opinion for opinion in opinions if isinstance(opinion, NoRoll)]
    if len(rolls) < frames:
        return None
    dice = {
        order.index(roll.die)
        for roll, order in zip(rolls, orders, strict=True)
        if order is not None and roll.die < len(order)
    }
    if len(dice) != 1:
        return None
    kind = Counter(roll.kind for roll in rolls).most_common(1)[0][0]
    angle = sorted(roll.angle_deg for roll in rolls)[frames // 2]
    return Consensus(NoRoll(dice.pop(), kind, angle, rolls[-1].cues), last)


def refuse(observations: Sequence[Observation]) -> Unreadable:
    """Why there was no consensus by the deadline: what most frames lacked."""
    if not observations:
        return Unreadable(Reason.NO_FRAMES, "no picture of the dice at rest came")
    reasons = Counter(
        observation.opinion.reason
        for observation in observations
        if isinstance(observation.opinion, Unreadable)
    )
    if reasons:
        reason, count = reasons.most_common(1)[0]
        if 2 * count >= len(observations):
            detail = next(
                observation.opinion.detail
                for observation in reversed(observations)
                if isinstance(observation.opinion, Unreadable)
                and observation.opinion.reason is reason
            )
            return Unreadable(reason, detail)
    if len(observations) >= FRAMES and not _lie_still(observations[-FRAMES:]):
        return Unreadable(Reason.MOVING, "the dice still move")
    said = Counter(_name(observation.opinion) for observation in observations)
    return Unreadable(
        Reason.NO_CONSENSUS,
        "frames disagree: " + ", ".join(f"{count} × {name}" for name, count in said.most_common(3)),
    )


def _name(opinion: Verdict) -> str:
    if isinstance(opinion, Verified):
        return "-".join(str(value) for value in opinion.values)
    return "no roll" if isinstance(opinion, NoRoll) else opinion.reason.value


def _lie_still(observations: Sequence[Observation]) -> bool:
    return all(_same_dice(observations[0], other) is not None for other in observations[1:])


def _same_dice(first: Observation, other: Observation) -> tuple[int, ...] | None:
    """Which die of the other frame is each die of the first; None if they are not the same dice
    in the same places. Dice are not matched by their order: two at the same x may swap."""
    if len(first.dice) != len(other.dice):
        return None
    order: list[int] = []
    for die in first.dice:
        near = [i for i, there in enumerate(other.dice) if i not in order and _is_near(die, there)]
        if not near:
            return None
        order.append(min(near, key=lambda i: _gap_mm(die, other.dice[i])))
    return tuple(order)


def _is_near(a: DieEvidence, b: DieEvidence) -> bool:
    turn = abs((a.turn_deg - b.turn_deg + 45.0) % 90.0 - 45.0)
    # What does not lie flat has no turn in the plane to speak of.
    is_flat = not a.not_flat and not b.not_flat
    limit = STILL_MM if is_flat else 3 * STILL_MM
    return _gap_mm(a, b) < limit and (not is_flat or turn < STILL_DEG)


def _gap_mm(a: DieEvidence, b: DieEvidence) -> float:
    return math.hypot(a.x_mm - b.x_mm, a.y_mm - b.y_mm)
