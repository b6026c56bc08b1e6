"""What the proof keeps by hand knows every phase, event and person's act that the rules have.

Each failure names the table to extend.
"""

from __future__ import annotations

import dataclasses

from hil_tests.proofs.alphabet import alphabet
from hil_tests.proofs.properties import inspections, people
from hil_tests.proofs.tables import tables
from hil_tests.proofs.watch import ANSWERS, ASKED, SUPERVISED
from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules import phases as ph
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.table_text import EVENTS
from shaker_ctl.rules.vocabulary import Purpose, Timer

PACE = frozenset(
    {Timer.BETTING, Timer.ACTIVATION, Timer.SETTLING, Timer.PAYOUT, Timer.LOOK, Timer.COVER}
)
"""Timers that pace people, or a cover that people may move: no device has to answer."""


def test_every_event_is_in_the_alphabet():
    offered = {
        type(event) for table in tables() for use in Purpose for event in alphabet(table, use)
    }
    assert set(EVENTS.values()) - offered == set(), "extend alphabet.py"


def test_every_act_of_a_person_has_its_role():
    judged = {*people.ACTS, *inspections.STEPS, ev.DiceKept, ev.DiceLogged, ev.CorrectionNamed}
    judged |= {ev.CorrectionAgreed}
    acts = {
        kind
        for kind in EVENTS.values()
        if "person" in {each.name for each in dataclasses.fields(kind)}
    }
    assert acts - judged == set(), "extend DEALER_ACTS, CHARGE_ACTS, … of properties/people.py"


def test_every_phase_that_a_device_ends_is_supervised_and_asks():
    for table in tables():
        timed = {phase for phase in Phase if ph.timer_of(phase, table.rules) not in {None, *PACE}}
        assert timed - SUPERVISED == set(), "extend ASKED of watch.py"
    assert set(ASKED.values()) <= set(ANSWERS), "extend ANSWERS of watch.py"


def test_every_answer_has_its_question():
    """An answer belongs to an occasion; facts and deadlines do, too, and answer nothing."""
    facts = {ev.TimerExpired, ev.ShakerFault, ev.LampFault, ev.ReaderFault}
    answers = {
        kind
        for kind in EVENTS.values()
        if "occasion" in {each.name for each in dataclasses.fields(kind)}
    }
    known = {kind for kinds in ANSWERS.values() for kind in kinds}
    assert answers - facts - known == set(), "extend ANSWERS of watch.py"
    assert all(issubclass(command, do.Command) for command in ANSWERS)
