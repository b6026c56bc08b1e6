"""Every processor must give the same answer: what is in the shipped files that decides it."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import numpy_helper

from vision.model_card import MODELS

SHOWN = {"dice.onnx": (1, 96, 128, 3), "near.onnx": (3, 96, 96, 5)}
PAIR_IN_16_BITS = 2**15 - 1
"""Where AVX2 is all there is, two products of a byte of the map and one of the weights are added in
16 bits, and saturate."""


def _weights(name: str) -> dict[str, np.ndarray]:
    """The quantised weights of each convolution of a shipped file."""
    graph = onnx.load(str(MODELS / name)).graph
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    makers = {output: node for node in graph.node for output in node.output}
    found = {}
    for node in graph.node:
        maker = makers.get(node.input[1]) if node.op_type in ("Conv", "Gemm", "MatMul") else None
        if maker is not None and maker.op_type == "DequantizeLinear":
            found[node.name] = stored[maker.input[0]]
    return found


@pytest.mark.parametrize("name", list(SHOWN))
def test_no_two_products_overflow_sixteen_bits(name):
    weights = _weights(name)
    assert len(weights) > 10
    for layer, values in weights.items():
        assert values.dtype == np.int8, layer
        assert 2 * 255 * int(np.abs(values.astype(int)).max()) <= PAIR_IN_16_BITS, layer


def _answers(name: str, shown: np.ndarray, *, is_precise: bool) -> list[np.ndarray]:
    options = ort.SessionOptions()
    options.log_severity_level = 3
    # Makes onnxruntime compute in 16 bits throughout where this processor would saturate.
    options.add_session_config_entry("session.x64quantprecision", str(int(is_precise)))
    session = ort.InferenceSession(str(MODELS / name), options, providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: shown})


@pytest.mark.parametrize(("name", "shape"), list(SHOWN.items()))
def test_the_fast_way_says_what_the_precise_one_says(name, shape):
    shown = np.random.default_rng(8).integers(0, 256, shape).astype(np.uint8)
    fast, precise = (_answers(name, shown, is_precise=each) for each in (False, True))
    for a, b in zip(fast, precise, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4)
