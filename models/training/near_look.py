"""Train the small network that looks at one die at a time (`vision/networks/near_look.py`).

Owns: its layers, its windows cut from calibrated sets of shots, their variation, the export. A
window is cut along the true corners. Then it is moved by a few hundredths of an edge and turned by
a degree or two, because the corners of the first network are wrong by as much. The drawings stay
where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from models.training import augment, scenes, small_net
from models.training.layout import FLAT_DEG, NOT_FLAT_DEG
from models.training.manifest import NEAR
from models.training.optimiser import Drawn, Run, fit
from models.training.samples import read
from models.training.small_net import RANGES, SmallNet
from vision.calibration import Calibration
from vision.networks.near_look import CHANNELS, FACE, drawings, windows
from vision.networks.windows import SIDE

_MIN_VISIBLE = 0.5
_SHIFT, _TURN_DEG = 0.027, 2.0
"""Deviations of corners as found from true ones: shift in edges, and turn."""
_FLAT_SHARE = 0.5
_UNIT = 0.05
"""Edges; an error of the bottom face's place that counts as one."""
_PLACE_SHARE = 0.3


class NearNet(SmallNet):
    """Windows (n, 5, 96, 96) in 0..255 to (n, 4): where the bottom face is beyond an upright
    die's (2, in tenths of an edge), the logit of flat, and ln of how uncertain the place is."""

    channels, outputs, things, file = CHANNELS, 4, "dice", NEAR
    spared = ("/net/weigh/weigh.1/Gemm", "/net/weigh/weigh.3/Gemm")

    def shipped(self, told: Tensor) -> Tensor:
        """(n, 3), as `vision.networks.near_look` has it."""
        return torch.cat([told[:, 2:3], 0.1 * told[:, :2]], dim=1)


@dataclass(frozen=True, slots=True)
class ShownDie:
    """One die of a calibrated picture."""

    path: Path
    calibration: Calibration
    corners: np.ndarray
    down: np.ndarray
    """Of its label, pixels."""
    flat: float
    """1 up to 1.5°, 0 from 6° on and on another die, between in between."""


def shown_dice(sets: Sequence[Path]) -> list[ShownDie]:
    """Every die of the sets that is half in sight."""
    found = []
    for path, row in (each for folder in sets for each in scenes.rows(folder)):
        calibration = Calibration.from_table(row["calibration"])
        for die in row["dice"]:
            if die["visible"] < _MIN_VISIBLE:
                continue
            flat = (NOT_FLAT_DEG - die["tilt_deg"]) / (NOT_FLAT_DEG - FLAT_DEG)
            flat = 0.0 if die["stacked"] else min(max(flat, 0.0), 1.0)
            # A pixel of a label has its middle at halves, one of a calibration at wholes.
            corners, down = np.array(die["corners"], float) - 0.5, np.array(die["down"], float)
            found.append(ShownDie(path, calibration, corners, down, flat))
    return found


class NearWindows(Drawn):
    """Windows moved, turned and lit; of each (3,): where the bottom face is beyond an upright die's
    (2, in edges), and how flat the die lies."""

    def __init__(self, dice: Sequence[ShownDie], seed: int, start: int, end: int) -> None:
        super().__init__(seed, start, end)
        self._flat = [die for die in dice if die.flat == 1]
        self._other = [die for die in dice if die.flat < 1]

    def draw(self, rng: np.random.Generator) -> tuple[Tensor, ...]:
        pool = self._flat if rng.random() < _FLAT_SHARE else self._other
        die = pool[int(rng.integers(len(pool)))]
        (seen,) = windows([die.corners], die.calibration)
        usual = seen.bottom.mean(axis=0) - seen.top.mean(axis=0)
        x, y = ((seen.matrix[:, :2] @ die.down - usual) / FACE).tolist()
        image = cv2.warpAffine(
            read(die.path), _moved(rng, seen.matrix), (SIDE, SIDE), borderMode=cv2.BORDER_REPLICATE
        )
        shown = cv2.merge((lit(rng, image), *drawings(seen.top, seen.bottom)))
        # Quarter turns and mirrors change no pixel.
        for _ in range(int(rng.integers(4))):
            shown, x, y = np.rot90(shown), y, -x
        if rng.random() < 0.5:
            shown, x = shown[:, ::-1], -x
        return small_net.sample(shown, [x, y, die.flat])


def _moved(rng: np.random.Generator, matrix: np.ndarray) -> np.ndarray:
    """The matrix of a window that is a little beside its place."""
    angle, middle = np.radians(rng.normal(0, _TURN_DEG)), (SIDE - 1) / 2
    c, s = np.cos(angle), np.sin(angle)
    moved = np.array([[c, -s], [s, c]]) @ (matrix - [[0, 0, middle], [0, 0, middle]])
    moved[:, 2] += middle + rng.normal(0, _SHIFT * FACE, 2)
    return moved


def lit(rng: np.random.Generator, image: np.ndarray) -> np.ndarray:
    """Another light, lens and sensor, all of them gentle: side faces are a few pixels wide."""
    if rng.random() < 0.3:
        image = np.ascontiguousarray(image[..., rng.permutation(3)])
    if rng.random() < 0.15:
        share = rng.random()
        image = np.asarray(cv2.addWeighted(image, 1 - share, augment.grey(image), share, 0))
    image = augment.toned(rng, image, (0.15, 0.15), lift=rng.normal(0, 8))
    if rng.random() < 0.4:
        image = np.asarray(cv2.GaussianBlur(image, (0, 0), float(rng.uniform(0.3, 1.2))))
    image = augment.grained(rng, image, rng.uniform(0, 6))
    return augment.packed(rng, image, 60) if rng.random() < 0.3 else image


def losses(said: Tensor, wanted: Tensor) -> dict[str, Tensor]:
    """Of the logit; and of where the bottom face is, less where the network itself says that it
    cannot tell (Kendall and Gal, 2017)."""
    told = said.float()
    flat = functional.binary_cross_entropy_with_logits(told[:, 2], wanted[:, 2])
    unsure = told[:, 3].clamp(-3, 3)
    off = functional.smooth_l1_loss(
        0.1 * told[:, :2] / _UNIT, wanted[:, :2] / _UNIT, reduction="none"
    )
    place = (off.sum(dim=1) * torch.exp(-unsure) + unsure).mean()
    return {"flat": flat, "place": _PLACE_SHARE * place}


def train(sets: Sequence[Path], seed: int, run: Run) -> NearNet:
    """The network after a run on those sets."""
    torch.manual_seed(seed)
    return fit(NearNet(), partial(NearWindows, shown_dice(sets), seed), losses, run)


def export(net: NearNet, sets: Sequence[Path], work: Path, out: Path) -> Path:
    """See `small_net.ship`; the ranges are those of windows that it was trained on."""
    return small_net.ship(net, NearWindows(shown_dice(sets), 0, 0, RANGES), work, out)
