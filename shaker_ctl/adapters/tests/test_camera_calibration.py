"""The measured table goes into the settings file, and nothing else in the file changes."""

from __future__ import annotations

import tomllib
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from shaker_ctl import settings
from shaker_ctl.adapters.camera_calibration import table_text, write_table
from shaker_ctl.adapters.camera_parameters import CameraParameters
from shaker_ctl.errors import SettingsError
from vision.calibrate import Fit
from vision.calibration import Calibration

FIT = Fit(
    calibration=Calibration((640, 480), 4.3987, 301.25, (322.1, 237.9), 50.0, 16.0, -0.08),
    error_px=0.07,
    corners=52,
    sigma={"floor_px_per_mm": 0.05, "height_mm": 3.0, "tilt_deg": 0.3, "k1": 0.05},
    found=((np.zeros((1, 2)), np.zeros((1, 2))),),
)
TABLE = table_text(FIT, date(2026, 11, 21), Path("/var/lib/shaker-ctl/calibration.jpg"))


def test_the_table_is_what_the_settings_read_back() -> None:
    read = tomllib.loads(TABLE)["camera"]["calibration"]
    p = CameraParameters.model_validate({"calibration": read})
    calibration = Calibration.from_table(p.calibration_table())
    assert calibration.floor_px_per_mm == pytest.approx(4.3987)
    assert (p.calibration.measured, p.calibration.picture) == (
        "2026-11-21",
        "/var/lib/shaker-ctl/calibration.jpg",
    )


@pytest.mark.parametrize(
    ("before", "kept"),
    [
        ("# mine\n[camera]\ndevice = 2\n", ["# mine", "device = 2"]),
        (
            "[camera]\ndevice = 2\n[camera.calibration]\nk1 = 0.2\n# old\n\n[lamp]\nunit = 3\n",
            ["device = 2", "[lamp]\nunit = 3"],
        ),
        ("[camera.calibration]  # by ruler\nk1 = 0.2\n", []),
        ("", []),
    ],
)
def test_only_the_table_changes(tmp_path: Path, before: str, kept: list[str]) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(before)
    file.chmod(0o640)
    write_table(file, TABLE)
    after = file.read_text()
    assert all(text in after for text in kept)
    assert "k1 = 0.2" not in after
    assert after.count("[camera.calibration]") == 1
    assert settings.load(file).camera.calibration.height_mm == pytest.approx(301.25)
    assert file.stat().st_mode & 0o777 == 0o640
    write_table(file, TABLE)
    assert file.read_text() == after


def test_another_form_of_the_table_is_refused_and_left(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("[camera]\ncalibration = { k1 = 0.1 }\n")
    with pytest.raises(SettingsError, match="not under"):
        write_table(file, TABLE)
    assert "k1 = 0.1" in file.read_text()


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be written"):
        write_table(tmp_path / "none.toml", TABLE)
