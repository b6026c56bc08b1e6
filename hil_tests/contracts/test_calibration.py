"""A calibration made on the rig's pictures, of a card or of dice, agrees with the rig's own lens,
and the reader works with it: straight, tilted and distorted cameras, three compartments.
"""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pigpio
import pytest
from typer.testing import CliRunner

from hil_tests.reader import by_card
from hil_tests.rig.camera.optics import FITTED, Lens
from hil_tests.rig.camera.scene import Scene
from hil_tests.rig.plant.geometry import GEOMETRIES
from hil_tests.rig.plant.snapshot import SAMPLE, SceneryView
from shaker_ctl.commands.calibrate import app
from shaker_ctl.errors import CameraError
from shaker_ctl.settings import load
from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.process import VirtualPigpiod
from vision.calibrating.calibrate import Fit, View, calibrate
from vision.calibrating.target import Target
from vision.calibration import Calibration, CalibrationError
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.table.reader import TableReader

FLOOR_PX = 0.35
"""Largest distance, on the floor, between where the calibration and the true lens put a point."""

TOP_PX = 1.0
"""The same at the height of a flat die's top, with a ruler's height (±3 mm; read to 5 mm here):
1.4 % of a die's edge."""

SMALL_TOP_PX = 1.1
"""Of a camera with 2.9 pixels a millimetre over a card of 31 mm radius. A top that is one pixel off
is where that of a die has it that leans by 1.2°."""

RAISED_TOP_PX = 0.9
"""With a second picture, of the card raised by 40 mm."""

pytestmark = pytest.mark.timeout(300)

STRAIGHT = Lens()
BESIDE = Lens(offset_mm=(4.0, -3.0), tilt_deg=(-0.8, 0.5), centre_px=(318.0, 244.0))
HIGH = Lens(
    width=800, height=600, centre_px=(401.0, 297.0), height_mm=420.0, floor_px_per_mm=5.2,
    tilt_deg=(1.0, 1.2),
)  # fmt: skip
ASKEW = Lens(tilt_deg=(2.0, -1.5), k1=-0.2, centre_px=(330.0, 232.0), height_mm=296.0)
SMALL = Lens(width=420, height=420, centre_px=(208.0, 211.5), floor_px_per_mm=2.9, k1=-0.03)
LOOKS = {"straight": STRAIGHT, "askew": ASKEW, "beside": BESIDE, "high": HIGH, "fitted": FITTED}
SEEN = SceneryView(cover_open=1.0, hand=0.0, coin=False, lid_open=False, style="white")


@functools.cache
def scene_of(geometry: str, lens: Lens) -> Scene:
    """Painting a compartment takes seconds; lay cards into one and take them out again."""
    return Scene(GEOMETRIES[geometry], lens=lens, seed=3)


LYING = [(-20.0, -8.0), (2.0, 20.0), (18.0, -10.0)]
"""Where dice lie from the middle, mm, to the right and up, from left to right."""


def picture(scene: Scene) -> np.ndarray:
    """One frame in full light, of dice that lie flat."""
    samples = np.zeros(8, SAMPLE)
    samples["at_s"] = np.linspace(0.0, 0.1, 8)
    samples["light"] = 1.0
    for die, (x, y) in enumerate(LYING):
        samples["position_mm"][:, die] = (x, y, 8.0)
    samples["rotation"][:] = np.eye(3)
    return scene.render(0.1, samples, SEEN)


def measured(geometry: str, lens: Lens, views: int, card_mm: float = 0.0) -> Fit:
    return by_card.measured(
        scene_of(geometry, lens), GEOMETRIES[geometry], views=views, card_mm=card_mm
    )


CARD_MM = (0.3, 0.2)
"""The rig lays its card so far right of and below the compartment's middle."""


def off_px(
    fit: Fit,
    lens: Lens,
    radius_mm: float,
    z_mm: float,
) -> float:
    """Largest distance between the calibration and the truth over the compartment, pixels."""
    steps = np.linspace(-radius_mm, radius_mm, 9)
    grid = np.array([(x, y, z_mm) for x in steps for y in steps if np.hypot(x, y) < radius_mm - 2])
    true = lens.project(grid * (1, -1, 1))
    return float(np.hypot(*(fit.calibration.to_px(grid - (*CARD_MM, 0.0)) - true).T).max())


@pytest.mark.parametrize(
    ("geometry", "lens"),
    [
        *(("standard", lens) for lens in LOOKS.values()),
        ("rough", ASKEW),
        ("narrow", STRAIGHT),
    ],
)
def test_one_picture_and_a_ruler_place_every_point(geometry: str, lens: Lens) -> None:
    fit = measured(geometry, lens, 1)
    radius_mm = GEOMETRIES[geometry].radius_mm
    assert off_px(fit, lens, radius_mm, 0.0) <= FLOOR_PX
    assert off_px(fit, lens, radius_mm, 16.0) <= TOP_PX * lens.floor_px_per_mm / 4.4
    assert fit.calibration.floor_px_per_mm == pytest.approx(lens.floor_px_per_mm, rel=0.01)


@pytest.mark.parametrize("lens", [STRAIGHT, ASKEW], ids=["straight", "askew"])
def test_a_second_picture_of_the_raised_card_replaces_the_ruler(lens: Lens) -> None:
    fit = measured("standard", lens, 2)
    assert off_px(fit, lens, 50.0, 0.0) <= FLOOR_PX
    assert off_px(fit, lens, 50.0, 16.0) <= RAISED_TOP_PX
    assert fit.calibration.height_mm == pytest.approx(lens.height_mm, abs=1.5)
    assert fit.calibration.tilt_deg[0] == pytest.approx(lens.tilt_deg[0], abs=0.5)
    assert fit.calibration.tilt_deg[1] == pytest.approx(-lens.tilt_deg[1], abs=0.5)


def test_a_small_camera_above_a_small_compartment_knows_where_plumb_is() -> None:
    fit = measured("narrow", SMALL, 1)
    assert off_px(fit, SMALL, 32.0, 0.0) <= FLOOR_PX
    assert off_px(fit, SMALL, 32.0, 16.0) <= SMALL_TOP_PX


def test_a_thick_card_counts_with_its_thickness() -> None:
    fit = measured("standard", STRAIGHT, 1, card_mm=2.0)
    assert off_px(fit, STRAIGHT, 50.0, 0.0) <= FLOOR_PX


@pytest.mark.parametrize("lens", LOOKS.values(), ids=LOOKS)
def test_the_reader_works_with_the_calibration_that_was_measured(lens: Lens) -> None:
    fit = measured("standard", lens, 1)
    scene = scene_of("standard", lens)
    seen = TableReader(DieFinder(), fit.calibration).look(Frame(picture(scene)))
    assert seen.observation.quality is not None
    assert seen.observation.quality.fault is None
    dice = seen.observation.dice
    assert [die.x_mm for die in dice] == pytest.approx([x for x, _ in LYING], abs=1.0)
    assert [die.y_mm for die in dice] == pytest.approx([-y for _, y in LYING], abs=1.0)


def test_a_card_that_is_half_hidden_is_said(tmp_path: Path) -> None:
    target = Target(50.0)
    image = np.full((480, 640), 90, np.uint8)
    card = target.picture(4.0)
    image[40 : 40 + card.shape[0] // 3, 100 : 100 + card.shape[1]] = card[: card.shape[0] // 3]
    start = Calibration((640, 480), 4.0, 300.0, (320.0, 240.0), 50.0, 16.0)
    with pytest.raises(CalibrationError, match="lay it flat"):
        calibrate([View(image)], target, start)


def test_the_ring_light_is_dark_again_after_a_calibration(tmp_path: Path) -> None:
    """No camera is there, so that it ends with an error while the light is on."""
    config = tmp_path / "settings.toml"
    with VirtualPigpiod(Board()) as daemon:
        config.write_text(
            "[camera]\ndevice = '/dev/no-camera'\nopen_timeout_s = 0.5\n"
            f"[gpio]\nbackend = 'pigpio'\nport = {daemon.port}\n"
            f"[service]\nruntime_dir = '{tmp_path}'\n"
        )
        light = load(config).gpio.pins.ring_light
        witness = pigpio.pi("127.0.0.1", daemon.port)
        lit: list[int] = []
        witness.callback(light, pigpio.EITHER_EDGE, lambda _, level, __: lit.append(level))
        found = CliRunner().invoke(app, ["camera", "--config", str(config), "--yes"])
        assert isinstance(found.exception, CameraError)
        assert "light" not in found.output
        assert witness.read(light) == 0
        assert witness.get_PWM_dutycycle(light) == 0
        witness.stop()
    assert lit[0] == 1
