"""What an act did, in one sentence: the beginning of the answer to it.

Owns the sentences that follow from who acted, or from the state that came of it; all others stand
with their command (`console.grammar`). Must not judge: it is asked once the rules have taken the
act.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from shaker_ctl.console.desk import Actor, Request
from shaker_ctl.console.grammar import BY_NAME
from shaker_ctl.rules.state import TableState
from shaker_ctl.rules.vocabulary import Role

Given = Mapping[str, object]

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
    "enter": "{values} is entered for the lamps.",
    "wrong": "Area {area} is reported wrong.",
}
"""Steps of an inspection; any other begins one."""


def taken(request: Request, actor: Actor, state: TableState) -> str:
    """Return what an act did that the rules have taken."""
    if follows := _FOLLOWS.get(request.verb):
        sentence = follows(request.arguments, actor, state)
    else:
        sentence = BY_NAME[request.verb].did
    return sentence.format_map({name: _words(value) for name, value in request.arguments.items()})


def _words(argument: object) -> str:
    if argument is None:  # values that are none
        return "no roll"
    if isinstance(argument, tuple):
        return " ".join(map(str, cast(tuple[object, ...], argument)))
    return str(argument)


def _changed(_given: Given, _actor: Actor, state: TableState) -> str:
    return _dice("Dice {serials} are recorded.", state)


def _put_right(_given: Given, _actor: Actor, state: TableState) -> str:
    return _dice("Serials are put right: dice {serials} are recorded.", state)


def _same(_given: Given, _actor: Actor, state: TableState) -> str:
    if state.dice_named is not None:
        return "The same dice are in, says one person; a second one repeats the same command."
    return "The same dice are in."


def _dice(recorded: str, state: TableState) -> str:
    if state.dice_named is not None:
        return "Dice {serials} are named; a second person repeats the same command."
    return recorded


def _confirmed(_given: Given, _actor: Actor, _state: TableState) -> str:
    return "{values} is confirmed."


def _corrected(_given: Given, actor: Actor, _state: TableState) -> str:
    if actor.role is Role.DEALER:
        return "Named in the result's place: {values}; a floorperson who agrees repeats it."
    return "The correction is agreed: {values}."


def _in_view(given: Given, _actor: Actor, _state: TableState) -> str:
    return f"The compartment {'stayed' if given['stayed'] else 'did not stay'} in view: noted."


def _inspected(given: Given, _actor: Actor, _state: TableState) -> str:
    return _INSPECTS.get(str(given["what"]), "The inspection is asked for: {what}.")


_FOLLOWS: Mapping[str, Callable[[Given, Actor, TableState], str]] = {
    "dice changed": _changed,
    "dice corrected": _put_right,
    "dice same": _same,
    "confirm": _confirmed,
    "correct": _corrected,
    "in-view": _in_view,
    "inspect": _inspected,
}
