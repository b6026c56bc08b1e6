"""The page from which a table is wired says what the code does."""

from __future__ import annotations

import importlib.util
import re
from types import ModuleType

import pytest

from shaker_ctl.adapters.pins.gpio_parameters import PinParameters
from shaker_ctl.installation.places import shipped

PAGE = (shipped() / "README.md").read_text("utf-8")

NAMES = {
    "motor PWM": "motor_pwm",
    "motor EN": "motor_enable",
    "tach": "tach",
    "driver fault": "driver_fault",
    "compartment": "compartment",
    "cover": "cover",
    "e-stop": "estop",
    "player's button": "button",
    "ring light": "ring_light",
    "cover drive": "cover_drive",
    "latch": "latch_release",
    "lid flag (option)": "lid_flag",
}


def drawing() -> ModuleType:
    spec = importlib.util.spec_from_file_location("draw_wiring", shipped() / "draw_wiring.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows() -> list[list[str]]:
    """The rows of the pin table: signal, GPIO, header pin."""
    found = []
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[1].isdigit():
            found.append(cells)
    return found


def test_the_pin_table_names_every_pin_of_the_settings_and_no_other():
    pins = PinParameters(lid_flag=26).model_dump()
    assert {NAMES[row[0]]: int(row[1]) for row in rows()} == pins


def test_the_header_pins_are_those_of_the_gpios():
    header = drawing().HEADER
    assert all(int(row[2]) == header[int(row[1])] for row in rows())


def test_the_header_has_each_gpio_once_and_no_supply_or_ground():
    header = drawing().HEADER
    assert sorted(header) == list(range(2, 28))
    assert len(set(header.values())) == len(header)
    assert not set(header.values()) & {1, 2, 4, 6, 9, 14, 17, 20, 25, 27, 28, 30, 34, 39}


def test_the_drawing_is_of_the_settings_pins():
    assert (shipped() / "wiring.svg").read_text("utf-8") == drawing().draw(drawing().WIRED), (
        "draw it again: python systemd/draw_wiring.py > systemd/wiring.svg"
    )


def test_the_drawing_shows_every_pin():
    for pins in (drawing().WIRED, PinParameters()):
        shown = map(int, re.findall(r">GPIO (\d+)<", drawing().draw(pins)))
        assert sorted(shown) == sorted(pins.in_use())


@pytest.mark.parametrize("name", ["motor-off", "await-pigpiod", "shaker-ctl.rules"])
def test_every_file_that_an_installation_brings_is_explained(name: str):
    assert f"`{name}`" in PAGE
