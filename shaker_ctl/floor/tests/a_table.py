"""What a table publishes, in the form that the floor takes."""

from __future__ import annotations

from typing import Any

from shaker_ctl.link import packing

SESSION = "0123456789abcdef"


def birth(identity: str = "pit-1 founded 2026-11-23T06:00:00+00:00", **changes: Any) -> bytes:
    """With each connection."""
    says = {
        "v": packing.VERSION,
        "session": SESSION,
        "table": "Table 1",
        "identity": identity,
        "head": 0,
        "schema": 1,
        "version": "0.2.0",
        "python": "3.11",
        "digests": {},
        "profile": "macao",
        "marks": [],
    }
    return packing.to_json({**says, **changes})


def alive(says: str = "online", **more: Any) -> bytes:
    """Every ten seconds."""
    return packing.to_json({"v": packing.VERSION, "session": SESSION, "is": says, **more})


def result(**changes: Any) -> bytes:
    """When lamps are lit."""
    says = {"round": 7, "values": [3, 5, 1], "total": 9, "side": "small", "sequence": 3}
    rest = {"wall": "2026-11-23T06:00:00+00:00", "withdrawn": "", "marks": []}
    return packing.to_json({**says, **rest, **changes})


def alarm(code: str, cause: str = "") -> bytes:
    """While a fault stands."""
    return packing.to_json({"code": code, "cause": cause, "remedy": "", "wall_s": None})
