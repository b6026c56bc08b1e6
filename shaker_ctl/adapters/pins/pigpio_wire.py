"""A second, bare connection to the GPIO daemon, for the two things that must never wait.

Owns the byte layout of five commands and a socket that never blocks its writer. The client library
does everything else: but it has one connection with one lock, so a command that is not answered
would hold up a stop, and it has no deadline of its own. It must not know what the pins do.

Layout: requests and replies are four little-endian words; a request's fourth word is the length of
what follows, a reply's is the result, followed by as many bytes for PROCP.
"""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import time
from collections.abc import Iterator

from shaker_ctl.frozen import frozen

WRITE, PIGPV, PROCP, EVT, PROCU = 4, 26, 45, 116, 117
"""Command numbers, from the daemon's socket interface."""

_WORDS = struct.Struct("<IIII")
_REPLY = struct.Struct("<IIIi")
_WITH_PAYLOAD = {PROCP}


@frozen
class Reply:
    """One answer: the command it answers, its result (negative: an error), and what follows."""

    command: int
    result: int
    payload: bytes = b""


def request(command: int, p1: int = 0, p2: int = 0, words: tuple[int, ...] = ()) -> bytes:
    """Return the bytes of one command, with `words` as its extension."""
    extension = struct.pack(f"<{len(words)}I", *words)
    return _WORDS.pack(command, p1, p2, len(extension)) + extension


def take_replies(received: bytearray) -> Iterator[Reply]:
    """Take every complete reply off the front of `received`."""
    while len(received) >= _REPLY.size:
        command, _, _, result = _REPLY.unpack_from(received)
        length = result if command in _WITH_PAYLOAD and result > 0 else 0
        end = _REPLY.size + length
        if len(received) < end:
            return
        payload = bytes(received[_REPLY.size : end])
        del received[:end]
        yield Reply(command, result, payload)


class Wire:
    """The bare connection. Any thread may send; one thread, the keeper, reads."""

    def __init__(self, host: str, port: int, timeout_s: float) -> None:
        """Connect. Raises OSError (TimeoutError among them)."""
        self._socket = socket.create_connection((host, port), timeout_s)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.setblocking(False)
        self._received = bytearray()

    def send(self, data: bytes) -> None:
        """Hand `data` to the kernel and return; never blocks, never raises.

        A buffer that is full means that the daemon has read nothing for thousands of commands: the
        dead-man has dropped EN long since. A broken connection is for the reader to notice.
        """
        with contextlib.suppress(OSError):
            self._socket.send(data, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)

    def replies(self, timeout_s: float) -> list[Reply]:
        """Wait up to `timeout_s` for answers; return those that came.

        Raises ConnectionError when the daemon has closed the connection.
        """
        readable, _, _ = select.select([self._socket], [], [], timeout_s)
        if not readable:
            return []
        try:
            data = self._socket.recv(65536)
        except BlockingIOError:
            return []
        if not data:
            raise ConnectionResetError("the GPIO daemon closed the connection")
        self._received += data
        return list(take_replies(self._received))

    def ask(self, data: bytes, command: int, timeout_s: float) -> Reply:
        """Send and wait for the answer to `command`, skipping answers to others.

        Raises TimeoutError, ConnectionError.
        """
        self.send(data)
        until_s = time.monotonic() + timeout_s
        while (left_s := until_s - time.monotonic()) > 0.0:
            for reply in self.replies(left_s):
                if reply.command == command:
                    return reply
        raise TimeoutError(f"the GPIO daemon has not answered for {timeout_s:g} s")

    def close(self) -> None:
        self._socket.close()
