"""From tach edges to speed: for the control loop, for the watch and for the proof.

Owns the arithmetic of edge gaps. It must not know what the speed should be. Ticks are microseconds
of the GPIO daemon's clock, unwrapped and increasing; times are seconds of the controller's clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median

US_PER_MINUTE = 60_000_000.0

CONTROL_GAPS = 4
"""Gaps averaged for the control loop: a third of a turn, 28 ms at 720 rpm."""


SLACK_US = 10_000.0
"""Reports come in batches of about 1 ms, and the thread that takes them may be late."""


class SpeedMeter:
    """Speed over the last few edges and over the last full turn, and how regular the edges are."""

    def __init__(self, pulses_per_turn: int) -> None:
        self._pulses = pulses_per_turn
        self._ticks: deque[int] = deque(maxlen=2 * pulses_per_turn + 1)
        self._jumps: deque[bool] = deque(maxlen=2 * pulses_per_turn)
        self._last_arrival_s: float | None = None
        self.edges = 0

    def add(self, ticks: Iterable[int], now_s: float) -> None:
        """Take the edges that arrived since the last call."""
        for tick in ticks:
            if self._ticks and tick <= self._ticks[-1]:
                continue  # A first report after subscribing can carry another pin's tick.
            self._note_regularity(tick)
            self._ticks.append(tick)
            self.edges += 1
            self._last_arrival_s = now_s

    def _note_regularity(self, tick: int) -> None:
        if len(self._ticks) < 4:
            return
        recent = list(self._ticks)[-6:]
        usual = median(b - a for a, b in pairwise(recent))
        gap = tick - self._ticks[-1]
        self._jumps.append(not 0.6 * usual <= gap <= 1.6 * usual)

    def silence_s(self, now_s: float, since_s: float) -> float:
        """Seconds without an edge, counted from `since_s` where none came later than that."""
        last = self._last_arrival_s
        return now_s - (since_s if last is None else max(last, since_s))

    def speed_rpm(self, now_s: float) -> float:
        """Speed over the last `CONTROL_GAPS` gaps, falling while the next edge is overdue."""
        measured = self._over(CONTROL_GAPS)
        overdue_us = self._overdue_us(measured, now_s)
        if measured == 0.0 or overdue_us <= 0.0:
            return measured
        return min(measured, US_PER_MINUTE / (self._pulses * overdue_us + US_PER_MINUTE / measured))

    def control_rpm(self, now_s: float) -> float | None:
        """Speed for the control loop; None while an edge is overdue, when it is not known.

        An edge that is overdue may mean a motor that slows down or a report that is late. Whoever
        answers a late report with more duty drives a good motor out of its band: 30 ms too late
        would ask for all the duty there is. A motor that really stalls is the watch's affair.
        """
        measured = self._over(CONTROL_GAPS)
        return None if self._overdue_us(measured, now_s) > 0.0 else measured

    def _overdue_us(self, measured_rpm: float, now_s: float) -> float:
        if measured_rpm == 0.0 or self._last_arrival_s is None:
            return 0.0
        waiting_us = (now_s - self._last_arrival_s) * 1e6
        return waiting_us - SLACK_US - US_PER_MINUTE / (self._pulses * measured_rpm)

    def turn_rpm(self) -> float:
        """Mean speed over the last full turn, in which the cam's ripple cancels; 0 before one."""
        return self._over(self._pulses) if len(self._ticks) > self._pulses else 0.0

    def irregular_share(self) -> float:
        """Share of jumping gaps in the last two turns; 0 until a full turn has been seen."""
        if len(self._jumps) < self._pulses:
            return 0.0
        return sum(self._jumps) / len(self._jumps)

    def _over(self, gaps: int) -> float:
        gaps = min(gaps, len(self._ticks) - 1)
        if gaps < 1:
            return 0.0
        span_us = self._ticks[-1] - self._ticks[-1 - gaps]
        return US_PER_MINUTE * gaps / (self._pulses * span_us)


def turn_speeds(ticks: Sequence[int], pulses_per_turn: int) -> list[tuple[int, float]]:
    """Return (tick, rpm over the full turn that ends there) for every edge from the second turn."""
    n = pulses_per_turn
    return [(b, US_PER_MINUTE / (b - a)) for a, b in zip(ticks, ticks[n:], strict=False) if b > a]
