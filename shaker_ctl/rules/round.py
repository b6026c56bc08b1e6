"""A round of play: bets, no more bets, multipliers, the hand that starts, the result, the lamps.

Owns the rows of a round outside of the shaker's own phases (`toss`). Two orders of play:

*activate*: bets open → no more bets → [multipliers] → activation → toss → rest → read.
*reveal*: bets open → activation → cover closed → toss → settled, bets still open → no more bets →
[multipliers] → reveal → rest → read.

Then in both: the values stand (verified, confirmed, entered or decided) → lamps pushed and read
back → losing wagers collected → winning wagers paid → lamps cleared. The next round never starts
with lamps lit.
"""

from __future__ import annotations

from shaker_ctl.rules import effects as fx
from shaker_ctl.rules import events as ev
from shaker_ctl.rules import guards as g
from shaker_ctl.rules import phases as ph
from shaker_ctl.rules.citations import BROKEN, ENDED
from shaker_ctl.rules.phases import P, phases
from shaker_ctl.rules.row import Act, Guard, Note, Row
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.toss import END, REVEAL_AGAIN, START_READING
from shaker_ctl.rules.vocabulary import (
    Cause,
    Ending,
    FaultKind,
    Notice,
    ShownPhase,
    Source,
)

BETS_OPEN = phases(P.BETTING, P.COVERED)
"""Bets are open: before activation, or under the cover after it."""

CORRECTABLE = ph.LIT | phases(P.SETTLING_BY_HAND, P.WITHOUT_RESULT)
"""A result stands, wagers are not settled by it yet, and a second person can be there."""

CLOSE_BETS = (
    fx.show(ShownPhase.NO_MORE_BETS),
    fx.announce(Notice.NO_MORE_BETS, "order.nmb_before"),
)

ENTERING = phases(P.AWAITING_DEALER, P.DISPUTED)
"""The dealer enters; until it is decided, who entered against the reading may put it right."""

AWAIT_DEALER = fx.show(ShownPhase.AWAITING_DEALER)

before_activation = g.bets_close_before_activation
before_reveal = g.negated(
    g.bets_close_before_activation, "at this table the dealer calls no more bets first"
)


def _no_more_bets(
    name: str, at: Phase, on: type[ev.Event], when: tuple[Guard, ...]
) -> tuple[Row, Row]:
    cites = "order.nmb_before"
    return (
        # after "no more bets" and before the result a random multiplier may be applied (625b)
        Row(
            f"{name}, multipliers are drawn",
            phases(at),
            on,
            "multipliers.when",
            (*when, g.with_multipliers),
            P.DRAWING_MULTIPLIERS,
            do=(*CLOSE_BETS, fx.draw_multipliers),
        ),
        Row(name, phases(at), on, cites, when, P.NO_MORE_BETS, do=CLOSE_BETS),
    )


def _activation(
    name: str, on: type[ev.Event] | None, cites: str, when: tuple[Guard, ...]
) -> tuple[Row, Row]:
    when = (*when, before_activation)
    return (
        Row(
            f"{name}, cover first",
            phases(P.NO_MORE_BETS),
            on,
            cites,
            (*when, g.covered),
            P.COVERING,
            do=(fx.note_poses, fx.close_cover, fx.announce(Notice.COVER, "cover.interlock")),
        ),
        Row(
            name,
            phases(P.NO_MORE_BETS),
            on,
            cites,
            when,
            P.PLANNING,
            do=(fx.note_poses, fx.draw_toss_plan),
        ),
    )


READ_BY_EYE = (fx.uncover, fx.light_on, fx.announce(Notice.ENTER, "interruption.after_toss"))

FIRST_WORD = (
    *(g.of_this_round, g.may_be_vouched_for, g.stayed_in_view, g.may_say_in_view, g.says_anew),
)
SECOND_WORD = (g.of_this_round, g.stayed_in_view, g.second_of_two)
NOT_STAYED = g.negated(g.stayed_in_view, "the compartment stayed in view")
NOT_IN_VIEW = (g.of_this_round, NOT_STAYED, g.may_deny)

ODDS_NOT_SHOWN = "odds-not-shown"
"""Fault of a multiplier display that was not proved to show what it was told."""


def _no_multipliers(
    name: str,
    at: Phase,
    on: type[ev.Event],
    when: tuple[Guard, ...],
    notes: tuple[Note, ...] = (),
    first: tuple[Act, ...] = (),
) -> Row:
    told = fx.announce(Notice.NO_MULTIPLIERS, "multipliers.when")
    return Row(
        name,
        phases(at),
        on,
        "multipliers.when",
        when,
        P.NO_MORE_BETS,
        notes,
        (*first, told),
    )


def _not_proved(name: str, on: type[ev.Event], when: tuple[Guard, ...]) -> Row:
    """A display failed: the round is played without multipliers, then the table stops."""
    return _no_multipliers(
        f"{name}: none in force, and the table stops after the round",
        P.SHOWING_MULTIPLIERS,
        on,
        when,
        (fx.broken(FaultKind.CONTROLLER),),
        (fx.hide_multipliers, fx.raise_fault(FaultKind.CONTROLLER, ODDS_NOT_SHOWN)),
    )


ROWS: tuple[Row, ...] = (
    # ── bets ──
    # "no more bets" comes before the reveal, or before activation where nothing hides the dice
    *_no_more_bets(
        "no more bets, called before activation",
        P.BETTING,
        ev.NoMoreBetsCalled,
        (g.dealer_or_above, g.of_this_round, before_activation),
    ),
    *_no_more_bets(
        "no more bets, by the clock, before activation",
        P.BETTING,
        ev.TimerExpired,
        (g.of_this_phase, g.of_this),
    ),
    *_no_more_bets(
        "no more bets, called before the reveal",
        P.COVERED,
        ev.NoMoreBetsCalled,
        (g.dealer_or_above, g.of_this_round),
    ),
    *_no_more_bets(
        "no more bets, by the clock, before the reveal",
        P.COVERED,
        ev.TimerExpired,
        (g.of_this_phase, g.of_this),
    ),
    # the dealer activates the shaker, to cause a random mixture of the dice
    Row(
        "activated at the commencement of the round",
        phases(P.BETTING),
        ev.ActivationRequested,
        "activation.by_dealer",
        when=(g.dealer_or_above, g.of_this_round, before_reveal),
        to=P.COVERING,
        do=(fx.note_poses, fx.close_cover, fx.announce(Notice.COVER, "cover.interlock")),
    ),
    # who paces is the text's word: a table does so by itself only with a named approval
    Row(
        "activates itself at the commencement of the round",
        phases(P.BETTING),
        None,
        "pacing.by_table",
        when=(g.autonomous, before_reveal),
        to=P.COVERING,
        do=(fx.note_poses, fx.close_cover, fx.announce(Notice.COVER, "cover.interlock")),
    ),
    # ── multipliers ──
    # after "no more bets" and before the result a random multiplier may be applied (625b)
    Row(
        "multipliers drawn",
        phases(P.DRAWING_MULTIPLIERS),
        ev.MultipliersDrawn,
        "multipliers.when",
        when=(g.of_this, g.lawful_multipliers, g.any_multiplier),
        to=P.SHOWING_MULTIPLIERS,
        notes=(fx.multipliers_drawn,),
        do=(fx.show_multipliers,),
    ),
    _no_multipliers(
        "no position was drawn",
        P.DRAWING_MULTIPLIERS,
        ev.MultipliersDrawn,
        (g.of_this, g.lawful_multipliers),
    ),
    _no_multipliers(
        "nothing drawn in time: none in force",
        P.DRAWING_MULTIPLIERS,
        ev.TimerExpired,
        (g.of_this_phase, g.of_this),
    ),
    Row(
        "multipliers shown: in force",
        phases(P.SHOWING_MULTIPLIERS),
        ev.MultipliersShown,
        "multipliers.when",
        when=(g.of_this,),
        to=P.NO_MORE_BETS,
        notes=(fx.multipliers_in_force,),
        do=(fx.announce(Notice.MULTIPLIERS, "multipliers.when"),),
    ),
    _not_proved("display not proved", ev.MultipliersNotShown, (g.of_this,)),
    _not_proved("display not proved in time", ev.TimerExpired, (g.of_this_phase, g.of_this)),
    Row(
        "revealed while multipliers were being drawn or shown: none in force",
        phases(P.DRAWING_MULTIPLIERS, P.SHOWING_MULTIPLIERS),
        ev.CoverOpened,
        "multipliers.when",
        when=(before_reveal,),
        to=P.COMING_TO_REST,
        notes=(fx.sets("cover_closed", False),),
        do=(
            fx.hide_multipliers,
            fx.announce(Notice.NO_MULTIPLIERS, "multipliers.when"),
            *START_READING,
        ),
    ),
    # ── the hand that starts, or reveals ──
    # the dealer activates the shaker, to cause a random mixture of the dice
    *_activation(
        "activated by the dealer",
        ev.ActivationRequested,
        "activation.by_dealer",
        (g.dealer_or_above, g.of_this_round),
    ),
    # a selected player may activate a player-activated shaker, after "no more bets"
    *_activation(
        "activated by the player",
        ev.PlayerPressed,
        "activation.by_player",
        (g.of_this_round, g.player_activated),
    ),
    *_activation(
        "the player did not press in time",
        ev.TimerExpired,
        "activation.by_player",
        (g.of_this_phase, g.of_this),
    ),
    # who paces is the text's word: a table does so by itself only with a named approval
    *_activation(
        "activates itself",
        None,
        "pacing.by_table",
        (g.autonomous, g.negated(g.player_activated, "at this table a player starts the shaker")),
    ),
    # the dealer removes the cover, announces each value and enters it
    Row(
        "the dealer reveals",
        phases(P.NO_MORE_BETS),
        ev.RevealRequested,
        "entry.announce",
        when=(g.dealer_or_above, g.of_this_round, before_reveal),
        to=P.REVEALING,
        do=(fx.open_cover, fx.announce(Notice.REVEAL, "entry.announce")),
    ),
    # who paces is the text's word: a table does so by itself only with a named approval
    Row(
        "reveals by itself",
        phases(P.NO_MORE_BETS),
        None,
        "pacing.by_table",
        when=(g.autonomous, before_reveal),
        to=P.REVEALING,
        do=(fx.open_cover, fx.announce(Notice.REVEAL, "entry.announce")),
    ),
    Row(
        "revealed by hand",
        phases(P.NO_MORE_BETS),
        ev.CoverOpened,
        "entry.announce",
        when=(before_reveal,),
        to=P.COMING_TO_REST,
        notes=(fx.sets("cover_closed", False),),
        do=START_READING,
    ),
    # ── the reading is in: who acts on it? ──
    # the texts have the dealer enter: a table that enters by itself needs an approval
    Row(
        "verified, entered by the table itself",
        phases(P.READ),
        None,
        "entry.auto_needs_approval",
        when=(g.enters_by_itself, g.read_verified),
        to=P.DECIDED,
        notes=(fx.values_from(Source.VERIFIED),),
    ),
    # not all three dice flat: the dealer calls "no roll", wagers are returned (ma: silent)
    Row(
        "no roll, called by the table itself",
        phases(P.READ),
        None,
        "no_roll.wagers",
        when=(g.enters_by_itself, g.read_no_roll),
        to=P.WITHOUT_RESULT,
        notes=(fx.ends(Ending.NO_ROLL, Cause.NOT_FLAT),),
        do=END,
    ),
    # with nobody to read, only void is safe
    Row(
        "unreadable with nobody to read: void",
        phases(P.READ),
        None,
        "reader_fault.unattended",
        when=(g.nobody_may_read,),
        to=P.WITHOUT_RESULT,
        notes=(fx.ends(Ending.VOID, Cause.READER),),
        do=END,
    ),
    # the dealer enters each value; repeating what was read is entering it
    Row(
        "verified: the dealer is to confirm",
        phases(P.READ),
        None,
        "entry.mode",
        when=(g.dealer_confirms, g.read_verified),
        to=P.AWAITING_DEALER,
        do=(AWAIT_DEALER, fx.announce_values(Notice.CONFIRM, "entry.mode")),
    ),
    # the device failed after the toss: the dealer reads in the presence of a floorperson or above
    # (ma: supervisor)
    Row(
        "interrupted, and not verified: who is present?",
        phases(P.READ),
        None,
        "lamp_fault.presence",
        when=(g.interrupted, g.negated(g.read_verified, "the values were verified")),
        to=P.INTERRUPTED,
        do=(AWAIT_DEALER, fx.announce(Notice.READ_IN_PRESENCE, "lamp_fault.presence")),
    ),
    # no clause speaks of a reader: three flat dice stand, and the dealer enters them by eye
    Row(
        "the reader sees a die that is not flat: the dealer looks",
        phases(P.READ),
        None,
        "no_roll.wagers",
        when=(g.dealer_confirms, g.read_no_roll),
        to=P.AWAITING_DEALER,
        do=(AWAIT_DEALER, fx.announce(Notice.NOT_FLAT, "no_roll.wagers")),
    ),
    Row(
        "the dealer is to read by eye",
        phases(P.READ),
        None,
        "reader_fault.attended",
        to=P.AWAITING_DEALER,
        do=(AWAIT_DEALER, fx.announce(Notice.ENTER, "reader_fault.attended")),
    ),
    # ── interrupted after the toss: did the lid stay shut, and who is present? ──
    # the device fails after the toss: settled in the presence of a floorperson or above (ma:
    # supervisor), in which the dealer also reads
    Row(
        "the required person is present: the dealer reads",
        phases(P.INTERRUPTED),
        ev.PresenceGiven,
        "lamp_fault.presence",
        when=(g.may_be_present, g.of_this_round, g.lid_stayed_shut),
        to=P.AWAITING_DEALER,
        notes=(fx.witness_named,),
        do=READ_BY_EYE,
    ),
    # the device failed after the toss: what was properly tossed is read, if it lies as it fell
    Row(
        "both say that it stayed in view, under its cover: reveal",
        phases(P.INTERRUPTED),
        ev.CompartmentWatched,
        "interruption.after_toss",
        when=(*SECOND_WORD, g.nobody_else_denies, g.dice_hidden),
        to=P.REVEALING,
        notes=(fx.dice_kept, fx.read_again),
        do=REVEAL_AGAIN,
    ),
    Row(
        "both say that it stayed in view: the dealer reads",
        phases(P.INTERRUPTED),
        ev.CompartmentWatched,
        "interruption.after_toss",
        when=(*SECOND_WORD, g.nobody_else_denies),
        to=P.AWAITING_DEALER,
        notes=(fx.dice_kept, fx.witness_present),
        do=READ_BY_EYE,
    ),
    Row(
        "one says that it stayed in view",
        phases(P.INTERRUPTED),
        ev.CompartmentWatched,
        "interruption.after_toss",
        when=(
            *FIRST_WORD,
            g.negated(g.second_of_two, "another person denies it: that one takes it back first"),
        ),
        notes=(fx.first_word,),
        do=(fx.announce(Notice.IN_VIEW, "interruption.after_toss"),),
    ),
    Row(
        "the required person says that it did not stay in view, and it was said before: void",
        phases(P.INTERRUPTED),
        ev.CompartmentWatched,
        "interruption.after_toss",
        when=(*NOT_IN_VIEW, g.denied_before, g.may_be_present),
        to=P.WITHOUT_RESULT,
        notes=(fx.ends(Ending.VOID, Cause.INTERRUPTED),),
        do=END,
    ),
    Row(
        "one says that it did not stay in view: once more by the required person, and it is void",
        phases(P.INTERRUPTED),
        ev.CompartmentWatched,
        "interruption.after_toss",
        when=NOT_IN_VIEW,
        notes=(fx.denied,),
        do=(fx.announce(Notice.NOT_IN_VIEW, "interruption.after_toss"),),
    ),
    # ── the dealer ──
    # the dealer enters each value; repeating what was read is entering it
    Row(
        "confirmed",
        phases(P.AWAITING_DEALER),
        ev.ValuesConfirmed,
        "entry.mode",
        when=(g.who_enters, g.of_this_round, g.dealer_confirms, g.repeats_reading),
        to=P.DECIDED,
        notes=(fx.values_from(Source.CONFIRMED),),
    ),
    # the dealer removes the cover, announces each value and enters it
    Row(
        "entered as read",
        ENTERING,
        ev.ValuesEntered,
        "entry.announce",
        when=(g.who_enters, g.of_this_round, g.own_entry, g.repeats_reading),
        to=P.DECIDED,
        notes=(fx.values_from(Source.CONFIRMED),),
    ),
    # no clause speaks of a reader: three flat dice stand, and the dealer enters them by eye
    Row(
        "entered by eye, twice the same, where nothing was read",
        phases(P.AWAITING_DEALER),
        ev.ValuesEntered,
        "reader_fault.attended",
        when=(g.who_enters, g.of_this_round, g.typed_twice),
        to=P.DECIDED,
        notes=(fx.values_from(Source.ENTERED),),
    ),
    Row(
        "entered by eye where nothing was read: once more",
        phases(P.AWAITING_DEALER),
        ev.ValuesEntered,
        "reader_fault.attended",
        when=(g.who_enters, g.of_this_round, g.read_nothing, g.possible_values),
        notes=(fx.typed_once,),
        do=(fx.announce_typed,),
    ),
    # no clause says who decides where dealer and reader differ: the person above the dealer does;
    # until then the dealer, whose duty the entry is, may put it right
    Row(
        "entered otherwise than read: the floorperson decides",
        ENTERING,
        ev.ValuesEntered,
        "entry.dispute",
        when=(g.who_enters, g.of_this_round, g.own_entry, g.possible_values),
        to=P.DISPUTED,
        notes=(fx.entry_disputed,),
        do=(fx.announce(Notice.DISPUTE, "entry.announce"),),
    ),
    Row(
        "no roll called against a verified reading: the floorperson decides",
        ENTERING,
        ev.NoRollCalled,
        "entry.dispute",
        when=(g.who_enters, g.of_this_round, g.own_entry, g.read_verified),
        to=P.DISPUTED,
        notes=(fx.entry_disputed,),
        do=(fx.announce(Notice.DISPUTE, "no_roll.wagers"),),
    ),
    # not all three dice flat: the dealer calls "no roll", wagers are returned (ma: silent)
    Row(
        "no roll called",
        ENTERING,
        ev.NoRollCalled,
        "no_roll.wagers",
        when=(g.who_enters, g.of_this_round, g.own_entry),
        to=P.WITHOUT_RESULT,
        notes=(fx.no_roll_from(Source.ENTERED),),
        do=END,
    ),
    Row(
        "the floorperson decides on values",
        phases(P.DISPUTED),
        ev.DisputeDecided,
        "entry.dispute",
        when=(
            *(g.in_charge, g.of_this_round, g.another_decides),
            *(g.was_named, g.shown_as_they_fell, g.decided_in_presence),
        ),
        to=P.DECIDED,
        notes=(fx.values_from(Source.DECIDED),),
    ),
    Row(
        "the floorperson decides on no roll",
        phases(P.DISPUTED),
        ev.DisputeDecided,
        "entry.dispute",
        when=(
            *(g.in_charge, g.of_this_round, g.another_decides),
            *(g.decides_no_roll, g.no_roll_named, g.decided_in_presence),
        ),
        to=P.WITHOUT_RESULT,
        notes=(fx.no_roll_from(Source.DECIDED),),
        do=END,
    ),
    Row(
        "the floorperson upholds neither result, and nobody named a no roll: void",
        phases(P.DISPUTED),
        ev.DisputeDecided,
        "entry.dispute",
        when=(
            *(g.in_charge, g.of_this_round, g.another_decides),
            *(g.decides_no_roll, g.decided_in_presence),
        ),
        to=P.WITHOUT_RESULT,
        notes=(fx.ends(Ending.VOID, Cause.UNDECIDED),),
        do=END,
    ),
    # the device failed after the toss: settled before a floorperson or above (ma: supervisor)
    Row(
        "another person is present in the place of the first",
        phases(P.AWAITING_DEALER, P.SETTLING_BY_HAND),
        ev.PresenceGiven,
        "lamp_fault.presence",
        when=(g.may_be_present, g.of_this_round, g.in_presence),
        notes=(fx.witness_named,),
    ),
    # ── a person typed wrongly: another result, by two persons, before wagers are settled ──
    # the device failed after the toss: what was properly tossed is read, if it lies as it fell
    Row(
        "both say that it stayed in view: what was typed may be put right",
        CORRECTABLE,
        ev.CompartmentWatched,
        "interruption.after_toss",
        when=SECOND_WORD,
        notes=(fx.dice_kept, fx.nothing_named),
    ),
    Row(
        "one takes back that it stayed in view",
        CORRECTABLE,
        ev.CompartmentWatched,
        "interruption.after_toss",
        when=(g.of_this_round, NOT_STAYED, g.own_word),
        notes=(fx.taken_back,),
    ),
    Row(
        "one says that it stayed in view: what was typed may have to be put right",
        CORRECTABLE,
        ev.CompartmentWatched,
        "interruption.after_toss",
        when=(*FIRST_WORD, g.on_a_persons_word, g.not_corrected),
        notes=(fx.first_word,),
        do=(fx.announce(Notice.IN_VIEW, "interruption.after_toss"),),
    ),
    # wagers are settled by the value that shows on each die, not by what was typed
    Row(
        "the dealer names another result than was typed",
        CORRECTABLE,
        ev.CorrectionNamed,
        "entry.correction",
        when=(
            *(g.the_dealer, g.of_this_round, g.on_a_persons_word),
            *(g.not_corrected, g.as_they_fell, g.another_result),
        ),
        notes=(fx.correction_named,),
        do=(fx.announce_named,),
    ),
    Row(
        "a second person agrees: other values stand",
        CORRECTABLE,
        ev.CorrectionAgreed,
        "entry.correction",
        when=(g.in_charge, g.of_this_round, g.as_named_by_another, g.decides_values),
        to=P.DECIDED,
        notes=(fx.corrected,),
        do=(fx.announce_values(Notice.CORRECTED, "entry.correction"),),
    ),
    Row(
        "a second person agrees: no roll",
        CORRECTABLE,
        ev.CorrectionAgreed,
        "entry.correction",
        when=(g.in_charge, g.of_this_round, g.as_named_by_another),
        to=P.WITHOUT_RESULT,
        notes=(fx.corrected, fx.lamps_unknown),
        do=(fx.clear_lamps, fx.announce(Notice.CORRECTED, "entry.correction"), *END),
    ),
    # ── the values stand ──
    # the device fails after the toss: settled before a floorperson or above (ma: supervisor)
    Row(
        "the lamps are known to be broken: settle by hand",
        phases(P.DECIDED),
        None,
        "lamp_fault.presence",
        when=(g.lamps_broken,),
        to=P.AWAITING_PRESENCE,
        notes=(fx.by_hand,),
        do=(
            fx.announce_values(Notice.RESULT, "lamp_fault.presence"),
            fx.show(ShownPhase.FAULT),
            fx.announce(Notice.PRESENCE, "lamp_fault.presence"),
        ),
    ),
    # wagers are settled when the dice rest and their values are entered and illuminated
    Row(
        "illuminate the winning combinations",
        phases(P.DECIDED),
        None,
        "entry.settled_when",
        to=P.PUSHING,
        notes=(fx.lamps_unknown,),
        do=(
            fx.announce_values(Notice.RESULT, "entry.announce"),
            fx.show(ShownPhase.RESULT),
            fx.clear_first_result,
            fx.odds_over_correction,
            fx.push_lamps,
        ),
    ),
    # losing wagers are collected first, then winning wagers paid
    Row(
        "illuminated: collect losing wagers",
        phases(P.PUSHING),
        ev.LampsShown,
        "settling.order",
        when=(g.of_this, g.same_values),
        to=P.COLLECTING,
        notes=(fx.lamps_lit,),
    ),
    Row(
        "illuminated again after a restart",
        phases(P.SETTLED_LIT),
        ev.LampsShown,
        "settling.order",
        when=(g.of_this, g.same_values),
        notes=(fx.lamps_lit,),
    ),
    Row(
        "collected: pay winning wagers",
        phases(P.COLLECTING),
        ev.TimerExpired,
        "settling.order",
        when=(g.of_this_phase, g.of_this),
        to=P.PAYING,
    ),
    Row(
        "collected and paid, says the dealer",
        phases(P.COLLECTING),
        ev.WagersSettled,
        "settling.order",
        when=(g.dealer_or_above, g.of_this_round, g.people_settle, g.another_settles),
        to=P.SETTLED_LIT,
        notes=(fx.nothing_open,),
    ),
    # when all is collected and paid, the dealer clears the lit combinations
    Row(
        "paid: clear",
        phases(P.PAYING),
        ev.TimerExpired,
        "settling.clear",
        when=(g.of_this_phase, g.of_this),
        to=P.CLEARING,
        notes=(fx.nothing_open, fx.lamps_unknown),
        do=(fx.clear_lamps,),
    ),
    Row(
        "the dealer clears",
        phases(P.SETTLED_LIT),
        ev.LampsOffRequested,
        "settling.clear",
        when=(g.dealer_or_above, g.of_this_round),
        to=P.CLEARING,
        notes=(fx.lamps_unknown,),
        do=(fx.clear_lamps,),
    ),
    Row(
        "cleared",
        phases(P.CLEARING),
        ev.LampsDark,
        "settling.clear",
        when=(g.of_this,),
        to=P.ROUND_OVER,
        notes=(fx.lamps_dark,),
        do=(fx.hide_multipliers, fx.record_round),
    ),
    # the device shows multiplied wagers and their odds (625b): shown again, and not proved
    Row(
        "a display in force fails: the odds stand, and the table stops after the round",
        ph.IN_ROUND - phases(P.DRAWING_MULTIPLIERS, P.SHOWING_MULTIPLIERS),
        ev.MultipliersNotShown,
        "multipliers.displays",
        when=(g.of_this, g.multipliers_in_force),
        notes=(fx.broken(FaultKind.CONTROLLER),),
        do=(fx.raise_fault(FaultKind.CONTROLLER, ODDS_NOT_SHOWN),),
    ),
    # ── settling by hand, and without a result ──
    # the device fails after the toss: settled before a floorperson or above (ma: supervisor)
    Row(
        "the required person is present",
        phases(P.AWAITING_PRESENCE),
        ev.PresenceGiven,
        "lamp_fault.presence",
        when=(g.may_be_present, g.of_this_round),
        to=P.SETTLING_BY_HAND,
        notes=(fx.witness_named,),
        do=(
            fx.show(ShownPhase.SETTLE_BY_HAND),
            fx.announce_won(Notice.SETTLE_BY_HAND, "lamp_fault.presence"),
        ),
    ),
    Row(
        "settled by hand",
        phases(P.SETTLING_BY_HAND),
        ev.WagersSettled,
        "lamp_fault.presence",
        when=(g.dealer_or_above, g.of_this_round, g.another_settles),
        to=P.ROUND_OVER,
        do=(fx.hide_multipliers, fx.record_round),
    ),
    # losing wagers are collected first, then winning wagers paid
    Row(
        "no result: wagers dealt with",
        phases(P.WITHOUT_RESULT),
        ev.WagersSettled,
        ENDED,
        when=(g.dealer_or_above, g.of_this_round, g.another_settles),
        to=P.ROUND_OVER,
        do=(fx.hide_multipliers, fx.record_round),
    ),
    Row(
        "no result: time to take wagers back is over",
        phases(P.WITHOUT_RESULT),
        ev.TimerExpired,
        ENDED,
        when=(g.of_this_phase, g.of_this),
        to=P.ROUND_OVER,
        do=(fx.hide_multipliers, fx.record_round),
    ),
    # when all is collected and paid, the dealer clears the lit combinations
    Row(
        "lamps proved dark later",
        ph.HAND_PHASES
        | ph.SHUT
        | ph.STOPPED
        | ph.BETS_CLOSED
        | ph.STANDING
        | phases(P.WITHOUT_RESULT, P.COVERED, P.INTERRUPTED, P.AWAITING_DEALER, P.DISPUTED),
        ev.LampsDark,
        "settling.clear",
        when=(g.of_this,),
        notes=(fx.lamps_dark,),
    ),
    # ── what follows ──
    # once wagers are settled all gaming ceases until the device is fixed
    Row(
        "something is broken: all gaming ceases",
        phases(P.ROUND_OVER),
        None,
        BROKEN,
        when=(g.negated(g.nothing_broken, "nothing is broken"),),
        to=P.OUT_OF_SERVICE,
        notes=(fx.round_forgotten, fx.nothing_passed),
        do=(
            fx.show(ShownPhase.OUT_OF_SERVICE),
            fx.announce(Notice.OUT_OF_SERVICE),
            fx.ask_same_dice,
        ),
    ),
    # inspected before opening: what has changed since is no longer what was inspected
    Row(
        "an inspection has become due",
        phases(P.ROUND_OVER),
        None,
        "opening_inspection.due_again",
        when=(g.inspection_follows,),
        to=P.INSPECTION_DUE,
        notes=(fx.round_forgotten, fx.nothing_passed),
        do=(
            fx.show(ShownPhase.CLOSED),
            fx.announce(Notice.INSPECTION_DUE, "opening_inspection.due_again"),
            fx.ask_same_dice,
        ),
    ),
    Row(
        "the table closes",
        phases(P.ROUND_OVER),
        None,
        "house: the table is closed",
        when=(g.closing_follows,),
        to=P.CLOSED,
        notes=(fx.round_forgotten, fx.nothing_passed),
        do=(fx.show(ShownPhase.CLOSED), fx.announce(Notice.CLOSED)),
    ),
    # no text states a least length; Great Britain has one for unattended machines (O-20)
    Row(
        "on to the next round",
        phases(P.ROUND_OVER),
        None,
        "round.min_length_s",
        to=P.PACING,
        notes=(fx.round_forgotten,),
    ),
)
