"""The share of its speed that a die keeps in an impact: by material and by speed.

Owns the materials, the law, and the law's form in MuJoCo's contacts. It must not know shapes.

The law is that of viscoelastic bodies, 1 - e growing with the fifth root of the speed (Brilliantov,
Spahn, Hertzsch, Pöschel, Phys. Rev. E 53, 5382, 1996), through the value at 1 m/s; the survey of
experiments by Güttler et al. (arXiv:1204.0001, 2012) shows such curves for plastics. Below
`stick_m_s` nothing rebounds, because fibres, dust and air absorb the rest of the energy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Material:
    """What a die of cellulose acetate meets."""

    restitution: float
    """Share of the speed that is left after an impact at 1 m/s."""
    stick_m_s: float
    """Below this speed the share falls to nothing; an estimate, as nothing is published."""

    def share(self, speed_m_s: float) -> float:
        """Share of the speed that is left, 0-1."""
        share = max(0.0, 1.0 - (1.0 - self.restitution) * speed_m_s**0.2)
        return share * min(1.0, (speed_m_s / self.stick_m_s) ** 2)


MATERIALS: dict[str, Material] = {
    # A billiard ball on cloth over slate keeps 0.5 (billiards.colostate.edu, Alciatore).
    "felt": Material(0.50, 0.060),
    # Estimate between cloth and plastic; a drop from 100 mm onto the table's board would settle it.
    "wood": Material(0.60, 0.040),
    # A billiard cushion keeps 0.6-0.9 (the same page); a sheet on a plate the least of it.
    "rubber": Material(0.60, 0.050),
    # Acetate spheres keep 0.87 (Foerster, Louge, Chang, Allia, Phys. Fluids 6, 1108, 1994); a thin
    # tube and a plate on springs give some of it away.
    "acrylic": Material(0.78, 0.025),
    "acetate": Material(0.82, 0.025),
}
"""By what the floor and the wall are called in `geometry`; `acetate` is another die."""

OF_WALL = {"clear": "acrylic", "rough": "acrylic"}

CONTACT_RAD_S = 700.0
"""Contacts as springs of this frequency: 4.5 ms from touch to release. At steps of 1 ms a stiffer
one gains energy; a real die touches for a tenth of a millisecond."""

SOFT_RAD_S = 250.0
"""The same for contacts that do not rebound: damped critically, which a stiffer one cannot be."""

_MIN_SHARE = 0.22
"""Below this share a spring of `CONTACT_RAD_S` cannot be damped enough."""

_SPEEDS = 64
_MAX_M_S = 4.0
_HOLD_S = 0.008
"""For how long an impact keeps the speed that it began with: longer than it lasts."""


def solref(share: float) -> tuple[float, float]:
    """MuJoCo's stiffness and damping, both negative, of a contact that keeps this share.

    A drop onto one face in the engine keeps the share to 0.06 (`tests/test_dice.py`).
    """
    if share < _MIN_SHARE:
        return -(SOFT_RAD_S**2), -2.0 * SOFT_RAD_S
    # What came out of drops in the engine at this frequency, by damping ratio.
    ratio = float(np.interp(share, *_DAMPING))
    return -(CONTACT_RAD_S**2), -2.0 * ratio * CONTACT_RAD_S


_DAMPING = (
    (0.229, 0.336, 0.468, 0.530, 0.635, 0.747, 0.861, 0.930),
    (0.60, 0.40, 0.27, 0.20, 0.15, 0.10, 0.05, 0.02),
)


class Rebounds:
    """Every pair of a die and what it can touch; tells the engine how each rebounds now."""

    def __init__(self, model: Any, bodies: list[int], dice: list[int], size_m: float) -> None:
        """`bodies` and `dice` are the engine's numbers of the dice's bodies and of their shapes."""
        self._solref = model.pair_solref
        self._reach_m = 0.5 * size_m * math.sqrt(2.0)
        self._held = [0.0] * len(bodies)
        self._bins = [-1] * len(bodies)
        speeds = (np.arange(_SPEEDS) / (_SPEEDS - 1)) ** 2 * _MAX_M_S
        table = {
            name: np.array([solref(material.share(v)) for v in speeds])
            for name, material in MATERIALS.items()
        }
        number = {geom: die for die, geom in enumerate(dice)}

        def alike(p: int) -> tuple[str, int, int]:
            one = number.get(int(model.pair_geom1[p]), 0)
            other = number.get(int(model.pair_geom2[p]), one)
            return model.pair(p).name.partition(" ")[0], one, other

        self._groups = []
        """Rows of pairs that always rebound alike, their one or two dice, and how at each speed."""
        for (kind, one, other), group in groupby(range(model.npair), alike):
            numbers = list(group)
            rows = self._solref[numbers[0] : numbers[-1] + 1]
            self._groups.append((rows, one, other, table[kind]))

    def follow(self, qvel: NDArray[np.float64], plate_m_s: float, step_s: float) -> None:
        """Set every pair by how fast its die moves, or moved when the impact began.

        `qvel` are the engine's speeds: the plate's, then six of each die. Plain numbers: arrays of
        three dice cost several times as much, at each step of every toss.
        """
        speed = qvel.tolist()
        fade = math.exp(-step_s / _HOLD_S)
        before = self._bins.copy()
        for die, held in enumerate(self._held):
            x, y, z, a, b, c = speed[1 + 6 * die : 7 + 6 * die]
            z -= plate_m_s
            now = math.sqrt(x * x + y * y + z * z)
            now += self._reach_m * math.sqrt(a * a + b * b + c * c)
            self._held[die] = held = max(now, held * fade)
            self._bins[die] = int(math.sqrt(min(held / _MAX_M_S, 1.0)) * (_SPEEDS - 1))
        for pairs, one, other, rebounds in self._groups:
            if self._bins[one] != before[one] or self._bins[other] != before[other]:
                pairs[:] = rebounds[max(self._bins[one], self._bins[other])]


def pairs_xml(pairs: list[tuple[str, str, str, float]]) -> str:
    """The engine's list of pairs, from material, die, what it touches, and friction."""
    return "".join(
        f'<pair name="{kind} {die} {other}" geom1="{die}" geom2="{other}" condim="4" '
        f'friction="{friction} {friction} 0.002 0.0001 0.0001" solimp="0.9 0.99 0.0005"/>'
        for kind, die, other, friction in pairs
    )
