"""What a service sees of its computer, where a bench bends it: the wall clock, the memory that is
left, the program's own files, and the groups (cgroups) that limit its processes.

Owns what stands before the service's command for that. Must not know why it is bent.
"""

from __future__ import annotations

import os
import struct
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from hil_tests.processes import TrialError

MEMINFO = Path("/proc/meminfo")

SHOWN = 'mount --bind "$1" /proc/meminfo && shift && exec "$@"'
"""Starts a program for which another file stands at /proc/meminfo, and for nobody else (unshare(1),
mount_namespaces(7)): filling the computer's memory would fail what runs the tests first."""

JOINED = 'for group in $1; do echo $$ >"$group/cgroup.procs"; done && shift && exec "$@"'

UNSHARE = ["unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]), "--mount"]


class World:
    """The world of one table's service, in the table's folder."""

    def __init__(self, folder: Path, tree: Path | None = None) -> None:
        """`tree`: where the service's packages lie; None: where this program's own lie."""
        self._clock = folder / "clock-offset"
        self._memory = folder / "meminfo"
        self._tree = tree
        self.groups: Sequence[Path] = ()
        """Folders of the cgroups that the service's processes are in."""

    def around(self, command: list[str]) -> list[str]:
        """That command, as it is started in this world: its clock as it stands, all of the
        memory."""
        if not self._clock.exists():
            self._clock.write_bytes(struct.pack("<d", 0.0))
        self.show_memory(None)
        places = [
            str(Path(__file__).with_name("stepped_clock")),
            str(self._tree or ""),
            os.environ.get("PYTHONPATH", ""),
        ]
        clock = [
            *("env", f"SHAKER_RIG_CLOCK={self._clock}"),
            *(["PYTHONSAFEPATH=1"] if self._tree else []),  # the folder of the run comes later
            f"PYTHONPATH={os.pathsep.join(filter(None, places))}",
        ]
        joined = ["sh", "-c", JOINED, "sh", " ".join(map(str, self.groups))] if self.groups else []
        return [*joined, *clock, *self.seen_from_inside(command)]

    def seen_from_inside(self, command: list[str]) -> list[str]:
        """That command, started where `show_memory` is seen; as it is, where none may be shown."""
        if not _may_show_memory():
            return command
        return [*UNSHARE, "sh", "-c", SHOWN, "sh", str(self._memory), *command]

    def show_memory(self, available_kb: int | None) -> None:
        """Have the service's system say that so much memory is available; None: as it truly is.

        Raises TrialError where this computer allows nobody a view of their own.
        """
        if available_kb is not None and not _may_show_memory():
            raise TrialError("unshare(1) is not permitted here: the service sees the true memory")
        lines = MEMINFO.read_text("utf-8").splitlines(keepends=True)
        said = f"MemAvailable: {available_kb} kB\n"
        told = [
            said if available_kb is not None and line.startswith("MemAvailable:") else line
            for line in lines
        ]
        self._memory.write_text("".join(told), "utf-8")

    def step_clock(self, offset_s: float) -> None:
        """Have the service's wall clock stand that far from the true one."""
        with self._clock.open("r+b") as file:
            file.write(struct.pack("<d", offset_s))


@cache
def _may_show_memory() -> bool:
    test = [*UNSHARE, "mount", "--bind", "/proc/meminfo", "/proc/meminfo"]
    try:
        return subprocess.run(test, capture_output=True, check=False).returncode == 0
    except OSError:
        return False
