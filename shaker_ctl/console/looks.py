"""The commands that only look: what each takes from the table and shows, in both voices.

Owns one row per read command. Must not know sessions; whoever calls has checked permission.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from shaker_ctl import __version__
from shaker_ctl.console import codes, machine, render
from shaker_ctl.console.arguments import Arguments
from shaker_ctl.console.desk import Desk, Parcel, TableView
from shaker_ctl.console.grammar import Refusal

PRODUCT = "shaker-ctl"


@dataclass(frozen=True, slots=True)
class Shown:
    """One look, ready to be said either way."""

    lines: render.Lines
    fields: Mapping[str, object]


Look = Callable[[Desk, Arguments, render.Style], Shown | Parcel | Refusal]

Page = Callable[[TableView, render.Style], render.Lines]


def _page(page: Page, fields: Callable[[TableView], Mapping[str, object]]) -> Look:
    def look(desk: Desk, _arguments: Arguments, style: render.Style) -> Shown:
        view = desk.view()
        return Shown(page(view, style), fields(view))

    return look


def _part(page: Page, name: str) -> Look:
    return _page(page, lambda view: {name: getattr(view, name)})


def _journal(desk: Desk, arguments: Arguments, _style: render.Style) -> Shown:
    count = arguments["count"]
    assert isinstance(count, int)
    records = desk.journal_last(count)
    return Shown(render.journal(records), {"records": records})


def _round(desk: Desk, arguments: Arguments, style: render.Style) -> Shown | Refusal:
    number = arguments["round"]
    assert isinstance(number, int)
    found = desk.round(number)
    if found is None:
        return Refusal(codes.NOTHING_THERE, f"there is no round {number} on record")
    return Shown(render.game_round(found, style), {"round": found})


def _statistics(desk: Desk, _arguments: Arguments, _style: render.Style) -> Shown:
    figures = desk.statistics()
    return Shown(render.figures(figures) or ["no outcomes yet"], {"statistics": figures})


def _version(_desk: Desk, _arguments: Arguments, _style: render.Style) -> Shown:
    return Shown([f"{PRODUCT} {__version__}"], {"product": PRODUCT, "version": __version__})


def _health(desk: Desk, _arguments: Arguments, style: render.Style) -> Shown:
    view = desk.view()
    return Shown(render.health(view, style), {"health": view.health, "journal": view.journal})


def _profile(desk: Desk, _arguments: Arguments, style: render.Style) -> Shown:
    view = desk.view()
    return Shown(render.profile(view, style), {"profile": view.profile, "marks": view.marks})


LOOKS: dict[str, Look] = {
    "status": _page(render.status, machine.brief),
    "faults": _part(render.faults, "faults"),
    "lamps": _part(render.lamps, "lamps"),
    "motor": _part(render.motor, "motor"),
    "camera": _part(render.camera, "camera"),
    "camera snap": lambda desk, _arguments, _style: desk.snap(),
    "dice": _part(render.dice_set, "dice"),
    "journal last": _journal,
    "round": _round,
    "inspection": _part(render.inspection, "inspection"),
    "profile": _profile,
    "digests": _part(render.digests, "digests"),
    "health": _health,
    "statistics": _statistics,
    "version": _version,
    "log bundle": lambda desk, _arguments, _style: desk.bundle(),
    "export": lambda desk, _arguments, _style: desk.export(),
}
