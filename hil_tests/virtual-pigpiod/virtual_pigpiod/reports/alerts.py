"""What the daemon notices by itself: changed pins, watchdogs, events; and whom it tells.

The real daemon samples all pins every 5 us and looks through the samples about once a millisecond.
Here the edges of the monitored pins are asked for at the same rhythm, but only while something can
have changed, and given the tick of the sample that would have seen them.

Owns: the rhythm, the levels last reported. Must not know: commands, sockets, what scripts do.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from virtual_pigpiod.loop import Loop, ScheduledAction
from virtual_pigpiod.pins.board import Board, bits, now_us
from virtual_pigpiod.pins.sources import SAMPLE_US
from virtual_pigpiod.pins.timeline import Event, Tap, changes
from virtual_pigpiod.refusals import Reason, refuse_if
from virtual_pigpiod.reports.filters import Filters
from virtual_pigpiod.reports.handles import Handles, Sink
from virtual_pigpiod.reports.watchdogs import Watchdogs
from virtual_pigpiod.results import Handlers
from virtual_pigpiod.wire import ALIVE_FLAG, EVENT_FLAG, WATCHDOG_FLAG, Command, Request

LATENCY_US = 700
"""From a change to the look at it; measured on the real daemon: 0.78 ms from edge to report."""

BATCH_US = 900
"""Rhythm while a PWM or a wave runs on a monitored pin."""

KEEPALIVE_US = 60_000_000

Report = tuple[int, int, int]
"""(flags, tick in us, levels of GPIO 0..31)."""


class Alerts:
    """The daemon's alert thread, as a timer that runs only when there may be something to tell."""

    def __init__(
        self, board: Board, loop: Loop, handles: Handles, sample_us: int = SAMPLE_US
    ) -> None:
        self._sample_us = sample_us
        self._board = board
        self._loop = loop
        self._handles = handles
        self._taps: dict[int, Tap] = {}
        self._shown = 0  # levels of monitored pins as last reported, filters applied
        self._fired_events = 0
        self._timer: ScheduledAction | None = None
        self._due_us = math.inf
        self._blocked_by: set[Sink] = set()
        self.filters = Filters(self.look_soon)
        self.watchdogs = Watchdogs(self.look_soon)
        self.extra_mask: Callable[[], int] = lambda: 0
        """Pins that scripts wait for."""
        self.on_changes: Callable[[int, int], None] = lambda changed, events: None
        """Called after a batch with the pins that changed and the events that fired."""
        handles.on_masks = self.refresh
        self.handlers: Handlers = {
            Command.EVT: self._trigger_event,
            **self.filters.handlers,
            **self.watchdogs.handlers,
        }

    def refresh(self) -> None:
        """Follow the masks: begin to watch what is asked for, forget the rest."""
        mask = (self._handles.mask | self.extra_mask()) & 0xFFFFFFFF
        for gpio in bits(mask):
            if gpio not in self._taps:
                tap = self._taps[gpio] = self._board.tap(gpio)
                self._shown = self._shown & ~(1 << gpio) | tap.level << gpio
        for gpio in [gpio for gpio in self._taps if not mask >> gpio & 1]:
            del self._taps[gpio]
        self._board.watch(mask, self._notice)
        self.look_soon()

    def look_soon(self) -> None:
        """Something that is not a change of a pin needs a look."""
        self._notice(now_us())

    @property
    def is_blocked(self) -> bool:
        """True while a client that does not read holds up every report."""
        return bool(self._blocked_by)

    def resume(self, sink: Sink) -> None:
        """A reader that may have blocked the alerts reads again, or is gone."""
        self._blocked_by.discard(sink)
        self.look_soon()

    def _notice(self, at_us: int) -> None:
        due_us = max(at_us, now_us()) + LATENCY_US
        if due_us < self._due_us:
            self._loop.post(lambda: self._arm(due_us))

    def _arm(self, due_us: float) -> None:
        if due_us >= self._due_us:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._due_us = due_us
        self._timer = self._loop.call_at(int(due_us), self._batch)

    def _batch(self) -> None:
        self._due_us, self._timer = math.inf, None  # first, so that a new change arms it again
        if self._blocked_by:
            return  # one peer that never reads holds up everyone: the real thread blocks in write()
        with self._board.locked():
            # The last sample that is surely complete.
            at_us = (now_us() - 1) // self._sample_us * self._sample_us
            samples = self._take_samples(at_us)
            next_us = self._next_look(at_us)
            # Only a report carries the levels of all pins, monitored or not.
            word = self._board.word(0) if samples or self._fired_events else self._shown
        reports, changed = self._reports_of(samples, word)
        fired, self._fired_events = self._fired_events, 0
        self._tell(reports, self.watchdogs.fire(at_us), fired, at_us)
        if changed or fired:
            self.on_changes(changed, fired)
        # Two samples on: a look goes only as far as the last complete sample.
        self._arm(min(next_us, self.watchdogs.due_us, self._keepalive_us()) + 2 * self._sample_us)

    def _take_samples(self, at_us: int) -> list[tuple[int, int, int]]:
        """Changes of all monitored pins as (tick, gpio, level), in time order."""
        found = []
        for gpio, tap in self._taps.items():
            self._board.pins[gpio].settle(at_us)
            level = tap.level
            samples = _sampled(tap.take(at_us), level, self._sample_us)
            if self.filters.is_active(gpio):
                shown = self._shown >> gpio & 1
                samples = changes(self.filters.apply(gpio, samples, level, at_us), shown)
            found += [(tick, gpio, level) for tick, level in samples]
        found.sort()
        return found

    def _next_look(self, at_us: int) -> float:
        next_us = math.inf
        for gpio, tap in self._taps.items():
            coming_us = self._board.pins[gpio].next_external_us
            if not tap.is_idle:
                next_us = min(next_us, at_us + BATCH_US)
            if coming_us is not None:
                next_us = min(next_us, coming_us + LATENCY_US)
            next_us = min(next_us, self.filters.due_us(gpio))
        return next_us

    def _reports_of(
        self, samples: list[tuple[int, int, int]], word: int
    ) -> tuple[list[tuple[Report, int]], int]:
        """Reports with the pins that each is about, one per sample and one for each time that was
        up between them; and all pins changed."""
        monitored = sum(1 << gpio for gpio in self._taps)
        others = word & ~monitored
        shown = self._shown & monitored
        reports: list[tuple[Report, int]] = []
        all_changed = 0
        for tick, gpio, level in samples:
            bit = 1 << gpio
            flag = WATCHDOG_FLAG + gpio
            missed = self.watchdogs.moved(gpio, tick)
            reports += [((flag, up_us, shown | others), bit) for up_us in missed]
            shown = shown & ~bit | level << gpio
            all_changed |= bit
            if reports and reports[-1][0][:2] == (0, tick):
                bit |= reports.pop()[1]
            reports.append(((0, tick, shown | others), bit))
        self._shown = shown | others
        reports.sort(key=lambda one: one[0][1])
        return reports, all_changed

    def _tell(
        self, seen: list[tuple[Report, int]], timeouts: list[int], events: int, at_us: int
    ) -> None:
        """Send every handle what it asked for: of the reports `seen`, the timeouts, the events."""
        levels = self._shown
        for handle in list(self._handles):
            mask = handle.mask
            reports: list[Report] = [report for report, pins in seen if pins & mask]
            reports += [(WATCHDOG_FLAG + g, at_us, levels) for g in timeouts if mask >> g & 1]
            wanted = events & handle.events
            reports += [(EVENT_FLAG + event, at_us, levels) for event in bits(wanted)]
            if not reports and at_us - handle.last_report_us >= KEEPALIVE_US:
                reports = [(ALIVE_FLAG, at_us, levels)]
            if reports and not handle.report(reports, at_us):
                self._blocked_by.add(handle.sink)

    def _keepalive_us(self) -> float:
        since_us = min((handle.last_report_us for handle in self._handles), default=math.inf)
        return since_us + KEEPALIVE_US

    def _trigger_event(self, request: Request) -> None:
        refuse_if(request.p1 > 31, Reason.BAD_EVENT_ID)
        self._fired_events |= 1 << request.p1
        self.look_soon()


def _sampled(edges: list[Event], level: int, sample_us: int) -> list[Event]:
    """The edges as a sampler sees them: dated with the next sample, one level per sample."""
    found: list[Event] = []
    for at_us, after in edges:
        tick = -(-at_us // sample_us) * sample_us
        if found and found[-1][0] == tick:
            found.pop()
        found.append((tick, after))
    return changes(found, level)
