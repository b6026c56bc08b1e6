"""Mutants that nobody can tell from the rules as they are, each with the reason.

Owns the explanations, by the whole name of the mutant, so that none of them covers another one. A
survivor that is not named here is printed as not explained: then either a property is missing, or
the row does nothing.
"""

from __future__ import annotations

_NOBODY_NAMED = tuple(
    f"{row}: note `nothing_named` left out"
    for row in (
        "restart: the toss had not begun",
        "restart: bets were closed, the toss had not begun",
        "restart: the toss was interrupted: void",
        "restart: settled under the cover, bets still open",
        "restart: the same multipliers are shown again",
        "restart: not drawn, or not shown before the dice could be seen: no multipliers",
        "restart: still to be revealed",
        "restart: verified, still to be confirmed",
        "restart: verified, still to be entered",
        "restart: covered, and not read: reveal again",
        "restart: settled without a value: void",
        "restart: still disputed",
    )
)

_SETTLED = (
    "collected and paid, says the dealer: note `nothing_open` left out",
    "paid: clear: note `nothing_open` left out",
    "restart: all is paid, the result is shown again: note `nothing_named` left out",
    "restart: cleared again: note `nothing_named` left out",
)

EXPLAINED: dict[str, tuple[str, ...]] = {
    "another result is named once one stands, and here none does yet": _NOBODY_NAMED,
    "wagers are settled: what was named counts no more, and goes with the round": _SETTLED,
    "the lamps were told to change before, and are unknown since": (
        "restart: cleared again: note `lamps := unknown` left out",
        "lamps-silent at the result: settle by hand: note `lamps := unknown` left out",
    ),
    "the next cycle takes a new number, and forgets the last one then": (
        "good cycle: note `cycle_forgotten` left out",
        "bad cycle: the count restarts: note `cycle_forgotten` left out",
    ),
    "entries are forgotten whenever an inspection becomes due": (
        "inspection begins with the lamps: note `no_entry` left out",
    ),
    "a table that waits to be opened is shown closed already": (
        "open: the signature has aged, an inspection is due: act `show closed` left out",
    ),
    "with a manual shaker no part of an inspection passes by itself": (
        "automated shaker back at the table: note `nothing_passed` left out",
    ),
}
"""Reason to the mutants that survive for it."""


def why(name: str) -> str:
    """Return why the mutant of this name survives; "" where nobody has said."""
    return next((reason for reason, names in EXPLAINED.items() if name in names), "")
