"""The commands that only look: what each takes from the table and shows, in both voices.

Owns one row per read command. Must not know sessions; whoever calls has checked permission.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from shaker_ctl import __version__
from shaker_ctl.console import codes, json_voice, permission, render
from shaker_ctl.console.arguments import Arguments
from shaker_ctl.console.desk import Actor, Desk, Parcel, TableView
from shaker_ctl.console.grammar import ConsoleRefusal
from shaker_ctl.frozen import frozen
from shaker_ctl.rules.vocabulary import Role

PRODUCT = "shaker-ctl"


@frozen
class LookAnswer:
    """One look, ready to be said either way."""

    lines: render.Lines
    fields: Mapping[str, object]


@frozen
class Viewer:
    """From where somebody looks: who they are, and at which console."""

    desk: Desk
    actor: Actor
    port_roles: tuple[Role, ...]


Look = Callable[[Viewer, Arguments], LookAnswer | Parcel | ConsoleRefusal]

Page = Callable[[TableView], render.Lines]


def _page(page: Page, fields: Callable[[TableView], Mapping[str, object]]) -> Look:
    def look(viewer: Viewer, _arguments: Arguments) -> LookAnswer:
        view = viewer.desk.view()
        return LookAnswer(page(view), fields(view))

    return look


def _part(page: Page, name: str) -> Look:
    return _page(page, lambda view: {name: getattr(view, name)})


def _status(viewer: Viewer, _arguments: Arguments) -> LookAnswer:
    view = viewer.desk.view()
    allowed = permission.allowed_now(viewer.actor, viewer.port_roles, view.allowed)
    fields = json_voice.brief(view) | {"allowed": [form.name for form in allowed]}
    return LookAnswer(render.status(view), fields)


def _journal(viewer: Viewer, arguments: Arguments) -> LookAnswer:
    count = arguments["count"]
    assert isinstance(count, int)
    records = viewer.desk.archive.last(count)
    return LookAnswer(render.journal(records), {"records": records})


def _round(viewer: Viewer, arguments: Arguments) -> LookAnswer | ConsoleRefusal:
    number = arguments["round"]
    assert isinstance(number, int)
    found = viewer.desk.archive.round(number)
    if found is None:
        return ConsoleRefusal(codes.NOTHING_THERE, f"there is no round {number} on record")
    told = {**found.facts, "events": found.events}
    return LookAnswer(render.game_round(found), {"round": told})


def _meters(viewer: Viewer, _arguments: Arguments) -> LookAnswer:
    figures = viewer.desk.meters()
    return LookAnswer(render.figures(figures), {"meters": figures})


def _statistics(viewer: Viewer, _arguments: Arguments) -> LookAnswer:
    figures = viewer.desk.archive.statistics()
    return LookAnswer(render.figures(figures) or ["no outcomes yet"], {"statistics": figures})


def _digests(viewer: Viewer, _arguments: Arguments) -> LookAnswer:
    view = viewer.desk.view()
    fields = {"product": PRODUCT, "version": __version__, "digests": view.digests}
    return LookAnswer([f"{PRODUCT} {__version__}", *render.digests(view)], fields)


def _answer(viewer: Viewer, arguments: Arguments) -> LookAnswer:
    seed = arguments["seed"]
    assert isinstance(seed, str)
    answer = viewer.desk.keyed_answer(seed)
    return LookAnswer([f"answer to {seed}: {answer}"], {"answer": answer})


def _health(viewer: Viewer, _arguments: Arguments) -> LookAnswer:
    view = viewer.desk.view()
    return LookAnswer(render.health(view), {"health": view.health, "journal": view.journal})


def _profile(viewer: Viewer, _arguments: Arguments) -> LookAnswer:
    view = viewer.desk.view()
    return LookAnswer(render.profile(view), {"profile": view.profile, "marks": view.marks})


LOOKS: dict[str, Look] = {
    "status": _status,
    "faults": _part(render.faults, "faults"),
    "lamps": _part(render.lamps, "lamps"),
    "motor": _part(render.motor, "motor"),
    "camera": _part(render.camera, "camera"),
    "camera snap": lambda viewer, _arguments: viewer.desk.snap(),
    "dice": _part(render.dice_set, "dice"),
    "journal last": _journal,
    "round": _round,
    "inspection": _part(render.inspection, "inspection"),
    "profile": _profile,
    "digests": _digests,
    "answer": _answer,
    "health": _health,
    "statistics": _statistics,
    "meters": _meters,
    "log bundle": lambda viewer, _arguments: viewer.desk.archive.bundle(),
    "export": lambda viewer, _arguments: viewer.desk.archive.export(),
}
