"""What a table makes up stops nobody else, and what ended while the floor was away ends here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shaker_ctl.floor.collector import pictures_named
from shaker_ctl.floor.store import Store, ended_in
from shaker_ctl.floor.tables import Tables
from shaker_ctl.journal.record import Record
from shaker_ctl.link.topics import Place

DIGEST = "ab" * 32
HERE = Place("house", "pit-1")


def record(**plain: Any) -> Record:
    frame = {"sequence": 7, "kind": "step", "wall": "2026-11-23T06:00:00+00:00"}
    return Record(7, b"\1" * 32, json.dumps(frame | plain).encode())


@pytest.mark.parametrize("made_up", ["\ud800", "\0" * 64, DIGEST.upper(), "ab", 7, None, ["ab"]])
def test_only_a_digest_names_a_picture(made_up: Any) -> None:
    pictures = {"a": {"sha256": made_up}, "b": {"sha256": DIGEST}, "c": "none"}
    assert pictures_named([record(pictures=pictures)]) == [(7, DIGEST)]


def test_true_is_no_number() -> None:
    """A record that makes no sense is kept as it came, and ends no round."""
    ended = {"type": "RecordRound", "round": True, "values": [True, 1, 6], "ending": "settled"}
    assert list(ended_in(1, [record(round=True, event={}, decision=[ended])])) == []


def test_the_same_picture_is_kept_once_whoever_comes_first(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/floor.sqlite")
    store.keep_picture("house", "pit-1", 3, DIGEST, b"first")
    store.keep_picture("house", "pit-2", 4, DIGEST, b"second")
    assert store.picture(DIGEST) == b"first"
    store.close()


def test_a_new_connection_forgets_alarms_and_presence() -> None:
    tables = Tables("house")
    tables.take(HERE.topic("alarm/motor-stall"), b'{"code":"motor-stall"}')
    tables.take(HERE.topic("alive"), b'{"is":"online"}')
    shown = tables.by_name["pit-1"]
    assert shown.faults()
    assert shown.is_online
    tables.forget()
    assert not shown.faults()
    assert not shown.is_online
