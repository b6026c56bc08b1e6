"""What was measured goes into the settings file, and nothing else in the file changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from shaker_ctl import settings, settings_text
from shaker_ctl.adapters.camera.calibration import measured
from shaker_ctl.errors import SettingsError
from shaker_ctl.installation import told
from vision.calibrating.calibrate import Fit
from vision.calibration import Calibration

FIT = Fit(
    calibration=Calibration((640, 480), 4.3987, 301.25, (322.1, 237.9), 50.0, 16.0, -0.08),
    error_px=0.07,
    corners=52,
    sigma={"floor_px_per_mm": 0.05, "height_mm": 3.0, "tilt_deg": 0.3, "k1": 0.05},
    found=((np.zeros((1, 2)), np.zeros((1, 2))),),
)
TODAY = date(2026, 11, 21)
PICTURE = Path("/var/lib/shaker-ctl/calibration.jpg")


def write(file: Path, *fits: Fit, picture: Path = PICTURE) -> str:
    found = measured(fits or [FIT], TODAY, picture)
    settings_text.replace(file, told.with_keys(file, found.values, found.notes))
    return file.read_text()


@pytest.mark.parametrize(
    ("before", "kept"),
    [
        ("# mine\n[camera]\ndevice = 2\n", ["# mine", "device = 2"]),
        (
            "[camera]\ndevice = 2\n[camera.calibration]\nk1 = 0.2\n# old\n\n[lamp]\nunit = 3\n",
            ["device = 2", "[lamp]\nunit = 3"],
        ),
        ("[camera.calibration]  # by ruler\nk1 = 0.2\n[camera]\ndevice = 2\n", ["# by ruler"]),
        ("", []),
    ],
)
def test_only_the_keys_change_and_the_file_keeps_its_mode(
    tmp_path: Path, before: str, kept: list[str]
) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(before)
    file.chmod(0o640)
    after = write(file)
    assert all(text in after for text in kept)
    assert "k1 = 0.2" not in after
    assert after.count("[camera.calibration]") == 1
    found = settings.load(file).camera
    assert found.calibration.picture == str(PICTURE)
    calibration = Calibration.from_table(found.calibration_table())
    assert (calibration.height_mm, calibration.floor_px_per_mm) == (301.25, 4.3987)
    assert file.stat().st_mode & 0o777 == 0o640
    assert write(file) == after


def test_another_form_of_the_table_is_refused_and_left(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("[camera]\ncalibration = { k1 = 0.1 }\n")
    with pytest.raises(SettingsError, match="not under"):
        write(file)
    assert "k1 = 0.1" in file.read_text()


BY_HAND = """\
# the table in the corner
[camera]
device = 2  # the new one
# measured with a ruler, see the folder
[camera.calibration] # by ruler
# the lens is a Lensagon
height_mm = 295.0   # to the lens's rim
centre_px = [  # by a plumb line
  320.0,  # across
  240.0,
]  # twice
measured = "2026-01-01" # 40 corners
"k1" = -0.1

# the old box
# came from the cellar
[lamp]
unit = 3 # engraved
"""


def test_what_a_person_wrote_stays_where_it_stood(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(BY_HAND)
    after = write(file)
    assert after.startswith(BY_HAND.partition("height_mm")[0])
    assert after.endswith(BY_HAND.partition('"k1" = -0.1\n')[2])
    assert "height_mm = 301.25   # to the lens's rim\n" in after
    assert (
        "centre_px = [  # by a plumb line\n  322.1,  # across\n  237.9,\n]  # twice\n"
        f'measured = "2026-11-21" # {FIT.line}\n"k1" = -0.08\nimage_size = [640, 480]\n' in after
    )
    assert write(file) == after


def test_brackets_inside_of_a_value_begin_no_table(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('[camera.calibration]\npicture = """\n[lamp]\n# x"""\n[service]\n')
    after = write(file)
    assert "[lamp]" not in after
    assert after.endswith("\n[service]\n")


def test_line_ends_stay_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_bytes(b"[camera.calibration]\r\nk1 = 0.1  # old\r\n\r\n[lamp]\r\nunit = 3\r\n")
    write(file)
    assert b"  # old\r\n" in file.read_bytes()
    assert file.read_bytes().count(b"\n") == file.read_bytes().count(b"\r\n")


def test_a_link_stays_a_link_and_what_it_leads_to_keeps_its_mode(tmp_path: Path) -> None:
    real = tmp_path / "etc" / "table4.toml"
    real.parent.mkdir()
    real.write_text("[camera]\ndevice = 2\n")
    real.chmod(0o640)
    link = tmp_path / "settings.toml"
    link.symlink_to(Path("etc") / "table4.toml")
    write(link)
    assert link.is_symlink()
    assert settings.load(real).camera.calibration.height_mm == pytest.approx(301.25)
    assert real.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in real.parent.iterdir()] == ["table4.toml"]


@pytest.mark.parametrize("name", ["it's.jpg", 'a "quoted".jpg', "new\nline.jpg", "a\\b\x7f.jpg"])
def test_any_name_of_the_picture_can_be_written(tmp_path: Path, name: str) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("")
    write(file, picture=Path(name))
    assert settings.load(file).camera.calibration.picture == name


def test_both_lenses_of_a_stereo_camera_have_a_table(tmp_path: Path) -> None:
    second = replace(FIT.calibration, compartment_mm=(-29.0, 0.4), turn_deg=-0.21)
    both = replace(FIT, calibration=replace(FIT.calibration, right=second))
    file = tmp_path / "settings.toml"
    file.write_text("[camera]\ndevice = 2\n[camera.second]\nfitted = true\nk1 = 0.2\n")
    after = write(file, both, replace(FIT, corners=47))
    p = settings.load(file).camera
    assert p.second.fitted
    assert p.second.measured == "2026-11-21"
    assert "47 corners" in after
    read = Calibration.from_table(p.calibration_table())
    assert read.right is not None
    assert (read.right.compartment_mm, read.right.turn_deg) == ((-29.0, 0.4), -0.21)
    assert read.frame_size == (1280, 480)
