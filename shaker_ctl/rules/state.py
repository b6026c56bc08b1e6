"""The table's whole state: everything that a decision can depend on.

Owns the phases and the state record, whose parts are forgotten as a whole. Must not decide
anything, and holds no clock, no random source, no device. Two equal states behave equally for ever;
the journal stores them and `record.from_record` brings them back.

A phase is where the table stands; phases marked *passing* are left again within the same step.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache, lru_cache

from shaker_ctl.rules.agreement import Agreement
from shaker_ctl.rules.outcome import Values
from shaker_ctl.rules.record import known
from shaker_ctl.rules.vocabulary import (
    Barrier,
    Cause,
    Correction,
    DiceSet,
    Ending,
    FaultKind,
    Multiplied,
    Occasion,
    Part,
    Person,
    Purpose,
    Shown,
    Source,
    TossPlan,
    Word,
)
from vision.reading import Verdict


class Phase(Word):
    """Where the table stands. Grouped: life of the table, inspection, toss, round, trials."""

    # life of a table
    CLOSED = "closed"
    INSPECTION_DUE = "inspection_due"
    INSPECTED = "inspected"
    """Signed; may be opened."""
    OPENING = "opening"
    """Wall time is being checked before the table opens."""
    PACING = "pacing"
    """Open; the least length of the last round has not passed."""
    READY = "ready"
    """Open, between rounds. *Passing* where the table runs by itself and nothing bars it."""
    ADMITTING = "admitting"
    """Wall time is being checked before bets open."""
    OUT_OF_SERVICE = "out_of_service"

    # opening and shift inspection
    LAMP_VALUES_AWAITED = "lamp_values_awaited"
    """The inspecting person chooses three values, or the walk once enough were seen."""
    LAMP_ENTRY = "lamp_entry"
    """Inspection values were sent to the lamps."""
    LAMP_ENTRY_LIT = "lamp_entry_lit"
    """Lit and proved, and not yet for as long as a person needs to look."""
    LAMP_ENTRY_TO_BE_SEEN = "lamp_entry_to_be_seen"
    LAMP_ENTRY_CLEARING = "lamp_entry_clearing"
    EACH_LAMP = "each_lamp"
    """Every lamp is being lit alone."""
    WALK_PAUSED = "walk_paused"
    """The lamp in hand stays lit until the person goes on."""
    LAMPS_TO_BE_SEEN = "lamps_to_be_seen"
    ODDS_TRIED = "odds_tried"
    """Every multiplier display was told to show its highest odds."""
    ODDS_TO_BE_SEEN = "odds_to_be_seen"
    CYCLE_AWAITED = "cycle_awaited"
    """The inspecting person starts the next cycle."""
    CYCLE_TO_BE_JUDGED = "cycle_to_be_judged"
    """Tossed, at rest, flat and read: the inspecting person says whether properly tossed."""
    CYCLE_DONE = "cycle_done"
    """*Passing*: a cycle counts, or does not."""
    TO_BE_SIGNED = "to_be_signed"

    # toss, for play and for cycles
    COVERING = "covering"
    PLANNING = "planning"
    PROVING_DARK = "proving_dark"
    STARTING = "starting"
    """StartToss was given; EN may or may not be on."""
    TOSSING = "tossing"
    """EN was on."""
    COVERED = "covered"
    """Tossed and settled under the cover; in play, bets are still open."""
    REVEALING = "revealing"
    COMING_TO_REST = "coming_to_rest"
    READING = "reading"

    # round
    BETTING = "betting"
    DRAWING_MULTIPLIERS = "drawing_multipliers"
    SHOWING_MULTIPLIERS = "showing_multipliers"
    NO_MORE_BETS = "no_more_bets"
    """Bets are closed; the shaker (or the cover) waits for the hand that starts it."""
    READ = "read"
    """*Passing*: the reading is in; who has to act on it?"""
    INTERRUPTED = "interrupted"
    """Restarted after the toss: who is present when the dealer reads, and did the locked
    compartment stay in view?"""
    AWAITING_DEALER = "awaiting_dealer"
    """The dealer confirms, enters, or calls no roll."""
    DISPUTED = "disputed"
    DECIDED = "decided"
    """*Passing*: the values of the round stand."""
    PUSHING = "pushing"
    COLLECTING = "collecting"
    """Lamps lit and proved; losing wagers are collected first."""
    PAYING = "paying"
    SETTLED_LIT = "settled_lit"
    """All paid; lamps are still lit until cleared."""
    CLEARING = "clearing"
    AWAITING_PRESENCE = "awaiting_presence"
    SETTLING_BY_HAND = "settling_by_hand"
    WITHOUT_RESULT = "without_result"
    """No roll, void or not started: wagers are being dealt with."""
    ROUND_OVER = "round_over"
    """*Passing*: what comes after this round?"""

    # technician's trials
    JOGGING = "jogging"
    LAMP_TRIAL = "lamp_trial"


class Lamps(Word):
    """What the betting-area lamps show, as far as it is proved."""

    DARK = "dark"
    LIT = "lit"
    UNKNOWN = "unknown"


class After(Word):
    """What is to follow the round or trial in hand, when nothing is broken."""

    NEXT_ROUND = "next_round"
    CLOSE = "close"
    INSPECTION = "inspection"
    OUT_OF_SERVICE = "out_of_service"
    """A trial of a table that nobody has returned to service."""


@dataclass(frozen=True, kw_only=True)
class Shake:
    """The shaker in use: for a round, a cycle or a trial."""

    plan: TossPlan | None = None
    retried: bool = False
    """StartToss was given a second time because the lamps' answer had grown old before EN-on."""
    reading: Verdict | None = None
    """The reader's word, until the values of the round stand."""


@dataclass(frozen=True, kw_only=True)
class Said:
    """What people have said that is not settled yet."""

    stated: Agreement | None = None
    """What the first of two persons has stated. In a dispute: what was entered against the reading,
    by whom, who so may not decide; and for longer than the round, which dice are in."""
    witness: Person | None = None
    """Read after an interruption, or settled by hand: in whose presence, and so not by them."""
    denied_by: Person | None = None
    """Who says that the compartment did not stay in view: a second such word makes it true."""
    interrupted: bool = False
    """Restarted since the toss, and no value stands: the dealer reads, in another's presence."""
    reveal_overdue: bool = False
    """The time of the reveal has passed, and the contact still says that the cover is closed."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """How the round ended, or is ending."""

    values: Values | None = None
    """The values of this round (or inspection entry), once they stand."""
    source: Source | None = None
    ending: Ending | None = None
    cause: Cause | None = None
    correction: Correction | None = None
    """What the result of this round was corrected from; once a round."""
    by_eye: Verdict | None = None
    """The result is what a dealer saw: what the reader says of the same dice. `Unreadable` until it
    has read them after all, before wagers are settled."""


@dataclass(frozen=True, kw_only=True)
class Round(Result, Said, Shake):
    """The round in hand. It is recorded where it ends, and then forgotten as a whole."""

    multipliers: tuple[Multiplied, ...] = ()
    """Drawn this round; in force only when `multipliers_shown`."""
    multipliers_shown: bool = False


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """The inspection in hand, and the one that is signed."""

    part: Part | None = None
    passed: frozenset[Part] = frozenset()
    """Parts of the opening inspection that have passed and are not signed yet."""
    entry: int = 0
    """Lamp entries that were seen lit, counted up to as many as the profile asks for."""
    shown: frozenset[Shown] = frozenset()
    """What those entries showed."""
    good: int = 0
    """Consecutive good cycles."""
    bad: int = 0
    """Consecutive bad cycles."""
    inspector: Person | None = None
    """Who makes the inspection in hand: the only one who may see, judge and sign it."""
    signed_by: Person | None = None
    """Who signed the inspection that is valid now."""
    signed_at: datetime | None = None
    """When, while the table has not been opened on it."""
    inspected_since: datetime | None = None
    """When the oldest part was begun of the inspection in hand, or of the one that is signed."""


@dataclass(frozen=True, kw_only=True)
class Doubt:
    """Whether the dice on record are those in the compartment."""

    dice_in_doubt: bool = False
    """The compartment was opened since somebody said which dice are in it, or may have been:
    the power was off, and no flag shows that the lid stayed shut."""
    dice_reached: bool = False
    """In doubt, and not for an outage alone: the contact said so, or the latch was released."""


@known
@dataclass(frozen=True)
class TableState(Doubt, Inspection, Round):
    """One table at one moment. Each part of it is forgotten as a whole (`forgotten`)."""

    phase: Phase
    purpose: Purpose = Purpose.PLAY
    """What the toss, the lamps and the reader are in use for; PLAY outside of any use."""
    round: int = 0
    """Number of the round in hand or of the last one; 0 before the first."""
    serial: int = 0
    """Number of the last inspection entry, cycle, trial or question to the clock."""

    # the world
    compartment_open: bool = False
    estop_pressed: bool = False
    cover_closed: bool = False
    lamps: Lamps = Lamps.UNKNOWN
    dice: DiceSet | None = None
    dice_untried: bool = False
    """Nothing was tossed or inspected since these dice were recorded: two persons may still put
    their serials right."""
    used_dice: tuple[str, ...] = ()
    """Serials of the newest sets; they are locked in once."""

    # what stands in the way
    faults: frozenset[FaultKind] = frozenset()
    manual: bool = False
    """The automated shaker is retired, and a manual one is in use."""
    camera_off: bool = False
    """The table came back to service with its reader broken: the dealer enters every value."""
    after: After = After.NEXT_ROUND
    shift_due: bool = False
    """A shift began that no inspection is for, be it in hand or signed."""
    barred: Barrier | None = None
    """Why the last request for a round was not granted."""

    @property
    def occasion(self) -> Occasion:
        """What the commands and answers of this moment belong to."""
        number = self.round if self.purpose is Purpose.PLAY else self.serial
        return _occasion(self.purpose, number)

    @property
    def question(self) -> Occasion:
        """What the newest question to the clock and its answer belong to."""
        return _occasion(Purpose.CLOCK, self.serial)

    def changed(self, changes: dict[str, object]) -> TableState:
        """Return a copy with these fields changed. Raises TypeError on an unknown field.

        It copies the fields in one go, in a twentieth of the time of `dataclasses.replace`: the
        proof makes tens of millions of steps. That is why this class has no slots.
        """
        if not _FIELDS.issuperset(changes):
            raise TypeError(f"TableState has no field {min(changes.keys() - _FIELDS)!r}")
        copy = object.__new__(TableState)
        held = vars(self).copy()
        held.update(changes)
        object.__setattr__(copy, "__dict__", held)
        return copy


_occasion = lru_cache(maxsize=8)(Occasion)
"""Every command of a step asks for the same one."""

_FIELDS = frozenset(each.name for each in fields(TableState))


@cache
def forgotten(*parts: type) -> dict[str, object]:
    """Return the changes after which nothing is known of these parts of the state."""
    return {each.name: each.default for part in parts for each in fields(part)}
