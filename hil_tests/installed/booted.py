"""The installed table under a booted systemd: started, hung, killed, stopped, never looping.

    python -m hil_tests.installed.booted --wheel dist/shaker_ctl-....whl

A Debian 12 in a container (systemd-nspawn) boots its own systemd; the wheel is installed there as
the page says, by `shaker-ctl install`. The machine with its motor, lamps and camera is the virtual
rig, outside the container, as a machine is outside its computer.

What is simulated: the container shares this machine's kernel and loopback; `pigpiod` inside is a
relay to the rig's virtual daemon, since a real one needs a Raspberry Pi's memory, and to the rig's
camera, which is no device; daemon and table have a loopback that they share with nobody. `pinctrl`
writes down what it was asked for, since there are no pins. The rig's motor is stopped by the
dead-man and its monostable before either is asked.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hil_tests.demo import people
from hil_tests.demo.people import bring_back
from hil_tests.demo.session import Plan, Session
from hil_tests.floor.house import House
from hil_tests.installed import beside, debian
from hil_tests.installed.debian import Teller
from hil_tests.installed.parts import Workshop
from hil_tests.waiting import until
from shaker_ctl.console.client import Console, ConsoleRefusedError

HERE = Path(__file__).resolve().parents[2]

RECIPE = debian.Recipe(
    "bookworm",
    (
        *("systemd", "systemd-sysv", "dbus", "udev", "python3", "python3-venv"),
        *("libgl1", "libglib2.0-0", "socat"),
    ),
)

PREFIX = "/opt/shaker-ctl"
PORT = 8888
STICK = "/media/shaker-journal"
"""Where the second journal's medium is mounted; here, memory."""
EXPOSURE = 1.0
"""Most that `systemd-analyze security` may find of the table's unit, of 10."""

BULBS_S = 0.3
"""After it, bulbs that were switched on glow."""

OFF_S = 0.150
"""Longest drive of a motor whose controller is gone."""

DIALOUT = 20
"""Debian's group of serial lines."""

PIGPIOD = f"""#!/bin/sh
# A relay to the rig's daemon, at the port where a real one listens, and to the rig's camera.
socat TCP-LISTEN:%(camera)d,bind=127.0.0.1,fork,reuseaddr UNIX-CONNECT:/run/rig-camera &
exec socat TCP-LISTEN:{PORT},bind=127.0.0.1,fork,reuseaddr UNIX-CONNECT:/run/rig-pins
"""

RELAY = """[Service]
ExecStart=socat UNIX-LISTEN:/run/rig-%(name)s,fork,unlink-early,mode=666 TCP:127.0.0.1:%(port)d

[Install]
WantedBy=multi-user.target
"""
"""The outer half: a socket in the file system is reached from every network."""

PINCTRL = """#!/bin/sh
echo "$*" >> /run/pinctrl.log
"""

PINS_LOW = "set 23,18,21 op dl"


class Computer:
    """The booted container."""

    def __init__(self, root: Path, binds: Sequence[tuple[str, str]]) -> None:
        self.root = root
        words = [
            *("systemd-nspawn", "--quiet", "--boot", "--directory", str(root)),
            *("--register=no", "--keep-unit", "--machine=shaker-table"),
            "--capability=CAP_NET_ADMIN",  # as a real computer's systemd: it sets up loopbacks
            *(f"--bind={outside}:{inside}" for outside, inside in binds),
        ]
        self._process = subprocess.Popen(
            words,
            env={**os.environ, "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._leader = 0
        try:
            self._leader = until(self._find_leader, 20.0)
            until(lambda: self.run("systemctl", "is-system-running").strip() in UP, 60.0)
        except BaseException:
            self.close()
            raise

    def _find_leader(self) -> int:
        """The process that is number 1 inside. Others come and go while the container is made."""
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        for pid in children.read_text().split():
            status = _status(Path("/proc") / pid)
            if status.get("Name") == "systemd" and status.get("NSpid", "").split()[1:] == ["1"]:
                return int(pid)
        return 0

    def run(self, *words: str) -> str:
        """Run a program inside; return what it said, whatever its status."""
        ran = self.try_(*words)
        return ran.stdout

    def try_(self, *words: str) -> subprocess.CompletedProcess[str]:
        path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        return subprocess.run(
            [
                *("nsenter", "--target", str(self._leader), "--all", "--root", "--wd"),
                *("env", "-i", f"PATH={path}", "LANG=C.UTF-8", *words),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def unit(self, name: str = "shaker-ctl") -> dict[str, str]:
        """What systemd says of a unit."""
        said = self.run(
            "systemctl",
            "show",
            name,
            "--property=ActiveState,SubState,Result,NRestarts,MainPID,ExecMainStatus",
        )
        return dict(line.split("=", 1) for line in said.splitlines() if "=" in line)

    def main_pid(self) -> int:
        """The service's process as this machine numbers it."""
        inside = self.unit()["MainPID"]
        for process in Path("/proc").glob("[0-9]*"):
            here = _status(process).get("NSpid", "").split()
            if here[1:] == [inside] and "shaker-ctl" in _command(process):
                return int(process.name)
        raise AssertionError("the service has no process")

    def pins_taken_low(self) -> int:
        """How often the stop script has asked for EN, PWM and the latch low."""
        log = self.run("cat", "/run/pinctrl.log")
        return log.splitlines().count(PINS_LOW)

    def log(self) -> str:
        return self.run("journalctl", "--no-pager", "--unit=shaker-ctl", "--lines=40")

    def close(self) -> None:
        if self._process.poll() is None:
            if not self._leader:
                self._process.kill()
                return
            os.kill(self._leader, signal.SIGRTMIN + 4)  # systemd: power off
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


UP = ("running", "degraded")


def _command(process: Path) -> str:
    return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")


def _status(process: Path) -> dict[str, str]:
    """What the kernel says of a process; empty where it has gone."""
    try:
        lines = (process / "status").read_text().splitlines()
    except OSError:
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


# ── The machine outside ─────────────────────────────────────────────────────


class BootedDebian:
    """The virtual rig, and the people at its consoles."""

    def __init__(self, folder: Path) -> None:
        self.session = Session(Plan(pace="brisk", seed=3), folder)
        self.session.start_rig()
        self.session.write_settings()

    def look(self) -> dict[str, Any]:
        status: dict[str, Any] = self.session.ask_rig("status")
        return status

    def is_driven(self) -> bool:
        return bool(self.look()["enabled"])

    def turns(self) -> bool:
        seen = self.look()
        return bool(seen["enabled"]) and seen["speed_rpm"] > 150

    def seconds_until_off(self) -> float:
        """Wait until EN has been low for three looks; return when it fell."""
        began_s = time.monotonic()
        low_s: float | None = None
        while time.monotonic() - began_s < 5.0:
            now_s = time.monotonic()
            if self.is_driven():
                low_s = None
            elif low_s is None:
                low_s = now_s
            elif now_s - low_s > 0.03:
                return low_s - began_s
            time.sleep(0.001)
        raise AssertionError("EN is still high after 5 s")

    def as_(self, role: str, name: str) -> Console:
        console = self.session.console("dealer" if role == "dealer" else "technician")
        console.login(role, name, self.session.passphrases[name])
        return console

    def devices(self) -> list[tuple[str, str]]:
        """The serial lines as a container is given them; Debian's group may use them."""
        rig = self.session.rig
        found = []
        for path, name in (
            (rig["lamp"]["device"], "/dev/shaker-lamps"),
            (rig["console"]["technician"]["service"], "/dev/shaker-technician"),
            (rig["console"]["dealer"]["service"], "/dev/shaker-dealer"),
        ):
            device = os.path.realpath(path)
            os.chown(device, 0, DIALOUT)
            os.chmod(device, 0o660)
            found.append((device, name))
        return found

    def settings(self) -> str:
        """The settings of this rig as a technician writes them on an installed table."""
        folder, rig = self.session.folder, self.session.rig
        text = (folder / "settings.toml").read_text("utf-8")
        for outside, inside in (
            (rig["lamp"]["device"], "/dev/shaker-lamps"),
            (rig["console"]["technician"]["service"], "/dev/shaker-technician"),
            (rig["console"]["dealer"]["service"], "/dev/shaker-dealer"),
            (f"{folder}/run", "/run/shaker-ctl"),
            (f"{folder}/users.toml", "/etc/shaker-ctl/users.toml"),
            (f"{folder}/journal-second.sqlite", f"{STICK}/journal.sqlite"),
            (f"{folder}/", "/var/lib/shaker-ctl/"),
            (f"port = {rig['pigpiod']['port']}", f"port = {PORT}"),
        ):
            text = text.replace(outside, inside)
        return text


# ── A hang, from outside ────────────────────────────────────────────────────

SEIZE, INTERRUPT = 0x4206, 0x4207
"""ptrace(2)."""
WALL = 0x40000000
"""waitpid(2): threads too."""


def hang(pid: int) -> None:
    """Stop every thread of a process but its first, as hung drivers would, until it is killed.

    The first one only waits for a signal to end; it lives on, and must not hide the others' hang.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    for thread in sorted(int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()):
        if thread == pid:
            continue
        for request in (SEIZE, INTERRUPT):
            if libc.ptrace(request, thread, 0, 0) != 0:
                raise OSError(ctypes.get_errno(), "ptrace")
        # Its death is told to us first; until we have heard of it, its process stays a zombie.
        threading.Thread(target=_bury, args=(thread,), daemon=True).start()


def _bury(thread: int) -> None:
    while os.WIFSTOPPED(os.waitpid(thread, WALL)[1]):
        pass


# ── What is promised ────────────────────────────────────────────────────────


def check_installation(computer: Computer, say: Teller) -> None:
    program = f"{PREFIX}/bin/shaker-ctl"
    first = computer.try_(program, "install", "--yes")
    say("install: " + first.stdout.strip().splitlines()[0].strip(), first.returncode == 0)
    if first.returncode != 0:
        print(first.stdout)  # noqa: T201 - the reason
    again = computer.try_(program, "install", "--check")
    say(f"install again: {again.stdout.splitlines()[0]}", again.returncode == 0)
    owner = computer.run("stat", "-c", "%U:%G %a", "/var/lib/shaker-ctl", "/etc/shaker-ctl")
    say(
        f"folders: {owner.split()}",
        owner.split() == ["shaker:shaker", "750", "root:shaker", "750"],
    )
    units = ["shaker-ctl.service", "pigpiod.service", r"media-shaker\x2djournal.mount"]
    found = computer.try_("systemd-analyze", "verify", *units)
    say(f"verify: {found.stdout.strip() or 'clean'}", found.returncode == 0 and not found.stdout)
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
    refused = computer.try_(program, "demo", "--rounds", "1")
    say(
        f"demo on this table: {refused.stdout.strip()[:90]}",
        refused.returncode == 1 and "real table" in refused.stdout,
    )


def check_start(computer: Computer, say: Teller) -> None:
    began_s = time.monotonic()
    started = computer.try_("systemctl", "start", "shaker-ctl")
    took_s = time.monotonic() - began_s
    unit = computer.unit()
    is_up = started.returncode == 0 and unit["SubState"] == "running"
    say(f"start → READY after {took_s:.1f} s, {unit['ActiveState']}", is_up)
    if not is_up:
        print(computer.log())  # noqa: T201 - the reason
    daemon = computer.unit("pigpiod")
    say(f"the GPIO daemon came with it: {daemon['SubState']}", daemon["SubState"] == "running")


def open_table(machine: BootedDebian) -> None:
    """Have the technician clear what stands, and the floorperson inspect, sign and open."""
    console = machine.session.console("technician")
    bring_back(machine.session, console)
    people.open_table(machine.session, console)
    console.close()


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
    said = computer.try_(f"{PREFIX}/bin/shaker-ctl", "status", "--json")
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


def check_kill(computer: Computer, machine: BootedDebian, say: Teller) -> None:
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


def check_hang(computer: Computer, machine: BootedDebian, say: Teller) -> None:
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
    machine: BootedDebian,
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


def enter_what_lies_there(dealer: Console, machine: BootedDebian) -> None:
    """Do as a dealer does where the reader could not read: look, and enter."""
    status = dealer.status()
    if (status["pending"] or {}).get("kind") not in ("enter", "confirm"):
        return
    with suppress(ConsoleRefusedError):  # the table may have moved on meanwhile
        dealer.ask(people.entry(machine.session, status["round"]))


def check_stop(computer: Computer, machine: BootedDebian, say: Teller) -> None:
    """Stopped while a result is lit."""
    open_table(machine)

    dealer = machine.session.console("dealer")
    dealer.login("dealer", "dan", machine.session.passphrases["dan"])

    def lit() -> Any:
        lamp = machine.look()["lamp"]
        if lamp["state"] == "result":
            return lamp
        enter_what_lies_there(dealer, machine)
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
    is_held = after["glowing"] == before["glowing"] and after["round"] == before["round"]
    say(f"the result of round {after['round']} stays lit: {', '.join(after['glowing'])}", is_held)


def check_doctor(computer: Computer, say: Teller, *, is_running: bool) -> None:
    """As root, which becomes the service's user; refused while the service holds the hardware."""
    ran = computer.try_(f"{PREFIX}/bin/shaker-ctl", "doctor", "--yes", "--json")
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
    gone = computer.try_(f"{PREFIX}/bin/shaker-ctl", "uninstall", "--yes")
    journal = computer.root / "var/lib/shaker-ctl/journal.sqlite"
    unit = computer.root / "etc/systemd/system/shaker-ctl.service"
    say(
        f"uninstall: the journal stays, {journal.stat().st_size} bytes",
        gone.returncode == 0 and journal.exists() and not unit.exists(),
    )


# ── Order ───────────────────────────────────────────────────────────────────


def prepare_root(wheel: Path, cache: Path, root: Path) -> None:
    """A Debian with the wheel in its environment."""
    debian.unpack(RECIPE, cache, root)
    (root / wheel.name).write_bytes(wheel.read_bytes())
    shutil.copyfile(HERE / "shaker_ctl" / "lock.txt", root / "lock.txt")
    with debian.mounted(root):
        debian.inside(root, ["python3", "-m", "venv", PREFIX])
        pip = [f"{PREFIX}/bin/pip", "install", "--no-deps"]
        debian.inside(root, [*pip, "--require-hashes", "-r", "/lock.txt"])
        debian.inside(root, [*pip, f"/{wheel.name}"])


def put_stand_ins(root: Path, machine: BootedDebian) -> None:
    """The two programs of a Raspberry Pi that stand in for its pins."""
    rig = machine.session.rig
    ports = {"pins": rig["pigpiod"]["port"], "camera": urlsplit(rig["camera"]["url"]).port}
    for name, text in (("pinctrl", PINCTRL), ("pigpiod", PIGPIOD % ports)):
        program = root / "usr/bin" / name
        program.write_text(text)
        program.chmod(0o755)
    for name, port in ports.items():
        unit = root / f"etc/systemd/system/rig-{name}.service"
        unit.write_text(RELAY % {"name": name, "port": port})
        wanted = unit.parent / "multi-user.target.wants" / unit.name
        wanted.parent.mkdir(exist_ok=True)
        wanted.symlink_to(f"/{unit.relative_to(root)}")


def furnish(computer: Computer, machine: BootedDebian) -> None:
    """Give an installed table its settings, its people and the medium of its second journal."""
    folder = computer.root / "etc/shaker-ctl"
    (folder / "settings.toml").write_text(machine.settings())
    users = folder / "users.toml"
    shutil.copyfile(machine.session.folder / "users.toml", users)
    computer.run("chown", "root:shaker", "/etc/shaker-ctl/users.toml")
    users.chmod(0o640)
    owner = "uid=$(id -u shaker),gid=$(id -g shaker)"
    computer.run("sh", "-c", f"mount -t tmpfs -o {owner} tmpfs {STICK}")


def run(root: Path) -> bool:
    """Boot, check everything in order, and end all of it again."""
    say = Teller()
    with ExitStack() as ended, tempfile.TemporaryDirectory(prefix="booted-") as folder:
        machine = BootedDebian(Path(folder))
        ended.callback(machine.session.close)
        put_stand_ins(root, machine)
        computer = Computer(root, machine.devices())
        ended.callback(computer.close)
        say("booted: " + computer.run("systemctl", "--version").splitlines()[0], True)
        check_installation(computer, say)
        furnish(computer, machine)
        check_start(computer, say)
        house = ended.enter_context(House(Path(folder) / "house"))
        beside.switch_on(computer, f"{PREFIX}/bin/shaker-ctl", house, say)
        check_strangers(computer, say)
        check_bench(computer, say)
        check_doctor(computer, say, is_running=True)
        check_kill(computer, machine, say)
        check_hang(computer, machine, say)
        check_stop(computer, machine, say)
        beside.check_followed(computer, f"{PREFIX}/bin/shaker-ctl", say)
        check_doctor(computer, say, is_running=False)
        Workshop(computer, machine, f"{PREFIX}/bin/shaker-ctl", STICK, say).change_all()
        check_loops(computer, machine.settings(), say)
        check_without_python(computer, say)
        check_uninstallation(computer, say)
        if not say.is_fine:
            print(computer.log())  # noqa: T201 - the reasons
    return say.is_fine


def main() -> int:
    """Prepare the Debian where asked, then boot it and check; return 0 where all held."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=debian.CACHE)
    parser.add_argument("--only-prepare", action="store_true", help="Install and do not boot.")
    parser.add_argument("--prepared", action="store_true", help="Boot what was prepared before.")
    given = parser.parse_args()
    root = given.cache / "booted-root"
    try:
        debian.require("mmdebstrap", "systemd-nspawn", "nsenter", "chroot")
        if not given.prepared:
            prepare_root(given.wheel, given.cache, root)
        return 0 if given.only_prepare or run(root) else 1
    except debian.DebianError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 2


if __name__ == "__main__":
    sys.exit(main())
