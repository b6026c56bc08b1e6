"""The memory of the proof: asked again exactly where something differs that was looked at."""

from __future__ import annotations

import dataclasses

import pytest

from hil_tests.proofs.explore import first
from hil_tests.proofs.remembered import Nodes, Remembered, StandIn
from hil_tests.proofs.tables import tables
from hil_tests.proofs.watch import Watch
from shaker_ctl.rules.state import TableState
from shaker_ctl.rules.vocabulary import Purpose

STATE, WATCH = first(tables()[0])


def test_a_node_and_its_code_are_the_same():
    nodes = Nodes()
    changed = dataclasses.replace(STATE, round=7), WATCH._replace(draws=1)
    codes = [nodes.code((STATE, WATCH)), nodes.code(changed)]
    assert [nodes.node(code) for code in codes] == [(STATE, WATCH), changed]
    assert sum(one != other for one, other in zip(*codes, strict=True)) == 2


def test_a_function_is_asked_once_for_all_nodes_that_agree_in_what_it_looks_at():
    nodes = Nodes()
    calls = []

    def function():
        calls.append(1)
        return nodes.state.serial if nodes.watch.estop else nodes.state.occasion.purpose

    remembered = Remembered(nodes, function)

    def at(estop, **changes):
        node = dataclasses.replace(STATE, **changes), WATCH._replace(estop=estop)
        return remembered(nodes.code(node))

    assert at(False, serial=1) is at(False, serial=5) is STATE.purpose
    assert len(calls) == 1
    assert (at(True, serial=1), at(True, serial=5), at(True, serial=1)) == (1, 5, 1)
    assert len(calls) == 3
    assert at(False, purpose=Purpose.TRIAL) is Purpose.TRIAL
    assert at(True, serial=5, purpose=Purpose.TRIAL) == 5
    assert len(calls) == 4


def test_what_was_changed_is_not_looked_at():
    nodes = Nodes()
    nodes.here = nodes.code((STATE, WATCH))
    changed = nodes.state.changed({"serial": 9, "purpose": Purpose.SHIFT})
    assert changed.occasion.number == 9
    assert not nodes.looked
    assert changed.phase is STATE.phase
    assert len(nodes.looked) == 1


def test_a_stand_in_hides_no_field_and_is_never_compared_as_a_whole():
    names = {each.name for each in dataclasses.fields(TableState)} | set(Watch._fields)
    assert not names & set(dir(StandIn))
    nodes = Nodes()
    with pytest.raises(TypeError, match="field by field"):
        assert nodes.state == STATE
