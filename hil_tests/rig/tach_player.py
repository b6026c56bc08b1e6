"""Tach edges of the machine as waves of a pigpio daemon, played a fixed moment later, without gaps.

Owns the queue of waves: each carries the edges of one turn of the machine and is as long as that
turn, and each begins where the one before ends, so that gaps between edges are true to the
microsecond however late a command comes. Must not know machines or other pins.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import pairwise

import pigpio

DELAY_S = 0.022
"""From an edge of the machine to the edge on the wire: nearly three turns, so that a command may be
12 ms late. A controller sees its motor this much later, as behind a slower sensor.

Longer: its speed overshoots (with 45 ms from 840 to 900 rpm, the end of the mixing band). Shorter:
a computer that does other things too leaves gaps."""

START_US = 20
"""A transmission from rest begins with this pause (the daemon's own)."""

MARGIN_S = 0.001
"""A queue that ends sooner than this counts as ended: its last wave could be over before the next
is queued."""

ROOM_PERCENT = 2
"""Room for each wave: 476 control blocks, about 200 edges; fifty waves fit."""

MOST_EDGES = 200

Edge = tuple[float, int]


class TachPlayer:
    """Plays edges on one pin of `pi`, which must be an output. Belongs to one thread."""

    def __init__(
        self, pi: pigpio.pi, gpio: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._pi = pi
        self._bit = 1 << gpio
        self._clock = clock
        self._sent_to_s = clock()
        self._ends_s = 0.0
        self._played: deque[tuple[int, float]] = deque()
        self.underruns = 0
        """How often a queue ran dry while the machine turned: edges were late by the gap."""

    def play(self, edges: Sequence[Edge], *, upto_s: float, is_turning: bool) -> None:
        """Take the edges since the last call, in order, up to `upto_s` on the machine's clock.

        Raises pigpio.error where the daemon refuses a wave.
        """
        from_s, self._sent_to_s = self._sent_to_s, max(upto_s, self._sent_to_s)
        self._forget()
        now_s = self._clock()
        is_playing = self._ends_s > now_s + MARGIN_S
        if not edges and not (is_turning and is_playing):
            return
        edges = edges[:MOST_EDGES]
        if is_playing:
            from_s = min(from_s, edges[0][0]) if edges else from_s
            lead_s = 0.0
        else:
            self.underruns += is_turning and now_s - self._ends_s < DELAY_S
            from_s = edges[0][0]
            lead_s = max(0.0, from_s + DELAY_S - now_s)
        pulses, length_us = self._pulses(edges, from_s, self._sent_to_s, lead_s)
        self._pi.wave_add_generic(pulses)
        wave = self._pi.wave_create_and_pad(ROOM_PERCENT)
        # Behind what may still play, a command having been late; at once where nothing does.
        self._pi.wave_send_using_mode(wave, pigpio.WAVE_MODE_ONE_SHOT_SYNC)
        begins_s = self._ends_s if is_playing else now_s + START_US * 1e-6
        self._ends_s = begins_s + length_us * 1e-6
        self._played.append((wave, self._ends_s))

    def stop(self) -> None:
        """End what plays; the pin keeps its level."""
        self._pi.wave_tx_stop()
        self._pi.wave_clear()
        self._played.clear()
        self._ends_s = 0.0

    def _pulses(
        self, edges: Sequence[Edge], from_s: float, upto_s: float, lead_s: float
    ) -> tuple[list[pigpio.pulse], int]:
        """Return the pulses of one wave and its length in microseconds."""
        lead_us = round(lead_s * 1e6)
        ends_us = max(1, round((upto_s - from_s) * 1e6)) + lead_us
        times_us = [lead_us + round((at_s - from_s) * 1e6) for at_s, _ in edges]
        bounds = [0, *times_us, ends_us]
        gaps = [max(0, after - before) for before, after in pairwise(bounds)]
        pulses = [pigpio.pulse(0, 0, gaps[0])] if gaps[0] else []
        for (_, level), gap_us in zip(edges, gaps[1:], strict=True):
            on, off = (self._bit, 0) if level else (0, self._bit)
            pulses.append(pigpio.pulse(on, off, max(1, gap_us)))
        return pulses, sum(pulse.delay for pulse in pulses)

    def _forget(self) -> None:
        """Delete waves that are over, so that their ids and room are used again."""
        before_s = self._clock() - DELAY_S
        while self._played and self._played[0][1] < before_s:
            self._pi.wave_delete(self._played.popleft()[0])
