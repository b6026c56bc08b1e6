"""The 233 answers recorded from the unmodified daemon v79, in their order, on one connection."""

from __future__ import annotations

import json
from pathlib import Path

from .conftest import RawClient

RECORDED = json.loads((Path(__file__).parent / "golden_responses.json").read_text())


def test_every_recorded_request_gets_the_recorded_answer(raw: RawClient) -> None:
    differences = []
    for row in RECORDED:
        raw.send(row["cmd"], row["p1"], row["p2"], bytes.fromhex(row["ext"]))
        *echo, result = raw.reply()
        payload = raw.payload(len(row["payload"]) // 2).hex()
        if (echo, result, payload) != (row["echo"], row["res"], row["payload"]):
            differences.append((row["name"], row["res"], result, payload))
    assert len(RECORDED) == 233
    assert differences == []
