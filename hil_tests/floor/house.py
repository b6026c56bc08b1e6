"""One house's broker, collector and database as real processes, in a folder of their own.

Owns processes, ports and certificates. Everything listens on loopback, and is ended by its id.
"""

from __future__ import annotations

import os
import shutil
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import tomlkit

from hil_tests.floor.database import Database, free_port
from hil_tests.processes import Program, program
from shaker_ctl.floor import authority, broker
from shaker_ctl.floor.store import Store
from shaker_ctl.journal.record import Head
from shaker_ctl.link.parameters import LinkParameters

SITE = "house"


def is_there(program: str) -> bool:
    """Whether a program of the system's packages is installed."""
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin") is not None


@dataclass
class House:
    """A house in `folder`. Use as a context."""

    folder: Path
    collectors: int = 1
    brokers: int = 1
    """With two, the second joins itself to the first, and everybody knows both."""
    port: int = field(default_factory=free_port)
    second_port: int = field(default_factory=free_port)
    metrics_port: int = field(default_factory=free_port)

    def __enter__(self) -> House:
        self.folder.mkdir(parents=True, exist_ok=True)
        own, certificates = self.folder / "authority", self.folder / "broker-certificate"
        authority.begin(own, "test")
        authority.issue(own, "broker", certificates, ("localhost", "127.0.0.1"))
        for name in ("collector", "page", "display"):
            authority.issue(own, name, self.folder / name)
        try:
            self.database.found()
            self._write_collector()
            for part in self.brokers_of_it:
                part.start()
            self.await_broker()
            for part in self.collecting:
                part.start()
            self.await_collectors()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for part in (*self.collecting, *self.brokers_of_it):
            part.stop()
        self.database.stop()

    # ── Parts ───────────────────────────────────────────────────────────────

    @cached_property
    def brokers_of_it(self) -> list[Program]:
        """mosquitto, and where there are two, another one that joins itself to the first."""
        first = self._mosquitto("broker", self.port)
        if self.brokers == 1:
            return [first]
        return [first, self._mosquitto("second broker", self.second_port, f"127.0.0.1:{self.port}")]

    @property
    def broker(self) -> Program:
        """The first broker."""
        return self.brokers_of_it[0]

    def _mosquitto(self, name: str, port: int, peer: str = "") -> Program:
        certificates, address = self.folder / "broker-certificate", "127.0.0.1"
        out = self.folder / name
        file, _ = broker.write(
            out, certificates=certificates, site=SITE, port=port, address=address, peer=peer
        )
        if os.getuid() == 0:  # mosquitto would become a user who may not read this folder
            file.write_text(file.read_text("utf-8") + "user root\n", "utf-8")
        command = [shutil.which("mosquitto", path="/usr/sbin:/usr/bin") or "mosquitto"]
        return Program(name, [*command, "-c", str(file)], self.folder / f"{name}.log")

    @cached_property
    def collecting(self) -> list[Program]:
        """The collectors."""
        return [
            Program(
                "collector",
                program(
                    "shaker_ctl.floor.main",
                    *("collect", "--config", str(self.config)),
                    *("--metrics-port", str(0 if number else self.metrics_port)),
                ),
                self.folder / f"collector-{number}.log",
            )
            for number in range(self.collectors)
        ]

    @property
    def collector(self) -> Program:
        """The first collector."""
        return self.collecting[0]

    @cached_property
    def database(self) -> Database:
        """PostgreSQL, under its own user."""
        return Database(self.folder / "postgres")

    def store(self) -> Store:
        """Open the floor's database from here."""
        return Store(self.database.url())

    @property
    def config(self) -> Path:
        """Settings file of all collectors."""
        return self.folder / "floor.toml"

    def await_broker(self) -> None:
        """Wait until it listens."""

        def listens() -> bool:
            with socket.socket() as tried:
                return tried.connect_ex(("127.0.0.1", self.port)) == 0

        self.broker.wait_until(listens)

    def await_collectors(self) -> None:
        """Wait until each has said READY as often as it was started."""
        for part in self.collecting:
            part.wait_for("READY")

    def compared(
        self,
        heads: Mapping[str, Head],
        limit_s: float = 90.0,
        go_on: Callable[[float], object] = time.sleep,
    ) -> Iterator[str]:
        """Wait until the floor has what the tables have; say whether both ends have the same.

        `heads`: where the journal of each table ends. `go_on`: what is done meanwhile.
        """
        ends_s = time.monotonic() + limit_s
        with closing(self.store()) as store:
            while True:
                lines = {line["table_name"]: line for line in store.lines()}
                hashes = {name: line["hash"] for name, line in lines.items()}
                differ = [name for name, head in heads.items() if hashes.get(name) != head.hash]
                if not differ or time.monotonic() > ends_s:
                    break
                go_on(0.5)
            wrong = [f"{n}: {what}" for n, line in lines.items() if (what := store.broken(line))]
            alarms = [f"alarm: {one.table_name} {one.text}" for one in store.alarms()]
            stored, made = count_records(store), sum(head.sequence for head in heads.values())
        yield from (*wrong, *alarms)
        is_good = not (differ or wrong or alarms) and stored == made
        yield (
            f"{'' if is_good else 'NOT equal: '}{stored:,} of {made:,} records stored; of "
            f"{len(heads)} tables {len(differ)} differ, {len(wrong)} stored chains are broken"
        )

    # ── Setting up ──────────────────────────────────────────────────────────

    def link_settings(self, table: str, settings: Path, **more: object) -> Path:
        """Make a certificate and the link's settings file for a table; return the file."""
        folder = self.folder / "tables" / table
        if not (folder / "key.pem").exists():
            authority.issue(self.folder / "authority", table, folder)
        plain = {
            **self._broker_settings(folder),
            "table": table,
            "settings": str(settings),
            "runtime_dir": str(folder / "run"),
            **more,
        }
        path = folder / "link.toml"
        path.write_text(tomlkit.dumps(plain), "utf-8")
        return path

    def link_parameters(self, table: str, settings: Path, **more: object) -> LinkParameters:
        """Read what `link_settings` writes."""
        plain = tomlkit.parse(self.link_settings(table, settings, **more).read_text("utf-8"))
        return LinkParameters.model_validate(plain.unwrap())

    def _broker_settings(self, folder: Path) -> dict[str, object]:
        return {
            "hosts": [f"127.0.0.1:{p}" for p in (self.port, self.second_port)[: self.brokers]],
            "site": SITE,
            "authority": str(folder / "authority.pem"),
            "certificate": str(folder / "certificate.pem"),
            "key": str(folder / "key.pem"),
        }

    def _write_collector(self) -> None:
        plain = {
            **self._broker_settings(self.folder / "collector"),
            "store": self.database.url(),
            "metrics_port": self.metrics_port,
        }
        self.config.write_text(tomlkit.dumps(plain), "utf-8")


def count_records(store: Store) -> int:
    """How many records are stored, in all lines."""
    with store.committing() as db:
        counted = db.exec_driver_sql("SELECT sum(last - first + 1) FROM batch").scalar()
        return int(counted or 0)
