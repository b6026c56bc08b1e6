"""Rounds that a table played, decided and read again: the same today, and told where it is not."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from hil_tests.scenarios.table import Table
from hil_tests.table_under_test.session import Plan, Session
from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.commands.journal import app
from shaker_ctl.rules import effects, machine
from vision.table import judgement

pytestmark = [pytest.mark.rig, pytest.mark.timeout(400)]

ROUNDS = 5
INSPECTED_S = 300.0
"""Three good cycles in a row are asked for, and one toss in five is none."""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    """A table that has played, and serves no more."""
    plan = Plan(pace="brisk", seed=4, compartment="rough")
    with Table(Session(plan, tmp_path_factory.mktemp("played"))) as table:
        for number in range(1, ROUNDS + 1):
            table.be_open(INSPECTED_S)
            table.ended_round(number)
        table.read_round()
        table.leave_consoles()
        table.session.stop_service()
        yield table


def replay(table: Table, *words: str) -> tuple[int, str]:
    command = ["replay", "--config", str(table.session.folder / "settings.toml"), *words]
    result = CliRunner().invoke(app, command, catch_exceptions=False)
    return result.exit_code, " ".join(result.output.split())


def test_the_same_program_decides_and_reads_every_round_again_as_it_did(played: Table) -> None:
    status, said = replay(played)
    assert "0 differences" in said, said
    assert status == 0
    frames = int(said.split(" frames,")[0].rsplit(" ", 1)[1])
    assert frames >= ROUNDS


def test_rounds_rise_along_the_chain_and_each_is_found_by_halving_its_file(played: Table) -> None:
    store = DiskJournal(played.session.journal, read_only=True)
    records = list(store.read())
    numbers = [number for record in records if (number := record.plain.get("round")) is not None]
    assert numbers == sorted(numbers)
    for number in set(numbers):
        own = [record for record in records if record.plain.get("round") == number]
        found = store.read_round(number)
        assert (found[0], found[-1]) == (own[0], own[-1])
    assert store.verify() == (store.head(), None)


def test_a_changed_pip_threshold_lists_the_frames_that_would_read_otherwise(
    played: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judgement, "SURE", 1.1)
    status, said = replay(played)
    assert status == 1
    assert "ReadingMade: frame then Verified" in said
    assert "now Unreadable" in said


def test_a_changed_rule_row_lists_the_decisions_that_would_differ(
    played: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows that light a result now light nothing."""
    rows = [
        dataclasses.replace(row, do=tuple(act for act in row.do if act is not effects.push_lamps))
        for row in machine.ROWS
    ]
    monkeypatch.setattr(machine, "step", machine.Machine(rows).step)
    status, said = replay(played, "--no-pictures", "--json")
    assert status == 1
    lit = next(each for each in json.loads(said) if each["what"].endswith("commands"))
    assert "PushLamps" in [command["type"] for command in lit["then"]]
    assert "PushLamps" not in [command["type"] for command in lit["now"]]


def test_a_frame_that_is_not_the_recorded_one_is_told_and_a_dropped_one_passed_over(
    played: Table,
) -> None:
    exchanged, dropped = sorted((played.session.folder / "pictures").rglob("*-frame.jpg"))[:2]
    before = {path: path.read_bytes() for path in (exchanged, dropped)}
    try:
        exchanged.write_bytes(before[dropped])
        dropped.unlink()
        status, said = replay(played)
    finally:
        for path, content in before.items():
            path.write_bytes(content)
    assert status == 1
    assert "1 differences" in said
    assert f"then the stored frame is not the recorded one now {exchanged.name}" in said
