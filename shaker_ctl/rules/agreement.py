"""How two persons agree: the first states something, another one repeats it.

Owns what counts as another person's word and as the same thing said: for dice and their serials, a
corrected result, a compartment in view, a cover that is off, and meters. Must not know rows.
"""

from __future__ import annotations

from collections.abc import Iterable

from shaker_ctl.rules.vocabulary import Person, plain

Said = Iterable[int | str] | None
"""Values or serials, in any order. None: no roll."""


def is_alike(one: Said, other: Said) -> bool:
    """True where both say the same, in whatever order and spelling."""
    return _plainly(one) == _plainly(other)


def agree(first: Person | None, second: Person, one: Said = (), other: Said = ()) -> bool:
    """True where the first stated something, and another person repeats it."""
    return first is not None and not first.is_same(second) and is_alike(one, other)


def _plainly(said: Said) -> list[str] | None:
    return None if said is None else sorted(plain(str(each)) for each in said)
