"""What the room may read: the round in hand in one sentence, and what is called out of it.

Owns what is public before a result is. It is given the state, and takes from it neither values nor
names; the wall adds values once their lamps are measured lit.
"""

from __future__ import annotations

from collections.abc import Iterator

from shaker_ctl.console.desk import RoomView
from shaker_ctl.rules import phases as ph
from shaker_ctl.rules.agreement import About, waiting
from shaker_ctl.rules.commands import RecordRound
from shaker_ctl.rules.effects import wagers_after
from shaker_ctl.rules.regulation import NmbBefore
from shaker_ctl.rules.rulebook import Rulebook
from shaker_ctl.rules.state import Phase, TableState
from shaker_ctl.rules.vocabulary import Barrier, Cause, Ending, Purpose, WagersDo
from shaker_ctl.view.phase_words import INSPECTED, PHASE_WORDS, PhaseWords, Scene, Tone

CALLS = {Ending.NO_ROLL: "no roll", Ending.VOID: "void", Ending.NOT_STARTED: "no result"}
WAGERS = {
    WagersDo.RETURNED: "All wagers are returned.",
    WagersDo.SILENT: "The dealer says what happens to the wagers.",
}
_BETWEEN = frozenset({Phase.READY, Phase.PACING, Phase.ADMITTING})
_NO_ROUND = "Please wait: no round starts yet."


def room(
    state: TableState, rules: Rulebook, last: RecordRound | None, barrier: Barrier | None = None
) -> RoomView:
    """Return what the room reads. `last`: the newest round on record; `barrier`: why no round
    would start now.
    """
    words = PHASE_WORDS[state.phase]
    if state.purpose is not Purpose.PLAY and state.phase in ph.SHAKER_IN_USE:
        in_trial = state.purpose is Purpose.TRIAL
        says = PHASE_WORDS[Phase.CLOSED].room if in_trial else INSPECTED
        return RoomView(says=says, shape=Tone.CALM.value)
    if _are_bets_open(state, rules):
        words = PHASE_WORDS[Phase.BETTING]
    says, tone = words.room, words.tone
    if waiting(state.stated, About.RESULT):
        says, tone = PHASE_WORDS[Phase.DISPUTED].room, Tone.WAIT
    elif state.phase in _BETWEEN and (barrier or state.compartment_open or state.estop_pressed):
        says, tone = _NO_ROUND, Tone.WAIT
    call, wagers, clause = _call(state, rules, last, words)
    if wagers and state.phase in _BETWEEN:
        tone = Tone.CALM  # not green beside a round that has no result
    return RoomView(
        says=says,
        are_bets_open=words is PHASE_WORDS[Phase.BETTING],
        scene=(Scene.DICE if call else words.scene).value,
        multipliers=tuple(_in_force(state)),
        call=call,
        wagers=wagers,
        clause=clause,
        shape=tone.value,
    )


def _in_force(state: TableState) -> Iterator[tuple[str, str]]:
    for each in state.multipliers if state.multipliers_shown else ():
        yield each.area, f"{each.dice} dice: {each.odds} to 1" if each.dice else f"{each.odds} to 1"


def _are_bets_open(state: TableState, rules: Rulebook) -> bool:
    """Where bets close before the reveal, they are open during the toss."""
    under_cover = ph.BEFORE_TOSS | ph.ENERGISED | {Phase.COVERED}
    return rules.nmb_before is NmbBefore.REVEAL and state.phase in under_cover


def _call(
    state: TableState, rules: Rulebook, last: RecordRound | None, words: PhaseWords
) -> tuple[str, str, str]:
    """What is called in the result's place, and what becomes of the wagers, by which clause."""
    ending: Ending | None = None
    cause: Cause | None = None
    if state.phase is Phase.WITHOUT_RESULT:
        ending, cause = state.ending, state.cause
    elif state.phase in _BETWEEN and last is not None and last.round == state.round:
        ending, cause = last.ending, last.cause
    if ending not in CALLS:
        return words.call, words.wagers, ""
    clause, wagers = wagers_after(rules, ending, cause)
    return CALLS[ending], WAGERS[wagers], clause
