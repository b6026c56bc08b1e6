"""Verdicts and states stand in a journal as every version has written them."""

from datetime import datetime

import pytest

from shaker_ctl.rules.agreement import About, Agreement
from shaker_ctl.rules.record import from_record, to_record
from shaker_ctl.rules.state import Phase, TableState
from shaker_ctl.rules.vocabulary import Person, Role
from vision.reading import Kind, NoRoll, Reason, Unreadable, Verified


@pytest.mark.parametrize(
    ("verdict", "recorded"),
    [
        (Verified((6, 4, 6), 0.9), {"type": "Verified", "values": [6, 4, 6], "confidence": 0.9}),
        (
            NoRoll(1, Kind.TILTED, 11.0),
            {"type": "NoRoll", "kind": "tilted", "die": 1, "angle_deg": 11.0},
        ),
        (Unreadable(Reason.COUNT, "a: b"), {"type": "Unreadable", "reason": "count: a: b"}),
        (Unreadable(Reason.NO_DIP), {"type": "Unreadable", "reason": "no-dip"}),
        (Unreadable(Reason.UNNAMED, "old: word"), {"type": "Unreadable", "reason": "old: word"}),
    ],
)  # fmt: skip
def test_a_verdict_is_kept_and_read_back(verdict, recorded) -> None:
    assert to_record(verdict) == recorded
    assert from_record(recorded, object) == verdict


DAN = {"type": "Person", "name": "dan", "role": "dealer", "number": "1"}
AT = "2026-03-02T12:00:00+00:00"
BY_ONE = Person("dan", Role.DEALER, "1")


@pytest.mark.parametrize(
    ("formerly", "stated"),
    [
        ({}, None),
        (
            {"dice_named": {"type": "DiceNamed", "serials": ["a", "b", "c"], "by": DAN, "at": AT}},
            Agreement(About.DICE, BY_ONE, ("a", "b", "c"), datetime.fromisoformat(AT)),
        ),
        (
            {"named": {"type": "Named", "values": None, "by": DAN}},
            Agreement(About.RESULT, BY_ONE, None),
        ),
        ({"said_first": DAN}, Agreement(About.SEEN, BY_ONE)),
        ({"enterer": DAN, "entered": [1, 4, 4]}, Agreement(About.VALUES, BY_ONE, (1, 4, 4))),
    ],
)
def test_a_state_of_a_former_version_says_what_one_person_had_stated(formerly, stated) -> None:
    now = TableState(Phase.CLOSED, stated=stated)
    plain = to_record(now)
    del plain["stated"]
    every = dict.fromkeys(("entered", "enterer", "said_first", "named", "dice_named"))
    assert from_record({**plain, **every, **formerly}, TableState) == now
    assert from_record(to_record(now), TableState) == now
