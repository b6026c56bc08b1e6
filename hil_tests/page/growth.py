"""Whether the page grows: `python -m hil_tests.page.growth --minutes 120`.

A stand-in table plays one round after the other: it sends views over the status socket, and writes
records and pictures. Some people watch the wall; others log in, look at every page, export a case,
and log out. Prints memory, files and threads of the page as JSON lines. Ends with status 1 where
memory has grown by more than `GROWTH_MB` since the warm-up, or files or threads are left over.
"""

from __future__ import annotations

import http.client
import json
import random
import signal
import tempfile
import threading
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode, urlsplit

import tomlkit
import typer

from hil_tests.page.bench import Process, a_page
from hil_tests.page.readers import Readers
from hil_tests.processes import in_status
from shaker_ctl.console import accounts
from shaker_ctl.console.desk import CameraView, HealthView, LampView, MotorView, TableView
from shaker_ctl.console.json_voice import plain
from shaker_ctl.page.tests.a_journal import Scribe
from shaker_ctl.rules.outcome import AREAS
from shaker_ctl.service.status_socket import StatusSocket

GROWTH_MB = 5.0
LEFT_OVER = 4
"""Files and threads that may differ between two moments."""

WARM_UP = 0.15
"""Part of the run before the first sample that counts."""

WORD = "correct horse battery"
PHASES = ("bets open", "no more bets", "tossing", "reading", "collecting")
PICTURE = bytes(60_000)
LOOKS = (
    *("/sign", "/rounds", "/rounds?person=dan", "/day", "/day.csv", "/statistics", "/looked"),
    *("/rounds/1", "/rounds/nothing", "/technician", "/static/page.css"),
)


class TableStandIn:
    """A table of which the page sees what it sees of a real one. One thread."""

    def __init__(self, folder: Path, round_s: float) -> None:
        self._scribe = Scribe(folder / "journal.jsonl")
        self._round_s = round_s
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._play, name="stand-in", daemon=True)
        self._socket = StatusSocket(folder / "run", self.view)
        self._rnd = random.Random(1)
        self._view = TableView(table="Table 7", life="open")
        self.rounds = 0

    def __enter__(self) -> TableStandIn:
        self._play_one()
        self._socket.start()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._socket.stop()
        self._scribe.close()

    def view(self) -> dict[str, Any]:
        """As `Table.status` gives it."""
        told: Any = plain(self._view)
        more = {"areas": list(AREAS), "rounds": [], "monotonic_s": time.monotonic()}
        return {**told, **more, "last_result": list(self._view.last_result or ()) or None}

    def _play(self) -> None:
        while not self._ended.is_set():
            self._play_one()

    def _play_one(self) -> None:
        rnd, number = self._rnd, self.rounds + 1
        curve = tuple(rnd.uniform(800, 900) for _ in range(60))
        for phase in PHASES:
            lit = tuple(rnd.sample(AREAS, 9)) if phase == "collecting" else ()
            values = tuple(sorted(rnd.choices(range(1, 7), k=3))) if lit else None
            self._view = replace(
                self._view,
                phase=phase,
                says=f"Round {number}: {phase}.",
                round_id=number,
                last_result=values,  # type: ignore[arg-type]
                lamps=LampView(commanded=lit, measured=lit, box="result, supply 24.0 V", age_s=0.1),
                motor=MotorView(
                    rpm=900.0 if phase == "tossing" else 0.0,
                    is_enabled=phase == "tossing",
                    last_toss_rpm=curve,
                    last_toss_s=2.6,
                ),
                camera=CameraView(fps=60.0, late_frames=0, sharpness=40.0, brightness=90.0),
                health=HealthView(temperature_c=rnd.uniform(40, 60), disk_free_b=10**10),
            )
            self._ended.wait(self._round_s / len(PHASES) if self.rounds else 0.0)
        self._scribe.round(number, (1, 6, 6) if rnd.random() < 0.9 else None)
        newest = max(self._scribe.pictures.iterdir())
        newest.write_bytes(newest.read_bytes()[:20] + PICTURE)
        for old in sorted(self._scribe.pictures.iterdir())[:-200]:
            old.unlink()
        self.rounds = number


class Visitor:
    """Somebody who looks at everything, over connections of his own. One thread."""

    def __init__(self, address: str, every_s: float) -> None:
        self._host = urlsplit(address).netloc
        self._every_s = every_s
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, name="visitor", daemon=True)
        self.seen: dict[str, int] = {}

    def __enter__(self) -> Visitor:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.is_set():
            for name, role in (("sam", "surveillance"), ("tim", "technician")):
                try:
                    self._visit(name, role)
                except (OSError, http.client.HTTPException) as error:
                    # A computer that is busy with other work answers some late.
                    key = f"no answer: {type(error).__name__}"
                    self.seen[key] = self.seen.get(key, 0) + 1

    def _visit(self, name: str, role: str) -> None:
        with closing(http.client.HTTPConnection(self._host, timeout=60)) as line:
            cookie = ""
            person = {"name": name, "role": role, "passphrase": WORD}
            case = ("POST", "/rounds/1/case", {"reason": "growth"})
            for method, path, form in (
                ("POST", "/login", person),
                *(("GET", path, {}) for path in LOOKS),
                case,
                ("POST", "/logout", {}),
            ):
                headers = {"Accept": "text/html", "Origin": f"http://{self._host}"}
                if cookie:
                    headers["Cookie"] = cookie
                body = urlencode(form) if method == "POST" else None
                line.request(method, path, body, headers)
                answer = line.getresponse()
                answer.read()
                if path == "/login":
                    cookie = (answer.getheader("set-cookie") or "").partition(";")[0]
                key = f"{role} {method} {path} {answer.status}"
                self.seen[key] = self.seen.get(key, 0) + 1
                if self._ended.wait(self._every_s):
                    return


def viewer(address: str) -> str:
    """Log a viewer in; return the cookie."""
    host = urlsplit(address).netloc
    line = http.client.HTTPConnection(host, timeout=60)
    body = urlencode({"name": "vic", "role": "viewer", "passphrase": WORD})
    line.request("POST", "/login", body, {"Origin": f"http://{host}"})
    answer = line.getresponse()
    answer.read()
    line.close()
    assert answer.status == 303, answer.status
    return (answer.getheader("set-cookie") or "").partition(";")[0]


def sample(page: Process) -> dict[str, float]:
    """What the page holds now."""
    own = Path(f"/proc/{page.pid}")
    return {
        "memory_mb": round(page.resident_mb(), 1),
        "files": len(list((own / "fd").iterdir())),
        "threads": in_status(page.pid, "Threads"),
    }


def main(
    minutes: Annotated[float, typer.Option(help="How long.")] = 120.0,
    readers: Annotated[int, typer.Option(min=0, help="Of the stream.")] = 5,
    round_s: Annotated[float, typer.Option("--round", help="Seconds of a round.")] = 8.0,
    every_s: Annotated[float, typer.Option("--every", help="Seconds between two looks.")] = 1.0,
    sample_s: Annotated[float, typer.Option("--sample", help="Seconds between samples.")] = 60.0,
) -> None:
    """Let a page be looked at for long; status 1 where it grew."""
    # Told to end earlier, it judges what it has seen.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="page-growth-") as made:
        folder = Path(made)
        (folder / "settings.toml").write_text(tomlkit.dumps(_settings(folder)))
        for name, role in (("vic", "viewer"), ("sam", "surveillance"), ("tim", "technician")):
            accounts.add(folder / "users.toml", name, accounts.ROLES[role], WORD, f"{name}-1")
        with (
            TableStandIn(folder, round_s) as table,
            a_page(folder, "grown", login=True, nice=0) as page,
        ):
            cookie = viewer(page.address)
            with (
                Readers(page.address, readers, cookie=cookie),
                Visitor(page.address, every_s) as visitor,
            ):
                if not _watched(page, table, visitor, minutes, sample_s):
                    raise typer.Exit(1)


def _settings(folder: Path) -> dict[str, Any]:
    return {
        "service": {"runtime_dir": str(folder / "run"), "table_name": "Table 7"},
        "journal": {
            "path": str(folder / "journal.jsonl"),
            "pictures": str(folder / "pictures"),
        },
        "console": {"users_file": str(folder / "users.toml")},
    }


def _watched(
    page: Process, table: TableStandIn, visitor: Visitor, minutes: float, sample_s: float
) -> bool:
    began_s = time.monotonic()
    samples: list[tuple[float, dict[str, float]]] = []
    try:
        while (at_s := time.monotonic() - began_s) < 60 * minutes:
            page.check()
            samples.append((at_s, sample(page)))
            _say(minutes=round(at_s / 60, 1), rounds=table.rounds, **samples[-1][1])
            time.sleep(sample_s)
    except KeyboardInterrupt:
        minutes = at_s / 60
    counted = [(at_s, one) for at_s, one in samples if at_s >= WARM_UP * 60 * minutes]
    (first_s, first), (last_s, last) = counted[0], counted[-1]
    grown = {name: round(last[name] - first[name], 1) for name in first}
    share = page.cpu_s() / (time.monotonic() - began_s)
    _say(
        grown=grown,
        over_minutes=round((last_s - first_s) / 60, 1),
        worst_mb=max(one["memory_mb"] for _, one in samples),
        core_percent=round(100 * share, 2),
        rounds=table.rounds,
        answers=visitor.seen,
    )
    is_left = max(grown["files"], grown["threads"]) > LEFT_OVER
    return grown["memory_mb"] <= GROWTH_MB and not is_left


def _say(**told: Any) -> None:
    typer.echo(json.dumps(told))


if __name__ == "__main__":
    typer.run(main)
