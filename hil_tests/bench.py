"""`make bench`: how fast and how heavy the table is, on the virtual rig, in one run.

Prints medians and 99th percentiles of the times from dice truly at rest to all lamps read back lit,
the time from start to ready, and CPU share and memory of the service and of its camera process
while idle, betting and tossing. The program is compiled before it is started,
as an installed one is. Nothing here is a test: the machine's own load is in every figure.
"""

from __future__ import annotations

import compileall
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from hil_tests.processes import BenchError, cpu_s, in_rollup
from hil_tests.table_under_test.people import People, watched
from hil_tests.table_under_test.rounds import PlayedRound, RoundsTally, check, rounds_of
from hil_tests.table_under_test.session import Plan, Session
from shaker_ctl.seal.manifest import PACKAGES, ROOT
from shaker_ctl.service.status_socket import read_status

SAMPLE_S = 0.25
IDLE_S = 6.0

TOSSING = {"starting", "tossing", "coming to rest", "reading"}


@dataclass(frozen=True, slots=True)
class Memory:
    """What a process keeps in memory, MB (proc(5), smaps_rollup)."""

    private: float
    shared: float
    """Pages of libraries that other processes map too, above all the other one of the pair."""


def memory_of(pid: int) -> Memory:
    """Resident memory of a process now."""
    kept = in_rollup(pid)
    return Memory(
        sum(mb for name, mb in kept.items() if name.startswith("Private_")),
        sum(mb for name, mb in kept.items() if name.startswith("Shared_")),
    )


class Load:
    """CPU shares of some processes, by what the table does."""

    def __init__(self) -> None:
        self.spent: dict[tuple[str, str], float] = defaultdict(float)
        self.passed: dict[str, float] = defaultdict(float)
        self.memory: dict[str, Memory] = {}
        self._last: dict[str, tuple[float, float]] = {}

    def sample(self, what: str, processes: dict[str, int]) -> None:
        now = time.monotonic()
        for name, pid in processes.items():
            used = cpu_s(pid)
            self.memory[name] = memory_of(pid)
            if name in self._last:
                before_s, before = self._last[name]
                self.spent[what, name] += used - before
                if name == "service":
                    self.passed[what] += now - before_s
            self._last[name] = (now, used)


def main(
    rounds: Annotated[int, typer.Option(min=2, help="Rounds to play.")] = 30,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the rig.")] = 5,
) -> None:
    """Play, measure, print."""
    console = Console()
    for package in PACKAGES:
        compileall.compile_dir(ROOT / package, quiet=1)
    with tempfile.TemporaryDirectory(prefix="shaker-bench-") as name:
        folder = Path(name)
        plan = Plan(seed=seed, pace="brisk")
        load = Load()
        readings: dict[str, Any] = {}
        camera: dict[str, Any] = {}
        with Session(plan, folder) as session, Progress(console=console) as progress:
            task = progress.add_task("rounds", total=rounds)
            idle_until = time.monotonic() + IDLE_S
            while time.monotonic() < idle_until:
                time.sleep(SAMPLE_S)
                _look(session, read_status(session.runtime_dir), load, readings)
            people = People(session, lambda _: None)
            people.start()
            try:
                for view in watched(session, people, rounds, every_s=SAMPLE_S):
                    _look(session, view, load, readings)
                    camera = view["camera"]
                    progress.update(task, completed=view["round_id"] or 0)
            except BenchError as error:
                console.print(f"{error.line()}; what was measured before:", markup=False)
            people.stop()
            ready_s = session.ready_after_s
            session.stop_service()
        found = rounds_of(folder / "journal.jsonl", session.rig, folder, plan.profile)
        tally = check(found)
        console.print(_times(tally, found, list(readings.values()), ready_s))
        console.print(_loads(load))
        console.print(
            f"camera {camera.get('fps')} frames/s, {camera.get('late_frames')} late; "
            f"lamp line {session.rig['lamp']['baudrate']} baud; "
            f"{len(tally.differences)} differences from the truth in {tally.rounds} rounds"
        )


def _look(session: Session, view: dict[str, Any], load: Load, readings: dict[str, Any]) -> None:
    """Take what the processes hold, and the newest reading."""
    if session.service_pid is not None:
        processes = {"service": session.service_pid}
        if view["camera_pid"]:
            processes["camera process"] = view["camera_pid"]
        load.sample(_what(view), processes)
    if view["reading"] is not None:
        readings[str(view["reading"]["occasion"])] = view["reading"]


def _what(view: dict[str, Any]) -> str:
    if view["life"] in ("inspection due", "closed"):
        return "idle"
    if view["phase"] in TOSSING:
        return "tossing"
    return "betting" if view["phase"] == "betting" else "otherwise"


def _times(
    tally: RoundsTally,
    rounds: Sequence[PlayedRound],
    readings: Sequence[dict[str, Any]],
    ready_s: float,
) -> Table:
    table = Table(title="Times, ms", caption="all on CLOCK_MONOTONIC; rest is the physics' own")
    for name in ("what", "n", "median", "p99", "goal"):
        table.add_column(name, justify="left" if name == "what" else "right")
    _row(table, "true rest → lamps read back lit", tally.rest_to_lit_ms, "≤ 185, ≤ 215")
    verified = [r for r in rounds if r.t_rest and r.t_verified and r.t_lit]
    _row(
        table,
        "  true rest → verified",
        [1000 * ((r.t_verified or 0) - (r.t_rest or 0)) for r in verified],
        "",
    )
    _row(
        table,
        "  verified → lamps read back lit",
        [1000 * ((r.t_lit or 0) - (r.t_verified or 0)) for r in verified],
        "",
    )
    # The dip is asked for when the motor is switched off, and so is mostly over at rest: it costs
    # only what it comes later.
    dips = [
        1000 * max(0.0, r["t_dip_seen"] - r["t_rest"])
        for r in readings
        if r["t_dip_seen"] and r["t_rest"]
    ]
    _row(table, "  rest seen → ring-light dip seen, if later", dips, "")
    table.add_row("start → READY", "1", f"{1000 * ready_s:.0f}", "", "≤ 1200")
    return table


def _row(table: Table, what: str, values_ms: Sequence[float], goal: str) -> None:
    if not values_ms:
        table.add_row(what, "0", "–", "–", goal)
        return
    ordered = sorted(values_ms)
    p99 = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    table.add_row(what, str(len(ordered)), f"{statistics.median(ordered):.0f}", f"{p99:.0f}", goal)


def _loads(load: Load) -> Table:
    table = Table(title="Share of one core, and memory")
    table.add_column("process")
    phases = ("idle", "betting", "tossing", "otherwise")
    for phase in phases:
        table.add_column(f"{phase} ({load.passed[phase]:.0f} s)", justify="right")
    table.add_column("resident, MB", justify="right")
    for name in load.memory:
        shares = [
            f"{load.spent[p, name] / load.passed[p]:.0%}" if load.passed[p] else "–" for p in phases
        ]
        memory = load.memory[name]
        table.add_row(name, *shares, f"{memory.private + memory.shared:.0f}")
    # Both map the same libraries: counted once, at the most what the larger one shares.
    both = sum(m.private for m in load.memory.values()) + max(
        (m.shared for m in load.memory.values()), default=0.0
    )
    table.add_row("together, shared pages once", *[""] * len(phases), f"{both:.0f}")
    return table


if __name__ == "__main__":
    typer.run(main)
