"""The faults of the plant: which are in force, and when each begins.

A fault begins at once, or after a number of tach edges. So a scenario times a fault by the
machine's motion and never by sleeping. The effect of a fault is in the code of motor, dice or
contacts. It must not know of protocols or of the service.
"""

from __future__ import annotations

from hil_tests.rig.fault_set import FaultSet, catalogue

PLANT_FAULTS = catalogue("plant")


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
