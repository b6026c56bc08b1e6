"""One powered run of the shaker: the order, the observations, and what they prove.

Owns the run's own record. Must not touch EN or decide when it falls: the motion loop does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from shaker_ctl.frozen import frozen
from shaker_ctl.motion import profile, proof
from shaker_ctl.motion.controller import ControlState
from shaker_ctl.motion.parameters import MotionParameters
from shaker_ctl.motion.watch import DriveWatch, RestWatch
from shaker_ctl.rules.vocabulary import Occasion, TossProof


@frozen
class RunOrder:
    """A run asked for by the state thread."""

    occasion: Occasion
    plan: profile.ShakePlan
    is_toss: bool
    """A jog otherwise."""
    lamps_answered_at_s: float
    """Monotonic time, seconds; only for a toss."""
    stops: int
    """The loop's count of stops at the order. If the count has changed, the run does not begin."""


@dataclass(slots=True)
class PoweredRun:
    """From EN-on to standstill. Times are monotonic, speeds turns per minute."""

    order: RunOrder
    started_s: float
    watch: DriveWatch
    control: ControlState = field(default_factory=ControlState)
    ticked_s: float = 0.0
    """When the loop last set the duty."""
    ticks: list[int] = field(default_factory=list)
    first_tick: int | None = None
    """The daemon's tick at EN-on, reckoned back from the first edge."""
    trace: list[tuple[float, float]] = field(default_factory=list)
    """(seconds after EN-on, speed), one point a turn of the loop."""
    is_confirmed: bool = False
    """EN was read back high."""
    ended_s: float | None = None
    """When EN was taken low; from then on the run brakes."""
    driven_ticks: int = 0
    """Edges up to EN low; later ones belong to braking."""
    failed: bool = False
    is_told: bool = False
    """Whether a fault was posted; what ends otherwise still owes its answer."""
    rest: RestWatch | None = None

    def __post_init__(self) -> None:
        self.ticked_s = self.started_s

    @property
    def occasion(self) -> Occasion:
        return self.order.occasion

    @property
    def plan(self) -> profile.ShakePlan:
        return self.order.plan

    def note_edges(self, arrived: Sequence[int], now_s: float) -> None:
        """Keep the ticks of tach edges, us."""
        if arrived and self.first_tick is None:
            self.first_tick = arrived[-1] - int((now_s - self.started_s) * 1e6)
        self.ticks.extend(arrived)

    def prove(self, parameters: MotionParameters) -> proof.TachProof:
        """Judge by the edges alone whether this was a full shake inside the band; once ended."""
        assert self.ended_s is not None
        return proof.prove(
            self.plan,
            self.ticks[: self.driven_ticks],
            parameters,
            started_tick=self.first_tick or 0,
            driven_s=self.ended_s - self.started_s,
        )

    def recorded(self, proved: proof.TachProof, parameters: MotionParameters) -> TossProof:
        """The proof as the rules and the journal have it."""
        return TossProof(
            in_band_s=round(proved.in_band_s, 3),
            lowest_rpm=round(proved.slowest_rpm, 1),
            highest_rpm=round(proved.fastest_rpm, 1),
            turns=round(len(self.ticks) / parameters.pulses_per_turn, 1),
        )
