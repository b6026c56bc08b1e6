"""Dice at rest: flat, fallen askew, tipped, or held up by something at 6° to 20°."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np

from hil_tests.reader.stage import Shown, Stage
from hil_tests.reader.tosses import Toss, level_axes
from hil_tests.rig.plant.dice import CORNERS, DieAtRest, Lie, top_face

SUPPORTS = ("crumb under an edge", "crumb under a corner", "coin", "neighbour", "wall")
BANDS_DEG = ((6.0, 8.0), (8.0, 12.0), (12.0, 20.0))
TIPPED_DEG = (0, 2, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 35, 40, 45)
_STEEP_DEG = (20.0, 45.0)
_COIN_MM = 10.0
"""Radius of the rig's coin; its middle is half-way to the wall, to the right."""


def of_a_toss(truth: str, stage: Stage) -> Shown:
    """The table's next toss of this truth, as it fell."""
    case = stage.table.case(truth, stage.index)
    return Shown((case.shoot() for _ in itertools.count()), case.values, truth)


def not_flat(stage: Stage) -> Shown:
    """A toss that did not come to lie flat; on the rig one die is tipped steeply where no more of
    the table's did."""
    if stage.index < stage.table.known["not flat"]:
        return replace(of_a_toss("not flat", stage), cell="as it fell")
    toss = stage.toss.tilted(float(stage.random.uniform(*_STEEP_DEG)), stage.random, stage.die_mm)
    return Shown(stage.shots(toss), toss.values, toss.truth, "tipped steeply")


def tipped(stage: Stage) -> Shown:
    """One die tipped about one of its edges."""
    degrees = TIPPED_DEG[stage.number % len(TIPPED_DEG)]
    toss = stage.toss.tilted(degrees, stage.random, stage.die_mm)
    return Shown(stage.shots(toss), toss.values, toss.truth, f"{degrees:2}°")


def held_up(stage: Stage) -> Shown:
    """One die that leans on a hidden crumb, a coin, a neighbour or the wall."""
    support = SUPPORTS[stage.number % len(SUPPORTS)]
    low, high = BANDS_DEG[stage.number // len(SUPPORTS) % len(BANDS_DEG)]
    held: Toss | None = None
    while held is None:
        stage.again()
        degrees = float(stage.random.uniform(low, high))
        held = lean(stage.toss, support, degrees, stage.radius_mm, stage.die_mm, stage.random)
    pictures = stage.shots(held, coin=support == "coin")
    return Shown(pictures, held.values, held.truth, f"{low:2.0f}-{high:.0f}°, {support}")


def lean(
    toss: Toss, support: str, degrees: float, radius_mm: float, edge_mm: float,
    random: np.random.Generator,
) -> Toss | None:  # fmt: skip
    """The toss with its first die held up by `support`; None if there is no room for that here."""
    rotation, position = toss.rotation.copy(), toss.position_mm.copy()
    turn_about_z = _turned((0, 0, 1), float(random.uniform(0, 360)))
    upright = turn_about_z @ rotation[0]
    level = level_axes(upright)
    axis = level[int(random.integers(2))] * float(random.choice([-1, 1]))
    if support == "crumb under a corner":
        axis = (level[0] + level[1] * float(random.uniform(0.3, 1.0))) * random.choice([-1, 1])
        axis /= np.linalg.norm(axis)
    raised = np.cross(axis, (0, 0, -1.0))  # towards the side that goes up
    rotation[0] = _turned(axis, degrees) @ upright
    cube = CORNERS * edge_mm / 2
    corners = cube @ rotation[0].T
    position[0, 2] = -float(corners[:, 2].min())
    reach = float((corners @ raised).max())
    low = corners[corners[:, 2] < 0]
    if support == "coin":
        under = float((low @ raised).max())
        at = np.array((radius_mm / 2, 0.0)) - raised[:2] * (
            under + random.uniform(0, 0.6) * _COIN_MM
        )
    elif support == "neighbour":
        side = level_axes(rotation[1])[int(random.integers(2))] * float(random.choice([-1, 1]))
        yaw = np.degrees(np.arctan2(-side[1], -side[0]) - np.arctan2(raised[1], raised[0]))
        rotation[0] = _turned((0, 0, 1), float(yaw)) @ rotation[0]
        slide = np.cross(side, (0, 0, 1.0)) * float(random.uniform(-0.4, 0.4)) * edge_mm
        at = (position[1] + side * (edge_mm / 2 + reach + 0.05) + slide)[:2]
    elif support == "wall":
        # Both corners of the raised edge stand at the wall.
        at = raised[:2] * (float(np.sqrt((radius_mm - 0.6) ** 2 - edge_mm**2 / 4)) - reach)
    else:
        far = (radius_mm - 0.8 * edge_mm) * float(np.sqrt(random.random()))
        heading = float(random.uniform(0, 2 * np.pi))
        at = far * np.array((np.cos(heading), np.sin(heading)))
    position[0, :2] = at
    gaps = np.linalg.norm(position[1:, :2] - at, axis=1) / edge_mm
    nearest = (1.0 if support == "neighbour" else 1.45, 1.45)
    corners = cube @ rotation[0].T + position[0]
    is_inside = np.linalg.norm(corners[:, :2], axis=1).max() < radius_mm - 0.2
    if not is_inside or (gaps < nearest).any():
        return None
    value, tilt_deg = top_face(rotation[0])
    return Toss(position, rotation, (DieAtRest(value, tilt_deg, Lie.TILTED), *toss.dice[1:]))


def _turned(axis: Sequence[float] | np.ndarray, degrees: float) -> np.ndarray:
    turn, _ = cv2.Rodrigues(np.asarray(axis, float) * np.radians(degrees))
    return np.asarray(turn)
