"""The table's view, cut down to what a floor shows, so that it changes when something happened.

Owns which parts of the status socket's view leave the table, and how its figures are rounded:
a temperature in thousandths of a degree would be a message twice a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shaker_ctl.link.messages import Alarm, Dice, Health, State


def state_of(view: Mapping[str, Any] | None) -> State:
    """Return what goes out as `state`; `view`: None while no service answers."""
    if view is None:
        return {"service": False}
    pending, room = view.get("pending") or {}, view.get("room") or {}
    lamps, profile = view.get("lamps") or {}, view.get("profile") or {}
    journal = view.get("journal") or {}
    odds = ", ".join(" ".join(one) for one in room.get("multipliers") or ())
    in_force = f"Multipliers in force: {odds}." if odds else ""
    return {
        "service": True,
        "table": view.get("table") or "",
        "life": view.get("life") or "",
        "phase": view.get("phase") or "",
        "says": view.get("says") or "",
        "marks": view.get("marks") or [],
        "round_id": view.get("round_id"),
        "next_step": view.get("next_step") or "",
        "last_ended": view.get("last_ended") or "",
        "waits_for": pending.get("text") or "",
        "needs": [str(role) for role in pending.get("roles") or ()],
        "since_s": _rounded(view.get("since_s"), 1),
        "room": f"{room.get('says', '')} {in_force}".strip(),
        "shape": room.get("shape", ""),
        "profile": profile.get("key", ""),
        "entry_mode": profile.get("entry_mode", ""),
        "lit": lamps.get("measured"),
        "broken_lamps": lamps.get("broken") or [],
        "journal": {
            "sequence": journal.get("sequence"),
            "second_copy": journal.get("second_copy"),
            "state": journal.get("state"),
        },
        "dice": _dice(view.get("dice") or {}),
        "health": _health(view.get("health") or {}),
    }


def alarms_of(view: Mapping[str, Any] | None) -> dict[str, Alarm]:
    """Return the standing faults by their codes."""
    if view is None:
        return {}
    return {
        str(fault["code"]): {
            "code": fault["code"],
            "cause": fault.get("cause", ""),
            "remedy": fault.get("remedy", ""),
            "wall_s": fault.get("wall_s"),
        }
        for fault in view.get("faults") or ()
    }


def _dice(dice: Mapping[str, Any]) -> Dice:
    age, limit = dice.get("age_s"), dice.get("limit_s")
    left = None if age is None or limit is None else _rounded(limit - age, 60)
    return {"serials": dice.get("serials"), "left_s": left, "tosses": dice.get("tosses")}


def _health(health: Mapping[str, Any]) -> Health:
    return {
        "temperature_c": _rounded(health.get("temperature_c"), 1),
        "throttled": health.get("throttled"),
        "disk_free_b": _rounded(health.get("disk_free_b"), 10_000_000),
        "memory_free_b": _rounded(health.get("memory_free_b"), 10_000_000),
        "clock_trust": health.get("clock_trust") or "",
    }


def _rounded(value: Any, step: int) -> int | None:
    return None if not isinstance(value, int | float) else round(value / step) * step
