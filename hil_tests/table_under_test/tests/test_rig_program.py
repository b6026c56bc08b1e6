"""The files that a rig leaves for a table: a table starts with them, and a person's hand stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hil_tests.rig_program import table_files
from shaker_ctl import settings
from shaker_ctl.console import accounts
from shaker_ctl.settings_page import FOR_RIG


@pytest.fixture
def addresses(tmp_path: Path) -> dict[str, Any]:
    calibration = {
        "image_size": [640, 480],
        "floor_px_per_mm": 3.5,
        "height_mm": 295.0,
        "centre_px": [320.0, 240.0],
        "compartment_radius_mm": 50.0,
        "die_mm": 16.0,
        "measured": "2026-11-01",
    }
    line = {"service": "/dev/null", "person": str(tmp_path / "dealer-person")}
    return {
        "pigpiod": {"host": "127.0.0.1", "port": 40001},
        "camera": {"url": "http://127.0.0.1:40002/camera.mjpg", "calibration": calibration},
        "lamp": {"device": "/dev/null", "baudrate": 115200, "unit": 1},
        "console": {"technician": line, "dealer": line},
        "truth": str(tmp_path / "truth.jsonl"),
    }


def test_a_rig_leaves_settings_that_a_table_starts_with_and_people_who_may_log_in(
    tmp_path: Path, addresses: dict[str, Any]
) -> None:
    told = table_files(addresses)
    file = tmp_path / "settings.toml"
    assert f"table       shaker-ctl run --config {file}" in told
    standing = settings.load(file)
    settings.check_rules(standing, source=str(file))
    assert (standing.gpio.port, standing.camera.device) == (40001, addresses["camera"]["url"])
    for name, (value, _) in FOR_RIG.items():
        section, key = name.split(".")
        assert getattr(getattr(standing, section), key) == value
    assert {one.name for one in accounts.load(tmp_path / "users.toml")} == {
        *("fay", "dan", "tom", "sue")
    }


def test_a_rig_that_is_started_again_gives_its_new_addresses_and_leaves_the_rest(
    tmp_path: Path, addresses: dict[str, Any]
) -> None:
    table_files(addresses)
    file = tmp_path / "settings.toml"
    file.write_text(file.read_text("utf-8").replace("Demonstration 1", "Bench 3"), "utf-8")
    addresses["pigpiod"]["port"] = 40003
    table_files(addresses)
    standing = settings.load(file)
    assert (standing.gpio.port, standing.service.table_name) == (40003, "Bench 3")
