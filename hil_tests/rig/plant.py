"""The plant: one shaker machine as `update(now, inputs) -> outputs`.

It owns the order in which the parts of the machine act on each other: contacts, motor, dice, light.
It must not know of protocols, pins, sockets or the service.
"""

from __future__ import annotations

from hil_tests.rig.interlocks import Cover, Hands, Interlocks
from hil_tests.rig.joint import PlantInputs, PlantOutputs
from hil_tests.rig.plant_faults import PLANT_FAULTS, PlantFault, PlantFaults

__all__ = [
    "PLANT_FAULTS",
    "Cover",
    "Hands",
    "Interlocks",
    "PlantFault",
    "PlantFaults",
    "PlantInputs",
    "PlantOutputs",
]
