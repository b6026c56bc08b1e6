"""`shaker-ctl calibrate`: a target to scale, and a camera measured from pictures of it."""

from __future__ import annotations

import re
import zlib
from dataclasses import replace
from datetime import date
from pathlib import Path

import cv2
import numpy as np
import pytest
from typer.testing import CliRunner

from shaker_ctl import settings
from shaker_ctl.commands import calibrate
from shaker_ctl.commands.calibrate import app
from shaker_ctl.errors import CameraError, RefusedError, SettingsError
from shaker_ctl.reading.parameters import RADIUS_MM
from vision.calibrating.target import RADII_MM, Target
from vision.calibration import Calibration
from vision.tests.drawing import TABLE

TRUE = Calibration(
    (640, 480), 4.35, 303.0, (323.0, 238.0), 50.0, 16.0, k1=-0.1, tilt_deg=(1.0, -0.5)
)


RIGHT = Calibration(
    (640, 480), 3.3, 303.0, (318.0, 241.0), 50.0, 16.0, compartment_mm=(-36.0, 0.0), turn_deg=1.5
)
"""A lens 36 mm beside the other: both show the whole card."""


def shoot(file: Path, raised_mm: float = 0.0) -> Path:
    """A picture of the card under `TRUE`, as a camera would take it."""
    cv2.imwrite(str(file), seen_by(TRUE, raised_mm))
    return file


def shoot_both(file: Path, raised_mm: float) -> Path:
    """The same by a stereo camera."""
    cv2.imwrite(str(file), np.hstack([seen_by(lens, raised_mm) for lens in (TRUE, RIGHT)]))
    return file


def seen_by(lens: Calibration, raised_mm: float) -> np.ndarray:
    card = Target(50.0).picture(10.0)
    width, height = lens.image_size
    u, v = np.meshgrid(*[(np.arange(2 * n) + 0.5) / 2 - 0.5 for n in (width, height)])
    at = lens.to_mm(np.c_[u.ravel(), v.ravel()], raised_mm) * 10.0 + card.shape[0] / 2 - 0.5
    grid = at.astype(np.float32).reshape(2 * height, 2 * width, 2)
    seen = cv2.remap(card, grid[..., 0], grid[..., 1], cv2.INTER_LINEAR, borderValue=50)
    small = cv2.resize(seen, (width, height), interpolation=cv2.INTER_AREA) * 0.7 + 25.0
    noise = np.random.default_rng(3).normal(0.0, 2.0, small.shape)
    return np.clip(small + noise, 0, 255).astype(np.uint8)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "settings.toml"
    file.write_text("# a table\n[service]\ntable_name = 'Table 4'\n")
    return file


def invoke(*arguments: object) -> str:
    found = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.output


def test_the_camera_is_measured_and_the_settings_hold_it(config: Path, tmp_path: Path) -> None:
    floor, above = shoot(tmp_path / "floor.png", 0.3), shoot(tmp_path / "above.png", 40.3)
    output = invoke(
        *("camera", "--config", config, "--photo", floor, "--photo", above, "--raised", 40, "--yes")
    )
    p = settings.load(config)
    assert p.service.table_name == "Table 4"
    found = Calibration.from_table(p.camera.calibration_table())
    assert found.height_mm == pytest.approx(303.0, abs=1.5)
    grid = np.array([(x, y, 16.0) for x in (-30, 0, 30) for y in (-30, 0, 30)], float)
    assert np.hypot(*(found.to_px(grid) - TRUE.to_px(grid)).T).max() < 0.5
    assert "px/mm" in output
    picture = Path(p.camera.calibration.picture)
    assert cv2.imread(str(picture)) is not None
    assert p.camera.calibration.measured in picture.name


def test_no_card_in_the_picture_is_said_and_nothing_written(config: Path, tmp_path: Path) -> None:
    blank = tmp_path / "blank.png"
    cv2.imwrite(str(blank), np.full((480, 640, 3), 90, np.uint8))
    before = config.read_text()
    with pytest.raises(CameraError, match="corners of the target"):
        invoke("camera", "--config", config, "--photo", blank, "--yes")
    assert config.read_text() == before


def test_a_picture_of_another_size_is_asked_about_and_never_taken_unasked(
    config: Path, tmp_path: Path
) -> None:
    large = tmp_path / "large.png"
    seen = cv2.imread(str(shoot(tmp_path / "floor.png", 0.3)))
    assert seen is not None
    cv2.imwrite(str(large), cv2.resize(seen, (2363, 2363)))
    before = config.read_text()
    with pytest.raises(RefusedError, match="2363 x 2363 px, by the settings the camera's have 640"):
        invoke("camera", "--config", config, "--photo", large, "--yes")
    asked = CliRunner().invoke(
        app, ["camera", "--config", str(config), "--photo", str(large)], "n\n"
    )
    assert "The picture has 2363 x 2363 px, the table's have 640 x 480 px" in asked.output
    assert config.read_text() == before


def test_a_page_is_to_scale(tmp_path: Path) -> None:
    file = tmp_path / "target.pdf"
    invoke("target", "--radius", 50, "--out", file)
    data = file.read_bytes()
    assert b"/PrintScaling /None" in data
    stream = re.search(rb"stream\n(.*)\nendstream", data, re.DOTALL)
    assert stream is not None
    text = zlib.decompress(stream[1]).decode("latin-1")
    to_points = float(text.split(maxsplit=1)[0])
    assert to_points == pytest.approx(72.0 / 25.4, abs=1e-5)
    edges = {float(w) for w in re.findall(r"([\d.]+) [\d.]+ re", text)}
    assert max(edges) == pytest.approx(Target(50.0).square_mm)
    start = int(data.split(b"startxref\n")[1].split()[0])
    assert data[start:].startswith(b"xref")


def test_a_picture_knows_its_resolution_and_shows_the_target(tmp_path: Path) -> None:
    file = tmp_path / "target.png"
    invoke("target", "--radius", 40, "--out", file)
    data = file.read_bytes()
    place = data.index(b"pHYs")
    per_metre = int.from_bytes(data[place + 4 : place + 8], "big")
    image = cv2.imread(str(file))
    assert image is not None
    assert image.shape[0] / per_metre == pytest.approx(0.080, abs=0.0005)


@pytest.mark.parametrize("radius", ["nan", "inf", "0", "-5", "0.001", "1e9", "14.9", "301"])
def test_a_target_is_made_for_a_compartment_that_the_settings_allow(
    radius: str, tmp_path: Path
) -> None:
    assert RADII_MM == RADIUS_MM
    with pytest.raises(RefusedError, match="--radius is") as caught:
        invoke("target", f"--radius={radius}", "--out", tmp_path / "target.pdf")
    assert "15 to 300 mm" in caught.value.remedy
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("option", "value"),
    [("height", v) for v in ("0", "nan", "inf", "60", "5000", "-300")]
    + [("card", v) for v in ("nan", "500", "-5")]
    + [("rule", v) for v in ("0", "nan", "5000", "-50")]
    + [("raised", v) for v in ("nan", "inf", "0", "-40", "160")],
)
def test_a_wrong_measure_is_refused_by_option_value_and_range(
    option: str, value: str, config: Path, tmp_path: Path
) -> None:
    """The pictures are not even looked at: there are none in them."""
    floor = tmp_path / "floor.png"
    floor.touch()
    before = config.read_text()
    photos = ("--photo", floor) * (2 if option == "raised" else 1)
    with pytest.raises(RefusedError, match=rf"--{option} is .*{float(value):g} mm") as caught:
        invoke("camera", "--config", config, *photos, "--yes", f"--{option}={value}")
    assert re.search(r"\d", caught.value.remedy)
    assert config.read_text() == before


def test_a_picture_that_cannot_be_written_leaves_the_settings(config: Path, tmp_path: Path) -> None:
    before = config.read_text()
    floor = shoot(tmp_path / "floor.png", 0.3)
    config.with_name(f"camera-calibration-{date.today().isoformat()}.jpg").mkdir()
    with pytest.raises(RefusedError, match="cannot write the picture"):
        invoke("camera", "--config", config, "--photo", floor, "--yes")
    assert config.read_text() == before


def test_settings_that_would_be_refused_are_not_written(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = config.read_text()
    floor = shoot(tmp_path / "floor.png", 0.3)
    wrong = TABLE.to_table() | {"height_mm": 1e4}
    monkeypatch.setattr(Calibration, "to_table", lambda self: wrong)
    with pytest.raises(SettingsError, match=r"height_mm = 10000\.0"):
        invoke("camera", "--config", config, "--photo", floor, "--yes")
    assert config.read_text() == before
    assert not list(tmp_path.glob("camera-calibration*"))


def test_where_the_pins_cannot_be_reached_the_light_is_left_and_that_is_said(
    config: Path, tmp_path: Path
) -> None:
    """No GPIO daemon listens and no camera is there: the first is told, the second ends it."""
    config.write_text(
        f"[camera]\ndevice = '{tmp_path / 'none'}'\nopen_timeout_s = 0.5\n"
        f"[gpio]\nbackend = 'pigpio'\nport = 1\n[service]\nruntime_dir = '{tmp_path}'\n"
    )
    found = CliRunner().invoke(app, ["camera", "--config", str(config), "--yes"])
    assert "the ring light stays as it is" in found.output
    assert isinstance(found.exception, CameraError)


class Pins:
    """Pins that note what is asked of them; they are link and outputs as well."""

    def __init__(self) -> None:
        self.link = self.outputs = self
        self.asked: list[object] = []

    def open(self) -> None: ...

    def close(self) -> None:
        self.asked.append("link closed")

    def set_light(self, level: float) -> None:
        self.asked.append(level)

    def drive_cover(self, opened: bool) -> None:
        self.asked.append("cover opens" if opened else "cover closes")


@pytest.mark.parametrize(("driven", "opens"), [("true", ["cover opens"]), ("false", [])])
def test_a_driven_cover_is_open_for_the_picture(
    config: Path, monkeypatch: pytest.MonkeyPatch, driven: str, opens: list[object]
) -> None:
    pins = Pins()
    config.write_text(f"[table]\ncover_fitted = true\ncover_driven = {driven}\ncover_s = 0.5\n")
    monkeypatch.setattr("shaker_ctl.adapters.pins.daemon_network.enter", lambda: None)
    monkeypatch.setattr(calibrate, "make_pins", lambda _gpio: pins)
    with calibrate._lit_and_uncovered(settings.load(config)):
        assert pins.asked == [1.0, *opens]
    assert pins.asked == [1.0, *opens, 0.0, "cover closes", "link closed"]


STEREO = "[camera.second]\nfitted = true\n"


def test_both_lenses_of_a_stereo_camera_are_measured(config: Path, tmp_path: Path) -> None:
    config.write_text(config.read_text() + STEREO)
    files = [shoot_both(tmp_path / f"{mm}.png", mm + 0.3) for mm in (0, 16)]
    photos = [word for file in files for word in ("--photo", file)]
    invoke("camera", "--config", config, *photos, "--raised", 16, "--yes")
    found = settings.load(config).camera
    both = Calibration.from_table(found.calibration_table())
    assert both.right is not None
    assert both.right.turn_deg == pytest.approx(RIGHT.turn_deg, abs=0.1)
    # At the height of the dice both lenses have everything at one place.
    places = np.array([(x, y, 16.0) for x in (-30.0, 0.0, 30.0) for y in (-30.0, 0.0, 30.0)])
    for lens, true in ((both, TRUE), (both.right, RIGHT)):
        off = np.hypot(*(lens.to_px(places) - true.to_px(places)).T)
        assert off.max() < 0.4
    assert "second" in config.read_text()


def test_a_stereo_camera_is_not_measured_by_one_picture(config: Path, tmp_path: Path) -> None:
    config.write_text(config.read_text() + STEREO)
    before = config.read_bytes()
    photo = shoot_both(tmp_path / "floor.png", 0.3)
    with pytest.raises(RefusedError, match="height of the dice"):
        invoke("camera", "--config", config, "--photo", photo, "--yes")
    narrow = shoot(tmp_path / "narrow.png", 0.3)
    with pytest.raises(RefusedError, match="1280 x 480"):
        invoke(
            *("camera", "--config", config, "--photo", narrow, "--photo", narrow),
            *("--raised", 16, "--yes"),
        )
    assert config.read_bytes() == before


@pytest.mark.parametrize(("right", "width"), [(None, 1280), (RIGHT, 640)])
def test_a_camera_with_another_number_of_lenses_is_named(
    right: Calibration | None, width: int
) -> None:
    start = replace(TRUE, right=right)
    with pytest.raises(CameraError, match="stereo camera") as caught:
        calibrate._require_lenses(np.zeros((480, width, 3), np.uint8), start)
    assert "camera.second.fitted" in caught.value.remedy
    calibrate._require_lenses(np.zeros((600, 800, 3), np.uint8), start)  # a size to be found
