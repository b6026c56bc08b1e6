"""Opening inspection and shift inspection.

Owns the rows from *inspection due* to the signature. The device runs lamps and cycles by itself, a
person begins, looks and signs:

1. three lamp entries that between them show a triple, a pair and three different values, each
   read back lamp by lamp and cleared;
2. every lamp alone, lit and dark, read back; then the person confirms having seen them;
3. good shaker cycles in a row, as many as the profile says. Good: properly tossed by tachometer
   and camera, and at rest flat and readable. Another cycle restarts the count; three of those in a
   row are a shaker fault;
4. the signature of a role that the profile names.

Anything that opens, breaks or changes on the way begins it all again.
"""

from __future__ import annotations

from shaker_ctl.rules import effects as fx
from shaker_ctl.rules import events as ev
from shaker_ctl.rules import guards as g
from shaker_ctl.rules import phases as ph
from shaker_ctl.rules.phases import P, phases
from shaker_ctl.rules.row import Act, Guard, Note, Row
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.vocabulary import Cause, FaultKind, Notice, Part, Purpose, ShownPhase

LAMPS_CITE = "opening_inspection.lamp_entries"
CYCLES_CITE = "opening_inspection.cycles"
SHIFT_CITE = "shift_inspection.required"


def _cycle(
    name: str,
    at: Phase,
    on: type[ev.Event] | None,
    cites: str,
    when: tuple[Guard, ...],
    notes: tuple[Note, ...],
    do: tuple[Act, ...] = (),
) -> tuple[Row, Row]:
    """Rows that begin a shaker cycle: with the cover where one is fitted, or straight."""
    covering: tuple[Act, ...] = (*do, fx.light_on, fx.note_poses, fx.close_cover)
    straight: tuple[Act, ...] = (*do, fx.light_on, fx.note_poses, fx.draw_toss_plan)
    return (
        Row(f"{name}, under the cover", phases(at), on, cites, (*when, g.covered), P.COVERING,
            notes, covering),
        Row(name, phases(at), on, cites, when, P.PLANNING, notes, straight),
    )  # fmt: skip


ROWS: tuple[Row, ...] = (
    # ── lamps ──
    Row(
        "inspection begins with the lamps",
        phases(P.INSPECTION_DUE),
        ev.InspectionRequested,
        LAMPS_CITE,
        when=(g.in_charge, g.nothing_denies, g.with_lamps),
        to=P.LAMP_ENTRY,
        notes=(
            fx.numbered(Purpose.INSPECTION),
            fx.inspector_named,
            fx.part_asked,
            fx.first_entry,
            fx.lamps_unknown,
        ),
        do=(fx.show(ShownPhase.INSPECTION), fx.push_lamps),
    ),
    Row(
        "lamp entry illuminated",
        phases(P.LAMP_ENTRY),
        ev.LampsShown,
        LAMPS_CITE,
        when=(g.of_this, g.same_values),
        to=P.LAMP_ENTRY_CLEARING,
        notes=(fx.lamps_lit,),
        do=(fx.clear_lamps,),
    ),
    Row(
        "lamp entries done",
        phases(P.LAMP_ENTRY_CLEARING),
        ev.LampsDark,
        LAMPS_CITE,
        when=(g.of_this, g.last_entry),
        to=P.EACH_LAMP,
        notes=(fx.numbered(Purpose.INSPECTION), fx.lamps_unknown),
        do=(fx.prove_every_lamp,),
    ),
    Row(
        "next lamp entry",
        phases(P.LAMP_ENTRY_CLEARING),
        ev.LampsDark,
        LAMPS_CITE,
        when=(g.of_this,),
        to=P.LAMP_ENTRY,
        notes=(fx.numbered(Purpose.INSPECTION), fx.next_entry, fx.lamps_unknown),
        do=(fx.push_lamps,),
    ),
    Row(
        "every lamp proved",
        phases(P.EACH_LAMP),
        ev.EachLampProved,
        "opening_inspection.each_lamp",
        when=(g.of_this, g.every_area),
        to=P.LAMPS_TO_BE_SEEN,
        notes=(fx.lamps_dark,),
        do=(fx.announce(Notice.LAMPS_SEEN, "opening_inspection.each_lamp"),),
    ),
    *_cycle(
        "lamps seen: on to the shaker",
        P.LAMPS_TO_BE_SEEN,
        ev.LampsSeen,
        CYCLES_CITE,
        (g.may_sign, g.whole_inspection),
        (fx.passed(Part.LAMPS), fx.numbered(Purpose.INSPECTION)),
    ),
    Row(
        "lamps seen: both parts have passed",
        phases(P.LAMPS_TO_BE_SEEN),
        ev.LampsSeen,
        LAMPS_CITE,
        when=(g.may_sign, g.shaker_passed),
        to=P.TO_BE_SIGNED,
        notes=(fx.passed(Part.LAMPS),),
        do=(fx.announce(Notice.SIGN, "opening_inspection.signed_by"),),
    ),
    Row(
        "lamps seen: the shaker is still due",
        phases(P.LAMPS_TO_BE_SEEN),
        ev.LampsSeen,
        LAMPS_CITE,
        when=(g.may_sign,),
        to=P.INSPECTION_DUE,
        notes=(fx.passed(Part.LAMPS),),
        do=(fx.show(ShownPhase.CLOSED), fx.announce(Notice.INSPECTION_DUE, CYCLES_CITE)),
    ),
    # ── shaker ──
    *_cycle(
        "inspection of the shaker begins",
        P.INSPECTION_DUE,
        ev.InspectionRequested,
        CYCLES_CITE,
        (g.in_charge, g.nothing_denies),
        (fx.numbered(Purpose.INSPECTION), fx.inspector_named, fx.part_asked),
        (fx.show(ShownPhase.INSPECTION),),
    ),
    *_cycle(
        "shift inspection begins",
        P.READY,
        ev.ShiftInspectionRequested,
        SHIFT_CITE,
        (g.may_inspect_shift, g.shift_due, g.nothing_denies),
        (fx.numbered(Purpose.SHIFT), fx.inspector_named),
        (fx.show(ShownPhase.INSPECTION),),
    ),
    Row(
        "trial toss finished",
        phases(P.CYCLE_DONE),
        None,
        "technician's trial, table shut",
        when=(g.negated(g.inspecting),),
        to=P.INSPECTION_DUE,
        notes=(fx.no_cycles_left,),
        do=(fx.show(ShownPhase.CLOSED),),
    ),
    Row(
        "last good cycle of a shift inspection",
        phases(P.CYCLE_DONE),
        None,
        SHIFT_CITE,
        when=(g.read_verified, g.last_good_cycle, g.negated(g.opening_inspection)),
        to=P.TO_BE_SIGNED,
        notes=(fx.no_cycles_left,),
        do=(fx.announce(Notice.SIGN, "shift_inspection.signed_by"),),
    ),
    Row(
        "last good cycle: both parts have passed",
        phases(P.CYCLE_DONE),
        None,
        CYCLES_CITE,
        when=(g.read_verified, g.last_good_cycle, g.lamps_passed),
        to=P.TO_BE_SIGNED,
        notes=(fx.no_cycles_left,),
        do=(fx.announce(Notice.SIGN, "opening_inspection.signed_by"),),
    ),
    Row(
        "last good cycle: the lamps are still due",
        phases(P.CYCLE_DONE),
        None,
        CYCLES_CITE,
        when=(g.read_verified, g.last_good_cycle),
        to=P.INSPECTION_DUE,
        notes=(fx.no_cycles_left, fx.passed(Part.SHAKER)),
        do=(fx.show(ShownPhase.CLOSED), fx.announce(Notice.INSPECTION_DUE, LAMPS_CITE)),
    ),
    *_cycle(
        "good cycle",
        P.CYCLE_DONE,
        None,
        CYCLES_CITE,
        (g.read_verified,),
        (fx.one_more_good, fx.next_number),
    ),
    Row(
        "three bad cycles in a row",
        phases(P.CYCLE_DONE),
        None,
        "opening_inspection.consecutive",
        when=(g.last_bad_cycle,),
        to=P.OUT_OF_SERVICE,
        notes=(fx.nothing_passed, fx.broken(FaultKind.SHAKER)),
        do=(
            fx.raise_fault(FaultKind.SHAKER, "inspection-cycles"),
            fx.show(ShownPhase.OUT_OF_SERVICE),
            fx.announce(Notice.OUT_OF_SERVICE),
        ),
    ),
    *_cycle(
        "bad cycle: the count restarts",
        P.CYCLE_DONE,
        None,
        "opening_inspection.consecutive",
        (),
        (fx.one_more_bad, fx.next_number),
    ),
    # ── signature ──
    Row(
        "opening inspection signed",
        phases(P.TO_BE_SIGNED),
        ev.Signed,
        "opening_inspection.signed_by",
        when=(g.may_sign, g.opening_inspection),
        to=P.INSPECTED,
        notes=(fx.signed,),
        do=(
            fx.show(ShownPhase.CLOSED),
            fx.announce(Notice.INSPECTED, "opening_inspection.signed_by"),
        ),
    ),
    Row(
        "shift inspection signed",
        phases(P.TO_BE_SIGNED),
        ev.Signed,
        "shift_inspection.signed_by",
        when=(g.may_sign,),
        to=P.READY,
        notes=(fx.shift_signed,),
        do=(fx.announce(Notice.INSPECTED, "shift_inspection.signed_by"),),
    ),
    Row(
        "a shift begins",
        ph.SHUT | ph.STANDING | ph.STOPPED | ph.INSPECTION | ph.IN_ROUND | ph.TRIALS,
        ev.ShiftBegan,
        SHIFT_CITE,
        when=(g.in_charge, g.with_shift_inspection),
        notes=(fx.sets("shift_due", True),),
        do=(fx.announce(Notice.SHIFT_DUE, SHIFT_CITE),),
    ),
    Row(
        "inspection or trial abandoned",
        ph.INSPECTION | ph.SHAKER_IN_USE | ph.TRIALS,
        ev.InspectionAbandoned,
        "opening_inspection.signed_by",
        when=(g.technician_or_in_charge, g.negated(g.in_play)),
        to=P.INSPECTION_DUE,
        notes=(fx.nothing_passed, fx.lamps_unknown),
        do=(
            fx.stop_motor(Cause.CLOSED),
            fx.stop_reading,
            fx.clear_lamps,
            fx.show(ShownPhase.CLOSED),
            fx.announce(Notice.INSPECTION_DUE, "opening_inspection.due_again"),
        ),
    ),
)
