"""The ledger of dice, from box to destroyed: where each die is, since when, and who says so.

Owns which step may follow which, the balance of a day, and what does not add up. It follows from
the records alone. Must not know files, nor how it is printed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from shaker_ctl.frozen import frozen
from shaker_ctl.journal.day_sheet import named
from shaker_ctl.journal.history import DiceEntry, Named
from shaker_ctl.rules.agreement import agree
from shaker_ctl.rules.vocabulary import Person, Role, plain

LOCKED_IN, TAKEN_OUT = "locked in", "taken out"
AWAY = ("sealed", "cancelled", "destroyed")
"""Dice that no table uses any more."""

_BEFORE = {
    "received": ("",),
    "inspected": ("received", "inspected", "returned"),
    "returned": ("inspected",),
    LOCKED_IN: ("inspected",),
    "sealed": ("received", "inspected", "returned", TAKEN_OUT),
    "cancelled": ("received", "inspected", "returned", TAKEN_OUT, "sealed"),
    "destroyed": (TAKEN_OUT, "sealed", "cancelled"),
}
"""Where a die may come from; "": it is new."""

_BY_TWO = (LOCKED_IN, "received", "cancelled", "destroyed")
"""What two persons sign where the house has its dice handled by two."""

LONG = timedelta(hours=24)
"""Dice that stay in a shaker longer are named in the reconciliation (NJ 13:69E-1.16(b)2)."""


@frozen
class Line:
    """One step of some dice, with everybody who signed it."""

    first: int
    """Its first record."""
    wall: str
    what: str
    serials: tuple[str, ...]
    by: tuple[Named, ...]

    def words(self) -> str:
        return f"{self.what}: {' '.join(self.serials)}  {', '.join(map(named, self.by))}"


@frozen
class Die:
    """Where one die is."""

    serial: str
    where: str
    since: str
    """Wall time."""


@dataclass
class Ledger:
    """All that the records tell, up to the last one that was taken."""

    dice: dict[str, Die] = field(default_factory=dict)
    """By the serial as it is compared."""
    lines: list[Line] = field(default_factory=list)
    odd: list[tuple[int, str]] = field(default_factory=list)
    """(record, what does not add up)."""
    by_two: bool = False
    """Whether the house has two persons name its dice, as a record shows."""
    _first: DiceEntry | None = None

    def take(self, entry: DiceEntry) -> None:
        """Take one entry, in the order of the records."""
        if entry.is_first:
            self._first = entry
            self.by_two |= entry.what == LOCKED_IN
            return
        if self.lines and _seconds(self.lines[-1], entry):
            self.lines[-1] = replace(self.lines[-1], by=(*self.lines[-1].by, *entry.by))
            return
        before = self._first.by if self._first and _repeats(self._first, entry) else ()
        self._first = None
        inside = [each for each in self.dice.values() if each.where == LOCKED_IN]
        if entry.what == "corrected":
            for each in inside:
                del self.dice[plain(each.serial)]
        elif entry.what == LOCKED_IN:
            self._move(entry, TAKEN_OUT, [each.serial for each in inside], ())
        where = LOCKED_IN if entry.what == "corrected" else entry.what
        self._move(entry, where, entry.serials, (*before, *entry.by), said=entry.what)

    def _move(
        self,
        entry: DiceEntry,
        where: str,
        serials: Iterable[str],
        by: tuple[Named, ...],
        said: str = "",
    ) -> None:
        moved = tuple(serials)
        for serial in moved:
            known = self.dice.get(plain(serial))
            was = known.where if known else ""
            if said != "corrected" and was not in _BEFORE.get(where, (was,)):
                now = f"{serial} was {where}, and before that {was or 'never received'}"
                self.odd.append((entry.sequence, now))
            self.dice[plain(serial)] = Die(serial, where, entry.wall)
        if moved:
            by = by or entry.by
            self.lines.append(Line(entry.sequence, entry.wall, said or where, moved, by))

    @property
    def is_kept(self) -> bool:
        """Whether the house writes down where its dice come from."""
        return any(line.what == "received" for line in self.lines)

    def odd_inside(self) -> str:
        """What is odd about how the newest dice came into the shaker; empty: nothing, or no ledger
        is kept."""
        newest = max((line.first for line in self.lines if line.what == LOCKED_IN), default=0)
        odd = [words for sequence, words in self.odd if sequence == newest]
        return "; ".join(odd) if self.is_kept else ""

    def balance(self) -> dict[str, list[str]]:
        """The serials of the dice in each place; of those that are gone, none."""
        places: dict[str, list[str]] = {}
        for each in sorted(self.dice.values(), key=lambda die: plain(die.serial)):
            if each.where not in AWAY:
                places.setdefault(each.where, []).append(each.serial)
        return places

    def counted(self, first: int) -> Counter[str]:
        """How many dice were moved in each way since a record."""
        moved: Counter[str] = Counter()
        for line in self.lines:
            if line.first >= first:
                moved[line.what] += len(line.serials)
        return moved

    def reconciled(self, first: int, until: str) -> Iterator[str]:
        """Yield the steps since a record, where the dice are at the end (a wall time), and what
        does not add up."""
        for line in self.lines:
            if line.first >= first:
                yield f"{_local(line.wall)}  {line.words()}"
        if self.is_kept:
            moved = self.counted(first).items()
            yield "moved: " + (", ".join(f"{what} {count}" for what, count in moved) or "none")
            for where, serials in self.balance().items():
                yield f"{where}: {len(serials)}  {' '.join(serials)}"
            yield from (f"LOOK: {note}" for note in self.notes(first, until))

    def notes(self, first: int, until: str) -> Iterator[str]:
        """Yield what does not add up since a record, and what has stood too long; nothing where no
        ledger is kept."""
        if not self.is_kept:
            return
        yield from (words for sequence, words in self.odd if sequence >= first)
        for line in self.lines:
            if self.by_two and line.first >= first and line.what in _BY_TWO and len(line.by) < 2:
                yield f"one person alone signed: {line.words()}"
        for each in self.dice.values():
            if each.where == TAKEN_OUT:
                out = f"{each.serial} was taken out at {_local(each.since)}"
                yield f"{out}, and is not cancelled"
            elif each.where == LOCKED_IN and _at(until) - _at(each.since) > LONG:
                yield f"{each.serial} has been in the shaker for more than 24 hours"


def ledger(entries: Iterable[DiceEntry]) -> Ledger:
    """Fold entries, oldest first."""
    made = Ledger()
    for entry in entries:
        made.take(entry)
    return made


def _at(wall: str) -> datetime:
    return datetime.fromisoformat(wall)


def _local(wall: str) -> str:
    """A wall time in the machine's own zone."""
    return _at(wall).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _seconds(line: Line, entry: DiceEntry) -> bool:
    """Whether a second person says what the last line says."""
    is_one_alone = line.what == entry.what and len(line.by) == len(entry.by) == 1
    return is_one_alone and agree(
        _person(line.by[0]), _person(entry.by[0]), line.serials, entry.serials
    )


def _repeats(first: DiceEntry, entry: DiceEntry) -> bool:
    if first.what != entry.what or not (first.by and entry.by):
        return False
    return agree(_person(first.by[0]), _person(entry.by[0]), first.serials, entry.serials)


def _person(said: Named) -> Person:
    return Person(said.name, Role(said.role), said.number)
