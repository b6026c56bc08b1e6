"""What the motion thread reports besides the events of the rules: reasons, figures and traces.

For logs, screens and the technician's console. A report never decides anything.
"""

from __future__ import annotations

from shaker_ctl.frozen import frozen
from shaker_ctl.motion.proof import TachProof
from shaker_ctl.rules.vocabulary import Occasion


@frozen
class MotionReport:
    """Base of all reports. `at_s`: monotonic clock."""

    at_s: float


@frozen
class DriveEnded(MotionReport):
    """EN was taken low at the end of a toss; it is not judged yet."""

    occasion: Occasion


@frozen
class TossJudged(MotionReport):
    """A toss came to rest; whether the tach proves it, and its whole speed trace."""

    occasion: Occasion
    proof: TachProof


@frozen
class MotionDenied(MotionReport):
    """A start was asked for and EN was never raised."""

    occasion: Occasion
    reason: str


@frozen
class MotionStopped(MotionReport):
    """A run ended early. EN was taken low before this was written."""

    occasion: Occasion
    code: str
    reason: str
    after_s: float
    """Seconds from EN high to the detection."""


@frozen
class JogEnded(MotionReport):
    """A jog ran as asked, and the motor stands still."""

    occasion: Occasion


@frozen
class MotionTrouble(MotionReport):
    """Something is wrong outside a run: no stop, driver fault, GPIO link lost."""

    code: str
    reason: str


@frozen
class LinkRestored(MotionReport):
    """The GPIO daemon answers again, script and callbacks are in place, EN is low."""


@frozen
class MotionFigures:
    """What a screen shows of the shaker now. Speeds in turns per minute."""

    activity: str
    """`idle`, `driving` or `braking`."""
    target_rpm: float
    speed_rpm: float
    duty: float
    trace: tuple[tuple[float, float], ...]
    """(seconds after EN, rpm) of the run in hand, or of the last one; one point per loop turn."""
