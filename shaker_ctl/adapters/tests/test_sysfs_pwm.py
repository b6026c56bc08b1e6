"""A PWM channel is opened at duty zero, in the order that the kernel takes, and named if not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from shaker_ctl.adapters.pins.sysfs_pwm import RP1_PWM0, SysfsPwm, find_chip
from shaker_ctl.errors import GpioLinkError


@pytest.fixture
def chip(tmp_path: Path) -> Path:
    """A chip whose channel 2 (GPIO 18) was left running by somebody, at half duty."""
    folder = tmp_path / "pwmchip0"
    (folder / "pwm2").mkdir(parents=True)
    for name, content in (("period", 1_000_000), ("duty_cycle", 500_000), ("enable", 1)):
        (folder / "pwm2" / name).write_text(f"{content}\n")
    (folder / "export").write_text("")
    return folder


def _read(chip: Path, name: str) -> int:
    return int((chip / "pwm2" / name).read_text().split("\n")[0])


def test_opening_leaves_the_duty_at_zero_and_the_period_set(chip: Path) -> None:
    pwm = SysfsPwm(chip, 18, 20_000)
    assert (_read(chip, "duty_cycle"), _read(chip, "period"), _read(chip, "enable")) == (
        0,
        50_000,
        1,
    )
    pwm.close()


def test_a_duty_is_a_share_of_the_period_and_closing_ends_it(chip: Path) -> None:
    pwm = SysfsPwm(chip, 18, 20_000)
    pwm.write(0.42)
    assert _read(chip, "duty_cycle") == 21_000
    pwm.write(1.5)
    assert _read(chip, "duty_cycle") == 50_000
    pwm.close()
    assert _read(chip, "duty_cycle") == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_files_of_another_user_are_said_with_the_group(chip: Path) -> None:
    (chip / "pwm2" / "duty_cycle").chmod(0o444)
    with pytest.raises(GpioLinkError, match="was not given to this user") as caught:
        SysfsPwm(chip, 18, 20_000)
    assert "group gpio" in caught.value.line()


def test_auto_finds_the_rp1s_first_pwm_whatever_its_number(tmp_path: Path) -> None:
    for number, device in ((0, "1f0009c000.pwm"), (3, RP1_PWM0)):
        device_folder = tmp_path / "devices" / device
        device_folder.mkdir(parents=True)
        (tmp_path / "class" / f"pwmchip{number}").mkdir(parents=True)
        (tmp_path / "class" / f"pwmchip{number}" / "device").symlink_to(device_folder)
    assert find_chip("auto", tmp_path / "class").name == "pwmchip3"


def test_no_pwm_is_said_with_its_overlay(tmp_path: Path) -> None:
    with pytest.raises(GpioLinkError, match="no hardware PWM") as caught:
        find_chip("auto", tmp_path)
    assert "dtoverlay" in caught.value.line()
