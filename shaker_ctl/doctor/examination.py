"""The whole examination in its order: what needs nothing first, what moves something last.

Owns the order and what is skipped when something else is missing. A part that cannot be looked at
is a line that says why; nothing ends the examination early but another program that holds the
hardware.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from shaker_ctl.adapters.disk.journal_lock import JournalLock
from shaker_ctl.adapters.pins.gpio_backend import WITHOUT_PIGPIO, make_pins
from shaker_ctl.doctor import camera, computer, lines, records, shaker
from shaker_ctl.doctor.boot import boot_settings, pwm_pins
from shaker_ctl.doctor.computer import Computer
from shaker_ctl.doctor.digests import digests
from shaker_ctl.doctor.finding import Finding, fail, ok
from shaker_ctl.doctor.libraries import libraries
from shaker_ctl.errors import GpioLinkError, JournalWriteError, RefusedError, SettingsError
from shaker_ctl.installation import real_table
from shaker_ctl.rules import rulebook
from shaker_ctl.service.status_socket import read_status
from shaker_ctl.settings import Settings


def examine(
    settings: Settings, source: Path, *, machine: Computer, is_jogged: bool = True
) -> Iterator[Finding]:
    """Yield line after line while looking. `is_jogged`: turn the shaker for a second.

    Raises RefusedError while a service holds the hardware, SettingsError where the rule text and
    the settings do not fit. The journal is locked meanwhile, so that no service can start.
    """
    refuse_beside_a_service(settings)
    book = rulebook.rulebook(settings.table)
    with contextlib.ExitStack() as held:
        with contextlib.suppress(JournalWriteError):  # the line about the disk says why
            held.callback(JournalLock(settings.journal.path).close)
        found = _everything(settings, source, machine, book, is_jogged=is_jogged)
        pins = settings.gpio.pins.model_dump()
        for one in found:
            yield replace(one, remedy=one.remedy.format(**pins) if one.remedy else "")


def refuse_beside_a_service(settings: Settings) -> None:
    """Raise RefusedError where a running table answers: one motor obeys one program."""
    try:
        read_status(settings.service.runtime_dir, timeout_s=1.0)
    except (OSError, StopIteration, ValueError):
        return
    raise RefusedError(
        "the table is running, and holds the hardware",
        remedy="Close it and stop the service first: sudo systemctl stop shaker-ctl",
    )


def needed_cover(book: rulebook.Rulebook) -> bool | None:
    """Where the rule text has the cover during a toss: True closed, False open, None anywhere."""
    return True if book.covered else False if book.cover_must_be_absent else None


def _everything(
    settings: Settings, source: Path, machine: Computer, book: rulebook.Rulebook, *, is_jogged: bool
) -> Iterator[Finding]:
    yield from computer.examine(machine, settings.gpio.pins)
    board = computer.board(machine)
    yield boot_settings(machine, board)
    if board.startswith(WITHOUT_PIGPIO):
        yield pwm_pins(machine, settings.gpio.pins)
    yield from records.examine(settings.journal, settings.console, book, settings.table)
    yield digests(source, settings.journal, is_real_table=real_table.mark(machine.root) is not None)
    yield libraries()
    yield camera.calibration(settings.camera, source)
    yield camera.teaching(settings.camera)
    yield from lines.lamp_box(settings.lamp, book.layout)
    yield from lines.consoles(settings.console)
    try:
        pins = make_pins(settings.gpio)
        pins.link.open()
    except (SettingsError, GpioLinkError) as error:
        yield fail("GPIO", str(error), error.remedy)
        yield from camera.examine(settings.camera, None)
        return
    try:
        yield ok("GPIO", f"{pins.backend} answers, the dead-man counts")
        yield from camera.examine(settings.camera, pins.outputs)
        yield from shaker.examine(pins, settings.motion, needed_cover(book), is_jogged=is_jogged)
    finally:
        pins.motor.stop()
        pins.link.close()
