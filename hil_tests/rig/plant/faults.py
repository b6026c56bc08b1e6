"""The faults that can be injected into the plant: names, parameters, and which are in force.

It owns the names and when a fault begins: at once, or after a number of tach edges. So a scenario
times a fault by the machine's motion and never by sleeping. The *effect* of a fault is in the code
of motor, dice or contacts. It must not know of protocols or of the service.
"""

from __future__ import annotations

from hil_tests.rig.fault_set import Bounds, Fault, FaultSet

SHARE: Bounds = (0.0, 1.0)


PLANT_FAULTS: dict[str, Fault] = {
    fault.name: fault
    for fault in (
        Fault(
            "jam",
            "the cam is mechanically stuck: full current, no rotation",
            "EN high, duty up, no tach edges, current at the limit, then the fault line low",
        ),
        Fault.taking(
            "slow_start",
            "worn motor: torque is multiplied by factor",
            "speed rises late or never reaches the band",
            factor=(0.3, *SHARE),
        ),
        Fault.taking(
            "overspeed",
            "driver ignores the duty: at least this duty is applied",
            "tach edges closer than the band allows",
            duty=(1.0, *SHARE),
        ),
        Fault.taking(
            "no_stop",
            "driver stuck on: keeps driving when EN is low",
            "tach edges go on with EN low",
            duty=(0.65, *SHARE),
        ),
        Fault(
            "no_brake",
            "no braking when EN is low: the cam coasts for seconds",
            "tach edges run out over seconds after EN low",
        ),
        Fault(
            "driver_fault",
            "driver reports a fault (line low) and gives no torque",
            "GPIO 25 = 0, no tach edges",
        ),
        Fault(
            "driver_dead",
            "driver gives no torque and reports nothing",
            "EN high, duty up, no tach edges, no current, GPIO 25 = 1",
        ),
        Fault(
            "fault_line_stuck",
            "driver fault line stuck high: never reports",
            "GPIO 25 = 1 whatever the driver finds",
        ),
        Fault.taking(
            "supply_low",
            "supply sags to this voltage",
            "speed below the band at any duty",
            volts=(14.0, 0.0, 24.0),
        ),
        Fault(
            "tach_silent",
            "tach output stays at its last level",
            "no tach edges while the plate shakes (the picture is blurred)",
        ),
        # One pulse at most in a step of the motor, and no wider than the step: 0.5 ms.
        Fault.taking(
            "tach_noise",
            "false tach pulses, so many a second and so wide",
            "tach edges also at rest, and far too many in a toss, where no filter drops them",
            rate_hz=(400.0, 0.0, 2000.0),
            width_us=(40.0, 1.0, 500.0),
        ),
        Fault(
            "tach_doubled",
            "two tach pulses where one should be: a wheel of 24 teeth",
            "tach edges at twice the rate, evenly spaced",
        ),
        Fault.taking(
            "tach_missing",
            "this fraction of the tach pulses is lost",
            "tach edges with gaps, speed reads low",
            fraction=(0.3, *SHARE),
        ),
        Fault.taking(
            "weak_shake",
            "loose cam: the stroke is multiplied by factor",
            "tach as usual; the dice keep their places and faces",
            factor=(0.2, *SHARE),
        ),
        Fault(
            "cam_slip",
            "broken coupling: motor and tach turn, the plate stands still",
            "tach as usual; the dice do not move at all",
        ),
        Fault(
            "compartment_contact_open",
            "compartment contact wire broken: reads open",
            "GPIO 5 = 1 with the lid shut",
        ),
        Fault(
            "compartment_contact_stuck",
            "compartment contact welded: reads closed",
            "GPIO 5 = 0 with the lid open",
        ),
        Fault(
            "cover_contact_open",
            "cover contact wire broken: reads open",
            "GPIO 6 = 1 whatever the cover does",
        ),
        Fault(
            "cover_contact_stuck",
            "cover contact welded: reads closed",
            "GPIO 6 = 0 whatever the cover does",
        ),
        Fault(
            "cover_stuck", "driven cover does not move", "GPIO 6 does not follow the cover drive"
        ),
        Fault(
            "latch_stuck", "compartment latch does not release", "the lid stays shut when released"
        ),
        Fault(
            "estop_contact_open",
            "e-stop loop wire broken: reads pressed",
            "GPIO 13 = 1 with the button out",
        ),
        Fault("button_stuck", "player's button stuck down", "GPIO 16 = 0 for ever"),
        Fault.taking(
            "die_loaded",
            "a plug of metal in one die pulls its centre of mass towards a face",
            "one face of one die comes more often than one time in six",
            die=(1.0, 1.0, 2.0),
            face=(6.0, 1.0, 6.0),
            shift_mm=(1.0, 0.0, 4.0),
        ),
        Fault.taking(
            "die_misspotted",
            "a face of one die carries the spots of another",
            "a value twice on one die, and another never",
            die=(1.0, 1.0, 2.0),
            face=(6.0, 1.0, 6.0),
            shows=(1.0, 1.0, 6.0),
        ),
        Fault.taking(
            "die_chipped",
            "a corner of one die is broken off, so far along its edges",
            "a rough triangle in a corner of three faces",
            die=(1.0, 1.0, 2.0),
            corner=(8.0, 1.0, 8.0),
            depth_mm=(2.0, 0.0, 5.0),
        ),
        Fault("light_dead", "ring light stays dark", "pictures lit by the room alone, no dip"),
        Fault.taking(
            "light_stuck",
            "ring light stays at this level",
            "pictures evenly lit, no dip",
            level=(0.8, *SHARE),
        ),
    )
}


class PlantFaults(FaultSet):
    """The faults of the plant. A rising tach edge of the machine itself is an event, also one that
    the fault hides."""

    def __init__(self) -> None:
        super().__init__("plant", PLANT_FAULTS.values(), ("edges",))

    def copy(self) -> PlantFaults:
        """The same faults, in force or waiting for their edges, for a look ahead."""
        twin = PlantFaults()
        with self._lock:
            twin._active = dict(self._active)
            twin._waiting = dict(self._waiting)
        return twin

    def parameter(self, name: str, parameter: str, otherwise: float) -> float:
        """Return a parameter of a fault in force, or `otherwise` where it is not."""
        values = self._active.get(name)
        return otherwise if values is None else float(values[parameter])
