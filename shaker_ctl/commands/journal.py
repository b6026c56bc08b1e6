"""`shaker-ctl journal`: what the table remembers, and whether it can be believed.

Reads the files themselves; the service may run or not. Six commands write: `rebuild` a copy of
the journal, `fetch` and `remove` volumes of it, which they refuse while a service runs; `archive`
files of its folder; `dispute` a line of `disputes.jsonl`, beside the pictures; `export` the
three files of its folder.

What is read is held against the chain on the way: a record that does not fit is shown as far as it
can be, and named in the error with which the command ends (status 65).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from shaker_ctl import settings as settings_file
from shaker_ctl.adapters.disk.dispute_list import Dispute, DisputeList
from shaker_ctl.adapters.disk.journal_copies import open_copies, survey
from shaker_ctl.adapters.disk.journal_copies import rebuild as rebuild_copy
from shaker_ctl.adapters.disk.record_tables import TablesReader, place
from shaker_ctl.adapters.disk.sqlite_journal import SqliteJournal, volume_numbers
from shaker_ctl.adapters.disk.volume_archive import archive as archive_volumes
from shaker_ctl.adapters.disk.volume_archive import delete, removable, require_archived
from shaker_ctl.adapters.disk.volume_archive import fetch as fetch_volumes
from shaker_ctl.commands.default_config import DEFAULT_CONFIG
from shaker_ctl.commands.journal_day import sheet as draw_sheet
from shaker_ctl.commands.journal_export import (
    closings,
    moment,
    verify_export,
    with_hash,
    write_export,
)
from shaker_ctl.commands.link import LINK_CONFIG
from shaker_ctl.commands.plain_text import visible
from shaker_ctl.commands.service_user import become_owner_of
from shaker_ctl.errors import JournalCorruptError, RefusedError, ShakerError
from shaker_ctl.journal import volume
from shaker_ctl.journal.day_sheet import DaySheet
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.parts import lives
from shaker_ctl.journal.record import Chain, Head, Record
from shaker_ctl.journal.volume import gaming_day
from shaker_ctl.link.parameters import LinkParameters
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.vocabulary import Role
from shaker_ctl.service.last_end import OPENING
from shaker_ctl.view.archive import is_of_people, told, who

if TYPE_CHECKING:
    from shaker_ctl.journal.replay import Difference
    from shaker_ctl.rules.rulebook import Rulebook

app = typer.Typer(
    no_args_is_help=True,
    help="The table's journal: its last rounds, one round, proof, disputes, export, figures.",
)
screen = Console(markup=False, emoji=False)
"""Prints people's words, file names and what a damaged record holds: as they stand."""

Config = Annotated[Path, typer.Option(help="Settings file of the table, which names the journal.")]
Journal = Annotated[
    Path | None, typer.Option("--journal", help="A journal file, instead of the settings' one.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Plain JSON instead of a table.")]

# ── Looking ─────────────────────────────────────────────────────────────────


@app.command()
def last(
    count: Annotated[int, typer.Argument(help="How many rounds.", min=1)] = 10,
    config: Config = DEFAULT_CONFIG,
    journal: Journal = None,
    as_json: AsJson = False,
) -> None:
    """Show the last rounds, the incomplete one included (O-7)."""
    with _opened(_parameters(config, journal)) as book:
        rounds = [_summary(number, book) for number in book.store.last_rounds(count)]
        if as_json:
            typer.echo(json.dumps(rounds, indent=2))
            return
        table = Table(title=f"last {len(rounds)} rounds")
        for name in (
            *("round", "began (UTC)", "values", "named by"),
            *("ending", "wagers", "cause"),
        ):
            table.add_column(name)
        for row in rounds:
            values = "-" if row["values"] is None else " ".join(map(str, row["values"]))
            table.add_row(
                visible(row["round"]),
                visible(row["began"][:19].replace("T", " ")),
                visible(values),
                _words(row["source"]),
                _words(row["ending"]) if row["ending"] else Text("unfinished", "yellow"),
                _words(row["wagers"]),
                _words(row["cause"]),
            )
        screen.print(table)


def _words(name: str | None) -> str:
    """A record's name for people: `settled_by_hand` is `settled by hand`."""
    return visible(name or "-").replace("_", " ")


def _summary(number: int, book: _Book) -> dict[str, Any]:
    records = [record.plain for record in book.round(number)]
    closed = next((c for plain in records for c in closings(plain) if c["round"] == number), {})
    return {
        "round": number,
        "began": records[0]["wall"],
        "ended": records[-1]["wall"],
        "records": [records[0]["sequence"], records[-1]["sequence"]],
        **{key: closed.get(key) for key in ("values", "source", "ending", "wagers", "cause")},
    }


@app.command()
def show(
    number: Annotated[int, typer.Argument(metavar="ROUND", help="Number of the round.")],
    config: Config = DEFAULT_CONFIG,
    journal: Journal = None,
    as_json: AsJson = False,
    raw: Annotated[bool, typer.Option("--raw", help="Every field of every record.")] = False,
) -> None:
    """Tell one round: when what happened, who did it, how it ended, its pictures."""
    parameters = _parameters(config, journal)
    with _opened(parameters) as book:
        records = book.round(number)
        if not records:
            raise RefusedError(
                f"the journal {parameters.path} knows no round {number}",
                remedy="shaker-ctl journal last shows which there are",
            )
        if as_json:
            typer.echo(json.dumps([with_hash(record) for record in records], indent=2))
            return
        began = datetime.fromisoformat(records[0].plain["wall"]).astimezone()
        title = f"round {number}, {began:%Y-%m-%d}, local time"
        screen.print(_raw(records, title) if raw else _in_words(records, title))
        _draw_evidence(number, records, parameters.pictures)


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
            _worded(plain.get("event", {"type": plain["kind"]})),
            "\n".join(_worded(command) for command in plain.get("decision", ())),
        )
    return table


def _draw_evidence(number: int, records: list[Record], folder: Path) -> None:
    """Digests, pictures and disputes of a round."""
    last = records[-1]
    screen.print(visible(f"{'chain':10} {last.hash.hex()}"))
    for name, digest in sorted(last.plain["digests"].items()):
        screen.print(visible(f"{name:10} {digest}"))
    for name in (saved["file"] for each in records for saved in each.plain["pictures"].values()):
        path = folder / name
        kept = "" if path.exists() else " (no longer kept)"
        screen.print(f"picture    {visible(path)}{kept}")
    for act in DisputeList(folder).acts():
        if act.round == number:
            what = "opened" if act.is_open else "settled"
            said = visible(f"dispute    {what} {act.wall} by {act.by}: {act.reason}")
            screen.print(said, soft_wrap=True)


def _worded(plain: dict[str, Any]) -> str:
    """An event or command in one line: its name, then its fields."""
    fields = " ".join(
        f"{key}={_short(value)}"
        for key, value in plain.items()
        if key not in ("type", "occasion") and value not in (None, "", [])
    )
    return visible(f"{plain.get('type', '')} {fields}".strip())


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return "(" + _worded(value) + ")"
    if isinstance(value, list):
        return ",".join(_short(item) for item in value)
    return str(value)


@app.command(name="events")
def events_command(
    wanted: Annotated[str, typer.Option("--day", help="Gaming day, as 2026-11-23.")] = "",
    name: Annotated[str, typer.Option("--who", help="What this person did.")] = "",
    kind: Annotated[
        str, typer.Option(help="Whose words hold this: signed, dice, login, fault ...")
    ] = "",
    number: Annotated[int | None, typer.Option("--round", help="Of this round.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Steps of the table itself, too.")] = False,
    config: Config = DEFAULT_CONFIG,
    journal: Journal = None,
    as_json: AsJson = False,
) -> None:
    """Tell who did what, how rounds ended, faults, starts and stops, in the console's words."""
    parameters = _parameters(config, journal)
    of = _day(wanted) if wanted else ""
    is_found = False
    with _opened(parameters) as book:
        for record in book.around(of) if of else book.all():
            plain = record.plain
            line = told(plain)
            if (
                (every or is_of_people(plain))
                and name in ("", who(plain))
                and kind.lower() in line.text.lower()
                and number in (None, plain.get("round"))
                and (not of or _day_of(plain["wall"], parameters.day_begins) == of)
            ):
                is_found = True
                at = datetime.fromisoformat(plain["wall"]).astimezone()
                shown = f"{at:%Y-%m-%d %H:%M:%S} {line.sequence:>7} {line.kind:<9} {line.text}"
                typer.echo(json.dumps(asdict(line)) if as_json else visible(shown))
    if not is_found:
        more = "" if every else "; --all also looks at the steps of the table itself"
        typer.echo(f"no record of the journal fits{more}", err=True)


@app.command()
def day(
    wanted: Annotated[
        str | None, typer.Argument(metavar="[DAY]", help="As 2026-11-23. Default: the last one.")
    ] = None,
    config: Config = DEFAULT_CONFIG,
    journal: Journal = None,
    as_json: AsJson = False,
) -> None:
    """Print the day sheet: rounds, exceptions, who signed what, counters, closing inspection.

    Eighty columns of plain text: print it, have it signed, keep it. It carries the head of the
    chain, so that a journal which was rewritten later does not fit it. The day begins at
    `journal.day_begins`, local time.
    """
    parameters = _parameters(config, journal)
    with _opened(parameters) as book:
        sheet, of = DaySheet(), _day(wanted) if wanted else _last_day(book, parameters.day_begins)
        for record in book.around(of):
            plain = record.plain
            if _day_of(plain["wall"], parameters.day_begins) == of:
                sheet.take(plain, record.hash.hex())
        if as_json:
            typer.echo(json.dumps(_plain(sheet, of), indent=2))
        else:
            worn = _lives(config, journal, book)
            typer.echo(draw_sheet(of or "-", _table(config, journal), sheet, worn), nl=False)


def _day(words: str) -> str:
    try:
        return date.fromisoformat(words).isoformat()
    except ValueError as error:
        raise RefusedError(
            f"{words!r} is no day", remedy="Give it as 2026-11-23, or leave it out"
        ) from error


def _day_of(wall: str, begins: time) -> str:
    return gaming_day(datetime.fromisoformat(wall).astimezone(), begins)


def _last_day(book: _Book, begins: time) -> str:
    last = list(book.store.read(book.store.head().sequence))
    return _day_of(last[0].plain["wall"], begins) if last else ""


def _table(config: Path, journal: Path | None) -> str:
    """Name the table on the sheet, or the journal that was named instead."""
    if journal is not None:
        return str(journal)
    settings = settings_file.load(config)
    return f"{settings.service.table_name}, {settings.table.profile}"


def _lives(config: Path, journal: Path | None, book: _Book) -> list[str]:
    """Say how worn the parts are; nothing where a journal was named instead of a table."""
    if journal is not None:
        return []
    p = settings_file.load(config).parts
    tables = TablesReader(place(book.store.path))
    dice = tables.worn(book.store.head().sequence)
    motor = tables.shaken(book.first_of(p.motor_fitted))
    cam = tables.shaken(book.first_of(p.cam_fitted))
    if dice is None or motor is None or cam is None:
        return ["not counted: the service has not brought its tables up to date"]
    return list(lives(p, motor, cam, dice))


def _plain(sheet: DaySheet, of: str) -> dict[str, Any]:
    lines = {
        name: [asdict(line) for line in getattr(sheet, name)]
        for name in ("exceptions", "openings", "acts")
    }
    told = {name: value for name, value in vars(sheet).items() if not name.startswith("_")}
    return {"day": of or None, **told, **lines, "marks": sorted(sheet.marks)}


# ── Proving ─────────────────────────────────────────────────────────────────


@app.command()
def verify(
    export: Annotated[
        Path | None, typer.Argument(metavar="[FOLDER]", help="An export, instead of the journal.")
    ] = None,
    config: Config = DEFAULT_CONFIG,
    journal: Journal = None,
) -> None:
    """Walk both copies, or an export, record by record, and name the first bad one.

    Ends with status 65 where a person has to decide. That the head of an export is the table's own
    says its day sheet, or the lamp box: compare it.
    """
    if export is not None:
        head = verify_export(export)
        screen.print(f"{export}: whole; head {head.sequence} {head.hash.hex()}", soft_wrap=True)
        return
    parameters = _parameters(config, journal)
    heads, findings = survey(parameters)
    for path, head in heads:
        screen.print(f"{path}: {head.sequence} records, head {head.hash.hex()}")
    store = SqliteJournal(parameters.path, read_only=True)
    if gone := len(store.closed) - len(store.present):
        screen.print(f"{gone} closed volumes were removed; their archive holds them")
    store.close()
    for finding in findings:
        colour = "red" if finding.halts else "yellow"
        found = Text.assemble((finding.trouble.value, colour), f": {finding.line()}")
        screen.print(found, soft_wrap=True)
    worst = next((finding for finding in findings if finding.halts), None)
    if worst is not None:
        raise JournalCorruptError(worst.text, remedy=worst.remedy)
    screen.print("the chain is whole", style="green")


@app.command(name="replay")
def replay_command(
    pictures: Annotated[bool, typer.Option(help="Read the stored frames again as well.")] = True,
    config: Config = DEFAULT_CONFIG,
    journal: Journal = None,
    as_json: AsJson = False,
) -> None:
    """Decide every recorded event again by today's rules, read every stored frame again by
    today's reader, and list what would differ. A journal given with --journal brings its own
    settings of play, where --config names none.

    A verdict rests on several frames, of which one is stored: frames of verdicts that gave a value
    or a no roll are compared, those of an unreadable toss are only read and counted. Ends with
    status 1 where anything differs.
    """
    from shaker_ctl.journal.replay import replay
    from shaker_ctl.rules import machine
    from shaker_ctl.rules.record import to_record
    from shaker_ctl.rules.rulebook import rulebook

    parameters = _parameters(config, journal)
    has_settings = journal is None or config.exists()
    with _opened(parameters) as book:
        rules = rulebook(settings_file.load(config).table if has_settings else _as_played(book))
        found = replay(book.all(), _decide(rules), to_record(machine.initial(rules)))
        frames, refused = 0, ""
        if pictures and not has_settings:
            refused = "; no frame was read again: that takes the settings' calibration (--config)"
        elif pictures:
            from shaker_ctl.commands.reread import reread

            again = reread(book.all(), parameters.pictures, config)
            found.differences += again.differences
            frames = again.frames
            if again.refused:
                refused = (
                    f"; {again.refused} frames of unreadable tosses, "
                    f"{again.refused_but_readable} of which today's reader reads alone"
                )
        if as_json:
            typer.echo(json.dumps([_plain_difference(d) for d in found.differences], indent=2))
        else:
            for difference in found.differences:
                screen.print(
                    f"record {difference.sequence}, round {difference.round}: {difference.what}\n"
                    f"  then {_told(difference.then)}\n  now  {_told(difference.now)}",
                    soft_wrap=True,
                )
            screen.print(
                f"{found.steps} decisions in {len(found.rounds)} rounds and {frames} frames, "
                f"{len(found.differences)} differences{refused}"
            )
    if found.differences:
        raise typer.Exit(1)


def _as_played(book: _Book) -> TableParameters:
    """The section [table] of the settings that a journal's last run was played with."""
    openings = [r.plain for r in book.all() if b'"kind":"%s"' % OPENING.encode() in r.body]
    for plain in reversed(openings):
        if "rules" in plain:
            return TableParameters.model_validate(plain["rules"])
    raise RefusedError(
        f"{book.store.path} does not say by which settings it was played",
        remedy="Give them with --config",
    )


def _decide(rules: Rulebook) -> Any:
    from shaker_ctl.journal.replay import Decided
    from shaker_ctl.rules import machine
    from shaker_ctl.rules.events import Event
    from shaker_ctl.rules.record import from_record, to_record
    from shaker_ctl.rules.state import TableState

    def decide(state: Any, event: Any) -> Decided:
        step = machine.step(from_record(state, TableState), from_record(event, Event), rules)
        return Decided(
            rows=[row.name for row in step.rows],
            decision=[to_record(command) for command in step.commands],
            state=to_record(step.state),
        )

    return decide


def _told(plain: Any) -> str:
    if isinstance(plain, list):
        return "; ".join(_worded(item) if isinstance(item, dict) else str(item) for item in plain)
    return _worded(plain) if isinstance(plain, dict) else str(plain)


def _plain_difference(difference: Difference) -> dict[str, Any]:
    return {
        "sequence": difference.sequence,
        "round": difference.round,
        "what": difference.what,
        "then": difference.then,
        "now": difference.now,
    }


# ── Handing on ──────────────────────────────────────────────────────────────


def _moment(words: str) -> datetime:
    try:
        return moment(words)
    except ValueError as error:
        raise typer.BadParameter(
            f"{words!r} is no time: write 2026-11-22, 2026-11-22T20:00 or 2026-11-22T20:00:00+05:00"
        ) from error


@app.command()
def export(
    folder: Annotated[
        Path, typer.Argument(help="Folder for records.jsonl, chain.json, rounds.csv.")
    ],
    since: Annotated[
        datetime | None,
        typer.Option(
            "--from",
            metavar="TIME",
            parser=_moment,
            help="From this day or time: 2026-11-22, 2026-11-22T20:00:00+05:00. "
            "Without an offset it is UTC.",
        ),
    ] = None,
    until: Annotated[
        datetime | None,
        typer.Option(
            "--to",
            metavar="TIME",
            parser=_moment,
            help="Before this day or time, written as for --from.",
        ),
    ] = None,
    config: Config = DEFAULT_CONFIG,
    journal: Journal = None,
) -> None:
    """Write the records of a time as JSON lines with their hashes, and the rounds as CSV.

    `shaker-ctl journal verify FOLDER` proves it anywhere; shaker_ctl/journal/README.md shows how to
    do that without this program.

    An earlier export in the folder is replaced when the new one is whole, and stays where the
    records do not verify or none is found.
    """
    if since is not None and until is not None and since >= until:
        raise RefusedError(
            f"--from {since.isoformat()} is not before --to {until.isoformat()}",
            remedy="Swap them; a time without an offset is UTC",
        )
    with _opened(_parameters(config, journal)) as book:
        before = book.store.head_before(1)
        count, rounds = write_export(folder, before, book.all(is_proved=True), since, until)
    screen.print(f"{count} records and {rounds} rounds in {folder}", soft_wrap=True)


@app.command()
def statistics(
    config: Config = DEFAULT_CONFIG, journal: Journal = None, as_json: AsJson = False
) -> None:
    """Count faces and pairs, and test them at 99 %, with the power that the sample reaches."""
    from shaker_ctl.commands.journal_statistics import draw
    from shaker_ctl.journal.statistics import figures

    with _opened(_parameters(config, journal)) as book:
        shown = figures(book.all())
        if as_json:
            typer.echo(json.dumps(shown, indent=2))
        else:
            draw(shown, screen)


# ── Disputes ────────────────────────────────────────────────────────────────


@app.command()
def dispute(
    number: Annotated[int, typer.Argument(metavar="ROUND", help="Number of the round.", min=1)],
    by: Annotated[str, typer.Option(help="Who opens or settles the dispute.")],
    reason: Annotated[str, typer.Option(help="What is disputed, or how it was settled.")],
    settled: Annotated[bool, typer.Option("--settled", help="The dispute is over.")] = False,
    config: Config = DEFAULT_CONFIG,
    journal: Journal = None,
) -> None:
    """Keep a round's pictures until its dispute is settled, whatever their quota says.

    Works while the table plays. The act is kept beside the pictures, in disputes.jsonl.
    """
    parameters = _parameters(config, journal)
    with _opened(parameters) as book:
        is_known = bool(book.store.read_round(number))
    become_owner_of(parameters.path.parent)
    disputes = DisputeList(parameters.pictures)
    if not settled and not is_known:
        raise RefusedError(
            f"the journal {parameters.path} knows no round {number}",
            remedy="shaker-ctl journal last shows which there are",
        )
    if settled and number not in disputes.open_rounds():
        raise RefusedError(
            f"no dispute is open on round {number}",
            remedy=f"Open are: {', '.join(map(str, sorted(disputes.open_rounds()))) or 'none'}",
        )
    now = datetime.now(UTC).isoformat(timespec="seconds")
    disputes.add(Dispute(number, not settled, by, reason, now))
    still = ", ".join(map(str, sorted(disputes.open_rounds()))) or "none"
    screen.print(f"open disputes: {still}")


# ── Mending ─────────────────────────────────────────────────────────────────


@app.command()
def rebuild(
    second: Annotated[bool, typer.Option("--second", help="Write the second copy anew.")] = False,
    main: Annotated[bool, typer.Option("--main", help="Write the main copy anew.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    config: Config = DEFAULT_CONFIG,
) -> None:
    """Write one copy of the journal anew from the other, which must be whole.

    What stood there is moved aside, never deleted.
    """
    parameters = settings_file.load(config).journal
    if main is second:
        raise RefusedError("say which copy to write anew", remedy="Give --second or --main")
    if parameters.second is None:
        raise RefusedError("the settings name no second copy", remedy="Set journal.second")
    copies = (parameters.second, parameters.path)
    source, target = copies if main else copies[::-1]
    if not yes:
        typer.confirm(f"Write {target} anew from {source}?", abort=True)
    become_owner_of(parameters.path.parent)
    head = rebuild_copy(parameters, main=main)
    screen.print(f"{target}: {head.sequence} records, head {head.hash.hex()}")


@app.command()
def archive(
    folder: Annotated[Path, typer.Argument(help="Folder on the medium that keeps the volumes.")],
    config: Config = DEFAULT_CONFIG,
    journal: Journal = None,
) -> None:
    """Bring every closed volume to another medium, read it back and verify it there.

    Works while the table plays. Nothing is deleted here, and nothing is written over there.
    """
    parameters = _parameters(config, journal)
    _require_there(parameters.path)
    count = 0
    for one in archive_volumes(parameters.path, folder):
        count += 1
        what = "brought and verified" if one.is_new else "there already, verified"
        screen.print(f"volume {one.number}: {what}: {visible(one.file)}", soft_wrap=True)
    if not count:
        screen.print("no volume is closed yet; the open one stays at the table")


@app.command()
def fetch(
    folder: Annotated[Path, typer.Argument(help="Folder of an archive, or of a whole copy.")],
    config: Config = DEFAULT_CONFIG,
) -> None:
    """Put whole volumes from an archive where one of a copy is missing or broken.

    The table must be stopped. A broken file is moved aside, never deleted.
    """
    parameters = settings_file.load(config).journal
    become_owner_of(parameters.path.parent)
    count = 0
    for one in fetch_volumes(parameters, folder):
        count += 1
        screen.print(f"volume {one.number}: fetched, verified: {visible(one.file)}", soft_wrap=True)
    if not count:
        screen.print("every closed volume of every copy is whole; nothing was fetched")


@app.command()
def remove(
    folder: Annotated[Path, typer.Argument(help="Folder of the archive that holds the volumes.")],
    before: Annotated[str, typer.Option(help="Gaming day, such as 2026-01-01; it stays.")],
    name: Annotated[str, typer.Option("--by", help="Your login name at this table's consoles.")],
    reason: Annotated[str, typer.Option(help="Why the volumes need not stay at the table.")],
    role: Annotated[Role, typer.Option(help="Technician or supervisor.")] = Role.TECHNICIAN,
    config: Config = DEFAULT_CONFIG,
) -> None:
    """Remove closed volumes from both copies, once an archive holds them whole. Recorded.

    The table must be stopped. Asks for your passphrase. Each volume is first read back from the
    archive and verified there. Volumes with a disputed round stay, and those that the floor has not
    committed. `fetch` brings removed ones back.
    """
    from shaker_ctl import sealed_start
    from shaker_ctl.commands.signing import require_mender

    chosen = settings_file.load(config)
    parameters = chosen.journal
    _day(before)
    require_mender(chosen.console.users_file, name, role, reason, "remove volumes")
    become_owner_of(parameters.path.parent)
    disputed = DisputeList(parameters.pictures).open_rounds()
    opened = open_copies(parameters)
    try:
        acknowledged = _acknowledged(opened.main)
        going, staying = removable(opened, before, disputed, acknowledged)
        for kept in staying:
            screen.print(f"volume {kept.number} stays: {kept.why}")
        require_archived(opened.main, going, folder)
        if not going:
            screen.print("no volume is removed")
            return
        by = {"name": name, "role": role.value}
        numbers = [one.number for one in going]
        sealed_start.write(opened, volume.removal(numbers, str(folder), by, reason))
        delete(opened, going)
    finally:
        opened.close()
    screen.print(
        f"{len(going)} volumes are removed, up to record {going[-1].last}; "
        f"{visible(folder)} holds them, verified",
        soft_wrap=True,
    )


def _acknowledged(journal: SqliteJournal) -> int | None:
    """The last record of this journal that the floor has committed, 0 where the floor holds another
    history; None where this table has no floor."""
    if not LINK_CONFIG.exists():
        return None
    stands = settings_file.parse_file(LINK_CONFIG, LinkParameters).runtime_dir / "floor.json"
    try:
        said = json.loads(stands.read_text("utf-8"))
        head = Head(int(said["acknowledged"]), bytes.fromhex(said["acknowledged_hash"]))
    except (OSError, ValueError, TypeError, KeyError):
        return 0
    is_of_this = head.sequence <= journal.head().sequence
    return head.sequence if is_of_this and journal.head_before(head.sequence + 1) == head else 0


# ── Which journal ───────────────────────────────────────────────────────────


def _parameters(config: Path, journal: Path | None) -> JournalParameters:
    if journal is None:
        return settings_file.load(config).journal
    return JournalParameters(path=journal, pictures=journal.parent / "pictures")


class _Book:
    """An opened journal, read as it stands. Every record is held against its chain on the way, and
    the first that does not fit is remembered."""

    def __init__(self, store: SqliteJournal) -> None:
        self.store = store
        self._chain = Chain(str(store.path))

    def round(self, number: int) -> list[Record]:
        """Return the records of a round; none where the journal does not know it."""
        records = self.store.read_round(number)
        if not records:
            return []
        return list(self._chain.over(self.store.head_before(records[0].sequence), records))

    def all(self, *, is_proved: bool = False) -> Iterator[Record]:
        """Yield every record; with `is_proved` raise JournalCorruptError at the first that does not
        fit, before it is handed on."""
        for record in self._chain.over(self.store.head_before(1), self.store.read()):
            if is_proved and (trouble := self.trouble()) is not None:
                raise trouble
            yield record

    def first_of(self, day: date | None) -> int:
        """Return the first record of the volumes begun on a gaming day or later; 1 for no day."""
        closed = self.store.closed
        if day is None or not closed:
            return 1
        later = [each.first for each in closed if each.day >= day.isoformat()]
        return min(later, default=closed[-1].last + 1)

    def around(self, day: str) -> Iterator[Record]:
        """Yield the records of the volumes that can hold some of a gaming day.

        A volume ends between two rounds, so a day's first records may lie in the one before.
        """
        closed = self.store.closed
        first = max((each.first for each in closed if each.day < day), default=1)
        later = [each.first for each in closed if each.day > day]
        last = min(later) - 1 if later else None
        yield from self._chain.over(self.store.head_before(first), self.store.read(first, last))

    def trouble(self) -> JournalCorruptError | None:
        """What a person must know of what was read so far."""
        if self._chain.damage is None:
            return None
        return JournalCorruptError(
            self._chain.damage.line(),
            remedy="Do not rely on this copy: shaker-ctl journal verify compares it with the other "
            "one, --journal reads that",
        )


@contextmanager
def _opened(parameters: JournalParameters) -> Iterator[_Book]:
    """Open a journal for looking.

    Raises RefusedError where there is none. Raises JournalCorruptError at the end, or where a
    record could not be understood, if anything that was read does not fit the chain.
    """
    _require_there(parameters.path)
    store = SqliteJournal(parameters.path, read_only=True)
    try:
        book = _Book(store)
        try:
            yield book
        except Exception as error:
            # A record that does not fit may hold anything, and anything may stumble over it. What
            # a person needs to know is which record that is; any other error is one of its own.
            is_told = isinstance(error, ShakerError) and not isinstance(error, JournalCorruptError)
            if is_told or (trouble := book.trouble()) is None:
                raise
            raise trouble from error
        if (trouble := book.trouble()) is not None:
            raise trouble
    finally:
        store.close()


def _require_there(path: Path) -> None:
    if volume_numbers(path):
        return
    try:
        path.stat()
    except PermissionError as error:
        raise RefusedError(
            f"the journal {path} may not be looked at: {error.strerror}",
            remedy="Read it as the service's user: sudo -u shaker shaker-ctl journal ...",
        ) from error
    except OSError as error:
        raise RefusedError(
            f"there is no journal at {path}: {error.strerror}",
            remedy="Give its path with --journal, or the settings with --config",
        ) from error
