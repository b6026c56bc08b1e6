"""The faults of the lamp box. What each does is in the code of `box.py` and `modbus_unit.py`."""

from __future__ import annotations

from hil_tests.rig.fault_set import FaultSet, Value, catalogue
from hil_tests.rig.lamp_box.layout import LAMP

LAMP_EVENTS = (
    *("stage", "commit", "correct", "clear", "dark", "phase", "test"),
    *("odds", "anchor", "status"),
)

LAMP_FAULTS = catalogue("lamp_box")


class LampFaults(FaultSet):
    """The faults of the lamp box."""

    def __init__(self) -> None:
        super().__init__("lamp box", LAMP_FAULTS.values(), LAMP_EVENTS)

    def require(self, name: str, values: dict[str, Value]) -> None:
        """Refuse a lamp that no layout has, and several where one is meant."""
        areas = str(values.get("area", "small")).split(",")
        if name == "lamp_extra" and len(areas) != 1:
            raise ValueError(f"{name} takes one lamp, not {values['area']!r}")
        for area in areas:
            if area not in LAMP:
                raise ValueError(f"{name}: no lamp {area!r}; there are: {', '.join(LAMP)}")
