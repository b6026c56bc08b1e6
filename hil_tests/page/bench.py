"""What the page costs, and what it costs the table beside it: `make bench-page`.

Plays a demonstration, and does to its page what must not affect the table: thirty readers, a stop
in the middle of a message, a kill, a full disk, ten thousand connections. After each it prints
the time from dice at rest to lamps read back lit, and whether the table was late. A table is late
if its motor was not permitted to run (`controller-late`), which its heartbeat decides.
"""

from __future__ import annotations

import json
import resource
import signal
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import tomlkit
import typer

from hil_tests.page.readers import Readers, get, idle_connections
from hil_tests.processes import Program, program, resident_mb
from hil_tests.table_under_test.people import People
from hil_tests.table_under_test.session import Plan, Session
from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.journal.history import InHand, raised_by
from shaker_ctl.service.status_socket import read_status

READERS = 30
CONNECTIONS = 10_000


class Process(Program):
    """A running page, seen from outside."""

    address: str = ""

    def resident_mb(self) -> float:
        """Resident memory of the process that listens."""
        return resident_mb(self.pid)

    def share(self, seconds: float) -> float:
        """Processor time over the next `seconds`, as a part of one core."""
        before, began_s = self.cpu_s(), time.monotonic()
        time.sleep(seconds)
        return (self.cpu_s() - before) / (time.monotonic() - began_s)


@contextmanager
def a_page(
    beside: Path, name: str, *, login: bool = False, nice: int = 10, on_small_disk: bool = False
) -> Iterator[Process]:
    """Start a page of the table whose settings lie in `beside`, with a folder of its own."""
    folder = beside / name
    folder.mkdir()
    told: dict[str, Any] = dict(tomlkit.parse((beside / "settings.toml").read_text()))
    told["page"] = {"port": 0, "login": login, "state_dir": str(folder), "connections": 256}
    file = beside / f"{name}.toml"
    file.write_text(tomlkit.dumps(told))
    command = program("shaker_ctl.main", "page", "--config", str(file))
    if on_small_disk:
        mounted = f'mount -t tmpfs -o size=600k tmpfs {folder} && exec "$@"'
        command = ["unshare", "--mount", "sh", "-c", mounted, "sh", *command]
    page = Process("the page", command, beside / f"{name}.log", nice=nice)
    page.start()
    try:
        page.address = page.wait_for("page: ")
        yield page
    finally:
        page.stop()


def played(session: Session, rounds: int, limit_s: float) -> dict[str, Any]:
    """Let so many more rounds end; say how long rest to lit took in them, and what was late."""
    began = DiskJournal(session.folder / "journal.jsonl", read_only=True).head().sequence
    ends = time.monotonic() + limit_s
    first = _newest(session)
    while _newest(session) < first + rounds and time.monotonic() < ends:
        time.sleep(0.3)
    late, in_hand, ended = 0, InHand(), []
    for record in DiskJournal(session.folder / "journal.jsonl", read_only=True).read(began + 1):
        ended += in_hand.take(record.plain)
        late += any(code == "controller-late" for _, code in raised_by(record.plain))
    lit = [one.lit_ms for one in ended if one.lit_ms is not None]
    return {
        "rounds": _newest(session) - first,
        "lit": len(lit),
        "rest_to_lit_ms": round(statistics.median(lit), 1) if lit else None,
        "worst_ms": round(max(lit), 1) if lit else None,
        "late": late,
    }


def _newest(session: Session) -> int:
    try:
        rounds = read_status(session.runtime_dir)["rounds"]
    except OSError:
        return 0
    return int(rounds[-1]["round"]) if rounds else 0


def main(
    rounds: Annotated[int, typer.Option(min=1, help="Of each condition.")] = 10,
    limit: Annotated[float, typer.Option(help="Seconds of each condition.")] = 180.0,
    connections: Annotated[int, typer.Option(min=1, help="Tried by the crowd.")] = CONNECTIONS,
) -> None:
    """Measure what the page costs; one JSON object a line."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory(prefix="page-bench-") as folder:
        plan = Plan(profile="pa-625a", seed=3, pace="brisk")
        with Session(plan, Path(folder)) as session:
            people = People(session, lambda _: None, are_patient=True)
            people.start()
            try:
                while _newest(session) < 1:
                    time.sleep(0.5)
                _measure(session, rounds, limit, connections)
            finally:
                people.stop()


def _measure(session: Session, rounds: int, limit_s: float, connections: int) -> None:
    def say(what: str, **told: Any) -> None:
        typer.echo(json.dumps({"what": what, **told}))

    def under(what: str, condition: AbstractContextManager[object], **more: Any) -> None:
        with condition:
            say(what, **played(session, rounds, limit_s), **more)

    under("without a page", nullcontext())
    with a_page(session.folder, "cost") as page:
        say("page at rest", memory_mb=round(page.resident_mb(), 1))
        first = [sum(get(page.address, path)[2] for path in _first_view(page)) for _ in range(10)]
        say("first view", median_ms=round(1000 * statistics.median(first), 1))
        with Readers(page.address, READERS) as readers:
            share = page.share(20.0)
            say(
                f"{READERS} readers",
                core_percent=round(100 * share, 2),
                memory_mb=round(page.resident_mb(), 1),
                received_kb=readers.received // 1000,
            )
            under(f"with {READERS} readers", nullcontext())
    with a_page(session.folder, "stopped") as page, Readers(page.address, 5):
        page.signal(signal.SIGSTOP)
        under("page stopped in mid-sentence", nullcontext())
    with a_page(session.folder, "killed") as page:
        page.kill()
        under("page killed", nullcontext())
    with a_page(session.folder, "full", on_small_disk=True) as page:
        fill(page, session.folder / "full")
        wall, one = get(page.address, "/sign")[0], get(page.address, "/rounds/1")[0]
        under("page's disk full", nullcontext(), wall=wall, a_round=one)
    with (
        a_page(session.folder, "crowd") as page,
        idle_connections(page.address, connections) as n,
    ):
        memory = round(page.resident_mb(), 1)
        under(f"{n} connections", nullcontext(), memory_mb=memory)


def _first_view(page: Process) -> list[str]:
    """What a browser asks for before the sign stands."""
    body = get(page.address, "/sign")[1].decode()
    found = [part.split('"')[0] for part in body.split('="')[1:]]
    return [
        "/sign",
        *dict.fromkeys(one for one in found if one.startswith(("/static", "/picture"))),
    ]


def fill(page: Process, folder: Path) -> None:
    """Fill the small disk that only the page sees."""
    # `nice` and `sh` have become the page: it is the process that was started.
    inside = Path(f"/proc/{page.pid}/root{folder}") / "fill"
    try:
        with inside.open("wb") as file:
            while True:
                file.write(bytes(4096))
                file.flush()
    except OSError:
        return


if __name__ == "__main__":
    typer.run(main)
