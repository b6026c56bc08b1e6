"""What the machine needs from its wires. The wires may be simulated or real."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from hil_tests.rig.plant.joint import PlantInputs, PlantOutputs


class Wires(Protocol):
    """The lines between one controller and one machine. All methods but `on_change` belong to the
    machine's thread."""

    turn_s: float
    """Time between two readings of the wires while the machine moves, seconds."""

    foresight_s: float
    """How far ahead the wires must know tach edges, seconds. 0: the wires can set an edge at its
    time."""

    def inputs(self) -> PlantInputs:
        """Return the controller's present outputs as inputs of the machine."""

    def apply(self, outputs: PlantOutputs) -> None:
        """Put the machine's outputs on the controller's inputs."""

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call `listener`, from any thread, when the controller moves an output."""
