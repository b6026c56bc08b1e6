"""The reader's verdicts stand in a journal as every version has written them."""

from __future__ import annotations

import pytest

from shaker_ctl.rules.record import from_record, to_record
from vision.reading import Kind, NoRoll, Reason, Unreadable, Verified


@pytest.mark.parametrize(
    ("recorded", "verdict"),
    [
        (
            {"type": "Verified", "values": [6, 4, 6], "confidence": 0.99},
            Verified((6, 4, 6), 0.99),
        ),
        (
            {"type": "NoRoll", "kind": "tilted", "die": 1, "angle_deg": 11.0},
            NoRoll(1, Kind.TILTED, 11.0),
        ),
        (
            {"type": "Unreadable", "reason": "count: 4 dice: one on another"},
            Unreadable(Reason.COUNT, "4 dice: one on another"),
        ),
        ({"type": "Unreadable", "reason": "no-dip"}, Unreadable(Reason.NO_DIP)),
        (
            {"type": "Unreadable", "reason": "glare: of another version"},
            Unreadable(Reason.UNNAMED, "glare: of another version"),
        ),
    ],
)
def test_a_verdict_is_kept_and_read_back(recorded, verdict) -> None:
    assert to_record(verdict) == recorded
    assert from_record(recorded, object) == verdict
