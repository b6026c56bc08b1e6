"""Displays get a result when its lamps were read back lit, and lose it by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shaker_ctl.adapters.disk.sqlite_journal import SqliteJournal
from shaker_ctl.journal.record import Entry, Record, link
from shaker_ctl.link.link import ResultFollower
from shaker_ctl.link.results import Result, follow

PLAY = {"number": 7, "purpose": "play"}


def record(sequence: int, event: dict[str, Any], *decision: dict[str, Any]) -> Record:
    frame = {"sequence": sequence, "kind": "step", "wall": "2026-11-23T06:00:00"}
    body = {**frame, "event": event, "decision": decision}
    return Record(sequence, b"", json.dumps(body).encode())


def lit(values: list[int], sequence: int = 3, purpose: str = "play") -> Record:
    occasion = {**PLAY, "purpose": purpose}
    return record(sequence, {"type": "LampsShown", "occasion": occasion, "values": values})


def test_a_result_exists_only_when_its_lamps_were_read_back_lit() -> None:
    push = {"type": "PushLamps", "occasion": PLAY, "values": [1, 2, 3]}
    assert follow(None, record(2, {"type": "ValuesConfirmed"}, push)) is None
    shown = follow(None, lit([1, 2, 3]))
    assert shown == Result(7, (1, 2, 3), 3, "2026-11-23T06:00:00")
    assert shown.plain()["side"] == "small"
    assert follow(None, lit([1, 2, 3], purpose="inspection")) is None


def test_a_result_of_a_demonstration_says_so_also_where_it_is_withdrawn() -> None:
    plain = {**lit([1, 2, 3]).plain, "marks": ["DEMONSTRATION"]}
    shown = follow(None, Record(3, b"", json.dumps(plain).encode()))
    assert shown is not None
    assert shown.plain()["marks"] == ["DEMONSTRATION"]
    end = {"type": "RecordRound", "round": 7, "ending": "void", "values": None}
    gone = follow(shown, record(6, {"type": "LampFault"}, end))
    assert gone is not None
    assert gone.plain()["marks"] == ["DEMONSTRATION"]


def test_a_corrected_result_is_withdrawn_at_once_and_the_new_one_takes_its_place() -> None:
    push = {"type": "PushLamps", "occasion": PLAY, "values": [4, 4, 4], "corrects": True}
    gone = follow(follow(None, lit([1, 2, 3])), record(4, {"type": "ValuesEntered"}, push))
    assert gone is not None
    assert (gone.round, gone.withdrawn) == (7, "corrected at the table")
    again = follow(gone, lit([4, 4, 4], 5))
    assert again is not None
    assert (again.values, again.withdrawn, again.plain()["side"]) == ((4, 4, 4), "", "triple")


def test_a_round_that_ends_void_withdraws_its_result() -> None:
    end = {"type": "RecordRound", "round": 7, "ending": "void", "values": None}
    gone = follow(follow(None, lit([6, 6, 5])), record(6, {"type": "LampFault"}, end))
    assert gone is not None
    assert gone.withdrawn == "the round ended otherwise: void"
    other = {**end, "round": 8}
    assert follow(gone, record(7, {"type": "LampFault"}, other)) is gone


def test_a_settled_round_keeps_its_result() -> None:
    end = {"type": "RecordRound", "round": 7, "ending": "settled", "values": [6, 6, 5]}
    shown = follow(None, lit([6, 6, 5]))
    assert follow(shown, record(6, {"type": "LampsDark"}, end)) is shown


@pytest.mark.parametrize(
    ("occasion", "values"), [({"purpose": "play"}, [1, 2, 3]), (PLAY, [1e308] * 3), (PLAY, [[]])]
)
def test_a_record_that_says_something_else_is_left_out_and_the_next_result_is_told(
    tmp_path: Path, occasion: dict[str, Any], values: list[Any]
) -> None:
    """Its chain is right: another version, a defect or a forger wrote it."""
    store = SqliteJournal(tmp_path / "journal.sqlite")
    for told in ((occasion, values), ({**PLAY, "number": 8}, [2, 2, 5])):
        event = {"type": "LampsShown", "occasion": told[0], "values": told[1]}
        entry = Entry("step", {"event": event, "decision": []})
        wall = "2026-11-23T06:00:00+00:00"
        store.write([link(store.head(), entry, monotonic_s=1, wall=wall, digests={})])
    followed = ResultFollower(store.path)
    newest = followed.newest()
    assert newest is not None
    assert (newest.round, newest.values) == (8, (2, 2, 5))
    assert "record 1 tells displays nothing" in followed.trouble
    followed.close()
    store.close()
