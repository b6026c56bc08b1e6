"""A table that starves: of processor, of memory, of its disk, at four moments of a round.

`python -m hil_tests.reliability.starved` (root, a quiet machine) plays whole rounds on the rig and
starves the service at each moment of one. Four things hold, whatever becomes of that round. No lamp
burns that its dice do not win. The motor is never driven longer than its toss is planned. What
happened has the name of a fault, or the round ends as usual. The table plays on afterwards.

The processes of the table alone have the quota and the limit of memory (cgroups, version 1). The
hogs run on every core. The journal's disk is a file system in a file, which fsfreeze(8) stops.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import typer

from hil_tests.campaign import Judged, Only, Results, judge_all
from hil_tests.processes import BenchError, mounted
from hil_tests.reliability.harm import FIVE_TURNS_S, Tail
from hil_tests.reliability.witness import drives
from hil_tests.scenarios.table import Table
from hil_tests.table_under_test.lamps import against_truth
from hil_tests.table_under_test.session import Plan, Session
from hil_tests.table_under_test.world import World
from hil_tests.waiting import until
from shaker_ctl.errors import ShakerError

PLANNED_S = 1.8
"""Every toss: the shortest shake that is approved by default."""

MOTOR_LATE_S = 0.2
"""Longest that EN may be high beyond the plan: the dead-man's time on the rig, and braking."""

BACK_S = 120.0
"""Longest until a starved round has ended, with a restart of the service in it."""

UNWRITTEN = "journal-write"
"""Nothing more can be recorded; a person restarts the service once the disk is well."""

CPU, MEMORY = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup/memory")
QUOTA_US = 30_000
"""Of 100 ms, the kernel's period, for all processes of the table together."""

Starving = Callable[[], AbstractContextManager[None]]


class Group:
    """The processes of one table, in a group of the processor's and of the memory's controller."""

    def __init__(self) -> None:
        self.folders = [one / f"starved-{os.getpid()}" for one in (CPU, MEMORY)]
        for folder in self.folders:
            folder.mkdir()

    def close(self) -> None:
        """Take it away; nothing of it may run any more."""
        for folder in self.folders:
            folder.rmdir()

    @contextmanager
    def quota(self) -> Iterator[None]:
        """Less than a third of one core for all of them."""
        file = self.folders[0] / "cpu.cfs_quota_us"
        file.write_text(str(QUOTA_US))
        try:
            yield
        finally:
            file.write_text("-1")

    @contextmanager
    def little_memory(self) -> Iterator[None]:
        """Leave the group as little memory as possible: what it touches next is read anew."""
        used = int((self.folders[1] / "memory.usage_in_bytes").read_text())
        file = self.folders[1] / "memory.limit_in_bytes"
        for share in range(50, 100, 2):
            with suppress(OSError):
                file.write_text(str(used * share // 100))
                break
        try:
            yield
        finally:
            file.write_text("-1")


@contextmanager
def hogs() -> Iterator[None]:
    """On every core a program that goes before everything else."""
    hog = ["nice", "-n", "-20", sys.executable, "-c", "while True: pass"]
    running = [subprocess.Popen(hog) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()


@contextmanager
def stalled(disk: Path) -> Iterator[None]:
    """Every write to that file system waits until the end."""
    subprocess.run(["fsfreeze", "-f", str(disk)], check=True)
    try:
        yield
    finally:
        subprocess.run(["fsfreeze", "-u", str(disk)], check=True)


# ── One round ───────────────────────────────────────────────────────────────

MOMENTS: Mapping[str, tuple[str, str, float]] = {
    "betting": ("", "", 0.0),
    "toss": ("events", "enable", FIVE_TURNS_S),
    "reading": ("truth", "", 0.0),
    "push": ("events", "stage", 0.0),
}
"""In which log of the rig a moment shows, by which note, and how long after it."""


def starved_round(
    table: Table, moment: str, starving: Starving, for_s: float
) -> tuple[str, set[str], float, float]:
    """Play a round, starved from `moment` on; return its ending, the codes of the faults, how long
    EN was high at most, and the seconds from the end of hunger to the end of the round."""
    number = _betting(table)
    began_s = time.monotonic()
    log, what, after_s = MOMENTS[moment]
    if log:
        tail = Tail(Path(table.rig[log]))
        until(lambda: any(not what or note["what"] == what for note in tail.take()), 60.0)
        tail.close()
        time.sleep(after_s)
    with starving():
        time.sleep(for_s)
    fed_s = time.monotonic()
    codes = _until_over(table, number)
    took_s = time.monotonic() - fed_s
    played = table.round(number)
    if lit := table.lit_for(number):
        lamps = against_truth(lit, table.toss_of(played)["dice"], table.session.plan.profile)
        table.story.expect(f"round {number}: no other lamp burns", not lamps.wrong, lamps.wrong)
    return str(played["verdict"]), codes, _driven_s(table, began_s), took_s


def _betting(table: Table) -> int:
    """Wait until bets are open, with people's help in the round before; return the number."""

    def said() -> int:
        status = table.status()
        with suppress(ShakerError):
            table.serve(status)
        return int(status["round"]) if status["phase"] == "betting" else 0

    return until(said, BACK_S, every_s=0.05)


def _until_over(table: Table, number: int) -> set[str]:
    """Wait until the round is over or the table out of service; return the faults that stood."""
    codes: set[str] = set()

    def is_over() -> bool:
        if not table.session.is_serving:
            codes.add("killed")
            table.leave_consoles()
            table.give_power()
        try:
            status = table.status()
            if UNWRITTEN in status["faults"] and UNWRITTEN not in codes:
                table.leave_consoles()
                table.session.stop_service()
                table.give_power()
            codes.update(status["faults"])
            table.serve(status)
            return status["life"] != "open" or table.has_ended(number)
        except (ShakerError, OSError):
            table.leave_consoles()
            return False

    until(is_over, BACK_S, every_s=0.1)
    return codes


def _driven_s(table: Table, since_s: float) -> float:
    """The longest that EN was high without a gap."""
    now_s = time.monotonic()
    driven = drives(table.happened(since_s))
    return max(((fell_s or now_s) - rose_s for rose_s, fell_s in driven), default=0.0)


def judged(table: Table, moment: str, starving: Starving, for_s: float) -> Judged:
    """Play one starved round and one after it."""
    try:
        table.be_open()
        ending, codes, driven_s, took_s = starved_round(table, moment, starving, for_s)
        table.be_open()
        number = _betting(table)
        _until_over(table, number)
        assert table.has_ended(number), "the next round did not end"
    except AssertionError as error:
        said = table.status()
        where = f"{said['life']}, {said['phase']}, faults {said['faults']}: {said['says']}"
        return Judged(False, f"{error} ({where})")
    is_off = driven_s <= PLANNED_S + MOTOR_LATE_S
    is_named = bool(codes) or ending in ("settled", "no_roll", "settled_by_hand")
    told = ", ".join(sorted(codes)) or "none"
    return Judged(
        is_off and is_named,
        f"{ending}, faults: {told}; motor driven {driven_s:.2f} s; over {took_s:.1f} s later; "
        "played on",
    )


def settings_with(journal: Path) -> dict[str, Any]:
    """Return what differs from the rig's settings: each toss is planned alike."""
    return {
        "motion": {"shake": {"min_s": PLANNED_S, "max_s": PLANNED_S}},
        "journal": {"path": str(journal)},
    }


WAYS_S = {
    "processor 30 %": 10.0,
    "memory pressed": 10.0,
    "hogs at nice -20": 5.0,
    "disk stalls": 5.0,
}
"""For how long each starves."""
CASES = [f"{way}, {moment}" for way in WAYS_S for moment in MOMENTS]


@contextmanager
def starving_table(folder: Path) -> Iterator[tuple[Table, Mapping[str, Starving]]]:
    """A table, and the ways to starve it."""
    with ExitStack() as ended:
        disk = folder / "disk"
        if not ended.enter_context(mounted(disk, 256)):
            raise BenchError("no disk can be mounted here", remedy="Run it as root")
        plan = Plan(pace="brisk", seed=6, changes=settings_with(disk / "journal.jsonl"))
        group = Group()
        ended.callback(group.close)
        world = World(folder / "table")
        world.groups = group.folders
        table = ended.enter_context(Table(Session(plan, folder / "table", world=world)))
        ways = (group.quota, group.little_memory, hogs, partial(stalled, disk))
        yield table, dict(zip(WAYS_S, ways, strict=True))


def main(only: Only = None, results: Results = None) -> None:
    """Starve a table; status 1 where a round did not end as it must."""
    with (
        tempfile.TemporaryDirectory(prefix="starved-") as folder,
        starving_table(Path(folder)) as (table, ways),
    ):

        def one(case: str) -> Judged:
            way, moment = case.split(", ")
            return judged(table, moment, ways[way], WAYS_S[way])

        judge_all(CASES, one, only, results)


if __name__ == "__main__":
    typer.run(main)
