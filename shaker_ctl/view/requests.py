"""From what a person asked at a console to the event that the rules judge.

Owns the translation and the checks of arguments that only this table can make. Must not judge
whether the act is permitted now, or who may do it: the rules do, from the person in the event.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, cast

from shaker_ctl.console.desk import Actor, Request
from shaker_ctl.errors import RefusedError
from shaker_ctl.rules import events
from shaker_ctl.rules.outcome import BIT, Values
from shaker_ctl.rules.state import TableState
from shaker_ctl.rules.vocabulary import FaultKind, Part, Person, RetireStep, Role, WalkStep


def person(actor: Actor) -> Person:
    """The person as the rules record them. Raises `RefusedError` where nobody is logged in."""
    if actor.role is None:
        raise RefusedError("nobody is logged in", remedy="log in first: login ROLE NAME")
    return Person(actor.name, actor.role, actor.number)


BY_A_PERSON: Mapping[str, Callable[[Person], events.Event]] = {
    "bets": events.BetsRequested,
    "open": events.OpenRequested,
    "close": events.CloseRequested,
    "shift start": events.ShiftBegan,
    "time confirm": events.TimeConfirmed,
    "dice same": events.DiceKept,
    "return-to-service": events.ReturnRequested,
    "shaker back": events.ShakerRestored,
    "lid": events.LidRequested,
    "test-toss": events.TrialTossRequested,
    "cancel": events.InspectionAbandoned,
    "inspect seen": events.LampsSeen,
    "inspect walk": events.WalkRequested,
    "inspect cycle": events.CycleRequested,
}
"""Acts that say nothing but who gives them."""

IN_A_ROUND: Mapping[str, Callable[[Person, int], events.Event]] = {
    "nmb": events.NoMoreBetsCalled,
    "activate": events.ActivationRequested,
    "reveal": events.RevealRequested,
    "cover off": events.RevealRequested,
    "no-roll": events.NoRollCalled,
    "settled": events.WagersSettled,
    "lamps-off": events.LampsOffRequested,
    "presence": events.PresenceGiven,
}
"""Acts that say who gives them, in which round."""


def to_event(
    request: Request,
    actor: Actor,
    state: TableState,
    *,
    now: datetime,
    kind_of_fault: Callable[[str], FaultKind | None],
) -> events.Event:
    """Return the event for a request; a round that was left out is the round in hand.

    Raises `RefusedError` for a verb that does not change the table, or arguments out of place.
    """
    given = request.arguments
    who = person(actor)
    number = _round(given, state)
    if made := BY_A_PERSON.get(request.verb):
        return made(who)
    if made_in := IN_A_ROUND.get(request.verb):
        return made_in(who, number)
    match request.verb:
        case "enter":
            return events.ValuesEntered(who, number, _values(given))
        case "confirm":
            return events.ValuesConfirmed(who, number, _values(given))
        case "decide":
            decided = _values(given) if given.get("values") is not None else None
            return events.DisputeDecided(who, number, decided)
        case "correct":
            to_be = _values(given) if given.get("values") is not None else None
            if actor.role is Role.DEALER:
                return events.CorrectionNamed(who, number, to_be)
            return events.CorrectionAgreed(who, number, to_be)
        case "in-view":
            return events.CompartmentWatched(who, number, bool(given["stayed"]))
        case "sign":
            return events.Signed(who, now)
        case "inspect":
            return _inspect(given, who, now)
        case "dice changed":
            return events.DiceChanged(who, tuple(cast(tuple[str, ...], given["serials"])), now)
        case "dice corrected":
            serials = tuple(cast(tuple[str, ...], given["serials"]))
            return events.DiceCorrected(who, serials)
        case "out-of-order":
            steps = frozenset(RetireStep(str(s)) for s in cast(Any, given.get("steps", ())))
            return events.ShakerRetired(who, steps) if steps else events.OutOfServiceRequested(who)
        case "fault clear":
            return events.FaultCleared(who, _fault(str(given["code"]), kind_of_fault))
        case "jog":
            return events.JogRequested(who, float(cast(Any, given["rpm"])), _seconds(given))
        case "lamp test":
            area = given.get("area")
            if area is not None and area not in BIT:
                raise RefusedError(f"there is no area {area!r}", remedy="`lamps` names them all")
            return events.LampTrialRequested(who, () if area is None else (str(area),))
    raise RefusedError(f"{request.verb!r} is no act at this table", remedy="see `help`")


def _inspect(given: Mapping[str, object], who: Person, now: datetime) -> events.Event:
    what = str(given["what"])
    if made := BY_A_PERSON.get(f"inspect {what}"):
        return made(who)
    match what:
        case "shift":
            return events.ShiftInspectionRequested(who, now)
        case "enter":
            return events.LampValuesEntered(who, _values(given))
        case "wrong":
            return events.LampSeenWrong(who, str(given["area"]))
        case "pause" | "on" | "back" | "again":
            return events.WalkSteered(who, WalkStep(what))
        case "tossed" | "not-tossed":
            return events.CycleJudged(who, what == "tossed")
    return events.InspectionRequested(who, Part(what), now)


def _round(given: Mapping[str, object], state: TableState) -> int:
    number = given.get("round")
    return state.round if number is None else int(cast(int, number))


def _values(given: Mapping[str, object]) -> Values:
    first, second, third = cast(tuple[int, int, int], given["values"])
    return (first, second, third)


def _seconds(given: Mapping[str, object]) -> float:
    return float(cast(Any, given["seconds"]))


def _fault(code: str, kind_of: Callable[[str], FaultKind | None]) -> FaultKind:
    kind = kind_of(code)
    if kind is None:
        raise RefusedError(f"no fault {code!r} stands", remedy="`faults` lists those that do")
    return kind
