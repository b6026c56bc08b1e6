"""What a transmission plays, as a tree: waves and gaps in sequences and loops, in relative time.

Owns: which write to a pin was the last before any moment, without walking through the repetitions.
Must not know: the clock, pins' modes, wave ids being reused.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Sequence as Several

from virtual_pigpiod.pins.board import bits
from virtual_pigpiod.pins.timeline import Event
from virtual_pigpiod.waves.waveform import Pulse


class Pattern:
    """Something that writes pins for `duration_us`, from time 0 of its own.

    This one writes none: a pause."""

    pins = 0
    """Bits of the pins that it writes."""

    def __init__(self, duration_us: float) -> None:
        self.duration_us = duration_us
        """Length; infinity for a loop without end."""

    def last(self, gpio: int, upto_us: float) -> Event | None:
        """Latest write to `gpio` at or before `upto_us`."""
        return None

    def events(self, gpio: int, after_us: float, upto_us: float) -> list[Event]:
        """Writes to `gpio` in (after_us, upto_us]."""
        return []

    def wave_at(self, at_us: float) -> int | None:
        """Id of the wave that plays at that time; None between waves."""
        return None


class Wave(Pattern):
    """The pulses of one created wave."""

    def __init__(self, number: int, pulses: list[Pulse]) -> None:
        self._number = number
        self._times: dict[int, list[int]] = {}
        self._levels: dict[int, list[int]] = {}
        at_us, pins = 0, 0
        for pulse in pulses:
            pins |= pulse.on | pulse.off
            for gpio in bits(pulse.on | pulse.off):
                # Both at once: the DMA sets first and then clears.
                self._times.setdefault(gpio, []).append(at_us)
                self._levels.setdefault(gpio, []).append(0 if pulse.off >> gpio & 1 else 1)
            at_us += pulse.delay_us
        super().__init__(at_us)
        self.pins = pins

    def last(self, gpio: int, upto_us: float) -> Event | None:
        """Latest write at or before `upto_us`."""
        times = self._times.get(gpio, [])
        index = bisect_right(times, upto_us) - 1
        return (times[index], self._levels[gpio][index]) if index >= 0 else None

    def events(self, gpio: int, after_us: float, upto_us: float) -> list[Event]:
        """Writes in (after_us, upto_us]."""
        times = self._times.get(gpio, [])
        first, end = bisect_right(times, after_us), bisect_right(times, upto_us)
        return [(times[i], self._levels[gpio][i]) for i in range(first, end)]

    def wave_at(self, at_us: float) -> int | None:
        """This wave."""
        return self._number


class Sequence(Pattern):
    """Parts one after the other."""

    def __init__(self, parts: Several[Pattern]) -> None:
        self._parts = list(parts)
        durations = (part.duration_us for part in self._parts)
        self._starts = [0.0, *itertools.accumulate(durations)]
        super().__init__(self._starts.pop())
        for part in self._parts:
            self.pins |= part.pins

    def last(self, gpio: int, upto_us: float) -> Event | None:
        """Latest write of the part that plays at `upto_us`, or of those before it."""
        for index in range(bisect_right(self._starts, upto_us) - 1, -1, -1):
            event = self._parts[index].last(gpio, upto_us - self._starts[index])
            if event is not None:
                return (int(event[0] + self._starts[index]), event[1])
        return None

    def events(self, gpio: int, after_us: float, upto_us: float) -> list[Event]:
        """Writes of the parts that play within (after_us, upto_us]."""
        found: list[Event] = []
        first = max(bisect_right(self._starts, after_us) - 1, 0)
        # A part's last write may fall on the very start of the next part, or of several empty ones.
        while first > 0 and self._starts[first] >= after_us:
            first -= 1
        for index in range(first, bisect_right(self._starts, upto_us)):
            start = self._starts[index]
            events = self._parts[index].events(gpio, after_us - start, upto_us - start)
            found += [(int(at_us + start), level) for at_us, level in events]
        return found

    def wave_at(self, at_us: float) -> int | None:
        """The wave of the part that plays then."""
        index = max(bisect_right(self._starts, at_us) - 1, 0)
        return self._parts[index].wave_at(at_us - self._starts[index]) if self._parts else None


class RepeatedPattern(Pattern):
    """A body `count` times, or for ever (infinity)."""

    def __init__(self, body: Pattern, count: float = math.inf) -> None:
        self._body = body
        self._count = count
        self._period_us = max(body.duration_us, 1)  # an empty body must not stop time
        super().__init__(count * self._period_us)
        self.pins = body.pins

    def last(self, gpio: int, upto_us: float) -> Event | None:
        """Latest write in the present round, else in the one before."""
        if upto_us < 0:
            return None
        turn = min(upto_us // self._period_us, self._count - 1)
        event = self._body.last(gpio, upto_us - turn * self._period_us)
        if event is None and turn > 0:
            turn -= 1
            event = self._body.last(gpio, self._period_us)
        return None if event is None else (int(event[0] + turn * self._period_us), event[1])

    def events(self, gpio: int, after_us: float, upto_us: float) -> list[Event]:
        """Writes of all rounds within (after_us, upto_us]."""
        found: list[Event] = []
        # One round earlier: a round's last write may fall on its very end.
        turn = max(after_us // self._period_us - 1, 0)
        while turn < self._count and turn * self._period_us <= upto_us:
            start = turn * self._period_us
            events = self._body.events(gpio, after_us - start, upto_us - start)
            found += [(int(at_us + start), level) for at_us, level in events]
            turn += 1
        return found

    def wave_at(self, at_us: float) -> int | None:
        """The wave that plays then in the body."""
        return self._body.wave_at(at_us % self._period_us)
