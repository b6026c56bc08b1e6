"""Dice laid out by rule: scattered, touching, cocked against a neighbour, stacked.

Owns: poses for the fast rasteriser, where variety matters more than mechanics. Must not know:
looks, cameras. Poses from real tosses come from `tosses.py`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from models.training.layout import LEFT_HANDED, RIGHT_HANDED, Die

_UPRIGHT = [
    np.array(rows, np.float64)
    for rows in (
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[1, 0, 0], [0, -1, 0], [0, 0, -1]],
        [[0, 0, 1], [0, 1, 0], [-1, 0, 0]],
        [[0, 0, -1], [0, 1, 0], [1, 0, 0]],
        [[1, 0, 0], [0, 0, -1], [0, 1, 0]],
        [[1, 0, 0], [0, 0, 1], [0, -1, 0]],
    )
]
"""Six rotations, each with another face up."""


def turn_z(angle: float) -> np.ndarray:
    """Rotation about the vertical, radians."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])


def tilt_about(direction: float, angle: float) -> np.ndarray:
    """Rotation by `angle` about the horizontal axis that points to `direction`, radians."""
    x, y = np.cos(direction), np.sin(direction)
    c, s = np.cos(angle), np.sin(angle)
    k = np.array([[0, 0, y], [0, 0, -x], [-y, x, 0]])
    return np.eye(3) + s * k + (1 - c) * k @ k


def flat_die(rng: np.random.Generator, edge: float, values: tuple[int, ...]) -> Die:
    """A die at the origin with a random face up and a random turn."""
    rotation = turn_z(rng.uniform(0, 2 * np.pi)) @ _UPRIGHT[rng.integers(6)]
    return Die(np.array([0, 0, edge / 2]), rotation, edge, values)


def numbering(rng: np.random.Generator) -> tuple[int, ...]:
    """One of the two mirror-image ways to number a die."""
    return RIGHT_HANDED if rng.random() < 0.5 else LEFT_HANDED


def leaning(rng: np.random.Generator, die: Die, degrees: float) -> Die:
    """A copy of a flat die that stands, so many degrees off level, on one edge or, sometimes, on a
    corner."""
    axis = 1 if abs(die.rotation[2, 0]) > 0.5 else 0  # of a side face
    heading = np.arctan2(die.rotation[1, axis], die.rotation[0, axis])
    heading += np.pi / 2 * rng.integers(4)
    if rng.random() < 0.27:
        heading = rng.uniform(0, 2 * np.pi)
    turned = tilt_about(float(heading), np.radians(degrees)) @ die.rotation
    copy = Die(die.centre.copy(), turned, die.edge, die.values)
    copy.centre[2] -= copy.corners()[:, 2].min()
    return copy


def overlap(one: Die, other: Die, gap: float = 0.0) -> bool:
    """Whether the cubes come nearer than `gap` along every one of the 15 separating axes."""
    axes = [*one.rotation.T, *other.rotation.T]
    axes += [np.cross(a, b) for a in one.rotation.T for b in other.rotation.T]
    first, second = one.corners(), other.corners()
    for axis in axes:
        length = np.linalg.norm(axis)
        if length < 1e-6:
            continue
        p, q = first @ (axis / length), second @ (axis / length)
        if p.min() > q.max() + gap or q.min() > p.max() + gap:
            return False
    return True


def slide_against(rng: np.random.Generator, die: Die, anchor: Die) -> None:
    """Move a die sideways from far away towards another one until they nearly touch."""
    heading = rng.uniform(0, 2 * np.pi)
    toward = np.array([np.cos(heading), np.sin(heading), 0])
    near, far = 0.0, 3.0 * max(die.edge, anchor.edge)
    origin = np.array([anchor.centre[0], anchor.centre[1], die.centre[2]])
    for _ in range(12):
        middle = (near + far) / 2
        die.centre = origin + toward * middle
        near, far = (middle, far) if overlap(die, anchor) else (near, middle)
    die.centre = origin + toward * far


def arrange(
    rng: np.random.Generator, count: int, reach: float, cocked: float, mixed_sizes: bool
) -> list[Die]:
    """`count` dice within `reach` edges of the origin, none through another.

    `cocked` is the chance that a die is tilted or stacked rather than flat. Fewer dice come
    back where there is no room.
    """
    values = numbering(rng)
    dice: list[Die] = []

    def one() -> Die | None:
        edge = float(rng.uniform(0.75, 1.3)) if mixed_sizes else 1.0
        die, kind = flat_die(rng, edge, values), rng.random()
        if kind < 0.25 * cocked and dice:
            return _stacked(rng, die, dice)
        if kind < cocked:
            low, high = ((0, 45), (6, 25))[rng.integers(2)]
            die = leaning(rng, die, rng.uniform(low, high))
        if dice and rng.random() < (0.7 if kind < cocked else 0.35):
            slide_against(rng, die, dice[rng.integers(len(dice))])
        else:
            die.centre[:2] = rng.uniform(-reach, reach, 2)
        is_within = np.abs(die.centre[:2]).max() <= reach * 1.15
        return die if is_within and _is_free(die, dice) else None

    return _lay(dice, count, one)


def leaning_dice(rng: np.random.Generator, count: int, radius: float) -> list[Die]:
    """At most `count` dice within `radius` edges of the origin: half flat, half leaning 2–16°.

    Those are the angles at which flat and not flat look most alike; some touch others.
    """
    values = numbering(rng)
    dice: list[Die] = []

    def one() -> Die | None:
        die = flat_die(rng, 1.0, values)
        if rng.random() < 0.5:
            die = leaning(rng, die, rng.uniform(2, 16))
        if dice and rng.random() < 0.3:
            slide_against(rng, die, dice[rng.integers(len(dice))])
        else:
            far, heading = (radius - 0.75) * np.sqrt(rng.random()), rng.uniform(0, 2 * np.pi)
            die.centre[:2] = far * np.cos(heading), far * np.sin(heading)
        is_within = np.hypot(*die.centre[:2]) < radius - 0.5
        return die if is_within and _is_free(die, dice) else None

    return _lay(dice, count, one)


def _lay(dice: list[Die], count: int, one: Callable[[], Die | None]) -> list[Die]:
    """Add so many dice, each tried a few times."""
    for _ in range(count):
        die = next(filter(None, (one() for _ in range(14))), None)
        if die is not None:
            dice.append(die)
    return dice


def _stacked(rng: np.random.Generator, die: Die, dice: list[Die]) -> Die | None:
    """The die on top of another one, where that lies flat and nothing else is in the way."""
    base = dice[rng.integers(len(dice))]
    if base.tilt_deg() > 1 or base.stacked:
        return None
    offset = rng.uniform(-0.6, 0.6, 2) * base.edge
    die.centre = np.array([*(base.centre[:2] + offset), base.edge + die.edge / 2])
    die.stacked = True
    return die if _is_free(die, [other for other in dice if other is not base]) else None


def _is_free(die: Die, dice: list[Die]) -> bool:
    return not any(overlap(die, other, -1e-3) for other in dice)
