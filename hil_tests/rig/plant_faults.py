"""The faults that can be injected into the plant: names, parameters, and which are in force.

It owns the names and when a fault begins: at once, or after a number of tach edges. So a scenario
times a fault by the machine's motion and never by sleeping. The *effect* of a fault is in the code
of motor, dice or contacts. It must not know of protocols or of the service.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from hil_tests.rig.fault_set import Bounds, numbers

SHARE: Bounds = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class PlantFault:
    """One injectable fault. `parameters` gives every parameter it takes, with its default."""

    name: str
    summary: str
    parameters: Mapping[str, float] = field(default_factory=dict)
    bounds: Mapping[str, Bounds] = field(default_factory=dict)


PLANT_FAULTS: dict[str, PlantFault] = {
    fault.name: fault
    for fault in (
        PlantFault("jam", "the cam is mechanically stuck: full current, no rotation"),
        PlantFault(
            "slow_start",
            "worn motor: torque is multiplied by factor",
            {"factor": 0.3},
            {"factor": SHARE},
        ),
        PlantFault(
            "overspeed",
            "driver ignores the duty: at least this duty is applied",
            {"duty": 1.0},
            {"duty": SHARE},
        ),
        PlantFault(
            "no_stop",
            "driver stuck on: keeps driving when EN is low",
            {"duty": 0.65},
            {"duty": SHARE},
        ),
        PlantFault("no_brake", "no braking when EN is low: the cam coasts for seconds"),
        PlantFault("driver_fault", "driver reports a fault (line low) and gives no torque"),
        PlantFault("driver_dead", "driver gives no torque and reports nothing"),
        PlantFault("fault_line_stuck", "driver fault line stuck high: never reports"),
        PlantFault(
            "supply_low", "supply sags to this voltage", {"volts": 14.0}, {"volts": (0.0, 24.0)}
        ),
        PlantFault("tach_silent", "tach output stays at its last level"),
        PlantFault(
            "tach_noise",
            "false tach pulses, so many a second and so wide",
            {"rate_hz": 400.0, "width_us": 40.0},
            # One pulse at most in a step of the motor, and no wider than the step: 0.5 ms.
            {"rate_hz": (0.0, 2000.0), "width_us": (1.0, 500.0)},
        ),
        PlantFault("tach_doubled", "two tach pulses where one should be: a wheel of 24 teeth"),
        PlantFault(
            "tach_missing",
            "this fraction of the tach pulses is lost",
            {"fraction": 0.3},
            {"fraction": SHARE},
        ),
        PlantFault(
            "weak_shake",
            "loose cam: the stroke is multiplied by factor",
            {"factor": 0.2},
            {"factor": SHARE},
        ),
        PlantFault("cam_slip", "broken coupling: motor and tach turn, the plate stands still"),
        PlantFault("compartment_contact_open", "compartment contact wire broken: reads open"),
        PlantFault("compartment_contact_stuck", "compartment contact welded: reads closed"),
        PlantFault("cover_contact_open", "cover contact wire broken: reads open"),
        PlantFault("cover_contact_stuck", "cover contact welded: reads closed"),
        PlantFault("cover_stuck", "driven cover does not move"),
        PlantFault("latch_stuck", "compartment latch does not release"),
        PlantFault("estop_contact_open", "e-stop loop wire broken: reads pressed"),
        PlantFault("button_stuck", "player's button stuck down"),
        PlantFault(
            "die_loaded",
            "a plug of metal in one die pulls its centre of mass towards a face",
            {"die": 1.0, "face": 6.0, "shift_mm": 1.0},
            {"die": (1.0, 2.0), "face": (1.0, 6.0), "shift_mm": (0.0, 4.0)},
        ),
        PlantFault(
            "die_misspotted",
            "a face of one die carries the spots of another",
            {"die": 1.0, "face": 6.0, "shows": 1.0},
            {"die": (1.0, 2.0), "face": (1.0, 6.0), "shows": (1.0, 6.0)},
        ),
        PlantFault("light_dead", "ring light stays dark"),
        PlantFault(
            "light_stuck", "ring light stays at this level", {"level": 0.8}, {"level": SHARE}
        ),
    )
}


class PlantFaults:
    """The faults in force. Safe to call from any thread.

    Every fault also takes `after_edges=n`: it begins when n more rising tach edges have occurred.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._active: dict[str, dict[str, float]] = {}
        self._waiting: dict[str, tuple[int, dict[str, float]]] = {}
        self.began: Callable[[str], None] = lambda name: None
        """Told of a fault that waited for edges, when it comes into force."""

    def inject(self, name: str, *, after_edges: int = 0, **parameters: float) -> None:
        """Put a fault in force, now or after `after_edges` more rising tach edges.

        Raises KeyError for an unknown name, TypeError for a parameter it does not take, and
        ValueError for a value out of bounds; each text lists what there is.
        """
        if name not in PLANT_FAULTS:
            raise KeyError(f"no plant fault {name!r}; there are: {', '.join(sorted(PLANT_FAULTS))}")
        values = numbers(PLANT_FAULTS[name], parameters)
        with self._lock:
            if after_edges > 0:
                self._waiting[name] = (after_edges, values)
            else:
                self._active[name] = values

    def clear(self, name: str | None = None) -> None:
        """End one fault, or all of them, whether in force or still waiting for its edges."""
        with self._lock:
            if name is None:
                self._active.clear()
                self._waiting.clear()
            else:
                self._active.pop(name, None)
                self._waiting.pop(name, None)

    @property
    def active(self) -> dict[str, dict[str, float]]:
        """A copy of the faults in force with their parameters."""
        with self._lock:
            return {name: dict(values) for name, values in self._active.items()}

    def copy(self) -> PlantFaults:
        """The same faults, in force or waiting for their edges, for a look ahead."""
        twin = PlantFaults()
        with self._lock:
            twin._active = dict(self._active)
            twin._waiting = dict(self._waiting)
        return twin

    def __contains__(self, name: str) -> bool:
        return name in self._active

    def parameter(self, name: str, parameter: str, otherwise: float) -> float:
        """Return a parameter of a fault in force, or `otherwise` where it is not."""
        values = self._active.get(name)
        return otherwise if values is None else values[parameter]

    def count_edge(self) -> None:
        """Tell of one rising tach edge of the machine itself (also one that the fault hides)."""
        if not self._waiting:
            return
        due = []
        with self._lock:
            for name, (left, values) in list(self._waiting.items()):
                if left <= 1:
                    del self._waiting[name]
                    self._active[name] = values
                    due.append(name)
                else:
                    self._waiting[name] = (left - 1, values)
        for name in due:
            self.began(name)
