"""A camera that is knocked in the middle of play: noticed at rest, named, and the table closed."""

from __future__ import annotations

import pytest

from hil_tests.scenarios.table import Table

pytestmark = [pytest.mark.rig, pytest.mark.timeout(300)]


@pytest.mark.parametrize("by", ["x_px=7 y_px=-5", "x_px=34 y_px=-21"])
def test_a_knocked_camera_closes_the_table_by_its_name(table: Table, by: str) -> None:
    """A little is within reach of the rim's search; much takes the rim out of it."""
    table.be_open()
    table.betting()
    table.inject(f"camera_shifted {by}")
    status = table.wait("the table is out of service", lambda s: s["life"] == "out of service")
    faults = status["faults"]
    table.story.expect("it names the camera that was moved", "camera-moved" in faults, faults)
