"""What the table relies on in any lamp box, known by nothing but its serial device.

On a virtual rig the device is the virtual box's; on a mixed one it belongs to a lamp controller in
another process; on a bench to a real box.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hil_tests.contracts.test_lamp_contract import Bench
from hil_tests.report.measurement import Measure
from hil_tests.rig.lamp_box.firmware import why_not
from hil_tests.rig.rigfile import LampTable, PartKind, RigFile
from shaker_ctl.adapters.lines.modbus_lamp import ModbusLamp
from shaker_ctl.errors import LampAnchorError, LampError
from shaker_ctl.journal.record import Anchor, Head
from shaker_ctl.lamp.parameters import LampParameters
from shaker_ctl.lamp.registers import BoxState, LampPhase
from shaker_ctl.rules.layout import sic_bo

LAYOUT = sic_bo("lose")
VALUES = (2, 2, 5)
START_S = 20.0
PATIENT = {"reply_slack_s": 0.12, "request_deadline_s": 0.4, "show_deadline_s": 0.4}
"""A line that two programs of a busy computer pace answers later than a box does."""


@contextlib.contextmanager
def virtual_box(folder: Path) -> Iterator[str]:
    """The rig's own box at the end of a line at its baud rate."""
    with contextlib.closing(Bench(folder)) as bench:
        yield str(bench.device)


@contextlib.contextmanager
def started_box(table: LampTable, folder: Path) -> Iterator[str]:
    """The program of a rig file, as its rig would start it; or a device that is there already."""

    def placed(word: str) -> str:
        return word.replace("{folder}", str(folder)).replace("{python}", sys.executable)

    device = Path(placed(table.device))
    if not table.start:
        yield str(device)
        return
    program = subprocess.Popen([placed(word) for word in table.start])
    ends_at = time.monotonic() + START_S
    while not device.exists():
        assert time.monotonic() < ends_at
        time.sleep(0.02)
    yield str(device)
    program.terminate()
    program.wait()


PROGRAM = LampTable(
    is_=PartKind.DEVICE,
    device="{folder}/lamp-controller",
    start=("{python}", "-m", "hil_tests.rig.lamp_box.firmware", "{folder}/lamp-controller"),
)
"""The box of `systemd/machine`, its program simulated: known by its device alone."""


@pytest.fixture(params=["inside the rig", "the machine's"])
def device(request: pytest.FixtureRequest, rig_table: RigFile, tmp_path: Path) -> Iterator[str]:
    """Where this rig's box is: on a virtual rig at both addresses, elsewhere at its own."""
    is_first = request.param == "inside the rig"
    if rig_table.lamp.is_ is PartKind.DEVICE and not is_first:
        pytest.skip("this rig has one lamp box")
    if not is_first and (reason := why_not()):
        pytest.skip(reason)
    if rig_table.lamp.is_ is PartKind.VIRTUAL and is_first:
        box = virtual_box(tmp_path)
    else:
        table = PROGRAM if rig_table.lamp.is_ is PartKind.VIRTUAL else rig_table.lamp
        box = started_box(table, tmp_path)
    with box as found:
        yield found


@pytest.fixture
def lamp(device: str, rig_table: RigFile) -> Iterator[ModbusLamp]:
    """The real client, on a box that is dark."""
    parameters = LampParameters(device=device, baudrate=rig_table.lamp.baudrate, **PATIENT)
    lamp = ModbusLamp(parameters, LAYOUT)
    lamp.darken()
    lamp.prove_dark()
    yield lamp
    with contextlib.suppress(LampError):
        lamp.darken()
    lamp.close()


def test_it_says_who_it_is(lamp: ModbusLamp) -> None:
    identity = lamp.identify()
    assert identity.areas_fitted in (50, 52)
    assert 0 < identity.warm_up_s <= 0.05


def test_a_result_is_lit_proved_held_and_cleared(lamp: ModbusLamp, measure: Measure) -> None:
    lit = LAYOUT.won(VALUES)
    times_ms = []
    for number in range(1, 6):
        began = time.monotonic()
        assert lamp.show(number, VALUES) == lit
        times_ms.append(1000 * (time.monotonic() - began))
        assert lamp.prove_lit(number, VALUES).result_round == number
        lamp.clear(number)
        assert lamp.prove_dark().last_committed_round == number
    median = sorted(times_ms)[len(times_ms) // 2]
    measure("result staged, committed and proved", median, "ms", upper=450)


def test_a_result_holds_without_a_controller(device: str, lamp: ModbusLamp) -> None:
    lamp.show(7, VALUES)
    lamp.close()
    time.sleep(1.5)
    again = ModbusLamp(LampParameters(device=device, **PATIENT), LAYOUT)
    assert again.prove_lit(7, VALUES).state is BoxState.RESULT
    again.clear(7)
    again.close()


def test_another_result_is_refused_while_one_is_lit(lamp: ModbusLamp) -> None:
    lamp.show(8, VALUES)
    with pytest.raises(LampError):
        lamp.show(9, (1, 2, 3))
    assert lamp.prove_lit(8, VALUES).result_round == 8
    lamp.clear(8)


def test_each_lamp_can_be_lit_alone(lamp: ModbusLamp) -> None:
    for area in ("small", "triple-6", "pair-3-4", "total-17", "one-1"):
        assert lamp.test_area(area) == {area}
    assert lamp.test_area(None) == frozenset()
    lamp.prove_dark()


def test_multipliers_are_shown_read_back_and_blanked(lamp: ModbusLamp) -> None:
    lamp.show_multipliers(3, {"triple-1": 999, "one-1/2": 15})
    lamp.show_multipliers(3, {})
    lamp.show_phase(LampPhase.BETS_OPEN, 3)
    assert lamp.status().phase == LampPhase.BETS_OPEN


def test_a_round_is_corrected_once_under_its_own_number(lamp: ModbusLamp) -> None:
    number = lamp.memory().last_committed + 1
    first, second = LAYOUT.won(VALUES), LAYOUT.won((2, 2, 6))
    lamp.show(number, VALUES)
    lamp.clear(number)
    with pytest.raises(LampError, match="committed with another result"):
        lamp.show(number, (2, 2, 6))
    assert lamp.correct(number, (2, 2, 6)) == second
    assert lamp.correct(number, (2, 2, 6)) == second
    lamp.clear(number)
    with pytest.raises(LampError, match="committed with another result"):
        lamp.correct(number, (1, 2, 3))
    assert lamp.prove_dark().last_committed_round == number
    assert lamp.memory().lit == {first, second}


def test_the_head_of_a_journal_is_kept_once_and_never_goes_back(lamp: ModbusLamp) -> None:
    before = lamp.memory().anchor
    if before is None:
        before = Anchor(b"\x5b" * 8, 1, Head(20, b"\x01" * 32))
        lamp.anchor(before)
    number, record = before.round + 1, before.head.sequence + 20
    after = Anchor(before.table, number, Head(record, b"\x02" * 32))
    for _ in range(2):
        lamp.anchor(after)
    for other in (
        before,
        replace(after, head=Head(record, b"\x03" * 32)),
        replace(after, head=Head(record + 1, b"\x02" * 32)),
        replace(after, round=number + 1),
        Anchor(b"\x5c" * 8, number + 1, Head(record + 1, b"\x04" * 32)),
    ):
        with pytest.raises(LampAnchorError, match="the anchor stands"):
            lamp.anchor(other)
    assert lamp.memory().anchor == after
