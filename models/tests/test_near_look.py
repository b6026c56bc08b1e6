"""The network that looks at one die: what it is shown, what it learns from, the file it ends in."""

from __future__ import annotations

from dataclasses import replace

import cv2
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


TABLE = {
    "image_size": [300, 300], "floor_px_per_mm": 3.0, "height_mm": 300.0,
    "centre_px": [150.0, 150.0], "k1": 0.0, "compartment_radius_mm": 45.0,
    "compartment_mm": [0.0, 0.0], "tilt_deg": [0.0, 0.0], "die_mm": 16.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def shots(tmp_path_factory):
    return make(SceneSet("quick shots taught leaning", 5, 50, 230), tmp_path_factory.mktemp("s"), 1)


def test_an_upright_die_is_drawn_over_a_flat_one_and_beside_a_leaning_one(shots):
    dice = training.shown_dice([shots])
    data, seen = training.NearWindows(dice, 3, 0, 60), set()
    for index in range(60):
        window, truth = data[index]
        x, y, flat = truth.tolist()
        on = training.NearWindows(dice, 3, index, 60)
        assert np.array_equal(window, on[0][0]), "a run that was stopped goes on with the same"
        assert window.shape == (near_look.CHANNELS, SIDE, SIDE)
        if flat == 1:
            assert np.hypot(x, y) < 0.015, "of a flat die it is where the calibration says"
        if flat == 0:
            assert np.hypot(x, y) > 0.09, "6° are a tenth of an edge"
        seen.add(flat)
        # The outline, drawn, reaches to where the bottom face of an upright die is.
        rows, columns = np.nonzero(np.asarray(window[4]) > 127)
        face_rows, face_columns = np.nonzero(np.asarray(window[3]) > 127)
        assert len(rows) >= len(face_rows)
        assert rows.min() <= face_rows.min()
        assert columns.max() >= face_columns.max()
    assert {0.0, 1.0} < seen


@pytest.mark.parametrize("seed", range(4))
def test_a_window_is_cut_along_its_die(seed, tmp_path, monkeypatch):
    """A red spot on the middle of the top face, a green one on that of the bottom face."""
    monkeypatch.setattr(training, "lit", lambda rng, image: image)
    monkeypatch.setattr(training, "_SHIFT", 0.0)
    picture, middle = np.full((300, 300, 3), 60, np.uint8), np.array([150.0, 150.0])
    down = np.array([12.0, 6.0 * (-1) ** seed])
    for at, colour in ((middle + down, (0, 250, 0)), (middle, (0, 0, 250))):
        cv2.circle(picture, at.astype(int).tolist(), 4, colour, -1)
    cv2.imwrite(str(tmp_path / "one.png"), picture)
    corners = middle + 24 * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    table = Calibration.from_table(TABLE)
    die = training.ShownDie(tmp_path / "one.png", table, corners, down, 0.0)
    other = replace(die, flat=1.0)
    window, (x, y, _) = training.NearWindows([die, other], seed, 0, 1)[0]
    shown = np.asarray(window).transpose(1, 2, 0)[..., :3].astype(int)
    top, bottom = (
        np.argwhere(np.abs(shown - colour).max(axis=2) < 90).mean(axis=0)[::-1]
        for colour in ((0, 0, 250), (0, 250, 0))
    )
    assert np.hypot(*(top - (SIDE - 1) / 2)) < 1.5
    # The table's camera looks straight down here: an upright die's bottom face is under its top.
    assert (bottom - top) / near_look.FACE == pytest.approx([float(x), float(y)], abs=0.05)


def test_training_ends_in_a_file_that_the_reader_loads(shots, tmp_path):
    run = Run(tmp_path / "work" / "near.pt", 2 * BATCH, BATCH, workers=0, peak_rate=2e-3)
    net = training.train([shots], 1, run)
    path = training.export(net, [shots], tmp_path / "work", tmp_path)
    assert path.stat().st_size < 2_500_000
    reader = near_look.NearReader(ModelFile(path, digest_of(path)))
    table = Calibration.from_table(TABLE)
    face = np.array([(100, 100), (150, 100), (150, 150), (100, 150)], float)
    picture = np.full((300, 300, 3), 90, np.uint8)
    one, other = reader.look(picture, [face, face + 40], table)
    assert 0 <= one.flat_p <= 1
    assert 0 <= other.lean_deg <= 90
    assert reader.look(picture, [], table) == []


def test_clear_dice_differ_in_how_they_pass_light_on(tmp_path):
    folder = make(SceneSet("quick shots taught leaning clear", 5, 30, 230), tmp_path, 1)
    flat = [die.flat for die in training.shown_dice([folder])]
    assert flat.count(1.0) > 15
    assert flat.count(0.0) > 10
    glows = [random_glow(np.random.default_rng(seed)) for seed in range(40)]
    assert len({glow.near_edges > 0 for glow in glows}) == 2
    assert all(1.3 < glow.index < 1.7 for glow in glows)


def test_clear_dice_lie_on_streaks_and_patterns_too(tmp_path):
    folder = make(SceneSet("quick shots taught leaning clear patterned", 5, 50, 200), tmp_path, 1)
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
