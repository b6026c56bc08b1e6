"""What the table says to people, worded from notices. One place, so that all screens agree.

Must not decide anything: a notice names a fact, the clause beside it is the rules'.
"""

from __future__ import annotations

from collections.abc import Iterable

from shaker_ctl.motion import reports
from shaker_ctl.rules import events
from shaker_ctl.rules.commands import Announce, RecordRound
from shaker_ctl.rules.vocabulary import Cause, Ending, Multiplied, Notice, Purpose, WagersDo

_NOTICES = {
    Notice.BETS_OPEN: "Place your bets.",
    Notice.NO_MORE_BETS: "No more bets.",
    Notice.ACTIVATE: "Activate the shaker.",
    Notice.REVEAL: "Open the cover.",
    Notice.COVER: "Close the cover.",
    Notice.MULTIPLIERS: "Multipliers are in force as shown.",
    Notice.NO_MULTIPLIERS: "No multipliers are in force this round.",
    Notice.CONFIRM: "Announce and confirm the values.",
    Notice.ENTER: "Read the dice by eye: enter the values, or call no roll.",
    Notice.ENTER_AGAIN: "Typed once; type the same values a second time",
    Notice.BY_EYE: "For the floorperson: nothing was read, and this is what the dealer saw",
    Notice.LATE_SAME: "Read after it was entered, and the same",
    Notice.LATE_OTHER: "For the floorperson: the reader reads another result than was entered. "
    "Look at the dice, and correct it before wagers are settled",
    Notice.CORRECTION: "The dealer names another result; a floorperson who agrees repeats it",
    Notice.CORRECTED: "Corrected by two persons",
    Notice.NOT_FLAT: "The reader sees a die that does not lie flat: look at the dice, then call no "
    "roll, or enter the values.",
    Notice.READ_IN_PRESENCE: "Interrupted after the toss. Wait for the person in whose presence "
    "the dealer reads.",
    Notice.IN_VIEW: "Interrupted after the toss: the dealer, and the person who must be present, "
    "each say whether the locked compartment stayed in their view.",
    Notice.NOT_IN_VIEW: "One person says that the compartment did not stay in view. A further such "
    "word, of the person who must be present, makes the round void. Typed wrongly? Say: in-view "
    "yes, or presence.",
    Notice.DISPUTE: "Dealer and reader disagree: the floorperson decides.",
    Notice.RESULT: "Result.",
    Notice.NO_ROLL: "No roll.",
    Notice.VOID: "The round is void.",
    Notice.NOT_STARTED: "The round does not start.",
    Notice.PRESENCE: "The result stands. Wait for the person who must be present.",
    Notice.SETTLE_BY_HAND: "Settle by hand, then the table stops.",
    Notice.OPEN: "The table is open.",
    Notice.CLOSED: "The table is closed.",
    Notice.BARRED: "No round starts.",
    Notice.INSPECTION_DUE: "An opening inspection is due.",
    Notice.LAMP_VALUES: "Enter three values of your own choice: inspect enter A B C.",
    Notice.LOOK: "Lit for",
    Notice.SAY_SEEN: "Seen? Say: inspect seen, or inspect wrong AREA.",
    Notice.LAMPS_SEEN: "Every lamp was lit alone, then dark. If you saw it, say: inspect seen.",
    Notice.ODDS_SEEN: "Every multiplier display shows its highest odds. Seen? Say: inspect "
    "seen, or inspect wrong AREA.",
    Notice.CYCLE: "Start a cycle of the shaker and watch it: inspect cycle.",
    Notice.CYCLE_SEEN: "Flat and readable",
    Notice.CYCLE_GOOD: "Good shaker cycle.",
    Notice.CYCLE_BAD: "This cycle does not count; three good ones in a row are needed.",
    Notice.SIGN: "The inspection has passed and waits for its signature.",
    Notice.INSPECTED: "The inspection is signed; the table may be opened.",
    Notice.SHIFT_DUE: "A shift inspection is due.",
    Notice.SAME_DICE: "Are the same dice in the compartment? Say: dice same, or dice changed.",
    Notice.DICE_NAMED: "One person has named the dice; a second person repeats the same command.",
    Notice.CAMERA_OFF: "Back without the camera: the dealer enters every value, twice, and no "
    "picture proves a toss.",
    Notice.OUT_OF_SERVICE: "The table is out of service.",
    Notice.MANUAL_SHAKER: "The automated shaker is out of use: a manual one may be used, once its "
    "dice are recorded and the lamps are inspected.",
    Notice.BY_HAND: "The manual shaker, shaken three times at least: uncover it, announce and "
    "enter the values, or call no roll.",
}

_OF_A_RESULT = frozenset(
    {*(Notice.CORRECTION, Notice.CORRECTED), *(Notice.BY_EYE, Notice.LATE_SAME, Notice.LATE_OTHER)}
)
"""Without values they name a no roll."""

ALARMS = frozenset({Notice.BY_EYE, Notice.LATE_OTHER})
"""Notices that call a floorperson."""

_OF_A_TRIAL = {
    Notice.CYCLE_GOOD: "Test toss.",
    Notice.CYCLE_BAD: "The test toss was not flat, or not readable.",
}
"""A trial counts for nothing."""

_WAGERS = {
    WagersDo.SETTLED: "Wagers are settled.",
    WagersDo.RETURNED: "All wagers are returned.",
    WagersDo.STAND: "All wagers stand: the dice are shaken again.",
    WagersDo.SILENT: "The rules do not say what happens to the wagers: follow the house's own.",
}

_CAUSES = {
    Cause.NOT_FLAT: "not all dice lie flat on the bottom",
    Cause.SHAKER: "the shaker failed",
    Cause.COMPARTMENT: "the compartment was opened",
    Cause.ESTOP: "the emergency stop was pressed",
    Cause.COVER: "the cover was not where it must be",
    Cause.LAMP: "the lamps failed",
    Cause.READER: "the reader failed",
    Cause.CONTROLLER: "the controller failed",
    Cause.NOT_TOSSED: "the dice lie as before: there was no toss",
    Cause.INTERRUPTED: "the controller was restarted",
    Cause.NOT_ENERGISED: "the shaker was not started",
    Cause.CONDITION: "settings, light or calibration changed",
    Cause.CLOSED: "the table was closed",
    Cause.DICE: "the dice are over age",
    Cause.UNDECIDED: "dealer and reader named two results, and neither was upheld",
    Cause.CLOCK: "the clock is not trusted, or the rules are not in force any more",
}


def announce(said: Announce) -> str:
    """One or two sentences for dealer, players and staff."""
    notice = _NOTICES[said.notice]
    if said.occasion.purpose is Purpose.TRIAL:
        notice = _OF_A_TRIAL.get(said.notice, notice)
    parts = [notice]
    if said.values is not None:
        parts[0] = f"{parts[0].rstrip('.')}: {' '.join(map(str, said.values))}."
    elif said.notice in _OF_A_RESULT:
        parts[0] += ": no roll."
    if said.areas:
        parts.append(f"Winning areas: {', '.join(said.areas)}.")
    if said.multipliers:
        parts.append(f"Multipliers in force: {odds(said.multipliers)}.")
    if said.notice is Notice.CYCLE_SEEN:
        parts.append("Properly tossed? Say: inspect tossed, or inspect not-tossed.")
    if said.cause is not None:
        parts.append(f"Because {cause(said.cause)}.")
    if said.wagers is not None:
        parts.append(_WAGERS[said.wagers])
        if said.clause:
            parts[-1] = f"{parts[-1].rstrip('.')} ({said.clause})."
    return " ".join(parts)


def odds(multipliers: Iterable[Multiplied]) -> str:
    """Positions and odds: `triple-3 300 to 1, one-4 on 2 dice 7 to 1`."""
    return ", ".join(
        f"{m.area}{f' on {m.dice} dice' if m.dice else ''} {m.odds} to 1" for m in multipliers
    )


def ended(record: RecordRound) -> str:
    """How a round ended: `settled by hand: 1 5 5`, `void, because the compartment was opened`."""
    if record.values is None:
        words = without_result(record.ending, record.cause)
    else:
        words = f"{record.ending.value.replace('_', ' ')}: {' '.join(map(str, record.values))}"
    if (corrected := record.correction) is not None:
        first = " ".join(map(str, corrected.first)) if corrected.first else "no roll"
        by = f"{corrected.named_by.name} and {corrected.agreed_by.name}"
        words += f"; corrected from {first} by {by}"
    return words


def without_result(ending: Ending, why: Cause | None) -> str:
    """How a round without values ends: `no roll`, `void, because the compartment was opened`."""
    return ending.value.replace("_", " ") + (f", because {cause(why)}" if why is not None else "")


def cause(why: Cause) -> str:
    """A cause as a clause, without full stop."""
    return _CAUSES[why]


_CONTACTS: dict[type[events.Event], str] = {
    events.CompartmentOpened: "The compartment is open.",
    events.CompartmentClosed: "The compartment is closed and locked.",
    events.EstopPressed: "The emergency stop is pressed.",
    events.EstopReleased: "The emergency stop is released.",
}


def contact(event: events.Event) -> str:
    """A contact that changed, as a sentence; empty for any other event."""
    return _CONTACTS.get(type(event), "")


def run(report: reports.MotionReport) -> str:
    """How a powered run ended, or why it did not begin."""
    match report:
        case reports.TossJudged(proof=proof) if proof.is_proved:
            speeds = f"{proof.slowest_rpm:.0f} to {proof.fastest_rpm:.0f} rpm"
            return f"proved a toss: {proof.in_band_s:.2f} s in the band, {speeds}"
        case reports.TossJudged(proof=proof):
            return f"no toss: {proof.why_not}"
        case reports.JogEnded():
            return "jogged as asked"
        case reports.MotionStopped(reason=reason, after_s=after_s):
            return f"stopped after {after_s:.2f} s: {reason}"
        case reports.MotionDenied(reason=reason):
            return f"not begun: {reason}"
        case reports.MotionTrouble(reason=reason):
            return reason
    return ""
