"""Which acts somebody could do now: each is tried on the rules, which changes nothing.

Owns the list of what is tried. Must not judge: a trial step is refused or not by the rules.
"""

from __future__ import annotations

from shaker_ctl.console.desk import Actor, Request
from shaker_ctl.errors import ShakerError
from shaker_ctl.rules import machine
from shaker_ctl.rules.phases import AT_HAND
from shaker_ctl.rules.rulebook import Rulebook
from shaker_ctl.rules.state import TableState
from shaker_ctl.rules.vocabulary import Role
from shaker_ctl.service.fault_queue import FaultQueue
from shaker_ctl.service.wall_time import WallTime
from shaker_ctl.view import requests
from shaker_ctl.view.requests import BY_A_PERSON, IN_A_ROUND

DEVICE_ACTS = frozenset({"light", "selftest", "meters clear"})
"""Acts on what is no part of the table's state: permitted while nobody can play."""

_TRIED: tuple[Request, ...] = (
    *(Request(verb) for verb in (*BY_A_PERSON, *IN_A_ROUND) if not verb.startswith("inspect ")),
    *(Request("inspect", {"what": what}) for what in ("all", "seen", "walk", "pause", "on")),
    *(Request("inspect", {"what": what}) for what in ("cycle", "tossed", "shift")),
    Request("inspect", {"what": "enter", "values": (1, 2, 3)}),
    *(Request(verb) for verb in ("sign", "lamp test", "out-of-order")),
    *(Request("in-view", {"stayed": stayed}) for stayed in (True, False)),
    Request("decide", {"values": None}),
    *(Request("correct", {"values": values}) for values in (None, (1, 2, 3), (4, 5, 6))),
    Request("enter", {"values": (1, 2, 3)}),
    *(Request(f"dice {did}", {"serials": ("?1", "?2", "?3")}) for did in ("changed", "corrected")),
    Request("jog", {"rpm": 120.0, "seconds": 1.0}),
)
"""Acts with what may be typed with them."""


def allowed_verbs(
    state: TableState, rulebook: Rulebook, wall: WallTime, faults: FaultQueue
) -> frozenset[str]:
    """Return the verbs that the rules would take now from some role."""
    tried = list(_TRIED)
    if state.named is not None:
        tried.append(Request("correct", {"values": state.named.values}))
    tried += [Request("fault clear", {"code": f.code}) for f in faults.standing()]
    allowed = set(DEVICE_ACTS) if state.phase in AT_HAND else set[str]()
    actors = [Actor("somebody", role, "trial") for role in Role]
    for one in (state.inspector, state.enterer):  # only they go on with it, or put it right
        if one is not None:
            actors.append(Actor(one.name, one.role, "trial", one.number))
    for request in tried:
        if request.verb in allowed:
            continue
        for actor in actors:
            try:
                event = requests.to_event(
                    request,
                    actor,
                    state,
                    now=wall.now(),
                    kind_of_fault=faults.kind_of,
                )
                taken = machine.permits(state, event, rulebook)
            except ShakerError:
                taken = False
            if taken:
                allowed.add(request.verb)
                break
    return frozenset(allowed)
