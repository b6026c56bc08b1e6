"""A Debian in a container that boots its own systemd.

Owns the container (systemd-nspawn), what is run inside, and what its units say. The container
shares this machine's kernel. Must not know what the programs do.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from hil_tests.waiting import until

PINS_LOW = "set 23,18,21 op dl"
"""What the stop script asks `pinctrl` for."""


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
