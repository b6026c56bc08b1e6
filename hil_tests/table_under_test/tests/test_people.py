"""A fault in a demonstration is mended by its people, and play goes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hil_tests.table_under_test.people import People
from hil_tests.table_under_test.session import Plan, Session
from shaker_ctl.service.status_socket import read_status

pytestmark = [pytest.mark.rig, pytest.mark.timeout(240)]

PATIENCE_S = 90.0


def test_a_table_that_a_fault_took_out_of_service_is_opened_again(tmp_path: Path) -> None:
    said: list[str] = []
    with Session(Plan(seed=4, pace="brisk"), tmp_path) as session:
        people = People(session, said.append)
        people.start()
        try:
            wait_for(session, people, lambda view: view["life"] == "open")
            session.ask_rig("inject jam")
            wait_for(session, people, lambda view: view["life"] == "out of service")
            session.ask_rig("heal all")
            seen = wait_for(session, people, ended_well)
        finally:
            people.stop()
        session.stop_service()
    assert people.repairs == 1
    assert len(seen["rounds"]) >= 2
    assert any(line.startswith("tom: return-to-service") for line in said)


def ended_well(view: dict[str, Any]) -> bool:
    """A round after the void one was played to its end."""
    endings = [played["ending"] for played in view["rounds"]]
    return "void" in endings and endings[-1] == "settled"


def wait_for(
    session: Session, people: People, is_so: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    until_s = time.monotonic() + PATIENCE_S
    while not is_so(view := read_status(session.runtime_dir)):
        session.check()
        assert people.failure is None, people.failure
        assert time.monotonic() < until_s, view["says"]
        time.sleep(0.1)
    return view
