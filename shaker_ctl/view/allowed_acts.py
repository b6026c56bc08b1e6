"""The event of an act, and which acts somebody could do now: each is tried on the rules, which
changes nothing.

Owns what this table adds to a typed command. Must not judge whether an act is permitted, or who may
do it: the rules do, from the person in the event.
"""

from __future__ import annotations

from datetime import datetime

from shaker_ctl.console.desk import Actor
from shaker_ctl.console.grammar import ACTS, BY_NAME, FORMS, CommandKind, TypedCommand
from shaker_ctl.errors import RefusedError, ShakerError
from shaker_ctl.rules import machine
from shaker_ctl.rules.agreement import About, waiting
from shaker_ctl.rules.events import Event
from shaker_ctl.rules.phases import AT_HAND
from shaker_ctl.rules.rulebook import Rulebook
from shaker_ctl.rules.state import TableState
from shaker_ctl.rules.vocabulary import Person, Role
from shaker_ctl.service.fault_queue import FaultQueue
from shaker_ctl.service.wall_time import WallTime

DEVICE_ACTS = frozenset(f.name for f in FORMS if f.kind is CommandKind.ACT and f.makes is None)
"""Acts on what is no part of the table's state: permitted while nobody can play."""

_TRIED = tuple(command for form in ACTS for command in form.typed_samples())


def person(actor: Actor) -> Person:
    """The person as the rules record them. Raises `RefusedError` where nobody is logged in."""
    if actor.role is None:
        raise RefusedError("nobody is logged in", remedy="log in first: login ROLE NAME")
    return Person(actor.name, actor.role, actor.number)


def made(
    command: TypedCommand, by: Person, state: TableState, now: datetime, faults: FaultQueue
) -> Event:
    """Return the event of an act; a round that was left out is the round in hand.

    Raises `RefusedError` where it names a fault that does not stand.
    """
    known = {"person": by, "round": state.round, "at": now}
    if (code := command.arguments.get("code")) is not None:
        known["kind"] = faults.kind_of(str(code))
        if known["kind"] is None:
            raise RefusedError(f"no fault {code!r} stands", remedy="`faults` lists those that do")
    return command.event(known)


def allowed_verbs(
    state: TableState, rulebook: Rulebook, wall: WallTime, faults: FaultQueue
) -> frozenset[str]:
    """Return the verbs that the rules would take now from some role."""
    tried = list(_TRIED)
    if named := waiting(state.stated, About.RESULT):
        tried.append(TypedCommand(BY_NAME["correct"], {"values": named.said}))
    clear = BY_NAME["fault clear"]
    tried += [TypedCommand(clear, {"code": fault.code}) for fault in faults.standing()]
    allowed = set(DEVICE_ACTS) if state.phase in AT_HAND else set[str]()
    people = [Person("somebody", role) for role in Role]
    # Only they go on with it, or put it right.
    people += [state.inspector] if state.inspector else []
    people += [state.stated.by] if state.stated else []
    for command in tried:
        if command.name in allowed:
            continue
        for by in people:
            try:
                taken = machine.permits(
                    state, made(command, by, state, wall.now(), faults), rulebook
                )
            except ShakerError:
                taken = False
            if taken:
                allowed.add(command.name)
                break
    return frozenset(allowed)
