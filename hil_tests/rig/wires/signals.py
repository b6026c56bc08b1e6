"""The signals on the wires, for traces: every change of every line, written as it happens.

Owns the file `signals.jsonl`. Each turn with a change writes one line, `{"t": seconds, NAME: value,
...}`; `tach` lists the rising edges, microseconds after `t`. The values are those at the machine's
side, so simulated wires and real wires give the same file. Contacts are statements: 1 is open,
pressed, fault. Must not know what a signal means.
"""

from __future__ import annotations

from pathlib import Path

from hil_tests.rig.logbook import Logbook
from hil_tests.rig.plant.joint import PlantInputs, PlantOutputs


class SignalLog:
    """Appends changes. Belongs to the machine's thread."""

    def __init__(self, path: Path) -> None:
        self._before: dict[str, float] = {}
        self._book = Logbook(path)
        self.close = self._book.close

    def __call__(self, at_s: float, inputs: PlantInputs, outputs: PlantOutputs) -> None:
        """Write what differs from the turn before."""
        now = {
            "enable": int(inputs.motor_enabled),
            "duty": round(inputs.motor_duty, 3),
            "light": round(inputs.ring_light, 2),
            "cover_drive": int(inputs.cover_open_drive),
            "latch": int(inputs.latch_release),
            "compartment": int(outputs.compartment_open),
            "cover": int(outputs.cover_open),
            "estop": int(outputs.estop_pressed),
            "button": int(outputs.button_pressed),
            "fault": int(outputs.driver_fault),
            "rpm": round(outputs.speed_rpm, -1),
        }
        changed: dict[str, object] = {
            name: value for name, value in now.items() if self._before.get(name) != value
        }
        self._before = now
        rising = [round((at - at_s) * 1e6) for at, level in outputs.tach_edges if level]
        if rising:
            changed["tach"] = rising
        if changed:
            self._book.write({"t": round(at_s, 6), **changed})
