"""One toss, from the drawn plan to the reading; for rounds, inspection cycles and trials alike.

Owns the rows while the shaker is in use. The order is fixed: cover closed (where one is fitted),
plan drawn, lamps answered dark and healthy, EN on, settled by tachometer and time, revealed, rest
and movement proved by the camera, read. No value exists before the last of these.
"""

from __future__ import annotations

from shaker_ctl.rules import effects as fx
from shaker_ctl.rules import events as ev
from shaker_ctl.rules import guards as g
from shaker_ctl.rules.phases import P, phases
from shaker_ctl.rules.row import Row
from shaker_ctl.rules.vocabulary import Cause, Ending, FaultKind, Notice, ShownPhase

END = (fx.show_ending, fx.announce_ending)
"""Tell everybody that the round ends without a result, and what happens to the wagers."""

START_READING = (fx.light_on, fx.start_reading, fx.show_in_play(ShownPhase.READING))

REVEAL_AGAIN = (fx.light_off, fx.open_cover, fx.announce(Notice.REVEAL, "entry.announce"))
"""A cover is on over dice that nothing has read: it has to come off first."""

ROWS: tuple[Row, ...] = (
    # a cover hides the dice while the shaker is active (625a, md), or none may be there (ma, 539)
    Row(
        "covered",
        phases(P.COVERING),
        None,
        "cover.interlock",
        when=(g.cover_is_right,),
        to=P.PLANNING,
        do=(fx.light_off, fx.draw_toss_plan),
    ),
    Row(
        "uncovered before the toss: cover again",
        phases(P.PLANNING, P.PROVING_DARK),
        ev.CoverOpened,
        "cover.interlock",
        when=(g.covered,),
        to=P.COVERING,
        notes=(fx.sets("cover_closed", False),),
        do=(fx.close_cover, fx.announce(Notice.COVER, "cover.interlock")),
    ),
    # stopped before the shaker was activated: nothing was played, wagers go back
    Row(
        "the cover's contact does not close: the round does not start, then the table stops",
        phases(P.COVERING),
        ev.OutOfServiceRequested,
        "not_started.wagers",
        when=(g.technician_or_in_charge, g.in_play),
        to=P.WITHOUT_RESULT,
        notes=(fx.ends(Ending.NOT_STARTED, Cause.COVER), fx.broken(FaultKind.SHAKER)),
        do=(fx.raise_fault(FaultKind.SHAKER, "cover-stuck"), *END),
    ),
    # the dealer activates the shaker, to cause a random mixture of the dice
    Row(
        "shake drawn",
        phases(P.PLANNING),
        ev.TossPlanDrawn,
        "activation.by_dealer",
        when=(g.of_this, g.by_machine, g.still_admitted),
        to=P.PROVING_DARK,
        notes=(fx.plan_drawn,),
        do=(fx.prove_lamps_dark,),
    ),
    # the text governs on its days alone, and an untrusted clock starts nothing
    Row(
        "the text ended or the clock lost its trust while bets were open: the round does not start",
        phases(P.PLANNING),
        ev.TossPlanDrawn,
        "in_force.last_day",
        when=(g.of_this, g.by_machine, g.no_longer_in_force),
        to=P.WITHOUT_RESULT,
        notes=(fx.ends(Ending.NOT_STARTED, Cause.CLOCK),),
        do=END,
    ),
    # dice are used for 24 hours; locked in an automated shaker and compliant, for a month
    Row(
        "the dice grew too old while bets were open: the round does not start",
        phases(P.PLANNING),
        ev.TossPlanDrawn,
        "dice.automated",
        when=(g.of_this, g.by_machine),
        to=P.WITHOUT_RESULT,
        notes=(fx.ends(Ending.NOT_STARTED, Cause.DICE),),
        do=END,
    ),
    Row(
        "lamps answered dark and healthy: shake",
        phases(P.PROVING_DARK),
        ev.LampsProvedDark,
        "lamps answered within the last 500 ms before EN-on",
        when=(g.of_this, g.nothing_denies, g.cover_is_right),
        to=P.STARTING,
        notes=(fx.lamps_dark,),
        do=(fx.start_toss,),
    ),
    Row(
        "EN on",
        phases(P.STARTING),
        ev.TossStarted,
        "activation.by_dealer",
        when=(g.of_this,),
        to=P.TOSSING,
        notes=(fx.plan_used,),
        do=(fx.show_tossing,),
    ),
    Row(
        "EN stayed low, the lamps' answer was old: ask again",
        phases(P.STARTING),
        ev.TossNotStarted,
        "lamps answered within the last 500 ms before EN-on",
        when=(g.of_this, g.lamps_answer_was_old, g.nothing_broken),
        to=P.PROVING_DARK,
        notes=(fx.tried_again,),
        do=(fx.prove_lamps_dark,),
    ),
    # stopped before the shaker was activated: nothing was played, wagers go back
    Row(
        "EN stayed low: the round does not start",
        phases(P.STARTING),
        ev.TossNotStarted,
        "not_started.wagers",
        when=(g.of_this, g.in_play),
        to=P.WITHOUT_RESULT,
        notes=(fx.ends(Ending.NOT_STARTED, Cause.NOT_ENERGISED),),
        do=END,
    ),
    # the shaker is operated three times, and the dice are seen to be properly tossed
    Row(
        "EN stayed low: the inspection begins again",
        phases(P.STARTING),
        ev.TossNotStarted,
        "opening_inspection.cycles",
        when=(g.of_this,),
        to=P.INSPECTION_DUE,
        notes=(fx.nothing_passed,),
        do=(
            fx.show(ShownPhase.CLOSED),
            fx.announce(Notice.INSPECTION_DUE, "opening_inspection.cycles"),
        ),
    ),
    # "no more bets" comes before the reveal, or before activation where nothing hides the dice
    Row(
        "settled under the cover, bets still open",
        phases(P.TOSSING),
        ev.TossSettled,
        "order.nmb_before",
        when=(
            g.of_this,
            g.in_play,
            g.negated(
                g.bets_close_before_activation, "at this table the dealer calls no more bets first"
            ),
        ),
        to=P.COVERED,
    ),
    # the dealer removes the cover, announces each value and enters it
    Row(
        "settled under the cover: reveal",
        phases(P.TOSSING),
        ev.TossSettled,
        "entry.announce",
        when=(g.of_this, g.covered),
        to=P.REVEALING,
        do=(fx.open_cover, fx.announce(Notice.REVEAL, "entry.announce")),
    ),
    # wagers are settled when the dice rest and their values are entered and illuminated
    Row(
        "settled",
        phases(P.TOSSING),
        ev.TossSettled,
        "entry.settled_when",
        when=(g.of_this,),
        to=P.COMING_TO_REST,
        do=START_READING,
    ),
    Row(
        "revealed",
        phases(P.REVEALING),
        None,
        "entry.announce",
        when=(g.cover_is_open,),
        to=P.COMING_TO_REST,
        notes=(fx.reveal_over,),
        do=START_READING,
    ),
    # the dealer removes the cover: a stuck contact is no dead end, on two persons' word, in time
    Row(
        "the cover is off, say two persons, and its contact stuck: the dealer reads",
        phases(P.REVEALING),
        ev.RevealRequested,
        "reader_fault.attended",
        when=(g.of_this_round, g.reveal_overdue, g.another_says_uncovered),
        to=P.READ,
        notes=(
            fx.broken(FaultKind.SHAKER),
            fx.unreadable("the cover's contact is stuck"),
            fx.reveal_over,
        ),
        do=(fx.light_on, fx.raise_fault(FaultKind.SHAKER, "cover-stuck")),
    ),
    Row(
        "one says that the cover is off, and its contact stuck",
        phases(P.REVEALING),
        ev.RevealRequested,
        "reader_fault.attended",
        when=(
            *(g.of_this_round, g.in_play, g.reveal_overdue),
            *(g.may_say_in_view, g.says_anew),
        ),
        notes=(fx.first_word,),
        do=(fx.announce(Notice.REVEAL, "entry.announce"),),
    ),
    Row(
        "covered again before it was read: reveal",
        phases(P.COMING_TO_REST, P.READING),
        ev.CoverClosed,
        "entry.announce",
        when=(g.covered,),
        to=P.REVEALING,
        notes=(fx.sets("cover_closed", True),),
        do=(fx.stop_reading, *REVEAL_AGAIN),
    ),
    Row(
        "covered again before the dealer has read: reveal",
        phases(P.AWAITING_DEALER, P.INTERRUPTED),
        ev.CoverClosed,
        "entry.announce",
        when=(g.covered, g.read_nothing, g.lid_stayed_shut),
        to=P.REVEALING,
        notes=(fx.sets("cover_closed", True), fx.read_again),
        do=REVEAL_AGAIN,
    ),
    # no clause speaks of a reader: three flat dice stand, and the dealer enters them by eye
    Row(
        "settled, and no reader: the dealer reads (no picture proves the toss, O-21)",
        phases(P.COMING_TO_REST),
        None,
        "reader_fault.attended",
        when=(g.camera_off, g.negated(g.inspecting, "an inspection is under way")),
        to=P.READ,
        notes=(fx.unreadable("the reader is off"),),
        do=(fx.stop_reading,),
    ),
    # the shaker is operated three times, and the dice are seen to be properly tossed
    Row(
        "cycle settled, and no reader: was it properly tossed?",
        phases(P.COMING_TO_REST),
        None,
        "opening_inspection.cycles",
        when=(g.camera_off,),
        to=P.CYCLE_TO_BE_JUDGED,
        do=(fx.stop_reading, fx.announce(Notice.CYCLE_SEEN, "opening_inspection.cycles")),
    ),
    Row(
        "at rest, and moved",
        phases(P.COMING_TO_REST),
        ev.AtRest,
        "entry.settled_when",
        when=(g.of_this,),
        to=P.READING,
    ),
    # a toss that was broken into is no proper toss: void, as if the shaker had failed
    Row(
        "at rest, but nothing moved: void",
        phases(P.COMING_TO_REST),
        ev.TossDisproved,
        "void.disturbed",
        when=(g.of_this, g.in_play),
        to=P.WITHOUT_RESULT,
        notes=(fx.ends(Ending.VOID, Cause.NOT_TOSSED), fx.broken(FaultKind.SHAKER)),
        do=(fx.stop_reading, fx.raise_fault(FaultKind.SHAKER, "dice-unmoved"), *END),
    ),
    # the shaker is operated three times, and the dice are seen to be properly tossed
    Row(
        "at rest, but nothing moved: bad cycle",
        phases(P.COMING_TO_REST),
        ev.TossDisproved,
        "opening_inspection.cycles",
        when=(g.of_this,),
        to=P.CYCLE_DONE,
        do=(fx.stop_reading, fx.announce(Notice.CYCLE_BAD, "opening_inspection.cycles")),
    ),
    # no clause speaks of a reader: three flat dice stand, and the dealer enters them by eye
    Row(
        "the reader gives up before rest",
        phases(P.COMING_TO_REST),
        ev.ReadingMade,
        "reader_fault.attended",
        when=(g.of_this, g.gives_up),
        to=P.READ,
        notes=(fx.reading_made,),
    ),
    Row(
        "no rest seen in time",
        phases(P.COMING_TO_REST),
        ev.TimerExpired,
        "reader_fault.attended",
        when=(g.of_this_phase, g.of_this),
        to=P.READ,
        notes=(fx.unreadable("no rest seen in time"),),
        do=(fx.stop_reading,),
    ),
    # the dealer enters each value; repeating what was read is entering it
    Row(
        "read",
        phases(P.READING),
        ev.ReadingMade,
        "entry.mode",
        when=(g.of_this,),
        to=P.READ,
        notes=(fx.reading_made,),
    ),
    Row(
        "no reading in time",
        phases(P.READING),
        ev.TimerExpired,
        "reader_fault.attended",
        when=(g.of_this_phase, g.of_this),
        to=P.READ,
        notes=(fx.unreadable("no reading in time"),),
        do=(fx.stop_reading,),
    ),
    # the shaker is operated three times, and the dice are seen to be properly tossed
    Row(
        "cycle read flat: was it properly tossed?",
        phases(P.READ),
        None,
        "opening_inspection.cycles",
        when=(g.inspecting, g.read_verified),
        to=P.CYCLE_TO_BE_JUDGED,
        do=(fx.announce_values(Notice.CYCLE_SEEN, "opening_inspection.cycles"),),
    ),
    Row(
        "trial toss read flat",
        phases(P.READ),
        None,
        "technician's trial, table shut",
        when=(g.negated(g.in_play, "a round is in play"), g.read_verified),
        to=P.CYCLE_DONE,
        do=(fx.announce_values(Notice.CYCLE_GOOD, "opening_inspection.cycles"),),
    ),
    Row(
        "cycle not flat, or not readable",
        phases(P.READ),
        None,
        "opening_inspection.cycles",
        when=(g.negated(g.in_play, "a round is in play"),),
        to=P.CYCLE_DONE,
        do=(fx.announce(Notice.CYCLE_BAD, "opening_inspection.cycles"),),
    ),
)
