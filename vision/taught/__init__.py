"""A second reader that learns one table: its dice, its floor and its light, from tosses that people
confirmed. No network has a part in it.

Owns: what is learnt from confirmed tosses, and what a later picture shows by it. Must not know the
first reader, judgement, consensus or rounds.

Theory of operation. Every picture is rectified to the plane in which the tops of flat dice lie
(`view`). There each top face is a square of one size, turned and moved, and its pips lie on one
lattice of nine places (`lattice`). Two regressions on the colour in rings around a place say
whether a pip is there, and whether it belongs to a top face. They know one floor, one light and one
set of dice. A die is the pose whose nine places and square both find likeliest (`poses`). The face
is then read from the picture itself, place by place, and each place must look like those that were
taught (`faces`). A second lens says how high its pips lie, beside those of the table's flat dice
(`heights`): so high, and it lies flat. What is neither die nor the taught floor is something else
(`floor`). How many of its own tosses a table reads, each by what the others teach, it says itself
(`own_rate`); `learning` learns, `teaching` keeps.
"""

from vision.taught.learning import Toss, teach
from vision.taught.own_rate import Missed, Rate, rate
from vision.taught.reader import TaughtDie, TaughtReader, TaughtReading
from vision.taught.teaching import Teaching, TeachingError

__all__ = [
    "Missed", "Rate", "TaughtDie", "TaughtReader", "TaughtReading", "Teaching", "TeachingError",
    "Toss", "rate", "teach",
]  # fmt: skip
