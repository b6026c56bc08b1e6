"""The catalogue: one list of names, one sentence, and faults that wait for what happens."""

from __future__ import annotations

import math
import time
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from hil_tests.rig.camera.faults import CAMERA_FAULTS, CameraFaults
from hil_tests.rig.camera.stream import Camera
from hil_tests.rig.fault_set import Fault, FaultSet, checked
from hil_tests.rig.faults import CameraPart, Faults, LinesPart, parse
from hil_tests.rig.lamp_box.faults import LAMP_FAULTS, LampFaults
from hil_tests.rig.plant.faults import PLANT_FAULTS, PlantFaults
from hil_tests.rig.wires.line import LINE_FAULTS, LineFaults
from hil_tests.waiting import until


@pytest.fixture
def parts():
    lamp = FaultSet("lamp", [Fault("dim", "", "", {"percent": 50.0})], ["commit"])
    other = FaultSet("other", [Fault("deaf", "", "", {"ear": "left"})])
    faults = Faults([lamp, other])
    yield faults
    faults.close()


def test_a_sentence_is_understood():
    assert parse("tach_silent after 12 edges").after == (12, "edges")
    order = parse("bulb_burnt area=small,one-6 after 1 commit")
    assert (order.name, order.parameters) == ("bulb_burnt", {"area": "small,one-6"})
    assert parse("jam").after is None


@pytest.mark.parametrize(
    "sentence", ["", "jam after", "jam after edges", "jam after ² edges", "jam after 1", "jam hard"]
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
        ("blind", "`faults` lists them"),
        ("daef", "did you mean deaf"),
        ("dim after 1 lunch", "can wait for"),
    ],
)
def test_what_is_not_in_the_catalogue_is_refused_with_what_is(parts, sentence, text):
    with pytest.raises(ValueError, match=text):
        parts.inject(sentence)
    assert not parts.active()


def test_a_part_counts_its_own_events_exactly(parts):
    parts.inject("dim after 2 commit")
    lamp = parts._parts[0]
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
    until(lambda: parts.active() == {"deaf": {"ear": "right"}})
    assert not parts.waiting()


def test_a_waiting_fault_can_be_called_off(parts):
    parts.inject("deaf after 1 rest")
    parts.heal("deaf")
    parts.count("rest")
    time.sleep(0.02)
    assert not parts.active()


DESCRIBED: list[Fault] = [
    *PLANT_FAULTS.values(),
    *CAMERA_FAULTS.values(),
    *LAMP_FAULTS.values(),
    *LINE_FAULTS.values(),
]


NUMBERS = [
    (fault, key)
    for fault in DESCRIBED
    for key, default in fault.parameters.items()
    if not isinstance(default, str)
]


@pytest.mark.parametrize(
    ("fault", "key"), NUMBERS, ids=[f"{fault.name}-{key}" for fault, key in NUMBERS]
)
def test_every_number_has_bounds_and_nothing_beyond_is_taken(fault: Fault, key: str) -> None:
    least, most = fault.bounds[key]
    for value in (least, most, fault.parameters[key]):
        assert checked(fault, {key: value})[key] == value
    for wrong in (math.nan, math.inf, -math.inf, least - 0.01, most + 0.01):
        with pytest.raises(ValueError, match=f"{key} must be {least:g} to {most:g}, not"):
            checked(fault, {key: str(wrong)})


@pytest.mark.parametrize("end", [0, 1])
@pytest.mark.parametrize("fault", CAMERA_FAULTS.values(), ids=list(CAMERA_FAULTS))
def test_a_camera_goes_on_with_each_fault_at_its_bounds(fault: Any, end: int) -> None:
    faults = CameraFaults(30.0)
    picture = np.full((48, 64, 3), 99, np.uint8)
    for number in range(40):
        faults.on_picture(picture)
        faults.on_jpeg(number / 30.0, b"jpeg" * 500)
    faults.inject(fault.name, **{key: ends[end] for key, ends in fault.bounds.items()})
    assert faults.on_picture(picture).dtype == np.uint8
    faults.on_jpeg(2.0, b"jpeg" * 500)
    faults.replay()
    assert 1.0 / 30.0 <= faults.period_s <= 10.0
    assert list(faults.active) == [fault.name]
    faults.heal()
    assert not faults.active


@pytest.fixture
def machine():
    camera = SimpleNamespace(inject=lambda name, **_: None, clear=lambda name: None)
    line: Any = SimpleNamespace(name="lamp", faults=LineFaults())
    faults = Faults(
        [
            PlantFaults(),
            CameraPart(cast("Camera", camera)),
            LampFaults(),
            LinesPart({"lamp": line}),
        ]
    )
    yield faults
    faults.close()


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("bulb_burnt area=nope", "no lamp 'nope'"),
        ("lamp_extra area=big,small", "takes one lamp"),
        ("tach_silent foo=1", "tach_silent takes no parameters, not"),
        ("tach_silent after_edges=1", "tach_silent takes no parameters, not"),
        ("supply_low volts=low", "must be a number"),
        ("camera_slow fps=0", "camera_slow fps must be 0.1 to 30, not 0"),
        ("camera_torn seconds=nan", "must be 0 to 1, not nan"),
        ("line_cut line=dealer", "no line 'dealer'; there are: lamp"),
        ("line_noise per_byte=2", "must be 0 to 1, not 2"),
    ],
)
@pytest.mark.parametrize("after", ["", " after 1 rest", " after 1 edges"])
def test_a_fault_is_refused_now_also_where_it_would_wait(machine, fault, said, after):
    with pytest.raises(ValueError, match=said):
        machine.inject(fault + after)
    assert not machine.waiting()


def test_one_that_fails_when_its_event_comes_does_not_end_the_others(parts, caplog):
    def fail(order: object) -> None:
        raise RuntimeError("the camera is gone")

    parts._parts[1].inject = fail
    parts.inject("deaf after 1 rest")
    parts.inject("dim after 2 rest")
    parts.count("rest")
    parts.count("rest")
    until(lambda: "dim" in parts.active())
    assert "the fault deaf could not be injected" in caplog.text
