"""Words that events, commands and the state share: who, which occasion, what was read, what failed.

Owns small frozen types and enums, nothing that decides. Must not know clocks, threads or devices.
Every Enum value is part of the journal's format.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime
from enum import Enum
from functools import cache

from shaker_ctl.rules.outcome import Area, Values
from shaker_ctl.rules.record import recorded


class Word(Enum):
    """Base of this vocabulary's enums: members are unique, so identity is their hash.

    The inherited hash goes through the name and costs the exhaustive proof a tenth of its time.
    """

    __hash__ = object.__hash__


class Role(Word):
    """Whom a login permits to act. Floorperson and supervisor are ranks; the others are trades."""

    DEALER = "dealer"
    FLOORPERSON = "floorperson"
    SUPERVISOR = "supervisor"
    """What `ma` calls the casino supervisor: above the floorperson."""
    TECHNICIAN = "technician"


@recorded
class Person:
    """Who did something: name, role and credential as logged in, recorded with every action."""

    name: str
    role: Role
    number: str = ""
    """Number of the licence or credential, which one person alone has; empty in records of versions
    that knew names alone."""

    def signature(self) -> dict[str, str]:
        """Return who they are, as a record of a command that they signed has it."""
        return {"name": self.name, "role": self.role.value, "number": self.number}

    def is_same(self, other: Person | None) -> bool:
        """True for the same person, in whatever role: two persons are two numbers and two names."""
        if other is None:
            return False
        is_one_number = bool(self.number) and plain(self.number) == plain(other.number)
        return is_one_number or plain(self.name) == plain(other.name)


class Purpose(Word):
    """What the shaker, the lamps and the camera are being used for."""

    PLAY = "play"
    INSPECTION = "inspection"
    SHIFT = "shift"
    TRIAL = "trial"
    """The technician's trial of shaker or lamps with the table closed."""
    CLOCK = "clock"
    """No use of a device: a question to the clock, and its answer."""


@recorded
class Occasion:
    """One use of the devices: a round of play, a lamp entry or cycle of an inspection, a trial;
    or one question to the clock.

    Rounds are numbered from 1 and never reused; the other purposes share a second count of their
    own. Commands carry the occasion and the events that answer repeat it, so that a late,
    duplicate or foreign answer is told from the awaited one.
    """

    purpose: Purpose
    number: int


def play(number: int) -> Occasion:
    """Return the occasion of a round of play."""
    return Occasion(Purpose.PLAY, number)


@recorded
class TossPlan:
    """One shake, drawn from the operating system's randomness inside the approved procedure."""

    speed_rpm: float
    """Cam speed to hold."""
    duration_s: float
    """Time at that speed."""
    pattern: str
    """Name of the shake pattern, from the approved procedure."""
    seed: int = 0
    """What the pattern varies by, where it varies."""


@recorded
class TossProof:
    """What the tachometer says about a finished toss. Recorded; the decision is the event's."""

    in_band_s: float
    """Longest unbroken time in the band of speeds whose acceleration has been shown to mix."""
    lowest_rpm: float
    highest_rpm: float
    turns: float
    """Cam turns from EN-on to standstill."""


class Source(Word):
    """On whose word the result of a round rests: its values, or a no roll that a person called."""

    VERIFIED = "verified"
    """Two readers, no dealer (`auto`)."""
    CONFIRMED = "confirmed"
    """Verified, and said by the dealer, too."""
    ENTERED = "entered"
    """By eye, by the dealer, where nothing was read."""
    DECIDED = "decided"
    """By the floorperson, after dealer and reader disagreed."""


@recorded
class Correction:
    """Two persons put another result in the place of the first, before wagers were settled."""

    first: Values | None
    """What stood before; None: no roll."""
    named_by: Person
    agreed_by: Person


class Ending(Word):
    """How a round ended."""

    SETTLED = "settled"
    """Lamps lit, losing wagers collected, winning wagers paid."""
    SETTLED_BY_HAND = "settled_by_hand"
    """The result stood, the lamps did not: settled in the required person's presence."""
    NO_ROLL = "no_roll"
    VOID = "void"
    NOT_STARTED = "not_started"
    """Stopped before the shaker was energised: nothing was played, wagers go back."""


class Cause(Word):
    """Why a round ended without a result, or had to be settled by hand."""

    NOT_FLAT = "not_flat"
    SHAKER = "shaker"
    COMPARTMENT = "compartment"
    ESTOP = "estop"
    COVER = "cover"
    LAMP = "lamp"
    READER = "reader"
    CONTROLLER = "controller"
    NOT_TOSSED = "not_tossed"
    """Motor turned, but at least one die lies where one lay before (O-12), or position and value
    of all three are unchanged (O-21)."""
    NOT_ENERGISED = "not_energised"
    """Motion kept EN low: an interlock denied, or the lamps' answer was too old."""
    INTERRUPTED = "interrupted"
    """The controller was restarted."""
    CONDITION = "condition"
    """Settings, light or calibration changed."""
    CLOSED = "closed"
    """A person closed the table."""
    DICE = "dice"
    """The dice grew too old while bets were open."""
    UNDECIDED = "undecided"
    """Dealer and reader named two results, neither was upheld, and nobody had named a no roll."""
    CLOCK = "clock"
    """While bets were open the text ended, or the clock was no longer trusted."""


class WagersDo(Word):
    """What happens to the wagers on the layout."""

    SETTLED = "settled"
    RETURNED = "returned"
    STAND = "stand"
    """They stay for a new toss: a house's rule, and in none of the texts."""
    SILENT = "silent"
    """The instrument does not say; the house's own procedure decides, and the dealer is told so."""


class FaultKind(Word):
    """What is broken. Keeps the table out of service until cleared and inspected again."""

    SHAKER = "shaker"
    LAMP = "lamp"
    READER = "reader"
    CONTROLLER = "controller"
    """Journal, disk, clock, GPIO daemon's host: the controller itself; and the multipliers'
    displays. The round in hand does without what failed, then the table stops."""


class Barrier(Word):
    """Why no round starts although nothing is broken."""

    TIME_UNTRUSTED = "time_untrusted"
    NOT_YET_IN_FORCE = "not_yet_in_force"
    EXPIRED = "expired"
    """The profile's instrument has ended."""
    DICE_UNKNOWN = "dice_unknown"
    """Nobody has recorded which dice are locked in, and since when."""
    DICE_EXPIRED = "dice_expired"
    DICE_AHEAD = "dice_ahead"
    """They were recorded under a clock that stood later than now: their age is not known."""
    DICE_IN_DOUBT = "dice_in_doubt"
    """The compartment was opened, and nobody has said whether the same dice are in it."""
    SHIFT_INSPECTION_DUE = "shift_inspection_due"
    INTERLOCK = "interlock"
    """Compartment open, e-stop pressed, or the cover where it must not be."""
    LAMPS_NOT_DARK = "lamps_not_dark"
    CLOCK_SILENT = "clock_silent"
    """The wall clock could not be read in time."""


class TimeTrust(Word):
    """Why the wall clock may be believed."""

    RTC = "rtc"
    SYNCHRONISED = "synchronised"
    CONFIRMED = "confirmed"
    """By a named person since the last start."""
    NONE = "none"


@recorded
class DiceSet:
    """The dice that are locked in."""

    serials: tuple[str, ...]
    installed_at: datetime
    """Wall time, with zone."""


@recorded
class Multiplied:
    """One betting position with a multiplier: the odds (to 1) that it pays this round."""

    area: Area
    odds: int
    dice: int = 0
    """For `one-N`: how many dice must show N for these odds, 2 or 3. Otherwise 0."""


class Part(Word):
    """What an opening inspection looks at."""

    LAMPS = "lamps"
    SHAKER = "shaker"
    ALL = "all"


class Shown(Word):
    """What a lamp entry of an inspection shows; the house sees each of them lit at least once."""

    TRIPLE = "triple"
    PAIR = "pair"
    SMALL = "small"
    BIG = "big"


class WalkStep(Word):
    """How a person steers the walk over every lamp."""

    PAUSE = "pause"
    """The lamp in hand stays lit."""
    ON = "on"
    BACK = "back"
    """The lamp before it once more."""
    AGAIN = "again"
    """The lamp in hand once more, or the whole walk when it is over."""


class Condition(Word):
    """Something under which the last inspection was made, and that has changed."""

    SETTINGS = "settings"
    LIGHT = "light"
    CALIBRATION = "calibration"


class Timer(Word):
    """What a running timer measures. Its length is the setting `table.<value>_s`.

    `MIN_ROUND` alone is measured from the opening of the round's bets, not from `StartTimer`.
    """

    BETTING = "betting"
    ACTIVATION = "activation"
    SETTLING = "settling"
    PAYOUT = "payout"
    MIN_ROUND = "least_round"
    TIME_CHECK = "time_check"
    DRAW = "draw"
    COVER = "cover"
    LAMPS = "lamps"
    LOOK = "look"
    """Least time for which an inspection's lamp entry is lit before a person may say `seen`."""
    EACH_LAMP = "each_lamp"
    TOSS = "toss"
    REST = "rest"
    READING = "reading"


class RetireStep(Word):
    """What is done to a broken automated shaker before a manual one may be used."""

    DICE_REMOVED = "dice_removed"
    COVERED_OR_SIGNED = "covered_or_signed"
    SHAKER_REMOVED = "shaker_removed"


class DiceStep(Word):
    """What becomes of dice outside of the shaker, from box to destroyed."""

    RECEIVED = "received"
    INSPECTED = "inspected"
    """By micrometer, balancing caliper, square and magnet, where surveillance sees it."""
    RETURNED = "returned"
    """To storage, unused."""
    SEALED = "sealed"
    """In an envelope for the authority: somebody may have tampered with them."""
    CANCELLED = "cancelled"
    DESTROYED = "destroyed"


class ShownPhase(Word):
    """What the lamp controller's phase lamps and the screens say to the public."""

    CLOSED = "closed"
    INSPECTION = "inspection"
    BETS_OPEN = "bets_open"
    NO_MORE_BETS = "no_more_bets"
    TOSSING = "tossing"
    """The shaker runs, bets are closed. Where bets are open meanwhile, `BETS_OPEN` stays."""
    READING = "reading"
    AWAITING_DEALER = "awaiting_dealer"
    """A person confirms, enters or decides."""
    RESULT = "result"
    NO_ROLL = "no_roll"
    VOID = "void"
    SETTLE_BY_HAND = "settle_by_hand"
    FAULT = "fault"
    OUT_OF_SERVICE = "out_of_service"


class Notice(Word):
    """What is announced to dealer, players and staff. Screens and consoles word it."""

    BETS_OPEN = "bets_open"
    NO_MORE_BETS = "no_more_bets"
    ACTIVATE = "activate"
    """The dealer, or the selected player, is to start the shaker."""
    REVEAL = "reveal"
    """The cover is to be opened."""
    COVER = "cover"
    """The cover is to be closed."""
    MULTIPLIERS = "multipliers"
    NO_MULTIPLIERS = "no_multipliers"
    """Their display was not proved: none are in force this round."""
    CONFIRM = "confirm"
    """The dealer is to announce and confirm the values read."""
    ENTER = "enter"
    """The dealer is to read the dice by eye: enter the values, or call no roll."""
    ENTER_AGAIN = "enter_again"
    """Typed once, with no reading beside it: the dealer is to type the values a second time."""
    BY_EYE = "by_eye"
    """The result is what a dealer saw, and the reader read nothing: for the floorperson."""
    LATE_SAME = "late_same"
    """The reader has read the dice after all, and as they were entered."""
    LATE_OTHER = "late_other"
    """The reader has read the dice after all, and otherwise than they were entered."""
    CORRECTION = "correction"
    """The dealer names another result: a second person agrees, or the first one stands."""
    CORRECTED = "corrected"
    """Two persons put another result in the place of the first."""
    NOT_FLAT = "not_flat"
    """The reader sees a die that is not flat: the dealer looks, then calls no roll or enters."""
    READ_IN_PRESENCE = "read_in_presence"
    """Interrupted after the toss, and the dice lie as they fell: the lid's flag stands, or a manual
    shaker is in the dealer's care. The named role is to come before the dealer reads."""
    IN_VIEW = "in_view"
    NOT_IN_VIEW = "not_in_view"
    """Interrupted after the toss: dealer and floorperson say whether the locked compartment stayed
    in their view."""
    DISPUTE = "dispute"
    """Dealer and reader disagree: the floorperson decides."""
    RESULT = "result"
    NO_ROLL = "no_roll"
    VOID = "void"
    NOT_STARTED = "not_started"
    PRESENCE = "presence"
    """The result stands, the lamps do not: the named role is to come before anything is paid."""
    SETTLE_BY_HAND = "settle_by_hand"
    OPEN = "open"
    CLOSED = "closed"
    BARRED = "barred"
    """No round starts; the state's `barred` says why."""
    INSPECTION_DUE = "inspection_due"
    LAMP_VALUES = "lamp_values"
    """The inspecting person is to enter three values of their own choice."""
    LOOK = "look"
    """Lit for these values: the inspecting person looks, then says `seen` or what is wrong."""
    SAY_SEEN = "say_seen"
    """The entry has been lit for long enough: the person says `seen`, or what is wrong."""
    LAMPS_SEEN = "lamps_seen"
    """The inspecting person is to confirm having seen every lamp lit and dark."""
    ODDS_SEEN = "odds_seen"
    """Every multiplier display shows its highest odds: the inspecting person is to confirm it."""
    CYCLE = "cycle"
    """The inspecting person is to start a cycle of the shaker."""
    CYCLE_SEEN = "cycle_seen"
    """The inspecting person is to say whether the dice were properly tossed."""
    CYCLE_GOOD = "cycle_good"
    CYCLE_BAD = "cycle_bad"
    SIGN = "sign"
    """The inspection has passed and waits for its signature."""
    INSPECTED = "inspected"
    SHIFT_DUE = "shift_due"
    SAME_DICE = "same_dice"
    """The compartment was opened, or may have been: a person says whether the same dice are in
    it."""
    DICE_NAMED = "dice_named"
    """One person has named other dice: a second repeats them."""
    CAMERA_OFF = "camera_off"
    """The table comes back to service without its reader: the dealer enters every value."""
    OUT_OF_SERVICE = "out_of_service"
    MANUAL_SHAKER = "manual_shaker"
    """The out-of-order procedure is done: a manual shaker may be used."""
    BY_HAND = "by_hand"
    """Bets are closed over a manual shaker: the dealer uncovers it, announces and enters."""


@cache
def plain(typed: str) -> str:
    """A name or serial as it is compared: case and space make no other person and no other die."""
    return " ".join(unicodedata.normalize("NFKC", typed).split()).casefold()


@cache
def words(name: str) -> str:
    """`TossPlanDrawn` to "toss plan drawn", `not_flat` to "not flat"; other words as they stand."""
    if not name.isalpha():
        return name.replace("_", " ")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
