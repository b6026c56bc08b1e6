"""The lamp box of `systemd/machine`: its shipped program on a simulated ATmega1284P.

    python -m hil_tests.rig.lamp_box.firmware DEVICE [--log FILE] [--memory FILE]

`FirmwareBox` takes what `box.LampBox` takes, so that one suite asks both. Must not know registers.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from hil_tests.rig.lamp_box.box import Refused
from hil_tests.rig.lamp_box.modbus_unit import checksum

SOURCE = Path(__file__).parents[3] / "systemd" / "machine" / "lamp_box"
BUILT = SOURCE.parents[2] / "build" / "lamp_box"
HANDS = {
    "bulb_burnt": "burnt",
    "bulb_stuck": "stuck",
    "lamps_latched": "latched",
    "lamps_shifted": "shifted",
    "lamp_extra": "stuck",
    "lamp_dead_drivers": "dead",
    "lamp_memory_bad": "spoil",
}
"""The rig's faults, as the simulated board calls them."""
NOTICED_S = 0.25
"""Until the box has looked at lamps and drivers again."""
LONGEST_S = 30.0
"""A day of its time would take this computer half an hour."""


def why_not() -> str:
    """Say what keeps it from being built here; nothing if nothing does."""
    if all(map(shutil.which, ("avr-gcc", "cc"))) and Path("/usr/include/simavr").exists():
        return ""
    return "the lamp box's program needs gcc, gcc-avr, avr-libc and libsimavr-dev"


def command(program: str, *words: str) -> list[str]:
    """Build what has changed, and return how `program` is started."""
    make = ["flock", str(SOURCE / "Makefile"), "make", "-s", "-C", str(SOURCE)]
    subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
    return [str(BUILT / program), str(BUILT / "lamp_box.elf"), *words]


class FirmwareBox:
    """A box behind a pipe, and its own clock: its time passes at requests, and when told."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        self._program = subprocess.Popen(command("box_on_pipe"), stdin=pipe, stdout=pipe, text=True)
        self._now = 0.0
        self.faults = self

    def close(self) -> None:
        self._program.communicate()

    def told(self, order: str) -> str:
        """Give one order of `box_on_pipe.c` and return its answer."""
        print(order, file=self._program.stdin, flush=True)
        return self._program.stdout.readline() if self._program.stdout else ""

    @property
    def now(self) -> float:
        return self._now

    @now.setter
    def now(self, at: float) -> None:
        self.told(f"wait {min(at - self._now, LONGEST_S)}")
        self._now = at

    def restart(self) -> None:
        self.told("restart")

    def erase_memory(self) -> None:
        self.told("erase")

    def inject(self, name: str, area: str = "") -> None:
        for lamp in area.split(","):
            self.told(f"{HANDS[name]} {lamp}")
        self.now += NOTICED_S

    def heal(self) -> None:
        self.told("heal")
        self.now += NOTICED_S

    def replies(self, *arrivals: bytes) -> list[bytes]:
        """Return what it sends when these bytes arrive; b"" is a silence."""
        answer = self.told(" ".join(["ask", *(piece.hex() or "-" for piece in arrivals)]))
        return [bytes.fromhex(reply) for reply in answer.split()]

    def _ask(self, request: bytes) -> bytes:
        (reply,) = self.replies(request + checksum(request))
        if reply[1] & 0x80:
            raise Refused(reply[2])
        return reply[3:-2]

    def read(self, address: int, count: int) -> list[int]:
        words = self._ask(struct.pack(">BBHH", 1, 3, address, count))
        return list(struct.unpack(f">{count}H", words))

    def write(self, address: int, words: Sequence[int]) -> None:
        count = len(words)
        self._ask(struct.pack(f">BBHHB{count}H", 1, 16, address, count, 2 * count, *words))


if __name__ == "__main__":
    started = command("box_on_line", *sys.argv[1:])
    os.execv(started[0], started)
