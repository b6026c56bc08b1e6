"""The conditions under which a row is taken, each with the words of its refusal.

Owns named guards over state, event and rulebook. Must not change anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from shaker_ctl.rules.agreement import About, Agreement, Said, agree, is_alike, waiting
from shaker_ctl.rules.multipliers import lawful
from shaker_ctl.rules.outcome import is_values
from shaker_ctl.rules.phases import timer_of
from shaker_ctl.rules.regulation import EntryMode, NmbBefore
from shaker_ctl.rules.regulation import InterruptedAfterToss as Interrupted
from shaker_ctl.rules.row import Context, Guard, Words
from shaker_ctl.rules.rulebook import BAD_CYCLES, Rulebook
from shaker_ctl.rules.state import After, Lamps, Phase, TableState
from shaker_ctl.rules.vocabulary import (
    Barrier,
    Condition,
    FaultKind,
    Part,
    Person,
    Purpose,
    RetireStep,
    Role,
    Source,
    TimeTrust,
    WagersDo,
    WalkStep,
    plain,
)
from vision.reading import NoRoll, Unreadable, Verified


def guard(otherwise: Words) -> Callable[[Callable[[Context], bool]], Guard]:
    """Decorator: make a guard of a predicate. `otherwise` completes "refused: …"."""
    return lambda holds: Guard(holds, otherwise)


def negated(one: Guard, otherwise: str) -> Guard:
    """Return the opposite guard; `otherwise` says why, in words of its own, where `one` holds."""
    return Guard(lambda c: not one.holds(c), otherwise)


# ── Does the event belong here? ─────────────────────────────────────────────


of_this = Guard(
    lambda c: c.event.occasion == c.state.occasion,
    "it belongs to another round, cycle or trial than the one in hand",
)
of_this_question = Guard(
    lambda c: c.event.occasion == c.state.question, "it answers another question than the newest"
)
of_this_or_none = Guard(
    lambda c: c.event.occasion is None or c.event.occasion == c.state.occasion,
    "it belongs to a toss that is over",
)
of_this_round = Guard(
    lambda c: c.event.round == c.state.round, "it names another round than the one in hand"
)


@guard("this timer is not running")
def of_this_phase(c: Context) -> bool:
    """The timer that has run out is the one that this phase started."""
    return c.event.timer is timer_of(c.state.phase, c.rules)


# ── Who? ────────────────────────────────────────────────────────────────────

IN_CHARGE = frozenset({Role.FLOORPERSON, Role.SUPERVISOR})
DEALING = IN_CHARGE | {Role.DEALER}
FIXING = IN_CHARGE | {Role.TECHNICIAN}


dealer_or_above = Guard(
    lambda c: c.event.person.role in DEALING, "it takes a dealer, a floorperson or a supervisor"
)


@guard("it takes a dealer or above; after an interruption the dealer, in another's presence")
def who_enters(c: Context) -> bool:
    """Interrupted after the toss, the dealer reads, and not who is present."""
    who, present = c.event.person, c.state.witness
    if present is None and not c.state.interrupted:
        return who.role in DEALING
    return who.role is Role.DEALER and not who.is_same(present)


in_charge = Guard(
    lambda c: c.event.person.role in IN_CHARGE, "it takes a floorperson or a supervisor"
)


@guard("it takes a floorperson or a supervisor")
def in_charge_or_clock(c: Context) -> bool:
    """A shift begins at its time of day, too, with nobody saying so."""
    return c.event.person is None or c.event.person.role in IN_CHARGE


technician = Guard(lambda c: c.event.person.role is Role.TECHNICIAN, "it takes a technician")
technician_or_in_charge = Guard(
    lambda c: c.event.person.role in FIXING, "it takes a technician, a floorperson or a supervisor"
)
may_inspect = Guard(
    lambda c: c.event.person.role in c.rules.opening_signers,
    "the profile has another role make the opening inspection",
)


@guard("another role inspects at the start of a shift, and not who signed the opening")
def may_inspect_shift(c: Context) -> bool:
    """Two inspections, two persons: who signed the opening does not inspect for the shift."""
    person, opened = c.event.person, c.state.signed_by
    return person.role in c.rules.shift_signers and not person.is_same(opened)


may_be_present = Guard(
    lambda c: c.event.person.role in c.rules.presence,
    "the profile names another role whose presence is needed",
)


# ── How does this table play? ───────────────────────────────────────────────


bets_close_before_activation = Guard(
    lambda c: c.rules.nmb_before is NmbBefore.ACTIVATE, "no more bets comes before the reveal here"
)
covered = Guard(lambda c: c.rules.covered, "no cover is fitted")
cover_must_be_absent = Guard(lambda c: c.rules.cover_must_be_absent, "covers are allowed here")
manual = Guard(lambda c: c.state.manual, "the automated shaker is in use")
by_machine = negated(manual, "the automated shaker is out of use: see `shaker back`")
cover_wired = Guard(
    lambda c: c.rules.covered or c.rules.cover_must_be_absent, "no cover is wired here"
)
attended = Guard(lambda c: c.rules.attended, "nobody attends this table who could shake by hand")
autonomous = Guard(lambda c: c.rules.autonomous, "the dealer paces this table")
people_settle = Guard(lambda c: c.rules.people_settle, "nobody is asked to settle at this table")
player_activated = Guard(
    lambda c: c.rules.player_activated, "no player's button starts this shaker"
)
with_multipliers = Guard(lambda c: c.rules.multipliers, "no multipliers are offered")
with_shift_inspection = Guard(
    lambda c: c.rules.shift_inspection, "the profile knows no shift inspection"
)
enters_by_itself = Guard(
    lambda c: c.rules.entry is EntryMode.AUTO, "values are entered by the dealer here"
)
dealer_confirms = Guard(
    lambda c: c.rules.entry is EntryMode.DEALER_CONFIRM,
    "the dealer enters what they read by eye here",
)


nobody_may_read = negated(attended, "a dealer is at the table")


@guard("the interrupted round is void here, or nothing shows that the lid stayed shut")
def dealer_may_read_after_interruption(c: Context) -> bool:
    """The dice are those of this toss only if the lid stayed shut through the outage. A manual
    shaker is in the dealer's care, whatever becomes of the controller."""
    if c.state.manual:
        return True
    kept = c.event.compartment_stayed_locked and not c.event.compartment_open
    in_doubt = c.state.dice_in_doubt  # the flag was set again since an earlier outage
    return kept and not in_doubt and c.rules.interrupted is Interrupted.DEALER_READS


@guard("the interrupted round is void here, or the compartment is open")
def persons_may_say(c: Context) -> bool:
    """Nothing shows that the lid stayed shut, and people attend who may have watched it."""
    return not c.event.compartment_open and c.rules.interrupted is Interrupted.DEALER_READS


lid_stayed_shut = Guard(
    lambda c: not c.state.dice_in_doubt,
    "nothing shows that the lid stayed shut: dealer and floorperson say `in-view`",
)
in_presence = Guard(lambda c: c.state.witness is not None, "nobody's presence is asked for")


@guard("it takes the dealer, and the person whose presence the profile asks for")
def may_say_in_view(c: Context) -> bool:
    role = c.event.person.role
    return role is Role.DEALER or role in c.rules.presence


stayed_in_view = Guard(lambda c: c.event.stayed, "the locked compartment did not stay in view")


@guard("it takes a dealer or above, and against the lid's flag a floorperson or a supervisor")
def may_deny(c: Context) -> bool:
    """A dealer's word alone voids nothing that the flag bears out."""
    return c.event.person.role in (DEALING if c.state.dice_in_doubt else IN_CHARGE)


denied_before = Guard(
    lambda c: c.state.denied_by is not None, "say so twice, and the round is void"
)


@guard("another person denies it: that one takes it back, or the round is void")
def nobody_else_denies(c: Context) -> bool:
    by = c.state.denied_by
    return by is None or by.is_same(c.event.person)


def _repeats(c: Context, about: About, said: Said) -> bool:
    """True where another person stated this before."""
    first = waiting(c.state.stated, about)
    return first is not None and agree(first.by, c.event.person, first.said, said)


def said_first(c: Context, about: About) -> Person | None:
    """Return who stated something of this that nobody has repeated yet."""
    first = waiting(c.state.stated, about)
    return None if first is None else first.by


own_word = Guard(
    lambda c: c.event.person.is_same(said_first(c, About.SEEN)),
    "this person has not said that it stayed in view",
)


@guard("nobody is asked: the lid's flag stands, or the compartment was seen open")
def may_be_vouched_for(c: Context) -> bool:
    """Without power, and without the flag's word, people may have watched the lid."""
    return c.state.dice_in_doubt and not c.state.dice_reached


@guard("this person has said so already")
def says_anew(c: Context) -> bool:
    """A first word in a role that makes no pair gives way to another."""
    return not is_same_in_role(c.event.person, said_first(c, About.SEEN))


@guard("it takes two persons: the dealer, and the one whose presence the profile asks for")
def second_of_two(c: Context) -> bool:
    """Two names, one of them the dealer's and one of those whose presence the text asks for."""
    first, second = said_first(c, About.SEEN), c.event.person
    if first is None or not agree(first, second):
        return False
    roles = {first.role, second.role}
    return Role.DEALER in roles and bool(roles & c.rules.presence)


reveal_overdue = Guard(
    lambda c: c.state.reveal_overdue,
    "the reveal has its time: a contact may be called stuck once that is over",
)


@guard("it takes two persons: the dealer, and the one whose presence the profile asks for")
def another_says_uncovered(c: Context) -> bool:
    """The dealer removes the cover; that its contact fails is no word of one person alone."""
    if not c.rules.attended:  # nobody deals there, and nobody reads by eye
        return c.event.person.role in c.rules.presence
    return second_of_two.holds(c)


@guard("the dice can be seen, or were read")
def dice_hidden(c: Context) -> bool:
    """Under an opaque cover nobody reads by eye. The reader saw the dice before it went on."""
    covered = c.rules.covered and c.state.cover_closed and not c.state.manual
    return covered and read_nothing.holds(c)


interrupted = Guard(lambda c: c.state.interrupted, "the round was not interrupted since the toss")
cover_driven = Guard(lambda c: c.rules.cover_driven, "a person moves the cover")


# ── What is the shaker in use for? ──────────────────────────────────────────


in_play = Guard(lambda c: c.state.purpose is Purpose.PLAY, "no round is in hand")
inspecting = Guard(
    lambda c: c.state.purpose in (Purpose.INSPECTION, Purpose.SHIFT), "no inspection is in hand"
)
opening_inspection = Guard(
    lambda c: c.state.purpose is Purpose.INSPECTION, "no opening inspection is in hand"
)


# ── Is it safe, and is it allowed? ──────────────────────────────────────────


@guard("the compartment is open, the e-stop is pressed, or the cover is where it must not be")
def nothing_denies(c: Context) -> bool:
    """Contacts that must be good before a round or a cycle begins; a manual shaker has none."""
    s = c.state
    if s.manual:
        return True
    wrong_cover = c.rules.cover_must_be_absent and s.cover_closed
    return not (s.compartment_open or s.estop_pressed or wrong_cover)


cover_is_right = Guard(
    lambda c: c.state.cover_closed if c.rules.covered else True, "the cover is not closed"
)
cover_is_open = Guard(lambda c: not c.state.cover_closed, "the cover is closed")
still_covered = Guard(lambda c: c.event.cover_closed, "the cover was opened meanwhile")
lamps_dark = Guard(lambda c: c.state.lamps is Lamps.DARK, "the lamps are not proved dark")
nothing_broken = Guard(
    lambda c: not c.state.faults - _not_missed(c), "a fault has to be cleared first"
)


def _not_missed(c: Context) -> frozenset[FaultKind]:
    """What may stay broken: the table plays without it."""
    if c.state.manual:
        return NEEDS_MANUAL_SHAKER
    return READER if c.state.camera_off and c.rules.attended else frozenset()


NEEDS_MANUAL_SHAKER = frozenset({FaultKind.SHAKER, FaultKind.READER})
"""What a manual shaker does without."""

READER = frozenset({FaultKind.READER})


@guard("a fault has to be cleared first")
def only_reader_broken(c: Context) -> bool:
    """No text knows a camera: where a dealer attends, its loss retires nothing."""
    return c.rules.attended and c.state.faults == READER


@guard("the camera is in use")
def camera_idle(c: Context) -> bool:
    """Nothing looks at the dice: a manual shaker is in use, or the reader is off."""
    return c.state.manual or c.state.camera_off


of_the_camera = Guard(
    lambda c: c.event.what in (Condition.LIGHT, Condition.CALIBRATION),
    "it concerns more than the camera",
)


def looks_on(state: TableState) -> bool:
    """Nothing was read, and a reader is there that may look: nothing covers the dice."""
    no_reader = state.manual or state.camera_off or FaultKind.READER in state.faults
    return isinstance(state.reading, Unreadable) and not (no_reader or state.cover_closed)


camera_off = Guard(lambda c: c.state.camera_off, "the reader is in use")
so_broken = Guard(lambda c: c.event.kind in c.state.faults, "there is no such fault")
lamps_broken = Guard(lambda c: FaultKind.LAMP in c.state.faults, "the lamps are in order")
shift_inspected = Guard(lambda c: not c.state.shift_due, "the shift inspection is due")
shift_due = Guard(lambda c: c.state.shift_due, "the shift inspection is not due")
not_barred = Guard(lambda c: c.state.barred is None, "a round is barred; see `status`")
barred_by_time = Guard(
    lambda c: c.state.barred is Barrier.TIME_UNTRUSTED, "the clock is not what bars a round"
)
admitted = Guard(lambda c: barrier(c) is None, "a round may not start now")


def barrier(c: Context) -> Barrier | None:
    """Return what forbids a round at the wall time of this event."""
    e, s = c.event, c.state
    return c.rules.bars(e.now, e.trust, e.behind_last_record, s.dice, in_doubt=s.dice_in_doubt)


@guard("a toss was tried again already")
def lamps_answer_was_old(c: Context) -> bool:
    """Motion found the lamps' answer older than 500 ms. Worth one more try."""
    return c.event.reason.startswith(LAMPS_STALE) and not c.state.retried


LAMPS_STALE = "lamps-stale"
"""How `TossNotStarted.reason` begins when the lamps' answer was older than 500 ms at EN-on."""


@guard("a round may no longer start: see the clock, the text and the dice")
def still_admitted(c: Context) -> bool:
    """Judged once more where the toss begins; an inspection's cycle counts with any dice."""
    return c.state.purpose is not Purpose.PLAY or _barred_since(c) is None


@guard("the clock is trusted, and the text is in force")
def no_longer_in_force(c: Context) -> bool:
    """With a clock that nobody trusts, nobody can say that the text is in force."""
    return _barred_since(c) in OF_THE_CLOCK


OF_THE_CLOCK = (Barrier.TIME_UNTRUSTED, Barrier.NOT_YET_IN_FORCE, Barrier.EXPIRED)


def _barred_since(c: Context) -> Barrier | None:
    """Return what forbids by now the round that was admitted when bets opened."""
    e = c.event
    now = getattr(e, "now", None) or e.at
    return c.rules.bars(now, e.trust, e.behind_last_record, c.state.dice)


@guard("the dice on record are those in the compartment: it was not opened since, or is open now")
def opened_for_dice(c: Context) -> bool:
    """A manual shaker has no contact: who opens it is who says so."""
    s = c.state
    return s.manual or ((s.dice is None or s.dice_in_doubt) and not s.compartment_open)


def plainly(serials: Iterable[str]) -> set[str]:
    """Serials as they are compared."""
    return {plain(each) for each in serials}


@guard("three dice are locked in, each with a serial of its own")
def three_dice(c: Context) -> bool:
    number = c.rules.profile.dice.number.value
    return len(c.event.serials) == len(plainly(c.event.serials)) == number


@guard("one of these dice is in the shaker: record others first, `dice changed`")
def outside_the_shaker(c: Context) -> bool:
    dice = c.state.dice
    return dice is None or not plainly(c.event.serials) & plainly(dice.serials)


@guard("one of these serials was locked in here before: dice that were taken out stay out")
def never_used(c: Context) -> bool:
    """Dice on record under a clock that stood later than now are recorded again."""
    dice = c.state.dice
    again = dice.serials if dice and dice.installed_at > c.event.at else ()
    return not plainly(c.event.serials) & (plainly(c.state.used_dice) - plainly(again))


dice_seconded = Guard(
    lambda c: not c.rules.parameters.dice_by_two or _repeats(c, About.DICE, c.event.serials),
    "two persons name other dice here; a second one repeats these serials",
)
serials_seconded = Guard(
    lambda c: _repeats(c, About.DICE, c.event.serials), "a second person repeats these serials"
)


@guard("these dice are in use: their serials stand until other dice are locked in")
def dice_untried(c: Context) -> bool:
    s = c.state
    return s.dice is not None and s.dice_untried and not s.dice_in_doubt


@guard("one of these serials was locked in here before: dice that were taken out stay out")
def no_other_dice(c: Context) -> bool:
    """Serials of these dice may stand among the right ones."""
    dice = c.state.dice
    own = plainly(dice.serials) if dice else set()
    return not plainly(c.event.serials) & (plainly(c.state.used_dice) - own)


@guard("nobody doubts which dice are in the compartment, or it is open")
def dice_doubted(c: Context) -> bool:
    s = c.state
    return s.dice is not None and s.dice_in_doubt and not s.compartment_open


@guard("two persons say so here; a second one says that the same dice are in it")
def same_dice_seconded(c: Context) -> bool:
    """One person must not be able to change the dice and also to confirm them."""
    dice = c.state.dice
    by_two = c.rules.parameters.dice_by_two
    return not by_two or (dice is not None and _repeats(c, About.DICE, dice.serials))


@guard("the compartment was not opened since its dice were recorded: they are still in it")
def dice_came_out(c: Context) -> bool:
    taken_out = RetireStep.DICE_REMOVED in c.rules.retire_steps
    return not taken_out or c.state.dice is None or c.state.dice_reached


def _steps_left(c: Context) -> str:
    left = sorted(step.value.replace("_", "-") for step in c.rules.retire_steps - c.event.steps)
    return f"the profile requires these steps, too: {', '.join(left)}"


all_steps_done = Guard(lambda c: c.event.steps >= c.rules.retire_steps, _steps_left)


# ── What is known of this round? ────────────────────────────────────────────


same_values = Guard(
    lambda c: c.event.values == c.state.values, "the values differ from those that were sent"
)
lawful_multipliers = Guard(
    lambda c: lawful(c.event.multipliers, c.rules.profile.multipliers.ranges, c.rules.areas),
    "the multipliers are outside what the profile allows",
)
any_multiplier = Guard(lambda c: bool(c.event.multipliers), "no multiplier was drawn")
multipliers_in_force = Guard(lambda c: c.state.multipliers_shown, "no multipliers are in force")
multipliers_drawn = Guard(lambda c: bool(c.state.multipliers), "no multiplier was drawn")


@guard("the cycle was not seen to be good")
def good_cycle(c: Context) -> bool:
    """Read flat; without the reader, on the word of the person who watched it alone."""
    reading = c.state.reading
    return isinstance(reading, Verified) or (c.state.camera_off and reading is None)


def _typed(c: Context) -> Agreement | None:
    return waiting(c.state.stated, About.VALUES)


typed = Guard(lambda c: _typed(c) is not None, "nothing was typed with no reading beside it")


@guard("the values differ from those that were typed")
def typed_as_read(c: Context) -> bool:
    first = _typed(c)
    return first is not None and _is_as_read(c, first.said)


by_eye_alone = Guard(
    lambda c: isinstance(c.state.by_eye, Unreadable),
    "the reader read the dice before they were entered, or once since",
)
looked_at = Guard(lambda c: not camera_idle.holds(c), "no reader looks at the dice")


@guard("rest has not been proved")
def gives_up(c: Context) -> bool:
    """Before rest is proved, the reader can only say that it cannot read."""
    return isinstance(c.event.verdict, Unreadable)


read_verified = Guard(
    lambda c: isinstance(c.state.reading, Verified), "the values were not verified"
)
read_no_roll = Guard(lambda c: isinstance(c.state.reading, NoRoll), "the dice lie flat")
read_nothing = Guard(lambda c: isinstance(c.state.reading, Unreadable), "the dice were read")


@guard("the dice were read")
def unread(c: Context) -> bool:
    """No word of the reader, or only that it reads nothing."""
    return c.state.reading is None or isinstance(c.state.reading, Unreadable)


possible_values = Guard(lambda c: is_values(c.event.values), "the values are not three of 1 to 6")


@guard("the values differ from those that were read")
def repeats_reading(c: Context) -> bool:
    return _is_as_read(c, c.event.values)


def _is_as_read(c: Context, said: Said) -> bool:
    reading = c.state.reading
    return isinstance(reading, Verified) and is_alike(said, reading.values)


value_unknown = Guard(
    lambda c: not isinstance(c.state.reading, Verified),
    "a value of this round is verified or entered",
)


@guard("who entered against the reading does not decide: another person does")
def another_decides(c: Context) -> bool:
    """One person is never both sides of a duty."""
    return not c.event.person.is_same(said_first(c, About.VALUES))


@guard("another person entered against the reading: that one may put it right, or it is decided")
def own_entry(c: Context) -> bool:
    """A typing error is put right before it is decided, and so before anything is lit."""
    is_own = c.event.person.is_same(said_first(c, About.VALUES))
    return c.state.phase is not Phase.DISPUTED or is_own


def _in_doubt(c: Context) -> str:
    what = "the compartment was opened" if c.state.dice_reached else "the power was lost"
    return f"{what} since the toss: what the readers verified is decided, or no roll"


@guard(_in_doubt)
def shown_as_they_fell(c: Context) -> bool:
    """Nobody can look any more; the picture was taken before, and what was only typed was not."""
    return not c.state.dice_in_doubt or repeats_reading.holds(c)


@guard("after an interruption it takes the person whose presence the profile asks for")
def decided_in_presence(c: Context) -> bool:
    """Against the reading, one of the two, who entered or who decides, is that person."""
    agrees, enterer = repeats_reading.holds(c), said_first(c, About.VALUES)
    entered = enterer is not None and enterer.role in c.rules.presence
    return agrees or not c.state.interrupted or entered or may_be_present.holds(c)


@guard("neither the dealer nor the reader named these values; one of theirs, or no roll")
def was_named(c: Context) -> bool:
    """A decision is between what dealer and reader saw; it is no third reading."""
    first, values = _typed(c), c.event.values
    by_dealer = first is not None and bool(first.said) and is_alike(first.said, values)
    return by_dealer or repeats_reading.holds(c)


@guard("neither the dealer nor the reader named a die that is not flat")
def no_roll_named(c: Context) -> bool:
    """A decision on no roll, too, is between what dealer and reader saw."""
    first = _typed(c)
    return first is None or first.said is None or isinstance(c.state.reading, NoRoll)


the_dealer = Guard(lambda c: c.event.person.role is Role.DEALER, "it takes the dealer")
on_a_persons_word = Guard(
    lambda c: c.state.source in (Source.ENTERED, Source.DECIDED),
    "what the readers verified, and nobody disputed, is not corrected",
)
not_corrected = Guard(
    lambda c: c.state.correction is None, "this round was corrected before; it is done once"
)
as_they_fell = Guard(
    lambda c: not c.state.dice_in_doubt,
    "the dice may lie otherwise: opened since the toss; or an outage, then two say `in-view`",
)


@guard("this is the result that stands, or it is not three of 1 to 6")
def another_result(c: Context) -> bool:
    named = c.event.values
    return (named is None or is_values(named)) and not is_alike(named, c.state.values)


@guard("it takes a second person, who repeats what the dealer named: that, and nothing else")
def as_named_by_another(c: Context) -> bool:
    """Only what the dealer named, and by another person than the dealer."""
    return _repeats(c, About.RESULT, c.event.values)


@guard("with no reading beside them the values are typed twice; these are the first")
def typed_twice(c: Context) -> bool:
    first = _typed(c)
    return first is not None and is_alike(first.said, c.event.values)


@guard("it is settled in the presence of another person")
def another_settles(c: Context) -> bool:
    present = c.state.witness
    if not c.rules.attended:
        return True  # nobody deals there: one person is called, and settles
    return not c.event.person.is_same(present)


decides_values = Guard(
    lambda c: c.event.values is not None and is_values(c.event.values), "no roll was decided"
)
decides_no_roll = Guard(lambda c: c.event.values is None, "values were decided")


# ── Where is the inspection? ────────────────────────────────────────────────


def is_same_in_role(one: Person, other: Person | None) -> bool:
    return other is not None and one.is_same(other) and one.role is other.role


@guard("it takes the person who makes this inspection")
def is_inspector(c: Context) -> bool:
    """Who saw is who signs; who may sign is judged where the inspection begins."""
    return is_same_in_role(c.event.person, c.state.inspector)


enough_entries = Guard(
    lambda c: c.state.entry >= c.rules.lamp_entries, "more lamp entries are to come"
)
areas_of_this_layout = Guard(
    lambda c: set(c.event.areas) <= set(c.rules.areas), "this table has no such area"
)
of_this_layout = Guard(lambda c: c.event.area in c.rules.areas, "this table has no such area")


def steers(step: WalkStep) -> Guard:
    """The person asks for this step of the walk."""
    words = f"another step than `{step.value}` was asked for"
    return Guard(lambda c: c.event.step is step, words)


properly_tossed = Guard(
    lambda c: c.event.tossed, "it was seen that the dice were not properly tossed"
)
time_is_trusted = Guard(
    lambda c: c.event.trust is not TimeTrust.NONE and not c.event.behind_last_record,
    "the wall clock is not trusted",
)


CLOCK_SLACK = timedelta(minutes=5)
"""Most by which a clock may be set back after a signature, and the signature still holds."""


def aged(rules: Rulebook, since: datetime | None, now: datetime | None) -> bool:
    """True for what was inspected too long ago, or under a clock that ran ahead: its age is not
    known. Nothing, and a moment that nobody told, are not aged."""
    if since is None or now is None:
        return False
    return now >= rules.signature_end(since) or since - now > CLOCK_SLACK


@guard("the signature still holds")
def signature_aged(c: Context) -> bool:
    s, now = c.state, c.event.now
    if s.signed_at is None:
        return True
    return aged(c.rules, s.signed_at, now) or aged(c.rules, s.inspected_since, now)


parts_aged = Guard(
    lambda c: aged(c.rules, c.state.inspected_since, c.event.at),
    "every part was inspected lately enough to be signed",
)
every_area = Guard(lambda c: set(c.event.areas) == set(c.rules.areas), "not every lamp was tested")
whole_inspection = Guard(lambda c: c.state.part is Part.ALL, "only a part was asked for")
with_lamps = Guard(lambda c: c.event.part is not Part.SHAKER, "the lamps are not asked for")
shaker_passed = Guard(lambda c: Part.SHAKER in c.state.passed, "the shaker has not passed")
lamps_passed = Guard(lambda c: Part.LAMPS in c.state.passed, "the lamps have not passed")
displays_seen = Guard(
    lambda c: not c.rules.multipliers or c.state.phase is Phase.ODDS_TO_BE_SEEN,
    "the multipliers' displays are to be seen first",
)


@guard("cycles are still missing")
def last_good_cycle(c: Context) -> bool:
    shift = c.state.purpose is Purpose.SHIFT
    return c.state.good + 1 >= (c.rules.shift_cycles if shift else c.rules.cycles)


last_bad_cycle = Guard(
    lambda c: c.state.bad + 1 >= BAD_CYCLES, "fewer bad cycles in a row than make a fault"
)


# ── What follows? ───────────────────────────────────────────────────────────


inspection_follows = Guard(lambda c: c.state.after is After.INSPECTION, "no inspection is due")
stays_out = Guard(
    lambda c: c.state.after is After.OUT_OF_SERVICE or not nothing_broken.holds(c),
    "nothing is broken, and the table was not out of service before the trial",
)
closing_follows = Guard(lambda c: c.state.after is After.CLOSE, "nobody asked to close")


@guard("wagers go back after a no roll, or nothing can be shaken")
def wagers_stand(c: Context) -> bool:
    """After a no roll, by a house's own rule, and where the shaker may be used once more."""
    stand = c.rules.profile.no_roll.wagers.value is WagersDo.STAND
    may_toss = nothing_broken.holds(c) and nothing_denies.holds(c)
    return stand and may_toss and not inspection_follows.holds(c)


# ── The opposites that the table asks for, each with words of its own ───────

not_in_play = negated(in_play, "a round is in play")
not_read_no_roll = negated(read_no_roll, "the reader saw a die that does not lie flat")
not_bets_close_before_activation = negated(
    bets_close_before_activation, "at this table the dealer calls no more bets first"
)
not_inspecting = negated(inspecting, "an inspection is under way")
not_player_activated = negated(player_activated, "at this table a player starts the shaker")
not_read_verified = negated(read_verified, "the values were verified")
not_in_presence = negated(in_presence, "the required person is present")
not_gives_up = negated(gives_up, "nothing was read")
not_second_of_two = negated(second_of_two, "another person denies it: that one takes it back first")
not_stayed_in_view = negated(stayed_in_view, "the compartment stayed in view")
not_nothing_broken = negated(nothing_broken, "nothing is broken")
not_opening_inspection = negated(opening_inspection, "this is the opening inspection")
not_dice_seconded = negated(dice_seconded, "one person is enough here")
not_cover_driven = negated(cover_driven, "a drive moves the cover")
not_reveal_overdue = negated(reveal_overdue, "the time of the reveal is over")
