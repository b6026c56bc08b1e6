"""How the run before ended is told from the journal and systemd's word; a death is a fault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from shaker_ctl.installation.places import shipped
from shaker_ctl.journal.record import Head, Record, checked, genesis, link
from shaker_ctl.rules import events, machine
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.rulebook import rulebook
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.vocabulary import FaultKind
from shaker_ctl.service import last_end
from shaker_ctl.service.fault_queue import WORDS
from shaker_ctl.service.last_end import CLOSING, OPENING, LastEnd

WALL = "2026-09-21T14:13:20.000+00:00"
OPENED: tuple[str, Mapping[str, Any]] = (OPENING, {"boot": "b1"})
STEP: tuple[str, Mapping[str, Any]] = ("step", {"event": {"type": "Tick"}})
REFUSED: tuple[str, Mapping[str, Any]] = ("refused", {"reason": "not now"})
CLOSED: tuple[str, Mapping[str, Any]] = (CLOSING, {"in_order": True})
OPENED_LONG_AGO: tuple[str, Mapping[str, Any]] = (OPENING, {"version": "0.0.9"})


def journal(*facts: tuple[str, Mapping[str, Any]]) -> Iterator[Record]:
    """Records of these facts, newest first."""
    head, records = genesis("a test"), []
    for kind, body in facts:
        entry = checked(kind, body)
        record = link(head, entry, monotonic_s=1.0, wall=WALL, digests={})
        records.append(record)
        head = Head(record.sequence, record.hash)
    return reversed(records)


@pytest.mark.parametrize(
    ("facts", "boot", "word", "ended"),
    [
        ((), "b1", "", LastEnd.NONE),
        ((OPENED, STEP, CLOSED), "b1", "", LastEnd.STOPPED),
        ((OPENED, STEP, CLOSED), "b2", "watchdog", LastEnd.STOPPED),
        ((OPENED, STEP, REFUSED, STEP), "b1", "watchdog", LastEnd.HUNG),
        ((OPENED, STEP), "b1", "signal", LastEnd.DIED),
        ((OPENED, STEP), "b1", "", LastEnd.DIED),
        ((OPENED, CLOSED, OPENED), "b1", "", LastEnd.DIED),
        ((OPENED, STEP), "b2", "", LastEnd.POWER),
        ((OPENED, STEP), "b2", "watchdog", LastEnd.POWER),
        ((OPENED, STEP), "", "", LastEnd.NONE),
        ((OPENED_LONG_AGO, STEP), "b1", "", LastEnd.NONE),
        ((OPENED, STEP, (CLOSING, {"in_order": False})), "b1", "", LastEnd.DIED),
    ],
)
def test_the_end_of_the_run_before(
    facts: tuple[tuple[str, Mapping[str, Any]], ...], boot: str, word: str, ended: LastEnd
) -> None:
    assert last_end.last_end(journal(*facts), boot, word) is ended


def test_a_death_is_a_fault_with_a_cause_and_a_remedy_and_nothing_else_is() -> None:
    codes = {ended: ended.fault for ended in LastEnd if ended.fault}
    assert codes == {LastEnd.HUNG: "controller-hung", LastEnd.DIED: "controller-died"}
    assert all(code in WORDS for code in codes.values())


@pytest.mark.parametrize("code", ["controller-hung", "controller-died"])
def test_after_a_death_the_table_is_out_of_service_until_a_technician_has_looked(code: str) -> None:
    book = rulebook(TableParameters())
    restarted = events.Restarted(compartment_open=False, estop_pressed=False, cover_closed=False)
    state = machine.step(machine.initial(book), restarted, book).state
    assert state.phase is Phase.INSPECTION_DUE
    step = machine.step(state, events.ControllerFault(code), book)
    assert step.state.phase is Phase.OUT_OF_SERVICE
    assert FaultKind.CONTROLLER in step.state.faults


def test_what_the_system_does_not_say_is_not_known(tmp_path: Path) -> None:
    assert last_end.text(tmp_path / "nothing") == ""
    (tmp_path / "word").write_text("watchdog\n")
    assert last_end.text(tmp_path / "word") == "watchdog"
    assert len(last_end.text(last_end.BOOT)) == 36


def test_the_unit_leaves_the_word_where_it_is_read() -> None:
    unit = (shipped() / "shaker-ctl.service").read_text("utf-8")
    # The service's umask would hide it from the service.
    assert f"""'umask 022; echo "$$SERVICE_RESULT" >{last_end.MANAGERS_WORD}'""" in unit
