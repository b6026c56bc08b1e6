"""What must become of a round in which something failed, and how what was seen differs from it.

Owns the two records and their comparison, nothing else: no clock, no file, no process. A field of
`Required` that is None asks for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal


class RequiredEnding(StrEnum):
    """How the round ended, in the journal's words."""

    SETTLED = "settled"
    BY_HAND = "settled_by_hand"
    NO_ROLL = "no_roll"
    VOID = "void"
    NOT_STARTED = "not_started"


class RequiredMotor(StrEnum):
    """What EN did, at the pin behind its filter."""

    FINISHED = "finished"
    """The toss went on to its planned end."""
    STOPPED = "stopped"
    """EN fell before the plan's end, and for good."""
    NEVER = "never on"


class RequiredLamps(StrEnum):
    """What burnt at the betting areas of this round."""

    TRUTH = "truth"
    """The winning areas of the dice as they truly lie, and no other; in the end dark."""
    DARK = "dark"
    """Nothing."""
    WRONG_THEN_DARK = "wrong, then dark"
    """The box lit otherwise than it was told; commanded dark in time."""
    STUCK = "stuck"
    """A lamp burns that no command can switch off; nothing else wrong."""


Life = Literal["open", "inspection due", "out of service"]
"""Where the table stands afterwards, as the console says."""


@dataclass(frozen=True, slots=True)
class Required:
    """An outcome that must be. Several codes or lamps: physics decides which; each is right."""

    ending: RequiredEnding
    wagers: Literal["settled", "returned"]
    life: Life
    motor: RequiredMotor | None = None
    motor_within_s: float | None = None
    """From the fault to EN low for good; with `RequiredMotor.STOPPED` only."""
    still_within_s: float | None = None
    """From the fault to a cam that stands still: where the daemon that owns EN is what fails."""
    lamps: tuple[RequiredLamps, ...] = (RequiredLamps.TRUTH, RequiredLamps.DARK)
    dark_within_s: float | None = None
    """From the first wrong lamp to all lamps dark, and to phase `fault` shown."""
    source: tuple[Literal["verified", "entered"], ...] = ()
    """On whose word the values rest."""
    codes: tuple[str, ...] = ()
    """Fault codes, one of which stands on the console; empty: no fault may stand there."""
    seen_as: tuple[str, ...] = ()
    """Events, one of which the journal must hold after the fault: `Type` or `Type:text`, where the
    text begins or is contained in its code or reason."""
    within_s: float | None = None
    """From the fault to that event."""
    from_en: bool = False
    """Both times count from EN on: the fault stood there before, and nothing could show it."""
    start_says: str = ""
    """What the last line of a start that must fail contains; the service is started once with the
    fault, and once without."""


@dataclass(slots=True)
class Observation:
    """What an observer outside saw. Times in seconds; None: it did not happen, or was not seen."""

    ending: str | None = None
    wagers: str | None = None
    source: str | None = None
    life: str | None = None
    motor: str | None = None
    motor_after_s: float | None = None
    still_after_s: float | None = None
    lamps: str | None = None
    dark_after_s: float | None = None
    fault_shown_after_s: float | None = None
    codes: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    """Journal events after the fault, as `Type:text`."""
    detected_after_s: float | None = None
    start_said: str | None = None
    violations: list[str] = field(default_factory=list)
    """What may never be, whatever fails: see `witness`."""


def matches(pattern: str, event: str) -> bool:
    """Whether a recorded event `Type:text` is what `Type` or `Type:text` asks for."""
    kind, _, text = pattern.partition(":")
    seen_kind, _, seen_text = event.partition(":")
    return kind == seen_kind and text in seen_text


def judged(required: tuple[Required, ...], seen: Observation) -> list[str]:
    """Differences from the outcome that comes nearest; empty where one of them is met whole."""
    return min((differences(one, seen) for one in required), key=len)


def differences(required: Required, seen: Observation) -> list[str]:
    """Everything in which the two differ, in words; empty where all is as it must be."""
    found = list(seen.violations)
    _one_of(found, "ending", (required.ending,), seen.ending)
    _one_of(found, "wagers", (required.wagers,), seen.wagers)
    _one_of(found, "table afterwards", (required.life,), seen.life)
    _one_of(found, "values from", required.source, seen.source)
    _one_of(found, "lamps", required.lamps, seen.lamps)
    if required.motor is not None:
        _one_of(found, "motor", (required.motor,), seen.motor)
    _in_time(found, "EN low", required.motor_within_s, seen.motor_after_s)
    _in_time(found, "cam still", required.still_within_s, seen.still_after_s)
    if required.start_says and required.start_says not in (seen.start_said or ""):
        found.append(f"start must end with {required.start_says!r}, said: {seen.start_said}")
    if seen.lamps == RequiredLamps.WRONG_THEN_DARK:
        _in_time(found, "lamps dark", required.dark_within_s, seen.dark_after_s)
        _in_time(found, "phase fault shown", required.dark_within_s, seen.fault_shown_after_s)
    if required.codes and not set(required.codes) & set(seen.codes):
        found.append(f"fault code {_either(required.codes)}, console: {_either(seen.codes)}")
    if not required.codes and seen.codes:
        found.append(f"no fault, console: {_either(seen.codes)}")
    if required.seen_as and not any(
        matches(pattern, event) for pattern in required.seen_as for event in seen.events
    ):
        found.append(f"event {_either(required.seen_as)}, journal: {_either(seen.events)}")
    elif required.seen_as:
        _in_time(found, "detected", required.within_s, seen.detected_after_s)
    return found


def _one_of(found: list[str], what: str, right: tuple[str, ...], seen: str | None) -> None:
    if right and seen not in right:
        found.append(f"{what} {_either(right)}, seen: {seen or 'nothing'}")


def _in_time(found: list[str], what: str, limit_s: float | None, seen_s: float | None) -> None:
    if limit_s is None:
        return
    if seen_s is None:
        found.append(f"{what} within {limit_s:g} s, never seen")
    elif seen_s > limit_s:
        found.append(f"{what} within {limit_s:g} s, seen after {seen_s:.3f} s")


def _either(words: Sequence[str]) -> str:
    return " or ".join(words) or "none"
