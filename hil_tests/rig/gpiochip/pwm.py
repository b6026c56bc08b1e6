"""Hardware PWM as `/sys/class/pwm/pwmchip0` offers it: a folder of files that the rig watches.

Owns the files' meaning, as Documentation/driver-api/pwm.rst has it: `export` makes a channel's
folder, `period` and `duty_cycle` are nanoseconds, `enable` is 0 or 1. The channels are those that a
Raspberry Pi 5 has on its header. A file can be read back as in sysfs. No file selects a pin's
function: `dtoverlay=pwm-2chan` does so once, at the boot, and whoever makes the pin an output takes
the signal from it (raspberrypi/linux, drivers/pwm/pwm-rp1.c: only the PWM block is touched).

Not as in sysfs: the files are ordinary ones, so that a value which the kernel would refuse is taken
and has no effect, and an effect follows its write by some tens of microseconds.
"""

from __future__ import annotations

import ctypes
import errno
import os
import select
import struct
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.pins.pin import Mode
from virtual_pigpiod.pins.sources import PulseTrain

CHANNELS = {0: (12, Mode.ALT0), 1: (13, Mode.ALT0), 2: (18, Mode.ALT3), 3: (19, Mode.ALT3)}
"""GPIO of each channel of the RP1's PWM0 and the function that shows it there."""

OVERLAY = (12, 18)
"""Pins of the overlay that the page has a person write into `config.txt`."""

_MODIFIED, _CLOSED = 0x2, 0x8
_EVENT = struct.Struct("iIII")
_TURN_MS = 1000


class PwmFolder:
    """The folder, and the thread that follows what is written there."""

    def __init__(self, board: Board, folder: Path, overlay: Iterable[int] = OVERLAY) -> None:
        """Make it anew at `folder`, as after a boot with an overlay for these GPIOs. Raises
        OSError."""
        self.folder = folder
        self._board = board
        self._watched: dict[int, int | None] = {}
        """Watch descriptor to channel; None for `export`."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "npwm").write_text(f"{len(CHANNELS)}\n")
        (folder / "export").write_text("")
        (folder / "unexport").write_text("")
        for gpio, mode in CHANNELS.values():
            if gpio in overlay:
                board.set_mode(gpio, mode)
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._inotify = self._libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        if self._inotify < 0:
            raise OSError(errno.EMFILE, "no inotify instance left")
        self._watch(folder / "export", None)
        self._ends = False
        self._thread = threading.Thread(target=self._run, name="pwm-folder", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread. Signals go on as they are."""
        self._ends = True
        (self.folder / "export").write_text("")
        self._thread.join()
        os.close(self._inotify)

    def _watch(self, path: Path, channel: int | None) -> None:
        mask = _MODIFIED if channel is not None else _MODIFIED | _CLOSED
        number = self._libc.inotify_add_watch(self._inotify, os.fsencode(path), mask)
        self._watched[number] = channel

    def _run(self) -> None:
        poll = select.poll()
        poll.register(self._inotify, select.POLLIN)
        while not self._ends:
            if not poll.poll(_TURN_MS):
                continue
            changed: set[int | None] = set()
            with suppress(BlockingIOError):
                data = os.read(self._inotify, 4096)
                at = 0
                while at < len(data):
                    number, _, _, length = _EVENT.unpack_from(data, at)
                    changed.add(self._watched.get(number))
                    at += _EVENT.size + length
            for channel in changed:
                if channel is None:
                    self._export()
                else:
                    self._show(channel)

    def _export(self) -> None:
        wanted = _number(self.folder / "export")
        if wanted not in CHANNELS or (self.folder / f"pwm{wanted}").exists():
            return
        making = self.folder / f".pwm{wanted}"
        making.mkdir(exist_ok=True)
        for name, content in (("period", 0), ("duty_cycle", 0), ("enable", 0)):
            (making / name).write_text(f"{content}\n")
        (making / "polarity").write_text("normal\n")
        channel = making.rename(self.folder / f"pwm{wanted}")
        for name in ("period", "duty_cycle", "enable"):
            self._watch(channel / name, wanted)
        gpio, mode = CHANNELS[wanted]
        self._board.set_hardware(gpio, mode, None)

    def _show(self, channel: int) -> None:
        folder = self.folder / f"pwm{channel}"
        period_ns = _number(folder / "period") or 0
        duty_ns = _number(folder / "duty_cycle") or 0
        gpio, mode = CHANNELS[channel]
        is_running = _number(folder / "enable") == 1 and 0 <= duty_ns <= period_ns > 0
        train = PulseTrain(period_ns / 1000.0, duty_ns / 1000.0) if is_running else None
        self._board.set_hardware(gpio, mode, train)


def _number(path: Path) -> int | None:
    """The number in a file, which a later, shorter one may have overwritten in part."""
    with suppress(OSError, ValueError):
        return int(path.read_text().split("\n", 1)[0])
    return None
