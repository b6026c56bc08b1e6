"""The package on a Debian that boots its own systemd, with the virtual rig outside as its machine.

    python -m hil_tests.installed.booted --package dist/shaker-ctl_..._amd64.deb

First Debian's own `autopkgtest` runs the package's tests (`systemd/debian/tests`): they install,
upgrade, kill and remove it, and people outside open and close the table for them. Then the table
plays, and is treated as no test of the package may treat it: hung, killed, stopped while lit.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from hil_tests.installed import debian
from hil_tests.installed.computer import Computer
from hil_tests.installed.debian import Teller
from hil_tests.installed.machine import Attendants, OuterRig, booted
from hil_tests.reliability.tracer import hang
from hil_tests.table_under_test.table import people_at
from hil_tests.waiting import until

HERE = Path(__file__).resolve().parents[2]

BULBS_S = 0.3
"""After it, bulbs that were switched on glow."""

OFF_S = 0.150
"""Longest drive of a motor whose controller is gone."""

PLAYED_S = 900.0
"""Longest that five rounds may take on a machine that does other work too."""

ROUNDS = 5


# ── What is promised ────────────────────────────────────────────────────────


def check_package(computer: Computer, package: Path, say: Teller) -> None:
    """Debian's own run of the package's tests; what each promises is in its log."""
    words = ("autopkgtest", "--no-built-binaries", f"/srv/{package.name}", "/srv/source")
    ran = computer.try_(*words, "--output-dir=/srv/autopkgtest", "--", "null")
    for timed in ran.stdout.splitlines():
        line = re.sub(r"^ *\d+s ", "", timed)  # trixie's autopkgtest begins with the time
        if line.startswith(("ok  ", "FAIL")) or line.endswith(("PASS", "SKIP")):
            print(line)  # noqa: T201 - one line a promise
    say("autopkgtest", ran.returncode == 0, ran.stdout[-6000:])


def check_play(computer: Computer, people: Attendants, say: Teller) -> None:
    people.wish("open")
    ends_s = time.monotonic() + PLAYED_S
    while len(ended := rounds_ended(computer)) < ROUNDS and time.monotonic() < ends_s:
        time.sleep(1.0)
    people.wish("close")
    until(lambda: shown(computer).get("life") != "open", 180.0, every_s=0.5)
    say(f"{len(ended)} rounds: {', '.join(ended)}", len(ended) >= ROUNDS)
    tables = computer.root / "var/lib/shaker-ctl/journal.tables.sqlite"
    say("the records process keeps its tables", tables.exists(), computer.log)


def shown(computer: Computer) -> dict[str, Any]:
    """Return what the running table shows; nothing where it does not answer."""
    said = computer.try_("shaker-ctl", "status", "--json")
    found: dict[str, Any] = json.loads(said.stdout) if said.returncode == 0 else {}
    return found


def rounds_ended(computer: Computer) -> list[str]:
    """Return how each round ended that the running table shows; a void one is no round."""
    endings = [one["ending"] for one in shown(computer).get("rounds", ())]
    return [ending for ending in endings if ending != "void"]


def check_kill(computer: Computer, machine: OuterRig, say: Teller) -> None:
    """Killed while a technician jogs."""
    low_before = computer.pins_taken_low()
    tom = machine.as_("technician", "tom")
    tom.ask("jog 400 5")
    until(machine.turns, 10.0)
    tom.close()
    os.kill(computer.main_pid(), signal.SIGKILL)
    off_s = machine.seconds_until_off()
    say(f"SIGKILL in a jog: EN low after {off_s * 1000:.0f} ms", off_s <= OFF_S)
    back(computer, machine, say, restarts=1, low_before=low_before, code="controller-died")


def check_hang(computer: Computer, machine: OuterRig, say: Teller) -> None:
    """Hung in the toss of a round: it is void, and nothing plays before a new inspection."""
    pid = computer.main_pid()
    with people_at(machine.session) as table:
        table.be_open()
    low_before = computer.pins_taken_low()
    until(machine.turns, 60.0)
    hang(pid)
    off_s = machine.seconds_until_off()
    say(f"hung loop in a toss: EN low after {off_s * 1000:.0f} ms", off_s <= OFF_S)
    until(lambda: computer.unit()["Result"] == "watchdog", 10.0)
    back(computer, machine, say, restarts=2, low_before=low_before, code="controller-hung")


def back(
    computer: Computer,
    machine: OuterRig,
    say: Teller,
    *,
    restarts: int,
    low_before: int,
    code: str,
) -> None:
    """Wait for the restart; the round in hand is ended, and the fault `code` says why."""
    until(lambda: computer.unit()["NRestarts"] == str(restarts), 20.0)
    until(lambda: computer.unit()["SubState"] == "running", 60.0)
    low = computer.pins_taken_low() - low_before
    say(f"the stop script took the pins low ({low} times)", low >= 1)
    say("the motor is off", not machine.is_driven())
    tosses = machine.look()["tosses"]
    console = machine.session.console("technician")

    def is_in_fault() -> dict[str, Any] | None:
        status: dict[str, Any] = console.status()
        return status if status["life"] == "out of service" else None

    status = until(is_in_fault, 30.0, every_s=0.2)
    console.close()
    is_still = not machine.is_driven() and machine.look()["tosses"] == tosses
    say(
        f"restarted in fault {', '.join(status['faults'])}: {status['says']}",
        is_still and code in status["faults"],
    )


def check_stop(computer: Computer, machine: OuterRig, say: Teller) -> None:
    """Stopped while a result is lit."""
    with people_at(machine.session) as table:
        table.be_open()

        def lit() -> Any:
            lamp = machine.look()["lamp"]
            if lamp["state"] == "result":
                return lamp
            table.prompt(table.status())
            return None

        until(lit, 120.0, every_s=0.2)
    time.sleep(BULBS_S)
    before = machine.look()["lamp"]
    low_before = computer.pins_taken_low()
    began_s = time.monotonic()
    computer.run("systemctl", "stop", "shaker-ctl")
    took_s = time.monotonic() - began_s
    after = machine.look()["lamp"]
    unit = computer.unit()
    say(
        f"stop after {took_s:.1f} s: {unit['ActiveState']}, {unit['Result']}",
        unit["ActiveState"] == "inactive" and unit["Result"] == "success",
    )
    say("the motor is off", not machine.is_driven())
    say(
        "the stop script took the pins low",
        computer.pins_taken_low() > low_before,
    )
    is_lit = bool(before["glowing"])
    is_held = is_lit and all(after[key] == before[key] for key in ("glowing", "round"))
    say(f"the result of round {after['round']} stays lit: {', '.join(after['glowing'])}", is_held)


# ── Order ───────────────────────────────────────────────────────────────────


def prepare_root(suite: str, package: Path, cache: Path, root: Path) -> None:
    """A Debian with the package, its tests, and Debian's program that runs those."""
    debian.unpack(debian.booting(suite, "autopkgtest", "dpkg-dev"), cache, root)
    source = root / "srv/source/debian"
    shutil.copytree(HERE / "systemd/debian", source)
    version = package.name.split("_")[1]
    (source / "changelog").write_text(CHANGELOG.format(version=version, suite=suite))
    shutil.copyfile(package, root / "srv" / package.name)


CHANGELOG = """shaker-ctl ({version}) {suite}; urgency=medium

  * See CHANGELOG.md of the source tree.

 -- The shaker-ctl authors <shaker-ctl@localhost>  Thu, 01 Jan 2026 00:00:00 +0000
"""


def run(root: Path, package: Path) -> bool:
    """Boot, check everything in order, and end all of it again."""
    say = Teller()
    with booted(root, say) as (computer, machine, people):
        check_package(computer, package, say)
        machine.session.ask_rig("inject lamp_memory_erased")  # its journal went with the package
        computer.run(
            "sh", "-c", "cp /srv/table/* /etc/shaker-ctl/ && chown root:shaker /etc/shaker-ctl/*"
        )
        computer.run("systemctl", "start", "shaker-ctl")
        check_play(computer, people, say)
        people.leave()
        check_kill(computer, machine, say)
        check_hang(computer, machine, say)
        check_stop(computer, machine, say)
    return say.is_fine


def main(
    package: Annotated[Path, typer.Option()],
    suite: debian.Suite = debian.Suite.BOOKWORM,
    cache: debian.Cache = debian.CACHE,
) -> None:
    """One package on the booted Debian of its suite; status 1 where a promise is not kept."""
    root = cache / f"booted-{suite}-root"
    with debian.checked():
        debian.require("mmdebstrap", "systemd-nspawn", "nsenter")
        prepare_root(suite, package, cache, root)
        if not run(root, package):
            raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
