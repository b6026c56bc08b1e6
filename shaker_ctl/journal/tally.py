"""The counts that every figure over outcomes follows from; no figure needs the outcomes themselves.

Owns the counting. A tally grows by one round at a time and stays as small after ten million rounds
as after one, so that whoever shows figures reads a page of numbers and never the journal. Must not
know tests: `statistics` has them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import astuple, dataclass, field
from typing import Any

from shaker_ctl.journal.history import InHand, Round, Values, mentions, to_plain, values_of
from shaker_ctl.journal.history import from_plain as round_from
from shaker_ctl.journal.record import Record

WORDS = ("RecordRound", "ReadingMade")
"""A record bears on an outcome only if one of these stands in its bytes."""


@dataclass(slots=True)
class FaceCount:
    """How the rounds ended in which a die showed one face."""

    n: int = 0
    unreadable: int = 0
    by_hand: int = 0
    void: int = 0


@dataclass(slots=True)
class Tally:
    """Counts over the ended rounds of play, in their order."""

    rounds: int = 0
    unreadable: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    by_face: dict[int, FaceCount] = field(
        default_factory=lambda: {face: FaceCount() for face in range(1, 7)}
    )
    tosses: Counter[Values] = field(default_factory=Counter)
    """Values that counted, by position."""
    follows: tuple[Counter[tuple[int, int]], ...] = field(
        default_factory=lambda: (Counter(), Counter(), Counter())
    )
    """For each die, how often a face was followed by a face at the next toss that counted."""
    changes: int = 0
    """Neighbours among the tosses of which one total is big (above 10) and the other is not."""
    last: Values | None = None
    """The last toss that counted."""
    in_hand: InHand = field(default_factory=InHand)
    """What is known of the rounds that go on."""

    def take(self, record: Record) -> None:
        """Count the rounds that end with one more record."""
        if mentions(record.body, *WORDS):
            for one in self.in_hand.take(record.plain):
                self.add(one)

    def add(self, one: Round) -> None:
        """Count one more round."""
        was_unreadable = one.reading == "Unreadable"
        self.rounds += 1
        self.unreadable += was_unreadable
        self.endings[one.ending or ""] += 1
        for face in set(one.values or one.seen or ()):
            count = self.by_face[face]
            count.n += 1
            count.unreadable += was_unreadable
            count.by_hand += one.source in ("entered", "decided")
            count.void += one.ending == "void"
        if one.values is not None:
            self.add_toss(one.values)

    def add_toss(self, values: Values) -> None:
        """Count one more toss that counted."""
        self.tosses[values] += 1
        if self.last is not None:
            for die, pair in enumerate(zip(self.last, values, strict=True)):
                self.follows[die][pair] += 1
            self.changes += (sum(self.last) > 10) != (sum(values) > 10)
        self.last = values

    def to_plain(self) -> dict[str, Any]:
        """As it is kept: JSON has no tuples for keys."""
        return {
            "rounds": self.rounds,
            "unreadable": self.unreadable,
            "endings": dict(self.endings),
            "by_face": [astuple(count) for _, count in sorted(self.by_face.items())],
            "tosses": [[*values, n] for values, n in sorted(self.tosses.items())],
            "follows": [[[*pair, n] for pair, n in sorted(die.items())] for die in self.follows],
            "changes": self.changes,
            "last": self.last,
            "in_hand": [to_plain(one) for one in self.in_hand.rounds.values()],
        }


def from_plain(plain: dict[str, Any]) -> Tally:
    """Return a kept tally. Raises KeyError, TypeError or ValueError where it is none."""
    first, second, third = (Counter({(a, b): n for a, b, n in die}) for die in plain["follows"])
    return Tally(
        rounds=int(plain["rounds"]),
        unreadable=int(plain["unreadable"]),
        endings=Counter(plain["endings"]),
        by_face={face: FaceCount(*row) for face, row in enumerate(plain["by_face"], start=1)},
        tosses=Counter({(a, b, c): n for a, b, c, n in plain["tosses"]}),
        follows=(first, second, third),
        changes=int(plain["changes"]),
        last=values_of(plain["last"]),
        in_hand=InHand({one.number: one for one in map(round_from, plain["in_hand"])}),
    )
