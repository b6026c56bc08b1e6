"""The pins as the outside world meets them: the joint between the plant and the virtual pigpiod.

The plant (or a bench, or a second board) asks what drives a pin and drives inputs itself; the
daemon switches modes and writes latches. Each does so from a thread of its own: every method takes
the board's lock for a moment, and none waits for anything else.

The board outlives its daemon, as a real chip does: when the daemon stops, levels, modes and
hardware PWM stay as they are.

Must not know: clients, the protocol, what a motor is.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping

from virtual_pigpiod.pins.pin import Mode, Pin, Pull, Writer
from virtual_pigpiod.pins.sources import Follow, Once
from virtual_pigpiod.pins.timeline import Event, LevelSource, Tap

GPIOS = 54


def now_us() -> int:
    """Microseconds of CLOCK_MONOTONIC; the time base of everything here."""
    return time.monotonic_ns() // 1000


class Board:
    """54 pins, GPIO 0..53, in the state of a Raspberry Pi after power-on: inputs, default pulls."""

    # One for all boards, because boards wired together look at each other's lines. Times are taken
    # while it is held, so what is written after a look is also dated after it.
    _lock = threading.RLock()

    def __init__(self) -> None:
        start_us = now_us()
        self._wires: dict[int, tuple[Board, int]] = {}
        self._output_listeners: list[Callable[[int], None]] = []
        self._watched = 0
        self._on_watched: Callable[[int], None] = lambda at_us: None
        self.pins = [Pin(gpio, start_us) for gpio in range(GPIOS)]

    # ── Time ────────────────────────────────────────────────────────────────

    def now_us(self) -> int:
        """Microseconds of CLOCK_MONOTONIC, not wrapped: `int(time.monotonic() * 1e6)`."""
        return now_us()

    def tick(self) -> int:
        """The daemon's tick: the same clock modulo 2**32 (wraps every 71.6 min)."""
        return now_us() & 0xFFFFFFFF

    # ── Outputs, seen from outside ──────────────────────────────────────────

    def level(self, gpio: int, at_us: int | None = None) -> int:
        """Level on the line, 0 or 1, now (or at `at_us`, not before the latest change)."""
        with self._lock:
            return self._level(gpio, now_us() if at_us is None else at_us)

    def duty(self, gpio: int) -> float:
        """Average drive 0..1: the duty of soft or hardware PWM or of a clock, else the level."""
        with self._lock:
            driver = self.pins[gpio].driver
            mean = None if driver is None else driver.mean
            if mean is not None:
                return mean
            return float(self._level(gpio, now_us()))

    def mode(self, gpio: int) -> Mode:
        """Present function of the pin."""
        return self.pins[gpio].mode

    def on_output(self, listener: Callable[[int], None]) -> None:
        """Call `listener(gpio)` at once whenever the daemon changes what drives a pin.

        Once per command, not per PWM or wave edge. Called in the daemon's thread without any lock;
        it must return quickly and may ask the board anything.
        """
        self._output_listeners.append(listener)

    # ── Inputs, driven from outside ─────────────────────────────────────────

    def drive(self, gpio: int, level: int, at_us: int | None = None) -> None:
        """Hold a pin at `level` from outside, from now (or from `at_us`) on.

        Forgets edges announced for later. Without effect on the line while the pin is an output.
        """
        with self._lock:
            at_us = now_us() if at_us is None else at_us
            pin = self.pins[gpio]
            pin.settle(at_us)
            pin.drive(level, at_us)
            self._wires.pop(gpio, None)
        self._notice(1 << gpio, at_us)

    def edges(self, gpio: int, edges: Iterable[Event]) -> None:
        """External edges `(at_us, level)` in time order, with their exact times.

        Best handed over ahead of time (for the plant's coming step): each takes effect at its own
        moment. Edges of the last few milliseconds are accepted too and reported with true ticks.
        """
        edges = list(edges)
        if not edges:
            return
        with self._lock:
            pin = self.pins[gpio]
            pin.expect(edges)
            pin.settle(now_us())
        self._notice(1 << gpio, edges[0][0])

    def release(self, gpio: int) -> None:
        """Stop driving a pin from outside: the pull decides (an open contact, a cut wire)."""
        with self._lock:
            at_us = now_us()
            self.pins[gpio].release(at_us)
            self._wires.pop(gpio, None)
        self._notice(1 << gpio, at_us)

    def follow(self, gpio: int, other: Board, other_gpio: int) -> None:
        """Wire an input to another board's output: it shows every edge there, at its exact time.

        Raises ValueError where the wires would make a circle.
        """
        end: tuple[Board, int] | None = (other, other_gpio)
        while end is not None:
            if end == (self, gpio):
                raise ValueError(f"GPIO {gpio} would be wired to itself")
            end = end[0]._wires.get(end[1])
        with self._lock:
            at_us = now_us()
            line = other.pins[other_gpio].line
            self.pins[gpio].drive(line.level_at(at_us), at_us, Follow(line))
            self._wires[gpio] = (other, other_gpio)
        self._notice(1 << gpio, at_us)
        other.on_output(lambda moved: self._follow_up(gpio, (other, moved)))

    # ── The daemon's side ───────────────────────────────────────────────────

    def set_mode(self, gpio: int, mode: Mode) -> None:
        """Select a pin's function; the latch keeps its level."""
        with self._lock:
            self.pins[gpio].set_mode(mode, now_us())
        self._changed(1 << gpio)

    def set_pull(self, gpio: int, pull: Pull) -> None:
        """Select a pin's pull resistor."""
        with self._lock:
            self.pins[gpio].set_pull(pull, now_us())
        self._changed(1 << gpio)

    def write(self, set_mask: int, clear_mask: int) -> None:
        """Write latches of several pins (bit = GPIO) at one moment; sources running there go on."""
        with self._lock:
            at_us = now_us()
            for gpio in bits(set_mask | clear_mask):
                self.pins[gpio].write(set_mask >> gpio & 1, at_us)
        self._changed(set_mask | clear_mask)

    def pulse(self, gpio: int, level: int, length_us: int) -> int:
        """Write `level`, and the opposite `length_us` later; that time is returned."""
        with self._lock:
            at_us = now_us()
            end_us = at_us + length_us
            end = Once(end_us, 1 - level)
            self.pins[gpio].set_writer(Writer.TRIGGER, end, at_us, level)
        self._changed(1 << gpio)
        return end_us

    def output(self, gpio: int, level: int | None, pwm: LevelSource | None = None) -> None:
        """Make the pin an output with `level` (None: as it is) and `pwm` or no PWM, in one step."""
        with self._lock:
            at_us = now_us()
            pin = self.pins[gpio]
            pin.set_writer(Writer.PWM, pwm, at_us, level)
            if pin.mode != Mode.OUTPUT:
                pin.set_mode(Mode.OUTPUT, at_us)
        self._changed(1 << gpio)

    def set_pwm(self, gpio: int, source: LevelSource | None, level: int | None = None) -> None:
        """Replace the soft PWM or servo pulses of a latch, whatever the pin's mode."""
        with self._lock:
            self.pins[gpio].set_writer(Writer.PWM, source, now_us(), level)
        self._changed(1 << gpio)

    def set_waves(self, sources: Mapping[int, LevelSource | None], at_us: int) -> None:
        """Set (or with None take away) what waves write to several latches, all from `at_us` on.

        `at_us` is the moment from which the waves were reckoned: their first write may follow it so
        closely that it is past already.
        """
        with self._lock:
            for gpio, source in sources.items():
                self.pins[gpio].set_writer(Writer.WAVE, source, at_us)
        self._changed(sum(1 << gpio for gpio in sources))

    def waves(self) -> list[int]:
        """Pins whose latch a wave may write now."""
        return [pin.gpio for pin in self.pins if Writer.WAVE in pin.writers]

    def stop_writers(self) -> None:
        """Stop soft PWM and waves wherever they are in their cycle; latches keep that level."""
        with self._lock:
            at_us = now_us()
            driven = [pin for pin in self.pins if pin.writers]
            for pin in driven:
                pin.stop_writers(at_us)
        self._changed(sum(1 << pin.gpio for pin in driven))

    def set_hardware(self, gpio: int, mode: Mode, source: LevelSource | None) -> None:
        """Set the signal of the PWM or clock peripheral behind a pin's alternative `mode`."""
        with self._lock:
            pin = self.pins[gpio]
            pin.set_hardware(mode, source, now_us())
        if pin.mode == mode:
            self._changed(1 << gpio)

    def word(self, bank: int) -> int:
        """Levels of bank 0 (GPIO 0..31) or bank 1 (GPIO 32..53) as one word."""
        first = 32 * bank
        with self._lock:
            at_us = now_us()
            return sum(
                self._level(gpio, at_us) << gpio - first
                for gpio in range(first, min(first + 32, GPIOS))
            )

    def tap(self, gpio: int) -> Tap:
        """A reader of the pin's edges from now on. Use it inside `locked()`."""
        with self._lock:
            at_us = now_us()
            self.pins[gpio].settle(at_us)
            return self.pins[gpio].line.tap(at_us)

    def locked(self) -> threading.RLock:
        """The lock, for several looks or writes at one moment: `with board.locked(): ...`."""
        return self._lock

    def watch(self, mask: int, on_change: Callable[[int], None]) -> None:
        """Call `on_change(at_us)`, from any thread, when something new happens on a pin in `mask`.

        For edges announced ahead of time it is called at once, with the first edge's time.
        """
        self._watched, self._on_watched = mask, on_change

    # ── Inside ──────────────────────────────────────────────────────────────

    def _level(self, gpio: int, at_us: int) -> int:
        pin = self.pins[gpio]
        pin.settle(at_us)
        return pin.line.level_at(at_us)

    def _follow_up(self, gpio: int, moved: tuple[Board, int]) -> None:
        if self._wires.get(gpio) == moved:
            self._notice(1 << gpio, now_us())

    def _changed(self, mask: int) -> None:
        self._notice(mask, now_us())
        for gpio in bits(mask):
            for listener in self._output_listeners:
                listener(gpio)

    def _notice(self, mask: int, at_us: int) -> None:
        if mask & self._watched:
            self._on_watched(at_us)


def bits(mask: int) -> list[int]:
    """Numbers of the bits set in `mask`, ascending."""
    return [bit for bit in range(mask.bit_length()) if mask >> bit & 1]
