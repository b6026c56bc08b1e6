"""The journal begins its next volume while the table plays, and a closed volume breaks."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from hil_tests.scenarios.table import Table
from hil_tests.table_under_test.session import Plan
from shaker_ctl.adapters.disk.disk_journal import DiskJournal, volume_numbers
from shaker_ctl.adapters.disk.journal_copies import survey
from shaker_ctl.adapters.tests.written import changed, flipped
from shaker_ctl.journal.parameters import JournalParameters

pytestmark = [pytest.mark.rig, pytest.mark.timeout(400)]

PLAN = Plan(pace="brisk", seed=5, changes={"journal": {"volume_records": 100}})
"""Of some eight rounds in a volume."""


def journal_of(table: Table) -> JournalParameters:
    folder = Path(table.session.folder)
    return JournalParameters(path=folder / "journal.jsonl", second=folder / "journal-second.jsonl")


def test_volumes_change_between_rounds_and_a_broken_one_halts_the_table_after_the_round(
    table: Table,
) -> None:
    """First the change, and a restart; then a closed volume that somebody writes into."""
    table.be_open()
    parameters = journal_of(table)
    first = table.betting()
    while len(volume_numbers(parameters.path)) < 3:
        table.ended_round(table.betting())

    # ── A round lies in one volume, and each is found again ──
    table.story.expect("the second copy has the same volumes", second_follows(parameters))
    book = DiskJournal(parameters.path, read_only=True)
    for one in book.closed[1:]:
        begins = next(book.read(one.first, one.first)).plain
        table.story.expect("a volume begins with its own record", begins["kind"] == "volume")
    book.close()
    table.story.expect("a round of the first volume is shown", table.round(first))
    heads, findings = survey(parameters)
    table.story.expect("both copies verify", not findings, findings)

    # ── Over a restart: nothing of it is lost, and play goes on ──
    restarted(table)
    table.ended_round(table.betting())
    heads_now, findings = survey(parameters)
    table.story.expect("both copies verify again", not findings, findings)
    table.story.expect("and have grown", heads_now[0][1].sequence > heads[0][1].sequence)

    # ── Somebody writes into a closed volume ──
    number = table.betting()
    changed(parameters.path, 5, flipped)
    table.await_end(90.0)
    book = DiskJournal(parameters.path, read_only=True)
    decided = [
        command
        for record in book.read(max(1, book.head().sequence - 200))
        for command in record.plain.get("decision", ())
    ]
    kinds = [record.plain["kind"] for record in book.read(max(1, book.head().sequence - 40))]
    book.close()
    ended = [c["round"] for c in decided if c["type"] == "RecordRound"]
    table.story.expect("the round in hand was settled first", number in ended, ended)
    table.story.expect("the break is on record", "journal_broken" in kinds, kinds)
    log = (table.session.folder / "service.log").read_text("utf-8")
    table.story.expect("one line says which volume", "journal.jsonl: record 5" in log)


def restarted(table: Table) -> None:
    """Kill the controller while a result burns, start it again, settle, and open the table."""
    number = table.betting()
    table.cut_power("1 commit")
    table.give_power()
    table.ended_round(number)
    table.wait("the round is settled", lambda seen: seen["life"] != "open")
    table.be_open()


def second_follows(parameters: JournalParameters) -> bool:
    """Whether the second copy gets the volumes of the main one, within its lag."""
    assert parameters.second is not None
    deadline_s = time.monotonic() + parameters.second_lag_s
    while time.monotonic() < deadline_s:
        if volume_numbers(parameters.second) == volume_numbers(parameters.path):
            return True
        time.sleep(0.02)
    return False
