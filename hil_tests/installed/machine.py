"""The machine of an installed table: the virtual rig, outside the container, and its people.

Owns what stands in for the machine's pins and camera inside, the settings of a table on it, and
what people do there. What is simulated: `pigpiod` inside is a relay to the rig's virtual daemon,
since a real one needs a Raspberry Pi's memory, and to the rig's camera, which is no device. Daemon
and table have a loopback that they share with nobody. `pinctrl` writes down what it was asked for,
since there are no pins.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import urlsplit

from hil_tests.installed.computer import Computer
from hil_tests.installed.debian import Teller
from hil_tests.processes import BenchError
from hil_tests.table_under_test.session import Plan, Session
from hil_tests.table_under_test.table import people_at
from hil_tests.waiting import seconds_until_off
from shaker_ctl.console.client import Console, ConsoleRefusedError
from shaker_ctl.errors import HardwareError

PORT = 8888
STICK = "/media/shaker-journal"
"""Where the second journal's medium is mounted; here, memory."""

LIT_S = 5.0
"""How long a result is lit at least, so that a table can be stopped while it is."""

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


class OuterRig:
    """The virtual rig of one table, outside the container, and the people at its consoles."""

    def __init__(self, folder: Path) -> None:
        lit = {"table": {"payout_s": LIT_S}}
        self.session = Session(Plan(pace="brisk", seed=3, changes=lit), folder)
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
        """Wait until EN has fallen for good; return how long that took."""
        return seconds_until_off(self.is_driven, 5.0)

    def as_(self, role: str, name: str) -> Console:
        console = self.session.console("dealer" if role == "dealer" else "technician")
        console.login(role, name, self.session.passphrases[name])
        return console

    def _lines(self) -> list[tuple[str, str]]:
        """The serial lines: the rig's, and how each is called inside."""
        rig = self.session.rig
        return [
            (rig["lamp"]["device"], "/dev/shaker-lamps"),
            (rig["console"]["technician"]["service"], "/dev/shaker-technician"),
            (rig["console"]["dealer"]["service"], "/dev/shaker-dealer"),
        ]

    def devices(self) -> list[tuple[str, str]]:
        """The serial lines as a container is given them; Debian's group may use them."""
        found = []
        for path, name in self._lines():
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
            *self._lines(),
            (f"{folder}/run", "/run/shaker-ctl"),
            (f"{folder}/users.toml", "/etc/shaker-ctl/users.toml"),
            (f"{folder}/teaching", "/etc/shaker-ctl/teaching"),
            (f"{folder}/journal-second.jsonl", f"{STICK}/journal.jsonl"),
            (f"{folder}/", "/var/lib/shaker-ctl/"),
            (f"port = {rig['pigpiod']['port']}", f"port = {PORT}"),
        ):
            text = text.replace(outside, inside)
        return text


def put_stand_ins(root: Path, machine: OuterRig) -> None:
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


def furnish(root: Path, machine: OuterRig) -> None:
    """Lay out what people bring to this table: its settings, its people, what it was taught."""
    folder = root / "srv/table"
    folder.mkdir(parents=True)
    (folder / "settings.toml").write_text(machine.settings())
    for name in ("users.toml", "teaching"):
        shutil.copyfile(machine.session.folder / name, folder / name)


class Attendants(Thread):
    """People at both consoles, who do what is asked for in a file: `open`, `close`, or `away`.

    An open table is served meanwhile. Who comes while the table is starting tries again.
    """

    def __init__(self, machine: OuterRig, wish: Path) -> None:
        super().__init__(daemon=True)
        self._machine, self._file = machine, wish
        self._is_over = Event()
        wish.write_text("away")

    def run(self) -> None:
        while not self._is_over.wait(0.5):
            with suppress(BenchError, ConsoleRefusedError, HardwareError, OSError):
                self._come()

    def wish(self, what: str) -> None:
        self._file.write_text(what)

    def leave(self) -> None:
        self._is_over.set()
        self.join()

    def _come(self) -> None:
        wish = self._file.read_text().strip()
        if wish == "away":
            return
        with people_at(self._machine.session) as table:
            status = table.status()
            if status["life"] != "open":
                if wish == "open" or status["life"] == "out of service":
                    table.be_open()  # whoever is to close it mends it first
            elif wish != "close" or not table.act("floorperson", "close"):
                _ = table.prompt(status) or table.settle(status)


@contextmanager
def booted(root: Path, say: Teller) -> Iterator[tuple[Computer, OuterRig, Attendants]]:
    """The Debian in `root` booted beside a machine of its own; all of it ends again."""
    with tempfile.TemporaryDirectory(prefix="booted-") as folder:
        machine = OuterRig(Path(folder))
        with closing(machine.session):
            put_stand_ins(root, machine)
            furnish(root, machine)
            people = Attendants(machine, root / "srv/people")
            with closing(Computer(root, machine.devices())) as computer:
                say("booted: " + computer.run("systemctl", "--version").splitlines()[0], True)
                people.start()
                try:
                    yield computer, machine, people
                finally:
                    people.leave()
                    if not say.is_fine:
                        print(computer.log())  # noqa: T201 - the reasons
