"""A shaker for unit tests: one object behind every port of the motion thread, on a virtual clock.

Its speed follows the duty with a lag, and its tach gives true edges, so that a whole toss can be
run without waiting. It counts what was done to EN and when.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from shaker_ctl.errors import GpioLinkError
from shaker_ctl.ports import Interlocks

AT_REST = Interlocks(
    compartment_open=False,
    cover_open=True,
    estop_pressed=False,
    driver_fault=False,
    button_pressed=False,
)

DEAD_MAN_S = 0.09
LAG_S = 0.07
PULSES = 12


class FakeShaker:
    """Motor, tach, contacts, link and clock in one. `pass_time` moves everything on."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.contacts = AT_REST
        self.speed_rpm = 0.0
        self.top_rpm = 970.0
        self.brakes = True
        self.tach_works = True
        self.driver_works = True
        self.follows_dead_man = True
        self.down: GpioLinkError | None = None
        self.opened = 1
        self.stops: list[float] = []
        self.arms = 0
        self.before_refresh: Callable[[], None] = lambda: None
        self._granted_until_s = 0.0
        self._held = True
        self._duty = 0.0
        self._turned = 0.0
        self._ticks: list[int] = []
        self._on_change: Callable[[Interlocks], None] = lambda _: None

    # ── Time ────────────────────────────────────────────────────────────────

    def monotonic(self) -> float:
        return self.now_s

    def wall(self) -> float:
        return 1.79e9 + self.now_s

    def pass_time(self, seconds: float) -> None:
        steps = max(1, round(seconds / 0.0005))
        for _ in range(steps):
            self.now_s += seconds / steps
            self._move(seconds / steps)

    def _move(self, elapsed_s: float) -> None:
        on = self.is_high and self.driver_works
        wanted = self._duty * self.top_rpm if on else 0.0
        if on or self.brakes:
            self.speed_rpm += (wanted - self.speed_rpm) * elapsed_s / LAG_S
        if not on and self.speed_rpm < 5.0:
            self.speed_rpm = 0.0
        before = int(self._turned * PULSES)
        self._turned += self.speed_rpm / 60.0 * elapsed_s
        if int(self._turned * PULSES) > before and self.tach_works:
            self._ticks.append(round(self.now_s * 1e6))

    @property
    def is_high(self) -> bool:
        """EN at the pin."""
        return self.follows_dead_man and self.now_s < self._granted_until_s

    # ── Hands ───────────────────────────────────────────────────────────────

    def touch(self, **changes: bool) -> None:
        """Change contacts; the adapter's thread reports it."""
        self.contacts = replace(self.contacts, **changes)
        self._on_change(self.contacts)

    # ── Motor ───────────────────────────────────────────────────────────────

    def arm(self) -> None:
        self._check()
        self.arms += 1
        self._held = False

    def refresh(self) -> None:
        self.before_refresh()
        self._check()
        if not self._held:
            self._granted_until_s = self.now_s + DEAD_MAN_S

    def drive(self, duty: float) -> None:
        self._check()
        if not self._held:
            self._duty = duty

    def stop(self) -> None:
        self.stops.append(self.now_s)
        self._held = True
        self._granted_until_s = 0.0
        self._duty = 0.0

    def is_enabled(self) -> bool:
        self._check()
        return self.is_high

    # ── Tach, contacts, link ────────────────────────────────────────────────

    def edges(self) -> Sequence[int]:
        taken, self._ticks = self._ticks, []
        return taken

    def read(self) -> Interlocks:
        self._check()
        return self.contacts

    def on_change(self, callback: Callable[[Interlocks], None]) -> None:
        self._on_change = callback

    def trouble(self) -> GpioLinkError | None:
        return self.down

    def generation(self) -> int:
        return self.opened

    def _check(self) -> None:
        if self.down is not None:
            raise self.down
