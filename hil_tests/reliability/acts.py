"""How a fault is brought about: small words for what is done, to what.

Owns those words, so that `hil_tests/faults.toml` can be read as a table. Who carries them out is
`harm`. Must not know moments or outcomes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InjectFault:
    """A sentence for the rig's own door, without its `after`: `lamp_late delay_s=0.5`."""

    sentence: str
    for_s: float | None = None
    """Healed after so long; None: when the round is over."""

    @property
    def name(self) -> str:
        return self.sentence.split()[0]


@dataclass(frozen=True, slots=True)
class UseHands:
    """What a person's hands do at the machine, and later undo."""

    do: str
    undo: str


@dataclass(frozen=True, slots=True)
class SignalProcess:
    """A signal to the `service` or to its `camera` process."""

    who: str
    how: str
    """`killed` or `stopped`; a stopped one goes on after `for_s`."""
    for_s: float = 1.5


@dataclass(frozen=True, slots=True)
class HangThread:
    """One thread of the service stands still (held from outside, as by a driver)."""

    thread: str
    for_s: float


@dataclass(frozen=True, slots=True)
class BreakMedium:
    """What the system answers a journal's thread: an error, or nothing for a while."""

    thread: str
    """`journal` writes the first copy, `journal-second` the second."""
    calls: tuple[str, ...]
    """Names of system calls: `fsync` (and fdatasync), `pwrite`, `rename`."""
    error: str = ""
    """Name of an errno; empty: the call is only late."""
    late_s: float = 0.0


@dataclass(frozen=True, slots=True)
class StepClock:
    """The wall clock steps by so many seconds."""

    step_s: float


@dataclass(frozen=True, slots=True)
class LowerMemory:
    """So much memory is left on the service's computer, by what its system tells it."""

    available_kb: int


@dataclass(frozen=True, slots=True)
class TypeText:
    """Somebody types this at a console, over and over, for a while."""

    port: str
    text: str
    """A character for each byte (latin-1)."""
    times: int = 1
    """How often it stands in one write."""
    for_s: float = 1.0


@dataclass(frozen=True, slots=True)
class DriveMotor:
    """Another program of this computer drives the motor through the GPIO daemon."""

    for_s: float = 1.5


@dataclass(frozen=True, slots=True)
class BreakStart:
    """The service is killed, and something is wrong when it starts again."""

    what: str
    """A name in `broken_start`, or a sentence for the rig's own door."""
    of_rig: bool = False


@dataclass(frozen=True, slots=True)
class Then:
    """One thing after another."""

    first: Act
    second: Act
    after_s: float


Act = (
    InjectFault
    | UseHands
    | SignalProcess
    | HangThread
    | BreakMedium
    | StepClock
    | LowerMemory
    | TypeText
    | DriveMotor
    | BreakStart
    | Then
)
