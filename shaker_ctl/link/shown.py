"""The table's view, cut down to what a floor shows, so that it changes when something happened.

Owns which parts of the status socket's view leave the table, and how its figures are rounded:
a temperature in thousandths of a degree would be a message twice a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_STATE = ("table", "life", "phase", "says", "marks", "round_id", "next_step", "last_ended")
_SERVICE_IS_AWAY: dict[str, Any] = {"service": False}


def state_of(view: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what goes out as `state`; `view`: None while no service answers."""
    if view is None:
        return dict(_SERVICE_IS_AWAY)
    state: dict[str, Any] = {"service": True}
    state.update((key, view.get(key)) for key in _STATE)
    pending = view.get("pending") or {}
    state["waits_for"] = pending.get("text") or ""
    state["needs"] = [str(role) for role in pending.get("roles") or ()]
    state["since_s"] = _rounded(view.get("since_s"), 1)
    room = view.get("room") or {}
    odds = ", ".join(" ".join(one) for one in room.get("multipliers") or ())
    in_force = f"Multipliers in force: {odds}." if odds else ""
    state["room"] = f"{room.get('says', '')} {in_force}".strip()
    state["shape"] = room.get("shape", "")
    state["profile"] = (view.get("profile") or {}).get("key", "")
    state["entry_mode"] = (view.get("profile") or {}).get("entry_mode", "")
    lamps = view.get("lamps") or {}
    state["lit"] = lamps.get("measured")
    state["broken_lamps"] = lamps.get("broken") or []
    journal = view.get("journal") or {}
    state["journal"] = {key: journal.get(key) for key in ("sequence", "second_copy", "state")}
    state["dice"] = _dice(view.get("dice") or {})
    state["health"] = _health(view.get("health") or {})
    return state


def alarms_of(view: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
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


def _dice(dice: Mapping[str, Any]) -> dict[str, Any]:
    age, limit = dice.get("age_s"), dice.get("limit_s")
    left = None if age is None or limit is None else _rounded(limit - age, 60)
    return {"serials": dice.get("serials"), "left_s": left, "tosses": dice.get("tosses")}


def _health(health: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "temperature_c": _rounded(health.get("temperature_c"), 1),
        "throttled": health.get("throttled"),
        "disk_free_b": _rounded(health.get("disk_free_b"), 10_000_000),
        "memory_free_b": _rounded(health.get("memory_free_b"), 10_000_000),
        "clock_trust": health.get("clock_trust") or "",
    }


def _rounded(value: Any, step: int) -> int | None:
    return None if not isinstance(value, int | float) else round(value / step) * step
