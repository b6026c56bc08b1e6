"""The network that looks at one die: what it is shown, what it learns from, the file it ends in."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs the train extra")

import torch

from models.training import floors, scenes, table_shots
from models.training import near_look as training
from models.training.looks import random_glow
from models.training.optimiser import Run
from models.training.scenes import SceneSet, make
from models.training.small_net import BATCH
from vision.calibration import Calibration
from vision.networks import near_look
from vision.networks.model_card import ModelFile, digest_of
from vision.networks.windows import SIDE

pytestmark = [
    # PyTorch says on every export that its older exporter, which keeps our graph small, is older.
    pytest.mark.filterwarnings("ignore:You are using the legacy:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The feature will be removed:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning"),
    pytest.mark.timeout(300),
]


@pytest.fixture(scope="module")
def shots(tmp_path_factory):
    return make(
        SceneSet("quick shots taught leaning", 5, 50, 230), tmp_path_factory.mktemp("s"), 1, 600.0
    )


def test_an_upright_die_is_drawn_over_a_flat_one_and_beside_a_leaning_one(shots, tmp_path):
    cut = training.cut_windows(shots, tmp_path)
    assert np.load(cut.shown).shape[1:] == (training.WIDE, training.WIDE, 3)
    flat, leaning = cut.truth[cut.truth[:, 2] == 1], cut.truth[cut.truth[:, 2] == 0]
    assert len(flat) > 30
    assert len(leaning) > 20
    assert np.abs(flat[:, :2]).max() < 0.01, "of a flat die it is where the calibration says"
    assert np.hypot(*leaning[:, :2].T).min() > 0.09, "6° are a tenth of an edge"
    again = training.cut_windows(shots, tmp_path)
    assert np.array_equal(again.faces, cut.faces)


def test_a_window_moved_and_mirrored_keeps_its_lean(shots, tmp_path):
    cut = training.cut_windows(shots, tmp_path)
    leans = np.hypot(*cut.truth[:, :2].T)
    data = training.NearWindows([cut], 3, 0, 40)
    seen = set()
    for index in range(40):
        window, truth = data[index]
        on = training.NearWindows([cut], 3, index, 40)
        assert np.array_equal(window, on[0][0]), "a run that was stopped goes on with the same"
        assert window.shape == (near_look.CHANNELS, SIDE, SIDE)
        # float() keeps both from being rounded twice: the truths are float32.
        assert np.abs(leans - float(np.hypot(*truth[:2].numpy()))).min() < 1e-5
        seen.add(float(truth[2]) == 1)
        # The outline, drawn, reaches to where the bottom face of an upright die is.
        rows, columns = np.nonzero(np.asarray(window[4]) > 127)
        face_rows, face_columns = np.nonzero(np.asarray(window[3]) > 127)
        assert len(rows) >= len(face_rows)
        assert rows.min() <= face_rows.min()
        assert columns.max() >= face_columns.max()
    assert seen == {True, False}


def test_training_ends_in_a_file_that_the_reader_loads(shots, tmp_path):
    run = Run(tmp_path / "work" / "near.pt", 2 * BATCH, BATCH, workers=0, peak_rate=2e-3)
    net = training.train([shots], 1, run)
    path = training.export(net, [shots], tmp_path / "work", tmp_path)
    assert path.stat().st_size < 2_500_000
    reader = near_look.NearReader(ModelFile(path, digest_of(path)))
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


def test_clear_dice_differ_in_how_they_pass_light_on(tmp_path):
    folder = make(SceneSet("quick shots taught leaning clear", 5, 30, 230), tmp_path, 1, 600.0)
    cut = training.cut_windows(folder, tmp_path / "windows")
    assert (cut.truth[:, 2] == 1).sum() > 15
    assert (cut.truth[:, 2] == 0).sum() > 10
    glows = [random_glow(np.random.default_rng(seed)) for seed in range(40)]
    assert len({glow.near_edges > 0 for glow in glows}) == 2
    assert all(1.3 < glow.index < 1.7 for glow in glows)


def test_clear_dice_lie_on_streaks_and_patterns_too(tmp_path):
    folder = make(
        SceneSet("quick shots taught leaning clear patterned", 5, 50, 200), tmp_path, 1, 600.0
    )
    rows = list(scenes.rows(folder))
    assert {row["notes"]["floor"] for _, row in rows} <= set(table_shots.CLEAR_FLOORS)
    assert len({row["notes"]["floor"] for _, row in rows}) > 2
    assert {row["notes"]["style"] for _, row in rows} == {"translucent"}


def test_streaks_run_one_way():
    def unlike(seed: int) -> float:
        random = np.random.default_rng(seed)
        grey = floors.random_floor(random, 200, 40.0, (floors.BRUSHED,), 0.0).mean(axis=2)
        ways = np.gradient(grey)
        spread = np.linalg.eigvalsh(np.cov([way.ravel() for way in ways]))
        return float(spread[1] / spread[0])

    assert np.median([unlike(seed) for seed in range(9)]) > 4


def test_a_run_that_was_stopped_goes_on(shots, tmp_path):
    saved = tmp_path / "work" / "near.pt"
    steps = []
    for batches in (1, 2):
        training.train([shots], 1, Run(saved, batches * BATCH, BATCH, 0, 2e-3))
        steps.append(torch.load(saved, weights_only=True)["step"])
    assert steps == [1, 2]
