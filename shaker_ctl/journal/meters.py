"""Counters since they were last cleared: rounds, how they ended, openings, stops, starts, faults.

Owns which record moves which counter, and which one clears them all. The counts live in the tables
beside the chain and follow from the chain alone: clearing takes nothing away from the record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import compress
from typing import Any

from shaker_ctl.frozen import frozen
from shaker_ctl.journal.day_sheet import METERS, meter_of
from shaker_ctl.journal.history import disputes, ended_by, interrupts, raised_by

CLEARED = "meters cleared"
"""Note of the console's record that begins a new count: `by` names both persons."""

ENDINGS = {
    "void": "void rounds",
    "no_roll": "no rolls",
    "not_started": "rounds not started",
    "settled_by_hand": "rounds settled by hand",
}
"""Ending of a round to its counter, beside that of all rounds."""

PERSONS_WORD = ("rounds by eye", "rounds decided", "rounds corrected")
"""Rounds whose result rests on what people said."""

FAULTS = {kind: f"{kind} faults" for kind in ("shaker", "lamp", "reader", "controller")}
"""Kind of a fault that was raised to its counter."""

SEAL = "seal faults"
DISPUTED, INTERRUPTED = "disputes", "starts in a round"

WORDS = ("RecordRound", "RaiseFault", '"dispute"', CLEARED, *METERS)
"""A record moves or clears a counter only if one of these stands in its bytes."""

NAMES = (
    *("rounds", *ENDINGS.values(), *PERSONS_WORD, DISPUTED, INTERRUPTED),
    *(*METERS.values(), *FAULTS.values(), SEAL),
)
"""Every counter, in the order in which people read them."""


@frozen
class Meters:
    """The counters up to one record."""

    counts: Mapping[str, int]
    """One number for each of `NAMES`."""
    sequence: int
    """Of the newest record that is counted."""
    since: str = ""
    """Wall time of the last clearing; empty where there was none."""
    cleared_by: str = ""
    """Both persons of the last clearing."""


def moved(plain: Mapping[str, Any]) -> Iterator[str]:
    """Yield each counter that a record moves by one."""
    if plain["kind"] != "step":  # a refused event changed nothing
        return
    if (name := meter_of(plain)) is not None:
        yield name
    yield from compress((DISPUTED, INTERRUPTED), (disputes(plain), interrupts(plain)))
    for kind, code in raised_by(plain):
        yield SEAL if code.startswith("seal") else FAULTS[kind]
    for one in ended_by(plain):
        yield "rounds"
        if (name := ENDINGS.get(one.ending or "")) is not None:
            yield name
        rests = (one.by_eye, one.source == "decided", one.corrected_by)
        yield from compress(PERSONS_WORD, rests)


def clears(plain: Mapping[str, Any]) -> bool:
    """True for the record of two persons that begins a new count."""
    return plain["kind"] == "console" and plain.get("note") == CLEARED
