"""One pin of the chip: mode, output latch, pull, what stands outside, and the resulting line.

Owns: which of them the line follows. Must not know: clients, PWM ranges, other pins.
Thread safety is the board's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from enum import IntEnum

from virtual_pigpiod.pins.sources import Several
from virtual_pigpiod.pins.timeline import Event, LevelSource, Segment, Timeline


class Mode(IntEnum):
    """Function select codes, as the BCM283x numbers them."""

    INPUT = 0
    OUTPUT = 1
    ALT5 = 2
    ALT4 = 3
    ALT0 = 4
    ALT1 = 5
    ALT2 = 6
    ALT3 = 7


class Pull(IntEnum):
    """Pull resistor."""

    OFF = 0
    DOWN = 1
    UP = 2


_PULLED_UP_AT_POWER_ON = {*range(9), 34, 35, 36, *range(46, 54)}
"""BCM2835 ARM Peripherals, table 6-31: alternative function assignment, column Pull."""


class Writer(IntEnum):
    """What inside the chip keeps writing a latch. They do not know of each other."""

    PWM = 0
    WAVE = 1
    TRIGGER = 2


class Pin:
    """The chip's side (mode, latch, pull, hardware) and the world's side (external drive)."""

    __slots__ = (
        "_coming",
        "_external",
        "_hardware",
        "gpio",
        "latch",
        "line",
        "mode",
        "pull",
        "writers",
    )

    def __init__(self, gpio: int, now_us: int) -> None:
        self.gpio = gpio
        self.mode = Mode.INPUT
        self.pull = Pull.UP if gpio in _PULLED_UP_AT_POWER_ON else Pull.DOWN
        self.latch = Segment(now_us, 0)
        self._hardware: dict[Mode, LevelSource | None] = {}
        self.writers: dict[Writer, LevelSource] = {}
        self._external: Segment | None = None
        self._coming: deque[Event] = deque()
        self.line = Timeline(now_us, int(self.pull == Pull.UP))

    # ── The world's side ────────────────────────────────────────────────────

    def drive(self, level: int, at_us: int, source: LevelSource | None = None) -> None:
        """Something outside holds the pin from `at_us` on; visible while the pin is an input."""
        self._coming.clear()
        self._external = Segment(at_us, level, source)
        if self.mode == Mode.INPUT:
            self.line.begin(at_us, level, source)

    def expect(self, edges: Iterable[Event]) -> None:
        """External edges in time order, past or to come; each takes effect at its own time."""
        self._coming.extend(edges)

    def release(self, at_us: int) -> None:
        """Nothing outside holds the pin any more; the pull decides."""
        self._coming.clear()
        self._external = None
        if self.mode == Mode.INPUT:
            self._reconnect(at_us)

    def settle(self, now_us: int) -> None:
        """Let external edges up to now take effect. Called before anything looks at the line."""
        coming = self._coming
        while coming and coming[0][0] <= now_us:
            at_us, level = coming.popleft()
            self._external = Segment(at_us, level)
            if self.mode == Mode.INPUT:
                self.line.begin(at_us, level)

    # ── The chip's side ─────────────────────────────────────────────────────

    def set_mode(self, mode: Mode, now_us: int) -> None:
        """Connect the line to the latch, a peripheral, or the world."""
        self.mode = mode
        self._reconnect(now_us)

    def set_pull(self, pull: Pull, now_us: int) -> None:
        """Switch the pull resistor; seen only where nothing drives the line."""
        self.pull = pull
        if self.mode == Mode.INPUT and self._external is None:
            self._reconnect(now_us)

    def write(self, level: int, now_us: int) -> None:
        """Write the latch once. Sources that run there go on and write again at their next edge."""
        self._set_latch(level, now_us)

    def set_writer(
        self, writer: Writer, source: LevelSource | None, now_us: int, level: int | None = None
    ) -> None:
        """Let `source` (or nothing) be what `writer` does to the latch from now on.

        The latch is written once with `level`; None keeps what it is until the next write.
        """
        level = self.latch.level_at(now_us) if level is None else level
        if source is None:
            self.writers.pop(writer, None)
        else:
            self.writers[writer] = source
        self._set_latch(level, now_us)

    def stop_writers(self, now_us: int) -> None:
        """Freeze the latch at its present level."""
        level = self.latch.level_at(now_us)
        self.writers.clear()
        self._set_latch(level, now_us)

    def set_hardware(self, mode: Mode, source: LevelSource | None, now_us: int) -> None:
        """Signal of the peripheral that the pin shows while it has the alternative `mode`."""
        self._hardware[mode] = source
        if self.mode == mode:
            self._reconnect(now_us)

    @property
    def next_external_us(self) -> int | None:
        """Time of the next external edge announced ahead, if any."""
        return self._coming[0][0] if self._coming else None

    @property
    def driver(self) -> LevelSource | None:
        """The source that moves the line at present, if any."""
        return self.line.current.source

    def _set_latch(self, level: int, now_us: int) -> None:
        running = [w for w in sorted(self.writers) if self.writers[w].ends_us > now_us]
        self.writers = {writer: self.writers[writer] for writer in running}
        sources = tuple(self.writers.values())
        source = Several(sources) if len(sources) > 1 else next(iter(sources), None)
        self.latch = Segment(now_us, level, source)
        if self.mode == Mode.OUTPUT:
            self.line.begin(now_us, level, source)

    def _reconnect(self, now_us: int) -> None:
        if self.mode == Mode.OUTPUT:
            self.line.begin(now_us, self.latch.level_at(now_us), self.latch.source)
        elif self.mode == Mode.INPUT and self._external is not None:
            outside = self._external
            self.line.begin(now_us, outside.level_at(now_us), outside.source)
        elif self.mode == Mode.INPUT:
            self.line.begin(now_us, int(self.pull == Pull.UP))
        else:
            self.line.begin(now_us, 0, self._hardware.get(self.mode))
