"""The finder reads drawn dice at any rotation and size of picture, and refuses what it must."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

from vision.errors import ModelError, VisionError
from vision.networks.classifier import DieFinder, FoundDie, decode
from vision.networks.model_card import MODELS
from vision.tests.drawing import SPOTS


@pytest.fixture(scope="module")
def finder() -> DieFinder:
    return DieFinder()


def draw(
    image: np.ndarray, value: int, centre: tuple[float, float], edge: float, turn_deg: float
) -> np.ndarray:
    """Draw a white die from straight above; returns its corners."""
    angle = np.radians(turn_deg)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * edge / 2 @ turn.T + centre
    shadow = np.round((square + np.array([5, 6])) * 16).astype(np.int32)
    soft = image.copy()
    cv2.fillConvexPoly(soft, shadow, (35, 50, 35), cv2.LINE_AA, 4)
    image[:] = cv2.GaussianBlur(soft, (0, 0), 3)
    cv2.fillConvexPoly(
        image, np.round(square * 16).astype(np.int32), (225, 228, 230), cv2.LINE_AA, 4
    )
    for u, v in SPOTS[value]:
        x, y = np.array([u, v]) * 0.25 * edge @ turn.T + centre
        at = (int(x * 16), int(y * 16))
        cv2.circle(image, at, int(0.09 * edge * 16), (20, 20, 20), -1, cv2.LINE_AA, 4)
    return square


def table(height: int, width: int) -> np.ndarray:
    grain = np.random.default_rng(1).normal(0, 3, (height, width, 3))
    return np.clip(np.array([60, 105, 45]) + grain, 0, 255).astype(np.uint8)


def nearest(dice: list[FoundDie], centre: tuple[float, float]) -> FoundDie:
    return min(dice, key=lambda die: float(np.linalg.norm(die.centre - centre)))


@pytest.mark.parametrize("value", range(1, 7))
def test_value_does_not_change_with_rotation(finder: DieFinder, value: int):
    for turn_deg in range(0, 90, 15):
        image = table(224, 224)
        draw(image, value, (112, 110), 70, turn_deg)
        dice = finder.find(image)
        assert [die.value for die in dice] == [value], f"turned by {turn_deg}°"


def test_corners_lie_where_the_face_was_drawn(finder: DieFinder):
    image = table(224, 256)
    square = draw(image, 5, (120, 104), 72, 20)
    corners = nearest(finder.find(image), (120, 104)).corners
    gaps = [np.abs(np.roll(square, k, axis=0) - corners).max() for k in range(4)]
    assert min(gaps) < 0.09 * 72


def test_corners_run_clockwise(finder: DieFinder):
    image = table(224, 224)
    draw(image, 6, (112, 112), 70, 33)
    corners = finder.find(image)[0].corners
    assert corners.shape == (4, 2)
    # The image's y points down: clockwise is a positive area here.
    assert cv2.contourArea(corners, oriented=True) > 0


@pytest.mark.parametrize("size", [(480, 640), (481, 643), (300, 200), (97, 150)])
def test_any_picture_size_is_read(finder: DieFinder, size: tuple[int, int]):
    image = table(*size)
    centre = (size[1] / 2, size[0] / 2)
    draw(image, 4, centre, 62, 10)
    die = nearest(finder.find(image), centre)
    assert die.value == 4
    assert np.linalg.norm(die.centre - centre) < 6


def test_three_dice_are_three(finder: DieFinder):
    image = table(480, 640)
    for value, centre, turn in ((2, (150, 200), 5), (3, (330, 300), 40), (6, (480, 150), 75)):
        draw(image, value, centre, 68, turn)
    dice = finder.find(image)
    assert sorted(die.value for die in dice) == [2, 3, 6]
    assert [die.score for die in dice] == sorted((die.score for die in dice), reverse=True)


def test_empty_floor_has_no_dice(finder: DieFinder):
    assert finder.find(table(480, 640)) == []


@pytest.mark.parametrize(
    "image",
    [
        np.zeros((64, 64), np.uint8),
        np.zeros((64, 64, 3), np.float32),
        np.zeros((64, 64, 4), np.uint8),
        np.zeros((0, 64, 3), np.uint8),
    ],
    ids=["grey", "float", "alpha", "empty"],
)
def test_other_kinds_of_picture_are_refused(finder: DieFinder, image: np.ndarray):
    with pytest.raises(VisionError, match="uint8"):
        finder.find(image)


def test_file_that_is_no_model_is_refused(tmp_path: Path):
    import hashlib

    garbage = b"not a model"
    for name in ("dice.onnx", "near.onnx", "photo.onnx"):
        (tmp_path / name).write_bytes(garbage)
    manifest = (MODELS / "manifest.toml").read_text("utf-8").splitlines()
    digest = hashlib.sha256(garbage).hexdigest()
    lines = [f'sha256 = "{digest}"' if line.startswith("sha256") else line for line in manifest]
    (tmp_path / "manifest.toml").write_text("\n".join(lines), "utf-8")
    with pytest.raises(ModelError, match="does not load"):
        DieFinder(tmp_path)


def test_two_peaks_in_one_die_are_one_die():
    peaks = np.zeros((8, 16, 16), np.float32)
    faces = np.zeros((9, 8, 8), np.float32)
    faces[2] = 5
    for column, score in ((8, 0.9), (10, 0.6)):
        peaks[:, 8, column] = (score, 0.5, 0.5, np.log(30), -1, 0, 0, 0)
    assert [die.value for die in decode(peaks, faces, 0.3)] == [3]


def test_touching_dice_stay_two():
    peaks = np.zeros((8, 32, 32), np.float32)
    faces = np.zeros((9, 16, 16), np.float32)
    # Edge 40 px, centres one edge apart: radius 28.3.
    for column in (8, 18):
        peaks[:, 8, column] = (0.9, 0.5, 0.5, np.log(40 / np.sqrt(2)), -1, 0, 0, 0)
    assert len(decode(peaks, faces, 0.3)) == 2


def test_the_library_that_runs_the_networks_writes_and_tells_nothing(tmp_path: Path) -> None:
    """Without the switch onnxruntime 1.32 keeps a database of what it will send to its maker."""
    code = (
        "import os, time; from vision.networks.classifier import DieFinder; DieFinder(); "
        "time.sleep(0.5); print(len(os.listdir('/proc/self/task')))"
    )
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("ORT_DISABLE_TELEMETRY", None)
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert list(tmp_path.iterdir()) == []
    assert run.stdout.strip() == "1"
