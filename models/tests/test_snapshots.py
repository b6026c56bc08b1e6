"""Loose dice, their looks and floors, cut-out dice: what they promise to training."""

from __future__ import annotations

import numpy as np
import pytest

from models.training import augment, floors, looks, table_shots
from models.training.colours import contrast, from_srgb
from models.training.pictures import SCENES
from models.training.targets import Mark


@pytest.mark.parametrize("scene", SCENES)
def test_same_seed_draws_the_same_scene(scene):
    one, other = (SCENES[scene](np.random.default_rng([4, 2]), size=128) for _ in range(2))
    assert np.array_equal(one.image, other.image)
    assert one.labels == other.labels


def test_snapshots_look_from_anywhere_and_bare_surfaces_show_no_die():
    rng, draw = np.random.default_rng, SCENES["snapshot"]
    angles = [float(draw(rng([6, i]), size=96).notes["tilt_deg"]) for i in range(12)]
    assert min(angles) < 12 < 20 < max(angles) < 50.1
    assert not SCENES["surface"](rng(3), size=96).labels


@pytest.mark.parametrize(
    "style", [*looks.STYLES, looks.PLASTIC, looks.HOUSE, *looks.HELD_OUT_STYLES]
)
@pytest.mark.parametrize("seed", range(6))
def test_pips_can_be_told_from_the_body(style: str, seed: int):
    look = looks.random_look(np.random.default_rng(seed), style)
    assert look.style == style
    for face, mask in zip(look.faces, look.pips, strict=True):
        assert 0 <= face.min() <= face.max() <= 1
        tone = np.sqrt(face)
        gap = np.abs(tone[mask > 0.9].mean(axis=0) - np.median(tone[mask < 0.05], axis=0)).max()
        assert gap > 0.05


@pytest.mark.parametrize("level", [20, 110, 200])
def test_pips_in_the_colour_of_the_body_become_black_or_white(level: int):
    body = from_srgb(level, level, level)
    assert contrast(*looks._told_apart(body, body)) >= 0.25


@pytest.mark.parametrize("seed", range(12))
def test_a_house_die_has_large_white_pips_that_fit_its_face(seed: int):
    look = looks.random_look(np.random.default_rng(seed), looks.HOUSE)
    assert look.translucency > 0
    assert look.rounding < 0.03
    for value, (face, mask) in enumerate(zip(look.faces, look.pips, strict=True), 1):
        assert face[mask > 0.99].min() > 0.05  # white, whatever the house prints over it
        assert mask.mean() > 0.8 * value * np.pi * 0.095**2
        border = np.concatenate([mask[0], mask[-1], mask[:, 0], mask[:, -1]])
        assert border.max() < 0.5


@pytest.mark.parametrize("seed", range(12))
def test_faint_pips_differ_in_hue_and_hardly_in_lightness(seed: int):
    look = looks.random_look(np.random.default_rng(seed), looks.FAINT)
    six, mask = np.sqrt(look.faces[5]), look.pips[5]
    gap = np.median(six[mask > 0.99], axis=0) - np.median(six[mask < 0.01], axis=0)
    assert np.abs(gap).max() > 0.08
    assert abs(gap @ [0.11, 0.59, 0.3]) < 0.3


@pytest.mark.parametrize(
    "kind",
    sorted(
        {
            *floors.KINDS,
            *floors.SURFACES,
            *table_shots.VARIED_FLOORS,
            floors.LAYOUT,
            *floors.HELD_OUT_KINDS,
        }
    ),
)
def test_every_floor_has_colours_that_a_camera_can_see_and_clutter_on_it_too(kind: str):
    floor = floors.random_floor(np.random.default_rng(5), 96, 30.0, (kind,))
    for seed in range(3):
        assert floor.shape == (96, 96, 3)
        assert floor.dtype == np.float32
        assert 0 < floor.min() + 1e-3 <= floor.max() <= 1
        floors.clutter(np.random.default_rng(seed), floor, 30.0)


def _die(x: float, y: float, half: float, value: int = 3) -> Mark:
    ring = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], float) * half + [x, y]
    return Mark(ring, value, 1.0, np.array([0.0, 3.0]), 1.0)


def test_pasted_die_keeps_its_value_and_lies_beside_the_others():
    donor = np.full((120, 120, 3), (10, 20, 240), np.uint8)
    hits = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        image = np.full((256, 256, 3), 128, np.uint8)
        there = _die(128, 128, 30)
        pasted = augment.paste(rng, image, [there], donor, _die(60, 60, 25, value=5))
        if pasted is None:
            continue
        hits += 1
        assert (pasted.value, pasted.flat, pasted.has_down) == (5, -1.0, False)
        middle = pasted.corners.mean(axis=0)
        assert np.linalg.norm(middle - [128, 128]) > 42
        x, y = np.clip(middle, 0, 255).astype(int)
        assert image[y, x, 2] > 200
        assert np.all(image[125:131, 125:131, 2] <= 128)
    assert hits > 15


def test_a_repainted_die_stays_where_it_is_and_the_floor_as_it_was():
    image = np.random.default_rng(1).integers(0, 255, (128, 128, 3)).astype(np.uint8)
    changed = 0
    for seed in range(12):
        copy = image.copy()
        augment.repaint(np.random.default_rng(seed), copy, [_die(64, 64, 20)])
        different = (copy != image).any(axis=2)
        changed += bool(different.any())
        rows, columns = np.nonzero(different)
        assert not len(rows) or (
            rows.min() > 35 and columns.min() > 35 and rows.max() < 95 and columns.max() < 93
        )
    assert 2 <= changed <= 10
