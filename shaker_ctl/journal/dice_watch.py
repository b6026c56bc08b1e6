"""A sequential test of the dice that may be looked at after every toss, from their values alone.

Owns the ways in which dice and shaker go wrong (`_KINDS`), the evidence for them, and the promise:
a set of dice that behaves is found to be outside with a chance of at most 1 in `PROMISE`, however
long it is used and however often anybody looks. Each way is a likelihood ratio against independent
dice with equal faces. Their weighted mean is a test martingale, so the promise is Ville's
inequality. Pure: it must not know what follows, and it never says that dice are fair.

The dice of a set look alike. So nobody knows which die is which, and a ratio averages over them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import permutations
from typing import Any

from shaker_ctl.frozen import frozen
from shaker_ctl.journal.history import Values, clears_shaker, other_dice, tossed_by, values_of
from shaker_ctl.journal.record import Plain
from shaker_ctl.journal.worn import PartUsage

PROMISE = 1000
"""Sets of dice that behave, of which at most one is found to be outside in its whole life. The
evidence that finds them is the same number."""

FACES = range(1, 7)

_FROM_THE_FIRST = 0.5
"""Share of the weight of trouble that begins at the first toss; the rest begins later."""

_BEGINS = 1 / 20_000
"""Chance that trouble which has not begun begins at the next toss. Dice stay in a shaker for a
month at most: 43,000 tosses at one a minute. A longer life only makes late trouble slower to find:
ten times longer costs a carried die three tosses."""

_KEEPS = (1.0, 0.8, 0.5)
"""How often one die keeps its face: a die that is carried along, or nearly so, or half the time."""

_ALL_KEEP = (0.95, 0.65, 0.35)
"""How often every die keeps its face: a shake too weak, up to dice that only slide."""

_ONE_LOADED = (0.23, 0.3, 0.4, 0.6)
_ALL_LOADED = (0.19, 0.22, 0.28, 0.36)
"""Share of the loaded face, on one die and on all three; 1/6 is none."""

CODE = "dice-outside"
"""The fault that a finding raises."""


@frozen
class Way:
    """One way to go wrong. `face`: which face it favours; of an axis, the face of its end."""

    kind: str
    share: float
    face: int = 0


_LOADED = (
    *(Way("one loaded", share, face) for share in _ONE_LOADED for face in FACES),
    *(Way("all loaded", share, face) for share in _ALL_LOADED for face in FACES),
    *(Way("axis", 0.25, face) for face in (1, 2, 3)),
)
_SHAKES = tuple(Way("all keep", share) for share in _ALL_KEEP)
_CARRIED = tuple(Way("one keeps", share, face) for share in _KEEPS for face in FACES)
WAYS = (*_LOADED, *_SHAKES, *_CARRIED)
_KINDS = sorted({way.kind for way in WAYS})
_WEIGHTS = tuple(
    1 / len(_KINDS) / sum(other.kind == way.kind for other in WAYS) for way in WAYS
)  # each kind weighs as much as another, and each way as much as another of its kind


@dataclass(slots=True)
class DiceWatch:
    """The test over the tosses of one set of dice, in their order."""

    tosses: int = 0
    faces: list[int] = field(default_factory=lambda: [0] * 6)
    """How often each face came."""
    runs: list[int] = field(default_factory=lambda: [0] * 6)
    """In how many tosses in a row each face was there, up to now."""
    last: Values | None = None
    not_begun: float = 1.0
    """Weight of trouble that begins at a later toss."""
    ratios: list[float] = field(default_factory=lambda: [0.0] * len(WAYS))
    """Of each way, the likelihood ratio of the tosses since it began, over all its beginnings."""
    found: str = ""
    """What is outside, in words; empty: nothing. It stays until `begin`."""
    found_in: int = 0
    """The record that shows it."""

    @property
    def evidence(self) -> float:
        """How much more likely the tosses are if something is wrong. It has the mean 1 on dice that
        behave, and reaches `PROMISE` once in `PROMISE` sets at most."""
        known = sum(w * ratio for w, ratio in zip(_WEIGHTS, self.ratios, strict=True))
        return self.not_begun + known

    def begin(self) -> None:
        """Other dice, or a person has cleared what was found: the promise is given anew."""
        fresh = DiceWatch()
        for name in self.__slots__:
            setattr(self, name, getattr(fresh, name))

    def add(self, values: Values, *, is_placed: bool = False) -> None:
        """Take one more toss. `is_placed`: the values stand from left to right, as they lay."""
        if self.found:
            return
        starts = _FROM_THE_FIRST if self.tosses == 0 else self.not_begun * _BEGINS
        self.not_begun -= starts
        self.ratios = list(self._after(values, starts))
        self.tosses += 1
        for face in FACES:
            count = values.count(face)
            self.faces[face - 1] += count
            self.runs[face - 1] = self.runs[face - 1] + 1 if count else 0
        self.last = values
        if self.evidence >= PROMISE:
            self.found = self._finding(values, is_placed=is_placed)

    def _after(self, values: Values, starts: float) -> Iterator[float]:
        """The ratios after one more toss, in the order of `WAYS`."""
        now = _sorted(values)
        kept = _kept(_sorted(self.last), now) if self.last else (1.0,) * len(_SHAKES)
        for ratio, likelier in zip(self.ratios, _shows(now) + kept, strict=False):
            yield (ratio + starts) * likelier
        # A die that keeps its face shows it again, or has turned to any of the six.
        for at, share in enumerate(_KEEPS, 1):
            of_faces = self.ratios[len(WAYS) - 6 * (len(_KEEPS) + 1 - at) :][:6]
            turned = (1 - share) * sum(of_faces) / 6
            for face, ratio in zip(FACES, of_faces, strict=True):
                yield (share * ratio + turned + starts) * 2 * values.count(face)

    def _finding(self, values: Values, *, is_placed: bool) -> str:
        """Say which way explains the tosses best."""
        kinds = dict.fromkeys(_KINDS, 0.0)
        for way, weight, ratio in zip(WAYS, _WEIGHTS, self.ratios, strict=True):
            kinds[way.kind] += weight * ratio
        kind = max(kinds, key=lambda each: kinds[each])
        best = max(range(len(WAYS)), key=lambda at: (WAYS[at].kind == kind) * self.ratios[at])
        return f"outside after {self.tosses} tosses: {self._worded(WAYS[best], values, is_placed)}"

    def _worded(self, way: Way, values: Values, is_placed: bool) -> str:
        came = self.faces[way.face - 1]
        counted = f"face {way.face} {came} times, {self.tosses / 2:.0f} expected"
        run = self.runs[way.face - 1]
        match way.kind:
            case "one keeps" if way.share == 1.0 or run > 20:
                dice = [str(at) for at, value in enumerate(values, 1) if value == way.face]
                which = f" ({' or '.join(dice)} from the left)" if is_placed else ""
                return f"face {way.face} in each of the last {run}, one die{which} does not turn"
            case "one keeps":
                return f"one die keeps its face, {way.face} at the last, in about {way.share:.0%}"
            case "all keep":
                return f"the dice keep their faces in about {way.share:.0%}: the shake mixes badly"
            case "axis":
                return f"one die turns about one axis, and never shows {way.face} or {7 - way.face}"
            case "one loaded":
                return f"{counted}; one die shows it in about {way.share:.0%} of its tosses"
            case _:
                return f"{counted}; all dice show it in about {way.share:.0%}"

    def line(self) -> str:
        """For consoles and screens."""
        of = f"{self.tosses} tosses; the evidence is {self.evidence:.2g}, and {PROMISE} stops play"
        return self.found or f"nothing is outside in {of}"

    # ── From records ────────────────────────────────────────────────────────

    def take(self, plain: Mapping[str, Plain]) -> None:
        """Take one record: a round that ended, other dice, a finding that was cleared."""
        for values, is_placed in tossed_by(plain):
            self.add(values, is_placed=is_placed)
            self.found_in = self.found_in or (plain["sequence"] if self.found else 0)
        if other_dice(plain) or (self.found and clears_shaker(plain)):
            self.begin()

    def to_plain(self) -> dict[str, Any]:
        return asdict(self)


def from_plain(plain: Mapping[str, Any]) -> DiceWatch:
    """Return what was kept. Raises KeyError, TypeError or ValueError where it is none."""
    made = DiceWatch(**{**plain, "last": values_of(plain["last"])})
    if len(made.ratios) != len(WAYS) or len(made.faces) != 6 or len(made.runs) != 6:
        raise ValueError("it was kept by another version")
    return made


@frozen
class DiceSoFar:
    """What the records say of the dice since they were changed, up to one record."""

    sequence: int
    worn: PartUsage
    watch: DiceWatch


# ── Likelihood ratios of one toss ───────────────────────────────────────────


def _sorted(values: Values) -> Values:
    first, second, third = sorted(values)
    return first, second, third


@cache
def _shows(values: Values) -> tuple[float, ...]:
    """Of each of `_LOADED`: how much more likely it makes a toss than dice with equal faces."""
    return tuple(_shown_by(way, values) for way in _LOADED)


def _shown_by(way: Way, values: Values) -> float:
    count = values.count(way.face)
    more, less = 6 * way.share, 6 * (1 - way.share) / 5
    if way.kind == "all loaded":
        return more**count * less ** (3 - count)
    if way.kind == "axis":  # four faces of one die, never two opposite ones
        return sum(value not in (way.face, 7 - way.face) for value in values) / 2
    return (count * more + (3 - count) * less) / 3  # any one of the three is the loaded die


@cache
def _kept(before: Values, now: Values) -> tuple[float, ...]:
    """Of each of `_SHAKES`: the same, where the toss before showed `before`; any die of the one
    may be any die of the other."""
    orders = [
        sum(a == b for a, b in zip(before, order, strict=True)) for order in permutations(now)
    ]
    return tuple(
        sum((1 + 5 * way.share) ** same * (1 - way.share) ** (3 - same) for same in orders)
        / len(orders)
        for way in _SHAKES
    )
