"""What a reading can be: three verified values, a fact about the dice, or a reason for refusal.

Owns: the verdicts, the reasons, and the evidence of one frame. Must not know images, models or
rounds. It imports neither OpenCV nor numpy: rules, records and consoles use the verdicts as they
are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

DICE = 3
"""Dice of a toss."""

VALUES = tuple(range(1, 7))
"""Values of a die."""


class Kind(StrEnum):
    """How a die can lie so that it shows no value."""

    TILTED = "tilted"
    STACKED = "stacked"


class Reason(StrEnum):
    """Why a frame, or a toss, could not be read. Stable: consoles and journals match on it."""

    COUNT = "count"
    """There are not as many dice as asked for, or the border cuts one off, and nothing proves that
    one lies on another."""
    FOREIGN_OBJECT = "foreign-object"
    """Something that is no die lies in the compartment."""
    BLOCKED = "blocked"
    """A hand, a cloth or the like hides the compartment."""
    BLACK = "black"
    OVER_EXPOSED = "over-exposed"
    DEFOCUSED = "defocused"
    FROZEN = "frozen"
    """The camera repeats one picture, identical in every bit."""
    LOOPED = "looped"
    """A picture that had been seen before came again, to the last bit, or the dice of an earlier
    toss lie again as they lay then."""
    TORN = "torn"
    """Part of the picture is missing or belongs to another moment."""
    WRONG_SIZE = "wrong-size"
    MOVING = "moving"
    """The dice, however slowly, still move."""
    CAMERA_MOVED = "camera-moved"
    """The compartment is not where the calibration says."""
    UNTAUGHT = "untaught"
    """The table was not taught its dice: there is no second reader."""
    READERS_DISAGREE = "readers-disagree"
    DOUBTFUL = "doubtful"
    """A reader is not sure enough of a value: the model's word or a pip is weak, or a spot may be
    no pip."""
    NOT_FLAT_DOUBTFUL = "not-flat-doubtful"
    """The witnesses are not sure enough that a die lies flat, nor that it does not."""
    NO_CONSENSUS = "no-consensus"
    """Good frames, but not enough of them in a row that agree."""
    NO_DIP = "no-dip"
    """The dip of the ring light was not seen: the pictures may not be of this moment."""
    NO_FRAMES = "no-frames"
    """No fresh picture came."""
    UNNAMED = ""
    """None of these: the detail alone says why nothing was read, such as a fault or a restart."""


@dataclass(frozen=True, slots=True)
class Verified:
    """Three values that both readers and the geometry agree on."""

    values: tuple[int, ...]
    """1..6 each, in the order of the dice from left to right in the picture. Three of them at
    a table; `read --any-number` gives as many as there are dice."""

    confidence: float = 1.0
    """0..1, the least of all votes that had to agree."""

    def __post_init__(self) -> None:
        if not all(value in VALUES for value in self.values):
            raise ValueError(f"verified values are 1 to 6, not {self.values!r}")
        if not math.isfinite(self.confidence):
            raise ValueError(f"a confidence of {self.confidence}")

    @property
    def three(self) -> tuple[int, int, int]:
        """The values at a table. Raises ValueError where there are not three."""
        first, second, third = self.values
        return first, second, third


@dataclass(frozen=True, slots=True)
class NoRoll:
    """A die does not lie flat on the bottom: a fact about the dice, of both sides of the witnesses,
    or of the heights of its pips."""

    die: int
    """Which die, counted from 0 from left to right in the picture."""

    kind: Kind
    angle_deg: float = 0.0
    """Its angle from flat, 0..90; 0 for a die that lies flat on another."""

    def __post_init__(self) -> None:
        if not math.isfinite(self.angle_deg):
            raise ValueError(f"an angle of {self.angle_deg}")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A fact about the reader, not about the dice."""

    reason: Reason
    detail: str = ""
    """One line for a person: what was seen, in numbers."""

    @property
    def text(self) -> str:
        """Reason and detail in one line, as journals keep them and screens show them."""
        return ": ".join(filter(None, (self.reason.value, self.detail)))

    @classmethod
    def of(cls, text: str) -> Unreadable:
        """Return what has this `text`, whichever version wrote it."""
        reason, _, detail = text.partition(": ")
        if reason in Reason.__members__.values():
            return cls(Reason(reason), detail)
        return cls(Reason.UNNAMED, text)


Verdict = Verified | NoRoll | Unreadable


@dataclass(frozen=True, slots=True)
class Quality:
    """What can be said about a picture before any die is looked for."""

    median: float
    """Median grey level inside the compartment, 0..255."""
    sharpness: float
    """Steepest steps as a share of the contrast, per pixel; see `quality.sharpness`."""
    rim_px: float
    """Largest distance of the compartment's rim from where the calibration has it, pixels; -1 where
    none is found."""
    fault: Reason | None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class NetworkReading:
    """What the network said of one die."""

    value: int
    value_p: float
    flat_p: float
    """How flat it looks among all that the picture shows."""
    score: float
    near_p: float | None = None
    """How flat it looks from near by, beside what an upright die would look like there; None
    without a network for that."""
    near_lean_deg: float | None = None
    """Its angle from upright, seen so."""


@dataclass(frozen=True, slots=True)
class SecondVote:
    """What the second reader said of one die."""

    value: int
    confidence: float
    """Probability of this value against the next likely one."""
    oddity: str = ""
    """What does not look like such a face, a speck, a highlight or a lost pip; empty: nothing."""


@dataclass(frozen=True, slots=True)
class Height:
    """How high the pips of a die lie, by the second lens of a camera that has two."""

    above: float
    """Of the median pip, above the top of a flat die, in dice."""
    likeness: float
    """How alike both lenses show the pips, -1..1; a quarter of them is shown less alike."""
    least: float
    """The same of the pip that they show least alike."""
    slope: float = 0.0
    """By how much a plane through the pips rises along it, in dice for a die; 0 for an ace, and
    along the diagonal alone for a two or a three."""


NO_HEIGHT = Height(0.0, 0.0, 1.0)
"""Nothing is known, and no pip is doubted: the second reader reads no value on the die, or the
right lens shows none of the dice."""


@dataclass(frozen=True, slots=True)
class Witness:
    """One measurement, or a few that share their errors, on how a die lies."""

    name: str
    odds: float
    """Log-odds of flat against not flat."""

    def __str__(self) -> str:
        return f"{self.name} {self.odds:+.1f}"


@dataclass(frozen=True, slots=True)
class DieEvidence:
    """All that is known of one die in one frame."""

    corners: tuple[tuple[float, float], ...]
    """Corners of the top face in pixels, clockwise."""
    x_mm: float
    y_mm: float
    """Where it lies, from the centre of the compartment; 0 without a calibration."""
    turn_deg: float
    """Orientation, 0..90, clockwise in the picture."""
    model: NetworkReading | None
    second: SecondVote | None
    height: Height | None = None
    witnesses: tuple[Witness, ...] = ()
    """What each witness says of how it lies; none on a photograph."""

    @property
    def odds(self) -> float:
        """Log-odds of flat by all witnesses together."""
        return sum(witness.odds for witness in self.witnesses)


def spot_doubted(vote: SecondVote) -> Unreadable | None:
    """The refusal of a face whose middle may be no pip, or may hide one."""
    if not vote.oddity:
        return None
    what = "a speck, a highlight or a lost pip"
    return Unreadable(Reason.DOUBTFUL, f"{what}: {vote.oddity}")


@dataclass(frozen=True, slots=True)
class Scene:
    """What a frame shows beside its dice, and what is known of the table."""

    wanted: int | None
    """How many dice there must be; None: any number."""
    foreground: float = 0.0
    """All that is not the taught floor, in dice."""
    unexplained: float = 0.0
    """The largest piece that is neither die nor floor, in dice."""
    is_taught: bool = False
    """The table was taught its dice: the second reader knows these and no others."""
    has_heights: bool = False
    """It was taught before two lenses."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One frame with everything that speaks for or against a value."""

    t_capture: float
    """Seconds, monotonic clock."""
    quality: Quality | None
    dice: tuple[DieEvidence, ...]
    """From left to right."""
    opinion: Verdict
    """What this frame would say alone."""
    cost_ms: tuple[tuple[str, float], ...] = ()
    """What each step took, milliseconds."""
    scene: Scene | None = None
    """None where the picture is unfit, and for a photograph."""
    is_confirming: bool = False
    """Read where an earlier frame of the same still scene has its dice: see `table.reader`."""
