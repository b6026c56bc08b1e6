"""A network of YOLOv8n's shape with random weights, for comparing times and nothing else.

Owns: the graph, written down from the published architecture (width 0.25, depth 0.33). It is built
when a bench asks for it and never stored.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

_CLASSES = 80
_BOX = 64


class _Graph:
    """Nodes and random weights, as they are added."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(0)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def node(self, kind: str, inputs: list[str], **attributes: Any) -> str:
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def constant(self, values: np.ndarray) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def conv(self, x: str, inputs: int, outputs: int, size: int = 3, stride: int = 1,
             is_plain: bool = False) -> str:  # fmt: skip
        """A convolution and, but for the last ones, SiLU."""
        scale = (inputs * size * size) ** -0.5
        weight = self.random.normal(0, scale, (outputs, inputs, size, size)).astype(np.float32)
        names = [x, self.constant(weight), self.constant(np.zeros(outputs, np.float32))]
        pad = size // 2
        y = self.node("Conv", names, strides=[stride] * 2, pads=[pad] * 4, kernel_shape=[size] * 2)
        return y if is_plain else self.node("Mul", [y, self.node("Sigmoid", [y])])

    def c2f(self, x: str, inputs: int, outputs: int, depth: int, has_shortcut: bool) -> str:
        """Split, a chain of bottlenecks, and everything together again."""
        half = outputs // 2
        parts = [self.conv(x, inputs, half, 1), self.conv(x, inputs, half, 1)]
        for _ in range(depth):
            y = self.conv(self.conv(parts[-1], half, half), half, half)
            parts.append(self.node("Add", [parts[-1], y]) if has_shortcut else y)
        joined = self.node("Concat", parts, axis=1)
        return self.conv(joined, half * (2 + depth), outputs, 1)

    def pooled(self, x: str, width: int) -> str:
        """SPPF."""
        parts = [self.conv(x, width, width // 2, 1)]
        for _ in range(3):
            parts.append(
                self.node("MaxPool", [parts[-1]], kernel_shape=[5, 5], strides=[1, 1], pads=[2] * 4)
            )
        return self.conv(self.node("Concat", parts, axis=1), width * 2, width, 1)

    def doubled(self, x: str) -> str:
        scales = self.constant(np.array([1, 1, 2, 2], np.float32))
        return self.node("Resize", [x, "", scales], mode="nearest")


def yolo_sized(height: int, width: int) -> bytes:
    """The serialised model: input `image` (1, 3, height, width), three outputs before decoding."""
    g = _Graph()
    x = g.conv(g.conv("image", 3, 16, 3, 2), 16, 32, 3, 2)
    p3 = g.c2f(g.conv(g.c2f(x, 32, 32, 1, True), 32, 64, 3, 2), 64, 64, 2, True)
    p4 = g.c2f(g.conv(p3, 64, 128, 3, 2), 128, 128, 2, True)
    p5 = g.pooled(g.c2f(g.conv(p4, 128, 256, 3, 2), 256, 256, 1, True), 256)
    n4 = g.c2f(g.node("Concat", [g.doubled(p5), p4], axis=1), 384, 128, 1, False)
    n3 = g.c2f(g.node("Concat", [g.doubled(n4), p3], axis=1), 192, 64, 1, False)
    m4 = g.c2f(g.node("Concat", [g.conv(n3, 64, 64, 3, 2), n4], axis=1), 192, 128, 1, False)
    m5 = g.c2f(g.node("Concat", [g.conv(m4, 128, 128, 3, 2), p5], axis=1), 384, 256, 1, False)
    outputs = []
    for y, channels in ((n3, 64), (m4, 128), (m5, 256)):
        heads = []
        for middle, out in ((_BOX, _BOX), (_CLASSES, _CLASSES)):
            inner = g.conv(g.conv(y, channels, middle), middle, middle)
            heads.append(g.conv(inner, middle, out, 1, is_plain=True))
        outputs.append(g.node("Concat", heads, axis=1))
    graph = helper.make_graph(
        g.nodes,
        "yolo-sized",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, height, width])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        g.weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return bytes(model.SerializeToString())
