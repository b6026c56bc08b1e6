"""Clients without a browser: readers of the stream, idle connections, single requests.

Owns connections to a page on this computer. Must not know what a page means.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from urllib.parse import urlsplit


def connect(address: str, timeout_s: float = 10.0) -> socket.socket:
    """Return a connection to the page at `address` (plain HTTP)."""
    found = urlsplit(address)
    return socket.create_connection((found.hostname or "", found.port or 80), timeout_s)


def get(address: str, path: str) -> tuple[int, bytes, float]:
    """Ask once over a fresh connection; return status, body and seconds."""
    began_s = time.perf_counter()
    with contextlib.closing(HTTPConnection(urlsplit(address).netloc, timeout=10.0)) as line:
        line.request("GET", path, headers={"Accept": "text/html", "Connection": "close"})
        answer = line.getresponse()
        body = answer.read()
    return answer.status, body, time.perf_counter() - began_s


class Readers:
    """Readers of one stream, all in one thread. Use as a context."""

    def __init__(
        self, address: str, count: int, path: str = "/stream/sign", cookie: str = ""
    ) -> None:
        self._address, self._count, self._path, self._cookie = address, count, path, cookie
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self.received = 0
        """Bytes that came, over all readers."""

    def __enter__(self) -> Readers:
        self._lines = []
        for _ in range(self._count):
            line = connect(self._address)
            host = urlsplit(self._address).netloc
            head = f"GET {self._path} HTTP/1.1\r\nHost: {host}\r\nCookie: {self._cookie}\r\n\r\n"
            line.sendall(head.encode())
            line.setblocking(False)
            self._lines.append(line)
        self._thread.start()
        return self

    def _read(self) -> None:
        with selectors.DefaultSelector() as waiting:
            for line in self._lines:
                waiting.register(line, selectors.EVENT_READ)
            while not self._ended.is_set():
                for key, _ in waiting.select(0.2):
                    assert isinstance(key.fileobj, socket.socket)
                    with contextlib.suppress(OSError):
                        piece = key.fileobj.recv(65536)
                        self.received += len(piece)
                        if not piece:
                            waiting.unregister(key.fileobj)

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        for line in self._lines:
            line.close()


@contextlib.contextmanager
def idle_connections(address: str, count: int) -> Iterator[int]:
    """Hold as many connections open as the page lets stand, of `count` that are tried; yield how
    many were made."""
    lines = []
    try:
        for _ in range(count):
            with contextlib.suppress(OSError):
                lines.append(connect(address, 2.0))
        yield len(lines)
    finally:
        for line in lines:
            line.close()
