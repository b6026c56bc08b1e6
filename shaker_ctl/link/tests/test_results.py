"""Displays get a result when its lamps were read back lit, and lose it by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.journal.record import Entry, link
from shaker_ctl.link.messages import Result
from shaker_ctl.link.results import NewestResult

PLAY = {"number": 7, "purpose": "play"}
CORRECTED = {"type": "PushLamps", "occasion": PLAY, "values": [4, 4, 4], "corrects": True}
VOID = {"type": "RecordRound", "round": 7, "ending": "void", "values": None}


def lit(values: Any, occasion: dict[str, Any] = PLAY) -> dict[str, Any]:
    return {"type": "LampsShown", "occasion": occasion, "values": values}


def step(event: dict[str, Any], *decision: dict[str, Any], of: int = 7) -> Entry:
    body = {"event": event, "decision": list(decision), "marks": ["DEMONSTRATION"]}
    return Entry("step", body, of)


@pytest.fixture
def followed(tmp_path: Path):
    store = DiskJournal(tmp_path / "journal.jsonl")
    newest = NewestResult(store.path)

    def told(*entries: Entry) -> Result | None:
        """What displays are told once these are on record."""
        for entry in entries:
            wall = "2026-11-23T06:00:00+00:00"
            store.write([link(store.head(), entry, monotonic_s=1, wall=wall, digests={})])
        found = newest.now()
        told.trouble = newest.trouble  # type: ignore[attr-defined]
        return found

    yield told
    store.close()


def test_a_result_exists_only_when_its_lamps_were_read_back_lit(followed) -> None:
    push = {**CORRECTED, "corrects": False}
    assert followed(step({"type": "AtRest"}, push)) is None
    assert followed(step(lit([4, 4, 4], {"number": 7, "purpose": "inspection"}))) is None
    assert followed(step(lit([1, 2, 3]))) == {
        "round": 7,
        "values": [1, 2, 3],
        "total": 6,
        "side": "small",
        "sequence": 3,
        "wall": "2026-11-23T06:00:00+00:00",
        "withdrawn": "",
        "marks": ["DEMONSTRATION"],
    }


@pytest.mark.parametrize(
    ("decided", "why"),
    [(CORRECTED, "corrected at the table"), (VOID, "the round ended otherwise: void")],
)
def test_a_result_is_withdrawn_at_once_and_by_name(followed, decided, why) -> None:
    assert followed(step(lit([1, 2, 3])))["withdrawn"] == ""
    gone = followed(step({"type": "LampFault"}, decided))
    assert (gone["round"], gone["withdrawn"], gone["sequence"]) == (7, why, 2)
    again = followed(step(lit([4, 4, 4]), of=8))
    assert (again["round"], again["withdrawn"], again["side"]) == (8, "", "triple")
    settled = {**VOID, "round": 8, "ending": "settled", "values": [4, 4, 4]}
    assert followed(step({"type": "LampsDark"}, settled, of=8)) == again


@pytest.mark.parametrize("strange", [lit([1, 2, 3], {"number": 7}), lit([1e308] * 3), lit([[]])])
def test_a_record_that_says_something_else_is_left_out_and_the_next_result_is_told(
    followed, strange
) -> None:
    """Its chain is right: another version, a defect or a forger wrote it."""
    newest = followed(step(strange), step(lit([2, 2, 5]), of=8))
    assert (newest["round"], newest["values"]) == (8, [2, 2, 5])
    assert "round 7 tells displays nothing" in followed.trouble
