"""Citations that follow the cause: what bars, what is broken, how a round ended.

Owns the clause of each cause, for rows that several causes lead to. Must not know the rows.
"""

from __future__ import annotations

from shaker_ctl.rules.effects import ENDING_KEYS, ending_key
from shaker_ctl.rules.row import ByCause
from shaker_ctl.rules.vocabulary import Barrier, FaultKind

UNTRUSTED = "clock: untrusted time starts nothing"

BARRED = ByCause(
    lambda c: c.state.barred,
    {
        Barrier.TIME_UNTRUSTED: UNTRUSTED,
        Barrier.CLOCK_SILENT: UNTRUSTED,
        Barrier.NOT_YET_IN_FORCE: "in_force.effective_from",
        Barrier.EXPIRED: "in_force.last_day",
        Barrier.DICE_UNKNOWN: "dice.number",
        Barrier.DICE_EXPIRED: "dice.automated",
        Barrier.DICE_AHEAD: "dice.automated",
        Barrier.DICE_IN_DOUBT: "dice.number",
        Barrier.SHIFT_INSPECTION_DUE: "shift_inspection.required",
        Barrier.INTERLOCK: "device: an interlock denies the round",
        Barrier.LAMPS_NOT_DARK: "device: lamps that are not proved dark deny the round",
    },
)
"""What bars a round has a clause of its own."""

MENDED = {
    FaultKind.LAMP: "lamp_fault.resume_when_fixed",
    FaultKind.SHAKER: "out_of_order.steps",
    FaultKind.READER: "reader_fault.attended",
    FaultKind.CONTROLLER: "O-10: disables itself on a fault of its own",
}
"""What each kind of fault asks for before play goes on; the gravest first."""

BROKEN = ByCause(
    lambda c: next((kind for kind in MENDED if kind in c.state.faults), None),
    {**MENDED, None: "house: a person took the table out of service"},
)

CLEARED = ByCause(lambda c: c.event.kind, MENDED)

ENDED = ByCause(ending_key, {key: key for key in ENDING_KEYS})
"""Wagers are dealt with as the round ended."""
