"""Settings of the shaker's motion, the approved shake included.

Owns the numbers and their reasons. Knows no pins (those are `gpio`) and no rounds.
"""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from shaker_ctl.parameters import Parameters, bounded


class ShakeParameters(Parameters):
    """The approved shake: the bounds inside which chance draws every toss.

    Changing any of them is a new shake that has not been shown to mix: raise `version` with it. The
    digest over all of them stands in every record.
    """

    version: str = "2026-11"
    """Name under which this shake was approved for the table.

    Evidence for the defaults, from the virtual machine's rigid-body physics (standard compartment,
    three 16 mm dice, plans as drawn): over 1,500 tosses a die kept its face in 16.3 % (chance:
    16.7 %, standard error 0.6 %), chi-square over the faces 3.6 with 5 degrees of freedom.
    """

    band_low_rpm: float = bounded(715.0, above=300.0, at_most=2000.0)
    """Slowest cam speed, in turns per minute, at which mixing has been shown.

    A 10 mm stroke at 720 rpm is 2.9 g. In rigid-body physics of the standard compartment, 200
    tosses of three dice each, a die kept its face in 35 % of the tosses at 700 rpm for 1.6 s, but
    in 17 % (chance: 16.7 %, standard error 1.6 %) at 720 rpm for 2.0 s and above. Lower: tosses are
    accepted that may not mix; higher: good tosses are rejected. Another cam, compartment or die
    needs its own measurement.
    """

    band_high_rpm: float = bounded(900.0, above=300.0, at_most=2000.0)
    """Fastest cam speed, in turns per minute, at which mixing has been shown (4.5 g).

    Higher: dice, dome and bearings are not qualified there.
    """

    min_rpm: float = bounded(775.0, above=300.0, at_most=2000.0)
    """Lowest speed that a plan asks for; its distance to `band_low_rpm` is room for cam ripple.

    Measured on the virtual machine the speed of a full turn stays within 20 rpm of the plan
    outside its first 0.4 s.
    """

    max_rpm: float = bounded(835.0, above=300.0, at_most=2000.0)
    """Highest speed that a plan asks for; see `min_rpm`."""

    min_s: float = bounded(1.8, at_least=0.8, at_most=10.0)
    """Shortest shake, in seconds, run-up included and braking not.

    Shorter: fewer strokes, and less mixing (see `band_low_rpm`); longer: slower rounds. Of 1.8 s
    the tach proves at least 12 full strokes inside the band.
    """

    max_s: float = bounded(2.6, at_least=0.8, at_most=15.0)
    """Longest shake, in seconds. The duration of each toss is drawn between the two."""

    min_step_s: float = bounded(0.25, at_least=0.1, at_most=5.0)
    """Shortest time, in seconds, between two changes of the planned speed."""

    max_step_s: float = bounded(0.60, at_least=0.1, at_most=5.0)
    """Longest time, in seconds, between two changes of the planned speed."""

    run_up_s: float = bounded(0.30, at_least=0.1, at_most=2.0)
    """Time, in seconds, in which the plan climbs from rest to its first speed.

    Shorter: the driver's current limit decides instead of the plan; longer: slower rounds.
    """

    @model_validator(mode="after")
    def _bounds_are_in_order(self) -> Self:
        if not (
            self.band_low_rpm < self.min_rpm <= self.max_rpm < self.band_high_rpm
            and self.min_s <= self.max_s
            and self.min_step_s <= self.max_step_s
            and self.run_up_s + self.min_step_s <= self.min_s
        ):
            raise ValueError(
                "these must hold: band_low_rpm < min_rpm <= max_rpm < band_high_rpm, "
                "min_s <= max_s, min_step_s <= max_step_s, "
                "run_up_s + min_step_s <= min_s"
            )
        return self


class SpeedControlParameters(Parameters):
    """The closed loop from tach speed to duty."""

    loop_s: float = bounded(0.008, at_least=0.004, at_most=0.010)
    """Period of the control loop during a toss, in seconds (125 Hz).

    Shorter: more CPU for no gain, since a tach edge comes every 7 ms at 720 rpm; longer: the
    dead-man has fewer refreshes before it drops EN.
    """

    duty_per_rpm: float = bounded(0.00103, above=0.0, at_most=0.01)
    """Feed-forward: duty needed per turn a minute of steady speed.

    24 V without load turns the reference motor at 1,000 rpm, so 0.001 plus friction. Too low or too
    high: the integral has to find the rest and the run-up is sluggish or overshoots.
    """

    duty_offset: float = bounded(0.008, at_least=0.0, at_most=0.5)
    """Feed-forward: duty against standing friction while a speed is asked for."""

    duty_per_rpm_s: float = bounded(0.000045, at_least=0.0, at_most=0.001)
    """Feed-forward: duty per rpm/s of planned acceleration (inertia 0.0016 kg·m² at the cam)."""

    proportional: float = bounded(0.0006, at_least=0.0, at_most=0.01)
    """Duty per rpm of error. Higher: follows faster, then rings with the cam's own ripple."""

    integral: float = bounded(0.003, at_least=0.0, at_most=0.1)
    """Duty per rpm of error per second. Higher: a sagging supply is made up for sooner."""

    max_duty: float = bounded(0.97, above=0.1, at_most=1.0)
    """Largest duty that is ever asked for; some drivers need off-time to charge their high side."""


class WatchParameters(Parameters):
    """When a motor that does not do as it was told counts as failed, and how soon that is said."""

    start_s: float = bounded(0.60, at_least=0.3, at_most=3.0)
    """Time, in seconds, within which a toss must have reached its band. Then: slow start.

    The reference machine needs 0.35 s. Lower: false voids with a worn belt; higher: a dying motor
    is found later.
    """

    first_edge_s: float = bounded(0.25, at_least=0.1, at_most=1.0)
    """Time, in seconds, within which the first tach edge must follow EN. Then: tach silent.

    The reference machine gives it after 0.03 s. Includes the daemon's 40 ms for a first report.
    """

    stall_gap_s: float = bounded(0.15, above=0.05, at_most=1.0)
    """Longest tach silence, in seconds, in a running toss. Then: stall, or tach silent.

    At 660 rpm and 12 pulses per turn edges are 7.6 ms apart and reports arrive within 1 ms. Lower:
    a busy processor voids good tosses; higher: hot windings.
    """

    stall_share: float = bounded(0.6, above=0.2, below=0.95)
    """Share of the planned speed below which a running toss counts as stalled."""

    stall_s: float = bounded(0.20, above=0.05, at_most=1.0)
    """Time, in seconds, below `stall_share` before it is a stall. Shorter: false voids."""

    overspeed_rpm: float = bounded(925.0, above=300.0, at_most=2500.0)
    """Speed of a full turn, in turns per minute, that is overspeed at once.

    Must lie above the band with room for control ripple (20 rpm) and below the machine's limit (a
    shorted driver turns the reference motor at 960 rpm).
    """

    irregular_share: float = bounded(0.12, above=0.02, at_most=0.5)
    """Share of the last two turns' edge gaps that may jump before the tach counts as unreliable.

    A gap jumps when it is under 0.6 or over 1.6 times its neighbours' median. The cam's own ripple
    changes a gap by 4 %. Lost or extra edges would make a false speed, and a false proof of toss.
    """

    stop_s: float = bounded(1.0, at_least=0.3, at_most=5.0)
    """Time, in seconds, after EN low within which the tach must fall silent. Then: no stop.

    The reference machine brakes to rest in 0.35 s and its spring turns the cam back for 0.2 s.
    """

    quiet_s: float = bounded(0.12, at_least=0.1, at_most=1.0)
    """Tach silence, in seconds, after which the shaker counts as settled.

    At 0.12 s the cam turns slower than 42 rpm, if at all; that the dice rest is for the camera to
    prove. Longer: slower rounds, since the reading waits for it (from rest to lit, 0.20 s cost 25
    ms in the median and 95 ms in the 99th percentile).
    """


class MotionParameters(Parameters):
    """The shaker: its cam, its approved shake, its control loop and its watch."""

    pulses_per_turn: int = Field(default=12, ge=2, le=100)
    """Rising tach edges per turn of the cam, after gearing. From the tach wheel fitted."""

    shake: ShakeParameters = Field(default_factory=ShakeParameters)
    control: SpeedControlParameters = Field(default_factory=SpeedControlParameters)
    watch: WatchParameters = Field(default_factory=WatchParameters)

    jog_limit_s: float = bounded(5.0, above=0.0, at_most=10.0)
    """Longest jog that a technician can ask for, in seconds."""

    @model_validator(mode="after")
    def _overspeed_is_above_the_band(self) -> Self:
        if self.watch.overspeed_rpm <= self.shake.band_high_rpm:
            raise ValueError("watch.overspeed_rpm must be above shake.band_high_rpm")
        return self
