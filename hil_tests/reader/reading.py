"""The reader against the rig's physics: `python -m hil_tests.reader.reading`.

Owns: tosses of the rig's dice, their pictures by the rig's camera, and the table of what was read
against what is true. The one place where rig and reader meet without a service between them.
"""

from __future__ import annotations

import argparse
import copy
import itertools
import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from hil_tests.reader.by_card import measured
from hil_tests.rig.dice import Dice, DieAtRest, Lie
from hil_tests.rig.geometry import GEOMETRIES, Geometry
from hil_tests.rig.looks import STYLES
from hil_tests.rig.optics import Lens
from hil_tests.rig.scene import Scene
from hil_tests.rig.snapshot import SAMPLE, TableView
from vision.calibration import Calibration
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.reading import NoRoll, Unreadable, Verdict, Verified
from vision.table.consensus import agree, refuse
from vision.table.reader import TableReader

SHAKE_HZ = 12.0
STROKE_M = 0.010
STEP_S = 0.001
JPEG_QUALITY = 88
_MOST_FRAMES = 30
"""As many as a table looks at before it gives up: a second."""
FLAT_DEG, NOT_FLAT_DEG = 1.5, 6.0
"""Truth: up to the first a die is flat, from the second on it is not; between only counted."""


@dataclass(frozen=True, slots=True)
class Toss:
    """How three dice came to rest."""

    position_mm: Any
    rotation: Any
    dice: tuple[DieAtRest, ...]

    @property
    def truth(self) -> str:
        """`flat`, `not flat` or `between`."""
        if any(d.lie is Lie.STACKED or d.tilt_deg >= NOT_FLAT_DEG for d in self.dice):
            return "not flat"
        if all(d.is_flat and d.tilt_deg <= FLAT_DEG for d in self.dice):
            return "flat"
        return "between"

    @property
    def values(self) -> tuple[int, ...]:
        """In growing order: two dice at the same x have no left and right."""
        return tuple(sorted(die.value for die in self.dice))

    def only(self, which: Sequence[int]) -> Toss:
        """The same without the other dice."""
        index = list(which)
        return Toss(
            self.position_mm[index], self.rotation[index], tuple(self.dice[i] for i in index)
        )

    def plus(self, other: Toss) -> Toss:
        """The dice of both."""
        return Toss(
            np.concatenate([self.position_mm, other.position_mm]),
            np.concatenate([self.rotation, other.rotation]),
            self.dice + other.dice,
        )

    def moved(self, die: int, by_mm: np.ndarray) -> Toss:
        """One die elsewhere; `by_mm` (2,): x right, y up."""
        position = self.position_mm.copy()
        position[die, :2] += by_mm
        return Toss(position, self.rotation, self.dice)


def tosses(geometry: Geometry, seed: int) -> Iterator[Toss]:
    """Toss for ever, as the plate of the rig does."""
    random = np.random.default_rng(seed)
    dice = Dice(geometry, seed=seed)
    while True:
        turns = round(float(random.uniform(0.7, 1.1)) * SHAKE_HZ)
        for step in range(int(turns / SHAKE_HZ / STEP_S)):
            phase = math.tau * SHAKE_HZ * step * STEP_S
            dice.step(
                STROKE_M / 2 * (1.0 - math.cos(phase)),
                STROKE_M / 2 * math.tau * SHAKE_HZ * math.sin(phase),
            )
        for _ in range(3000):
            dice.step(0.0, 0.0)
            if dice.at_rest:
                break
        poses = dice.poses()
        yield Toss(poses.position_mm.copy(), poses.rotation.copy(), tuple(dice.lies()))


class RigCamera:
    """The rig's camera over one compartment, without the rig's clock."""

    def __init__(
        self,
        geometry: Geometry,
        style: str,
        seed: int = 0,
        lens: Lens | None = None,
        *,
        calibration: Calibration | None = None,
    ) -> None:
        """Paint the compartment; measure the camera by a printed card unless `calibration` says
        what it is."""
        self._scene = Scene(geometry, seed=seed, lens=lens)
        self._view = TableView(1.0, 0.0, False, False, style)
        self.calibration = calibration or measured(self._scene, geometry).calibration

    @property
    def style(self) -> str:
        return self._view.style

    def with_dice(self, style: str) -> RigCamera:
        """The same camera over the same compartment with other dice; painting the compartment
        takes a second, which it shares."""
        other = copy.copy(self)
        other._view = replace(self._view, style=style)
        return other

    def to_px(self, points_mm: np.ndarray) -> np.ndarray:
        """Points (..., 3) in the rig's millimetres to pixels (..., 2), by the rig's own lens."""
        return np.asarray(self._scene.lens.project(points_mm))

    def picture(self, toss: Toss, light: float = 1.0, **changes: Any) -> np.ndarray:
        """(480, 640, 3) uint8, through the stream's JPEG. Any number of dice; `changes` to the
        rig's `TableView` (coin, hand)."""
        count = len(toss.position_mm)
        samples = np.zeros(1, SAMPLE if count == 3 else _sample_of(count))
        samples["light"] = light
        samples["position_mm"][0] = toss.position_mm
        samples["rotation"][0] = toss.rotation
        image = self._scene.render(0.0, samples, replace(self._view, **changes))
        coded = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])[1]
        return np.asarray(cv2.imdecode(coded, cv2.IMREAD_COLOR))


def _sample_of(dice: int) -> np.dtype[np.void]:
    """The rig's sample of the plant, with another number of dice."""
    fields = {name: SAMPLE[name] for name in ("at_s", "light", "plate_mm")}
    return np.dtype(
        [
            *fields.items(),
            ("position_mm", "f8", (dice, 3)),
            ("rotation", "f8", (dice, 3, 3)),
        ]
    )


def read_toss(reader: TableReader, camera: RigCamera, toss: Toss, dip: float) -> Verdict:
    """The consensus over frames of one toss, the first two of them in a dip of the light."""
    seen = []
    for number in range(_MOST_FRAMES):
        image = camera.picture(toss, dip if number < 2 else 1.0)
        seen.append(reader.read(Frame(image, number / 30, number)))
        consensus = agree(seen)
        if consensus is not None:
            return consensus.verdict
    return refuse(seen)


def outcome(verdict: Verdict, toss: Toss) -> str:
    """One word for the table."""
    if isinstance(verdict, Verified):
        return "right" if tuple(sorted(verdict.values)) == toss.values else "WRONG"
    return "no roll" if isinstance(verdict, NoRoll) else verdict.reason.value


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; status 1 if a value was accepted that is not the truth."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compartment", choices=GEOMETRIES, default="standard")
    parser.add_argument("--dice", choices=STYLES, default="white")
    parser.add_argument("--tosses", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--model", type=Path, help="folder of another model's manifest")
    options = parser.parse_args(arguments)
    cv2.setNumThreads(1)
    geometry = GEOMETRIES[options.compartment]
    camera = RigCamera(geometry, options.dice, options.seed)
    reader = TableReader(DieFinder(options.model), camera.calibration)
    chance = np.random.default_rng(options.seed)
    table: Counter[tuple[str, str]] = Counter()
    wrong = 0
    for number, toss in enumerate(
        itertools.islice(tosses(geometry, options.seed), options.tosses), 1
    ):
        verdict = read_toss(reader, camera, toss, float(chance.uniform(0.55, 0.75)))
        said = outcome(verdict, toss)
        table[toss.truth, said] += 1
        is_wrong = isinstance(verdict, Verified) and (toss.truth != "flat" or said == "WRONG")
        wrong += is_wrong and toss.truth != "between"
        if is_wrong or (toss.truth, said) not in {("flat", "right"), ("not flat", "no roll")}:
            lies = ", ".join(f"{d.value} {d.lie.value} {d.tilt_deg:.1f}°" for d in toss.dice)
            detail = verdict.detail if isinstance(verdict, Unreadable) else ""
            sys.stdout.write(f"{number:4}: {said} of [{lies}] {detail}\n")
    sys.stdout.write(f"{options.compartment}, {options.dice} dice, seed {options.seed}\n")
    for (truth, said), count in sorted(table.items()):
        of = sum(n for (other, _), n in table.items() if other == truth)
        sys.stdout.write(f"  {truth:<9} {said:<18} {count:5} of {of:<5} {count / of:7.2%}\n")
    sys.stdout.write(f"  accepted and not the truth: {wrong}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
