"""From weights to the file that ships: a graph in float32, and in int8 at half the time.

Owns: the export of every network, the comparison of the file with the weights, which maps are
quantised and how their ranges are found. Must not know: what the network is for. Static
quantisation by onnxruntime (QDQ, one scale for each output channel of a weight): all layers but
those that the network spares, so that maps stay bytes from the picture to the heads. The heads give
coordinates and logits, of which a 255th of the range would be seen; they stay float32.

The picture needs no scaling: `image / 64 - 2`, with which every float network begins, is what a
byte means whose zero is 128 and whose step is 1/64.

A processor without dot products of bytes (x86 with AVX2 alone) adds pairs of byte products in 16
bits, where 255 x 127 twice does not fit, and saturates without a word. Every session is therefore
opened with the switch that computes these exactly (`vision.networks.session`). Weights of seven
bits would not need it, but read 488 instead of 493 of `n3v-round`'s 526 pictures exactly.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import torch
from onnx import TensorProto, helper
from onnxruntime.quantization import (
    CalibrationDataReader,
    CalibrationMethod,
    QuantFormat,
    QuantType,
    quantize_static,
)
from onnxruntime.quantization.shape_inference import quant_pre_process
from torch import nn

_OPSET = 17
_QUANTISED = ["Conv", "Add", "Resize", "Gemm"]
_STEP, _ZERO = 1 / 64, 128
_GAP, _MOST = 0.02, 1e-3
"""Of the numbers that file and weights give, at most this share differs by more than `_GAP`: where
two neighbours are equal, the finder's maximum filter may keep another."""


@dataclass(frozen=True, slots=True)
class Graph:
    """The form of an exported file."""

    file: str
    shown: str
    """Name of the input, uint8 (n, H, W, channels)."""
    said: Sequence[str]
    """Names of the outputs."""
    shapes: Sequence[tuple[int, ...]]
    """Of inputs on which file and weights are compared; the first is also exported with."""
    axes: Mapping[str, Mapping[int, str]]
    """Of each name, the axes of any length."""
    spared: Sequence[str] = ()
    """Layers that stay float32."""


def export(
    net: nn.Module, graph: Graph, examples: Iterator[np.ndarray], work: Path, out: Path
) -> Path:
    """Write the network in int8 in the folder `out`, its ranges from all examples; in float32 it
    stays in `work`. Returns the first. Raises as `export_exact`."""
    out.mkdir(parents=True, exist_ok=True)
    return quantise(export_exact(net, graph, work), graph, examples, out / graph.file)


def export_exact(net: nn.Module, graph: Graph, out: Path) -> Path:
    """Write the network in float32; ValueError when the file computes otherwise."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / graph.file
    torch.onnx.export(
        net.eval(), (torch.zeros(graph.shapes[0], dtype=torch.uint8),), str(path), dynamo=False,
        opset_version=_OPSET, input_names=[graph.shown], output_names=list(graph.said),
        dynamic_axes={name: dict(axes) for name, axes in graph.axes.items()},
    )  # fmt: skip
    compare(net, graph, path)
    return path


def compare(net: nn.Module, graph: Graph, path: Path) -> None:
    """Raise ValueError where the file does not compute what PyTorch does."""
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    for shape in graph.shapes:
        shown = torch.randint(0, 255, shape, dtype=torch.uint8)
        with torch.no_grad():
            wanted = net.eval()(shown)
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        found = session.run(list(graph.said), {graph.shown: shown.numpy()})
        for name, one, other in zip(graph.said, wanted, found, strict=True):
            off = np.abs(one.numpy() - other)
            if np.mean(off > _GAP) > _MOST:
                raise ValueError(f"{path}: {name} differs from PyTorch by {off.max()} at {shape}")


class _Examples(CalibrationDataReader):
    """What the network will be shown, one at a time."""

    def __init__(self, name: str, examples: Iterator[np.ndarray]) -> None:
        self._name, self._examples = name, examples

    def get_next(self) -> dict[str, np.ndarray] | None:
        example = next(self._examples, None)
        return None if example is None else {self._name: example[None]}


def quantise(exact: Path, graph: Graph, examples: Iterator[np.ndarray], path: Path) -> Path:
    """Write a float32 file in int8 to `path`."""
    with tempfile.TemporaryDirectory() as folder:
        plain, quantised = Path(folder) / "plain.onnx", Path(folder) / "quantised.onnx"
        quant_pre_process(str(exact), str(plain), skip_symbolic_shape=True)
        quantize_static(
            str(plain),
            str(quantised),
            _Examples(graph.shown, examples),
            quant_format=QuantFormat.QDQ,
            op_types_to_quantize=_QUANTISED,
            nodes_to_exclude=list(graph.spared),
            per_channel=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            # The rare large values of a map are its dice: ranges that cut off three in ten thousand
            # bring the mean error down to 43 thousandths, and miss a tenth of `chase-crops`.
            calibrate_method=CalibrationMethod.MinMax,
        )
        model = onnx.load(str(quantised))
    _begin_with_bytes(model.graph)
    _quantise_once(model.graph)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))
    return path


def _scale(
    graph: onnx.GraphProto, step_name: str, step: float, zero_name: str, zero: int
) -> list[str]:
    """Write down what a map's bytes mean; returns both names."""
    graph.initializer.append(helper.make_tensor(step_name, TensorProto.FLOAT, [], [step]))
    graph.initializer.append(helper.make_tensor(zero_name, TensorProto.UINT8, [], [zero]))
    return [step_name, zero_name]


def _begin_with_bytes(graph: onnx.GraphProto) -> None:
    """Let the first convolution take the picture's bytes as they are."""
    makers = {name: node for node in graph.node for name in node.output}
    first = next(node for node in graph.node if node.op_type == "Conv")
    chain = []
    node = makers[first.input[0]]
    while node.op_type != "Transpose":
        chain.append(node)
        node = makers[node.input[0]]
    kinds = [each.op_type for each in chain]
    if kinds != ["DequantizeLinear", "QuantizeLinear", "Sub", "Div", "Cast"]:
        raise ValueError(f"the network begins with {kinds[::-1]}, not with image / 64 - 2")
    names = _scale(graph, "picture_step", _STEP, "picture_zero", _ZERO)
    chain[0].input[:] = [node.output[0], *names]
    for dropped in chain[1:]:
        graph.node.remove(dropped)


def _quantise_once(graph: onnx.GraphProto) -> None:
    """Quantise each map after its ReLU only, not before it, too.

    onnxruntime then computes convolution and ReLU in one step, without a float32 map between two
    maps of bytes; and all 255 steps of a map are for what the ReLU leaves.
    """
    makers = {name: node for node in graph.node for name in node.output}
    values = {each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer}
    for relu in [node for node in graph.node if node.op_type == "Relu"]:
        back = makers[relu.input[0]]
        if back.op_type != "DequantizeLinear":
            continue
        before = makers[back.input[0]]
        relu.input[0] = before.input[0]
        users = [node for node in graph.node if relu.output[0] in node.input]
        graph.node.remove(before)
        graph.node.remove(back)
        if users[0].op_type == "QuantizeLinear":
            continue
        names = list(before.input[1:])
        if users[0].op_type == "Resize":  # to the same bytes as behind it
            names = next(list(n.input[1:]) for n in graph.node if users[0].output[0] in n.input)
        else:
            step, zero = (values[name] for name in names)
            name, most = relu.output[0], float(step) * (255 - int(zero)) / 255
            names = _scale(graph, f"{name}_scale", most, f"{name}_zero_point", 0)
        plain, coded = (f"{relu.output[0]}_{what}" for what in ("plain", "bytes"))
        place = list(graph.node).index(relu) + 1
        shown = relu.output[0]
        relu.output[0] = plain
        graph.node.insert(place, helper.make_node("QuantizeLinear", [plain, *names], [coded]))
        graph.node.insert(place + 1, helper.make_node("DequantizeLinear", [coded, *names], [shown]))
