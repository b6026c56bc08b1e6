"""Three rigid dice on a moving plate inside a compartment: the physics of chance, in MuJoCo.

It owns the model, its stepping, when the dice count as at rest, and how each of them then lies. It
must not know what moves the plate, nor how dice look.

Theory of operation. The plate is a slide joint whose position *and* velocity are prescribed at each
step: a body that is moved without a velocity brings no momentum into the impacts. Walls
and ceiling are half-spaces whose intersection is the compartment, so that a die cannot tunnel out
however fast it is. Dice are sharp boxes, as razor-edge casino dice are; their edges have no facets
to stand on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from hil_tests.rig.plant.contacts import OF_WALL, Rebounds, pairs_xml
from hil_tests.rig.plant.geometry import PLATE_STROKE_MM, Geometry

STEP_S = 0.001
DICE = 3

FACE_NORMALS: dict[int, tuple[int, int, int]] = {
    1: (1, 0, 0),
    2: (0, 1, 0),
    3: (0, 0, 1),
    4: (0, 0, -1),
    5: (0, -1, 0),
    6: (-1, 0, 0),
}
"""Outward normal of each face in the die's own axes: opposite faces sum to seven, and 1, 2, 3 run
counter-clockwise about their common corner (the western, right-handed layout)."""

FLAT_DEG = 1.5
"""A die up to this tilt on the floor lies flat. Between it and 6° opinions may differ."""

STILL_MM = 0.05
STILL_DEG = 0.2
STILL_FOR_S = 0.06
STILL_COCKED_FOR_S = 0.4
"""A die that strays by less than both in any STILL_FOR_S is at rest; the rest began with the first.

Judged by where the die is and not by its speed: a resting contact of the physics engine buzzes by
some micrometres for ever, and where real friction sticks, the engine's creeps (seen: 0.1 mm and 1°
a second, for seconds, in a stacked die). A die that lies not level must keep still for longer, so
that one which balances for a moment before it falls is not taken for a cocked one.
"""

THROWN_M_S, THROWN_RAD_S = 0.25, 25.0
"""How fast dice leave a hand, and how fast they turn: standard deviations along each axis."""
THROWN_S = 5.0
"""After so long a die that was thrown lies, or balances for ever."""

_WALL_PLANES = 32

CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
"""Corners of a die in its own axes, half an edge long; they are numbered from 1."""


class Lie(Enum):
    """How a die lies at rest, judged by what it touches."""

    FLAT = "flat"
    TILTED = "tilted"
    """Not level, on the floor or a ridge alone."""
    LEANING = "leaning"
    """Not level, against the wall or another die."""
    STACKED = "stacked"
    """Carried by another die, level or not."""


@dataclass(frozen=True, slots=True)
class DieAtRest:
    value: int
    """Value of the face nearest to upwards."""
    tilt_deg: float
    lie: Lie

    @property
    def is_flat(self) -> bool:
        return self.lie is Lie.FLAT

    def as_dict(self) -> dict[str, Any]:
        """As the rig's door and its records have it."""
        return {
            "value": self.value,
            "flat": self.is_flat,
            "tilt_deg": round(self.tilt_deg, 2),
            "kind": self.lie.value,
        }


@dataclass(frozen=True, slots=True)
class Poses:
    """Where the n dice are, at one moment."""

    position_mm: NDArray[np.float64]
    """Centres, shape (n, 3)."""
    rotation: NDArray[np.float64]
    """Rotation matrices from die axes to the world, shape (n, 3, 3)."""


class Dice:
    """The dice and the compartment. Not thread-safe: one owner steps it."""

    def __init__(self, geometry: Geometry, *, seed: int) -> None:
        self.geometry = geometry
        self._random = np.random.default_rng(seed)
        self._load = (0, np.zeros(3))
        self._chip = (0, 1, 0.0)
        self._build(DICE)
        self.lay()

    def _build(self, count: int) -> None:
        """Make the compartment with so many dice in it."""
        self._model = mujoco.MjModel.from_xml_string(
            _model_xml(self.geometry, count, self._load, self._chip)
        )
        self._data = mujoco.MjData(self._model)
        self._still_s = 0.0
        self._still_pos = np.zeros((count, 3))
        self._still_quat = np.zeros((count, 4))
        self._still_since = 0.0
        self._bodies = [self._model.body(f"die{i}").id for i in range(count)]
        self._geoms = [self._model.geom(f"die{i}").id for i in range(count)]
        size_m = self.geometry.die_mm / 1000.0
        self._contacts = Rebounds(self._model, self._bodies, self._geoms, size_m)

    def lay(self, values: tuple[int, ...] | None = None) -> None:
        """Lay the dice flat on the floor, apart from each other, as chance or `values` has it: as
        many as there are values, one to `MAX_DICE`."""
        shown = values or tuple(int(v) for v in self._random.integers(1, 7, DICE))
        if len(shown) != len(self._bodies):
            self._build(len(shown))
        die_m = self.geometry.die_mm / 1000.0
        radius_m = self.geometry.radius_mm / 1000.0
        turn = self._random.uniform(0.0, math.tau)
        ring_m = max(die_m * 0.9, min(radius_m * 0.45, radius_m - die_m * 0.85))
        qpos, qvel = self._data.qpos, self._data.qvel
        qvel[:] = 0.0
        qpos[0] = 0.0
        for i in range(len(shown)):
            angle = turn + i * math.tau / len(shown)
            yaw = self._random.uniform(0.0, math.tau)
            quat = _showing(shown[i], yaw)
            start = 1 + 7 * i
            qpos[start : start + 3] = (
                ring_m * math.cos(angle),
                ring_m * math.sin(angle),
                die_m / 2.0,
            )
            qpos[start + 3 : start + 7] = quat
        mujoco.mj_forward(self._model, self._data)
        self._keeps_still()
        self._still_s = STILL_COCKED_FOR_S

    def throw(self) -> None:
        """Have a hand throw the dice into the compartment, and wait until they rest: no clock runs
        meanwhile. They stay as they are where they never come to rest."""
        die_m, turn = self.geometry.die_mm / 1000.0, self._random.uniform(0.0, math.tau)
        qpos, qvel = self._data.qpos, self._data.qvel
        qpos[0] = 0.0
        for i in range(len(self._bodies)):
            angle, start = turn + i * math.tau / len(self._bodies), 1 + 7 * i
            qpos[start : start + 3] = (
                die_m * math.cos(angle),
                die_m * math.sin(angle),
                self._random.uniform(1.5, 3) * die_m,
            )
            quat = self._random.standard_normal(4)
            qpos[start + 3 : start + 7] = quat / np.linalg.norm(quat)
        qvel[1:] = self._random.normal(0.0, 1.0, len(qvel) - 1) * np.tile(
            (*3 * (THROWN_M_S,), *3 * (THROWN_RAD_S,)), len(self._bodies)
        )
        self.disturb()
        for _ in range(round(THROWN_S / STEP_S)):
            self.step(0.0, 0.0)
            if self.at_rest:
                return

    def step(self, plate_height_m: float, plate_speed_m_s: float) -> None:
        """Advance by STEP_S with the plate at this height above its lowest point and this speed."""
        data = self._data
        data.qpos[0] = plate_height_m
        data.qvel[0] = plate_speed_m_s
        self._contacts.follow(data.qvel, plate_speed_m_s, STEP_S)
        if plate_speed_m_s != 0.0:
            # Nothing rests on a moving plate: spare the looking, which costs as much as the step.
            self._still_s = 0.0
            mujoco.mj_step(self._model, data)
            return
        mujoco.mj_step(self._model, data)
        self._still_s = self._still_s + STEP_S if self._keeps_still() else 0.0

    @property
    def at_rest(self) -> bool:
        if self._still_s < STILL_FOR_S - 1e-9:
            return False
        return self._still_s >= STILL_COCKED_FOR_S - 1e-9 or self._all_level()

    @property
    def still_s(self) -> float:
        """For how long every die has been slower than the limits of rest."""
        return self._still_s

    def disturb(self) -> None:
        """Start counting rest anew, because something moves the dice from outside."""
        self._still_s = 0.0

    def chance(self) -> float:
        """A number from 0 to 1 of the same chance that lays the dice."""
        return float(self._random.random())

    def load(self, die: int, face: int, shift_mm: float) -> None:
        """Move a die's centre of mass towards a face, as a plug of metal in a pip does."""
        self._load = (die, np.array(FACE_NORMALS[face]) * shift_mm / 1000.0)
        self._rebuild()

    def chip(self, die: int, corner: int, depth_mm: float) -> None:
        """Break a corner of a die off, so far along its edges. Its weight stays as it is: a chip of
        3 mm is a thousandth of it."""
        self._chip = (die, corner, depth_mm / 1000.0)
        self._rebuild()

    def turn_to(self, die: int, value: int) -> None:
        """Turn a die by quarters, where it lies, so that a face is uppermost."""
        body, start = self._data.body(f"die{die}"), 4 + 7 * die
        shown, _ = top_face(body.xmat.reshape(3, 3))
        turned = np.zeros(4)
        mujoco.mju_mulQuat(turned, body.xquat, _turning(FACE_NORMALS[value], FACE_NORMALS[shown]))
        self._data.qpos[start : start + 4] = turned
        mujoco.mj_forward(self._model, self._data)

    def _rebuild(self) -> None:
        """Make the model anew, with the dice where they are."""
        qpos, qvel = self._data.qpos.copy(), self._data.qvel.copy()
        self._build(len(self._bodies))
        self._data.qpos[:], self._data.qvel[:] = qpos, qvel
        mujoco.mj_forward(self._model, self._data)

    def jolt(self, push_m_s2: NDArray[np.float64]) -> None:
        """Push the whole machine: the dice feel it as a change of gravity. Zero ends it."""
        self._model.opt.gravity[:] = (0.0, 0.0, -9.81) - push_m_s2

    def poses(self) -> Poses:
        position = np.array([self._data.xpos[b] for b in self._bodies]) * 1000.0
        rotation = np.array([self._data.xmat[b].reshape(3, 3) for b in self._bodies])
        return Poses(position, rotation)

    def lies(self) -> list[DieAtRest]:
        """How each die lies now; meaningful at rest."""
        mujoco.mj_forward(self._model, self._data)
        touching = self._touching()
        height_m = self._data.qpos[0]
        poses = self.poses()
        lies = []
        for i in range(len(self._bodies)):
            value, tilt_deg = top_face(poses.rotation[i])
            carried = any(
                other in self._geoms and self._lies_on(i, self._geoms.index(other))
                for other in touching[i]
            )
            beside = any(o in self._geoms or self._is_wall(o) for o in touching[i])
            lifted_mm = poses.position_mm[i, 2] - height_m * 1000.0 - self.geometry.die_mm / 2.0
            if carried and lifted_mm > 0.25 * self.geometry.die_mm:
                lie = Lie.STACKED
            elif tilt_deg <= FLAT_DEG and lifted_mm < 0.05 * self.geometry.die_mm:
                lie = Lie.FLAT
            elif beside:
                lie = Lie.LEANING
            else:
                lie = Lie.TILTED
            lies.append(DieAtRest(value, round(tilt_deg, 3), lie))
        return lies

    def inside(self) -> bool:
        """True while every die is within the compartment (a wall's softness allowed for)."""
        position = self.poses().position_mm
        radial = np.hypot(position[:, 0], position[:, 1])
        g = self.geometry
        reach = g.radius_mm - g.die_mm / 2.0 + 1.5
        return bool(
            np.all(radial <= reach / math.cos(math.pi / _WALL_PLANES))
            and np.all(position[:, 2] >= g.die_mm / 2.0 - 2.0)
            and np.all(position[:, 2] <= g.wall_mm)
        )

    def _keeps_still(self) -> bool:
        """Compare with where the dice were a moment ago; remember where they are now and then."""
        xpos, xquat = self._data.xpos[self._bodies], self._data.xquat[self._bodies]
        moved_m = np.abs(xpos - self._still_pos).max()
        # For unit quaternions |q·p| = cos(angle / 2), so 1 - |q·p| is angle² / 8 for small angles.
        turned = 1.0 - np.abs(np.einsum("ij,ij->i", xquat, self._still_quat)).min()
        if moved_m <= STILL_MM / 1000.0 and turned <= math.radians(STILL_DEG) ** 2 / 8.0:
            if self._data.time - self._still_since >= STILL_FOR_S:
                self._remember(xpos, xquat)
            return True
        self._remember(xpos, xquat)
        return False

    def _remember(self, xpos: NDArray[np.float64], xquat: NDArray[np.float64]) -> None:
        self._still_pos, self._still_quat = xpos, xquat
        self._still_since = self._data.time

    def _all_level(self) -> bool:
        return all(top_face(m.reshape(3, 3))[1] <= FLAT_DEG for m in self._data.xmat[self._bodies])

    def _touching(self) -> list[set[int]]:
        touching: list[set[int]] = [set() for _ in self._bodies]
        for contact in self._data.contact:
            for mine, other in (tuple(contact.geom), tuple(contact.geom)[::-1]):
                if mine in self._geoms:
                    touching[self._geoms.index(mine)].add(int(other))
        return touching

    def _lies_on(self, upper: int, lower: int) -> bool:
        z = self._data.xpos[:, 2]
        return bool(z[self._bodies[upper]] > z[self._bodies[lower]] + 0.1e-3)

    def _is_wall(self, geom: int) -> bool:
        return str(self._model.geom(geom).name).startswith("wall")


def top_face(rotation: NDArray[np.float64]) -> tuple[int, float]:
    """Return the value of the face nearest to upwards and its tilt from level in degrees."""
    upward = {value: float(rotation[2] @ normal) for value, normal in FACE_NORMALS.items()}
    value = max(upward, key=lambda v: upward[v])
    return value, math.degrees(math.acos(min(1.0, upward[value])))


def _showing(value: int, yaw: float) -> NDArray[np.float64]:
    """Quaternion of a die lying flat with `value` up, turned by `yaw` about the vertical."""
    up = (0, 0, 1)
    spin, both = np.zeros(4), np.zeros(4)
    mujoco.mju_axisAngle2Quat(spin, np.array(up, dtype=float), yaw)
    mujoco.mju_mulQuat(both, spin, _turning(FACE_NORMALS[value], up))
    return both


def _turning(normal: Sequence[int], other: Sequence[int]) -> NDArray[np.float64]:
    """Quaternion that turns the normal of one face to that of another."""
    axis, cosine = np.cross(normal, other).astype(float), float(np.dot(normal, other))
    if not axis.any():  # the same face, or the one across
        axis = np.roll(np.array(normal, dtype=float), 1)
    turn = np.zeros(4)
    mujoco.mju_axisAngle2Quat(turn, axis, math.acos(cosine))
    return turn


def _chipped(corner: int, depth_m: float, half_m: float) -> str:
    """Corners of the die that is left, in metres: the one broken off became three."""
    gone = CORNERS[corner - 1]
    kept = [point * half_m for point in CORNERS if (point != gone).any()]
    cut = [gone * half_m - np.eye(3)[axis] * gone[axis] * depth_m for axis in range(3)]
    return " ".join(f"{number:.6f}" for point in (*kept, *cut) for number in point)


def _model_xml(
    g: Geometry,
    count: int,
    load: tuple[int, NDArray[np.float64]],
    chip: tuple[int, int, float],
) -> str:
    loaded, centre_m = load
    chipped, corner, depth_m = chip
    m = 0.001
    half = g.die_mm * m / 2.0
    mass = g.die_grams * m
    inertia = mass * (2.0 * half) ** 2 / 6.0
    centres = ["0 0 0"] * count
    if loaded < count:
        centres[loaded] = " ".join(map(str, centre_m))
    shapes = [f'type="box" size="{half} {half} {half}"'] * count
    asset = ""
    if depth_m and chipped < count:
        shapes[chipped] = 'type="mesh" mesh="chipped"'
        asset = f'<asset><mesh name="chipped" vertex="{_chipped(corner, depth_m, half)}"/></asset>'
    dice = "".join(
        f'<body name="die{i}" pos="0 0 {half * (1 + 3 * i)}"><freejoint/>'
        f'<inertial pos="{centres[i]}" mass="{mass}" diaginertia="{inertia} {inertia} {inertia}"/>'
        f'<geom name="die{i}" {shapes[i]}/>'
        "</body>"
        for i in range(count)
    )
    walls = "".join(
        f'<geom name="wall{k}" type="plane" size="1 1 0.1" '
        f'pos="{g.radius_mm * m * math.cos(a)} {g.radius_mm * m * math.sin(a)} 0" '
        f'zaxis="{-math.cos(a)} {-math.sin(a)} 0"/>'
        for k, a in ((k, k * math.tau / _WALL_PLANES) for k in range(_WALL_PLANES))
    )
    rib_radius = 3.0
    ribs = "".join(
        f'<geom name="wall_rib{k}" type="capsule" size="{rib_radius * m}" fromto="'
        f"{r * math.cos(a)} {r * math.sin(a)} -0.02 {r * math.cos(a)} {r * math.sin(a)} "
        f'{g.wall_mm * m}"/>'
        for k, a, r in (
            (k, (k + 0.5) * math.tau / g.wall_ribs, (g.radius_mm + rib_radius - g.wall_rib_mm) * m)
            for k in range(g.wall_ribs)
        )
    )
    ridges = "".join(
        f'<geom name="ridge{k}" type="capsule" size="{ridge.height_mm * m}" '
        f'fromto="{ridge.from_mm[0] * m} {ridge.from_mm[1] * m} 0 '
        f'{ridge.to_mm[0] * m} {ridge.to_mm[1] * m} 0"/>'
        for k, ridge in enumerate(g.ridges)
    )
    ceiling_m = (g.wall_mm + PLATE_STROKE_MM) * m
    of_wall = [f"wall{k}" for k in range(_WALL_PLANES)]
    of_wall += ["ceiling", *(f"wall_rib{k}" for k in range(g.wall_ribs))]
    of_floor = ["plate", *(f"ridge{k}" for k in range(len(g.ridges)))]
    names = [f"die{i}" for i in range(count)]
    pairs = [(g.floor, die, other, g.floor_friction) for die in names for other in of_floor]
    pairs += [(OF_WALL[g.wall], die, other, g.wall_friction) for die in names for other in of_wall]
    pairs += [("acetate", *both, g.die_friction) for both in combinations(names, 2)]
    return f"""
<mujoco>
  <option timestep="{STEP_S}" integrator="implicitfast" cone="elliptic"
          impratio="20" noslip_iterations="5" iterations="30" gravity="0 0 -9.81"/>
  <size memory="4M"/>
  <default><geom contype="0" conaffinity="0"/></default>
  {asset}
  <worldbody>
    <body name="plate" pos="0 0 0" gravcomp="1">
      <joint name="plate" type="slide" axis="0 0 1"/>
      <geom name="plate" type="box" size="0.15 0.15 0.05" pos="0 0 -0.05" mass="1000"/>
      {ridges}
    </body>
    {walls}
    {ribs}
    <geom name="ceiling" type="plane" size="1 1 0.1" pos="0 0 {ceiling_m}" zaxis="0 0 -1"/>
    {dice}
  </worldbody>
  <contact>{pairs_xml(pairs)}</contact>
</mujoco>"""
