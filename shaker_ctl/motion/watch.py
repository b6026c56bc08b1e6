"""A small, separate judge of whether the motor does what it was told.

Owns the verdicts, each with the time within which it falls. It must not know of rounds or of what
follows from a verdict, and it shares no state with the control loop that it judges.

| verdict | falls when | within (defaults) |
|---|---|---|
| driver fault | the driver's fault line is low | one loop, 8 ms |
| tach silent | driven without any edge; or edges cease at full speed | 0.25 s; 0.15 s |
| slow start | driven, and the band is not reached | 0.60 s |
| stall | was in the band, then a full turn below it | one turn, 85 ms |
| stall | was up to speed, then under 60 % of the plan, or edges slow down and cease | 0.20 s |
| overspeed | a full turn faster than the limit | one turn and one loop, 75 ms |
| tach unreliable | edge gaps jump: lost or extra edges | two turns, 170 ms |
| no stop | EN low, and the tach still turns | 1.0 s |
"""

from __future__ import annotations

from enum import Enum

from shaker_ctl.frozen import frozen
from shaker_ctl.motion.parameters import WatchParameters

SUPPLY_DROPS_S = 0.2
"""Longest time in which e-stop and lid take the motor's supply: a contactor of 9 A whose coil has a
suppressor drops within 0.05 s."""

WELDED_S = 0.5
"""In play: a loop that was late on a busy computer is no welded contactor."""


class MotorTrouble(Enum):
    """What can be wrong with the motor, each by the code of its fault."""

    DRIVER_FAULT = "motor-driver"
    TACH_SILENT = "tach-silent"
    TACH_UNRELIABLE = "tach-unreliable"
    SLOW_START = "motor-slow-start"
    STALL = "motor-stall"
    OVERSPEED = "motor-overspeed"
    NO_STOP = "motor-no-stop"
    SUPPLY_STUCK = "motor-supply"


@frozen
class DriveVerdict:
    """One trouble, in words for a technician, and how long after EN (or its fall) it was found."""

    trouble: MotorTrouble
    reason: str
    after_s: float


@frozen
class Sample:
    """What is known at one turn of the loop. Times in seconds on one clock, speeds in rpm."""

    now_s: float
    target_rpm: float
    speed_rpm: float
    turn_rpm: float
    silence_s: float
    edges: int
    irregular_share: float
    driver_fault: bool


CREEP_RPM = 120.0
"""Speed with EN low that is motion and not the cam swinging back by its spring."""

_FRESH_S = 0.02
"""Silence, in seconds, in which the measured speed is still that of the last edges."""


class DriveWatch:
    """Judges one powered run. Make a new one for each; feed it every turn of the loop."""

    def __init__(self, parameters: WatchParameters, *, reach_rpm: float, started_s: float) -> None:
        """`reach_rpm`: the speed that counts as having started, and that must then be kept."""
        self._p = parameters
        self._reach_rpm = reach_rpm
        self._started_s = started_s
        self._is_up = False
        self._turned_up = False
        self._slow_since_s: float | None = None
        self._before_silence_rpm = 0.0

    def judge(self, sample: Sample) -> DriveVerdict | None:
        """Return the first trouble, or None while all is well."""
        after_s = sample.now_s - self._started_s
        if sample.silence_s < _FRESH_S:
            self._before_silence_rpm = sample.speed_rpm
        self._is_up = self._is_up or sample.speed_rpm >= self._reach_rpm
        self._turned_up = self._turned_up or sample.turn_rpm >= self._reach_rpm
        found = (
            self._driver(sample)
            or self._tach(sample, after_s)
            or self._too_fast(sample)
            or self._too_slow(sample, after_s)
        )
        return None if found is None else DriveVerdict(found[0], found[1], after_s)

    def _driver(self, s: Sample) -> tuple[MotorTrouble, str] | None:
        if not s.driver_fault:
            return None
        return (
            MotorTrouble.DRIVER_FAULT,
            "the motor driver reports a fault (over-current, hot or low V)",
        )

    def _tach(self, s: Sample, after_s: float) -> tuple[MotorTrouble, str] | None:
        if s.edges == 0 and after_s >= self._p.first_edge_s:
            return (
                MotorTrouble.TACH_SILENT,
                f"driven for {after_s:.2f} s without one tach edge: tach, belt, or a jammed cam",
            )
        if self._is_up and s.silence_s >= self._p.stall_gap_s:
            # A rotor with inertia slows down edge by edge; a sensor that fails ceases at speed.
            if self._before_silence_rpm >= self._p.stall_share * s.target_rpm:
                return (
                    MotorTrouble.TACH_SILENT,
                    f"edges ceased at {self._before_silence_rpm:.0f} rpm: tach, belt, or a jam",
                )
            return MotorTrouble.STALL, f"no tach edge for {s.silence_s:.2f} s after slowing down"
        if s.irregular_share > self._p.irregular_share:
            return (
                MotorTrouble.TACH_UNRELIABLE,
                f"{s.irregular_share:.0%} of the edge gaps jump: edges are lost or added",
            )
        return None

    def _too_fast(self, s: Sample) -> tuple[MotorTrouble, str] | None:
        if s.turn_rpm <= self._p.overspeed_rpm:
            return None
        return (
            MotorTrouble.OVERSPEED,
            f"{s.turn_rpm:.0f} rpm over a full turn, limit {self._p.overspeed_rpm:.0f}",
        )

    def _too_slow(self, s: Sample, after_s: float) -> tuple[MotorTrouble, str] | None:
        if not self._is_up:
            if after_s < self._p.start_s:
                return None
            return (
                MotorTrouble.SLOW_START,
                f"{s.speed_rpm:.0f} rpm after {after_s:.2f} s, {self._reach_rpm:.0f} needed",
            )
        if self._turned_up and s.turn_rpm < self._reach_rpm:
            return (
                MotorTrouble.STALL,
                f"{s.turn_rpm:.0f} rpm over a full turn, {self._reach_rpm:.0f} needed",
            )
        if s.speed_rpm >= self._p.stall_share * s.target_rpm:
            self._slow_since_s = None
            return None
        if self._slow_since_s is None:
            self._slow_since_s = s.now_s
        if s.now_s - self._slow_since_s < self._p.stall_s:
            return None
        return MotorTrouble.STALL, f"{s.speed_rpm:.0f} rpm where {s.target_rpm:.0f} were planned"


class RestWatch:
    """Judges the motor while EN is low: it must come to rest, and then stay there."""

    def __init__(self, parameters: WatchParameters, *, enable_fell_s: float) -> None:
        self._p = parameters
        self._fell_s = enable_fell_s
        self._moving_since_s: float | None = None

    def is_quiet(self, sample: Sample) -> bool:
        """Return whether the tach has been silent for long enough to call the shaker settled."""
        return sample.silence_s >= self._p.quiet_s

    def judge(self, sample: Sample) -> DriveVerdict | None:
        """Return NO_STOP when the tach turns where it must not, or None."""
        after_s = sample.now_s - self._fell_s
        if sample.speed_rpm < CREEP_RPM:
            self._moving_since_s = None
        elif self._moving_since_s is None:
            self._moving_since_s = sample.now_s
        moving_s = 0.0 if self._moving_since_s is None else sample.now_s - self._moving_since_s
        too_long = after_s >= self._p.stop_s and moving_s >= 0.1
        if not too_long:
            return None
        return DriveVerdict(
            MotorTrouble.NO_STOP,
            f"EN is low since {after_s:.2f} s and the tach shows {sample.speed_rpm:.0f} rpm: "
            "take the motor supply off by hand",
            after_s,
        )


class SupplyWatch:
    """Judges the contactor in the motor's supply: contacts that break its coil must make it drop.

    A welded contactor is the second fault that lets a driver which is stuck turn the motor with the
    e-stop pressed, so it is looked for before the first (ISO 13849-1, category 3).
    """

    def __init__(self) -> None:
        self._broken_since_s: float | None = None

    def judge(self, coil_broken: bool, is_supplied: bool | None, now_s: float) -> str:
        """Return what is wrong, or nothing. `is_supplied`: the feedback; None: none is wired."""
        if not (coil_broken and is_supplied):
            self._broken_since_s = None
        elif self._broken_since_s is None:
            self._broken_since_s = now_s
        elif now_s - self._broken_since_s > WELDED_S:
            return (
                f"the motor's supply is still on {now_s - self._broken_since_s:.2f} s after e-stop "
                "or compartment broke its contactor's coil: take it off by hand"
            )
        return ""
