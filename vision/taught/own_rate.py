"""How well a table would have read its own confirmed tosses, and what to change if too badly.

Owns: the tosses held back, what counts as read, and the words for a person. Must not know the first
reader: it says what the taught reader alone would leave to the dealer. With one lens that is the
values and what lies beside the dice, but not how a die lies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from vision.calibration import Calibration
from vision.pip_heights import measure_height
from vision.taught.learning import Seen, Toss, taught_by
from vision.taught.reader import TaughtReader, TaughtReading
from vision.taught.view import TopView

MIN_TOSSES = 30
"""Fewest confirmed tosses that say anything of a rate near `ENOUGH`."""
ENOUGH = 0.97
"""Least share of tosses read, each by what the others teach."""
SURE = 0.95
"""Probability of a value against the next likely one, below which it is not stated."""
FOREIGN = 0.15
"""Dice; a piece beside the dice that is larger is something else."""
_PARTS = 5
"""In so many parts the tosses are held back in turn: each is read by what the other fifths teach,
which says less for the table than it deserves, not more."""


class Missed(Enum):
    """Why a confirmed toss would not have been read, and what a person may change."""

    WRONG = "values are read wrongly: a lamp is mirrored on the dice, or pips are not all alike"
    NOT_FOUND = "dice are not found: the floor has the dice's colour, or a lamp is mirrored on them"
    UNSURE = "pips stand out too little: use dice with plainer pips, or more light"
    ODD = "faces do not look alike everywhere: a lamp is mirrored in the dome or on the dice"
    HEIGHT = "the lenses show pips differently: light from all sides, and calibrate the second lens"
    BESIDE = (
        "the floor does not look alike from toss to toss: clean it, or shade it from changing light"
    )


@dataclass(frozen=True, slots=True)
class Rate:
    """Confirmed tosses, each read by what the others teach."""

    tosses: int
    missed: Counter[Missed]

    @property
    def read(self) -> float:
        """Share of the tosses; 0 of none."""
        return 1 - self.missed.total() / self.tosses if self.tosses else 0.0

    @property
    def is_enough(self) -> bool:
        """True if the table may offer automatic entry."""
        is_right = not self.missed[Missed.WRONG]
        return self.tosses >= MIN_TOSSES and is_right and self.read >= ENOUGH

    def advice(self) -> str:
        """What to change, first what would help most; empty: nothing."""
        if self.tosses < MIN_TOSSES:
            return f"confirm {MIN_TOSSES - self.tosses} more tosses"
        most = self.missed.most_common()
        return (
            ""
            if self.is_enough
            else "; ".join(f"{count} tosses: {why.value}" for why, count in most)
        )


def rate(calibration: Calibration, tosses: Sequence[Toss]) -> Rate:
    """Read each toss by what the other parts of the tosses teach."""
    missed: Counter[Missed] = Counter()
    view = TopView(calibration)
    seen = [Seen.by(view, toss) for toss in tosses]
    for part in range(min(_PARTS, len(tosses))):
        others = [each for i, each in enumerate(seen) if i % _PARTS != part]
        if not others:
            break
        reader = TaughtReader(calibration, taught_by(view, others))
        for toss in tosses[part::_PARTS]:
            reading = reader.read(toss.image)
            why = why_missed(reading, toss.values)
            if why is None and not _is_flat_by_height(reader, toss, reading, calibration):
                why = Missed.HEIGHT
            missed.update([why] if why else [])
    return Rate(len(tosses), missed)


def why_missed(reading: TaughtReading, values: tuple[int, ...]) -> Missed | None:
    """Why a reading does not state these values of flat dice, if it does not."""
    dice = reading.dice
    if len(dice) != len(values):
        return Missed.NOT_FOUND
    if any(die.sure < SURE for die in dice):
        return Missed.UNSURE
    if any(die.oddity for die in dice):
        return Missed.ODD
    if sorted(die.value for die in dice) != sorted(values):
        return Missed.WRONG
    return Missed.BESIDE if reading.unexplained > FOREIGN else None


def _is_flat_by_height(
    reader: TaughtReader, toss: Toss, reading: TaughtReading, calibration: Calibration
) -> bool:
    """True if the second lens, where there is one, shows every die as high as flat ones."""
    usual = reader.teaching.height
    if toss.right is None or usual is None:
        return toss.right is None
    heights = (
        measure_height(toss.image, toss.right, die.pips, calibration) for die in reading.dice
    )
    return all(map(usual.is_flat, heights))
