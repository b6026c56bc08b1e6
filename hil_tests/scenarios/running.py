"""A rig and a controller that run already, on two computers: stories attach and start neither.

Owns how they are found and how the controller's power is cut: by commands, a person, or labgrid.
Must not know settings or records of that table: they lie on its own disk, and what a story would do
there is skipped.
"""

from __future__ import annotations

import json
import subprocess
import time
import tomllib
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hil_tests.processes import START_S, BenchError
from hil_tests.rig.control import is_address, told
from hil_tests.rig.rigfile import RigFile, load
from hil_tests.table_under_test.session import Plan, Session
from shaker_ctl.console.client import Console
from shaker_ctl.errors import ShakerError

RUN_S = 20.0
"""For a command that switches power."""


def session_of(plan: Plan, folder: Path, rig_file: Path | None, lab: Any = None) -> Session:
    """The session that the rig file asks for: started here, or running already.

    `lab`: the target of a labgrid environment, where the stories have one.
    """
    rig = load(rig_file) if rig_file else RigFile()
    if rig.service.rig:
        return RunningSession(plan, folder, rig_file=rig_file, lab=lab)
    return Session(plan, folder, rig_file=rig_file)


@dataclass
class RunningSession(Session):
    """See the module. A table that somebody else started stays as it is at the end."""

    lab: Any = None
    """A labgrid target, whose SerialDrivers are called `technician` and `dealer`, and whose driver
    of PowerProtocol has the controller's power."""
    _fuse: subprocess.Popen[bytes] | None = None
    """Stands for the controller where the rig kills a process at an event: then power is cut."""
    _is_off = False
    _operator: Callable[[str], bool] | None = None

    def start_rig(self) -> None:
        place = self.elsewhere.rig
        try:
            if is_address(place):
                self.rig = {**told(place, "addresses"), "control": place}
            else:
                self.rig = json.loads((Path(place) / "rig.json").read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise BenchError(
                f"no rig runs in {place}: {error}",
                remedy=f"Start it: shaker-rig run --rig {self.rig_file} --dir {place}",
            ) from error

    def write_settings(self) -> None:
        """Nothing is written there; the people's passphrases are read."""
        file = Path(self.elsewhere.people)
        try:
            self.passphrases = {
                name: str(word) for name, word in tomllib.loads(file.read_text("utf-8")).items()
            }
        except (OSError, ValueError) as error:
            raise BenchError(f"{file}: {error}", remedy="List fay, dan, tom and sue") from error

    def start_service(self) -> None:
        """Give power, where it was cut here, and wait until the console answers."""
        self.started_s = time.monotonic()
        if self._is_off:
            self._switch(on=True)
            self._fuse, self._is_off = None, False
        while True:
            with suppress(ShakerError, OSError), closing(self.console("technician")) as console:
                self._require_the_same(console.ask("profile")["profile"])
                break
            if time.monotonic() - self.started_s > START_S:
                raise BenchError(
                    f"no controller answers at {self.rig['console']['technician']['person']}",
                    remedy="Look at it: systemctl status shaker-ctl",
                )
        self.ready_after_s = time.monotonic() - self.started_s

    def _require_the_same(self, played: Mapping[str, Any]) -> None:
        """Skip a story that is of another profile or way of entry than the table plays."""
        entry = "dealer_confirm" if self.plan.by_hand else "auto"
        profile, mode = played["key"], played["entry_mode"]
        if (profile, mode) != (self.plan.profile, entry):
            pytest.skip(
                f"the running table plays {profile} with {mode}; this story is of "
                f"{self.plan.profile} with {entry}"
            )

    def arm_power_cut(self, operator: Callable[[str], bool] | None) -> None:
        """Make ready what the rig kills at an event; skips where nobody can cut the power."""
        self._operator = operator
        if self.lab is None and not self.elsewhere.off and operator is None:
            pytest.skip("nothing here cuts the running controller's power: [service] off")
        self._fuse = subprocess.Popen(["sleep", "3600"])

    @property
    def service_pid(self) -> int | None:
        return None if self._fuse is None else self._fuse.pid

    @property
    def is_serving(self) -> bool:
        """True until the fuse has blown, and power was cut."""
        if self._fuse is None or self._fuse.poll() is None:
            return True
        if not self._is_off:
            self._switch(on=False)
        self._is_off = True
        return False

    def console(self, port: str, **options: Any) -> Console:
        """At the rig's end of the line, or at labgrid's."""
        if self.lab is None:
            return super().console(port, **options)
        console = Console(LabgridLine(self.lab.get_driver("SerialDriver", name=port)), **options)
        console.connect()
        return console

    def _switch(self, *, on: bool) -> None:
        if self.lab is not None:
            power = self.lab.get_driver("PowerProtocol")
            power.on() if on else power.off()
            return
        command = self.elsewhere.on if on else self.elsewhere.off
        said = "Give the controller its power back" if on else "Take the controller's power NOW"
        if command:
            subprocess.run(command, timeout=RUN_S, check=True)
        elif self._operator is not None and not self._operator(said):
            pytest.skip(f"the operator cannot do that: {said}")

    def check(self) -> None:
        """Whatever ended is found by its silence."""

    def stop_service(self) -> None:
        """It goes on; a fuse that was not needed ends."""
        if self._fuse is not None:
            self._fuse.kill()
            self._fuse.wait()
            self._fuse = None


class LabgridLine:
    """A serial line of a labgrid target, as the client of a console has it."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver

    def read(self, timeout_s: float) -> bytes:
        # labgrid and pexpect are a laboratory's own, and not in the lock files.
        from pexpect import TIMEOUT

        with suppress(TIMEOUT):
            return bytes(self._driver.read(timeout=timeout_s))
        return b""

    def write(self, data: bytes) -> None:
        self._driver.write(data)

    def close(self) -> None:
        """The line is labgrid's."""
