"""The exported network in whole numbers: int8 weights, uint8 maps, half the time.

Owns: which layers are quantised and how the ranges of their maps are found. Must not know: what the
network is for. Static quantisation by onnxruntime (QDQ, one scale for each output channel of a
weight): every convolution but the last of each head, the sums and the enlargements between them, so
that maps stay bytes from the picture to the heads. The heads give coordinates and logits, of which
a 255th of the range would be seen; they stay float32.

The picture needs no scaling: `image / 64 - 2`, with which the float network begins, is what a byte
means whose zero is 128 and whose step is 1/64.

A processor without dot products of bytes (x86 with AVX2 alone) adds pairs of byte products in 16
bits, where 255 x 127 twice does not fit, and saturates without a word. Every session is therefore
opened with the switch that computes these exactly (`vision.networks.session`). Weights of seven
bits would not need it, but read 488 instead of 493 of `n3v-round`'s 526 pictures exactly.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import cv2
import numpy as np
import onnx
from onnx import TensorProto, helper
from onnxruntime.quantization import (
    CalibrationDataReader,
    CalibrationMethod,
    QuantFormat,
    QuantType,
    quantize_static,
)
from onnxruntime.quantization.shape_inference import quant_pre_process

from models.training.scenes import rows
from vision.pictures import load

OPSET = 17
DICE = "dice.onnx"
NEAR = "near.onnx"
PHOTO = "photo.onnx"
_HEADS = ("/net/peak/Conv", "/net/face/face.1/Conv", "/net/lie/lie.1/Conv")
_QUANTISED = ["Conv", "Add", "Resize"]
_SIDE = 320
_STEP, _ZERO = 1 / 64, 128


class _Examples(CalibrationDataReader):
    """What the network will be shown, one at a time."""

    def __init__(self, name: str, examples: Iterator[np.ndarray]) -> None:
        self._name, self._examples = name, examples

    def get_next(self) -> dict[str, np.ndarray] | None:
        example = next(self._examples, None)
        return None if example is None else {self._name: example[None]}


def _pictures(scenes: Sequence[Path], count: int) -> Iterator[np.ndarray]:
    """Every so many-th picture of each set, `_SIDE` pixels square."""
    for folder in scenes:
        here = [path for path, _ in rows(folder)]
        for path in here[:: max(1, len(here) * len(scenes) // count)]:
            yield np.asarray(cv2.resize(load(path), (_SIDE, _SIDE)), np.uint8)


def quantise(path: Path, scenes: Sequence[Path], out: Path, count: int = 160) -> Path:
    """Write the fp32 network `path` in int8 to `out`, its ranges from `count` rendered pictures."""
    return _quantise(path, _Examples("image", _pictures(scenes, count)), out, _QUANTISED, _HEADS)


def quantise_windows(
    path: Path, windows: Iterator[np.ndarray], out: Path, spared: Sequence[str] | None = None
) -> Path:
    """Write a network that looks at one die in int8; its ranges are those of `windows`, each
    (96, 96, C) uint8. The last two layers stay float32: they weigh, and cost next to nothing; or
    only the layers `spared` do, where the file must be small."""
    kinds = ["Conv", "Add"] if spared is None else ["Conv", "Add", "Gemm"]
    return _quantise(path, _Examples("windows", windows), out, kinds, spared or ())


def _quantise(
    path: Path, examples: _Examples, out: Path, kinds: Sequence[str], spared: Sequence[str]
) -> Path:
    with tempfile.TemporaryDirectory() as folder:
        plain, quantised = Path(folder) / "plain.onnx", Path(folder) / "quantised.onnx"
        quant_pre_process(str(path), str(plain), skip_symbolic_shape=True)
        quantize_static(
            str(plain),
            str(quantised),
            examples,
            quant_format=QuantFormat.QDQ,
            op_types_to_quantize=list(kinds),
            nodes_to_exclude=list(spared),
            per_channel=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            # The rare large values of a map are its dice: ranges that cut off three in ten thousand
            # bring the mean error down to 43 thousandths, and miss a tenth of `chase-crops`.
            calibrate_method=CalibrationMethod.MinMax,
        )
        model = onnx.load(str(quantised))
    _begin_with_bytes(model.graph)
    quantise_once(model.graph)
    onnx.checker.check_model(model)
    onnx.save(model, str(out))
    return out


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


def quantise_once(graph: onnx.GraphProto) -> None:
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
