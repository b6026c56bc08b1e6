"""Rounds and their records on a screen: the last ones, one as it went, and who did what."""

from __future__ import annotations

import collections
import json
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Column, Table
from rich.text import Text

from shaker_ctl.adapters.disk.dispute_list import DisputeList
from shaker_ctl.adapters.disk.follower import Follower
from shaker_ctl.adapters.disk.picture_folder import recorded_picture
from shaker_ctl.commands.default_config import DEFAULT_CONFIG
from shaker_ctl.commands.journal.book import AsJson, Config, Journal, opened, screen
from shaker_ctl.commands.journal.day_sheet import day_named
from shaker_ctl.commands.journal.export import with_hash
from shaker_ctl.errors import RefusedError
from shaker_ctl.journal.history import Round, round_of
from shaker_ctl.journal.record import Head, Record
from shaker_ctl.quoting import visible
from shaker_ctl.view.archive import is_of_people, told, who

FOLLOW_S = 0.5
"""Between two looks at what has come."""


def last(
    count: Annotated[int, typer.Argument(help="How many rounds.", min=1)] = 10,
    config: Config = DEFAULT_CONFIG,
    journal: Journal = None,
    as_json: AsJson = False,
) -> None:
    """Show the last rounds, the incomplete one included (O-7)."""
    with opened(config, journal) as book:
        numbers = book.store.last_rounds(count)
        rounds = [round_of(book.round(number), number) for number in numbers]
        if len(rounds) < count or rounds[0].first < book.first:
            book.say_what_is_left_out()
        if rounds:  # what lies between may be a round that no longer says so
            collections.deque(book.all(first=max(rounds[0].first, book.first)), maxlen=0)
        if as_json:
            typer.echo(json.dumps([_summary(one) for one in rounds], indent=2))
            return
        _draw_marks(mark for one in rounds for mark in one.marks)
        names = ("round", "began (UTC)", "values", "named by", "ending", "wagers", "cause")
        table = Table(*names, title=f"last {len(rounds)} rounds")
        for one in rounds:
            table.add_row(
                visible(one.number),
                visible(one.began[:19].replace("T", " ")),
                " ".join(map(str, one.values or "-")),
                _words(one.source),
                _words(one.ending) if one.ending else Text("unfinished", "yellow"),
                _words(one.wagers),
                _words(one.cause),
            )
        screen.print(table)


def _words(name: str | None) -> str:
    """A record's name for people: `settled_by_hand` is `settled by hand`."""
    return visible(name or "-").replace("_", " ")


def _summary(told: Round) -> dict[str, Any]:
    facts = ("began", "ended", "values", "source", "ending", "wagers", "cause", "marks")
    records = [told.first, told.last]
    return {"round": told.number, "records": records, **{x: getattr(told, x) for x in facts}}


def _draw_marks(marks: Iterable[str]) -> None:
    for mark in dict.fromkeys(marks):
        screen.print(visible(f"** {mark} **"), soft_wrap=True)


def show(
    number: Annotated[int, typer.Argument(metavar="ROUND", help="Number of the round.")],
    config: Config = DEFAULT_CONFIG,
    journal: Journal = None,
    as_json: AsJson = False,
    raw: Annotated[bool, typer.Option("--raw", help="Every field of every record.")] = False,
) -> None:
    """Tell one round: when what happened, who did it, how it ended, its pictures."""
    with opened(config, journal) as book:
        records = book.round(number)
        if not records:
            raise book.unknown_round(number)
        if as_json:
            typer.echo(json.dumps([with_hash(record) for record in records], indent=2))
            return
        one = round_of(records, number)
        _draw_marks(one.marks)
        began = datetime.fromisoformat(one.began).astimezone()
        title = f"round {number}, {began:%Y-%m-%d}, local time"
        screen.print(_raw(records, title) if raw else _in_words(records, title))
        _draw_evidence(one, records[-1], book.parameters.pictures)


def _in_words(records: list[Record], title: str) -> Table:
    columns = (Column("time", no_wrap=True), Column("record", no_wrap=True))
    table = Table(*columns, "what", title=title, box=None)
    for record in records:
        line = told(record.plain)
        at = datetime.fromisoformat(record.plain["wall"]).astimezone()
        table.add_row(f"{at:%H:%M:%S.%f}"[:-3], str(line.sequence), visible(line.text))
    return table


def _raw(records: list[Record], title: str) -> Table:
    table = Table(title=title)
    for name in ("record", "seconds", "event", "decided"):
        table.add_column(name, overflow="fold")
    began = records[0].plain["monotonic"]
    for record in records:
        plain = record.plain
        table.add_row(
            str(plain["sequence"]),
            f"{plain['monotonic'] - began:.3f}",
            worded(plain.get("event", {"type": plain["kind"]})),
            "\n".join(worded(command) for command in plain.get("decision", ())),
        )
    return table


def _draw_evidence(told: Round, last: Record, folder: Path) -> None:
    """Digests, pictures and disputes of a round."""
    if told.under:
        screen.print(visible(f"{'rules':10} {told.under}"), soft_wrap=True)
    screen.print(visible(f"{'chain':10} {last.hash.hex()}"))
    for name, digest in sorted(last.plain["digests"].items()):
        screen.print(visible(f"{name:10} {digest}"))
    for _, file, sha256 in told.pictures:
        said = visible(f"picture    {folder / file}{_standing(folder, file, sha256)}")
        screen.print(said, soft_wrap=True)
    for act in DisputeList(folder).acts():
        if act.round == told.number:
            what = "opened" if act.is_open else "settled"
            said = visible(f"dispute    {what} {act.wall} by {act.by}: {act.reason}")
            screen.print(said, soft_wrap=True)


def _standing(folder: Path, file: str, sha256: str) -> str:
    """What there is to say of a picture beside its name."""
    try:
        recorded_picture(folder, file, sha256)
    except OSError:
        return " (no longer kept)"
    except RefusedError:
        return " (NOT as its record has it)"
    return ""


def worded(plain: dict[str, Any]) -> str:
    """An event or command in one line: its name, then its fields."""
    fields = " ".join(
        f"{key}={_short(value)}"
        for key, value in plain.items()
        if key not in ("type", "occasion") and value not in (None, "", [])
    )
    return visible(f"{plain.get('type', '')} {fields}".strip())


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return "(" + worded(value) + ")"
    if isinstance(value, list):
        return ",".join(_short(item) for item in value)
    return str(value)


def from_now_on(path: Path, head: Head) -> Iterator[Record]:
    """Yield each record behind `head` as it comes. Raises JournalError."""
    with closing(Follower(path, head if head.sequence else None)) as follower:
        while True:
            yield from follower.take()
            time.sleep(FOLLOW_S)


def events(
    wanted: Annotated[str, typer.Option("--day", help="Gaming day, as 2026-11-23.")] = "",
    name: Annotated[str, typer.Option("--who", help="What this person did.")] = "",
    kind: Annotated[
        str, typer.Option(help="Whose words hold this: signed, dice, login, fault ...")
    ] = "",
    number: Annotated[int | None, typer.Option("--round", help="Of this round.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Steps of the table itself, too.")] = False,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="What happens from now on, until Ctrl-C.")
    ] = False,
    config: Config = DEFAULT_CONFIG,
    journal: Journal = None,
    as_json: AsJson = False,
) -> None:
    """Tell who did what, how rounds ended, faults, starts and stops, in the console's words."""
    of = day_named(wanted) if wanted else ""
    is_found = follow
    with opened(config, journal) as book:
        past = book.of_day(of) if of else book.kept()
        for record in from_now_on(book.store.path, book.store.head()) if follow else past:
            plain = record.plain
            line = told(plain)
            if (
                (every or is_of_people(plain))
                and name in ("", who(plain))
                and kind.lower() in line.text.lower()
                and number in (None, plain.get("round"))
            ):
                is_found = True
                at = datetime.fromisoformat(plain["wall"]).astimezone()
                shown = f"{at:%Y-%m-%d %H:%M:%S %Z} {line.sequence:>7} {line.kind:<9} {line.text}"
                typer.echo(json.dumps(asdict(line)) if as_json else visible(shown))
    if not is_found:
        more = "" if every else "; --all also looks at the steps of the table itself"
        typer.echo(f"no record of the journal fits{more}", err=True)
