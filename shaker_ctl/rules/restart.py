"""After a restart: what becomes of the state that stands in the journal.

Owns the rows of `Restarted`. The old round is brought to its end first; then the inspection is
due, because a power-up makes one due. Motion is never performed again; a toss that was started and
has no recorded end is interrupted, and void. Lamps and multipliers are keyed by round and are
shown again.
"""

from __future__ import annotations

from shaker_ctl.rules import effects as fx
from shaker_ctl.rules import events as ev
from shaker_ctl.rules import guards as g
from shaker_ctl.rules import phases as ph
from shaker_ctl.rules.phases import P, Phases, phases
from shaker_ctl.rules.round import AWAIT_DEALER
from shaker_ctl.rules.row import Act, Guard, Note, Row
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.toss import END, REVEAL_AGAIN
from shaker_ctl.rules.vocabulary import Cause, Ending, Notice, ShownPhase

INSPECT_THEN: tuple[Note, ...] = (
    fx.contacts_as_read,
    fx.inspection_afterwards,
    fx.lamps_unknown,
    fx.nothing_named,
)
NO_VALUE_YET: tuple[Note, ...] = (*INSPECT_THEN, fx.interrupted)
"""If the reader fails, too, the dealer reads while another person is present."""
TO_BE_READ: Phases = phases(
    *(P.REVEALING, P.COMING_TO_REST, P.READING, P.INTERRUPTED, P.AWAITING_DEALER)
)
"""Revealed, or about to be, and no value yet."""
WITHOUT_VALUE: Phases = ph.AFTER_TOSS | ph.BETS_CLOSED
VOID_IT: tuple[Note, ...] = (*INSPECT_THEN, fx.ends(Ending.VOID, Cause.INTERRUPTED))
DARK_AND_OVER: tuple[Act, ...] = (fx.clear_lamps, *END)


def _row(
    name: str,
    at: Phases,
    cites: str,
    when: tuple[Guard, ...],
    to: Phase | None,
    notes: tuple[Note, ...],
    do: tuple[Act, ...],
) -> Row:
    return Row(f"restart: {name}", at, ev.Restarted, cites, when, to, notes, do)


ROWS: tuple[Row, ...] = (
    # ── no round in hand ──
    _row(
        "out of service as before",
        phases(P.OUT_OF_SERVICE),
        "O-9: powered off in fault, comes back in fault",
        (),
        P.OUT_OF_SERVICE,
        (fx.contacts_as_read, fx.lamps_unknown),
        (
            fx.clear_lamps,
            fx.show(ShownPhase.OUT_OF_SERVICE),
            fx.announce(Notice.OUT_OF_SERVICE),
            fx.ask_same_dice,
        ),
    ),
    # inspected before opening: what has changed since is no longer what was inspected
    _row(
        "inspection due",
        ph.SHUT | ph.STANDING | ph.INSPECTION | ph.TRIALS,
        "opening_inspection.due_again",
        (),
        P.INSPECTION_DUE,
        (fx.contacts_as_read, fx.nothing_passed, fx.lamps_unknown),
        (
            fx.stop_motor(Cause.INTERRUPTED),
            fx.clear_lamps,
            fx.show(ShownPhase.CLOSED),
            fx.announce(Notice.INSPECTION_DUE, "opening_inspection.due_again"),
            fx.ask_same_dice,
        ),
    ),
    # the shaker is operated three times, and the dice are seen to be properly tossed
    _row(
        "the interrupted cycle does not count",
        ph.SHAKER_IN_USE,
        "opening_inspection.cycles",
        (g.negated(g.in_play, "a round is in play"),),
        P.INSPECTION_DUE,
        (fx.contacts_as_read, fx.nothing_passed, fx.lamps_unknown),
        (
            fx.stop_motor(Cause.INTERRUPTED),
            fx.clear_lamps,
            fx.show(ShownPhase.CLOSED),
            fx.announce(Notice.INSPECTION_DUE, "opening_inspection.cycles"),
            fx.ask_same_dice,
        ),
    ),
    # ── before EN-on ──
    # stopped before the shaker was activated: nothing was played, wagers go back
    _row(
        "the toss had not begun",
        ph.BEFORE_TOSS | phases(P.BETTING),
        "not_started.wagers",
        (),
        P.WITHOUT_RESULT,
        (*INSPECT_THEN, fx.ends(Ending.NOT_STARTED, Cause.INTERRUPTED)),
        DARK_AND_OVER,
    ),
    _row(
        "bets were closed, the toss had not begun",
        ph.BETS_CLOSED,
        "not_started.wagers",
        (g.bets_close_before_activation,),
        P.WITHOUT_RESULT,
        (*INSPECT_THEN, fx.ends(Ending.NOT_STARTED, Cause.INTERRUPTED)),
        DARK_AND_OVER,
    ),
    # ── EN on, or possibly on ──
    # a toss that was broken into is no proper toss: void, as if the shaker had failed
    _row(
        "the toss was interrupted: void",
        ph.ENERGISED,
        "void.disturbed",
        (),
        P.WITHOUT_RESULT,
        VOID_IT,
        (fx.stop_motor(Cause.INTERRUPTED), *DARK_AND_OVER),
    ),
    # ── settled, no value ──
    # the device failed after the toss: what was properly tossed is read, if it lies as it fell
    _row(
        "settled under the cover, bets still open",
        phases(P.COVERED),
        "interruption.after_toss",
        (g.dealer_may_read_after_interruption, g.still_covered),
        P.COVERED,
        NO_VALUE_YET,
        (fx.light_off, fx.clear_lamps, fx.show(ShownPhase.BETS_OPEN)),
    ),
    _row(
        "the same multipliers are shown again",
        phases(P.SHOWING_MULTIPLIERS),
        "interruption.after_toss",
        (g.dealer_may_read_after_interruption, g.still_covered),
        P.SHOWING_MULTIPLIERS,
        NO_VALUE_YET,
        (fx.clear_lamps, fx.show(ShownPhase.NO_MORE_BETS), fx.show_multipliers),
    ),
    _row(
        "not drawn, or not shown before the dice could be seen: no multipliers",
        phases(P.DRAWING_MULTIPLIERS, P.SHOWING_MULTIPLIERS),
        "interruption.after_toss",
        (g.dealer_may_read_after_interruption,),
        P.NO_MORE_BETS,
        NO_VALUE_YET,
        (
            fx.clear_lamps,
            fx.hide_multipliers,
            fx.show(ShownPhase.NO_MORE_BETS),
            fx.announce(Notice.NO_MULTIPLIERS, "multipliers.when"),
        ),
    ),
    _row(
        "still to be revealed",
        phases(P.NO_MORE_BETS),
        "interruption.after_toss",
        (g.dealer_may_read_after_interruption,),
        P.NO_MORE_BETS,
        NO_VALUE_YET,
        (fx.clear_lamps, fx.show(ShownPhase.NO_MORE_BETS), fx.show_multipliers_again),
    ),
    # the dealer enters each value; repeating what was read is entering it
    _row(
        "verified, still to be confirmed",
        phases(P.AWAITING_DEALER),
        "entry.mode",
        (g.read_verified, g.dealer_confirms),
        P.AWAITING_DEALER,
        NO_VALUE_YET,
        (
            fx.clear_lamps,
            AWAIT_DEALER,
            fx.show_multipliers_again,
            fx.announce_values(Notice.CONFIRM, "entry.mode"),
        ),
    ),
    _row(
        "verified, still to be entered",
        phases(P.AWAITING_DEALER),
        "entry.mode",
        (g.read_verified,),
        P.AWAITING_DEALER,
        NO_VALUE_YET,
        (
            fx.clear_lamps,
            AWAIT_DEALER,
            fx.show_multipliers_again,
            fx.announce(Notice.ENTER, "entry.mode"),
        ),
    ),
    # the dealer removes the cover, announces each value and enters it
    _row(
        "covered, and not read: reveal again",
        TO_BE_READ,
        "interruption.after_toss",
        (
            *(g.dealer_may_read_after_interruption, g.by_machine),
            *(g.covered, g.still_covered),
            g.negated(g.read_no_roll, "the reader saw a die that does not lie flat"),
        ),
        P.REVEALING,
        (*NO_VALUE_YET, fx.read_again, fx.reveal_over),
        (
            fx.clear_lamps,
            fx.show(ShownPhase.NO_MORE_BETS),
            fx.show_multipliers_again,
            *REVEAL_AGAIN,
        ),
    ),
    # the device failed after the toss: the dealer reads in the presence of a floorperson or above
    # (ma: supervisor), what lies as it fell
    _row(
        "the dealer is to read: who is present?",
        TO_BE_READ,
        "lamp_fault.presence",
        (g.dealer_may_read_after_interruption,),
        P.INTERRUPTED,
        (*NO_VALUE_YET, fx.unread, fx.reveal_over),
        (
            fx.clear_lamps,
            AWAIT_DEALER,
            fx.show_multipliers_again,
            fx.announce(Notice.READ_IN_PRESENCE, "lamp_fault.presence"),
        ),
    ),
    # the device failed after the toss: what was properly tossed is read, if it lies as it fell
    _row(
        "dealer and floorperson are asked",
        ph.BETS_CLOSED | TO_BE_READ,
        "interruption.after_toss",
        (g.persons_may_say,),
        P.INTERRUPTED,
        (*NO_VALUE_YET, fx.unread, fx.reveal_over),
        (
            fx.clear_lamps,
            fx.multipliers_as_proved,
            AWAIT_DEALER,
            fx.announce(Notice.IN_VIEW, "interruption.after_toss"),
        ),
    ),
    _row(
        "settled without a value: void",
        WITHOUT_VALUE | phases(P.INTERRUPTED, P.AWAITING_DEALER),
        "interruption.after_toss",
        (),
        P.WITHOUT_RESULT,
        VOID_IT,
        DARK_AND_OVER,
    ),
    # ── a value is known ──
    # no clause says who decides where dealer and reader differ: the person above the dealer does
    _row(
        "still disputed",
        phases(P.DISPUTED),
        "entry.dispute",
        (),
        P.DISPUTED,
        NO_VALUE_YET,
        (
            fx.clear_lamps,
            AWAIT_DEALER,
            fx.show_multipliers_again,
            fx.announce(Notice.DISPUTE, "entry.announce"),
        ),
    ),
    _row(
        "the result is shown again",
        ph.LIT | phases(P.PUSHING),
        "O-13: shows the last legal result again",
        (),
        P.PUSHING,
        INSPECT_THEN,
        (
            fx.show(ShownPhase.RESULT),
            fx.show_multipliers_again,
            fx.announce_values(Notice.RESULT, "entry.announce"),
            fx.clear_first_result,
            fx.odds_over_correction,
            fx.push_lamps,
        ),
    ),
    _row(
        "all is paid, the result is shown again",
        phases(P.SETTLED_LIT),
        "O-13: shows the last legal result again",
        (),
        P.SETTLED_LIT,
        INSPECT_THEN,
        (
            fx.show(ShownPhase.RESULT),
            fx.show_multipliers_again,
            fx.announce_values(Notice.RESULT, "entry.announce"),
            fx.push_lamps,
        ),
    ),
    # when all is collected and paid, the dealer clears the lit combinations
    _row(
        "cleared again",
        phases(P.CLEARING),
        "settling.clear",
        (),
        P.CLEARING,
        INSPECT_THEN,
        (fx.clear_lamps,),
    ),
    # the device fails after the toss: settled before a floorperson or above (ma: supervisor)
    _row(
        "still to be settled by hand",
        ph.HAND_PHASES,
        "lamp_fault.presence",
        (),
        P.AWAITING_PRESENCE,
        INSPECT_THEN,
        (
            fx.clear_lamps,
            fx.show(ShownPhase.FAULT),
            fx.show_multipliers_again,
            fx.announce_values(Notice.RESULT, "lamp_fault.presence"),
            fx.announce(Notice.PRESENCE, "lamp_fault.presence"),
        ),
    ),
    # losing wagers are collected first, then winning wagers paid
    _row(
        "still without a result",
        phases(P.WITHOUT_RESULT),
        "settling.order",
        (),
        P.WITHOUT_RESULT,
        INSPECT_THEN,
        (fx.clear_lamps, *END),
    ),
)
