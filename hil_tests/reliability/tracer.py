"""A thread of another process held still, or answered falsely by the system (ptrace(2)).

Owns the tracing of one thread at a time: as `strace -e inject` does it, from outside, with nothing
of the traced program changed. Linux; system call numbers of x86-64 and of 64-bit ARM, errors on
x86-64 alone. Must not know what the thread is for: it is found by its name in the kernel.

A tracee belongs to the thread that seized it, so each act has a thread of its own. When the tracer
dies, its tracees go on.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import signal
import struct
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

SEIZE, INTERRUPT, DETACH, SYSCALL = 0x4206, 0x4207, 17, 24
POKEUSER, GET_SYSCALL_INFO = 6, 0x420E
TRACESYSGOOD = 1
ALL_THREADS = 0x40000000  # __WALL
ENTRY, EXIT = 1, 2
ORIG_RAX, RAX = 15 * 8, 10 * 8

_IS_X86 = platform.machine() == "x86_64"
NUMBERS: dict[str, tuple[int, ...]] = (
    {"fsync": (74, 75), "pwrite": (18,), "rename": (82, 264, 316), "unlink": (87, 263)}
    if _IS_X86
    else {"fsync": (82, 83), "pwrite": (68,), "rename": (38, 276), "unlink": (35,)}
)
"""Numbers of each call and of those that do the same; `fsync` with fdatasync."""

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.ptrace.restype = ctypes.c_long
_LIBC.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)

SPIN_S = 0.0005
"""For so long a stop is awaited without sleeping: between two calls of a busy thread."""


class TraceError(Exception):
    """The thread is not there, or this system does not permit tracing it."""


def thread_id(pid: int, name: str) -> int:
    """Return the id of the thread of that name. Raises `TraceError`."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text().strip() == name:
            return int(task.name)
    raise TraceError(f"process {pid} has no thread {name!r}")


class _Tracing(threading.Thread, ABC):
    """One thread, seized for as long as this runs."""

    def __init__(self, tid: int) -> None:
        super().__init__(name=f"tracing-{tid}", daemon=True)
        self._tid = tid
        self._released = threading.Event()
        self.began = threading.Event()
        self.failure: str = ""

    def release(self) -> None:
        """Let the thread go on as if nothing had been; returns when it does."""
        self._released.set()
        self.join(5.0)

    def run(self) -> None:
        try:
            self._ask(SEIZE, 0, TRACESYSGOOD)
            self._ask(INTERRUPT)
            os.waitpid(self._tid, ALL_THREADS)
            self._act()
        except (OSError, ChildProcessError) as error:
            self.failure = f"tracing ended: {error}"
            self.began.set()

    @abstractmethod
    def _act(self) -> None:
        """What is done with the thread, which has just stopped."""

    def _calls(self) -> Iterator[tuple[int, int]]:
        """Yield where it stands at each stop, entry or exit and the number of the call, until it is
        released; then it goes on untraced."""
        self._ask(SYSCALL)
        while self._wait_for_stop():
            yield self._call()
            self._ask(SYSCALL)
        self._ask(INTERRUPT)
        os.waitpid(self._tid, ALL_THREADS)
        self._ask(DETACH)

    def _wait_for_stop(self) -> bool:
        """Wait until the thread has stopped at a call; False when it is to be released."""
        spin_until = time.monotonic() + SPIN_S
        while True:
            found, _ = os.waitpid(self._tid, ALL_THREADS | os.WNOHANG)
            if found:
                return True
            if self._released.is_set():
                return False
            if time.monotonic() > spin_until:
                time.sleep(SPIN_S)

    def _call(self) -> tuple[int, int]:
        """Where the stopped thread stands: at the entry or exit of a call, and the number of it."""
        info = ctypes.create_string_buffer(88)
        size = _LIBC.ptrace(GET_SYSCALL_INFO, self._tid, len(info), ctypes.addressof(info))
        if size <= 0:
            return 0, -1
        return info.raw[0], struct.unpack_from("<Q", info.raw, 24)[0]

    def _ask(self, request: int, address: int = 0, data: int = 0) -> None:
        if _LIBC.ptrace(request, self._tid, address, data) < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))


class Held(_Tracing):
    """A thread that stands still for a while, where it is."""

    def __init__(self, pid: int, name: str, for_s: float) -> None:
        super().__init__(thread_id(pid, name))
        self._for_s = for_s

    def _act(self) -> None:
        self.began.set()
        self._released.wait(self._for_s)
        self._ask(DETACH)


class Hung(_Tracing):
    """A thread that stands still until its process is killed."""

    def _act(self) -> None:
        self.began.set()
        # Its death is told to us first; until we have heard of it, its process stays a zombie.
        while os.WIFSTOPPED(os.waitpid(self._tid, ALL_THREADS)[1]):
            pass


def hang(pid: int) -> None:
    """Stop every thread of a process but its first, as hung drivers would, until it is killed.

    The first one only waits for a signal to end; it lives on, and must not hide the others' hang.
    """
    for thread in Path(f"/proc/{pid}/task").iterdir():
        if thread.name != str(pid):
            hung = Hung(int(thread.name))
            hung.start()
            hung.began.wait()
            if hung.failure:
                raise TraceError(hung.failure)


class Answered(_Tracing):
    """A thread whose system calls of one kind fail, or are late, until it is released.

    `began` is set at the first call that was met. A late call is late once: the next ones pass.
    """

    def __init__(
        self, pid: int, name: str, calls: tuple[str, ...], *, error: str = "", late_s: float = 0.0
    ) -> None:
        """Raises `TraceError` where errors cannot be given on this kind of computer."""
        super().__init__(thread_id(pid, name))
        if error and not _IS_X86:
            raise TraceError("errors of system calls can be given on x86-64 only")
        self._numbers = {number for call in calls for number in NUMBERS[call]}
        self._error = getattr(errno, error) if error else 0
        self._late_s = late_s
        self.met = 0

    def _act(self) -> None:
        fails = False
        for operation, number in self._calls():
            if operation == ENTRY and number in self._numbers:
                fails = self._meet()
            elif operation == EXIT and fails:
                self._ask(POKEUSER, RAX, -self._error)
                fails = False

    def _meet(self) -> bool:
        """A call that is to suffer has begun; returns whether its answer is to be replaced."""
        self.met += 1
        self.began.set()
        if self._late_s and self.met == 1:
            self._released.wait(self._late_s)
        if self._error and not self._released.is_set():
            self._ask(POKEUSER, ORIG_RAX, -1)  # no such call: nothing is done
            return True
        return False


class Watched(_Tracing):
    """The first thread of a process stopped after each of its calls, until the process ends.

    `look` is called at each stop, with the path of the file or folder whose sync has just ended, or
    nothing.
    """

    def __init__(self, pid: int, look: Callable[[str], None]) -> None:
        super().__init__(pid)
        self._pid = pid
        self._look = look

    def _act(self) -> None:
        self.began.set()
        synced = ""
        with suppress(ProcessLookupError):  # it has ended
            for operation, number in self._calls():
                if operation == ENTRY:
                    synced = self._path_of_call() if number in NUMBERS["fsync"] else ""
                elif operation == EXIT:
                    self._look(synced)
                    synced = ""

    def _path_of_call(self) -> str:
        """Of the open file that the call which begins here is given."""
        info = ctypes.create_string_buffer(88)
        _LIBC.ptrace(GET_SYSCALL_INFO, self._tid, len(info), ctypes.addressof(info))
        (handle,) = struct.unpack_from("<Q", info.raw, 32)
        return os.readlink(f"/proc/{self._pid}/fd/{handle}")


class KilledAt(_Tracing):
    """The whole process is killed when this thread has finished its n-th call of a kind, of those
    after its `since_count`-th call `since` where that is given.

    At the end of a journal's n-th sync the record is on the medium, and nothing that it releases
    has been done; at the beginning of a write nothing has been recorded of what was decided.
    """

    def __init__(
        self,
        pid: int,
        name: str,
        call: str,
        count: int,
        *,
        before: bool = False,
        since: str | None = None,
        since_count: int = 1,
    ) -> None:
        super().__init__(thread_id(pid, name))
        self._pid = pid
        self._numbers = set(NUMBERS[call])
        self._since = set(NUMBERS[since]) if since else set()
        self._since_left = since_count if since else 0
        self._left = count
        self._before = before
        self.killed_s: float | None = None

    def _act(self) -> None:
        self.began.set()
        is_in_call = False
        for operation, number in self._calls():
            if self._since_left:
                self._since_left -= operation == ENTRY and number in self._since
                continue
            is_entry = operation == ENTRY and number in self._numbers
            if is_entry if self._before else operation == EXIT and is_in_call:
                self._left -= 1
            is_in_call = is_entry
            if self._left == 0:
                os.kill(self._pid, signal.SIGKILL)
                self.killed_s = time.monotonic()
                return
