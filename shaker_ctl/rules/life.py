"""Life of a table: closed, inspection due, inspected, open, out of service; and trials.

Owns the rows between rounds. Opening and every single round ask the wall clock first: whether the
profile is in force, and whether the dice are still young enough, is decided there and then.
"""

from __future__ import annotations

from shaker_ctl.rules import effects as fx
from shaker_ctl.rules import events as ev
from shaker_ctl.rules import guards as g
from shaker_ctl.rules import phases as ph
from shaker_ctl.rules.citations import BARRED, BROKEN, MENDED, UNTRUSTED
from shaker_ctl.rules.phases import P, phases
from shaker_ctl.rules.row import ByCause, Row
from shaker_ctl.rules.state import After
from shaker_ctl.rules.vocabulary import Notice, Purpose, ShownPhase

AT_HAND = ph.SHUT | phases(P.OUT_OF_SERVICE)
"""Phases in which the technician may try the shaker and the lamps: nobody plays, all is shut."""

RIGHT_SERIALS = (g.technician_or_in_charge, g.dice_untried, g.three_dice, g.no_other_dice)

OTHER_DICE = (g.technician_or_in_charge, g.three_dice, g.opened_for_dice, g.never_used)

DOUBTED = ph.SHUT | ph.STOPPED | phases(P.INSPECTED)
"""Where no round is near and a person may say that the dice are still the same. What was inspected
was inspected with the dice that are in it."""

TRIAL = (fx.nothing_passed, fx.numbered(Purpose.TRIAL), fx.out_of_service_afterwards)

LID_CITE = "O-11: an opened compartment stops play"

ROWS: tuple[Row, ...] = (
    # ── opening and closing ──
    # the floorperson inspects before the table opens
    Row(
        "open: a closed table is inspected first",
        phases(P.CLOSED),
        ev.OpenRequested,
        "opening_inspection.signed_by",
        when=(g.in_charge,),
        to=P.INSPECTION_DUE,
        do=(fx.announce(Notice.INSPECTION_DUE, "opening_inspection.due_again"),),
    ),
    # a text holds from its first day to its last
    Row(
        "open: an inspected table asks the clock",
        phases(P.INSPECTED),
        ev.OpenRequested,
        "in_force.last_day",
        when=(g.in_charge,),
        to=P.OPENING,
        notes=(fx.unbarred, fx.clock_asked),
        do=(fx.check_time,),
    ),
    Row(
        "open: the signature has aged, an inspection is due",
        phases(P.OPENING),
        ev.TimeChecked,
        "opening_inspection.signed_by",
        when=(g.of_this_question, g.time_is_trusted, g.signature_aged),
        to=P.INSPECTION_DUE,
        notes=(fx.nothing_passed,),
        do=(
            fx.show(ShownPhase.CLOSED),
            fx.announce(Notice.INSPECTION_DUE, "opening_inspection.signed_by"),
        ),
    ),
    Row(
        "open: in force, dice young enough",
        phases(P.OPENING),
        ev.TimeChecked,
        "in_force.last_day",
        when=(g.of_this_question, g.admitted),
        to=P.READY,
        notes=(fx.signature_used, fx.shift_begins),
        do=(fx.announce(Notice.OPEN, "in_force.effective_from"),),
    ),
    Row(
        "open: barred by the clock",
        phases(P.OPENING),
        ev.TimeChecked,
        BARRED,
        when=(g.of_this_question,),
        to=P.INSPECTED,
        notes=(fx.why_barred,),
        do=(fx.announce(Notice.BARRED, BARRED),),
    ),
    Row(
        "open: the clock does not answer",
        phases(P.OPENING),
        ev.TimerExpired,
        UNTRUSTED,
        when=(g.of_this_phase, g.of_this),
        to=P.INSPECTED,
        notes=(fx.clock_silent,),
        do=(fx.announce(Notice.BARRED),),
    ),
    Row(
        "close",
        ph.STANDING | phases(P.INSPECTION_DUE),
        ev.CloseRequested,
        "house: the table is closed",
        when=(g.in_charge,),
        to=P.CLOSED,
        notes=(fx.nothing_passed,),
        do=(fx.show(ShownPhase.CLOSED), fx.announce(Notice.CLOSED)),
    ),
    Row(
        "close: after this round",
        ph.IN_ROUND,
        ev.CloseRequested,
        "house: the table is closed",
        when=(g.in_charge, g.in_play),
        notes=(fx.close_afterwards,),
    ),
    # ── between rounds ──
    # "no more bets" comes before the reveal, or before activation where nothing hides the dice
    Row(
        "bets: the dealer opens a round",
        phases(P.READY),
        ev.BetsRequested,
        "order.nmb_before",
        when=(g.dealer_or_above, g.nothing_denies, g.shift_inspected, g.lamps_dark),
        to=P.ADMITTING,
        notes=(fx.unbarred, fx.clock_asked),
        do=(fx.check_time,),
    ),
    Row(
        "bets: the table opens a round by itself",
        phases(P.READY),
        None,
        "order.nmb_before",
        when=(g.autonomous, g.not_barred, g.nothing_denies, g.shift_inspected, g.lamps_dark),
        to=P.ADMITTING,
        notes=(fx.clock_asked,),
        do=(fx.check_time,),
    ),
    # dice are used for 24 hours; locked in an automated shaker and compliant, for a month
    Row(
        "bets open",
        phases(P.ADMITTING),
        ev.TimeChecked,
        "order.nmb_before",
        when=(g.of_this_question, g.admitted, g.nothing_denies, g.shift_inspected),
        to=P.BETTING,
        notes=(fx.new_round,),
        do=(
            fx.light_on,
            fx.show(ShownPhase.BETS_OPEN),
            fx.announce(Notice.BETS_OPEN, "order.nmb_before"),
        ),
    ),
    Row(
        "bets: something denies the round meanwhile",
        phases(P.ADMITTING),
        ev.TimeChecked,
        "device: what denies a round is asked again when the clock has answered",
        when=(g.of_this_question, g.admitted),
        to=P.READY,
    ),
    Row(
        "bets: barred by the clock",
        phases(P.ADMITTING),
        ev.TimeChecked,
        BARRED,
        when=(g.of_this_question,),
        to=P.READY,
        notes=(fx.why_barred,),
        do=(fx.announce(Notice.BARRED, BARRED),),
    ),
    Row(
        "bets: the clock does not answer",
        phases(P.ADMITTING),
        ev.TimerExpired,
        UNTRUSTED,
        when=(g.of_this_phase, g.of_this),
        to=P.READY,
        notes=(fx.clock_silent,),
        do=(fx.announce(Notice.BARRED),),
    ),
    # no text states a least length; Great Britain has one for unattended machines (O-20)
    Row(
        "the least length of a round has passed",
        phases(P.PACING),
        ev.TimerExpired,
        "round.min_length_s",
        when=(g.of_this_phase, g.of_this),
        to=P.READY,
    ),
    # ── time and dice ──
    Row(
        "time confirmed, rounds unbarred",
        ph.SHUT | ph.STANDING | ph.STOPPED | ph.INSPECTION,
        ev.TimeConfirmed,
        "clock: a named person confirms the time",
        when=(g.in_charge, g.barred_by_time),
        notes=(fx.unbarred,),
        do=(fx.trust_time,),
    ),
    Row(
        "time confirmed",
        ph.SHUT | ph.STANDING | ph.STOPPED | ph.INSPECTION,
        ev.TimeConfirmed,
        "clock: a named person confirms the time",
        when=(g.in_charge,),
        do=(fx.trust_time,),
    ),
    # which three dice are in the shaker: what was typed wrongly is put right before they are used
    Row(
        "serials put right, by two persons, before the dice are used",
        ph.SHUT | ph.STOPPED,
        ev.DiceCorrected,
        "dice.number",
        when=(*RIGHT_SERIALS, g.serials_seconded),
        notes=(fx.serials_put_right,),
    ),
    Row(
        "right serials, named by one: a second person repeats them",
        ph.SHUT | ph.STOPPED,
        ev.DiceCorrected,
        "dice.number",
        when=RIGHT_SERIALS,
        notes=(fx.dice_named,),
        do=(fx.announce(Notice.DICE_NAMED, "dice.number"),),
    ),
    # dice are used for 24 hours; locked in an automated shaker and compliant, for a month
    Row(
        "other dice in a table that is shut",
        ph.SHUT | ph.STOPPED,
        ev.DiceChanged,
        "dice.automated",
        when=(*OTHER_DICE, g.dice_seconded),
        notes=(fx.nothing_passed, fx.dice_recorded),
    ),
    Row(
        "other dice, named by one: a second person repeats them",
        ph.SHUT | ph.STOPPED | ph.STANDING,
        ev.DiceChanged,
        "dice.automated",
        when=(*OTHER_DICE, g.negated(g.dice_seconded, "one person is enough here")),
        notes=(fx.dice_named,),
        do=(fx.announce(Notice.DICE_NAMED, "dice.automated"),),
    ),
    # an opened compartment: are these still the dice that were inspected?
    Row(
        "the same dice after an opening",
        DOUBTED,
        ev.DiceKept,
        "dice.number",
        when=(g.technician_or_in_charge, g.dice_doubted, g.same_dice_seconded),
        notes=(fx.dice_kept,),
    ),
    Row(
        "the same dice, says one: a second person repeats it",
        DOUBTED,
        ev.DiceKept,
        "dice.number",
        when=(g.technician_or_in_charge, g.dice_doubted),
        notes=(fx.same_dice_named,),
        do=(fx.announce(Notice.DICE_NAMED, "dice.number"),),
    ),
    # dice are used for 24 hours; locked in an automated shaker and compliant, for a month
    Row(
        "other dice: inspection due",
        ph.STANDING,
        ev.DiceChanged,
        "dice.automated",
        when=OTHER_DICE,
        to=P.INSPECTION_DUE,
        notes=(fx.nothing_passed, fx.dice_recorded),
        do=(
            fx.show(ShownPhase.CLOSED),
            fx.announce(Notice.INSPECTION_DUE, "opening_inspection.due_again"),
        ),
    ),
    # ── out of service and back ──
    # a shaker that cannot be used: dice out, covered or signed, or removed, before a manual one
    Row(
        "taken out of service",
        ph.SHUT | ph.STANDING,
        ev.OutOfServiceRequested,
        "out_of_order.steps",
        when=(g.technician_or_in_charge,),
        to=P.OUT_OF_SERVICE,
        notes=(fx.nothing_passed,),
        do=(fx.show(ShownPhase.OUT_OF_SERVICE), fx.announce(Notice.OUT_OF_SERVICE)),
    ),
    # once wagers are settled all gaming ceases until the device is fixed
    Row(
        "a fault is cleared",
        ph.STOPPED,
        ev.FaultCleared,
        ByCause(lambda c: c.event.kind, MENDED),
        when=(g.technician, g.so_broken),
        notes=(fx.mended,),
        do=(fx.clear_faults,),
    ),
    # no clause speaks of a reader: the shaker plays on, and the dealer enters what they see
    Row(
        "back to service without the reader: inspection due",
        phases(P.OUT_OF_SERVICE),
        ev.ReturnRequested,
        "reader_fault.attended",
        when=(g.technician_or_in_charge, g.by_machine, g.only_reader_broken),
        to=P.INSPECTION_DUE,
        notes=(fx.sets("camera_off", True),),
        do=(
            fx.show(ShownPhase.CLOSED),
            fx.announce(Notice.CAMERA_OFF, "reader_fault.attended"),
            fx.announce(Notice.INSPECTION_DUE, "opening_inspection.due_again"),
        ),
    ),
    # once wagers are settled all gaming ceases until the device is fixed
    Row(
        "back to service: inspection due",
        phases(P.OUT_OF_SERVICE),
        ev.ReturnRequested,
        "opening_inspection.due_again",
        when=(g.technician_or_in_charge, g.nothing_broken),
        to=P.INSPECTION_DUE,
        do=(
            fx.show(ShownPhase.CLOSED),
            fx.announce(Notice.INSPECTION_DUE, "opening_inspection.due_again"),
        ),
    ),
    Row(
        "still out of service: no inspection",
        phases(P.INSPECTION_DUE),
        None,
        BROKEN,
        when=(g.stays_out,),
        to=P.OUT_OF_SERVICE,
        notes=(fx.sets("after", After.NEXT_ROUND),),
        do=(fx.show(ShownPhase.OUT_OF_SERVICE), fx.announce(Notice.OUT_OF_SERVICE)),
    ),
    # ── the lid ──
    Row(
        "the lid is released between rounds: inspection due",
        ph.STANDING,
        ev.LidRequested,
        LID_CITE,
        when=(g.in_charge,),
        to=P.INSPECTION_DUE,
        notes=(fx.nothing_passed, fx.lid_released),
        do=(
            fx.release_latch,
            fx.show(ShownPhase.CLOSED),
            fx.announce(Notice.INSPECTION_DUE, "opening_inspection.signed_by"),
            fx.ask_same_dice,
        ),
    ),
    Row(
        "the lid is released in a table that is shut",
        ph.SHUT | ph.STOPPED,
        ev.LidRequested,
        LID_CITE,
        when=(g.in_charge,),
        notes=(fx.nothing_passed, fx.lid_released),
        do=(fx.release_latch, fx.ask_same_dice),
    ),
    # ── trials ──
    Row(
        "jog",
        AT_HAND,
        ev.JogRequested,
        "technician's trial, table shut",
        when=(g.technician, g.by_machine, g.nothing_denies, g.cover_is_right),
        to=P.JOGGING,
        notes=TRIAL,
        do=(fx.jog,),
    ),
    Row(
        "jog finished",
        phases(P.JOGGING),
        ev.JogFinished,
        "technician's trial, table shut",
        when=(g.of_this,),
        to=P.INSPECTION_DUE,
    ),
    Row(
        "lamp trial",
        AT_HAND,
        ev.LampTrialRequested,
        "technician's trial, table shut",
        when=(g.technician,),
        to=P.LAMP_TRIAL,
        notes=(*TRIAL, fx.lamps_unknown),
        do=(fx.prove_each_lamp,),
    ),
    Row(
        "lamp trial finished",
        phases(P.LAMP_TRIAL),
        ev.EachLampProved,
        "technician's trial, table shut",
        when=(g.of_this,),
        to=P.INSPECTION_DUE,
        notes=(fx.lamps_dark,),
    ),
    Row(
        "trial toss, under the cover",
        AT_HAND,
        ev.TrialTossRequested,
        "technician's trial, table shut",
        when=(g.technician, g.by_machine, g.nothing_denies, g.covered),
        to=P.COVERING,
        notes=TRIAL,
        do=(fx.light_on, fx.note_poses, fx.close_cover),
    ),
    Row(
        "trial toss",
        AT_HAND,
        ev.TrialTossRequested,
        "technician's trial, table shut",
        when=(g.technician, g.by_machine, g.nothing_denies),
        to=P.PLANNING,
        notes=TRIAL,
        do=(fx.light_on, fx.note_poses, fx.draw_toss_plan),
    ),
)
