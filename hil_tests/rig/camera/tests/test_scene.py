"""Pictures show what is there: where it is, how the light was, and nothing that is not."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from hil_tests.rig.camera.optics import Lens, Sensor, Shutter, row_light
from hil_tests.rig.camera.scene import Scene
from hil_tests.rig.fault_set import Active
from hil_tests.rig.plant.dice import FACE_NORMALS, Dice
from hil_tests.rig.plant.geometry import GEOMETRIES, STANDARD
from hil_tests.rig.plant.looks import STYLES
from hil_tests.rig.plant.snapshot import SAMPLE, SceneryView

OPEN = SceneryView(cover_open=1.0, hand=0.0, coin=False, lid_open=False, style="white")


@pytest.fixture(scope="module")
def scene() -> Scene:
    return Scene(STANDARD, seed=1)


def at_rest(values=(1, 2, 3), *, seed: int = 3, light: float = 1.0) -> np.ndarray:
    dice = Dice(STANDARD, seed=seed)
    dice.lay(values)
    samples = np.zeros(12, SAMPLE)
    samples["at_s"] = np.arange(12) * 0.005
    samples["light"] = light
    samples["position_mm"] = dice.poses().position_mm
    samples["rotation"] = dice.poses().rotation
    return samples


def test_lens_agrees_with_its_calibration() -> None:
    lens = Lens(k1=0.0)
    floor = lens.project(np.array([[10.0, 0.0, 0.0], [0.0, 10.0, 0.0]]))
    assert floor[0] - lens.centre_px == pytest.approx([44.0, 0.0])
    assert floor[1] - lens.centre_px == pytest.approx([0.0, -44.0])
    top = lens.project(np.array([10.0, 0.0, 16.0]))
    assert top[0] - lens.centre_px[0] == pytest.approx(44.0 * 300.0 / 284.0)


def test_projection_and_its_inverse_agree_to_a_hundredth_of_a_pixel() -> None:
    lens = Lens()
    x, y = lens.plane_at(5.0, lens.slopes())
    back = lens.project(np.stack([x, y, np.full_like(x, 5.0)], axis=-1))
    v, u = np.mgrid[0 : lens.height, 0 : lens.width]
    assert np.abs(back - np.stack([u, v], axis=-1)).max() < 0.01


@pytest.mark.filterwarnings("error")
def test_a_lens_beside_the_tube_sees_the_floor_in_it_and_the_deck_around_it() -> None:
    right = replace(Lens(), floor_px_per_mm=3.3, offset_mm=(43.0, 0.0))
    picture = Scene(GEOMETRIES["narrow"], lens=right).render(0.0, at_rest(), OPEN)
    (x, y), (beside, _) = right.project(np.array([[0.0, 0.0, 0.0], [60.0, 0.0, 0.0]])).astype(int)
    assert picture[y, x].max() > 3 * picture[y, beside].max()


def test_white_dice_are_where_the_physics_says(scene: Scene) -> None:
    samples = at_rest()
    frame = scene.render(0.055, samples, OPEN)
    bright = cv2.inRange(frame, (150, 150, 150), (255, 255, 255))
    for i in range(3):
        centre = samples["position_mm"][-1, i] + np.array([0.0, 0.0, 8.0])
        u, v = scene.lens.project(centre[None])[0]
        near = bright[int(v) - 60 : int(v) + 60, int(u) - 60 : int(u) + 60]
        assert 3000 < np.count_nonzero(near) < 6500


@pytest.mark.parametrize("value", range(1, 7))
def test_top_face_shows_its_pips(scene: Scene, value: int) -> None:
    samples = at_rest((value, value, value), seed=value)
    frame = scene.render(0.055, samples, OPEN)
    rotation, position = samples["rotation"][-1, 0], samples["position_mm"][-1, 0]
    up = rotation @ np.array(FACE_NORMALS[value])
    assert up[2] == pytest.approx(1.0)
    side = rotation @ np.roll(np.array(FACE_NORMALS[value], float), 1)
    across = np.cross(up, side)
    corners = np.array([position + 8.0 * (up + a * side + b * across)
                        for a, b in ((-1, 1), (1, 1), (1, -1), (-1, -1))])  # fmt: skip
    quad = scene.lens.project(corners).astype(np.float32)
    square = np.array([[0, 0], [90, 0], [90, 90], [0, 90]], np.float32)
    face = cv2.warpPerspective(frame, cv2.getPerspectiveTransform(quad, square), (90, 90))
    dark = (cv2.GaussianBlur(face, (0, 0), 1.5).max(axis=2) < 110).astype(np.uint8)
    dark[:5] = dark[-5:] = dark[:, :5] = dark[:, -5:] = 0
    count, _, stats, _ = cv2.connectedComponentsWithStats(dark)
    assert sum(stats[k, cv2.CC_STAT_AREA] > 60 for k in range(1, count)) == value


def test_dip_of_the_light_darkens_only_the_rows_exposed_in_it(scene: Scene) -> None:
    samples = at_rest()
    samples["light"][9:] = 0.2  # From 45 ms on; the first row is exposed until 43 ms.
    frame = scene.render(0.055, samples, OPEN)
    whole = scene.render(0.055, at_rest(), OPEN)
    ratio = frame.mean(axis=(1, 2)) / whole.mean(axis=(1, 2))
    assert ratio[:20].min() > 0.9
    assert ratio[-20:].max() < 0.65


def test_row_light_is_the_mean_over_each_exposure() -> None:
    shutter = Shutter(exposure_s=0.01, readout_s=0.01)
    gain = row_light(shutter, 0.02, 3, np.array([0.0, 0.01]), np.array([1.0, 0.0]))
    assert gain == pytest.approx([1.0, 0.5, 0.0])


def test_resting_picture_changes_by_grain_alone(scene: Scene) -> None:
    samples = at_rest()
    first, second = (scene.render(0.055, samples, OPEN).astype(int) for _ in range(2))
    assert 1.0 < np.abs(first - second).mean() < 6.0
    assert np.abs(first.mean() - second.mean()) < 0.3


def test_a_picture_that_stands_still_never_comes_back() -> None:
    # Few columns, but every row, and every fifth looked at, as a reader does it.
    lens = Lens(width=8)
    sensor = Sensor(lens, seed=1)
    light = np.full((lens.height, lens.width, 3), 120, np.uint8)
    seen = {sensor.expose(light, np.ones(lens.height))[::5].tobytes() for _ in range(5_000)}
    assert len(seen) == 5_000


@pytest.mark.parametrize("opened", [0.0005, 0.001, 0.004, 0.01, 0.5, 0.9995])
def test_a_cover_may_stand_anywhere_on_its_way(scene: Scene, opened: float) -> None:
    view = SceneryView(cover_open=opened, hand=0.0, coin=False, lid_open=False, style="white")
    assert scene.render(0.055, at_rest(), view).shape == (480, 640, 3)


def test_closed_cover_is_nearly_black_and_a_hand_hides_the_floor(scene: Scene) -> None:
    samples = at_rest()
    closed = SceneryView(cover_open=0.0, hand=0.0, coin=False, lid_open=False, style="white")
    assert scene.render(0.055, samples, closed).mean() < 22.0
    hand = SceneryView(cover_open=1.0, hand=1.0, coin=False, lid_open=False, style="white")
    change = np.abs(
        scene.render(0.055, samples, hand).astype(int)
        - scene.render(0.055, samples, OPEN).astype(int)
    )
    assert change.mean() > 20.0


@pytest.mark.parametrize("style", list(STYLES))
def test_every_style_is_painted_at_rest_and_in_motion(scene: Scene, style: str) -> None:
    view = SceneryView(cover_open=1.0, hand=0.0, coin=True, lid_open=False, style=style)
    samples = at_rest()
    still = scene.render(0.055, samples, view)
    samples["position_mm"][:, 0, 0] += np.linspace(-12.0, 0.0, 12)
    moving = scene.render(0.055, samples, view)
    assert still.shape == moving.shape == (480, 640, 3)
    assert np.abs(still.astype(int) - moving.astype(int)).max() > 60


FLAWS: list[tuple[Active, int, int | None]] = [
    ({"die_chipped": {"corner": 8.0, "depth_mm": 4.0}}, 2, 5),  # corner 8 is of 1, 2 and 3
    ({"die_misspotted": {"face": 6.0, "shows": 1.0}}, 6, 1),
    ({"pip_lost": {"face": 5.0, "left": 0.0}}, 5, 2),
    ({"die_of_another_set": {"style": "red"}}, 4, None),
]
"""A flaw, a value of a die that shows it, and one that hides it, where one does."""


@pytest.mark.parametrize(("flaw", "shows", "hides"), FLAWS, ids=[min(flaw) for flaw, *_ in FLAWS])
def test_a_flaw_shows_on_its_die_and_face_alone(
    scene: Scene, flaw: Active, shows: int, hides: int | None
) -> None:
    cases = [(1.0, shows, True), (2.0, shows, False), (1.0, hides, False)]
    for own, value, is_seen in (case for case in cases if case[1] is not None):
        samples = at_rest((value, 3, 3))
        whole = scene.render(0.05, samples, OPEN).astype(int)
        flaws = {name: {"die": own, **values} for name, values in flaw.items()}
        flawed = scene.render(0.05, samples, replace(OPEN, flaws=flaws)).astype(int)
        u, v = map(int, scene.lens.project(samples["position_mm"][-1, 0]))
        first_die = (slice(v - 40, v + 40), slice(u - 40, u + 40))
        differs = np.abs(flawed - whole)[first_die].max(axis=2) > 25  # beyond the grain
        assert bool(differs.sum() > 30) is is_seen
