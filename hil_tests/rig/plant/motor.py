"""The shaker motor with its driver, cam, plate spring and tach: torque in, angle and edges out.

A brushed 24 V gear motor turns a cam that lifts the plate. The driver sees duty and EN, limits its
current, brakes into a resistor while EN is low, and reports an over-current by its fault line.
While EN is high a solenoid holds a sprung lever off the shaft; when it drops, the lever falls onto
a heart cam (as in a stopwatch), brakes the shaft and returns it to its lowest point. So the floor
under the dice always rests at the height that the camera is calibrated for. Must not know who
drives the motor, nor what lies on the plate. Three dice weigh 15 g; the plate assembly weighs half
a kilogram.

The figures are those of the gear motor and driver class on the wiring page. Each is an estimate for
the virtual machine, so that the motor reaches 720 rpm, or stops from it, within 0.4 s.
"""

from __future__ import annotations

import math
import random
from copy import copy
from dataclasses import dataclass, replace

from hil_tests.rig.plant.faults import PlantFaults

STEP_S = 0.0005
"""Integration step. The mechanical time constant is about 70 ms, an edge gap at 900 rpm 2.8 ms."""

PULSES_PER_TURN = 12
EDGES_PER_TURN = 2 * PULSES_PER_TURN


@dataclass(frozen=True, slots=True)
class MotorDesign:
    """What the motor, driver and cam are made of; everything referred to the cam shaft."""

    supply_v: float = 24.0
    winding_ohm: float = 1.5
    volts_per_rad_s: float = 0.229
    """Back-EMF constant, equal to N·m per ampere: 24 V without load is 1000 rpm."""
    inertia_kg_m2: float = 0.0016
    brake_ohm: float = 0.5
    """Braking resistor, in series with the winding while EN is low."""
    current_limit_a: float = 8.0
    overload_s: float = 0.35
    """Time at the current limit after which the driver reports a fault and shuts off."""
    undervoltage_v: float = 11.0
    friction_nm: float = 0.03
    viscous_nm_s: float = 0.0012
    cam_amplitude_m: float = 0.005
    plate_kg: float = 0.5
    lever_nm: float = 1.0
    """Torque of the fallen lever on the heart cam, towards the lowest point from any angle."""
    lever_friction_nm: float = 0.3
    lever_notch_rad: float = 0.25
    """Half-width of the heart cam's notch, in which the lever's torque falls to zero."""


@dataclass(slots=True)
class MotorDrive:
    """The electrical state of one interval, after all contacts in series."""

    duty: float
    enabled: bool
    is_supplied: bool = True
    """Whether the contactor gives the driver its supply. Open, its resting contact puts the braking
    resistor across the winding."""


class Motor:
    """Angle, speed and current of the machine's motor. Not thread-safe: one owner steps it."""

    def __init__(self, faults: PlantFaults, *, seed: int) -> None:
        self.design = MotorDesign()
        self.angle_rad = 0.0
        self.speed_rad_s = 0.0
        self.current_a = 0.0
        self.fault_reported = False
        self._faults = faults
        self._random = random.Random(seed)
        self._overload_s = 0.0
        self._tripped = False
        self._tach_level = 0

    @property
    def speed_rpm(self) -> float:
        return abs(self.speed_rad_s) * 60.0 / math.tau

    @property
    def plate_height_m(self) -> float:
        """Height of the plate above its lowest point."""
        return self._stroke_m() * (1.0 - math.cos(self.angle_rad))

    @property
    def plate_speed_m_s(self) -> float:
        return self._stroke_m() * math.sin(self.angle_rad) * self.speed_rad_s

    def is_still(self, drive: MotorDrive) -> bool:
        """True while nothing turns, nothing is about to, and no noise is due: no step is needed."""
        return self.is_at_rest(drive) and "tach_noise" not in self._faults

    def is_at_rest(self, drive: MotorDrive) -> bool:
        """True while nothing turns and nothing is about to."""
        return (
            self.speed_rad_s == 0.0
            and not drive.enabled
            and not ("no_stop" in self._faults and drive.is_supplied)
            and abs(self._load_nm(lever_fallen=True)) <= self._friction_nm(lever_fallen=True)
        )

    def rest(self) -> None:
        """Let the electrical side settle: called once instead of stepping while still."""
        self.current_a = 0.0
        self._tripped = False
        self._overload_s = 0.0
        self.fault_reported = self._reports_fault()

    def step(self, start_s: float, drive: MotorDrive) -> list[tuple[float, int]]:
        """Advance by STEP_S from `start_s`; return the tach edges that fell into the step."""
        drive = self._as_the_driver_acts(drive)
        torque_nm = self._electrical_torque_nm(drive)
        before = self.angle_rad
        if "jam" in self._faults:
            self.speed_rad_s = 0.0
        else:
            self._turn(torque_nm, lever_fallen=not drive.enabled)
        self.fault_reported = self._reports_fault()
        return self._tach_edges(before, start_s)

    def foreseen(self, start_s: float, steps: int, drive: MotorDrive) -> list[tuple[float, int]]:
        """Return the tach edges of the next `steps` if `drive` stays as it is, faults included.

        Of faults that are chance (noise, missing pulses) it shows some that could be.
        """
        twin = copy(self)
        twin._faults = self._faults.copy()
        twin._random = copy(self._random)
        return [edge for n in range(steps) for edge in twin.step(start_s + n * STEP_S, drive)]

    def _as_the_driver_acts(self, drive: MotorDrive) -> MotorDrive:
        if not drive.is_supplied:
            return replace(drive, duty=0.0, enabled=False)
        if "no_stop" in self._faults and not drive.enabled:
            duty = self._faults.parameter("no_stop", "duty", 0.65)
            return MotorDrive(max(drive.duty, duty), True)
        if "overspeed" in self._faults and drive.enabled and drive.duty > 0.0:
            return MotorDrive(max(drive.duty, self._faults.parameter("overspeed", "duty", 1)), True)
        return drive

    def _electrical_torque_nm(self, drive: MotorDrive) -> float:
        d = self.design
        if not drive.enabled:
            self._tripped = False
        dead = "driver_dead" in self._faults or "driver_fault" in self._faults or self._tripped
        supply_v = self._faults.parameter("supply_low", "volts", d.supply_v)
        back_emf_v = d.volts_per_rad_s * self.speed_rad_s
        if dead or (not drive.enabled and "no_brake" in self._faults):
            current_a = 0.0
        else:
            applied_v = drive.duty * supply_v if drive.enabled else 0.0
            ohm = d.winding_ohm if drive.enabled else d.winding_ohm + d.brake_ohm
            current_a = (applied_v - back_emf_v) / ohm
        limited_a = max(-d.current_limit_a, min(d.current_limit_a, current_a))
        at_limit = drive.enabled and abs(current_a) >= d.current_limit_a * 0.999
        self._overload_s = self._overload_s + STEP_S if at_limit else 0.0
        if self._overload_s > d.overload_s:
            self._tripped = True
        self.current_a = limited_a
        torque_nm = d.volts_per_rad_s * limited_a
        if drive.enabled and torque_nm > 0.0:
            torque_nm *= self._faults.parameter("slow_start", "factor", 1.0)
        return torque_nm

    def _load_nm(self, *, lever_fallen: bool) -> float:
        """Torque with which plate weight and lever turn the shaft towards its lowest point."""
        d = self.design
        plate_nm = d.plate_kg * 9.81 * self._stroke_m() * math.sin(self.angle_rad)
        if not lever_fallen:
            return plate_nm
        from_lowest_rad = math.remainder(self.angle_rad, math.tau)
        share = max(-1.0, min(1.0, from_lowest_rad / d.lever_notch_rad))
        return plate_nm + d.lever_nm * share

    def _friction_nm(self, *, lever_fallen: bool) -> float:
        return self.design.friction_nm + (self.design.lever_friction_nm if lever_fallen else 0.0)

    def _turn(self, torque_nm: float, *, lever_fallen: bool) -> None:
        d = self.design
        limit_nm = self._friction_nm(lever_fallen=lever_fallen)
        load_nm = self._load_nm(lever_fallen=lever_fallen)
        free_nm = torque_nm - load_nm - d.viscous_nm_s * self.speed_rad_s
        if self.speed_rad_s == 0.0:
            if abs(free_nm) <= limit_nm:
                return
            friction_nm = math.copysign(limit_nm, free_nm)
        else:
            friction_nm = math.copysign(limit_nm, self.speed_rad_s)
        speed = self.speed_rad_s + (free_nm - friction_nm) / d.inertia_kg_m2 * STEP_S
        reversed_by_friction = self.speed_rad_s * speed < 0.0 and abs(free_nm) <= limit_nm
        self.speed_rad_s = 0.0 if reversed_by_friction else speed
        self.angle_rad += self.speed_rad_s * STEP_S

    def _stroke_m(self) -> float:
        if "cam_slip" in self._faults:
            return 0.0
        return self.design.cam_amplitude_m * self._faults.parameter("weak_shake", "factor", 1.0)

    def _reports_fault(self) -> bool:
        if "fault_line_stuck" in self._faults:
            return False
        sagging = (
            self._faults.parameter("supply_low", "volts", self.design.supply_v)
            < self.design.undervoltage_v
        )
        return self._tripped or sagging or "driver_fault" in self._faults

    def _tach_edges(self, before_rad: float, start_s: float) -> list[tuple[float, int]]:
        edges: list[tuple[float, int]] = []
        scale = EDGES_PER_TURN / math.tau
        first, last = math.floor(before_rad * scale), math.floor(self.angle_rad * scale)
        if first != last:
            step = 1 if last > first else -1
            for slot in range(first + step, last + step, step):
                boundary = (slot if step > 0 else slot + 1) / scale
                share = (boundary - before_rad) / (self.angle_rad - before_rad)
                self._edge(edges, start_s + share * STEP_S, slot % 2)
        if "tach_noise" in self._faults:
            rate_hz = self._faults.parameter("tach_noise", "rate_hz", 400.0)
            if self._random.random() < rate_hz * STEP_S:
                width_s = self._faults.parameter("tach_noise", "width_us", 40.0) * 1e-6
                at_s = start_s + self._random.random() * max(0.0, STEP_S - width_s)
                edges += [(at_s, 1 - self._tach_level), (at_s + width_s, self._tach_level)]
                edges.sort()
        return edges

    def _edge(self, edges: list[tuple[float, int]], at_s: float, level: int) -> None:
        if level == 1:
            self._faults.count("edges")
        if "tach_silent" in self._faults:
            return
        if "tach_missing" in self._faults and level == 1:
            fraction = self._faults.parameter("tach_missing", "fraction", 0.3)
            if self._random.random() < fraction:
                return
        if "tach_doubled" in self._faults:
            edges += [(at_s, 1), (at_s + 2e-4, 0)]
            self._tach_level = 0
            return
        if level != self._tach_level:
            self._tach_level = level
            edges.append((at_s, level))
