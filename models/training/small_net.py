"""What the networks that look at one die at a time share: layers, and the form of the files.

Must not know: what a window shows, nor what is asked of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from models.training.export import Graph, export
from models.training.finder import convolve
from models.training.optimiser import Drawn
from vision.networks.windows import SIDE

BATCH = 96
RANGES = 240
"""Windows from which the ranges of a network in int8 are measured."""


class Pair(nn.Module):
    """Two 3×3 convolutions, added to the input."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.Sequential(
            convolve(width, width),
            nn.Conv2d(width, width, 3, 1, 1, bias=False),
            nn.BatchNorm2d(width),
        )

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(x + self.inner(x))


def trunk(channels: int) -> nn.Sequential:
    """From windows (n, channels, 96, 96) to maps (n, 96, 6, 6)."""
    return nn.Sequential(
        convolve(channels, 16, 5, 2), convolve(16, 16),
        convolve(16, 32, 3, 2), Pair(32),
        convolve(32, 64, 3, 2), Pair(64),
        convolve(64, 96, 3, 2), Pair(96),
    )  # fmt: skip


class SmallNet(nn.Module, ABC):
    """Windows (n, channels, 96, 96) in 0..255 to (n, outputs)."""

    channels: ClassVar[int]
    outputs: ClassVar[int]
    file: ClassVar[str]
    things: ClassVar[str]
    """What the exported file calls several windows."""
    spared: ClassVar[tuple[str, ...]]
    """Layers that stay float32 in the file."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = trunk(self.channels)
        cells = (SIDE // 16) ** 2
        # Where something is matters as much as what it is: no pooling.
        self.weigh = nn.Sequential(
            nn.Flatten(), nn.Linear(96 * cells, 128), nn.ReLU(), nn.Linear(128, self.outputs)
        )

    def forward(self, windows: Tensor) -> Tensor:
        return self.weigh(self.trunk(windows / 64.0 - 2.0))

    @abstractmethod
    def shipped(self, told: Tensor) -> Tensor:
        """What the exported file tells, of what `forward` does."""


class Exported(nn.Module):
    """The graph that ships: uint8 (n, 96, 96, channels) in; what `shipped` returns out."""

    def __init__(self, net: SmallNet) -> None:
        super().__init__()
        self.net = net

    def forward(self, windows: Tensor) -> Tensor:
        return self.net.shipped(self.net(windows.permute(0, 3, 1, 2).float()))


def sample(window: np.ndarray, wanted: Sequence[float]) -> tuple[Tensor, Tensor]:
    """A window (96, 96, channels) uint8 as planes, and what is wanted of it as float32."""
    planes = torch.from_numpy(np.ascontiguousarray(window.transpose(2, 0, 1)))
    return planes, torch.tensor(wanted, dtype=torch.float32)


def ship(net: SmallNet, data: Drawn, work: Path, out: Path) -> Path:
    """Write the network in int8 in the folder `out`, for any number of windows, its ranges from all
    windows of `data`; in float32 it stays in `work`. Returns the first."""
    windows = (data[i][0].numpy().transpose(1, 2, 0) for i in range(len(data)))
    graph = Graph(
        net.file, "windows", ("looks",),
        shapes=((3, SIDE, SIDE, net.channels),),
        axes={name: {0: net.things} for name in ("windows", "looks")},
        spared=net.spared,
    )  # fmt: skip
    return export(Exported(net), graph, windows, work, out)
