"""The commands that only look: what each takes from the table and shows, in both voices.

Owns one row per read command. Must not know sessions; whoever calls has checked permission.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from shaker_ctl import __version__
from shaker_ctl.console import codes, machine, permission, render
from shaker_ctl.console.arguments import Arguments
from shaker_ctl.console.desk import Actor, Desk, Parcel, TableView
from shaker_ctl.console.grammar import Refusal
from shaker_ctl.frozen import frozen
from shaker_ctl.rules.vocabulary import Role

PRODUCT = "shaker-ctl"


@frozen
class Shown:
    """One look, ready to be said either way."""

    lines: render.Lines
    fields: Mapping[str, object]


@frozen
class Seat:
    """From where somebody looks: who they are, at which console, and what their screen can show."""

    desk: Desk
    actor: Actor
    port_roles: tuple[Role, ...]
    style: render.Style


Look = Callable[[Seat, Arguments], Shown | Parcel | Refusal]

Page = Callable[[TableView, render.Style], render.Lines]


def _page(page: Page, fields: Callable[[TableView], Mapping[str, object]]) -> Look:
    def look(seat: Seat, _arguments: Arguments) -> Shown:
        view = seat.desk.view()
        return Shown(page(view, seat.style), fields(view))

    return look


def _part(page: Page, name: str) -> Look:
    return _page(page, lambda view: {name: getattr(view, name)})


def _status(seat: Seat, _arguments: Arguments) -> Shown:
    view = seat.desk.view()
    allowed = permission.allowed_now(seat.actor, seat.port_roles, view.allowed)
    fields = machine.brief(view) | {"allowed": [form.name for form in allowed]}
    return Shown(render.status(view, seat.style), fields)


def _journal(seat: Seat, arguments: Arguments) -> Shown:
    count = arguments["count"]
    assert isinstance(count, int)
    records = seat.desk.journal_last(count)
    return Shown(render.journal(records), {"records": records})


def _round(seat: Seat, arguments: Arguments) -> Shown | Refusal:
    number = arguments["round"]
    assert isinstance(number, int)
    found = seat.desk.round(number)
    if found is None:
        return Refusal(codes.NOTHING_THERE, f"there is no round {number} on record")
    return Shown(render.game_round(found, seat.style), {"round": found})


def _meters(seat: Seat, _arguments: Arguments) -> Shown:
    figures = seat.desk.meters()
    return Shown(render.figures(figures), {"meters": figures})


def _statistics(seat: Seat, _arguments: Arguments) -> Shown:
    figures = seat.desk.statistics()
    return Shown(render.figures(figures) or ["no outcomes yet"], {"statistics": figures})


def _digests(seat: Seat, _arguments: Arguments) -> Shown:
    view = seat.desk.view()
    fields = {"product": PRODUCT, "version": __version__, "digests": view.digests}
    return Shown([f"{PRODUCT} {__version__}", *render.digests(view, seat.style)], fields)


def _health(seat: Seat, _arguments: Arguments) -> Shown:
    view = seat.desk.view()
    return Shown(render.health(view, seat.style), {"health": view.health, "journal": view.journal})


def _profile(seat: Seat, _arguments: Arguments) -> Shown:
    view = seat.desk.view()
    return Shown(render.profile(view, seat.style), {"profile": view.profile, "marks": view.marks})


LOOKS: dict[str, Look] = {
    "status": _status,
    "faults": _part(render.faults, "faults"),
    "lamps": _part(render.lamps, "lamps"),
    "motor": _part(render.motor, "motor"),
    "camera": _part(render.camera, "camera"),
    "camera snap": lambda seat, _arguments: seat.desk.snap(),
    "dice": _part(render.dice_set, "dice"),
    "journal last": _journal,
    "round": _round,
    "inspection": _part(render.inspection, "inspection"),
    "profile": _profile,
    "digests": _digests,
    "health": _health,
    "statistics": _statistics,
    "meters": _meters,
    "log bundle": lambda seat, _arguments: seat.desk.bundle(),
    "export": lambda seat, _arguments: seat.desk.export(),
}
