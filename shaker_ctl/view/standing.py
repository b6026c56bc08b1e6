"""Where the table stands, in words: its life, what it waits for, how far the inspection has come.

Owns the wording of the state. Must not know devices or threads: everything here follows from the
state and the rulebook alone.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from shaker_ctl.console.desk import InspectionView, PendingView
from shaker_ctl.console.grammar import typed
from shaker_ctl.rules import phases as ph
from shaker_ctl.rules.agreement import About, Said, is_alike, waiting
from shaker_ctl.rules.guards import NEEDS_MANUAL_SHAKER, looks_on
from shaker_ctl.rules.outcome import Values
from shaker_ctl.rules.regulation import EntryMode
from shaker_ctl.rules.rulebook import Rulebook
from shaker_ctl.rules.state import Phase, TableState
from shaker_ctl.rules.vocabulary import Barrier, Part, Purpose, RetireStep, Role, Shown
from shaker_ctl.view.phase_words import DEALER, IN_CHARGE, PHASE_WORDS
from vision.reading import NoRoll, Unreadable, Verdict, Verified

_OR_NO_ROLL = "; not all flat: 000"


def read_values(verdict: Verdict | None) -> Values | None:
    """The values of a verified reading."""
    return verdict.three if isinstance(verdict, Verified) else None


def life(state: TableState) -> str:
    """Return the table's life in the words of `TableView.life`."""
    if words := PHASE_WORDS[state.phase].life:
        return words
    if state.purpose is Purpose.INSPECTION:
        return "opening inspection"
    if state.purpose is Purpose.SHIFT:
        return "shift inspection"
    if state.purpose is Purpose.TRIAL:
        return "trial"
    return "open"


def pending(
    state: TableState,
    entry: EntryMode = EntryMode.DEALER_CONFIRM,
    presence: frozenset[Role] = IN_CHARGE,
) -> PendingView | None:
    """Return what the table waits for a person to say, or None.

    `presence`: in whose presence the text has a round settled after a fault of the device.
    """
    if (waits := PHASE_WORDS[state.phase].waits) is None:
        return None
    kind, roles, text = waits.kind, waits.roles, waits.text
    read = read_values(state.reading) if entry is EntryMode.DEALER_CONFIRM else None
    stated = state.stated
    if state.phase is Phase.AWAITING_DEALER:
        kind, text = ("enter" if read is None else "confirm"), _to_enter(state, read, entry)
        if stated is not None:
            text = f"typed once: {_seen(stated.said)}; type the same values a second time"
    if state.phase is Phase.AWAITING_PRESENCE:
        roles = presence
    if state.phase is Phase.INTERRUPTED and not state.dice_in_doubt:
        kind, roles = "presence", presence
        text = "the dealer reads in your presence: come to the table, then: presence"
    elif state.phase is Phase.INTERRUPTED:
        said = f"{stated.by.name} has said so; " if stated else ""
        void = "once more in-view no" if state.denied_by else "else in-view no, twice"
        roles = presence | DEALER
        other = " or ".join(sorted(role.value for role in presence))
        text = (
            f"{said}the dealer and a {other}, each: in-view yes, where the locked "
            f"compartment stayed in your view; {void}: the round is void"
        )
    if state.phase is Phase.LAMP_VALUES_AWAITED:
        text += _suggestion(state)
    text = _read_late(state) + text
    if named := waiting(stated, About.RESULT):
        roles |= IN_CHARGE
        text = (
            f"{named.by.name} names {_seen(named.said)} in the place of "
            f"{_seen(state.values)}. Floorperson, if you agree: correct "
            f"{_typed(named.said)}; else the dealer settles"
        )
    if state.inspector is not None and state.phase in ph.INSPECTION:
        roles = frozenset({state.inspector.role})
    if state.phase is Phase.DISPUTED and stated is not None:
        entered = None if state.dice_in_doubt else stated.said
        either = [v for v in (entered, read_values(state.reading)) if v is not None]
        is_named = stated.said is None or isinstance(state.reading, NoRoll)
        neither = "decide no-roll" if is_named else "decide no-roll (nobody saw one: void)"
        lines = [*(f"decide {_seen(values)}" for values in either), neither]
        text = f"dealer: {_seen(stated.said)}, reader: {_read(state.reading)}; "
        text += f"say: {' or '.join(lines)}"
        text += f"; until then {stated.by.name} may put a typing error right: such as 346"
    return PendingView(
        kind=kind,
        round_id=state.round or None,
        values=read if kind == "confirm" else state.values,
        roles=tuple(sorted(roles, key=lambda role: role.value)),
        text=text,
    )


def _to_enter(state: TableState, read: Values | None, entry: EntryMode) -> str:
    """What the dealer does with the dice, and the line that says so."""
    if read is not None:
        line = "".join(map(str, read))
        return f"{_seen(read)} was read. Announce the dice, then type them: {line}{_OR_NO_ROLL}"
    why, reading = "", state.reading
    if isinstance(reading, NoRoll) and entry is EntryMode.DEALER_CONFIRM:
        why = "the reader sees a die that does not lie flat; "
    elif isinstance(reading, Unreadable):
        more = "the reader looks on; " if looks_on(state) else ""
        # A refusal may say what one reader saw.
        said = "" if entry is EntryMode.DEALER_ENTRY else f" ({reading.text})"
        why = f"nothing was read{said}; {more}"
    return f"{why}read the dice by eye, then type them, such as 346{_OR_NO_ROLL}"


def _read_late(state: TableState) -> str:
    """What the reader has read since the dealer entered, where it is another result."""
    read, stands = read_values(state.by_eye), state.values
    if not isinstance(state.by_eye, Verified | NoRoll) or is_alike(read, stands):
        return ""
    return f"the reader reads {_seen(read)}, and not {_seen(stands)}: look at the dice; "


_UNSEEN = {Shown.TRIPLE: "a triple", Shown.PAIR: "a pair", Shown.SMALL: "Small", Shown.BIG: "Big"}


def unseen(state: TableState) -> tuple[str, ...]:
    """What no entry of this inspection has shown yet. Seeing it is the house's care, no text's."""
    return tuple(words for shown, words in _UNSEEN.items() if shown not in state.shown)


def _suggestion(state: TableState) -> str:
    left = unseen(state)
    care = f"; not seen yet: {', '.join(left)} (the house's care)" if left else ""
    return f"{care}; {state.entry} seen; after three: inspect walk"


def _seen(values: Said) -> str:
    return "no roll" if values is None else " ".join(map(str, values))


def _typed(values: Said) -> str:
    return "no-roll" if values is None else _seen(values)


def _read(verdict: Verdict | None) -> str:
    return "nothing" if isinstance(verdict, Unreadable) else _seen(read_values(verdict))


BETWEEN = frozenset({Phase.CLOSED, Phase.INSPECTION_DUE, Phase.INSPECTED, Phase.READY})
"""Phases in which a table could be brought to its next round, were nothing in the way."""

_UNBARS = {
    Barrier.TIME_UNTRUSTED: "floorperson or supervisor: look at the clock in `health`; where it is "
    "right: time confirm",
    Barrier.DICE_UNKNOWN: "floorperson or supervisor: dice changed SERIAL SERIAL SERIAL",
    Barrier.DICE_IN_DOUBT: "floorperson or supervisor: dice same, or dice changed SERIAL SERIAL "
    "SERIAL",
    Barrier.DICE_AHEAD: "open and close the compartment; then floorperson or supervisor: "
    "dice changed SERIAL SERIAL SERIAL",
    Barrier.DICE_EXPIRED: "change the dice; then floorperson or supervisor: "
    "dice changed SERIAL SERIAL SERIAL",
}
"""What takes a barrier away. It comes before the inspection, which other dice would make due."""


def next_step(
    state: TableState,
    faults: Sequence[str],
    barrier: Barrier | None = None,
    may: Set[str] = frozenset(),
    steps: Set[RetireStep] = frozenset(),
) -> str:
    """Return what brings the table on while it waits for nobody's word in a round.

    `faults`: codes that stand; `barrier`: why no round would start now; `may`: acts of a round
    that the rules would take from the dealer, empty at a table that paces itself; `steps`: what
    the text asks for before a manual shaker is used, empty where nobody could shake it.
    """
    usual = PHASE_WORDS[state.phase].next
    if state.phase is Phase.OUT_OF_SERVICE:
        by_hand = ""
        if steps and state.faults <= NEEDS_MANUAL_SHAKER and not state.manual:
            words = " ".join(sorted(step.value.replace("_", "-") for step in steps))
            by_hand = f"; or take the steps for a manual shaker, then: out-of-order {words}"
        if not faults:
            return usual + by_hand
        mend = f"repair what `faults` names; then the technician: fault clear {faults[0]}"
        without = "; or go on without the camera: return-to-service, the dealer enters every value"
        return mend + without * ("return-to-service" in may) + by_hand
    if state.phase in BETWEEN:
        then = _UNBARS.get(barrier, "") if barrier else ""
        if (state.compartment_open or state.estop_pressed) and not state.manual:
            lid = state.compartment_open
            what = "close the compartment" if lid else "release the emergency stop"
            return f"{what}; then {then or usual or 'go on'}"
        if then:
            return then
    if state.phase is Phase.READY and state.shift_due:
        return "supervisor: inspect shift"
    if state.phase is Phase.COVERING and state.purpose is Purpose.PLAY:
        return (
            "close the cover; if its contact is stuck, the floorperson: out-of-order; the round "
            "does not start, and wagers are returned"
        )
    if state.phase is Phase.REVEALING and state.purpose is Purpose.PLAY:
        said = f"; {state.stated.by.name} has said so" if state.stated else ""
        stuck = f"; if its contact is stuck, dealer: reveal, and floorperson: cover off{said}"
        return "take the cover off" + stuck * state.reveal_overdue
    # The order matters where a profile lets both be done: toss first, then no more bets.
    for verb in ("reveal", "activate", "nmb", "bets"):
        if verb in may:
            return f"dealer: {typed(verb)}"
    return usual


WALKED = frozenset({Phase.LAMPS_TO_BE_SEEN, Phase.ODDS_TRIED, Phase.ODDS_TO_BE_SEEN})
"""Phases in which every lamp of the walk is proved, and the lamps have not passed yet."""


def inspection(
    state: TableState, rulebook: Rulebook, *, tried: int = 0, because: str = ""
) -> InspectionView:
    """Return how far the inspection has come.

    `tried`: lamps that the walk in hand has proved; `because`: why one was due last.
    """
    in_cycles = state.purpose in (Purpose.INSPECTION, Purpose.SHIFT)
    otherwise = "cycles" if in_cycles else "signed" if state.signed_by else "due"
    stage = PHASE_WORDS[state.phase].stage or otherwise
    is_shift = state.purpose is Purpose.SHIFT
    signers = rulebook.shift_signers if is_shift else rulebook.opening_signers
    cycles_of = rulebook.shift_cycles if is_shift else rulebook.cycles
    are_cycles_done = state.phase in (Phase.TO_BE_SIGNED, Phase.INSPECTED) or (
        Part.SHAKER in state.passed
    )
    are_lamps_done = Part.LAMPS in state.passed or (in_cycles and state.good > 0)
    walked = are_lamps_done or state.phase in WALKED
    entered = rulebook.lamp_entries if are_lamps_done else state.entry
    is_walking = state.phase in (*ph.WALK, Phase.LAMP_TRIAL)
    proved = tried if is_walking else len(rulebook.areas) * walked
    return InspectionView(
        stage=stage,
        reasons=(because,) if because and stage != "signed" else (),
        entries_seen=entered,
        entries_of=rulebook.lamp_entries,
        unseen=unseen(state) if state.phase in ph.LAMP_INSPECTION else (),
        lamps_proved=proved,
        lamps_of=len(rulebook.areas),
        lamps_seen_by=state.inspector.name if are_lamps_done and state.inspector else "",
        cycles_good=cycles_of if are_cycles_done else state.good,
        cycles_of=cycles_of,
        signed_by=state.signed_by.name if state.signed_by else "",
        signer_role=" or ".join(sorted(role.value for role in signers)),
    )
