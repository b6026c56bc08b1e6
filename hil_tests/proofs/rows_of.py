"""Which rows tables of a text can take, over all choices that the text leaves to the house.

Owns the choices that are tried. A row counts as taken unless the rules alone rule it out: a guard
that looks at nothing but the rules fails, or no row that is taken leads to its phases.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

from shaker_ctl.errors import SettingsError
from shaker_ctl.rules.events import TimerExpired
from shaker_ctl.rules.machine import ROWS
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.phases import timer_of
from shaker_ctl.rules.regulation import EntryMode
from shaker_ctl.rules.row import Context, Guard, Row
from shaker_ctl.rules.rulebook import Rulebook, rulebook
from shaker_ctl.rules.state import Phase

APPROVAL = "a letter of 2026-01-15"
SWITCHES = (
    *("cover_fitted", "cover_driven", "player_activated"),
    *("attended", "autonomous", "dice_by_two"),
)


class _OnlyManual:
    """A state of which nothing is known but which shaker is in use."""

    def __init__(self, manual: bool) -> None:
        self.manual = manual


@cache
def rows_of(text: str, approval: str = "") -> frozenset[Row]:
    """Return the rows that some table takes which keeps this text, without or with an approval."""
    found: set[Row] = set()
    for rules in _tables(text, approval):
        found |= _taken(rules)
    return frozenset(found)


def _tables(text: str, approval: str) -> Iterator[Rulebook]:
    """Yield the rules of every table that the text lets a house set up."""
    for entry in (None, *EntryMode):
        for chosen in product((False, True), repeat=len(SWITCHES)):
            settings = dict(zip(SWITCHES, chosen, strict=True))
            try:
                yield rulebook(
                    TableParameters.model_validate(
                        {"profile": text, "approval": approval, "entry_mode": entry, **settings}
                    )
                )
            except SettingsError:
                continue


def _taken(rules: Rulebook) -> set[Row]:
    possible = [
        row
        for row in ROWS
        if any(all(_may_hold(guard, rules, manual) for guard in row.when) for manual in (0, 1))
    ]
    phases, taken = {Phase.INSPECTION_DUE}, set[Row]()
    while more := {
        row
        for row in possible
        if row not in taken and any(_has_timer(row, phase, rules) for phase in row.phases & phases)
    }:
        taken |= more
        phases |= {row.to for row in more if row.to is not None}
    return taken


def _has_timer(row: Row, phase: Phase, rules: Rulebook) -> bool:
    """False where a row is for a timer, and the phase starts none."""
    return row.on is not TimerExpired or any(
        timer_of(phase, rules.in_use(manual=manual)) for manual in (False, True)
    )


def _may_hold(guard: Guard, rules: Rulebook, manual: int) -> bool:
    context = Context(_OnlyManual(bool(manual)), None, rules.in_use(manual=bool(manual)))  # type: ignore[arg-type]
    try:
        return guard.holds(context)
    except AttributeError:  # it looks at more than the rules
        return True
