"""A floor to look at: `make floor`. Broker, collector, page, tables that play and tables recorded.

Two tables play on the virtual rig; fifty others are recorded, and their records go on. Everything
listens on loopback and lies in a folder of its own, until Ctrl-C.
"""

from __future__ import annotations

import contextlib
import random
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import tomlkit
import typer

from hil_tests.floor.database import free_port
from hil_tests.floor.house import House
from hil_tests.floor.journals import InventedTable, RunningLink
from hil_tests.processes import BenchError, Program, program
from hil_tests.table_under_test.people import People
from hil_tests.table_under_test.session import Plan, Session
from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.console import accounts
from shaker_ctl.journal.record import Head
from shaker_ctl.service.status_socket import StatusSocket

STARTED_S = time.time()
TRIES = 3
"""Of starting a rig: on a busy machine one may not come up."""


def page_part(house: House, port: int) -> Program:
    """The floor's page for this house, without a login, on loopback."""
    for name in ("certificate", "key"):
        target = house.folder / "collector" / f"page-{name}.pem"
        if not target.exists():
            target.write_bytes((house.folder / "page" / f"{name}.pem").read_bytes())
            target.chmod(0o600)
    plain = tomlkit.parse(house.config.read_text("utf-8")).unwrap()
    plain["page"] = {"port": port, "login": False, "state_dir": str(house.folder / "page-state")}
    plain["users_file"] = str(house.folder / "users.toml")
    config = house.folder / "page.toml"
    config.write_text(tomlkit.dumps(plain), "utf-8")
    command = program("shaker_ctl.floor.main", "page", "--config", str(config))
    return Program("page", command, house.folder / "page.log")


class PlayingTable:
    """A table that plays on the virtual rig, with its people and its link. Use as a context."""

    def __init__(
        self, house: House, folder: Path, name: str, *, seed: int = 0, pace: str = "table"
    ) -> None:
        self.name = name
        self.path = folder / "journal.jsonl"
        plan = Plan(seed=seed, pace=pace, changes={"service": {"table_name": name}})
        self.session = Session(plan, folder)
        self.people = People(self.session, lambda _: None, are_patient=True)
        config = house.link_settings(name, folder / "settings.toml", again_s=1.0)
        log = house.folder / f"{name}-link.log"
        command = program("shaker_ctl.main", "link", "--config", str(config))
        self.link = Program("link", command, log, nice=10)  # as its unit: the table goes first

    def __enter__(self) -> PlayingTable:
        """Raises BenchError where rig or service do not start."""
        for left in reversed(range(TRIES)):
            try:
                self.session.__enter__()
                break
            except BenchError:
                if not left:
                    raise
                shutil.rmtree(self.session.folder)
        self.link.start()
        self.people.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.people.stop()
        self.link.stop()
        self.session.close()

    def end_of_play(self) -> None:
        """Send the people home and stop the service; the link stays."""
        self.people.stop()
        self.session.stop_service()

    def head(self) -> Head:
        """Where the journal ends."""
        with closing(DiskJournal(self.path, read_only=True)) as book:
            return book.head()


def recorded_view(table: InventedTable) -> dict[str, Any]:
    """What a recorded table says of itself: open, between two rounds; of one, a dispute."""
    is_disputed = table.name == "pit-7"
    room = {"says": "The next round begins soon.", "shape": "circle"}
    if is_disputed:
        room = {"says": "Please wait: a floorperson is called.", "shape": "triangle"}
    pending = {"text": "Dealer and reader disagree. Decide.", "roles": ["floorperson"]}
    return {
        "pending": pending if is_disputed else None,
        "since_s": STARTED_S,
        "table": table.name,
        "life": "open",
        "round_id": table.round + is_disputed,
        "room": room,
        "marks": ["DEMONSTRATION"],
        "monotonic_s": time.monotonic(),
    }


def show(
    rigs: Annotated[int, typer.Option(help="Tables that play on the virtual rig.")] = 2,
    recorded: Annotated[int, typer.Option(help="Tables that only remember.")] = 50,
    pace: Annotated[float, typer.Option(help="Rounds a minute.")] = 2.0,
    seconds: Annotated[float, typer.Option(help="How long; 0: until Ctrl-C.")] = 0.0,
) -> Iterator[str]:
    """A floor to look at, until Ctrl-C."""
    over = threading.Event()
    for ending in (signal.SIGTERM, signal.SIGINT):
        signal.signal(ending, lambda *_: over.set())
    folder = Path(tempfile.mkdtemp(prefix="shaker-floor-"))
    port = free_port()
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        house = stack.enter_context(House(folder))
        page = page_part(house, port)
        stack.callback(page.stop)
        page.start()
        tables = [InventedTable(folder / f"pit-{n}", f"pit-{n}", seed=n) for n in range(recorded)]
        for each in tables:
            each.play(1)
            answering = StatusSocket(each.folder / "run", partial(recorded_view, each))
            answering.start()
            stack.callback(answering.stop)
            parameters = house.link_parameters(each.name, each.settings)
            stack.enter_context(RunningLink(parameters))
        token = accounts.add_token(folder / "users.toml", "m1", accounts.Looker.MACHINE)
        yield f"the floor's page: http://127.0.0.1:{port}/"
        yield f"for machines: curl -H 'Authorization: Bearer {token}' http://127.0.0.1:{port}/state.json"
        yield f"metrics: http://127.0.0.1:{house.metrics_port}/metrics"
        yield f"commands: shaker-floor tables --config {house.config}"
        yield "Ctrl-C ends it"
        playing: list[PlayingTable] = []
        for number in range(rigs):  # one after the other: a start takes most of a processor
            if not over.is_set():
                name = f"rig-{number}"
                table = PlayingTable(house, folder / name, name, seed=number)
                playing.append(stack.enter_context(table))
                yield f"{name} plays: {folder / name}"
        ends_s = time.monotonic() + seconds if seconds else float("inf")
        chance = random.Random(1)
        while not over.wait(0.2) and time.monotonic() < ends_s:
            for each in tables:
                if chance.random() < 0.2 * pace / 60.0:
                    each.play(1)
        for table in playing:
            table.end_of_play()
        heads = {one.name: one.head() for one in tables}
        heads |= {one.name: one.head() for one in playing}
        with closing(house.store()) as store:
            for table in playing:
                rounds = len(store.rounds(table.name, count=1_000_000))
                records = heads[table.name].sequence
                yield f"{table.name}: {rounds} rounds played, {records} records"
        yield from house.compared(heads)
