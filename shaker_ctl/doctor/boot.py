"""What a Raspberry Pi must be told at its start, and must have, before its pins can be used safely.

Owns the lines of `config.txt` that matter and where the GPIO daemon lies. Reads files only. Whether
the pins then answer is another line's.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from shaker_ctl.adapters.pins.gpio_backend import WITHOUT_PIGPIO
from shaker_ctl.adapters.pins.gpio_parameters import PinParameters
from shaker_ctl.adapters.pins.sysfs_pwm import FUNCTION_OF, GROUP, OVERLAY
from shaker_ctl.doctor.computer import Computer
from shaker_ctl.doctor.finding import Finding, fail, ok, warn

NAME, PWM = "boot settings", "PWM pins"

CONFIG = "/boot/firmware/config.txt"
"""Where Raspberry Pi OS has it since bookworm."""

DAEMONS = ("/usr/bin/pigpiod", "/usr/local/bin/pigpiod")
"""Debian's package, or built from source; the unit looks at the same places."""

PAGE = Path("/usr/share/doc/shaker-ctl/README.md")


def boot_settings(computer: Computer, model: str) -> Finding:
    """Look at `config.txt` and for the daemon. `model`: the board; empty where it is no Pi."""
    if not model:
        return ok(NAME, "no Raspberry Pi, none needed")
    config = computer.text(CONFIG)
    if model.startswith(WITHOUT_PIGPIO):
        return _kernel_pins(config)
    if not any((computer.root / path.lstrip("/")).exists() for path in DAEMONS):
        return fail(
            NAME,
            "pigpiod, the GPIO daemon, is not installed",
            f"sudo apt install pigpio; on trixie, which has none, build it as {PAGE} says",
        )
    if config is None:
        return warn(NAME, f"{CONFIG} cannot be read", f"sudo chmod a+r {CONFIG}")
    if _is_set(config, "audio"):
        return warn(
            NAME,
            "sound is on, and its jack takes the motor's PWM from GPIO 18 while anything plays",
            f"Write dtparam=audio=off into {CONFIG} in place of audio=on, and restart",
        )
    return ok(NAME, "pigpiod is installed, sound is off")


def _kernel_pins(config: str | None) -> Finding:
    if config is None or not _is_set(config, "strict_gpiod"):
        return warn(
            NAME,
            "a pin stays driven when its process dies: strict_gpiod is not set",
            f"Write dtparam=strict_gpiod into {CONFIG}, and restart",
        )
    return ok(NAME, "strict_gpiod: a pin whose process dies is let go")


def pwm_pins(computer: Computer, pins: PinParameters) -> Finding:
    """Whether each pin of the kernel's PWM shows it. Only for a board of `WITHOUT_PIGPIO`."""
    program = shutil.which("pinctrl", path=computer.path)
    if program is None:
        return warn(PWM, "no pinctrl tells their function", "sudo apt install raspi-utils")
    for gpio in (pins.motor_pwm, pins.ring_light):
        ran = subprocess.run(
            [program, "get", f"{gpio}"], capture_output=True, text=True, check=False
        )
        said = re.match(r"\s*\d+:\s+(\w+)", ran.stdout)
        if said is None:
            why = ran.stderr.strip() or f"status {ran.returncode}"
            return warn(PWM, f"pinctrl does not tell GPIO {gpio}: {why}", GROUP)
        if said[1] != FUNCTION_OF.get(gpio):
            return fail(PWM, f"GPIO {gpio} is {said[1]} and carries no PWM", OVERLAY)
    return ok(PWM, f"GPIO {pins.motor_pwm} and {pins.ring_light} carry it")


def _is_set(config: str, parameter: str) -> bool:
    """Whether the last word on a `dtparam` is on. Without a value it is on, too."""
    is_on = False
    for line in config.splitlines():
        key, _, values = line.partition("#")[0].strip().partition("=")
        for one in values.split(",") if key == "dtparam" else ():
            name, _, value = one.partition("=")
            if name.strip() == parameter:
                is_on = value.strip() in ("", "on", "1", "true", "yes")
    return is_on
