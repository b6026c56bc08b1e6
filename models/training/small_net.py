"""What the networks that look at one die at a time share: layers, schedule, export.

Owns: how they learn, and the files. Must not know: what a window shows, nor what is asked of it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from models.training.finder import convolve
from models.training.optimiser import DEVICE, Drawn, Run, fit
from models.training.quantise import OPSET, quantise_windows
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
    things: ClassVar[str]
    """What the exported file calls several windows."""

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


Net = TypeVar("Net", bound=SmallNet)


def teach(
    net: Net, data: Callable[[int, int], Drawn],
    losses: Callable[[Tensor, Tensor], Mapping[str, Tensor]],
    saved: Path, samples: int, peak_rate: float, workers: int,
) -> Net:  # fmt: skip
    """The network after that many windows, its weights averaged over the last ones.

    `losses` of what the network tells and what is wanted are added up. A run that was stopped goes
    on from `saved`.
    """

    # A processor with AVX-512 takes half as long so: 1.9 ms a window instead of 4.0.
    is_short = DEVICE.type == "cpu"
    layout = torch.channels_last if is_short else torch.contiguous_format
    net.to(memory_format=layout)

    def rate(step: int, steps: int) -> float:
        """A short rise, along a half cosine to zero."""
        rise = min(1.0, step / 100)
        return peak_rate * rise * 0.5 * (1 + math.cos(math.pi * step / steps))

    def parts(windows: Tensor, wanted: Tensor) -> Mapping[str, Tensor]:
        with torch.autocast(DEVICE.type, torch.bfloat16, enabled=is_short):
            told = net(windows.float().to(memory_format=layout))
        return losses(told.float(), wanted)

    return fit(
        net,
        torch.optim.AdamW(net.parameters(), lr=peak_rate, weight_decay=0.02),
        data,
        parts,
        Run(saved, samples, BATCH, workers, rate, keep=lambda step: min(0.998, step / (step + 10))),
    )


def export(
    net: SmallNet, data: Drawn, exact: Path, path: Path, spared: Sequence[str] | None = None
) -> Path:
    """Write the network in float32 to `exact`, for any number of windows, and in int8 to `path`.
    The ranges are those of all windows of `data`. `spared`: see `quantise_windows`."""
    example = torch.zeros((3, SIDE, SIDE, net.channels), dtype=torch.uint8)
    torch.onnx.export(
        Exported(net.eval()).eval(), (example,), str(exact), dynamo=False,
        opset_version=OPSET, input_names=["windows"], output_names=["looks"],
        dynamic_axes={name: {0: net.things} for name in ("windows", "looks")},
    )  # fmt: skip
    windows = (data[i][0].numpy().transpose(1, 2, 0) for i in range(len(data)))
    path.parent.mkdir(parents=True, exist_ok=True)
    return quantise_windows(exact, windows, path, spared)
