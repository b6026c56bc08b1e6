"""What the table needs from the outside world, as protocols; nobody here knows who implements them.

Adapters implement these on hardware, the virtual rig stands behind the same adapters. Every call
that can wait has a deadline inside the adapter and raises a leaf of `HardwareError` when it passes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from shaker_ctl.errors import GpioLinkError
from shaker_ctl.frozen import frozen
from shaker_ctl.journal.box_memory import BoxMemory
from shaker_ctl.journal.record import Anchor, Entry, Head, Record
from shaker_ctl.lamp.registers import LampIdentity, LampStatus
from shaker_ctl.rules import commands
from shaker_ctl.rules.outcome import Area, Values


@frozen
class Interlocks:
    """The contacts as read; each is a statement, and a broken wire makes it the unsafe one."""

    compartment_open: bool
    cover_open: bool
    estop_pressed: bool
    driver_fault: bool
    button_pressed: bool
    lid_flag_stands: bool = False
    """The lid's flag is fitted and has not fallen: nobody has raised the lid since it was set."""
    motor_supplied: bool | None = None
    """What the contactor's feedback says; None where none is wired."""
    coil_broken: bool = False
    """E-stop or the compartment's own contact breaks the coil of that contactor."""


class GpioLink(Protocol):
    """The way to the pins. It watches itself and comes back by itself, from a thread of its own."""

    def trouble(self) -> GpioLinkError | None:
        """Return why the pins cannot be trusted now, or None. Never blocks.

        A dead, hung or deaf daemon, or a dead-man that no longer counts, shows here within 1 s.
        """

    def generation(self) -> int:
        """Return how often the way has been opened; another number means EN was low between."""


class Motor(Protocol):
    """The shaker's motor behind its dead-man. Called by the motion thread alone, but `stop`.

    All but `stop` raise `GpioLinkError` where the pins cannot be reached within their deadline.
    """

    def arm(self) -> None:
        """Prove that the dead-man counts and EN is low, and lift the hold of an earlier `stop`."""

    def refresh(self) -> None:
        """Keep EN granted for the next dead-man period (<= 100 ms). No call, no motion.

        Grants nothing after a `stop`, whoever called it, until `arm`.
        """

    def drive(self, duty: float) -> None:
        """Set the PWM duty, 0.0-1.0. Does nothing after a `stop`, until `arm`."""

    def stop(self) -> None:
        """Take EN low and the duty to zero now. Idempotent, from any thread, never raises.

        Does not wait for an answer: `is_enabled` says whether it took effect.
        """

    def is_enabled(self) -> bool:
        """Read EN back from the pin."""


class Tach(Protocol):
    """Tach edges with the pins' own microsecond ticks."""

    def edges(self) -> Sequence[int]:
        """Return the ticks (us, unwrapped, increasing) of edges since the last call."""


class InterlockLines(Protocol):
    """All contacts of the shaker."""

    def read(self) -> Interlocks:
        """Read the levels now, raw. Raises `GpioLinkError`."""

    def on_change(self, callback: Callable[[Interlocks], None]) -> None:
        """Call back, from the adapter's own thread, whenever a contact changes."""


class ShakerOutputs(Protocol):
    """The slow outputs: light, cover drive, latch."""

    def set_light(self, level: float) -> None:
        """Ring light, 0.0 dark to 1.0 full."""

    def drive_cover(self, opened: bool) -> None:
        """Open or close a driven cover."""

    def release_latch(self, released: bool) -> None:
        """Let a person lift the compartment's lid (table closed only), or lock it again."""


@frozen
class LampLine:
    """How the line to the box does."""

    reply_ms: float | None = None
    """Median time from a request to its reply, over the last ones; None before the first."""
    slowest_ms: float | None = None
    """The longest of them."""
    repeats: int = 0
    """Steps that were said again since the start."""


class LampBox(Protocol):
    """The lamp controller: trusted to show, not to think. Used by the lamp thread alone.

    Every call blocks until it has proof or its total deadline has passed, and then raises a leaf
    of `LampError`: `LampTimeoutError` (no answer), `LampReplyError` (a wrong answer, a refusal,
    another box) or `LampReadbackError` (what is driven or glows is not what was asked for).
    """

    def identify(self) -> LampIdentity:
        """Return who the box is; refuses one that does not fit this table's layout."""

    def show(self, round_id: int, values: Values) -> frozenset[Area]:
        """Stage, read the stage back, commit, read back driven and glowing; return areas lit.

        `round_id` 0 is an entry that belongs to no round (inspection): the box does not retain it
        as the last committed round. May be called again for the same round and values.
        """

    def correct(self, round_id: int, values: Values) -> frozenset[Area]:
        """Light a result in the place of the one that this round was shown with; see `show`.

        The lamps are dark before. A box does it once a round and refuses another; it may be called
        again for the same values.
        """

    def clear(self, round_id: int) -> None:
        """End the result of this round, blank its multipliers, and prove every lamp dark."""

    def darken(self) -> None:
        """The emergency: switch everything off now. Never waits for a record."""

    def show_phase(self, phase: int, round_id: int) -> None:
        """Show a phase: `lamp.registers.LampPhase`, plus `DEMONSTRATION` in a demonstration."""

    def test_area(self, area: Area | None) -> frozenset[Area]:
        """Light exactly one area (inspection, table closed), or none; return areas seen to glow."""

    def show_multipliers(self, round_id: int, odds: Mapping[str, int]) -> None:
        """Show odds (X of "X to 1") and prove them at the displays; empty blanks them all.

        Places are areas, and for `one-N` on two or three dice `one-N/2` and `one-N/3`.
        """

    def status(self) -> LampStatus:
        """Read what the box does and measures, once."""

    def prove_dark(self) -> LampStatus:
        """Return a fresh status that is dark and healthy; raises `LampReadbackError` otherwise."""

    def prove_lit(self, round_id: int, values: Values) -> LampStatus:
        """Return a fresh status that still shows exactly this result."""

    def anchor(self, anchor: Anchor) -> None:
        """Have the box retain where the journal stands.

        Raises `LampAnchorError` where the box holds a later one, another head, or another table's.
        """

    def memory(self) -> BoxMemory:
        """Return what the box retained without power."""

    def line(self) -> LampLine:
        """Return how long its replies take, and how often a step was said again."""


@frozen
class Pictures:
    """What a decision was made on, as JPEG: the frame, and the same with the votes drawn in."""

    frame: bytes
    overlay: bytes


ReaderCommand = (
    commands.NotePoses
    | commands.LightOn
    | commands.LightOff
    | commands.StartReading
    | commands.KeepLooking
    | commands.StopReading
)


class DiceReader(Protocol):
    """Camera and readers behind one door: commands in, rules events out through its `post`."""

    def perform(self, command: ReaderCommand) -> None:
        """Do as commanded without waiting."""

    def snap(self) -> bytes:
        """The newest frame as JPEG; raises `RefusedError` while dice are covered."""


class JournalStore(Protocol):
    """One copy of the journal on one medium. Writing is for one thread at a time."""

    def head(self) -> Head:
        """Return where the chain ends."""

    def write(self, records: Sequence[Record]) -> None:
        """Append and sync; all of them or none. Blocks as long as the medium does.

        Raises `JournalWriteError` where the medium refuses, `JournalCorruptError` where they do not
        continue this copy's chain.
        """

    def next_volume(self, day: str, run: Mapping[str, Any]) -> Entry:
        """Return the record with which the next volume begins; the next `write` begins with it."""

    def check_tail(self) -> None:
        """Read the newest records back; raises `JournalCorruptError` where they are not whole."""


@frozen
class JournalHealth:
    """How the journal does, for screens."""

    head: Head
    waiting: int
    second_behind: int | None
    """None where there is no second copy."""
    fault: str
    is_failed: bool = False
    """Whether the main copy is at fault, so that nothing is recorded."""


class PictureStore(Protocol):
    """The pictures beside the journal. Used by the journal's threads alone."""

    def named(self, round_number: int, sequence: int, pictures: Pictures) -> dict[str, Any]:
        """Return what the record says of them: file and SHA-256 of each. Touches no medium."""

    def save(self, round_number: int, sequence: int, pictures: Pictures) -> None:
        """Write them, unsynced. Raises `JournalWriteError`."""

    def settle(self) -> None:
        """Sync what was saved since the last call, then make room within the quota."""


class Clock(Protocol):
    """Time. Durations use `monotonic`; `wall` is for records and rule dates only."""

    def monotonic(self) -> float: ...

    def wall(self) -> float: ...
