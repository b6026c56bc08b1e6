"""Play with a manual shaker, while the automated one is out of order.

Owns the rows that differ. The electrical device goes on: the dealer calls no more bets, shakes and
uncovers as the text has it, and enters the values twice, because no reading stands beside them.
Lamps, settling and record are those of any round. No motor, contact, light or camera has a part:
what they report is noted, and stops nothing. The opening inspection is that of the lamps.
"""

from __future__ import annotations

from shaker_ctl.rules import effects as fx
from shaker_ctl.rules import events as ev
from shaker_ctl.rules import guards as g
from shaker_ctl.rules import phases as ph
from shaker_ctl.rules.inspection import ALL_SEEN
from shaker_ctl.rules.phases import P, phases
from shaker_ctl.rules.round import AWAIT_DEALER
from shaker_ctl.rules.row import Guard, Row
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.toss import END
from shaker_ctl.rules.vocabulary import Cause, Ending, FaultKind, Notice, Part, ShownPhase

ENTER = (AWAIT_DEALER, fx.announce(Notice.BY_HAND, "entry.announce"))
DUE = fx.announce(Notice.INSPECTION_DUE, "opening_inspection.due_again")


def _contact(on: type[ev.Event], field: str, value: bool, *when: Guard) -> Row:
    return Row(
        f"a contact of the retired shaker: {field.replace('_', ' ')} {'yes' if value else 'no'}",
        frozenset(Phase),
        on,
        "out_of_order.steps",
        when=(g.manual, *when),
        notes=(fx.sets(field, value),),
    )


ROWS: tuple[Row, ...] = (
    # ── from one shaker to the other ──
    # a shaker that cannot be used: dice out, covered or signed, or removed, before a manual one
    Row(
        "out-of-order procedure done: a manual shaker is in use",
        phases(P.OUT_OF_SERVICE),
        ev.ShakerRetired,
        "out_of_order.steps",
        when=(
            *(g.technician_or_in_charge, g.attended, g.by_machine),
            *(g.all_steps_done, g.dice_came_out),
        ),
        to=P.INSPECTION_DUE,
        notes=(fx.dice_kept, fx.retired),
        do=(
            fx.show(ShownPhase.CLOSED),
            fx.announce(Notice.MANUAL_SHAKER, "out_of_order.steps"),
            DUE,
        ),
    ),
    Row(
        "automated shaker back at the table",
        ph.SHUT | ph.STOPPED,
        ev.ShakerRestored,
        "out_of_order.steps",
        when=(g.technician, g.manual),
        to=P.OUT_OF_SERVICE,
        notes=(fx.nothing_passed, fx.dice_kept, fx.restored),
        do=(fx.show(ShownPhase.OUT_OF_SERVICE), fx.announce(Notice.OUT_OF_SERVICE)),
    ),
    # ── what the retired shaker reports ──
    _contact(ev.CompartmentOpened, "compartment_open", True),
    _contact(ev.CompartmentClosed, "compartment_open", False),
    _contact(ev.EstopPressed, "estop_pressed", True),
    _contact(ev.CoverClosed, "cover_closed", True, g.cover_wired),
    _contact(ev.CoverOpened, "cover_closed", False, g.cover_wired),
    *(
        Row(
            f"{kind.value} fault of the retired shaker: not missed",
            frozenset(Phase),
            on,
            "out_of_order.steps",
            when=(g.of_this_or_none, g.manual),
            notes=(fx.not_missed(kind),),
            do=(fx.raise_fault(kind),),
        )
        for kind, on in (
            (FaultKind.SHAKER, ev.ShakerFault),
            (FaultKind.READER, ev.ReaderFault),
        )
    ),
    # ── the opening inspection ──
    # the automated shaker is inspected "if one is in use": here none is
    Row(
        "lamps seen: no automated shaker is in use",
        ALL_SEEN,
        ev.LampsSeen,
        "opening_inspection.lamp_entries",
        when=(g.is_inspector, g.displays_seen, g.manual),
        to=P.TO_BE_SIGNED,
        notes=(fx.passed(Part.LAMPS),),
        do=(fx.hide_every_odds, fx.announce(Notice.SIGN, "opening_inspection.signed_by")),
    ),
    # ── a round ──
    # "no more bets" comes before the shaking (ma, 539), or before the reveal (625a, md)
    Row(
        "bets are closed over a manual shaker: how old are its dice?",
        phases(P.NO_MORE_BETS),
        None,
        "order.manual",
        when=(g.manual,),
        to=P.PLANNING,
        notes=(fx.clock_asked,),
        do=(fx.check_time,),
    ),
    # dice that were placed in a manual shaker are used for 24 hours at most
    Row(
        "young enough: the dealer uncovers, announces and enters",
        phases(P.PLANNING),
        ev.TimeChecked,
        "dice.manual",
        when=(g.of_this_question, g.manual, g.still_admitted),
        to=P.AWAITING_DEALER,
        notes=(fx.unreadable("a manual shaker is in use"),),
        do=ENTER,
    ),
    # the text governs on its days alone, and an untrusted clock starts nothing
    Row(
        "the text ended or the clock lost its trust over a manual shaker: the round does not start",
        phases(P.PLANNING),
        ev.TimeChecked,
        "in_force.last_day",
        when=(g.of_this_question, g.manual, g.no_longer_in_force),
        to=P.WITHOUT_RESULT,
        notes=(fx.ends(Ending.NOT_STARTED, Cause.CLOCK),),
        do=END,
    ),
    # dice that were placed in a manual shaker are used for 24 hours at most
    Row(
        "the manual shaker's dice grew too old while bets were open: the round does not start",
        phases(P.PLANNING),
        ev.TimeChecked,
        "dice.manual",
        when=(g.of_this_question, g.manual),
        to=P.WITHOUT_RESULT,
        notes=(fx.ends(Ending.NOT_STARTED, Cause.DICE),),
        do=END,
    ),
)
