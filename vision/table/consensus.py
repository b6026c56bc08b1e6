"""Many frames to one verdict, or to the reason for none. Pure: no images, no clocks.

Owns: how many frames must agree, on what, and what is said if they do not. Must not know how an
observation was made. The caller must pass only new frames of this toss.

Both readers must state the same values in several frames in a row. How a die lies is judged once,
from the mean of each witness over all frames in which the dice lie still. So six frames with one
glare count as one witness, not as six.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from vision.parameters import LIMITS, Limits
from vision.quads import apart_deg
from vision.reading import (
    DieEvidence,
    NoRoll,
    Observation,
    Reason,
    Unreadable,
    Verdict,
    Verified,
    Witness,
)
from vision.table.judgement import is_flat, judge
from vision.table.motion import SAME_PLACE_MM, SAME_TURN_DEG
from vision.table.witnesses import HEIGHT, LOOKS, said_by

FRAMES = 3
"""Frames in a row that must state the same values. More: each frame costs a thirtieth of a
second. Fewer: an error of one frame (a glint, a burst of noise) may pass; it rarely lasts three."""


_Order = tuple[int | None, ...]
"""Where each die of one observation is in another; None for what only the second reader sees, and
not in every frame: an edge of a neighbour, a shadow."""


@dataclass(frozen=True, slots=True)
class Consensus:
    """A verdict that the last frames carry."""

    verdict: Verdict
    shown_by: Observation
    """The newest of these frames that states the verdict by itself, of the same die where it is a
    no roll, and that was read in full if there is one: the one to keep a picture of, so that a
    replay of that picture states the same."""


def agree(
    observations: Sequence[Observation], frames: int = FRAMES, limits: Limits = LIMITS
) -> Consensus | None:
    """The verdict that the last `frames` observations or more share; None while there is none yet.

    One of these frames at least states the verdict by itself. A frame that is unreadable, but for
    how a die lies, is never part of a verified consensus: the next one may be better.
    """
    still = _still(observations)
    if len(still) < frames:
        return None
    newest = still[-1][0]
    assert newest.scene is not None
    verdict = judge(_averaged(still), newest.scene, limits)
    last = still[-frames:]
    if isinstance(verdict, Unreadable) or not _is_borne_out(verdict, last, limits):
        return None
    alone = [frame for frame, order in last if _states(frame.opinion, verdict, order)]
    if not alone:
        return None
    shown_by = next((frame for frame in reversed(alone) if not frame.is_confirming), alone[-1])
    if isinstance(verdict, Verified):
        readings = [_if_flat(observation, limits) for observation, _ in last]
        sure = [reading.confidence for reading in readings if isinstance(reading, Verified)]
        verdict = replace(verdict, confidence=min(sure))
    return Consensus(verdict, shown_by)


def _states(opinion: Verdict, verdict: Verdict, order: _Order) -> bool:
    """True if a frame, in which the dice are in this order, has this verdict by itself."""
    if isinstance(opinion, NoRoll) and isinstance(verdict, NoRoll):
        return opinion.die == order[verdict.die]
    return isinstance(opinion, Verified) and isinstance(verdict, Verified)


def _still(observations: Sequence[Observation]) -> list[tuple[Observation, _Order]]:
    """The newest observations in which the same dice lie in the same places, oldest first; with
    each, where the dice of the newest one are in it."""
    still: list[tuple[Observation, _Order]] = []
    for observation in reversed(observations):
        order = _same_dice(observations[-1], observation)
        if observation.scene is None or order is None:
            break
        still.append((observation, order))
    return still[::-1]


def _averaged(still: Sequence[tuple[Observation, _Order]]) -> tuple[DieEvidence, ...]:
    """The dice of the newest observation, each with the mean of what each witness says of it."""
    dice = []
    for index, die in enumerate(still[-1][0].dice):
        places = [(observation, order[index]) for observation, order in still]
        seen = [observation.dice[at] for observation, at in places if at is not None]
        rows = zip(*(each.witnesses for each in seen), strict=True)
        means = (
            Witness(row[0].name, sum(witness.odds for witness in row) / len(row)) for row in rows
        )
        dice.append(replace(die, witnesses=tuple(means)))
    return tuple(dice)


def _is_borne_out(
    verdict: Verified | NoRoll, last: Sequence[tuple[Observation, _Order]], limits: Limits
) -> bool:
    """True if each of the last frames has the values of the verdict and none is against it, or if
    the die of a no roll lies flat in none. A frame is against values if it is a no roll by itself,
    or if a die in it `_is_against`: one that topples late fails one frame only, and the mean over
    all hides it."""
    if isinstance(verdict, NoRoll):
        lying = [(frame, order[verdict.die]) for frame, order in last]
        return not any(at is None or _is_flat(frame, at, limits) for frame, at in lying)
    for observation, order in last:
        reading = _if_flat(observation, limits)
        if isinstance(observation.opinion, NoRoll) or not isinstance(reading, Verified):
            return False
        if any(_is_against(observation.dice[at], limits) for at in order if at is not None):
            return False
        if tuple(reading.values[at] for at in order if at is not None) != verdict.values:
            return False
    return True


def _is_flat(observation: Observation, at: int, limits: Limits) -> bool:
    assert observation.scene is not None
    return is_flat(observation.dice[at], observation.scene, limits)


def _is_against(die: DieEvidence, limits: Limits) -> bool:
    """True if the pips do not lie as high as a flat die's, or if it looks as if it leant too much
    for any height."""
    return said_by(die, HEIGHT) < limits.against or said_by(die, LOOKS) < limits.leans


def _if_flat(observation: Observation, limits: Limits) -> Verdict:
    """What a frame says if every die lies flat."""
    assert observation.scene is not None
    return judge(observation.dice, observation.scene, limits, is_lie_granted=True)


def refuse(observations: Sequence[Observation]) -> Unreadable:
    """Why there was no consensus by the deadline: what most frames lacked."""
    if not observations:
        return Unreadable(Reason.NO_FRAMES, "no picture of the dice at rest came")
    opinions = [observation.opinion for observation in observations]
    refusals = [opinion for opinion in opinions if isinstance(opinion, Unreadable)]
    if refusals:
        reason, count = Counter(each.reason for each in refusals).most_common(1)[0]
        if 2 * count >= len(observations):
            return next(each for each in reversed(refusals) if each.reason is reason)
    last = observations[-FRAMES:]
    if len(last) == FRAMES and any(_same_dice(last[0], other) is None for other in last[1:]):
        return Unreadable(Reason.MOVING, "the dice still move")
    said = Counter(map(_name, opinions))
    return Unreadable(
        Reason.NO_CONSENSUS,
        "frames disagree: " + ", ".join(f"{count} × {name}" for name, count in said.most_common(3)),
    )


def _name(opinion: Verdict) -> str:
    if isinstance(opinion, Verified):
        return "-".join(str(value) for value in opinion.values)
    return "no roll" if isinstance(opinion, NoRoll) else opinion.reason.value


def _same_dice(first: Observation, other: Observation) -> _Order | None:
    """Which die of the other frame is each die of the first; None if the model's dice are not the
    same in the same places. Dice are not matched by their order: two at the same x may swap."""
    if _seen(first) != _seen(other):
        return None
    order: list[int | None] = []
    for die in first.dice:
        near = [i for i, there in enumerate(other.dice) if i not in order and _is_near(die, there)]
        if not near and die.model is not None:
            return None
        order.append(min(near, key=lambda i: _gap_mm(die, other.dice[i]), default=None))
    return tuple(order)


def _seen(observation: Observation) -> int:
    return sum(die.model is not None for die in observation.dice)


def _is_near(a: DieEvidence, b: DieEvidence) -> bool:
    if (a.model is None) != (b.model is None):
        return False
    turn = apart_deg(a.turn_deg, b.turn_deg)
    # What does not lie flat has no turn in the plane to speak of.
    is_askew = a.odds < 0 or b.odds < 0
    limit = 3 * SAME_PLACE_MM if is_askew else SAME_PLACE_MM
    return _gap_mm(a, b) < limit and (is_askew or turn < SAME_TURN_DEG)


def _gap_mm(a: DieEvidence, b: DieEvidence) -> float:
    return math.hypot(a.x_mm - b.x_mm, a.y_mm - b.y_mm)
