"""Drives each wire of a bench in turn: which wires arrive, which are missing, crossed or joined.

Owns the test and its words. Must not know what the lines are for. Both ends are pigpio daemons. The
controller's outputs are low at rest, and one line at a time is high for a moment. EN without PWM,
and PWM without EN, turn no motor. Contacts are high at rest and are pulled low, like closed
contacts.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

import pigpio
import typer

from hil_tests.rig.reservation import Reservation, ReservedError
from hil_tests.rig.rigfile import Gpio, GpioTable, RigFileError, host_and_port, load
from hil_tests.rig.wires.bench import WiresError, require_free
from hil_tests.rig.wires.wiring import PinMap

SETTLE_S = 0.02
"""Time, in seconds, from a change of a pin to the check at the other end. 1 kOhm and a pull-up need
microseconds; two daemons on a network need milliseconds."""


@dataclass(frozen=True, slots=True)
class CheckedWire:
    """One line as it was found."""

    line: str
    from_: str
    """Its driver, such as `controller's GPIO 23`."""
    to: str
    found: tuple[str, ...]
    """Lines whose far ends moved with it; alone the line itself where all is well."""
    is_held: bool = False
    """The far end did not rest before anything drove it."""

    @property
    def is_good(self) -> bool:
        return self.found == (self.line,) and not self.is_held

    @property
    def said(self) -> str:
        """What was found and what to do, in one line."""
        if self.is_held:
            return f"{self.to} does not rest although nothing drives it: look for a short"
        if self.is_good:
            return "arrives"
        if not self.found:
            return f"missing: nothing arrives at {self.to}. Plug the wire in, or join the grounds"
        others = " and ".join(one for one in self.found if one != self.line)
        if self.line in self.found:
            return f"joined: it arrives at {others} as well. Part the two wires"
        return f"crossed: it arrives where {others} belongs. Swap the two wires"


def examine(
    controller: pigpio.pi, rig: pigpio.pi, pins: PinMap, wiring: PinMap
) -> Sequence[CheckedWire]:
    """Drive each line at the end that drives it. Leaves every pin an input, pulled to its rest."""
    lines = [one.name for one in fields(PinMap)]
    here = {line: (controller, getattr(pins, line)) for line in lines}
    there = {line: (rig, getattr(wiring, line)) for line in lines}
    rest = {line: int(getattr(pins, line) not in pins.outputs) for line in lines}
    names = {id(controller): "controller's", id(rig): "rig's"}
    found = []
    try:
        _release(rest, here, there)
        for line in lines:
            driver, far = (here, there) if rest[line] == 0 else (there, here)
            before = _levels(far)
            pi, gpio = driver[line]
            pi.set_mode(gpio, pigpio.OUTPUT)
            pi.write(gpio, 1 - rest[line])
            time.sleep(SETTLE_S)
            after = _levels(far)
            pi.write(gpio, rest[line])
            pi.set_mode(gpio, pigpio.INPUT)
            time.sleep(SETTLE_S)
            to_pi, to_gpio = far[line]
            found.append(
                CheckedWire(
                    line=line,
                    from_=f"{names[id(pi)]} GPIO {gpio}",
                    to=f"the {names[id(to_pi)]} GPIO {to_gpio}",
                    found=tuple(one for one in lines if after[one] != before[one]),
                    is_held=before[line] != rest[line],
                )
            )
    finally:
        _release(rest, here, there)
    return found


Ends = dict[str, tuple[pigpio.pi, int]]


def _release(rest: dict[str, int], *ends: Ends) -> None:
    for line, (pi, gpio) in (end for side in ends for end in side.items()):
        pi.set_mode(gpio, pigpio.INPUT)
        pi.set_pull_up_down(gpio, pigpio.PUD_UP if rest[line] else pigpio.PUD_DOWN)
    time.sleep(SETTLE_S)


def _levels(side: Ends) -> dict[str, int]:
    """The level of each line at this side."""
    return {line: pi.read(gpio) for line, (pi, gpio) in side.items()}


def wires(
    rig: Annotated[Path, typer.Option(help="Rig file of the bench.")],
) -> None:
    """Test the wires of a bench: drive each line for a moment and look where it arrives.

    Stop the controller first (`systemctl stop shaker-ctl`); both pigpio daemons must run. Ends with
    status 1 where a wire is missing, crossed, joined with another or held.
    """
    try:
        file = load(rig)
        if file.gpio.wires is not Gpio.BENCH:
            raise RigFileError(f"{rig}: [gpio] wires is {file.gpio.wires}; only a bench has wires")
        with Reservation(Path(file.bench.lock), "test of its wires"):
            found = _examined(file.gpio)
    except (RigFileError, ReservedError, WiresError, OSError) as error:
        typer.echo(f"shaker-rig: {error}", err=True)
        raise typer.Exit(1) from error
    for wire in found:
        mark = "ok  " if wire.is_good else "FAIL"
        typer.echo(f"{mark} {wire.line:<14} {wire.from_:<22} {wire.said}")
    if not all(wire.is_good for wire in found):
        raise typer.Exit(1)


def _examined(table: GpioTable) -> Sequence[CheckedWire]:
    """Raises `WiresError` where a daemon is missing, or a rig on another computer has it."""
    places = (table.controller, table.rig)
    ends = [pigpio.pi(*host_and_port(at), show_errors=False) for at in places]
    try:
        for pi, at in zip(ends, places, strict=True):
            if not pi.connected:
                raise WiresError(f"no pigpiod answers at {at}: start it there")
        require_free(ends[1])
        return examine(ends[0], ends[1], table.pins, table.wiring)
    finally:
        for pi in ends:
            pi.stop()
