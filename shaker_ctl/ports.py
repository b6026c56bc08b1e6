"""What the table needs from the outside world, as protocols; nobody here knows who implements them.

Adapters implement these on hardware, the virtual rig stands behind the same adapters. Every call
that can wait has a deadline inside the adapter and raises a leaf of `HardwareError` when it passes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Interlocks:
    """The contacts as read; each is a statement, and a broken wire makes it the unsafe one."""

    compartment_open: bool
    cover_open: bool
    estop_pressed: bool
    driver_fault: bool
    button_pressed: bool


class Motor(Protocol):
    """The shaker's motor behind its dead-man. Called by the motion thread alone, but `stop`."""

    def arm(self) -> None:
        """Load or find the dead-man script in the daemon; EN stays low."""

    def refresh(self) -> None:
        """Keep EN granted for the next dead-man period (<= 100 ms). No call, no motion."""

    def drive(self, duty: float) -> None:
        """Set the PWM duty, 0.0-1.0."""

    def stop(self) -> None:
        """Take EN low and the duty to zero now. Idempotent, from any thread, never raises."""

    def is_enabled(self) -> bool:
        """Read EN back from the pin."""


class Tach(Protocol):
    """Tach edges with the daemon's own microsecond ticks."""

    def edges(self) -> Sequence[int]:
        """Return the ticks (us, unwrapped, increasing) of edges since the last call."""


class InterlockLines(Protocol):
    """All contacts of the shaker."""

    def read(self) -> Interlocks:
        """Read the levels now, raw, from the daemon."""

    def on_change(self, callback: Callable[[Interlocks], None]) -> None:
        """Call back, from the adapter's own thread, whenever a contact changes."""


class ShakerOutputs(Protocol):
    """The slow outputs: light, cover drive."""

    def set_light(self, level: float) -> None:
        """Ring light, 0.0 dark to 1.0 full."""

    def drive_cover(self, opened: bool) -> None:
        """Open or close a driven cover."""


class LampBox(Protocol):
    """The lamp controller: trusted to show, not to think. Used by the lamp thread alone."""

    def show(self, round_id: int, values: tuple[int, int, int]) -> frozenset[str]:
        """Stage, read the stage back, commit, read back lit and measured; return areas lit.

        Raises `LampError` leaves when the total deadline passes or any read-back differs.
        """

    def clear(self, round_id: int) -> None:
        """Darken the result and prove every area dark; raises `LampReadbackError` otherwise."""

    def show_phase(self, phase: int, round_id: int) -> None:
        """Show a phase of the table (bets open, no more bets, no roll, void, fault, ...)."""

    def test_area(self, area: str | None) -> frozenset[str]:
        """Light exactly one area (inspection, table closed), or none; return areas read as lit."""


class Clock(Protocol):
    """Time. Durations use `monotonic`; `wall` is for records and rule dates only."""

    def monotonic(self) -> float: ...

    def wall(self) -> float: ...


class Notifier(Protocol):
    """The service manager."""

    def ready(self) -> None: ...

    def alive(self) -> None: ...

    def status(self, text: str) -> None: ...
