"""Opening inspection and shift inspection.

Owns the rows from *inspection due* to the signature. A person inspects; the device shows, measures
and keeps the record:

1. lamp entries: three values of the person's own choice, as often as the profile says or oftener.
   What they win is lit, read back, named, and stays lit until the person says `seen`, or which
   lamp is wrong;
2. every lamp alone, each for long enough to be seen; the person may pause, go back and repeat;
   then, where multipliers are offered, every display with its highest odds;
3. cycles of the shaker, as many good ones in a row as the profile says. The person starts each and
   says whether the dice were properly tossed. It is good when tachometer and camera say so, too,
   and the dice lie flat. Another cycle restarts the count; three of those in a row are a fault;
4. the signature. Who saw is who signs: nobody else may go on with an inspection in hand.

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
from shaker_ctl.rules.vocabulary import (
    Cause,
    FaultKind,
    Notice,
    Part,
    Purpose,
    ShownPhase,
    WalkStep,
)

LAMPS_CITE = "opening_inspection.lamp_entries"
CYCLES_CITE = "opening_inspection.cycles"
ODDS_CITE = "multipliers.displays"
SHIFT_CITE = "shift_inspection.required"


def _cycle(
    name: str,
    at: Phase,
    on: type[ev.Event],
    cites: str,
    when: tuple[Guard, ...],
    notes: tuple[Note, ...],
) -> tuple[Row, Row]:
    """Rows that begin a shaker cycle: with the cover where one is fitted, or straight."""
    covering: tuple[Act, ...] = (fx.light_on, fx.note_poses, fx.close_cover)
    straight: tuple[Act, ...] = (fx.light_on, fx.note_poses, fx.draw_toss_plan)
    return (
        Row(f"{name}, under the cover", phases(at), on, cites, (*when, g.covered), P.COVERING,
            notes, covering),
        Row(name, phases(at), on, cites, when, P.PLANNING, notes, straight),
    )  # fmt: skip


ALL_SEEN = phases(P.LAMPS_TO_BE_SEEN, P.ODDS_TO_BE_SEEN)
"""The whole walk was seen; where multipliers are offered, their displays are seen after it."""

NEXT_CYCLE = fx.announce(Notice.CYCLE, CYCLES_CITE)

ROWS: tuple[Row, ...] = (
    # ── lamps ──
    # three numeric values are entered; all that they win must be seen to light
    Row(
        "inspection begins with the lamps",
        phases(P.INSPECTION_DUE),
        ev.InspectionRequested,
        LAMPS_CITE,
        when=(g.may_inspect, g.nothing_denies, g.with_lamps),
        to=P.LAMP_VALUES_AWAITED,
        notes=(
            fx.numbered(Purpose.INSPECTION),
            fx.inspector_named,
            fx.parts_kept,
            fx.part_asked,
            fx.no_entry,
        ),
        do=(
            fx.show(ShownPhase.INSPECTION),
            fx.announce(Notice.LAMP_VALUES, LAMPS_CITE),
        ),
    ),
    Row(
        "values of the person's choice are illuminated",
        phases(P.LAMP_VALUES_AWAITED),
        ev.LampValuesEntered,
        LAMPS_CITE,
        when=(g.is_inspector, g.possible_values),
        to=P.LAMP_ENTRY,
        notes=(fx.numbered(Purpose.INSPECTION), fx.values_chosen, fx.lamps_unknown),
        do=(fx.push_lamps,),
    ),
    Row(
        "lamp entry illuminated: look",
        phases(P.LAMP_ENTRY),
        ev.LampsShown,
        LAMPS_CITE,
        when=(g.of_this, g.same_values),
        to=P.LAMP_ENTRY_LIT,
        notes=(fx.lamps_lit,),
        do=(fx.announce_won(Notice.LOOK, LAMPS_CITE),),
    ),
    Row(
        "lit for as long as a look takes",
        phases(P.LAMP_ENTRY_LIT),
        ev.TimerExpired,
        LAMPS_CITE,
        when=(g.of_this_phase, g.of_this),
        to=P.LAMP_ENTRY_TO_BE_SEEN,
        do=(fx.announce(Notice.SAY_SEEN, LAMPS_CITE),),
    ),
    Row(
        "lamp entry seen",
        phases(P.LAMP_ENTRY_TO_BE_SEEN),
        ev.LampsSeen,
        LAMPS_CITE,
        when=(g.is_inspector,),
        to=P.LAMP_ENTRY_CLEARING,
        notes=(fx.entry_seen,),
        do=(fx.clear_lamps,),
    ),
    Row(
        "lamp entry dark again",
        phases(P.LAMP_ENTRY_CLEARING),
        ev.LampsDark,
        LAMPS_CITE,
        when=(g.of_this,),
        to=P.LAMP_VALUES_AWAITED,
        notes=(fx.lamps_dark,),
        do=(fx.announce(Notice.LAMP_VALUES, LAMPS_CITE),),
    ),
    # "all winning combinations": every lamp is seen lit and dark
    Row(
        "the walk over every lamp begins",
        phases(P.LAMP_VALUES_AWAITED),
        ev.WalkRequested,
        "opening_inspection.each_lamp",
        when=(g.is_inspector, g.enough_entries),
        to=P.EACH_LAMP,
        notes=(fx.numbered(Purpose.INSPECTION), fx.lamps_unknown),
        do=(fx.prove_every_lamp,),
    ),
    Row(
        "the walk is paused",
        phases(P.EACH_LAMP),
        ev.WalkSteered,
        "opening_inspection.each_lamp",
        when=(g.is_inspector, g.steers(WalkStep.PAUSE)),
        to=P.WALK_PAUSED,
        do=(fx.steer_walk,),
    ),
    Row(
        "the walk goes on",
        phases(P.WALK_PAUSED),
        ev.WalkSteered,
        "opening_inspection.each_lamp",
        when=(g.is_inspector, g.steers(WalkStep.ON)),
        to=P.EACH_LAMP,
        do=(fx.steer_walk,),
    ),
    *(
        Row(
            f"a lamp of the walk once more: {step.value}, {at.value.replace('_', ' ')}",
            phases(at),
            ev.WalkSteered,
            "opening_inspection.each_lamp",
            when=(g.is_inspector, g.steers(step)),
            to=at,
            do=(fx.steer_walk,),
        )
        for at in (P.EACH_LAMP, P.WALK_PAUSED)
        for step in (WalkStep.BACK, WalkStep.AGAIN)
    ),
    Row(
        "every lamp proved: has the person seen them?",
        ph.WALK,
        ev.EachLampProved,
        "opening_inspection.each_lamp",
        when=(g.of_this, g.every_area),
        to=P.LAMPS_TO_BE_SEEN,
        notes=(fx.lamps_dark,),
        do=(fx.announce(Notice.LAMPS_SEEN, "opening_inspection.each_lamp"),),
    ),
    Row(
        "the whole walk once more",
        phases(P.LAMPS_TO_BE_SEEN),
        ev.WalkSteered,
        "opening_inspection.each_lamp",
        when=(g.is_inspector, g.steers(WalkStep.AGAIN)),
        to=P.EACH_LAMP,
        notes=(fx.numbered(Purpose.INSPECTION), fx.lamps_unknown),
        do=(fx.prove_every_lamp,),
    ),
    # the shaker is operated three times, and the dice are seen to be properly tossed
    Row(
        "lamps seen: on to the shaker",
        ALL_SEEN,
        ev.LampsSeen,
        CYCLES_CITE,
        when=(g.is_inspector, g.displays_seen, g.whole_inspection),
        to=P.CYCLE_AWAITED,
        notes=(fx.passed(Part.LAMPS),),
        do=(fx.hide_every_odds, NEXT_CYCLE),
    ),
    # three numeric values are entered; all that they win must be seen to light
    Row(
        "lamps seen: both parts have passed",
        ALL_SEEN,
        ev.LampsSeen,
        LAMPS_CITE,
        when=(g.is_inspector, g.displays_seen, g.shaker_passed),
        to=P.TO_BE_SIGNED,
        notes=(fx.passed(Part.LAMPS),),
        do=(fx.hide_every_odds, fx.announce(Notice.SIGN, "opening_inspection.signed_by")),
    ),
    Row(
        "lamps seen: the shaker is still due",
        ALL_SEEN,
        ev.LampsSeen,
        LAMPS_CITE,
        when=(g.is_inspector, g.displays_seen),
        to=P.INSPECTION_DUE,
        notes=(fx.passed(Part.LAMPS),),
        do=(
            fx.hide_every_odds,
            fx.show(ShownPhase.CLOSED),
            fx.announce(Notice.INSPECTION_DUE, CYCLES_CITE),
        ),
    ),
    # the device shows multiplied wagers and their odds (625b): it is in proper working order, too
    Row(
        "lamps seen: every multiplier display shows its highest odds",
        phases(P.LAMPS_TO_BE_SEEN),
        ev.LampsSeen,
        ODDS_CITE,
        when=(g.is_inspector,),
        to=P.ODDS_TRIED,
        do=(fx.show_every_odds,),
    ),
    Row(
        "multiplier displays proved: has the person seen them?",
        phases(P.ODDS_TRIED),
        ev.MultipliersShown,
        ODDS_CITE,
        when=(g.of_this,),
        to=P.ODDS_TO_BE_SEEN,
        do=(fx.announce(Notice.ODDS_SEEN, ODDS_CITE),),
    ),
    # ── shaker ──
    # the shaker is operated three times, and the dice are seen to be properly tossed
    Row(
        "inspection of the shaker begins",
        phases(P.INSPECTION_DUE),
        ev.InspectionRequested,
        CYCLES_CITE,
        when=(g.may_inspect, g.by_machine, g.nothing_denies),
        to=P.CYCLE_AWAITED,
        notes=(fx.numbered(Purpose.INSPECTION), fx.inspector_named, fx.parts_kept, fx.part_asked),
        do=(fx.show(ShownPhase.INSPECTION), NEXT_CYCLE),
    ),
    # at the beginning of each shift the casino supervisor inspects the shaker (ma)
    Row(
        "shift inspection begins",
        phases(P.READY),
        ev.ShiftInspectionRequested,
        SHIFT_CITE,
        when=(g.may_inspect_shift, g.shift_due, g.nothing_denies),
        to=P.CYCLE_AWAITED,
        notes=(fx.numbered(Purpose.SHIFT), fx.inspector_named, fx.shift_taken_up),
        do=(fx.show(ShownPhase.INSPECTION), NEXT_CYCLE),
    ),
    *_cycle(
        "a cycle is started",
        P.CYCLE_AWAITED,
        ev.CycleRequested,
        CYCLES_CITE,
        (g.is_inspector, g.nothing_denies),
        (fx.next_number,),
    ),
    Row(
        "seen: properly tossed",
        phases(P.CYCLE_TO_BE_JUDGED),
        ev.CycleJudged,
        CYCLES_CITE,
        when=(g.is_inspector, g.properly_tossed),
        to=P.CYCLE_DONE,
        do=(fx.announce_values(Notice.CYCLE_GOOD, CYCLES_CITE),),
    ),
    Row(
        "seen: not properly tossed",
        phases(P.CYCLE_TO_BE_JUDGED),
        ev.CycleJudged,
        CYCLES_CITE,
        when=(g.is_inspector,),
        to=P.CYCLE_DONE,
        notes=(fx.not_tossed,),
        do=(fx.announce(Notice.CYCLE_BAD, CYCLES_CITE),),
    ),
    Row(
        "trial toss finished",
        phases(P.CYCLE_DONE),
        None,
        "technician's trial, table shut",
        when=(g.negated(g.inspecting, "an inspection is under way"),),
        to=P.INSPECTION_DUE,
        notes=(fx.no_cycles_left,),
    ),
    # at the beginning of each shift the casino supervisor inspects the shaker (ma)
    Row(
        "last good cycle of a shift inspection",
        phases(P.CYCLE_DONE),
        None,
        SHIFT_CITE,
        when=(
            g.good_cycle,
            g.last_good_cycle,
            g.negated(g.opening_inspection, "this is the opening inspection"),
        ),
        to=P.TO_BE_SIGNED,
        notes=(fx.no_cycles_left,),
        do=(fx.announce(Notice.SIGN, "shift_inspection.signed_by"),),
    ),
    # the shaker is operated three times, and the dice are seen to be properly tossed
    Row(
        "last good cycle: both parts have passed",
        phases(P.CYCLE_DONE),
        None,
        CYCLES_CITE,
        when=(g.good_cycle, g.last_good_cycle, g.lamps_passed),
        to=P.TO_BE_SIGNED,
        notes=(fx.no_cycles_left,),
        do=(fx.announce(Notice.SIGN, "opening_inspection.signed_by"),),
    ),
    Row(
        "last good cycle: the lamps are still due",
        phases(P.CYCLE_DONE),
        None,
        CYCLES_CITE,
        when=(g.good_cycle, g.last_good_cycle),
        to=P.INSPECTION_DUE,
        notes=(fx.no_cycles_left, fx.passed(Part.SHAKER)),
        do=(fx.show(ShownPhase.CLOSED), fx.announce(Notice.INSPECTION_DUE, LAMPS_CITE)),
    ),
    Row(
        "good cycle",
        phases(P.CYCLE_DONE),
        None,
        CYCLES_CITE,
        when=(g.good_cycle,),
        to=P.CYCLE_AWAITED,
        notes=(fx.one_more_good, fx.cycle_forgotten),
        do=(NEXT_CYCLE,),
    ),
    # three operations, read as three good ones in a row
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
    Row(
        "bad cycle: the count restarts",
        phases(P.CYCLE_DONE),
        None,
        "opening_inspection.consecutive",
        to=P.CYCLE_AWAITED,
        notes=(fx.one_more_bad, fx.cycle_forgotten),
        do=(NEXT_CYCLE,),
    ),
    # ── signature ──
    # at the beginning of each shift the casino supervisor inspects the shaker (ma): not later
    Row(
        "the shift's cycles are too old to be signed: they are due again",
        phases(P.TO_BE_SIGNED),
        ev.Signed,
        "shift_inspection.signed_by",
        when=(
            *(g.is_inspector, g.parts_aged),
            g.negated(g.opening_inspection, "this is the opening inspection"),
        ),
        to=P.READY,
        notes=(fx.shift_aged,),
        do=(fx.announce(Notice.SHIFT_DUE, SHIFT_CITE),),
    ),
    # the floorperson inspects before the table opens: not long before
    Row(
        "a part was inspected too long ago to be signed: inspection due",
        phases(P.TO_BE_SIGNED),
        ev.Signed,
        "opening_inspection.signed_by",
        when=(g.is_inspector, g.parts_aged),
        to=P.INSPECTION_DUE,
        notes=(fx.nothing_passed,),
        do=(
            fx.show(ShownPhase.CLOSED),
            fx.announce(Notice.INSPECTION_DUE, "opening_inspection.signed_by"),
        ),
    ),
    # the floorperson inspects before the table opens
    Row(
        "opening inspection signed",
        phases(P.TO_BE_SIGNED),
        ev.Signed,
        "opening_inspection.signed_by",
        when=(g.is_inspector, g.opening_inspection),
        to=P.INSPECTED,
        notes=(fx.signed,),
        do=(
            fx.show(ShownPhase.CLOSED),
            fx.announce(Notice.INSPECTED, "opening_inspection.signed_by"),
        ),
    ),
    # the casino supervisor assigned to the table is who inspects, and signs (ma)
    Row(
        "shift inspection signed",
        phases(P.TO_BE_SIGNED),
        ev.Signed,
        "shift_inspection.signed_by",
        when=(g.is_inspector,),
        to=P.READY,
        notes=(fx.shift_signed,),
        do=(fx.announce(Notice.INSPECTED, "shift_inspection.signed_by"),),
    ),
    # at the beginning of each shift the casino supervisor inspects the shaker (ma)
    Row(
        "a shift begins",
        ph.SHUT | ph.STANDING | ph.STOPPED | ph.INSPECTION | ph.IN_ROUND | ph.TRIALS,
        ev.ShiftBegan,
        SHIFT_CITE,
        when=(g.in_charge_or_clock, g.with_shift_inspection),
        notes=(fx.sets("shift_due", True),),
        do=(fx.announce(Notice.SHIFT_DUE, SHIFT_CITE),),
    ),
    Row(
        "inspection or trial abandoned",
        ph.INSPECTION | ph.SHAKER_IN_USE | ph.TRIALS,
        ev.InspectionAbandoned,
        "opening_inspection.signed_by",
        when=(g.technician_or_in_charge, g.negated(g.in_play, "a round is in play")),
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
