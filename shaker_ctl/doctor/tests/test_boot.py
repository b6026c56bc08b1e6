"""What a Pi must have and be told at its start: a missing daemon is named with the way to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from shaker_ctl.adapters.pins.gpio_parameters import PinParameters
from shaker_ctl.doctor.boot import CONFIG, DAEMONS, boot_settings, pwm_pins
from shaker_ctl.doctor.computer import Computer
from shaker_ctl.doctor.finding import Grade
from shaker_ctl.installation.places import shipped

PI_4, PI_5 = "Raspberry Pi 4 Model B Rev 1.5", "Raspberry Pi 5 Model B Rev 1.0"


@pytest.fixture
def pi(tmp_path: Path) -> Computer:
    return Computer(tmp_path, machine="aarch64")


def put(pi: Computer, name: str, text: str = "") -> None:
    path = pi.root / name.lstrip("/")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_daemon_that_trixie_does_not_have_is_named_with_the_way_to_it(pi: Computer) -> None:
    put(pi, CONFIG, "dtparam=audio=off\n")
    found = boot_settings(pi, PI_4)
    assert found.verdict is Grade.FAIL
    assert "apt install pigpio" in found.remedy
    assert "trixie" in found.remedy
    page = (shipped() / "README.md").read_text("utf-8")
    assert "make -C pigpio-79 pigpiod" in page  # the page that the remedy names


@pytest.mark.parametrize("daemon", DAEMONS)
def test_it_may_come_from_the_package_or_from_source(pi: Computer, daemon: str) -> None:
    put(pi, daemon)
    put(pi, CONFIG, "dtparam=audio=off\n")
    assert boot_settings(pi, PI_4).verdict is Grade.OK
    unit = (shipped() / "shaker-pigpiod.service").read_text("utf-8")
    assert f"ConditionFileIsExecutable=|{daemon}\n" in unit


@pytest.mark.parametrize(
    ("model", "config", "verdict"),
    [
        # Sound and the motor share a PWM.
        (PI_4, "dtparam=audio=on\n", Grade.WARN),
        (PI_4, "dtparam=i2c_arm=on,audio=on # as delivered\n", Grade.WARN),
        (PI_4, "#dtparam=audio=on\n", Grade.OK),
        (PI_4, "dtparam=audio=on\n[all]\ndtparam=audio=off\n", Grade.OK),
        (PI_4, "", Grade.OK),
        (PI_4, None, Grade.WARN),
        # A Pi 5 lets go of a dead process's pins.
        (PI_5, "dtparam=strict_gpiod\n", Grade.OK),
        (PI_5, "dtparam=strict_gpiod=on\n", Grade.OK),
        (PI_5, "# dtparam=strict_gpiod\n", Grade.WARN),
        (PI_5, "dtparam=strict_gpiod=off\n", Grade.WARN),
        (PI_5, None, Grade.WARN),
        ("", None, Grade.OK),
    ],
)
def test_what_a_board_must_be_told_at_its_start(
    pi: Computer, model: str, config: str | None, verdict: Grade
) -> None:
    put(pi, DAEMONS[0])
    if config is not None:
        put(pi, CONFIG, config)
    found = boot_settings(pi, model)
    assert found.verdict is verdict
    assert bool(found.remedy) is (verdict is not Grade.OK)


@pytest.mark.parametrize("model", [PI_4, PI_5])
def test_the_image_has_the_boot_settings_that_the_doctor_asks_for(pi: Computer, model: str) -> None:
    image = shipped() / "image"
    if not image.is_dir():
        pytest.skip("the source tree alone makes the image")
    config = (image / "tree" / CONFIG.lstrip("/")).read_text("utf-8")
    put(pi, DAEMONS[0])
    put(pi, CONFIG, config)
    assert boot_settings(pi, model).verdict is Grade.OK
    page = (shipped() / "README.md").read_text("utf-8").splitlines()
    overlays = [line for line in config.splitlines() if line.startswith("dtoverlay=pwm-2chan")]
    assert len(overlays) == 1
    assert overlays[0] in page


@pytest.mark.parametrize(
    ("functions", "verdict", "words"),
    [
        ({18: "a3", 12: "a0"}, Grade.OK, ""),
        ({18: "op dl", 12: "a0"}, Grade.FAIL, "GPIO 18 is op"),
        ({18: "a3", 12: "no"}, Grade.FAIL, "GPIO 12 is no"),
        ({}, Grade.WARN, "does not tell GPIO 18"),
    ],
)
def test_each_pwm_pin_must_carry_its_pwm(
    tmp_path: Path, functions: dict[int, str], verdict: Grade, words: str
):
    lines = "".join(
        f"{pin}) echo '{pin}: {name}    pd | lo // GPIO{pin}';;\n"
        for pin, name in functions.items()
    )
    program = tmp_path / "pinctrl"
    refused = "*) echo 'no permission' >&2; exit 1;;"
    program.write_text(f"#!/bin/sh\ncase $2 in\n{lines}{refused}\nesac\n")
    program.chmod(0o755)
    found = pwm_pins(Computer(tmp_path, path=str(tmp_path)), PinParameters())
    assert found.verdict is verdict
    assert words in found.text
    assert ("dtoverlay=pwm-2chan" in found.remedy) is (verdict is Grade.FAIL)


def test_without_pinctrl_the_function_of_the_pwm_pins_is_not_known(tmp_path: Path):
    found = pwm_pins(Computer(tmp_path, path=str(tmp_path)), PinParameters())
    assert found.verdict is Grade.WARN
    assert "raspi-utils" in found.remedy
