"""The 233 answers recorded from the unmodified daemon v79, in their order, on one connection."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from virtual_pigpiod.tests.conftest import RawClient

RECORDED = json.loads((Path(__file__).parent / "golden_responses.json").read_text())
PROCP = 45
"""Asks for the state of a stored script, which the recorded daemon had halted by then."""
PATIENCE_S = 10.0


def answer(raw: RawClient, row: dict[str, Any]) -> tuple[list[int], int, str]:
    """Echo, result and payload (hex) of one recorded request."""
    raw.send(row["cmd"], row["p1"], row["p2"], bytes.fromhex(row["ext"]))
    *echo, result = raw.reply()
    return echo, result, raw.payload(len(row["payload"]) // 2).hex()


def test_every_recorded_request_gets_the_recorded_answer(raw: RawClient) -> None:
    differences = []
    for row in RECORDED:
        recorded = (row["echo"], row["res"], row["payload"])
        patience = time.monotonic() + PATIENCE_S
        said = answer(raw, row)
        while row["cmd"] == PROCP and said != recorded and time.monotonic() < patience:
            time.sleep(0.002)
            said = answer(raw, row)
        if said != recorded:
            differences.append((row["name"], recorded, said))
    assert len(RECORDED) == 233
    assert differences == []
