"""Train the die finder: one pass, two output maps, which `vision/networks/classifier.py` documents.

Owns: its layers and the graph that is exported, its losses and their weights, how it learns. What
it is shown is in `samples.py`, what it is asked in `targets.py`. Widths were chosen for one thread
of a small computer: about 1.2 GMAC for a 640×480 frame, a quarter of what YOLOv8n spends at
640×640. Plain 3×3 convolutions with ReLU, because onnxruntime runs these at full speed everywhere;
depthwise ones save arithmetic but not time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from models.training.export import Graph
from models.training.manifest import DICE
from models.training.optimiser import Run, averaged, fit
from models.training.samples import Samples, SampleSource
from models.training.scenes import rows
from vision.pictures import load

BATCH = 24
_SIDE = 320
PEAK_CHANNELS = 8
VALUE_CHANNELS = 6
LIE_CHANNELS = 3
PARTS = 3

GRAPH = Graph(
    DICE, "image", ("peaks", "faces"),
    shapes=((1, 96, 128, 3), (1, 480, 640, 3), (1, 224, 352, 3)),
    axes={
        "image": {1: "height", 2: "width"},
        "peaks": {2: "height4", 3: "width4"},
        "faces": {2: "height8", 3: "width8"},
    },
    spared=("/net/peak/Conv", "/net/face/face.1/Conv", "/net/lie/lie.1/Conv"),
)  # fmt: skip

SHARES = {
    "heat": 1.5, "place": 1.0, "size": 2.0, "shape": 2.0, "value": 3.0, "flat": 4.0, "down": 6.0,
    "parts": 1.0,
}  # fmt: skip
"""Weights of the parts, chosen so that none dwarfs another after the first thousand steps."""

_NOT_FLAT_WEIGHT = 2.0
"""A cocked die counts for two flat ones: rarer in every set, and the costlier one to miss."""


def convolve(inputs: int, outputs: int, size: int = 3, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True),
    )


class Residual(nn.Module):
    """Two 3×3 convolutions through a waist of half the width, added to the input."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.Sequential(convolve(width, width // 2), convolve(width // 2, width))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.inner(x)


class DieNet(nn.Module):
    """Images (n, 3, H, W) in 0..255, BGR, to raw peak, face and part maps."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = convolve(3, 16, stride=2)
        self.to4 = convolve(16, 24, stride=2)
        self.to8 = nn.Sequential(convolve(24, 48, stride=2), Residual(48), Residual(48))
        self.to16 = nn.Sequential(convolve(48, 96, stride=2), Residual(96), Residual(96))
        self.to32 = nn.Sequential(convolve(96, 128, stride=2), Residual(128), Residual(128))
        self.lateral32 = convolve(128, 64, 1)
        self.lateral16 = convolve(96, 64, 1)
        self.merge16 = convolve(64, 64)
        self.lateral8 = convolve(48, 64, 1)
        self.merge8 = convolve(64, 64)
        self.down_to_24 = convolve(64, 24, 1)
        self.merge4 = convolve(24, 24)
        self.face = nn.Sequential(convolve(64, 32), nn.Conv2d(32, VALUE_CHANNELS, 1))
        # How a die lies is seen beside its top face, not in it: a layer of its own.
        self.lie = nn.Sequential(convolve(64, 32), nn.Conv2d(32, LIE_CHANNELS, 1))
        # Only for training: naming every cell floor, top face or side face teaches the layers
        # below what a cube is, long before tilt alone would.
        self.parts = nn.Conv2d(64, PARTS, 1)
        self.peak = nn.Conv2d(24, PEAK_CHANNELS, 1)
        with torch.no_grad():
            # A die's centre is rare: start from "nothing here", and from a die of 50 pixels.
            bias = torch.zeros(PEAK_CHANNELS)
            bias[0], bias[3] = -4.0, 3.6
            self.peak.bias.copy_(bias)

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x4 = self.to4(self.stem(images / 64.0 - 2.0))
        x8 = self.to8(x4)
        x16 = self.to16(x8)
        x32 = self.to32(x16)
        y16 = self.merge16(self.lateral16(x16) + _double(self.lateral32(x32)))
        y8 = self.merge8(self.lateral8(x8) + _double(y16))
        y4 = self.merge4(x4 + _double(self.down_to_24(y8)))
        faces = torch.cat([self.face(y8), self.lie(y8)], dim=1)
        return self.peak(y4), faces, self.parts(y8)


class ExportedDieNet(nn.Module):
    """The graph that ships: uint8 (n, H, W, 3) BGR in, decoded-ready maps out."""

    def __init__(self, net: DieNet) -> None:
        super().__init__()
        self.net = net

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        peaks, faces, _ = self.net(images.permute(0, 3, 1, 2).float())
        heat = torch.sigmoid(peaks[:, :1])
        highest = functional.max_pool2d(heat, 3, 1, 1)
        heat = heat * (heat >= highest).float()
        return torch.cat([heat, peaks[:, 1:]], dim=1), faces


def _double(x: Tensor) -> Tensor:
    return functional.interpolate(x, scale_factor=2.0, mode="nearest")


def losses(
    said: tuple[Tensor, Tensor, Tensor],
    heat: Tensor,
    shape: Tensor,
    face: Tensor,
    down_weight: Tensor,
    parts_wanted: Tensor,
) -> dict[str, Tensor]:
    """Each part of the loss with its weight; arguments as in `targets.Maps`, batched."""
    peaks, faces, cells = (maps.float() for maps in said)
    parts = {"heat": _heat_loss(peaks[:, 0], heat[:, 0], heat[:, 1])}
    weight = shape[:, 0]
    total = weight.sum().clamp(min=1.0)
    gap = functional.smooth_l1_loss(peaks[:, 1:], shape[:, 1:], beta=0.05, reduction="none")
    gap = gap * weight[:, None]
    parts["place"] = gap[:, 0:2].sum() / total
    parts["size"] = gap[:, 2].sum() / total
    parts["shape"] = gap[:, 3:7].sum() / total
    value = functional.cross_entropy(
        faces[:, :6], face[:, 1].long(), reduction="none", label_smoothing=0.02
    )
    parts["value"] = (value * face[:, 0]).sum() / face[:, 0].sum().clamp(min=1.0)
    flat = functional.binary_cross_entropy_with_logits(faces[:, 6], face[:, 3], reduction="none")
    told = face[:, 2] * torch.where(face[:, 3] > 0.5, 1.0, _NOT_FLAT_WEIGHT)
    parts["flat"] = (flat * told).sum() / told.sum().clamp(min=1.0)
    # 0.05 radii is 2 degrees of lean: a smaller lean must pull at full strength.
    lean = functional.smooth_l1_loss(faces[:, 7:9], face[:, 4:6], beta=0.05, reduction="none")
    parts["down"] = (lean * down_weight).sum() / down_weight.sum().clamp(min=1.0)
    parts["parts"] = functional.cross_entropy(cells, parts_wanted, ignore_index=3)
    return {name: SHARES[name] * part for name, part in parts.items()}


def _heat_loss(logits: Tensor, wanted: Tensor, weight: Tensor) -> Tensor:
    """Focal loss that forgives heat near a centre (Law and Deng 2018, CornerNet, eq. 1)."""
    p = torch.sigmoid(logits).clamp(1e-5, 1 - 1e-5)
    centre = (wanted >= 0.999).float()
    hit = centre * (1 - p) ** 2 * torch.log(p)
    miss = (1 - centre) * (1 - wanted) ** 4 * p**2 * torch.log(1 - p)
    return -((hit + miss) * weight).sum() / centre.sum().clamp(min=1.0)


def train(sources: list[SampleSource], size: int, seed: int, run: Run, begin: Path | None) -> Path:
    """Train to the end of the schedule, from a checkpoint or from nothing; returns the checkpoint
    with the averaged weights."""
    torch.manual_seed(seed)
    net = DieNet() if begin is None else restored(begin)
    fit(net, partial(Samples, sources, size, seed), losses, run)
    return run.saved


def restored(checkpoint: Path) -> DieNet:
    """The network with the averaged weights of a checkpoint."""
    net = DieNet()
    net.load_state_dict(averaged(checkpoint))
    return net


def examples(sets: Sequence[Path], count: int = 160) -> Iterator[np.ndarray]:
    """About `count` pictures, every so many-th of each set, `_SIDE` pixels square."""
    for folder in sets:
        here = [path for path, _ in rows(folder)]
        for path in here[:: max(1, len(here) * len(sets) // count)]:
            yield np.asarray(cv2.resize(load(path), (_SIDE, _SIDE)), np.uint8)
