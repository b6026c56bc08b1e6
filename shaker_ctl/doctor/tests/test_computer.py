"""Every line about the computer: ok, to know, or wrong, each with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from shaker_ctl.adapters.pins.gpio_parameters import PinParameters
from shaker_ctl.doctor import computer
from shaker_ctl.doctor.computer import Computer
from shaker_ctl.doctor.finding import Finding, Grade
from shaker_ctl.installation.places import Places
from shaker_ctl.service.wall_time import EARLIEST_WALL_S
from shaker_ctl.tests.installed_table import install_table

THROTTLED = "sys/devices/platform/soc/soc:firmware/get_throttled"
PI_5_WORD = "sys/devices/platform/soc@107c000000/soc@107c000000:firmware/get_throttled"


@pytest.fixture
def pi(tmp_path: Path) -> Computer:
    return Computer(tmp_path, machine="aarch64", path=str(tmp_path / "bin"))


def put(pi: Computer, name: str, text: str) -> None:
    path = pi.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def assert_says(found: Finding, verdict: Grade, remedy: str = "") -> None:
    assert found.verdict is verdict, found
    assert remedy in found.remedy
    assert bool(found.remedy) is (verdict is not Grade.OK)


@pytest.mark.parametrize(
    ("board", "verdict"),
    [
        *((name, Grade.OK) for name in ("3 Model B Plus Rev 1.3", "4 Model B Rev 1.5", "400")),
        *((name, Grade.OK) for name in ("5 Model B", "500", "Compute Module 4", "Zero 2 W")),
        *((name, Grade.FAIL) for name in ("Model B Rev 2", "2 Model B Rev 1.1", "Zero W")),
    ],
)
def test_a_pi_that_is_too_small_is_wrong(pi: Computer, board: str, verdict: Grade):
    assert_says(computer.model(pi), Grade.WARN, "only its rig")
    put(pi, "proc/device-tree/model", f"Raspberry Pi {board}\0")
    remedy = "Raspberry Pi 3, 4, 5" if verdict is Grade.FAIL else ""
    assert_says(computer.model(pi), verdict, remedy)


@pytest.mark.parametrize(
    ("codename", "verdict"),
    [("bookworm", Grade.OK), ("trixie", Grade.OK), ("bullseye", Grade.WARN)],
)
def test_systems_that_were_tried_are_ok(pi: Computer, codename: str, verdict: Grade):
    narrow = Computer(pi.root, machine="armv7l")
    assert_says(computer.system(narrow), Grade.FAIL, "64-bit")
    put(pi, "etc/os-release", f'PRETTY_NAME="Debian"\nVERSION_CODENAME={codename}\n')
    assert computer.system(pi).verdict is verdict


@pytest.mark.parametrize(
    ("word", "verdict"),
    [
        ("0", Grade.OK),
        ("50005", Grade.FAIL),
        ("1", Grade.FAIL),
        ("50000", Grade.WARN),
        ("10000", Grade.WARN),
        ("8", Grade.WARN),
        ("80000", Grade.OK),
    ],
)
@pytest.mark.parametrize("place", [THROTTLED, PI_5_WORD])
def test_undervoltage_is_read_from_the_firmwares_word(
    pi: Computer, place: str, word: str, verdict: Grade
):
    put(pi, place, word + "\n")
    assert_says(computer.power(pi), verdict, "5.1 V" if verdict is Grade.FAIL else "")


@pytest.mark.parametrize(("alarm", "verdict"), [("0", Grade.OK), ("1", Grade.FAIL)])
def test_undervoltage_is_read_from_hwmon_before_the_firmwares_word(
    pi: Computer, alarm: str, verdict: Grade
):
    put(pi, "sys/class/hwmon/hwmon1/name", "cpu_thermal\n")
    put(pi, "sys/class/hwmon/hwmon2/name", "rpi_volt\n")
    put(pi, "sys/class/hwmon/hwmon2/in0_lcrit_alarm", f"{alarm}\n")
    put(pi, THROTTLED, "50000\n")
    assert computer.power(pi).verdict is verdict


def test_a_firmware_that_does_not_say_is_to_be_known(pi: Computer):
    assert_says(computer.power(pi), Grade.WARN, "vcgencmd")


@pytest.mark.parametrize(
    ("milli", "verdict"),
    [("51600", Grade.OK), ("76000", Grade.WARN), ("84500", Grade.FAIL), ("", Grade.WARN)],
)
def test_heat_is_named_before_the_processor_slows(pi: Computer, milli: str, verdict: Grade):
    put(pi, "sys/class/thermal/thermal_zone0/temp", milli)
    assert computer.temperature(pi).verdict is verdict


NOW = EARLIEST_WALL_S + 1e6


RTC = "sys/class/rtc/rtc0/since_epoch"


@pytest.mark.parametrize(
    ("wall_s", "is_disciplined", "rtc", "verdict", "remedy"),
    [
        (NOW, True, None, Grade.OK, ""),
        (NOW, False, None, Grade.WARN, "Fit an RTC"),
        (NOW, False, f"{NOW + 1:.0f}\n", Grade.OK, ""),
        (NOW, False, "31\n", Grade.WARN, "battery"),  # a Raspberry Pi 5 always has an RTC
        (1e9, True, "1000000000", Grade.FAIL, "Set it"),  # in the past, whoever vouches
    ],
)
def test_a_clock_is_believed_for_a_reason_only(
    pi: Computer, wall_s: float, is_disciplined: bool, rtc: str | None, verdict: Grade, remedy: str
):
    if rtc is not None:
        put(pi, RTC, rtc)
    assert_says(computer.clock(pi, wall_s, is_disciplined), verdict, remedy)


# ── What an installation brought ────────────────────────────────────────────


@pytest.fixture
def installed(pi: Computer) -> Computer:
    install_table(pi.root, PinParameters())
    put(pi, "bin/pinctrl", "#!/bin/sh\n")
    (pi.root / "bin/pinctrl").chmod(0o755)
    return pi


def test_an_installed_table_starts_and_can_be_stopped(installed: Computer):
    assert_says(computer.installation(installed), Grade.OK)
    assert_says(computer.stop_script(installed, PinParameters()), Grade.OK)


def test_a_table_that_is_not_installed_is_said_so(pi: Computer):
    assert_says(computer.installation(pi), Grade.WARN, "shaker-ctl setup")
    assert_says(computer.stop_script(pi, PinParameters()), Grade.FAIL, "apt install")


def test_a_stop_script_of_other_pins_without_a_tool_or_not_to_be_run_is_wrong(installed: Computer):
    moved, pins = PinParameters(motor_enable=17), PinParameters()
    assert_says(computer.stop_script(installed, moved), Grade.FAIL, "shaker-ctl setup")
    (installed.root / "bin/pinctrl").rename(installed.root / "bin/none")
    assert_says(computer.stop_script(installed, pins), Grade.FAIL, "raspi-utils")
    (installed.root / "bin/none").rename(installed.root / "bin/pinctrl")
    (Places(installed.root).stop_script).chmod(0o644)
    assert_says(computer.stop_script(installed, pins), Grade.FAIL)


@pytest.mark.parametrize("tool", computer.PIN_TOOLS)
def test_any_tool_that_the_stop_script_knows_will_do(installed: Computer, tool: str):
    (installed.root / "bin/pinctrl").rename(installed.root / "bin" / tool)
    found = computer.stop_script(installed, PinParameters())
    assert_says(found, Grade.OK)
    assert tool in found.text


def test_who_else_may_drive_pins_and_lines_is_named(pi: Computer):
    put(pi, "etc/group", "gpio:x:993:shaker,pi\ndialout:x:20:shaker,pi\nvideo:x:44:eve\n")
    put(pi, "etc/passwd", "pi:x:1000:1000::/home/pi:/bin/sh\nned:x:1001:20::/:/bin/sh\n")
    found = computer.groups(pi)
    assert_says(found, Grade.WARN, "gpasswd -d ned dialout")
    assert "ned (dialout); pi (gpio, dialout)" in found.text
    put(pi, "etc/group", "gpio:x:993:shaker\ndialout:x:20:shaker\n")
    put(pi, "etc/passwd", "pi:x:1000:1000::/home/pi:/bin/sh\n")
    assert_says(computer.groups(pi), Grade.OK)
