"""Groups of phases, and the timer that each phase runs under.

Owns names for sets of phases that rows share, so that a row reads like its clause. Must not know
rows.
"""

from __future__ import annotations

from shaker_ctl.rules.regulation import NmbBefore
from shaker_ctl.rules.rulebook import Rulebook
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.vocabulary import Timer

P = Phase
Phases = frozenset[Phase]


def phases(*members: Phase) -> Phases:
    return frozenset(members)


STOPPED: Phases = phases(P.OUT_OF_SERVICE)
"""Out of play until a technician acts."""

SHUT: Phases = phases(P.CLOSED, P.INSPECTION_DUE)
"""Closed for play, nothing broken, no valid inspection."""

STANDING: Phases = phases(P.INSPECTED, P.OPENING, P.PACING, P.READY, P.ADMITTING)
"""Inspected; no round in hand."""

ENTRY_LIT: Phases = phases(P.LAMP_ENTRY_LIT, P.LAMP_ENTRY_TO_BE_SEEN)
"""Lit and proved for values of the inspecting person's choice."""

WALK: Phases = phases(P.EACH_LAMP, P.WALK_PAUSED)

LAMP_INSPECTION: Phases = (
    ENTRY_LIT
    | WALK
    | phases(P.LAMP_VALUES_AWAITED, P.LAMP_ENTRY, P.LAMP_ENTRY_CLEARING, P.LAMPS_TO_BE_SEEN)
    | phases(P.ODDS_TRIED, P.ODDS_TO_BE_SEEN)
)

TRIALS: Phases = phases(P.JOGGING, P.LAMP_TRIAL)

BEFORE_TOSS: Phases = phases(P.COVERING, P.PLANNING, P.PROVING_DARK)
"""EN is certainly low."""

ENERGISED: Phases = phases(P.STARTING, P.TOSSING)
"""EN is on, or may be: StartToss was given and neither denied nor finished."""

AFTER_TOSS: Phases = phases(P.COVERED, P.REVEALING, P.COMING_TO_REST, P.READING)
"""Settled; no value yet."""

SHAKER_IN_USE: Phases = BEFORE_TOSS | ENERGISED | AFTER_TOSS
"""Phases of a toss, whatever its purpose."""

BETS_CLOSED: Phases = phases(P.DRAWING_MULTIPLIERS, P.SHOWING_MULTIPLIERS, P.NO_MORE_BETS)
"""Before the toss where bets close before activation; after it where they close before reveal."""

VALUE_KNOWN: Phases = phases(
    *(P.DISPUTED, P.PUSHING, P.COLLECTING, P.PAYING, P.SETTLED_LIT, P.CLEARING),
    *(P.AWAITING_PRESENCE, P.SETTLING_BY_HAND),
)
"""A value was verified or entered in this round."""

LIT: Phases = phases(P.COLLECTING, P.PAYING)
"""Lamps are lit and wagers not yet all settled."""

HAND_PHASES: Phases = phases(P.AWAITING_PRESENCE, P.SETTLING_BY_HAND)

INSPECTION: Phases = LAMP_INSPECTION | phases(P.CYCLE_AWAITED, P.CYCLE_TO_BE_JUDGED, P.TO_BE_SIGNED)
"""Phases of an inspection outside of its cycles."""

IN_ROUND: Phases = (
    BETS_CLOSED
    | SHAKER_IN_USE
    | VALUE_KNOWN
    | phases(P.BETTING, P.INTERRUPTED, P.AWAITING_DEALER, P.WITHOUT_RESULT)
)
"""Phases in which a round may be in hand (the shaker's phases serve inspections too)."""

BEFORE_ACTIVATION: Phases = BEFORE_TOSS | phases(P.BETTING)
"""In play, before EN-on in either order. `BETS_CLOSED` joins where bets close before activation."""

SETTLED_ON: Phases = (
    AFTER_TOSS
    | BETS_CLOSED
    | VALUE_KNOWN
    | phases(P.INTERRUPTED, P.AWAITING_DEALER, P.WITHOUT_RESULT)
)
"""In play, after the toss (`BETS_CLOSED` where they close before the reveal)."""

TO_BE_READ: Phases = phases(
    *(P.REVEALING, P.COMING_TO_REST, P.READING, P.INTERRUPTED, P.AWAITING_DEALER)
)
"""Revealed, or about to be, and no value yet."""

CORRECTABLE: Phases = LIT | phases(P.SETTLING_BY_HAND, P.WITHOUT_RESULT)
"""A result stands, wagers are not settled by it yet, and a second person can be there."""

UNREAD_RESULT: Phases = CORRECTABLE | phases(P.PUSHING, P.AWAITING_PRESENCE)
"""A result stands that the reader may not have read, and wagers are not settled by it yet."""

AT_HAND: Phases = SHUT | STOPPED
"""Phases in which the technician may try the shaker and the lamps: nobody plays, all is shut."""

DOUBTED: Phases = SHUT | STOPPED | phases(P.INSPECTED)
"""Where no round is near and a person may say that the dice are still the same. What was inspected
was inspected with the dice that are in it."""

PASSING: Phases = phases(P.CYCLE_DONE, P.READ, P.DECIDED, P.ROUND_OVER)
"""Left again within the step that reached them, in every case."""

_TIMERS: dict[Phase, Timer] = {
    P.OPENING: Timer.TIME_CHECK,
    P.ADMITTING: Timer.TIME_CHECK,
    P.PACING: Timer.MIN_ROUND,
    P.LAMP_ENTRY: Timer.LAMPS,
    P.LAMP_ENTRY_LIT: Timer.LOOK,
    P.LAMP_ENTRY_CLEARING: Timer.LAMPS,
    P.EACH_LAMP: Timer.EACH_LAMP,
    P.ODDS_TRIED: Timer.LAMPS,
    P.LAMP_TRIAL: Timer.EACH_LAMP,
    P.JOGGING: Timer.TOSS,
    P.PLANNING: Timer.DRAW,
    P.PROVING_DARK: Timer.LAMPS,
    P.STARTING: Timer.TOSS,
    P.TOSSING: Timer.TOSS,
    P.COMING_TO_REST: Timer.REST,
    P.READING: Timer.READING,
    P.DRAWING_MULTIPLIERS: Timer.DRAW,
    P.SHOWING_MULTIPLIERS: Timer.LAMPS,
    P.PUSHING: Timer.LAMPS,
    P.CLEARING: Timer.LAMPS,
}
"""Deadlines on devices: something answers within this time, or it has failed."""

_PACE: dict[Phase, Timer] = {
    P.COVERED: Timer.BETTING,
    P.COLLECTING: Timer.SETTLING,
    P.PAYING: Timer.PAYOUT,
    P.WITHOUT_RESULT: Timer.PAYOUT,
}
"""Pace of a table that runs by itself."""


def _paced(phase: Phase, rules: Rulebook) -> bool:
    """True where the table's own pace ends this phase, and no person's word."""
    return rules.autonomous and (phase is P.COVERED or not rules.people_settle)


def timer_of(phase: Phase, rules: Rulebook) -> Timer | None:
    """Return the timer that runs while the table stands in `phase`, or None."""
    if phase in _PACE and _paced(phase, rules):
        return _PACE[phase]
    if phase is P.BETTING and rules.autonomous and rules.nmb_before is NmbBefore.ACTIVATE:
        return Timer.BETTING
    if phase is P.NO_MORE_BETS and rules.autonomous and rules.player_activated:
        return Timer.ACTIVATION
    if phase is P.REVEALING or (phase is P.COVERING and rules.cover_driven):
        return Timer.COVER
    return _TIMERS.get(phase)
