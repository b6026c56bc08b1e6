"""From weights to the file that ships, in whole numbers."""

from __future__ import annotations

import numpy as np
import onnxruntime as ort
import pytest

pytest.importorskip("torch", reason="training needs the train extra")
pytest.importorskip("onnx", reason="training needs the train extra")

import onnx
import torch

from models.training import export, finder
from models.training.scenes import SceneSet, make
from vision.networks.model_card import MODELS

pytestmark = [
    # PyTorch says on every export that its older exporter, which keeps our graph small, is older.
    pytest.mark.filterwarnings("ignore:You are using the legacy:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The feature will be removed:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning"),
    pytest.mark.timeout(300),
]


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    return make(SceneSet("quick loose", 5, 50, 128), tmp_path_factory.mktemp("scenes"), 1)


@pytest.fixture(scope="module")
def net():
    """Random weights with norms that do something, as after training."""
    torch.manual_seed(4)
    net = finder.DieNet()
    for module in net.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.2)
            module.running_var.uniform_(0.5, 1.5)
            module.bias.data.normal_(0, 0.3)
    return finder.ExportedDieNet(net)


@pytest.fixture(scope="module")
def made(net, scenes, tmp_path_factory):
    """The files in float32 and in int8."""
    exact, out = (tmp_path_factory.mktemp(name) for name in ("exact", "out"))
    whole = export.export(net, finder.GRAPH, finder.examples([scenes], 25), exact, out)
    return exact / whole.name, whole


def _maps(path, picture):
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(["peaks", "faces"], {"image": picture[None]})


def test_whole_numbers_say_nearly_what_floats_say(made):
    exact, whole = made
    assert whole.stat().st_size < exact.stat().st_size / 3
    picture = np.random.default_rng(2).integers(0, 255, (96, 128, 3)).astype(np.uint8)
    for floats, bytes_ in zip(_maps(exact, picture), _maps(whole, picture), strict=True):
        # Heat has been through a maximum filter, which may keep another of two equal neighbours.
        a, b = floats[0, 1:].ravel(), bytes_[0, 1:].ravel()
        assert np.corrcoef(a, b)[0, 1] > 0.97


def test_first_layer_takes_the_picture_as_it_is(made):
    graph = onnx.load(str(made[1])).graph
    kinds = [node.op_type for node in graph.node]
    assert kinds[0] == "Transpose"
    assert not {"Div", "Sub", "QuantizeLinear"} & set(kinds[:2])
    assert "Div" not in kinds


@pytest.mark.parametrize("name", ["dice.onnx", "near.onnx", "photo.onnx"])
def test_no_map_is_rounded_twice_on_its_way_through_a_relu(name):
    graph = onnx.load(str(MODELS / name)).graph
    makers = {output: node.op_type for node in graph.node for output in node.output}
    before = {makers[node.input[0]] for node in graph.node if node.op_type == "Relu"}
    assert before <= {"Conv", "Add", "Gemm"}


def test_a_file_that_computes_otherwise_is_refused(made):
    with pytest.raises(ValueError, match="differs from PyTorch"):
        export.compare(finder.ExportedDieNet(finder.DieNet()), finder.GRAPH, made[0])
