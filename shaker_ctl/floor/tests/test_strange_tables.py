"""What a table makes up stops nobody else, and what ended while the floor was away ends here."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shaker_ctl.floor.store import ended_in
from shaker_ctl.floor.tables import Tables
from shaker_ctl.floor.tests.a_table import alarm, alive, birth, result
from shaker_ctl.journal.record import Record
from shaker_ctl.link.topics import Place

HERE = Place("house", "pit-1")


def record(**plain: Any) -> Record:
    frame = {"sequence": 7, "kind": "step", "wall": "2026-11-23T06:00:00+00:00"}
    return Record(7, b"\1" * 32, json.dumps(frame | plain).encode())


def test_true_is_no_number() -> None:
    """A record that makes no sense is kept as it came, and ends no round."""
    ended = {"type": "RecordRound", "round": True, "values": [True, 1, 6], "ending": "settled"}
    assert list(ended_in(1, [record(round=True, event={}, decision=[ended])])) == []


def test_a_new_connection_forgets_alarms_and_presence() -> None:
    tables = Tables("house")
    tables.take(HERE.topic("alarm/motor-stall"), alarm("motor-stall"))
    tables.take(HERE.topic("alive"), alive())
    shown = tables.by_name["pit-1"]
    assert shown.alarms
    assert shown.is_online
    tables.forget()
    assert not shown.alarms
    assert not shown.is_online


@pytest.mark.parametrize(
    ("kind", "strange"),
    [
        ("birth", birth(digests={"software": 7})),
        ("birth", birth(marks="DEMONSTRATION")),
        ("result", result(values=[1, 2, 7])),
        ("result", result(values=[1, 2])),
        ("result", result(values=[True, 2, 3])),
        ("alive", alive(behind="many")),
        ("alive", b'{"is":"online"}'),
        ("state", b'{"service":true,"life":["open"]}'),
        ("state", b'{"service":true,"health":3}'),
        ("alarm/x", b'{"code":"x","cause":5}'),
        ("alarm/x", alarm("x", "c" * 40_000)),
    ],
)
def test_what_has_not_the_form_of_its_message_is_refused_and_counted(
    kind: str, strange: bytes
) -> None:
    """No view or figure meets it: the last true word of that kind stands."""
    tables = Tables("house")
    for said, true in (("birth", birth()), ("result", result()), ("alive", alive(behind=3))):
        tables.take(HERE.topic(said), true)
    (shown,) = tables.by_name.values()
    before = shown.birth, shown.result, shown.alive, shown.state, shown.alarms
    tables.take(HERE.topic(kind), strange)
    assert (shown.birth, shown.result, shown.alive, shown.state, shown.alarms) == before
    assert (shown.refused, shown.behind) == (1, 3)
    tables.take(HERE.topic("result"), b"")
    assert shown.result is None, "an empty message ends what was said"
