"""The page from which a table is wired says what the code does."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

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
    "motor supply (option)": "motor_supply",
}


HEADER = {
    2: 3, 3: 5, 4: 7, 5: 29, 6: 31, 7: 26, 8: 24, 9: 21, 10: 19, 11: 23, 12: 32, 13: 33, 14: 8,
    15: 10, 16: 36, 17: 11, 18: 12, 19: 35, 20: 38, 21: 40, 22: 15, 23: 16, 24: 18, 25: 22, 26: 37,
    27: 13,
}  # fmt: skip
"""Broadcom number to pin of the 40-pin header, the same on every Raspberry Pi that has one."""


def rows() -> list[list[str]]:
    """The rows of the pin table: signal, GPIO, header pin."""
    found = []
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[1].isdigit():
            found.append(cells)
    return found


def test_the_pin_table_names_every_pin_of_the_settings_and_no_other():
    pins = PinParameters(lid_flag=26, motor_supply=27).model_dump()
    assert {NAMES[row[0]]: int(row[1]) for row in rows()} == pins
    assert all(int(row[2]) == HEADER[int(row[1])] for row in rows())


def test_the_drawing_shows_every_pin_of_the_page_with_its_place_on_the_header():
    drawing = (shipped() / "wiring.svg").read_text("utf-8")
    assert sorted(re.findall(r">GPIO (\d+)<", drawing)) == sorted(row[1] for row in rows())
    shown = dict(re.findall(r">GPIO (\d+)<[^#]*?>(?:pin )?(\d+)<", drawing))
    assert shown == {row[1]: row[2] for row in rows()}


def test_the_page_and_the_drawing_begin_with_what_the_e_stop_does_not_do():
    first = PAGE.split("## Wiring\n\n")[1].split("![")[0]
    assert "shorted" in first
    assert "e-stop pressed" in first
    assert "e-stop pressed" in (shipped() / "wiring.svg").read_text("utf-8")


def test_the_page_does_not_say_that_it_ran_on_a_raspberry_pi():
    first = PAGE.split("## Install\n\n")[1].split("\n\n")[0]
    assert "meant for" in first
    assert "#what-was-not-tried" in first


@pytest.mark.parametrize("name", ["motor-off", "await-pigpiod", "shaker-ctl.rules"])
def test_every_file_that_an_installation_brings_is_explained(name: str):
    assert f"`{name}`" in PAGE


def test_the_rules_name_no_adapter_that_install_was_not_told_of_and_keep_modem_manager_off():
    rules = (shipped() / "shaker-ctl.rules").read_text("utf-8")
    assert "shaker-lamps" not in rules
    assert 'ENV{ID_MM_DEVICE_IGNORE}="1"' in rules


MACHINE = shipped() / "machine"
NETLIST = (MACHINE / "netlist.txt").read_text("utf-8")


def test_the_netlist_brings_every_pin_of_the_settings_to_its_place_on_the_header():
    nets = {line.partition(" ")[0]: line.split()[1:] for line in NETLIST.splitlines()[::-1] if line}
    for name, gpio in PinParameters(lid_flag=26, motor_supply=27).model_dump().items():
        assert f"PI.{HEADER[gpio]}" in nets[name], name


@pytest.mark.parametrize(
    "taken", ["", "D4.A", "D2.K", "R21.1", "R11.1", "Q1.D", "U10.PB1", "K1.31"]
)
def test_a_wire_that_is_left_out_is_named(taken: str, tmp_path: Path):
    (tmp_path / "netlist.txt").write_text(NETLIST.replace(f" {taken}", "") if taken else NETLIST)
    files = [MACHINE / "bom.csv", MACHINE / "lamp_box/firmware/board.h", tmp_path / "netlist.txt"]
    checked = subprocess.run([MACHINE / "check-netlist", *files], capture_output=True, check=False)
    assert checked.returncode == bool(taken), checked.stdout


@pytest.mark.skipif(not shutil.which("ngspice"), reason="no ngspice (Debian package)")
def test_en_falls_in_time_at_every_corner():
    subprocess.run(["make", "-s", "-C", MACHINE, "en_chain"], check=True)
