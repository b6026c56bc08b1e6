"""What the machine needs from its wires, simulated or real. Nobody here knows who carries them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from hil_tests.rig.joint import PlantInputs, PlantOutputs


class Wires(Protocol):
    """The lines between one controller and one machine. All methods but `on_change` belong to the
    machine's thread."""

    turn_s: float
    """How often the machine should look at them while it moves, seconds."""

    foresight_s: float
    """How far ahead they must know tach edges, seconds: 0 where they can put one at its time."""

    def inputs(self) -> PlantInputs:
        """Return what the controller's outputs do to the machine now."""

    def apply(self, outputs: PlantOutputs) -> None:
        """Put what the machine says on the controller's inputs."""

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call `listener`, from any thread, when the controller moves an output."""
