"""The state of the table as the journal left it.

Owns: the newest recorded state, and the replay of the events after it. A run that was stopped with
no round in hand left its state with its last record: another program or other settings may continue
from that state. Otherwise each replayed step must lead to the recorded rows. If a step leads to
other rows, program or profile changed during an unfinished round, and a person must decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from shaker_ctl.errors import JournalCorruptError
from shaker_ctl.frozen import frozen
from shaker_ctl.journal.history import pushed_by, raised_by
from shaker_ctl.journal.record import Record, names_its_record
from shaker_ctl.plain_form import PlainFormError
from shaker_ctl.rules import machine
from shaker_ctl.rules.events import Event
from shaker_ctl.rules.phases import IN_ROUND
from shaker_ctl.rules.record import from_record
from shaker_ctl.rules.rulebook import Rulebook
from shaker_ctl.rules.state import TableState
from shaker_ctl.rules.vocabulary import Condition, FaultKind, Purpose
from shaker_ctl.service.last_end import CLOSING


@frozen
class Recovered:
    """What the journal says."""

    state: TableState
    wall: str | None
    """Wall time of the newest record, ISO 8601; None in an empty journal."""


@names_its_record
def recover(newest_first: Iterable[Record], rulebook: Rulebook) -> Recovered:
    """Return the last state. Reads backwards only to the newest snapshot.

    Raises `JournalCorruptError` where a record cannot be understood or replays otherwise.
    """
    tail: list[dict[str, Any]] = []
    state = machine.initial(rulebook)
    newest_wall: str | None = None
    for record in newest_first:
        plain = record.plain
        if plain["kind"] not in ("step", CLOSING):
            continue
        is_snapshot = "state" in plain
        if newest_wall is None and (is_snapshot or plain["kind"] == "step"):
            newest_wall = plain["wall"]
        if is_snapshot:
            state = _understood(plain["sequence"], plain["state"])
            break
        if plain["kind"] == "step":
            tail.append(plain)
    return Recovered(replay(state, list(reversed(tail)), rulebook), newest_wall)


def may_be_left(state: TableState) -> bool:
    """Whether another program or other settings may go on from here: no round is in hand."""
    return state.phase not in IN_ROUND or state.purpose is not Purpose.PLAY


UNDER: dict[Condition, tuple[str, ...]] = {
    Condition.SETTINGS: ("settings", "profile"),
    Condition.CALIBRATION: ("calibration", "teaching"),
}
"""Digests whose change makes an inspection due, by what they are digests of."""


@names_its_record
def changed_conditions(
    newest_first: Iterable[Record], digests: Mapping[str, str]
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


@names_its_record
def last_push(newest_first: Iterable[Record]) -> tuple[int, frozenset[frozenset[str]]]:
    """Return the newest round of play whose values were sent to the lamps, 0 before the first, and
    the areas of each result that it was given: two where it was corrected. Reads backwards to the
    push of the round before it.
    """
    number, lit = 0, set[frozenset[str]]()
    for record in newest_first:
        for pushed, areas in pushed_by(record.plain):
            if number and pushed != number:
                return number, frozenset(lit)
            number = pushed
            lit.add(frozenset(areas))
    return number, frozenset(lit)


@names_its_record
def standing_faults(
    newest_first: Iterable[Record], kinds: frozenset[FaultKind]
) -> tuple[tuple[FaultKind, str, float], ...]:
    """Return (kind, code, wall time) of the fault on record for each kind that stands.

    A table that was switched off in fault comes back in fault and says which (O-9).
    """
    wanted, found = set(kinds), []
    for record in newest_first if wanted else ():
        plain = record.plain
        for kind, code in raised_by(plain):
            if (one := FaultKind(kind)) in wanted:
                wanted.discard(one)
                when_s = datetime.fromisoformat(plain["wall"]).timestamp()
                found.append((one, code, when_s))
        if not wanted:
            break
    return tuple(reversed(found))


def replay(state: TableState, steps: Sequence[dict[str, Any]], rulebook: Rulebook) -> TableState:
    """Step through recorded events. Raises `JournalCorruptError` at the first difference."""
    for plain in steps:
        try:
            event = from_record(plain["event"], Event)
        except PlainFormError as error:
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
    except PlainFormError as error:
        raise _broken(sequence, str(error)) from error


def _broken(sequence: int, what: str) -> JournalCorruptError:
    return JournalCorruptError(
        f"journal record {sequence} cannot be resumed from: {what}",
        remedy="Restore the program and profile of that record, and stop the table in order before "
        "they are changed again; or have the journal examined",
    )
