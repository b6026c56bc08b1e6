"""Tach edges of the machine as waves of a pigpio daemon, on time and without gaps.

Owns the queue of waves. Each wave has the next edges of the machine, as its physics predicts them.
It begins where the previous wave ends, so the daemon's hardware times every edge.

While the cam turns steadily, a wave is one period of the tach and repeats until the next wave is
queued. If the computer is late by some turns, the cam continues at its last speed, as with inertia,
and there is no gap. Each wave goes on from the pin's last edge with the machine's gaps. A tach
shows speed and no angle, so a slip is invisible, but a jump back to the machine's angle would be
visible. Must not know machines or other pins.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import pigpio

LEAD_S = 0.024
"""Min time, in seconds, that waves are queued ahead: three turns of the machine, so a turn may be
two turns late. Queued edges do not follow a new command of the controller. In this time full torque
moves the cam by a third of a tach period at most.

Above: the controller's speed loop answers later. Below: the cam's speed is more often held although
it should change."""

STEADY_S = 0.020
"""Longest tach period that repeats, in seconds: 250 rpm. Above: a slower cam changes its speed too
much in a period. At this speed an accelerating cam changes by a third, which is still no jump for a
program that counts edges."""

STEP_S = 0.008
"""Length of a wave that does not repeat: one turn of the machine."""

FORESIGHT_S = LEAD_S + 2.5 * STEADY_S
"""How far ahead edges must be known: what is queued, and then two periods to tell steadiness."""

REGULAR = 2.0
"""Halves of a period that differ by more than this factor are no steady turning."""

START_S = 20e-6
"""A transmission from rest begins with this pause (the daemon's own)."""

MARGIN_S = 0.0015
"""For three commands: a wave that ends sooner than this may be over before the next is queued."""

EASE = 0.1
"""Share of a gap by which an edge comes nearer to the machine's time. Above: the gaps jump. Below:
the tach is further behind a cam that gathers way."""

ROUNDING_S = 1e-6
"""What comes by less than this before a wave belongs to it: one step of the daemon's clock."""

PAST_S = 0.06
"""Edges are remembered for this long: longer than a slip."""

SAME_S = 0.001
"""Between two forecasts an edge moves by less than this."""

REST_S = 0.2
"""A cam without an edge for this long is at rest, and begins again without a slip."""

KEEP_S = 0.02
"""A wave is deleted this long after its end, when it can no longer be what plays."""

ROOM_PERCENT = 2
"""Room for each wave: 476 control blocks, about 200 edges; fifty waves fit."""

MAX_EDGES = 200

Edge = tuple[float, int]


@dataclass(slots=True)
class Wave:
    """One wave in the queue; times on the machine's clock, seconds."""

    number: int
    begins_s: float
    length_s: float
    repeats: bool
    ends_s: float


class TachPlayer:
    """Plays edges on one pin of `pi`, which must be an output and low. Belongs to one thread."""

    def __init__(
        self, pi: pigpio.pi, gpio: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._pi = pi
        self._bit = 1 << gpio
        self._clock = clock
        self._level = 0
        self._changed_s = -math.inf
        self._waves: deque[Wave] = deque()
        self._known: list[Edge] = []
        self._slip_s = 0.0
        """How much later than the machine's edges the played ones are."""
        self._due_s = math.inf
        """When the first edge is due that was foreseen and is not queued."""
        self.underruns = 0
        """How often a turn came so late that the cam turned on at its last speed, or that nothing
        was left to play."""

    def play(self, coming: Sequence[Edge], *, upto_s: float) -> None:
        """Queue what is foreseen up to `upto_s`: edges as (time, level), in order.

        Raises pigpio.error where the daemon refuses a wave.
        """
        now_s = self._clock()
        if upto_s < now_s + FORESIGHT_S:
            coming = _continued(coming, upto_s, now_s + FORESIGHT_S)
        coming = self._known = self._past(coming, upto_s, now_s) + list(coming)
        self._forget(now_s)
        from_s, is_late = self._end_of_queue(now_s)
        if is_late:
            self.underruns += 1
        if self._slip_s:
            self._slip_less(coming, from_s)
        if from_s > now_s or self._next_due(coming, now_s) <= now_s + LEAD_S:
            from_s = max(from_s, now_s + MARGIN_S)
            while from_s < now_s + LEAD_S and (coming or self._waves[-1].repeats):
                from_s = self._queue(coming, from_s)
        self._due_s = self._next_due(coming, max(from_s, now_s))

    def stop(self) -> None:
        """End what plays; the pin keeps its level."""
        self._pi.wave_tx_stop()
        self._pi.wave_clear()
        self._waves.clear()
        self._known, self._slip_s, self._due_s = [], 0.0, math.inf

    # ── The queue ───────────────────────────────────────────────────────────

    def _end_of_queue(self, now_s: float) -> tuple[float, bool]:
        """Where the next wave can begin, in the past where nothing plays any more; and whether this
        turn came too late, for edges that were due or for a wave that had to repeat."""
        if not self._waves:
            return -math.inf, False
        last = self._waves[-1]
        if last.ends_s > now_s + MARGIN_S:
            return last.ends_s, False
        if last.repeats:
            return self._turn_on(last, now_s + MARGIN_S), True
        if self._due_s < now_s + MARGIN_S:
            return now_s + MARGIN_S, True
        self._slip_s *= self._changed_s > now_s - REST_S
        return -math.inf, False

    def _join(self, coming: Sequence[Edge], from_s: float) -> None:
        """Let the edges go on from the pin's last one, with the machine's gaps. By and by they come
        at the machine's times again."""
        played = [
            (abs(at_s + self._slip_s - self._changed_s), n)
            for n, (at_s, level) in enumerate(coming[:-1])
            if level == self._level
        ]
        off_s, last = min(played, default=(math.inf, 0))
        if off_s == math.inf:
            return
        last_s, next_s = coming[last][0], coming[last + 1][0]
        if off_s > next_s - last_s:
            return  # the cam begins to turn, or the tach has ceased
        slip_s = self._changed_s - last_s
        eased_s = EASE * (next_s - last_s)
        slip_s -= min(eased_s, max(-eased_s, slip_s))
        self._slip_s = max(slip_s, from_s - next_s)

    def _slip_less(self, coming: Sequence[Edge], from_s: float) -> None:
        """Take a whole period off a slip that is longer than one: the edges stay where they are."""
        ahead = [at_s for at_s, _ in coming if at_s >= from_s - abs(self._slip_s)]
        if len(ahead) > 2 and abs(self._slip_s) > (period_s := ahead[2] - ahead[0]):
            self._slip_s -= math.copysign(period_s, self._slip_s)

    def _past(self, coming: Sequence[Edge], upto_s: float, now_s: float) -> list[Edge]:
        """What was foreseen and has come: edges that are late are played from it."""
        first_s = coming[0][0] - SAME_S if coming else upto_s - FORESIGHT_S
        return [edge for edge in self._known if now_s - PAST_S < edge[0] < first_s]

    def _next_due(self, coming: Sequence[Edge], after_s: float) -> float:
        return next((at_s for at_s, _ in self._slipped(coming) if at_s >= after_s), math.inf)

    def _slipped(self, coming: Sequence[Edge]) -> list[Edge]:
        return [(at_s + self._slip_s, level) for at_s, level in coming]

    def _turn_on(self, last: Wave, at_s: float) -> float:
        """Note that `last` is repeated until `at_s`; return the end of that cycle: there a wave
        begins that is queued then."""
        cycles = math.ceil((at_s - last.begins_s) / last.length_s)
        ends_s = last.begins_s + cycles * last.length_s
        self._changed_s += ends_s - last.ends_s
        last.ends_s = ends_s
        return ends_s

    def _queue(self, coming: Sequence[Edge], from_s: float) -> float:
        """Queue one wave that should begin at `from_s`; return its end."""
        self._join(coming, from_s)
        edges, length_s, repeats = self._next(self._slipped(coming), from_s)
        pulses = self._pulses(edges, from_s, length_s)
        self._pi.wave_add_generic(pulses)
        number = self._pi.wave_create_and_pad(ROOM_PERCENT)
        mode = pigpio.WAVE_MODE_REPEAT_SYNC if repeats else pigpio.WAVE_MODE_ONE_SHOT_SYNC
        asked_s = self._clock()
        self._pi.wave_send_using_mode(number, mode)
        begins_s = self._begun(number, from_s, asked_s)
        length_s = sum(pulse.delay for pulse in pulses) * 1e-6
        self._waves.append(Wave(number, begins_s, length_s, repeats, begins_s + length_s))
        if edges:
            at_s, self._level = edges[-1]
            self._changed_s = at_s + begins_s - from_s
        return begins_s + length_s

    def _begun(self, number: int, from_s: float, asked_s: float) -> float:
        """When the wave begins that was sent between `asked_s` and now: at `from_s`, unless the
        daemon got it too late for that."""
        now_s = self._clock()
        last = self._waves[-1] if self._waves else None
        if last is not None and from_s > now_s:
            return from_s
        if last is None or not last.repeats:
            return max(from_s, (asked_s + now_s) / 2.0 + START_S) if last else now_s + START_S
        # An answer that took long does not say on which side of the seam the daemon was told.
        if from_s > asked_s and self._pi.wave_tx_at() == number:
            return from_s
        return self._turn_on(last, now_s)

    def _next(self, coming: Sequence[Edge], from_s: float) -> tuple[list[Edge], float, bool]:
        """Return the edges of the wave from `from_s` on, its length, and whether it may repeat."""
        due = [edge for edge in coming if edge[0] > from_s - ROUNDING_S]
        until_s = _end_of_period(due)
        if until_s is None:
            until_s = from_s + STEP_S
            edges = [edge for edge in due if edge[0] < until_s]
            return edges[:MAX_EDGES], STEP_S, False
        return due[:2], until_s - from_s, True

    def _pulses(self, edges: Sequence[Edge], from_s: float, length_s: float) -> list[pigpio.pulse]:
        ends_us = max(1, round(length_s * 1e6))
        bounds = [0, *(max(0, round((at_s - from_s) * 1e6)) for at_s, _ in edges), ends_us]
        gaps = [max(0, after - before) for before, after in pairwise(bounds)]
        pulses = [pigpio.pulse(0, 0, gaps[0])] if gaps[0] else []
        for (_, level), gap_us in zip(edges, gaps[1:], strict=True):
            on, off = (self._bit, 0) if level else (0, self._bit)
            pulses.append(pigpio.pulse(on, off, max(1, gap_us)))
        return pulses

    def _forget(self, now_s: float) -> None:
        """Delete waves that are over, so that their ids and room are used again."""
        while len(self._waves) > 1 and self._waves[0].ends_s < now_s - KEEP_S:
            self._pi.wave_delete(self._waves.popleft().number)


def _continued(edges: Sequence[Edge], upto_s: float, until_s: float) -> Sequence[Edge]:
    """Continue edges that are known up to `upto_s`, if they come regularly until then.

    A computer that was held up between looking ahead and playing needs more than it foresaw.
    """
    last = edges[-3:]
    if len(last) < 3 or last[2][0] + REGULAR * (last[2][0] - last[1][0]) < upto_s:
        return edges
    period_s = last[2][0] - last[0][0]
    if period_s > STEADY_S:
        return edges
    longer = list(edges)
    while longer[-1][0] < until_s:
        at_s, level = longer[-2]
        longer.append((at_s + period_s, level))
    return longer


def _end_of_period(due: Sequence[Edge]) -> float | None:
    """The end of the tach period that begins `due`, half-way to the next edge, so that a seam
    stays clear of edges; None where edges come irregularly or too slowly."""
    if len(due) < 4:
        return None
    gaps = [after[0] - before[0] for before, after in pairwise(due[:4])]
    if max(gaps) > REGULAR * min(gaps) or gaps[0] + gaps[1] > STEADY_S:
        return None
    return due[1][0] + gaps[1] / 2.0
