"""The pins of a Raspberry Pi 5 on the kernel's GPIO device and PWM: motor, contacts, outputs, tach.

EN is the dead-man's process alone (`gpiod_dead_man` says when it falls). The kernel debounces the
contacts that it reports and that are read. The light has a PWM channel of its own and not a timed
pin: what a busy processor does to a timed pin, the camera would see. It must not know speed,
rounds, what follows from a contact, nor how many edges make a turn.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from pathlib import Path

import gpiod
from gpiod.line import Bias, Direction, Edge, Value

from shaker_ctl.adapters.pins.gpio_contacts import contact_pins, decode
from shaker_ctl.adapters.pins.gpio_parameters import GpioParameters
from shaker_ctl.adapters.pins.gpiod_link import REMEDY, GpiodLink
from shaker_ctl.adapters.pins.sysfs_pwm import SysfsPwm
from shaker_ctl.errors import GpioLinkError
from shaker_ctl.ports import Interlocks


class GpiodMotor:
    """`ports.Motor` on the kernel's GPIO device and PWM."""

    def __init__(self, link: GpiodLink, parameters: GpioParameters) -> None:
        self._link = link
        self._enable = parameters.pins.motor_enable
        self._dead_man_s = parameters.dead_man_s
        self._held = True
        """Set by `stop`, from any thread; while it stands nothing is granted or driven."""

    def arm(self) -> None:
        """Prove that the dead-man answers and EN is low, and lift the hold."""
        level, until_ns = self._link.ask()
        if level:
            raise GpioLinkError(
                f"EN (GPIO {self._enable}) is high before a start",
                remedy="Check what else drives the pin" if not until_ns else REMEDY,
            )
        self._held = False

    def refresh(self) -> None:
        """Grant EN for the next `dead_man_s`."""
        if self._held:
            return
        self._link.grant(self._dead_man_s)
        if self._held:
            self.stop()  # It came while the grant was on its way, and might have been overtaken.

    def drive(self, duty: float) -> None:
        """Set the duty, 0.0-1.0."""
        if self._held:
            return
        self._link.drive(duty)
        if self._held:
            self.stop()  # As above: the duty must not outlive a stop.

    def stop(self) -> None:
        """EN and duty low at once."""
        self._held = True
        self._link.revoke()

    def is_enabled(self) -> bool:
        """Read EN back, by the dead-man, who holds the line."""
        return bool(self._link.ask()[0])


class GpiodInterlock:
    """`ports.InterlockLines` on one request for all contacts."""

    def __init__(self, link: GpiodLink, parameters: GpioParameters) -> None:
        self._link = link
        self._names = parameters.pins
        self._pins = contact_pins(parameters.pins)
        self._glitch_us = parameters.contact_glitch_us
        self._request: gpiod.LineRequest | None = None
        self._lock = threading.Lock()
        self._word = 0
        self._callback: Callable[[Interlocks], None] = lambda _: None
        link.attach(self._install)
        link.at_close(self._release)

    def _install(self, chip: gpiod.Chip, _pwm: Path) -> None:
        settings = gpiod.LineSettings(
            direction=Direction.INPUT,
            bias=Bias.PULL_UP,
            edge_detection=Edge.BOTH,
            debounce_period=timedelta(microseconds=self._glitch_us),
        )
        self._request = chip.request_lines({self._pins: settings}, consumer="shaker contacts")
        self._word = self._levels()
        self._link.on_readable(self._request.fd, self._take)

    def _release(self) -> None:
        with self._lock:
            request, self._request = self._request, None
            if request is not None:
                request.release()

    def _levels(self) -> int:
        with self._lock:
            if self._request is None:
                raise GpioLinkError("the contacts are not open")
            values = self._request.get_values()
        return sum(
            1 << pin for pin, value in zip(self._pins, values, strict=True) if value is Value.ACTIVE
        )

    def _take(self) -> None:
        """In the events' thread: follow the edges, then report once for each."""
        with self._lock:
            events = self._request.read_edge_events() if self._request is not None else []
        for event in events:
            bit = 1 << event.line_offset
            if event.event_type is gpiod.EdgeEvent.Type.RISING_EDGE:
                self._word |= bit
            else:
                self._word &= ~bit
            self._callback(decode(self._word, self._names))

    def read(self) -> Interlocks:
        """Read all levels at once, as the kernel has debounced them."""
        return decode(self._link.call(self._levels), self._names)

    def on_change(self, callback: Callable[[Interlocks], None]) -> None:
        """Have `callback` called from the events' thread. It must return at once and not raise."""
        self._callback = callback


class GpiodOutputs:
    """`ports.ShakerOutputs` on the kernel's GPIO device. Calls raise GpioLinkError."""

    def __init__(self, link: GpiodLink, parameters: GpioParameters) -> None:
        self._link = link
        self._pins = parameters.pins
        self._light_hz = parameters.light_hz
        self._light: SysfsPwm | None = None
        self._request: gpiod.LineRequest | None = None
        self._lock = threading.Lock()
        link.attach(self._install)
        link.at_close(self._release)

    def _install(self, chip: gpiod.Chip, pwm: Path) -> None:
        self._light = SysfsPwm(pwm, self._pins.ring_light, self._light_hz)
        settings = gpiod.LineSettings(direction=Direction.OUTPUT, output_value=Value.INACTIVE)
        self._request = chip.request_lines(
            {(self._pins.cover_drive, self._pins.latch_release): settings},
            consumer="shaker outputs",
        )

    def _release(self) -> None:
        with self._lock:
            request, self._request = self._request, None
            if request is not None:
                request.release()
        light, self._light = self._light, None
        if light is not None:
            light.close()

    def set_light(self, level: float) -> None:
        """Ring light, 0.0 dark to 1.0 full."""
        light = self._light
        if light is None:
            raise GpioLinkError("the ring light is not open")
        self._link.call(lambda: light.write(level))

    def drive_cover(self, opened: bool) -> None:
        """Open or close a driven cover."""
        self._set(self._pins.cover_drive, opened)

    def release_latch(self, released: bool) -> None:
        """Let a person lift the compartment's lid, or lock it again."""
        self._set(self._pins.latch_release, released)

    def _set(self, pin: int, high: bool) -> None:
        def write() -> None:
            with self._lock:
                if self._request is None:
                    raise GpioLinkError("the outputs are not open")
                self._request.set_value(pin, Value.ACTIVE if high else Value.INACTIVE)

        self._link.call(write)


EVENT_BUFFER = 1024
"""Edges that the kernel keeps until they are fetched: 3.5 s at 720 rpm. Then the oldest fall out;
nobody was looking."""

FETCH_US = 2_000
"""An edge is with us this long after it happened. A level older than that is what it is."""

_RISING = gpiod.EdgeEvent.Type.RISING_EDGE


class SteadyLevel:
    """Tells the rises that lasted: a level counts once it has held for `steady_us`."""

    def __init__(self, steady_us: int, level: int) -> None:
        self._steady_us = steady_us
        self._settled = self._level = level
        self._since_us = 0

    def rises(self, edges: Iterable[tuple[int, int]], upto_us: int) -> list[int]:
        """Return the times (us) of rises that lasted, given edges as (time, level) in order, all
        that happened until `upto_us`. Each rise is returned once, dated with its own edge."""
        found = []
        for at_us, level in edges:
            found += self._settle(at_us)
            if level != self._level:
                self._level, self._since_us = level, at_us
        return found + self._settle(upto_us)

    def _settle(self, at_us: int) -> list[int]:
        if self._level == self._settled or at_us - self._since_us < self._steady_us:
            return []
        self._settled = self._level
        return [self._since_us] if self._level else []


class GpiodTach:
    """`ports.Tach` on the kernel's edge events. Fetched by the one thread that calls `edges`."""

    def __init__(self, link: GpiodLink, parameters: GpioParameters) -> None:
        self._pin = parameters.pins.tach
        self._steady = SteadyLevel(parameters.tach_glitch_us, 1)
        self._glitch_us = parameters.tach_glitch_us
        self._request: gpiod.LineRequest | None = None
        self._link = link
        link.attach(self._install)
        link.at_close(self._release)

    def _install(self, chip: gpiod.Chip, _pwm: Path) -> None:
        settings = gpiod.LineSettings(
            direction=Direction.INPUT, bias=Bias.PULL_UP, edge_detection=Edge.BOTH
        )
        self._request = chip.request_lines(
            {self._pin: settings}, consumer="shaker tach", event_buffer_size=EVENT_BUFFER
        )
        level = int(self._request.get_value(self._pin) is Value.ACTIVE)
        self._steady = SteadyLevel(self._glitch_us, level)

    def _release(self) -> None:
        request, self._request = self._request, None
        if request is not None:
            request.release()

    def edges(self) -> Sequence[int]:
        """Return the times (us, CLOCK_MONOTONIC) of the rises since the last call."""
        request = self._request
        if request is None:
            return []
        upto_us = time.monotonic_ns() // 1000 - FETCH_US
        found: list[tuple[int, int]] = []
        while request.wait_edge_events(timedelta(0)):
            events = self._link.call(request.read_edge_events)
            found += [(event.timestamp_ns // 1000, event.event_type is _RISING) for event in events]
        return self._steady.rises(found, upto_us)
