"""Back from the file that ships to weights that can be trained on.

Owns: undoing what the export folds. An export folds each norm into the convolution before it; the
norm is given back here with the statistics that the layer has on rendered pictures, so that the
network computes what the file does and trains on as if it had never been exported. The naming of
parts, a head that only training has, is not in the file and starts afresh.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn

from models.training.export import compare
from models.training.network import DieNet, ExportedDieNet
from models.training.samples import Samples, scene_source

_PICTURES = 480
_SIZE = 256


Folded = tuple[nn.Conv2d, nn.BatchNorm2d, Tensor]
"""A convolution, the norm after it, and the bias that the export made of that norm."""


def unfold(path: Path, scenes: list[Path], pictures: int = _PICTURES) -> DieNet:
    """The network of an exported fp32 file, its statistics from so many training pictures.

    Raises ValueError where it computes otherwise than the file.
    """
    net = DieNet().eval()
    samples = Samples([scene_source(f, 1.0) for f in scenes], _SIZE, 1, 0, pictures)
    shown = (samples[index][0][None].float() for index in range(len(samples)))
    measure(net, load(net, path), shown)
    compare(ExportedDieNet(net).eval(), path)
    return net


@torch.no_grad()
def load(net: nn.Module, path: Path) -> list[Folded]:
    """Put the weights of an exported fp32 file into `net`, whose norms only pass values on then,
    plus their bias: exact, but nothing to train on before `measure`."""
    modules = dict(net.named_modules())
    graph = onnx.load(str(path)).graph
    stored = {entry.name: numpy_helper.to_array(entry) for entry in graph.initializer}
    folded: list[Folded] = []
    for node in graph.node:
        if node.op_type not in ("Conv", "Gemm"):
            continue
        name = _module_name(node.name)
        layer = modules[name]
        assert isinstance(layer, nn.Conv2d | nn.Linear)
        layer.weight.copy_(torch.from_numpy(np.array(stored[node.input[1]])))
        bias = torch.from_numpy(np.array(stored[node.input[2]]))
        if layer.bias is not None:
            layer.bias.copy_(bias)
            continue
        stem, _, number = name.rpartition(".")
        norm = modules[f"{stem}.{int(number) + 1}"]
        assert isinstance(layer, nn.Conv2d)
        assert isinstance(norm, nn.BatchNorm2d)
        assert norm.running_mean is not None
        assert norm.running_var is not None
        norm.running_mean.zero_()
        norm.running_var.fill_(1 - norm.eps)
        norm.weight.fill_(1.0)
        norm.bias.copy_(bias)
        folded.append((layer, norm, bias))
    return folded


def _module_name(node: str) -> str:
    """`/net/to8/to8.1/inner/inner.0/inner.0.0/Conv` is `to8.1.inner.0.0`."""
    parts: list[str] = []
    for part in node.split("/")[2:-1]:
        if parts and part.startswith(parts[-1] + "."):
            parts[-1] = part
        else:
            parts.append(part)
    return ".".join(parts)


@torch.no_grad()
def measure(net: nn.Module, folded: list[Folded], shown: Iterable[Tensor]) -> None:
    """Give each norm the statistics that its layer has on these inputs; what `net` computes stays
    the same."""
    sums = {layer: [torch.zeros(()), torch.zeros(()), 0] for layer, _, _ in folded}

    def note(layer: nn.Module, _: object, out: Tensor) -> None:
        assert isinstance(layer, nn.Conv2d)
        sums[layer][0] = sums[layer][0] + out.sum(dim=(0, 2, 3))
        sums[layer][1] = sums[layer][1] + (out * out).sum(dim=(0, 2, 3))
        sums[layer][2] += out.shape[0] * out.shape[2] * out.shape[3]

    hooks = [layer.register_forward_hook(note) for layer, _, _ in folded]
    for each in shown:
        net(each)
    for hook in hooks:
        hook.remove()
    for layer, norm, bias in folded:
        total, squares, count = sums[layer]
        mean = total / count
        variance = (squares / count - mean * mean).clamp(min=1e-6)
        assert norm.running_mean is not None
        assert norm.running_var is not None
        norm.running_mean.copy_(mean)
        norm.running_var.copy_(variance)
        norm.weight.copy_(torch.sqrt(variance + norm.eps))
        norm.bias.copy_(bias + mean)
