"""The counts that every figure over outcomes follows from; no figure needs the outcomes themselves.

Owns the reading of outcomes out of records, and the counting. A tally grows by one round at a time
and stays as small after ten million rounds as after one, so that whoever shows figures reads a page
of numbers and never the journal. Must not know tests: `statistics` has them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from shaker_ctl.frozen import frozen
from shaker_ctl.journal.record import Record

Values = tuple[int, int, int]

WORDS = (b'"RecordRound"', b'"ReadingMade"')
"""A record bears on an outcome only if one of these stands in its bytes."""


@frozen
class Outcome:
    """How one round of play ended."""

    round: int
    ending: str
    source: str | None
    values: Values | None
    """What counted."""
    seen: Values | None = None
    """What was read of the dice, whether it counted or not."""
    was_unreadable: bool = False
    """The reader gave no verdict, and a person had to look."""

    @property
    def faces(self) -> Values | None:
        """The faces, as far as anybody knows them."""
        return self.values or self.seen


@dataclass(slots=True)
class Reading:
    """Reads outcomes out of records, in their order. A verdict waits here for its round's end."""

    waiting: dict[int, dict[str, Any]] = field(default_factory=dict)

    def of(self, record: Record) -> Iterator[Outcome]:
        """Yield the rounds of play that end with this record."""
        if any(word in record.body for word in WORDS):
            yield from self.of_plain(record.plain)

    def of_plain(self, plain: dict[str, Any]) -> Iterator[Outcome]:
        """As `of`, for a record that is decoded."""
        event = plain.get("event", {})
        occasion = event.get("occasion") or {}
        if event.get("type") == "ReadingMade" and occasion.get("purpose") == "play":
            self.waiting[occasion["number"]] = event["verdict"]
        for command in plain.get("decision", ()):
            if command.get("type") == "RecordRound":
                yield _outcome(command, self.waiting.pop(command["round"], {}))
                # Rounds end in their order: what still waits of earlier ones has no end to come.
                self.waiting = {n: v for n, v in self.waiting.items() if n > command["round"]}


def outcomes(records: Iterable[Record], left_out: list[int] | None = None) -> list[Outcome]:
    """Return the ended rounds of play, oldest first.

    The number of a record that says what this program does not know goes to `left_out`, if there
    is such a list; else what is wrong with it is raised.
    """
    reading = Reading()
    found: list[Outcome] = []
    for record in records:
        try:
            found.extend(reading.of(record))
        except Exception:
            if left_out is None:
                raise
            left_out.append(record.sequence)
    return found


def _outcome(command: dict[str, Any], verdict: dict[str, Any]) -> Outcome:
    return Outcome(
        round=command["round"],
        ending=str(command["ending"]),
        source=command.get("source"),
        values=values_of(command.get("values")),
        seen=values_of(verdict.get("values")),
        was_unreadable=verdict.get("type") == "Unreadable",
    )


def values_of(plain: Any) -> Values | None:
    """Return the values of three dice out of a record; None where it names none.

    Raises ValueError for what are not the values of dice.
    """
    if plain is None:
        return None
    if not isinstance(plain, list | tuple) or any(type(one) is not int for one in plain):
        raise ValueError(f"{plain!r:.60} are not the values of dice")
    if len(plain) != 3 or not all(1 <= one <= 6 for one in plain):
        raise ValueError(f"{plain!r:.60} are not the values of three dice")
    first, second, third = plain
    return first, second, third


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

    def add(self, outcome: Outcome) -> None:
        """Count one more round."""
        self.rounds += 1
        self.unreadable += outcome.was_unreadable
        self.endings[outcome.ending] += 1
        for face in set(outcome.faces or ()):
            count = self.by_face[face]
            count.n += 1
            count.unreadable += outcome.was_unreadable
            count.by_hand += outcome.source in ("entered", "decided")
            count.void += outcome.ending == "void"
        if outcome.values is not None:
            self.add_toss(outcome.values)

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
            "by_face": [
                [count.n, count.unreadable, count.by_hand, count.void]
                for _, count in sorted(self.by_face.items())
            ],
            "tosses": [[*values, n] for values, n in sorted(self.tosses.items())],
            "follows": [[[*pair, n] for pair, n in sorted(die.items())] for die in self.follows],
            "changes": self.changes,
            "last": self.last,
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
    )


def tally(found: Iterable[Outcome]) -> Tally:
    """Return the counts over these rounds."""
    counts = Tally()
    for outcome in found:
        counts.add(outcome)
    return counts


def tally_of(tosses: Iterable[Values]) -> Tally:
    """Return the counts over tosses alone."""
    counts = Tally()
    for values in tosses:
        counts.add_toss(values)
    return counts
