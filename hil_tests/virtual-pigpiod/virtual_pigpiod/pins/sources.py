"""What can write levels to a line by itself: pulse trains, single pulses, and several at once.

Owns: the arithmetic of each `LevelSource`. Must not know: pins, duty ranges, wave numbers.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field

from virtual_pigpiod.pins.timeline import Event, LevelSource, Timeline, changes

SAMPLE_US = 5
"""The daemon looks at the pins once every 5 us (its default), and soft PWM moves in these steps."""


@dataclass(slots=True, frozen=True)
class PulseTrain:
    """High for `high_us` at the start of every `period_us`, counted from `origin_us`.

    `high_us` 0 is constantly low, `high_us == period_us` constantly high. Periods may be fractions
    of a microsecond (hardware PWM); below two samples only sampled levels are listed as events.
    """

    period_us: float
    high_us: float
    origin_us: int = 0
    ends_us: float = field(default=math.inf, init=False)

    @property
    def mean(self) -> float:
        """Share of the period that is high."""
        return self.high_us / self.period_us

    def last(self, after_us: int, upto_us: int) -> Event | None:
        """Latest rise or fall in (after_us, upto_us]."""
        cycle_us = self.origin_us + (upto_us - self.origin_us) // self.period_us * self.period_us
        fall_us = int(cycle_us + self.high_us)
        if 0 < self.high_us < self.period_us and fall_us <= upto_us:
            event = (fall_us, 0)
        else:
            event = (int(cycle_us), 1 if self.high_us else 0)
        return event if event[0] > after_us else None

    def events(self, after_us: int, upto_us: int) -> list[Event]:
        """Every rise and fall in (after_us, upto_us]."""
        if self.period_us < 2 * SAMPLE_US:
            return self._sampled(after_us, upto_us)
        found = []
        cycle = int((after_us - self.origin_us) // self.period_us)
        constant = self.high_us in (0, self.period_us)
        while (rise_us := self.origin_us + cycle * self.period_us) <= upto_us:
            if int(rise_us) > after_us:
                found.append((int(rise_us), 1 if self.high_us else 0))
            fall_us = int(rise_us + self.high_us)
            if not constant and after_us < fall_us <= upto_us:
                found.append((fall_us, 0))
            cycle += 1
        return found

    def _sampled(self, after_us: int, upto_us: int) -> list[Event]:
        first = (after_us // SAMPLE_US + 1) * SAMPLE_US
        levels = [
            (at, int((at - self.origin_us) % self.period_us < self.high_us))
            for at in range(first, upto_us + 1, SAMPLE_US)
        ]
        return changes(levels, None)


@dataclass(slots=True, frozen=True)
class Once:
    """A single write of `level` at `at_us`: the end of a trigger pulse, an old PWM switch-off."""

    at_us: int
    level: int
    mean: None = field(default=None, init=False)

    @property
    def ends_us(self) -> float:
        """The write is all there is."""
        return self.at_us

    def last(self, after_us: int, upto_us: int) -> Event | None:
        """The write, if it lies in (after_us, upto_us]."""
        return (self.at_us, self.level) if after_us < self.at_us <= upto_us else None

    def events(self, after_us: int, upto_us: int) -> list[Event]:
        """The write, if it lies in (after_us, upto_us]."""
        event = self.last(after_us, upto_us)
        return [] if event is None else [event]


@dataclass(slots=True, frozen=True)
class Several:
    """Sources writing to one latch: the most recent write counts, whoever made it."""

    sources: tuple[LevelSource, ...]

    @property
    def mean(self) -> float | None:
        """Mean of the first source that has one; a passing pulse does not change an average."""
        return next((s.mean for s in self.sources if s.mean is not None), None)

    @property
    def ends_us(self) -> float:
        """When the last of them has ended."""
        return max(source.ends_us for source in self.sources)

    def last(self, after_us: int, upto_us: int) -> Event | None:
        """Latest write of any source; of two at the same moment the later-listed source wins."""
        latest = None
        for source in self.sources:
            event = source.last(after_us, upto_us)
            if event is not None and (latest is None or event[0] >= latest[0]):
                latest = event
        return latest

    def events(self, after_us: int, upto_us: int) -> list[Event]:
        """All writes of all sources, merged by time."""
        lists = [source.events(after_us, upto_us) for source in self.sources]
        return list(heapq.merge(*lists, key=lambda event: event[0]))


@dataclass(slots=True, frozen=True)
class Follow:
    """The level of another line, as if a wire ran there (two boards wired to each other)."""

    line: Timeline

    @property
    def mean(self) -> float | None:
        """Mean of what drives the other line now."""
        source = self.line.current.source
        return float(self.line.current.level) if source is None else source.mean

    @property
    def ends_us(self) -> float:
        """While the other line stands still there is nothing after its last change."""
        current = self.line.current
        return current.start_us if current.source is None else current.source.ends_us

    def last(self, after_us: int, upto_us: int) -> Event | None:
        """The other line's level, dated `upto_us`: when it changed is not worth a search."""
        return (upto_us, self.line.level_at(upto_us))

    def events(self, after_us: int, upto_us: int) -> list[Event]:
        """Changes on the other line."""
        return self.line.edges(after_us, upto_us)
