"""Whatever lies damaged on the disk, a start ends with a status and a line, or read the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from hil_tests.reliability.bytes_cut import fast_folder
from hil_tests.reliability.files_damaged import (
    BAD_MEMORY,
    CHANGED,
    STARTS,
    TRACEBACK,
    TableFiles,
    is_sealed,
    made,
    put_back,
    trials,
    ways,
)

MODEL = [f"packages/models/{name}" for name in ("manifest.toml", "dice.onnx")]
PLACES = 40
"""Flipped in each file. Every byte: `python -m hil_tests.reliability.files_damaged`."""


@pytest.fixture(scope="module")
def table() -> Iterator[TableFiles]:
    with fast_folder() as folder:
        (folder / "table").mkdir()
        yield made(folder / "table")


@pytest.mark.parametrize(
    "name",
    [
        *("journal.jsonl", "journal-000002.jsonl", "stick/journal.jsonl", "journal.proved.json"),
        *("journal.tables.sqlite", "pictures/disputes.jsonl", "users.toml"),
        *("lamp-memory.json", "calibration.png", "teaching"),
        *("settings.toml", "seal.json", "seal.pub", *MODEL),
    ],
)
def test_damage_is_named_or_changes_nothing(table: TableFiles, name: str) -> None:
    file = Path(name)
    assert file in table.files()
    seen = Counter(outcome for _, outcome in trials(table, file, ways(table, file, PLACES, 3)))
    wrong = {outcome: n for outcome, n in seen.items() if outcome.startswith((TRACEBACK, CHANGED))}
    assert not wrong, seen
    if is_sealed(file):
        assert seen["status 65: seal"] > 15, seen
    if name == "lamp-memory.json":
        assert seen[BAD_MEMORY] > 40, seen


def test_a_volume_record_whose_kind_is_misspelt_is_named(table: TableFiles) -> None:
    """What a person has had removed is asked of records that nothing has verified yet."""
    file = table.folder / "journal-000002.jsonl"
    content = file.read_bytes()
    sound = table.facts(is_seal_looked_at=False)
    at = content.index(b'"kind":"volume"')
    seen = Counter[str]()
    for place in range(at, at + 15):
        file.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        seen[table.outcome(sound, is_guarded=True)] += 1
    file.write_bytes(content)
    assert {outcome.split(":")[0] for outcome in seen} == {"status 65"}, seen


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("journal.jsonl", "status 65: journal-damaged"),
        ("journal-000002.jsonl", "status 65: journal-corrupt"),
        ("stick/journal-000002.jsonl", "status 65: journal-corrupt"),
        ("journal.jsonl.lock", "status 1: journal-write"),
        ("journal.proved.json", STARTS),
        ("journal.tables.sqlite", STARTS),
        ("journal-000003.jsonl.founding", STARTS),
    ],
)
def test_a_planted_link_leads_no_start_astray(
    table: TableFiles, tmp_path: Path, name: str, status: str
) -> None:
    """It leads to a file of somebody else, or to what the table itself has written there."""
    facts, sound = table.facts(is_seal_looked_at=False), table.contents()
    bystander = tmp_path / "bystander"
    file = table.folder / name
    foreign = b"not the table's"
    for content in (foreign, sound.get(file, foreign)):
        bystander.write_bytes(content)
        file.unlink(missing_ok=True)
        file.symlink_to(bystander)
        outcome = table.outcome(facts, is_guarded=True)
        file.unlink(missing_ok=True)
        put_back(table, sound)
        assert outcome == status
        assert bystander.read_bytes() == content
