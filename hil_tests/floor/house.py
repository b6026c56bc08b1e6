"""One house's broker, collector and database as real processes, in a folder of their own.

Owns processes, ports and certificates. Everything listens on loopback, and is ended by its id.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

import tomlkit

from hil_tests.demo.session import end_with_parent
from hil_tests.waiting import until
from shaker_ctl.floor import authority, broker
from shaker_ctl.floor.store import Store
from shaker_ctl.link.parameters import LinkParameters

SITE = "house"
START_S = 120.0
"""Only ends a start that is broken: a machine that is busy with other work takes its time."""
ENVIRONMENT = {**os.environ, "PYTHONUNBUFFERED": "1"}


def is_there(program: str) -> bool:
    """Whether a program of the system's packages is installed."""
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin") is not None


def postgres_programs() -> Path | None:
    """Return the folder of PostgreSQL's own programs, the newest version's."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    return found[-1].parent if found else None


def free_port() -> int:
    """Return a port of loopback that nobody listens at."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@dataclass
class Part:
    """One process of the house, started again as often as wanted."""

    name: str
    command: list[str]
    log: Path
    user: str | None = None
    process: subprocess.Popen[bytes] | None = None
    starts: int = 0

    def start(self) -> None:
        """Start it; what it says goes to its log."""
        self.starts += 1
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=ENVIRONMENT,
                start_new_session=True,
                user=self.user,
                preexec_fn=end_with_parent,  # whatever ends the bench, nothing goes on alone
            )

    def kill(self) -> None:
        """SIGKILL, to the whole process group."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """SIGTERM, and SIGKILL after ten seconds."""
        self._end(signal.SIGTERM)

    def signal(self, number: int) -> None:
        """Send a signal that does not end it."""
        os.killpg(self.pid, number)

    def _end(self, number: int) -> None:
        process, self.process = self.process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def pid(self) -> int:
        assert self.process is not None, f"{self.name} does not run"
        return self.process.pid

    def cpu_s(self) -> float:
        """CPU seconds of the process and of those that it started and still run."""
        ticks = os.sysconf("SC_CLK_TCK")
        total = 0.0
        for pid in _family(self.pid):
            with contextlib.suppress(OSError, IndexError):
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                # With the children that have ended: PostgreSQL has a process for each connection.
                total += sum(int(f) for f in fields[11:15]) / ticks
        return total

    def memory_mb(self) -> float:
        """Proportional set size of the same processes, in MB."""
        total = 0
        for pid in _family(self.pid):
            with contextlib.suppress(OSError):
                for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                    if line.startswith("Pss:"):
                        total += int(line.split()[1])
        return total / 1024


def _has_said_ready(part: Part) -> bool:
    return part.log.read_text().count("READY") >= part.starts


def _family(pid: int) -> list[int]:
    found = [pid]
    for each in found:
        with contextlib.suppress(OSError):
            children = Path(f"/proc/{each}/task/{each}/children").read_text().split()
            found += [int(child) for child in children]
    return found


@dataclass
class House:
    """A house in `folder`. Use as a context; `postgres`: with a database server of its own."""

    folder: Path
    postgres: bool = False
    collectors: int = 1
    commit_s: float = 0.2
    port: int = field(default_factory=free_port)
    metrics_port: int = field(default_factory=free_port)
    database_port: int = field(default_factory=free_port)

    def __enter__(self) -> House:
        self.folder.mkdir(parents=True, exist_ok=True)
        authority.begin(self.folder / "authority", "test")
        authority.issue(
            self.folder / "authority", "broker", self.folder / "broker", ("localhost", "127.0.0.1")
        )
        for name in ("collector", "page", "display"):
            authority.issue(self.folder / "authority", name, self.folder / name)
        self._configure_broker()
        try:
            if self.postgres:
                self._found_database()
                self.start_database()
            for number in range(self.collectors):
                self._write_collector(number)
            self.broker.start()
            self.await_broker()
            for part in self.collecting:
                part.start()
            self.await_collectors()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for part in (*self.collecting, self.broker, self.database):
            part.stop()

    # ── Parts ───────────────────────────────────────────────────────────────

    @cached_property
    def broker(self) -> Part:
        """mosquitto."""
        program = shutil.which("mosquitto", path="/usr/sbin:/usr/bin") or "mosquitto"
        command = [program, "-c", str(self.folder / "mosquitto" / "mosquitto.conf")]
        return Part("broker", command, self.folder / "broker.log")

    @cached_property
    def collecting(self) -> list[Part]:
        """The collectors."""
        program = [sys.executable, "-P", "-c", "from shaker_ctl.floor.main import app; app()"]
        return [
            Part(
                "collector",
                [*program, "collect", "--config", str(self.folder / f"floor-{number}.toml")],
                self.folder / f"collector-{number}.log",
            )
            for number in range(self.collectors)
        ]

    @property
    def collector(self) -> Part:
        """The first collector."""
        return self.collecting[0]

    @cached_property
    def database(self) -> Part:
        """PostgreSQL, under its own user."""
        programs = postgres_programs()
        program = str(programs / "postgres") if programs else "postgres"
        data = self._data
        command = [program, "-D", str(data), "-p", str(self.database_port)]
        command += ["-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={data}"]
        return Part("database", command, self.folder / "database.log", user=_postgres_user())

    @property
    def _data(self) -> Path:
        return self.folder / "postgres"

    @property
    def store_folder(self) -> Path:
        """Where the database's files are."""
        return self._data if self.postgres else self.folder / "store"

    @property
    def store_url(self) -> str:
        """The database, as the settings name it."""
        if self.postgres:
            return f"postgresql+psycopg://floor@127.0.0.1:{self.database_port}/floor"
        return f"sqlite:///{self.folder / 'store' / 'floor.sqlite'}"

    def store(self) -> Store:
        """Open the floor's database from here."""
        return Store(self.store_url)

    @property
    def config(self) -> Path:
        """Settings file of the first collector."""
        return self.folder / "floor-0.toml"

    def await_broker(self) -> None:
        """Wait until it listens."""

        def listens() -> bool:
            with socket.socket() as tried:
                return tried.connect_ex(("127.0.0.1", self.port)) == 0

        until(listens, START_S, every_s=0.02)

    def await_collectors(self) -> None:
        """Wait until each has said READY as often as it was started."""
        for part in self.collecting:
            until(partial(_has_said_ready, part), START_S, every_s=0.02)

    def start_database(self) -> None:
        """Start PostgreSQL and wait until it answers."""
        self.database.start()

        def answers() -> bool:
            programs = postgres_programs()
            assert programs is not None
            asked = [str(programs / "pg_isready"), "-q", "-h", "127.0.0.1"]
            return subprocess.run([*asked, "-p", str(self.database_port)]).returncode == 0

        until(answers, START_S, every_s=0.05)

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
        """The same, read."""
        plain = tomlkit.parse(self.link_settings(table, settings, **more).read_text("utf-8"))
        return LinkParameters.model_validate(plain.unwrap())

    def _broker_settings(self, folder: Path) -> dict[str, object]:
        return {
            "host": "127.0.0.1",
            "port": self.port,
            "site": SITE,
            "authority": str(folder / "authority.pem"),
            "certificate": str(folder / "certificate.pem"),
            "key": str(folder / "key.pem"),
        }

    def _write_collector(self, number: int) -> None:
        (self.folder / "store").mkdir(exist_ok=True)
        plain = {
            **self._broker_settings(self.folder / "collector"),
            "store": self.store_url,
            "metrics_port": self.metrics_port if number == 0 else 0,
            "commit_s": self.commit_s,
            "collector": number,
            "collectors": self.collectors,
        }
        (self.folder / f"floor-{number}.toml").write_text(tomlkit.dumps(plain), "utf-8")

    def _configure_broker(self) -> None:
        folder = self.folder / "mosquitto"
        folder.mkdir(exist_ok=True)
        acl = folder / "acl"
        acl.write_text(broker.acl(SITE), "utf-8")
        text = broker.configuration(
            self.folder / "broker", port=self.port, address="127.0.0.1", acl=acl
        )
        if os.getuid() == 0:  # mosquitto would become a user who may not read this folder
            text += "user root\n"
        (folder / "mosquitto.conf").write_text(text, "utf-8")

    def _found_database(self) -> None:
        programs = postgres_programs()
        assert programs is not None, "PostgreSQL is not installed"
        user = _postgres_user()
        self._data.mkdir(exist_ok=True)
        if user is not None:
            self._data.chmod(0o700)
            os.chown(self._data, pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid)
            for above in self._data.parents:  # who may not pass the folders above reads nothing
                if above.stat().st_uid == os.getuid() and above != Path("/"):
                    above.chmod(above.stat().st_mode | 0o011)
        made = [str(programs / "initdb"), "-D", str(self._data), "-U", "floor", "--auth=trust"]
        subprocess.run([*made, "-E", "UTF8"], check=True, user=user, stdout=subprocess.DEVNULL)
        self.start_database()
        create = [str(programs / "createdb"), "-h", "127.0.0.1", "-p", str(self.database_port)]
        subprocess.run([*create, "-U", "floor", "floor"], check=True)
        self.database.stop()


def _postgres_user() -> str | None:
    """PostgreSQL refuses to run as root."""
    return "postgres" if os.getuid() == 0 else None
