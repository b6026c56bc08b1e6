"""The Debian package on a Debian that boots its own systemd: it plays, is upgraded, is removed.

    python -m hil_tests.installed.upgraded --package dist/shaker-ctl_..._amd64.deb

As in `booted`, the machine is the virtual rig outside the container. The versions to upgrade to
are made from the given package (`Packages`). Everything is checked twice: unsealed, then with an
approver's seal.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import onnxruntime
import typer
from onnxruntime.capi import onnxruntime_pybind11_state as onnxruntime_errors

from hil_tests.floor.house import House
from hil_tests.installed import debian, page_and_link
from hil_tests.installed.computer import Computer
from hil_tests.installed.debian import Teller
from hil_tests.installed.machine import (
    OuterRig,
    at_table,
    booted,
    check_installed,
    furnish,
    last_line,
    open_table,
)
from hil_tests.processes import BenchError
from hil_tests.waiting import until
from shaker_ctl.console.client import ConsoleRefusedError
from shaker_ctl.errors import ConsoleLineError

PLAYED_S = 900.0
"""Longest that five rounds may take on a machine that does other work too."""

JOURNAL = "/var/lib/shaker-ctl/journal.sqlite"
SETTINGS = "/etc/shaker-ctl/settings.toml"
FORMER = "/usr/lib/shaker-ctl.former"
OF_HOUSE = ("/etc/shaker-ctl", "/etc/shaker-page", "/etc/shaker-link")
ACTIVE = "active"
"""What systemd says of a unit that runs."""

TRIES = 3
"""How often people install a package again. On a busy machine the doctor may find a device late."""


# ── Other versions ──────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Packages:
    """The package under test, and what may follow it."""

    given: Path
    better: Path
    """A higher version with other weights in a network, and with one more setting."""
    worse: Path
    """Its settings cannot be read."""
    newer: Path
    """It writes records that the given version does not know."""
    torn: Path
    """dpkg cannot unpack it: another package owns one of its files."""


def packages(given: Path, folder: Path) -> Packages:
    """Make the versions that an upgrade leads to."""
    return Packages(
        given,
        _variant(given, folder / "better.deb", "100.0", _with_other_weights_and_setting),
        _variant(given, folder / "worse.deb", "101.0", _with_broken_settings),
        _variant(given, folder / "newer.deb", "102.0", _with_newer_records),
        _variant(given, folder / "torn.deb", "103.0", _with_a_file_of_another_package),
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


NEW_SETTING = "approver_said"
"""A key of `[seal]` that only `better` knows."""


def _with_other_weights_and_setting(site: Path) -> None:
    manifest, model = site / "models" / "manifest.toml", site / "models" / "dice.onnx"
    before = model.read_bytes()
    after = with_another_weight(before)
    model.write_bytes(after)
    old, new = (hashlib.sha256(content).hexdigest() for content in (before, after))
    _replaced(manifest, old, new)
    _replaced(
        site / "shaker_ctl" / "seal" / "parameters.py",
        "    required: bool = False\n",
        f'    required: bool = False\n    """Whether."""\n\n    {NEW_SETTING}: int = 0\n',
    )


def with_another_weight(model: bytes) -> bytes:
    """Return the network with one weight a little larger or smaller, so that its outputs differ."""
    image = np.random.default_rng(1).integers(0, 255, (1, 96, 96, 3), np.uint8)
    quiet = onnxruntime.SessionOptions()
    quiet.log_severity_level = 4

    def outputs(content: bytes) -> list[Any]:
        session = onnxruntime.InferenceSession(content, quiet, providers=["CPUExecutionProvider"])
        found: list[Any] = session.run(None, {session.get_inputs()[0].name: image})
        return found

    before = outputs(model)
    for place in range(len(model) * 7 // 8, len(model), 997):  # the last layers: all of it shows
        changed = bytearray(model)
        changed[place] ^= 1
        with suppress(onnxruntime_errors.InvalidArgument, onnxruntime_errors.InvalidGraph):
            pairs = zip(before, outputs(bytes(changed)), strict=True)
            if 0 < max(float(np.abs(a - b).max()) for a, b in pairs) < SMALL:
                return bytes(changed)
    raise AssertionError("no weight was found")


SMALL = 0.1
"""Largest difference of an output, of some 4, by which the network still finds dice."""


def _with_broken_settings(site: Path) -> None:
    settings = site / "shaker_ctl" / "settings.py"
    settings.write_text("raise ImportError('a release that was never tried')\n", "utf-8")


def _with_newer_records(site: Path) -> None:
    _replaced(site / "shaker_ctl" / "journal" / "record.py", "\nSCHEMA = 2\n", "\nSCHEMA = 3\n")


def _with_a_file_of_another_package(site: Path) -> None:
    (tree,) = (folder for folder in site.parents if (folder / "DEBIAN").is_dir())
    (tree / "usr/bin/socat").write_text("", "utf-8")


def _replaced(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text, f"{file} has changed: this check must follow"
    file.write_text(text.replace(old, new), "utf-8")


# ── What is promised ────────────────────────────────────────────────────────


def check_first_installation(computer: Computer, given: Path, say: Teller) -> None:
    ran = computer.try_("dpkg", "--install", f"/{given.name}")
    say("dpkg --install: " + last_line(ran.stdout), ran.returncode == 0)
    unit = computer.unit()
    say(f"nothing starts by itself: {unit['ActiveState']}", unit["ActiveState"] == "inactive")
    check_installed(computer, "shaker-ctl", "shaker-pigpiod.service", say)
    for module in ("hil_tests", "shaker_ctl.floor"):
        extra = computer.try_("/usr/lib/shaker-ctl/bin/python3", "-c", f"import {module}")
        say(f"no {module} is on this table", "ModuleNotFoundError" in extra.stdout)


def check_play(machine: OuterRig, computer: Computer, rounds: int, say: Teller) -> None:
    started = computer.try_("systemctl", "start", "shaker-ctl")
    say("started", started.returncode == 0, computer.log)
    ends_s = time.monotonic() + PLAYED_S
    while len(ended := rounds_ended(computer)) < rounds and time.monotonic() < ends_s:
        be_open(machine, computer)
        time.sleep(1.0)
    say(f"{len(ended)} rounds: {', '.join(ended)}", len(ended) >= rounds)


def be_open(machine: OuterRig, computer: Computer) -> bool:
    """Have people open the table where it is not, and come where it waits for them; a busy machine
    may be late, which is a fault."""
    with suppress(BenchError, ConsoleLineError, ConsoleRefusedError):
        if not attend(machine, computer):
            open_table(machine)
    return shown(computer).get("life") == "open"


def attend(machine: OuterRig, computer: Computer) -> bool:
    """Have people come where an open table waits for them; False where it is not open."""
    seen = shown(computer)
    if seen.get("life") != "open":
        return False
    if seen.get("pending"):
        with suppress(ConsoleRefusedError), at_table(machine) as table:
            status = table.status()
            _ = table.prompt(status) or table.settle(status)
    return True


def check_open_table_refuses(
    machine: OuterRig, computer: Computer, packages: Packages, say: Teller
) -> None:
    until(lambda: be_open(machine, computer), PLAYED_S, every_s=1.0)
    pid = computer.unit()["MainPID"]
    ran = computer.try_("dpkg", "--install", f"/{packages.better.name}")
    said = next((x for x in ran.stdout.splitlines() if "table is running" in x), ran.stdout[-200:])
    say(f"upgrade of an open table: {said}", ran.returncode != 0 and "table is running" in said)
    say("the table goes on, untouched", computer.unit()["MainPID"] == pid)


def close_table(machine: OuterRig, computer: Computer) -> None:
    """Have the floorperson close it; a round that is under way is played to its end first. A fault
    of a busy machine has taken it out of play already."""
    with suppress(ConsoleRefusedError), closing(machine.as_("floorperson", "fay")) as fay:
        fay.ask("close")
    until(lambda: not attend(machine, computer), 180.0, every_s=0.5)


def check_upgrade(computer: Computer, packages: Packages, say: Teller) -> None:
    head, before = journal_head(computer), computer.run("cat", SETTINGS)
    ran = computer.try_("dpkg", "--install", f"/{packages.better.name}")
    say(f"upgrade: {last_line(ran.stdout)}", ran.returncode == 0, ran.stdout)
    say(f"version {installed(computer)}, {state(computer)}", plays(computer, "100.0"))
    say("settings are as they were", computer.run("cat", SETTINGS) == before)
    after = journal_head(computer, head[0])
    say(f"the journal goes on at record {head[0]}", after == head and journal_head(computer) > head)
    say("nothing is left aside", not (computer.root / FORMER.lstrip("/")).exists())


def check_bad_upgrade(computer: Computer, packages: Packages, say: Teller) -> None:
    """Ends with `better` in service, as before."""
    check_refused(computer, packages.worse, "bad upgrade", "ImportError", say)
    back = computer.try_("dpkg", "--install", f"/{packages.better.name}")
    say(f"its package again: {last_line(back.stdout)}", back.returncode == 0)
    say(f"it plays: {state(computer)}", plays(computer, "100.0"))


def check_refused(computer: Computer, package: Path, what: str, reason: str, say: Teller) -> None:
    """Install what is not fit for this table: the version in service comes back by itself."""
    before = computer.run("/usr/bin/shaker-ctl", "--version")
    ran = computer.try_("dpkg", "--install", f"/{package.name}")
    said = [line for line in ran.stdout.splitlines() if "in service again" in line]
    is_told = ran.returncode != 0 and bool(said) and reason in ran.stdout
    say(f"{what}: {said[0] if said else ran.stdout[-300:]}", is_told, ran.stdout)
    after = computer.run("/usr/bin/shaker-ctl", "--version")
    say(f"the former version plays: {state(computer)}", state(computer) == ACTIVE)
    say(f"it is {after.strip()}", after == before)


def check_torn_upgrade(computer: Computer, packages: Packages, say: Teller) -> None:
    """What cannot be unpacked leaves all as it was: a table that stands, and one that runs."""
    for stands in (True, False):
        computer.run("systemctl", "stop" if stands else "start", "shaker-ctl")
        before = installed(computer), state(computer)
        ran = computer.try_("dpkg", "--install", f"/{packages.torn.name}")
        after = installed(computer), state(computer)
        refused = ran.returncode != 0 and "socat" in ran.stdout
        say(
            f"torn upgrade of a table that was {before[1]}: {after[1]}", refused and after == before
        )
        aside = [path.name for path in computer.root.glob("usr/lib/shaker-ctl?*")]
        aside += [path.name for path in computer.root.glob("run/shaker-ctl.was-active")]
        say(f"nothing is left aside {', '.join(aside)}", not aside)


def check_downgrade(computer: Computer, packages: Packages, say: Teller) -> None:
    """From `better`; refused while the settings name what only `better` knows."""
    settings = computer.root / SETTINGS.lstrip("/")
    before = settings.read_text("utf-8")
    settings.write_text(f"{before}\n[seal]\n{NEW_SETTING} = 1\n", "utf-8")
    check_refused(computer, packages.given, "downgrade, a setting too many", NEW_SETTING, say)
    settings.write_text(before, "utf-8")
    ran = computer.try_("dpkg", "--install", f"/{packages.given.name}")
    say(f"downgrade: {last_line(ran.stdout)}", ran.returncode == 0)
    say(f"version {installed(computer)}, {state(computer)}", state(computer) == ACTIVE)
    verified = computer.try_("shaker-ctl", "journal", "verify", "--config", SETTINGS)
    say(f"journal: {last_line(verified.stdout)}", verified.returncode == 0)


KEY = "/srv/seal.key"
SEAL = ("shaker-ctl", "seal", "write", "--key", KEY, "--by", "Ann")
SEAL_NEXT = "/etc/shaker-ctl/seal-next.json"


def check_sealed_upgrade(computer: Computer, packages: Packages, say: Teller) -> None:
    """An approver seals the table; a version without a seal of its own is sent back."""
    computer.run("systemctl", "stop", "shaker-ctl")
    keys = ("shaker-ctl", "seal", "keys", "--no-passphrase", KEY, "/srv/seal.pub")
    say(last_line(computer.run(*keys)), (computer.root / KEY.lstrip("/")).exists())
    computer.run("shaker-ctl", "install", "--yes", "--public-key", "/srv/seal.pub")
    sealed = computer.try_(*SEAL)
    say(last_line(sealed.stdout), sealed.returncode == 0)
    started = computer.try_("systemctl", "start", "shaker-ctl")
    say(
        f"sealed and started: seal {shown(computer).get('seal')}",
        started.returncode == 0,
        computer.log,
    )
    check_refused(computer, packages.better, "upgrade without its seal", "differs from its", say)

    computer.run("dpkg", "--install", f"/{packages.given.name}")
    seal_next(computer, packages.better, say)
    check_upgrade(computer, packages, say)
    check_seal(computer, say)
    check_refused(computer, packages.worse, "bad upgrade, sealed", "ImportError", say)
    check_seal(computer, say)


def check_newer_records(computer: Computer, packages: Packages, say: Teller) -> None:
    """A version whose records the former cannot read: no way back, and it says so."""
    computer.run("dpkg", "--install", f"/{packages.better.name}")
    seal_next(computer, packages.newer, say)
    ran = computer.try_("dpkg", "--install", f"/{packages.newer.name}")
    say(f"newer records: {last_line(ran.stdout)}", plays(computer, "102.0"), ran.stdout)
    seal_next(computer, packages.better, say)
    check_refused(
        computer, packages.better, "downgrade below its records", "knows versions up to", say
    )
    check_seal(computer, say)


def seal_next(computer: Computer, package: Path, say: Teller) -> None:
    """Have the approver seal a version that is to be installed, from its package unpacked."""
    computer.run("rm", "-rf", "/srv/next")
    computer.run("dpkg", "-x", f"/{package.name}", "/srv/next")
    (site,) = computer.root.glob("srv/next/usr/lib/shaker-ctl/lib/python3.*/site-packages")
    to = ("--packages", f"/{site.relative_to(computer.root)}", "--out", SEAL_NEXT)
    sealed = computer.try_(*SEAL, *to)
    say(last_line(sealed.stdout), sealed.returncode == 0)


def check_seal(computer: Computer, say: Teller) -> None:
    checked = computer.try_("shaker-ctl", "seal", "check")
    say(f"seal check: {last_line(checked.stdout)}", checked.returncode == 0)
    say(f"it plays sealed: {shown(computer).get('seal')}", state(computer) == ACTIVE)


def check_killed(computer: Computer, packages: Packages, moments: int, say: Teller) -> None:
    """Kill dpkg and its scripts in the middle; `dpkg` again, as a person does, ends it well."""
    began_s = time.monotonic()
    computer.run("dpkg", "--install", f"/{packages.better.name}")
    whole_s = time.monotonic() - began_s
    for number in range(moments):
        computer.try_("dpkg", "--install", f"/{packages.given.name}")
        moment_s = whole_s * (number + 0.5) / moments
        words = f"setsid dpkg --install /{packages.better.name} & sleep {moment_s}; kill -9 -$!"
        computer.run("sh", "-c", words)
        computer.run("systemctl", "start", "shaker-ctl")
        is_cut = (computer.root / FORMER.lstrip("/")).exists()
        before = state(computer)
        for _ in range(TRIES):
            again = computer.try_("dpkg", "--install", f"/{packages.better.name}")
            if again.returncode == 0:
                break
        computer.run("systemctl", "start", "shaker-ctl")
        say(
            f"killed after {moment_s:.1f} of {whole_s:.0f} s: {before}; again: {state(computer)}",
            again.returncode == 0
            and plays(computer, "100.0")
            and not (is_cut and before == ACTIVE),
        )
        if again.returncode != 0:
            print(again.stdout)  # noqa: T201 - the reason
    computer.try_("dpkg", "--install", f"/{packages.given.name}")


def check_removal(computer: Computer, say: Teller) -> None:
    gone = computer.try_("dpkg", "--remove", "shaker-ctl")
    kept = [name for name in (SETTINGS, JOURNAL) if (computer.root / name.lstrip("/")).exists()]
    say(f"remove keeps {', '.join(kept)}", gone.returncode == 0 and kept == [SETTINGS, JOURNAL])
    left = [path.name for path in computer.root.glob("usr/lib/shaker-ctl*")]
    left += [path.name for path in computer.root.glob("run/shaker-ctl.was-active")]
    say(f"the program is gone {', '.join(left)}", not left)
    computer.run("dpkg", "--purge", "shaker-ctl")
    of_house = (*OF_HOUSE, SETTINGS, JOURNAL)
    kept = [name for name in of_house if (computer.root / name.lstrip("/")).exists()]
    say(f"purge keeps {', '.join(kept)}", kept == [JOURNAL])


# ── Looking ─────────────────────────────────────────────────────────────────


def shown(computer: Computer) -> dict[str, Any]:
    """Return what the running table shows; nothing where it does not answer."""
    said = computer.try_("shaker-ctl", "status", "--json")
    found: dict[str, Any] = json.loads(said.stdout) if said.returncode == 0 else {}
    return found


def rounds_ended(computer: Computer) -> list[str]:
    """Return how each round ended that the running table shows; a void one is no round."""
    endings = [one["ending"] for one in shown(computer).get("rounds", ())]
    return [ending for ending in endings if ending != "void"]


def installed(computer: Computer) -> str:
    """Return the version that dpkg has."""
    return computer.run("dpkg-query", "--showformat=${Version}", "--show", "shaker-ctl").strip()


def state(computer: Computer) -> str:
    """Return how the table's unit stands."""
    return computer.unit()["ActiveState"]


def plays(computer: Computer, version: str) -> bool:
    """Return whether the table runs, and dpkg has that version in service."""
    return installed(computer) == version and state(computer) == ACTIVE


def journal_head(computer: Computer, upto: int = 2**62) -> tuple[int, str]:
    """Return number and hash of the journal's last record, or of its last one up to a number."""
    file = f"file:{computer.root / JOURNAL.lstrip('/')}?mode=ro"
    asked = "SELECT sequence, hex(hash) FROM record WHERE sequence <= ? ORDER BY 1 DESC LIMIT 1"
    with closing(sqlite3.connect(file, uri=True, timeout=10.0)) as db:
        number, digest = db.execute(asked, (upto,)).fetchone()
    return int(number), str(digest)


# ── Order ───────────────────────────────────────────────────────────────────


def run(root: Path, made: Packages, rounds: int, moments: int) -> bool:
    """Boot, check everything in order, and end all of it again."""
    say = Teller()
    with booted(root, say) as (computer, machine):
        check_first_installation(computer, made.given, say)
        furnish(computer, machine)
        computer.run("shaker-ctl", "install", "--yes")
        with House(machine.session.folder / "house") as house:
            page_and_link.switch_on(computer, "shaker-ctl", house, say)
            check_play(machine, computer, rounds, say)
            page_and_link.check_followed(computer, "shaker-ctl", say)
            check_open_table_refuses(machine, computer, made, say)
            close_table(machine, computer)
            check_upgrade(computer, made, say)
            page_and_link.check_still_there(computer, "the upgrade", say)
            check_bad_upgrade(computer, made, say)
            page_and_link.check_still_there(computer, "the bad upgrade", say)
            check_torn_upgrade(computer, made, say)
            check_downgrade(computer, made, say)
            check_killed(computer, made, moments, say)
            check_sealed_upgrade(computer, made, say)
            check_newer_records(computer, made, say)
            check_removal(computer, say)
    return say.is_fine


def main(
    package: Annotated[Path, typer.Option()],
    suite: debian.Suite = debian.Suite.BOOKWORM,
    cache: debian.Cache = debian.CACHE,
    rounds: int = 5,
    kills: Annotated[int, typer.Option(help="Moments of an upgrade to kill it.")] = 10,
) -> None:
    """One package on the Debian of its suite; status 1 where a promise is not kept."""
    root = cache / f"upgraded-{suite}-root"
    with debian.checked():
        debian.require("mmdebstrap", "systemd-nspawn", "nsenter", "dpkg-deb")
        debian.unpack(debian.booting(suite), cache, root)  # no mirror is asked inside
        made = packages(package, root)
        shutil.copyfile(package, root / package.name)
        if not run(root, made, rounds, kills):
            raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
