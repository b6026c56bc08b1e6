"""The computer itself: model, system, power, temperature, clock, and what an installation brought.

Owns where Linux and the Pi's firmware say these things. Reads files only, below a root that tests
may choose; nothing is opened that a service could be using. Limits stand with their sources.
"""

from __future__ import annotations

import platform
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from shaker_ctl.adapters.pins.gpio_parameters import PinParameters
from shaker_ctl.doctor.finding import Finding, fail, ok, warn
from shaker_ctl.frozen import frozen
from shaker_ctl.installation import pins as pins_file
from shaker_ctl.installation.places import USER, Places
from shaker_ctl.service.power import UNDERVOLTAGE_BEFORE, UNDERVOLTAGE_NOW, read_power
from shaker_ctl.service.wall_time import EARLIEST_WALL_S, RTC, is_synchronised, rtc_agrees

SUPPORTED = re.compile(r"Raspberry Pi (3|4|400|5|500|Compute Module [345]|Zero 2)\b")
"""Models with a 64-bit processor; onnxruntime has no wheels for others."""

SYSTEMS = ("bookworm", "trixie")
"""Releases of Debian and of Raspberry Pi OS that bring Python 3.11 and 3.13."""

DEVICE_GROUPS = ("gpio", "dialout")
"""Whoever is in one of them reaches pins or serial lines, as the first user of Raspberry Pi OS."""

HOT_C, TOO_HOT_C = 75.0, 84.0
"""The firmware begins to slow the processor at 80 °C and limits it hard at 85 °C (Raspberry Pi
documentation, "Frequency management and thermal control")."""

PIN_TOOLS = ("pinctrl", "raspi-gpio", "gpioset")
"""What the stop script can use, in its order."""


@frozen
class Computer:
    """Where to look. `root` other than `/`: the files of a system that is mounted or made up."""

    root: Path = Path("/")
    machine: str = platform.machine()
    path: str | None = None
    """Search path for programs below `root`; None: this process's own."""

    def text(self, name: str) -> str | None:
        """Return the text of the absolute file `name`; None where it cannot be read."""
        try:
            return (self.root / name.lstrip("/")).read_text("utf-8", errors="replace")
        except OSError:
            return None

    def tool(self) -> str | None:
        """Return the first program with which the stop script can reach pins."""
        return next((name for name in PIN_TOOLS if shutil.which(name, path=self.path)), None)


def examine(computer: Computer, pins: PinParameters) -> Iterator[Finding]:
    """Look at everything that needs no device of the table."""
    yield model(computer)
    yield system(computer)
    yield power(computer)
    yield temperature(computer)
    yield clock(computer, time.time(), is_synchronised())
    yield installation(computer)
    yield stop_script(computer, pins)
    yield groups(computer)


def board(computer: Computer) -> str:
    """Return the name of the Raspberry Pi; empty where this is none."""
    return (computer.text("/proc/device-tree/model") or "").rstrip("\0\n")


def model(computer: Computer) -> Finding:
    """Which Raspberry Pi this is."""
    said = board(computer)
    if not said:
        return warn(
            "model",
            f"no Raspberry Pi ({computer.machine})",
            "A real table runs on a Raspberry Pi 3, 4, 5 or Zero 2; elsewhere only its rig does",
        )
    if SUPPORTED.search(said):
        return ok("model", said)
    return fail(
        "model",
        f"{said} is too small or unknown",
        "Use a Raspberry Pi 3, 4, 5, Compute Module 3 to 5 or Zero 2",
    )


def system(computer: Computer) -> Finding:
    """Operating system, its width, and Python."""
    release = _assignments(computer.text("/etc/os-release") or "")
    name = release.get("PRETTY_NAME", "an unknown system")
    said = f"{name}, {computer.machine}, Python {platform.python_version()}"
    if computer.machine.startswith(("armv6", "armv7")):
        return fail(
            "system",
            f"{said} is a 32-bit system",
            "Install the 64-bit Raspberry Pi OS: onnxruntime has no 32-bit wheels",
        )
    if release.get("VERSION_CODENAME") not in SYSTEMS:
        return warn("system", said, "Tried on Debian 12 (bookworm) and 13 (trixie) only")
    return ok("system", said)


def power(computer: Computer) -> Finding:
    """Undervoltage, now or since the start."""
    flags = read_power(computer.root)
    if flags is None:
        return warn(
            "power",
            "the kernel does not say whether the supply holds",
            "On a Raspberry Pi: vcgencmd get_throttled; use a supply of 5.1 V and 3 A",
        )
    remedy = "Use the official supply (5.1 V) and a short cable; feed no motor from the Pi"
    for flag in flags:
        if flag == UNDERVOLTAGE_NOW:
            return fail("power", flag, remedy)
        if flag == UNDERVOLTAGE_BEFORE:
            return warn("power", flag, remedy)
        if flag.endswith(" now"):
            return warn("power", f"the processor is slowed: {flag}", "Cool it")
    return ok("power", "no undervoltage reported")


def temperature(computer: Computer) -> Finding:
    """The processor's temperature."""
    try:
        degrees = int(computer.text("/sys/class/thermal/thermal_zone0/temp") or "") / 1000
    except ValueError:
        return warn(
            "temperature", "the processor tells no temperature", "Nothing to do: a Pi tells it"
        )
    said = f"{degrees:.0f} °C"
    if degrees >= TOO_HOT_C:
        return fail("temperature", said, "Cool it: a fan, a heat sink, air to the housing")
    if degrees >= HOT_C:
        return warn("temperature", said, "Cool it before it slows down at 80 °C")
    return ok("temperature", said)


def clock(computer: Computer, wall_s: float, is_disciplined: bool) -> Finding:
    """Whether anything vouches for the wall clock."""
    said = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(wall_s))
    if wall_s < EARLIEST_WALL_S:
        return fail("clock", f"{said} is in the past", "Set it: sudo date -u -s '...'; fit an RTC")
    if is_disciplined:
        return ok("clock", f"{said}, synchronised")
    battery = computer.text(str(RTC))
    if rtc_agrees(battery, wall_s):
        return ok("clock", f"{said}, from an RTC")
    remedy = (
        "or allow NTP; otherwise a floorperson says `time confirm` at a console after every start, "
        "before the inspection"
    )
    if battery is None:
        return warn(
            "clock", f"{said}, confirmed by no RTC and no network time", f"Fit an RTC {remedy}"
        )
    return warn(
        "clock",
        f"{said}, and the RTC says another time: its battery is empty or missing",
        f"Set the time (sudo date -u -s '...' && sudo hwclock -w), fit the RTC's battery, {remedy}",
    )


def installation(computer: Computer) -> Finding:
    """Whether the table starts at power-on."""
    places = Places(computer.root)
    link = places.started / "shaker-ctl.service"
    if not link.is_symlink():
        return warn(
            "service", "the table does not start at power-on", "sudo shaker-ctl setup start"
        )
    return ok("service", "starts at power-on")


def stop_script(computer: Computer, pins: PinParameters) -> Finding:
    """Whether systemd can take the motor's pins low when Python and the GPIO daemon are gone."""
    places = Places(computer.root)
    script = places.stop_script
    if not script.exists() or not script.stat().st_mode & 0o111:
        return fail(
            "stop script", f"{script} is missing", "sudo apt install --reinstall ./shaker-ctl_*.deb"
        )
    written = computer.text("/etc/shaker-ctl/pins.conf")
    if written != pins_file.environment(pins):
        return fail(
            "stop script",
            "pins.conf is not of these settings: another pin would be taken low",
            "sudo shaker-ctl setup pins writes it again",
        )
    tool = computer.tool()
    if tool is None:
        return fail(
            "stop script",
            "no program reaches the pins without the GPIO daemon",
            "sudo apt install raspi-utils (pinctrl), or gpiod (gpioset)",
        )
    return ok("stop script", f"GPIO {pins.motor_enable} and {pins.motor_pwm} low by {tool}")


def groups(computer: Computer) -> Finding:
    """Who besides the service may drive pins and serial lines."""
    strangers: dict[str, list[str]] = {}
    for name, number, listed in _entries(computer, "/etc/group", 0, 2, 3):
        if name not in DEVICE_GROUPS:
            continue
        own = {one for one, of in _entries(computer, "/etc/passwd", 0, 3) if of == number}
        for one in (own | set(listed.split(","))) - {"", USER}:
            strangers.setdefault(one, []).append(name)
    if not strangers:
        return ok("groups", f"only {USER} may drive pins and serial lines")
    told = "; ".join(f"{one} ({', '.join(of)})" for one, of in sorted(strangers.items()))
    one, of = sorted(strangers.items())[0]
    return warn(
        "groups",
        f"these people drive EN and the lamp line past the service: {told}",
        f"sudo gpasswd -d {one} {of[0]}, and so on; nothing of the table needs them there",
    )


def _entries(computer: Computer, name: str, *columns: int) -> Iterator[tuple[str, ...]]:
    """These columns of a file of users or groups."""
    for line in (computer.text(name) or "").splitlines():
        entry = line.split(":")
        if len(entry) > max(columns):
            yield tuple(entry[column] for column in columns)


def _assignments(text: str) -> dict[str, str]:
    pairs = (line.split("=", 1) for line in text.splitlines() if "=" in line)
    return {key: value.strip('"') for key, value in pairs}
