"""Dice at rest after a fall, by rigid-body physics.

Owns: small MuJoCo worlds in which dice come to rest flat, touching, at the wall, on a ridge, on
or against each other. Must not know: looks, cameras. Lengths are in die edges, as in
`layout.py`; inside, an edge is 16 mm, because contact settings are not free of scale.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from models.training.arrange import numbering
from models.training.layout import NOT_FLAT_DEG, Die

_EDGE_M = 0.016
_STEP_S = 0.002
_MAX_S = 1.6

_TRIES = 14
"""Tosses after which any is taken."""


@dataclass(slots=True)
class Ridge:
    """A round bar on the floor: from, to (x, y) and radius, in edges."""

    start: np.ndarray
    end: np.ndarray
    radius: float


@dataclass(slots=True)
class RestingDice:
    """How the dice came to lie, and in what."""

    dice: list[Die]
    wall_radius: float
    ridges: list[Ridge]

    @property
    def is_cocked(self) -> bool:
        """True if one of the dice does not lie flat on the floor."""
        return any(die.stacked or die.tilt_deg() >= NOT_FLAT_DEG for die in self.dice)


def toss(
    rng: np.random.Generator, count: int, radius: float, ridges: list[Ridge], friction: float,
    cocked_share: float,
) -> RestingDice:  # fmt: skip
    """So many dice at rest in a round compartment; with that chance, and more often than it
    happens, one of them does not lie flat."""
    wants_cocked, rest = rng.random() < cocked_share, None
    for attempt in range(1000):
        rest = drop(rng, count, radius, ridges, friction) or rest
        if rest is not None and (rest.is_cocked == wants_cocked or attempt >= _TRIES):
            break
    assert rest is not None
    return rest


def drop(
    rng: np.random.Generator, count: int, radius: float, ridges: list[Ridge], friction: float
) -> RestingDice | None:
    """Drop that many dice into that compartment; None when they did not come to rest."""
    model = mujoco.MjModel.from_xml_string(_world(count, radius, ridges, friction))
    data = mujoco.MjData(model)
    for i in range(count):
        place = data.qpos[7 * i : 7 * i + 7]
        reach = max(radius - 0.9, 0.1)
        place[:2] = rng.uniform(-reach, reach, 2) * 0.7 * _EDGE_M
        place[2] = (1.2 + 1.9 * i) * _EDGE_M
        quaternion = rng.standard_normal(4)
        place[3:] = quaternion / np.linalg.norm(quaternion)
        data.qvel[6 * i : 6 * i + 3] = rng.normal(0, 0.25, 3)
        data.qvel[6 * i + 3 : 6 * i + 6] = rng.normal(0, 15, 3)
    still = 0
    for _ in range(int(_MAX_S / _STEP_S)):
        mujoco.mj_step(model, data)
        still = still + 1 if np.abs(data.qvel).max() < 0.02 else 0
        if still > 25:
            break
    else:
        return None
    return _rest(rng, data, count, radius, ridges)


def _rest(
    rng: np.random.Generator, data: mujoco.MjData, count: int, radius: float, ridges: list[Ridge]
) -> RestingDice | None:
    values = numbering(rng)
    dice = []
    for i in range(count):
        place = data.qpos[7 * i : 7 * i + 7]
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, place[3:])
        die = Die(place[:3] / _EDGE_M, turn.reshape(3, 3), 1.0, values)
        lowest = float(die.corners()[:, 2].min())
        if np.hypot(*die.centre[:2]) > radius + 0.5 or lowest < -0.1:
            return None
        if die.tilt_deg() < NOT_FLAT_DEG and lowest > 0.12:
            # Level, but not on the floor: on another die, or balanced over ridges.
            die.stacked = True
        dice.append(die)
    return RestingDice(dice, radius, ridges)


def _world(count: int, radius: float, ridges: list[Ridge], friction: float) -> str:
    """MJCF of the compartment: a floor, a wall of 24 plates, ridges, free cubes."""
    e = _EDGE_M
    sides = 24
    plate = radius * np.tan(np.pi / sides) * 1.05
    walls = "".join(
        f'<geom type="box" size="{0.5 * e} {plate * e} {8 * e}" '
        f'pos="{(radius + 0.5) * np.cos(a) * e} {(radius + 0.5) * np.sin(a) * e} {8 * e}" '
        f'euler="0 0 {a}"/>'
        for a in np.arange(sides) * 2 * np.pi / sides
    )
    bars = "".join(
        f'<geom type="capsule" size="{r.radius * e}" '
        f'fromto="{r.start[0] * e} {r.start[1] * e} 0 {r.end[0] * e} {r.end[1] * e} 0"/>'
        for r in ridges
    )
    cubes = "".join(
        f'<body><freejoint/><geom type="box" size="{e / 2} {e / 2} {e / 2}" mass="0.005"/></body>'
        for _ in range(count)
    )
    return (
        f'<mujoco><compiler angle="radian"/><option timestep="{_STEP_S}" cone="elliptic"/>'
        f'<default><geom friction="{friction} 0.002 0.0001" solref="0.006 0.9"/></default>'
        f'<worldbody><geom type="plane" size="1 1 0.1"/>{walls}{bars}{cubes}</worldbody></mujoco>'
    )
