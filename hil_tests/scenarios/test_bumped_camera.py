"""A camera that is knocked in the middle of play is noticed and named."""

from __future__ import annotations

import pytest

from hil_tests.scenarios.conftest import MakeTable
from hil_tests.table_under_test.session import Plan

pytestmark = [pytest.mark.rig, pytest.mark.timeout(300)]


@pytest.mark.parametrize("by", ["x_px=7 y_px=-5", "x_px=34 y_px=-21"])
def test_a_knocked_camera_is_named(make_table: MakeTable, by: str) -> None:
    """A little is within reach of the rim's search; much takes the rim out of it.

    Each on a table of its own: this one stays open and waits for its dealer.
    """
    table = make_table(Plan(pace="brisk", seed=5))
    table.be_open()
    table.betting()
    table.inject(f"camera_shifted {by}")
    table.wait("it names the camera that was moved", lambda s: "camera-moved" in s["faults"])
