"""The catalogue: one list of names, one sentence, and faults that wait for what happens."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from hil_tests.rig.camera_faults import CAMERA_FAULTS
from hil_tests.rig.fault_set import Fault, FaultSet
from hil_tests.rig.faults import EVENTS, Faults, SetPart, parse
from hil_tests.rig.lamp_faults import LAMP_FAULTS
from hil_tests.rig.line import LINE_FAULTS
from hil_tests.rig.plant_faults import PLANT_FAULTS
from hil_tests.rig.seen import CAMERA_SEEN, PLANT_SEEN


@pytest.fixture
def parts():
    lamp = FaultSet([Fault("dim", "", "", {"percent": 50.0})], ["commit"])
    other = FaultSet([Fault("deaf", "", "", {"ear": "left"})])
    faults = Faults([SetPart("lamp", lamp), SetPart("other", other)])
    yield faults
    faults.close()


def test_a_sentence_is_understood():
    assert parse("tach_silent after 12 edges").after == (12, "edges")
    order = parse("bulb_burnt area=small,one-6 after 1 commit")
    assert (order.name, order.parameters) == ("bulb_burnt", {"area": "small,one-6"})
    assert parse("jam").after is None


@pytest.mark.parametrize(
    "sentence", ["", "jam after", "jam after edges", "jam after x edges", "jam after 1", "jam hard"]
)
def test_a_sentence_that_is_not_understood_says_how_it_goes(sentence):
    with pytest.raises(ValueError, match=r"NAME|count and an event|KEY=VALUE"):
        parse(sentence)


def test_faults_go_to_their_part_and_are_mended(parts):
    parts.inject("dim percent=20")
    parts.inject("deaf")
    assert parts.active() == {"dim": {"percent": 20.0}, "deaf": {"ear": "left"}}
    parts.heal("dim")
    assert list(parts.active()) == ["deaf"]
    parts.heal("all")
    assert not parts.active()


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("blind", "there are: deaf, dim"),
        ("dim colour=red", "takes"),
        ("dim percent=much", "must be a number"),
        ("dim after 1 lunch", "can wait for"),
    ],
)
def test_what_is_not_in_the_catalogue_is_refused_with_what_is(parts, sentence, text):
    with pytest.raises(ValueError, match=text):
        parts.inject(sentence)
    assert not parts.active()


def test_a_part_counts_its_own_events_exactly(parts):
    parts.inject("dim after 2 commit")
    lamp = parts._parts[0]._faults
    lamp.count("commit")
    assert not parts.active()
    lamp.count("commit")
    assert "dim" in parts.active()


def test_any_fault_can_wait_for_what_happens_elsewhere(parts):
    parts.inject("deaf ear=right after 12 edges")
    parts.count("rest")
    parts.count("edges", 11)
    time.sleep(0.02)
    assert parts.waiting() == {"deaf": "1 edges"}
    parts.count("edges", 4)
    _until(lambda: parts.active() == {"deaf": {"ear": "right"}})
    assert not parts.waiting()


def test_a_waiting_fault_can_be_called_off(parts):
    parts.inject("deaf after 1 rest")
    parts.heal("deaf")
    parts.count("rest")
    time.sleep(0.02)
    assert not parts.active()


def test_the_table_lists_every_fault_with_its_parameters_and_events(parts):
    rows = {row["name"]: row for row in parts.table()}
    assert set(rows) == {"dim", "deaf"}
    assert rows["dim"]["parameters"] == {"percent": 50.0}
    assert set(rows["deaf"]["events"]) == set(EVENTS)


def test_the_catalogue_says_of_every_fault_what_is_seen():
    assert set(PLANT_SEEN) == set(PLANT_FAULTS)
    assert set(CAMERA_SEEN) == set(CAMERA_FAULTS)
    assert all(fault.seen for fault in (*LAMP_FAULTS, *LINE_FAULTS))


def _until(condition: Callable[[], bool], patience_s: float = 2.0) -> None:
    ends_at = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < ends_at
        time.sleep(0.005)
