"""Rig and service as two programs, and the folder in which they meet.

Owns processes, the settings file that a technician would have written, and stopping whatever
happens. Must not know rounds or values.
"""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import tomlkit

from hil_tests.processes import BenchError, Program, end_at_once, program
from hil_tests.rig.control import RigRefusedError, told
from hil_tests.rig.rigfile import RigFile, ServiceTable, load
from hil_tests.table_under_test import prepared
from hil_tests.table_under_test.installer import Installer, known_before
from hil_tests.table_under_test.world import World
from shaker_ctl.adapters.lines.serial_port import SerialPort
from shaker_ctl.console import accounts
from shaker_ctl.console.client import Console
from shaker_ctl.reading.taught_table import TaughtTable, of_bytes
from shaker_ctl.rules.vocabulary import Role
from shaker_ctl.settings_page import FOR_RIG

APPROVAL = "none: demonstration on the virtual rig"

BRISK = {"betting_s": 0.5, "settling_s": 0.3, "payout_s": 0.4, "look_s": 0.5}
TABLE_PACE = {"betting_s": 6.0, "settling_s": 2.5, "payout_s": 3.5}
PACES = {"brisk": BRISK, "table": TABLE_PACE}
"""`--pace` only changes how long people get; the toss and the reading are the same."""

COVERED = {"md"}
"""Profiles that require a cover; the rig then has a driven one."""

EASY_WORD = "demonstration"
"""The passphrase of everybody where a person types it, on lines that end in this computer."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to play."""

    profile: str = "pa-625a"
    """Name of a profile; or the path of a house's file, for whose areas the lamp box is made."""
    seed: int = 0
    compartment: str = "standard"
    pace: str = "table"
    dice: str = "white"
    by_hand: bool = False
    """People do what the text gives to people: nothing is entered, announced or paced by itself."""
    page: bool = False
    """Whether the page for browsers runs beside it."""
    pins: str = "pigpio"
    """How the service reaches its pins: `pigpio` (the virtual daemon), or `gpiod` (a virtual
    `/dev/gpiochip0`, as on a Raspberry Pi 5)."""
    installed: bool = False
    """Plays on the settings that are installed: nothing of `settings_page.FOR_RIG` is relaxed."""
    is_taught: bool = True
    """Whether its people teach it its dice before it is first opened."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Settings that differ, by section."""

    @property
    def is_a_text(self) -> bool:
        return not (self.profile == "house-auto" or self.profile.endswith(".toml"))

    @property
    def plays_by_itself(self) -> bool:
        """Whether it plays a text in a way that the text does not provide for."""
        return not self.by_hand and self.is_a_text


def _pins(rig: dict[str, Any]) -> dict[str, Any]:
    """The section `[gpio]`. A rig says 0 where it takes whichever frequency of the motor PWM."""
    if "gpiochip" in rig:
        chip = rig["gpiochip"]
        return {
            "backend": "gpiod",
            "chip": chip["chip"],
            "pwm_chip": chip["pwm_chip"],
            "pins": {"motor_supply": 27},
        }
    reached = {key: value for key, value in rig["pigpiod"].items() if value}
    return {"backend": "pigpio", "pins": {"motor_supply": 27}, **reached}


@dataclass
class Session:
    """One rig and one service in one folder. Use as a context: both are stopped at the end."""

    plan: Plan
    folder: Path
    passphrases: dict[str, str] = field(default_factory=dict)
    rig: dict[str, Any] = field(default_factory=dict)
    rig_file: Path | None = None
    """What the rig is made of; None: everything is virtual."""
    world: World | None = None
    """What the service sees of its computer; None: as it is."""
    started_s: float = 0.0
    ready_after_s: float = 0.0
    page_address: str = ""
    """Where a browser finds the page, once it runs."""
    tell: Callable[[str], None] = lambda _: None
    """Is told what people do before the service runs."""
    _rig: Program | None = None
    _service: Program | None = None
    _page: Program | None = None

    def __enter__(self) -> Session:
        try:
            self.start_rig()
            self.write_settings()
            self.start_service()
            if self.plan.page:
                self.start_page()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ── Starting ────────────────────────────────────────────────────────────

    def start_rig(self) -> None:
        """Start the virtual rig and wait until it listens everywhere."""
        command = [
            *program("hil_tests.rig.main", "run"),
            *("--geometry", self.plan.compartment, "--dice", self.plan.dice),
            *("--seed", str(self.plan.seed), "--dir", str(self.folder / "rig"), "--port", "0"),
        ]
        if self.plan.profile in COVERED:
            command += ["--cover", "driven"]
        file, parts = self.rig_file, []
        if self.plan.pins == "gpiod":
            parts.append('[gpio]\nwires = "gpiochip"\n')
        if self.plan.profile.endswith(".toml"):
            parts.append(f'[lamp]\nlayout = "{self.plan.profile}"\n')
        if file is None and parts:
            file = self.folder / "parts.toml"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("\n".join(parts), encoding="utf-8")
        if file is not None:
            command += ["--rig", str(file)]
        self._rig = self._started("the virtual rig", command, "rig.log", nice=-10)
        address = self.folder / "rig" / "rig.json"
        self._rig.wait_until(address.exists)
        self.rig = json.loads(address.read_text("utf-8"))
        if self.elsewhere.through:
            self.check_link()

    def check_link(self) -> None:
        """Time the controller's link to its daemon before anything is played over it.

        Raises `BenchError` where it is too slow for the control loop.
        """
        where = self.rig["pigpiod"]
        test = [sys.executable, "-m", "hil_tests.rig.link_test", f"{where['host']}:{where['port']}"]
        ran = subprocess.run(
            self._inside(*test), capture_output=True, text=True, timeout=30, check=False
        )
        if ran.returncode:
            said = (ran.stderr or ran.stdout).strip()
            raise BenchError(said, remedy="Join the two computers by a cable or a switch, no Wi-Fi")

    def start_service(self) -> None:
        """Start the service and wait until it says READY."""
        self.started_s = time.monotonic()
        settings = str(self.folder / "settings.toml")
        command = self._inside(*program("shaker_ctl.main", "run", "--config", settings))
        if self.world is not None:
            command = self.world.around(command)
        # Whatever else runs here must not make the motor loop late.
        self._service = self._started("the service", command, "service.log", nice=-10)
        self._service.wait_for("READY")
        self.ready_after_s = time.monotonic() - self.started_s

    def start_page(self) -> None:
        """Start the page and wait until it says its address. It gives way to the table."""
        command = program("shaker_ctl.main", "page", "--config", f"{self.folder}/settings.toml")
        self._page = self._started("the page", command, "page.log", nice=5)
        self.page_address = self._page.wait_for("page: ")

    def stop_page(self) -> None:
        """SIGTERM, and wait."""
        if self._page is not None:
            self._page.stop()

    def _started(self, name: str, command: list[str], log: str, *, nice: int) -> Program:
        part = Program(name, command, self.folder / log, nice=nice, ends_its_own=True)
        part.start()
        return part

    # ── The settings, as a technician writes them ───────────────────────────

    def write_settings(self) -> None:
        """Write the settings and the people who may log in, have the camera measured and the table
        taught its dice."""
        for name, role in (
            ("fay", Role.FLOORPERSON),
            ("dan", Role.DEALER),
            ("tom", Role.TECHNICIAN),
            ("sue", Role.SUPERVISOR),
        ):
            word = EASY_WORD if self.plan.by_hand else secrets.token_urlsafe(12)
            self.passphrases[name] = word
            accounts.add(self.folder / "users.toml", name, role, word, f"{name}-1")
        file = self.folder / "settings.toml"
        file.write_text(tomlkit.dumps(self.settings()), "utf-8")
        Installer(file, self.rig, self._inside, self._hands, self.tell).prepare(
            self._kind, is_taught=self.plan.is_taught
        )

    def settings(self) -> dict[str, Any]:
        """The content of the settings file, by section."""
        rig = self.rig
        is_covered = self.plan.profile in COVERED
        settings: dict[str, Any] = {
            "table": {
                "profile": self.plan.profile,
                "entry_mode": "dealer_confirm" if self.plan.by_hand else "auto",
                "approval": APPROVAL if self.plan.plays_by_itself else "",
                "as_demonstration": self.plan.is_a_text,
                "autonomous": not self.plan.by_hand,
                "cover_fitted": is_covered,
                "cover_driven": is_covered,
                **PACES[self.plan.pace],
            },
            "service": {
                "table_name": "Demonstration 1",
                "runtime_dir": str(self.folder / "run"),
            },
            "gpio": _pins(rig),
            "camera": {
                "device": rig["camera"]["url"],
                "teaching": str(self.folder / "teaching"),
                **known_before(rig, prepared.found(self._kind)),
            },
            "lamp": dict(rig["lamp"]),
            "console": {
                "users_file": str(self.folder / "users.toml"),
                "technician": {
                    "device": rig["console"]["technician"]["service"],
                    "roles": ["technician", "floorperson", "supervisor"],
                },
                "dealer": {
                    "device": rig["console"]["dealer"]["service"],
                    "roles": ["dealer", "floorperson", "supervisor"],
                },
            },
            "journal": {
                "path": str(self.journal),
                "second": str(self.second),
                "pictures": str(self.folder / "pictures"),
            },
            "page": {"port": 0, "login": False, "state_dir": str(self.folder / "page")},
        }
        for name, (value, _) in () if self.plan.installed else FOR_RIG.items():
            section, key = name.split(".")
            settings[section][key] = value
        return merged(settings, self.plan.changes)

    @property
    def _kind(self) -> str:
        controls = self.plan.changes.get("camera", {}).get("controls", {})
        return prepared.kind_of(self.rig, controls)

    def teaching(self) -> TaughtTable | None:
        """What the table was taught; None where nobody taught it."""
        file = self.folder / "teaching"
        return of_bytes(file.read_bytes(), file) if file.exists() else None

    def _hands(self, action: str) -> None:
        try:
            self.ask_rig(f"hands {action}")
        except RigRefusedError as refused:
            raise BenchError(f"hands cannot {action}: {refused}") from refused

    def ask_rig(self, command: str) -> Any:
        """Give the rig one command; return what it answers.

        Raises `RigRefusedError`, and OSError where no rig answers.
        """
        return told(self.rig["control"], command)

    @cached_property
    def elsewhere(self) -> ServiceTable:
        """Where the service runs, by the rig file."""
        return (load(self.rig_file) if self.rig_file else RigFile()).service

    def _inside(self, *command: str) -> list[str]:
        """The command as it runs where the rig's pins are: a kernel's device has a door, and
        another computer has its own way in."""
        if "gpiochip" not in self.rig:
            return [*self.elsewhere.through, *command]
        door = self.rig["gpiochip"]["door"]
        return [sys.executable, "-m", "hil_tests.rig.gpiochip.enter", door, *command]

    def console(self, port: str, **options: Any) -> Console:
        """A script's end of the `technician` or the `dealer` line; `options` are the client's.

        Raises `ConsoleLineError` where nobody answers.
        """
        console = Console(SerialPort(self.rig["console"][port]["person"]), **options)
        try:
            console.connect()
        except BaseException:
            console.close()
            raise
        return console

    # ── Stopping ────────────────────────────────────────────────────────────

    @property
    def runtime_dir(self) -> Path:
        return self.folder / "run"

    @property
    def journal(self) -> Path:
        return self.folder / "journal.jsonl"

    @property
    def second(self) -> Path:
        return self.folder / "journal-second.jsonl"

    @property
    def service_pid(self) -> int | None:
        return self._service.pid if self._service is not None and self._service.process else None

    @property
    def is_serving(self) -> bool:
        """Whether the service's process lives."""
        return self._service is not None and self._service.is_running

    def check(self) -> None:
        """Raise `BenchError` where rig or service has ended."""
        for part in (self._rig, self._service, self._page):
            if part is not None:
                part.check()

    def stop_service(self) -> None:
        """SIGTERM, and wait: motor off, lamps as the policy says, journal closed."""
        if self._service is not None:
            self._service.stop()

    def kill_service(self) -> None:
        """SIGKILL, also to what it has started, as its unit does, and wait until it is gone.

        Its records process would say what it finds beside the next start. Idempotent.
        """
        if self._service is not None:
            children = self.children()
            self._service.kill()
            for pid in children:
                end_at_once(pid)

    def children(self) -> list[int]:
        """The processes that the service has started; none where it does not run."""
        tasks = Path(f"/proc/{self.service_pid}/task").glob("*/children")
        return [int(pid) for task in tasks for pid in task.read_text().split()]

    def close(self) -> None:
        """Stop service and rig, in this order. Idempotent."""
        self.stop_page()
        self.stop_service()
        if self._rig is not None:
            self._rig.stop()


def merged(base: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of nested tables in which `changes` stand."""
    whole = dict(base)
    for key, value in changes.items():
        old = whole.get(key)
        whole[key] = merged(old, value) if isinstance(old, dict) else value
    return whole
