"""Levels of one line over time, without simulating edges that nobody watches.

Owns: what a line did and will do, as segments. A segment begins with a level and may carry a
`LevelSource`, something periodic or scheduled (PWM, a wave, a trigger pulse) that keeps writing
levels.
Reading a level is arithmetic; edges are listed only when a `Tap` asks for a window of them.

Must not know: pins, modes, clients. All times are whole microseconds of CLOCK_MONOTONIC.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol

Event = tuple[int, int]
"""(time in us, level 0 or 1)."""

HISTORY_US = 2_000_000
"""Segments older than this are forgotten; a tap that sleeps longer loses them."""


class LevelSource(Protocol):
    """Something that keeps writing levels to a line (also the level it already has)."""

    @property
    def mean(self) -> float | None:
        """Average level 0..1 where that is meaningful (PWM), else None."""

    @property
    def ends_us(self) -> float:
        """No write comes after this time; infinity for a source that never ends."""

    def last(self, after_us: int, upto_us: int) -> Event | None:
        """Latest write in (after_us, upto_us], or None."""

    def events(self, after_us: int, upto_us: int) -> list[Event]:
        """Every write in (after_us, upto_us], in time order."""


@dataclass(slots=True, frozen=True)
class Segment:
    """From `start_us`: `level`, until `source` writes something else."""

    start_us: int
    level: int
    source: LevelSource | None = None

    def level_at(self, at_us: int) -> int:
        """Level at a moment not before `start_us`."""
        if self.source is None:
            return self.level
        event = self.source.last(self.start_us, at_us)
        return self.level if event is None else event[1]


class Timeline:
    """The segments of one line, oldest first; the last one is open-ended."""

    __slots__ = ("_segments", "current", "serial")

    def __init__(self, start_us: int, level: int) -> None:
        self.current = Segment(start_us, level)
        self._segments: deque[Segment] = deque([self.current])
        self.serial = 0  # of the current segment, so that a tap knows what it has seen

    def begin(self, start_us: int, level: int, source: LevelSource | None = None) -> None:
        """Start a new segment. `start_us` may lie a little in the past, never in the future."""
        start_us = max(start_us, self.current.start_us)
        self.current = Segment(start_us, level, source)
        self._segments.append(self.current)
        self.serial += 1
        horizon = start_us - HISTORY_US
        while len(self._segments) > 1 and self._segments[1].start_us < horizon:
            self._segments.popleft()

    def level_at(self, at_us: int) -> int:
        """Level at `at_us`, which must not lie before the current segment (now, in short)."""
        return self.current.level_at(at_us)

    def tap(self, from_us: int) -> Tap:
        """A reader of edges after `from_us`, which must lie in the current segment."""
        return Tap(self, self.serial, from_us)

    def edges(self, after_us: int, upto_us: int) -> list[Event]:
        """Changes of level in (after_us, upto_us], as far back as the history reaches."""
        segments = list(self._segments)  # one step: its owner may be another thread
        ends = [*(segment.start_us for segment in segments[1:]), upto_us]
        writes: list[Event] = []
        level = None
        for segment, end_us in zip(segments, ends, strict=True):
            if end_us <= after_us:
                continue
            if segment.start_us > upto_us:
                break
            if segment.start_us > after_us:
                writes.append((segment.start_us, segment.level))
            elif level is None:
                level = segment.level_at(after_us)
            if segment.source is not None:
                begin_us = max(segment.start_us, after_us)
                writes += segment.source.events(begin_us, min(end_us, upto_us))
        return changes(writes, level)

    def since(self, serial: int) -> tuple[list[Segment], int]:
        """Segments from number `serial` on (it included, if remembered) and the newest number."""
        count = min(self.serial - serial + 1, len(self._segments))
        segments = self._segments
        return [segments[i] for i in range(len(segments) - count, len(segments))], self.serial


class Tap:
    """Reads a timeline's edges window by window, each edge once.

    A segment that was begun late, with a start before the end of the last window (the plant hands
    over edges a moment after they happened), is delivered by the next `take` with its true time.
    """

    __slots__ = ("_serial", "_timeline", "level", "upto_us")

    def __init__(self, timeline: Timeline, serial: int, from_us: int) -> None:
        self._timeline = timeline
        self._serial = serial
        self.upto_us = from_us
        self.level = timeline.level_at(from_us)

    @property
    def is_idle(self) -> bool:
        """True when nothing can come until another segment begins."""
        source = self._timeline.current.source
        return self._timeline.serial == self._serial and (
            source is None or source.ends_us <= self.upto_us
        )

    def take(self, upto_us: int) -> list[Event]:
        """Changes of level since the last `take`, up to and including `upto_us`."""
        if self.is_idle:
            self.upto_us = upto_us
            return []
        segments, newest = self._timeline.since(self._serial)
        writes: list[Event] = []
        serial = newest - len(segments) + 1
        for index, segment in enumerate(segments):
            begin_us = segment.start_us
            if serial + index > self._serial:
                writes.append((begin_us, segment.level))
            else:
                begin_us = max(begin_us, self.upto_us)
            if segment.source is not None:
                is_last = index + 1 == len(segments)
                end_us = upto_us if is_last else segments[index + 1].start_us
                writes += segment.source.events(begin_us, end_us)
        self._serial = newest
        self.upto_us = upto_us
        found = changes(writes, self.level)
        if found:
            self.level = found[-1][1]
        return found


def changes(writes: list[Event], level: int | None) -> list[Event]:
    """The writes that change the level, starting from `level` (None: unknown, keep the first)."""
    found = []
    for event in writes:
        if event[1] != level:
            level = event[1]
            found.append(event)
    return found
