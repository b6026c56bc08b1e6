"""The day sheet on paper: eighty columns of plain text, to be printed and signed.

Owns how it looks. What is counted is `journal.day_sheet`'s.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, tzinfo

from shaker_ctl.journal.day_sheet import CLOSING_INSPECTION, DaySheet, Line, words_of

WIDTH = 80

INDENT = " " * len("  12:00:00  ")

LINE = "_" * 28


def sheet(
    day: str,
    table: str,
    found: DaySheet,
    worn: Sequence[str] = (),
    zone: tzinfo | None = None,
) -> str:
    """Return the sheet. `worn`: lines on the life of parts; `zone`: of the times, None for the
    machine's own.
    """
    parts = [
        f"DAY SHEET  {table}",
        f"day {day}, printed for signature",
        *(f"** {mark} **" for mark in sorted(found.marks)),
        "",
        *_head(found, zone),
        "",
        *_rounds(found),
        *_list(
            "Rounds without a result, settled by hand, decided or corrected", found.exceptions, zone
        ),
        *_list("Compartment opened (sign beside it where nobody is named)", found.openings, zone),
        *_list("Who did what", found.acts, zone),
        *_counted("Counters", {**found.meters}),
        *_counted("Faults raised", {**found.faults}),
        *(["Life of parts", *(f"  {line}" for line in worn), ""] if worn else []),
        "Closing inspection",
        *(f"  [ ] {each}" for each in CLOSING_INSPECTION),
        "",
        f"  dealer       {LINE}   time {'_' * 10}",
        f"  floorperson  {LINE}   time {'_' * 10}",
    ]
    return "\n".join(part for line in parts for part in _fitted(line.rstrip())) + "\n"


def _fitted(line: str) -> list[str]:
    """The line, or the lines that it takes: what is too long goes on below its words."""
    return textwrap.wrap(line, WIDTH, subsequent_indent=INDENT, break_on_hyphens=False) or [""]


def _head(found: DaySheet, zone: tzinfo | None) -> Iterator[str]:
    if not found.last:
        yield "No record of this day."
        return
    yield f"records {found.first} to {found.last}"
    yield f"from {_time(found.began, zone)} to {_time(found.ended, zone)}"
    yield f"head  {found.head}"


def _rounds(found: DaySheet) -> Iterator[str]:
    numbers = f", numbers {found.rounds[0]} to {found.rounds[-1]}" if found.rounds else ""
    yield f"Rounds {len(found.rounds)}{numbers}"
    for ending, count in sorted(found.endings.items()):
        yield f"  {ending.replace('_', ' '):34} {count:6}"
    for source, count in sorted(found.sources.items()):
        yield f"  {f'values {source}':34} {count:6}"
    yield ""


def _counted(title: str, counts: dict[str, int]) -> Iterator[str]:
    yield title
    for name, count in sorted(counts.items()):
        yield f"  {name:34} {count:6}"
    if not counts:
        yield "  none"
    yield ""


def _list(title: str, lines: Iterable[Line], zone: tzinfo | None) -> Iterator[str]:
    yield title
    empty = True
    for line in lines:
        empty = False
        who = ", ".join(line.persons) or (LINE if line.what == "CompartmentOpened" else "")
        words = "  ".join(part for part in (words_of(line.what), who, line.detail) if part)
        yield f"  {_time(line.wall, zone)[11:19]}  {words}"
    if empty:
        yield "  none"
    yield ""


def _time(wall: str, zone: tzinfo | None) -> str:
    return datetime.fromisoformat(wall).astimezone(zone).isoformat(" ", "seconds")
