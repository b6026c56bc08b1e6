"""The labels say what the pictures show; what they are taught by comes back out."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from typer.testing import CliRunner

from models.training import augment, scenes
from models.training.__main__ import app
from models.training.arrange import arrange, flat_die, leaning, leaning_dice, overlap
from models.training.layout import Die, encoded, labels, look_down
from models.training.looks import random_look
from models.training.raster import Light, RasterScene, render
from models.training.targets import Mark, encode, flat_label, shape_numbers
from models.training.tosses import toss
from vision.networks.classifier import decode


@pytest.mark.parametrize("seed", range(20))
def test_all_six_faces_come_up_and_opposite_ones_add_up_to_seven(seed: int):
    rng = np.random.default_rng(seed)
    die = flat_die(rng, 1.0, (2, 5, 3, 4, 1, 6))
    assert np.allclose(die.rotation @ die.rotation.T, np.eye(3))
    assert np.linalg.det(die.rotation) == pytest.approx(1)
    assert die.values[die.top_face()] + die.values[die.top_face() ^ 1] == 7
    assert die.tilt_deg() < 1e-3


def test_projection_and_rays_agree():
    camera = look_down(320, 50, 9, 20, 35, k=0.15)
    points = np.array([[0.3, -0.4, 0.0], [1.0, 0.7, 1.0], [-1.2, 0.2, 0.5]])
    pixels = camera.project(points)
    rays = camera.rays(pixels[:, 0], pixels[:, 1])
    for point, ray in zip(points, rays, strict=True):
        toward = (point - camera.position) / np.linalg.norm(point - camera.position)
        assert np.allclose(ray / np.linalg.norm(ray), toward, atol=1e-4)


def test_flat_die_under_the_camera_is_labelled_as_a_square_of_its_size():
    die = Die(np.array([0, 0, 0.5]), np.eye(3), 1.0, (2, 5, 3, 4, 1, 6))
    camera = look_down(320, 60, 10, 0, 0)
    (truth,) = labels([die], camera)
    edges = np.linalg.norm(np.diff(np.array(truth.corners + truth.corners[:1]), axis=0), axis=1)
    # The top face is one edge nearer than the floor, where 60 px were asked for.
    assert np.allclose(edges, 60 * 10 / 9, atol=0.1)
    assert (truth.value, truth.tilt_deg) == (1, 0.0)
    assert np.allclose(truth.down, 0, atol=1e-3)


def test_drawn_face_fills_its_labelled_corners():
    rng = np.random.default_rng(5)
    look = random_look(rng, "white")
    look.rounding, look.ball = 0.01, 0.9
    die = Die(np.array([0.2, -0.1, 0.5]), np.eye(3), 1.0, (2, 5, 3, 4, 1, 6))
    camera = look_down(160, 60, 8, 10, 70)
    floor = np.zeros((64, 64, 3), np.float32)
    light = Light(np.ones(3, np.float32), [], 0.3)
    image = encoded(render(RasterScene([die], [look], camera, light, floor, 3.0)))
    (truth,) = labels([die], camera)
    mask = np.zeros((160, 160), np.uint8)
    corners = np.array(truth.corners)
    cv2.fillConvexPoly(mask, np.round(corners * 16).astype(np.int32), 1, cv2.LINE_8, 4)
    inside = cv2.erode(mask, np.ones((5, 5), np.uint8)) > 0
    bright = image.mean(axis=2) > 150
    assert bright[inside].mean() > 0.9
    assert truth.visible > 0.95


def test_a_die_is_visible_as_far_as_others_and_the_border_leave_it():
    camera = look_down(200, 40, 20, 0, 0)
    values = (2, 5, 3, 4, 1, 6)
    below = Die(np.array([0.0, 0.0, 0.5]), np.eye(3), 1.0, values)
    above = Die(np.array([0.5, 0.0, 1.5]), np.eye(3), 1.0, values, stacked=True)
    cut_off = Die(np.array([2.5, 1.5, 0.5]), np.eye(3), 1.0, values)
    shown = [die.visible for die in labels([below, above, cut_off], camera)]
    assert shown == pytest.approx([0.45, 1, 0.35], abs=0.1)
    assert len(labels([below, above], camera, strangers=1)) == 1


def test_tilt_is_measured_from_the_nearest_face():
    rng = np.random.default_rng(0)
    for degrees in range(45):
        die = leaning(rng, flat_die(rng, 1.0, (2, 5, 3, 4, 1, 6)), degrees)
        assert die.tilt_deg() == pytest.approx(degrees, abs=0.01)
        assert die.corners()[:, 2].min() == pytest.approx(0, abs=1e-9)


def test_every_second_die_leans_a_little():
    rng = np.random.default_rng(8)
    tilts = [die.tilt_deg() for _ in range(30) for die in leaning_dice(rng, 3, 2.5)]
    assert len(tilts) > 80
    assert 0.35 < np.mean([tilt < 0.01 for tilt in tilts]) < 0.65
    assert all(tilt < 0.01 or 1.99 < tilt < 16.01 for tilt in tilts)


def test_arranged_dice_do_not_overlap():
    rng = np.random.default_rng(2)
    dice = arrange(rng, 8, 3.0, 0.5, True)
    assert len(dice) >= 5
    for i, one in enumerate(dice):
        assert not any(overlap(one, other, -0.02) for other in dice[i + 1 :])


def test_labels_between_flat_and_not_flat_teach_nothing():
    assert [flat_label(t, False) for t in (0, 1.5, 3, 6, 20)] == [1, 1, -1, 0, 0]
    assert flat_label(0, True) == 0


@pytest.mark.parametrize("turn_deg", range(0, 180, 17))
def test_encoding_comes_back_as_the_same_face(turn_deg: int):
    angle = np.radians(turn_deg)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    squeeze = np.array([[1.0, 0.12], [0.0, 0.8]])
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * 24 @ turn.T @ squeeze.T + [70, 61]
    mark = Mark(corners, 4, 1.0, np.array([6.0, -3.0]), 1.0)
    maps = encode([mark], 128, 128)
    peaks = np.zeros((8, 32, 32), np.float32)
    peaks[0] = maps.heat[0] >= 0.999
    peaks[1:] = maps.shape[1:]
    faces = np.zeros((9, 16, 16), np.float32)
    faces[:6] = (maps.face[1] == np.arange(6)[:, None, None]) * 9
    faces[7:9] = maps.face[4:6]
    (die,) = decode(peaks, faces, 0.5)
    gaps = [np.abs(np.roll(corners, k, axis=0) - die.corners).max() for k in range(4)]
    assert min(gaps) < 0.05
    assert die.value == 4


def test_shape_numbers_do_not_depend_on_the_first_corner():
    corners = np.array([[0, 0], [40, 4], [38, 45], [-2, 41]], float)
    wanted = shape_numbers(corners)
    for k in range(4):
        for other in (np.roll(corners, k, axis=0), np.roll(corners, k, axis=0)[::-1]):
            assert np.allclose(shape_numbers(other), wanted)


def test_augmentation_moves_the_labels_with_the_picture():
    rng = np.random.default_rng(8)
    image = np.zeros((200, 200, 3), np.uint8)
    corners = np.array([[80, 70], [130, 70], [130, 120], [80, 120]], float)
    image[70:120, 80:130] = 255
    for _ in range(12):
        mark = Mark(corners, 1, 1.0, np.zeros(2), 1.0)
        warped, (moved,) = augment.warp(rng, image, [mark], 160)
        if moved.visible < 0.98:
            continue
        mask = np.zeros((160, 160), np.uint8)
        cv2.fillConvexPoly(mask, np.round(moved.corners * 16).astype(np.int32), 1, cv2.LINE_8, 4)
        inside = cv2.erode(mask, np.ones((5, 5), np.uint8)) > 0
        assert warped[inside].mean() > 245


@pytest.mark.parametrize("cocked", [0.0, 1.0])
def test_tossed_dice_rest_on_the_floor_and_lie_flat_or_not_as_wanted(cocked: float):
    rng = np.random.default_rng(4)
    rests = [toss(rng, 3, 1.9, [], 0.5, cocked) for _ in range(3)]
    assert {rest.is_cocked for rest in rests} == {bool(cocked)}
    for die in (die for rest in rests for die in rest.dice):
        assert die.corners()[:, 2].min() > -0.1
        assert np.hypot(*die.centre[:2]) < 1.9 + 0.5


@pytest.mark.parametrize(
    "wrong",
    [["--seed", "-1"], ["--count", "0"], ["--size", "32"], ["--processes", "0"],
     ["--out", "FILE/below"]],
)  # fmt: skip
def test_what_cannot_be_drawn_is_said_before_anything_is(tmp_path, monkeypatch, wrong):
    (tmp_path / "FILE").touch()
    monkeypatch.chdir(tmp_path)
    usual = ["scenes", "quick", "loose", "--seed", "1", "--count", "1"]
    ended = CliRunner().invoke(app, [*usual, *wrong])
    assert ended.exit_code == 2
    assert wrong[0] in ended.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["FILE"]


def test_a_set_has_whole_chunks(tmp_path):
    ended = CliRunner().invoke(
        app,
        ["scenes", "quick", "loose", "--seed", "7", "--count", "60", "--size", "80",
         "--processes", "1", "--out", str(tmp_path)],
    )  # fmt: skip
    folder = scenes.SceneSet("quick loose", seed=7, count=1, size=80).folder(tmp_path)
    assert str(folder) in ended.stdout
    assert len(list(scenes.rows(folder))) == 100, "sixty, rounded up"


@pytest.mark.parametrize("harm", ["row cut off", "picture gone", "no text"])
def test_a_damaged_chunk_is_drawn_again_and_comes_out_the_same(tmp_path, harm):
    one = scenes.SceneSet("quick surface", seed=7, count=scenes.CHUNK, size=80)
    folder = scenes.make(one, tmp_path, 1)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    rows = folder / "00000.jsonl"
    if harm == "row cut off":
        rows.write_bytes(rows.read_bytes()[:300])
    elif harm == "no text":
        rows.write_bytes(b"\xff\xfe")
    else:
        (folder / "000007.jpg").unlink()
    scenes.make(one, tmp_path, 1)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_picture_that_cannot_be_written_ends_no_chunk(tmp_path, monkeypatch):
    monkeypatch.setattr("cv2.imwrite", lambda *args: False)
    with pytest.raises(OSError, match="Is the disk full"):
        scenes._draw_chunk((0, scenes.SceneSet("quick surface", 7, 50, 80), tmp_path, 0))
    assert not list(tmp_path.glob("*.jsonl"))


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        ("slow loose", "renderer"),
        ("traced snapshot", "snapshot"),
        ("quick", "draws"),
        ("quick loose clear", "none"),
        ("quick shots clear taught", "in this order"),
        ("quick shots leaning leaning", "in this order"),
        ("quick shots blind", "in this order"),
        ("traced shots clear", "in this order"),
    ],
)
def test_a_kind_that_cannot_be_drawn_is_refused_with_what_there_is(kind, named):
    with pytest.raises(ValueError, match=named):
        scenes.require_kind(kind)


def test_what_has_nothing_held_out_cannot_be_held_out():
    scenes.require_kind("quick shots wild", held_out=True)
    with pytest.raises(ValueError, match="only loose and shots"):
        scenes.require_kind("quick snapshot", held_out=True)
