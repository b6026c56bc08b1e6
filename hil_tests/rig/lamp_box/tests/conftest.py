"""The two lamp boxes that one suite asks: the rig's, and the shipped program, simulated."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hil_tests.rig.lamp_box import firmware
from hil_tests.rig.lamp_box.box import LampBox
from hil_tests.rig.wires.tests.bench_line import Pause

rig_alone = pytest.mark.parametrize("box", ["rig"], indirect=True)


@pytest.fixture(scope="session")
def board() -> Iterator[firmware.FirmwareBox]:
    if reason := firmware.why_not():
        pytest.skip(reason)
    board = firmware.FirmwareBox()
    yield board
    board.close()


@pytest.fixture(params=["rig", "firmware"])
def box(request: pytest.FixtureRequest) -> LampBox | firmware.FirmwareBox:
    """A new box."""
    if request.param == "rig":
        return LampBox(clock=Pause())
    board: firmware.FirmwareBox = request.getfixturevalue("board")
    board.told("new")
    return board
