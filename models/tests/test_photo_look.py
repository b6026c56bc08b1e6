"""The network that looks at one thing of a photograph: what it is shown, the file it ends in."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs the train extra")

import torch

from models.training import augment, impostors, near_look
from models.training import photo_look as training
from models.training.optimiser import Run
from models.training.samples import SampleSource, scene_source
from models.training.scenes import SceneSet, make
from models.training.small_net import BATCH
from models.training.targets import Mark
from vision.networks.model_card import ModelFile, digest_of
from vision.networks.photo_look import CHANNELS, EDGE, PhotoLooker
from vision.networks.windows import SIDE

pytestmark = [
    # PyTorch says on every export that its older exporter, which keeps our graph small, is older.
    pytest.mark.filterwarnings("ignore:You are using the legacy:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The feature will be removed:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning"),
    pytest.mark.timeout(300),
]

TOP, BOTTOM = (0, 0, 250), (0, 250, 0)
DOWN = np.array([-30.0, 18.0])
"""Pixels from the top face to the bottom face: this camera stands askew."""


@pytest.fixture
def plain(monkeypatch):
    """Windows as they are cut, without other light, litter and paint."""
    monkeypatch.setattr(augment, "relight", lambda rng, image: image)
    monkeypatch.setattr(training, "_altered", lambda rng, window, die: (window, die))


@pytest.fixture
def askew(tmp_path):
    """One die, red where its top face is and green where its bottom face is, from aside."""
    picture = np.full((260, 300, 3), 60, np.uint8)
    middle = np.array([150.0, 120.0])
    for at, colour in ((middle, TOP), (middle + DOWN, BOTTOM)):
        cv2.circle(picture, at.astype(int).tolist(), 7, colour, -1)
    path = tmp_path / "askew.png"
    cv2.imwrite(str(path), picture)
    corners = middle + 26 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    mark = Mark(corners=corners, value=5, flat=1.0, down=DOWN, visible=1.0)
    return SampleSource("askew", [(path, [mark])], 1.0)


def _place(window: torch.Tensor, colour: tuple[int, int, int]) -> np.ndarray | None:
    """Middle of what has that colour, window pixels; None where nothing has."""
    gap = np.abs(np.asarray(window).transpose(1, 2, 0).astype(int) - colour).max(axis=2)
    rows, columns = np.nonzero(gap < 90)
    return None if len(rows) < 20 else np.array([columns.mean(), rows.mean()])


def test_a_die_stands_upright_and_its_top_face_is_where_it_is_said_to_be(askew, plain):
    data = training.PhotoWindows([askew], 3, 0, 60)
    checked = 0
    for index in range(60):
        window, (is_die, value, x, y) = data[index]
        assert window.shape == (CHANNELS, SIDE, SIDE)
        top, bottom = _place(window, TOP), _place(window, BOTTOM)
        if not is_die or top is None or bottom is None:
            continue
        assert value == 5
        said = np.array([float(x), float(y)]) * EDGE + (SIDE - 1) / 2
        assert np.hypot(*(said - top)) < 2
        lean = np.degrees(np.arctan2(*(bottom - top)))
        assert abs(lean) < 40, "its bottom face lies below, as in a picture held upright"
        checked += 1
    assert checked > 25


def test_what_is_no_die_lies_beside_it_or_has_another_size(askew, plain):
    data = training.PhotoWindows([askew], 4, 0, 80)
    others = [window for window, wanted in (data[i] for i in range(80)) if not wanted[0]]
    assert len(others) > 20
    middle = np.full(2, (SIDE - 1) / 2)
    for window in others:
        top = _place(window, TOP)
        size = (np.abs(np.asarray(window).transpose(1, 2, 0).astype(int) - TOP).max(2) < 90).sum()
        usual = np.pi * (7 * EDGE / 52) ** 2
        is_apart = top is None or np.hypot(*(top - middle)) > 0.4 * EDGE
        assert is_apart or not 0.35 < size / usual < 3


def test_impostors_lie_in_the_middle_and_are_not_all_alike():
    seen = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        plain = np.full((SIDE, SIDE, 3), 128, np.uint8)
        painted = impostors.paint(rng, plain.copy(), EDGE)
        assert painted.shape == plain.shape
        changed = np.abs(painted.astype(int) - plain).max(axis=2) > 20
        rows, columns = np.nonzero(changed)
        assert len(rows) > 40
        if not changed[[0, -1]].any() and not changed[:, [0, -1]].any():
            assert np.hypot(columns.mean() - 47.5, rows.mean() - 47.5) < 20
        seen.append(changed)
    assert len({each.tobytes() for each in seen}) == 30


def test_the_same_window_comes_again(askew):
    data = training.PhotoWindows([askew], 5, 0, 10)
    for index in range(10):
        assert torch.equal(data[index][0], training.PhotoWindows([askew], 5, 0, 10)[index][0])


def test_unknown_values_and_places_teach_nothing():
    told = torch.zeros((3, 9), requires_grad=True)
    wanted = torch.tensor([[1.0, 3, 0.1, 0.2], [1.0, 0, 9, 9], [0.0, 0, 9, 9]])
    parts = training.losses(told, wanted)
    torch.stack(list(parts.values())).sum().backward()
    assert told.grad is not None
    assert told.grad[0, 1:].abs().min() > 0
    assert told.grad[1:, 1:].abs().max() == 0
    assert told.grad[:, 0].abs().min() > 0


@pytest.fixture(scope="module")
def near(tmp_path_factory):
    """A near look with random weights and norms that do something, and its checkpoint."""
    torch.manual_seed(3)
    net = near_look.NearNet()
    for module in net.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.2)
            module.running_var.uniform_(0.5, 1.5)
            module.bias.data.normal_(0, 0.3)
    path = tmp_path_factory.mktemp("near") / "near.pt"
    torch.save({"average": net.state_dict()}, path)
    return net, path


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory):
    return make(SceneSet("quick snapshot", 5, 50, 96), tmp_path_factory.mktemp("s"), 1)


def test_training_ends_in_a_small_file_that_the_reader_loads(snapshots, near, tmp_path):
    sources = [scene_source(snapshots, 1.0)]
    run = Run(tmp_path / "work" / "photo.pt", 2 * BATCH, BATCH, workers=0, peak_rate=2e-3)
    net = training.train(sources, near[1], 1, run)
    path = training.export(net, sources, tmp_path / "work", tmp_path)
    assert path.stat().st_size < 950_000
    looker = PhotoLooker(ModelFile(path, digest_of(path)))
    picture = np.full((300, 300, 3), 90, np.uint8)
    one, other = looker.look(picture, [(np.array([100.0, 90.0]), 40.0), (np.zeros(2), 9.0)])
    assert 0 <= one.die_p <= 1
    assert other.value_p.sum() == pytest.approx(1)
    assert looker.look(picture, []) == []


def test_it_begins_with_what_the_near_look_learnt(near):
    net, path = near
    begun = training.begin_from(path).eval()
    window = torch.randint(0, 255, (2, CHANNELS, SIDE, SIDE)).float()
    # A value of 128 is nothing to the network: so the drawings weigh nothing.
    blank = torch.full((2, 2, SIDE, SIDE), 128.0)
    with torch.no_grad():
        wanted = net.eval().trunk(torch.cat([window, blank], dim=1) / 64.0 - 2.0)
        assert torch.allclose(begun.trunk(window / 64.0 - 2.0), wanted, atol=1e-3)
