"""The one wave transmitter: what plays now, what is queued behind it, and its effect on latches.

Owns: start and end times. Must not know: how waves are built. Analytic like everything on a line:
nothing runs while a wave plays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from virtual_pigpiod.pins.board import Board, bits, now_us
from virtual_pigpiod.pins.sources import Several
from virtual_pigpiod.pins.timeline import Event, LevelSource
from virtual_pigpiod.waves.patterns import Pattern, RepeatedPattern

START_DELAY_US = 20
"""Every transmission that starts from rest begins with this pause."""


@dataclass(slots=True)
class Track:
    """One pattern from a start time on; `end_us` is infinity while nothing is queued behind."""

    pattern: Pattern
    start_us: int
    end_us: float

    def end_cycle(self, period_us: float, now: int) -> float:
        """Let a repeated track end with its present cycle (its first, if not yet begun)."""
        cycles = max(1, math.ceil((now - self.start_us) / period_us))
        self.end_us = self.start_us + cycles * period_us
        return self.end_us


@dataclass(slots=True, frozen=True)
class TrackOnPin:
    """What a track writes to one pin."""

    track: Track
    gpio: int
    mean: None = None

    @property
    def ends_us(self) -> float:
        """End of the track."""
        return self.track.end_us

    def last(self, after_us: int, upto_us: int) -> Event | None:
        """Latest write in (after_us, upto_us]."""
        start_us = self.track.start_us
        upto = min(upto_us, self.track.end_us) - start_us
        event = self.track.pattern.last(self.gpio, upto)
        if event is None or event[0] + start_us <= after_us:
            return None
        return (event[0] + start_us, event[1])

    def events(self, after_us: int, upto_us: int) -> list[Event]:
        """Writes in (after_us, upto_us]."""
        start_us = self.track.start_us
        upto = min(upto_us, self.track.end_us) - start_us
        events = self.track.pattern.events(self.gpio, after_us - start_us, upto)
        return [(at_us + start_us, level) for at_us, level in events]


class Transmitter:
    """Plays patterns on a board's latches."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._tracks: list[Track] = []
        self._period_us = 0.0  # of the last track, where it repeats

    def play(self, pattern: Pattern, is_repeated: bool = False) -> None:
        """Start now; whatever plays is cut off."""
        self._tracks = []
        with self._board.locked():
            now = now_us()
            self._append(pattern, is_repeated, now + START_DELAY_US, now)

    def queue(self, pattern: Pattern, is_repeated: bool) -> None:
        """Start when the present cycle of the last track ends, or now if nothing plays."""
        with self._board.locked():
            now = now_us()
            self._tracks = [track for track in self._tracks if track.end_us > now]
            if not self._tracks:
                self.play(pattern, is_repeated)
                return
            last = self._tracks[-1]
            end_us = last.end_us
            if math.isinf(end_us):
                end_us = last.end_cycle(self._period_us, now)
            self._append(pattern, is_repeated, int(end_us), now)

    def halt(self) -> None:
        """Stop at once; pins stay at their present level."""
        self._tracks = []
        with self._board.locked():
            self._connect(now_us())

    @property
    def is_busy(self) -> bool:
        """True while something plays or is queued."""
        now = now_us()
        return any(track.end_us > now for track in self._tracks)

    def wave(self) -> int | None:
        """Id of the wave that plays now; None in the pauses of a chain."""
        now = now_us()
        for track in self._tracks:
            if now < track.end_us:
                return track.pattern.wave_at(max(0, now - track.start_us))
        return None

    def _append(self, pattern: Pattern, is_repeated: bool, start_us: int, now: int) -> None:
        played = RepeatedPattern(pattern) if is_repeated else pattern
        self._period_us = max(pattern.duration_us, 1)
        self._tracks.append(Track(played, start_us, start_us + played.duration_us))
        self._connect(now)

    def _connect(self, now: int) -> None:
        """Give each latch the tracks that write it; take them from those no longer written."""
        pins = 0
        for track in self._tracks:
            pins |= track.pattern.pins
        sources: dict[int, LevelSource | None] = dict.fromkeys(self._board.waves())
        for gpio in bits(pins):
            on_pin = [
                TrackOnPin(track, gpio) for track in self._tracks if track.pattern.pins >> gpio & 1
            ]
            sources[gpio] = on_pin[0] if len(on_pin) == 1 else Several(tuple(on_pin))
        self._board.set_waves(sources, now)
