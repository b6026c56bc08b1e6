"""What a span of the record comes to: rounds, exceptions, persons, counters. The day sheet's facts.

Owns the count, record by record, in whatever way the records arrive. Must not know files, time
zones, or how a sheet looks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from shaker_ctl.frozen import frozen
from shaker_ctl.journal.history import (
    UNDER,
    Named,
    Round,
    ended_by,
    other_dice,
    persons,
    raised_by,
    result,
    values_of,
)
from shaker_ctl.journal.record import NOT_UNDERSTOOD

Plain = dict[str, Any]

METERS = {
    "TossSettled": "tosses",
    "CompartmentOpened": "compartment opened",
    "CoverOpened": "cover opened",
    "EstopPressed": "emergency stops",
    "Restarted": "starts of the controller",
    "DiceChanged": "changes of dice",
    "LidRequested": "releases of the lid",
}
"""Event to the counter that it moves, see `meter_of`."""

MODES = {
    "camera_off": "rounds without the camera",
    "manual_shaker": "rounds with a manual shaker",
    "by_eye": "rounds by eye",
}
"""What a round's record says of how it was played, to the counter that it moves."""

ROUTINE = frozenset(
    {
        *("BetsRequested", "NoMoreBetsCalled", "ActivationRequested", "RevealRequested"),
        *("ValuesConfirmed", "WagersSettled", "LampsOffRequested"),
    }
)
"""What a dealer does in every round; everything else that a person does stands on the sheet."""


CLOSING_INSPECTION = (
    "the table is closed for play and its lamps are dark",
    "the compartment is locked; three dice lie in it, or they are removed",
    "the cover, seals and cables are whole",
    "no round is unfinished; the last round of this sheet is the last round played",
)
"""What two persons look at when a table closes. They sign on paper: no contact sees it."""


ANSWERS = frozenset({"DiceKept", "DiceChanged"})
"""What a named person says after an opening."""


def _happened(step: Mapping[str, Any]) -> str:
    """Event of an accepted step; none where the first of two persons names other dice: that moves
    no counter, and has not answered for the opening."""
    kind = str(step["event"]["type"])
    return "" if kind == "DiceChanged" and not other_dice(step) else kind


def meter_of(step: Mapping[str, Any]) -> str | None:
    """Return the counter that an accepted step's record moves."""
    return METERS.get(_happened(step))


@frozen
class SheetLine:
    """One thing that stands on the sheet by itself."""

    wall: str
    what: str
    """An event's or an ending's name, as the journal has it."""
    persons: tuple[str, ...] = ()
    """`name (role, number)`."""
    detail: str = ""


RULES_CHANGED = "rules_changed"
"""Kind of the record that other rules hold from now on."""


@dataclass
class DaySheet:
    """The count of the records taken so far."""

    first: int = 0
    last: int = 0
    """Sequence numbers of the first and the last record."""
    records: int = 0
    """How many there are; fewer than from `first` to `last` where the clock was set meanwhile."""
    notes: list[str] = field(default_factory=list)
    """Why they may not be all that was recorded on the day; set by whoever looks them up."""
    damage: str = ""
    """What does not fit the chain; empty where all of it holds."""
    began: str = ""
    ended: str = ""
    """Wall time of the first and of the last record."""
    head: str = ""
    """Hash of the last record: with this sheet on paper, nobody rewrites the day."""
    rounds: list[int] = field(default_factory=list)
    endings: Counter[str] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)
    """On whose word the values of settled rounds rest."""
    meters: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    exceptions: list[SheetLine] = field(default_factory=list)
    """Rounds without a result, settled by hand, decided in a dispute, or corrected."""
    acts: list[SheetLine] = field(default_factory=list)
    openings: list[SheetLine] = field(default_factory=list)
    """Openings of the compartment, with who released the lid or then said which dice are in it:
    a key names nobody, and no table opens again before a person has said so."""
    marks: set[str] = field(default_factory=set)
    under: list[str] = field(default_factory=list)
    """The rules that the rounds name, in their order."""
    _releasing: tuple[str, ...] = ()

    def take(self, plain: Plain, chain: str = "") -> None:
        """Count one record. `chain` is its hash."""
        self.records += 1
        self.first = self.first or plain["sequence"]
        self.began = self.began or plain["wall"]
        self.last, self.ended, self.head = plain["sequence"], plain["wall"], chain
        if plain["kind"] != "step":
            if by := by_command(plain):
                what, who = plain["kind"].replace("_", " "), named(by)
                self.acts.append(SheetLine(plain["wall"], what, (who,), plain["reason"]))
            elif plain["kind"] == RULES_CHANGED:
                self.acts.append(SheetLine(plain["wall"], "rules changed", (), plain["note"]))
            return
        try:
            ended, raised = list(ended_by(plain)), raised_by(plain)
        except NOT_UNDERSTOOD:
            self.notes.append(f"record {self.last} is not understood, and not counted")
            return
        self.marks |= set(plain.get("marks", ()))
        if (under := plain.get(UNDER)) and under not in self.under:
            self.under.append(under)
        event = plain["event"]
        if (meter := meter_of(plain)) is not None:
            self.meters[meter] += 1
        self._count(event, plain["wall"], answers=_happened(plain) in ANSWERS)
        for one in ended:
            self._round(one, plain["wall"])
        self.faults.update(code for _, code in raised)

    def _count(self, event: Plain, wall: str, *, answers: bool) -> None:
        kind, who = event["type"], tuple(map(named, persons(event)))
        if kind == "LidRequested":
            self._releasing = who
        if kind == "CompartmentOpened":
            self.openings.append(SheetLine(wall, kind, self._releasing))
            self._releasing = ()
        if answers:
            self.openings = [each if each.persons else replace(each, persons=who)
                             for each in self.openings]  # fmt: skip
        if who and kind not in ROUTINE:
            self.acts.append(SheetLine(wall, kind, who, _said(event)))

    def _round(self, ended: Round, wall: str) -> None:
        self.rounds.append(ended.number)
        for mode, meter in MODES.items():
            if getattr(ended, mode):
                self.meters[meter] += 1
        self.endings[ended.ending or ""] += 1
        if ended.source:
            self.sources[ended.source] += 1
        is_decided = ended.source == "decided"
        if ended.ending != "settled" or is_decided or ended.corrected_by or ended.by_eye:
            values = " ".join(map(str, ended.values or ()))
            codes = (ended.source, ended.cause, ended.wagers)
            told = [values, *(worded(code or "") for code in codes)]
            if ended.corrected_by:
                told.append(f"corrected from {ended.withdrawn}")
            if ended.by_eye:
                told.append(f"by eye, {read_late(ended)}")
            detail = ", ".join(filter(None, told))
            by = tuple(map(named, ended.corrected_by))
            what = f"round {ended.number}: {ended.ending}"
            self.exceptions.append(SheetLine(wall, what, by, detail))


def read_late(ended: Round) -> str:
    """What the reader said of a round by eye, once the dealer had entered."""
    if ended.late is None:
        return "never read"
    read = values_of(ended.late.get("values"))
    is_same = sorted(read or ()) == sorted(ended.values or ())
    return f"read after it was entered: {result(read)}, {'the same' if is_same else 'another'}"


def named(person: Named) -> str:
    """Return `name (role, number)`; records of versions that knew names alone have no number."""
    return f"{person.name} ({person.role}{f', {person.number}' if person.number else ''})"


def by_command(plain: Mapping[str, Any]) -> Named | None:
    """Return who signed a record with a command, not at a console; None: nobody.

    Such are the removal of volumes, the clearing of a seal and the adoption of a lamp box.
    """
    by = plain.get("by")
    if isinstance(by, str):
        return Named(by, str(plain.get("role")), plain.get("number") or "")
    return Named(by["name"], by["role"], by.get("number") or "") if isinstance(by, dict) else None


def _said(event: Plain) -> str:
    """What an act holds beside persons: a round, values, a part, serials."""
    held = (
        f"{key} {worded(value)}"
        for key, value in event.items()
        if key not in ("type", "at") and not isinstance(value, dict) and value not in (None, "", [])
    )
    return ", ".join(held)


def worded(value: Any) -> str:
    """A value that a record holds, for people: `yes`, `1 4 5`, `not flat`; a serial as it is."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(map(str, value))
    return str(value).replace("_", " ")
