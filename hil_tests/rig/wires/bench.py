"""Real wires: the machine is a pigpio client of a second daemon, whose pins go to the controller's.

Owns how a daemon reads a controller's outputs: it asks for levels, listens to PWM for a moment, and
always listens for pulses of EN. Also owns how contacts are driven, and that everything is off at
the end. Must not know the plant, nor whether the daemon is a Raspberry Pi's or the virtual one.

One rig has the daemon at a time, from whichever computer: the guard (below) bears who started it.

Three mechanisms switch everything off:

- `close` leaves every line open, which a controller reads as e-stop pressed and compartment open.
- A script inside the daemon also opens every line if this process is silent for half a second.
- If EN stays high for longer than the limit, the e-stop line opens and stays open.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import select
import socket
import statistics
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import astuple
from datetime import datetime

import pigpio

from hil_tests.rig.plant.joint import PlantInputs, PlantOutputs
from hil_tests.rig.wires.tach_player import FORESIGHT_S, TachPlayer
from hil_tests.rig.wires.wiring import PinMap, closed_contacts
from virtual_pigpiod.client import hang_up
from virtual_pigpiod.scheduling import go_first

REPORT = struct.Struct("<HHII")
NOTIFY_OPEN_IN_BAND = 99

WINDOW_S = 0.0015
"""How long PWM is listened to: thirty periods of a motor's 20 kHz, twelve of a light's."""
PAUSE_S = 0.012
"""Between two windows. Listening always would be forty thousand reports a second."""
STILL_WINDOWS = 3
"""A line that is at one level, without an edge, in this many windows has no PWM: its level counts.
One such window says nothing: its reports may still be on their way."""
MIN_PERIODS = 3
"""Fewer periods of one length in a window are no PWM: 3 kHz and more can be measured."""

GUARD_TURN_MS = 20
GUARD_TURNS = 25
"""The daemon opens all contacts after this many turns without news from the rig: half a second."""
GUARD_S = GUARD_TURN_MS * GUARD_TURNS / 1000.0

DRIVER_FILTER_S = 0.002
"""EN that is low for longer than this is low. Two daemons in one process may stretch the pulses of
10 us to a turn of that interpreter."""

SCRIPTS = 32
"""Slots for scripts in a daemon."""

ANSWER_S = 2.0
LOST = "the rig's daemon was lost: is its pigpiod running, or has another rig taken it?"


class WiresError(Exception):
    """The bench cannot be used, or had to be switched off; the text says what to do."""


class PwmListener:
    """Reports of one daemon on a connection of its own: PWM in windows, EN's pulses always."""

    def __init__(self, host: str, port: int, pins: PinMap, on_change: Callable[[], None]) -> None:
        """Raises OSError where nobody listens."""
        self._pwm = (pins.motor_pwm, pins.ring_light)
        self.always = 1 << pins.motor_enable
        """Mask of what is reported all the time."""
        self.window = self.always | sum(1 << gpio for gpio in self._pwm)
        """Mask of what is reported in a window."""
        self._on_change = on_change
        self._lock = threading.Lock()
        self._edges: dict[int, list[tuple[int, int]]] = {gpio: [] for gpio in self._pwm}
        self._word = 0
        self.enable_pulses = 0
        self._socket = socket.create_connection((host, port), timeout=ANSWER_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(struct.pack("<4I", NOTIFY_OPEN_IN_BAND, 0, 0, 0))
        self.handle: int = struct.unpack("<4I", self._socket.recv(16, socket.MSG_WAITALL))[3]
        self._socket.settimeout(None)
        self._reading = threading.Lock()
        self._unread = b""
        self._thread = threading.Thread(target=self._listen, name="bench-listener", daemon=True)
        self._thread.start()

    @property
    def is_open(self) -> bool:
        return self._thread.is_alive()

    @property
    def address(self) -> int:
        """By which the daemon knows this computer, as a number; 0 where it is none of IPv4."""
        host = self._socket.getsockname()[0]
        return 0 if ":" in host else int(ipaddress.IPv4Address(host))

    def take(self, gpio: int) -> list[tuple[int, int]]:
        """Return the edges since the last call, as (tick, level)."""
        with self._lock:
            edges, self._edges[gpio] = self._edges[gpio], []
        return edges

    def close(self) -> None:
        """End the connection and with it the handle. Idempotent."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()

    def drain(self) -> bool:
        """Take every report that is there, from any thread; return False when there is no more.

        The machine does so before it looks: what its own late thread has not taken yet was said.
        """
        with self._reading:
            while True:
                try:
                    # The daemon leaves Nagle's algorithm on here: an answer at once lets it go on.
                    self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
                    data = self._socket.recv(65536, socket.MSG_DONTWAIT)
                except BlockingIOError:
                    return True
                except OSError:
                    return False
                if not data:
                    return False
                self._unread += data
                whole = len(self._unread) // REPORT.size * REPORT.size
                self._take(self._unread[:whole])
                self._unread = self._unread[whole:]

    def _listen(self) -> None:
        go_first()
        while self.drain():
            select.select([self._socket], [], [])

    def _take(self, reports: bytes) -> None:
        before = self._word
        with self._lock:
            for _, flags, tick, word in REPORT.iter_unpack(reports):
                if flags:
                    continue
                changed, self._word = word ^ self._word, word
                if changed & self.always:
                    self.enable_pulses += bool(word & self.always)
                for gpio in self._pwm:
                    if changed >> gpio & 1:
                        self._edges[gpio].append((tick, word >> gpio & 1))
        # A pulse that ends in the batch in which it began changes nothing for the machine.
        if (before ^ self._word) & self.always:
            self._on_change()


def duty_of(edges: list[tuple[int, int]]) -> float | None:
    """Share of the whole periods in `edges` (tick in us, level) that was high, 0.0-1.0.

    None where fewer than `MIN_PERIODS` of one length are whole. Others are none: outside a window
    every report of EN also carries the PWM's level of that moment. Ticks wrap at 2**32.
    """
    periods: list[tuple[int, int]] = []
    rise: int | None = None
    fall: int | None = None
    for tick, level in edges:
        if not level:
            fall = tick
            continue
        if rise is not None and fall is not None:
            periods.append(((tick - rise) & 0xFFFFFFFF, (fall - rise) & 0xFFFFFFFF))
        rise, fall = tick, None
    if len(periods) < MIN_PERIODS:
        return None
    usual_us = statistics.median(whole_us for whole_us, _ in periods)
    true = [(whole, high) for whole, high in periods if abs(whole - usual_us) <= usual_us / 4]
    if len(true) < max(MIN_PERIODS, len(periods) // 2):
        return None
    return sum(high for _, high in true) / sum(whole for whole, _ in true)


class PwmLine:
    """What one pin carries, window by window: PWM, or a level."""

    def __init__(self) -> None:
        self.duty = 0.0
        self._level = 0.0
        self._still = 0

    def note(self, edges: list[tuple[int, int]], level: float) -> None:
        """Take a window: its edges, and the level (0.0 or 1.0) after it. What is still on its way
        belongs to the next one."""
        duty = duty_of(edges)
        if duty is not None:
            self.duty = duty
        self._still = 0 if edges or level != self._level else self._still + 1
        self._level = level
        if self._still >= STILL_WINDOWS:
            self.duty = level


class BenchWires:
    """Wires from a machine here to a controller on the pins of the daemon at `host`:`port`.

    `pins` are that daemon's GPIO numbers, by what the wire at each carries.
    """

    turn_s = 0.008
    """Each turn costs some ten commands."""

    foresight_s = FORESIGHT_S
    """Tach edges are queued in the daemon before they are due."""

    def __init__(self, host: str, port: int, pins: PinMap, *, motor_run_s: float) -> None:
        """Open every contact, then take the lines. Raises `WiresError`."""
        self._pins = pins
        self._contacts = tuple(closed_contacts(pins, PlantOutputs()))
        if len(set(astuple(pins))) != len(astuple(pins)):
            raise WiresError("two wires end at one pin of the rig; see [gpio.wiring]")
        self._motor_run_s = motor_run_s
        self._closed: dict[int, bool] = {}
        self._enabled_since_s: float | None = None
        self._pwm = {pins.motor_pwm: PwmLine(), pins.ring_light: PwmLine()}
        self._listener_of_changes: Callable[[], None] = lambda: None
        self._ended = threading.Event()
        self.trouble = ""
        """Why the bench was switched off; empty while it was not."""
        self._pi = _client(host, port)
        self._watching = _client(host, port)
        self._reports = PwmListener(host, port, pins, self._tell)
        try:
            self._guard = self._arm_guard()
        except WiresError:
            self._hang_up()
            raise
        self._pi.notify_begin(self._reports.handle, self._reports.always)
        self._open_contacts()
        for gpio in pins.outputs:
            self._pi.set_mode(gpio, pigpio.INPUT)
            self._pi.set_pull_up_down(gpio, pigpio.PUD_DOWN)
        self._pi.set_mode(pins.tach, pigpio.OUTPUT)
        self._pi.write(pins.tach, 0)
        self._tach = TachPlayer(self._pi, pins.tach)
        self._tach.stop()
        self._thread = threading.Thread(target=self._watch, name="bench-watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Leave every line open and let go of the daemon. Idempotent."""
        if self._ended.is_set():
            return
        self._ended.set()
        self._thread.join()
        with contextlib.suppress(OSError, struct.error, AttributeError, pigpio.error):
            self._open_contacts()
            self._tach.stop()
            self._pi.set_mode(self._pins.tach, pigpio.INPUT)
            self._pi.stop_script(self._guard)
            self._pi.delete_script(self._guard)
        self._hang_up()

    def _hang_up(self) -> None:
        self._reports.close()
        for pi in (self._pi, self._watching):
            with contextlib.suppress(OSError, struct.error, AttributeError):
                hang_up(pi)

    # ── The machine's side ──────────────────────────────────────────────────

    def on_change(self, listener: Callable[[], None]) -> None:
        """See `Wires`."""
        self._listener_of_changes = listener

    def inputs(self) -> PlantInputs:
        """See `Wires`. PWM is as of the last window, some 15 ms ago, a PWM's end 45 ms ago."""
        pins = self._pins
        word = self._pi.read_bank_1()
        is_enabled = bool(word >> pins.motor_enable & 1) or self._is_only_pulsed()
        self._limit_run(is_enabled)
        self._reports.drain()
        return PlantInputs(
            motor_duty=self._pwm[pins.motor_pwm].duty,
            motor_enabled=is_enabled,
            ring_light=self._pwm[pins.ring_light].duty,
            cover_open_drive=bool(word >> pins.cover_drive & 1),
            latch_release=bool(word >> pins.latch_release & 1),
            enable_pulses=self._reports.enable_pulses,
        )

    def apply(self, outputs: PlantOutputs) -> None:
        """See `Wires`. Tach edges are played as they were foreseen."""
        self._tach.play(outputs.coming_edges, upto_s=outputs.until_s + FORESIGHT_S)
        closed = closed_contacts(self._pins, outputs)
        closed[self._pins.estop] &= not self.trouble
        for gpio, is_closed in closed.items():
            self._pull(gpio, is_closed=is_closed)

    @property
    def underruns(self) -> int:
        """How often this computer was so busy that the tach went on at its last speed."""
        return self._tach.underruns

    def _pull(self, gpio: int, *, is_closed: bool) -> None:
        """A closed contact grounds the line; an open one leaves it to the pull-ups at both ends."""
        if self._closed.get(gpio) is is_closed:
            return
        self._closed[gpio] = is_closed
        if is_closed:
            self._pi.write(gpio, 0)
        else:
            self._pi.set_mode(gpio, pigpio.INPUT)

    def _open_contacts(self) -> None:
        for gpio in self._contacts:
            self._pi.set_mode(gpio, pigpio.INPUT)
            self._pi.set_pull_up_down(gpio, pigpio.PUD_UP)
        self._closed.clear()

    def _is_only_pulsed(self) -> bool:
        """Whether EN, just seen low, is high again at once: the controller pulses it low for some
        microseconds, which a driver's logic does not see."""
        if self._enabled_since_s is None:
            return False
        until_s = time.monotonic() + DRIVER_FILTER_S
        while not self._pi.read(self._pins.motor_enable):
            if time.monotonic() > until_s:
                return False
        return True

    def _limit_run(self, is_enabled: bool) -> None:
        now_s = time.monotonic()
        if not is_enabled:
            self._enabled_since_s = None
        elif self._enabled_since_s is None:
            self._enabled_since_s = now_s
        elif now_s - self._enabled_since_s > self._motor_run_s and not self.trouble:
            self.trouble = (
                f"EN was high for more than {self._motor_run_s:g} s: the e-stop line was opened. "
                "Look at the controller, then start the rig again"
            )

    # ── The daemon's side ───────────────────────────────────────────────────

    def _tell(self) -> None:
        self._listener_of_changes()

    def _watch(self) -> None:
        """Measure PWM, window by window, and tell the guard that somebody lives."""
        go_first()
        reports, pi = self._reports, self._watching
        try:
            while not self._ended.wait(PAUSE_S):
                pi.notify_begin(reports.handle, reports.window)
                self._ended.wait(WINDOW_S)
                pi.notify_begin(reports.handle, reports.always)
                pi.update_script(self._guard, [GUARD_TURNS])
                word = pi.read_bank_1()
                for gpio, line in self._pwm.items():
                    line.note(reports.take(gpio), float(word >> gpio & 1))
                if not reports.is_open:
                    raise OSError("the reports ended")
        except (OSError, struct.error, pigpio.error, AttributeError) as error:
            if not self._ended.is_set():
                self.trouble = f"{LOST}: {error!r}"

    def _arm_guard(self) -> int:
        """Take the daemon for this rig alone: start the script that opens all contacts when this
        process falls silent. Its other parameters say who this is, for a rig on another computer.

        Of two that start in one moment each deletes the other's script, which ends it. Raises
        `WiresError` where another one has the daemon.
        """
        require_free(self._pi)
        # `r` is an input; a digit would be one of the alternative functions.
        opened = " ".join(f"m {gpio} r" for gpio in self._contacts)
        text = f"tag 1 mils {GUARD_TURN_MS} dcr p0 jp 1 {opened} wvhlt"
        who = [self._reports.address, os.getpid(), int(time.time())]
        deadline = time.monotonic() + ANSWER_S
        try:
            guard = int(self._pi.store_script(text.encode()))
            while (state := self._pi.script_status(guard)[0]) != pigpio.PI_SCRIPT_RUNNING:
                if time.monotonic() > deadline:
                    raise WiresError("the rig's daemon does not start scripts")
                if state == pigpio.PI_SCRIPT_HALTED:
                    self._pi.run_script(guard, [GUARD_TURNS, *who])
                time.sleep(0.01)
        except pigpio.error as error:
            raise WiresError(f"{LOST}: {error}") from error
        for slot in set(range(SCRIPTS)) - {guard}:  # what rigs before us left
            with contextlib.suppress(pigpio.error):
                self._pi.delete_script(slot)
        return guard


def _client(host: str, port: int) -> pigpio.pi:
    pi = pigpio.pi(host, port, show_errors=False)
    if not pi.connected:
        raise WiresError(
            f"no pigpiod answers for the rig at {host}:{port}: start one there "
            "(`sudo pigpiod`), or correct [gpio] rig in the rig file"
        )
    return pi


def require_free(pi: pigpio.pi) -> None:
    """Raise `WiresError` where another rig has the daemon; one that has died lets go of it soon."""
    deadline = time.monotonic() + 2.0 * GUARD_S
    while (holder := _holder(pi)) is not None:
        if time.monotonic() > deadline:
            raise WiresError(f"the rig's daemon is in use by {holder}. Ask them, or wait")
        time.sleep(GUARD_S / 10.0)


def _holder(pi: pigpio.pi) -> str | None:
    """Whose script runs in the daemon: a living rig's guard always does."""
    for slot in range(SCRIPTS):
        with contextlib.suppress(pigpio.error):
            state, parameters = pi.script_status(slot)
            if state != pigpio.PI_SCRIPT_RUNNING:
                continue
            address, pid, since = (number & 0xFFFFFFFF for number in parameters[1:4])
            begun = datetime.fromtimestamp(since).astimezone().isoformat(timespec="minutes")
            return f"process {pid} on {ipaddress.IPv4Address(address)} since {begun}"
    return None
