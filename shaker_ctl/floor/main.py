"""`shaker-floor`: the floor's commands."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from importlib.resources import files as packaged
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shaker_ctl import main as entry
from shaker_ctl import settings
from shaker_ctl.commands.program import Version, for_people
from shaker_ctl.errors import (
    JournalCorruptError,
    RefusedError,
    SettingsError,
    ShakerError,
    reraise_as,
)
from shaker_ctl.floor.parameters import FloorParameters
from shaker_ctl.link.topics import RESERVED, require_name
from shaker_ctl.quoting import require_words, visible

if TYPE_CHECKING:
    from shaker_ctl.floor.store import Store

CONFIG = Path("/etc/shaker-floor/floor.toml")
FOLDER = Path("/etc/shaker-floor")

program = typer.Typer(
    name="shaker-floor",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
)

Config = Annotated[Path, typer.Option("--config", help="Settings file of the floor.")]
By = Annotated[str, typer.Option("--by", help="Name of the person who decides.")]
Reason = Annotated[str, typer.Option("--reason", help="Why, in a few words.")]


@program.callback()
def options(version: Version = False) -> None:
    """The floor of a house: collects what its tables hand over, keeps it, and watches them."""


def app() -> None:
    """Run the command line; errors are one line each, with the statuses of `shaker-ctl`."""
    entry.app(for_people(typer.main.get_command(program)))


@program.command()
def collect(
    config: Config = CONFIG,
    metrics_port: Annotated[
        int | None, typer.Option(help="Instead of the setting: of a second collector here.")
    ] = None,
) -> None:
    """Take the tables' records, prove them, commit them, acknowledge them; until SIGTERM.

    Any number may run, on any machine: they share the tables.
    """
    from prometheus_client import start_http_server

    from shaker_ctl.floor.collector import Collector

    found = settings.parse_file(config, FloorParameters)
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    over = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: over.set())
    collector = Collector(found)
    port = found.metrics_port if metrics_port is None else metrics_port
    with reraise_as(
        SettingsError,
        f"{found.metrics_host}:{port} cannot be served",
        remedy="Set metrics_port to a free port; of a second collector here: --metrics-port",
    ):
        server, _ = start_http_server(port, found.metrics_host, collector.figures.registry)
    typer.echo(f"READY: metrics at http://{found.metrics_host}:{server.server_port}/metrics")
    sys.stdout.flush()
    try:
        collector.run(over.is_set)
    finally:
        server.shutdown()
        server.server_close()


@program.command()
def page(config: Config = CONFIG) -> None:
    """Serve the floor's page until SIGTERM or Ctrl-C: every table, and what is stored of each."""
    from shaker_ctl.floor.page import FloorPage
    from shaker_ctl.page import server

    found = settings.parse_file(config, FloorParameters)
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    server.require_certificate(found.page)
    with server.listen(found.page) as listener:
        made = FloorPage(found)
        address = server.address_of(found.page, listener)
        ready = partial(typer.echo, f"page: {address}")
        server.serve(made.app, found.page, listener, ready, made.end_streams)


@program.command()
def tables(config: Config = CONFIG) -> None:
    """List the journals that the floor holds: table, line, records, head, who accepted it."""
    with _store(config) as store:
        lines = store.lines()
    for line in lines:
        head = line["hash"].hex()[:16]
        accepted = f"  accepted by {line['accepted_by']}" if line["accepted_by"] else ""
        removed = f"  older ones removed by {line['removed_by']}" if line["start"] else ""
        typer.echo(
            f"{line['table_name']}  line {line['number']}  "
            f"{_which(line)}  "
            f"head {head}  {line['identity']}{accepted}{removed}"
        )


def _which(line: Mapping[str, Any]) -> str:
    is_empty = line["start"] == line["sequence"]
    return "no records" if is_empty else f"records {line['start'] + 1} to {line['sequence']}"


@program.command()
def alarms(config: Config = CONFIG) -> None:
    """List tables whose history contradicts the floor's. Nothing more is taken of them."""
    with _store(config) as store:
        standing = store.alarms()
    for alarm in standing:
        told = f"{alarm.raised}  {alarm.table_name}  {alarm.trouble}: {alarm.text}"
        typer.echo(visible(told))
    if not standing:
        typer.echo("none")


@program.command()
def accept(
    table: Annotated[str, typer.Argument(help="Name of the table.")],
    by: By,
    reason: Reason,
    config: Config = CONFIG,
) -> None:
    """Accept a table's other history: it begins a new line from its first record.

    What the floor holds of the history before stays. Find out first what happened at the table.
    """
    require_words("--by", by)
    require_words("--reason", reason)
    with _store(config) as store:
        for line in store.accept(table, by=by, reason=reason):
            typer.echo(f"accepted: {line}")


@program.command()
def verify(
    table: Annotated[str, typer.Argument(help="One table; without it all.")] = "",
    config: Config = CONFIG,
) -> None:
    """Walk every stored chain from its first record to its head. Status 65 where one is broken."""
    wrong = 0
    with _store(config) as store:
        for line in store.lines(table):
            what = store.broken(line)
            wrong += bool(what)
            name = f"{line['table_name']} line {line['number']}"
            typer.echo(f"{name}: {what or 'sound, ' + _which(line)}")
    if wrong:
        raise JournalCorruptError(
            f"{wrong} of the stored chains do not verify", remedy="Compare with the tables' own"
        )


@program.command(name="export")
def export_(
    table: Annotated[str, typer.Argument(help="Name of the table.")],
    round_number: Annotated[int | None, typer.Option("--round", help="One round alone.")] = None,
    config: Config = CONFIG,
) -> None:
    """Print stored records of a table, one JSON object a line, with the hash of each."""
    with _store(config) as store:
        kept = store.kept(table)
        if kept.id is None:
            raise RefusedError(f"nothing is stored of {table}", remedy="shaker-floor tables")
        if round_number is None:
            records = store.records(kept.id)
        else:
            records = iter(store.round_records(table, round_number))
        for record in records:
            typer.echo(record.exported, nl=False)


@program.command()
def migrate(
    to: Annotated[str | None, typer.Option(help="Schema; without it the newest.")] = None,
    config: Config = CONFIG,
) -> None:
    """Bring the database to this version's schema, or back to an older one, whole or not at all.

    Stop collectors and page first, and have a copy of the database.
    """
    from shaker_ctl.floor.migrate import NEWEST, VERSIONS

    if to is not None and to not in VERSIONS:
        raise RefusedError(f"{to!r} is no schema", remedy=f"Schemas: {', '.join(VERSIONS)}")
    with _store(config, to or NEWEST):
        typer.echo(f"the database has the schema {to or NEWEST}")


# ── Setting up ──────────────────────────────────────────────────────────────


@program.command()
def authority(
    name: Annotated[str, typer.Argument(help="Name of the house.")],
    folder: Annotated[Path, typer.Option(help="Where it is kept.")] = FOLDER / "authority",
) -> None:
    """Make the house's authority, which signs who may speak on the broker."""
    from shaker_ctl.floor import authority as authorities

    typer.echo(f"made {authorities.begin(folder, name)}; keep authority-key.pem off the network")


@program.command()
def issue(
    name: Annotated[
        str, typer.Argument(help="A table's name, or collector, page, display, broker.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for key and certificate.")],
    host: Annotated[list[str] | None, typer.Option(help="Of the broker: its names.")] = None,
    folder: Annotated[Path, typer.Option(help="Where the authority is.")] = FOLDER / "authority",
) -> None:
    """Make key and certificate for a table, or for a part of the floor."""
    from shaker_ctl.floor import authority as authorities

    if name not in RESERVED:
        require_name(name, "NAME")
    for file in authorities.issue(folder, name, out, tuple(host or ())):
        typer.echo(f"made {file}")


@program.command()
def broker(
    certificates: Annotated[Path, typer.Option(help="Folder of the broker's certificate.")],
    out: Annotated[Path, typer.Option(help="Folder for mosquitto.conf and acl.")],
    site: Annotated[str, typer.Option(help="Name of the house on the broker.")] = "house",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8883,
    address: Annotated[str, typer.Option(help="Address to listen at.")] = "0.0.0.0",
    peer: Annotated[
        str, typer.Option(help="HOST:PORT of a second broker, to which this one joins itself.")
    ] = "",
) -> None:
    """Write the configuration of mosquitto: mutual TLS 1.3, and who may say what."""
    from shaker_ctl.floor import broker as brokers

    configuration, acl = brokers.write(
        out, certificates=certificates, site=site, port=port, address=address, peer=peer
    )
    typer.echo(f"written: {configuration}, {acl}")


@program.command()
def monitoring(out: Annotated[Path, typer.Option(help="Folder for the files.")]) -> None:
    """Write what Prometheus and Grafana take: alarm rules, a scrape entry, dashboards."""
    out.mkdir(parents=True, exist_ok=True)
    for source in (packaged("shaker_ctl.floor") / "monitoring").iterdir():
        if source.is_file():
            (out / source.name).write_bytes(source.read_bytes())
            typer.echo(f"written: {out / source.name}")


def _store(config: Path, wanted: str | None = None) -> closing[Store]:
    found = settings.parse_file(config, FloorParameters)
    try:
        from shaker_ctl.floor.store import Store
    except ModuleNotFoundError as error:
        raise ShakerError(
            f"the floor needs the library {error.name}",
            remedy="Install shaker-ctl[link,floor] from shaker_ctl/floor/lock.txt",
        ) from error
    return closing(Store(found.store, found.site, wanted=wanted))
