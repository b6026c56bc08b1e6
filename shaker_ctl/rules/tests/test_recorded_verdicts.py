"""The reader's verdicts stand in a journal as every version has written them."""

import pytest

from shaker_ctl.rules.record import from_record, to_record
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
