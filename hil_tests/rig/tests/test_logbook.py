"""The logbook says what happened and when; a process can be ended or held at an exact moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from hil_tests.rig.fault_set import Order
from hil_tests.rig.faults import Faults
from hil_tests.rig.lamp_box.box import LampBox
from hil_tests.rig.lamp_box.faults import LampFaults
from hil_tests.rig.plant.faults import PlantFaults
from hil_tests.rig.process_faults import ProcessPart


def test_a_fault_is_noted_when_it_comes_into_force_and_not_when_it_is_asked_for() -> None:
    noted: list[tuple[str, str]] = []
    plant, lamp = PlantFaults(), LampFaults()
    plant.began = lamp.began = lambda name: noted.append(("fault", name))
    faults = Faults(
        [plant, lamp],
        noted=lambda what, name: noted.append((what, name)),
    )
    try:
        faults.inject("jam after 2 edges")
        faults.inject("lamp_silent after 1 commit")
        assert noted == []
        plant.count("edges")
        plant.count("edges")
        lamp.count("commit")
        faults.inject("light_dead")
        faults.heal("jam")
    finally:
        faults.close()
    assert noted == [
        ("fault", "jam"),
        ("fault", "lamp_silent"),
        ("fault", "light_dead"),
        ("healed", "jam"),
    ]


def test_a_lamp_box_tells_which_values_were_committed() -> None:
    box = LampBox(50)
    told: list[tuple[str, dict[str, Any]]] = []
    box.noted = lambda what, facts: told.append((what, facts))
    mask = box._compute([1, 2, 4], 50, 1)
    words = [mask >> 16 * place & 0xFFFF for place in (3, 2, 1, 0)]
    box.write(0x0040, [1, 0, 9, 1, 2, 4, 50, 1, *words])
    box.write(0x0060, [2, 1, 0, 9, 0])
    assert told == [
        ("stage", {"round": 9, "values": [1, 2, 4]}),
        ("commit", {"round": 9, "argument": 0, "values": [1, 2, 4]}),
    ]


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    yield process
    process.kill()
    process.wait()


def test_a_process_is_held_until_it_is_healed_and_killed_for_good(
    sleeper: subprocess.Popen[bytes],
) -> None:
    part = ProcessPart()
    part.obey(Order("process_stopped", {"pid": str(sleeper.pid)}))
    assert os.waitpid(sleeper.pid, os.WUNTRACED)[1] >> 8 == signal.SIGSTOP
    assert part.active == {"process_stopped": {"pid": sleeper.pid}}
    part.heal("process_stopped")
    assert os.waitpid(sleeper.pid, os.WCONTINUED)[1] == 0xFFFF
    assert part.active == {}
    part.obey(Order("process_killed", {"pid": str(sleeper.pid)}))
    assert sleeper.wait(5) == -signal.SIGKILL


@pytest.mark.parametrize("pid", ["0", "1", "-1", "inf", "1e30", "²", "47.11"])
def test_nobody_kills_what_is_not_theirs_by_a_forgotten_number(pid: str) -> None:
    for act in (ProcessPart().check, ProcessPart().obey):
        with pytest.raises(ValueError, match=r"pid=NUMBER|must be a number"):
            act(Order("process_killed", {"pid": pid}))


def test_a_process_that_cannot_be_is_refused_before_its_fault_waits() -> None:
    with pytest.raises(ValueError, match="no process has such a number"):
        ProcessPart().check(Order("process_killed", {"pid": "9" * 30}))
    with pytest.raises(ValueError, match="No such process"):
        ProcessPart().check(Order("process_killed", {"pid": str(2**31 - 1)}))


@pytest.mark.parametrize(
    "sentence",
    ["tach_silent foo=1", "tach_silent after_edges=3", "overspeed duty=nan", "jam after 2 lunch"],
)
def test_what_is_refused_is_neither_noted_nor_done(sentence: str) -> None:
    noted: list[tuple[str, str]] = []
    plant = PlantFaults()
    faults = Faults([plant], noted=lambda what, name: noted.append((what, name)))
    try:
        with pytest.raises(ValueError, match=r"takes|must be|can wait for"):
            faults.inject(sentence)
        with pytest.raises(ValueError, match="no fault 'nope'"):
            faults.heal("nope")
        assert noted == []
        assert not plant.active
        faults.inject("jam after 0 edges")
        assert noted == [("fault", "jam")], "after nothing is at once"
    finally:
        faults.close()
