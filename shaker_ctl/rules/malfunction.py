"""Irregularities: what fails, opens or is pressed, and what that means at this moment.

Owns the consequence of every malfunction in every phase. Must not know how one was detected.

The evidence of the moment decides. Five moments:

- before EN-on: the round does not start, wagers go back;
- EN on, or possibly on, until settled: a fault of the *shaker* voids the round; any other fault
  lets the toss finish;
- settled, no value yet: the result stands whatever fails, but for an opened compartment, which
  voids, because these are no longer the dice that were tossed;
- a value is verified or entered: the result stands;
- outside a round: inspection due, or out of service.

A lamp fault after EN-on never voids: the round is settled by hand in the presence of the person
whom the profile names, then all gaming ceases. So faults that meet rank by themselves: shaker
fault in the toss > not flat > lamp fault > reader fault; `PRECEDENCE` orders those that are
reported in the same moment.
"""

from __future__ import annotations

from shaker_ctl.rules import effects as fx
from shaker_ctl.rules import events as ev
from shaker_ctl.rules import guards as g
from shaker_ctl.rules import phases as ph
from shaker_ctl.rules.phases import P, Phases, phases
from shaker_ctl.rules.round import ODDS_NOT_SHOWN
from shaker_ctl.rules.row import Act, Guard, Note, Row
from shaker_ctl.rules.toss import END
from shaker_ctl.rules.vocabulary import (
    Cause,
    Ending,
    FaultKind,
    NoRoll,
    Notice,
    ShownPhase,
    Verified,
)

before_activation = g.bets_close_before_activation
not_in_play = g.negated(g.in_play, "a round is in play")

PRE_TOSS: Phases = ph.BEFORE_TOSS | phases(P.BETTING)
"""In play: before EN-on in either order. `BETS_CLOSED` joins where bets close before activation."""

SETTLED_ON: Phases = (
    ph.AFTER_TOSS
    | ph.BETS_CLOSED
    | ph.VALUE_KNOWN
    | phases(P.INTERRUPTED, P.AWAITING_DEALER, P.WITHOUT_RESULT)
)
"""In play, after the toss (`BETS_CLOSED` where they close before the reveal)."""

STOP_GAMING: tuple[Act, ...] = (
    fx.show(ShownPhase.OUT_OF_SERVICE),
    fx.announce(Notice.OUT_OF_SERVICE),
)
DUE: tuple[Act, ...] = (
    fx.show(ShownPhase.CLOSED),
    fx.announce(Notice.INSPECTION_DUE, "opening_inspection.due_again"),
)


# ── Faults ──────────────────────────────────────────────────────────────────


def _fault_rows(
    kind: FaultKind, on: type[ev.Event], cause: Cause, cites: str, *, told_which: bool = True
) -> tuple[Row, ...]:
    """Rows that every kind of fault has. `told_which`: the event says to which toss it belongs."""
    of_toss: tuple[Guard, ...] = (g.of_this_or_none,) if told_which else ()
    lamp = kind is FaultKind.LAMP
    dark: tuple[Note, ...] = (fx.lamps_unknown,) if lamp else ()
    darken: tuple[Act, ...] = (fx.darken_lamps,) if lamp else ()
    broken, raised = fx.broken(kind), fx.raise_fault(kind)
    not_started = fx.ends(Ending.NOT_STARTED, cause)
    what = f"{kind.value} fault"
    return (
        # stopped before the shaker was activated: nothing was played, wagers go back
        Row(
            f"{what} before the toss: the round does not start",
            PRE_TOSS,
            on,
            "not_started.wagers",
            (*of_toss, g.in_play),
            P.WITHOUT_RESULT,
            (not_started, broken, *dark),
            (*darken, raised, *END),
        ),
        Row(
            f"{what} after no more bets, before the toss: the round does not start",
            ph.BETS_CLOSED,
            on,
            "not_started.wagers",
            (*of_toss, before_activation),
            P.WITHOUT_RESULT,
            (not_started, broken, *dark),
            (*darken, raised, *END),
        ),
        Row(
            f"{what} in an inspection or trial: out of service",
            ph.INSPECTION | ph.SHAKER_IN_USE | ph.TRIALS,
            on,
            cites,
            (*of_toss, not_in_play),
            P.OUT_OF_SERVICE,
            (fx.nothing_passed, broken, fx.lamps_unknown),
            (fx.stop_motor(cause), fx.stop_reading, fx.darken_lamps, raised, *STOP_GAMING),
        ),
        Row(
            f"{what} between rounds: out of service",
            ph.SHUT | ph.STANDING,
            on,
            cites,
            of_toss,
            P.OUT_OF_SERVICE,
            (fx.nothing_passed, broken, *dark),
            (*darken, raised, *STOP_GAMING),
        ),
        Row(
            f"{what} on top",
            ph.STOPPED,
            on,
            cites,
            of_toss,
            None,
            (broken, *dark),
            (*darken, raised),
        ),
    )


def _finishes(kind: FaultKind, on: type[ev.Event], at: Phases, cites: str) -> Row:
    """The toss, or the round, is finished; then the table stops."""
    of_toss: tuple[Guard, ...] = () if on is ev.ControllerFault else (g.of_this_or_none,)
    lamp = kind is FaultKind.LAMP
    return Row(
        f"{kind.value} fault: the round is finished, then the table stops",
        at,
        on,
        cites,
        of_toss,
        None,
        (fx.broken(kind), fx.lamps_unknown) if lamp else (fx.broken(kind),),
        (fx.darken_lamps, fx.raise_fault(kind)) if lamp else (fx.raise_fault(kind),),
    )


def _lamps_failed(
    name: str, at: Phases, on: type[ev.Event], when: tuple[Guard, ...], code: str = ""
) -> Row:
    """Wrong, or not proved, while they show a result: dark at once, settle by hand."""
    return Row(
        name,
        at,
        on,
        "lamp_fault.presence",
        when,
        P.AWAITING_PRESENCE,
        (fx.broken(FaultKind.LAMP), fx.lamps_unknown, fx.by_hand),
        (
            fx.darken_lamps,
            fx.raise_fault(FaultKind.LAMP, code),
            fx.show(ShownPhase.FAULT),
            fx.announce(Notice.PRESENCE, "lamp_fault.presence"),
        ),
    )


LAMPS_FAIL = "device: lamps that fail show nothing until they are mended"
"""Outside a toss: the texts speak of lamps that fail after one."""

FAULTS: tuple[Row, ...] = (
    # the shaker: void from EN-on until settled
    *_fault_rows(FaultKind.SHAKER, ev.ShakerFault, Cause.SHAKER, "out_of_order.steps"),
    # the shaker fails or malfunctions when activated: void, wagers are returned (ma: silent)
    Row(
        "shaker fault in the toss: void",
        ph.ENERGISED,
        ev.ShakerFault,
        "void.wagers",
        (g.of_this_or_none,),
        P.WITHOUT_RESULT,
        (fx.ends(Ending.VOID, Cause.SHAKER), fx.broken(FaultKind.SHAKER)),
        (fx.stop_motor(Cause.SHAKER), fx.raise_fault(FaultKind.SHAKER), *END),
    ),
    _finishes(FaultKind.SHAKER, ev.ShakerFault, SETTLED_ON, "out_of_order.steps"),
    # the lamps: never void after EN-on
    *_fault_rows(FaultKind.LAMP, ev.LampFault, Cause.LAMP, LAMPS_FAIL),
    _lamps_failed(
        "lamp fault at the result: settle by hand",
        ph.LIT | phases(P.PUSHING),
        ev.LampFault,
        (g.of_this_or_none,),
    ),
    # once wagers are settled all gaming ceases until the device is fixed
    Row(
        "lamp fault when all is paid: clear",
        phases(P.SETTLED_LIT),
        ev.LampFault,
        "lamp_fault.resume_when_fixed",
        (g.of_this_or_none,),
        P.CLEARING,
        (fx.broken(FaultKind.LAMP), fx.lamps_unknown),
        (fx.darken_lamps, fx.raise_fault(FaultKind.LAMP), fx.clear_lamps),
    ),
    Row(
        "lamps do not clear: the round is over, the table stops",
        phases(P.CLEARING),
        ev.LampFault,
        "lamp_fault.resume_when_fixed",
        (g.of_this_or_none,),
        P.ROUND_OVER,
        (fx.broken(FaultKind.LAMP),),
        (
            fx.darken_lamps,
            fx.raise_fault(FaultKind.LAMP),
            fx.hide_multipliers,
            fx.record_round,
        ),
    ),
    # the device fails after the toss: settled before a floorperson or above (ma: supervisor)
    _finishes(
        FaultKind.LAMP,
        ev.LampFault,
        (SETTLED_ON | ph.ENERGISED) - ph.LIT - phases(P.PUSHING, P.SETTLED_LIT, P.CLEARING),
        "lamp_fault.presence",
    ),
    # the reader: a fact about the reader, not about the dice
    # no clause speaks of a reader: three flat dice stand, and the dealer enters them by eye
    Row(
        "the reader is off, and is not missed",
        frozenset(P) - ph.STOPPED,
        ev.ReaderFault,
        "reader_fault.attended",
        (g.of_this_or_none, g.camera_off),
        None,
        (),
        (fx.raise_fault(FaultKind.READER),),
    ),
    *_fault_rows(FaultKind.READER, ev.ReaderFault, Cause.READER, "reader_fault.attended"),
    # no clause speaks of a reader: three flat dice stand, and the dealer enters them by eye
    Row(
        "reader lost while it reads",
        phases(P.COMING_TO_REST, P.READING),
        ev.ReaderFault,
        "reader_fault.attended",
        (g.of_this_or_none,),
        P.READ,
        (fx.broken(FaultKind.READER), fx.unreadable("the reader was lost")),
        (fx.stop_reading, fx.raise_fault(FaultKind.READER)),
    ),
    _finishes(
        FaultKind.READER,
        ev.ReaderFault,
        (SETTLED_ON | ph.ENERGISED) - phases(P.COMING_TO_REST, P.READING),
        "reader_fault.attended",
    ),
    # the controller itself
    *_fault_rows(
        FaultKind.CONTROLLER,
        ev.ControllerFault,
        Cause.CONTROLLER,
        "O-10: disables itself on a fault of its own",
        told_which=False,
    ),
    _finishes(
        FaultKind.CONTROLLER,
        ev.ControllerFault,
        SETTLED_ON | ph.ENERGISED,
        "O-10: disables itself on a fault of its own",
    ),
)


# ── Deadlines: a device that does not answer has failed ─────────────────────

IN_TIME: tuple[Guard, ...] = (g.of_this_phase, g.of_this)


def _silent(
    kind: FaultKind,
    code: str,
    at: Phases,
    ending: Ending,
    cause: Cause,
    cites: str,
) -> tuple[Row, Row]:
    """Silence in a round, and in an inspection or trial."""
    broken, raised = fx.broken(kind), fx.raise_fault(kind, code)
    stop: tuple[Act, ...] = (fx.stop_motor(cause),) if at & ph.ENERGISED else ()
    return (
        Row(
            f"{code}: {ending.value}",
            at,
            ev.TimerExpired,
            "void.wagers" if ending is Ending.VOID else "not_started.wagers",
            (*IN_TIME, g.in_play),
            P.WITHOUT_RESULT,
            (fx.ends(ending, cause), broken),
            (*stop, raised, *END),
        ),
        Row(
            f"{code} in an inspection or trial: out of service",
            at,
            ev.TimerExpired,
            cites,
            IN_TIME,
            P.OUT_OF_SERVICE,
            (fx.nothing_passed, broken),
            (*stop, raised, *STOP_GAMING),
        ),
    )


DEADLINES: tuple[Row, ...] = (
    *_silent(
        FaultKind.CONTROLLER,
        "draw-silent",
        phases(P.PLANNING),
        Ending.NOT_STARTED,
        Cause.CONTROLLER,
        "O-10: disables itself on a fault of its own",
    ),
    # the device fails after the toss: settled before a floorperson or above (ma: supervisor)
    *_silent(
        FaultKind.LAMP,
        "lamps-silent",
        phases(P.PROVING_DARK),
        Ending.NOT_STARTED,
        Cause.LAMP,
        "lamp_fault.presence",
    ),
    # a shaker that cannot be used: dice out, covered or signed, or removed, before a manual one
    *_silent(
        FaultKind.SHAKER,
        "toss-silent",
        ph.ENERGISED,
        Ending.VOID,
        Cause.SHAKER,
        "out_of_order.steps",
    ),
    *_silent(
        FaultKind.SHAKER,
        "cover-stuck",
        phases(P.COVERING),
        Ending.NOT_STARTED,
        Cause.COVER,
        "out_of_order.steps",
    ),
    # the dealer removes the cover: who is slow is told once more, and a stuck contact may be said
    Row(
        "not uncovered by hand in time: is its contact stuck?",
        phases(P.REVEALING),
        ev.TimerExpired,
        "entry.announce",
        (
            *IN_TIME,
            g.negated(g.cover_driven, "a drive moves the cover"),
            g.negated(g.reveal_overdue, "the time of the reveal is over"),
        ),
        None,
        (fx.overdue,),
        (fx.announce(Notice.REVEAL, "entry.announce"),),
    ),
    # a shaker that cannot be used: dice out, covered or signed, or removed, before a manual one
    Row(
        "cover-stuck at the reveal: a person opens it, then the table stops",
        phases(P.REVEALING),
        ev.TimerExpired,
        "out_of_order.steps",
        (*IN_TIME, g.cover_driven, g.in_play),
        P.REVEALING,
        (fx.broken(FaultKind.SHAKER), fx.overdue),
        (
            fx.raise_fault(FaultKind.SHAKER, "cover-stuck"),
            fx.announce(Notice.REVEAL, "entry.announce"),
        ),
    ),
    Row(
        "cover-stuck at the reveal of a cycle: out of service",
        phases(P.REVEALING),
        ev.TimerExpired,
        "out_of_order.steps",
        (*IN_TIME, g.cover_driven),
        P.OUT_OF_SERVICE,
        (fx.nothing_passed, fx.broken(FaultKind.SHAKER)),
        (fx.raise_fault(FaultKind.SHAKER, "cover-stuck"), *STOP_GAMING),
    ),
    _lamps_failed(
        "lamps-silent at the result: settle by hand",
        phases(P.PUSHING),
        ev.TimerExpired,
        IN_TIME,
        "lamps-silent",
    ),
    # once wagers are settled all gaming ceases until the device is fixed
    Row(
        "lamps-silent when clearing: the round is over, the table stops",
        phases(P.CLEARING),
        ev.TimerExpired,
        "lamp_fault.resume_when_fixed",
        IN_TIME,
        P.ROUND_OVER,
        (fx.broken(FaultKind.LAMP),),
        (
            fx.darken_lamps,
            fx.raise_fault(FaultKind.LAMP, "lamps-silent"),
            fx.hide_multipliers,
            fx.record_round,
        ),
    ),
    # the device fails after the toss: settled before a floorperson or above (ma: supervisor)
    Row(
        "lamps-silent in a lamp inspection or lamp trial: out of service",
        phases(P.LAMP_ENTRY, P.LAMP_ENTRY_CLEARING, P.EACH_LAMP, P.LAMP_TRIAL),
        ev.TimerExpired,
        "lamp_fault.presence",
        IN_TIME,
        P.OUT_OF_SERVICE,
        (fx.nothing_passed, fx.broken(FaultKind.LAMP), fx.lamps_unknown),
        (fx.darken_lamps, fx.raise_fault(FaultKind.LAMP, "lamps-silent"), *STOP_GAMING),
    ),
    # a shaker that cannot be used: dice out, covered or signed, or removed, before a manual one
    Row(
        "a lamp was seen to be wrong: out of service",
        ph.ENTRY_LIT | ph.WALK | phases(P.LAMPS_TO_BE_SEEN, P.ODDS_TO_BE_SEEN),
        ev.LampSeenWrong,
        "opening_inspection.lamp_entries",
        (g.is_inspector, g.of_this_layout),
        P.OUT_OF_SERVICE,
        (fx.nothing_passed, fx.broken(FaultKind.LAMP), fx.lamps_unknown),
        (fx.darken_lamps, fx.raise_fault(FaultKind.LAMP, "lamp-seen-wrong"), *STOP_GAMING),
    ),
    # the device shows multiplied wagers and their odds (625b): a display not proved is broken
    *(
        Row(
            f"multiplier displays {how} in the inspection: out of service",
            phases(P.ODDS_TRIED),
            on,
            "multipliers.displays",
            when,
            P.OUT_OF_SERVICE,
            (fx.nothing_passed, fx.broken(FaultKind.CONTROLLER), fx.lamps_unknown),
            (
                fx.darken_lamps,
                fx.raise_fault(FaultKind.CONTROLLER, ODDS_NOT_SHOWN),
                *STOP_GAMING,
            ),
        )
        for how, on, when in (
            ("not proved", ev.MultipliersNotShown, (g.of_this,)),
            ("not proved in time", ev.TimerExpired, IN_TIME),
        )
    ),
    Row(
        "jog does not end: out of service",
        phases(P.JOGGING),
        ev.TimerExpired,
        "out_of_order.steps",
        IN_TIME,
        P.OUT_OF_SERVICE,
        (fx.broken(FaultKind.SHAKER),),
        (
            fx.stop_motor(Cause.SHAKER),
            fx.raise_fault(FaultKind.SHAKER, "toss-silent"),
            *STOP_GAMING,
        ),
    ),
)


# ── Contacts: what denies motion ────────────────────────────────────────────


def _denied(
    name: str,
    on: type[ev.Event],
    cause: Cause,
    denied: Note,
    cites: str,
    *,
    when: tuple[Guard, ...] = (),
    due: bool,
) -> tuple[Row, ...]:
    """Rows of a contact that denies motion. `due`: it makes an inspection due wherever it opens."""
    after: tuple[Note, ...] = (fx.inspection_afterwards,) if due else ()
    return (
        # stopped before the shaker was activated: nothing was played, wagers go back
        Row(
            f"{name} before the toss: the round does not start",
            PRE_TOSS,
            on,
            "not_started.wagers",
            (*when, g.in_play),
            P.WITHOUT_RESULT,
            (denied, fx.ends(Ending.NOT_STARTED, cause), *after),
            END,
        ),
        Row(
            f"{name} after no more bets, before the toss: the round does not start",
            ph.BETS_CLOSED,
            on,
            "not_started.wagers",
            (*when, before_activation),
            P.WITHOUT_RESULT,
            (denied, fx.ends(Ending.NOT_STARTED, cause), *after),
            END,
        ),
        # a toss that was broken into is no proper toss: void, as if the shaker had failed
        Row(
            f"{name} in the toss: void",
            ph.ENERGISED,
            on,
            "void.disturbed",
            (*when, g.in_play),
            P.WITHOUT_RESULT,
            (denied, fx.ends(Ending.VOID, cause), fx.inspection_afterwards),
            (fx.stop_motor(cause), *END),
        ),
        Row(
            f"{name} in an inspection or trial: it begins again",
            ph.INSPECTION | ph.SHAKER_IN_USE | ph.TRIALS,
            on,
            cites,
            (*when, not_in_play),
            P.INSPECTION_DUE,
            (denied, fx.nothing_passed, fx.lamps_unknown),
            (fx.stop_motor(cause), fx.stop_reading, fx.clear_lamps, *DUE),
        ),
    )


COMPARTMENT_CITE = "O-11: an opened compartment stops play"
compartment_open = fx.compartment_opened
estop_pressed = fx.sets("estop_pressed", True)
cover_closed = fx.sets("cover_closed", True)
cover_open = fx.sets("cover_closed", False)

CONTACTS: tuple[Row, ...] = (
    *_denied(
        "compartment opened",
        ev.CompartmentOpened,
        Cause.COMPARTMENT,
        compartment_open,
        COMPARTMENT_CITE,
        due=True,
    ),
    Row(
        "compartment opened before a value is known: void",
        ph.AFTER_TOSS | ph.BETS_CLOSED | phases(P.INTERRUPTED),
        ev.CompartmentOpened,
        "void.disturbed",
        (),
        P.WITHOUT_RESULT,
        (compartment_open, fx.ends(Ending.VOID, Cause.COMPARTMENT), fx.inspection_afterwards),
        (fx.stop_reading, *END),
    ),
    Row(
        "compartment opened before the dealer has entered: void",
        phases(P.AWAITING_DEALER),
        ev.CompartmentOpened,
        "void.disturbed",
        (g.value_unknown,),
        P.WITHOUT_RESULT,
        (compartment_open, fx.ends(Ending.VOID, Cause.COMPARTMENT), fx.inspection_afterwards),
        END,
    ),
    Row(
        "compartment opened when the value is known: the result stands",
        ph.VALUE_KNOWN | phases(P.AWAITING_DEALER, P.WITHOUT_RESULT),
        ev.CompartmentOpened,
        COMPARTMENT_CITE,
        (),
        None,
        (compartment_open, fx.inspection_afterwards),
    ),
    Row(
        "compartment opened between rounds: inspection due",
        ph.STANDING,
        ev.CompartmentOpened,
        COMPARTMENT_CITE,
        (),
        P.INSPECTION_DUE,
        (compartment_open, fx.nothing_passed),
        DUE,
    ),
    Row(
        "compartment opened in a table that is shut",
        ph.SHUT | ph.STOPPED,
        ev.CompartmentOpened,
        COMPARTMENT_CITE,
        (),
        None,
        (compartment_open, fx.nothing_passed),
    ),
    Row(
        "compartment closed: are the same dice in it?",
        ph.SHUT | ph.STOPPED,
        ev.CompartmentClosed,
        COMPARTMENT_CITE,
        (),
        None,
        (fx.sets("compartment_open", False),),
        (fx.announce(Notice.SAME_DICE, "dice.number"),),
    ),
    Row(
        "compartment closed",
        frozenset(P) - ph.SHUT - ph.STOPPED,
        ev.CompartmentClosed,
        COMPARTMENT_CITE,
        (),
        None,
        (fx.sets("compartment_open", False),),
    ),
    *_denied(
        "e-stop",
        ev.EstopPressed,
        Cause.ESTOP,
        estop_pressed,
        "e-stop: nothing moves while it is pressed",
        due=False,
    ),
    Row(
        "e-stop while nothing turns",
        ph.SHUT | ph.STOPPED | ph.STANDING | SETTLED_ON,
        ev.EstopPressed,
        "e-stop: nothing moves while it is pressed",
        (),
        None,
        (estop_pressed,),
    ),
    Row(
        "e-stop released",
        frozenset(P),
        ev.EstopReleased,
        "e-stop: nothing moves while it is pressed",
        (),
        None,
        (fx.sets("estop_pressed", False),),
    ),
    # a cover where none may be
    # a cover hides the dice while the shaker is active (625a, md), or none may be there (ma, 539)
    *_denied(
        "a cover is put on",
        ev.CoverClosed,
        Cause.COVER,
        cover_closed,
        "cover.interlock",
        when=(g.cover_must_be_absent,),
        due=False,
    ),
    # the cover of a covered table
    # a toss that was broken into is no proper toss: void, as if the shaker had failed
    Row(
        "cover opened in the toss: void",
        ph.ENERGISED,
        ev.CoverOpened,
        "void.disturbed",
        (g.covered, g.in_play),
        P.WITHOUT_RESULT,
        (cover_open, fx.ends(Ending.VOID, Cause.COVER), fx.inspection_afterwards),
        (fx.stop_motor(Cause.COVER), *END),
    ),
    Row(
        "cover opened while the motor turns, in a cycle or a trial",
        ph.ENERGISED | phases(P.JOGGING),
        ev.CoverOpened,
        "cover.interlock",
        (g.covered,),
        P.INSPECTION_DUE,
        (cover_open, fx.nothing_passed, fx.lamps_unknown),
        (fx.stop_motor(Cause.COVER), fx.clear_lamps, *DUE),
    ),
    # "no more bets" comes before the reveal, or before activation where nothing hides the dice
    Row(
        "cover opened while bets are open: void",
        phases(P.COVERED),
        ev.CoverOpened,
        "order.nmb_before",
        (),
        P.WITHOUT_RESULT,
        (cover_open, fx.ends(Ending.VOID, Cause.COVER)),
        END,
    ),
    Row(
        "cover on a covered table",
        frozenset(P),
        ev.CoverClosed,
        "cover.interlock",
        (g.covered,),
        None,
        (cover_closed,),
    ),
    Row(
        "cover on, where none may be",
        frozenset(P),
        ev.CoverClosed,
        "cover.interlock",
        (g.cover_must_be_absent,),
        None,
        (cover_closed,),
    ),
    Row(
        "cover off a covered table",
        frozenset(P),
        ev.CoverOpened,
        "cover.interlock",
        (g.covered,),
        None,
        (cover_open,),
    ),
    Row(
        "cover off, where none may be",
        frozenset(P),
        ev.CoverOpened,
        "cover.interlock",
        (g.cover_must_be_absent,),
        None,
        (cover_open,),
    ),
)


# ── Conditions of the inspection that have changed ──────────────────────────

CONDITION_CITE = "opening_inspection.due_again"

CONDITIONS: tuple[Row, ...] = (
    # no clause speaks of a reader: what it sees by concerns no table that plays without it
    Row(
        "light or calibration of a camera that is not in use",
        frozenset(P),
        ev.ConditionChanged,
        "reader_fault.attended",
        (g.camera_idle, g.of_the_camera),
        None,
    ),
    # stopped before the shaker was activated: nothing was played, wagers go back
    Row(
        "settings, light or calibration changed before the toss: the round does not start",
        PRE_TOSS,
        ev.ConditionChanged,
        "not_started.wagers",
        (g.in_play,),
        P.WITHOUT_RESULT,
        (fx.ends(Ending.NOT_STARTED, Cause.CONDITION), fx.inspection_afterwards),
        END,
    ),
    Row(
        "settings, light or calibration changed after no more bets: the round does not start",
        ph.BETS_CLOSED,
        ev.ConditionChanged,
        "not_started.wagers",
        (before_activation,),
        P.WITHOUT_RESULT,
        (fx.ends(Ending.NOT_STARTED, Cause.CONDITION), fx.inspection_afterwards),
        END,
    ),
    # inspected before opening: what has changed since is no longer what was inspected
    Row(
        "settings, light or calibration changed in an inspection: it begins again",
        ph.INSPECTION | ph.SHAKER_IN_USE | ph.TRIALS,
        ev.ConditionChanged,
        CONDITION_CITE,
        (not_in_play,),
        P.INSPECTION_DUE,
        (fx.nothing_passed, fx.lamps_unknown),
        (fx.stop_motor(Cause.CONDITION), fx.stop_reading, fx.clear_lamps, *DUE),
    ),
    Row(
        "settings, light or calibration changed in a round: inspection due afterwards",
        ph.ENERGISED | SETTLED_ON,
        ev.ConditionChanged,
        CONDITION_CITE,
        (),
        None,
        (fx.inspection_afterwards,),
    ),
    Row(
        "settings, light or calibration changed between rounds: inspection due",
        ph.STANDING,
        ev.ConditionChanged,
        CONDITION_CITE,
        (),
        P.INSPECTION_DUE,
        (fx.nothing_passed,),
        DUE,
    ),
    Row(
        "settings, light or calibration changed in a table that is shut",
        ph.SHUT | ph.STOPPED,
        ev.ConditionChanged,
        CONDITION_CITE,
        (),
        None,
        (fx.nothing_passed,),
    ),
)

ROWS: tuple[Row, ...] = (*FAULTS, *DEADLINES, *CONTACTS, *CONDITIONS)


# ── Reported in the same moment ─────────────────────────────────────────────


def precedence(event: ev.Event) -> int:
    """Rank of an event among those of one moment; lower comes first.

    Between evidence against a result and the result, the evidence comes first: an opened
    compartment before the reading that arrives with it. Rest comes before any reading, because a
    reading is an answer to it. A reading comes before the loss of the reader that made it. A
    restart closes the old round before anything of the new life is heard.
    """
    if isinstance(event, ev.Restarted):
        return -1
    if isinstance(event, ev.EstopPressed | ev.ShakerFault):
        return 0
    if isinstance(event, ev.CompartmentOpened | ev.TossDisproved | ev.AtRest):
        return 1
    if isinstance(event, ev.ReadingMade):
        return {NoRoll: 2, Verified: 5}.get(type(event.verdict), 7)
    if isinstance(event, ev.LampFault):
        return 3
    return 6 if isinstance(event, ev.ReaderFault) else 4
