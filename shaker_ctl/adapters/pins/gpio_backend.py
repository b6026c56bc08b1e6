"""Chooses the library that reaches the pins on this machine, and makes all adapters of the pins.

Owns the choice between pigpio and the kernel's GPIO device. Must not know what the pins are for.
Each backend's library is imported only where it is chosen: a Raspberry Pi 4 needs no gpiod, and a
Raspberry Pi 5 can have no pigpiod.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from shaker_ctl.adapters.pins.gpio_parameters import GpioParameters
from shaker_ctl.errors import SettingsError
from shaker_ctl.frozen import frozen
from shaker_ctl.ports import GpioLink, InterlockLines, Motor, ShakerOutputs, Tach

log = logging.getLogger(__name__)

MODEL_FILE = Path("/proc/device-tree/model")

WITHOUT_PIGPIO = ("Raspberry Pi 5", "Raspberry Pi 500", "Raspberry Pi Compute Module 5")
"""Models whose pins hang at an RP1, which pigpio does not know."""


class OpenableLink(GpioLink, Protocol):
    """A way to the pins that its owner opens and closes."""

    def open(self) -> None:
        """Raises `GpioLinkError` with the remedy."""

    def close(self) -> None: ...


@frozen
class GpioPins:
    """All adapters of the pins, on one link that is not open yet."""

    backend: str
    link: OpenableLink
    motor: Motor
    tach: Tach
    lines: InterlockLines
    outputs: ShakerOutputs


def read_model(file: Path = MODEL_FILE) -> str:
    """Return what this machine calls itself; empty where it does not say."""
    with contextlib.suppress(OSError):
        return file.read_bytes().rstrip(b"\0").decode(errors="replace")
    return ""


def choose(backend: str, model: str) -> str:
    """Return `pigpio` or `gpiod`. One that is named is obeyed: the daemon may be virtual, or
    another machine's."""
    lacks_pigpio = model.startswith(WITHOUT_PIGPIO)
    if backend == "auto":
        return "gpiod" if lacks_pigpio else "pigpio"
    if backend == "pigpio" and lacks_pigpio:
        log.warning(
            'gpio.backend = "pigpio", which knows no pins of this machine (%s). For those, set it '
            'to "auto" or "gpiod"',
            model,
        )
    return backend


def make_pins(parameters: GpioParameters, model: str | None = None) -> GpioPins:
    """Make all adapters; `model` is read from the machine where it is not given.

    Raises SettingsError where the backend's library is not installed.
    """
    machine = read_model() if model is None else model
    chosen = choose(parameters.backend, machine)
    log.info("pins by %s on %s", chosen, machine or "a machine that does not say its model")
    return _MAKERS[chosen](parameters)


def _on_pigpio(p: GpioParameters) -> GpioPins:
    from shaker_ctl.adapters.pins import pigpio_pins as pins
    from shaker_ctl.adapters.pins.pigpio_link import PigpioLink
    from shaker_ctl.adapters.pins.pigpio_motor import PigpioMotor

    link = PigpioLink(p)
    return GpioPins(
        "pigpio",
        link,
        PigpioMotor(link, p),
        pins.PigpioTach(link, p),
        pins.PigpioInterlock(link, p),
        pins.PigpioOutputs(link, p),
    )


def _on_gpiod(p: GpioParameters) -> GpioPins:
    try:
        from shaker_ctl.adapters.pins import gpiod_pins as pins
        from shaker_ctl.adapters.pins.gpiod_link import GpiodLink
    except ImportError as error:
        raise SettingsError(
            f"this machine needs gpiod for its pins, and it is not installed ({error})",
            remedy="pip install 'shaker-ctl[pi]'",
        ) from error

    link = GpiodLink(p)
    return GpioPins(
        "gpiod",
        link,
        pins.GpiodMotor(link, p),
        pins.GpiodTach(link, p),
        pins.GpiodInterlock(link, p),
        pins.GpiodOutputs(link, p),
    )


_MAKERS: dict[str, Callable[[GpioParameters], GpioPins]] = {
    "pigpio": _on_pigpio,
    "gpiod": _on_gpiod,
}
