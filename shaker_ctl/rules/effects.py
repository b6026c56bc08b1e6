"""What rows note in the state, and what they have done: notes and acts.

Owns the builders. A note returns changes to the state; an act returns a command, built from the
state after the row. Must not decide anything: deciding is the table's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from shaker_ctl.rules import commands as do
from shaker_ctl.rules.agreement import About, Agreement, is_alike, waiting
from shaker_ctl.rules.guards import aged, barrier, is_same_in_role, looks_on, plainly, said_first
from shaker_ctl.rules.multipliers import highest
from shaker_ctl.rules.outcome import Area, Values
from shaker_ctl.rules.regulation import Consequence, NmbBefore
from shaker_ctl.rules.row import Act, Cites, Context, Note, cited
from shaker_ctl.rules.rulebook import Rulebook
from shaker_ctl.rules.state import (
    After,
    Doubt,
    Inspection,
    Lamps,
    Phase,
    Result,
    Round,
    Said,
    Shake,
    forgotten,
)
from shaker_ctl.rules.vocabulary import (
    Barrier,
    Cause,
    Correction,
    DiceSet,
    Ending,
    FaultKind,
    Multiplied,
    Notice,
    Occasion,
    Part,
    Purpose,
    Shown,
    ShownPhase,
    Source,
    WagersDo,
    plain,
)
from vision.reading import Unreadable, Verdict, Verified

Changes = dict[str, Any]


# ── Notes: contacts ─────────────────────────────────────────────────────────


def sets(field: str, value: object) -> Note:
    """A note that sets one field to a fixed value."""
    return noting(**{field: value})


def noting(**changes: object) -> Note:
    """A note that is the same in every state."""

    def note(_: Context) -> Changes:
        return changes

    return note


def taking(field: str, of_event: str) -> Note:
    """A note that takes a field of the event over."""

    def note(c: Context) -> Changes:
        return {field: getattr(c.event, of_event)}

    return note


part_asked = taking("part", "part")
plan_drawn = taking("plan", "plan")
values_chosen = taking("values", "values")
multipliers_drawn = taking("multipliers", "multipliers")
reading_made = taking("reading", "verdict")
late_reading = taking("by_eye", "verdict")


def contacts_as_read(c: Context) -> Changes:
    """Take over what the contacts say at a start. A lid that is shut now may have been open
    without power: unless its flag stands, somebody has to say which dice are in the compartment.
    """
    e = c.event
    opened = e.compartment_open or not e.compartment_stayed_locked
    in_doubt = not c.state.manual and (c.state.dice_in_doubt or opened)
    return {
        **(_no_more_said(c, About.DICE) if in_doubt else {}),
        "compartment_open": e.compartment_open,
        "dice_in_doubt": in_doubt,
        "dice_reached": in_doubt and (c.state.dice_reached or e.compartment_open),
        "estop_pressed": e.estop_pressed,
        "cover_closed": e.cover_closed and (c.rules.covered or c.rules.cover_must_be_absent),
    }


def restarted_in_a_round(c: Context) -> Changes:
    """Nothing is known of the lamps, nothing that one person named counts; then inspected."""
    follows = inspection_afterwards(c)
    return {**contacts_as_read(c), **follows, **lamps_unknown(c), **nothing_named(c)}


# ── Notes: what is broken, what is due ──────────────────────────────────────


def broken(kind: FaultKind) -> Note:
    """A fault keeps a table out of service by itself, whatever a trial began from."""

    def note(c: Context) -> Changes:
        after = c.state.after
        return {
            "faults": c.state.faults | {kind},
            "passed": frozenset(),
            "after": After.NEXT_ROUND if after is After.OUT_OF_SERVICE else after,
        }

    return note


def not_missed(kind: FaultKind) -> Note:
    """Broken, and not in use: it has to be mended before it is used again."""

    return lambda c: {"faults": c.state.faults | {kind}}


def retired(_: Context) -> Changes:
    """From here on a manual shaker is in use; its dice are recorded anew."""
    return {**restored(_), "manual": True, "camera_off": False, "shift_due": False}


restored = noting(manual=False, dice=None, dice_untried=False)


def mended(c: Context) -> Changes:
    faults = c.state.faults - {c.event.kind}
    return {"faults": faults, "camera_off": c.state.camera_off and FaultKind.READER in faults}


inspection_afterwards = noting(after=After.INSPECTION)
next_round_afterwards = noting(after=After.NEXT_ROUND)


def out_of_service_afterwards(c: Context) -> Changes:
    """A trial returns no table to service."""
    out = c.state.phase is Phase.OUT_OF_SERVICE
    return {"after": After.OUT_OF_SERVICE} if out else {}


def close_afterwards(c: Context) -> Changes:
    """An inspection that is due outranks closing."""
    return {} if c.state.after is After.INSPECTION else {"after": After.CLOSE}


def nothing_passed(_: Context) -> Changes:
    """Whatever was inspected has to be inspected again."""
    return {**forgotten(Inspection, Shake), "reveal_overdue": False, "values": None, "barred": None}


def compartment_opened(c: Context) -> Changes:
    """Whoever agrees to a correction sees the dice as they fell: now nobody does. Nor are they
    the dice whose serials one person has named before."""
    opened = {"compartment_open": True, "dice_in_doubt": True, "dice_reached": True}
    return {**opened, **_no_more_said(c, About.DICE, About.RESULT, About.SEEN)}


def lid_released(c: Context) -> Changes:
    """A pulse on the latch is an opening, whatever the lid's contact says of it."""
    opened = {"dice_in_doubt": True, "dice_reached": True, "stated": None}
    return {} if c.state.manual else opened


REMEMBERED_DICE = 3 * 10 * 31
"""Serials that are kept: ten changes a day for a month, the longest that dice are used."""


def dice_recorded(c: Context) -> Changes:
    """Where two persons name them, they are in since the first did."""
    used = (*c.state.used_dice, *c.event.serials)[-REMEMBERED_DICE:]
    named = waiting(c.state.stated, About.DICE)
    since = min(named.at, c.event.at) if named and named.at else c.event.at
    return {
        **dice_kept(c),
        "dice": DiceSet(c.event.serials, since),
        "dice_untried": True,
        "used_dice": used,
    }


def serials_put_right(c: Context) -> Changes:
    """The same dice under their own serials: they have been in since they were recorded."""
    dice = c.state.dice
    assert dice is not None
    own = plainly(dice.serials)
    others = [each for each in c.state.used_dice if plain(each) not in own]
    return {
        "dice": DiceSet(c.event.serials, dice.installed_at),
        "stated": None,
        "used_dice": (*others, *c.event.serials)[-REMEMBERED_DICE:],
    }


def dice_named(c: Context) -> Changes:
    """By the first of two persons: other dice, other serials, or that those on record are in it."""
    e, dice = c.event, c.state.dice
    serials = getattr(e, "serials", dice.serials if dice else ())
    return {"stated": Agreement(About.DICE, e.person, serials, getattr(e, "at", None))}


def dice_kept(_: Context) -> Changes:
    """Other dice that one person named before are named no longer."""
    return {**forgotten(Doubt), "stated": None}


def why_barred(c: Context) -> Changes:
    return {"barred": barrier(c)}


def clock_asked(c: Context) -> Changes:
    """Each question has a number of its own, so that a late answer answers no later question."""
    return {"serial": c.state.serial + 1}


clock_silent = sets("barred", Barrier.CLOCK_SILENT)
unbarred = sets("barred", None)


# ── Notes: inspections and trials ───────────────────────────────────────────


def numbered(purpose: Purpose) -> Note:
    """Begin an entry, a cycle or a trial under a number of its own."""

    return lambda c: {**next_number(c), "purpose": purpose, "dice_untried": False}


def next_number(c: Context) -> Changes:
    """The next cycle of the same inspection."""
    return {**forgotten(Shake), "serial": c.state.serial + 1}


def cycle_forgotten(_: Context) -> Changes:
    """Nothing of a judged cycle reaches the next one."""
    return forgotten(Shake)


def inspector_named(c: Context) -> Changes:
    """Other dice that one person named before are named no longer."""
    return {"inspector": c.event.person, "stated": None, "good": 0, "bad": 0}


def parts_kept(c: Context) -> Changes:
    """Who saw is who signs: what another person saw before has to be seen again, and what this one
    saw too long ago. The age is that of the oldest part, from when it was begun.
    """
    s, e = c.state, c.event
    seen = s.passed if is_same_in_role(e.person, s.inspector) else frozenset()
    kept = frozenset() if e.part is Part.ALL else seen - {e.part}
    if aged(c.rules, s.inspected_since, e.at):
        kept = frozenset()
    return {"passed": kept, "inspected_since": s.inspected_since if kept else e.at}


def entry_seen(c: Context) -> Changes:
    """One more entry was seen lit; what it showed is kept, for the house's suggestions."""
    values = c.state.values
    assert values is not None
    different = len(set(values))
    shown = {{1: Shown.TRIPLE, 2: Shown.PAIR}.get(different)} - {None}
    if different > 1:
        shown.add(Shown.SMALL if sum(values) <= 10 else Shown.BIG)
    return {
        "entry": min(c.state.entry + 1, c.rules.lamp_entries),
        "shown": c.state.shown | shown,
        "values": None,
    }


signature_used = noting(signed_at=None, inspected_since=None)
not_tossed = sets("reading", Unreadable.of("the inspecting person saw no proper toss"))


def one_more_good(c: Context) -> Changes:
    return {"good": c.state.good + 1, "bad": 0}


def one_more_bad(c: Context) -> Changes:
    """A bad cycle restarts the count."""
    return {"good": 0, "bad": c.state.bad + 1}


no_cycles_left = noting(good=0, bad=0, reading=None)


_NO_ENTRY: Changes = {"entry": 0, "shown": frozenset(), "values": None}


def passed(part: Part) -> Note:
    return lambda c: {**_NO_ENTRY, "passed": c.state.passed | {part}}


def signed(c: Context) -> Changes:
    return {
        "signed_by": c.event.person,
        "signed_at": c.event.at,
        "inspector": None,
        "part": None,
        "passed": frozenset(),
        "purpose": Purpose.PLAY,
    }


def shift_begins(c: Context) -> Changes:
    """Where a text has an inspection at the beginning of a shift, each opening begins one."""
    return {"shift_due": c.rules.shift_inspection}


def shift_taken_up(c: Context) -> Changes:
    """This inspection is for the shift that is due; one that begins meanwhile has its own. However
    else it ends, the next opening begins a shift."""
    return {"shift_due": False, "passed": frozenset(), "inspected_since": c.event.at}


shift_signed = noting(inspector=None, inspected_since=None, purpose=Purpose.PLAY)


def shift_aged(c: Context) -> Changes:
    return {**shift_signed(c), "shift_due": True}


# ── Notes: a round ──────────────────────────────────────────────────────────


def new_round(c: Context) -> Changes:
    """Other dice that one person named before are named no longer."""
    number = c.state.round + 1
    return {"round": number, "purpose": Purpose.PLAY, "barred": None, "stated": None}


def round_forgotten(_: Context) -> Changes:
    """The round is recorded; nothing of it may reach the next."""
    return {**forgotten(Round), "after": After.NEXT_ROUND}


def toss_forgotten(_: Context) -> Changes:
    """The round goes on with its wagers and multipliers; nothing of its toss reaches the next."""
    return forgotten(Shake, Said, Result)


def plan_used(_: Context) -> Changes:
    """EN is on: the plan stands in the journal, and is never run again."""
    return {"plan": None, "retried": False}


multipliers_in_force = sets("multipliers_shown", True)
tried_again = sets("retried", True)


def _no_more_said(c: Context, *about: About) -> Changes:
    """What one person stated of these counts no more."""
    stated = c.state.stated
    return {"stated": None} if stated is not None and stated.about in about else {}


def unreadable(reason: str) -> Note:
    return lambda c: {"reading": Unreadable.of(reason), **_no_more_said(c, About.VALUES)}


def unread(c: Context) -> Changes:
    """Interrupted: what the reader said stands; where it said nothing, the dealer reads."""
    reading = c.state.reading or Unreadable.of("interrupted")
    return {"reading": reading, "witness": None, **_no_more_said(c, About.VALUES)}


def _seen_by_eye(c: Context, source: Source) -> Unreadable | None:
    """With a manual shaker there is no reader; the record says so by itself."""
    reading = c.state.reading
    if source is not Source.ENTERED or c.state.manual or not isinstance(reading, Unreadable):
        return None
    return reading


def values_from(source: Source) -> Note:
    """The values of the round stand: those read, or those of the event."""

    def note(c: Context) -> Changes:
        reading = c.state.reading
        if source in (Source.VERIFIED, Source.CONFIRMED):
            assert isinstance(reading, Verified)
            values = reading.three
        else:
            values = c.event.values
        return {
            "values": values,
            "source": source,
            "by_eye": _seen_by_eye(c, source),
            "ending": Ending.SETTLED,
            "reading": None,
            "stated": None,
            "interrupted": False,
        }

    return note


def entered(c: Context) -> Changes:
    """A reading that comes now is held against it, and who typed does not decide."""
    return {"stated": Agreement(About.VALUES, c.event.person, getattr(c.event, "values", None))}


def correction_named(c: Context) -> Changes:
    return {"stated": Agreement(About.RESULT, c.event.person, c.event.values)}


def nothing_named(c: Context) -> Changes:
    """What one person named, or said first, counts no more."""
    return {**_no_more_said(c, About.RESULT, About.SEEN), "denied_by": None}


def nothing_open(c: Context) -> Changes:
    """Wagers are settled: nothing is corrected any more, and nobody's presence is needed."""
    return {**nothing_named(c), "witness": None}


def corrected(c: Context) -> Changes:
    """The first result is kept; the one that both persons named stands."""
    named_by = said_first(c, About.RESULT)
    assert named_by is not None
    return {
        "correction": Correction(c.state.values, named_by, c.event.person),
        "stated": None,
        "values": c.event.values,
        "ending": Ending.NO_ROLL if c.event.values is None else Ending.SETTLED,
        "cause": Cause.NOT_FLAT if c.event.values is None else None,
    }


def no_roll_from(source: Source) -> Note:
    """No roll on a person's word alone, so that it can be corrected."""

    def note(c: Context) -> Changes:
        ended = ends(Ending.NO_ROLL, Cause.NOT_FLAT)(c)
        seen = {"by_eye": _seen_by_eye(c, source)}
        return {**ended, **seen, "source": source, "witness": c.state.witness}

    return note


def ends(ending: Ending, cause: Cause) -> Note:
    return lambda _: {**forgotten(Shake, Said, Result), "ending": ending, "cause": cause}


def by_hand(c: Context) -> Changes:
    """Somebody's presence is asked for anew."""
    changes = {"ending": Ending.SETTLED_BY_HAND, "cause": Cause.LAMP}
    return {**changes, **nothing_open(c)}


def witness_named(c: Context) -> Changes:
    """What was typed before in another's presence is typed anew."""
    return {"witness": c.event.person, "denied_by": None, **_no_more_said(c, About.VALUES)}


def witness_present(c: Context) -> Changes:
    """Of the two who kept the compartment in view, the one in whose presence the dealer reads."""
    first, second = said_first(c, About.SEEN), c.event.person
    assert first is not None
    above = first if first.role in c.rules.presence else second
    return {"witness": above, "stated": None, "denied_by": None}


def first_word(c: Context) -> Changes:
    """Whoever denied it before takes that back; what another denies stands."""
    by, who = c.state.denied_by, c.event.person
    return {"stated": Agreement(About.SEEN, who), "denied_by": None if who.is_same(by) else by}


def denied(c: Context) -> Changes:
    """Their own word that it did stay in view counts no more."""
    who = c.event.person
    is_own = who.is_same(said_first(c, About.SEEN))
    return {"denied_by": who, **({"stated": None} if is_own else {})}


taken_back = sets("stated", None)
overdue = sets("reveal_overdue", True)
interrupted = sets("interrupted", True)


def read_again(_: Context) -> Changes:
    """To be uncovered once more: the reader looks again, and then who reads by eye."""
    return {"stated": None, "denied_by": None, "reading": None, "witness": None}


def reveal_over(c: Context) -> Changes:
    """Uncovered, or said to be: the next reveal has its own time."""
    return {"reveal_overdue": False, **_no_more_said(c, About.SEEN)}


lamps_lit = sets("lamps", Lamps.LIT)
lamps_dark = sets("lamps", Lamps.DARK)
lamps_unknown = sets("lamps", Lamps.UNKNOWN)


# ── Acts ────────────────────────────────────────────────────────────────────


def _for_occasion(command: Callable[[Occasion], do.Command]) -> Act:
    def act(c: Context) -> do.Command:
        return command(c.state.occasion)

    return act


draw_toss_plan = _for_occasion(do.DrawTossPlan)
draw_multipliers = _for_occasion(do.DrawMultipliers)
prove_lamps_dark = _for_occasion(do.ProveLampsDark)
start_reading = _for_occasion(do.StartReading)
clear_lamps = _for_occasion(do.ClearLamps)
darken_lamps = _for_occasion(do.DarkenLamps)


def keep_looking(c: Context) -> do.Command | None:
    """For a dealer who has to read by eye; a cover stops it, and it goes on when that is off."""
    awaited = c.state.phase is Phase.AWAITING_DEALER
    return do.KeepLooking(c.state.occasion) if awaited and looks_on(c.state) else None


def stop_looking(c: Context) -> do.Command | None:
    """The reader looks until it has read, or until the result that it has not read is settled."""
    s = c.state
    awaited = s.phase is Phase.AWAITING_DEALER and isinstance(s.reading, Unreadable)
    return do.StopReading() if awaited or isinstance(s.by_eye, Unreadable) else None


def check_time(c: Context) -> do.Command:
    return do.CheckTime(c.state.question)


def note_poses(c: Context) -> do.Command | None:
    """Poses can be seen only while nothing covers the dice."""
    return None if c.state.cover_closed else do.NotePoses(c.state.occasion)


def hide_multipliers(c: Context) -> do.Command | None:
    return do.HideMultipliers(c.state.occasion) if c.state.multipliers else None


def show_multipliers_again(c: Context) -> do.Command | None:
    """After a restart: those in force, and never others."""
    return show_multipliers(c) if c.state.multipliers_shown else None


def multipliers_as_proved(c: Context) -> do.Command | None:
    """After a restart, with bets closed: those in force again, and none that was not proved."""
    return show_multipliers_again(c) or hide_multipliers(c)


def uncover(c: Context) -> do.Command | None:
    """Open the cover, where one is in use, for a dealer who has to read by eye."""
    return open_cover(c) if c.rules.covered and not c.state.manual else None


def _plain(command: do.Command) -> Act:
    def act(_: Context) -> do.Command:
        return command

    return act


def light_on(c: Context) -> do.Command | None:
    """The light belongs to the automated shaker, which may be gone."""
    return None if c.state.manual else do.LightOn()


light_off = _plain(do.LightOff())
stop_reading = _plain(do.StopReading())
trust_time = _plain(do.TrustTime())
release_latch = _plain(do.ReleaseLatch())


def stop_motor(cause: Cause) -> Act:
    return _plain(do.StopMotor(cause))


close_cover = _for_occasion(partial(do.DriveCover, open=False))
open_cover = _for_occasion(partial(do.DriveCover, open=True))


def start_toss(c: Context) -> do.Command:
    assert c.state.plan is not None
    return do.StartToss(c.state.occasion, c.state.plan, c.event.answered_at_s)


def jog(c: Context) -> do.Command:
    return do.Jog(c.state.occasion, c.event.rpm, c.event.seconds)


def show_multipliers(c: Context) -> do.Command:
    return do.ShowMultipliers(c.state.occasion, c.state.multipliers)


def push_lamps(c: Context) -> do.Command:
    """Light what wins with the values in the state: a round's, or an inspection entry's."""
    values = c.state.values
    assert values is not None
    return do.PushLamps(c.state.occasion, values, _won(c, values), _was_lit(c))


def show_every_odds(c: Context) -> do.Command:
    """Each display at its highest odds, for a person to look at."""
    ranges = c.rules.profile.multipliers.ranges
    return do.ShowMultipliers(c.state.occasion, highest(ranges, c.rules.areas))


def hide_every_odds(c: Context) -> do.Command | None:
    return do.HideMultipliers(c.state.occasion) if c.rules.multipliers else None


def _was_lit(c: Context) -> bool:
    """True where other values of this round may have been lit: the first ones of a correction."""
    correction = c.state.correction
    return correction is not None and correction.first is not None


def clear_first_result(c: Context) -> do.Command | None:
    """The lamps of a result that is corrected go dark before those of the other."""
    return clear_lamps(c) if _was_lit(c) else None


def odds_over_correction(c: Context) -> do.Command | None:
    """Multipliers in force again: the box takes them away with the first result, or at a start."""
    return show_multipliers_again(c) if c.state.correction is not None else None


def _won(c: Context, values: Values) -> tuple[Area, ...]:
    return c.rules.layout.in_order(c.rules.layout.won(values))


def prove_each_lamp(c: Context) -> do.Command:
    """Those that the event names, else every one."""
    areas = getattr(c.event, "areas", ()) or c.rules.areas
    return do.ProveEachLamp(c.state.occasion, tuple(areas), c.rules.parameters.each_lamp_s)


def steer_walk(c: Context) -> do.Command:
    return do.SteerWalk(c.state.occasion, c.event.step)


def show(phase: ShownPhase) -> Act:
    return lambda c: do.ShowPhase(phase, c.rules.demonstration)


def show_tossing(c: Context) -> do.Command | None:
    """The shaker runs. Where bets are still open meanwhile, that they are open stays shown."""
    bets_open = c.rules.nmb_before is NmbBefore.REVEAL
    return None if bets_open else show_in_play(ShownPhase.TOSSING)(c)


def show_in_play(phase: ShownPhase) -> Act:
    """Show a phase of a round; an inspection and a trial keep the phase that they have."""
    shown = show(phase)
    return lambda c: shown(c) if c.state.purpose is Purpose.PLAY else None


def announce(notice: Notice, cites: Cites = "", cause: Cause | None = None) -> Act:
    """Tell people. `cites` is a profile key; `cause` where the state does not hold it."""

    def act(c: Context) -> do.Command:
        key = cited(cites, c)
        clause = c.rules.cite(key).clause if key else ""
        return do.Announce(c.state.occasion, notice, clause, cause=cause or c.state.cause)

    return act


def ask_same_dice(c: Context) -> do.Command | None:
    """The compartment was opened, or may have been, and is shut: which dice are in it?"""
    s = c.state
    if s.dice is None or not s.dice_in_doubt or s.compartment_open:
        return None
    return announce(Notice.SAME_DICE, "dice.number")(c)


def _told(c: Context, notice: Notice, key: str, **more: Any) -> do.Announce:
    return do.Announce(c.state.occasion, notice, c.rules.cite(key).clause, **more)


def announce_by_eye(c: Context) -> do.Command | None:
    """For the floorperson; without values it is no roll."""
    if c.state.by_eye is None:
        return None
    return _told(c, Notice.BY_EYE, "reader_fault.attended", values=c.state.values)


def announce_late(c: Context) -> do.Command:
    """What the reader read after all, beside the result; without values it is no roll."""
    read = _read(c.state.by_eye)
    notice = Notice.LATE_SAME if is_alike(read, c.state.values) else Notice.LATE_OTHER
    return _told(c, notice, "reader_fault.attended", values=read)


def announce_stated(notice: Notice, cites: str) -> Act:
    """Repeat the values that one person stated; without values it is no roll."""
    return lambda c: _told(c, notice, cites, values=c.state.stated and c.state.stated.said)


def announce_values(notice: Notice, cites: str) -> Act:
    """Tell people the values of the reading, or of the round."""

    def act(c: Context) -> do.Command:
        values = c.state.values or _read(c.state.reading)
        return _told(c, notice, cites, values=values, multipliers=_in_force(c))

    return act


def announce_won(notice: Notice, cites: str) -> Act:
    """Tell people the values of the round or entry, and which areas they win."""

    def act(c: Context) -> do.Command:
        values = c.state.values
        assert values is not None
        won, odds = _won(c, values), _in_force(c)
        return _told(c, notice, cites, values=values, areas=won, multipliers=odds)

    return act


def _read(verdict: Verdict | None) -> Values | None:
    return verdict.three if isinstance(verdict, Verified) else None


def _in_force(c: Context) -> tuple[Multiplied, ...]:
    """The multipliers that players saw; a failed lamp takes their display, and not their force."""
    return c.state.multipliers if c.state.multipliers_shown else ()


_ENDED = {
    Ending.NO_ROLL: (Notice.NO_ROLL, "no_roll.wagers"),
    Ending.VOID: (Notice.VOID, "void.disturbed"),
    Ending.NOT_STARTED: (Notice.NOT_STARTED, "not_started.wagers"),
}
"""What people are told of a round without a result, and the key that it cites."""

VOID_CITES: dict[Cause | None, str] = {
    Cause.SHAKER: "void.wagers",
    Cause.READER: "reader_fault.unattended",
}
"""The words of the texts are about the shaker; any other void rests on a reading."""

ENDING_KEYS = (*(key for _, key in _ENDED.values()), *VOID_CITES.values())


def ending_key(c: Context) -> str:
    """The key of what the round ended by without a result."""
    assert c.state.ending is not None
    return _key_of(c.state.ending, c.state.cause)


def _key_of(ending: Ending, cause: Cause | None) -> str:
    own = _ENDED[ending][1]
    return VOID_CITES.get(cause, own) if ending is Ending.VOID else own


def wagers_after(rules: Rulebook, ending: Ending, cause: Cause | None) -> tuple[str, WagersDo]:
    """What the profile has become of the wagers of a round without a result: clause and fate.

    Wagers that stand are those of a round that is not over. Where it ends all the same, nothing can
    be shaken, and they go back.
    """
    consequence: Consequence = getattr(rules.profile, ending.value)
    wagers = consequence.wagers.value
    fate = WagersDo.RETURNED if wagers is WagersDo.STAND else wagers
    return rules.cite(_key_of(ending, cause)).clause, fate


def _without_result(c: Context) -> tuple[Notice, str, WagersDo]:
    assert c.state.ending is not None
    return _ENDED[c.state.ending][0], *wagers_after(c.rules, c.state.ending, c.state.cause)


def announce_ending(c: Context) -> do.Command:
    """No roll, void or not started: with the fate of the wagers that the profile states."""
    notice, clause, wagers = _without_result(c)
    return do.Announce(c.state.occasion, notice, clause, wagers, c.state.cause)


def announce_wagers_stand(c: Context) -> do.Command:
    """No roll, and the round goes on with another toss."""
    stand: Changes = {"wagers": WagersDo.STAND, "cause": Cause.NOT_FLAT}
    return _told(c, Notice.NO_ROLL, "no_roll.wagers", **stand)


def show_ending(c: Context) -> do.Command:
    phase = ShownPhase.NO_ROLL if c.state.ending is Ending.NO_ROLL else ShownPhase.VOID
    return do.ShowPhase(phase, c.rules.demonstration)


def record_round(c: Context) -> do.Command:
    s = c.state
    assert s.ending is not None
    settled = s.ending in (Ending.SETTLED, Ending.SETTLED_BY_HAND)
    return do.RecordRound(
        round=s.round,
        ending=s.ending,
        wagers=WagersDo.SETTLED if settled else _without_result(c)[2],
        cause=s.cause,
        values=s.values,
        source=s.source,
        multipliers=_in_force(c),
        correction=s.correction,
        camera_off=s.camera_off,
        manual_shaker=s.manual,
        by_eye=s.by_eye is not None,
        late=None if isinstance(s.by_eye, Unreadable) else s.by_eye,
    )


def raise_fault(kind: FaultKind, code: str = "") -> Act:
    """Queue a fault: under the event's own code, or under `code` where a deadline passed."""

    return lambda c: do.RaiseFault(kind, code or c.event.code)


def clear_faults(c: Context) -> do.Command:
    return do.ClearFaults(c.event.kind)
