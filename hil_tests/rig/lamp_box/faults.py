"""The faults that can be injected into the lamp box. What each does is written in `box.py` and
`modbus_unit.py`."""

from __future__ import annotations

from hil_tests.rig.fault_set import Bounds, Fault, FaultSet, Value
from hil_tests.rig.lamp_box.layout import LAMP

LAMP_EVENTS = (
    *("stage", "commit", "correct", "clear", "dark", "phase", "test"),
    *("odds", "anchor", "status"),
)

NOISE: Bounds = (0, 256)
"""Bytes: up to as many as the longest Modbus RTU frame has."""

LAMP_FAULTS = (
    # Lamps
    Fault.taking("bulb_burnt", "bulbs draw no current", "driven, not glowing, open", area="small"),
    Fault.taking("bulb_stuck", "drivers short: bulbs always burn", "glowing undriven", area="big"),
    Fault("lamps_shifted", "drivers light the neighbour of each lamp", "wrong lamps driven"),
    Fault.taking("lamp_extra", "one more lamp is lit", "wrong lamps driven", area="any-triple"),
    Fault("lamps_latched", "drivers do not switch off", "lamps stay lit after clear and dark"),
    Fault("odds_wrong", "a multiplier display shows other odds", "odds read back differ"),
    # The box
    Fault("lamp_rule_wrong", "the box computes other winning lamps", "stage verdict 6"),
    Fault.taking(
        "lamp_restart", "power cut", "dark, silent, restarts + 1", down_s=(0.3, 0.0, 3600.0)
    ),
    Fault("lamp_dead_drivers", "the lamp drivers fail", "state 3, dark, refuses to light"),
    Fault("lamp_supply_low", "the lamp supply sags", "unhealthy, flag 4"),
    Fault("lamp_memory_bad", "the retained memory is lost", "unhealthy, flag 6, last round 0"),
    Fault(
        "lamp_memory_erased", "its button is pressed by hand", "restart, erasures + 1, no anchor"
    ),
    Fault.taking(
        "lamp_other_box",
        "a spare box is put in its place",
        "restart, another serial number, an empty memory",
        serial=(4242, 0, 999_999),
    ),
    Fault("lamp_not_a_box", "another device on the line", "magic 4D42"),
    Fault("lamp_other_map", "a box of another register map", "map version 2.0"),
    # Its replies
    Fault("lamp_silent", "the box does not answer", "no reply"),
    Fault.taking("lamp_late", "replies come late", "reply after delay_s", delay_s=(0.3, 0.0, 60.0)),
    Fault.taking("lamp_exception", "every request is refused", "exception reply", code=(4, 1, 255)),
    Fault("lamp_crc", "replies with a wrong checksum", "reply, CRC wrong"),
    Fault.taking("lamp_truncated", "replies end early", "reply cut", bytes=(9, *NOISE)),
    Fault.taking(
        "lamp_garbage_before", "noise before each reply", "garbage, then reply", bytes=(6, *NOISE)
    ),
    Fault.taking(
        "lamp_garbage_inside", "noise inside each reply", "reply with garbage", bytes=(3, *NOISE)
    ),
    Fault.taking(
        "lamp_garbage_after", "noise after each reply", "reply, then garbage", bytes=(6, *NOISE)
    ),
    Fault.taking(
        "lamp_other_unit", "replies carry another address", "reply of unit 2", unit=(2, 0, 255)
    ),
)


class LampFaults(FaultSet):
    """The faults of the lamp box."""

    def __init__(self) -> None:
        super().__init__("lamp box", LAMP_FAULTS, LAMP_EVENTS)

    def require(self, name: str, values: dict[str, Value]) -> None:
        """Refuse a lamp that no layout has, and several where one is meant."""
        areas = str(values.get("area", "small")).split(",")
        if name == "lamp_extra" and len(areas) != 1:
            raise ValueError(f"{name} takes one lamp, not {values['area']!r}")
        for area in areas:
            if area not in LAMP:
                raise ValueError(f"{name}: no lamp {area!r}; there are: {', '.join(LAMP)}")
