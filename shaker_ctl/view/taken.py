"""What an act did, in one sentence: the beginning of the answer to it.

Owns the sentences that follow from who acted, or from the state that came of it; all others stand
with their command (`console.grammar`). Must not judge: it is asked once the rules have taken the
act.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from shaker_ctl.console.desk import Actor, Request
from shaker_ctl.console.grammar import BY_NAME
from shaker_ctl.rules.state import TableState
from shaker_ctl.rules.vocabulary import Role

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
    said = {name: _words(value) for name, value in request.arguments.items()}
    return _sentence(request, actor, state).format_map(said)


def _sentence(request: Request, actor: Actor, state: TableState) -> str:
    given = request.arguments
    match request.verb:
        case "dice changed" | "dice corrected" if state.dice_named is not None:
            return "Dice {serials} are named; a second person repeats the same command."
        case "dice same" if state.dice_named is not None:
            return "The same dice are in, says one person; a second one repeats the same command."
        case "correct" if actor.role is Role.DEALER:
            return "Named in the result's place: {values}; a floorperson who agrees repeats it."
        case "confirm":
            return "{values} is confirmed."
        case "in-view":
            stayed = "stayed" if given["stayed"] else "did not stay"
            return f"The compartment {stayed} in view: noted."
        case "inspect":
            return _INSPECTS.get(str(given["what"]), "The inspection is asked for: {what}.")
    return BY_NAME[request.verb].did


def _words(argument: object) -> str:
    if argument is None:  # values that are none
        return "no roll"
    if isinstance(argument, tuple):
        return " ".join(map(str, cast(tuple[object, ...], argument)))
    return str(argument)
