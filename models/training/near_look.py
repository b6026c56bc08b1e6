"""Train the small network that looks at one die at a time (`vision/networks/near_look.py`).

Owns: its layers, its windows cut from calibrated sets of shots, their variation, the export. A
window is cut along the true corners. Then it is moved by a few hundredths of an edge and turned by
a degree or two, because the corners of the first network are wrong by as much. The drawings stay
where they are.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import cv2
import numpy as np
import torch
from rich.progress import track
from torch import Tensor
from torch.nn import functional

from models.training import scenes, small_net
from models.training.layout import FLAT_DEG, NOT_FLAT_DEG
from models.training.manifest import NEAR
from models.training.optimiser import Drawn, Run, fit
from models.training.small_net import RANGES, SmallNet
from vision.calibration import Calibration
from vision.networks.near_look import CHANNELS, FACE, drawings, windows
from vision.networks.windows import SIDE
from vision.pictures import load

MARGIN = 12
"""Pixels kept around a window, so that it can be moved and turned."""
WIDE = SIDE + 2 * MARGIN
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
class Cut:
    """The windows of one set."""

    shown: Path
    """File of the windows, (N, WIDE, WIDE, 3) uint8"""
    faces: np.ndarray
    """(N, 8, 2) float32, window pixels: top and bottom face of an upright die there."""
    truth: np.ndarray
    """(N, 3) float32: where the bottom face is beyond an upright die's (2, in edges), and how flat
    the die lies: 1 up to 1.5°, 0 from 6° on and on another die, between in between."""


def cut_windows(folder: Path, store: Path) -> Cut:
    """Every die of a set that is half in sight. Cut once, then read from `store`."""
    at = [store / f"{folder.name}-{what}.npy" for what in ("shown", "faces", "truth")]
    if not at[-1].exists():
        store.mkdir(parents=True, exist_ok=True)
        shown: list[np.ndarray] = []
        faces: list[np.ndarray] = []
        truths: list[list[float]] = []
        for path, row in track(list(scenes.rows(folder)), folder.name):
            image = load(path)
            calibration = Calibration.from_table(row["calibration"])
            for die in row["dice"]:
                if die["visible"] < _MIN_VISIBLE:
                    continue
                # A pixel of a label has its middle at halves, one of a calibration at wholes.
                (seen,) = windows([np.array(die["corners"], float) - 0.5], calibration)
                wide = seen.matrix.copy()
                wide[:, 2] += MARGIN
                shown.append(
                    cv2.warpAffine(image, wide, (WIDE, WIDE), borderMode=cv2.BORDER_REPLICATE)
                )
                faces.append(np.concatenate([seen.top, seen.bottom]))
                usual = seen.bottom.mean(axis=0) - seen.top.mean(axis=0)
                lean = (seen.matrix[:, :2] @ np.array(die["down"], float) - usual) / FACE
                flat = (NOT_FLAT_DEG - die["tilt_deg"]) / (NOT_FLAT_DEG - FLAT_DEG)
                truths.append([*lean, 0.0 if die["stacked"] else min(max(flat, 0.0), 1.0)])
        for path, what, kind in zip(
            at, (shown, faces, truths), (np.uint8, np.float32, np.float32), strict=True
        ):
            np.save(path, np.array(what, kind))
    return Cut(at[0], np.load(at[1]), np.load(at[2]))


@cache
def _mapped(shown: Path) -> np.ndarray:
    """The windows of a set, which may be larger than the memory."""
    return np.asarray(np.load(shown, mmap_mode="r"))


class NearWindows(Drawn):
    """Windows moved, turned and lit; of each (3,) as in `Cut.truth`."""

    def __init__(self, cuts: Sequence[Cut], seed: int, start: int, end: int) -> None:
        super().__init__(seed, start, end)
        self._cuts = cuts
        pairs = [(n, i) for n, cut in enumerate(cuts) for i in range(len(cut.truth))]
        is_flat = np.concatenate([cut.truth[:, 2] == 1 for cut in cuts])
        all_pairs = np.array(pairs)
        self._flat, self._other = all_pairs[is_flat], all_pairs[~is_flat]

    def draw(self, rng: np.random.Generator) -> tuple[Tensor, ...]:
        pool = self._flat if rng.random() < _FLAT_SHARE else self._other
        number, pick = pool[int(rng.integers(len(pool)))]
        cut = self._cuts[int(number)]
        angle = np.radians(rng.normal(0, _TURN_DEG))
        c, s = np.cos(angle), np.sin(angle)
        matrix = np.array([[c, -s, 0.0], [s, c, 0.0]])
        shift = rng.normal(0, _SHIFT * FACE, 2)
        matrix[:, 2] = (SIDE - 1) / 2 + shift - matrix[:, :2] @ np.full(2, (WIDE - 1) / 2)
        seen = cv2.warpAffine(
            lit(rng, _mapped(cut.shown)[pick]), matrix, (SIDE, SIDE),
            borderMode=cv2.BORDER_REPLICATE,
        )  # fmt: skip
        ring = cut.faces[pick].astype(np.float64)
        shown = cv2.merge((seen, *drawings(ring[:4], ring[4:])))
        x, y, flat = (float(value) for value in cut.truth[pick])
        # Quarter turns and mirrors change no pixel.
        for _ in range(int(rng.integers(4))):
            shown, x, y = np.rot90(shown), y, -x
        if rng.random() < 0.5:
            shown, x = shown[:, ::-1], -x
        return small_net.sample(shown, [x, y, flat])


def lit(rng: np.random.Generator, image: np.ndarray) -> np.ndarray:
    """Another light, lens and sensor, all of them gentle: side faces are a few pixels wide."""
    if rng.random() < 0.3:
        image = np.ascontiguousarray(image[..., rng.permutation(3)])
    if rng.random() < 0.15:
        grey = cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR)
        share = rng.random()
        image = np.asarray(cv2.addWeighted(image, 1 - share, grey, share, 0))
    levels = (np.arange(256) / 255.0)[:, None] ** np.exp(rng.normal(0, 0.25))
    gains = np.exp(rng.normal(0, 0.15) + rng.normal(0, 0.15, 3))
    table = np.clip(255 * levels * gains + rng.normal(0, 8), 0, 255).astype(np.uint8)
    image = np.asarray(cv2.LUT(image, table[:, None]))
    if rng.random() < 0.4:
        image = np.asarray(cv2.GaussianBlur(image, (0, 0), float(rng.uniform(0.3, 1.2))))
    grain = np.asarray(rng.normal(0, rng.uniform(0, 6), image.shape), np.float32)
    image = np.asarray(cv2.add(image, grain, dtype=cv2.CV_8U))
    if rng.random() < 0.3:
        quality = [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(60, 96))]
        image = np.asarray(cv2.imdecode(cv2.imencode(".jpg", image, quality)[1], cv2.IMREAD_COLOR))
    return image


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
    store = run.saved.parent / "windows"
    with multiprocessing.get_context("spawn").Pool(run.workers + 1) as pool:
        cuts = pool.map(partial(cut_windows, store=store), sets, chunksize=1)
    return fit(NearNet(), partial(NearWindows, cuts, seed), losses, run)


def export(net: NearNet, sets: Sequence[Path], work: Path, out: Path) -> Path:
    """See `small_net.ship`; the ranges are those of windows that it was trained on."""
    cuts = [cut_windows(folder, work / "windows") for folder in sets]
    return small_net.ship(net, NearWindows(cuts, 0, 0, RANGES), work, out)
