"""The Debian package on a Debian that boots its own systemd: played, upgraded, taken away.

    python -m hil_tests.installed.upgraded --package dist/shaker-ctl_..._amd64.deb

As in `booted`, the machine is the virtual rig outside the container. The other versions are made of
the given package: `better` has a higher version and another model manifest, `worse` a program whose
settings cannot be read.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hil_tests.installed import debian
from hil_tests.installed.booted import (
    BootedDebian,
    Computer,
    furnish,
    open_table,
    put_stand_ins,
)
from hil_tests.installed.debian import Teller
from hil_tests.waiting import until

PLAYED_S = 600.0
"""Longest that five rounds may take on a machine that does other work too."""

JOURNAL = "/var/lib/shaker-ctl/journal.sqlite"
SETTINGS = "/etc/shaker-ctl/settings.toml"
FORMER = "/usr/lib/shaker-ctl.former"


def recipe(suite: str) -> debian.Recipe:
    """Return a Debian with what the package depends on, since no mirror is asked inside."""
    packages = (
        "systemd",
        "systemd-sysv",
        "dbus",
        "udev",
        "python3",
        "socat",
        *debian.LIBRARIES[suite],
    )
    return debian.Recipe(suite, packages)


# ── Other versions ──────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Packages:
    """The package under test, and what may follow it."""

    given: Path
    better: Path
    worse: Path


def packages(given: Path, folder: Path) -> Packages:
    """Make the versions that an upgrade leads to."""
    return Packages(
        given,
        _variant(given, folder / "better.deb", "100.0", _with_other_manifest),
        _variant(given, folder / "worse.deb", "101.0", _with_broken_settings),
    )


def _variant(given: Path, made: Path, version: str, change: Callable[[Path], None]) -> Path:
    tree = made.with_suffix("")
    subprocess.run(["dpkg-deb", "--raw-extract", str(given), str(tree)], check=True)
    control = tree / "DEBIAN" / "control"
    lines = control.read_text("utf-8").splitlines()
    named = [f"Version: {version}" if line.startswith("Version:") else line for line in lines]
    control.write_text("\n".join(named) + "\n", "utf-8")
    (site,) = tree.glob("usr/lib/shaker-ctl/lib/python3.*/site-packages")
    change(site)
    words = ["dpkg-deb", "--root-owner-group", "-Zzstd", "-z1", "--build", str(tree), str(made)]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(tree)
    return made


def _with_other_manifest(site: Path) -> None:
    manifest = site / "models" / "manifest.toml"
    manifest.write_text(manifest.read_text("utf-8") + "\n[another]\nrelease = true\n", "utf-8")


def _with_broken_settings(site: Path) -> None:
    settings = site / "shaker_ctl" / "settings.py"
    settings.write_text("raise ImportError('a release that was never tried')\n", "utf-8")


# ── What is promised ────────────────────────────────────────────────────────


def check_first_installation(computer: Computer, given: Path, say: Teller) -> None:
    ran = computer.try_("dpkg", "--install", f"/{given.name}")
    say("dpkg --install: " + last_line(ran.stdout), ran.returncode == 0)
    unit = computer.unit()
    say(f"nothing starts by itself: {unit['ActiveState']}", unit["ActiveState"] == "inactive")
    asked = computer.try_("shaker-ctl", "install", "--yes")
    say("install: " + last_line(asked.stdout), asked.returncode == 0)
    again = computer.try_("shaker-ctl", "install", "--check")
    say("install again: " + last_line(again.stdout), again.returncode == 0)
    owner = computer.run("stat", "-c", "%U:%G %a", "/var/lib/shaker-ctl", "/etc/shaker-ctl")
    say(f"folders: {owner.split()}", owner.split()[:2] == ["shaker:shaker", "750"])
    units = ["shaker-ctl.service", "shaker-pigpiod.service", r"media-shaker\x2djournal.mount"]
    found = computer.try_("systemd-analyze", "verify", *units)
    say(f"verify: {found.stdout.strip() or 'clean'}", found.returncode == 0 and not found.stdout)
    refused = computer.try_("shaker-ctl", "demo", "--rounds", "1")
    say("demo: " + last_line(refused.stdout), refused.returncode == 1)
    extra = computer.try_("/usr/lib/shaker-ctl/bin/python3", "-c", "import hil_tests")
    say("no rig is on this table", extra.returncode != 0)


def check_play(machine: BootedDebian, computer: Computer, rounds: int, say: Teller) -> None:
    started = computer.try_("systemctl", "start", "shaker-ctl")
    say("started", started.returncode == 0)
    if started.returncode != 0:
        print(computer.log())  # noqa: T201 - the reason
    open_table(machine)

    until(lambda: len(rounds_played(computer)) >= rounds, PLAYED_S, every_s=1.0)
    say(f"{rounds} rounds were played", True)


def check_open_table_refuses(computer: Computer, packages: Packages, say: Teller) -> None:
    pid = computer.unit()["MainPID"]
    ran = computer.try_("dpkg", "--install", f"/{packages.better.name}")
    said = next((x for x in ran.stdout.splitlines() if "table is running" in x), ran.stdout[-200:])
    say(f"upgrade of an open table: {said}", ran.returncode != 0 and "table is running" in said)
    say("the table goes on, untouched", computer.unit()["MainPID"] == pid)


def close_table(machine: BootedDebian) -> None:
    """Have the floorperson close it; a round that is under way is played to its end first."""
    fay = machine.as_("floorperson", "fay")
    fay.ask("close")
    until(lambda: fay.status()["life"] == "closed", 180.0, every_s=0.5)
    fay.close()


def check_upgrade(computer: Computer, packages: Packages, before: str, say: Teller) -> None:
    head = journal_head(computer)
    ran = computer.try_("dpkg", "--install", f"/{packages.better.name}")
    say(f"upgrade: {last_line(ran.stdout)}", ran.returncode == 0)
    if ran.returncode != 0:
        print(ran.stdout)  # noqa: T201 - the reason
    say(f"version {installed(computer)}, {state(computer)}", installed(computer) == "100.0")
    say("the new version plays", state(computer) == "active")
    say("settings are as they were", computer.run("cat", SETTINGS) == before)
    say("the journal goes on", journal_head(computer) >= head)
    say("nothing is left aside", not (computer.root / FORMER.lstrip("/")).exists())


def check_bad_upgrade(computer: Computer, packages: Packages, say: Teller) -> None:
    ran = computer.try_("dpkg", "--install", f"/{packages.worse.name}")
    said = [line for line in ran.stdout.splitlines() if "in service again" in line]
    say(
        f"bad upgrade: {said[0] if said else ran.stdout[-300:]}", ran.returncode != 0 and bool(said)
    )
    say(f"the former version plays: {state(computer)}", state(computer) == "active")
    back = computer.try_("dpkg", "--install", f"/{packages.better.name}")
    say(f"its package again: {last_line(back.stdout)}", back.returncode == 0)
    say(f"it plays: {state(computer)}", state(computer) == "active")


def check_downgrade(computer: Computer, packages: Packages, say: Teller) -> None:
    ran = computer.try_("dpkg", "--install", f"/{packages.given.name}")
    say(f"downgrade: {last_line(ran.stdout)}", ran.returncode == 0)
    say(f"version {installed(computer)}, {state(computer)}", state(computer) == "active")
    verified = computer.try_("shaker-ctl", "journal", "verify", "--config", SETTINGS)
    say(f"journal: {last_line(verified.stdout)}", verified.returncode == 0)


def check_killed(computer: Computer, packages: Packages, moment_s: float, say: Teller) -> None:
    """Kill dpkg and its scripts in the middle; `dpkg` again, as a person does, ends it well."""
    words = f"setsid dpkg --install /{packages.better.name} & sleep {moment_s}; kill -9 -$!"
    computer.run("sh", "-c", words)
    again = computer.try_("dpkg", "--install", f"/{packages.better.name}")
    is_fine = again.returncode == 0 and state(computer) == "active"
    say(f"killed after {moment_s:g} s, installed again: {state(computer)}", is_fine)
    if not is_fine:
        print(again.stdout)  # noqa: T201 - the reason
    computer.try_("dpkg", "--install", f"/{packages.given.name}")


def check_removal(computer: Computer, say: Teller) -> None:
    gone = computer.try_("dpkg", "--remove", "shaker-ctl")
    kept = [name for name in (SETTINGS, JOURNAL) if (computer.root / name.lstrip("/")).exists()]
    say(f"remove keeps {', '.join(kept)}", gone.returncode == 0 and kept == [SETTINGS, JOURNAL])
    program = computer.root / "usr/lib/shaker-ctl"
    say("the program is gone", not program.exists())
    computer.run("dpkg", "--purge", "shaker-ctl")
    kept = [name for name in (SETTINGS, JOURNAL) if (computer.root / name.lstrip("/")).exists()]
    say(f"purge keeps {', '.join(kept)}", kept == [JOURNAL])


# ── Looking ─────────────────────────────────────────────────────────────────


def last_line(text: str) -> str:
    """Return what a program said last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "nothing was said"


def rounds_played(computer: Computer) -> list[Any]:
    """Return the rounds that the running table shows; none where it does not answer."""
    said = computer.try_("shaker-ctl", "status", "--json")
    found: list[Any] = json.loads(said.stdout)["rounds"] if said.returncode == 0 else []
    return found


def installed(computer: Computer) -> str:
    """Return the version that dpkg has."""
    return computer.run("dpkg-query", "--showformat=${Version}", "--show", "shaker-ctl").strip()


def state(computer: Computer) -> str:
    """Return how the table's unit stands."""
    return computer.unit()["ActiveState"]


def journal_head(computer: Computer) -> int:
    """Return the size of the journal, which only grows."""
    return (computer.root / JOURNAL.lstrip("/")).stat().st_size


# ── Order ───────────────────────────────────────────────────────────────────


def run(root: Path, made: Packages, rounds: int, moments_s: list[float]) -> bool:
    """Boot, check everything in order, and end all of it again."""
    say = Teller()
    with ExitStack() as ended, tempfile.TemporaryDirectory(prefix="upgraded-") as folder:
        machine = BootedDebian(Path(folder))
        ended.callback(machine.session.close)
        put_stand_ins(root, machine)
        computer = Computer(root, machine.devices())
        ended.callback(computer.close)
        say("booted: " + computer.run("systemctl", "--version").splitlines()[0], True)
        check_first_installation(computer, made.given, say)
        furnish(computer, machine)
        computer.run("shaker-ctl", "install", "--yes")
        check_play(machine, computer, rounds, say)
        check_open_table_refuses(computer, made, say)
        close_table(machine)
        check_upgrade(computer, made, machine.settings(), say)
        check_bad_upgrade(computer, made, say)
        check_downgrade(computer, made, say)
        for moment_s in moments_s:
            check_killed(computer, made, moment_s, say)
        check_removal(computer, say)
        if not say.is_fine:
            print(computer.log())  # noqa: T201 - the reasons
    return say.is_fine


def main() -> int:
    """Check one package on its Debian; return 0 where all held."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--package", type=Path, required=True)
    parser.add_argument("--suite", choices=sorted(debian.LIBRARIES), default="bookworm")
    parser.add_argument("--cache", type=Path, default=debian.CACHE)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--killed-after",
        type=float,
        nargs="*",
        default=[0.2, 0.5, 1, 2, 3, 5, 8, 12, 20, 30],
        help="Seconds into an upgrade at which it is killed.",
    )
    given = parser.parse_args()
    root = given.cache / f"upgraded-{given.suite}-root"
    try:
        debian.require("mmdebstrap", "systemd-nspawn", "nsenter", "dpkg-deb")
        debian.unpack(recipe(given.suite), given.cache, root)
        made = packages(given.package, root)
        shutil.copyfile(given.package, root / given.package.name)
        return 0 if run(root, made, given.rounds, given.killed_after) else 1
    except debian.DebianError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 2


if __name__ == "__main__":
    sys.exit(main())
