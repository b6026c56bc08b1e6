"""The network: one pass, two output maps; `vision/networks/classifier.py` documents their channels.

Owns: the layers and the graph that is exported. Must not know: data, losses. Widths were chosen
for one thread of a small computer: about 1.2 GMAC for a 640×480 frame, a quarter of what
YOLOv8n spends at 640×640. Plain 3×3 convolutions with ReLU, because onnxruntime runs these at
full speed everywhere; depthwise ones save arithmetic but not time.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

MULTIPLE = 32
PEAK_CHANNELS = 8
VALUE_CHANNELS = 6
LIE_CHANNELS = 3
PARTS = 3


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
