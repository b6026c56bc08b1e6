"""The thread in which the machine lives: plant and wires, turn by turn, in real time.

Owns when the plant is updated: often while something moves, rarely while nothing moves, and at once
if the controller changes an output. Must not know physics or protocols.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from hil_tests.rig.plant.joint import PlantInputs, PlantOutputs
from hil_tests.rig.plant.plant import Plant
from hil_tests.rig.wires.port import Wires
from virtual_pigpiod.scheduling import go_first

log = logging.getLogger(__name__)

STILL_TURN_S = 0.02
LATE_TURN_S = 0.05
"""Delay of a turn, in seconds, above which the turn is counted as late: the computer was too
busy."""


class PlantThread:
    """Runs `plant` on `wires` until `stop`."""

    def __init__(self, wires: Wires, plant: Plant) -> None:
        self._plant = plant
        self._wires = wires
        self._changed = threading.Event()
        self._ends = False
        self.outputs = PlantOutputs()
        """What the machine said last."""
        self.inputs = PlantInputs()
        """What the controller's outputs were then."""
        self.counted: Callable[[str, int], None] = lambda event, times: None
        """Told of `start` when the shaker begins to move, of rising tach `edges`, of EN (`enable`,
        `disable`) and of each change of the ring `light`."""
        self.noted: Callable[[bool], None] = lambda level: None
        """Told of EN as the driver sees it."""
        self.seen: Callable[[float, PlantInputs, PlantOutputs], None] = lambda *_: None
        """Told, in the machine's thread, of every turn: when it began, and what was on the wires.
        """
        self.late_turns = 0
        self.failure: BaseException | None = None
        """What ended the thread, if anything did."""
        wires.on_change(self._changed.set)
        self._thread = threading.Thread(target=self._run, name="machine", daemon=True)

    def start(self) -> None:
        """Put the contacts on the pins, then let time run."""
        self._turn()
        self._thread.start()

    def stop(self) -> None:
        """End the thread. Idempotent."""
        self._ends = True
        self._changed.set()
        if self._thread.is_alive():
            self._thread.join()

    def wake(self) -> None:
        """Have a turn now: somebody moved something by hand."""
        self._changed.set()

    def _run(self) -> None:
        go_first()
        try:
            while not self._ends:
                pause_s = self._wires.turn_s if self._is_moving() else STILL_TURN_S
                due = time.monotonic() + pause_s
                self._changed.wait(pause_s)
                self._changed.clear()
                if time.monotonic() - due > LATE_TURN_S:
                    self.late_turns += 1
                self._turn()
        except BaseException as error:
            self.failure = error
            log.exception("the machine thread failed")
            raise

    def _is_moving(self) -> bool:
        """True from EN until the dice are at rest again."""
        return (
            self.inputs.motor_enabled
            or self.outputs.speed_rpm > 0.0
            or self._plant.poses(time.monotonic()).moving
        )

    def _turn(self) -> None:
        began = time.monotonic()
        before, self.inputs = self.inputs, self._wires.inputs()
        if self.inputs.motor_enabled is not before.motor_enabled:
            self.noted(self.inputs.motor_enabled)
            self.counted("enable" if self.inputs.motor_enabled else "disable", 1)
        if self.inputs.ring_light != before.ring_light:
            self.counted("light", 1)
        was_turning = self.outputs.speed_rpm > 0.0
        self.outputs = self._plant.update(began, self.inputs)
        self._wires.apply(self.outputs)
        self.seen(began, self.inputs, self.outputs)
        if self.outputs.speed_rpm > 0.0 and not was_turning:
            self.counted("start", 1)
        if self.outputs.tach_edges:
            self.counted("edges", sum(level for _, level in self.outputs.tach_edges))
        if time.monotonic() - began > LATE_TURN_S:
            self.late_turns += 1
