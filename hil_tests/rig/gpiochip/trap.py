"""System calls of one process tree, answered by another process: seccomp's user notification.

Owns the filter, the notifications and the answers (seccomp_unotify(2)). Must not know GPIO. Needs
no privilege, and no compiler: a filter is a table of numbers.

Only calls that can concern a device node are stopped: GPIO ioctls (known by their magic byte),
opens for reading and writing, and the questions about a path that libgpiod asks. The rest of the
program runs at full speed.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import functools
import logging
import os
import platform
import select
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from hil_tests.rig.gpiochip.uapi import MAGIC

log = logging.getLogger(__name__)

LD_WORD, AND, SHIFT, EQUAL, RETURN = 0x20, 0x54, 0x74, 0x15, 0x06
ALLOW, NOTIFY = 0x7FFF0000, 0x7FC00000
_NR, _ARCH, _ARGS = 0, 4, 16
"""Offsets in `struct seccomp_data`."""

_SET_MODE_FILTER, _NEW_LISTENER = 1, 1 << 3
_PR_SET_NO_NEW_PRIVS, _PR_SET_PTRACER, _ANY = 38, 0x59616D61, ctypes.c_ulong(-1)
_RECEIVE, _SEND, _IS_VALID, _ADD_FD = 0xC0502100, 0xC0182101, 0x40082102, 0x40182103
_CONTINUE, _ADD_AND_SEND = 1, 2
_NOTICE = struct.Struct("<QIIiIQ6Q")
_ANSWER = struct.Struct("<QqiI")
_ADDITION = struct.Struct("<QIIII")
_PATH_MAX = 4096


class TrappedCalls(NamedTuple):
    """Numbers of the calls on one kind of processor; -1 where it has no such call."""

    audit: int
    seccomp: int
    ioctl: int
    openat: int
    open: int
    stat: int
    lstat: int
    newfstatat: int
    readlink: int
    readlinkat: int


_MACHINES = {
    "x86_64": TrappedCalls(0xC000003E, 317, 16, 257, 2, 4, 6, -1, 89, 267),
    "aarch64": TrappedCalls(0xC00000B7, 277, 29, 56, -1, -1, -1, 79, -1, 78),
}
"""On x86-64 libgpiod's wheel asks by the old calls, Python by the new; only the old are stopped."""


class UnsupportedError(RuntimeError):
    """This machine cannot stop system calls; the text says why."""


def machine() -> TrappedCalls:
    """Return this processor's numbers. Raises UnsupportedError."""
    name = platform.machine()
    if name not in _MACHINES:
        raise UnsupportedError(f"a virtual gpiochip needs x86_64 or aarch64, not {name}")
    return _MACHINES[name]


@functools.cache
def why_not() -> str:
    """Why this machine cannot stop system calls, found out by trying; empty where it can."""
    trial = "from hil_tests.rig.gpiochip import trap; trap.install()"
    done = subprocess.run(
        [sys.executable, "-c", trial], capture_output=True, text=True, check=False
    )
    return done.stderr.strip().rpartition("\n")[2] if done.returncode else ""


def install() -> int:
    """Put the filter on this thread and all that it starts; return the listener's descriptor.

    The calls that are stopped wait until somebody answers at the listener. Raises UnsupportedError
    where the kernel or the container forbids it.
    """
    numbers = machine()
    libc = ctypes.CDLL(None, use_errno=True)
    program = _program(numbers)
    code = b"".join(struct.pack("<HBBI", *line) for line in program)
    filters = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("<HxxxxxxQ", len(program), ctypes.addressof(filters))
    libc.prctl(_PR_SET_PTRACER, _ANY, 0, 0, 0)  # Refused where no policy needs it.
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise UnsupportedError(f"no_new_privs: {os.strerror(ctypes.get_errno())}")
    libc.syscall.restype = ctypes.c_long
    listener = libc.syscall(numbers.seccomp, _SET_MODE_FILTER, _NEW_LISTENER, header)
    if listener < 0:
        raise UnsupportedError(f"seccomp: {os.strerror(ctypes.get_errno())}")
    return int(listener)


def _program(numbers: TrappedCalls) -> list[tuple[int, int, int, int]]:
    """The filter, as (code, jump if true, jump if false, operand)."""
    always = [numbers.open, numbers.stat, numbers.lstat, numbers.newfstatat]
    always += [numbers.readlink, numbers.readlinkat]
    always = [number for number in always if number >= 0]
    lines = [
        (LD_WORD, 0, 0, _ARCH),
        (EQUAL, 1, 0, numbers.audit),
        (RETURN, 0, 0, ALLOW),
        (LD_WORD, 0, 0, _NR),
        # ioctl: only those whose request number carries the GPIO magic
        (EQUAL, 0, 4, numbers.ioctl),
        (LD_WORD, 0, 0, _ARGS + 8),
        (SHIFT, 0, 0, 8),
        (AND, 0, 0, 0xFF),
        (EQUAL, len(always) + 5, len(always) + 4, MAGIC),
        # openat: only for reading and writing, as a device is opened
        (EQUAL, 0, 3, numbers.openat),
        (LD_WORD, 0, 0, _ARGS + 16),
        (AND, 0, 0, os.O_ACCMODE),
        (EQUAL, len(always) + 1, len(always), os.O_RDWR),
    ]
    for index, number in enumerate(always):
        lines.append((EQUAL, len(always) - index, 0, number))
    return [*lines, (RETURN, 0, 0, ALLOW), (RETURN, 0, 0, NOTIFY)]


@dataclass(frozen=True, slots=True)
class Call:
    """One call that waits for its answer. Exactly one of the answers must be given."""

    listener: int
    cookie: int
    pid: int
    number: int
    arguments: tuple[int, ...]

    def read(self, address: int, size: int) -> bytes:
        """Memory of the caller. Raises OSError where it has none there, or has ended."""
        with open(f"/proc/{self.pid}/mem", "rb", buffering=0) as memory:
            data = os.pread(memory.fileno(), size, address)
        if not data:
            raise OSError(errno.ESRCH, "the caller has ended")
        return data

    def write(self, address: int, data: bytes) -> None:
        """Write memory of the caller. Raises OSError."""
        with open(f"/proc/{self.pid}/mem", "r+b", buffering=0) as memory:
            os.pwrite(memory.fileno(), data, address)

    def text(self, address: int) -> str:
        """A path in the caller's memory."""
        page_end = (address | (_PATH_MAX - 1)) + 1
        data = self.read(address, page_end - address)
        if b"\0" not in data:
            data += self.read(page_end, _PATH_MAX)
        return os.fsdecode(data.split(b"\0", 1)[0])

    def inode(self, descriptor: int) -> str:
        """What one of the caller's descriptors is, as /proc says: `socket:[12345]`."""
        try:
            return os.readlink(f"/proc/{self.pid}/fd/{descriptor}")
        except OSError:
            return ""

    # ── Answers ─────────────────────────────────────────────────────────────

    def proceed(self) -> None:
        """Let the kernel do it."""
        self._answer(0, 0, _CONTINUE)

    def finish(self, value: int = 0) -> None:
        """Have the call return `value`."""
        self._answer(value, 0, 0)

    def fail(self, number: int) -> None:
        """Have the call fail with this errno."""
        self._answer(0, -number, 0)

    def give(self, descriptor: int) -> None:
        """Have the call return a copy of our `descriptor`, made in the caller."""
        self._add(descriptor, _ADD_AND_SEND)

    def add(self, descriptor: int) -> int:
        """Copy our `descriptor` to the caller; return its number there. No answer yet."""
        return self._add(descriptor, 0)

    def _add(self, descriptor: int, flags: int) -> int:
        addition = bytearray(_ADDITION.pack(self.cookie, flags, descriptor, 0, os.O_CLOEXEC))
        return fcntl.ioctl(self.listener, _ADD_FD, addition, True)

    def _answer(self, value: int, error: int, flags: int) -> None:
        with contextlib.suppress(FileNotFoundError):  # The caller was killed while it waited.
            fcntl.ioctl(self.listener, _SEND, _ANSWER.pack(self.cookie, value, error, flags))


def serve(listener: int, answer: Callable[[Call], None]) -> None:
    """Have `answer` answer every call, until the last process behind the filter has ended.

    A call that `answer` fails on is answered with EIO: a program must never be left waiting.
    """
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    while True:
        for _, what in poll.poll():
            if not what & select.POLLIN:
                return
        notice = bytearray(_NOTICE.size)
        try:
            fcntl.ioctl(listener, _RECEIVE, notice, True)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.EINTR):
                continue  # The caller was killed before we came.
            raise
        cookie, pid, _, number, _, _, *arguments = _NOTICE.unpack(notice)
        call = Call(listener, cookie, pid, number, tuple(arguments))
        try:
            answer(call)
        except Exception as error:  # noqa: BLE001 - see above
            log.debug("call %s of %s: %r", number, pid, error)
            call.fail(errno.EIO)
