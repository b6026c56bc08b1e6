"""Dice that go wrong in a known way, to see after how many tosses their test finds it.

Owns the ways (`FAULTS`) and the throws. Die 1 is the one at fault. After each toss the dice lie in
any order, as they do at a table.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from shaker_ctl.journal.dice_watch import DiceWatch
from shaker_ctl.journal.history import Values

Fault = Callable[[random.Random, list[int]], None]
"""Puts a toss of three dice at fault; it gets their former values and changes them in place."""


def _keeps(dice: int, share: float = 1.0) -> Fault:
    """So many dice keep their faces, in this share of the tosses."""

    def toss(chance: random.Random, values: list[int]) -> None:
        for at in range(3):
            if at >= dice or chance.random() >= share:
                values[at] = chance.randint(1, 6)

    return toss


def _shows(first: Callable[[random.Random], int]) -> Fault:
    """Die 1 shows what `first` says."""

    def toss(chance: random.Random, values: list[int]) -> None:
        values[:] = first(chance), chance.randint(1, 6), chance.randint(1, 6)

    return toss


def _loaded(share: float) -> Fault:
    return _shows(lambda chance: 6 if chance.random() < share else chance.randint(1, 5))


FAULTS: dict[str, Fault] = {
    "a carried die": _keeps(1),
    "two dice keep their faces": _keeps(2),
    "one die keeps half of its faces": _keeps(1, 0.5),
    "one die turns about one axis": _shows(lambda chance: chance.choice((1, 2, 5, 6))),
    "one die loaded, 0.25": _loaded(0.25),
    "one die loaded, 0.35": _loaded(0.35),
    "one die loaded, 0.5": _loaded(0.5),
}


def tossed(fault: Fault | None, seed: int, tosses: int) -> Iterator[Values]:
    """Yield the values of so many tosses; None: dice that behave."""
    chance, toss = random.Random(seed), fault or _keeps(0)
    dice = [chance.randint(1, 6) for _ in range(3)]
    for _ in range(tosses):
        toss(chance, dice)
        first, second, third = chance.sample(dice, 3)
        yield first, second, third


def first_found(fault: Fault | None, seed: int, tosses: int) -> int | None:
    """Return after how many tosses dice are found to be outside; None: not within `tosses`."""
    watch = DiceWatch()
    for values in tossed(fault, seed, tosses):
        watch.add(values)
        if watch.found:
            return watch.tosses
    return None
