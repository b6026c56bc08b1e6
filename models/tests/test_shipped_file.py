"""From weights to the file that ships, in whole numbers, and from a file back to weights."""

from __future__ import annotations

import numpy as np
import onnxruntime as ort
import pytest

pytest.importorskip("torch", reason="training needs the train extra")
pytest.importorskip("onnx", reason="training needs the train extra")

import onnx
import torch

from models.training import export
from models.training.network import DieNet
from models.training.quantise import quantise
from models.training.scenes import SceneSet, make
from models.training.unfold import unfold
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
    return make(SceneSet("quick loose", 5, 50, 128), tmp_path_factory.mktemp("scenes"), 1, 600.0)


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """Random weights with norms that do something, as after training."""
    folder = tmp_path_factory.mktemp("shipped")
    torch.manual_seed(4)
    net = DieNet()
    for module in net.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.2)
            module.running_var.uniform_(0.5, 1.5)
            module.bias.data.normal_(0, 0.3)
    torch.save({"average": net.state_dict()}, folder / "net.pt")
    return export.export(folder / "net.pt", folder)


def _maps(path, picture):
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(["peaks", "faces"], {"image": picture[None]})


def test_whole_numbers_say_nearly_what_floats_say(tmp_path, shipped, scenes):
    path = quantise(shipped, [scenes], tmp_path / "dice.onnx", count=25)
    assert path.stat().st_size < shipped.stat().st_size / 3
    picture = np.random.default_rng(2).integers(0, 255, (96, 128, 3)).astype(np.uint8)
    for exact, whole in zip(_maps(shipped, picture), _maps(path, picture), strict=True):
        # Heat has been through a maximum filter, which may keep another of two equal neighbours.
        a, b = exact[0, 1:].ravel(), whole[0, 1:].ravel()
        assert np.corrcoef(a, b)[0, 1] > 0.97


def test_first_layer_takes_the_picture_as_it_is(tmp_path, shipped, scenes):
    graph = onnx.load(str(quantise(shipped, [scenes], tmp_path / "dice.onnx", count=25))).graph
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


def test_unfolded_weights_compute_what_the_file_does_and_train_on(shipped, scenes):
    net = unfold(shipped, [scenes], pictures=6)
    picture = torch.randint(0, 255, (1, 3, 96, 128)).float()
    with torch.no_grad():
        peaks, faces, _ = net.eval()(picture)
    exact = _maps(shipped, picture[0].permute(1, 2, 0).numpy().astype(np.uint8))
    assert np.abs(exact[0][0, 1:] - peaks[0, 1:].numpy()).max() < 0.02
    assert np.abs(exact[1][0] - faces[0].numpy()).max() < 0.02
    norm = net.to8[0][1]
    assert float(norm.weight.detach().min()) > 0, (
        "a norm that passes values on must have its own scale"
    )


def test_a_file_that_computes_otherwise_is_refused(tmp_path, shipped, scenes):
    model = onnx.load(str(shipped))
    for node in model.graph.node:
        if node.op_type == "Conv" and node.name.endswith("merge4.0/Conv"):
            node.name = "/net/merge16/merge16.0/Conv"
    onnx.save(model, str(tmp_path / "other.onnx"))
    with pytest.raises((ValueError, RuntimeError)):
        unfold(tmp_path / "other.onnx", [scenes], pictures=2)
