"""The network that looks at one die: what it is shown, what it learns from, the file it ends in."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs the train extra")

from models.training import lies
from models.training.scenes import SceneSet, make
from vision import lie
from vision.calibration import Calibration
from vision.model_card import ModelFile, digest_of

pytestmark = [
    # PyTorch says on every export that its older exporter, which keeps our graph small, is older.
    pytest.mark.filterwarnings("ignore:You are using the legacy:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The feature will be removed:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning"),
    pytest.mark.timeout(300),
]


@pytest.fixture(scope="module")
def shots(tmp_path_factory):
    return make(SceneSet("quick-lean-shots", 5, 50, 230), tmp_path_factory.mktemp("s"), 1, 600.0)


def test_windows_know_where_the_bottom_of_an_upright_die_is(shots, tmp_path):
    shown, truth = lies.cut_windows(shots, tmp_path)
    assert shown.shape[1:] == (lies.WIDE, lies.WIDE, 3)
    flat, leaning = truth[truth[:, 5] == 1], truth[truth[:, 5] == 0]
    assert len(flat) > 30
    assert len(leaning) > 20
    assert np.abs(flat[:, 3:5]).max() < 0.01, "of a flat die it is where the calibration says"
    assert np.hypot(*leaning[:, 3:5].T).min() > 0.05
    assert np.allclose(flat[:, 2], 1, atol=0.06), "and its top face is as large as it says"


def test_a_window_moved_and_mirrored_keeps_its_lean(shots, tmp_path):
    sets = [lies.cut_windows(shots, tmp_path)]
    for index in range(20):
        window, place, wanted = lies.Windows(sets, 3, 20)[index]
        again = lies.Windows(sets, 3, 20)[index]
        assert np.array_equal(window, again[0])
        assert window.shape == (lie.SIDE, lie.SIDE, 3)
        gaps = np.abs(
            np.hypot(*wanted[1:].numpy()) / np.hypot(*sets[0][1][:, 3:5].T).clip(1e-9) - 1
        )
        assert float(wanted[0]) == 1 or gaps.min() < 0.1
        assert 0.8 < float(place[2]) < 1.25


def test_training_ends_in_a_file_that_the_reader_loads(shots, tmp_path):
    net = lies.train([shots], tmp_path / "work", 2 * lies.BATCH, seed=1, workers=0)
    path = tmp_path / "lie.onnx"
    lies.export(net, path)
    assert path.stat().st_size < 1_500_000
    reader = lie.LieReader(ModelFile(path, digest_of(path)))
    table = Calibration.from_table(
        {
            "image_size": [300, 300], "floor_px_per_mm": 3.0, "height_mm": 300.0,
            "centre_px": [150.0, 150.0], "k1": 0.0, "compartment_radius_mm": 45.0,
            "compartment_mm": [0.0, 0.0], "tilt_deg": [0.0, 0.0], "die_mm": 16.0,
        }
    )  # fmt: skip
    face = np.array([(100, 100), (150, 100), (150, 150), (100, 150)], float)
    picture = np.full((300, 300, 3), 90, np.uint8)
    one, other = reader.look(picture, [face, face + 40], table)
    assert 0 <= one.flat_p <= 1
    assert 0 <= other.lean_deg <= 90
    assert reader.look(picture, [], table) == []
