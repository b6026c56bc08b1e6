"""What each phase means to people: one entry a phase, which every screen, sign and feed reads.

Owns every word that depends on the phase alone: one sentence for the room, one for staff, who is
waited for, the table's life, the stage of an inspection, and what the lamp box's phase lamps say.
Must not know devices, people or values: the room's sentence stands on a public screen, so it has no
reading, no name, no command and no remedy.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from shaker_ctl.console.grammar import typed
from shaker_ctl.frozen import frozen
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.vocabulary import Role, ShownPhase


class Tone(Enum):
    """How a phase looks from three metres. Each has its shape beside its colour."""

    PLAY = "circle"
    """Green: bets are open, or wagers are settled."""
    CALM = "square"
    """Neither: the table is closed, or the dice are under way."""
    WAIT = "triangle"
    """Amber: somebody is waited for."""
    STOP = "cross"
    """Red: there is no result, or no play."""


class Scene(Enum):
    """What the room's sign makes large."""

    BOARD = "board"
    """The layout with its odds."""
    CALL = "call"
    """The sentence, over the whole width: no more bets."""
    DICE = "dice"
    """The dice, or what is called in their place."""


@frozen
class Waits:
    """Whose word a phase waits for."""

    kind: str
    """Of the word: `PendingView.kind`."""
    roles: frozenset[Role]
    text: str
    """What they do, and the line to type."""


@frozen
class PhaseWords:
    """One phase."""

    room: str
    staff: str
    tone: Tone = Tone.CALM
    scene: Scene = Scene.BOARD
    call: str = ""
    """Shown as large as a result, in its place."""
    wagers: str = ""
    """What happens to wagers, beside the call, where the phase alone says it."""
    life: str = ""
    """Of the table, where the phase alone says it."""
    stage: str = ""
    """Of an inspection."""
    waits: Waits | None = None
    next: str = ""
    """Who brings the table on, and by which line, where it waits for nobody's word."""
    lamps: frozenset[ShownPhase] = frozenset()
    """What the lamp box's phase lamps say, each in its case; empty: what they said before."""


P = Phase
S = ShownPhase

IN_CHARGE = frozenset({Role.FLOORPERSON, Role.SUPERVISOR})
DEALER = frozenset({Role.DEALER})

_CALLED = "Please wait: a floorperson is called."
_SOON = "The next round begins soon."
_CLOSED = "The table is closed."
INSPECTED = "The table is closed for its inspection."
"""The room's sentence while the phases of a toss serve an inspection."""
_STAY = "Wagers stay until it is decided."
_BY_HAND = "The result stands. Wagers are settled by hand."
_TOSSED = "No more bets."
_DECIDING = "The table decides."


def _waits(kind: str, text: str, roles: frozenset[Role] = IN_CHARGE) -> Waits:
    return Waits(kind, roles, text)


def _settled(text: str) -> Waits:
    return Waits("settled", DEALER, f"{text}, then: {typed('settled')}")


def _inspection(staff: str, stage: str, waits: Waits | None = None) -> PhaseWords:
    lamps = frozenset({S.INSPECTION})
    return PhaseWords(INSPECTED, staff, stage=stage, waits=waits, lamps=lamps)


def _toss(staff: str, *lamps: ShownPhase) -> PhaseWords:
    return PhaseWords(_TOSSED, staff, scene=Scene.CALL, lamps=frozenset(lamps))


PHASE_WORDS: Mapping[P, PhaseWords] = {
    P.CLOSED: PhaseWords(
        _CLOSED,
        "The table is closed.",
        life="closed",
        next="floorperson or supervisor: open; an inspection comes first",
        lamps=frozenset({S.CLOSED}),
    ),
    P.INSPECTION_DUE: PhaseWords(
        _CLOSED,
        "An opening inspection is due.",
        life="inspection due",
        stage="due",
        next="floorperson or supervisor: inspect all",
        lamps=frozenset({S.CLOSED}),
    ),
    P.INSPECTED: PhaseWords(
        "The table opens soon.",
        "The inspection is signed; the table may be opened.",
        life="inspected",
        stage="signed",
        next="floorperson or supervisor: open",
        lamps=frozenset({S.CLOSED}),
    ),
    P.OPENING: PhaseWords("The table opens soon.", "The clock is checked before the table opens."),
    P.PACING: PhaseWords(_SOON, "The least length of the last round has not passed.", Tone.PLAY),
    P.READY: PhaseWords(_SOON, "Open; the next round may begin.", Tone.PLAY),
    P.ADMITTING: PhaseWords(_SOON, "The clock is checked before bets open.", Tone.PLAY),
    P.OUT_OF_SERVICE: PhaseWords(
        "This table is out of service.",
        "The table is out of service.",
        Tone.STOP,
        Scene.DICE,
        "out of service",
        life="out of service",
        next="technician: return-to-service, or first jog, test-toss, lamp test",
        lamps=frozenset({S.OUT_OF_SERVICE}),
    ),
    P.LAMP_VALUES_AWAITED: _inspection(
        "The inspecting person enters three values of their own choice.",
        "values?",
        _waits("values", "three values of your own: inspect enter A B C"),
    ),
    P.LAMP_ENTRY: _inspection(
        "Inspection values are entered; the lamps are read back.", "lamp entries"
    ),
    P.LAMP_ENTRY_LIT: _inspection(
        "What these values win is lit: look at the layout.", "lamp entries"
    ),
    P.LAMP_ENTRY_TO_BE_SEEN: _inspection(
        "Lit until the inspecting person says: inspect seen.",
        "seen?",
        _waits("seen", "look at the layout, then: inspect seen, or inspect wrong AREA"),
    ),
    P.LAMP_ENTRY_CLEARING: _inspection(
        "Inspection values are cleared; the lamps are read back dark.", "lamp entries"
    ),
    P.EACH_LAMP: _inspection("Every lamp is lit alone, then dark.", "lamp walk"),
    P.WALK_PAUSED: _inspection(
        "The walk over every lamp is paused; its lamp stays lit.",
        "walk paused",
        _waits("on", "inspect on, back or again; inspect wrong AREA"),
    ),
    P.LAMPS_TO_BE_SEEN: _inspection(
        "Every lamp was lit and dark alone; who saw it says: inspect seen.",
        "seen?",
        _waits(
            "seen", "say that you saw every lamp lit and dark: inspect seen, again, or wrong AREA"
        ),
    ),
    P.ODDS_TRIED: _inspection(
        "Every multiplier display is told to show its highest odds.", "multiplier displays"
    ),
    P.ODDS_TO_BE_SEEN: _inspection(
        "The multiplier displays are lit; who looked says: inspect seen.",
        "seen?",
        _waits(
            "seen", "look at the multiplier displays, then: inspect seen, or inspect wrong AREA"
        ),
    ),
    P.CYCLE_AWAITED: _inspection(
        "The inspecting person starts a cycle of the shaker: inspect cycle.",
        "cycle?",
        _waits("cycle", "start the shaker and watch it: inspect cycle"),
    ),
    P.CYCLE_TO_BE_JUDGED: _inspection(
        "Flat and readable; the inspecting person says: inspect tossed.",
        "tossed?",
        _waits("tossed", "were the dice properly tossed? inspect tossed, or inspect not-tossed"),
    ),
    P.CYCLE_DONE: PhaseWords(INSPECTED, _DECIDING),
    P.TO_BE_SIGNED: _inspection(
        "The inspection has passed; who inspected says: sign.",
        "signature?",
        _waits("sign", "the inspection has passed: sign"),
    ),
    P.COVERING: _toss("The cover closes."),
    P.PLANNING: _toss("The shake is drawn."),
    P.PROVING_DARK: _toss("The lamps are proved dark before the shaker starts."),
    P.STARTING: _toss("The shaker is started."),
    P.TOSSING: _toss("The shaker runs."),
    P.COVERED: _toss("Tossed and settled under the cover; bets are open.", S.BETS_OPEN),
    P.REVEALING: _toss("The cover opens."),
    P.COMING_TO_REST: _toss("The dice come to rest."),
    P.READING: _toss("The dice are read."),
    P.BETTING: PhaseWords(
        "Place your bets.", "Bets are open.", Tone.PLAY, lamps=frozenset({S.BETS_OPEN})
    ),
    P.DRAWING_MULTIPLIERS: _toss("Multipliers are drawn.", S.NO_MORE_BETS),
    P.SHOWING_MULTIPLIERS: _toss("Multipliers are shown and read back.", S.NO_MORE_BETS),
    P.NO_MORE_BETS: _toss("No more bets; the shaker waits to be started.", S.NO_MORE_BETS),
    P.READ: PhaseWords(_TOSSED, _DECIDING, scene=Scene.CALL),
    P.INTERRUPTED: PhaseWords(
        _CALLED,
        "Interrupted after the toss: named persons are asked.",
        Tone.WAIT,
        Scene.DICE,
        "on hold",
        _STAY,
        waits=_waits("in-view", "interrupted after the toss", IN_CHARGE | DEALER),
        lamps=frozenset({S.AWAITING_DEALER}),
    ),
    P.AWAITING_DEALER: PhaseWords(
        "The dealer announces the dice.",
        "The dealer announces and confirms, or enters.",
        scene=Scene.DICE,
        waits=_waits("enter", "read the dice by eye", DEALER),
        lamps=frozenset({S.AWAITING_DEALER}),
    ),
    P.DISPUTED: PhaseWords(
        _CALLED,
        "Dealer and reader disagree; the floorperson decides.",
        Tone.WAIT,
        Scene.DICE,
        "dispute",
        _STAY,
        waits=_waits("decide", "decide"),
        lamps=frozenset({S.AWAITING_DEALER}),
    ),
    P.DECIDED: PhaseWords(_TOSSED, _DECIDING, scene=Scene.DICE),
    P.PUSHING: PhaseWords(
        "The result is shown in a moment.",
        "The values are sent to the lamps and read back.",
        scene=Scene.DICE,
        lamps=frozenset({S.RESULT}),
    ),
    P.COLLECTING: PhaseWords(
        "Losing wagers are collected.",
        "Losing wagers are collected.",
        Tone.PLAY,
        Scene.DICE,
        waits=_settled("collect and pay"),
        lamps=frozenset({S.RESULT}),
    ),
    P.PAYING: PhaseWords(
        "Winning wagers are paid.",
        "Winning wagers are paid.",
        Tone.PLAY,
        Scene.DICE,
        waits=_settled("pay"),
        lamps=frozenset({S.RESULT}),
    ),
    P.SETTLED_LIT: PhaseWords(
        _SOON,
        "All paid; the lamps are cleared next.",
        Tone.PLAY,
        Scene.DICE,
        waits=_waits("lamps-off", f"clear the lamps: {typed('lamps-off')}", DEALER),
        lamps=frozenset({S.RESULT}),
    ),
    P.CLEARING: PhaseWords(_SOON, "The lamps are cleared.", Tone.PLAY, Scene.DICE),
    P.AWAITING_PRESENCE: PhaseWords(
        _CALLED,
        "The lamps failed after the toss; the named person must come.",
        Tone.WAIT,
        Scene.DICE,
        "by hand",
        _BY_HAND,
        waits=_waits("presence", "come to the table, then: presence"),
        lamps=frozenset({S.FAULT}),
    ),
    P.SETTLING_BY_HAND: PhaseWords(
        "The dealer settles this round by hand.",
        "The round is settled by hand.",
        Tone.WAIT,
        Scene.DICE,
        "by hand",
        _BY_HAND,
        waits=_settled("settle by hand"),
        lamps=frozenset({S.SETTLE_BY_HAND}),
    ),
    P.WITHOUT_RESULT: PhaseWords(
        "This round has no result.",
        "The round ended without a result.",
        Tone.STOP,
        Scene.DICE,
        "no result",
        waits=_settled("deal with wagers"),
        lamps=frozenset({S.NO_ROLL, S.VOID}),
    ),
    P.ROUND_OVER: PhaseWords(_SOON, _DECIDING),
    P.JOGGING: PhaseWords(_CLOSED, "The motor is jogged."),
    P.LAMP_TRIAL: PhaseWords(_CLOSED, "Lamps are tried."),
}

assert set(PHASE_WORDS) == set(P), f"no words of {set(P) - set(PHASE_WORDS)}"
