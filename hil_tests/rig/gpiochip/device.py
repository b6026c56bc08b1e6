"""`/dev/gpiochip0` as a program meets it: its node, its entry in sysfs, its ioctls.

Owns the translation between system calls and `lines`. Must not know what the pins are for.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import socket
import stat
import struct
import threading
from collections.abc import Callable
from typing import Any

from hil_tests.rig.gpiochip import trap, uapi
from hil_tests.rig.gpiochip.lines import LINES, HeldLines, Lines
from hil_tests.rig.gpiochip.trap import Call
from virtual_pigpiod.pins.board import Board

NODE = "/dev/gpiochip0"
LABEL = b"pinctrl-rp1"
"""The label of the header's chip on a Raspberry Pi 5, by which a controller finds it."""

_DEVICE = os.makedev(254, 0)
_SYSFS = f"/sys/dev/char/{os.major(_DEVICE)}:{os.minor(_DEVICE)}"
_LINKS = {f"{_SYSFS}/subsystem": "/sys/bus/gpio"}
_FOLDERS = {_SYSFS, "/sys/bus/gpio"}
_NOT_A_LINK = errno.EINVAL


class GpioChip:
    """One chip on one board, for any number of program trees behind a filter each."""

    def __init__(self, board: Board, *, strict: bool = False) -> None:
        """`strict`: closing a request gives its outputs up (`dtparam=strict_gpiod`)."""
        self.lines = Lines(board, strict=strict)
        self._numbers = trap.machine()
        self._chips: set[str] = set()
        self._sockets: list[socket.socket] = []
        self._ioctls: dict[int, Callable[[Call, HeldLines], None]] = {
            uapi.GET_VALUES: self._get_values,
            uapi.SET_VALUES: self._set_values,
        }

    def let_in(self, line: socket.socket) -> None:
        """Take a program's filter from its end of the line, and tell it that somebody answers."""
        _, descriptors, _, _ = socket.recv_fds(line, 16, 1)
        if descriptors:
            self.attend(descriptors[0])
            line.sendall(b"1")

    def attend(self, listener: int) -> threading.Thread:
        """Answer the calls of one program tree, from a thread of its own, until it has ended."""

        def run() -> None:
            try:
                trap.serve(listener, self._answer)
            finally:
                os.close(listener)

        thread = threading.Thread(target=run, name="gpiochip", daemon=True)
        thread.start()
        return thread

    def close(self) -> None:
        self.lines.close()
        for end in self._sockets:
            end.close()

    # ── Paths ───────────────────────────────────────────────────────────────

    def _answer(self, call: Call) -> None:
        numbers, arguments = self._numbers, call.arguments
        try:
            match call.number:
                case numbers.ioctl:
                    self._ioctl(call)
                case numbers.open:
                    self._open(call, arguments[0])
                case numbers.openat:
                    self._open(call, arguments[1])
                case numbers.stat | numbers.lstat:
                    self._stat(call, arguments[0], arguments[1])
                case numbers.newfstatat:
                    self._stat(call, arguments[1], arguments[2])
                case numbers.readlink:
                    self._readlink(call, arguments[0], arguments[1], arguments[2])
                case numbers.readlinkat:
                    self._readlink(call, arguments[1], arguments[2], arguments[3])
                case _:
                    call.proceed()
        except OSError as error:
            call.fail(error.errno or errno.EIO)  # As the kernel refuses; or the caller has ended.

    def _open(self, call: Call, path: int) -> None:
        if call.text(path) != NODE:
            return call.proceed()
        ours, theirs = socket.socketpair()
        with theirs:
            self._chips.add(os.readlink(f"/proc/self/fd/{theirs.fileno()}"))
            call.give(theirs.fileno())
        self._sockets.append(ours)
        return None

    def _stat(self, call: Call, path: int, buffer: int) -> None:
        if call.text(path) != NODE:
            return call.proceed()
        call.write(buffer, _node_status())
        return call.finish()

    def _readlink(self, call: Call, path: int, buffer: int, size: int) -> None:
        name = call.text(path)
        if name in _FOLDERS:
            return call.fail(_NOT_A_LINK)
        if name not in _LINKS:
            return call.proceed()
        target = os.fsencode(_LINKS[name])[:size]
        call.write(buffer, target)
        return call.finish(len(target))

    # ── The chip's and the requests' ioctls ─────────────────────────────────

    def _ioctl(self, call: Call) -> None:
        descriptor, number, address = call.arguments[:3]
        number &= 0xFFFFFFFF
        name = call.inode(descriptor)
        request = self.lines.request(name)
        if request is not None and number in self._ioctls:
            return self._ioctls[number](call, request)
        if name not in self._chips:
            return call.fail(errno.ENOTTY)
        if number == uapi.GET_CHIPINFO:
            info = uapi.ChipInfo(os.path.basename(NODE).encode(), LABEL, LINES)
            call.write(address, bytes(info))
            return call.finish()
        if number == uapi.GET_LINEINFO:
            asked = _structure(call, uapi.LineInfo)
            call.write(address, bytes(self.lines.describe(asked.offset)))
            return call.finish()
        if number == uapi.GET_LINE:
            return self._get_line(call)
        return call.fail(errno.ENOTTY)

    def _get_line(self, call: Call) -> None:
        asked = _structure(call, uapi.LineRequest)
        with self.lines.take(asked) as theirs:
            asked.fd = call.add(theirs.fileno())
        call.write(call.arguments[2], bytes(asked))
        call.finish()

    def _get_values(self, call: Call, request: HeldLines) -> None:
        values = _structure(call, uapi.LineValues)
        values.bits = self.lines.values(request, values.mask)
        call.write(call.arguments[2], bytes(values))
        call.finish()

    def _set_values(self, call: Call, request: HeldLines) -> None:
        values = _structure(call, uapi.LineValues)
        self.lines.write(request, values.mask, values.bits)
        call.finish()


def _structure(call: Call, kind: Any) -> Any:
    return kind.from_buffer_copy(call.read(call.arguments[2], ctypes.sizeof(kind)))


def _node_status() -> bytes:
    """`struct stat` of a character device."""
    mode = stat.S_IFCHR | 0o660
    if platform.machine() == "x86_64":
        head = struct.pack("<QQQIIIIQ", 5, 1, 1, mode, 0, 0, 0, _DEVICE)
        return head.ljust(144, b"\0")
    head = struct.pack("<QQIIIIQ", 5, 1, mode, 1, 0, 0, _DEVICE)
    return head.ljust(128, b"\0")
