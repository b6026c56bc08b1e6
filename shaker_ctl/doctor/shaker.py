"""Pins and shaker: the GPIO daemon, every contact, and a jog that the tach must answer.

Owns what counts as rightly wired. It drives through the shipped motion thread, with its dead-man
and its watches; nothing here raises EN by itself. Whatever happens, EN is low afterwards.
"""

from __future__ import annotations

import queue
import statistics
import time
from collections.abc import Iterator
from typing import Self

from shaker_ctl.adapters.clock import SystemClock
from shaker_ctl.adapters.pins.gpio_backend import GpioPins
from shaker_ctl.doctor.finding import Finding, fail, ok, warn
from shaker_ctl.errors import GpioLinkError, ShakerError
from shaker_ctl.frozen import frozen
from shaker_ctl.motion.parameters import MotionParameters
from shaker_ctl.motion.reports import (
    MotionDenied,
    MotionReport,
    MotionStopped,
    MotionTrouble,
    TossJudged,
)
from shaker_ctl.motion.watch import SUPPLY_DROPS_S
from shaker_ctl.ports import Interlocks
from shaker_ctl.rules import events
from shaker_ctl.rules.vocabulary import Occasion, Purpose
from shaker_ctl.service.motion_thread import MotionThread

JOG_RPM, JOG_S = 300.0, 1.0
"""Slow enough that nothing mixes or flies, fast enough for a good 40 tach edges."""

SPEED_TOLERANCE = 0.15
"""The control loop holds a speed within 4 %; a wrong number of pulses per turn is off by more."""

RUNAWAY = 1.5
"""Share of the speed asked for above which the motor does not follow its duty."""

REST_S = 0.3
"""How long the tach is listened to while EN is low."""

ANSWER_S = 4.0
"""Longest time from the end of a drive until the motion thread has answered."""

TROUBLES = {
    "tach-silent": "Does the cam turn? Then check the tach: its wire to GPIO {tach}, its supply, "
    "the gap to its wheel. Else free the cam; check the motor's supply, its fuse, and EN at "
    "GPIO {motor_enable}",
    "motor-stall": "Free the cam; check the motor's supply and its fuse",
    "motor-slow-start": "Free the cam; check the motor's supply, the belt, and the brushes",
    "motor-overspeed": "Check the PWM wire to GPIO {motor_pwm} and motion.pulses_per_turn",
    "motor-no-stop": "Part the motor from its supply NOW: its driver does not obey EN",
    "motor-driver": "Read the driver's own display: over-current, over-temperature, supply",
    "tach-unreliable": "Check the tach's shielding and its ground; GPIO {tach}",
    "interlock": "Close compartment and cover, release the e-stop",
    "gpio-link": "Restart the daemon: systemctl restart shaker-pigpiod (wheel: pigpiod)",
}


def contacts(seen: Interlocks, needs_cover: bool | None) -> Iterator[Finding]:
    """One line for each contact, at rest: closed table, nobody's finger on anything.

    `needs_cover`: where the cover must be while dice are tossed (True closed, False open).
    """
    yield _contact(
        *("e-stop", seen.estop_pressed, "released", "pressed, or its loop is broken"),
        "Release it; then check the loop from GPIO {estop} to ground",
    )
    yield _contact(
        *("compartment", seen.compartment_open, "closed and locked", "open, or its wire is broken"),
        "Close and lock it; then check the contact at GPIO {compartment}",
    )
    yield _cover(seen.cover_open, needs_cover)
    yield _contact(
        *("driver fault", seen.driver_fault, "none", "the motor driver reports a fault"),
        "Read its own display; then check the line to GPIO {driver_fault} for a short",
    )
    yield _contact(
        *("player's button", seen.button_pressed, "not pressed"),
        "pressed, stuck, or its wire is shorted",
        "Let go of it; then check the line to GPIO {button}",
    )


def _contact(name: str, is_wrong: bool, well: str, wrong: str, remedy: str) -> Finding:
    return fail(name, wrong, remedy) if is_wrong else ok(name, well)


def _cover(is_open: bool, needed_closed: bool | None) -> Finding:
    if needed_closed is None:
        return ok("cover", f"{'open' if is_open else 'closed'}; this rule text does not ask")
    if needed_closed and is_open:
        return fail(
            "cover",
            "open, or its wire is broken; this rule text needs it closed for a toss",
            "Close it; then check the contact at GPIO {cover}",
        )
    if not needed_closed and not is_open:
        return fail(
            "cover",
            "closed; this rule text forbids a cover",
            "Take it off; leave the contact at GPIO {cover} open",
        )
    return ok("cover", "open" if is_open else "closed")


def tach_at_rest(pins: GpioPins) -> Finding:
    """No pulses may come while EN is low."""
    pins.tach.edges()
    time.sleep(REST_S)
    count = len(pins.tach.edges())
    if count:
        return fail(
            "tach at rest",
            f"{count} pulses in {REST_S:g} s with EN low",
            "Does the cam turn? Then part the motor from its supply. Else check the tach's "
            "shielding and ground; GPIO {tach}",
        )
    return ok("tach at rest", "silent")


def supply(pins: GpioPins) -> Finding:
    """Release the latch for a moment: its contact must take the motor's supply, and give it back.

    E-stop and compartment hold one coil, so this proves the contactor and not the e-stop's pole.
    """
    name = "motor supply"
    if not pins.lines.read().motor_supplied:
        return fail(
            name,
            "off with everything closed",
            "Check fuse, contactor, its coil's wires through e-stop and compartment, and GPIO "
            "{motor_supply}",
        )
    began_s = time.monotonic()
    pins.outputs.release_latch(True)
    try:
        is_off = _supply_becomes(pins, False)
        took_s = time.monotonic() - began_s
    finally:
        pins.outputs.release_latch(False)
    if not is_off:
        return fail(
            name,
            f"still on {1000 * SUPPLY_DROPS_S:.0f} ms after the latch was released",
            "Part the motor from its supply NOW: the contactor is welded, or the compartment's "
            "pole does not hold its coil. Else check latch and feedback at GPIO {latch_release} "
            "and {motor_supply}",
        )
    if not _supply_becomes(pins, True):
        return fail(name, "does not come back", "Close and lock the compartment; check its pole")
    return ok(name, f"off {1000 * took_s:.0f} ms after the latch was released, and on again")


def _supply_becomes(pins: GpioPins, is_on: bool) -> bool:
    until_s = time.monotonic() + SUPPLY_DROPS_S
    while pins.lines.read().motor_supplied is not is_on:
        if time.monotonic() > until_s:
            return False
        time.sleep(0.005)
    return True


@frozen
class Turned:
    """How the shaker was driven: code and reason are empty where it went well."""

    code: str
    reason: str
    trace: tuple[tuple[float, float], ...]
    """(seconds, rpm)."""


class LoneShaker:
    """The shaker of a table whose service is stopped, driven once at a time. Use as a context."""

    def __init__(
        self, pins: GpioPins, parameters: MotionParameters, needs_cover: bool | None = None
    ) -> None:
        """`needs_cover`: as in `contacts`."""
        self._said: queue.SimpleQueue[events.Event | MotionReport] = queue.SimpleQueue()
        self._tosses = 0
        self.motion = MotionThread(
            motor=pins.motor,
            tach=pins.tach,
            lines=pins.lines,
            link=pins.link,
            clock=SystemClock(),
            parameters=parameters,
            state_is_alive=lambda: True,  # plans are bounded; the dead-man watches this process
            post=self._said.put,
            report=self._said.put,
        )
        self.motion.require_cover(needs_cover)

    def __enter__(self) -> Self:
        self.motion.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.motion.close()

    def jog(self, rpm: float, seconds: float) -> Turned:
        """Turn at one speed and wait until it stands again."""
        self.motion.jog(Occasion(Purpose.TRIAL, 0), rpm, seconds)
        return self._wait(seconds)

    def toss(self) -> Turned:
        """Toss as in play, and wait until the tach has proved it."""
        self._tosses += 1
        plan = self.motion.draw_plan()
        self.motion.start_toss(Occasion(Purpose.TRIAL, self._tosses), plan, time.monotonic())
        return self._wait(plan.duration_s)

    def _wait(self, seconds: float) -> Turned:
        until_s = time.monotonic() + seconds + ANSWER_S
        code = reason = ""
        while (left_s := until_s - time.monotonic()) > 0:
            try:
                said = self._said.get(timeout=left_s)
            except queue.Empty:
                break
            match said:
                case MotionStopped() | MotionTrouble():
                    code, reason = said.code, said.reason
                case MotionDenied():
                    code, reason = "interlock", said.reason
                case TossJudged():
                    reason = said.proof.why_not
                case events.ShakerFault():
                    return self._turned(code or said.code, reason or said.code)
                case events.JogFinished() | events.TossSettled() | events.TossNotStarted():
                    return self._turned(code, reason)
        return self._turned(code or "no-answer", reason or "the motion thread did not answer")

    def _turned(self, code: str, reason: str) -> Turned:
        return Turned(code, reason, self.motion.figures().trace)


def jog(pins: GpioPins, parameters: MotionParameters) -> Finding:
    """Turn the shaker for a second and count what the tach says. Blocks for about two seconds."""
    try:
        with LoneShaker(pins, parameters) as shaker:
            turned = shaker.jog(JOG_RPM, JOG_S)
    except ShakerError as error:
        return fail("shaker", str(error), error.remedy)
    if turned.code:
        return _failed(turned.code, turned.reason, turned.trace)
    return _judged(turned.trace)


def _failed(code: str, reason: str, trace: tuple[tuple[float, float], ...]) -> Finding:
    fastest = max((rpm for _, rpm in trace), default=0.0)
    if fastest > RUNAWAY * JOG_RPM:
        # However it was noticed first: a tach that seems to jump is one that was overtaken.
        code, reason = "motor-overspeed", f"{fastest:.0f} rpm at {JOG_RPM:.0f} asked for; {reason}"
    remedy = TROUBLES.get(code, "See what the motion thread says, and the wiring page")
    return fail("shaker", f"{code}: {reason}", remedy)


def _judged(trace: tuple[tuple[float, float], ...]) -> Finding:
    held = [rpm for at_s, rpm in trace if JOG_S / 2 <= at_s <= JOG_S]
    if not held:
        return fail("shaker", "the tach gave no speed", TROUBLES["tach-silent"])
    speed = statistics.median(held)
    said = f"{speed:.0f} rpm at {JOG_RPM:.0f} asked for, standing again"
    if abs(speed - JOG_RPM) > SPEED_TOLERANCE * JOG_RPM:
        return warn(
            "shaker", said, "Check the motor's supply, the belt, and motion.control.duty_per_rpm"
        )
    return ok("shaker", said)


def examine(
    pins: GpioPins, parameters: MotionParameters, needs_cover: bool | None, *, is_jogged: bool
) -> Iterator[Finding]:
    """Look at every contact, listen, and, where everything permits and it is wanted, jog."""
    try:
        found = list(contacts(pins.lines.read(), needs_cover))
    except GpioLinkError as error:
        yield fail("contacts", str(error), error.remedy)
        return
    found.append(tach_at_rest(pins))
    yield from found
    if not is_jogged:
        yield warn("shaker", "not turned, as asked", "Run it again without --no-jog")
        return
    denied = [one.name for one in found if one.verdict == "fail" and one.name != "player's button"]
    if denied:
        yield warn("shaker", f"not turned: {', '.join(denied)}", "Mend that first")
        return
    if pins.lines.read().motor_supplied is not None:
        yield (proof := supply(pins))
        if proof.verdict == "fail":
            yield warn("shaker", "not turned: motor supply", "Mend that first")
            return
    yield jog(pins, parameters)
