"""What an act did, in one sentence: the beginning of the answer to it.

Owns a sentence for each act that may be typed. Must not judge: it is asked once the rules have
taken the act, of what was typed and of the state that came of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from shaker_ctl.console.desk import Actor, Request
from shaker_ctl.rules.state import TableState
from shaker_ctl.rules.vocabulary import Role

Given = Mapping[str, object]

SENTENCES: Mapping[str, str] = {
    "bets": "The next round is asked for.",
    "nmb": "No more bets: noted.",
    "activate": "The shaker is asked to start.",
    "reveal": "The reveal is called.",
    "cover off": "The cover is said to be off.",
    "no-roll": "No roll is called.",
    "settled": "Wagers are settled: noted.",
    "lamps-off": "The lamps are told to go dark.",
    "presence": "Presence is noted.",
    "sign": "The signature is on record.",
    "open": "The opening is asked for.",
    "close": "The closing is asked for.",
    "shift start": "A new shift is noted.",
    "time confirm": "The clock is confirmed.",
    "return-to-service": "The return to service is on record.",
    "test-toss": "A test toss is asked for.",
    "lamp test": "A trial of the lamps is asked for.",
    "out-of-order": "The shaker is reported out of order.",
    "shaker back": "The shaker is reported back.",
    "cancel": "What was under way is given up.",
    "lid": "The lid is released.",
    "dice same": "The same dice are in: noted.",
    "jog": "A jog of the motor is asked for.",
}
"""Acts whose sentence needs nothing of what was typed with them."""

_INSPECTS: Mapping[str, str] = {
    "seen": "Seen: noted.",
    "walk": "The walk over every lamp is asked for.",
    "cycle": "A cycle of the shaker is asked for.",
    "tossed": "Properly tossed: noted.",
    "not-tossed": "Not properly tossed: noted.",
    "pause": "The walk pauses.",
    "on": "The walk goes on.",
    "back": "The walk goes back one lamp.",
    "again": "The walk begins again.",
}


def taken(request: Request, actor: Actor, state: TableState) -> str:
    """Return what an act did that the rules have taken."""
    if request.verb in SENTENCES:
        return SENTENCES[request.verb]
    return _WITH_VALUES[request.verb](request.arguments, actor, state)


def _dice(given: Given, _actor: Actor, state: TableState) -> str:
    serials = " ".join(cast(tuple[str, ...], given["serials"]))
    if state.dice_named is not None:
        return f"Dice {serials} are named; a second person repeats the same command."
    return f"Dice {serials} are recorded."


def _serials(given: Given, actor: Actor, state: TableState) -> str:
    return f"Serials put right. {_dice(given, actor, state)}"


def _values(given: Given) -> str:
    values = cast(tuple[int, ...] | None, given.get("values"))
    return "no roll" if values is None else " ".join(map(str, values))


def _entered(given: Given, _actor: Actor, _state: TableState) -> str:
    return f"{_values(given)} is entered."


def _confirmed(given: Given, _actor: Actor, _state: TableState) -> str:
    return f"{_values(given)} is confirmed."


def _decided(given: Given, _actor: Actor, _state: TableState) -> str:
    return f"The dispute is decided: {_values(given)}."


def _corrected(given: Given, actor: Actor, _state: TableState) -> str:
    if actor.role is Role.DEALER:
        named = f"Named in the result's place: {_values(given)}"
        return f"{named}; a floorperson who agrees repeats it."
    return f"The correction is agreed: {_values(given)}."


def _in_view(given: Given, _actor: Actor, _state: TableState) -> str:
    return f"The compartment {'stayed' if given['stayed'] else 'did not stay'} in view: noted."


def _cleared(given: Given, _actor: Actor, _state: TableState) -> str:
    return f"Fault {given['code']} is cleared."


def _inspected(given: Given, _actor: Actor, _state: TableState) -> str:
    what = str(given["what"])
    if what == "enter":
        return f"{_values(given)} is entered for the lamps."
    if what == "wrong":
        return f"Area {given['area']} is reported wrong."
    return _INSPECTS.get(what, f"The inspection is asked for: {what}.")


_WITH_VALUES: Mapping[str, Callable[[Given, Actor, TableState], str]] = {
    "dice changed": _dice,
    "dice corrected": _serials,
    "enter": _entered,
    "confirm": _confirmed,
    "decide": _decided,
    "correct": _corrected,
    "in-view": _in_view,
    "fault clear": _cleared,
    "inspect": _inspected,
}
