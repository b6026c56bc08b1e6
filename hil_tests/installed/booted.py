"""The installed table under a booted systemd: started, hung, killed, stopped, never looping.

    python -m hil_tests.installed.booted --wheel dist/shaker_ctl-....whl

The wheel is installed on a Debian 12 in a container (`computer`) as the page says, by `shaker-ctl
install`. The `machine` is the virtual rig outside. Its motor is stopped by the dead-man and the
monostable before `pigpiod` or `pinctrl` is asked.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from hil_tests.floor.house import House
from hil_tests.installed import debian, page_and_link
from hil_tests.installed.computer import Computer, hang
from hil_tests.installed.debian import Teller
from hil_tests.installed.machine import (
    PORT,
    OuterRig,
    at_table,
    booted,
    check_installed,
    furnish,
    open_table,
)
from hil_tests.installed.parts import Workshop
from hil_tests.waiting import until

HERE = Path(__file__).resolve().parents[2]

PREFIX = "/opt/shaker-ctl"
PROGRAM = f"{PREFIX}/bin/shaker-ctl"
EXPOSURE = 1.0
"""Most that `systemd-analyze security` may find of the table's unit, of 10."""

BULBS_S = 0.3
"""After it, bulbs that were switched on glow."""

OFF_S = 0.150
"""Longest drive of a motor whose controller is gone."""


# ── What is promised ────────────────────────────────────────────────────────


def check_installation(computer: Computer, say: Teller) -> None:
    check_installed(computer, PROGRAM, "pigpiod.service", say)
    exposure = computer.run("systemd-analyze", "security", "--no-pager", "shaker-ctl.service")
    last = exposure.strip().splitlines()[-1]
    say(last, float(last.split(":")[1].split()[0]) <= EXPOSURE)
    left = [line.split()[1] for line in exposure.splitlines() if line.startswith("✗")]
    page = (HERE / "systemd" / "README.md").read_text("utf-8").replace("\\|", "|")
    unexplained = [name for name in left if f"| `{name}" not in page]
    say(f"findings left: {len(left)}, not explained: {unexplained or 'none'}", not unexplained)
    rules = computer.run("udevadm", "test", "--action=add", "/sys/class/mem/null").splitlines()
    ours = [line for line in rules if "shaker-ctl" in line]
    complaints = [line for line in ours if not line.startswith("Reading")]
    say(f"udev reads the rules: {complaints or 'clean'}", bool(ours) and not complaints)


def check_start(computer: Computer, say: Teller) -> None:
    began_s = time.monotonic()
    started = computer.try_("systemctl", "start", "shaker-ctl")
    took_s = time.monotonic() - began_s
    unit = computer.unit()
    is_up = started.returncode == 0 and unit["SubState"] == "running"
    say(f"start → READY after {took_s:.1f} s, {unit['ActiveState']}", is_up, computer.log)
    daemon = computer.unit("pigpiod")
    say(f"the GPIO daemon came with it: {daemon['SubState']}", daemon["SubState"] == "running")


STRANGERS = {
    "the GPIO daemon": f"socat -u OPEN:/dev/null TCP:127.0.0.1:{PORT}",
    "the status socket": "socat -u OPEN:/dev/null UNIX-CONNECT:/run/shaker-ctl/status.sock",
    "the journal": "cat /var/lib/shaker-ctl/journal.sqlite",
    "people and passphrases": "cat /etc/shaker-ctl/users.toml",
    "the settings": "sh -c 'echo >>/etc/shaker-ctl/settings.toml'",
    "the lamp line": "sh -c 'echo >/dev/shaker-lamps'",
}
"""What another user of this computer tries."""


def check_strangers(computer: Computer, say: Teller) -> None:
    """Another local user, and a foreign process of root's, reach nothing of a running table."""
    for what, words in STRANGERS.items():
        tried = computer.try_("runuser", "-u", "nobody", "--", "sh", "-c", words)
        say(f"another user at {what}: {tried.stdout.strip()[-70:]}", tried.returncode != 0)
    foreign = computer.try_("sh", "-c", STRANGERS["the GPIO daemon"])
    said = foreign.stdout.strip()[-60:]
    say(f"root's own process at the GPIO daemon: {said}", foreign.returncode != 0)


def marks(computer: Computer) -> list[str]:
    """Return what every screen of the running table carries."""
    said = computer.try_(PROGRAM, "status", "--json")
    found: list[str] = json.loads(said.stdout)["marks"] if said.returncode == 0 else ["no answer"]
    return found


def check_bench(computer: Computer, say: Teller) -> None:
    """The shipped drop-in opens the daemon to the computer, and every screen says so."""
    say(f"a table's marks: {marks(computer)}", not any("BENCH" in mark for mark in marks(computer)))
    for unit in ("shaker-ctl", "pigpiod"):
        folder = f"/etc/systemd/system/{unit}.service.d"
        computer.run("mkdir", "-p", folder)
        computer.run("cp", "/usr/local/share/doc/shaker-ctl/bench.conf", folder)
    _restarted(computer)
    foreign = computer.try_("sh", "-c", STRANGERS["the GPIO daemon"])
    say(f"on a bench: {marks(computer)}", any("BENCH" in mark for mark in marks(computer)))
    say("on a bench another program reaches the daemon", foreign.returncode == 0)
    for unit in ("shaker-ctl", "pigpiod"):
        computer.run("rm", "-r", f"/etc/systemd/system/{unit}.service.d")
    _restarted(computer)


def _restarted(computer: Computer) -> None:
    computer.run("systemctl", "stop", "shaker-ctl", "pigpiod")
    computer.run("systemctl", "daemon-reload")
    computer.run("systemctl", "start", "shaker-ctl")


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
    open_table(machine)
    low_before = computer.pins_taken_low()
    until(machine.turns, 60.0)
    hung_s = time.monotonic()
    hang(pid)
    off_s = machine.seconds_until_off()
    say(f"hung loop in a toss: EN low after {off_s * 1000:.0f} ms", off_s <= OFF_S)
    until(lambda: computer.unit()["Result"] == "watchdog", 10.0)
    say(f"watchdog expired {time.monotonic() - hung_s:.1f} s after the hang", True)
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
    open_table(machine)

    with at_table(machine) as table:

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


def check_doctor(computer: Computer, say: Teller, *, is_running: bool) -> None:
    """As root, which becomes the service's user; refused while the service holds the hardware."""
    ran = computer.try_(PROGRAM, "doctor", "--yes", "--json")
    if is_running:
        said = ran.stdout.strip().splitlines()[-1]
        say(f"doctor beside the service: {said}", "the table is running" in said)
        return
    found = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    failed = [f"{one['name']}: {one['text']}" for one in found if one["verdict"] == "fail"]
    warned = [one["name"] for one in found if one["verdict"] == "warn"]
    say(
        f"doctor: {len(found)} lines, to know: {', '.join(warned)}, "
        f"failed: {'; '.join(failed) or 'none'}",
        len(found) > 20 and not failed,
    )
    owner = computer.run("stat", "-c", "%U", "/var/lib/shaker-ctl/journal.sqlite.lock").strip()
    say(f"what the doctor opened still belongs to {owner}", owner == "shaker")


def check_loops(computer: Computer, settings: str, say: Teller) -> None:
    """Faults that a restart cannot mend, and one that comes back each time."""
    file = computer.root / "etc/shaker-ctl/settings.toml"
    file.write_text(settings + "\n[unknown]\n")
    computer.run("systemctl", "start", "shaker-ctl")
    unit = _settled(computer)
    say(
        f"wrong settings: {unit['ActiveState']}, status {unit['ExecMainStatus']}, "
        f"{unit['NRestarts']} restarts",
        unit["ExecMainStatus"] == "78" and unit["NRestarts"] == "0",
    )
    file.write_text(settings.replace("/dev/shaker-lamps", "/dev/unplugged"))
    computer.run("systemctl", "reset-failed", "shaker-ctl")
    computer.run("systemctl", "start", "shaker-ctl")
    unit = _settled(computer)
    say(
        f"a lamp line that is not there: {unit['ActiveState']}, {unit['Result']}, after "
        f"{unit['NRestarts']} restarts",
        unit["ActiveState"] == "failed" and 1 <= int(unit["NRestarts"]) <= 5,
    )
    file.write_text(settings)


def _settled(computer: Computer) -> dict[str, str]:
    def is_down() -> dict[str, str] | None:
        unit = computer.unit()
        return unit if unit["ActiveState"] == "failed" else None

    settled: dict[str, str] = until(is_down, 120.0, every_s=0.2)
    return settled


def check_without_python(computer: Computer, say: Teller) -> None:
    """The environment is gone, and the stop script still runs; then the daemon's own."""
    low_before = computer.pins_taken_low()
    computer.run("mv", PREFIX, f"{PREFIX}.gone")
    computer.run("systemctl", "reset-failed", "shaker-ctl")
    computer.run("systemctl", "start", "shaker-ctl")
    until(lambda: computer.pins_taken_low() > low_before, 10.0)
    say("without Python the stop script took the pins low", True)
    computer.run("systemctl", "stop", "shaker-ctl")
    computer.run("mv", f"{PREFIX}.gone", PREFIX)
    low_before = computer.pins_taken_low()
    computer.run("systemctl", "stop", "pigpiod")
    say("stopping the GPIO daemon took the pins low", computer.pins_taken_low() > low_before)


def check_uninstallation(computer: Computer, say: Teller) -> None:
    gone = computer.try_(PROGRAM, "uninstall", "--yes")
    journal = computer.root / "var/lib/shaker-ctl/journal.sqlite"
    unit = computer.root / "etc/systemd/system/shaker-ctl.service"
    say(
        f"uninstall: the journal stays, {journal.stat().st_size} bytes",
        gone.returncode == 0 and journal.exists() and not unit.exists(),
    )


# ── Order ───────────────────────────────────────────────────────────────────


def prepare_root(wheel: Path, cache: Path, root: Path) -> None:
    """A Debian with the wheel in its environment."""
    debian.unpack(debian.booting("bookworm", "python3-venv"), cache, root)
    (root / wheel.name).write_bytes(wheel.read_bytes())
    shutil.copyfile(HERE / "shaker_ctl" / "lock.txt", root / "lock.txt")
    with debian.mounted(root):
        debian.inside(root, ["python3", "-m", "venv", PREFIX])
        pip = [f"{PREFIX}/bin/pip", "install", "--no-deps"]
        debian.inside(root, [*pip, "--require-hashes", "-r", "/lock.txt"])
        debian.inside(root, [*pip, f"/{wheel.name}"])


def run(root: Path) -> bool:
    """Boot, check everything in order, and end all of it again."""
    say = Teller()
    with booted(root, say) as (computer, machine):
        check_installation(computer, say)
        furnish(computer, machine)
        check_start(computer, say)
        with House(machine.session.folder / "house") as house:
            page_and_link.switch_on(computer, PROGRAM, house, say)
            check_strangers(computer, say)
            check_bench(computer, say)
            check_doctor(computer, say, is_running=True)
            check_kill(computer, machine, say)
            check_hang(computer, machine, say)
            check_stop(computer, machine, say)
            page_and_link.check_followed(computer, PROGRAM, say)
            check_doctor(computer, say, is_running=False)
            Workshop(computer, machine, PROGRAM, say).change_all()
            check_loops(computer, machine.settings(), say)
            check_without_python(computer, say)
            check_uninstallation(computer, say)
    return say.is_fine


def main(
    wheel: Annotated[Path, typer.Option()],
    cache: debian.Cache = debian.CACHE,
) -> None:
    """The installed table under a booted systemd; status 1 where a promise is not kept."""
    root = cache / "booted-root"
    with debian.checked():
        debian.require("mmdebstrap", "systemd-nspawn", "nsenter", "chroot")
        prepare_root(wheel, cache, root)
        if not run(root):
            raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
