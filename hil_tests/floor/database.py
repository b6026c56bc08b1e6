"""PostgreSQL on loopback, in a folder of its own, for tests and benches of the floor.

Owns the server's process, and its databases. PostgreSQL refuses to run as root: then it runs as the
user that its package made, who has to get into the folder.
"""

from __future__ import annotations

import os
import pwd
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from hil_tests.processes import Program


def postgres_programs() -> Path | None:
    """Return the folder of PostgreSQL's own programs, the newest version's."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    return found[-1].parent if found else None


def free_port() -> int:
    """Return a port of loopback that nobody listens at."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Database:
    """One server in `folder`."""

    def __init__(self, folder: Path, *, is_synced: bool = True) -> None:
        """`is_synced`: what is committed outlives a power cut, as at a floor."""
        self.folder = folder
        self._fsync = "on" if is_synced else "off"
        self.port = free_port()
        self._user = "postgres" if os.getuid() == 0 else None

    @cached_property
    def process(self) -> Program:
        """The server, under its own user."""
        data = self.folder
        command = [self._program("postgres"), "-D", str(data), "-p", str(self.port)]
        command += ["-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={data}"]
        command += ["-c", "wal_level=logical", "-c", f"fsync={self._fsync}"]
        return Program("database", command, data.with_suffix(".log"), user=self._user)

    def url(self) -> str:
        """The floor's database, as its settings name it."""
        return f"postgresql+psycopg://floor@127.0.0.1:{self.port}/floor"

    def found(self) -> None:
        """Make the server's files, start it, and create the floor's database."""
        self.folder.mkdir(exist_ok=True)
        if self._user is not None:
            self.folder.chmod(0o700)
            owner = pwd.getpwnam(self._user)
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)
            for above in self.folder.parents:  # who may not pass the folders above reads nothing
                if above.stat().st_uid == os.getuid() and above != Path("/"):
                    above.chmod(above.stat().st_mode | 0o011)
        made = [self._program("initdb"), "-D", str(self.folder), "-U", "floor", "--auth=trust"]
        made += ["-E", "UTF8", "--no-sync"]
        subprocess.run(made, check=True, user=self._user, stdout=subprocess.DEVNULL)
        self.start()
        create = [self._program("createdb"), *self._here, "-U", "floor", "floor"]
        subprocess.run(create, check=True)

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.process.start()
        asked = [self._program("pg_isready"), "-q", *self._here]
        self.process.wait_until(lambda: subprocess.run(asked).returncode == 0)

    def stop(self) -> None:
        """Stop it now: whoever is connected loses the connection (SIGINT: "fast shutdown")."""
        if self.process.is_running:
            self.process.signal(signal.SIGINT)
        self.process.stop()

    @property
    def _here(self) -> list[str]:
        return ["-h", "127.0.0.1", "-p", str(self.port)]

    @staticmethod
    def _program(name: str) -> str:
        programs = postgres_programs()
        assert programs is not None, "PostgreSQL is not installed"
        return str(programs / name)


@contextmanager
def served() -> Iterator[Database]:
    """A server of which nothing stays. Pytest's own folders are closed to PostgreSQL's user."""
    with tempfile.TemporaryDirectory(prefix="shaker-floor-") as name:
        database = Database(Path(name) / "postgres", is_synced=False)
        try:
            database.found()
            yield database
        finally:
            database.process.kill()
