"""The plant: one shaker machine as `update(now, inputs) -> outputs`.

It owns the order in which the parts of the machine act on each other: contacts, motor, dice, light.
It must not know of protocols, pins, sockets or the service.

Theory of operation. Time is the caller's: each update advances the machine from the update before
to `now_s` in steps of one millisecond, with constant inputs. E-stop and compartment contacts are in
series with EN, as on the wiring page: no software can drive the motor through an open contact.
While nothing moves there are no steps, so a machine at rest costs almost no time.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from hil_tests.rig.fault_set import Active, Value
from hil_tests.rig.plant.dice import STEP_S, Dice, DieAtRest, Poses
from hil_tests.rig.plant.faults import PlantFaults
from hil_tests.rig.plant.geometry import GEOMETRIES, Geometry
from hil_tests.rig.plant.interlocks import Cover, Hands, Interlocks
from hil_tests.rig.plant.joint import PlantInputs, PlantOutputs
from hil_tests.rig.plant.looks import STYLES
from hil_tests.rig.plant.motor import STEP_S as MOTOR_STEP_S
from hil_tests.rig.plant.motor import Motor, MotorDrive
from hil_tests.rig.plant.snapshot import SceneBoard, SceneryView
from hil_tests.rig.plant.truth import TossRecord

MOTOR_STEPS = round(STEP_S / MOTOR_STEP_S)

CATCH_UP_S = 0.5
"""An update later than this jumps the rest of the gap: the machine then stood still meanwhile.

A caller that was suspended must not return to a burst of physics that makes it later still.
"""

BUMP_S = 0.04
BUMP_M_S2 = (18.0, 8.0)
"""A knock: half a sine of this length; its strength sideways and upwards (an estimate: a hip
against a table's edge; the dice slide by some millimetres, and one that leans falls)."""

PULSE_LOOK_S = 0.02
"""Most time without an enable pulse that one update can add. After a longer gap this computer was
away, and with it the daemon that makes the pulses: that none came then says nothing about it."""

SEEN = ("die_misspotted", "pip_lost", "die_chipped", "die_of_another_set")
"""Faults of single dice that the camera sees."""

SAMPLE_EVERY = 2
"""Physics steps between two samples for the camera while something moves."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The dice as they truly are at one moment."""

    at_s: float
    moving: bool
    plate_mm: float
    poses: Poses
    dice: tuple[DieAtRest, ...]
    light: float
    cover_open: float


class Plant:
    """One machine. `update` belongs to one thread; everything else is safe from any."""

    def __init__(
        self,
        geometry: Geometry | str = "standard",
        dice_style: str = "white",
        seed: int = 0,
        *,
        cover: Cover = Cover.HAND,
        monostable_s: float | None = None,
        board: SceneBoard | None = None,
        foresight_s: float = 0.0,
    ) -> None:
        """Build the machine with its dice lying flat.

        `monostable_s` fits the hardware monostable (see `PlantInputs.enable_pulses`); None bridges
        it. `board` receives what the camera sees. `foresight_s`: how far ahead tach edges are told
        (`PlantOutputs.coming_edges`). Raises KeyError for an unknown geometry or style.
        """
        if dice_style not in STYLES:
            raise KeyError(f"no dice style {dice_style!r}; there are: {', '.join(STYLES)}")
        self.geometry = GEOMETRIES[geometry] if isinstance(geometry, str) else geometry
        self.dice_style = dice_style
        self.hands = Hands()
        self.faults = PlantFaults()
        self.truth: Callable[[TossRecord], None] = lambda record: None
        """Called in the updating thread at each true rest."""
        self._interlocks = Interlocks(self.hands, self.faults, cover)
        self._motor = Motor(self.faults, seed=seed)
        self._dice = Dice(self.geometry, seed=seed)
        self._board = board
        self._foresight_steps = round(foresight_s / MOTOR_STEP_S)
        self._monostable_s = monostable_s
        self._lock = threading.Lock()
        self._now_s: float | None = None
        self._light = 0.0
        self._pulses_seen = 0
        self._unpulsed_s = math.inf
        self._was_enabled = False
        self._tosses = 0
        self._started_s = 0.0
        self._started_rad = 0.0
        self._is_moving = False
        self._bump_s = 0.0
        self._bump_way = (1.0, 0.0)
        self._flawed: list[dict[str, Value]] = [{}, {}]
        """What the dice of the model have: loaded, chipped."""
        self._before = self._dice.lies()
        """The dice before the newest toss."""
        self._lies = self._seen(self._before)

    def update(self, now_s: float, inputs: PlantInputs) -> PlantOutputs:
        """Advance the machine to `now_s` with `inputs` held since the update before.

        Edges in the result lie between the update before and `now_s`, exact to the microsecond.
        """
        with self._lock:
            before_s = now_s if self._now_s is None else self._now_s
            before_s = max(before_s, now_s - CATCH_UP_S)
            self._interlocks.update(
                max(0.0, now_s - before_s),
                latch_release=inputs.latch_release,
                cover_open_drive=inputs.cover_open_drive,
            )
            self._take_new_dice()
            self._take_bump(before_s)
            self._light = self._light_level(inputs.ring_light)
            drive = self._drive(now_s - before_s, inputs)
            edges: list[tuple[float, int]] = []
            held = replace(drive, enabled=self._was_enabled)
            if held != drive and before_s < inputs.enable_since_s < now_s:
                edges = self._advance(before_s, inputs.enable_since_s, held)
                before_s = self._now_s or before_s
            edges += self._advance(before_s, now_s, drive)
            self._was_enabled = drive.enabled
            self._show(now_s)
            until_s = now_s if self._now_s is None else self._now_s
            return PlantOutputs(
                tach_edges=edges,
                until_s=until_s,
                coming_edges=self._foresee(until_s, drive),
                driver_fault=self._motor.fault_reported,
                compartment_open=self._interlocks.compartment_open,
                lid_flag_fallen=self._interlocks.lid_flag_fallen,
                cover_open=self._interlocks.cover_open,
                estop_pressed=self._interlocks.estop_pressed,
                button_pressed=self._interlocks.button_pressed,
                motor_supplied=self._interlocks.motor_supplied,
                current_a=self._motor.current_a,
                speed_rpm=self._motor.speed_rpm,
            )

    def poses(self, now_s: float) -> Snapshot:
        """Return where everything is, as of the last update."""
        with self._lock:
            return Snapshot(
                at_s=now_s if self._now_s is None else self._now_s,
                moving=self._is_moving,
                plate_mm=self._motor.plate_height_m * 1000.0,
                poses=self._dice.poses(),
                dice=self._lies,
                light=self._light,
                cover_open=self._interlocks.cover_position,
            )

    def throw(self) -> tuple[DieAtRest, ...] | None:
        """Have somebody throw the dice by hand; return how they lie. None, and nothing is done,
        where the lid is closed or the machine moves.

        It takes no time of the machine, and is no toss of it: the record of truth has none.
        """
        with self._lock:
            if self._is_moving or not self._interlocks.lid_open:
                return None
            self._dice.throw()
            self._lies = self._seen(self._dice.lies())
            return self._lies

    def dice_are_inside(self) -> bool:
        """True while no die has left the compartment, which none ever may."""
        with self._lock:
            return self._dice.inside()

    def _drive(self, passed_s: float, inputs: PlantInputs) -> MotorDrive:
        self._unpulsed_s += min(passed_s, PULSE_LOOK_S)
        if inputs.enable_pulses != self._pulses_seen:
            self._pulses_seen = inputs.enable_pulses
            self._unpulsed_s = 0.0
        in_series = not (self._interlocks.estop_pressed or self._interlocks.compartment_open)
        alive = self._monostable_s is None or self._unpulsed_s < self._monostable_s
        return MotorDrive(
            duty=min(1.0, max(0.0, inputs.motor_duty)),
            enabled=inputs.motor_enabled and in_series and alive,
            is_supplied=self._interlocks.motor_supplied,
        )

    def _advance(self, before_s: float, now_s: float, drive: MotorDrive) -> list[tuple[float, int]]:
        edges: list[tuple[float, int]] = []
        if not self._is_moving and self._motor.is_still(drive):
            self._motor.rest()
            self._now_s = now_s
            return edges
        at_s = before_s
        steps = 0
        while at_s + STEP_S <= now_s + 1e-9:
            for part in range(MOTOR_STEPS):
                edges += self._motor.step(at_s + part * MOTOR_STEP_S, drive)
            at_s += STEP_S
            if not self._is_moving and self._motor.speed_rad_s != 0.0:
                self._begin(at_s)
            if self._is_moving:
                if self._bump_s > 0.0:
                    self._jolt()
                self._dice.step(self._motor.plate_height_m, self._motor.plate_speed_m_s)
                steps += 1
                if steps % SAMPLE_EVERY == 0:
                    self._sample(at_s)
                if self._motor.speed_rad_s == 0.0 and self._bump_s <= 0.0 and self._dice.at_rest:
                    self._come_to_rest(at_s, drive)
        self._now_s = at_s
        return edges

    def _foresee(self, at_s: float, drive: MotorDrive) -> list[tuple[float, int]]:
        if not self._foresight_steps or self._motor.is_still(drive):
            return []
        return self._motor.foreseen(at_s, self._foresight_steps, drive)

    def _take_bump(self, at_s: float) -> None:
        if not self.hands.bumped:
            return
        self.hands.bumped = False
        self._bump_s = BUMP_S
        heading = self._dice.chance() * math.tau
        self._bump_way = (math.cos(heading), math.sin(heading))
        if not self._is_moving:
            self._begin(at_s)

    def _jolt(self) -> None:
        """One step of a knock."""
        self._bump_s -= STEP_S
        sideways, up = BUMP_M_S2
        share = max(0.0, math.sin(math.pi * self._bump_s / BUMP_S))
        x, y = self._bump_way
        self._dice.jolt(share * np.array([x * sideways, y * sideways, up]))

    def _flaw(self) -> None:
        """Have the dice that the faults name loaded and chipped, and no others."""
        wanted = [self.faults.active.get(name, {}) for name in ("die_loaded", "die_chipped")]
        if wanted == self._flawed:
            return
        self._flawed = wanted
        load, chip = wanted
        self._dice.load(
            int(load.get("die", 1)) - 1, int(load.get("face", 1)), float(load.get("shift_mm", 0.0))
        )
        self._dice.chip(
            int(chip.get("die", 1)) - 1,
            int(chip.get("corner", 1)),
            float(chip.get("depth_mm", 0.0)),
        )

    def _seen(self, lies: list[DieAtRest]) -> tuple[DieAtRest, ...]:
        """The dice with the spots that their faces carry."""
        wrong = self.faults.active.get("die_misspotted")
        if wrong is None:
            return tuple(lies)
        return tuple(
            replace(lie, value=int(wrong["shows"]))
            if (n, lie.value) == (wrong["die"], wrong["face"])
            else lie
            for n, lie in enumerate(lies, 1)
        )

    def _flaws(self) -> Active:
        """What the camera sees of single dice."""
        active = self.faults.active
        return {name: active[name] for name in SEEN if name in active}

    def _begin(self, at_s: float) -> None:
        self._flaw()
        self._before = self._dice.lies()
        self._is_moving = True
        self._started_s = at_s
        self._started_rad = self._motor.angle_rad
        self._dice.disturb()

    def _come_to_rest(self, at_s: float, drive: MotorDrive) -> None:
        if not self._motor.is_at_rest(drive):
            return
        self._is_moving = False
        self._tosses += 1
        if values := self.faults.active.get("die_carried"):
            carried = int(values["die"]) - 1
            self._dice.turn_to(carried, self._before[carried].value)
        self._lies = self._seen(self._dice.lies())
        self.truth(
            TossRecord(
                toss=self._tosses,
                t_start=self._started_s,
                t_rest=at_s - self._dice.still_s,
                turns=abs(self._motor.angle_rad - self._started_rad) / math.tau,
                dice=self._lies,
            )
        )

    def _take_new_dice(self) -> None:
        if self.hands.new_dice is None:
            return
        style, values = self.hands.new_dice
        self.hands.new_dice = None
        self.dice_style = style or self.dice_style
        self._dice.lay(values)
        self._lies = self._seen(self._dice.lies())

    def _light_level(self, commanded: float) -> float:
        if "light_dead" in self.faults:
            return 0.0
        return self.faults.parameter("light_stuck", "level", min(1.0, max(0.0, commanded)))

    def _sample(self, at_s: float) -> None:
        if self._board is not None:
            poses = self._dice.poses()
            self._board.record(
                at_s,
                self._light,
                self._motor.plate_height_m * 1000.0,
                poses.position_mm,
                poses.rotation,
            )

    def _show(self, now_s: float) -> None:
        if self._board is None:
            return
        if not self._is_moving:
            self._sample(now_s)
        self._board.show(
            SceneryView(
                cover_open=self._interlocks.cover_position,
                hand=1.0 if self.hands.hand_over_dome else 0.0,
                coin=self.hands.coin_in_compartment,
                lid_open=self._interlocks.lid_open,
                style=self.dice_style,
                flaws=self._flaws(),
            )
        )
