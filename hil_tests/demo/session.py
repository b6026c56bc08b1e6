"""Rig and service as two programs, and the folder in which they meet.

Owns processes, the settings file that a technician would have written, and stopping whatever
happens. Must not know rounds or values.
"""

from __future__ import annotations

import ctypes
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import tomlkit

from hil_tests.demo.installer import InstallationError, install, known_before
from hil_tests.rig.control import RigRefusedError, told
from hil_tests.rig.rigfile import RigFile, ServiceTable, load
from shaker_ctl.adapters.lines.serial_port import SerialPort
from shaker_ctl.console import accounts
from shaker_ctl.console.client import Console
from shaker_ctl.errors import ShakerError
from shaker_ctl.rules.vocabulary import Role
from shaker_ctl.settings_page import FOR_RIG

APPROVAL = "none: demonstration on the virtual rig"

BRISK = {"betting_s": 0.5, "settling_s": 0.3, "payout_s": 0.4}
TABLE_PACE = {"betting_s": 6.0, "settling_s": 2.5, "payout_s": 3.5}
PACES = {"brisk": BRISK, "table": TABLE_PACE}
"""`--pace` only changes how long people get; the toss and the reading are the same."""

COVERED = {"md"}
"""Profiles that require a cover; the rig then has a driven one."""

START_S = 120.0
"""Only ends a start that is broken: a machine that is busy with other work takes its time."""

EASY_WORD = "demonstration"
"""The passphrase of everybody where a person types it, on lines that end in this computer."""


class DemoError(ShakerError):
    """The demonstration could not start or go on; the remedy says what to look at."""

    code = "demo"


@dataclass(frozen=True, slots=True)
class Plan:
    """What to play."""

    profile: str = "pa-625a"
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
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Settings that differ, by section."""

    @property
    def plays_by_itself(self) -> bool:
        """Whether it plays a text in a way that the text does not provide for."""
        return not self.by_hand and self.profile != "house-auto"


def _pins(rig: dict[str, Any]) -> dict[str, Any]:
    """The section `[gpio]`. A rig says 0 where it takes whichever frequency of the motor PWM."""
    if "gpiochip" in rig:
        chip = rig["gpiochip"]
        return {"backend": "gpiod", "chip": chip["chip"], "pwm_chip": chip["pwm_chip"]}
    return {"backend": "pigpio", **{key: value for key, value in rig["pigpiod"].items() if value}}


@dataclass
class Session:
    """One rig and one service in one folder. Use as a context: both are stopped at the end."""

    plan: Plan
    folder: Path
    passphrases: dict[str, str] = field(default_factory=dict)
    rig: dict[str, Any] = field(default_factory=dict)
    rig_file: Path | None = None
    """What the rig is made of; None: everything is virtual."""
    started_s: float = 0.0
    ready_after_s: float = 0.0
    page_address: str = ""
    """Where a browser finds the page, once it runs."""
    _rig_process: subprocess.Popen[bytes] | None = None
    _service: subprocess.Popen[bytes] | None = None
    _page: subprocess.Popen[bytes] | None = None
    _logs: list[IO[bytes]] = field(default_factory=list)

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
            *_program("hil_tests.rig.main"),
            "run",
            *("--geometry", self.plan.compartment, "--dice", self.plan.dice),
            *("--seed", str(self.plan.seed), "--dir", str(self.folder / "rig"), "--port", "0"),
        ]
        if self.plan.profile in COVERED:
            command += ["--cover", "driven"]
        file = self.rig_file
        if file is None and self.plan.pins == "gpiod":
            file = self.folder / "pins.toml"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text('[gpio]\nwires = "gpiochip"\n', encoding="utf-8")
        if file is not None:
            command += ["--rig", str(file)]
        self._rig_process = self._spawn(command, "rig.log")
        address = self.folder / "rig" / "rig.json"
        self._wait_for(self._rig_process, address.exists, "the virtual rig", "rig.log")
        self.rig = json.loads(address.read_text("utf-8"))
        if self.elsewhere.through:
            self.check_link()

    def check_link(self) -> None:
        """Time the controller's link to its daemon before anything is played over it.

        Raises `DemoError` where it is too slow for the control loop.
        """
        where = self.rig["pigpiod"]
        test = [sys.executable, "-m", "hil_tests.rig.link_test", f"{where['host']}:{where['port']}"]
        ran = subprocess.run(
            self._inside(*test), capture_output=True, text=True, timeout=30, check=False
        )
        if ran.returncode:
            said = (ran.stderr or ran.stdout).strip()
            raise DemoError(said, remedy="Join the two computers by a cable or a switch, no Wi-Fi")

    def start_service(self) -> None:
        """Start the service and wait until it says READY."""
        self.started_s = time.monotonic()
        run = ("run", "--config", str(self.folder / "settings.toml"))
        command = self._inside(*_program("shaker_ctl.main"), *run)
        self._service = self._spawn(command, "service.log")
        log = self.folder / "service.log"
        self._wait_for(
            self._service, lambda: b"READY" in log.read_bytes(), "the service", "service.log"
        )
        self.ready_after_s = time.monotonic() - self.started_s

    def start_page(self) -> None:
        """Start the page and wait until it says its address."""
        log = self.folder / "page.log"
        command = [*_program("shaker_ctl.main"), "page", "--config", f"{self.folder}/settings.toml"]
        self._page = self._spawn(command, log.name, nice=5)  # gives way to the table
        self._wait_for(self._page, lambda: b"page: " in log.read_bytes(), "the page", log.name)
        said = next(line for line in log.read_text("utf-8").splitlines() if "page: " in line)
        self.page_address = said.partition("page: ")[2]

    def stop_page(self) -> None:
        """SIGTERM, and wait."""
        _stop(self._page)
        self._page = None

    def _spawn(self, command: list[str], log: str, *, nice: int = -10) -> subprocess.Popen[bytes]:
        self.folder.mkdir(parents=True, exist_ok=True)
        file = (self.folder / log).open("wb")
        self._logs.append(file)

        def prepare() -> None:
            end_with_parent()  # if the demonstration is killed, neither plays on alone
            # The kernel may weigh whole sessions against each other (autogroup, see sched(7)).
            with suppress(OSError):
                Path("/proc/self/autogroup").write_text(str(nice), "ascii")

        return subprocess.Popen(
            # As the unit's Nice=: whatever else runs here must not make the motor loop late. Where
            # it is not permitted, nice(1) says so in the log and runs the program all the same.
            ["nice", "-n", str(nice), *command],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            start_new_session=True,  # Ctrl-C goes to the demonstration, which stops both in order
            preexec_fn=prepare,
        )

    def _wait_for(
        self, process: subprocess.Popen[bytes], is_there: Any, what: str, log: str
    ) -> None:
        deadline = time.monotonic() + START_S
        while not is_there():
            if process.poll() is not None:
                raise self._failed(f"{what} ended with status {process.returncode}", log)
            if time.monotonic() > deadline:
                raise self._failed(f"{what} is not ready after {START_S:g} s", log)
            time.sleep(0.02)

    def _failed(self, what: str, log: str) -> DemoError:
        lines = (self.folder / log).read_text("utf-8", errors="replace").strip().splitlines()
        said = lines[-1] if lines else "it said nothing"
        return DemoError(f"{what}: {said}", remedy=f"See {self.folder / log}")

    # ── The settings, as a technician writes them ───────────────────────────

    def write_settings(self) -> None:
        """Write the settings and the people who may log in, and have the camera measured."""
        for name, role in (
            ("fay", Role.FLOORPERSON),
            ("dan", Role.DEALER),
            ("tom", Role.TECHNICIAN),
            ("sue", Role.SUPERVISOR),
        ):
            word = EASY_WORD if self.plan.by_hand else secrets.token_urlsafe(12)
            self.passphrases[name] = word
            accounts.add(self.folder / "users.toml", name, role, word)
        file = self.folder / "settings.toml"
        file.write_text(tomlkit.dumps(self.settings()), "utf-8")
        try:
            install(file, self.rig, self._inside(*_program("shaker_ctl.main")), self._hands)
        except InstallationError as error:
            raise DemoError(f"the camera is not calibrated: {error}") from error

    def settings(self) -> dict[str, Any]:
        """The content of the settings file, by section."""
        rig = self.rig
        is_covered = self.plan.profile in COVERED
        settings: dict[str, Any] = {
            "table": {
                "profile": self.plan.profile,
                "entry_mode": "dealer_confirm" if self.plan.by_hand else "auto",
                "approval": APPROVAL if self.plan.plays_by_itself else "",
                "as_demonstration": self.plan.profile != "house-auto",
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
            "camera": {"device": rig["camera"]["url"], "calibration": known_before(rig)},
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
                "path": str(self.folder / "journal.sqlite"),
                "second": str(self.folder / "journal-second.sqlite"),
                "pictures": str(self.folder / "pictures"),
            },
            "page": {"port": 0, "login": False, "state_dir": str(self.folder / "page")},
        }
        for name, (value, _) in () if self.plan.installed else FOR_RIG.items():
            section, key = name.split(".")
            settings[section][key] = value
        return merged(settings, self.plan.changes)

    def _hands(self, action: str) -> None:
        try:
            self.ask_rig(f"hands {action}")
        except RigRefusedError as refused:
            raise DemoError(f"hands cannot {action}: {refused}") from refused

    def ask_rig(self, command: str) -> Any:
        """Give the rig one command; return what it answers.

        Raises `RigRefusedError`, and OSError where no rig answers.
        """
        return told(Path(self.rig["control"]), command)

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
    def service_pid(self) -> int | None:
        return self._service.pid if self._service is not None else None

    @property
    def is_serving(self) -> bool:
        """Whether the service's process lives."""
        return self._service is not None and self._service.poll() is None

    def check(self) -> None:
        """Raise `DemoError` where rig or service has ended."""
        for process, what, log in (
            (self._rig_process, "the virtual rig", "rig.log"),
            (self._service, "the service", "service.log"),
            (self._page, "the page", "page.log"),
        ):
            if process is not None and process.poll() is not None:
                raise self._failed(f"{what} ended with status {process.returncode}", log)

    def stop_service(self) -> None:
        """SIGTERM, and wait: motor off, lamps as the policy says, journal closed."""
        _stop(self._service)
        self._service = None

    def close(self) -> None:
        """Stop service and rig, in this order. Idempotent."""
        self.stop_page()
        self.stop_service()
        _stop(self._rig_process)
        self._rig_process = None
        while self._logs:
            self._logs.pop().close()


def merged(base: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of nested tables in which `changes` stand."""
    whole = dict(base)
    for key, value in changes.items():
        old = whole.get(key)
        whole[key] = merged(old, value) if isinstance(old, dict) else value
    return whole


def end_with_parent() -> None:
    """In the child: be sent SIGTERM when the demonstration dies (prctl(2), PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def _program(module: str) -> list[str]:
    return [sys.executable, "-c", f"from {module} import app; app()"]


def _stop(process: subprocess.Popen[bytes] | None) -> None:
    if process is None:
        return
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
