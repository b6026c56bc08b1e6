"""A table that plays on the rig, followed live by its link: what the floor sees, and when."""

from __future__ import annotations

import json
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hil_tests.floor.house import SITE, House
from hil_tests.floor.show import PlayingTable
from hil_tests.floor.tests.test_handing_on import equal, metrics, stored_as
from hil_tests.floor.tests.test_strangers import as_floor, connected
from hil_tests.waiting import until
from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.link.link import STATE_S

ROUNDS = 2


@pytest.mark.rig
@pytest.mark.timeout(600)
def test_the_floor_follows_a_table_that_plays(own_house: House, tmp_path: Path) -> None:
    """State by state from the live status socket, results when lamps are lit, records whole."""
    own = f"shaker/1/{SITE}/rig-0"
    heard: list[tuple[str, bytes]] = []
    came: list[tuple[float, str, dict[str, Any]]] = []
    with (
        closing(own_house.store()) as store,
        PlayingTable(own_house, tmp_path / "rig-0", "rig-0", pace="brisk") as table,
        connected(as_floor(own_house), "listener", [f"{own}/state", f"{own}/result"], heard) as ear,
    ):

        def results() -> dict[int, dict[str, Any]]:
            return {says["round"]: says for _, kind, says in came if kind == "result"}

        def listened() -> None:
            heard.clear()
            ear.turn(0.2)
            for topic, payload in heard:
                came.append((time.monotonic(), topic.rpartition("/")[2], json.loads(payload)))

        ends_s = time.monotonic() + 400.0
        while len(results()) < ROUNDS:
            assert time.monotonic() < ends_s, [says for _, _, says in came[-3:]]
            listened()
        assert 'shaker_table_open{table="rig-0"} 1.0' in metrics(own_house)
        table.end_of_play()
        until(lambda: stored_as(store, table), limit_s=60.0, every_s=0.1)
        assert equal(store, table)
        until(lambda: 'shaker_table_service{table="rig-0"} 0.0' in metrics(own_house), every_s=0.2)
        stored = {row.number for row in store.rounds("rig-0")}
        assert store.alarms() == []

    states = [(at_s, says) for at_s, kind, says in came if kind == "state" and says["service"]]
    assert {"open"} <= {says["life"] for _, says in states}
    assert len({says["phase"] for _, says in states}) >= 4, "the socket is followed live"
    took_s = states[-1][0] - states[0][0]
    assert len(states) <= took_s / STATE_S + 3, "at most two a second"
    with closing(DiskJournal(table.path, read_only=True)) as book:
        plains = {record.sequence: record.plain for record in book.read()}
    for number, says in results().items():
        event = plains[says["sequence"]]["event"]
        assert (event["type"], event["values"]) == ("LampsShown", says["values"])
        assert number in stored | {max(results())}
