"""The state of the table as the journal left it.

Owns: the newest recorded state, and the replay of the events after it. Each replayed step must
lead to the recorded rows. If a step leads to other rows, program or profile changed during an
unfinished round, and a person must decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from shaker_ctl.errors import JournalCorruptError
from shaker_ctl.journal.record import Record
from shaker_ctl.rules import machine
from shaker_ctl.rules.events import Event
from shaker_ctl.rules.record import RecordError, from_record
from shaker_ctl.rules.rulebook import Rulebook
from shaker_ctl.rules.state import TableState
from shaker_ctl.rules.vocabulary import Condition, FaultKind, Purpose


@dataclass(frozen=True, slots=True)
class Recovered:
    """What the journal says."""

    state: TableState
    wall: str | None
    """Wall time of the newest record, ISO 8601; None in an empty journal."""


def recover(newest_first: Iterator[Record], rulebook: Rulebook) -> Recovered:
    """Return the last state. Reads backwards only to the newest snapshot.

    Raises `JournalCorruptError` where a record cannot be understood or replays otherwise.
    """
    tail: list[dict[str, Any]] = []
    state = machine.initial(rulebook)
    for record in newest_first:
        plain = record.plain
        if plain["kind"] == "step":
            tail.append(plain)
            if "state" in plain:
                state = _understood(plain["sequence"], plain["state"])
                break
    newest_wall = tail[0]["wall"] if tail else None
    events = list(reversed(tail))
    if events and "state" in events[0]:
        events = events[1:]
    return Recovered(replay(state, events, rulebook), newest_wall)


UNDER: dict[Condition, tuple[str, ...]] = {
    Condition.SETTINGS: ("settings", "profile"),
    Condition.CALIBRATION: ("calibration",),
}
"""Digests whose change makes an inspection due, by what they are digests of."""


def changed_conditions(
    newest_first: Iterator[Record], digests: Mapping[str, str]
) -> tuple[Condition, ...]:
    """Return what differs now from what the newest step was recorded under; empty at first."""
    for record in newest_first:
        if record.plain["kind"] == "step":
            before = record.plain.get("digests", {})
            return tuple(
                what
                for what, names in UNDER.items()
                if any(before.get(name) != digests.get(name) for name in names)
            )
    return ()


@dataclass(frozen=True, slots=True)
class LastPush:
    """The newest round of play whose values were sent to the lamps, and the lamps that they win."""

    round: int = 0
    """0 before the first."""
    lit: frozenset[frozenset[str]] = frozenset()
    """One set of areas for each result that the round was given: two where it was corrected."""


def last_push(newest_first: Iterator[Record]) -> LastPush:
    """Return the newest push on record. Reads backwards to the push of the round before it."""
    number, lit = 0, set[frozenset[str]]()
    for record in newest_first:
        for command in record.plain.get("decision", ()):
            occasion = command.get("occasion", {})
            if command["type"] != "PushLamps" or occasion.get("purpose") != Purpose.PLAY.value:
                continue
            if number and occasion["number"] != number:
                return LastPush(number, frozenset(lit))
            number = int(occasion["number"])
            lit.add(frozenset(command["areas"]))
    return LastPush(number, frozenset(lit))


def standing_faults(
    newest_first: Iterator[Record], kinds: frozenset[FaultKind]
) -> tuple[tuple[FaultKind, str, float], ...]:
    """Return (kind, code, wall time) of the fault on record for each kind that stands.

    A table that was switched off in fault comes back in fault and says which (O-9).
    """
    wanted, found = set(kinds), []
    for record in newest_first if wanted else ():
        plain = record.plain
        for command in plain.get("decision", ()):
            if command["type"] == "RaiseFault" and FaultKind(command["kind"]) in wanted:
                kind = FaultKind(command["kind"])
                wanted.discard(kind)
                when_s = datetime.fromisoformat(plain["wall"]).timestamp()
                found.append((kind, command["code"], when_s))
        if not wanted:
            break
    return tuple(reversed(found))


def replay(state: TableState, steps: Sequence[dict[str, Any]], rulebook: Rulebook) -> TableState:
    """Step through recorded events. Raises `JournalCorruptError` at the first difference."""
    for plain in steps:
        try:
            event = from_record(plain["event"], Event)
        except RecordError as error:
            raise _broken(plain["sequence"], str(error)) from error
        step = machine.step(state, event, rulebook)
        rows = [row.name for row in step.rows]
        if rows != plain["rows"]:
            raise _broken(
                plain["sequence"],
                f"{plain['event']['type']} took the rows {plain['rows']} then and {rows} now",
            )
        state = step.state
    return state


def _understood(sequence: int, plain: Any) -> TableState:
    try:
        return from_record(plain, TableState)
    except RecordError as error:
        raise _broken(sequence, str(error)) from error


def _broken(sequence: int, what: str) -> JournalCorruptError:
    return JournalCorruptError(
        f"journal record {sequence} cannot be resumed from: {what}",
        remedy="Restore the program and profile of that record, or have the journal examined",
    )
