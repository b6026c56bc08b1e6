"""How two persons agree: the first states something, another one repeats it.

Owns what a first person has stated, and what counts as another's word and as the same thing said:
for dice and their serials, what was typed, a corrected result, a compartment in view, a cover that
is off, and meters. Must not know rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from shaker_ctl.rules.record import recorded
from shaker_ctl.rules.vocabulary import Person, Word, plain

Said = Iterable[int | str] | None
"""Values or serials, in any order. None: no roll."""


class About(Word):
    """What is stated."""

    DICE = "dice"
    """Which dice are in the compartment, or which serials they have."""
    VALUES = "values"
    """How the dice lie: typed once with no reading beside it, or against the reading."""
    RESULT = "result"
    """Another result in the place of the one that stands."""
    SEEN = "seen"
    """The locked compartment stayed in view; at a reveal that is overdue, the cover is off."""


@recorded
class Agreement:
    """What one person has stated, and nobody has repeated yet."""

    about: About
    by: Person
    said: tuple[int, int, int] | tuple[str, ...] | None = ()
    at: datetime | None = None
    """When; the age of dice runs from the first word, and not from the second."""


def waiting(stated: Agreement | None, about: About) -> Agreement | None:
    """Return what waits for a second person's word about this; None: nothing does."""
    return stated if stated is not None and stated.about is about else None


def is_alike(one: Said, other: Said) -> bool:
    """True where both say the same, in whatever order and spelling."""
    return _plainly(one) == _plainly(other)


def agree(first: Person | None, second: Person, one: Said = (), other: Said = ()) -> bool:
    """True where the first stated something, and another person repeats it."""
    return first is not None and not first.is_same(second) and is_alike(one, other)


def _plainly(said: Said) -> list[str] | None:
    return None if said is None else sorted(plain(str(each)) for each in said)
